/* SPDX-License-Identifier: MIT */
/*
 * Bytes written in hexadecimal without spaces.
 */
#ifndef TALLY_TEST_ISA_HEX_H
#define TALLY_TEST_ISA_HEX_H

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Stores at most `size` bytes, up to the first other character; returns how
   many. */
static inline size_t
hex_bytes(const char *hex, uint8_t *bytes, size_t size)
{
    size_t count = 0;

    while (count < size && isxdigit((unsigned char)hex[0]) &&
           isxdigit((unsigned char)hex[1])) {
        const char pair[] = {hex[0], hex[1], '\0'};

        bytes[count++] = (uint8_t)strtoul(pair, NULL, 16);
        hex += 2;
    }
    return count;
}

#endif
