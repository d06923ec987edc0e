/* SPDX-License-Identifier: MIT */
#include "ref/plan_ref.h"

#include <stdio.h>
#include <string.h>

#define NONE (-1)

static int
code_of(const struct selection *s)
{
    return s->event != NULL ? s->event->code : NONE;
}

/* Counter 0 of the unit, 1, ... as the machine lists them. */
static int
place_in_unit(const struct selection *s, unsigned counter)
{
    const struct counter_row *c = s->machine->counters;
    int place = 0;

    if (counter >= s->machine->counter_count || c[counter].unit != s->unit)
        return NONE;
    for (unsigned i = 0; i < counter; i++)
        place += c[i].unit == s->unit;
    return place;
}

static uint32_t
value_of(const struct selection *s, const char *modifier)
{
    for (size_t i = 0; i < s->machine->modifier_count; i++)
        if (strcmp(s->machine->modifiers[i].name, modifier) == 0)
            return s->values[i];
    return 0;
}

/* R103: L1D sets 0 {c0-c3} 1 {c4 c5 c7} 2 {ca} 3 {cd-cf} 4 {d0-d2} 6 {d8 d9}.
 */
static int
l1d_set(const struct selection *s)
{
    switch (code_of(s)) {
    case 0xc0:
    case 0xc1:
    case 0xc2:
    case 0xc3:
        return 0;
    case 0xc4:
    case 0xc5:
    case 0xc7:
        return 1;
    case 0xca:
        return 2;
    case 0xcd:
    case 0xce:
    case 0xcf:
        return 3;
    case 0xd0:
    case 0xd1:
    case 0xd2:
        return 4;
    case 0xd8:
    case 0xd9:
        return 6;
    default:
        return NONE;
    }
}

/* R112: 0 {e0-e3} 1 {e4 e5} 2 {e6} 3 {e8 e9} 4 {ea eb} 5 {ec ed} 6 {ef}
 * 7 {f0 f1} 8 {f2 f3}. */
static int
l2d_set(const struct selection *s)
{
    switch (code_of(s)) {
    case 0xe0:
    case 0xe1:
    case 0xe2:
        return 0;
    case 0xe4:
    case 0xe5:
        return 1;
    case 0xe6:
        return 2;
    case 0xe8:
    case 0xe9:
        return 3;
    case 0xea:
    case 0xeb:
        return 4;
    case 0xec:
    case 0xed:
        return 5;
    case 0xef:
        return 6;
    case 0xf0:
    case 0xf1:
        return 7;
    case 0xf2:
    case 0xf3:
        return 8;
    default:
        return NONE;
    }
}

/* One event on PMDn, whatever else counts. */
static const char *
montecito_counter(const struct selection *s, int n)
{
    const int high = code_of(s) >> 4;
    const bool duplicated = n >= 4 && n <= 9;

    if (n < 4 || n > 15)
        return "R001: PMD4 to 15 count";
    if (code_of(s) == 0x18)
        return n == 10 ? NULL : "R116: CYCLES_HALTED in PMD10 only";
    if (!duplicated && ((high >= 8 && high <= 0xb) || high >= 0xe))
        return "R100: codes 8x, 9x, ax, bx, ex, fx in PMD4-9 only";
    if (!duplicated && value_of(s, "all") != 0)
        return "R085: .all in PMC4-9 only";
    if (!duplicated && s->event->type == 'C' && code_of(s) != 0x12)
        return "R131: causal events in PMD4-9 only";
    if (!duplicated && s->event->type == 'F')
        return "R132: floating events in PMD4-9 only";
    if (!duplicated && s->event->type == 'S')
        return "R133: self-floating events in PMD4-9 only";
    return NULL;
}

/* PMD4 governs 5 and 8, PMD6 governs 7 and 9. */
static int
master_of(int n)
{
    return n == 4 || n == 5 || n == 8 ? 4 : 6;
}

static const char *
montecito_l2d(const struct selection *const *list, size_t count,
              const struct plan_row *rows, size_t i)
{
    const int master = master_of(rows[i].counter + 4);
    bool found = false;

    for (size_t k = 0; k < count; k++) {
        const int n = rows[k].counter + 4;
        if (l2d_set(list[k]) == NONE || master_of(n) != master)
            continue;
        found = found || n == master;
        if (l2d_set(list[k]) != l2d_set(list[i]))
            return "R107: PMC4 and PMC6 choose one L2D set each";
        if (rows[k].umask_value != rows[i].umask_value)
            return "R109, R110: PMC4's and PMC6's unit mask is shared";
        if (value_of(list[k], "all") != value_of(list[i], "all"))
            return "R089: PMC4's and PMC6's .all is shared";
    }
    return found ? NULL : "R106, R108: an L2D event in PMC4 or PMC6";
}

static const char *
montecito_l1d(const struct selection *const *list, size_t count,
              const struct plan_row *rows, size_t i)
{
    bool five = false;

    for (size_t k = 0; k < count; k++) {
        if (l1d_set(list[k]) != NONE && l1d_set(list[k]) != l1d_set(list[i]))
            return "R102: one L1D set at a time";
        if (rows[k].counter == 5 - 4)
            five = l1d_set(list[k]) == l1d_set(list[i]);
    }
    return five ? NULL : "R102: an event of the L1D set in PMC5";
}

static const char *
montecito_breaks(const struct selection *const *list, size_t count,
                 const struct plan_row *rows)
{
    bool cancels0 = false, cancels1 = false;

    for (size_t i = 0; i < count; i++) {
        const struct selection *s = list[i];
        const char *rule = montecito_counter(s, rows[i].counter + 4);
        if (rule == NULL && l2d_set(s) != NONE)
            rule = montecito_l2d(list, count, rows, i);
        if (rule == NULL && l1d_set(s) != NONE)
            rule = montecito_l1d(list, count, rows, i);
        if (rule != NULL)
            return rule;
        if (((rows[i].umask_value ^ s->umask_value) & s->umask_care) != 0)
            return "R080: the unit mask asked for";
        cancels0 = cancels0 || code_of(s) == 0xe0;
        cancels1 = cancels1 || code_of(s) == 0xe2;
    }
    return cancels0 && cancels1 ? "R114: one of CANCELS0 and 1" : NULL;
}

static const char *
mips_counter(const struct selection *s, int place)
{
    if (place > 1)
        return "I01: two counters";
    if (strcmp(s->machine->name, "r12000") == 0)
        return NULL;
    return place == s->event->number / 16 ? NULL
                                          : "I01: 0-15 on counter 0, the "
                                            "others on counter 1";
}

static const char *
niagara1_counter(const struct selection *s, int place)
{
    const char *unit = s->machine->units[s->unit].name;

    if (place > 1)
        return "P02: two counters";
    if (strcmp(unit, "cpu") != 0)
        return NULL;
    return (code_of(s) == 0x100) == (place == 1)
               ? NULL
               : "P02: one event, and instructions";
}

/* Three fixed counters, of one event each, then four of any event. The codes
 * of the fixed events are those of Linux's fixed counter pseudo-encoding. */
static const char *
skylake_counter(const struct selection *s, int place)
{
    const int code = code_of(s);
    const bool fixed = code == 0x100 || code == 0x200 || code == 0x300;

    if (place > 6)
        return "Intel SDM: three fixed counters and four general ones";
    if (fixed || place < 3)
        return fixed && place == (code >> 8) - 1
                   ? NULL
                   : "Intel SDM: a fixed counter for its event";
    return code == 0x1c0 && place != 4
               ? "Intel SDM: INST_RETIRED.PREC_DIST on IA32_PMC1 only"
               : NULL;
}

/* Which events of Ice Lake-SP the general counters behind the fourth lack, by
 * their event selects: intel_icl_event_constraints of Linux. */
static bool
icelake_first_four(int select)
{
    static const struct {
        int low, high;
    } ranges[] = {{0x03, 0x0a}, {0x1f, 0x28}, {0x32, 0x32},
                  {0x48, 0x56}, {0x60, 0x8b}, {0xa8, 0xb0},
                  {0xb7, 0xbd}, {0xd0, 0xe6}, {0xef, 0xf4}};

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (select >= ranges[i].low && select <= ranges[i].high)
            return true;
    }
    return false;
}

/* The seven counters of Skylake, then a fixed one and four of most events. */
static const char *
icelake_counter(const struct selection *s, int place)
{
    const int code = code_of(s);

    if (place > 11)
        return "Intel SDM: four fixed counters and eight general ones";
    if (place == 7 || code == 0x400)
        return place == 7 && code == 0x400
                   ? NULL
                   : "Intel SDM: a fixed counter for its event";
    if (place > 7 && icelake_first_four(code & 0xff))
        return "Linux: an event of IA32_PMC0 to 3";
    if (place > 7 && (code == 0x100 || code == 0x200 || code == 0x300))
        return "Intel SDM: a fixed counter for its event";
    return place > 7 ? NULL : skylake_counter(s, place);
}

/* A counter of cycles (event 0x11), then six of any event; CHAIN (0x1e) counts
 * what the counter before overflows, so that only odd counters have it. */
static const char *
neoverse_counter(const struct selection *s, int place)
{
    const int code = code_of(s);

    if (place > 6)
        return "PMUv3: a counter of cycles and six others";
    if (place == 0)
        return code == 0x11 ? NULL : "PMUv3: PMCCNTR_EL0 counts cycles";
    return code == 0x1e && (place - 1) % 2 == 0 ? "PMUv3: CHAIN on odd counters"
                                                : NULL;
}

/* Counters of cycles and of instructions, whose events have no codes, and two
 * of any event that has one. */
static const char *
u74_counter(const struct selection *s, int place)
{
    const char *const own = place == 0 ? "MCYCLE" : "MINSTRET";

    if (place > 3)
        return "U74: four counters";
    if (place < 2)
        return strcmp(s->event->name, own) == 0
                   ? NULL
                   : "U74: a counter for its event";
    return code_of(s) < 0 ? "U74: mhpmeventN takes a code" : NULL;
}

/* The counters of a machine that no family of registers has. */
static const char *
other_counter(const struct selection *s, int place)
{
    if (strcmp(s->machine->name, "skylake") == 0)
        return skylake_counter(s, place);
    if (strcmp(s->machine->name, "icelake") == 0)
        return icelake_counter(s, place);
    if (strcmp(s->machine->name, "zen2") == 0 ||
        strcmp(s->machine->name, "zen3") == 0 ||
        strcmp(s->machine->name, "zen4") == 0 ||
        strcmp(s->machine->name, "zen5") == 0)
        return place > 5 ? "AMD APM: six counters" : NULL;
    if (strcmp(s->machine->name, "neoverse-n1") == 0 ||
        strcmp(s->machine->name, "neoverse-v1") == 0 ||
        strcmp(s->machine->name, "cortex-a72") == 0)
        return neoverse_counter(s, place);
    if (strcmp(s->machine->name, "sifive-u74") == 0)
        return u74_counter(s, place);
    return NULL;
}

static const char *
counter_breaks(const struct selection *s, unsigned counter)
{
    const int place = place_in_unit(s, counter);

    if (place == NONE)
        return "a counter of another unit";
    switch (s->machine->family) {
    case FAMILY_NIAGARA1:
        return niagara1_counter(s, place);
    case FAMILY_NIAGARA2:
        return place > 1 ? "P02: any two events" : NULL;
    case FAMILY_SPARC_T4:
        return place > 3 ? "T4-R01: four counters" : NULL;
    case FAMILY_R10000:
        return mips_counter(s, place);
    default:
        return other_counter(s, place);
    }
}

/* PCR of T1 and T2 has one set of mode bits; the T2 Plus one PERF_CONFIG. */
static const char *
shared_fields(const struct selection *a, const struct selection *b)
{
    static const char *const modes[] = {"u", "k", "h"};
    const enum family_id family = a->machine->family;

    if (strcmp(a->machine->units[a->unit].name, "cpu") != 0 ||
        a->unit != b->unit ||
        (family != FAMILY_NIAGARA1 && family != FAMILY_NIAGARA2))
        return NULL;
    for (size_t i = 0; i < 3; i++)
        if (value_of(a, modes[i]) != value_of(b, modes[i]))
            return "one set of mode bits for both counters";
    if (a->sl == 3 && b->sl == 3 && value_of(a, "from") != value_of(b, "from"))
        return "V05: one PERF_CONFIG";
    return NULL;
}

static bool
same_place(const struct selection *a, const struct selection *b)
{
    return a->unit == b->unit &&
           (a->instance < 0 || b->instance < 0 || a->instance == b->instance);
}

const char *
plan_ref_breaks(const struct selection *const *list, size_t count,
                const struct plan_row *rows)
{
    for (size_t i = 0; i < count; i++) {
        const char *rule = counter_breaks(list[i], rows[i].counter);
        for (size_t k = 0; k < i && rule == NULL; k++) {
            if (rows[k].counter == rows[i].counter &&
                same_place(list[k], list[i]))
                rule = "a counter counts one event";
            else
                rule = shared_fields(list[k], list[i]);
        }
        if (rule != NULL)
            return rule;
    }
    return count > 0 && list[0]->machine->family == FAMILY_MONTECITO
               ? montecito_breaks(list, count, rows)
               : NULL;
}

/* What no choice of the others' counters can mend; it only saves time. */
static bool
pair_breaks(const struct selection *const *list, const struct plan_row *rows,
            size_t a, size_t b)
{
    const bool l1d = l1d_set(list[a]) != NONE && l1d_set(list[b]) != NONE;
    const bool l2d =
        l2d_set(list[a]) != NONE && l2d_set(list[b]) != NONE &&
        master_of(rows[a].counter + 4) == master_of(rows[b].counter + 4);

    if (rows[a].counter == rows[b].counter && same_place(list[a], list[b]))
        return true;
    if (list[a]->machine->family != FAMILY_MONTECITO)
        return shared_fields(list[a], list[b]) != NULL;
    return (l1d && l1d_set(list[a]) != l1d_set(list[b])) ||
           (l2d && (l2d_set(list[a]) != l2d_set(list[b]) ||
                    value_of(list[a], "all") != value_of(list[b], "all")));
}

/* Gives the L2D events of a group each unit mask that suits them all. */
static bool
any_umask(const struct selection *const *list, size_t count,
          struct plan_row *rows, int master)
{
    unsigned value = 0;

    for (size_t i = 0; i < count; i++)
        if (master == 0 || l2d_set(list[i]) == NONE)
            rows[i].umask_value = list[i]->umask_value;
    if (master == 0)
        return plan_ref_breaks(list, count, rows) == NULL;
    for (value = 0; value < 16; value++) {
        for (size_t i = 0; i < count; i++)
            if (l2d_set(list[i]) != NONE &&
                master_of(rows[i].counter + 4) == master)
                rows[i].umask_value = (uint8_t)value;
        if (master == 4 ? any_umask(list, count, rows, 6)
                        : plan_ref_breaks(list, count, rows) == NULL)
            return true;
    }
    return false;
}

/* Every counter for the selections from `next` on. */
static bool
any_counters(const struct selection *const *list, size_t count,
             struct plan_row *rows, size_t next)
{
    const bool montecito =
        count > 0 && list[0]->machine->family == FAMILY_MONTECITO;

    if (next == count)
        return any_umask(list, count, rows, montecito ? 4 : 0);
    for (unsigned c = 0; c < list[next]->machine->counter_count; c++) {
        bool barred =
            counter_breaks(list[next], c) != NULL ||
            (montecito && montecito_counter(list[next], (int)c + 4) != NULL);
        rows[next].counter = (uint8_t)c;
        for (size_t k = 0; k < next; k++)
            barred = barred || pair_breaks(list, rows, k, next);
        if (!barred && any_counters(list, count, rows, next + 1))
            return true;
    }
    return false;
}

bool
plan_ref_fits(const struct selection *const *list, size_t count)
{
    struct plan_row rows[PLAN_REF_MAX] = {{0}};

    return any_counters(list, count, rows, 0);
}

/* All partitions: each selection to a group that there is, or a new one. */
struct partition {
    const struct selection *list;
    size_t count;
    size_t group[8];
    size_t best;           /* 0: none found */
    signed char fits[256]; /* by set of selections; -1: not yet known */
};

static bool
set_fits(struct partition *p, size_t group)
{
    const struct selection *picked[8];
    size_t set = 0, count = 0;

    for (size_t i = 0; i < p->count; i++)
        if (p->group[i] == group) {
            set |= (size_t)1 << i;
            picked[count++] = &p->list[i];
        }
    if (p->fits[set] < 0)
        p->fits[set] = plan_ref_fits(picked, count);
    return p->fits[set] != 0;
}

static bool
braces_together(const struct partition *p)
{
    for (size_t i = 0; i < p->count; i++)
        for (size_t k = 0; k < i; k++)
            if (p->list[i].group >= 0 && p->list[i].group == p->list[k].group &&
                p->group[i] != p->group[k])
                return false;
    return true;
}

static void
try_partitions(struct partition *p, size_t next, size_t groups)
{
    if (next < p->count) {
        for (size_t group = 0; group <= groups; group++) {
            p->group[next] = group;
            try_partitions(p, next + 1, group == groups ? groups + 1 : groups);
        }
        return;
    }
    if ((p->best > 0 && groups >= p->best) || !braces_together(p))
        return;
    for (size_t group = 0; group < groups; group++)
        if (!set_fits(p, group))
            return;
    p->best = groups;
}

size_t
plan_ref_groups(const struct selection *list, size_t count)
{
    struct partition p = {.list = list, .count = count};

    memset(p.fits, -1, sizeof(p.fits));
    try_partitions(&p, 0, 0);
    return p.best;
}
