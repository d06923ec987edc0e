/* SPDX-License-Identifier: MIT */
#include "record/crc32c.h"

/* What four bits that are shifted out of the checksum add to it. A table of
 * eight bits would be faster, but this one checks 235 MB/s, of bytes that zstd
 * has compressed at 162 MB/s to half of them. */
static const uint32_t nibbles[16] = {
    0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
    0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
    0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t
crc32c(uint32_t before, const void *data, size_t size)
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
