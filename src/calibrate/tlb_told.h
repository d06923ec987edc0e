/* SPDX-License-Identifier: MIT */
/*
 * The TLBs for pages of 4 KB that an x86-64 processor tells by CPUID: AMD's in
 * leaves 8000_0005h and 8000_0006h (AMD 24594, Appendix E.4.4 and E.4.5),
 * Intel's in leaf 18h (Intel SDM, volume 2A, CPUID). Other processors tell
 * none.
 */
#ifndef TALLY_CALIBRATE_TLB_TOLD_H
#define TALLY_CALIBRATE_TLB_TOLD_H

#include <stdint.h>

/* Entries, and of the second level its ways; 0: not told. */
struct tlb_told {
    uint32_t itlb, dtlb, stlb, stlb_ways;
};

/* The registers of a leaf. */
struct cpuid_leaf {
    uint32_t eax, ebx, ecx, edx;
};

/* Reads what AMD's leaves 8000_0005h and 8000_0006h say. */
struct tlb_told
tlb_told_amd(const struct cpuid_leaf *first, const struct cpuid_leaf *second);

/* Adds what a subleaf of Intel's leaf 18h says. */
void tlb_told_intel(const struct cpuid_leaf *leaf, struct tlb_told *told);

/* Returns the least number of ways from `ways` on with which `entries` make a
 * power of two of sets; 0: there is none up to 64. */
uint32_t tlb_ways(uint32_t entries, uint32_t ways);

/* Asks this processor. */
struct tlb_told tlb_told_here(void);

#endif
