/* SPDX-License-Identifier: MIT */
#include "isa/recent.h"

#include <string.h>

#include "isa/isa.h"

#define SIZE_BYTE 15 /* of the key, behind the longest instruction */

/* Returns whether the instruction accesses an address that may be relative to
 * its own: one without registers. */
static bool
may_be_near(const struct insn *insn)
{
    return insn->addr_known && insn->addr_base == INSN_NO_REG &&
           insn->addr_index == INSN_NO_REG;
}

/* Returns whether the instruction is a direct branch: it says how far it goes,
 * never where to. */
static bool
is_direct(const struct insn *insn)
{
    return insn->branch == BRANCH_CONDITIONAL || insn->branch == BRANCH_JUMP ||
           insn->branch == BRANCH_CALL;
}

bool
insn_recent_decode(struct insn_recent *recent, const struct isa *isa,
                   const uint8_t *bytes, size_t size, uint64_t pc,
                   struct insn *insn)
{
    uint8_t key[16] = {0};
    uint64_t word[2];

    if (!isa_decoder(isa)->slow || size == 0 || size > SIZE_BYTE)
        return insn_decode(isa, bytes, size, pc, insn);
    memcpy(key, bytes, size);
    key[SIZE_BYTE] = (uint8_t)size;
    memcpy(word, key, sizeof(word));
    const uint64_t hash =
        (word[0] ^ word[1] * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
    const size_t at = hash >> 32 & (INSN_RECENT - 1);

    if (recent->row[at].bytes[0] == word[0] &&
        recent->row[at].bytes[1] == word[1]) {
        *insn = recent->row[at].insn;
        if (is_direct(insn))
            insn->target += pc - recent->row[at].pc;
        return true;
    }
    const bool whole = insn_decode(isa, bytes, size, pc, insn);
    if (!whole || insn->size != size || may_be_near(insn))
        return whole;
    memcpy(recent->row[at].bytes, word, sizeof(word));
    recent->row[at].pc = pc;
    recent->row[at].insn = *insn;
    return true;
}
