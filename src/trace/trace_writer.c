/* SPDX-License-Identifier: MIT */
#include "trace/trace_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "names/elf_file.h"
#include "record/bytes.h"
#include "record/chunks.h"
#include "trace/trace_model.h"

/* Bytes of a chunk before compression, about. */
#define CHUNK_FULL (UINT32_C(1) << 20)
/* Blocks that run as guessed take no bytes: a chunk ends after so many. */
#define CHUNK_BLOCKS (UINT64_C(1) << 26)

struct trace_writer {
    struct chunk_writer *chunks;
    const struct tally_log *log;
    uint64_t max_size;
    int error;
    struct trace_run run;
    bool imported; /* blocks have what stands for their code */
    struct trace_model *model;
    struct bytes section[TRACE_SECTIONS];
    uint64_t made_pc;    /* the end of the block before in TRACE_MADE */
    uint64_t as_guessed; /* blocks since the last kind */
    uint64_t chunk_blocks;
    /* The block that runs, 0: none; and its accesses. */
    uint32_t block;
    uint32_t access_count;
    uint16_t what[TRACE_ACCESSES];
    uint64_t address[TRACE_ACCESSES];
    /* An item of several words that is not whole yet. */
    struct bytes item;
    size_t item_words; /* with its first; 0: there is none */
};

static int
out_of_memory(struct trace_writer *w)
{
    if (w->error == 0)
        w->error = tally_fail(w->log, TALLY_ENOMEM, "no memory for the trace");
    return w->error;
}

/* The tracer never makes such items. */
static void
wrong_item(struct trace_writer *w, const char *what)
{
    if (w->error == 0)
        w->error = tally_fail(w->log, TALLY_ESYSTEM,
                              "the tracer told %s; the trace ends there", what);
}

void
trace_writer_refuse(struct trace_writer *w, const char *what)
{
    wrong_item(w, what);
}

static void
append_text(struct bytes *b, const char *text)
{
    bytes_append_string(b, text, strlen(text));
}

static int
write_head(struct trace_writer *w, const struct trace_head *h)
{
    struct bytes b = {0};
    size_t count = 0;

    while (h->argv[count] != NULL)
        count++;
    bytes_append_varint(&b, w->imported ? TRACE_SCHEMA_IMPORTED : TRACE_SCHEMA);
    append_text(&b, h->version);
    append_text(&b, h->isa);
    append_text(&b, h->cpu);
    append_text(&b, h->path);
    bytes_append_varint(&b, h->code);
    bytes_append_varint(&b, h->code_offset);
    bytes_append_varint(&b, h->code_size);
    bytes_append_varint(&b, count);
    for (size_t i = 0; i < count; i++)
        append_text(&b, h->argv[i]);
    if (w->imported) {
        append_text(&b, h->source);
        bytes_append_varint(&b, h->holds);
    } else {
        append_text(&b, h->allocations);
        append_text(&b, h->loader);
        append_text(&b, h->part);
        bytes_append_varint(&b, h->quantum);
        bytes_append_varint(&b, h->by_cycles);
    }
    const int error =
        b.failed ? out_of_memory(w)
                 : chunks_write(w->chunks, TRACE_CHUNK_HEAD, b.data, b.size);
    bytes_finish(&b);
    return error;
}

static void
free_writer(struct trace_writer *w)
{
    trace_model_destroy(w->model);
    for (unsigned i = 0; i < TRACE_SECTIONS; i++)
        bytes_finish(&w->section[i]);
    bytes_finish(&w->item);
    free(w);
}

int
trace_writer_create(const char *path, const struct trace_head *head,
                    uint64_t max_size, const struct tally_log *log,
                    struct trace_writer **writer)
{
    struct trace_writer *w = calloc(1, sizeof(*w));

    if (w == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for the trace");
    w->log = log;
    w->max_size = max_size;
    w->imported = head->source != NULL;
    w->run.threads = 1;
    w->model = trace_model_create();
    int error = w->model == NULL ? out_of_memory(w) : 0;
    if (error == 0)
        error = chunks_create_kind(path, CHUNKS_KIND_TRACE, log, &w->chunks);
    if (error == 0)
        error = write_head(w, head);
    if (error != 0)
        trace_writer_abandon(&w);
    else
        *writer = w;
    return error;
}

/* Writes what is added to the last address of a site. Returns the symbol. */
static uint8_t
append_added(struct trace_writer *w, uint64_t delta)
{
    uint64_t bits = delta << 1 ^ (0 - (delta >> 63));
    unsigned size = 1;

    bytes_append_u8(&w->section[TRACE_LOW], (uint8_t)bits);
    for (bits >>= 8; bits != 0; bits >>= 8, size++)
        bytes_append_u8(&w->section[size == 1 ? TRACE_MIDDLE : TRACE_HIGH],
                        (uint8_t)bits);
    return (uint8_t)(TRACE_SYMBOL_ADDED + size - 1);
}

/* Finds the symbol of an address that the mode of its site does not guess, or
 * that the mode looks up. */
static uint8_t
find_symbol(struct trace_writer *w, struct trace_site *s, uint64_t address,
            unsigned guessed, uint32_t salt)
{
    uint64_t *const repeat = trace_repeat_of(w->model, s, salt);
    const bool repeats = *repeat == address;

    *repeat = address;
    if (repeats && s->mode == TRACE_MODE_REPEAT)
        return TRACE_SYMBOL_GUESSED;
    if (guessed == 0 && !repeats)
        return append_added(w, address - s->last);
    s->mode =
        (uint8_t)(guessed != 0 ? __builtin_ctz(guessed) : TRACE_MODE_REPEAT);
    return (uint8_t)(TRACE_SYMBOL_MODE + s->mode);
}

/* Writes what is guessed wrong of the accesses. Returns whether any is. */
static bool
find_addresses(struct trace_writer *w, struct trace_pattern *p)
{
    struct trace_model *const m = w->model;
    struct bytes *const to = &w->section[TRACE_SYMBOLS];
    const size_t before = to->size;
    uint8_t *symbol = bytes_extend(to, p->count);
    unsigned wrong = 0;

    if (symbol == NULL)
        return false; /* the chunk will say so */
    for (uint32_t i = 0; i < p->count; i++) {
        struct trace_site *const s = &p->site[i];
        const uint64_t address = w->address[i];
        if (s->what >= TRACE_PASSED)
            continue;
        const unsigned guessed = trace_guessed(m, s, address);
        *symbol = (guessed >> s->mode & 1) != 0
                      ? TRACE_SYMBOL_GUESSED
                      : find_symbol(w, s, address, guessed, m->at + i);
        wrong |= *symbol++;
        trace_note(m, s, address);
    }
    to->size = wrong != 0 ? (size_t)(symbol - to->data) : before;
    return wrong != 0;
}

static bool
is_pattern(const struct trace_writer *w, const struct trace_pattern *p)
{
    if (p == NULL || p->count != w->access_count)
        return false;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->site[i].what != w->what[i])
            return false;
    return true;
}

/* Finds the pattern of the accesses, or makes it, and writes which one it is.
 * Returns NULL after an error. */
static struct trace_pattern *
find_pattern(struct trace_writer *w)
{
    const struct trace_block *const b = trace_model_block(w->model, w->block);
    struct bytes *const to = &w->section[TRACE_PATTERNS_OF];

    for (uint32_t i = 0; i < b->pattern_count; i++)
        if (is_pattern(w, b->patterns[i])) {
            bytes_append_varint(to, i);
            return b->patterns[i];
        }
    bytes_append_varint(to, b->pattern_count);
    bytes_append_varint(to, w->access_count);
    for (uint32_t i = 0; i < w->access_count; i++)
        bytes_append_varint(to, w->what[i]);
    struct trace_pattern *const p =
        b->pattern_count < TRACE_PATTERNS
            ? trace_model_pattern(w->model, w->block, w->what, w->access_count)
            : NULL;
    if (p == NULL)
        out_of_memory(w);
    return p;
}

static void
append_kind(struct trace_writer *w, unsigned kind)
{
    bytes_append_varint(&w->section[TRACE_RUNS], w->as_guessed);
    bytes_append_u8(&w->section[TRACE_KINDS], (uint8_t)kind);
    w->as_guessed = 0;
}

/* Writes the block that has run, with its accesses. */
static void
end_block(struct trace_writer *w)
{
    struct trace_model *const m = w->model;
    const uint32_t block = w->block;
    unsigned kind = 0;
    uint32_t other;

    if (block == 0 || w->error != 0)
        return;
    if (trace_guess_block(m, &other) != block) {
        kind = other == block ? TRACE_KIND_OTHER : TRACE_KIND_NUMBER;
        if (kind == TRACE_KIND_NUMBER)
            bytes_append_varint(&w->section[TRACE_NUMBERS], block);
    }
    trace_note_block(m, block);
    struct trace_pattern *p = m->hot[block].now;
    if (!is_pattern(w, p)) {
        kind |= TRACE_KIND_PATTERN;
        p = find_pattern(w);
        if (p == NULL)
            return;
        m->hot[block].now = p;
    }
    if (find_addresses(w, p))
        kind |= TRACE_KIND_ADDRESSES;
    if (kind != 0)
        append_kind(w, kind);
    else
        w->as_guessed++;
    w->run.blocks++;
    w->chunk_blocks++;
    w->run.instructions += m->hot[block].insns;
    w->run.accesses += p->count;
    w->block = 0;
    w->access_count = 0;
}

static size_t
chunk_size(const struct trace_writer *w)
{
    size_t size = 0;

    for (unsigned i = 0; i < TRACE_SECTIONS; i++)
        size += w->section[i].size;
    return size;
}

void
trace_writer_flush(struct trace_writer *w)
{
    struct bytes b = {0};

    if (w->error != 0 || (chunk_size(w) == 0 && w->as_guessed == 0))
        return;
    append_kind(w, TRACE_KIND_END);
    for (unsigned i = 0; i < TRACE_SECTIONS; i++)
        bytes_append_varint(&b, w->section[i].size);
    for (unsigned i = 0; i < TRACE_SECTIONS; i++) {
        bytes_append(&b, w->section[i].data, w->section[i].size);
        b.failed |= w->section[i].failed;
        bytes_clear(&w->section[i]);
    }
    if (b.failed)
        out_of_memory(w);
    else
        w->error = chunks_write(w->chunks, TRACE_CHUNK_BODY, b.data, b.size);
    bytes_finish(&b);
    w->chunk_blocks = 0;
    w->made_pc = 0;
    if (w->error == 0 && w->max_size != 0 && w->run.end == 0 &&
        chunks_size(w->chunks) >= w->max_size) {
        w->run.end = TRACE_END_SIZE;
        w->block = 0; /* it has not all its accesses yet */
    }
}

uint64_t
trace_writer_size(const struct trace_writer *w)
{
    return chunks_size(w->chunks);
}

/* A cursor over the words of an item. */
struct words {
    const uint64_t *at, *end;
    bool failed;
};

static uint64_t
take_word(struct words *words)
{
    if (words->at == words->end) {
        words->failed = true;
        return 0;
    }
    return *words->at++;
}

/* Takes `size` bytes, which fill words. */
static const uint8_t *
take_bytes(struct words *words, uint64_t size)
{
    const uint8_t *const at = (const uint8_t *)words->at;

    if (size > (uint64_t)(words->end - words->at) * 8) {
        words->failed = true;
        return NULL;
    }
    words->at += (size + 7) / 8;
    return at;
}

static void
take_start(struct trace_writer *w, struct words *words)
{
    const uint64_t code = take_word(words), size = take_word(words);
    const uint8_t *const path = take_bytes(words, size);

    if (words->failed)
        return;
    bytes_append_u8(&w->section[TRACE_MADE], TRACE_MADE_START);
    bytes_append_varint(&w->section[TRACE_MADE], code);
    bytes_append_string(&w->section[TRACE_MADE], (const char *)path, size);
}

static void
take_block(struct trace_writer *w, struct words *words)
{
    struct bytes *const to = &w->section[TRACE_MADE];
    struct trace_block block = {.pc = take_word(words)};
    const uint64_t insns = take_word(words);
    const uint64_t before = take_word(words), after = take_word(words);

    words->failed |= insns > TRACE_INSNS || before > 255 || after > 255;
    if (words->failed)
        return;
    const uint8_t *const sizes = take_bytes(words, insns);
    block.insns = (uint32_t)insns;
    block.before = (uint8_t)before;
    block.after = (uint8_t)after;
    for (uint64_t i = 0; !words->failed && i < insns; i++)
        block.size += sizes[i] & TRACE_SIZE;
    block.kept = w->imported ? TRACE_IMPORTED_SIZE(block.insns)
                             : block.before + block.size + block.after;
    const size_t size = block.kept;
    const uint8_t *const bytes = take_bytes(words, size);
    if (words->failed)
        return;
    block.sizes = (uint8_t *)(uintptr_t)sizes;
    bytes_append_u8(to, TRACE_MADE_BLOCK);
    bytes_append_signed(to, (int64_t)(block.pc - w->made_pc));
    bytes_append_varint(to, insns);
    bytes_append_u8(to, block.before);
    bytes_append_u8(to, block.after);
    bytes_append(to, sizes, insns);
    bytes_append(to, bytes, size);
    w->made_pc = block.pc + block.size;
    if (trace_model_add(w->model, &block, bytes) != 0)
        out_of_memory(w);
}

static void
take_image(struct trace_writer *w, struct words *words)
{
    struct bytes *const to = &w->section[TRACE_MADE];
    const uint64_t first = take_word(words), last = take_word(words);
    const uint64_t offset = take_word(words), size = take_word(words);
    const char *const path = (const char *)take_bytes(words, size);
    struct elf_file elf = ELF_FILE_NONE;
    static const struct tally_log silent;

    if (words->failed)
        return;
    bytes_append_u8(to, TRACE_MADE_IMAGE);
    bytes_append_varint(to, first);
    bytes_append_varint(to, last);
    bytes_append_varint(to, offset);
    bytes_append_string(to, path, size);
    char *const name = strndup(path, size);
    if (name != NULL && elf_file_open(name, &silent, &elf) == 0)
        bytes_append_string(to, (const char *)elf.build_id, elf.build_id_size);
    else
        bytes_append_string(to, "", 0);
    elf_file_close(&elf);
    free(name);
}

static void
take_call(struct trace_writer *w, struct words *words)
{
    struct bytes *const to = &w->section[TRACE_EVENTS];

    append_kind(w, TRACE_KIND_EVENT);
    bytes_append_u8(to, TRACE_EVENT_CALL);
    bytes_append_signed(to, (int64_t)take_word(words));
    for (unsigned i = 0; i < TRACE_CALL_WORDS; i++)
        bytes_append_varint(to, take_word(words));
    const uint64_t pieces = take_word(words);
    words->failed |= pieces > TRACE_PIECES;
    bytes_append_varint(to, words->failed ? 0 : pieces);
    for (uint64_t i = 0; !words->failed && i < pieces; i++) {
        bytes_append_varint(to, take_word(words));
        const uint64_t size = take_word(words);
        const uint8_t *const bytes = take_bytes(words, size);
        words->failed |= size > TRACE_PIECE_MOST;
        bytes_append_string(to, (const char *)bytes, words->failed ? 0 : size);
    }
    w->run.calls++;
}

static void
take_return(struct trace_writer *w, struct words *words)
{
    struct bytes *const to = &w->section[TRACE_EVENTS];

    append_kind(w, TRACE_KIND_EVENT);
    bytes_append_u8(to, TRACE_EVENT_RETURN);
    bytes_append_signed(to, (int64_t)take_word(words));
    bytes_append_signed(to, (int64_t)take_word(words));
}

static void
take_stray(struct trace_writer *w, struct words *words)
{
    struct bytes *const to = &w->section[TRACE_EVENTS];
    const uint64_t block = take_word(words), what = take_word(words);

    append_kind(w, TRACE_KIND_EVENT);
    bytes_append_u8(to, TRACE_EVENT_STRAY);
    bytes_append_varint(to, block);
    bytes_append_varint(to, what);
    bytes_append_varint(to, take_word(words));
}

static void
take_thread(struct trace_writer *w, struct words *words)
{
    struct bytes *const to = &w->section[TRACE_EVENTS];
    const uint64_t event = take_word(words), number = take_word(words);

    words->failed |= event >= TRACE_THREAD_EVENTS || number >= TRACE_THREADS;
    if (words->failed)
        return;
    append_kind(w, TRACE_KIND_EVENT);
    bytes_append_u8(to, (uint8_t)(TRACE_EVENT_THREAD + event));
    bytes_append_varint(to, number);
    w->run.threads += event == TRACE_THREAD_STARTS;
}

static void
take_map(struct trace_writer *w, struct words *words)
{
    struct bytes *const to = &w->section[TRACE_EVENTS];
    const uint64_t first = take_word(words), last = take_word(words);
    const uint64_t place = take_word(words);

    append_kind(w, TRACE_KIND_EVENT);
    bytes_append_u8(to, TRACE_EVENT_MAP);
    bytes_append_varint(to, first);
    bytes_append_varint(to, last);
    bytes_append_varint(to, place);
    if (place == 0)
        return;
    const uint64_t size = take_word(words);
    const uint8_t *const path = take_bytes(words, size);
    words->failed |= size > TRACE_PIECE_MOST;
    bytes_append_string(to, (const char *)path, words->failed ? 0 : size);
}

static void
take_access(struct trace_writer *w, uint16_t what, uint64_t address)
{
    const uint32_t n = w->access_count;

    if (w->block == 0 || n == TRACE_ACCESSES) {
        wrong_item(w, w->block == 0 ? "an access outside of all blocks"
                                    : "too many accesses of a block");
        return;
    }
    w->what[n] = what;
    w->address[n] = address;
    w->access_count = n + 1;
}

/* Takes the accesses that come one after the other; returns how many, at least
 * one or there is an error. */
static size_t
take_accesses(struct trace_writer *w, const uint64_t *items, size_t count)
{
    uint16_t *const what = w->what + w->access_count;
    uint64_t *const address = w->address + w->access_count;
    const size_t room = TRACE_ACCESSES - w->access_count;
    size_t n = 0;

    if (w->block == 0 || room == 0) {
        take_access(w, (uint16_t)items[0], items[0] >> 16);
        return 1;
    }
    for (; n < count && n < room && (uint16_t)items[n] < TRACE_WHAT_END; n++) {
        what[n] = (uint16_t)items[n];
        address[n] = items[n] >> 16;
    }
    w->access_count += (uint32_t)n;
    return n;
}

/* Takes an item of several words. */
static void
take_item(struct trace_writer *w, const uint64_t *item, size_t count)
{
    struct words words = {item + 1, item + count, false};
    const enum trace_item kind = item[0] >> 16 & 0xffff;

    if (kind == TRACE_ITEM_WIDE) {
        const uint16_t what = (uint16_t)take_word(&words);
        take_access(w, what, take_word(&words));
    } else {
        if (kind != TRACE_ITEM_BLOCK && kind != TRACE_ITEM_IMAGE)
            end_block(w);
        switch (kind) {
        case TRACE_ITEM_START:
            take_start(w, &words);
            break;
        case TRACE_ITEM_BLOCK:
            take_block(w, &words);
            break;
        case TRACE_ITEM_IMAGE:
            take_image(w, &words);
            break;
        case TRACE_ITEM_CALL:
            take_call(w, &words);
            break;
        case TRACE_ITEM_RETURN:
            take_return(w, &words);
            break;
        case TRACE_ITEM_STRAY:
            take_stray(w, &words);
            break;
        case TRACE_ITEM_MAP:
            take_map(w, &words);
            break;
        case TRACE_ITEM_THREAD:
            take_thread(w, &words);
            break;
        case TRACE_ITEM_STOP:
            w->run.end = take_word(&words);
            w->run.counted = take_word(&words);
            break;
        default:
            words.failed = true;
        }
    }
    if (words.failed)
        wrong_item(w, "an item of no known kind");
}

/* Begins the run of a block. */
static void
enter(struct trace_writer *w, uint64_t block)
{
    end_block(w);
    if (w->run.end != 0)
        return;
    if (block == 0 || block > w->model->block_count) {
        wrong_item(w, "a block that it had not described");
        return;
    }
    w->block = (uint32_t)block;
    if (w->chunk_blocks >= CHUNK_BLOCKS ||
        ((w->chunk_blocks & 1023) == 1023 && chunk_size(w) >= CHUNK_FULL))
        trace_writer_flush(w);
}

/* Takes words of an item of several words; returns how many. */
static size_t
take_part(struct trace_writer *w, const uint64_t *items, size_t count)
{
    const size_t there = w->item.size / 8;

    if (there == 0)
        w->item_words = 1 + (size_t)(items[0] >> 32);
    const size_t left = w->item_words - there;
    const size_t part = left < count ? left : count;
    if (there == 0 && part == left) {
        take_item(w, items, part);
        w->item_words = 0;
        return part;
    }
    bytes_append(&w->item, items, part * 8);
    if (w->item.failed)
        out_of_memory(w);
    else if (part == left)
        take_item(w, (const uint64_t *)(const void *)w->item.data,
                  w->item_words);
    if (part == left || w->item.failed) {
        bytes_clear(&w->item);
        w->item_words = 0;
    }
    return part;
}

bool
trace_writer_take(struct trace_writer *w, const uint64_t *items, size_t count)
{
    size_t i = 0;

    while (i < count && w->error == 0 && w->run.end == 0) {
        const uint16_t what = (uint16_t)items[i];
        if (w->item_words != 0 || what == TRACE_LONG)
            i += take_part(w, items + i, count - i);
        else if (what < TRACE_WHAT_END)
            i += take_accesses(w, items + i, count - i);
        else
            enter(w, items[i++] >> 16);
    }
    return w->error == 0 && w->run.end == 0;
}

/* Writes how the run ended. */
static void
write_run(struct trace_writer *w)
{
    const struct trace_run *const run = &w->run;
    struct bytes b = {0};

    bytes_append_varint(&b, run->end);
    bytes_append_varint(&b, run->status);
    bytes_append_varint(&b, run->instructions);
    bytes_append_varint(&b, run->blocks);
    bytes_append_varint(&b, run->accesses);
    bytes_append_varint(&b, run->calls);
    bytes_append_varint(&b, run->counted);
    if (!w->imported)
        bytes_append_varint(&b, run->threads);
    if (b.failed)
        out_of_memory(w);
    else if (w->error == 0)
        w->error = chunks_write(w->chunks, TRACE_CHUNK_RUN, b.data, b.size);
    bytes_finish(&b);
}

int
trace_writer_end(struct trace_writer **writer, const struct trace_run *run,
                 struct trace_run *made, uint64_t *size)
{
    struct trace_writer *const w = *writer;

    end_block(w);
    /* First: a whole trace has not too large a size. */
    if (w->run.end == 0) {
        w->run.end = run->end;
        w->run.counted = run->counted;
    }
    trace_writer_flush(w);
    w->run.status = run->status;
    write_run(w);
    *made = w->run;
    *size = chunks_size(w->chunks);
    const int error = w->error;
    const int closed = chunks_end(&w->chunks);
    free_writer(w);
    *writer = NULL;
    return error != 0 ? error : closed;
}

void
trace_writer_abandon(struct trace_writer **writer)
{
    if (*writer == NULL)
        return;
    chunks_abandon(&(*writer)->chunks);
    free_writer(*writer);
    *writer = NULL;
}
