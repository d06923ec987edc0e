/* SPDX-License-Identifier: MIT */
/* libtally-sun4v as a driver sees it: its header, linked to the shared library.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <hv_perf.h>
#include <tally/sun4v.h>

static struct tally_pmu *
make(uint32_t nodes, uint32_t flags)
{
    struct tally_pmu_options options;
    struct tally_pmu *pmu = NULL;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = "ultrasparc-t2plus";
    options.nodes = nodes;
    options.flags = flags;
    const size_t size = tally_pmu_size(&options);
    void *const memory = aligned_alloc(16, size);
    assert_non_null(memory);
    assert_int_equal(tally_pmu_init(memory, size, &options, &pmu), 0);
    return pmu;
}

static void
agree(uint64_t minor)
{
    uint64_t supported = 99;

    assert_int_equal(hv_api_set_version(HV_GRP_VF_CPU, 1, minor, &supported),
                     H_EOK);
    assert_int_equal(supported, minor);
}

/* V20 */
static void
test_unbound(void **state)
{
    uint64_t a = 99, b = 98;

    (void)state;
    hv_bind(NULL, 0);
    assert_int_equal(hv_api_set_version(HV_GRP_VF_CPU, 1, 1, &a), H_EBADTRAP);
    assert_int_equal(hv_api_get_version(HV_GRP_VF_CPU, &a, &b), H_EBADTRAP);
    assert_int_equal(hv_vfalls_get_perfreg(0, &a), H_EBADTRAP);
    assert_int_equal(hv_vfalls_set_perfreg(0, 0), H_EBADTRAP);
    assert_int_equal(a, 99);
    assert_int_equal(b, 98);
}

/* V20 V22 */
static void
test_versions(void **state)
{
    struct tally_pmu *const pmu = make(4, 0);
    uint64_t major = 99, minor = 98, supported = 97;

    (void)state;
    hv_bind(pmu, 0);
    assert_int_equal(hv_api_get_version(HV_GRP_VF_CPU, &major, &minor), H_EOK);
    assert_int_equal(major, 0);
    assert_int_equal(minor, 0);
    assert_int_equal(hv_api_set_version(HV_GRP_VF_CPU, 1, 7, &supported),
                     H_EOK);
    assert_int_equal(supported, 1);
    assert_int_equal(hv_api_get_version(HV_GRP_VF_CPU, &major, &minor), H_EOK);
    assert_int_equal(major, 1);
    assert_int_equal(minor, 1);
    supported = 97;
    assert_int_equal(hv_api_set_version(0x200, 1, 0, &supported), H_EINVAL);
    assert_int_equal(hv_api_set_version(HV_GRP_VF_CPU, 2, 0, &supported),
                     H_ENOTSUPPORTED);
    assert_int_equal(supported, 97);
    assert_int_equal(hv_api_get_version(0x200, &major, &minor), H_EINVAL);
    assert_int_equal(major, 1);
    assert_int_equal(minor, 1);
    hv_bind(NULL, 0);
    free(pmu);
}

/* V02 V21: each number is its own register, and that of the table. */
static void
test_registers(void **state)
{
    struct tally_pmu *const pmu = make(4, 0);

    (void)state;
    assert_int_equal(HV_VFALLS_PERFREGS, 90);
    assert_int_equal(HV_NODE3_MCU1_PIC, 17);
    assert_int_equal(HV_ZAM0_LPU_A_PCR, 18);
    assert_int_equal(HV_ZAM3_ASU_PIC1, 0x59);
    hv_bind(pmu, 5);
    agree(1);
    for (uint64_t i = 0; i < HV_VFALLS_PERFREGS; i++)
        assert_int_equal(hv_vfalls_set_perfreg(i, i & 0xf), H_EOK);
    for (uint64_t i = 0; i < HV_VFALLS_PERFREGS; i++) {
        const uint64_t wanted = i == HV_L2_CONTROL_REG ? i & 3 : i & 0xf;
        uint64_t value = 99;

        assert_int_equal(hv_vfalls_get_perfreg(i, &value), H_EOK);
        assert_int_equal(value, wanted);
    }
    hv_bind(NULL, 0);
    free(pmu);
}

/* V28 */
static void
test_errors(void **state)
{
    struct tally_pmu *const pmu = make(4, TALLY_PMU_DENY_HT);
    uint64_t value = 99;

    (void)state;
    hv_bind(pmu, 256);
    assert_int_equal(hv_vfalls_get_perfreg(0, &value), H_EINVAL);
    hv_bind(pmu, 0);
    assert_int_equal(hv_vfalls_get_perfreg(0, &value), H_EBADTRAP);
    agree(0);
    assert_int_equal(hv_vfalls_get_perfreg(HV_ZAM0_LPU_A_PCR, &value),
                     H_ENOTSUPPORTED);
    assert_int_equal(hv_vfalls_get_perfreg(90, &value), H_EINVAL);
    assert_int_equal(hv_vfalls_set_perfreg(HV_SPARC_PCR, 8), H_ENOACCESS);
    agree(1);
    tally_sun4v_contend(pmu, 1);
    assert_int_equal(hv_vfalls_get_perfreg(HV_ZAM0_LPU_A_PCR, &value),
                     H_EWOULDBLOCK);
    assert_int_equal(value, 99);
    assert_int_equal(hv_vfalls_get_perfreg(HV_ZAM0_LPU_A_PCR, &value), H_EOK);
    assert_int_equal(value, 0);
    hv_bind(NULL, 0);
    free(pmu);
}

static void *
other(void *unused)
{
    uint64_t value;

    (void)unused;
    return hv_vfalls_get_perfreg(0, &value) == H_EBADTRAP ? (void *)"unbound"
                                                          : NULL;
}

/* V26: each thread is a strand of its own. */
static void
test_threads(void **state)
{
    struct tally_pmu *const pmu = make(1, 0);
    uint64_t value = 99;
    pthread_t thread;
    void *answer;

    (void)state;
    hv_bind(pmu, 1);
    agree(0);
    assert_int_equal(pthread_create(&thread, NULL, other, NULL), 0);
    assert_int_equal(pthread_join(thread, &answer), 0);
    assert_non_null(answer);
    assert_int_equal(hv_vfalls_set_perfreg(HV_SPARC_PCR, 6), H_EOK);
    hv_bind(pmu, 2);
    assert_int_equal(hv_vfalls_get_perfreg(HV_SPARC_PCR, &value), H_EOK);
    assert_int_equal(value, 0);
    hv_bind(pmu, 1);
    assert_int_equal(hv_vfalls_get_perfreg(HV_SPARC_PCR, &value), H_EOK);
    assert_int_equal(value, 6);
    hv_bind(NULL, 0);
    free(pmu);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unbound),   cmocka_unit_test(test_versions),
        cmocka_unit_test(test_registers), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
