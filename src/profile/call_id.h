/* SPDX-License-Identifier: MIT */
/*
 * Caller ids: a number made of a place's file, line and function. The program
 * that runs and a reader of its file make the same number.
 */
#ifndef TALLY_PROFILE_CALL_ID_H
#define TALLY_PROFILE_CALL_ID_H

#include <stdint.h>

/* Goes on with the FNV-1a hash of a text. */
static inline uint32_t
call_id_text(uint32_t so_far, const char *text)
{
    for (; *text != '\0'; text++)
        so_far = (so_far ^ (unsigned char)*text) * 16777619;
    return so_far;
}

/* Returns the FNV-1a hash of "file:line:function"; never 0. */
static inline uint32_t
call_id(const char *file, uint32_t line, const char *function)
{
    char digits[16], *first = digits + sizeof(digits);
    uint32_t id = call_id_text(2166136261, file);

    *--first = '\0';
    *--first = ':';
    do
        *--first = (char)('0' + line % 10);
    while ((line /= 10) != 0);
    *--first = ':';
    id = call_id_text(call_id_text(id, first), function);
    return id + (id == 0);
}

#endif
