/* SPDX-License-Identifier: MIT */
/*
 * bundles FILE: the console's monitor sees the instructions of a trace of
 * IA-64 bundles retire, each with its opcode, which opcode matchers look at.
 * A file is read to its end before any retires: a wrong line retires nothing.
 */
#include "cli/pmu_verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "cli/ia64.h"
#include "table/text.h"

#define BLANKS " \t\r\n"
#define LINE_MAX_BYTES 512

enum column {
    COLUMN_IP,
    COLUMN_TEMPLATE,
    COLUMN_SLOT0,
    COLUMN_SLOT1,
    COLUMN_SLOT2,
    COLUMN_PREDICATE,
    COLUMN_TAKEN,
    COLUMN_EA,
    COLUMNS
};

static const struct {
    const char *name;
    uint64_t max;
} columns[COLUMNS] = {
    [COLUMN_IP] = {"ip", UINT64_MAX},
    [COLUMN_TEMPLATE] = {"template", 0x1f},
    [COLUMN_SLOT0] = {"slot0", IA64_OPCODE_MAX},
    [COLUMN_SLOT1] = {"slot1", IA64_OPCODE_MAX},
    [COLUMN_SLOT2] = {"slot2", IA64_OPCODE_MAX},
    [COLUMN_PREDICATE] = {"predicate", 7},
    [COLUMN_TAKEN] = {"taken", 7},
    [COLUMN_EA] = {"ea", UINT64_MAX},
};

struct bundle_row {
    uint64_t ip;
    struct ia64_insn insns[IA64_SLOTS];
    uint64_t ea[IA64_SLOTS];
    size_t count;    /* of instructions that retire */
    uint8_t on;      /* bits by slot: the predicate is true */
    uint8_t taken;   /* it went elsewhere */
    uint8_t ea_slot; /* bits: ea of this instruction's slot is known */
};

struct reader {
    const char *path;
    unsigned long line;
    const struct tally_log *log;
    bool headed; /* the header was read */
    struct bundle_row *rows;
    size_t count, room;
};

static int
wrong(const struct reader *r, const char *text, const char *what)
{
    return tally_fail(r->log, TALLY_ESYNTAX, "%s:%lu: %s%s%s%s",
                      shown(r->path, strlen(r->path)).text, r->line, text,
                      what != NULL ? " '" : "",
                      what != NULL ? shown(what, strlen(what)).text : "",
                      what != NULL ? "'" : "");
}

/* Reads hexadecimal digits, with or without 0x before them, and nothing else.
 */
static bool
hexadecimal(const char *text, uint64_t *value)
{
    if (text[0] == '0' && ascii_lower(text[1]) == 'x')
        text += 2;
    const size_t length = strlen(text);
    if (length == 0 || strspn(text, "0123456789abcdefABCDEF") != length)
        return false;
    errno = 0;
    *value = strtoull(text, NULL, 16);
    return errno == 0;
}

static int
cell_value(const struct reader *r, enum column column, const char *text,
           uint64_t *value)
{
    char what[80];

    if (hexadecimal(text, value) && *value <= columns[column].max)
        return 0;
    snprintf(what, sizeof(what), "%s is hexadecimal, at most %llx, not",
             columns[column].name, (unsigned long long)columns[column].max);
    return wrong(r, what, text);
}

/* Cuts a line at commas, blanks around a cell off. */
static int
cut_cells(const struct reader *r, char *line, char *cells[COLUMNS])
{
    size_t count = 0;
    char *cell;

    while ((cell = strsep(&line, ",")) != NULL) {
        cell += strspn(cell, BLANKS);
        for (size_t n = strlen(cell);
             n > 0 && strchr(BLANKS, cell[n - 1]) != NULL; n--)
            cell[n - 1] = '\0';
        if (count < COLUMNS)
            cells[count] = cell;
        count++;
    }
    if (count == COLUMNS)
        return 0;
    return wrong(
        r, count < COLUMNS ? "fewer than 8 columns" : "more than 8 columns",
        NULL);
}

static int
check_header(const struct reader *r, char *cells[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!same_name(cells[i], columns[i].name))
            return wrong(r,
                         "the first line is ip,template,slot0,slot1,slot2,"
                         "predicate,taken,ea; it has",
                         cells[i]);
    }
    return 0;
}

/* Returns whether the instruction at slot `i` accessed memory. */
static bool
accesses(const struct bundle_row *b, const struct ia64_insn *insn)
{
    return (insn->kinds & (IA64_LOAD | IA64_STORE)) != 0 &&
           (b->on >> insn->slot & 1) != 0;
}

/* Reads the data addresses, separated by blanks, of the accesses in order. */
static int
take_addresses(const struct reader *r, char *cell, struct bundle_row *b)
{
    size_t i = 0;
    char *rest = NULL;

    for (char *word = strtok_r(cell, BLANKS, &rest); word != NULL;
         word = strtok_r(NULL, BLANKS, &rest)) {
        while (i < b->count && !accesses(b, &b->insns[i]))
            i++;
        if (i == b->count)
            return wrong(r, "no instruction accesses ea", word);
        const int error = cell_value(r, COLUMN_EA, word, &b->ea[i]);
        if (error != 0)
            return error;
        b->ea_slot |= (uint8_t)(1U << i++);
    }
    return 0;
}

/* Takes out the instructions behind one that went elsewhere: they do not
 * retire. */
static int
take_taken(const struct reader *r, struct bundle_row *b)
{
    if ((b->taken & (b->taken - 1)) != 0)
        return wrong(r, "two slots are taken", NULL);
    for (size_t i = 0; i < b->count && b->taken != 0; i++) {
        if ((b->taken >> b->insns[i].slot & 1) == 0)
            continue;
        if ((b->insns[i].kinds & (IA64_BRANCH | IA64_CHECK)) == 0)
            break;
        b->count = i + 1;
        return 0;
    }
    return b->taken == 0 ? 0 : wrong(r, "what is taken is no branch", NULL);
}

static int
check_predicates(const struct reader *r, const struct bundle_row *b)
{
    for (size_t i = 0; i < b->count; i++) {
        if (ia64_predicate(&b->insns[i]) == 0 &&
            (b->on >> b->insns[i].slot & 1) == 0)
            return wrong(r, "predicate 0 is true, and its bit is not set",
                         NULL);
    }
    return 0;
}

static int
take_row(const struct reader *r, char *cells[COLUMNS], struct bundle_row *b)
{
    uint64_t v[COLUMNS];

    for (enum column c = COLUMN_IP; c < COLUMN_EA; c++) {
        const int error = cell_value(r, c, cells[c], &v[c]);
        if (error != 0)
            return error;
    }
    if ((v[COLUMN_IP] & 15) != 0)
        return wrong(r, "a bundle stands at a multiple of 10, not at",
                     cells[COLUMN_IP]);
    *b = (struct bundle_row){.ip = v[COLUMN_IP],
                             .on = (uint8_t)v[COLUMN_PREDICATE],
                             .taken = (uint8_t)v[COLUMN_TAKEN]};
    b->count =
        ia64_bundle((unsigned)v[COLUMN_TEMPLATE], v + COLUMN_SLOT0, b->insns);
    if (b->count == 0)
        return wrong(r, "reserved template", cells[COLUMN_TEMPLATE]);
    int error = take_taken(r, b);
    if (error == 0)
        error = check_predicates(r, b);
    return error != 0 ? error : take_addresses(r, cells[COLUMN_EA], b);
}

static int
add_row(struct reader *r, char *cells[COLUMNS])
{
    if (r->count == r->room) {
        const size_t room = r->room == 0 ? 64 : 2 * r->room;
        struct bundle_row *const rows =
            reallocarray(r->rows, room, sizeof(*rows));
        if (rows == NULL)
            return tally_fail(r->log, TALLY_ENOMEM, "no memory for %s",
                              shown(r->path, strlen(r->path)).text);
        r->rows = rows;
        r->room = room;
    }
    const int error = take_row(r, cells, &r->rows[r->count]);

    r->count += error == 0;
    return error;
}

static int
read_line(struct reader *r, char *line)
{
    char *cells[COLUMNS];

    line[strcspn(line, "#")] = '\0';
    if (line[strspn(line, BLANKS)] == '\0')
        return 0;
    const int error = cut_cells(r, line, cells);
    if (error != 0)
        return error;
    if (r->headed)
        return add_row(r, cells);
    r->headed = true;
    return check_header(r, cells);
}

static int
read_rows(struct reader *r, FILE *in)
{
    char line[LINE_MAX_BYTES];
    int error = 0;

    while (error == 0 && fgets(line, sizeof(line), in) != NULL) {
        r->line++;
        if (strchr(line, '\n') == NULL && !feof(in))
            return wrong(r, "no line of text of at most 510 characters", NULL);
        error = read_line(r, line);
    }
    if (error == 0 && ferror(in))
        return tally_fail(r->log, TALLY_EIO, "cannot read %s: %s",
                          shown(r->path, strlen(r->path)).text,
                          strerror(errno));
    if (error == 0 && !r->headed)
        return wrong(r, "no header", NULL);
    return error;
}

static uint32_t
flags_of(const struct bundle_row *b, const struct ia64_insn *insn)
{
    const bool taken = (b->taken >> insn->slot & 1) != 0;

    if (insn->type == 'B' && (insn->kinds & IA64_BRANCH) == 0)
        return TALLY_PMU_NO_BRANCH;
    return ((insn->kinds & IA64_RETURN) != 0 ? TALLY_PMU_RETURN : 0U) |
           ((insn->kinds & IA64_INDIRECT) != 0 ? TALLY_PMU_INDIRECT : 0U) |
           (!taken                            ? 0U
            : (insn->kinds & IA64_RFI) != 0   ? TALLY_PMU_RFI
            : (insn->kinds & IA64_CHECK) != 0 ? TALLY_PMU_CHK_FAILED
                                              : TALLY_PMU_TAKEN);
}

/* `next` is the address of the bundle that retires after it. */
static struct tally_pmu_context
context_of(const struct bundle_row *b, size_t i, uint64_t next)
{
    const struct ia64_insn *const insn = &b->insns[i];
    const bool addressed = (b->ea_slot >> i & 1) != 0;

    return (struct tally_pmu_context){
        .pc = b->ip,
        .npc = insn->direct ? b->ip + (uint64_t)insn->offset : next,
        .ea = b->ea[i],
        .opcode = insn->opcode,
        .flags = flags_of(b, insn) | (i > 0 ? TALLY_PMU_SAME_BUNDLE : 0U),
        .cycles = 1,
        .slot = insn->slot,
        .type = (uint8_t)insn->type,
        .known = addressed ? 3 : 1,
    };
}

static void
raise_event(struct pmu_console *c, unsigned strand, const char *name,
            const struct tally_pmu_context *context)
{
    uint32_t signal;

    if (tally_pmu_signal_find(c->pmu, name, &signal) == 0)
        tally_pmu_signal(c->pmu, strand, signal, 1, context);
}

static void
retire_insn(struct pmu_console *c, unsigned strand, const struct bundle_row *b,
            size_t i, uint64_t next)
{
    const struct tally_pmu_context context = context_of(b, i, next);
    const struct ia64_insn *const insn = &b->insns[i];
    const bool on = (b->on >> insn->slot & 1) != 0;

    tally_pmu_retire(c->pmu, strand, 1, &context);
    if (!on && insn->type != 'B')
        raise_event(c, strand, "PREDICATE_SQUASHED_RETIRED", &context);
    if (!on)
        return;
    if ((insn->kinds & IA64_NOP) != 0)
        raise_event(c, strand, "NOPS_RETIRED", &context);
    if ((insn->kinds & IA64_LOAD) != 0)
        raise_event(c, strand, "LOADS_RETIRED", &context);
    if ((insn->kinds & IA64_STORE) != 0)
        raise_event(c, strand, "STORES_RETIRED", &context);
}

static void
retire_rows(struct pmu_console *c, unsigned strand, const struct reader *r)
{
    for (size_t n = 0; n < r->count; n++) {
        const struct bundle_row *const b = &r->rows[n];
        const uint64_t next = n + 1 < r->count ? r->rows[n + 1].ip : 0;

        for (size_t i = 0; i < b->count; i++)
            retire_insn(c, strand, b, i, next);
    }
}

int
pmu_do_bundles(struct pmu_console *c, struct pmu_call *call)
{
    struct reader r = {.path = call->line.words[1], .log = call->log};
    const struct shown name = shown(r.path, strlen(r.path));
    uint64_t cpl;

    snprintf(call->result->name, sizeof(call->result->name), "%s", name.text);
    if (tally_pmu_state(c->pmu, call->strand, TALLY_PMU_CPL, &cpl) != 0)
        return tally_fail(call->log, TALLY_ERULE, "%s has no bundles",
                          c->machine->name);
    errno = ENOSYS;
    FILE *const in =
        c->open_file != NULL ? c->open_file(c->user, r.path) : NULL;
    if (in == NULL)
        return tally_fail(call->log, TALLY_EIO, "cannot read %s: %s", name.text,
                          input_reason(errno));
    const int error = read_rows(&r, in);
    if (error == 0) {
        retire_rows(c, call->strand, &r);
        pmu_traps_text(tally_pmu_pending(c->pmu, call->strand),
                       call->result->text, sizeof(call->result->text));
    }
    fclose(in);
    free(r.rows);
    return error;
}
