/* SPDX-License-Identifier: MIT */
/*
 * What one guest instruction is, decided once when its block is translated.
 *
 * The classes are the partition of the UltraSPARC T2 (PCR sl 2): each
 * instruction is in exactly one. x86-64 instructions are mapped onto it:
 * loads are instructions whose only memory operand is read, stores those whose
 * only memory operand is written, atomics those that lock the bus. Of MIPS,
 * load linked is a load, store conditional a store, and FGU is coprocessor 1.
 * Of AArch64, load and store exclusive are a load and a store, the atomics of
 * Armv8.1 are atomics, and FGU is floating point and vectors. Of RISC-V, LR and
 * SC are a load and a store, AMOs are atomics, and FGU is floating point.
 */
#ifndef TALLY_ISA_INSN_H
#define TALLY_ISA_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct isa;

enum insn_class {
    CLASS_BRANCH,
    CLASS_FGU,
    CLASS_LOAD,
    CLASS_STORE,
    CLASS_SETHI, /* the software count: sethi %hi(0xfc000), %g0 (rule P56) */
    CLASS_OTHER,
    CLASS_ATOMIC,
    CLASS_COUNT
};

/* How the instruction touches data memory in user mode. */
enum insn_access {
    ACCESS_NONE,
    ACCESS_LOAD,     /* one address, read; always performed */
    ACCESS_STORE,    /* one address, written; always performed */
    ACCESS_UPDATE,   /* one address, read then written */
    ACCESS_ATOMIC,   /* one address, read and written as one (LOCK, CASX) */
    ACCESS_MIXED,    /* several addresses, or not always performed */
    ACCESS_REPEATED, /* an x86 REP string instruction */
    ACCESS_FLOAT,    /* as ACCESS_LOAD, where such pass the L1D by: never
                      * decoded, but made of INSN_FLOAT */
};

/* Where a prefetch brings its line. */
enum insn_prefetch {
    PREFETCH_NOWHERE, /* it is none, or brings no line of data */
    PREFETCH_NEAR,    /* to the L1 data cache and what stands behind it */
    PREFETCH_FAR,     /* to the L2 and what stands behind that */
};

enum insn_branch {
    BRANCH_NONE,
    BRANCH_CONDITIONAL,   /* direct, taken or not */
    BRANCH_NEVER,         /* SPARC bn: a branch that is never taken */
    BRANCH_JUMP,          /* direct, always taken */
    BRANCH_CALL,          /* direct call */
    BRANCH_INDIRECT,      /* jump through a register or memory */
    BRANCH_INDIRECT_CALL, /* call through a register or memory */
    BRANCH_RETURN,        /* return from a function */
};

/* Kinds of RISC-V instructions that neither class nor flags tell apart, and
 * that events of SiFive's cores count; see riscv_kind.c. */
enum insn_riscv_kind {
    RISCV_NO_KIND,
    RISCV_ATOMIC, /* LR and SC, too */
    RISCV_SYSTEM,
    RISCV_ARITHMETIC,
    RISCV_JAL,
    RISCV_DIVISION,
    RISCV_FLOAT_STORE,
    RISCV_FLOAT_SUM,
    RISCV_FLOAT_PRODUCT,
    RISCV_FLOAT_FUSED,
    RISCV_FLOAT_QUOTIENT, /* and square roots */
};

enum insn_flags {
    INSN_DELAY_SLOT = 1 << 0, /* the next instruction is its delay slot */
    INSN_ANNUL = 1 << 1,      /* SPARC annul bit; a likely branch of MIPS */
    INSN_SAVE = 1 << 2,       /* SPARC SAVE */
    INSN_RESTORE = 1 << 3,    /* SPARC RESTORE, RETURN */
    INSN_FLUSHW = 1 << 4,     /* SPARC FLUSHW */
    INSN_SYSCALL = 1 << 5,    /* enters the kernel */
    INSN_PREFETCH = 1 << 6,
    INSN_FP = 1 << 7, /* floating-point arithmetic, any unit */
    INSN_MEMBAR = 1 << 8,
    INSN_ILLEGAL = 1 << 9, /* is no instruction, or exists to trap as one */
    INSN_REPEAT_PAIR = 1 << 10, /* an iteration of REP makes two accesses */
    INSN_SHARED_FPU = 1 << 11,  /* of the 23 of the T1's FP_instr_cnt (P62) */
    INSN_MULDIV = 1 << 12,      /* integer multiply, divide; not SPARC, x86 */
    INSN_CONDITIONAL = 1 << 13, /* a store conditional */
    INSN_FLOAT = 1 << 14,    /* what it loads goes to an FPU or a vector unit */
    INSN_NO_FAULT = 1 << 15, /* SPARC: QEMU may show its access twice, or not */
    INSN_PAUSE = 1 << 16,    /* a no-op by which a thread waits for others */
    INSN_TICKS = 1 << 17,    /* x86: reads the processor's own clock */
};

#define INSN_NO_REG (-1)

struct insn {
    uint64_t target;     /* of a direct branch, else 0 */
    uint64_t reg_writes; /* general registers it changes, one bit each */
    int64_t step;        /* step_reg changes by exactly this */
    int64_t addr_disp;   /* address = base + index * scale + disp */
    uint8_t size;        /* bytes */
    uint8_t class;       /* enum insn_class */
    uint8_t access;      /* enum insn_access */
    uint8_t access_size; /* bytes of one access; 0: unknown or varies */
    uint8_t loads;       /* loads in the program's terms; REP counts 0 */
    uint8_t stores;
    uint8_t branch;     /* enum insn_branch */
    uint8_t prefetch;   /* enum insn_prefetch */
    uint8_t addr_scale; /* 0: no index */
    uint8_t riscv_kind; /* enum insn_riscv_kind */
    int8_t step_reg;    /* of those it changes, or INSN_NO_REG */
    int8_t addr_base;   /* register number or INSN_NO_REG */
    int8_t addr_index;
    bool addr_known;     /* the four addr fields hold */
    bool serializes;     /* later fetches see earlier stores: CPUID, FLUSH */
    uint32_t flags;      /* enum insn_flags */
    uint32_t sparc_word; /* of SPARC, for what tells more instructions apart;
                          * 0, which is ILLTRAP there, of others */
};

/* Returns whether the instruction is one load of data that may pass an L1D for
 * integers by. */
static inline bool
insn_is_float(const struct insn *insn)
{
    return (insn->flags & INSN_FLOAT) != 0 && insn->access_size != 0 &&
           (insn->access == ACCESS_LOAD || insn->access == ACCESS_FLOAT);
}

/*
 * Decodes the instruction at `bytes` (at most `size` bytes, memory order) and
 * address `pc`. Returns false, with `size` 0 in *insn, if the bytes end before
 * the instruction does; bytes that are no instruction decode as CLASS_OTHER
 * with INSN_ILLEGAL. Pure; safe from any thread.
 */
bool insn_decode(const struct isa *isa, const uint8_t *bytes, size_t size,
                 uint64_t pc, struct insn *insn);

/*
 * Writes the text of the instruction into `text` (NUL-terminated, cut to
 * `text_size`): mnemonics where a disassembler for the ISA is at hand, else the
 * word in hexadecimal.
 */
void insn_text(const struct isa *isa, const uint8_t *bytes, size_t size,
               uint64_t pc, char *text, size_t text_size);

/*
 * Returns the instruction set that brought an instruction, by Zydis' name
 * ("AVX512F_512", "SHA"); "" for one that every processor of the ISA has, NULL
 * for bytes that are no instruction and where the ISA's decoder knows no sets.
 * Static.
 */
const char *insn_set(const struct isa *isa, const uint8_t *bytes, size_t size);

/*
 * Returns how many bytes show that they begin no instruction: the fewest that
 * the decoder needs. `size` where the bytes are an instruction or the beginning
 * of one, and where the ISA's decoder knows no sets.
 */
size_t insn_bad_size(const struct isa *isa, const uint8_t *bytes, size_t size);

#endif
