/* SPDX-License-Identifier: MIT */
/* Prints where main()'s frame is on the stack. */
#include <stdio.h>

int
main(void)
{
    printf("%p\n", __builtin_frame_address(0));
    return 0;
}
