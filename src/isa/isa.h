/* SPDX-License-Identifier: MIT */
/*
 * The guest architectures, a row each. Numbers and names stand in
 * data/isa.toml, from which scripts/gen_isa.py makes the rows; behaviour is the
 * decoder's, in a file of its own. No other file asks which architecture a
 * guest is of.
 */
#ifndef TALLY_ISA_ISA_H
#define TALLY_ISA_ISA_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/calls.h"
#include "isa/insn.h"
#include "isa/operands.h"
#include "isa/sum.h"
#include "isa_places.h"

/* Delay slots, and where QEMU has a slot that may be annulled. */
enum isa_slots {
    SLOTS_NONE,
    SLOTS_APART,  /* in a block of its own, behind the branch's */
    SLOTS_WITHIN, /* in the branch's block: what runs next tells */
};

#define ISA_LOOKUP_MOST 8u
#define ISA_REGISTERS 12u
#define ISA_GENERAL 32u /* general registers at most */

struct isa_decoder {
    /*
     * As insn_decode(), called with *insn zeroed but for the registers, which
     * are INSN_NO_REG. Returns false with *insn untouched if the bytes end
     * before the instruction does.
     */
    bool (*decode)(const struct isa *isa, const uint8_t *bytes, size_t size,
                   uint64_t pc, struct insn *insn);
    /* As insn_text(). */
    void (*text)(const struct isa *isa, const uint8_t *bytes, size_t size,
                 uint64_t pc, char *text, size_t text_size);
    /* As insn_set() and insn_bad_size(); NULL where the decoder does not know
     * which processors have an instruction. */
    const char *(*set)(const uint8_t *bytes, size_t size);
    size_t (*bad_size)(const uint8_t *bytes, size_t size);
    /* As insn_operands(), of *operands that is zero; NULL: not known. */
    bool (*operands)(const uint8_t *bytes, size_t size,
                     struct insn_operands *operands);
    /* The registers of operands that are flags, a bit each. */
    uint64_t flags;
    /* As insn_sum(), of *sum that has no registers; NULL: not known. */
    bool (*sum)(const struct isa *isa, const uint8_t *bytes, size_t size,
                uint64_t pc, struct insn_sum *sum);
    /* Returns whether the code before `end`, 3 bytes at least, may be an
     * instruction that repeats itself (ACCESS_REPEATED); to be wrong costs a
     * call, no count. NULL: none does. */
    bool (*may_repeat)(const uint8_t *end);
    /* An instruction takes long to decode and moves with its address:
     * insn_recent_decode() remembers it. */
    bool slow;
};

struct isa {
    const char *name; /* QEMU's: "sparc64", "x86_64", "mips64el" */
    uint16_t elf_machine;
    uint8_t elf_class, elf_data;
    bool big_endian; /* data */
    /* Programs run whose e_flags have at most `flags_most` in the bits of
     * `flags_mask` and none of `flags_none`; else `flags_refusal` says which
     * they are and which run: "X; tally runs Y". */
    uint32_t flags_mask, flags_most, flags_none;
    const char *flags_refusal;
    int8_t stack_pointer; /* the register's number, as in struct insn */
    /* The register that has the caller's stack pointer; -1: none has. */
    int8_t frame_pointer;
    uint16_t stack_bias; /* bytes that stack pointers are too low */
    uint8_t call_pushes; /* bytes that a call puts on the stack */
    uint32_t kept; /* registers that a function gives back as they were, a bit
                      each */
    /* The decoder's numbers of general registers, by DWARF's; -1: none. */
    int8_t dwarf_registers[ISA_GENERAL];
    /* Bytes from the return address, as a register has it, to where the call
     * returns. */
    uint8_t return_behind;
    /* QEMU's functions that read and write a register for a debugger, and the
     * numbers of registers for them, by part of a call: as plugin/registers.h
     * has the parts. -1: none. */
    const char *register_reader, *register_writer;
    int8_t register_numbers[ISA_REGISTERS];
    bool repeats;         /* has instructions that repeat themselves */
    uint64_t page;        /* bytes */
    uint8_t step_bits;    /* lowest bits that are 0 in each code address */
    uint8_t slots;        /* enum isa_slots */
    const char *machine;  /* that counts where none is asked for */
    const char *cpu;      /* -cpu of QEMU; NULL: QEMU's own choice */
    const char *cpu_name; /* its first word, for people */
    const char *sysroot;  /* the cross libc's; NULL: the host's root */
    const char *loader_package;
    uint8_t lookup[ISA_LOOKUP_MOST]; /* the instruction by which a guest looks
                                        up counts */
    uint8_t lookup_size;
    uint8_t sigbus;       /* the number of the signal */
    uint8_t handler_at;   /* offset in struct sigaction */
    uint8_t cause_at;     /* offset of si_code in siginfo_t */
    uint8_t clone_child;  /* the argument of clone(), from 1 on, with the
                             word that is cleared as the thread ends */
    int16_t timed_out;    /* the number of ETIMEDOUT */
    uint8_t microseconds; /* bytes of tv_usec in struct timeval, 4 or 8 */
    /* Of the register of failure: they say that a system call failed, and that
     * its result is the number of the error. 0: the result of such a call is
     * negative. */
    uint64_t failure_bits;
    uint32_t level_property; /* type of the note of levels; 0: none */
    bool imported; /* no architecture, but what an imported trace has of one:
                      isa/imported.h */
    bool write_repeated; /* QEMU repeats a write to its own block, alone */
    bool waits_unseen;   /* who waits for which child is not looked at */
    int16_t calls[CALL_COUNT]; /* -1: it has no such call */
};

/* By enum isa_place: those of data/isa.toml, ISA_COUNT, and ISA_IMPORTED. */
extern const struct isa isa_rows[ISA_ROWS];

/* By enum isa_place. Apart from the rows: who asks for no decoder needs none of
 * the libraries that decoders use. */
extern const struct isa_decoder *const isa_decoders[ISA_ROWS];

static inline const struct isa_decoder *
isa_decoder(const struct isa *isa)
{
    return isa_decoders[isa - isa_rows];
}

/* Returns the row of this name, which is data/isa.toml's and QEMU's, or NULL.
 */
const struct isa *isa_find(const char *name);

/* Returns the row that the ELF header belongs to, or NULL. */
const struct isa *isa_of_elf(const Elf64_Ehdr *elf);

#endif
