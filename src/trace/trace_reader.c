/* SPDX-License-Identifier: MIT */
#include "trace/trace_reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/insn.h"
#include "record/bytes.h"
#include "record/chunks.h"

struct trace_reader {
    struct chunk_reader *chunks;
    char *path;
    const struct tally_log *log;
    int error;
    bool ended, whole;
    struct trace_head head;
    char **words; /* of the head; owned */
    size_t word_count;
    struct trace_run run, so_far;
    struct trace_model *model;
    pthread_mutex_t lock;       /* of the images, which other threads look up */
    struct trace_image *images; /* owned */
    size_t image_count;
    uint64_t start;
    char *start_path; /* owned, or NULL */
    /* The chunk that is being read. */
    bool in_body;
    uint64_t at; /* where the chunk begins in the file */
    struct cursor section[TRACE_SECTIONS];
    uint64_t as_guessed; /* blocks until the next kind */
    bool kind_due;
    uint8_t *lives; /* [lives_count], by number of a thread; owned */
    size_t lives_count;
    uint64_t running; /* number of the thread; */
    bool nobody;      /* it has ended, and another one is to run */
    uint64_t address[TRACE_ACCESSES];
};

static int
fail(struct trace_reader *r, enum tally_error error)
{
    r->error = error;
    return error;
}

static int
no_memory(struct trace_reader *r)
{
    tally_fail(r->log, TALLY_ENOMEM, "no memory for the trace %s", r->path);
    return fail(r, TALLY_ENOMEM);
}

static int
damaged(struct trace_reader *r, const char *what)
{
    tally_fail(r->log, TALLY_ESYNTAX,
               "%s is damaged: the chunk at byte %" PRIu64
               " %s; what comes before that is good",
               r->path, r->at, what);
    return fail(r, TALLY_ESYNTAX);
}

/* Reads a text, which the caller frees; NULL: it is not whole, has a NUL, or
 * there is no memory. */
static char *
take_text(struct cursor *c)
{
    size_t size;
    const char *const text = cursor_string(c, &size);

    if (text == NULL || memchr(text, '\0', size) != NULL)
        return NULL;
    return strndup(text, size);
}

/* Reads a text of the head, which the reader owns. */
static const char *
head_text(struct trace_reader *r, struct cursor *c)
{
    char *const text = take_text(c);

    if (text != NULL)
        r->words[r->word_count++] = text;
    else
        c->failed = true;
    return text;
}

static int
read_head(struct trace_reader *r, const struct chunk *chunk)
{
    struct cursor c = cursor_of(chunk->data, chunk->size);
    const uint64_t schema = cursor_varint(&c);

    if ((schema == 0 || schema > TRACE_SCHEMA) && !c.failed) {
        tally_fail(r->log, TALLY_ESYNTAX,
                   "%s is of schema %" PRIu64 " (at byte %" PRIu64
                   "), this tally reads schemas 1 to %d%s",
                   r->path, schema, chunk->at, TRACE_SCHEMA,
                   schema > TRACE_SCHEMA ? ": use a newer tally" : "");
        return fail(r, TALLY_ESYNTAX);
    }
    /* Each word takes a byte at least. */
    r->words = calloc(cursor_left(&c) + 8, sizeof(*r->words));
    if (r->words == NULL)
        return no_memory(r);
    r->head.version = head_text(r, &c);
    r->head.isa = head_text(r, &c);
    r->head.cpu = head_text(r, &c);
    r->head.path = head_text(r, &c);
    r->head.code = cursor_varint(&c);
    r->head.code_offset = cursor_varint(&c);
    r->head.code_size = cursor_varint(&c);
    const uint64_t count = cursor_varint(&c);
    r->head.argv = r->words + r->word_count;
    for (uint64_t i = 0; !c.failed && i < count; i++)
        head_text(r, &c);
    r->word_count++; /* argv ends with NULL */
    const bool has_objects =
        schema == TRACE_SCHEMA_OBJECTS || schema == TRACE_SCHEMA;
    r->head.allocations = has_objects ? head_text(r, &c) : "";
    r->head.loader = has_objects ? head_text(r, &c) : "";
    r->head.part = has_objects ? head_text(r, &c) : "";
    if (schema == TRACE_SCHEMA) {
        const uint64_t quantum = cursor_varint(&c), unit = cursor_varint(&c);
        r->head.quantum = quantum;
        r->head.by_cycles = unit != 0;
        c.failed |= unit > 1;
    }
    if (schema == TRACE_SCHEMA_IMPORTED) {
        r->head.source = head_text(r, &c);
        r->head.holds = cursor_varint(&c);
        c.failed |= r->head.holds >= TRACE_HOLDS_END;
    }
    return c.failed || count == 0 || cursor_left(&c) != 0
               ? damaged(r, "is no head of a trace")
               : 0;
}

int
trace_reader_open(const char *path, const struct tally_log *log,
                  struct trace_reader **reader)
{
    struct trace_reader *r = calloc(1, sizeof(*r));
    struct chunk chunk;

    if (r == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for the trace");
    pthread_mutex_init(&r->lock, NULL);
    r->log = log;
    r->so_far.threads = 1;
    r->path = strdup(path);
    r->model = trace_model_create();
    int error = r->path == NULL || r->model == NULL ? no_memory(r) : 0;
    if (error == 0)
        error = chunks_open_kind(path, CHUNKS_KIND_TRACE, log, &r->chunks);
    if (error == 0) {
        const int next = chunks_next(r->chunks, &chunk);
        r->at = CHUNKS_FILE_HEADER;
        error = next < 0    ? next
                : next == 0 ? TALLY_ESYNTAX /* said so */
                : chunk.type != TRACE_CHUNK_HEAD
                    ? damaged(r, "is no head of a trace")
                    : read_head(r, &chunk);
    }
    if (error != 0)
        trace_reader_close(&r);
    else
        *reader = r;
    return error;
}

const struct trace_head *
trace_reader_head(const struct trace_reader *r)
{
    return &r->head;
}

struct trace_model *
trace_reader_model(const struct trace_reader *r)
{
    return r->model;
}

const struct trace_image *
trace_reader_images(const struct trace_reader *r, size_t *count)
{
    *count = r->image_count;
    return r->images;
}

/* The tracer tells no image of an address that an earlier one has: so the first
 * is the one that the address's code ran in, however far the trace was read. */
bool
trace_reader_find_image(struct trace_reader *r, uint64_t address,
                        struct trace_image *image, size_t *number)
{
    bool found = false;

    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->image_count && !found; i++) {
        if (address < r->images[i].first || address > r->images[i].last)
            continue;
        *image = r->images[i];
        *number = i;
        found = true;
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}

uint64_t
trace_reader_start(const struct trace_reader *r, const char **path)
{
    *path = r->start_path != NULL ? r->start_path : "";
    return r->start;
}

const struct trace_run *
trace_reader_run(const struct trace_reader *r)
{
    return r->whole ? &r->run : NULL;
}

const struct trace_run *
trace_reader_so_far(const struct trace_reader *r)
{
    return &r->so_far;
}

void
trace_reader_close(struct trace_reader **reader)
{
    struct trace_reader *const r = *reader;

    if (r == NULL)
        return;
    chunks_close(&r->chunks);
    trace_model_destroy(r->model);
    for (size_t i = 0; i < r->word_count; i++)
        free(r->words[i]);
    free(r->words);
    for (size_t i = 0; i < r->image_count; i++) {
        free(r->images[i].path);
        free(r->images[i].build_id);
    }
    free(r->images);
    free(r->lives);
    pthread_mutex_destroy(&r->lock);
    free(r->start_path);
    free(r->path);
    free(r);
    *reader = NULL;
}

static bool
parse_run(const struct chunk *chunk, struct trace_run *run)
{
    struct cursor c = cursor_of(chunk->data, chunk->size);

    run->end = cursor_varint(&c);
    run->status = cursor_varint(&c);
    run->instructions = cursor_varint(&c);
    run->blocks = cursor_varint(&c);
    run->accesses = cursor_varint(&c);
    run->calls = cursor_varint(&c);
    run->counted = cursor_varint(&c);
    run->threads = cursor_left(&c) != 0 ? cursor_varint(&c) : 1;
    return !c.failed && cursor_left(&c) == 0 && run->end >= TRACE_END_EXIT &&
           run->end <= TRACE_END_PART;
}

/* Checks what stands for the code of an imported block. A block of
 * instructions that are no branch may end with one alone. */
static bool
check_imported(const struct trace_block *b, const uint8_t *bytes)
{
    bool good = b->insns != 0;

    for (uint32_t i = 0; i < b->insns; i++) {
        const uint8_t branch = bytes[TRACE_IMPORTED * i];
        good &= b->sizes[i] != 0 && b->sizes[i] <= TRACE_SIZE &&
                branch <= BRANCH_RETURN && branch != BRANCH_NEVER &&
                (branch == BRANCH_NONE || i + 1 == b->insns);
    }
    return good && b->before == 0 && b->after == 0;
}

/* Reads a block that was made. Returns false after an error. */
static bool
made_block(struct trace_reader *r, struct cursor *c, uint64_t *pc)
{
    struct trace_block b = {.pc = *pc + (uint64_t)cursor_signed(c)};
    const uint64_t insns = cursor_varint(c);

    b.before = cursor_u8(c);
    b.after = cursor_u8(c);
    const uint8_t *const sizes = cursor_take(c, insns);
    if (c->failed || insns > TRACE_INSNS)
        return damaged(r, "has a block that cannot be"), false;
    b.insns = (uint32_t)insns;
    b.sizes = (uint8_t *)(uintptr_t)sizes;
    for (uint32_t i = 0; i < b.insns; i++)
        b.size += sizes[i] & TRACE_SIZE;
    b.kept = r->head.source != NULL ? TRACE_IMPORTED_SIZE(b.insns)
                                    : b.before + b.size + b.after;
    const uint8_t *const bytes = cursor_take(c, b.kept);
    if (bytes == NULL)
        return damaged(r, "has a block without its code"), false;
    if (r->head.source != NULL && !check_imported(&b, bytes))
        return damaged(r, "has a block that cannot be"), false;
    *pc = b.pc + b.size;
    if (trace_model_add(r->model, &b, bytes) != 0)
        return no_memory(r), false;
    return true;
}

/* Adds an image, whose texts become the reader's. Returns false: there is no
 * memory. */
static bool
add_image(struct trace_reader *r, const struct trace_image *image)
{
    pthread_mutex_lock(&r->lock);
    struct trace_image *const images =
        reallocarray(r->images, r->image_count + 1, sizeof(*images));
    if (images != NULL) {
        images[r->image_count++] = *image;
        r->images = images;
    }
    pthread_mutex_unlock(&r->lock);
    return images != NULL;
}

static bool
made_image(struct trace_reader *r, struct cursor *c)
{
    struct trace_image image = {.first = cursor_varint(c)};
    size_t size;

    image.last = cursor_varint(c);
    image.offset = cursor_varint(c);
    image.path = take_text(c);
    const char *const id = cursor_string(c, &size);
    if (c->failed || image.path == NULL) {
        free(image.path);
        return damaged(r, "has an image that cannot be"), false;
    }
    image.build_id = malloc(size + 1);
    image.build_id_size = size;
    if (image.build_id != NULL)
        memcpy(image.build_id, id, size);
    if (image.build_id == NULL || !add_image(r, &image)) {
        free(image.path);
        free(image.build_id);
        return no_memory(r), false;
    }
    return true;
}

/* Reads TRACE_MADE whole. Returns 0 or an error. */
static int
read_made(struct trace_reader *r)
{
    struct cursor *const c = &r->section[TRACE_MADE];
    uint64_t pc = 0;

    while (cursor_left(c) > 0) {
        const uint8_t made = cursor_u8(c);
        bool good = true;
        if (made == TRACE_MADE_BLOCK) {
            good = made_block(r, c, &pc);
        } else if (made == TRACE_MADE_IMAGE) {
            good = made_image(r, c);
        } else if (made == TRACE_MADE_START) {
            r->start = cursor_varint(c);
            free(r->start_path);
            r->start_path = take_text(c);
            if (r->start_path == NULL)
                return damaged(r, "does not say where the program begins");
        } else {
            return damaged(r, "makes what this tally does not know");
        }
        if (!good)
            return r->error;
    }
    return 0;
}

/* Begins to read a chunk of what the program did. 0 or an error. */
static int
begin_body(struct trace_reader *r, const struct chunk *chunk)
{
    struct cursor c = cursor_of(chunk->data, chunk->size);
    uint64_t sizes[TRACE_SECTIONS];

    for (unsigned i = 0; i < TRACE_SECTIONS; i++)
        sizes[i] = cursor_varint(&c);
    for (unsigned i = 0; i < TRACE_SECTIONS; i++) {
        const uint8_t *const data = cursor_take(&c, sizes[i]);
        if (c.failed)
            return damaged(r, "is shorter than its parts");
        r->section[i] = cursor_of(data, (size_t)sizes[i]);
    }
    if (cursor_left(&c) != 0)
        return damaged(r, "is longer than its parts");
    r->in_body = true;
    r->kind_due = false;
    return read_made(r);
}

/* Reads the next chunk that is known. Returns 1, 0 at the end, or an error. */
static int
next_chunk(struct trace_reader *r)
{
    struct chunk chunk;

    for (;;) {
        const int next = chunks_next(r->chunks, &chunk);
        if (next < 0)
            return fail(r, next);
        if (next == 0) {
            r->ended = true;
            r->whole = r->run.end != 0 && !chunks_cut(r->chunks);
            return 0;
        }
        r->at = chunk.at;
        if (r->run.end != 0)
            return damaged(r, "comes behind the end of the run");
        if (chunk.type == TRACE_CHUNK_BODY) {
            const int error = begin_body(r, &chunk);
            return error != 0 ? error : 1;
        }
        if (chunk.type == TRACE_CHUNK_RUN && !parse_run(&chunk, &r->run))
            return damaged(r, "does not say how the run ended");
    }
}

/* Reads the pattern of a block, one that is known or a new one. NULL after an
 * error. */
static struct trace_pattern *
read_pattern(struct trace_reader *r, uint32_t block)
{
    struct trace_block *const b = trace_model_block(r->model, block);
    struct cursor *const c = &r->section[TRACE_PATTERNS_OF];
    const uint64_t number = cursor_varint(c);

    if (number < b->pattern_count)
        return b->patterns[number];
    const uint64_t count = cursor_varint(c);
    if (c->failed || number != b->pattern_count || number >= TRACE_PATTERNS ||
        count > cursor_left(c) || count > TRACE_ACCESSES)
        return damaged(r, "has accesses of a block that cannot be"), NULL;
    uint16_t *const what = malloc((count + 1) * sizeof(*what));
    bool good = true;
    for (uint64_t i = 0; what != NULL && i < count; i++) {
        const uint64_t value = cursor_varint(c);
        good &= value < TRACE_WHAT_END &&
                (value & (TRACE_PASSED - 1)) >> TRACE_INSN < b->insns;
        what[i] = (uint16_t)value;
    }
    struct trace_pattern *p = NULL;
    if (what != NULL && good && !c->failed)
        p = trace_model_pattern(r->model, block, what, (uint32_t)count);
    free(what);
    if (!good || c->failed)
        return damaged(r, "has an access of no instruction"), NULL;
    if (p == NULL)
        return no_memory(r), NULL;
    return p;
}

/* Finds the addresses of a block that all are as guessed. */
static inline void
guess_addresses(struct trace_model *m, struct trace_pattern *p,
                uint64_t *address)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct trace_site *const s = &p->site[i];
        if (s->what >= TRACE_PASSED)
            continue;
        if (__builtin_expect(s->mode == TRACE_MODE_REPEAT, 0))
            address[i] = *trace_repeat_of(m, s, m->at + i);
        else
            address[i] = trace_guess(m, s, s->mode);
        trace_note(m, s, address[i]);
    }
}

/* Reads what is added to the last address of a site. */
static uint64_t
read_added(struct trace_reader *r, unsigned size)
{
    uint64_t bits = cursor_u8(&r->section[TRACE_LOW]);

    for (unsigned i = 1; i < size; i++)
        bits |=
            (uint64_t)cursor_u8(&r->section[i == 1 ? TRACE_MIDDLE : TRACE_HIGH])
            << 8 * i;
    return bits >> 1 ^ (0 - (bits & 1));
}

/* Finds the address of a symbol that is not of the site's mode, or whose mode
 * looks the address up. */
static uint64_t
find_address(struct trace_reader *r, struct trace_site *s, uint8_t symbol,
             uint32_t salt)
{
    uint64_t *const repeat = trace_repeat_of(r->model, s, salt);
    uint64_t address;

    if (symbol >= TRACE_SYMBOL_ADDED) {
        address = s->last + read_added(r, symbol - TRACE_SYMBOL_ADDED + 1u);
    } else {
        if (symbol != TRACE_SYMBOL_GUESSED)
            s->mode = (uint8_t)(symbol - TRACE_SYMBOL_MODE);
        address = s->mode == TRACE_MODE_REPEAT
                      ? *repeat
                      : trace_guess(r->model, s, s->mode);
    }
    *repeat = address;
    return address;
}

/* Reads the addresses of a block of which some are not as guessed. Returns
 * false after an error. */
static bool
read_addresses(struct trace_reader *r, struct trace_pattern *p,
               uint64_t *addresses)
{
    struct trace_model *const m = r->model;
    bool good = true;

    for (uint32_t i = 0; i < p->count; i++) {
        struct trace_site *const s = &p->site[i];
        if (s->what >= TRACE_PASSED)
            continue;
        const uint8_t symbol = cursor_u8(&r->section[TRACE_SYMBOLS]);
        good &= symbol < TRACE_SYMBOL_END;
        if (symbol == TRACE_SYMBOL_GUESSED && s->mode != TRACE_MODE_REPEAT)
            addresses[i] = trace_guess(m, s, s->mode);
        else if (good)
            addresses[i] = find_address(r, s, symbol, m->at + i);
        else
            break;
        trace_note(m, s, addresses[i]);
    }
    for (unsigned i = TRACE_SYMBOLS; i <= TRACE_HIGH; i++)
        good &= !r->section[i].failed;
    if (!good)
        damaged(r, "has addresses that cannot be");
    return good;
}

/* Reads a block, whose addresses go to `address`; `kind` is 0 for one that ran
 * as guessed. Returns its pattern, or NULL after an error. */
static inline struct trace_pattern *
read_block(struct trace_reader *r, unsigned kind, uint64_t *address,
           uint32_t *number)
{
    struct trace_model *const m = r->model;
    uint32_t other;
    uint64_t block = trace_guess_block(m, &other);

    if ((kind & TRACE_KIND_OTHER) != 0)
        block = other;
    if ((kind & TRACE_KIND_NUMBER) != 0)
        block = cursor_varint(&r->section[TRACE_NUMBERS]);
    if (block == 0 || block > m->block_count) {
        damaged(r, "has a block that was not made");
        return NULL;
    }
    trace_note_block(m, (uint32_t)block);
    struct trace_hot *const hot = &m->hot[block];
    if ((kind & TRACE_KIND_PATTERN) != 0)
        hot->now = read_pattern(r, (uint32_t)block);
    struct trace_pattern *const p = hot->now;
    if (p == NULL) {
        if (r->error == 0)
            damaged(r, "has a block of no accesses known");
        return NULL;
    }
    if ((kind & TRACE_KIND_ADDRESSES) == 0)
        guess_addresses(m, p, address);
    else if (!read_addresses(r, p, address))
        return NULL;
    r->so_far.blocks++;
    r->so_far.instructions += hot->insns;
    r->so_far.accesses += p->count;
    *number = (uint32_t)block;
    return p;
}

/* Reads an access that is made outside of its block. */
static int
read_stray(struct trace_reader *r, struct trace_step *step)
{
    struct cursor *const c = &r->section[TRACE_EVENTS];
    const uint64_t block = cursor_varint(c), what = cursor_varint(c);

    step->args[0] = cursor_varint(c);
    if (c->failed || block == 0 || block > r->model->block_count ||
        what >= TRACE_PASSED ||
        what >> TRACE_INSN >=
            trace_model_block(r->model, (uint32_t)block)->insns)
        return damaged(r, "has an event that cannot be");
    step->block = (uint32_t)block;
    step->what = (uint16_t)what;
    return TRACE_NEXT_STRAY;
}

/* Reads what is mapped somewhere. */
static int
read_map(struct trace_reader *r, struct trace_step *step)
{
    struct cursor *const c = &r->section[TRACE_EVENTS];
    struct trace_piece *const path = &step->pieces[0];

    for (unsigned i = 0; i < 3; i++)
        step->args[i] = cursor_varint(c);
    step->piece_count = step->args[2] != 0;
    if (step->piece_count != 0) {
        path->address = 0;
        path->bytes = (const uint8_t *)cursor_string(c, &path->size);
        c->failed |= path->size > TRACE_PIECE_MOST ||
                     (path->bytes != NULL &&
                      memchr(path->bytes, '\0', path->size) != NULL);
    }
    return c->failed || step->args[0] > step->args[1]
               ? damaged(r, "has an event that cannot be")
               : TRACE_NEXT_MAP;
}

/* Makes room for a thread of that number. Returns false: there is no memory. */
static bool
have_thread(struct trace_reader *r, uint64_t number)
{
    const size_t count = 2 * (size_t)number + 64;

    if (number < r->lives_count)
        return true;
    uint8_t *const lives = realloc(r->lives, count);
    if (lives == NULL)
        return false;
    memset(lives + r->lives_count, 0, count - r->lives_count);
    if (r->lives_count == 0)
        lives[0] = 1;
    r->lives = lives;
    r->lives_count = count;
    return true;
}

/* Reads what happens to a thread. */
static int
read_thread(struct trace_reader *r, struct trace_step *step,
            enum trace_thread what)
{
    const uint64_t number = cursor_varint(&r->section[TRACE_EVENTS]);

    if (r->section[TRACE_EVENTS].failed || number >= TRACE_THREADS)
        return damaged(r, "has an event that cannot be");
    if (!have_thread(r, number))
        return no_memory(r);
    const bool lived = r->lives[number] != 0;
    if (lived != (what != TRACE_THREAD_STARTS) ||
        (what == TRACE_THREAD_RUNS && number == r->running && !r->nobody) ||
        (what == TRACE_THREAD_ENDS && number != r->running) ||
        (what != TRACE_THREAD_RUNS && r->nobody))
        return damaged(r, "has an event of a thread that cannot be");
    r->lives[number] = what != TRACE_THREAD_ENDS;
    r->nobody = what == TRACE_THREAD_ENDS;
    if (what == TRACE_THREAD_RUNS)
        r->running = number;
    r->so_far.threads += what == TRACE_THREAD_STARTS;
    step->args[0] = number;
    return TRACE_NEXT_STARTS + (int)what;
}

static int
read_event(struct trace_reader *r, struct trace_step *step)
{
    struct cursor *const c = &r->section[TRACE_EVENTS];
    const uint8_t event = cursor_u8(c);

    if (event >= TRACE_EVENT_THREAD &&
        event < TRACE_EVENT_THREAD + TRACE_THREAD_EVENTS)
        return read_thread(r, step,
                           (enum trace_thread)(event - TRACE_EVENT_THREAD));
    if (r->nobody)
        return damaged(r, "has an event of a thread that has ended");
    if (event == TRACE_EVENT_STRAY)
        return read_stray(r, step);
    if (event == TRACE_EVENT_MAP)
        return read_map(r, step);
    step->number = cursor_signed(c);
    if (event == TRACE_EVENT_CALL) {
        for (unsigned i = 0; i < TRACE_CALL_WORDS; i++)
            step->args[i] = cursor_varint(c);
        const uint64_t pieces = cursor_varint(c);
        if (pieces > TRACE_PIECES)
            return damaged(r, "has a system call that cannot be");
        step->piece_count = (size_t)pieces;
        for (size_t i = 0; i < step->piece_count; i++) {
            struct trace_piece *const piece = &step->pieces[i];
            piece->address = cursor_varint(c);
            piece->bytes = (const uint8_t *)cursor_string(c, &piece->size);
            c->failed |= piece->size > TRACE_PIECE_MOST;
        }
        r->so_far.calls++;
    } else if (event == TRACE_EVENT_RETURN) {
        step->result = cursor_signed(c);
    } else {
        c->failed = true;
    }
    if (c->failed)
        return damaged(r, "has an event that cannot be");
    return event == TRACE_EVENT_CALL ? TRACE_NEXT_CALL : TRACE_NEXT_RETURN;
}

/* Reads what is due behind the blocks that ran as guessed. Returns an event's
 * step; TRACE_NEXT_BLOCK: a block of the kind *kind comes; 0: the chunk ends;
 * or an error. */
static int
read_kind(struct trace_reader *r, struct trace_step *step, unsigned *kind)
{
    *kind = cursor_u8(&r->section[TRACE_KINDS]);
    r->kind_due = false;
    if (r->section[TRACE_KINDS].failed)
        return damaged(r, "does not say where it ends");
    if (*kind == TRACE_KIND_EVENT)
        return read_event(r, step);
    if (*kind == TRACE_KIND_END) {
        r->in_body = false;
        for (unsigned i = 0; i < TRACE_SECTIONS; i++)
            if (cursor_left(&r->section[i]) != 0)
                return damaged(r, "goes on behind its end");
        return 0;
    }
    if (r->nobody)
        return damaged(r, "has blocks of a thread that has ended");
    return *kind == 0 || *kind >= 16 || (*kind & 3) == 3
               ? damaged(r, "has a block of no known kind")
               : TRACE_NEXT_BLOCK;
}

/* Finds what comes next, as read_kind(); *kind is 0 for a block as guessed. */
static inline int
next_kind(struct trace_reader *r, struct trace_step *step, unsigned *kind)
{
    for (;;) {
        if (r->as_guessed > 0) {
            r->as_guessed--;
            *kind = 0;
            return TRACE_NEXT_BLOCK;
        }
        if (r->kind_due) {
            const int next = read_kind(r, step, kind);
            if (next != 0)
                return next;
        } else if (r->in_body) {
            r->as_guessed = cursor_varint(&r->section[TRACE_RUNS]);
            if (r->section[TRACE_RUNS].failed || r->as_guessed > TRACE_RUN_MOST)
                return damaged(r, "does not say where it ends");
            if (r->nobody && r->as_guessed != 0)
                return damaged(r, "has blocks of a thread that has ended");
            r->kind_due = true;
        } else if (r->ended) {
            return TRACE_NEXT_END;
        } else {
            const int next = next_chunk(r);
            if (next < 0)
                return next;
        }
    }
}

int
trace_reader_next(struct trace_reader *r, struct trace_step *step)
{
    unsigned kind;

    if (r->error != 0)
        return r->error;
    const int next = next_kind(r, step, &kind);
    if (next != TRACE_NEXT_BLOCK)
        return next;
    step->pattern = read_block(r, kind, r->address, &step->block);
    step->address = r->address;
    return step->pattern != NULL ? TRACE_NEXT_BLOCK : r->error;
}

void
trace_reader_batch(struct trace_reader *r, struct trace_batch *b)
{
    size_t used = 0;
    unsigned kind;

    b->count = 0;
    b->next = r->error != 0 ? r->error : TRACE_NEXT_BLOCK;
    while (b->next == TRACE_NEXT_BLOCK && b->count < TRACE_BATCH_BLOCKS &&
           used < TRACE_BATCH_ADDRESSES) {
        struct trace_ran *const ran = &b->ran[b->count];
        b->next = next_kind(r, &b->event, &kind);
        if (b->next != TRACE_NEXT_BLOCK)
            return;
        ran->first = (uint32_t)used;
        ran->pattern = read_block(r, kind, b->address + used, &ran->block);
        if (ran->pattern == NULL) {
            b->next = r->error;
            return;
        }
        used += ran->pattern->count;
        b->count++;
    }
}

bool
trace_is_trace(const char *path)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    uint8_t header[CHUNKS_FILE_HEADER];

    if (fd < 0)
        return false;
    const ssize_t n = pread(fd, header, sizeof(header), 0);
    close(fd);
    return n == (ssize_t)sizeof(header) &&
           memcmp(header, CHUNKS_MAGIC, sizeof(CHUNKS_MAGIC) - 1) == 0 &&
           bytes_get_u32(header + 12) == CHUNKS_KIND_TRACE;
}

bool
trace_find_run(const char *path, struct trace_run *run, bool *damaged)
{
    static const struct tally_log silent;
    struct chunk_reader *chunks = NULL;
    struct chunk chunk;
    uint64_t at = CHUNKS_FILE_HEADER, from = at;
    uint32_t type = 0;
    bool found = false;
    int next = 0;

    if (damaged != NULL)
        *damaged = false;
    if (chunks_open_kind(path, CHUNKS_KIND_TRACE, &silent, &chunks) != 0)
        return false;
    while (type != TRACE_CHUNK_RUN) {
        from = at;
        if (!chunks_peek(chunks, &at, &type))
            break;
    }
    chunks_pass_by(chunks, CHUNKS_FILE_HEADER, from);
    while ((next = chunks_next(chunks, &chunk)) > 0)
        found |= chunk.type == TRACE_CHUNK_RUN && parse_run(&chunk, run);
    found &= next == 0 && !chunks_cut(chunks);
    if (damaged != NULL)
        *damaged = next < 0;
    chunks_close(&chunks);
    return found;
}
