/* SPDX-License-Identifier: MIT */
/*
 * What the programs `chains` of all architectures have in common:
 *
 *     chains KERNEL ROUNDS
 *
 * runs rounds of instructions of which it is known what each waits for.
 * test/ooo_programs.py has what a round costs. Kernels of one name do the same
 * on all architectures:
 *
 *   sums        100 sums, each of the one before
 *   free        100 sums in 10 chains
 *   products    100 products of integers, each of the one before
 *   divisions   10 divisions of 64 bits, whose operands are always there
 *   floats      100 sums of floating point, each of the one before
 *   loads       100 loads of one line, each by what the one before loaded
 *   chase       64 loads of 1,024 lines, each by what the one before loaded
 *   known       64 loads of these lines, whose addresses are known
 */
#ifndef TALLY_TEST_GUEST_CHAINS_H
#define TALLY_TEST_GUEST_CHAINS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TIMES(count, what) ".rept " #count "\n" what "\n.endr\n"

static uint64_t lines[1024][8] __attribute__((aligned(4096)));

struct kernel {
    const char *name;
    void (*run)(uint64_t rounds);
};

/* Runs the kernel that the command line names; returns the exit status. */
static int
run_kernel(const struct kernel *kernels, size_t count, int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < count; i++) {
        if (strcmp(argv[1], kernels[i].name) == 0) {
            kernels[i].run(strtoull(argv[2], NULL, 10));
            return 0;
        }
    }
    return 2;
}

#endif
