/* SPDX-License-Identifier: MIT */
/* What test/pmu/sun4v.pmu cannot say of the hypervisor's calls: second results,
 * traps by number, memory controllers that are off, results left alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <tally/sun4v.h>

#define GARBAGE 0xdeadbeef

static struct tally_pmu *
make(const char *machine, uint32_t nodes, uint32_t flags)
{
    struct tally_pmu_options options;
    struct tally_pmu *pmu = NULL;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = machine;
    options.nodes = nodes;
    options.flags = flags;
    const size_t size = tally_pmu_size(&options);
    void *const memory = aligned_alloc(16, size);
    assert_non_null(memory);
    assert_int_equal(tally_pmu_init(memory, size, &options, &pmu), 0);
    return pmu;
}

static uint64_t
agree(struct tally_pmu *pmu, uint64_t group, uint64_t minor)
{
    const uint64_t args[5] = {group, 1, minor};
    uint64_t results[2];

    return tally_sun4v_call(pmu, 0, TALLY_SUN4V_CORE_TRAP,
                            TALLY_SUN4V_API_SET_VERSION, args, results);
}

static uint64_t
fast(struct tally_pmu *pmu, uint64_t function, uint64_t a, uint64_t b,
     uint64_t results[2])
{
    const uint64_t args[5] = {a, b};

    results[0] = results[1] = GARBAGE;
    return tally_sun4v_call(pmu, 0, TALLY_SUN4V_FAST_TRAP, function, args,
                            results);
}

static void
test_two_results(void **state)
{
    struct tally_pmu *const pmu = make("ultrasparc-t2plus", 4, 0);
    const uint64_t set[5] = {0x205, 1, 9}, get[5] = {0x205};
    uint64_t r[2] = {GARBAGE, GARBAGE};

    (void)state;
    assert_int_equal(tally_sun4v_call(pmu, 0, 0xff, 0, set, r), 0);
    assert_int_equal(r[0], 1);
    assert_int_equal(r[1], GARBAGE);
    assert_int_equal(tally_sun4v_call(pmu, 0, 0xff, 3, get, r), 0);
    assert_int_equal(r[0], 1);
    assert_int_equal(r[1], 1);
    assert_int_equal(agree(pmu, 0x205, 0), 0);
    assert_int_equal(tally_sun4v_call(pmu, 0, 0xff, 3, get, r), 0);
    assert_int_equal(r[0], 1);
    assert_int_equal(r[1], 0);
    free(pmu);
}

/* V20 V24: the trap and the function choose the call. */
static void
test_traps(void **state)
{
    static const unsigned traps[] = {0, 0x7f, 0x81, 0x83, 0xfe, 0x180};
    struct tally_pmu *const pmu = make("ultrasparc-t2plus", 4, 0);
    const uint64_t args[5] = {0};
    uint64_t r[2] = {GARBAGE, GARBAGE};

    (void)state;
    assert_int_equal(agree(pmu, 0x205, 1), 0);
    for (size_t i = 0; i < sizeof(traps) / sizeof(traps[0]); i++) {
        assert_int_equal(tally_sun4v_call(pmu, 0, traps[i], 0x106, args, r),
                         TALLY_SUN4V_EBADTRAP);
        assert_int_equal(tally_sun4v_call(pmu, 0, traps[i], 3, args, r),
                         TALLY_SUN4V_EBADTRAP);
    }
    assert_int_equal(tally_sun4v_call(pmu, 0, 0xff, 0x106, args, r),
                     TALLY_SUN4V_EBADTRAP);
    assert_int_equal(tally_sun4v_call(pmu, 0, 0xff, 1, args, r),
                     TALLY_SUN4V_EBADTRAP);
    assert_int_equal(tally_sun4v_call(pmu, 256, 0x80, 0x106, args, r),
                     TALLY_SUN4V_EINVAL);
    assert_int_equal(tally_sun4v_call(pmu, 256, 0xff, 3, args, r),
                     TALLY_SUN4V_EINVAL);
    assert_int_equal(r[0], GARBAGE);
    assert_int_equal(tally_sun4v_call(pmu, 255, 0x80, 0x106, args, r), 0);
    assert_int_equal(r[0], 0);
    free(pmu);
}

/* V28: on error, and where a call returns no more. */
static void
test_results_untouched(void **state)
{
    struct tally_pmu *const pmu = make("ultrasparc-t2plus", 2, 0);
    uint64_t r[2];

    (void)state;
    assert_int_equal(fast(pmu, 0x106, 0, 0, r), TALLY_SUN4V_EBADTRAP);
    assert_int_equal(r[0], GARBAGE);
    assert_int_equal(agree(pmu, 0x205, 1), 0);
    assert_int_equal(fast(pmu, 0x106, 90, 0, r), TALLY_SUN4V_EINVAL);
    assert_int_equal(r[0], GARBAGE);
    assert_int_equal(fast(pmu, 0x106, 18, 0, r), TALLY_SUN4V_ENOTSUPPORTED);
    assert_int_equal(r[0], GARBAGE);
    assert_int_equal(fast(pmu, 0x107, 3, 7, r), 0);
    assert_int_equal(r[0], GARBAGE);
    assert_int_equal(fast(pmu, 0x106, 3, 0, r), 0);
    assert_int_equal(r[0], 7);
    assert_int_equal(r[1], GARBAGE);
    free(pmu);
}

/* V02 F3.2: the 90 numbers are the registers of that name, and no other. */
static void
test_numbers(void **state)
{
    struct tally_pmu *const pmu = make("ultrasparc-t2plus", 4, 0);
    char name[16];
    uint64_t r[2], value;

    (void)state;
    assert_int_equal(agree(pmu, 0x205, 1), 0);
    for (unsigned i = 0; i < 90; i++)
        assert_int_equal(fast(pmu, 0x107, i, 0, r), 0);
    for (unsigned i = 0; i < 90; i++) {
        snprintf(name, sizeof(name), "PERFREG%u", i);
        const int id = tally_pmu_register_find(pmu, name);

        assert_true(id >= 0);
        assert_int_equal(fast(pmu, 0x107, i, 2, r), 0);
        for (unsigned k = 0; k < 90; k++) {
            assert_int_equal(fast(pmu, 0x106, k, 0, r), 0);
            assert_int_equal(r[0], k == i ? 2 : 0);
        }
        assert_int_equal(tally_pmu_read(pmu, 0, (unsigned)id,
                                        TALLY_PMU_HYPERPRIVILEGED, &value),
                         0);
        assert_int_equal(value, 2);
        assert_int_equal(fast(pmu, 0x107, i, 0, r), 0);
    }
    free(pmu);
}

/* V27, of the controllers in bits `off`; `first` is that of controller 0. */
static void
check_off(struct tally_pmu *pmu, uint64_t get, unsigned first, unsigned count,
          uint32_t off)
{
    uint64_t r[2];

    for (unsigned i = 0; i < 2 * count; i++)
        assert_int_equal(fast(pmu, get + 1, first + i, 0x11 + i, r), 0);
    tally_sun4v_disable_dram(pmu, off);
    for (unsigned i = 0; i < 2 * count; i++) {
        const bool is_off = (off >> i / 2 & 1) != 0;

        assert_int_equal(fast(pmu, get, first + i, 0, r), 0);
        assert_int_equal(r[0], is_off ? 0 : 0x11 + i);
        assert_int_equal(fast(pmu, get + 1, first + i, 0x51 + i, r), 0);
    }
    tally_sun4v_disable_dram(pmu, 0);
    for (unsigned i = 0; i < 2 * count; i++) {
        const bool was_off = (off >> i / 2 & 1) != 0;

        assert_int_equal(fast(pmu, get, first + i, 0, r), 0);
        assert_int_equal(r[0], (was_off ? 0x11U : 0x51U) + i);
    }
}

/* V27 F2.8 */
static void
test_dram_off(void **state)
{
    struct tally_pmu *const t2 = make("ultrasparc-t2", 0, 0);
    struct tally_pmu *const plus = make("ultrasparc-t2plus", 4, 0);

    (void)state;
    assert_int_equal(agree(t2, 0x202, 0), 0);
    check_off(t2, 0x104, 1, 4, 0x1);
    check_off(t2, 0x104, 1, 4, 0xa);
    assert_int_equal(agree(plus, 0x205, 1), 0);
    check_off(plus, 0x106, 2, 8, 0x81);
    check_off(plus, 0x106, 2, 8, 0x7e);
    free(t2);
    free(plus);
}

/* V27 F1.5: no register but those of memory controllers; on T1 none. */
static void
test_others_stay_on(void **state)
{
    struct tally_pmu *const plus = make("ultrasparc-t2plus", 4, 0);
    struct tally_pmu *const t1 = make("ultrasparc-t1", 0, 0);
    struct tally_pmu *const t4 = make("sparc-t4", 0, 0);
    uint64_t r[2];

    (void)state;
    tally_sun4v_disable_dram(plus, UINT32_MAX);
    assert_int_equal(agree(plus, 0x205, 1), 0);
    for (unsigned i = 0; i < 90; i = i == 1 ? 18 : i + 1) {
        assert_int_equal(fast(plus, 0x107, i, 2, r), 0);
        assert_int_equal(fast(plus, 0x106, i, 0, r), 0);
        assert_int_equal(r[0], 2);
    }
    tally_sun4v_disable_dram(t1, UINT32_MAX);
    assert_int_equal(agree(t1, 0x200, 0), 0);
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(fast(t1, 0x101, i, 2, r), 0);
        assert_int_equal(fast(t1, 0x100, i, 0, r), 0);
        assert_int_equal(r[0], 2);
    }
    tally_sun4v_disable_dram(t4, UINT32_MAX);
    assert_int_equal(agree(t4, 0x20c, 0), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(fast(t4, 0x185, i, 4, r), 0);
        assert_int_equal(fast(t4, 0x184, i, 0, r), 0);
        assert_int_equal(r[0], 4);
    }
    free(plus);
    free(t1);
    free(t4);
}

/* A reset forgets the guest, and not how the machine is built. */
static void
test_reset(void **state)
{
    struct tally_pmu *const t2 = make("ultrasparc-t2", 0, 0);
    struct tally_pmu *const t1 = make("ultrasparc-t1", 0, 0);
    uint64_t r[2];

    (void)state;
    tally_sun4v_disable_dram(t2, 1);
    assert_int_equal(agree(t2, 0x202, 0), 0);
    tally_pmu_reset(t2);
    assert_int_equal(fast(t2, 0x104, 0, 0, r), TALLY_SUN4V_EBADTRAP);
    assert_int_equal(agree(t2, 0x202, 0), 0);
    assert_int_equal(fast(t2, 0x105, 1, 2, r), 0);
    assert_int_equal(fast(t2, 0x104, 1, 0, r), 0);
    assert_int_equal(r[0], 0);
    assert_int_equal(agree(t1, 0x200, 0), 0);
    assert_int_equal(fast(t1, 0x102, 0x40, 0, r), 0);
    assert_int_equal(r[0], 0);
    assert_int_equal(fast(t1, 0x102, 0x44, 0, r), TALLY_SUN4V_EBADALIGN);
    assert_int_equal(r[0], GARBAGE);
    tally_pmu_reset(t1);
    assert_int_equal(agree(t1, 0x200, 0), 0);
    assert_int_equal(fast(t1, 0x103, 0, 0, r), 0);
    assert_int_equal(r[0], 0);
    free(t2);
    free(t1);
}

/* What was agreed, and who waits, is part of a snapshot. */
static void
test_snapshot(void **state)
{
    struct tally_pmu *const pmu = make("ultrasparc-t2plus", 4, 0);
    struct tally_pmu *const kept = make("ultrasparc-t2plus", 4, 0);
    uint64_t r[2];

    (void)state;
    assert_int_equal(agree(pmu, 0x205, 1), 0);
    tally_sun4v_contend(pmu, 1);
    assert_int_equal(tally_pmu_copy(kept, pmu), 0);
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(fast(pmu, 0x106, 18, 0, r), TALLY_SUN4V_EWOULDBLOCK);
        assert_int_equal(fast(pmu, 0x106, 18, 0, r), 0);
        tally_pmu_reset(pmu);
        assert_int_equal(tally_pmu_copy(pmu, kept), 0);
    }
    free(pmu);
    free(kept);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_results),
        cmocka_unit_test(test_traps),
        cmocka_unit_test(test_results_untouched),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_dram_off),
        cmocka_unit_test(test_others_stay_on),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_snapshot),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
