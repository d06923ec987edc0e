/* SPDX-License-Identifier: MIT */
/*
 * Numbers and strings as bytes: a buffer that grows while they are appended,
 * and a cursor that reads them and never leaves its bytes.
 *
 * Numbers of a fixed size are little endian on every host. A varint is LEB128:
 * seven bits a byte, the lowest first, bit 7 set in each byte but the last. A
 * signed varint is zigzag: 0, -1, 1, -2 are the varints 0, 1, 2, 3. A string is
 * its length as a varint, then its bytes, without a NUL.
 *
 * A failure is kept: the caller appends or reads all, then looks at `failed`.
 */
#ifndef TALLY_RECORD_BYTES_H
#define TALLY_RECORD_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VARINT_SIZE 10 /* of the longest: 64 bits, seven a byte */

/* A buffer that grows. All zero is an empty one. */
struct bytes {
    uint8_t *data;
    size_t size, room;
    bool failed; /* there was no memory: something is missing */
};

/* What is left to read; cursor_of() makes one. */
struct cursor {
    const uint8_t *at, *end;
    bool failed; /* something was not there, or was no varint of 64 bits */
};

/* Frees the buffer's memory and makes it an empty one. */
static inline void
bytes_finish(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}

/* Empties the buffer and forgets a failure; keeps the memory. */
static inline void
bytes_clear(struct bytes *b)
{
    b->size = 0;
    b->failed = false;
}

/* Returns where `size` more bytes have their place, which are part of the
 * buffer from now on, or NULL. */
static inline uint8_t *
bytes_extend(struct bytes *b, size_t size)
{
    if (b->failed || size > SIZE_MAX / 8 - b->size) {
        b->failed = true;
        return NULL;
    }
    if (b->data == NULL || size > b->room - b->size) {
        const size_t room = 2 * (b->size + size) + 64;
        uint8_t *const data = realloc(b->data, room);
        if (data == NULL) {
            b->failed = true;
            return NULL;
        }
        b->data = data;
        b->room = room;
    }
    b->size += size;
    return b->data + b->size - size;
}

/* Appends the bytes alone, without their length. */
static inline void
bytes_append(struct bytes *b, const void *data, size_t size)
{
    uint8_t *const to = bytes_extend(b, size);

    if (to != NULL && size > 0)
        memcpy(to, data, size);
}

/* Writes a little-endian number of 32 bits. */
static inline void
bytes_put_u32(uint8_t *to, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Writes a little-endian number of 64 bits. */
static inline void
bytes_put_u64(uint8_t *to, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Returns the little-endian number of 32 bits. */
static inline uint32_t
bytes_get_u32(const uint8_t *at)
{
    uint32_t value = 0;

    for (unsigned i = 0; i < 4; i++)
        value |= (uint32_t)at[i] << 8 * i;
    return value;
}

/* Returns the little-endian number of 64 bits. */
static inline uint64_t
bytes_get_u64(const uint8_t *at)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < 8; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/* Appends one byte. */
static inline void
bytes_append_u8(struct bytes *b, uint8_t value)
{
    bytes_append(b, &value, 1);
}

/* Appends a number of 32 bits. */
static inline void
bytes_append_u32(struct bytes *b, uint32_t value)
{
    uint8_t *const to = bytes_extend(b, 4);

    if (to != NULL)
        bytes_put_u32(to, value);
}

/* Appends a number of 64 bits. */
static inline void
bytes_append_u64(struct bytes *b, uint64_t value)
{
    uint8_t *const to = bytes_extend(b, 8);

    if (to != NULL)
        bytes_put_u64(to, value);
}

/* Appends a varint in the fewest bytes. */
static inline void
bytes_append_varint(struct bytes *b, uint64_t value)
{
    uint8_t text[VARINT_SIZE];
    size_t size = 0;

    for (; value > 0x7f; value >>= 7)
        text[size++] = (uint8_t)(value | 0x80);
    text[size++] = (uint8_t)value;
    bytes_append(b, text, size);
}

/* Appends a signed varint in the fewest bytes. */
static inline void
bytes_append_signed(struct bytes *b, int64_t value)
{
    const uint64_t bits = (uint64_t)value;

    bytes_append_varint(b, value < 0 ? ~(bits << 1) : bits << 1);
}

/* Appends the length, then the bytes of the text, which may hold NULs. */
static inline void
bytes_append_string(struct bytes *b, const char *text, size_t length)
{
    bytes_append_varint(b, length);
    bytes_append(b, text, length);
}

/* Returns a cursor over the bytes, which stay the caller's. `data` may be NULL
 * if there are none. */
static inline struct cursor
cursor_of(const uint8_t *data, size_t size)
{
    static const uint8_t none[1];
    const uint8_t *const at = size > 0 ? data : none;

    return (struct cursor){at, at + size, false};
}

/* Returns how many bytes are left; 0 after a failure. */
static inline size_t
cursor_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

/* Passes by `size` bytes and returns where they are. If there are fewer, fails,
 * leaves nothing to read, and returns NULL. */
static inline const uint8_t *
cursor_take(struct cursor *c, uint64_t size)
{
    const uint8_t *const at = c->at;

    if (c->failed || size > cursor_left(c)) {
        c->failed = true;
        c->at = c->end;
        return NULL;
    }
    c->at += size;
    return at;
}

/* Reads one byte; 0 on failure. */
static inline uint8_t
cursor_u8(struct cursor *c)
{
    const uint8_t *const at = cursor_take(c, 1);

    return at != NULL ? *at : 0;
}

/* Reads a number of 32 bits; 0 on failure. */
static inline uint32_t
cursor_u32(struct cursor *c)
{
    const uint8_t *const at = cursor_take(c, 4);

    return at != NULL ? bytes_get_u32(at) : 0;
}

/* Reads a number of 64 bits; 0 on failure. */
static inline uint64_t
cursor_u64(struct cursor *c)
{
    const uint8_t *const at = cursor_take(c, 8);

    return at != NULL ? bytes_get_u64(at) : 0;
}

/* Reads a varint; 0 on failure. More than 64 bits fail; zeroes that a writer
 * need not have written do not. */
static inline uint64_t
cursor_varint(struct cursor *c)
{
    uint64_t value = 0;

    if (c->at < c->end && *c->at < 0x80) /* most are */
        return *c->at++;
    for (unsigned i = 0; i < VARINT_SIZE; i++) {
        const uint8_t byte = cursor_u8(c);
        if (c->failed || (i == VARINT_SIZE - 1 && byte > 1))
            break;
        value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            return value;
    }
    c->failed = true;
    c->at = c->end;
    return 0;
}

/* Reads a signed varint; 0 on failure. */
static inline int64_t
cursor_signed(struct cursor *c)
{
    const uint64_t bits = cursor_varint(c);

    return (int64_t)(bits >> 1 ^ (0 - (bits & 1)));
}

/* Passes by a count of values and the values: of each its row less the row
 * behind the one before, a varint, and a number, a varint too. Returns whether
 * they are all there and of rows below `rows`. */
static inline bool
cursor_pass_values(struct cursor *c, uint64_t rows)
{
    const uint64_t more = UINT64_C(0x8080808080808080);
    const uint64_t evens = UINT64_C(0x00ff00ff00ff00ff);
    struct cursor rest = *c;
    uint64_t left = cursor_varint(&rest), row = 0;

    while (left > 0) {
        /* Four values of one byte a number at a time, where there are: most
         * counts are small. The product has the sum of the four steps on top.
         */
        if (left >= 4 && cursor_left(&rest) >= 8) {
            const uint64_t word = bytes_get_u64(rest.at);
            if ((word & more) == 0) {
                row +=
                    ((word & evens) * UINT64_C(0x0001000100010001) >> 48) + 4;
                if (row > rows)
                    return false;
                rest.at += 8;
                left -= 4;
                continue;
            }
        }
        const uint64_t step = cursor_varint(&rest);
        cursor_varint(&rest);
        if (rest.failed || step >= rows - row)
            return false;
        row += step + 1;
        left--;
    }
    *c = rest;
    return !rest.failed;
}

/* Reads a string: returns where it is among the cursor's bytes, without a NUL
 * after it, and sets its length. NULL and 0 on failure. */
static inline const char *
cursor_string(struct cursor *c, size_t *length)
{
    const uint64_t size = cursor_varint(c);
    const uint8_t *const text = cursor_take(c, size);

    *length = text != NULL ? (size_t)size : 0;
    return (const char *)text;
}

#endif
