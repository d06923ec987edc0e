/* SPDX-License-Identifier: MIT */
/*
 * Executes the instructions of a list, as test/isa/vex_list.c prints it, each
 * RUNS times on operands that follow from its bytes alone, and prints digests
 * of all that it leaves behind: `vex LIST`, a line: NAME FORM NUMBERS SPECIAL
 * MXCSR, where NUMBERS is of numbers as usual, SPECIAL of NaNs, infinities,
 * denormals, and denormals flushed.
 * test/vex.py compares the digests of a processor with those of QEMU.
 *
 * A digest is of the vector registers (32 bytes each), the general registers,
 * the flags that the manual defines, the memory around the operand, and, apart
 * from these, MXCSR but for the flag of denormal operands, which QEMU never
 * sets. VRCP and VRSQRT approximate: a lane that is within the manual's
 * relative error of 1.5 * 2^-12 becomes 1.0.
 */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define RUNS 16
#define STATE_AT 0x10000000
#define MEMORY_AT 0x10010000
#define CODE_AT 0x10020000
#define OPERAND 0x400 /* its place in the memory */
#define STUB 32       /* bytes for an instruction and its RET */
#define FLAGS 0x8d5   /* CF PF AF ZF SF OF */
#define DENORMAL 2u   /* of MXCSR: an operand was a denormal */
#define ROWS 65536

/* The offsets are in the assembly code below, too. */
struct state {
    uint64_t vector[16][4]; /* 0 */
    uint64_t general[16];   /* 512 */
    uint64_t flags;         /* 640 */
    uint64_t code;          /* 648 */
    uint64_t stack;         /* 656 */
    uint32_t mxcsr;         /* 664 */
    uint32_t plain_mxcsr;   /* 668 */
};

struct row {
    char name[24], form[8];
    char kind;
    uint32_t undefined;
    unsigned size;
    uint8_t bytes[16];
};

static struct state *const state = (struct state *)STATE_AT;
static uint8_t *const memory = (uint8_t *)MEMORY_AT;

void execute(void);

/* Loads the state, calls the stub, stores the state. */
__asm__(".macro each what\n"
        "\\what 0; \\what 1; \\what 2; \\what 3; \\what 4; \\what 5\n"
        "\\what 6; \\what 7; \\what 8; \\what 9; \\what 10; \\what 11\n"
        "\\what 12; \\what 13; \\what 14; \\what 15\n"
        ".endm\n"
        ".macro load n\n"
        "vmovdqu 0x10000000+32*\\n, %ymm\\n\n"
        ".endm\n"
        ".macro store n\n"
        "vmovdqu %ymm\\n, 0x10000000+32*\\n\n"
        ".endm\n"
        ".text\n"
        ".globl execute\n"
        "execute:\n"
        "push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
        "mov %rsp, 0x10000290\n"
        "ldmxcsr 0x10000298\n"
        "each load\n"
        "pushq 0x10000280\n"
        "popfq\n"
        "mov 0x10000200, %rax; mov 0x10000208, %rcx\n"
        "mov 0x10000210, %rdx; mov 0x10000218, %rbx\n"
        "mov 0x10000228, %rbp; mov 0x10000230, %rsi\n"
        "mov 0x10000238, %rdi; mov 0x10000240, %r8\n"
        "mov 0x10000248, %r9; mov 0x10000250, %r10\n"
        "mov 0x10000258, %r11; mov 0x10000260, %r12\n"
        "mov 0x10000268, %r13; mov 0x10000270, %r14\n"
        "mov 0x10000278, %r15\n"
        "call *0x10000288\n"
        "mov %rax, 0x10000200; mov %rcx, 0x10000208\n"
        "mov %rdx, 0x10000210; mov %rbx, 0x10000218\n"
        "mov %rbp, 0x10000228; mov %rsi, 0x10000230\n"
        "mov %rdi, 0x10000238; mov %r8, 0x10000240\n"
        "mov %r9, 0x10000248; mov %r10, 0x10000250\n"
        "mov %r11, 0x10000258; mov %r12, 0x10000260\n"
        "mov %r13, 0x10000268; mov %r14, 0x10000270\n"
        "mov %r15, 0x10000278\n"
        "mov 0x10000290, %rsp\n"
        "pushfq\n"
        "popq 0x10000280\n"
        "stmxcsr 0x10000298\n"
        "each store\n"
        "vzeroupper\n"
        "ldmxcsr 0x1000029c\n"
        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
        "ret\n");

/* SplitMix64. */
static uint64_t
draw(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t
mix(uint64_t digest, const void *data, size_t size)
{
    const unsigned char *bytes = data;

    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        digest = (digest ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        digest ^= digest >> 29;
    }
    return digest;
}

/* A float near 1, or one of those that need care: zeros, infinities, quiet and
 * signalling NaNs, denormals, the ends of the range, beyond the integers. */
static uint32_t
draw_single(uint64_t *seed, bool special)
{
    static const uint32_t odd[] = {
        0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
        0x7fc00123, 0xffc00456, 0x7f800789, 0xff812345, 0x00000001, 0x807fffff,
        0x00800000, 0x7f7fffff, 0xff7fffff, 0x4f000000, 0xcf000001, 0x5f000000,
        0x3f000000, 0x4effffff, 0x4f7fffff, 0x33800000, 0x477fe000, 0x38800000};
    const uint64_t bits = draw(seed);

    if (special && bits >> 61 != 0)
        return odd[bits % (sizeof(odd) / sizeof(odd[0]))];
    return (uint32_t)((bits & 0x80ffffff) + 0x3e000000 +
                      (bits >> 40 & 0x7ffff));
}

static uint64_t
draw_double(uint64_t *seed, bool special)
{
    static const uint64_t odd[] = {
        0,
        UINT64_C(0x8000000000000000),
        UINT64_C(0x3ff0000000000000),
        UINT64_C(0xbff0000000000000),
        UINT64_C(0x7ff0000000000000),
        UINT64_C(0xfff0000000000000),
        UINT64_C(0x7ff8000000000123),
        UINT64_C(0xfff8000000000456),
        UINT64_C(0x7ff0000000000789),
        UINT64_C(0xfff0000012345678),
        UINT64_C(0x0000000000000001),
        UINT64_C(0x800fffffffffffff),
        UINT64_C(0x0010000000000000),
        UINT64_C(0x7fefffffffffffff),
        UINT64_C(0xffefffffffffffff),
        UINT64_C(0x41e0000000000000),
        UINT64_C(0xc1e0000000200000),
        UINT64_C(0x43e0000000000000),
        UINT64_C(0x3fe0000000000000),
        UINT64_C(0x41dfffffffc00000),
        UINT64_C(0x47efffffefffffff),
        UINT64_C(0x380fffffffffffff),
        UINT64_C(0x36a0000000000000),
        UINT64_C(0x3ca0000000000000),
    };
    const uint64_t bits = draw(seed);

    if (special && bits >> 61 != 0)
        return odd[bits % (sizeof(odd) / sizeof(odd[0]))];
    return (bits & UINT64_C(0x801fffffffffffff)) + UINT64_C(0x3fe0000000000000);
}

/* Eight bytes of an operand; each run has its own sort. Where they are
 * floating-point numbers, an exponent has a zero. */
static uint64_t
draw_word(uint64_t *seed, unsigned run, bool floats)
{
    uint64_t bits = draw(seed);

    switch (run) {
    case 0:
    case 1:
    case 2:
    case 3:
        return draw_single(seed, false) | (uint64_t)draw_single(seed, false)
                                              << 32;
    case 4:
    case 5:
    case 6:
    case 7:
        return draw_double(seed, false);
    case 8:
    case 12:
        return draw_single(seed, true) | (uint64_t)draw_single(seed, true)
                                             << 32;
    case 9:
    case 13:
        return draw_double(seed, true);
    case 10: /* small numbers, and bytes of text for the string instructions */
        return bits & UINT64_C(0x0f033f01070f1f03);
    case 14: /* masks */
        return (bits & 1 ? UINT64_C(0xffffffff00000000) : 0) |
               (bits & 2 ? 0xffffffff : 0);
    default:
        return floats ? bits & UINT64_C(0xbfffffffbfffffff) : bits;
    }
}

/* The register of a gather's indices gets numbers of -64 to 63. */
static void
set_indices(const struct row *row)
{
    const unsigned index =
        (row->bytes[5] >> 3 & 7) | (row->bytes[1] & 0x40 ? 0u : 8u);

    for (unsigned i = 0; i < 4; i++) {
        uint64_t *word = &state->vector[index][i];
        const uint64_t low = (*word & 127) - 64;
        const uint64_t high = (*word >> 32 & 127) - 64;
        *word = row->kind == 'h' ? low : (low & 0xffffffff) | high << 32;
    }
}

static bool
is_gather(const struct row *row)
{
    return row->kind == 'g' || row->kind == 'h';
}

/* How many bytes before and after the operand belong to the digest. */
static unsigned
around(const struct row *row)
{
    return is_gather(row) ? 640 : 64;
}

static void
prepare(const struct row *row, unsigned run, uint64_t *seed)
{
    const bool floats = strchr("frs", row->kind) != NULL;

    for (unsigned i = 0; i < 16; i++) {
        for (unsigned k = 0; k < 4; k++)
            state->vector[i][k] = draw_word(seed, run, floats);
        state->general[i] = run % 4 == 3 ? draw(seed) & 0x3f3f : draw(seed);
    }
    for (unsigned i = 0; i < 2 * around(row); i += 8) {
        const uint64_t word = draw_word(seed, run, floats);
        memcpy(memory + OPERAND - around(row) + i, &word, 8);
    }
    state->general[4] = 0;
    state->flags = 0x202 | (draw(seed) & FLAGS);
    /* All exceptions masked, each rounding, denormals flushed at times. */
    state->mxcsr = 0x1f80 | (run & 3) << 13 | (run >= 12 ? 0x8040 : 0);
    state->plain_mxcsr = 0x1f80;
    if (is_gather(row))
        set_indices(row);
    if (row->kind == 'd')
        state->general[7] = MEMORY_AT + OPERAND;
    if (row->kind == 'c') {
        const uint32_t valid = 0x1f80 | (draw(seed) & 0xe07f);
        memcpy(memory + OPERAND, &valid, 4);
    }
}

/* Whether VRCP or VRSQRT must be as exact as the manual says: of a normal
 * number whose result is one. */
static bool
is_approximate(float x, char kind)
{
    return isnormal(x) && fabsf(x) < 0x1p125f && (kind == 'r' || x > 0);
}

/* The results that are exact enough become 1.0, and those of a denormal or
 * huge number 0, as the manual leaves these to the processor. */
static void
judge(const struct row *row, const struct state *before, const uint8_t *operand)
{
    const unsigned reg =
        (row->bytes[row->size - (row->form[0] == 'm' ? 6 : 1)] >> 3 & 7) |
        (row->bytes[1] & 0x80 ? 0u : 8u);
    const unsigned rm =
        (row->bytes[row->size - 1] & 7) | (row->bytes[1] & 0x20 ? 0u : 8u);
    const bool scalar = strchr(row->name, 0)[-2] == 's';
    float source[8], result[8];

    memcpy(source,
           row->form[0] == 'm' ? (const void *)operand : before->vector[rm],
           sizeof(source));
    memcpy(result, state->vector[reg], sizeof(result));
    for (unsigned i = 0; i < (scalar ? 1 : 8); i++) {
        const double want =
            row->kind == 'r' ? 1.0 / source[i] : 1.0 / sqrt(source[i]);
        if (i >= 4 && strcmp(row->form + 1, "128") == 0)
            break;
        if (is_approximate(source[i], row->kind)) {
            if (fabs(result[i] - want) <= 1.5 / 4096 * fabs(want))
                result[i] = 1.0f;
        } else if (isfinite(source[i]) && source[i] != 0 &&
                   (row->kind == 'r' || source[i] > 0 ||
                    !isnormal(source[i]))) {
            result[i] = 0;
        }
    }
    memcpy(state->vector[reg], result, sizeof(result));
}

static sigjmp_buf illegal;

static void
on_illegal(int signal)
{
    (void)signal;
    siglongjmp(illegal, 1);
}

struct digests {
    uint64_t numbers, special, mxcsr;
};

/* Whether operands of a run are NaNs, infinities and denormals, too, or MXCSR
 * has denormals flushed. */
static bool
is_special(unsigned run)
{
    return run == 8 || run == 9 || run >= 12;
}

/* Adds what an instruction leaves of each run to the digests; false if the
 * processor finds it illegal. */
static bool
run_row(const struct row *row, struct digests *digests)
{
    uint64_t first = mix(1, row->bytes, row->size);
    uint8_t operand[32];

    for (volatile unsigned run = 0; run < RUNS; run++) {
        uint64_t seed = first + run;
        prepare(row, run, &seed);
        const struct state before = *state;
        memcpy(operand, memory + OPERAND, sizeof(operand));
        if (sigsetjmp(illegal, 1) != 0)
            return false;
        execute();
        if (row->kind == 'r' || row->kind == 's')
            judge(row, &before, operand);
        state->flags &= FLAGS & ~row->undefined;
        uint64_t *digest =
            is_special(run) ? &digests->special : &digests->numbers;
        *digest = mix(*digest, state, 648);
        *digest = mix(*digest, memory + OPERAND - around(row), 2 * around(row));
        state->mxcsr &= ~DENORMAL;
        digests->mxcsr = mix(digests->mxcsr, &state->mxcsr, 4);
    }
    return true;
}

static bool
read_row(FILE *file, struct row *row)
{
    char hex[40];

    if (fscanf(file, "%23s %7s %c %" SCNx32 " %39s", row->name, row->form,
               &row->kind, &row->undefined, hex) != 5)
        return false;
    row->size = (unsigned)strlen(hex) / 2;
    for (unsigned i = 0; i < row->size; i++) {
        unsigned byte = 0;
        sscanf(hex + 2 * i, "%2x", &byte);
        row->bytes[i] = (uint8_t)byte;
    }
    return true;
}

static void *
map(uintptr_t at, size_t size, int protection)
{
    void *memory_there =
        mmap((void *)at, size, protection,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (memory_there != (void *)at) {
        fprintf(stderr, "vex: cannot map memory at 0x%" PRIxPTR "\n", at);
        exit(1);
    }
    return memory_there;
}

int
main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    struct row *rows = calloc(ROWS, sizeof(*rows));
    size_t count = 0;

    if (file == NULL || rows == NULL) {
        fprintf(stderr, "usage: vex LIST\n");
        return 2;
    }
    signal(SIGILL, on_illegal);
    map(STATE_AT, 4096, PROT_READ | PROT_WRITE);
    map(MEMORY_AT, 4096, PROT_READ | PROT_WRITE);
    uint8_t *code =
        map(CODE_AT, (size_t)ROWS * STUB, PROT_READ | PROT_WRITE | PROT_EXEC);
    while (count < ROWS && read_row(file, &rows[count]))
        count++;
    for (size_t i = 0; i < count; i++) {
        memcpy(code + i * STUB, rows[i].bytes, rows[i].size);
        code[i * STUB + rows[i].size] = 0xc3; /* ret */
    }
    for (size_t i = 0; i < count; i++) {
        struct digests d = {0};
        state->code = CODE_AT + i * STUB;
        printf("%s %s ", rows[i].name, rows[i].form);
        if (run_row(&rows[i], &d))
            printf("%08x %08x %04x\n", (unsigned)(d.numbers >> 32),
                   (unsigned)(d.special >> 32), (unsigned)(d.mxcsr >> 48));
        else
            printf("illegal - -\n");
    }
    fclose(file);
    free(rows);
    return 0;
}
