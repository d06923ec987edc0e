/* SPDX-License-Identifier: MIT */
/*
 * hello: one line. Built static, and dynamic as hello.dyn.
 */
#include <stdio.h>

int
main(void)
{
    puts("hello");
    return 0;
}
