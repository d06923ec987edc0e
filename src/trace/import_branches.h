/* SPDX-License-Identifier: MIT */
/*
 * Finds out what a trace of instructions does not say itself, and hands the
 * instructions on as blocks: where the target of a conditional branch is, which
 * is known once it was taken, and, where they are not given, how many bytes
 * instructions have. An instruction has as many bytes as there are to the next
 * one, if that is near behind and no branch was taken; a call has those to
 * where its return went. Until the number is known it is 4.
 */
#ifndef TALLY_TRACE_IMPORT_BRANCHES_H
#define TALLY_TRACE_IMPORT_BRANCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/import_blocks.h"

struct import_branches;

struct branch_insn {
    uint64_t pc;
    unsigned size; /* bytes; 0: not known */
    enum insn_branch branch;
    bool taken; /* of a conditional branch; asked where `size` is 0 */
};

/* NULL: there is no memory. */
struct import_branches *import_branches_create(struct import_blocks *blocks);
void import_branches_destroy(struct import_branches *branches);

/* Begins an instruction, which the accesses that follow belong to. Its address
 * and IMPORT_SIZE_MOST have 64 bits. Returns false without memory. */
bool import_branches_insn(struct import_branches *branches,
                          const struct branch_insn *insn);

/* Adds an access of the instruction; false where the instruction has
 * IMPORT_ACCESSES of that kind. */
bool import_branches_access(struct import_branches *branches, bool store,
                            uint64_t address, uint64_t size);

/* Hands on the last instruction. */
void import_branches_end(struct import_branches *branches);

#endif
