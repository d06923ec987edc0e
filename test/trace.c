/* SPDX-License-Identifier: MIT */
/* The writer and the reader of traces: what is taken item by item is read step
 * by step. */
#include "trace/trace_reader.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/bytes.h"
#include "record/chunks.h"
#include "ref/random.h"
#include "trace/trace_writer.h"

#define BLOCKS 40u
#define INSNS 6u
#define CODE 4u
#define EVENTS_MOST 60000u

static char folder[] = "/tmp/tally-trace-XXXXXX";
static char message[1024];
static int errors, warnings;

static void
keep_message(void *user, enum tally_level level, const char *text)
{
    (void)user;
    errors += level == TALLY_LOG_ERROR;
    warnings += level == TALLY_LOG_WARNING;
    snprintf(message, sizeof(message), "%s", text);
}

static const struct tally_log hear = {keep_message, NULL};

static const char *
in_folder(const char *name)
{
    static char path[256];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int
setup(void **unused)
{
    (void)unused;
    strcpy(folder + sizeof(folder) - 7, "XXXXXX");
    message[0] = '\0';
    errors = warnings = 0;
    return mkdtemp(folder) == NULL;
}

static int
teardown(void **unused)
{
    (void)unused;
    unlink(in_folder("a"));
    unlink(in_folder("a.old"));
    return rmdir(folder);
}

/* What a made-up program does, as items and as the steps that they are. */
struct program {
    uint64_t *items;
    size_t count, room;
    struct truth {
        enum trace_next next;
        uint64_t word[TRACE_CALL_WORDS + 1]; /* the block; or the call's */
        uint32_t first, accesses;            /* of `what` and `address` */
        uint16_t what;
    } * steps;
    size_t step_count;
    uint16_t *what;
    uint64_t *address;
    uint32_t access_count;
};

static void
put(struct program *p, uint64_t item)
{
    if (p->count == p->room) {
        p->room = 2 * p->room + 1024;
        p->items = reallocarray(p->items, p->room, sizeof(*p->items));
        assert_non_null(p->items);
    }
    p->items[p->count++] = item;
}

static void
put_long(struct program *p, enum trace_item kind, size_t words)
{
    put(p, (uint64_t)words << 32 | (uint64_t)kind << 16 | TRACE_LONG);
}

static uint64_t
pc_of(uint64_t block)
{
    return 0x400000 + 64 * block;
}

/* Describes a block of INSNS instructions of CODE bytes each, whose bytes are
 * its number; 2 bytes before and 3 behind are told. */
static void
put_block(struct program *p, uint64_t block)
{
    uint8_t sizes[8] = {CODE, CODE, CODE, CODE | TRACE_TOLD, CODE, CODE};
    uint8_t bytes[32];
    uint64_t words[4];

    memset(bytes, (int)block, sizeof(bytes));
    put_long(p, TRACE_ITEM_BLOCK, 4 + 1 + 4);
    put(p, pc_of(block));
    put(p, INSNS);
    put(p, 2);
    put(p, 3);
    memcpy(words, sizes, sizeof(sizes));
    put(p, words[0]);
    memcpy(words, bytes, sizeof(words));
    for (unsigned i = 0; i < 4; i++)
        put(p, words[i]);
}

static struct truth *
add_step(struct program *p, enum trace_next next)
{
    struct truth *const t = &p->steps[p->step_count++];

    *t = (struct truth){.next = next, .first = p->access_count};
    return t;
}

static void
put_call(struct program *p, uint64_t number, uint64_t seed)
{
    struct truth *const t = add_step(p, TRACE_NEXT_CALL);

    t->word[0] = number;
    put_long(p, TRACE_ITEM_CALL, 2 + TRACE_CALL_WORDS + 3);
    put(p, number);
    for (unsigned i = 1; i <= TRACE_CALL_WORDS; i++) {
        t->word[i] = seed * i;
        put(p, t->word[i]);
    }
    put(p, 1);
    put(p, seed);
    put(p, 5);
    put(p, 0x6f6c6c6568); /* "hello" */
}

static void
put_map(struct program *p, uint64_t first, uint64_t place)
{
    struct truth *const t = add_step(p, TRACE_NEXT_MAP);

    t->word[0] = first;
    t->word[1] = first + 4095;
    t->word[2] = place;
    put_long(p, TRACE_ITEM_MAP, place != 0 ? 5 : 3);
    for (unsigned i = 0; i < 3; i++)
        put(p, t->word[i]);
    if (place != 0) {
        put(p, 5);
        put(p, 0x6f732f612f); /* "/a/so" */
    }
}

/* An address of the access that the random number chooses: walks with steps,
 * near the access before, repeated and random ones; few of more than 48 bits.
 */
static uint64_t
address_of(uint64_t *random, uint64_t block, unsigned i, uint64_t turn,
           uint64_t before)
{
    switch ((block + i) % 5) {
    case 0:
        return 0x10000000 + turn * 8 * (i + 1);
    case 1:
        return before + 16;
    case 2:
        return 0x7ffff000 + random_below(random, 8) * 8;
    case 3:
        return 0x20000000 + (turn % 7 * turn % 7) * 4096;
    default:
        return random_below(random, 50) == 0
                   ? random_next(random)
                   : random_next(random) >> (16 + random_below(random, 40));
    }
}

static void
put_access(struct program *p, uint16_t what, uint64_t address)
{
    p->what[p->access_count] = what;
    p->address[p->access_count++] = address;
    if (what >= TRACE_PASSED) {
        put(p, what);
    } else if (address >> 48 != 0) {
        put_long(p, TRACE_ITEM_WIDE, 2);
        put(p, what);
        put(p, address);
    } else {
        put(p, address << 16 | what);
    }
}

static void
put_thread(struct program *p, enum trace_thread what, uint64_t number)
{
    add_step(p, TRACE_NEXT_STARTS + (enum trace_next)what)->word[0] = number;
    put_long(p, TRACE_ITEM_THREAD, 2);
    put(p, what);
    put(p, number);
}

#define THREADS 8u

/* Has a thread start, or another one run, behind the one that ends. */
static void
put_turn(struct program *p, uint64_t *random, bool lives[THREADS],
         uint64_t *running)
{
    const uint64_t other = random_below(random, THREADS);
    const bool ends = *running != 0 && random_below(random, 4) == 0;

    if (!lives[other]) {
        put_thread(p, TRACE_THREAD_STARTS, other * 1000);
        lives[other] = true;
    } else if (other != *running) {
        if (ends)
            put_thread(p, TRACE_THREAD_ENDS, *running * 1000);
        lives[*running] = !ends;
        put_thread(p, TRACE_THREAD_RUNS, other * 1000);
        *running = other;
    }
}

/* Makes a program up: blocks that follow each other mostly in the same order,
 * with accesses, some of them missing, system calls, strays and threads. */
static void
make_program(struct program *p, uint64_t seed, uint64_t steps)
{
    uint64_t random = seed, block = 0, before = 0, made = 0, running = 0;
    bool lives[THREADS] = {true};

    *p = (struct program){0};
    p->steps = calloc(7 * steps, sizeof(*p->steps));
    p->what = calloc(8 * steps, sizeof(*p->what));
    p->address = calloc(8 * steps, sizeof(*p->address));
    assert_true(p->steps != NULL && p->what != NULL && p->address != NULL);
    put_long(p, TRACE_ITEM_START, 3);
    put(p, 0x400000);
    put(p, 5);
    put(p, 0x612f612f2f); /* "//a/a" */
    for (uint64_t turn = 0; turn < steps; turn++) {
        const uint64_t chance = random_below(&random, 100);
        block = chance < 80 ? block % BLOCKS + 1
                            : random_below(&random, BLOCKS) + 1;
        while (made < block)
            put_block(p, ++made);
        struct truth *const t = add_step(p, TRACE_NEXT_BLOCK);
        t->word[0] = block;
        put(p, block << 16 | TRACE_ENTER);
        for (unsigned i = 0; i < block % INSNS; i++) {
            const uint16_t what =
                (uint16_t)(i << TRACE_INSN | (i % 2 != 0 ? TRACE_STORE : 0) |
                           block % 4);
            if (i == 3)
                put_access(p, (uint16_t)(TRACE_PASSED | i << TRACE_INSN), 0);
            before = address_of(&random, block, i, turn, before);
            if (random_below(&random, 60) != 0)
                put_access(p, what, before);
        }
        t->accesses = p->access_count - t->first;
        if (random_below(&random, 40) == 0) {
            put_call(p, random_below(&random, 300), random_next(&random));
            struct truth *const back = add_step(p, TRACE_NEXT_RETURN);
            back->word[0] = (uint64_t)-1;
            back->word[1] = random_next(&random);
            put_long(p, TRACE_ITEM_RETURN, 2);
            put(p, back->word[0]);
            put(p, back->word[1]);
        }
        if (random_below(&random, 200) == 0)
            put_map(p, random_next(&random) >> 20, random_below(&random, 3));
        if (random_below(&random, 300) == 0) {
            struct truth *const stray = add_step(p, TRACE_NEXT_STRAY);
            stray->word[0] = 1 + random_below(&random, made);
            stray->word[1] = random_next(&random);
            stray->what = 2 << TRACE_INSN | TRACE_STORE | 3;
            put_long(p, TRACE_ITEM_STRAY, 3);
            put(p, stray->word[0]);
            put(p, stray->what);
            put(p, stray->word[1]);
        }
        if (random_below(&random, 100) == 0)
            put_turn(p, &random, lives, &running);
    }
}

/* Has the program's first block run once more, without accesses. */
static void
put_again(struct program *p)
{
    const uint64_t block = p->steps[0].word[0];

    add_step(p, TRACE_NEXT_BLOCK)->word[0] = block;
    put(p, block << 16 | TRACE_ENTER);
}

static void
finish_program(struct program *p)
{
    free(p->items);
    free(p->steps);
    free(p->what);
    free(p->address);
}

static char *const words[] = {(char *)"a", (char *)"-b", (char *)"", NULL};
static const struct trace_head head = {
    .version = "1.2",
    .isa = "x86_64",
    .cpu = "cpu",
    .path = "/bin/a",
    .code = 0x401000,
    .code_offset = 0x1000,
    .code_size = 0x2000,
    .argv = words,
    .allocations = "/lib/counts.so",
    .loader = "/lib/ld.so",
    .part = "--skip 9",
    .quantum = 500,
    .by_cycles = true,
};

/* Writes a trace of the items, which are handed over in pieces. */
static void
write_trace(const struct program *p, uint64_t seed, uint64_t max_size,
            struct trace_run *made)
{
    const struct trace_run run = {
        .end = TRACE_END_EXIT, .status = 0x300, .counted = 77};
    struct trace_writer *writer = NULL;
    uint64_t random = seed, size;
    struct stat st;

    assert_int_equal(
        trace_writer_create(in_folder("a"), &head, max_size, &hear, &writer),
        0);
    for (size_t at = 0; at < p->count;) {
        size_t piece = (size_t)random_below(&random, 3000);
        if (piece > p->count - at)
            piece = p->count - at;
        if (!trace_writer_take(writer, p->items + at, piece))
            break;
        if (random_below(&random, 20) == 0)
            trace_writer_flush(writer);
        at += piece;
    }
    assert_int_equal(trace_writer_end(&writer, &run, made, &size), 0);
    assert_int_equal(stat(in_folder("a"), &st), 0);
    /* The container's end is not counted. */
    assert_in_range(st.st_size - (off_t)size, 0, 64);
}

static void
compare_block(const struct program *p, const struct truth *t,
              const struct trace_step *step)
{
    assert_int_equal(step->block, t->word[0]);
    assert_int_equal(step->pattern->count, t->accesses);
    for (uint32_t i = 0; i < t->accesses; i++) {
        assert_int_equal(step->pattern->site[i].what, p->what[t->first + i]);
        if (p->what[t->first + i] < TRACE_PASSED)
            assert_int_equal(step->address[i], p->address[t->first + i]);
    }
}

static void
compare(const struct program *p, const struct truth *t,
        const struct trace_step *step)
{
    switch (t->next) {
    case TRACE_NEXT_BLOCK:
        compare_block(p, t, step);
        break;
    case TRACE_NEXT_CALL:
        assert_int_equal(step->number, t->word[0]);
        assert_memory_equal(step->args, t->word + 1, sizeof(step->args));
        assert_int_equal(step->piece_count, 1);
        assert_int_equal(step->pieces[0].address, t->word[1]);
        assert_int_equal(step->pieces[0].size, 5);
        assert_memory_equal(step->pieces[0].bytes, "hello", 5);
        break;
    case TRACE_NEXT_RETURN:
        assert_int_equal(step->number, (int64_t)t->word[0]);
        assert_int_equal(step->result, (int64_t)t->word[1]);
        break;
    case TRACE_NEXT_MAP:
        assert_memory_equal(step->args, t->word, 3 * sizeof(*t->word));
        assert_int_equal(step->piece_count, t->word[2] != 0);
        if (t->word[2] != 0) {
            assert_int_equal(step->pieces[0].size, 5);
            assert_memory_equal(step->pieces[0].bytes, "/a/so", 5);
        }
        break;
    case TRACE_NEXT_STARTS:
    case TRACE_NEXT_RUNS:
    case TRACE_NEXT_ENDS:
        assert_int_equal(step->args[0], t->word[0]);
        break;
    default:
        assert_int_equal(step->block, t->word[0]);
        assert_int_equal(step->what, t->what);
        assert_int_equal(step->args[0], t->word[1]);
    }
}

/* Reads the file and compares each step. Returns how many there were, and sets
 * *next to what came behind. */
static size_t
read_trace(const struct program *p, int *next, bool *whole)
{
    struct trace_reader *reader = NULL;
    struct trace_step step;
    size_t count = 0;

    *whole = false;
    *next = trace_reader_open(in_folder("a"), &hear, &reader);
    if (*next != 0)
        return 0;
    while ((*next = trace_reader_next(reader, &step)) > 0) {
        assert_true(count < p->step_count);
        assert_int_equal(*next, p->steps[count].next);
        compare(p, &p->steps[count++], &step);
    }
    assert_int_equal(trace_reader_next(reader, &step), *next);
    *whole = *next == 0 && trace_reader_run(reader) != NULL;
    trace_reader_close(&reader);
    return count;
}

static void
test_round_trip(void **unused)
{
    const uint64_t seed = random_seed();
    bool whole;
    int next;

    (void)unused;
    for (uint64_t i = 0; i < 4; i++) {
        struct program p;
        struct trace_run made, found;
        make_program(&p, seed + i, i == 0 ? 10 : EVENTS_MOST);
        write_trace(&p, seed + i, 0, &made);
        assert_int_equal(read_trace(&p, &next, &whole), p.step_count);
        assert_int_equal(next, 0);
        assert_true(whole);
        assert_int_equal(errors + warnings, 0);
        assert_true(trace_is_trace(in_folder("a")));
        assert_true(trace_find_run(in_folder("a"), &found, NULL));
        assert_memory_equal(&found, &made, sizeof(made));
        assert_int_equal(found.end, TRACE_END_EXIT);
        assert_int_equal(found.status, 0x300);
        assert_int_equal(found.counted, 77);
        assert_int_equal(found.accesses, p.access_count);
        finish_program(&p);
    }
}

/* No thread runs, starts or ends that cannot. */
static void
test_threads(void **unused)
{
    enum {
        STARTS = TRACE_THREAD_STARTS,
        RUNS = TRACE_THREAD_RUNS,
        ENDS = TRACE_THREAD_ENDS,
        BLOCK,
        CALL
    };
    static const struct {
        unsigned good; /* steps before the error; all, if there is none */
        struct {
            unsigned what;
            uint64_t number;
        } step[6];
        unsigned count;
    } rows[] = {
        {5, {{STARTS, 1}, {RUNS, 1}, {BLOCK, 0}, {ENDS, 1}, {RUNS, 0}}, 5},
        {4, {{STARTS, 1}, {RUNS, 1}, {ENDS, 1}, {RUNS, 0}}, 4},
        {4, {{STARTS, 5}, {RUNS, 5}, {ENDS, 5}, {RUNS, 0}, {RUNS, 5}}, 5},
        {3, {{STARTS, 1}, {STARTS, 2}, {RUNS, 2}, {ENDS, 1}}, 4},
        {0, {{STARTS, 0}}, 1},
        {0, {{RUNS, 0}}, 1},
        {0, {{RUNS, 1}}, 1},
        {0, {{ENDS, 1}}, 1},
        {1, {{ENDS, 0}, {ENDS, 0}}, 2},
        {1, {{ENDS, 0}, {STARTS, 1}}, 2},
        {1, {{ENDS, 0}, {RUNS, 0}}, 2},
        {1, {{ENDS, 0}, {BLOCK, 0}}, 2},
        {1, {{ENDS, 0}, {CALL, 0}}, 2},
        {1, {{STARTS, TRACE_THREADS - 1}, {STARTS, TRACE_THREADS - 1}}, 2},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct trace_run made;
        struct program p;
        bool whole;
        int next;
        make_program(&p, 5, 1);
        for (unsigned k = 0; k < rows[i].count; k++) {
            if (rows[i].step[k].what == CALL)
                put_call(&p, 1, 2);
            else if (rows[i].step[k].what == BLOCK)
                put_again(&p);
            else
                put_thread(&p, (enum trace_thread)rows[i].step[k].what,
                           rows[i].step[k].number);
        }
        write_trace(&p, 5, 0, &made);
        const size_t before = p.step_count - rows[i].count;
        assert_int_equal(read_trace(&p, &next, &whole), before + rows[i].good);
        assert_int_equal(whole, rows[i].good == rows[i].count);
        finish_program(&p);
    }
}

static void
test_head(void **unused)
{
    struct trace_reader *reader = NULL;
    struct trace_step step;
    struct trace_run made;
    struct program p;
    const char *path;

    (void)unused;
    make_program(&p, 5, 10);
    write_trace(&p, 5, 0, &made);
    assert_int_equal(trace_reader_open(in_folder("a"), &hear, &reader), 0);
    const struct trace_head *const h = trace_reader_head(reader);
    assert_string_equal(h->version, "1.2");
    assert_string_equal(h->isa, "x86_64");
    assert_string_equal(h->cpu, "cpu");
    assert_string_equal(h->path, "/bin/a");
    assert_int_equal(h->code, 0x401000);
    assert_int_equal(h->code_offset, 0x1000);
    assert_int_equal(h->code_size, 0x2000);
    assert_int_equal(h->quantum, 500);
    assert_true(h->by_cycles);
    for (unsigned i = 0; i < 3; i++)
        assert_string_equal(h->argv[i], words[i]);
    assert_null(h->argv[3]);
    assert_int_equal(trace_reader_next(reader, &step), TRACE_NEXT_BLOCK);
    assert_int_equal(trace_reader_start(reader, &path), 0x400000);
    assert_string_equal(path, "//a/a");
    const struct trace_block *const b =
        trace_model_block(trace_reader_model(reader), 1);
    assert_int_equal(b->pc, pc_of(1));
    assert_int_equal(b->insns, INSNS);
    assert_int_equal(b->size, INSNS * CODE);
    assert_int_equal(b->sizes[3], CODE | TRACE_TOLD);
    assert_int_equal(b->before, 2);
    assert_int_equal(b->after, 3);
    for (unsigned i = 0; i < 2 + INSNS * CODE + 3; i++)
        assert_int_equal(trace_block_bytes(b)[i], 1);
    trace_reader_close(&reader);
    finish_program(&p);
}

/* Returns the file's bytes, which the caller frees. */
static uint8_t *
load(size_t *size)
{
    struct stat st;
    const int fd = open(in_folder("a"), O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    uint8_t *const data = malloc((size_t)st.st_size + 1);
    assert_non_null(data);
    assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
    close(fd);
    *size = (size_t)st.st_size;
    return data;
}

static void
store(const uint8_t *data, size_t size)
{
    const int fd =
        open(in_folder("a"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

static void
assert_said(const char *part)
{
    if (strstr(message, part) == NULL)
        fail_msg("got \"%s\", which lacks \"%s\"", message, part);
}

/* Of a trace that is cut anywhere, what is before the cut is read, and one line
 * says that it is cut. */
static void
test_cut(void **unused)
{
    struct trace_run made;
    struct program p;
    size_t size, most = 0;
    bool whole;
    int next;

    (void)unused;
    make_program(&p, 9, 20000);
    write_trace(&p, 9, 0, &made);
    uint8_t *const data = load(&size);
    for (size_t at = CHUNKS_FILE_HEADER; at < size; at += 1 + at / 50) {
        store(data, at);
        errors = warnings = 0;
        const size_t steps = read_trace(&p, &next, &whole);
        assert_true(steps >= most && steps <= p.step_count);
        most = steps;
        assert_false(whole);
        assert_int_equal(errors + warnings, 1);
        assert_said("cut short");
        struct trace_run found;
        assert_false(trace_find_run(in_folder("a"), &found, NULL));
    }
    assert_true(most > 0);
    free(data);
    finish_program(&p);
}

/* A byte that is another makes an error of one line that names the place. */
static void
test_changed(void **unused)
{
    uint64_t random = random_seed();
    struct trace_run made;
    struct program p;
    size_t size;
    bool whole;
    int next;

    (void)unused;
    make_program(&p, 11, 300);
    write_trace(&p, 11, 0, &made);
    uint8_t *const data = load(&size);
    for (unsigned i = 0; i < 400; i++) {
        const size_t at = (size_t)random_below(&random, size);
        const uint8_t was = data[at];
        data[at] ^= (uint8_t)(1 + random_below(&random, 255));
        store(data, size);
        errors = warnings = 0;
        read_trace(&p, &next, &whole);
        assert_int_equal(errors + warnings, 1);
        assert_false(whole);
        data[at] = was;
    }
    free(data);
    finish_program(&p);
}

static void
assert_refused(const uint8_t *data, size_t size, const char *part)
{
    struct trace_reader *reader = NULL;

    store(data, size);
    errors = warnings = 0;
    assert_int_equal(trace_reader_open(in_folder("a"), &hear, &reader),
                     TALLY_ESYNTAX);
    assert_null(reader);
    assert_int_equal(errors, 1);
    assert_said(part);
}

static void
test_foreign(void **unused)
{
    struct chunk_writer *chunks = NULL;
    struct trace_run made;
    struct program p;
    size_t size;
    const uint8_t newer = TRACE_SCHEMA + 1;

    (void)unused;
    make_program(&p, 13, 10);
    write_trace(&p, 13, 0, &made);
    uint8_t *const data = load(&size);
    assert_refused((const uint8_t *)"ELF or other", 12, "not a trace of tally");
    data[12] = CHUNKS_KIND_RECORD;
    assert_refused(data, size, "not a trace of tally but a record");
    assert_false(trace_is_trace(in_folder("a")));
    data[12] = 9;
    assert_refused(data, size, "of kind 9");
    data[12] = CHUNKS_KIND_TRACE;
    data[8] = 2;
    assert_refused(data, size, "use a newer tally");
    unlink(in_folder("a"));
    assert_int_equal(
        chunks_create_kind(in_folder("a"), CHUNKS_KIND_TRACE, &hear, &chunks),
        0);
    chunks_write(chunks, TRACE_CHUNK_HEAD, &newer, 1);
    chunks_end(&chunks);
    free(load(&size));
    uint8_t *const other = load(&size);
    assert_refused(other, size, "use a newer tally");
    free(other);
    free(data);
    finish_program(&p);
}

static void
test_max_size(void **unused)
{
    struct trace_run made;
    struct program p;
    size_t size;
    bool whole;
    int next;

    (void)unused;
    make_program(&p, 15, EVENTS_MOST);
    write_trace(&p, 15, 20000, &made);
    assert_int_equal(made.end, TRACE_END_SIZE);
    free(load(&size));
    assert_true(size >= 20000);
    const size_t steps = read_trace(&p, &next, &whole);
    assert_true(whole && steps > 0 && steps < p.step_count);
    finish_program(&p);
    /* What is whole before the first chunk is written has no largest size. */
    make_program(&p, 16, 10);
    struct trace_writer *writer = NULL;
    const struct trace_run run = {.end = TRACE_END_EXIT};
    uint64_t bytes;
    assert_int_equal(
        trace_writer_create(in_folder("a"), &head, 1, &hear, &writer), 0);
    assert_true(trace_writer_take(writer, p.items, p.count));
    assert_int_equal(trace_writer_end(&writer, &run, &made, &bytes), 0);
    assert_int_equal(made.end, TRACE_END_EXIT);
    finish_program(&p);
}

/* What the tracer never tells ends the trace with one line. */
static void
test_wrong_items(void **unused)
{
    static const uint64_t wrong[][3] = {
        {TRACE_ENTER | 9 << 16},                        /* no such block */
        {0x1000 << 16 | 3},                             /* no block runs */
        {UINT64_C(1) << 32 | 99 << 16 | TRACE_LONG, 0}, /* no such kind */
        {UINT64_C(1) << 32 | TRACE_ITEM_CALL << 16 | TRACE_LONG, 0}, /* short */
    };

    (void)unused;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct trace_writer *writer = NULL;
        const struct trace_run run = {.end = TRACE_END_EXIT};
        struct trace_run made;
        uint64_t size;
        errors = 0;
        assert_int_equal(
            trace_writer_create(in_folder("a"), &head, 0, &hear, &writer), 0);
        assert_false(trace_writer_take(writer, wrong[i], 3));
        assert_false(trace_writer_take(writer, wrong[i], 3));
        assert_true(trace_writer_end(&writer, &run, &made, &size) < 0);
        assert_int_equal(errors, 1);
        assert_said("the tracer told");
        assert_false(trace_find_run(in_folder("a"), &made, NULL));
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_round_trip),  CASE(test_head),    CASE(test_cut),
        CASE(test_changed),     CASE(test_foreign), CASE(test_max_size),
        CASE(test_wrong_items), CASE(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
