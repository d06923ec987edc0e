/* SPDX-License-Identifier: MIT */
#include "trace/trace_import.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/bytes.h"
#include "record/chunks.h"
#include "table/text.h"
#include "trace/champsim.h"
#include "trace/import_blocks.h"
#include "trace/import_branches.h"
#include "trace/import_input.h"

/* The most bytes of an access: an x86 XSAVE of all that there is has fewer. */
#define ACCESS_MOST 16384u
#define WORD UINT64_C(4) /* bytes of a line of din */
/* A file of din has fetches where one is among so many of its first bytes. */
#define PEEKED INPUT_BUFFER

struct trace_import {
    struct import_input in;
    const struct trace_import_format *format;
    const struct tally_log *log;
    uint64_t holds;
    struct import_blocks *blocks;
    struct import_branches *branches;
    struct trace_import_left *left;
    bool fetched; /* an instruction was read */
    /* Of drmemtrace. */
    bool threaded, footed;
    uint64_t thread;
    uint64_t at; /* the end of the instruction before */
};

struct reader {
    /* Looks at the first bytes, `size`, which stay; may take something from
     * import->holds. 0 or an error, logged. */
    int (*look)(struct trace_import *import, const uint8_t *bytes, size_t size);
    /* Reads one line or record. 1, 0 at the end, or an error, logged. */
    int (*next)(struct trace_import *import);
};

/* Addresses */

/* The model's sign for no address is in the hole between the addresses of
 * programs and those of the system, where nothing is. */
#define HOLE (UINT64_C(1) << 63)
#define HOLE_BITS 32

/* Returns why an access of `size` bytes, 1 at least, or an instruction cannot
 * be at an address, or NULL. An access may end at the last address, an
 * instruction goes on there. */
static const char *
address_lacks(uint64_t address, uint64_t size, bool insn)
{
    if (size - 1 + insn > UINT64_MAX - address)
        return "which goes on behind the last address of 64 bits";
    if (address >> HOLE_BITS == HOLE >> HOLE_BITS)
        return "in the 4 GB from 0x8000000000000000 on, where no program is";
    return NULL;
}

/* Text */

/* What is left of a line. */
struct text {
    const char *at, *end;
};

static bool
is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Passes blanks by. Returns whether there is one. */
static bool
take_blanks(struct text *t)
{
    const char *const from = t->at;

    while (t->at < t->end && is_blank(*t->at))
        t->at++;
    return t->at != from;
}

/* Takes a number of the base, 10 or 16; returns false where there is none, or
 * where it has more than 64 bits. */
static bool
take_number(struct text *t, unsigned base, uint64_t *number)
{
    const char *const from = t->at;
    uint64_t value = 0;

    for (; t->at < t->end; t->at++) {
        const char c = *t->at;
        const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                               : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                               : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                      : 16;
        if (digit >= base)
            break;
        if (value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *number = value;
    return t->at != from;
}

static bool
take_char(struct text *t, char c)
{
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

/* Says that the line is none of the format. */
static int
bad_text(struct trace_import *m, const char *line, size_t size,
         const char *right)
{
    return input_bad_line(&m->in, "is '%s', which is no line of %s: %s",
                          shown(line, size).text, m->format->name, right);
}

/* Says that the line has an address that cannot be. */
static int
bad_address(struct trace_import *m, const char *line, size_t size,
            const char *why)
{
    return input_bad_line(&m->in, "is '%s', %s", shown(line, size).text, why);
}

static int
too_many(struct trace_import *m)
{
    return input_bad_line(&m->in,
                          "is one access too many: an instruction has %u loads "
                          "and %u stores at most",
                          IMPORT_ACCESSES, IMPORT_ACCESSES);
}

static int
no_memory(const struct trace_import *m)
{
    return tally_fail(m->log, TALLY_ENOMEM, "no memory for the trace");
}

static void
leave(struct trace_import *m, const char *what)
{
    m->left->records++;
    m->left->what = what;
}

/* Lackey, and the cache lab, whose traces have its form */

#define LACKEY_RIGHT                                                      \
    "expected is I, L, S or M, an address in hexadecimal, a comma and a " \
    "number of bytes, as in ' L 1ffeffe7e0,8'"

/* Reads a line into its letter, address and size. */
static bool
take_lackey(struct text t, char *letter, uint64_t *address, uint64_t *bytes)
{
    take_blanks(&t);
    if (t.at == t.end || strchr("ILSM", *t.at) == NULL)
        return false;
    *letter = *t.at++;
    if (!take_blanks(&t) || !take_number(&t, 16, address) ||
        !take_char(&t, ',') || !take_number(&t, 10, bytes))
        return false;
    take_blanks(&t);
    return t.at == t.end;
}

/* Returns whether a line says nothing of the program: an empty one, or one of
 * Valgrind's own messages, which lackey writes to the same file. */
static bool
is_message(const char *line, size_t size)
{
    return size == 0 || (size >= 2 && (memcmp(line, "==", 2) == 0 ||
                                       memcmp(line, "--", 2) == 0));
}

/* Reads the next line that says something. */
static int
next_lackey(struct trace_import *m, const char **line, size_t *size,
            char *letter, uint64_t *address, uint64_t *bytes)
{
    int next;

    do {
        next = input_line(&m->in, line, size);
        if (next <= 0)
            return next;
    } while (is_message(*line, *size));
    if (!take_lackey((struct text){*line, *line + *size}, letter, address,
                     bytes))
        return bad_text(m, *line, *size, LACKEY_RIGHT);
    if (*bytes == 0)
        return bad_text(m, *line, *size, "an access has one byte at least");
    const char *const why = address_lacks(*address, *bytes, *letter == 'I');
    return why == NULL ? 1 : bad_address(m, *line, *size, why);
}

static bool
add_accesses(struct trace_import *m, char letter, uint64_t address,
             uint64_t bytes)
{
    const bool loads = letter != 'S', stores = letter != 'L';

    return (!loads || import_blocks_access(m->blocks, false, address, bytes)) &&
           (!stores || import_blocks_access(m->blocks, true, address, bytes));
}

static int
read_lackey(struct trace_import *m)
{
    const char *line;
    uint64_t address, bytes;
    size_t size;
    char letter;
    const int next = next_lackey(m, &line, &size, &letter, &address, &bytes);

    if (next <= 0)
        return next;
    if (letter == 'I') {
        if (bytes > IMPORT_SIZE_MOST)
            return bad_text(m, line, size, "an instruction has 1 to 31 bytes");
        import_blocks_insn(m->blocks, address, (unsigned)bytes, BRANCH_NONE, 0);
        m->fetched = true;
        return 1;
    }
    if (!m->fetched)
        return input_bad_line(
            &m->in, "is an access before any instruction; a file without "
                    "instructions is read --as cachelab");
    if (bytes > ACCESS_MOST)
        return bad_text(m, line, size, "an access has 16384 bytes at most");
    return add_accesses(m, letter, address, bytes) ? 1 : too_many(m);
}

/* The lab's caches look at the address of an access alone, not at its size. */
static int
read_cachelab(struct trace_import *m)
{
    const char *line;
    uint64_t address, bytes;
    size_t size;
    char letter;
    const int next = next_lackey(m, &line, &size, &letter, &address, &bytes);

    if (next <= 0)
        return next;
    if (letter == 'I')
        leave(m, "fetches of instructions, which the cache lab passes by");
    else
        add_accesses(m, letter, address, 1);
    return 1;
}

/* Din */

#define DIN_RIGHT                                                         \
    "expected is 0 (a load), 1 (a store) or 2 (a fetch), a blank and an " \
    "address in hexadecimal, as in '0 7fbea0'"

/* Reads a line into its label and address; what stands behind is a comment. */
static bool
take_din(struct text t, uint64_t *label, uint64_t *address)
{
    take_blanks(&t);
    if (!take_number(&t, 10, label) || *label > 4 || !take_blanks(&t))
        return false;
    if (t.end - t.at > 2 && t.at[0] == '0' && (t.at[1] | 32) == 'x')
        t.at += 2;
    return take_number(&t, 16, address) && (t.at == t.end || is_blank(*t.at));
}

/* Finds out whether there are fetches, by the first lines. */
static int
look_din(struct trace_import *m, const uint8_t *bytes, size_t size)
{
    struct text t = {(const char *)bytes, (const char *)bytes + size};

    while (t.at < t.end) {
        take_blanks(&t);
        if (t.end - t.at >= 2 && t.at[0] == '2' && is_blank(t.at[1]))
            return 0;
        const char *const end = memchr(t.at, '\n', (size_t)(t.end - t.at));
        t.at = end != NULL ? end + 1 : t.end;
    }
    m->holds &= ~(uint64_t)TRACE_HOLDS_FETCHES;
    return 0;
}

/* An access of din is of one word of 4 bytes; as an access of one byte it is
 * where it was, and crosses no line. */
static int
read_din(struct trace_import *m)
{
    const char *line;
    uint64_t label, address;
    size_t size;
    const int next = input_line(&m->in, &line, &size);

    if (next <= 0 || size == 0)
        return next;
    if (!take_din((struct text){line, line + size}, &label, &address))
        return bad_text(m, line, size, DIN_RIGHT);
    const char *const why =
        address_lacks(address, WORD - address % WORD, label == 2);
    if (why != NULL)
        return bad_address(m, line, size, why);
    if (label > 2) {
        leave(m, "escape records");
        return 1;
    }
    if (label == 2) {
        if ((m->holds & TRACE_HOLDS_FETCHES) == 0)
            return input_bad_line(
                &m->in,
                "is the first fetch, behind a megabyte without: fetches "
                "are to begin before, or to be left out");
        const uint64_t bytes = WORD - address % WORD;
        import_blocks_insn(m->blocks, address, (unsigned)bytes, BRANCH_NONE, 0);
        m->fetched = true;
        return 1;
    }
    if (import_blocks_access(m->blocks, label == 1, address, 1))
        return 1;
    if (!m->fetched)
        return input_bad_line(&m->in,
                              "is one of too many accesses before the first "
                              "fetch");
    import_blocks_again(m->blocks);
    import_blocks_access(m->blocks, label == 1, address, 1);
    return 1;
}

/* ChampSim */

/* Returns what kind of branch ChampSim takes a record for, by its registers. */
static enum insn_branch
champsim_branch(const struct champsim_record *r)
{
    bool writes_pointer = false, reads_pointer = false, reads_flags = false;
    bool writes_stack = false, reads_stack = false, reads_other = false;

    for (unsigned i = 0; i < CHAMPSIM_CHANGES; i++) {
        writes_pointer |= r->changes[i] == CHAMPSIM_POINTER;
        writes_stack |= r->changes[i] == CHAMPSIM_STACK_POINTER;
    }
    for (unsigned i = 0; i < CHAMPSIM_READS; i++) {
        const uint8_t n = r->reads[i];
        reads_pointer |= n == CHAMPSIM_POINTER;
        reads_stack |= n == CHAMPSIM_STACK_POINTER;
        reads_flags |= n == CHAMPSIM_FLAGS;
        reads_other |= n != 0 && n != CHAMPSIM_POINTER &&
                       n != CHAMPSIM_STACK_POINTER && n != CHAMPSIM_FLAGS;
    }
    if (!writes_pointer)
        return BRANCH_NONE;
    if (reads_stack && writes_stack)
        return !reads_pointer ? BRANCH_RETURN
               : reads_other  ? BRANCH_INDIRECT_CALL
                              : BRANCH_CALL;
    if (reads_pointer && (reads_flags || reads_other))
        return BRANCH_CONDITIONAL;
    return reads_other ? BRANCH_INDIRECT : BRANCH_JUMP;
}

static int
read_champsim(struct trace_import *m)
{
    struct champsim_record r;
    const uint8_t *bytes;
    const int next = input_record(&m->in, CHAMPSIM_RECORD, &bytes);

    if (next <= 0)
        return next;
    if (!champsim_decode(bytes, &r))
        return input_bad_record(&m->in, CHAMPSIM_RECORD,
                                "is none of ChampSim: its bytes 8 and 9 are %u "
                                "and %u, which say whether it is a branch and "
                                "was taken: 0 or 1",
                                bytes[8], bytes[9]);
    const char *why = address_lacks(r.pc, IMPORT_SIZE_MOST, true);
    for (unsigned i = 0; why == NULL && i < CHAMPSIM_READS; i++)
        why = address_lacks(r.loads[i], 1, false);
    for (unsigned i = 0; why == NULL && i < CHAMPSIM_CHANGES; i++)
        why = address_lacks(r.stores[i], 1, false);
    if (why != NULL)
        return input_bad_record(&m->in, CHAMPSIM_RECORD,
                                "is at 0x%" PRIx64 " or has an access, %s",
                                r.pc, why);
    const struct branch_insn insn = {
        .pc = r.pc,
        .branch = r.is_branch ? champsim_branch(&r) : BRANCH_NONE,
        .taken = r.branch_taken,
    };
    if (!import_branches_insn(m->branches, &insn))
        return no_memory(m);
    for (unsigned i = 0; i < CHAMPSIM_READS; i++)
        if (r.loads[i] != 0)
            import_branches_access(m->branches, false, r.loads[i], 1);
    for (unsigned i = 0; i < CHAMPSIM_CHANGES; i++)
        if (r.stores[i] != 0)
            import_branches_access(m->branches, true, r.stores[i], 1);
    return 1;
}

/* drmemtrace, by DynamoRIO's clients/drcachesim/common/trace_entry.h of
 * 2023: 12 bytes an entry, 2 bytes of type, 2 of size, 8 of address, little
 * endian */

#define ENTRY 12u

enum entry_type {
    ENTRY_READ = 0,
    ENTRY_WRITE = 1,
    ENTRY_PREFETCH = 2, /* and further ones up to 9, and 32 to 46 */
    ENTRY_PREFETCH_LAST = 9,
    ENTRY_INSTR = 10,
    ENTRY_DIRECT_JUMP = 11,
    ENTRY_INDIRECT_JUMP = 12,
    ENTRY_CONDITIONAL_JUMP = 13,
    ENTRY_DIRECT_CALL = 14,
    ENTRY_INDIRECT_CALL = 15,
    ENTRY_RETURN = 16,
    ENTRY_BUNDLE = 17, /* instructions behind the one before, by their sizes */
    ENTRY_FLUSH = 18,  /* and further ones up to 21 */
    ENTRY_FLUSH_LAST = 21,
    ENTRY_THREAD = 22,
    ENTRY_THREAD_EXIT = 23,
    ENTRY_PID = 24,
    ENTRY_HEADER = 25,
    ENTRY_FOOTER = 26,
    ENTRY_HARDWARE_PREFETCH = 27,
    ENTRY_MARKER = 28, /* its kind is where others have a size */
    ENTRY_NO_FETCH = 29,
    ENTRY_SYSENTER = 31,
    ENTRY_PREFETCH_MORE = 32,
    ENTRY_PREFETCH_MORE_LAST = 46,
    ENTRY_ENCODING = 47,
    ENTRY_TAKEN_JUMP = 48,
    ENTRY_UNTAKEN_JUMP = 49,
};

#define MARKER_FILETYPE 9u

/* Bits of the marker's value. */
enum file_type {
    FILE_FILTERED = 0x1 | 0x80 | 0x100, /* accesses that hit are left out */
    FILE_INSTRUCTIONS = 0x4,            /* there are no others */
    FILE_32_BITS = 0x10 | 0x20,         /* addresses of 4 bytes */
};

struct entry {
    uint16_t type, size;
    uint64_t address;
    const uint8_t *bytes; /* in place of the address */
};

static struct entry
take_entry(const uint8_t *bytes)
{
    return (struct entry){
        .type = (uint16_t)(bytes[0] | bytes[1] << 8),
        .size = (uint16_t)(bytes[2] | bytes[3] << 8),
        .address = bytes_get_u64(bytes + 4),
        .bytes = bytes + 4,
    };
}

/* Finds out what the file has by the marker of its kind, which is among its
 * first entries. */
static int
look_drmemtrace(struct trace_import *m, const uint8_t *bytes, size_t size)
{
    if (size < ENTRY || take_entry(bytes).type != ENTRY_HEADER)
        return tally_fail(m->log, TALLY_ESYNTAX,
                          "%s: byte 0 is not the beginning of a trace of "
                          "drmemtrace, whose first entry is of type 25, a "
                          "header; raw traces are to be converted by "
                          "DynamoRIO's raw2trace",
                          m->in.name);
    for (size_t at = 0; at + ENTRY <= size; at += ENTRY) {
        const struct entry e = take_entry(bytes + at);
        if (e.type == ENTRY_INSTR)
            break;
        if (e.type != ENTRY_MARKER || e.size != MARKER_FILETYPE)
            continue;
        if ((e.address & (FILE_FILTERED | FILE_32_BITS)) != 0)
            return tally_fail(
                m->log, TALLY_ESYNTAX, "%s: byte %zu: %s", m->in.name, at,
                (e.address & FILE_32_BITS) != 0
                    ? "a trace of a program of 32 bits; tally reads those of "
                      "64 bits"
                    : "a filtered trace, without the accesses that hit; tally "
                      "reads whole ones");
        if ((e.address & FILE_INSTRUCTIONS) != 0)
            m->holds &= ~(uint64_t)(TRACE_HOLDS_DATA | TRACE_HOLDS_SIZES);
        break;
    }
    return 0;
}

/* Adds an instruction; one that is not fetched is an iteration of a repeated
 * one. */
static int
add_entry_insn(struct trace_import *m, uint64_t pc, unsigned size,
               enum insn_branch branch)
{
    if (size == 0 || size > IMPORT_SIZE_MOST)
        return input_bad_record(&m->in, ENTRY,
                                "is an instruction of %u bytes: 1 to %u are "
                                "expected",
                                size, IMPORT_SIZE_MOST);
    const char *const why = address_lacks(pc, IMPORT_SIZE_MOST, true);
    if (why != NULL)
        return input_bad_record(&m->in, ENTRY, "is an instruction, %s", why);
    m->fetched = true;
    m->at = pc + size;
    const struct branch_insn insn = {.pc = pc, .size = size, .branch = branch};
    return import_branches_insn(m->branches, &insn) ? 1 : no_memory(m);
}

static int
add_entry_bundle(struct trace_import *m, const struct entry *e)
{
    int next = 1;

    if (!m->fetched || e->size == 0 || e->size > 8)
        return input_bad_record(&m->in, ENTRY,
                                "is a bundle of %u instructions: 1 to 8 are "
                                "expected, behind another instruction",
                                e->size);
    for (unsigned i = 0; next > 0 && i < e->size; i++)
        next = add_entry_insn(m, m->at, e->bytes[i], BRANCH_NONE);
    return next;
}

static int
add_entry_access(struct trace_import *m, const struct entry *e)
{
    const uint64_t size = e->size != 0 ? e->size : 1;

    if (!m->fetched)
        return input_bad_record(&m->in, ENTRY,
                                "is an access before the first instruction");
    const char *const why = size > ACCESS_MOST
                                ? "where 16384 are the most"
                                : address_lacks(e->address, size, false);
    if (why != NULL)
        return input_bad_record(&m->in, ENTRY,
                                "is an access of %u bytes at 0x%" PRIx64 ", %s",
                                e->size, e->address, why);
    return import_branches_access(m->branches, e->type == ENTRY_WRITE,
                                  e->address, size)
               ? 1
               : input_bad_record(&m->in, ENTRY,
                                  "is one access too many: an instruction has "
                                  "%u loads and %u stores at most",
                                  IMPORT_ACCESSES, IMPORT_ACCESSES);
}

/* Notes which thread comes next: there is one. */
static int
add_entry_thread(struct trace_import *m, const struct entry *e)
{
    if (m->threaded && m->thread != e->address)
        return input_bad_record(&m->in, ENTRY,
                                "begins thread %" PRIu64 " behind thread "
                                "%" PRIu64
                                ": a trace has one thread; import the file of "
                                "each by itself",
                                e->address, m->thread);
    m->threaded = true;
    m->thread = e->address;
    return 1;
}

static int
read_drmemtrace(struct trace_import *m)
{
    static const enum insn_branch branches[] = {
        [ENTRY_INSTR] = BRANCH_NONE,
        [ENTRY_DIRECT_JUMP] = BRANCH_JUMP,
        [ENTRY_INDIRECT_JUMP] = BRANCH_INDIRECT,
        [ENTRY_CONDITIONAL_JUMP] = BRANCH_CONDITIONAL,
        [ENTRY_DIRECT_CALL] = BRANCH_CALL,
        [ENTRY_INDIRECT_CALL] = BRANCH_INDIRECT_CALL,
        [ENTRY_RETURN] = BRANCH_RETURN,
    };
    const uint8_t *bytes;
    const int next = input_record(&m->in, ENTRY, &bytes);

    if (next <= 0)
        return next;
    const struct entry e = take_entry(bytes);
    if (m->footed)
        return input_bad_record(&m->in, ENTRY,
                                "stands behind the entry that ends the trace");
    switch (e.type) {
    case ENTRY_READ:
    case ENTRY_WRITE:
        return add_entry_access(m, &e);
    case ENTRY_INSTR:
    case ENTRY_DIRECT_JUMP:
    case ENTRY_INDIRECT_JUMP:
    case ENTRY_CONDITIONAL_JUMP:
    case ENTRY_DIRECT_CALL:
    case ENTRY_INDIRECT_CALL:
    case ENTRY_RETURN:
        return add_entry_insn(m, e.address, e.size, branches[e.type]);
    case ENTRY_NO_FETCH:
    case ENTRY_SYSENTER:
        return add_entry_insn(m, e.address, e.size, BRANCH_NONE);
    case ENTRY_TAKEN_JUMP:
    case ENTRY_UNTAKEN_JUMP:
        return add_entry_insn(m, e.address, e.size, BRANCH_CONDITIONAL);
    case ENTRY_BUNDLE:
        return add_entry_bundle(m, &e);
    case ENTRY_THREAD:
        return add_entry_thread(m, &e);
    case ENTRY_FOOTER:
        m->footed = true;
        return 1;
    case ENTRY_THREAD_EXIT:
    case ENTRY_PID:
    case ENTRY_HEADER:
    case ENTRY_MARKER:
    case ENTRY_ENCODING:
        return 1;
    default:
        break;
    }
    if ((e.type >= ENTRY_PREFETCH && e.type <= ENTRY_PREFETCH_LAST) ||
        (e.type >= ENTRY_FLUSH && e.type <= ENTRY_FLUSH_LAST) ||
        (e.type >= ENTRY_PREFETCH_MORE && e.type <= ENTRY_PREFETCH_MORE_LAST) ||
        e.type == ENTRY_HARDWARE_PREFETCH) {
        leave(m, "prefetches and flushes");
        return 1;
    }
    return input_bad_record(&m->in, ENTRY,
                            "is of type %u; in a file of drmemtrace 0 to 29 "
                            "and 31 to 49 are expected",
                            e.type);
}

const struct trace_import_format trace_import_formats[] = {
    {"lackey",
     TRACE_HOLDS_DATA | TRACE_HOLDS_SIZES | TRACE_HOLDS_FETCHES |
         TRACE_HOLDS_INSTRUCTIONS,
     true},
    {"din", TRACE_HOLDS_DATA | TRACE_HOLDS_FETCHES, true},
    {"champsim",
     TRACE_HOLDS_DATA | TRACE_HOLDS_FETCHES | TRACE_HOLDS_INSTRUCTIONS |
         TRACE_HOLDS_BRANCHES,
     true},
    {"cachelab", TRACE_HOLDS_DATA, true},
    {"drmemtrace",
     TRACE_HOLDS_DATA | TRACE_HOLDS_SIZES | TRACE_HOLDS_FETCHES |
         TRACE_HOLDS_INSTRUCTIONS | TRACE_HOLDS_BRANCHES,
     false},
    {NULL, 0, false},
};

/* In the order of trace_import_formats. */
static const struct reader readers[] = {
    {NULL, read_lackey},
    {look_din, read_din},
    {NULL, read_champsim},
    {NULL, read_cachelab},
    {look_drmemtrace, read_drmemtrace},
};

static const struct reader *
reader_of(const struct trace_import *m)
{
    return &readers[m->format - trace_import_formats];
}

/* Refuses what is not the format's whichever format that is: what is
 * compressed, and traces of tally itself. */
static int
check_kind(const struct trace_import *m, const uint8_t *bytes, size_t size)
{
    static const struct {
        const char *begins;
        size_t size;
        const char *command;
    } kinds[] = {
        {"\x1f\x8b", 2, "gzip -dc"},
        {"\xfd"
         "7zXZ",
         5, "xz -dc"},
        {"\x28\xb5\x2f\xfd", 4, "zstd -dc"},
        {"BZh", 3, "bzip2 -dc"},
        {"PK\3\4", 4, "unzip -p"},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (size >= kinds[i].size &&
            memcmp(bytes, kinds[i].begins, kinds[i].size) == 0)
            return tally_fail(m->log, TALLY_ESYNTAX,
                              "%s is compressed: `%s FILE | tally trace import "
                              "--as %s -` reads it",
                              m->in.name, kinds[i].command, m->format->name);
    if (size >= sizeof(CHUNKS_MAGIC) - 1 &&
        memcmp(bytes, CHUNKS_MAGIC, sizeof(CHUNKS_MAGIC) - 1) == 0)
        return tally_fail(m->log, TALLY_ESYNTAX,
                          "%s is a file of tally itself, and no trace of "
                          "another program",
                          m->in.name);
    return 0;
}

int
trace_import_begin(int fd, const char *name,
                   const struct trace_import_format *format,
                   const struct tally_log *log, struct trace_import **import,
                   uint64_t *holds)
{
    struct trace_import *m = calloc(1, sizeof(*m));

    if (m == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for %s", name);
    m->format = format;
    m->log = log;
    m->holds = format->holds;
    int error = input_init(&m->in, fd, name, log);
    const int there = error == 0 ? input_fill(&m->in, PEEKED) : error;
    error = there < 0 ? there : 0;
    if (there == 0)
        error = tally_fail(log, TALLY_ESYNTAX, "%s is empty", name);
    if (error == 0)
        error = check_kind(m, m->in.buffer, (size_t)there);
    if (error == 0 && reader_of(m)->look != NULL)
        error = reader_of(m)->look(m, m->in.buffer, (size_t)there);
    if (error != 0) {
        trace_import_end(&m);
        return error;
    }
    *holds = m->holds;
    *import = m;
    return 0;
}

/* Ends what has begun, and says where memory is lacking. */
static int
finish(struct trace_import *m, int error)
{
    if (error == 0) {
        import_branches_end(m->branches);
        error = import_blocks_end(m->blocks);
        if (error == TALLY_ENOMEM)
            no_memory(m);
    }
    import_branches_destroy(m->branches);
    import_blocks_destroy(m->blocks);
    return error;
}

int
trace_import_all(struct trace_import *m, struct trace_writer *writer,
                 struct trace_import_left *left)
{
    const bool alone = (m->holds & TRACE_HOLDS_FETCHES) == 0;
    int next = 1;

    *left = (struct trace_import_left){0};
    m->left = left;
    m->blocks = import_blocks_create(writer, alone);
    m->branches = m->blocks != NULL ? import_branches_create(m->blocks) : NULL;
    if (m->branches == NULL) {
        import_blocks_destroy(m->blocks);
        return no_memory(m);
    }
    while (next > 0 && import_blocks_good(m->blocks))
        next = reader_of(m)->next(m);
    return finish(m, next > 0 ? 0 : next);
}

void
trace_import_end(struct trace_import **import)
{
    if (*import == NULL)
        return;
    input_finish(&(*import)->in);
    free(*import);
    *import = NULL;
}
