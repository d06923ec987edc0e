/* SPDX-License-Identifier: MIT */
#include "record/annotation.h"

#include <stdlib.h>
#include <string.h>

/* What is added up, and where it goes. */
struct adding {
    const struct record *record;
    struct resolver *resolver;
    struct annotation *annotation;
    const size_t *events;
};

/* Returns the frame by which the instruction is one of those that are
 * annotated, or NULL: it is not. */
static const struct resolved_frame *
frame_of(const struct annotation *a, const struct resolved *r)
{
    if (a->kind == ANNOTATE_FILE)
        return r->frames[0].file == a->name ? &r->frames[0] : NULL;
    if (a->kind == ANNOTATE_IMAGE)
        return r->image == a->name &&
                       r->frames[r->frame_count - 1].function == 0
                   ? &r->frames[0]
                   : NULL;
    for (size_t i = 0; i < r->frame_count; i++) {
        if (r->frames[i].function == a->name)
            return &r->frames[i];
    }
    return NULL;
}

/* Adds a place for each instruction that ran or that is in the record. */
static int
add_insns(struct adding *x)
{
    struct annotation *a = x->annotation;
    size_t room = 0;

    for (size_t p = 0; p < x->record->process_count; p++) {
        const struct record_process_row *process = &x->record->processes[p];
        for (size_t i = 0; i < process->insn_count; i++) {
            const struct record_insn *insn = &process->insns[i];
            const struct resolved *known = resolver_find(x->resolver, p, i);
            const struct resolved_frame *frame = frame_of(a, known);
            if (frame == NULL)
                continue;
            a->has_copies |= frame != known->frames;
            if (a->insn_count == room) {
                room = room != 0 ? 2 * room : 256;
                struct annotated_insn *insns =
                    reallocarray(a->insns, room, sizeof(*insns));
                if (insns == NULL)
                    return TALLY_ENOMEM;
                a->insns = insns;
            }
            a->insns[a->insn_count] = (struct annotated_insn){
                .image = insn->image,
                .offset = insn->offset,
                .address = known->file_address != UINT64_MAX
                               ? known->file_address
                               : insn->address,
                .file = frame->file,
                .line = frame->line,
                .code = process->code + insn->code,
                .size = insn->size,
                .values = calloc(a->event_count + 1, sizeof(int64_t)),
            };
            if (a->insns[a->insn_count++].values == NULL)
                return TALLY_ENOMEM;
        }
    }
    return 0;
}

static int
compare_insns(const void *x, const void *y)
{
    const struct annotated_insn *a = x, *b = y;

    if (a->image != b->image)
        return a->image < b->image ? -1 : 1;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return memcmp(a->code, b->code, a->size);
}

/* Joins what several processes have of one instruction. */
static void
join_insns(struct annotation *a)
{
    size_t kept = 0;

    if (a->insn_count > 1)
        qsort(a->insns, a->insn_count, sizeof(*a->insns), compare_insns);
    for (size_t i = 0; i < a->insn_count; i++) {
        if (kept > 0 && compare_insns(&a->insns[kept - 1], &a->insns[i]) == 0)
            free(a->insns[i].values);
        else
            a->insns[kept++] = a->insns[i];
    }
    a->insn_count = kept;
}

/* Adds a thread's values of all events to the instructions. */
static void
add_thread(struct adding *x, const struct record_counts_row *t)
{
    struct annotation *a = x->annotation;
    const struct record_process_row *p = &x->record->processes[t->process];

    for (size_t e = 0; e < a->event_count; e++) {
        struct record_walk walk;
        int64_t value;
        size_t i;
        record_walk_begin(&walk, t, x->events[e]);
        while (record_walk_next(&walk, &i, &value)) {
            const struct record_insn *insn = &p->insns[t->insns[i]];
            if (frame_of(a, resolver_find(x->resolver, t->process,
                                          t->insns[i])) == NULL)
                continue;
            const struct annotated_insn wanted = {
                .image = insn->image,
                .offset = insn->offset,
                .code = p->code + insn->code,
                .size = insn->size,
            };
            struct annotated_insn *found =
                bsearch(&wanted, a->insns, a->insn_count, sizeof(wanted),
                        compare_insns);
            if (found == NULL)
                continue;
            found->values[e] += value;
            a->totals[e] += value;
        }
    }
}

/* Adds the values of all threads. */
static void
add_values(struct adding *x)
{
    for (size_t c = 0; c < x->record->counts_count; c++)
        add_thread(x, &x->record->counts[c]);
}

static int
compare_lines(const void *x, const void *y)
{
    const struct annotated_line *a = x, *b = y;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Adds the instructions up by line. */
static int
add_lines(struct annotation *a)
{
    size_t kept = 0;

    a->lines = calloc(a->insn_count + 1, sizeof(*a->lines));
    if (a->lines == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < a->insn_count; i++) {
        struct annotated_line *line = &a->lines[a->line_count++];
        line->file = a->insns[i].file;
        line->line = a->insns[i].line;
        line->values = malloc((a->event_count + 1) * sizeof(int64_t));
        if (line->values == NULL)
            return TALLY_ENOMEM;
        memcpy(line->values, a->insns[i].values,
               a->event_count * sizeof(int64_t));
    }
    if (a->line_count > 1)
        qsort(a->lines, a->line_count, sizeof(*a->lines), compare_lines);
    for (size_t i = 0; i < a->line_count; i++) {
        if (kept == 0 || compare_lines(&a->lines[kept - 1], &a->lines[i])) {
            a->lines[kept++] = a->lines[i];
            continue;
        }
        for (size_t e = 0; e < a->event_count; e++)
            a->lines[kept - 1].values[e] += a->lines[i].values[e];
        free(a->lines[i].values);
    }
    a->line_count = kept;
    return 0;
}

int
annotation_create(const struct record *record, struct resolver *resolver,
                  uint32_t name, enum annotation_kind kind,
                  const size_t *events, size_t event_count,
                  const struct tally_log *log, struct annotation **result)
{
    struct annotation *a = calloc(1, sizeof(*a));
    struct adding x = {record, resolver, a, events};
    int error = TALLY_ENOMEM;

    if (a != NULL) {
        a->name = name;
        a->kind = kind;
        a->event_count = event_count;
        a->totals = calloc(event_count + 1, sizeof(*a->totals));
        if (a->totals != NULL)
            error = add_insns(&x);
    }
    if (error == 0) {
        join_insns(a);
        add_values(&x);
        error = add_lines(a);
    }
    if (error != 0) {
        annotation_destroy(a);
        return tally_fail(log, error, "no memory to annotate");
    }
    *result = a;
    return 0;
}

void
annotation_destroy(struct annotation *a)
{
    if (a == NULL)
        return;
    for (size_t i = 0; i < a->insn_count; i++)
        free(a->insns[i].values);
    for (size_t i = 0; i < a->line_count; i++)
        free(a->lines[i].values);
    free(a->insns);
    free(a->lines);
    free(a->totals);
    free(a);
}

/* Lines of one file, handed on. */
struct code_lines {
    uint32_t file;
    void (*take)(void *user, unsigned line);
    void *user;
};

static void
take_code_line(void *user, uint32_t file, uint32_t line)
{
    const struct code_lines *c = user;

    if (file == c->file)
        c->take(c->user, line);
}

static void
each_line_of_function(const struct annotation *a, const struct record *record,
                      struct resolver *resolver, struct code_lines *c)
{
    uint64_t last = UINT64_MAX;

    for (size_t p = 0; p < record->process_count; p++) {
        for (size_t i = 0; i < record->processes[p].insn_count; i++) {
            const struct resolved *known = resolver_find(resolver, p, i);
            const size_t outer = known->frame_count - 1;
            if (known->frames[outer].function != a->name ||
                known->function_offset == last ||
                known->function_offset == UINT64_MAX)
                continue;
            last = known->function_offset;
            resolver_code_lines(resolver, record->processes[p].insns[i].image,
                                last, a->name, take_code_line, c);
        }
    }
}

void
annotation_each_code_line(const struct annotation *a,
                          const struct record *record,
                          struct resolver *resolver, uint32_t file,
                          void (*take)(void *user, unsigned line), void *user)
{
    struct code_lines c = {file, take, user};

    if (a->kind == ANNOTATE_FUNCTION)
        each_line_of_function(a, record, resolver, &c);
    for (size_t i = 0; a->kind == ANNOTATE_FILE && i < a->insn_count; i++)
        if (i == 0 || a->insns[i].image != a->insns[i - 1].image)
            resolver_source_lines(resolver, a->insns[i].image, file, take,
                                  user);
}

const struct annotated_line *
annotation_line(const struct annotation *a, uint32_t file, uint32_t line)
{
    const struct annotated_line wanted = {.file = file, .line = line};

    return a->line_count > 0 ? bsearch(&wanted, a->lines, a->line_count,
                                       sizeof(wanted), compare_lines)
                             : NULL;
}
