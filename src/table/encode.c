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

static struct reg_write *
write_of(struct write_list *list, const struct machine_row *machine,
         uint16_t reg)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].reg == reg)
            return &list->rows[i];
    assert(list->count < WRITES_MAX);
    struct reg_write *w = &list->rows[list->count++];
    w->reg = reg;
    w->value = register_reset(&machine->registers[reg]);
    w->set = 0;
    return w;
}

struct encoder {
    struct write_list *list;
    const struct selection *s;
    struct write_clash *clash;
};

static bool
set_field(const struct encoder *e, uint16_t reg, int field, uint64_t value)
{
    const struct field_row *f = &e->s->machine->registers[reg].fields[field];
    struct reg_write *w = write_of(e->list, e->s->machine, reg);
    const uint64_t bits = field_bits(f);

    if ((w->set & bits) != 0 && field_get(f, w->value) != value) {
        *e->clash = (struct write_clash){
            .reg = reg,
            .field = (uint8_t)field,
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
    return set_field(e, reg, field_find(&m->registers[reg], name), value);
}

/* A field may be the target of several modifiers, each with its bit. */
static bool
set_modifiers(const struct encoder *e, uint16_t reg)
{
    const struct machine_row *m = e->s->machine;

    for (size_t i = 0; i < m->modifier_count; i++) {
        const struct modifier_row *row = &m->modifiers[i];
        uint64_t value = 0;
        bool first = true;
        if (!selection_takes(e->s, row))
            continue;
        for (size_t k = 0; k < m->modifier_count; k++) {
            if (strcmp(m->modifiers[k].field, row->field) != 0)
                continue;
            first = first && k >= i;
            value |= e->s->values[k];
        }
        if (first && !set_named(e, reg, row->field, value))
            return false;
    }
    return true;
}

static bool
set_event(const struct encoder *e, const struct counter_row *c, uint16_t reg)
{
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

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].field >= 0 && parts[i].value >= 0 &&
            !set_field(e, reg, parts[i].field, (uint64_t)parts[i].value))
            return false;
    for (size_t i = 0; i < c->fixed_count; i++)
        if (!set_field(e, reg, c->fixed[i].field, c->fixed[i].value))
            return false;
    return true;
}

bool
encode_add(struct write_list *list, const struct selection *s, size_t counter,
           struct write_clash *clash)
{
    const struct counter_row *c = &s->machine->counters[counter];
    const size_t all = s->machine->units[c->unit].instance_count;
    const struct encoder e = {list, s, clash};

    if (c->select == NULL)
        return true;
    for (size_t i = 0; i < (all > 0 ? all : 1); i++) {
        if (s->instance >= 0 && (size_t)s->instance != i)
            continue;
        if (!set_event(&e, c, c->select[i]) || !set_modifiers(&e, c->select[i]))
            return false;
    }
    return true;
}
