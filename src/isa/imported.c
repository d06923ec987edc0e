/* SPDX-License-Identifier: MIT */
#include "isa/imported.h"

#include <stdio.h>
#include <string.h>

#include "isa/isa.h"

enum {
    AT_SIZE,
    AT_BRANCH,
    AT_LOADS,
    AT_STORES,
    AT_TARGET = 8,
};

extern const struct isa_decoder imported_decoder;

void
imported_encode(const struct imported_insn *insn, uint8_t *bytes)
{
    memset(bytes, 0, IMPORTED_SIZE);
    bytes[AT_SIZE] = insn->size;
    bytes[AT_BRANCH] = insn->branch;
    bytes[AT_LOADS] = insn->loads;
    bytes[AT_STORES] = insn->stores;
    memcpy(bytes + AT_TARGET, &insn->target, sizeof(insn->target));
}

/* Whatever an instruction is, its accesses are as the trace has them
 * (ACCESS_MIXED), and its class is known of a branch alone: what tells other
 * classes apart is idle (data/components.toml, feed.code). */
static bool
decode(const struct isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
       struct insn *insn)
{
    (void)isa, (void)size, (void)pc;
    insn->size = bytes[AT_SIZE];
    insn->branch = bytes[AT_BRANCH];
    insn->loads = bytes[AT_LOADS];
    insn->stores = bytes[AT_STORES];
    insn->access = insn->loads + insn->stores != 0 ? ACCESS_MIXED : ACCESS_NONE;
    insn->class = insn->branch != BRANCH_NONE ? CLASS_BRANCH : CLASS_OTHER;
    if (insn->branch == BRANCH_CONDITIONAL)
        memcpy(&insn->target, bytes + AT_TARGET, sizeof(insn->target));
    return true;
}

static void
write_text(const struct isa *isa, const uint8_t *bytes, size_t size,
           uint64_t pc, char *text, size_t text_size)
{
    (void)isa, (void)bytes, (void)pc;
    snprintf(text, text_size, "%zu bytes", size);
}

const struct isa_decoder imported_decoder = {
    .decode = decode,
    .text = write_text,
};
