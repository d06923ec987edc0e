/* SPDX-License-Identifier: MIT */
#include "record/breakdown_field.h"

#include <inttypes.h>
#include <stdio.h>

#define BIT(field) (1u << (field))
#define OF_USES                                                 \
    (BIT(BREAKDOWN_FIELD_LOADS) | BIT(BREAKDOWN_FIELD_STORES) | \
     BIT(BREAKDOWN_FIELD_FETCHED_BYTES) | BIT(BREAKDOWN_FIELD_TOUCHED_BYTES))

static const char *const names[BREAKDOWN_FIELDS] = {
    [BREAKDOWN_FIELD_FUNCTION] = "function",
    [BREAKDOWN_FIELD_FUNCTION_FILE] = "function_file",
    [BREAKDOWN_FIELD_IMAGE] = "image",
    [BREAKDOWN_FIELD_OFFSET] = "offset",
    [BREAKDOWN_FIELD_FILE] = "file",
    [BREAKDOWN_FIELD_LINE] = "line",
    [BREAKDOWN_FIELD_PROCESS] = "process",
    [BREAKDOWN_FIELD_PID] = "pid",
    [BREAKDOWN_FIELD_PROGRAM] = "program",
    [BREAKDOWN_FIELD_THREAD] = "thread",
    [BREAKDOWN_FIELD_CALLER] = "caller",
    [BREAKDOWN_FIELD_OBJECT] = "object",
    [BREAKDOWN_FIELD_OBJECT_KIND] = "object_kind",
    [BREAKDOWN_FIELD_ALLOCATIONS] = "allocations",
    [BREAKDOWN_FIELD_ALLOCATED_BYTES] = "allocated_bytes",
    [BREAKDOWN_FIELD_LOADS] = "loads",
    [BREAKDOWN_FIELD_STORES] = "stores",
    [BREAKDOWN_FIELD_FETCHED_BYTES] = "fetched_bytes",
    [BREAKDOWN_FIELD_TOUCHED_BYTES] = "touched_bytes",
};

/* The fields of each key. */
static const unsigned fields_of[BREAKDOWN_KEYS] = {
    [BREAKDOWN_FUNCTION] = BIT(BREAKDOWN_FIELD_FUNCTION) |
                           BIT(BREAKDOWN_FIELD_FUNCTION_FILE) |
                           BIT(BREAKDOWN_FIELD_IMAGE),
    [BREAKDOWN_LINE] = BIT(BREAKDOWN_FIELD_FILE) | BIT(BREAKDOWN_FIELD_LINE),
    [BREAKDOWN_INSTRUCTION] = BIT(BREAKDOWN_FIELD_FUNCTION) |
                              BIT(BREAKDOWN_FIELD_IMAGE) |
                              BIT(BREAKDOWN_FIELD_OFFSET),
    [BREAKDOWN_FILE] = BIT(BREAKDOWN_FIELD_FILE),
    [BREAKDOWN_IMAGE] = BIT(BREAKDOWN_FIELD_IMAGE),
    [BREAKDOWN_THREAD] =
        BIT(BREAKDOWN_FIELD_PROCESS) | BIT(BREAKDOWN_FIELD_PID) |
        BIT(BREAKDOWN_FIELD_PROGRAM) | BIT(BREAKDOWN_FIELD_THREAD),
    [BREAKDOWN_PROCESS] = BIT(BREAKDOWN_FIELD_PROCESS) |
                          BIT(BREAKDOWN_FIELD_PID) |
                          BIT(BREAKDOWN_FIELD_PROGRAM),
    [BREAKDOWN_CALLER] = BIT(BREAKDOWN_FIELD_CALLER),
    [BREAKDOWN_OBJECT] = BIT(BREAKDOWN_FIELD_OBJECT) |
                         BIT(BREAKDOWN_FIELD_OBJECT_KIND) |
                         BIT(BREAKDOWN_FIELD_ALLOCATIONS) |
                         BIT(BREAKDOWN_FIELD_ALLOCATED_BYTES) | OF_USES,
};

size_t
breakdown_fields(const struct breakdown *b,
                 enum breakdown_field fields[BREAKDOWN_FIELDS])
{
    /* Fields that are left out count as written. */
    unsigned written = b->record->has_uses ? 0 : OF_USES;
    size_t count = 0;

    for (size_t i = 0; i < b->options.key_count; i++)
        for (int f = 0; f < BREAKDOWN_FIELDS; f++)
            if ((fields_of[b->options.keys[i]] & BIT(f) & ~written) != 0) {
                written |= BIT(f);
                fields[count++] = (enum breakdown_field)f;
            }
    return count;
}

const char *
breakdown_field_name(enum breakdown_field field)
{
    return names[field];
}

static void
set_number(struct breakdown_cell *cell, uint64_t number)
{
    cell->is_number = true;
    cell->number = number;
}

void
breakdown_field_cell(const struct breakdown *b, const struct breakdown_row *row,
                     enum breakdown_field field, struct breakdown_cell *cell)
{
    const struct breakdown_place *p = &row->place;
    const struct record_process_row *process =
        &b->record->processes[row->process];
    const uint32_t texts[] = {
        [BREAKDOWN_FIELD_FUNCTION] = p->function,
        [BREAKDOWN_FIELD_FUNCTION_FILE] = p->function_file,
        [BREAKDOWN_FIELD_IMAGE] = p->image,
        [BREAKDOWN_FIELD_OFFSET] = 0,
        [BREAKDOWN_FIELD_FILE] = p->file,
    };

    *cell = (struct breakdown_cell){0};
    switch (field) {
    case BREAKDOWN_FIELD_OBJECT:
        cell->text = b->objects.rows[p->object].text;
        return;
    case BREAKDOWN_FIELD_OBJECT_KIND:
        cell->text = object_names_kind(b->objects.rows[p->object].kind);
        return;
    case BREAKDOWN_FIELD_ALLOCATIONS:
    case BREAKDOWN_FIELD_ALLOCATED_BYTES:
        cell->is_number = b->objects.rows[p->object].kind == RECORD_HEAP;
        cell->number = field == BREAKDOWN_FIELD_ALLOCATIONS
                           ? b->objects.rows[p->object].allocations
                           : b->objects.rows[p->object].bytes;
        return;
    case BREAKDOWN_FIELD_LOADS:
        set_number(cell, b->objects.rows[p->object].used.loads);
        return;
    case BREAKDOWN_FIELD_STORES:
        set_number(cell, b->objects.rows[p->object].used.stores);
        return;
    case BREAKDOWN_FIELD_FETCHED_BYTES:
        set_number(cell, b->objects.rows[p->object].used.fetched);
        return;
    case BREAKDOWN_FIELD_TOUCHED_BYTES:
        set_number(cell, b->objects.rows[p->object].used.touched);
        return;
    case BREAKDOWN_FIELD_OFFSET:
        snprintf(cell->digits, sizeof(cell->digits), "0x%" PRIx64, p->offset);
        cell->text = cell->digits;
        return;
    case BREAKDOWN_FIELD_LINE:
        cell->is_number = p->line != 0;
        cell->number = p->line;
        return;
    case BREAKDOWN_FIELD_PROCESS:
        cell->is_number = true;
        cell->number = process->number;
        return;
    case BREAKDOWN_FIELD_PID:
        cell->is_number = true;
        cell->number = (unsigned)process->pid;
        return;
    case BREAKDOWN_FIELD_PROGRAM:
        cell->text = process->program;
        return;
    case BREAKDOWN_FIELD_CALLER:
        cell->text = breakdown_caller(b, p);
        return;
    case BREAKDOWN_FIELD_THREAD:
        cell->is_number = true;
        cell->number = row->thread;
        return;
    default:
        if (texts[field] != 0)
            cell->text = resolver_text(b->resolver, texts[field]);
    }
}
