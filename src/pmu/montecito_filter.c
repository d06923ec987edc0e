/* SPDX-License-Identifier: MIT */
/*
 * The filters that narrow Montecito's events to instructions and data:
 * instruction address ranges (IBR0 to 7, PMC38, PMC32), opcode matchers (PMC32
 * to 36), data address ranges (DBR0 to 7, PMC41). Sections 3.3.5 to 3.3.7.
 *
 * An occurrence without a known instruction passes the filters of
 * instructions; one without a known data address passes those of data. Only
 * PMC41 narrows memory pipeline events (DAR in the event tables). Programming
 * that is undefined or illegal matches nothing: ranges 2 and 3 in fine mode, a
 * fine range whose upper pair is switched off, a pair that the debugger uses
 * (x), memory events under a PMC41 that contradicts PMC32 and 38.
 */
#include "pmu/montecito.h"

#define MATCHER_ALL UINT64_C(0x000f01ffffffffff) /* mifb and mask */
#define OPCODE_MASK ((UINT64_C(1) << 41) - 1)
#define IG_AD (UINT64_C(1) << 57)
#define INV (UINT64_C(1) << 56)
#define FINE (UINT64_C(1) << 13)
/* IBR and DBR: bits 63:56 of an address are compared whatever the mask. */
#define NO_MASK UINT64_C(0xff00000000000000)
#define IBR_X (UINT64_C(1) << 63)

static bool
ignores_range(const struct montecito_thread *t, unsigned channel)
{
    return (t->pmc[38] >> (1 + 3 * channel) & 1) != 0;
}

void
montecito_filter_update(struct montecito_thread *t)
{
    static const uint8_t tag_low[4] = {3, 11, 19, 27};
    struct montecito_filter f = {0};

    for (unsigned k = 0; k < 4; k++) {
        const uint64_t matcher = t->pmc[32 + 2 * (k & 1)];
        const unsigned bit = 1U << k;
        const unsigned config = (unsigned)(t->pmc[41] >> tag_low[k] & 3);

        if (!ignores_range(t, k) && (k != 0 || (t->pmc[32] & IG_AD) == 0))
            f.ranges |= (uint8_t)bit;
        if ((t->pmc[36] >> k & 1) == 0 && (~matcher & MATCHER_ALL) != 0)
            f.opcodes |= (uint8_t)bit;
        if ((t->pmc[41] >> (45 + k) & 1) == 0 || config == 3)
            continue;
        f.data |= (uint8_t)bit;
        f.data_tag |= (uint8_t)(config <= 1 ? bit : 0);
        f.data_dbr |= (uint8_t)((config & 1) == 0 ? bit : 0);
    }
    f.illegal = (t->pmc[41] >> 45 & 0xf) == 0 && (t->pmc[32] & IG_AD) == 0 &&
                (!ignores_range(t, 0) || !ignores_range(t, 1));
    f.narrows = (uint8_t)((f.ranges != 0 ? MONTECITO_BY_RANGE : 0) |
                          (f.opcodes != 0 ? MONTECITO_BY_OPCODE : 0) |
                          (f.data != 0 || f.illegal ? MONTECITO_BY_DATA : 0));
    t->filter = f;
}

/* Applies the equation of section 3.3.5.1 for fine mode: the limits are outside
 * the range, unless TALLY_PMU_FINE_INCLUSIVE is set (decision X29). */
static bool
in_fine_range(const struct montecito_thread *t, unsigned channel, uint64_t ip)
{
    const uint64_t *pair = &t->ibr[2 * channel];
    const uint64_t mask = (pair[1] | NO_MASK) & ~UINT64_C(0xffff);
    const uint64_t low = pair[0] & 0xffff;
    const uint64_t high = pair[4] & 0xffff;
    const uint64_t at = ip & 0xffff;

    if (channel >= 2 || (pair[5] & IBR_X) != 0 ||
        ignores_range(t, channel + 2) || ((ip ^ pair[0]) & mask) != 0)
        return false;
    if ((t->flags & TALLY_PMU_FINE_INCLUSIVE) != 0)
        return at >= low && at <= high;
    return at > low && at < high;
}

static bool
in_range(const struct montecito_thread *t, unsigned channel, uint64_t ip)
{
    const uint64_t *pair = &t->ibr[2 * channel];
    const bool fine = (t->pmc[38] & FINE) != 0;
    bool match = ((ip ^ pair[0]) & (pair[1] | NO_MASK)) == 0;

    /* IA-32 instructions are in no range (Table 3-9). */
    if ((pair[1] & IBR_X) != 0 || (t->psr & MONTECITO_PSR_IS) != 0)
        return false;
    if (fine)
        match = in_fine_range(t, channel, ip);
    if (channel == 0 && (t->pmc[32] & INV) != 0)
        match = !match;
    return match && (pair[1] >> (56 + MONTECITO_PSR_CPL(t->psr)) & 1) != 0;
}

/* Returns the bits of mifb that an instruction's type needs: b is bit 0, m is
 * bit 3; type A needs m and i. */
static unsigned
slots(uint8_t type)
{
    switch (type) {
    case 'B':
        return 1;
    case 'F':
        return 2;
    case 'I':
        return 4;
    case 'M':
        return 8;
    case 'A':
        return 12;
    default:
        return 0;
    }
}

static bool
opcode_matches(const struct montecito_thread *t, unsigned channel,
               const struct tally_pmu_context *c)
{
    const unsigned matcher = 32 + 2 * (channel & 1);
    const unsigned mifb = (unsigned)(t->pmc[matcher] >> 48 & 0xf);
    const unsigned type = slots(c->type);

    if (c->type == 0 || (t->psr & MONTECITO_PSR_IS) != 0)
        return true;
    return type != 0 && (mifb & type) == type &&
           ((c->opcode ^ t->pmc[matcher + 1]) & ~t->pmc[matcher] &
            OPCODE_MASK) == 0;
}

/* Returns whether the channel tags the instruction, with or without the
 * channel's opcode matcher. */
static bool
tagged(const struct montecito_thread *t, unsigned channel, bool by_opcode,
       const struct tally_pmu_context *c)
{
    const struct montecito_filter *f = &t->filter;

    if ((c->known & 1) == 0)
        return true;
    if ((f->ranges >> channel & 1) != 0 && !in_range(t, channel, c->pc))
        return false;
    return !by_opcode || (f->opcodes >> channel & 1) == 0 ||
           opcode_matches(t, channel, c);
}

unsigned
montecito_tags(const struct montecito_thread *t,
               const struct tally_pmu_context *c)
{
    unsigned tags = 0;

    for (unsigned k = 0; k < 4; k++) {
        if (tagged(t, k, true, c))
            tags |= 1U << k;
    }
    return tags;
}

/* Returns whether one of the channels that PMC41 uses matches: the matches of
 * the four DBR pairs are ORed. */
static bool
data_qualifies(const struct montecito_thread *t,
               const struct tally_pmu_context *c)
{
    const struct montecito_filter *f = &t->filter;

    if (f->illegal)
        return false;
    for (unsigned k = 0; k < 4; k++) {
        const uint64_t *pair = &t->dbr[2 * k];
        const bool other = (c->known & 2) != 0 &&
                           ((c->ea ^ pair[0]) & (pair[1] | NO_MASK)) != 0;

        if ((f->data >> k & 1) != 0 &&
            ((f->data_dbr >> k & 1) == 0 || !other) &&
            ((f->data_tag >> k & 1) == 0 || tagged(t, k, true, c)))
            return true;
    }
    return f->data == 0;
}

/* Returns the channel whose tag narrows an event: section 3.3.5.2, and 4.15 for
 * events of the second level (decision X48). */
static unsigned
channel_of(unsigned code, unsigned lines, const struct tally_pmu_context *c)
{
    switch (code) {
    case MONTECITO_INST_RETIRED:
        return lines & 3;
    case 0x44: /* L1I_PREFETCHES, L2I_PREFETCHES, L1I_STRM_PREFETCHES */
    case 0x45:
    case 0x5f:
    case 0x78: /* L2I_READS to L2I_SPEC_ABORTS */
    case 0x79:
    case 0x7a:
    case 0x7b:
    case 0x7c:
    case 0x7d:
    case 0x7e:
        return 1;
    case 0x41: /* L1I_FILLS, ISB_BUNPAIRS_IN, L1I_FETCH_RAB_HIT and _ISB_HIT */
    case 0x46:
    case 0x65:
    case 0x66:
        return (c->flags & TALLY_PMU_PREFETCH) != 0;
    default:
        return 0;
    }
}

bool
montecito_qualifies(const struct montecito_thread *t, unsigned narrowed,
                    unsigned code, unsigned lines,
                    const struct tally_pmu_context *c)
{
    if ((narrowed & MONTECITO_BY_DATA) != 0)
        return data_qualifies(t, c);
    /* CPU_OP_CYCLES.QUAL needs channel 1 to let everything through. */
    if (code == MONTECITO_CPU_OP_CYCLES && (c->known & 1) != 0 &&
        ((t->filter.ranges | t->filter.opcodes) & 2) != 0)
        return false;
    return tagged(t, channel_of(code, lines, c),
                  (narrowed & MONTECITO_BY_OPCODE) != 0, c);
}
