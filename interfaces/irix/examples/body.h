/* SPDX-License-Identifier: MIT */
/* The body of the page's example program, which the page leaves out: something
 * to miss the data cache with. */
#ifndef BODY_H
#define BODY_H

static volatile unsigned char memory[1 << 20];

static void
body(void)
{
    for (int round = 0; round < 4; round++)
        for (unsigned i = 0; i < sizeof(memory); i += 32)
            memory[i]++;
}

#endif
