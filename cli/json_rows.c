/* SPDX-License-Identifier: MIT */
#include "cli/json_rows.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/needs.h"
#include "cli/rows_text.h"
#include "cli/selected.h"
#include "table/umask.h"

json_t *
json_texts(const char *const *words)
{
    json_t *array = json_array();

    for (; words != NULL && *words != NULL; words++)
        json_array_append_new(array, json_string(*words));
    return array;
}

void
json_set_text(json_t *o, const char *key, const char *text)
{
    if (text != NULL)
        json_object_set_new(o, key, json_string(text));
}

static void
set_number(json_t *o, const char *key, long value)
{
    if (value >= 0)
        json_object_set_new(o, key, json_integer(value));
}

static void
set_count(json_t *o, const char *key, size_t value)
{
    json_object_set_new(o, key, json_integer((json_int_t)value));
}

/* -1: the machine has no such thing. */
static void
set_flag(json_t *o, const char *key, int value)
{
    if (value >= 0)
        json_object_set_new(o, key, json_boolean(value));
}

static void
set_hex(json_t *o, const char *key, bool has, uint64_t value)
{
    char text[24];

    if (!has)
        return;
    snprintf(text, sizeof(text), "0x%" PRIx64, value);
    json_object_set_new(o, key, json_string(text));
}

int
json_print_rows(const char *key, json_t *rows,
                const struct machine_row *machine, json_t *software,
                json_t *generic)
{
    json_t *o = json_object();

    json_object_set_new(o, "schema", json_integer(1));
    json_set_text(o, "machine", machine != NULL ? machine->name : NULL);
    json_object_set_new(o, key, rows);
    if (software != NULL)
        json_object_set_new(o, "software", software);
    if (generic != NULL)
        json_object_set_new(o, "generic", generic);
    return json_print(o);
}

/* Returns the names of the counters of the bits. */
static json_t *
counter_names(const struct machine_row *m, uint32_t bits)
{
    json_t *array = json_array();

    for (size_t i = 0; i < m->counter_count; i++)
        if ((bits >> i & 1) != 0)
            json_array_append_new(array, json_string(m->counters[i].name));
    return array;
}

/* Returns the number in the name of the only counter; -1 where others will do.
 */
static int
only_counter(const struct machine_row *m, const struct event_row *e)
{
    const uint32_t bits = e->counters;

    if (__builtin_popcount(bits) != 1 || bits == counters_of_unit(m, e->unit))
        return -1;
    const char *name = m->counters[__builtin_ctz(bits)].name;
    const char *digits = name + strlen(name);
    while (digits > name && isdigit((unsigned char)digits[-1]))
        digits--;
    return *digits != '\0' ? atoi(digits) : -1;
}

static json_t *
umask_json(const struct machine_row *m, const struct event_row *e,
           const struct umask_row *u)
{
    const struct event_row *counted =
        u->counted < 0 ? e : umask_counted(m, e, u);
    json_t *o = json_object();

    json_set_text(o, "name", u->name);
    json_set_text(o, "pattern", u->pattern);
    set_flag(o, "counts", u->counts == UMASK_YES);
    json_set_text(o, "why", umask_why(u));
    json_set_text(o, "brief", u->brief);
    if (u->counts == UMASK_YES) {
        json_set_text(o, "fidelity", fidelity_name(counted->fidelity));
        json_set_text(o, "reason", counted->reason);
    }
    return o;
}

static json_t *
umasks_json(const struct machine_row *m, const struct event_row *e)
{
    json_t *array = json_array();

    for (size_t i = 0; i < e->umask_count; i++)
        json_array_append_new(array, umask_json(m, e, &e->umasks[i]));
    return array;
}

static bool
has_mesi(const struct machine_row *m)
{
    for (size_t i = 0; i < m->modifier_count; i++)
        if (m->modifiers[i].needs == NEEDS_MESI)
            return true;
    return false;
}

static bool
has_umasks(const struct machine_row *m)
{
    for (size_t i = 0; i < m->event_count; i++)
        if (m->events[i].umask_count > 0)
            return true;
    return false;
}

/* How the event is chosen. */
static void
set_choice(json_t *o, const struct machine_row *m, const struct event_row *e)
{
    set_hex(o, "code", e->code >= 0, (uint64_t)e->code);
    set_hex(o, "sl", e->sl >= 0, (uint64_t)e->sl);
    set_hex(o, "mask", e->mask >= 0, (uint64_t)e->mask);
    set_number(o, "number", e->number);
    set_number(o, "counter", only_counter(m, e));
    if (m->counter_count > 0)
        json_object_set_new(o, "counters", counter_names(m, e->counters));
    if (e->umask_count > 0 || has_umasks(m))
        json_object_set_new(o, "umasks", umasks_json(m, e));
}

json_t *
event_json(const struct machine_row *m, const struct event_row *e)
{
    const char type[2] = {e->type, '\0'};
    json_t *o = json_object();

    json_set_text(o, "name", e->name);
    json_object_set_new(o, "aliases", json_texts(e->aliases));
    json_set_text(o, "unit", e->unit);
    set_choice(o, m, e);
    set_flag(o, "iar", e->iar);
    set_flag(o, "dar", e->dar);
    set_flag(o, "opc", e->opc);
    set_number(o, "max_inc", e->max_inc);
    json_set_text(o, "type", type[0] != '\0' ? type : NULL);
    json_set_text(o, "category", e->category);
    set_number(o, "l1d_set", e->l1d_set);
    set_number(o, "l2d_set", e->l2d_set);
    set_flag(o, "mesi", has_mesi(m) ? e->mesi : -1);
    set_flag(o, "all", e->all);
    set_flag(o, "precise", e->precise);
    set_flag(o, "strand_specific", e->strand_specific);
    json_set_text(o, "brief", e->brief);
    json_set_text(o, "counts", e->counts);
    json_set_text(o, "reference", e->reference);
    json_set_text(o, "fidelity", fidelity_name(e->fidelity));
    json_set_text(o, "reason", e->reason);
    return o;
}

json_t *
software_json(const struct event_row *e)
{
    json_t *o = json_object();

    json_set_text(o, "name", e->name);
    json_object_set_new(o, "aliases", json_texts(e->aliases));
    json_set_text(o, "unit", e->unit);
    json_set_text(o, "brief", e->brief);
    json_set_text(o, "reference", e->reference);
    json_set_text(o, "fidelity", "emulator");
    json_set_text(o, "source", "kernel");
    return o;
}

static json_t *
field_json(const struct field_row *f)
{
    char bits[BITS_TEXT];
    json_t *o = json_object();

    bits_text(f, bits, sizeof(bits));
    json_set_text(o, "name", f->name);
    json_set_text(o, "bits", bits);
    set_hex(o, "reset", f->has_reset, f->reset);
    json_set_text(o, "access", access_name(f->access));
    return o;
}

json_t *
register_json(const struct register_row *r)
{
    json_t *o = json_object();
    json_t *fields = json_array();

    for (size_t i = 0; i < r->field_count; i++)
        json_array_append_new(fields, field_json(&r->fields[i]));
    json_set_text(o, "name", r->name);
    json_object_set_new(o, "aliases", json_texts(r->aliases));
    json_set_text(o, "group", r->group);
    set_number(o, "number", r->number);
    json_set_text(o, "address", r->address);
    set_hex(o, "local_address", r->has_local, r->local_address);
    set_hex(o, "global_address", r->has_global, r->global_address);
    json_set_text(o, "access", r->access);
    json_object_set_new(o, "fields", fields);
    json_set_text(o, "brief", r->brief);
    json_set_text(o, "reference", r->reference);
    return o;
}

/* Returns for each group its counters, in the order of the group's events. */
static json_t *
plan_json(const struct machine_row *m, const struct needs *n)
{
    json_t *groups = json_array();

    for (size_t g = 0; g < n->plan.group_count; g++) {
        json_t *names = json_array();
        for (size_t i = 0; i < n->count; i++)
            if (n->plan.rows[i].group == g)
                json_array_append_new(
                    names,
                    json_string(m->counters[n->plan.rows[i].counter].name));
        json_array_append_new(groups, names);
    }
    return groups;
}

static void
set_needs(json_t *o, const struct machine_row *m, const struct metric_row *row)
{
    const uint64_t wanted = metric_inputs(row);
    json_t *events = json_array(), *inputs = json_array();
    struct needs n = {0};
    char text[SELECTION_TEXT];

    needs_of(m, row, &n);
    for (size_t i = 0; i < n.count; i++) {
        selection_text(&n.list[i], text, sizeof(text));
        json_array_append_new(events, json_string(text));
    }
    for (size_t i = 0; i < m->input_count; i++)
        if ((wanted >> i & 1) != 0)
            json_array_append_new(inputs, json_string(m->inputs[i].name));
    json_object_set_new(o, "events", events);
    json_object_set_new(o, "inputs", inputs);
    if (n.plan.group_count > 0) {
        set_count(o, "groups", n.plan.group_count);
        json_object_set_new(o, "counters", plan_json(m, &n));
    }
    needs_finish(&n);
}

json_t *
metric_json(const struct machine_row *m, const struct metric_row *row)
{
    json_t *o = json_object();

    json_set_text(o, "name", row->name);
    json_object_set_new(o, "aliases", json_texts(row->aliases));
    json_set_text(o, "formula", row->formula);
    json_set_text(o, "unit", row->unit);
    set_needs(o, m, row);
    json_set_text(o, "brief", row->brief);
    json_set_text(o, "read", row->read);
    json_set_text(o, "printed", row->printed);
    json_set_text(o, "reference", row->reference);
    return o;
}

static json_t *
units_json(const struct machine_row *m)
{
    json_t *array = json_array();

    for (size_t i = 0; i < m->unit_count; i++) {
        const struct unit_row *u = &m->units[i];
        json_t *o = json_object();
        json_set_text(o, "name", u->name);
        json_set_text(o, "brief", u->brief);
        json_set_text(o, "scope", u->scope);
        if (u->instance_count > 0)
            json_object_set_new(o, "instances", json_texts(u->instances));
        json_set_text(o, "elsewhere", u->elsewhere);
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *
counters_json(const struct machine_row *m)
{
    json_t *array = json_array();

    for (size_t i = 0; i < m->counter_count; i++) {
        const struct counter_row *c = &m->counters[i];
        json_t *o = json_object();
        json_set_text(o, "name", c->name);
        json_set_text(o, "unit", m->units[c->unit].name);
        set_number(o, "bits", c->bits);
        json_array_append_new(array, o);
    }
    return array;
}

json_t *
machine_json(const struct machine_row *m)
{
    json_t *o = json_object();

    json_set_text(o, "name", m->name);
    json_object_set_new(o, "aliases", json_texts(m->aliases));
    json_set_text(o, "title", m->title);
    json_object_set_new(o, "isas", json_texts(m->isas));
    set_flag(o, "model", m->params != NULL);
    set_count(o, "events", m->event_count);
    set_count(o, "umasks", counted_umasks(m));
    set_count(o, "registers", m->register_count);
    set_count(o, "metrics", m->metric_count);
    json_object_set_new(o, "units", units_json(m));
    json_object_set_new(o, "counters", counters_json(m));
    return o;
}
