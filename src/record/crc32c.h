/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C (Castagnoli), as of iSCSI (RFC 3720, section 12.1): the polynomial
 * 0x1edc6f41, bits reflected, first and last complemented.
 */
#ifndef TALLY_RECORD_CRC32C_H
#define TALLY_RECORD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of the bytes that `before` is the checksum of, followed
 * by the bytes at `data`. The checksum of no bytes is 0. */
uint32_t crc32c(uint32_t before, const void *data, size_t size);

/* The same without the processor's instruction for it: for processors that have
 * none, and for the test of the other. */
uint32_t crc32c_by_table(uint32_t before, const void *data, size_t size);

#endif
