/* SPDX-License-Identifier: MIT */
/*
 * The calls of tally/profiler.h: what they store, from a source whose numbers
 * are known, and from this host. Dumps are read back by the dump's reader.
 */
#include "lib/profiler_state.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

/* A source that counts what the test says, in 32 bits; 8 cycles a reading. */
static _Thread_local struct profiler_reading told;
static _Atomic int opened, started;

static int
fake_open(const char *events, bool cycles, const struct tally_log *log,
          struct profiler_set *set)
{
    (void)cycles;
    if (*events == '\0') /* the thread's clock */
        return 0;
    if (strcmp(events, "bad") == 0)
        return tally_fail(log, TALLY_EUNKNOWN, "no such event");
    opened++;
    /* "1,2": the codes. */
    char *end;
    set->hi = set->lo = strtoull(events, &end, 16);
    set->events = *end == ',' ? 2 : 1;
    if (set->events == 2)
        set->lo = strtoull(end + 1, NULL, 16);
    return 0;
}

static int
fake_start(struct profiler_set *set, const struct profiler_set *clock)
{
    started += set != clock;
    return 0;
}

static int
fake_stop(const struct profiler_set *set)
{
    (void)set;
    started--;
    return 0;
}

static int
fake_read(const struct profiler_set *set, struct profiler_reading *reading)
{
    (void)set;
    told.cycles += 8;
    *reading = told;
    return 0;
}

static void
fake_close(struct profiler_set *set)
{
    opened -= set->events > 0;
}

/* Threads told to be on a strand are; the others have numbers. */
static _Thread_local uint64_t strand_told;

static bool
fake_strand(uint64_t *strand, uint64_t *strands)
{
    *strand = strand_told - 1;
    *strands = 64;
    return strand_told != 0;
}

static const struct profiler_source fake = {
    .width = 32,
    .strand = fake_strand,
    .open = fake_open,
    .start = fake_start,
    .stop = fake_stop,
    .read = fake_read,
    .close = fake_close,
};

/* Each test in a process of its own: the profiler is the process'. */
static void
apart(void (*test)(void), const struct profiler_source *source)
{
    const pid_t child = fork();
    int status;

    if (child == 0) {
        profiler.source = source;
        test();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#define APART(name, source)        \
    static void name(void **state) \
    {                              \
        (void)state;               \
        apart(do_##name, source);  \
    }

#define MUST(condition)                                             \
    do                                                              \
        if (!(condition)) {                                         \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
            _exit(1);                                               \
        }                                                           \
    while (0)

struct text {
    const char *p;
    size_t left;
};

static long
give(void *user, void *data, size_t size)
{
    struct text *const t = user;
    const size_t count = t->left < size ? t->left : size;

    memcpy(data, t->p, count);
    t->p += count;
    t->left -= count;
    return (long)count;
}

/* The records of a dump; nothing in it is odd. */
static size_t
read_dump(const char *text, size_t length, struct dump_record *records,
          size_t max, uint64_t *dumps)
{
    struct dump_troubles troubles = {0};
    struct dump_reader reader;
    struct text from = {text, length};
    size_t count = 0;

    MUST(dump_reader_init(&reader, "dump", give, &from, &troubles) == 0);
    while (count < max && dump_next(&reader, &records[count]) > 0)
        count++;
    for (int i = 0; i < DUMP_TROUBLES; i++)
        MUST(troubles.places[i].count == 0);
    if (dumps != NULL)
        *dumps = reader.dumps;
    dump_reader_finish(&reader);
    return count;
}

static size_t
dump(struct dump_record *records, size_t max, enum tally_profiler_form form,
     uint64_t *dumps)
{
    static char text[1 << 20];
    size_t length;

    MUST(tally_profiler_dump_memory(NULL, text, sizeof(text), &length, form) ==
         0);
    return read_dump(text, length, records, max, dumps);
}

static void
do_stores_what_was_counted(void)
{
    struct dump_record r[8];
    struct tally_profiler_values values;
    uint64_t dumps;
    char small[8];
    size_t length;

    tally_profiler_set_property("profiler_user_data_size", "2");
    told = (struct profiler_reading){100, 1000, 50};
    MUST(tally_profiler_update(1, 1) == TALLY_ERULE);
    MUST(tally_profiler_stop(1) == TALLY_ERULE);
    MUST(tally_profiler_values(1, &values) == TALLY_ERULE);
    MUST(tally_profiler_start(1, "100,2") == 0);
    told.hi += 7, told.lo += 3;
    MUST(tally_profiler_update(1, 11, UINT64_MAX, 13) == 0);
    told.hi += 7, told.lo += 3;
    MUST(tally_profiler_update(1) == 0);
    MUST(tally_profiler_values(1, &values) == 0);
    MUST(values.hi == 14 && values.lo == 6 && values.cycles == 132);
    MUST(tally_profiler_stop(1) == 0);
    MUST(started == 0);
    MUST(tally_profiler_update(1, 1) == TALLY_ERULE);
    MUST(tally_profiler_dump_memory(NULL, small, sizeof(small), &length,
                                    TALLY_PROFILER_TABLE) == TALLY_ERANGE);
    MUST(length > sizeof(small));
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, &dumps) == 3 && dumps == 1);
    MUST(r[0].call == 1 && r[0].hi == 0x100 && r[0].lo == 2);
    MUST(r[0].cpu == 0 && r[0].group == 1 && r[0].cycles == 108);
    /* P13 P18: counts, the first named above; as many words as are kept. */
    MUST(r[1].call == 2 && r[1].hi == 7 && r[1].lo == 3 && r[1].cycles == 116);
    MUST(r[1].word_count == 2 && r[1].words[0] == 11 &&
         r[1].words[1] == UINT64_MAX);
    MUST(r[2].hi == 14 && r[2].lo == 6 && r[2].words[0] == 0);
    MUST(r[0].caller != r[1].caller && r[1].caller != r[2].caller);
    MUST(r[0].pc != 0 && r[1].pc > r[0].pc);
    MUST(!r[0].overrun && r[1].overflow == 0);
    /* They are out. */
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, &dumps) == 0 && dumps == 1);
}

APART(stores_what_was_counted, &fake)

/* P14: bit 0 the lower event, bit 1 the higher; the counters have 32 bits. */
static void
do_says_what_overflowed(void)
{
    static const struct {
        uint64_t hi, lo, overflow;
    } rows[] = {
        {UINT32_MAX, UINT32_MAX, 0},
        {5, UINT64_C(1) << 32, 1},
        {(UINT64_C(1) << 32) + 9, 5, 2},
        {UINT64_C(3) << 32, UINT64_C(1) << 33, 3},
    };
    struct dump_record r[8];

    for (size_t i = 0; i < COUNT(rows); i++) {
        told.hi = told.lo = UINT64_MAX - 77;
        MUST(tally_profiler_start(2, "1,2") == 0);
        told.hi += rows[i].hi, told.lo += rows[i].lo;
        MUST(tally_profiler_update(2) == 0);
        MUST(dump(r, 8, TALLY_PROFILER_JSON, NULL) == 2);
        MUST(r[1].overflow == rows[i].overflow);
        MUST(r[1].hi == (uint32_t)rows[i].hi &&
             r[1].lo == (uint32_t)rows[i].lo);
    }
    MUST(opened == 1);
}

APART(says_what_overflowed, &fake)

static void
do_groups_count_apart(void)
{
    struct dump_record r[8];

    MUST(tally_profiler_start(1, "1,2") == 0);
    told.hi += 5;
    MUST(tally_profiler_start(3, "4") == 0);
    told.hi += 6;
    MUST(tally_profiler_update(1) == 0 && tally_profiler_update(3) == 0);
    MUST(tally_profiler_stop(1) == 0 && tally_profiler_update(3) == 0);
    MUST(tally_profiler_start(8, "1") == TALLY_ERANGE);
    MUST(tally_profiler_start(1, "bad") == TALLY_EUNKNOWN);
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 5);
    MUST(r[2].group == 1 && r[2].hi == 11 && r[3].group == 3 && r[3].hi == 6);
    MUST(r[1].hi == 4 && r[1].lo == 4);
}

APART(groups_count_apart, &fake)

static void
do_takes_turns(void)
{
    struct dump_record r[16];

    setenv("TALLY_PROFILER_EVENTS", "1,2;3,4;5", 1);
    setenv("TALLY_PROFILER_ROTATE", "1", 1);
    /* One start and updates: starts are written as the events change. */
    MUST(tally_profiler_start(1, "bad") == 0);
    MUST(opened == 3);
    for (int i = 0; i < 4; i++) {
        told.hi += 10;
        MUST(tally_profiler_update(1) == 0);
    }
    MUST(started == 1 && opened == 3);
    const size_t count = dump(r, 16, TALLY_PROFILER_TABLE, NULL);
    MUST(count == 8);
    static const uint64_t codes[] = {1, 3, 5, 1};
    for (size_t i = 0; i < 4; i++) {
        MUST(r[2 * i].call == 1 && r[2 * i].hi == codes[i]);
        MUST(r[2 * i + 1].call == 2 && r[2 * i + 1].hi == 10);
        MUST(i == 0 || r[2 * i].caller == r[2 * i - 1].caller);
    }
    /* A start before each update: no other is written. */
    for (int i = 0; i < 3; i++)
        MUST(tally_profiler_start(1, "bad") == 0 &&
             tally_profiler_update(1) == 0);
    MUST(dump(r, 16, TALLY_PROFILER_TABLE, NULL) == 6);
    MUST(r[0].hi == 3 && r[2].hi == 5 && r[4].hi == 1);
}

APART(takes_turns, &fake)

static void
do_properties_are_checked(void)
{
    struct heard heard;
    const struct tally_log log = listen(&heard);

    tally_profiler_set_log(&log);
    MUST(tally_profiler_set_property("profiler", "1") == TALLY_EUNKNOWN);
    MUST(tally_profiler_set_property("profiler_log_table_size", "0") ==
         TALLY_ERANGE);
    MUST(tally_profiler_set_property("profiler_log_table_size", "-1") ==
         TALLY_ESYNTAX);
    MUST(tally_profiler_set_property("profiler_log_table_size", "4k") ==
         TALLY_ESYNTAX);
    MUST(tally_profiler_set_property("profiler_user_data_size", "65") ==
         TALLY_ERANGE);
    /* P03: its other name. */
    MUST(tally_profiler_set_property("profiler_buffer_size", "3") == 0);
    MUST(heard.lines == 5);
    MUST(tally_profiler_start(0, "1") == 0);
    MUST(tally_profiler_self()->log.size == 3);
    MUST(tally_profiler_set_property("profiler_log_table_size", "4") ==
         TALLY_ERULE);
}

APART(properties_are_checked, &fake)

static void
do_says_why_not(void)
{
    MUST(tally_profiler_dump_fd(NULL, -5, TALLY_PROFILER_TABLE) == TALLY_EIO);
    MUST(errno == EBADF);
    setenv("TALLY_PROFILER_LOG_TABLE_SIZE", "x", 1);
    MUST(tally_profiler_start(0, "1") == TALLY_ESYNTAX);
    setenv("TALLY_PROFILER_LOG_TABLE_SIZE", "5000000000", 1);
    MUST(tally_profiler_start(0, "1") == TALLY_ERANGE);
    MUST(tally_profiler_self() == NULL);
    setenv("TALLY_PROFILER_LOG_TABLE_SIZE", "5", 1);
    setenv("TALLY_PROFILER_BUFFER_FILE", "/dev/null/none", 1);
    MUST(tally_profiler_start(0, "1") == TALLY_ESYSTEM);
    setenv("TALLY_PROFILER_BUFFER_FILE", "", 1);
    MUST(tally_profiler_start(0, "1") == 0);
}

APART(says_why_not, &fake)

/* P04: each thread its own; they dump in order, when they have ended too. */
#define THREADS 300

static void *
work(void *number)
{
    told.hi = 0;
    MUST(tally_profiler_start(1, "1,2") == 0);
    for (int i = 0; i < 20; i++) {
        told.hi += (uint64_t)(uintptr_t)number;
        MUST(tally_profiler_update(1, (uint64_t)(uintptr_t)number) == 0);
    }
    return NULL;
}

static void
do_threads_have_logs(void)
{
    static struct dump_record r[THREADS * 21];
    pthread_t threads[THREADS];
    uint64_t dumps;

    tally_profiler_set_property("profiler_user_data_size", "1");
    for (uintptr_t i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MUST(opened == 0);
    MUST(dump(r, COUNT(r), TALLY_PROFILER_TABLE, &dumps) == COUNT(r));
    MUST(dumps == THREADS);
    for (size_t i = 0; i < COUNT(r); i++) {
        MUST(r[i].cpu == i / 21);
        MUST(i % 21 == 0 || r[i].hi == i % 21 * r[i].words[0]);
    }
}

APART(threads_have_logs, &fake)

/* A dead program's buffers are read from the file. */
static void
recovers_what_was_killed(void **state)
{
    char folder[] = "/tmp/tally-profiler-XXXXXX", path[64];
    struct dump_record r[1024];
    struct call_image image;
    char text[1 << 16];
    size_t used = 0;
    long got;

    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/buffers", folder);
    const pid_t child = fork();
    if (child == 0) {
        profiler.source = &fake;
        tally_profiler_set_property("profiler_buffer_file", path);
        tally_profiler_set_property("profiler_log_table_size", "100");
        MUST(tally_profiler_start(1, "1,2") == 0);
        for (int i = 0; i < 60; i++)
            MUST(tally_profiler_update(1) == 0);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(call_image_read(fileno(file), &image), 0);
    fclose(file);
    while ((got = call_image_fill(&image, text + used, sizeof(text) - used)) >
           0)
        used += (size_t)got;
    assert_int_equal(read_dump(text, used, r, 1024, NULL), 61);
    assert_int_equal(r[60].cycles, 61 * 8);
    char caller[16];
    snprintf(caller, sizeof(caller), "%x ", (unsigned)r[1].caller);
    assert_non_null(
        memmem(image.text, image.text_size, caller, strlen(caller)));
    call_image_finish(&image);
    unlink(path);
    rmdir(folder);
}

/* What a child does is not its parent's. */
static void
do_children_begin_anew(void)
{
    struct dump_record r[8];

    MUST(tally_profiler_start(1, "1,2") == 0);
    const pid_t child = fork();
    if (child == 0) {
        MUST(tally_profiler_update(1) == TALLY_ERULE);
        MUST(tally_profiler_start(1, "1,2") == 0);
        MUST(tally_profiler_update(1) == 0);
        MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 2);
        _exit(0);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    MUST(tally_profiler_update(1) == 0);
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 2);
}

APART(children_begin_anew, &fake)

static volatile sig_atomic_t ticks;

static void
on_tick(int signal)
{
    (void)signal;
    if (tally_profiler_update(1, 1000) == 0)
        ticks++;
}

/* A handler marks points of the thread that it interrupts. */
static void
do_handlers_may_update(void)
{
    static struct dump_record r[1 << 17];
    size_t marks = 0, mine = 0;

    tally_profiler_set_property("profiler_log_table_size", "131072");
    tally_profiler_set_property("profiler_user_data_size", "1");
    MUST(tally_profiler_start(1, "") == 0);
    signal(SIGALRM, on_tick);
    ualarm(100, 100);
    while (ticks < 50 && mine < 100000) {
        MUST(tally_profiler_update(1, 1) == 0);
        mine++;
    }
    ualarm(0, 0);
    static char text[1 << 24];
    size_t length;
    MUST(tally_profiler_dump_memory(tally_profiler_self(), text, sizeof(text),
                                    &length, TALLY_PROFILER_TABLE) == 0);
    const size_t count = read_dump(text, length, r, COUNT(r), NULL);
    for (size_t i = 1; i < count; i++)
        marks += r[i].words[0] == 1000;
    MUST(marks == (size_t)ticks && count == 1 + mine + marks);
}

APART(handlers_may_update, &profiler_counters)

static void
on_tick_start(int signal)
{
    (void)signal;
    ticks++;
    MUST(tally_profiler_start(1, "1,2") == 0);
    MUST(tally_profiler_update(1) == 0);
    MUST(tally_profiler_stop(1) == 0);
}

/* A handler takes the group that its thread is about to use. */
static void
do_handlers_may_stop(void)
{
    struct tally_profiler_values values;

    MUST(tally_profiler_start(1, "1,2") == 0);
    MUST(tally_profiler_start(1, "3") == 0);
    signal(SIGALRM, on_tick_start);
    ualarm(50, 50);
    while (ticks < 3000) {
        MUST(tally_profiler_start(1, "3") == 0);
        tally_profiler_update(1);
        tally_profiler_values(1, &values);
        tally_profiler_stop(1);
    }
    ualarm(0, 0);
    MUST(tally_profiler_start(1, "3") == 0 && tally_profiler_update(1) == 0);
}

APART(handlers_may_stop, &fake)

/* In a folder as /tmp a dump is not written through another user's link; our
 * own link is followed. */
static void
do_dumps_through_no_planted_link(void)
{
    enum { NOBODY = 65534 };
    char folder[] = "/tmp/profiler.XXXXXX";
    int status;

    if (geteuid() != 0)
        _exit(0);
    MUST(mkdtemp(folder) != NULL && chmod(folder, 01777) == 0 &&
         chdir(folder) == 0);
    MUST(symlink("target", "own") == 0);
    const pid_t child = fork();
    if (child == 0)
        _exit(setuid(NOBODY) == 0 && symlink("target", "planted") == 0 ? 0 : 1);
    MUST(waitpid(child, &status, 0) == child && status == 0);
    MUST(tally_profiler_dump_file(NULL, "planted", TALLY_PROFILER_TABLE) ==
         TALLY_EIO);
    MUST(access("target", F_OK) != 0);
    MUST(tally_profiler_dump_file(NULL, "own", TALLY_PROFILER_TABLE) == 0);
    MUST(access("target", F_OK) == 0);
    MUST(unlink("planted") == 0 && unlink("own") == 0 &&
         unlink("target") == 0 && rmdir(folder) == 0);
}

APART(dumps_through_no_planted_link, &fake)

/* On this host: events that every Linux has, and the clock alone. */
static void
do_counts_on_this_host(void)
{
    struct dump_record r[8];
    struct heard heard;
    const struct tally_log log = listen(&heard);

    tally_profiler_set_log(&log);
    const int error = tally_profiler_start(1, "page-faults,task-clock");
    if (error == TALLY_EPERMISSION || error == TALLY_EIDLE)
        _exit(0);
    MUST(error == 0);
    volatile char *pages = malloc(64 << 12);
    for (size_t i = 0; i < 64; i++)
        pages[i << 12] = 1;
    MUST(tally_profiler_update(1) == 0);
    MUST(tally_profiler_start(1, NULL) == 0);
    MUST(tally_profiler_update(1) == 0);
    MUST(tally_profiler_start(1, "page-faults,task-clock,cs") == TALLY_ERULE);
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 4);
    MUST(r[0].hi == 0x200000002 && r[0].lo == 0x200000001);
    MUST(r[1].hi >= 60 && r[1].lo > 0 && r[1].cycles > r[0].cycles);
    MUST(r[2].hi == 0 && r[3].lo == 0);
}

APART(counts_on_this_host, &profiler_counters)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_what_was_counted),
        cmocka_unit_test(says_what_overflowed),
        cmocka_unit_test(groups_count_apart),
        cmocka_unit_test(takes_turns),
        cmocka_unit_test(properties_are_checked),
        cmocka_unit_test(says_why_not),
        cmocka_unit_test(threads_have_logs),
        cmocka_unit_test(recovers_what_was_killed),
        cmocka_unit_test(children_begin_anew),
        cmocka_unit_test(handlers_may_update),
        cmocka_unit_test(handlers_may_stop),
        cmocka_unit_test(dumps_through_no_planted_link),
        cmocka_unit_test(counts_on_this_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
