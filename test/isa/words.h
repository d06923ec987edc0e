/* SPDX-License-Identifier: MIT */
/*
 * What the tests of instruction sets of 32-bit words share: rows, words cut
 * short, random words.
 */
#ifndef TALLY_TEST_ISA_WORDS_H
#define TALLY_TEST_ISA_WORDS_H

#include <inttypes.h>
#include <stdio.h>

#include "isa/check.h"

struct row {
    int line;
    uint32_t word;
    struct insn want;
};

/* A word that is no instruction. */
struct illegal {
    int line;
    uint32_t word;
};

#define R(number) (1u << (number))
#define ALL 0xfffffffeu
#define ROW(word, ...)             \
    {                              \
        __LINE__, (word),          \
        {                          \
            .size = 4, __VA_ARGS__ \
        }                          \
    }
#define OTHER(word, writes) \
    ROW(word, .class = CLASS_OTHER, .reg_writes = (writes))
#define FLAG(word, flag, writes) \
    ROW(word, .class = CLASS_OTHER, .flags = (flag), .reg_writes = (writes))
#define FGU(word) ROW(word, .class = CLASS_FGU)
#define FGU_TO(word, writes) \
    ROW(word, .class = CLASS_FGU, .reg_writes = (writes))
#define BRANCH(word, kind, flag, to, writes)                                   \
    ROW(word, .class = CLASS_BRANCH, .branch = BRANCH_##kind, .flags = (flag), \
        .target = (to), .reg_writes = (writes))
#define LOAD(word, bytes, writes)                         \
    ROW(word, .class = CLASS_LOAD, .access = ACCESS_LOAD, \
        .access_size = (bytes), .loads = 1, .reg_writes = (writes))
#define FLOAT_LOAD(word, bytes, writes)                          \
    ROW(word, .class = CLASS_LOAD, .access = ACCESS_LOAD,        \
        .access_size = (bytes), .loads = 1, .flags = INSN_FLOAT, \
        .reg_writes = (writes))
#define STORE(word, bytes)                                  \
    ROW(word, .class = CLASS_STORE, .access = ACCESS_STORE, \
        .access_size = (bytes), .stores = 1)
#define PREFETCH(word, where)                              \
    ROW(word, .class = CLASS_LOAD, .flags = INSN_PREFETCH, \
        .prefetch = PREFETCH_##where)
#define BRANCH_COND BRANCH_CONDITIONAL
#define D INSN_DELAY_SLOT
#define A INSN_ANNUL
#define DA (INSN_DELAY_SLOT | INSN_ANNUL)
#define NONE INSN_NO_REG
#define ADDRESS(word, base, index, scale, disp)                             \
    {                                                                       \
        __LINE__, (word),                                                   \
        {                                                                   \
            .addr_known = true, .addr_base = (base), .addr_index = (index), \
            .addr_scale = (scale), .addr_disp = (disp)                      \
        }                                                                   \
    }
#define NO_ADDRESS(word)                          \
    {                                             \
        __LINE__, (word),                         \
        {                                         \
            .addr_base = NONE, .addr_index = NONE \
        }                                         \
    }

typedef struct insn word_decoder(uint32_t word);

static inline void
check_rows(const char *file, const struct row *rows, size_t count,
           word_decoder *decode)
{
    unsigned failed = 0;

    for (const struct row *row = rows; row < rows + count; row++) {
        const struct insn insn = decode(row->word);
        failed += check_insn(file, row->line, &insn, &row->want);
    }
    assert_int_equal(failed, 0);
}

static inline void
check_addresses(const char *file, const struct row *rows, size_t count,
                word_decoder *decode)
{
    unsigned failed = 0;

    for (const struct row *row = rows; row < rows + count; row++) {
        const struct insn insn = decode(row->word);
        failed += check_address(file, row->line, &insn, &row->want);
    }
    assert_int_equal(failed, 0);
}

static inline void
check_illegal(const char *file, const struct illegal *rows, size_t count,
              word_decoder *decode)
{
    const struct insn want = {
        .size = 4, .class = CLASS_OTHER, .flags = INSN_ILLEGAL};
    unsigned failed = 0;

    for (size_t i = 0; i < count; i++) {
        const struct insn insn = decode(rows[i].word);
        failed += check_insn(file, rows[i].line, &insn, &want);
    }
    assert_int_equal(failed, 0);
}

/* `word` is an instruction that no disassembler is at hand for. */
static inline void
check_truncated(const struct isa *isa, const uint8_t *word, uint64_t pc,
                const char *want)
{
    struct insn insn;
    char text[32], cut[4];

    for (size_t size = 0; size < 4; size++) {
        insn.size = 1;
        assert_false(insn_decode(isa, word, size, pc, &insn));
        assert_int_equal(insn.size, 0);
    }
    insn_text(isa, word, 3, pc, text, sizeof(text));
    assert_string_equal(text, "(bad)");
    insn_text(isa, word, 4, pc, text, sizeof(text));
    assert_string_equal(text, want);
    insn_text(isa, word, 4, pc, cut, sizeof(cut));
    assert_string_equal(cut, "0x0");
}

static inline void
check_random_words(word_decoder *decode)
{
    const uint64_t seed = 20240229;
    uint64_t random = seed;
    unsigned failed = 0;

    print_message("# seed %" PRIu64 "\n", seed);
    for (int i = 0; i < 1000000; i++) {
        const uint32_t word = (uint32_t)(next_random(&random) >> 32);
        const struct insn insn = decode(word);
        char text[16];

        snprintf(text, sizeof(text), "0x%08x", (unsigned)word);
        failed += check_rules(text, &insn);
        failed +=
            insn.size != 4 || insn.reg_writes & 1 || insn.reg_writes >> 32;
    }
    assert_int_equal(failed, 0);
}

#endif
