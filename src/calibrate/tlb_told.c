/* SPDX-License-Identifier: MIT */
#include "calibrate/tlb_told.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#define WAYS_MOST 64

uint32_t
tlb_ways(uint32_t entries, uint32_t ways)
{
    for (uint32_t w = ways > 0 ? ways : 1; w <= WAYS_MOST; w++) {
        const uint32_t sets = entries / w;
        if (entries % w == 0 && sets > 0 && (sets & (sets - 1)) == 0)
            return w;
    }
    return 0;
}

/* Returns the least number of ways that a code of AMD's leaf 8000_0006h stands
 * for; 0: none, or all entries. */
static uint32_t
amd_ways(uint32_t code)
{
    static const uint8_t ways[16] = {
        [1] = 1, [2] = 2,  [3] = 3,   [4] = 4,   [5] = 6,
        [6] = 8, [8] = 16, [10] = 32, [11] = 48, [12] = 64,
    };

    return ways[code & 15];
}

struct tlb_told
tlb_told_amd(const struct cpuid_leaf *first, const struct cpuid_leaf *second)
{
    struct tlb_told told = {
        .itlb = first->ebx & 0xff,
        .dtlb = first->ebx >> 16 & 0xff,
        .stlb = second->ebx >> 16 & 0xfff,
    };

    /* A code of 0: there is no such TLB. */
    if (second->ebx >> 28 == 0)
        told.stlb = 0;
    if (told.stlb > 0)
        told.stlb_ways = tlb_ways(told.stlb, amd_ways(second->ebx >> 28));
    return told;
}

void
tlb_told_intel(const struct cpuid_leaf *leaf, struct tlb_told *told)
{
    enum { DATA = 1, INSTRUCTIONS, BOTH, LOADS };
    const uint32_t type = leaf->edx & 31, level = leaf->edx >> 5 & 7;
    const uint32_t ways = leaf->ebx >> 16;
    const uint64_t all = (uint64_t)ways * leaf->ecx;
    const uint32_t entries = all <= 65536 ? (uint32_t)all : 0;

    if ((leaf->ebx & 1) == 0) /* no pages of 4 KB */
        return;
    if (level == 1 && (type == DATA || type == LOADS))
        told->dtlb = entries;
    if (level == 1 && type == INSTRUCTIONS)
        told->itlb = entries;
    if (level == 2 && (type == BOTH || type == DATA)) {
        told->stlb = entries;
        told->stlb_ways = entries > 0 ? tlb_ways(entries, ways) : 0;
    }
}

#ifdef __x86_64__
static struct cpuid_leaf
ask(uint32_t leaf, uint32_t subleaf)
{
    struct cpuid_leaf l;

    __cpuid_count(leaf, subleaf, l.eax, l.ebx, l.ecx, l.edx);
    return l;
}

struct tlb_told
tlb_told_here(void)
{
    const struct cpuid_leaf vendor = ask(0, 0);
    struct tlb_told told = {0};

    /* "AuthenticAMD" and "HygonGenuine" begin so in EBX. */
    if ((vendor.ebx == 0x68747541 || vendor.ebx == 0x6f677948) &&
        ask(0x80000000, 0).eax >= 0x80000006) {
        const struct cpuid_leaf first = ask(0x80000005, 0);
        const struct cpuid_leaf second = ask(0x80000006, 0);
        return tlb_told_amd(&first, &second);
    }
    if (vendor.ebx == 0x756e6547 && vendor.eax >= 0x18) { /* "GenuineIntel" */
        const uint32_t last = ask(0x18, 0).eax;
        for (uint32_t i = 0; i <= last && i < 32; i++) {
            const struct cpuid_leaf leaf = ask(0x18, i);
            tlb_told_intel(&leaf, &told);
        }
    }
    return told;
}
#else
struct tlb_told
tlb_told_here(void)
{
    return (struct tlb_told){0};
}
#endif
