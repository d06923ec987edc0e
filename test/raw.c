/* SPDX-License-Identifier: MIT */
/* Read-after-write hits against the twin, for so long that they are sampled;
 * test/chip.c has them beside everything else. */
#include "machine/raw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "ref/chip_ref.h"
#include "ref/random.h"

#define STORES (3 * RAW_PERIOD)

struct pair {
    struct raw raw;
    uint64_t total[SIGNAL_COUNT];
    struct chip_ref twin;
};

static void
compare(const struct pair *p, uint64_t stores)
{
    for (unsigned s = SIGNAL_RAW_BUFFER_FULL; s <= SIGNAL_RAW_QUEUE_PARTIAL;
         s++) {
        if (p->total[s] != p->twin.signals[0][s])
            fail_msg("%s after %llu stores: %llu, its twin says %llu",
                     tally_signals[s].name, (unsigned long long)stores,
                     (unsigned long long)p->total[s],
                     (unsigned long long)p->twin.signals[0][s]);
    }
}

/* One access in a few bytes, or in units that share an entry of `latest`. */
static bool
step(struct pair *p, uint64_t *state)
{
    const uint64_t size = UINT64_C(1) << random_below(state, 4);
    const uint64_t addr =
        8192 * random_below(state, 3) + random_below(state, 200);
    const bool store = random_below(state, 2) == 0;

    if (store) {
        raw_store(&p->raw, addr, addr + size - 1);
        chip_ref_store(&p->twin, addr, size);
    } else {
        raw_load(&p->raw, p->total, addr, addr + size - 1);
        chip_ref_load(&p->twin, addr, size);
    }
    return store;
}

static void
run(const char *const *sets, uint64_t *state)
{
    uint64_t params[PARAM_COUNT];
    const struct machine_row *t4 = machine_find("t4");
    static struct pair p;

    memset(&p, 0, sizeof(p));
    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = t4->params[i].value;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(param_set(sets[i], NULL, params), 0);
    raw_init(&p.raw, params);
    chip_ref_init(&p.twin, params, COMPONENT_RAW | COMPONENT_L1D);
    for (uint64_t stores = 0; stores < STORES;) {
        stores += step(&p, state);
        if (stores % 500 == 0)
            compare(&p, stores);
    }
    compare(&p, STORES);
    assert_int_not_equal(p.total[SIGNAL_RAW_QUEUE_FULL], 0);
    chip_ref_finish(&p.twin);
}

static void
test_against_twin(void **unused)
{
    static const char *const sets[][2] = {
        {"store.buffer=16", "store.queue=16"},
        {"store.buffer=64", "store.queue=64"},
        {"store.buffer=0", "store.queue=1"},
    };
    uint64_t state = random_seed();

    (void)unused;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        run(sets[i], &state);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_twin),
    };

    return cmocka_run_group_tests_name("raw", tests, NULL, NULL);
}
