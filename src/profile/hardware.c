/* SPDX-License-Identifier: MIT */
#include "profile/hardware.h"

#include <stdlib.h>
#include <string.h>

#include "counter/counter.h"
#include "profile/session.h"
#include "table/generic.h"
#include "table/plan.h"
#include "table/text.h"
#include "tally/pmu.h"

/* Most counts of a line at once: more could make a counter wrap twice. */
#define STEP (UINT64_C(1) << 28)
/* Most counts of a line in all: a month of a processor. A program can forge
 * totals, which must not keep the steps going for years. */
#define MOST (UINT64_C(1) << 48)

/*
 * How software works a family's counters: who may write the control registers,
 * what enables and shows an overflow, and how signals name events. The
 * registers and their bits are those of the machine's tables.
 */
struct hardware_layout {
    enum family_id family;
    enum tally_pmu_level level; /* of software that may write the control */
    bool masks;                 /* an event is a line of its group */
    bool numbers;               /* or has a number in place of a group */
    bool named; /* or each event that is counted is a signal of its own name */
    unsigned strands; /* of the monitor, if not 1 */
    /* Fields of the control register. */
    const char *trap_enable[2], *overflowed[2];
    /* If a trap finds a counter at this value or above, the counter has not
     * wrapped yet. */
    uint64_t before_wrap;
    int always;       /* the counter that always counts one event; or -1 */
    unsigned unnamed; /* the group of the event of `always` */
};

#define AFTER_WRAP (UINT64_C(1) << 32)

static const struct hardware_layout layouts[] = {
    /* An overflow asks for the trap, enabled or not, and after the wrap
     * (OpenSPARC T1 RTL). PIC1 has no select (rule F1.1). */
    {.family = FAMILY_NIAGARA1,
     .level = TALLY_PMU_PRIVILEGED,
     .overflowed = {"ovf"},
     .before_wrap = AFTER_WRAP,
     .always = 1,
     .unnamed = 8},
    /* Rule F2: in its last 16 values a PIC has not wrapped yet. */
    {.family = FAMILY_NIAGARA2,
     .level = TALLY_PMU_PRIVILEGED,
     .masks = true,
     .trap_enable = {"toe0", "toe1"},
     .overflowed = {"ov0", "ov1"},
     .before_wrap = 0xfffffff0u,
     .always = -1},
    {.family = FAMILY_SPARC_T4,
     .level = TALLY_PMU_HYPERPRIVILEGED,
     .masks = true,
     .trap_enable = {"toe"},
     .overflowed = {"ov", "ntc"},
     .before_wrap = AFTER_WRAP,
     .always = -1},
    /* The interrupt comes when bit 31 becomes set, half way to the wrap, and
     * goes when the count is cleared (rule I05). */
    {.family = FAMILY_R10000,
     .level = TALLY_PMU_PRIVILEGED,
     .numbers = true,
     .trap_enable = {"IE"},
     .always = -1},
    /* No slice fills the 47 bits of a counter (rule X17): no overflow is
     * served. The thread is in front, so that the banked counters, PMD10 to 15,
     * count too. */
    {.family = FAMILY_MONTECITO,
     .level = TALLY_PMU_PRIVILEGED,
     .named = true,
     .strands = 2,
     .always = -1},
};

/* Returns how software works the machine's counters, or NULL. */
static const struct hardware_layout *
find_layout(const struct machine_row *machine)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
        if (layouts[i].family == machine->family)
            return &layouts[i];
    }
    return NULL;
}

/* Returns the bits of the fields, of which up to two have names. */
static uint64_t
named_bits(const struct register_row *row, const char *const *names)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < 2 && names[i] != NULL; i++) {
        const struct field_row *f = &row->fields[field_find(row, names[i])];
        bits |= (UINT64_MAX >> (64 - f->width)) << f->low;
    }
    return bits;
}

/* Finds the registers of the strand's counters in the machine's tables. */
static void
find_counters(struct hardware *h)
{
    const struct machine_row *m = h->machine;
    const int cpu = unit_find(m, "cpu");

    for (size_t i = 0; i < m->counter_count; i++) {
        const struct counter_row *row = &m->counters[i];
        if (row->unit != cpu)
            continue;
        struct hardware_counter *c = &h->counters[h->counter_count++];
        const size_t length = strcspn(row->value, ".");
        c->control = &m->registers[row->select[0]];
        for (size_t k = 0; k < m->register_count; k++)
            if (strncmp(m->registers[k].name, row->value, length) == 0 &&
                m->registers[k].name[length] == '\0')
                c->count = &m->registers[k];
        const int field = field_find(c->count, row->value + length + 1);
        c->low = c->count->fields[field].low;
        c->bits = row->bits;
    }
}

/* Refuses a machine that has no counters of its own to work. */
static int
fail_layout(const struct machine_row *machine, const struct tally_log *log)
{
    const char *names[MACHINE_COUNT];
    char text[256];
    size_t count = 0;

    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (m->params != NULL && !m->hidden && find_layout(m) != NULL)
            names[count++] = m->name;
    }
    join_words(names, count, text, sizeof(text));
    return tally_fail(log, TALLY_ERULE,
                      "--hardware is for %s; %s is counted by its model alone",
                      text, machine->name);
}

static int
no_memory(const struct tally_log *log)
{
    return tally_fail(log, TALLY_ENOMEM, "no memory for the counters");
}

/* Adds a line, whose event raises the monitor's signal. */
static void
add_line(struct hardware *h, const struct event_row *e, uint32_t signal)
{
    h->lines[h->total_count] = e;
    h->totals[h->total_count++] =
        (struct tally_pmu_total){.signal = signal, .cycles = 1};
}

/*
 * Finds the lines of groups that events raise, and the events. If each event
 * that is counted is a signal of its own name, these are the lines.
 */
static int
find_lines(struct hardware *h, const struct tally_log *log)
{
    const struct hardware_layout *const l = h->layout;
    const size_t most = h->machine->event_count + h->event_count;

    h->totals = calloc(most, sizeof(*h->totals));
    h->lines = calloc(most, sizeof(*h->lines));
    h->rises = calloc(most, sizeof(*h->rises));
    if (h->totals == NULL || h->lines == NULL || h->rises == NULL)
        return no_memory(log);
    for (size_t i = 0; l->named && i < h->event_count; i++) {
        uint32_t signal;
        if (!event_is_live(h->events[i]))
            continue;
        if (tally_pmu_signal_find(h->pmu, h->events[i]->name, &signal) != 0)
            return tally_fail(log, TALLY_ERULE,
                              "the monitor of %s has no %s: count it without "
                              "--hardware",
                              h->machine->name, h->events[i]->name);
        add_line(h, h->events[i], signal);
    }
    for (size_t i = 0; !l->named && i < h->machine->event_count; i++) {
        const struct event_row *e = &h->machine->events[i];
        /* An event of several lines is the sum of theirs; it rises by itself
         * only where the model has none of the lines. */
        const bool line = l->numbers ? e->number >= 0
                          : l->masks
                              ? e->sl >= 0 && !event_has_lines(h->machine, e)
                              : true;
        const unsigned group = l->numbers  ? (unsigned)e->number
                               : e->sl < 0 ? l->unnamed
                                           : (unsigned)e->sl;
        const unsigned mask = l->masks ? (unsigned)e->mask : 0;
        if (event_is_live(e) && line)
            add_line(h, e, TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, group, mask));
    }
    return 0;
}

/* Returns whether a counter that chooses the line `whole` counts `part` too. */
static bool
is_part(const struct hardware *h, const struct event_row *part,
        const struct event_row *whole)
{
    for (size_t i = 0; i < h->machine->group_count; i++) {
        const struct group_row *g = &h->machine->groups[i];
        if (g->part != 0 && g->sl == whole->sl && g->sl == part->sl &&
            g->whole == whole->mask && g->part == part->mask)
            return true;
    }
    return false;
}

/* Returns how often line `i` rises without the line that is a part of it. An
 * event may begin in one slice and end in the next: the part may be more than
 * the whole. */
static uint64_t
line_count(const struct hardware *h, size_t i, const struct totals *totals)
{
    uint64_t n = event_value(h->lines[i], totals);

    for (size_t k = 0; k < h->total_count; k++) {
        const bool part = is_part(h, h->lines[k], h->lines[i]);
        const uint64_t of_it = part ? event_value(h->lines[k], totals) : 0;
        n -= of_it < n ? of_it : n;
    }
    return n;
}

/* Programs the counters of one slice: their control registers and events. */
static void
plan_slice(struct hardware *h, const struct selection *list,
           const struct plan *plan, size_t slice)
{
    struct hardware_slice *t = &h->slices[slice];
    struct write_list writes = {0};

    plan_encode(list, h->event_count, plan, slice, &writes);
    for (size_t i = 0; i < writes.count; i++) {
        const struct register_row *reg =
            &h->machine->registers[writes.rows[i].reg];
        for (unsigned c = 0; c < h->counter_count; c++) {
            if (h->counters[c].control == reg)
                t->control[c] = writes.rows[i].value;
        }
    }
    for (size_t i = 0; i < HARDWARE_COUNTERS; i++)
        t->event[i] = -1;
    for (size_t i = 0; i < h->event_count; i++) {
        if (plan->rows[i].group == slice)
            t->event[plan->rows[i].counter] = (int32_t)i;
    }
}

/* Returns the event as a selection: it may be an event with one of its unit
 * masks. */
static struct selection
selection_counted(const struct machine_row *m, const struct event_row *counted)
{
    for (size_t i = 0; i < m->event_count; i++) {
        const struct event_row *e = &m->events[i];
        for (int u = 0; u < (int)e->umask_count; u++) {
            const int at = e->umasks[u].counted;
            if (at >= 0 && &m->narrowed_events[at] == counted)
                return selection_of(m, e, u);
        }
    }
    return selection_of(m, counted, -1);
}

/* Plans which events share the counters at once, and in how many slices. */
static int
plan_slices(struct hardware *h, const struct tally_log *log)
{
    struct selection *list = calloc(h->event_count, sizeof(*list));
    struct plan plan = {0};

    if (list == NULL)
        return no_memory(log);
    for (size_t i = 0; i < h->event_count; i++) {
        list[i] = selection_counted(h->machine, h->events[i]);
        selection_default_privilege(&list[i]);
    }
    int error = plan_make(list, h->event_count, log, &plan);
    if (error == 0 && plan.group_count > COUNTS_SLICES)
        error = tally_fail(log, TALLY_ERULE,
                           "%zu events need %zu turns of the counters; at most "
                           "%u are taken: count fewer events at once",
                           h->event_count, plan.group_count, COUNTS_SLICES);
    if (error == 0) {
        h->slice_count = plan.group_count;
        for (size_t slice = 0; slice < h->slice_count; slice++)
            plan_slice(h, list, &plan, slice);
        /* The event of a counter that counts one event always is counted in
         * every slice, not only in the one planned. */
        const int always = h->layout->always;
        for (size_t i = 0; always >= 0 && i < h->event_count; i++) {
            const bool is_its = h->events[i]->counters == UINT64_C(1) << always;
            for (size_t slice = 0; is_its && slice < h->slice_count; slice++)
                h->slices[slice].event[always] = (int32_t)i;
        }
    }
    plan_finish(&plan);
    free(list);
    return error;
}

/* Makes the monitor that counts. */
static int
make_monitor(struct hardware *h, const struct tally_log *log)
{
    struct tally_pmu_options options;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = h->machine->name;
    options.strands = h->layout->strands != 0 ? h->layout->strands : 1;
    const size_t size = tally_pmu_size(&options);
    h->memory = size != 0 ? aligned_alloc(16, size) : NULL;
    if (h->memory == NULL)
        return no_memory(log);
    const int error = tally_pmu_init(h->memory, size, &options, &h->pmu);
    if (error == 0 && h->machine->family == FAMILY_MONTECITO)
        tally_pmu_set_state(h->pmu, 0, TALLY_PMU_UP, 1);
    return error;
}

int
hardware_init(struct hardware *h, const struct machine_row *machine,
              const struct event_row *const *events, size_t count,
              const struct tally_log *log)
{
    *h = (struct hardware){
        .machine = machine,
        .events = events,
        .event_count = count,
        .layout = find_layout(machine),
    };
    if (h->layout == NULL)
        return fail_layout(machine, log);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(events[i]->unit, "cpu") != 0 && events[i]->counters != 0)
            return tally_fail(log, TALLY_ERULE,
                              "--hardware works the counters of strands; %s/%s "
                              "is of unit %s: count it without",
                              events[i]->unit, events[i]->name,
                              events[i]->unit);
        const int sum = generic_sum(machine, events[i]);
        if (sum >= 0)
            return tally_fail(log, TALLY_ERULE,
                              "--hardware counts no sums: %s is %s on %s; name "
                              "these, or count it without",
                              tally_generics[sum].name,
                              machine->generics[sum].own, machine->name);
        if (strchr(events[i]->name, '=') != NULL)
            return tally_fail(log, TALLY_ERULE,
                              "--hardware does not set what %s needs: count it "
                              "without",
                              events[i]->name);
    }
    find_counters(h);
    h->readings = calloc(count, sizeof(*h->readings));
    int error = h->readings == NULL ? no_memory(log) : 0;
    if (error == 0)
        error = make_monitor(h, log);
    if (error == 0)
        error = find_lines(h, log);
    if (error == 0)
        error = plan_slices(h, log);
    if (error != 0)
        hardware_finish(h);
    return error;
}

void
hardware_finish(struct hardware *h)
{
    free(h->readings);
    free(h->totals);
    free(h->lines);
    free(h->rises);
    free(h->memory);
    *h = (struct hardware){0};
}

void
hardware_reset(struct hardware *h)
{
    memset(h->readings, 0, h->event_count * sizeof(*h->readings));
    h->overflows = 0;
}

/* Reads a register of the strand, as software of the machine does. */
static uint64_t
get(struct hardware *h, const struct register_row *reg)
{
    const int id = tally_pmu_register_find(h->pmu, reg->name);
    uint64_t value = 0;

    tally_pmu_read(h->pmu, 0, (unsigned)id, h->layout->level, &value);
    return value;
}

/* Writes a register of the strand, as software of the machine does. */
static void
set(struct hardware *h, const struct register_row *reg, uint64_t value)
{
    const int id = tally_pmu_register_find(h->pmu, reg->name);

    tally_pmu_write(h->pmu, 0, (unsigned)id, h->layout->level, value);
}

/* Adds a counter to its event's reading, and clears it. */
static void
collect(struct hardware *h, const struct hardware_slice *slice,
        unsigned counter, bool wrapped)
{
    const struct hardware_counter *c = &h->counters[counter];
    const uint64_t mask = (UINT64_C(1) << c->bits) - 1;
    const uint64_t count = get(h, c->count);
    const uint64_t value = count >> c->low & mask;

    if (slice->event[counter] >= 0) {
        struct hardware_reading *r = &h->readings[slice->event[counter]];
        r->value += value;
        if (wrapped && value < h->layout->before_wrap)
            r->value += UINT64_C(1) << c->bits;
    }
    set(h, c->count, count & ~(mask << c->low));
}

/* Serves the traps, as a kernel does: reads and clears each counter whose
 * overflow made the trap. */
static void
serve_all(struct hardware *h, const struct hardware_slice *slice,
          uint32_t traps)
{
    static const enum tally_pmu_trap all[] = {
        TALLY_PMU_PIC_OVERFLOW, TALLY_PMU_PRECISE_EVENT,
        TALLY_PMU_DISRUPTING_EVENT, TALLY_PMU_COUNTER_INTERRUPT};

    for (size_t t = 0; t < sizeof(all) / sizeof(*all); t++) {
        struct tally_pmu_taken taken;
        if ((traps & (uint32_t)all[t]) == 0 ||
            tally_pmu_take(h->pmu, 0, all[t], &taken) != 0)
            continue;
        for (unsigned i = 0; i < h->counter_count; i++) {
            if ((taken.counters >> i & 1) == 0)
                continue;
            const struct register_row *control = h->counters[i].control;
            collect(h, slice, i, true);
            set(h, control,
                get(h, control) & ~named_bits(control, h->layout->overflowed));
        }
        h->overflows++;
    }
}

/* Raises the lines as often as the slice has counted, step by step. 0, or
 * TALLY_ERANGE: no program counts so much. */
static int
raise_all(struct hardware *h, const struct hardware_slice *slice,
          const struct totals *totals)
{
    uint64_t left = 0;

    for (size_t i = 0; i < h->total_count; i++) {
        h->rises[i] = line_count(h, i, totals);
        left = h->rises[i] > left ? h->rises[i] : left;
    }
    if (left > MOST)
        return TALLY_ERANGE;
    for (uint64_t done = 0; done < left; done += STEP) {
        for (size_t i = 0; i < h->total_count; i++) {
            const uint64_t n = h->rises[i];
            h->totals[i].n = n <= done ? 0 : n - done < STEP ? n - done : STEP;
        }
        serve_all(h, slice,
                  tally_pmu_batch(h->pmu, 0, h->totals, h->total_count, NULL));
    }
    return 0;
}

/* Programs the monitor for the slice, raises its lines, reads the counters. 0,
 * or TALLY_ERANGE. */
static int
add_slice(struct hardware *h, const struct hardware_slice *slice,
          const struct totals *totals)
{
    tally_pmu_set_state(h->pmu, 0, TALLY_PMU_LEVEL, h->layout->level);
    for (unsigned i = 0; i < h->counter_count; i++) {
        set(h, h->counters[i].control, 0);
        set(h, h->counters[i].count, 0);
    }
    for (unsigned i = 0; i < h->counter_count; i++) {
        const struct register_row *control = h->counters[i].control;
        set(h, control,
            slice->control[i] | named_bits(control, h->layout->trap_enable));
    }
    tally_pmu_set_state(h->pmu, 0, TALLY_PMU_LEVEL, TALLY_PMU_USER);
    const int error = raise_all(h, slice, totals);
    for (unsigned i = 0; i < h->counter_count; i++)
        collect(h, slice, i, false);
    return error;
}

int
hardware_add(struct hardware *h, const struct totals *slices)
{
    uint64_t all = 0;

    for (size_t t = 0; t < h->slice_count; t++)
        all += slices[t].signal[SIGNAL_INSTRUCTIONS];
    for (size_t i = 0; i < h->event_count; i++)
        h->readings[i].enabled += all;
    for (size_t t = 0; t < h->slice_count; t++) {
        const struct hardware_slice *slice = &h->slices[t];
        if (add_slice(h, slice, &slices[t]) != 0)
            return TALLY_ERANGE;
        for (unsigned i = 0; i < HARDWARE_COUNTERS; i++) {
            if (slice->event[i] >= 0)
                h->readings[slice->event[i]].running +=
                    slices[t].signal[SIGNAL_INSTRUCTIONS];
        }
    }
    return 0;
}

const char *
hardware_counter(const struct hardware *h, unsigned counter)
{
    return h->counters[counter].count->name;
}

uint64_t
hardware_scaled(const struct hardware_reading *reading)
{
    const struct counter_reading r = {reading->value, reading->enabled,
                                      reading->running};
    uint64_t scaled = reading->value;

    counter_scaled(&r, &scaled);
    return scaled;
}
