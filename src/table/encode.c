/* SPDX-License-Identifier: MIT */
#include "table/encode.h"

#include <assert.h>
#include <string.h>

uint64_t
field_bits(const struct field_row *field)
{
    const uint64_t ones =
        field->width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << field->width) - 1;

    return ones << field->low;
}

uint64_t
field_get(const struct field_row *field, uint64_t value)
{
    return (value & field_bits(field)) >> field->low;
}

uint64_t
register_reset(const struct register_row *row)
{
    uint64_t value = 0;

    for (size_t i = 0; i < row->field_count; i++)
        if (row->fields[i].has_reset)
            value |= row->fields[i].reset << row->fields[i].low;
    return value;
}

const char *
modifier_field(const struct machine_row *machine, const struct counter_row *c,
               const struct modifier_row *modifier)
{
    const ptrdiff_t row = modifier - machine->modifiers;

    for (size_t i = 0; i < c->modifier_count; i++)
        if (c->modifiers[i].modifier == row)
            return c->modifiers[i].field;
    return modifier->field;
}

uint32_t
modifier_bits(const struct modifier_row *modifier, uint32_t value)
{
    return modifier->inverted ? value ^ modifier->value : value;
}

/* Returns the write of the register, or adds one: in front of the registers
 * that enable counters, or, if `enables`, behind all others. */
static struct reg_write *
write_of(struct write_list *list, const struct machine_row *machine,
         uint16_t reg, bool enables)
{
    size_t at = list->count;

    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].reg == reg)
            return &list->rows[i];
    assert(list->count < WRITES_MAX);
    while (!enables && at > 0 && list->rows[at - 1].enables)
        at--;
    memmove(&list->rows[at + 1], &list->rows[at],
            (list->count - at) * sizeof(*list->rows));
    list->count++;
    list->rows[at] = (struct reg_write){
        .value = register_reset(&machine->registers[reg]),
        .reg = reg,
        .enables = enables,
    };
    return &list->rows[at];
}

struct encoder {
    struct write_list *list;
    const struct selection *s;
    const struct counter_row *counter;
    struct write_clash *clash;
};

/* A field that a selection needs, and its value. */
struct setting {
    uint16_t reg;
    int field;
    uint64_t value;
    bool enables; /* the register enables counters that others select */
};

static bool
set_field(const struct encoder *e, const struct setting *s)
{
    const struct field_row *f =
        &e->s->machine->registers[s->reg].fields[s->field];
    struct reg_write *w = write_of(e->list, e->s->machine, s->reg, s->enables);
    const uint64_t value = s->value;
    const uint64_t bits = field_bits(f);

    if ((w->set & bits) != 0 && field_get(f, w->value) != value) {
        *e->clash = (struct write_clash){
            .reg = s->reg,
            .field = (uint8_t)s->field,
            .old = (uint32_t)field_get(f, w->value),
            .wanted = (uint32_t)value,
        };
        return false;
    }
    assert((value << f->low & ~bits) == 0);
    w->value = (w->value & ~bits) | value << f->low;
    w->set |= bits;
    return true;
}

/* "REGISTER.FIELD", or a field of the counter's own register. */
static bool
set_named(const struct encoder *e, uint16_t reg, const char *name,
          uint64_t value)
{
    const char *dot = strrchr(name, '.');
    const struct machine_row *m = e->s->machine;
    char other[64];

    if (dot != NULL) {
        const size_t length = (size_t)(dot - name);
        assert(length < sizeof(other));
        memcpy(other, name, length);
        other[length] = '\0';
        const struct register_row *row = register_find(m, other);
        assert(row != NULL);
        reg = (uint16_t)(row - m->registers);
        name = dot + 1;
    }
    const struct setting s = {
        .reg = reg,
        .field = field_find(&m->registers[reg], name),
        .value = value,
    };
    return set_field(e, &s);
}

/* A field may be the target of several modifiers, each with its bit. */
static bool
set_modifiers(const struct encoder *e, uint16_t reg)
{
    const struct machine_row *m = e->s->machine;

    for (size_t i = 0; i < m->modifier_count; i++) {
        const struct modifier_row *row = &m->modifiers[i];
        const char *field = modifier_field(m, e->counter, row);
        uint64_t value = 0;
        bool first = true;
        if (!selection_takes(e->s, row))
            continue;
        for (size_t k = 0; k < m->modifier_count; k++) {
            const struct modifier_row *other = &m->modifiers[k];
            if (strcmp(modifier_field(m, e->counter, other), field) != 0)
                continue;
            first = first && k >= i;
            value |= modifier_bits(other, e->s->values[k]);
        }
        if (first && !set_named(e, reg, field, value))
            return false;
    }
    return true;
}

static bool
set_event(const struct encoder *e, uint16_t reg)
{
    const struct counter_row *c = e->counter;
    const struct selection *s = e->s;
    const struct {
        int field, value;
    } parts[] = {
        {c->sl_field, s->sl},
        {c->mask_field, s->mask},
        {c->code_field, s->event != NULL ? s->event->code : -1},
        {c->number_field, s->event != NULL ? s->event->number - c->base : -1},
        {c->umask_field, s->umask_value},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const struct setting one = {
            .reg = reg,
            .field = parts[i].field,
            .value = (uint64_t)parts[i].value,
        };
        if (parts[i].field >= 0 && parts[i].value >= 0 && !set_field(e, &one))
            return false;
    }
    return true;
}

/* Sets the fields that let the counter count, whatever its event is. */
static bool
set_fixed(const struct encoder *e, uint16_t reg)
{
    for (size_t i = 0; i < e->counter->fixed_count; i++) {
        const struct field_value *fixed = &e->counter->fixed[i];
        const struct setting one = {
            .reg = fixed->reg >= 0 ? (uint16_t)fixed->reg : reg,
            .field = fixed->field,
            .value = fixed->value,
            .enables = fixed->reg >= 0,
        };
        if (!set_field(e, &one))
            return false;
    }
    return true;
}

bool
encode_add(struct write_list *list, const struct selection *s, size_t counter,
           struct write_clash *clash)
{
    const struct counter_row *c = &s->machine->counters[counter];
    const size_t all = s->machine->units[c->unit].instance_count;
    const struct encoder e = {list, s, c, clash};

    if (c->select == NULL)
        return true;
    for (size_t i = 0; i < (all > 0 ? all : 1); i++) {
        if (s->instance >= 0 && (size_t)s->instance != i)
            continue;
        if (!set_event(&e, c->select[i]) || !set_modifiers(&e, c->select[i]) ||
            !set_fixed(&e, c->select[i]))
            return false;
    }
    return true;
}
