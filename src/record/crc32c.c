/* SPDX-License-Identifier: MIT */
#include "record/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

/* What four bits that are shifted out of the checksum add to it. */
static const uint32_t nibbles[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
    0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
    0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t
crc32c_by_table(uint32_t before, const void *data, size_t size)
{
    const uint8_t *const bytes = data;
    uint32_t crc = ~before;

    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ nibbles[crc & 15];
        crc = crc >> 4 ^ nibbles[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)
/* By the processor's own instruction, eight bytes at a time. */
__attribute__((target("sse4.2"))) static uint32_t
by_instruction(uint32_t before, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    uint64_t crc = (uint32_t)~before;

    for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes, sizeof(word));
        crc = _mm_crc32_u64(crc, word);
        bytes += sizeof(word);
    }
    for (; size > 0; size--)
        crc = _mm_crc32_u8((uint32_t)crc, *bytes++);
    return ~(uint32_t)crc;
}
#endif

uint32_t
crc32c(uint32_t before, const void *data, size_t size)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return by_instruction(before, data, size);
#endif
    return crc32c_by_table(before, data, size);
}
