/* SPDX-License-Identifier: MIT */
/*
 * Makes blocks of the instructions and accesses of an imported trace: a run of
 * instructions that stand one behind the other is a block, and the same run
 * with as many loads and stores in each instruction is the same block. Hands
 * them to the writer of a trace as the tracer in QEMU does.
 */
#ifndef TALLY_TRACE_IMPORT_BLOCKS_H
#define TALLY_TRACE_IMPORT_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "isa/insn.h"
#include "trace/trace_writer.h"

/* The most bytes of an instruction, and accesses of one kind that an
 * instruction makes. */
#define IMPORT_SIZE_MOST 31u
#define IMPORT_ACCESSES 255u

struct import_blocks;

/* NULL: there is no memory. `alone`: accesses have no instructions. */
struct import_blocks *
import_blocks_create(struct trace_writer *writer, bool alone);
void import_blocks_destroy(struct import_blocks *blocks);

/* Begins an instruction of 1 to IMPORT_SIZE_MOST bytes, which the accesses that
 * follow belong to; a first instruction has those before, too. `branch`: enum
 * insn_branch. `target`: of a conditional branch, 0: not known. */
void
import_blocks_insn(struct import_blocks *blocks, uint64_t pc, unsigned size,
                   enum insn_branch branch, uint64_t target);

/* Adds an access of `size` bytes, which is in pieces of 8 bytes and less. An
 * instruction has IMPORT_ACCESSES loads and as many stores at most: returns
 * false for one more. */
bool import_blocks_access(struct import_blocks *blocks, bool store,
                          uint64_t address, uint64_t size);

/* Begins the instruction once more, which has as many accesses as it may. */
void import_blocks_again(struct import_blocks *blocks);

/* Returns whether instructions and accesses may follow: false where there is no
 * memory, or where the writer takes no more. */
bool import_blocks_good(const struct import_blocks *blocks);

/* Hands over what is left. 0, TALLY_ENOMEM, or TALLY_ESYSTEM where the writer
 * has taken no more. */
int import_blocks_end(struct import_blocks *blocks);

#endif
