/* SPDX-License-Identifier: MIT */
/*
 * The records that ChampSim reads, `input_instr` of its file
 * inc/trace_instruction.h: 64 bytes an instruction, little endian.
 *
 *   byte 0: address; 8: whether it is a branch; 9: whether it was taken;
 *   10: two registers that it changes; 12: four that it reads;
 *   16: two addresses that it stores to; 32: four that it loads from
 *
 * A register or address of 0 is none. ChampSim finds out what kind of branch
 * it is by three registers: the stack pointer is 6, the flags 25, the
 * instruction pointer 26 (inc/instruction.h). All others are only compared.
 */
#ifndef TALLY_TRACE_CHAMPSIM_H
#define TALLY_TRACE_CHAMPSIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct isa;

#define CHAMPSIM_RECORD 64u /* bytes */
#define CHAMPSIM_CHANGES 2u
#define CHAMPSIM_READS 4u

enum champsim_register {
    CHAMPSIM_STACK_POINTER = 6,
    CHAMPSIM_FLAGS = 25,
    CHAMPSIM_POINTER = 26, /* of instructions */
    CHAMPSIM_OTHERS = 64,  /* number 0 of enum operand registers, and so on */
    CHAMPSIM_UNKNOWN = 128,
};

struct champsim_record {
    uint64_t pc;
    bool is_branch, branch_taken;
    uint8_t changes[CHAMPSIM_CHANGES], reads[CHAMPSIM_READS];
    uint64_t stores[CHAMPSIM_CHANGES], loads[CHAMPSIM_READS];
};

/* Fills in the record of an instruction that makes no access; a branch that is
 * always taken is taken, others are not. *left becomes how many of its
 * registers have no place. Returns whether a delay slot follows. `isa` NULL: of
 * the instruction the address alone is known. */
bool
champsim_describe(const struct isa *isa, const uint8_t *code, size_t size,
                  uint64_t pc, struct champsim_record *record, uint32_t *left);

/* Adds an access to the record, unless it has one of that kind to the same 64
 * bytes, which ChampSim takes for the same. Returns whether it is in. */
bool
champsim_access(struct champsim_record *record, uint64_t address, bool store);

/* Writes the CHAMPSIM_RECORD bytes of a record. */
void champsim_encode(const struct champsim_record *record, uint8_t *bytes);

/* Reads them. Returns false where they are no record: other values than 0 and 1
 * for a branch. */
bool champsim_decode(const uint8_t *bytes, struct champsim_record *record);

#endif
