/* SPDX-License-Identifier: MIT */
/*
 * The plugin's records of blocks beside a list that is searched from its start;
 * and what is kept when the process's counts are full.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "plugin/blocks.h"
#include "plugin/memory.h"
#include "ref/random.h"

/* What blocks.c uses of the plugin's other files. */
_Noreturn void
plugin_no_memory(struct counts_head *head, const char *what)
{
    (void)head;
    fail_msg("no memory for %s", what);
    abort();
}

static struct process_counts process;
static struct block_table table;

/* A process without a session: its counts are memory of its own. */
static void
setup(struct block_table *t)
{
    process.head = calloc(1, sizeof(*process.head));
    process.infos = calloc(COUNTS_BLOCKS, sizeof(*process.infos));
    assert_non_null(process.head);
    process.kinds = calloc(COUNTS_BLOCKS, sizeof(*process.kinds));
    assert_non_null(process.infos);
    assert_non_null(process.kinds);
    *t = (struct block_table){.process = &process};
}

/* Blocks live until the process ends; only the test's own memory is freed. */
static void
teardown(struct block_table *t)
{
    free(t->process->head);
    free(t->process->infos);
    free(t->process->kinds);
}

static struct block_info
info_of(int16_t loads, uint64_t odd_pc)
{
    struct block_info info;

    memset(&info, 0, sizeof(info));
    info.fixed[SIGNAL_LOADS] = loads;
    info.odd_pc = odd_pc;
    return info;
}

/* Random blocks, many of them again: each is found, none is taken for another,
 * and two have one index where their infos are equal and only there. */
static void
test_keep(void **unused)
{
    enum { TRIES = 60000, PLACES = 9000, KINDS = 50 };

    static struct known {
        const struct block *block;
        struct block_info info;
    } known[PLACES][2][2]; /* by address, length and code */
    static uint32_t index[KINDS];
    struct block_table *const t = &table;
    uint64_t random = random_seed();
    uint32_t kinds = 0, blocks = 0;

    (void)unused;
    setup(t);
    for (int i = 0; i < TRIES; i++) {
        const uint64_t place = random_below(&random, PLACES);
        const uint64_t length = random_below(&random, 2);
        const uint64_t code = random_below(&random, 2);
        const struct block model = {.pc = place * 16,
                                    .end = place * 16 + 4 + length * 4};
        struct known *const one = &known[place][length][code];
        const bool is_new = one->block == NULL;
        const uint64_t kind = random_below(&random, KINDS);
        if (is_new)
            one->info = info_of((int16_t)(kind + 1), 0);
        const struct block *got =
            blocks_keep(t, place * 977 + code, &model, &one->info);
        if (is_new) {
            one->block = got;
            blocks++;
            kinds += index[kind] == 0;
            index[kind] = got->index + 1;
        }
        assert_ptr_equal(got, one->block);
        assert_int_equal(got->pc, model.pc);
        assert_int_equal(got->end, model.end);
        assert_int_equal((uintptr_t)got % 64, 0);
        assert_memory_equal(&t->process->infos[got->index], &one->info,
                            sizeof(one->info));
    }
    assert_true(blocks > PLACES * 3);
    assert_int_equal(kinds, KINDS);
    assert_int_equal(t->info_count, KINDS);
    assert_int_equal(atomic_load(&t->process->head->blocks), KINDS);
    assert_int_equal(t->count, blocks);

    /* Another model of the machine: new records of the known kinds. */
    const struct block model = {.pc = known[1][0][0].block->pc,
                                .end = known[1][0][0].block->end};
    blocks_forget(t);
    const struct block *again =
        blocks_keep(t, 977, &model, &known[1][0][0].info);
    assert_ptr_not_equal(again, known[1][0][0].block);
    assert_int_equal(again->index, known[1][0][0].block->index);
    assert_int_equal(t->info_count, KINDS);
    teardown(t);
}

/* Blocks that are kept apart have counts of their own and share infos. */
static void
test_apart(void **unused)
{
    struct block_table *const t = &table;
    const struct block_info infos[] = {info_of(2, 0), info_of(3, 0)};
    /* The slot of a late block takes one more. */
    const struct block_info slot = info_of(-1, 0);

    (void)unused;
    setup(t);
    t->apart = true;
    for (uint32_t i = 0; i < 100; i++) {
        const struct block model = {.pc = 16 * i, .end = 16 * i + 4};
        const struct block *const b =
            blocks_keep(t, 977 * i, &model, &infos[i % 2]);
        assert_int_equal(b->index, i);
        assert_ptr_equal(blocks_keep(t, 977 * i, &model, &infos[i % 2]), b);
        assert_memory_equal(counts_info(&process, i), &infos[i % 2],
                            sizeof(infos[0]));
    }
    assert_int_equal(t->info_count, 2);
    assert_int_equal(atomic_load(&process.head->blocks), 100);

    const struct block model = {.pc = 8, .end = 12};
    t->index_count = COUNTS_BLOCKS - 2;
    assert_int_equal(blocks_late(t, &model, &infos[0], &slot)->block.slot,
                     COUNTS_BLOCKS - 2);
    assert_int_equal(
        counts_info(&process, COUNTS_BLOCKS - 2)->fixed[SIGNAL_LOADS], -1);
    assert_int_equal(blocks_late(t, &model, &infos[0], &slot)->block.slot,
                     COUNTS_BLOCKS - 1);
    assert_int_equal(
        counts_info(&process, COUNTS_BLOCKS - 1)->fixed[SIGNAL_LOADS], 0);
    teardown(t);
}

static void
test_pairs(void **unused)
{
    struct block_table *const t = &table;
    const struct access_pair a = {.delta = 8, .first = 56, .second = 56};
    const struct access_pair b = {.delta = -8, .first = 56, .second = 56};
    const struct access_pair same = a;

    (void)unused;
    setup(t);
    const struct access_pair *const kept = blocks_keep_pair(t, &a);
    assert_ptr_not_equal(kept, &a);
    assert_int_equal(kept->delta, 8);
    assert_ptr_not_equal(blocks_keep_pair(t, &b), kept);
    assert_ptr_equal(blocks_keep_pair(t, &same), kept);
    teardown(t);
}

/* Where the process's counts have no room for more kinds, each execution adds
 * its signals; and an annulled slot of MIPS still has a count that takes back.
 */
static void
test_late(void **unused)
{
    struct block_table *const t = &table;
    const struct block model = {.pc = 64, .end = 72};
    const struct block_info info = info_of(3, 0), slot = info_of(-1, 0);
    static struct counts_strand counts;
    static struct strand strand;
    uint32_t kinds = 0;

    (void)unused;
    setup(t);
    for (; blocks_have_room(t); kinds++) {
        const struct block_info own = info_of(1, kinds + 1);
        blocks_keep(t, kinds, &model, &own);
    }
    assert_true(kinds > COUNTS_BLOCKS - COUNTS_BLOCKS / 100);
    struct late_block *const late = blocks_late(t, &model, &info, &slot);
    assert_true(late->block.slot < COUNTS_BLOCKS - 1);
    assert_int_equal(t->process->infos[late->block.slot].fixed[SIGNAL_LOADS],
                     -1);
    assert_int_equal(blocks_late(t, &model, &info, &slot)->block.slot,
                     late->block.slot);
    assert_int_equal(blocks_late(t, &model, &info, NULL)->block.slot,
                     COUNTS_BLOCKS - 1);
    assert_int_equal(atomic_load(&t->process->head->late_blocks), 3);
    /* What neither is for counts nothing. */
    assert_int_equal(late->block.index, COUNTS_BLOCKS - 1);
    assert_int_equal(t->process->infos[COUNTS_BLOCKS - 1].fixed[SIGNAL_LOADS],
                     0);

    strand.counts = &counts;
    blocks_add_late(&strand, late);
    blocks_add_late(&strand, late);
    assert_int_equal(counts.totals[0].signal[SIGNAL_LOADS], 6);
    teardown(t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
