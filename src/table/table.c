/* SPDX-License-Identifier: MIT */
#include "table/table.h"

#include <assert.h>
#include <string.h>

#include "table/near.h"
#include "table/text.h"

#define NEAR_SHOWN 3
#define NAME_SIZE 192 /* a unit, a slash and an alias of 96 */

static bool
name_among(const char *name, const char *const *names)
{
    while (*names != NULL && !same_name(name, *names))
        names++;
    return *names != NULL;
}

const char *
fidelity_name(enum fidelity fidelity)
{
    static const char *const names[] = {
        [FIDELITY_EXACT] = "exact",       [FIDELITY_VARIES] = "varies",
        [FIDELITY_MODELLED] = "modelled", [FIDELITY_ESTIMATED] = "estimated",
        [FIDELITY_PARTIAL] = "partial",   [FIDELITY_IDLE] = "idle",
    };

    assert((size_t)fidelity < sizeof(names) / sizeof(names[0]));
    return names[fidelity];
}

enum fidelity
fidelity_in_run(enum fidelity event, bool foreign, bool side_by_side,
                bool left_early, bool partial)
{
    if (partial && event != FIDELITY_IDLE)
        return FIDELITY_PARTIAL;
    if (left_early && event < FIDELITY_ESTIMATED)
        return FIDELITY_ESTIMATED;
    if (event != FIDELITY_EXACT)
        return event;
    return foreign        ? FIDELITY_MODELLED
           : side_by_side ? FIDELITY_VARIES
                          : FIDELITY_EXACT;
}

const struct machine_row *
machine_find(const char *name)
{
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *machine = &tally_machines[i];
        if (same_name(name, machine->name) ||
            name_among(name, machine->aliases))
            return machine;
    }
    return NULL;
}

int
machine_unknown(const char *name, const struct tally_log *log)
{
    const struct shown word = shown(name, strlen(name));
    char text[256];
    struct near n;

    near_init(&n, name, NEAR_SHOWN);
    for (size_t i = 0; i < MACHINE_COUNT; i++)
        if (!tally_machines[i].hidden)
            near_add(&n, tally_machines[i].name, tally_machines[i].aliases);
    near_text(&n, text, sizeof(text));
    if (text[0] != '\0')
        return tally_fail(log, TALLY_EUNKNOWN,
                          "unknown machine '%s': did you mean %s?", word.text,
                          text);
    return tally_fail(log, TALLY_EUNKNOWN,
                      "unknown machine '%s'; tally list machines shows them",
                      word.text);
}

/* 1 to 7 hexadecimal digits after 0x, or -1. */
static int32_t
read_code(const char *text)
{
    int32_t code = 0;
    size_t digits = 0;

    if (text[0] != '0' || ascii_lower(text[1]) != 'x')
        return -1;
    for (const char *p = text + 2; *p != '\0'; p++) {
        const char c = ascii_lower(*p);
        const bool decimal = c >= '0' && c <= '9';
        if ((!decimal && (c < 'a' || c > 'f')) || ++digits > 7)
            return -1;
        code = code << 4 | (decimal ? c - '0' : c - 'a' + 10);
    }
    return digits > 0 ? code : -1;
}

/* Digits alone, or -1. */
static int32_t
read_number(const char *text)
{
    int32_t number = 0;

    for (const char *p = text; *p != '\0'; p++) {
        if (*p < '0' || *p > '9' || p - text == 4)
            return -1;
        number = 10 * number + (*p - '0');
    }
    return text[0] != '\0' ? number : -1;
}

/* The row of the name, -1 if there is none. */
static int
index_find(const struct name_index *names, size_t count, const char *text)
{
    char lower[NAME_SIZE];
    size_t low = 0, high = count, length = 0;

    while (text[length] != '\0' && length + 1 < sizeof(lower)) {
        lower[length] = ascii_lower(text[length]);
        length++;
    }
    if (text[length] != '\0')
        return -1;
    lower[length] = '\0';
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(lower, names[middle].name);
        if (order == 0)
            return names[middle].row;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

/* Returns whether `name` is the first `length` bytes of `text`, but for case.
 */
static bool
same_word(const char *name, const char *text, size_t length)
{
    size_t i = 0;

    while (i < length && ascii_lower(name[i]) == ascii_lower(text[i]))
        i++;
    return i == length && name[i] == '\0';
}

static const struct event_row *
code_find(const struct machine_row *machine, const char *unit, size_t length,
          int32_t code)
{
    size_t low = 0, high = machine->code_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (machine->codes[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < machine->code_count && machine->codes[low].code == code;
         low++) {
        const struct event_row *e = &machine->events[machine->codes[low].row];
        if (same_word(e->unit, unit, length))
            return e;
    }
    return NULL;
}

static const struct event_row *
number_find(const struct machine_row *machine, int32_t number)
{
    for (size_t i = 0; i < machine->event_count; i++)
        if (machine->events[i].number == number)
            return &machine->events[i];
    return NULL;
}

const struct event_row *
event_find(const struct machine_row *machine, const char *name)
{
    const char *slash = strchr(name, '/');
    const size_t unit = slash != NULL ? (size_t)(slash - name) : 0;
    const char *rest = slash != NULL ? slash + 1 : name;
    const int32_t code = read_code(rest);

    if (code >= 0 && slash != NULL)
        return code_find(machine, name, unit, code);
    if (code >= 0)
        return code_find(machine, machine->units[0].name,
                         strlen(machine->units[0].name), code);
    if (slash == NULL && read_number(name) >= 0)
        return number_find(machine, read_number(name));

    const int row =
        index_find(machine->event_names, machine->event_name_count, name);
    if (row < 0 || (unsigned)row == NAME_AMBIGUOUS)
        return NULL;
    return &machine->events[row];
}

const struct register_row *
register_find(const struct machine_row *machine, const char *name)
{
    const int row =
        index_find(machine->register_names, machine->register_name_count, name);

    return row >= 0 ? &machine->registers[row] : NULL;
}

const struct metric_row *
metric_find(const struct machine_row *machine, const char *name)
{
    const int row =
        index_find(machine->metric_names, machine->metric_name_count, name);

    return row >= 0 ? &machine->metrics[row] : NULL;
}

int
field_find(const struct register_row *row, const char *name)
{
    for (size_t i = 0; i < row->field_count; i++)
        if (same_name(name, row->fields[i].name))
            return (int)i;
    return -1;
}

int
unit_find(const struct machine_row *machine, const char *name)
{
    for (size_t i = 0; i < machine->unit_count; i++)
        if (same_name(name, machine->units[i].name))
            return (int)i;
    return -1;
}

bool
event_unmodelled(const struct event_row *event)
{
    return event->reason != NULL &&
           strstr(event->reason, "not modelled yet") != NULL;
}

int
param_find(const char *key)
{
    for (int i = 0; i < PARAM_COUNT; i++)
        if (same_name(key, tally_params[i].key))
            return i;
    return -1;
}

unsigned
tlb_next(const uint64_t *params, unsigned tlb)
{
    /* The choices of NAME.next are "walk", then the TLBs behind the first two.
     */
    const unsigned choice = (unsigned)params[tally_tlbs[tlb].next];

    return choice == ITLB_NEXT_WALK ? TLB_COUNT : TLB_DTLB + choice;
}

int
signal_find(const char *name)
{
    for (int i = 0; i < SIGNAL_COUNT; i++)
        if (same_name(name, tally_signals[i].name))
            return i;
    return -1;
}

bool
event_is_live(const struct event_row *event)
{
    return event->unit != NULL && strcmp(event->unit, "cpu") == 0 &&
           event->fidelity != FIDELITY_IDLE;
}

bool
event_is_late(const struct event_row *event)
{
    bool late = event->signal_count > 0;

    for (size_t i = 0; i < event->signal_count; i++)
        late = late && tally_signals[event->signals[i]].at_end;
    return late;
}

const struct event_row *
event_of_cycles(const struct machine_row *machine)
{
    for (size_t i = 0; i < machine->event_count; i++) {
        const struct event_row *const e = &machine->events[i];
        if (e->signal_count == 1 && e->signals[0] == SIGNAL_CYCLES &&
            e->fidelity != FIDELITY_IDLE && !event_is_late(e))
            return e;
    }
    return NULL;
}

bool
event_is_line(const struct event_row *event)
{
    return event->sl >= 0 && event->mask > 0 &&
           (event->mask & (event->mask - 1)) == 0;
}

bool
event_has_lines(const struct machine_row *machine,
                const struct event_row *event)
{
    if (event->sl < 0 || event_is_line(event))
        return false;
    for (size_t i = 0; i < machine->event_count; i++) {
        const struct event_row *o = &machine->events[i];
        if (event_is_live(o) && event_is_line(o) && o->sl == event->sl &&
            (o->mask & event->mask) != 0)
            return true;
    }
    return false;
}

const char *
machine_standing(const struct machine_row *machine, enum fidelity fidelity)
{
    return machine->native && fidelity == FIDELITY_EXACT
               ? "measured"
               : fidelity_name(fidelity);
}
