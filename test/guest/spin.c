/* SPDX-License-Identifier: MIT */
/*
 * spin [N]: one loop of N turns (a million without N). Two runs of N and M
 * turns differ by 3 (N - M) instructions on sparc64 and mips64, 2 (N - M) on
 * x86_64, provided the digits of N and M are as many.
 */
#include <stdlib.h>

#include "loop.h"

int
main(int argc, char **argv)
{
    loop(argc > 1 ? strtoul(argv[1], NULL, 0) : 1000000);
    return 0;
}
