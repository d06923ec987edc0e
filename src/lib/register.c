/* SPDX-License-Identifier: MIT */
#include <assert.h>

#include "lib/internal.h"
#include "tally/event.h"

static_assert((int)TALLY_READ_WRITE == (int)ACCESS_RW &&
                  (int)TALLY_READ_ONLY == (int)ACCESS_RO &&
                  (int)TALLY_WRITE_ONLY == (int)ACCESS_WO &&
                  (int)TALLY_WRITE_ZERO == (int)ACCESS_RW0 &&
                  (int)TALLY_IGNORED == (int)ACCESS_IGN &&
                  (int)TALLY_RESERVED == (int)ACCESS_RSVD,
              "public and internal accesses are one");

static const struct register_row *
register_row(const struct tally_register *row)
{
    return (const struct register_row *)row;
}

const struct tally_register *
tally_register_find(const struct tally_machine *machine, const char *name)
{
    return (const struct tally_register *)register_find(machine_row(machine),
                                                        name);
}

const struct tally_register *
tally_register_next(const struct tally_machine *machine,
                    const struct tally_register *row)
{
    const struct machine_row *m = machine_row(machine);
    const size_t next =
        row ? (size_t)(register_row(row) - m->registers) + 1 : 0;

    return next < m->register_count
               ? (const struct tally_register *)&m->registers[next]
               : NULL;
}

const char *
tally_register_name(const struct tally_register *row)
{
    return register_row(row)->name;
}

const char *
tally_register_brief(const struct tally_register *row)
{
    return register_row(row)->brief;
}

int32_t
tally_register_number(const struct tally_register *row)
{
    return register_row(row)->number;
}

int
tally_register_field(const struct tally_register *row, size_t index,
                     struct tally_field *field)
{
    const struct register_row *r = register_row(row);

    if (index >= r->field_count)
        return TALLY_ERANGE;
    const struct field_row *f = &r->fields[index];
    *field = (struct tally_field){
        .name = f->name,
        .brief = f->brief,
        .low = f->low,
        .width = f->width,
        .access = (enum tally_access)f->access,
        .has_reset = f->has_reset,
        .reset = f->has_reset ? f->reset : 0,
    };
    return 0;
}
