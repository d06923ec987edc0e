/* SPDX-License-Identifier: MIT */
#include "table/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "table/plan.h"
#include "table/sets.h"
#include "table/umask.h"

#define LINE_SIZE 320
#define COUNTERS_MAX 32 /* of a machine */
#define ISM_ITANIUM 2   /* the only instruction set mask that is defined */

struct decoder {
    const struct machine_row *machine;
    const struct register_row *row;
    uint64_t value;
    const struct decode_sink *sink;
    bool all_off; /* no counter of the register counts in any mode */
};

__attribute__((format(printf, 2, 3))) static void
warn(const struct decode_sink *sink, const char *format, ...)
{
    char text[LINE_SIZE];
    va_list args;

    if (sink->warning == NULL)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    sink->warning(sink->user, text);
}

static void
check_field(const struct decoder *d, const struct field_row *f)
{
    const uint64_t value = field_get(f, d->value);
    const char *reg = d->row->name;

    if (f->access == ACCESS_RW0 && value != 0)
        warn(d->sink,
             "%s.%s: can be written 0 only; a written 1 leaves it as it is",
             reg, f->name);
    else if (f->access == ACCESS_IGN && value != 0)
        warn(d->sink, "%s.%s: writes are ignored, it reads 0", reg, f->name);
    else if (f->access == ACCESS_RO && value != (f->has_reset ? f->reset : 0))
        warn(d->sink, "%s.%s: read-only, the write is ignored", reg, f->name);
    else if (f->access == ACCESS_RSVD && value != (f->has_reset ? f->reset : 0))
        warn(d->sink, "%s.%s: reserved bits %u:%u must stay 0x%llx", reg,
             f->name, f->low + f->width - 1u, f->low,
             (unsigned long long)(f->has_reset ? f->reset : 0));
}

static int
field_value_of(const struct decoder *d, int field)
{
    return field >= 0 ? (int)field_get(&d->row->fields[field], d->value) : -1;
}

/* Returns whether the event has a row for the unit mask in the register. */
static bool
has_umask(const struct decoder *d, const struct counter_row *c,
          const struct event_row *e)
{
    const int value = field_value_of(d, c->umask_field);

    return value < 0 || e->umask_count == 0 ||
           umask_of(e, (unsigned)value) != NULL;
}

/*
 * Returns the event of these field values in the counter's unit; of those that
 * share a code the one that the counter counts and that has the unit mask.
 */
static const struct event_row *
event_of(const struct decoder *d, const struct counter_row *c, int sl, int mask)
{
    const int code = field_value_of(d, c->code_field);
    const int number = field_value_of(d, c->number_field);
    const char *unit = d->machine->units[c->unit].name;
    const ptrdiff_t bit = c - d->machine->counters;
    const struct event_row *other = NULL;

    for (size_t i = 0; i < d->machine->event_count; i++) {
        const struct event_row *e = &d->machine->events[i];
        if (strcmp(e->unit, unit) != 0 || (c->sl_field >= 0 && e->sl != sl) ||
            (c->mask_field >= 0 && e->mask != mask) ||
            (c->code_field >= 0 && e->code != code) ||
            (c->number_field >= 0 && e->number != number + c->base))
            continue;
        if ((e->counters >> bit & 1) != 0 && has_umask(d, c, e))
            return e;
        if (other == NULL || (e->counters >> bit & 1) != 0)
            other = e;
    }
    return other;
}

/* Another event that the same code and unit mask select; NULL: none. */
static const struct event_row *
twin_of(const struct decoder *d, const struct counter_row *c,
        const struct selection *s)
{
    const ptrdiff_t bit = c - d->machine->counters;

    for (size_t i = 0; i < d->machine->event_count; i++) {
        const struct event_row *e = &d->machine->events[i];
        const struct umask_row *u = umask_of(e, s->umask_value);
        if (e != s->event && e->code >= 0 && e->code == s->event->code &&
            strcmp(e->unit, s->event->unit) == 0 &&
            (e->counters >> bit & 1) != 0 && u != NULL &&
            u->counts == UMASK_YES)
            return e;
    }
    return NULL;
}

static const struct group_row *
group_of(const struct decoder *d, const struct counter_row *c, int sl)
{
    for (size_t i = 0; i < d->machine->group_count; i++)
        if (d->machine->groups[i].sl == sl &&
            d->machine->groups[i].unit == c->unit)
            return &d->machine->groups[i];
    return NULL;
}

/* "a + b": the events of one mask bit each that the union has. */
static void
union_text(const struct decoder *d, const struct counter_row *c, int sl,
           int mask, char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (int bit = 1; bit <= mask && at < size; bit <<= 1) {
        const struct event_row *e =
            (mask & bit) != 0 ? event_of(d, c, sl, bit) : NULL;
        if (e != NULL)
            at += (size_t)snprintf(text + at, size - at, "%s%s",
                                   at > 0 ? " + " : "", e->name);
    }
}

static void
tell_counter(const struct decoder *d, const struct counter_row *c,
             const struct selection *s, const char *note)
{
    if (d->sink->counter != NULL)
        d->sink->counter(d->sink->user, c, s, note);
}

/* Reads the umask field, and warns of what cannot be counted. */
static void
take_umask(const struct decoder *d, const struct counter_row *c,
           struct selection *s)
{
    static const char *const whys[] = {
        [UMASK_NOTHING] = "counts nothing",
        [UMASK_ILLEGAL] = "is an illegal selection",
        [UMASK_UNDEFINED] = "leaves the count undefined",
    };
    const int value = field_value_of(d, c->umask_field);
    const struct umask_row *found;

    s->umask = NULL;
    if (value < 0 || (value == 0 && s->event->umask_count == 0))
        return;
    found = umask_of(s->event, (unsigned)value);
    if (found == NULL) {
        warn(d->sink, "%s: unit mask 0x%x of %s is in no row of the manual",
             d->row->name, (unsigned)value, s->event->name);
        return;
    }
    if (found->counts != UMASK_YES)
        warn(d->sink, "%s: unit mask 0x%x of %s %s", d->row->name,
             (unsigned)value, s->event->name, whys[found->counts]);
    s->umask = found;
    s->umask_value = (uint8_t)value;
    s->umask_care = 15;
}

/* Returns the value of a modifier in this register, or 0. */
static uint32_t
modifier_in(const struct decoder *d, const struct counter_row *c,
            const struct modifier_row *m)
{
    const int field = field_find(d->row, modifier_field(d->machine, c, m));
    uint64_t value;

    if (field < 0)
        return 0;
    value = field_get(&d->row->fields[field], d->value);
    if (m->kind == MODIFIER_PRIVILEGE || m->kind == MODIFIER_FLAG)
        value &= m->value;
    return modifier_bits(m, (uint32_t)value);
}

/* Bits of a filter that the event does not have. */
static void
warn_unused(const struct decoder *d, const struct counter_row *c,
            const struct modifier_row *m, const struct selection *s)
{
    if (modifier_in(d, c, m) == 0)
        return;
    if (m->needs == NEEDS_ALL)
        warn(d->sink, "%s.%s: %s cannot count both threads", d->row->name,
             m->field, s->event->name);
    else if (m->needs == NEEDS_MESI)
        warn(d->sink, "%s.%s: no effect on %s", d->row->name, m->field,
             s->event->name);
}

static void
take_modifiers(const struct decoder *d, const struct counter_row *c,
               struct selection *s)
{
    for (size_t i = 0; i < d->machine->modifier_count; i++) {
        const struct modifier_row *m = &d->machine->modifiers[i];
        if (strchr(m->field, '.') != NULL)
            continue;
        s->values[i] = modifier_in(d, c, m);
        if (!selection_takes(s, m))
            warn_unused(d, c, m, s);
        else if (s->values[i] != m->default_value)
            s->given |= 1u << i;
    }
}

/* Modes can be chosen, and none is. */
static bool
in_no_mode(const struct selection *s)
{
    for (size_t i = 0; i < s->machine->modifier_count; i++)
        if (s->machine->modifiers[i].kind == MODIFIER_PRIVILEGE &&
            s->values[i] != 0)
            return false;
    return selection_has_modes(s);
}

static void
take_instance(const struct decoder *d, const struct counter_row *c,
              struct selection *s)
{
    const ptrdiff_t reg = d->row - d->machine->registers;

    for (size_t i = 0; i < d->machine->units[c->unit].instance_count; i++)
        if (c->select[i] == reg)
            s->instance = (int8_t)i;
}

static struct selection
selection_in(const struct decoder *d, const struct counter_row *c,
             const struct event_row *event)
{
    struct selection s = selection_of(d->machine, event, -1);

    memset(s.values, 0, sizeof(s.values));
    take_umask(d, c, &s);
    take_modifiers(d, c, &s);
    s.off = in_no_mode(&s);
    take_instance(d, c, &s);
    return s;
}

static void
tell_event(const struct decoder *d, const struct counter_row *c,
           const struct event_row *event)
{
    const struct selection s = selection_in(d, c, event);
    const struct event_row *twin = twin_of(d, c, &s);
    const ptrdiff_t bit = c - d->machine->counters;
    char note[LINE_SIZE];

    if ((event->counters >> bit & 1) == 0)
        warn(d->sink, "%s does not count %s; tally show %s says which do",
             c->name, event->name, event->name);
    else if ((plan_counters(&s) >> bit & 1) == 0)
        warn(d->sink, "%s.all: %s counts its own thread only", d->row->name,
             c->name);
    if (s.off && d->all_off)
        warn(d->sink, "%s: %s counts in no mode: disabled", d->row->name,
             c->name);
    if (selection_never(&s, note, sizeof(note)))
        warn(d->sink, "%s: %s: %s", d->row->name, c->name, note);
    if (event->reserved && event->code != 0) /* 0 is Zambezi's "none" */
        warn(d->sink, "%s: the manual says no more of %s than its code",
             d->row->name, event->name);
    if (twin != NULL)
        snprintf(note, sizeof(note), "the same as %s.%s", twin->name,
                 umask_of(twin, s.umask_value)->name);
    tell_counter(d, c, &s, twin != NULL ? note : NULL);
}

/* A selection by sl and mask; unused mask bits have no effect. */
static void
decode_group(const struct decoder *d, const struct counter_row *c, int sl,
             int mask)
{
    const struct group_row *g = group_of(d, c, sl);
    char text[LINE_SIZE], note[LINE_SIZE];
    const struct event_row *event = event_of(d, c, sl, mask);

    if (event == NULL && g != NULL && !g->reserved) {
        if ((mask & ~g->mask) != 0)
            warn(d->sink, "%s: mask bits 0x%02x have no effect in sl %d",
                 d->row->name, (unsigned)(mask & ~g->mask), sl);
        mask &= g->mask;
        event = event_of(d, c, sl, mask);
    }
    if (event != NULL) {
        tell_event(d, c, event);
        return;
    }
    union_text(d, c, sl, mask, text, sizeof(text));
    if (g == NULL || g->reserved)
        snprintf(note, sizeof(note), "sl %d is %s: it counts nothing", sl,
                 g != NULL ? "reserved" : "of no group");
    else if (text[0] == '\0')
        snprintf(note, sizeof(note), "sl %d (%s) without a mask bit: %s", sl,
                 g->title, sl == 0 ? "disabled" : "it counts nothing");
    else
        snprintf(note, sizeof(note), "%s, in one count", text);
    tell_counter(d, c, NULL, note);
}

static void
decode_counter(const struct decoder *d, const struct counter_row *c)
{
    char note[LINE_SIZE];
    const int sl = field_value_of(d, c->sl_field);
    const int code = field_value_of(d, c->code_field);
    const struct event_row *event;

    if (sl >= 0 && c->mask_field >= 0) {
        decode_group(d, c, sl, field_value_of(d, c->mask_field));
        return;
    }
    event = event_of(d, c, sl, -1);
    if (event != NULL) {
        tell_event(d, c, event);
        return;
    }
    if (sl < 0 && code < 0 && c->number_field < 0)
        return; /* a counter whose event is fixed */
    snprintf(note, sizeof(note), "0x%x selects no event",
             (unsigned)(code >= 0 ? code
                        : sl >= 0 ? sl
                                  : field_value_of(d, c->number_field)));
    tell_counter(d, c, NULL, note);
}

static void
check_montecito(const struct decoder *d)
{
    const int ism = field_find(d->row, "ism");
    const int plm = field_find(d->row, "plm");
    const int es = field_find(d->row, "es"); /* a counter, which says more */

    if (ism >= 0 && field_get(&d->row->fields[ism], d->value) != ISM_ITANIUM)
        warn(d->sink, "%s.ism: only 2 is defined", d->row->name);
    if (plm >= 0 && es < 0 && field_get(&d->row->fields[plm], d->value) == 0)
        warn(d->sink, "%s.plm: 0 disables the monitor", d->row->name);
}

/* Returns whether the register chooses what the counter counts. */
static bool
selects(const struct decoder *d, const struct counter_row *c)
{
    const size_t n = d->machine->units[c->unit].instance_count;
    const ptrdiff_t reg = d->row - d->machine->registers;

    for (size_t k = 0; c->select != NULL && k < (n > 0 ? n : 1); k++)
        if (c->select[k] == reg)
            return true;
    return false;
}

/* Returns whether the counter counts in one mode at least. */
static bool
in_any_mode(const struct decoder *d, const struct counter_row *c)
{
    for (size_t i = 0; i < d->machine->modifier_count; i++) {
        const struct modifier_row *m = &d->machine->modifiers[i];
        if (m->kind == MODIFIER_PRIVILEGE && (m->units >> c->unit & 1) != 0 &&
            modifier_in(d, c, m) != 0)
            return true;
    }
    return false;
}

void
decode_register(const struct machine_row *machine,
                const struct register_row *row, uint64_t value,
                const struct decode_sink *sink)
{
    struct decoder d = {machine, row, value, sink, .all_off = true};

    for (size_t i = 0; i < row->field_count; i++) {
        if (sink->field != NULL)
            sink->field(sink->user, &row->fields[i],
                        field_get(&row->fields[i], value));
        check_field(&d, &row->fields[i]);
    }
    if (machine->family == FAMILY_MONTECITO)
        check_montecito(&d);
    for (size_t i = 0; i < machine->counter_count && d.all_off; i++)
        d.all_off = !selects(&d, &machine->counters[i]) ||
                    !in_any_mode(&d, &machine->counters[i]);
    for (size_t i = 0; i < machine->counter_count; i++)
        if (selects(&d, &machine->counters[i]))
            decode_counter(&d, &machine->counters[i]);
}

/* Returns the value given for the register, else its reset value. */
static uint64_t
value_of(const struct machine_row *machine, const char *name,
         const struct register_row *const *rows, const uint64_t *values,
         size_t count, bool *given)
{
    const struct register_row *row = register_find(machine, name);

    for (size_t i = 0; i < count; i++)
        if (rows[i] == row) {
            *given = true;
            return values[i];
        }
    return row != NULL ? register_reset(row) : 0;
}

/* The combination that the notes of 3.3.5.2 and 3.3.7 forbid. */
static void
check_ranges(const struct machine_row *machine,
             const struct register_row *const *rows, const uint64_t *values,
             size_t count, const struct decode_sink *sink)
{
    bool given = false;
    const uint64_t pmc41 =
        value_of(machine, "PMC41", rows, values, count, &given);
    const uint64_t pmc38 =
        value_of(machine, "PMC38", rows, values, count, &given);
    const uint64_t pmc32 =
        value_of(machine, "PMC32", rows, values, count, &given);

    if (given && (pmc41 >> 45 & 15) == 0 && (pmc32 >> 57 & 1) == 0 &&
        ((pmc38 & 1u << 1) == 0 || (pmc38 & 1u << 4) == 0))
        warn(sink, "PMC41[48:45] = 0 with PMC32.ig_ad = 0 and an instruction "
                   "range in PMC38 is illegal: tags become inconsistent");
}

/* What a counter's register selects, of the registers that were given. */
struct in_counter {
    const struct register_row *row; /* NULL: not given, or no event */
    struct selection s;
};

/* Returns what the selection asks of the unit mask; the register's own value is
 * whole. */
static struct selection
asked(const struct selection *s)
{
    struct selection own = *s;

    if (s->umask != NULL)
        own.umask_care = s->umask->care;
    return own;
}

static void
warn_l1d(const struct in_counter *list, const struct in_counter *one,
         const struct decode_sink *sink)
{
    const struct in_counter *master = &list[L1D_MASTER];

    if (l1d_set(&one->s) < 0 ||
        (master->row != NULL && l1d_set(&master->s) == l1d_set(&one->s)))
        return;
    warn(sink, "%s: %s needs an event of L1D set %d in PMC5", one->row->name,
         one->s.event->name, l1d_set(&one->s));
}

/* Rules R089, R109, R110: the master's choice counts, not the own one. */
static void
warn_l2d(const struct machine_row *machine, const struct in_counter *list,
         size_t counter, const struct decode_sink *sink)
{
    const struct l2d_group *group = l2d_group_of(counter);
    const struct in_counter *one = &list[counter];

    if (l2d_set(&one->s) < 0 || group == NULL || counter == group->master)
        return;
    const struct in_counter *master = &list[group->master];
    const struct register_row *governor =
        &machine->registers[machine->counters[group->master].select[0]];
    const struct selection own = asked(&one->s);
    if (master->row == NULL || l2d_compare(&own, &master->s) == L2D_OTHER_SET) {
        warn(sink, "%s: %s needs an event of L2D set %d in %s", one->row->name,
             own.event->name, l2d_set(&own), governor->name);
        return;
    }
    if (l2d_compare(&own, &master->s) == L2D_OTHER_UMASK)
        warn(sink, "%s: %s counts with unit mask 0x%x of %s, not its own 0x%x",
             one->row->name, own.event->name, master->s.umask_value,
             governor->name, own.umask_value);
    const uint32_t all = selection_value(&master->s, "all");
    if (selection_value(&own, "all") != all)
        warn(sink, "%s: %s counts with all = %u of %s, not its own %u",
             one->row->name, own.event->name, all, governor->name, !all);
}

static void
warn_excluded(const struct in_counter *a, const struct in_counter *b,
              const struct decode_sink *sink)
{
    if (b->row != NULL && !b->s.off && selections_exclude(&a->s, &b->s))
        warn(sink, "%s and %s: only one of %s and %s counts at a time",
             a->row->name, b->row->name, a->s.event->name, b->s.event->name);
}

static struct in_counter
read_counter(const struct machine_row *machine, const struct counter_row *c,
             const struct register_row *const *rows, const uint64_t *values,
             size_t count)
{
    static const struct decode_sink nobody = {.user = NULL};
    struct in_counter in = {.row = NULL};

    for (size_t i = 0; i < count && c->select != NULL && in.row == NULL; i++) {
        const struct decoder d = {machine, rows[i], values[i], &nobody, false};
        if (rows[i] != &machine->registers[c->select[0]])
            continue;
        const struct event_row *event = event_of(&d, c, -1, -1);
        if (event == NULL)
            continue;
        in.row = rows[i];
        in.s = selection_in(&d, c, event);
    }
    return in;
}

/* Events of sets need their master; one that is off needs nothing. */
static void
check_sets(const struct machine_row *machine,
           const struct register_row *const *rows, const uint64_t *values,
           size_t count, const struct decode_sink *sink)
{
    struct in_counter list[COUNTERS_MAX];

    for (size_t i = 0; i < machine->counter_count; i++)
        list[i] =
            read_counter(machine, &machine->counters[i], rows, values, count);
    for (size_t i = 0; i < machine->counter_count; i++) {
        if (list[i].row == NULL || list[i].s.off)
            continue;
        warn_l1d(list, &list[i], sink);
        warn_l2d(machine, list, i, sink);
        for (size_t k = i + 1; k < machine->counter_count; k++)
            warn_excluded(&list[i], &list[k], sink);
    }
}

void
decode_together(const struct machine_row *machine,
                const struct register_row *const *rows, const uint64_t *values,
                size_t count, const struct decode_sink *sink)
{
    if (machine->family != FAMILY_MONTECITO)
        return;
    check_ranges(machine, rows, values, count, sink);
    check_sets(machine, rows, values, count, sink);
}
