/* SPDX-License-Identifier: MIT */
/* The circular buffer: what stays, what is marked, signals, readers beside. */
#include "profile/call_log.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"
#include "profile/call_file.h"

static void
make(struct call_log *log, uint64_t size, uint64_t words)
{
    void *memory = calloc(1, call_log_bytes(size, words));

    assert_non_null(memory);
    call_log_init(log, memory, 5, size, words);
}

static void
add(const struct call_log *log, unsigned call, unsigned selection, uint64_t n)
{
    const uint64_t words[] = {n, ~n};
    const struct call c = {.cycles = n,
                           .pc = n + 1,
                           .hi = n + 2,
                           .lo = n + 3,
                           .caller = (uint32_t)n + 4,
                           .call = call,
                           .overflow = n & 3,
                           .selection = selection,
                           .words = words,
                           .word_count = 2};

    call_log_add(log, &c);
}

#define SEEN 4096
struct seen {
    uint64_t numbers[SEEN];
    bool overruns[SEEN];
    size_t count;
};

/* A record is whole: every field follows from the number. */
static int
see(void *user, const struct dump_record *r)
{
    struct seen *const s = user;
    const uint64_t n = r->cycles;

    assert_true(s->count < SEEN);
    assert_int_equal(r->cpu, 5);
    assert_int_equal(r->pc, n + 1);
    assert_int_equal(r->caller, (uint32_t)n + 4);
    assert_int_equal(r->overflow, n & 3);
    if (r->call == DUMP_CALL_UPDATE) {
        assert_int_equal(r->hi, n + 2);
        assert_int_equal(r->lo, n + 3);
        assert_int_equal(r->word_count, 2);
        assert_true(r->words[0] == n && r->words[1] == ~n);
    }
    s->numbers[s->count] = n;
    s->overruns[s->count++] = r->overrun;
    return 0;
}

/* How many stay at the front, told apart from the code: a table. */
static const struct {
    int line;
    uint64_t size, first;
} sizes[] = {
    {__LINE__, 1, 0},    {__LINE__, 2, 1}, {__LINE__, 3, 1},
    {__LINE__, 4, 2},    {__LINE__, 5, 1}, {__LINE__, 7, 3},
    {__LINE__, 8, 4},    {__LINE__, 9, 1}, {__LINE__, 100, 36},
    {__LINE__, 128, 64},
};

/* P16: `calls` calls into `size` records; the rule, obviously. */
static void
check_kept(int line, const struct seen *s, uint64_t size, uint64_t first,
           uint64_t calls, uint64_t from)
{
    size_t i = 0;

    for (uint64_t n = 0; n < calls; n++) {
        const bool over = calls > size;
        if (over && n >= first && n < calls - (size - first))
            continue;
        same_number(line, (long long)s->numbers[i], (long long)(from + n));
        same_number(line, s->overruns[i], over && n >= first);
        i++;
    }
    same_number(line, (long long)s->count, (long long)i);
}

static void
keeps_first_and_last(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (uint64_t calls = 0; calls < 3 * sizes[i].size + 2; calls++) {
            const struct call_selection all = {1, 0x100, 2};
            struct call_log log;
            struct seen s = {.count = 0};
            uint64_t head = 0;
            make(&log, sizes[i].size, 2);
            assert_int_equal(call_log_select(&log, &all), 0);
            same_number(sizes[i].line, (long long)log.first,
                        (long long)sizes[i].first);
            for (uint64_t n = 0; n < calls; n++)
                add(&log, DUMP_CALL_UPDATE, 0, n);
            call_log_walk(&log, see, &s, &head);
            check_kept(sizes[i].line, &s, sizes[i].size, sizes[i].first, calls,
                       0);
            /* What was taken out is gone; what comes then is as new. */
            call_log_empty(&log, head);
            s.count = 0;
            call_log_walk(&log, see, &s, NULL);
            assert_int_equal(s.count, 0);
            for (uint64_t n = 0; n < calls; n++)
                add(&log, DUMP_CALL_UPDATE, 0, calls + n);
            call_log_walk(&log, see, &s, NULL);
            check_kept(sizes[i].line, &s, sizes[i].size, sizes[i].first, calls,
                       calls);
            free(log.memory);
        }
}

/* A start shows codes and not counts; words beyond the log's are dropped. */
static void
starts_have_codes(void **state)
{
    const struct call_selection selection = {3, 0xfd2, 0x4b};
    const uint64_t words[] = {7, 8, 9};
    struct call c = {.call = DUMP_CALL_START, .words = words};
    struct call_log log;

    (void)state;
    make(&log, 4, 2);
    assert_int_equal(call_log_select(&log, &selection), 0);
    call_log_add(&log, &c);
    c.call = DUMP_CALL_UPDATE;
    c.word_count = 1;
    call_log_add(&log, &c);
    c.word_count = 3;
    call_log_add(&log, &c);
    uint64_t what = log.memory[CALL_LOG_RECORDS + CALL_WHAT];
    assert_int_equal(what, (uint64_t)DUMP_CALL_START << 32);
    assert_int_equal(
        log.memory[CALL_LOG_RECORDS + log.stride + CALL_FIELDS + 1], 0);
    assert_int_equal(
        log.memory[CALL_LOG_RECORDS + 2 * log.stride + CALL_FIELDS + 1], 8);
    free(log.memory);
}

/*
 * Behind a gap, an update whose start is lost is left out if it counted other
 * events than those told last.
 */
static void
no_update_without_codes(void **state)
{
    const struct call_selection a = {1, 1, 1}, b = {1, 2, 2};
    struct call_log log;
    struct seen s = {.count = 0};

    (void)state;
    make(&log, 4, 2);
    call_log_select(&log, &a);
    call_log_select(&log, &b);
    add(&log, DUMP_CALL_START, 0, 0);
    add(&log, DUMP_CALL_UPDATE, 0, 1);
    add(&log, DUMP_CALL_START, 1, 2);
    add(&log, DUMP_CALL_UPDATE, 1, 3);
    add(&log, DUMP_CALL_START, 0, 4);
    call_log_walk(&log, see, &s, NULL);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.numbers[2], 4);
    add(&log, DUMP_CALL_UPDATE, 0, 5);
    s.count = 0;
    call_log_walk(&log, see, &s, NULL);
    assert_int_equal(s.count, 4);
    free(log.memory);
}

static void
odd_shapes(void **state)
{
    struct call_log log;

    (void)state;
    assert_int_equal(call_log_bytes(0, 0), 0);
    assert_int_equal(call_log_bytes(1, DUMP_WORDS + 1), 0);
    assert_int_equal(call_log_bytes(CALL_LOG_SIZE_MAX + 1, 0), 0);
    make(&log, 3, 1);
    const size_t bytes = call_log_bytes(3, 1);
    struct call_log again;
    assert_true(call_log_open(&again, log.memory, bytes));
    assert_int_equal(again.first, 1);
    assert_false(call_log_open(&again, log.memory, bytes - 1));
    assert_false(call_log_open(&again, log.memory, 8));
    log.memory[CALL_LOG_SIZE] = UINT64_MAX;
    assert_false(call_log_open(&again, log.memory, bytes));
    for (int i = 0; i < CALL_LOG_SELECTIONS; i++)
        assert_int_equal(
            call_log_select(&log, &(struct call_selection){1, 1, 1}), i);
    assert_int_equal(call_log_select(&log, &(struct call_selection){1, 1, 1}),
                     -1);
    free(log.memory);
}

/* A timer's handler writes into the log of the thread that it interrupts, at
 * most ROUND records in one round of that thread: on a slow machine the timer
 * expires more often than the log and the list of the records seen have room
 * for. */
enum { ROUND = 1998 };
static struct call_log shared;
static volatile sig_atomic_t handled, round_end;

static void
handler(int signal)
{
    (void)signal;
    for (int i = 0; i < 3 && handled < round_end; i++)
        add(&shared, DUMP_CALL_UPDATE, 0, 1000000 + (uint64_t)handled++);
}

static void
signals_lose_nothing(void **state)
{
    const struct call_selection all = {1, 1, 1};
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    uint64_t mine = 0, seen[2] = {0, 0};
    sigset_t alarm;

    (void)state;
    make(&shared, 8192, 2);
    call_log_select(&shared, &all);
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    signal(SIGALRM, handler);
    setitimer(ITIMER_REAL, &often, NULL);
    while (handled < 900) {
        struct seen s = {.count = 0};
        uint64_t head;
        round_end = handled + ROUND;
        for (int i = 0; i < 2000; i++)
            add(&shared, DUMP_CALL_UPDATE, 0, mine++ % 1000000);
        sigprocmask(SIG_BLOCK, &alarm, NULL);
        call_log_walk(&shared, see, &s, &head);
        call_log_empty(&shared, head);
        for (size_t i = 0; i < s.count; i++) {
            uint64_t *const next = &seen[s.numbers[i] >= 1000000];
            assert_int_equal(s.numbers[i] % 1000000, *next % 1000000);
            (*next)++;
        }
        assert_int_equal(seen[0], mine);
        assert_int_equal(seen[1], (uint64_t)handled);
        sigprocmask(SIG_UNBLOCK, &alarm, NULL);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
    free(shared.memory);
}

/* Another thread reads and empties while this one writes: records are whole,
 * in order and never twice. */
static _Atomic bool finished;

static void *
writer(void *log)
{
    for (uint64_t n = 0; n < 200000; n++)
        add(log, DUMP_CALL_UPDATE, 0, n);
    finished = true;
    return NULL;
}

static void
readers_see_whole_records(void **state)
{
    const struct call_selection all = {1, 1, 1};
    struct call_log log;
    uint64_t next = 0;
    pthread_t thread;

    (void)state;
    make(&log, 64, 2);
    call_log_select(&log, &all);
    assert_int_equal(pthread_create(&thread, NULL, writer, &log), 0);
    for (bool last = false; !last;) {
        struct seen s = {.count = 0};
        uint64_t head;
        last = finished;
        call_log_walk(&log, see, &s, &head);
        call_log_empty(&log, head);
        for (size_t i = 0; i < s.count; i++) {
            assert_true(s.numbers[i] >= next);
            next = s.numbers[i] + 1;
        }
    }
    assert_int_equal(next, 200000);
    pthread_join(thread, NULL);
    free(log.memory);
}

/* A file of either order of bytes gives the same dump; others are refused. */
static void
files_of_either_order(void **state)
{
    char path[] = "/tmp/tally-call-file-XXXXXX", texts[2][4096];
    const struct call_selection all = {1, 0x100, 2};
    struct call_file file;
    struct call_image image;
    struct call_log log;

    (void)state;
    close(mkstemp(path));
    assert_int_equal(call_file_create(path, call_log_bytes(8, 2), &file), 0);
    assert_true(call_file_text(&file, "1 a:1:f\n", 8));
    for (uint64_t cpu = 5; cpu < 7; cpu++) {
        call_log_init(&log, call_file_grow(&file), cpu, 8, 2);
        call_log_select(&log, &all);
        add(&log, DUMP_CALL_START, 0, 10);
        add(&log, DUMP_CALL_UPDATE, 0, 20);
    }
    for (int swapped = 0; swapped < 2; swapped++) {
        assert_int_equal(lseek(file.fd, 0, SEEK_SET), 0);
        assert_int_equal(call_image_read(file.fd, &image), 0);
        assert_int_equal(image.text_size, 8);
        assert_memory_equal(image.text, "1 a:1:f\n", 8);
        size_t used = 0;
        long got;
        while ((got = call_image_fill(&image, texts[swapped] + used, 7)) > 0)
            used += (size_t)got;
        texts[swapped][used] = '\0';
        call_image_finish(&image);
        /* The same file as the other kind of host would have written it. */
        call_log_swap((uint64_t *)file.head, CALL_FILE_WORDS);
        uint64_t words[CALL_LOG_RECORDS + 8 * (CALL_FIELDS + 2)];
        for (int i = 0; i < 2 && swapped == 0; i++) {
            const off_t at = (off_t)(CALL_FILE_LOGS + (size_t)i * file.stride);
            assert_int_equal(pread(file.fd, words, sizeof(words), at),
                             (ssize_t)sizeof(words));
            call_log_swap(words, COUNT(words));
            assert_int_equal(pwrite(file.fd, words, sizeof(words), at),
                             (ssize_t)sizeof(words));
        }
    }
    assert_string_equal(texts[0], texts[1]);
    assert_string_equal(
        texts[0],
        "TEJA_PROFILE_DUMP_START,ver1.1\n"
        "CPUID,ID,Type,Cycles,PC,Grp,Evt_Hi,Evt_Lo,Overflow,User Data\n"
        "5,e,1,a,b,1,100,2\n5,18,2,14,15,1,16,17,0,14,ffffffffffffffeb\n"
        "TEJA_PROFILE_DUMP_END\n"
        "TEJA_PROFILE_DUMP_START,ver1.1\n"
        "CPUID,ID,Type,Cycles,PC,Grp,Evt_Hi,Evt_Lo,Overflow,User Data\n"
        "6,e,1,a,b,1,100,2\n6,18,2,14,15,1,16,17,0,14,ffffffffffffffeb\n"
        "TEJA_PROFILE_DUMP_END\n");
    file.head[CALL_FILE_IS] = 1;
    assert_int_equal(lseek(file.fd, 0, SEEK_SET), 0);
    assert_int_equal(call_image_read(file.fd, &image), TALLY_ESYNTAX);
    call_file_close(&file);
    unlink(path);
}

/* Whatever stands in a file, it is read to its end or refused. */
static void
damaged_files(void **state)
{
    enum { SIZE = CALL_FILE_LOGS + CALL_FILE_PAGE, WORDS = SIZE / 8 };
    static uint64_t good[WORDS], bad[WORDS];
    char path[] = "/tmp/tally-call-file-XXXXXX", text[256];
    const int fd = mkstemp(path);
    struct call_file file;
    struct call_log log;
    uint64_t random = 88172645463325252, refused = 0;

    (void)state;
    assert_int_equal(call_file_create(path, call_log_bytes(8, 2), &file), 0);
    call_log_init(&log, call_file_grow(&file), 5, 8, 2);
    for (uint64_t n = 0; n < 20; n++)
        add(&log, DUMP_CALL_UPDATE, 0, n);
    assert_int_equal(pread(file.fd, good, SIZE, 0), SIZE);
    for (int round = 0; round < 3000; round++) {
        struct call_image image;
        memcpy(bad, good, SIZE);
        for (int i = 0; i < 3; i++) {
            random ^= random << 13, random ^= random >> 7;
            random ^= random << 17;
            /* Of the numbers that say how all else is to be read. */
            const uint64_t at = random >> 8 & 1 ? CALL_FILE_LOGS / 8 : 0;
            bad[at + (random >> 16) % 24] = random >> (random & 63);
        }
        const size_t size =
            round % 7 == 0 ? SIZE / 2 + random % SIZE / 2 : SIZE;
        assert_int_equal(pwrite(fd, bad, size, 0), (ssize_t)size);
        assert_int_equal(ftruncate(fd, (off_t)size), 0);
        assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
        if (call_image_read(fd, &image) != 0) {
            refused++;
            continue;
        }
        while (call_image_fill(&image, text, sizeof(text)) > 0)
            ;
        call_image_finish(&image);
    }
    assert_true(refused > 0 && refused < 3000);
    call_file_close(&file);
    close(fd);
    unlink(path);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_first_and_last),
        cmocka_unit_test(starts_have_codes),
        cmocka_unit_test(no_update_without_codes),
        cmocka_unit_test(odd_shapes),
        cmocka_unit_test(signals_lose_nothing),
        cmocka_unit_test(readers_see_whole_records),
        cmocka_unit_test(files_of_either_order),
        cmocka_unit_test(damaged_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
