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
#include "tally/counter.h"

/* A source that counts what the test says, in 32 bits; 8 cycles a reading. */
static _Thread_local struct profiler_reading told;
static _Atomic int opened, started, clocks;
/* What the source's calls return instead of their work; 0: they work. */
static int open_fails, start_fails, stop_fails, read_fails, clock_fails;

static int
fake_open(const char *events, bool cycles, const struct tally_log *log,
          struct profiler_set *set)
{
    (void)cycles;
    if (*events == '\0') { /* the thread's clock */
        clocks += clock_fails == 0;
        return clock_fails;
    }
    if (strncmp(events, "bad", 3) == 0)
        return tally_fail(log, TALLY_EUNKNOWN, "no such event");
    if (open_fails != 0)
        return open_fails;
    opened++;
    /* "1,2" or "{1,2}": the codes. */
    events += *events == '{';
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
    if (start_fails != 0)
        return start_fails;
    started += set != clock;
    return 0;
}

static int
fake_stop(const struct profiler_set *set)
{
    (void)set;
    if (stop_fails != 0)
        return stop_fails;
    started--;
    return 0;
}

static int
fake_read(const struct profiler_set *set, struct profiler_reading *reading)
{
    (void)set;
    if (read_fails != 0)
        return read_fails;
    told.cycles += 8;
    *reading = told;
    return 0;
}

static void
fake_close(struct profiler_set *set)
{
    opened -= set->events > 0;
    clocks -= set->events == 0;
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

static void
fake_machine(char name[DUMP_NAME])
{
    strcpy(name, "mock");
}

/* Events 1 to 8 have names, and 1f, whose name is its code. */
static const char *
fake_name(const struct profiler_set *set, unsigned index)
{
    static const char *const names[] = {"",     "one", "two",   "three", "four",
                                        "five", "six", "seven", "eight"};
    const uint64_t code = index == 0 ? set->hi : set->lo;

    if (code == 0x1f)
        return "1f";
    return code < COUNT(names) ? names[code] : "";
}

/* The same source with names. */
static const struct profiler_source named = {
    .width = 32,
    .strand = fake_strand,
    .machine = fake_machine,
    .name = fake_name,
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

/* A turn that does not open is the error of the start, before any update. */
static void
do_opens_all_turns(void)
{
    struct heard heard;
    const struct tally_log log = listen(&heard);

    tally_profiler_set_log(&log);
    setenv("TALLY_PROFILER_EVENTS", "1,2;bad;3", 1);
    MUST(tally_profiler_start(1, NULL) == TALLY_EUNKNOWN);
    MUST(heard.lines == 1 && started == 0 && opened == 1);
    MUST(tally_profiler_update(1) == TALLY_ERULE);
}

APART(opens_all_turns, &fake)

/* One turn takes no turns, with or without a ";" behind it. */
static void
do_stays_on_one_turn(void)
{
    struct dump_record r[8];

    setenv("TALLY_PROFILER_EVENTS", "4;", 1);
    setenv("TALLY_PROFILER_ROTATE", "1", 1);
    MUST(tally_profiler_start(1, "1") == 0 && opened == 1);
    MUST(!profiler.rotates && profiler.turn_count == 1);
    MUST(tally_profiler_update(1) == 0 && tally_profiler_update(1) == 0);
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 3 && r[0].hi == 4);
}

APART(stays_on_one_turn, &fake)

/* Without profiler_rotate the group stays on the first of many turns, of which
 * those beyond the log's selections are left out. */
static void
do_has_room_for_turns(void)
{
    struct dump_record r[8];
    char events[PROFILER_LIST] = "";

    for (int i = 1; i <= CALL_LOG_SELECTIONS + 2; i++)
        sprintf(events + strlen(events), "%x;", (unsigned)i);
    setenv("TALLY_PROFILER_EVENTS", events, 1);
    MUST(tally_profiler_start(1, NULL) == 0 && opened == CALL_LOG_SELECTIONS);
    MUST(tally_profiler_update(1) == 0 && tally_profiler_update(1) == 0);
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 3 && r[0].hi == 1);
}

APART(has_room_for_turns, &fake)

/* A thread has room for so many selections of so long texts. */
static void
do_limits_choices(void)
{
    char events[PROFILER_EVENTS + 1];
    struct heard heard;
    const struct tally_log log = listen(&heard);

    tally_profiler_set_log(&log);
    memset(events, '0', sizeof(events));
    events[PROFILER_EVENTS] = '\0';
    MUST(tally_profiler_start(1, events) == TALLY_ERULE && opened == 0);
    MUST(strstr(heard.text, "511 bytes") != NULL);
    events[PROFILER_EVENTS - 1] = '\0';
    MUST(tally_profiler_start(1, events) == 0 && opened == 1);
    for (int i = 1; i < CALL_LOG_SELECTIONS; i++) {
        sprintf(events, "%x", (unsigned)i);
        MUST(tally_profiler_start(1, events) == 0 && opened == i + 1);
    }
    heard.lines = 0;
    MUST(tally_profiler_start(1, "ff") == TALLY_ERULE && heard.lines == 1);
    MUST(opened == CALL_LOG_SELECTIONS && started == 1);
    MUST(tally_profiler_start(1, "3") == 0);
    MUST(tally_profiler_start(7, "3") == TALLY_ERULE);
    MUST(tally_profiler_start(8, "3") == TALLY_ERANGE);
}

APART(limits_choices, &fake)

/* The last events that did not open are told of once. */
static void
do_tells_once(void)
{
    struct heard heard;
    const struct tally_log log = listen(&heard);
    static const struct {
        const char *events;
        int lines;
    } rows[] = {
        {"bad", 1}, {"bad", 1}, {"1", 1}, {"bad", 1}, {"bad,2", 2}, {"bad", 3},
    };

    tally_profiler_set_log(&log);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bool bad = strncmp(rows[i].events, "bad", 3) == 0;
        MUST(tally_profiler_start(1, rows[i].events) ==
             (bad ? TALLY_EUNKNOWN : 0));
        MUST(heard.lines == rows[i].lines);
    }
}

APART(tells_once, &fake)

/* What the source refuses is the call's error, and nothing is stored. */
static void
do_passes_errors_on(void)
{
    struct tally_profiler_values values = {.cycles = 77};
    struct dump_record r[8];

    clock_fails = TALLY_EIDLE;
    MUST(tally_profiler_start(1, "1") == TALLY_EIDLE);
    MUST(tally_profiler_self() == NULL);
    clock_fails = 0;
    start_fails = TALLY_EPERMISSION; /* of the clock */
    MUST(tally_profiler_start(1, "1") == TALLY_EPERMISSION);
    start_fails = 0;
    MUST(tally_profiler_self() != NULL);
    start_fails = TALLY_EPERMISSION;
    MUST(tally_profiler_start(1, "1") == TALLY_EPERMISSION);
    MUST(tally_profiler_update(1) == TALLY_ERULE);
    start_fails = 0;
    open_fails = TALLY_ENOMEM;
    MUST(tally_profiler_start(1, "2") == TALLY_ENOMEM);
    open_fails = 0;
    MUST(tally_profiler_start(1, "1") == 0);
    read_fails = TALLY_EIO;
    MUST(tally_profiler_update(1) == TALLY_EIO);
    MUST(tally_profiler_values(1, &values) == TALLY_EIO);
    MUST(values.cycles == 77);
    MUST(tally_profiler_start(1, "1") == TALLY_EIO);
    read_fails = 0;
    MUST(tally_profiler_update(1) == TALLY_ERULE); /* the start failed */
    MUST(tally_profiler_start(1, "1") == 0);
    stop_fails = TALLY_EIO;
    MUST(tally_profiler_start(1, "2") == TALLY_EIO);
    stop_fails = 0;
    MUST(tally_profiler_start(1, "1") == 0);
    stop_fails = TALLY_EIO;
    MUST(tally_profiler_stop(1) == TALLY_EIO);
    stop_fails = 0;
    MUST(tally_profiler_update(1) == TALLY_ERULE);
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 3);
}

APART(passes_errors_on, &fake)

/* Values and updates go round where the property says that counters do. */
static void
do_counts_in_few_bits(void)
{
    static const struct {
        const char *bits;
        uint64_t add, count, overflow;
    } rows[] = {
        {"1", 3, 1, 3},
        {"16", 0xffff, 0xffff, 0},
        {"16", 0x1000a, 10, 3},
        {"63", UINT64_C(1) << 63, 0, 3},
        {"64", UINT64_MAX, UINT64_MAX, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const pid_t child = fork();
        int status;
        if (child == 0) {
            struct tally_profiler_values values;
            struct dump_record r[8];
            tally_profiler_set_property("profiler_counter_bits", rows[i].bits);
            MUST(tally_profiler_start(1, "1,2") == 0);
            told.hi += rows[i].add, told.lo += rows[i].add;
            MUST(tally_profiler_values(1, &values) == 0);
            MUST(values.hi == rows[i].count && values.lo == rows[i].count);
            MUST(values.overflow == rows[i].overflow);
            MUST(tally_profiler_update(1) == 0);
            MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 2);
            MUST(r[1].hi == rows[i].count && r[1].lo == rows[i].count);
            MUST(r[1].overflow == rows[i].overflow);
            _exit(0);
        }
        MUST(waitpid(child, &status, 0) == child && status == 0);
    }
}

APART(counts_in_few_bits, &fake)

/* The code of an event of the group's own unit is without the unit. */
static void
do_writes_codes(void)
{
    static const struct {
        unsigned group;
        const char *events;
        uint64_t hi, lo;
    } rows[] = {
        {0, "8100000005,8200000006", 5, 0x8200000006},
        {1, "8100000005,8200000006", 5, 0x8200000006},
        {2, "8100000005,8200000006", 0x8100000005, 6},
        {2, "100000002,7", 0x100000002, 7},
    };
    struct dump_record r[8];

    for (size_t i = 0; i < COUNT(rows); i++) {
        MUST(tally_profiler_start(rows[i].group, rows[i].events) == 0);
        MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 1);
        MUST(r[0].hi == rows[i].hi && r[0].lo == rows[i].lo);
    }
}

APART(writes_codes, &fake)

static const char *
dumped_text(enum tally_profiler_form form)
{
    static char text[1 << 16];
    size_t length;

    MUST(tally_profiler_dump_memory(NULL, text, sizeof(text) - 1, &length,
                                    form) == 0);
    text[length] = '\0';
    return text;
}

/* A dump names the machine and each event once for each group, and the text
 * that was asked for where it is another. */
static void
do_names_events(void)
{
    MUST(tally_profiler_start(1, "{1,2}") == 0);
    MUST(tally_profiler_start(2, "2") == 0);
    MUST(tally_profiler_start(2, "8,3") == 0);
    MUST(tally_profiler_start(1, "2,1") == 0);
    MUST(tally_profiler_start(1, "100,4") == 0); /* 0x100 has no name */
    const char *text = dumped_text(TALLY_PROFILER_JSON);
    MUST(strncmp(text, "{\"schema\": 1, ", 14) == 0);
    static const char names[] =
        "{\"dump\": \"machine\", \"machine\": \"mock\"}\n"
        "{\"dump\": \"event\", \"group\": 1, \"code\": \"0x1\", "
        "\"name\": \"one\", \"asked\": \"1\"}\n"
        "{\"dump\": \"event\", \"group\": 1, \"code\": \"0x2\", "
        "\"name\": \"two\", \"asked\": \"2\"}\n"
        "{\"dump\": \"event\", \"group\": 2, \"code\": \"0x2\", "
        "\"name\": \"two\", \"asked\": \"2\"}\n"
        "{\"dump\": \"event\", \"group\": 2, \"code\": \"0x8\", "
        "\"name\": \"eight\", \"asked\": \"8\"}\n"
        "{\"dump\": \"event\", \"group\": 2, \"code\": \"0x3\", "
        "\"name\": \"three\", \"asked\": \"3\"}\n"
        "{\"dump\": \"event\", \"group\": 1, \"code\": \"0x4\", "
        "\"name\": \"four\", \"asked\": \"4\"}\n";
    MUST(strncmp(strchr(text, '\n') + 1, names, strlen(names)) == 0);
    MUST(strstr(text, names)[strlen(names)] != '\0');
    MUST(tally_profiler_start(1, "1,2") == 0);
    const char *table = dumped_text(TALLY_PROFILER_TABLE);
    MUST(strncmp(table, "TEJA", 4) != 0); /* the names stand first */
    MUST(strstr(table, "mock\n") != NULL && strstr(table, "one 1\n") != NULL);
    MUST(strstr(strstr(table, "mock\n") + 1, "mock\n") == NULL);
}

APART(names_events, &named)

/* The text that was asked for is left out where it is the name, where the
 * list has another number of items than events, and where it is too long. */
static void
do_names_what_was_asked(void)
{
    static const struct {
        const char *events, *line;
    } rows[] = {
        {"1", "one 1\n"},
        {"{2}", "two 2\n"},
        {"0x3", "three 0x3\n"},
        {"4,", "four\n"}, /* two events, 4 and 0, of one item */
        {"1f", "EVENT,1,1f,1f\n"},
        {"{5,6}", "six 6\n"},
        {"00000007,8}", "seven 00000007\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        MUST(tally_profiler_start(1, rows[i].events) == 0);
        const char *text = dumped_text(TALLY_PROFILER_TABLE);
        if (strstr(text, rows[i].line) == NULL) {
            fprintf(stderr, "%s: %s\n", rows[i].events, text);
            _exit(1);
        }
    }
}

APART(names_what_was_asked, &named)

/* A dump of JSON names nothing where the source has no names. */
static void
do_names_nothing(void)
{
    MUST(tally_profiler_start(1, "1,2") == 0);
    MUST(strstr(dumped_text(TALLY_PROFILER_JSON), "event") == NULL);
}

APART(names_nothing, &fake)

static void *
start_on_strand(void *strand)
{
    strand_told = (uint64_t)(uintptr_t)strand;
    MUST(tally_profiler_start(1, "1") == 0);
    return NULL;
}

/* A thread has its strand's number; the second and third on a strand have
 * numbers beyond the strands. */
static void
do_numbers_strands(void)
{
    static const uintptr_t strands[] = {4, 1, 4, 64, 4, 0};
    static const uint64_t cpus[] = {3, 0, 3 + 64, 63, 3 + 128, 5};
    struct dump_record r[COUNT(strands) + 1];
    uint64_t dumps;

    for (size_t i = 0; i < COUNT(strands); i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, start_on_strand,
                            (void *)strands[i]) == 0);
        pthread_join(thread, NULL);
        MUST(opened == 0 && clocks == 0);
    }
    MUST(dump(r, COUNT(r), TALLY_PROFILER_TABLE, &dumps) == COUNT(strands));
    MUST(dumps == COUNT(strands));
    for (size_t i = 0; i < COUNT(strands); i++)
        MUST(r[i].cpu == cpus[i]);
}

APART(numbers_strands, &fake)

/* A dump that could not be written leaves the records where they are. */
static void
do_keeps_what_was_not_dumped(void)
{
    char exact[1 << 12];
    struct dump_record r[8];
    size_t length, again = 0;
    int ends[2];

    signal(SIGPIPE, SIG_IGN);
    MUST(tally_profiler_start(1, "1") == 0 && tally_profiler_update(1) == 0);
    MUST(pipe(ends) == 0 && close(ends[0]) == 0);
    MUST(tally_profiler_dump_fd(NULL, ends[1], TALLY_PROFILER_TABLE) ==
         TALLY_EIO);
    MUST(tally_profiler_dump_memory(NULL, exact, 0, &length,
                                    TALLY_PROFILER_TABLE) == TALLY_ERANGE);
    MUST(length < sizeof(exact));
    memset(exact, 'x', sizeof(exact));
    MUST(tally_profiler_dump_memory(NULL, exact, length - 1, &again,
                                    TALLY_PROFILER_TABLE) == TALLY_ERANGE);
    MUST(again == length && exact[length - 1] == 'x' && exact[length] == 'x');
    MUST(tally_profiler_dump_memory(NULL, exact, length, &again,
                                    TALLY_PROFILER_TABLE) == 0);
    MUST(again == length && exact[length - 1] == '\n' && exact[length] == 'x');
    MUST(read_dump(exact, length, r, 8, NULL) == 2);
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 0);
}

APART(keeps_what_was_not_dumped, &fake)

/* A dump of one thread takes out that thread's records alone. */
static void
do_dumps_one_thread(void)
{
    static char text[1 << 16];
    struct dump_record r[8];
    size_t length;
    pthread_t thread;
    uint64_t dumps;

    MUST(tally_profiler_start(1, "1") == 0);
    MUST(pthread_create(&thread, NULL, start_on_strand, NULL) == 0);
    pthread_join(thread, NULL);
    MUST(tally_profiler_dump_memory(tally_profiler_self(), text, sizeof(text),
                                    &length, TALLY_PROFILER_JSON) == 0);
    MUST(read_dump(text, length, r, 8, &dumps) == 1 && dumps == 1);
    MUST(r[0].cpu == 0);
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, &dumps) == 1 && dumps == 2);
    MUST(r[0].cpu == 1);
}

APART(dumps_one_thread, &fake)

/* Each place is written once, though a header's function has a site in each
 * file that includes it. */
static void
do_writes_places_once(void)
{
    static struct tally_profiler_site sites[] = {
        {"a.c", "f", 10, 0, NULL}, {"a.c", "f", 10, 0, NULL},
        {"a.c", "f", 11, 0, NULL}, {"a.c", "g", 10, 0, NULL},
        {"b.c", "f", 10, 0, NULL}, {"a.c", "f", 10, 0, NULL},
    };
    char text[4096], line[64];
    int ends[2];
    size_t lines = 0;

    for (size_t i = 0; i < COUNT(sites); i++)
        MUST(tally_profiler_start_at(&sites[i], 1, "1") == 0);
    MUST(pipe(ends) == 0 && tally_profiler_locations_fd(ends[1]) == 0);
    close(ends[1]);
    const ssize_t length = read(ends[0], text, sizeof(text) - 1);
    MUST(length > 0);
    text[length] = '\0';
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    MUST(lines == 4);
    for (size_t i = 0; i < 5; i++) {
        snprintf(line, sizeof(line), "%x %s:%u:%s\n", sites[i].id,
                 sites[i].file, sites[i].line, sites[i].function);
        MUST(strstr(text, line) != NULL);
    }
    signal(SIGPIPE, SIG_IGN);
    MUST(pipe(ends) == 0 && close(ends[0]) == 0);
    MUST(tally_profiler_locations_fd(ends[1]) == TALLY_EIO);
    /* A line that has no room is no line. */
    const size_t whole = profiler_place(&sites[0], text, sizeof(text));
    MUST(whole == strlen(text));
    MUST(profiler_place(&sites[0], text, whole) == 0);
    MUST(profiler_place(&sites[0], text, whole + 1) == whole);
}

APART(writes_places_once, &fake)

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
    MUST(heard.lines == 6);
    tally_profiler_set_log(NULL);
    MUST(tally_profiler_set_property("profiler_log_table_size", "4") ==
         TALLY_ERULE);
    MUST(heard.lines == 6);
}

APART(properties_are_checked, &fake)

static void
properties_have_limits(void **state)
{
    static const struct {
        int line;
        const char *name, *value;
        int error;
    } rows[] = {
        {__LINE__, "profiler_log_table_size", "1", 0},
        {__LINE__, "profiler_log_table_size", "4294967296", 0},
        {__LINE__, "profiler_log_table_size", "4294967297", TALLY_ERANGE},
        {__LINE__, "profiler_log_table_size", "18446744073709551617",
         TALLY_ERANGE},
        {__LINE__, "profiler_log_table_size", "", TALLY_ESYNTAX},
        {__LINE__, "profiler_log_table_size", " 5", TALLY_ESYNTAX},
        {__LINE__, "profiler_buffer_size", "4294967296", 0},
        {__LINE__, "profiler_buffer_size", "0", TALLY_ERANGE},
        {__LINE__, "profiler_buffer_size", "4294967297", TALLY_ERANGE},
        {__LINE__, "profiler_user_data_size", "0", 0},
        {__LINE__, "profiler_user_data_size", "64", 0},
        {__LINE__, "profiler_counter_bits", "0", TALLY_ERANGE},
        {__LINE__, "profiler_counter_bits", "1", 0},
        {__LINE__, "profiler_counter_bits", "64", 0},
        {__LINE__, "profiler_counter_bits", "65", TALLY_ERANGE},
        {__LINE__, "profiler_rotate", "0", 0},
        {__LINE__, "profiler_rotate", "1", 0},
        {__LINE__, "profiler_rotate", "2", TALLY_ERANGE},
        {__LINE__, "profiler_clock", "cycles", 0},
        {__LINE__, "profiler_clock", "instructions", 0},
        {__LINE__, "profiler_clock", "seconds", TALLY_ESYNTAX},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct profiler_properties p = {.counter_bits = 7, .rotate = true};
        struct heard heard;
        const struct tally_log log = listen(&heard);
        same_number(
            rows[i].line,
            profiler_property(&p, rows[i].name, "given", rows[i].value, &log),
            rows[i].error);
        same_number(rows[i].line, heard.lines, rows[i].error != 0);
        if (heard.lines > 0 && strncmp(heard.text, "given takes ", 12) != 0)
            fail_msg("row of line %d: %s", rows[i].line, heard.text);
    }
}

/* A text has room for its most bytes less the NUL. */
static void
properties_have_room(void **state)
{
    static const struct {
        int line;
        const char *name;
        size_t room;
        size_t offset;
    } rows[] = {
        {__LINE__, "profiler_buffer_file", PATH_MAX,
         offsetof(struct profiler_properties, buffer_file)},
        {__LINE__, "profiler_dump_file", PATH_MAX,
         offsetof(struct profiler_properties, dump_file)},
        {__LINE__, "profiler_events", PROFILER_LIST,
         offsetof(struct profiler_properties, events)},
    };
    static struct profiler_properties p;
    static char text[PROFILER_LIST + 1];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        memset(text, 'x', rows[i].room);
        text[rows[i].room] = '\0';
        same_number(rows[i].line,
                    profiler_property(&p, rows[i].name, "given", text, NULL),
                    TALLY_ERANGE);
        text[rows[i].room - 1] = '\0';
        same_number(rows[i].line,
                    profiler_property(&p, rows[i].name, "given", text, NULL),
                    0);
        assert_string_equal((char *)&p + rows[i].offset, text);
    }
}

/* The clock and the switch are set as they are named. */
static void
properties_are_set(void **state)
{
    struct profiler_properties p = {0};
    struct heard heard;
    const struct tally_log log = listen(&heard);

    (void)state;
    profiler_property(&p, "profiler_clock", "c", "instructions", NULL);
    assert_true(p.instructions);
    profiler_property(&p, "profiler_clock", "c", "cycles", NULL);
    assert_false(p.instructions);
    profiler_property(&p, "profiler_rotate", "r", "1", NULL);
    assert_true(p.rotate);
    profiler_property(&p, "profiler_rotate", "r", "0", NULL);
    assert_false(p.rotate);
    /* The first error of the environment; the others are logged too, and what
     * is right is set. */
    setenv("TALLY_PROFILER_LOG_TABLE_SIZE", "0", 1);
    setenv("TALLY_PROFILER_USER_DATA_SIZE", "5", 1);
    setenv("TALLY_PROFILER_CLOCK", "none", 1);
    assert_int_equal(profiler_environment(&p, &log), TALLY_ERANGE);
    assert_int_equal(heard.lines, 2);
    assert_int_equal(p.user_data_size, 5);
    assert_string_equal(heard.text,
                        "TALLY_PROFILER_CLOCK takes cycles or instructions, "
                        "not 'none'");
    unsetenv("TALLY_PROFILER_LOG_TABLE_SIZE");
    unsetenv("TALLY_PROFILER_USER_DATA_SIZE");
    unsetenv("TALLY_PROFILER_CLOCK");
    assert_int_equal(profiler_environment(&p, &log), 0);
}

/* A variable's name is in capitals, and is cut where it has no room. */
static void
variables_have_room(void **state)
{
    char variable[PROFILER_VARIABLE + 1];

    (void)state;
    variable[PROFILER_VARIABLE] = 'z';
    profiler_variable("profiler_x", variable);
    assert_string_equal(variable, "TALLY_PROFILER_X");
    profiler_variable(LONG_NAME, variable);
    assert_int_equal(strlen(variable), PROFILER_VARIABLE - 1);
    assert_int_equal(variable[PROFILER_VARIABLE], 'z');
    assert_memory_equal(variable, "TALLY_A123456789B", 17);
}

static void
paths_have_the_process(void **state)
{
    char path[64], wanted[64];

    (void)state;
    assert_true(profiler_path("a/b", path, 4));
    assert_string_equal(path, "a/b");
    assert_false(profiler_path("a/b", path, 3));
    snprintf(wanted, sizeof(wanted), "a.%ld.%%p", (long)getpid());
    assert_true(profiler_path("a.%p.%p", path, sizeof(path)));
    assert_string_equal(path, wanted);
    assert_true(profiler_path("a.%p.%p", path, strlen(wanted) + 1));
    assert_false(profiler_path("a.%p.%p", path, strlen(wanted)));
}

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
    enum { RECORDS = 1024, TEXT = 1 << 16 };
    char folder[] = "/tmp/tally-profiler-XXXXXX", path[64];
    struct dump_record *const r = test_calloc(RECORDS, sizeof(*r));
    char *const text = test_malloc(TEXT);
    struct call_image image;
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
    while ((got = call_image_fill(&image, text + used, TEXT - used)) > 0)
        used += (size_t)got;
    assert_int_equal(read_dump(text, used, r, RECORDS, NULL), 61);
    assert_int_equal(r[60].cycles, 61 * 8);
    char caller[16];
    snprintf(caller, sizeof(caller), "%x ", (unsigned)r[1].caller);
    assert_non_null(
        memmem(image.text, image.text_size, caller, strlen(caller)));
    call_image_finish(&image);
    test_free(text);
    test_free(r);
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
        MUST(r[0].cpu == 0);
        _exit(0);
    }
    int status;
    MUST(waitpid(child, &status, 0) == child && status == 0);
    MUST(tally_profiler_update(1) == 0);
    MUST(dump(r, 8, TALLY_PROFILER_TABLE, NULL) == 2);
}

APART(children_begin_anew, &fake)

/* A child keeps the files of its own that %p makes, and no file of its
 * parent's; nor is the parent's file of buffers written by the child. */
static void
do_children_have_own_files(void)
{
    static const struct {
        const char *buffers, *dump;
    } rows[] = {{"b", "d.%p"}, {"b.%p", "d"}};
    char folder[] = "/tmp/tally-profiler-XXXXXX";

    MUST(mkdtemp(folder) != NULL && chdir(folder) == 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const pid_t parent = fork();
        int status;
        if (parent == 0) {
            tally_profiler_set_property("profiler_buffer_file",
                                        rows[i].buffers);
            tally_profiler_set_property("profiler_dump_file", rows[i].dump);
            MUST(tally_profiler_start(1, "1") == 0);
            MUST(profiler.file.head != NULL);
            const pid_t child = fork();
            if (child == 0) {
                const struct profiler_properties *p = &profiler.properties;
                MUST(profiler.file.head == NULL);
                MUST(strcmp(p->buffer_file, i == 1 ? "b.%p" : "") == 0);
                MUST(strcmp(p->dump_file, i == 0 ? "d.%p" : "") == 0);
                MUST(tally_profiler_start(1, "1") == 0);
                MUST((profiler.file.head != NULL) == (i == 1));
                char path[PATH_MAX];
                MUST(profiler_path("b.%p", path, sizeof(path)));
                MUST((access(path, F_OK) == 0) == (i == 1));
                unlink(path);
                _exit(0);
            }
            MUST(waitpid(child, &status, 0) == child && status == 0);
            MUST(tally_profiler_update(1) == 0);
            char path[PATH_MAX];
            MUST(profiler_path(rows[i].buffers, path, sizeof(path)));
            MUST(unlink(path) == 0);
            _exit(0);
        }
        MUST(waitpid(parent, &status, 0) == parent && status == 0);
    }
    MUST(rmdir(folder) == 0);
}

APART(children_have_own_files, &fake)

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

/* A set of this host that cannot be read has no reading. */
static void
reads_of_this_host_fail(void **state)
{
    const struct profiler_source *const host = &profiler_counters;
    struct profiler_reading reading = {77, 77, 77};
    struct profiler_set set = {0}, clock = {0};

    (void)state;
    if (host->open("page-faults", false, NULL, &set) != 0)
        skip();
    assert_int_equal(host->start(&set, &clock), 0);
    assert_int_equal(host->read(&set, &reading), 0);
    assert_int_equal(reading.hi, reading.lo);
    assert_int_equal(host->stop(&set), 0);
    assert_int_equal(tally_counter_add(set.counters, "cs,task-clock"), 0);
    const struct profiler_reading before = reading;
    assert_int_equal(host->read(&set, &reading), TALLY_ERANGE);
    assert_memory_equal(&reading, &before, sizeof(reading));
    host->close(&set);
    assert_null(set.counters);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stores_what_was_counted),
        cmocka_unit_test(says_what_overflowed),
        cmocka_unit_test(groups_count_apart),
        cmocka_unit_test(takes_turns),
        cmocka_unit_test(opens_all_turns),
        cmocka_unit_test(stays_on_one_turn),
        cmocka_unit_test(has_room_for_turns),
        cmocka_unit_test(limits_choices),
        cmocka_unit_test(tells_once),
        cmocka_unit_test(passes_errors_on),
        cmocka_unit_test(counts_in_few_bits),
        cmocka_unit_test(writes_codes),
        cmocka_unit_test(names_events),
        cmocka_unit_test(names_what_was_asked),
        cmocka_unit_test(names_nothing),
        cmocka_unit_test(numbers_strands),
        cmocka_unit_test(keeps_what_was_not_dumped),
        cmocka_unit_test(dumps_one_thread),
        cmocka_unit_test(writes_places_once),
        cmocka_unit_test(properties_are_checked),
        cmocka_unit_test(properties_have_limits),
        cmocka_unit_test(properties_have_room),
        cmocka_unit_test(properties_are_set),
        cmocka_unit_test(variables_have_room),
        cmocka_unit_test(paths_have_the_process),
        cmocka_unit_test(says_why_not),
        cmocka_unit_test(threads_have_logs),
        cmocka_unit_test(recovers_what_was_killed),
        cmocka_unit_test(children_begin_anew),
        cmocka_unit_test(children_have_own_files),
        cmocka_unit_test(handlers_may_update),
        cmocka_unit_test(handlers_may_stop),
        cmocka_unit_test(dumps_through_no_planted_link),
        cmocka_unit_test(counts_on_this_host),
        cmocka_unit_test(reads_of_this_host_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
