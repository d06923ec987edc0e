/* SPDX-License-Identifier: MIT */
/* The sets of x86-64 instructions that the pinned CPU model lacks, from
 * data/instruction-sets.toml. */
#ifndef TALLY_CLI_ILLEGAL_SETS_H
#define TALLY_CLI_ILLEGAL_SETS_H

#include <stdbool.h>

struct illegal_set {
    const char *prefix; /* of the set's name in Zydis */
    const char *name;   /* for people */
    const char *flag;   /* in /proc/cpuinfo */
    const char *advice; /* how to build a program without the set */
    bool max;           /* QEMU 7.2 has the set in --cpu-model max */
};

/* Longer prefixes stand before shorter ones; a row without a prefix ends. */
extern const struct illegal_set illegal_sets[];

#endif
