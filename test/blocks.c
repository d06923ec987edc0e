/* SPDX-License-Identifier: MIT */
/*
 * The plugin's records of blocks beside a list that is searched from its start;
 * and what is kept when the process's counts are full.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "plugin/blocks.h"
#include "plugin/gateway.h"
#include "ref/random.h"

/* What blocks.c uses of the plugin's other files. */
struct plugin tally_plugin;
struct gateway_live *gateway_lives[COUNTS_VCPUS];
struct gateway_signals gateway_signals;
struct watch *gateway_watches[COUNTS_VCPUS];
bool owners_armed;

void
gateway_look(unsigned vcpu, uint64_t pc)
{
    (void)vcpu, (void)pc;
}

void
owners_rise(const int16_t *fixed, uint64_t pc)
{
    (void)fixed, (void)pc;
}

_Noreturn void
plugin_no_memory(const char *what)
{
    fail_msg("no memory for %s", what);
    abort();
}

/* A process without a session: its counts are memory of its own. */
static void
setup(struct plugin *p)
{
    memset(p, 0, sizeof(*p));
    p->process.head = calloc(1, sizeof(*p->process.head));
    p->process.infos = calloc(COUNTS_BLOCKS, sizeof(*p->process.infos));
    assert_non_null(p->process.head);
    assert_non_null(p->process.infos);
}

/* Blocks live until the process ends; only the test's own memory is freed. */
static void
teardown(struct plugin *p)
{
    free(p->process.head);
    free(p->process.infos);
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
    struct plugin *const p = &tally_plugin;
    uint64_t random = random_seed();
    uint32_t kinds = 0, blocks = 0;

    (void)unused;
    setup(p);
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
            blocks_keep(p, place * 977 + code, &model, &one->info);
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
        assert_memory_equal(&p->process.infos[got->index], &one->info,
                            sizeof(one->info));
    }
    assert_true(blocks > PLACES * 3);
    assert_int_equal(kinds, KINDS);
    assert_int_equal(p->info_count, KINDS);
    assert_int_equal(atomic_load(&p->process.head->blocks), KINDS);
    assert_int_equal(p->table.count, blocks);

    /* Another model of the machine: new records of the known kinds. */
    const struct block model = {.pc = known[1][0][0].block->pc,
                                .end = known[1][0][0].block->end};
    plugin_forget_blocks(p);
    const struct block *again =
        blocks_keep(p, 977, &model, &known[1][0][0].info);
    assert_ptr_not_equal(again, known[1][0][0].block);
    assert_int_equal(again->index, known[1][0][0].block->index);
    assert_int_equal(p->info_count, KINDS);
    teardown(p);
}

static void
test_pairs(void **unused)
{
    struct plugin *const p = &tally_plugin;
    const struct access_pair a = {.delta = 8, .room0 = 56, .room1 = 56};
    const struct access_pair b = {.delta = -8, .room0 = 56, .room1 = 56};
    const struct access_pair same = a;

    (void)unused;
    setup(p);
    const struct access_pair *const kept = blocks_keep_pair(p, &a);
    assert_ptr_not_equal(kept, &a);
    assert_int_equal(kept->delta, 8);
    assert_ptr_not_equal(blocks_keep_pair(p, &b), kept);
    assert_ptr_equal(blocks_keep_pair(p, &same), kept);
    teardown(p);
}

/* Where the process's counts have no room for more kinds, each execution adds
 * its signals; and an annulled slot of MIPS still has a count that takes back.
 */
static void
test_late(void **unused)
{
    struct plugin *const p = &tally_plugin;
    const struct block model = {.pc = 64, .end = 72};
    const struct block_info info = info_of(3, 0), slot = info_of(-1, 0);
    static struct counts_strand counts;
    static struct strand strand;
    uint32_t kinds = 0;

    (void)unused;
    setup(p);
    for (; blocks_have_room(p); kinds++) {
        const struct block_info own = info_of(1, kinds + 1);
        blocks_keep(p, kinds, &model, &own);
    }
    assert_true(kinds > COUNTS_BLOCKS - COUNTS_BLOCKS / 100);
    struct late_block *const late = blocks_late(p, &model, &info, &slot);
    assert_true(late->block.slot < COUNTS_BLOCKS - 1);
    assert_int_equal(p->process.infos[late->block.slot].fixed[SIGNAL_LOADS],
                     -1);
    assert_int_equal(blocks_late(p, &model, &info, &slot)->block.slot,
                     late->block.slot);
    assert_int_equal(blocks_late(p, &model, &info, NULL)->block.slot,
                     COUNTS_BLOCKS - 1);
    assert_int_equal(atomic_load(&p->process.head->late_blocks), 3);
    /* What neither is for counts nothing. */
    assert_int_equal(late->block.index, COUNTS_BLOCKS - 1);
    assert_int_equal(p->process.infos[COUNTS_BLOCKS - 1].fixed[SIGNAL_LOADS],
                     0);

    strand.counts = &counts;
    tally_plugin.strands[0] = &strand;
    blocks_late_part(0, late);
    blocks_late_part(0, late);
    assert_int_equal(counts.totals[0].signal[SIGNAL_LOADS], 6);
    tally_plugin.strands[0] = NULL;
    teardown(p);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
