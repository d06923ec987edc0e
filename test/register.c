/* SPDX-License-Identifier: MIT */
/*
 * The T2 Plus's PerfRegs and their addresses (Victoria Falls performance
 * register API, 3.1), and what a reset leaves in registers.
 */
#include "check.h"

/* The 90 PerfRegs; rule V07 for the 88 that have an address. */
static uint64_t
global_address(int number)
{
    static const uint64_t ports[] = {1, 3, 5, 7, 9, 0xb};

    if (number < 18) {
        const uint64_t n = (uint64_t)(number - 2);
        const uint64_t node = n / 4, mcu = n / 2 % 2, pic = n % 2;
        return (0xd0 + 4 * node) << 32 | mcu << 12 | (0x400 + 8 * pic);
    }
    const uint64_t n = (uint64_t)(number - 18);
    const uint64_t z = n / 18, port = ports[n % 18 / 3];
    return (0xe1 + 4 * z) << 32 | UINT64_C(0x30000000) | port << 14 | z << 12 |
           8 * (n % 3);
}

/* The label beside it: the low half of each, with no word of the node. */
static uint64_t
local_address(int number)
{
    static const uint64_t ports[] = {1, 3, 5, 7, 9, 0xb};

    if (number < 18) {
        const uint64_t n = (uint64_t)(number - 2);
        return UINT64_C(0x8400000400) | (n / 2 % 2) << 12 | 8 * (n % 2);
    }
    const uint64_t n = (uint64_t)(number - 18);
    return UINT64_C(0x8130000000) | ports[n % 18 / 3] << 12 | 8 * (n % 3);
}

static void
test_perfregs(void **state)
{
    const struct machine_row *m = machine_of("ultrasparc-t2plus");
    int addressed = 0;

    (void)state;
    for (int number = 0; number < 90; number++) {
        const struct register_row *found = NULL;
        for (size_t i = 0; i < m->register_count; i++) {
            const struct register_row *r = &m->registers[i];
            if (r->number != number || strcmp(r->name, "PIC") == 0)
                continue;
            assert_null(found);
            found = r;
        }
        assert_non_null(found);
        if (!found->has_global)
            continue;
        addressed++;
        assert_true(found->global_address == global_address(number));
        assert_true(found->has_local);
        assert_true(found->local_address == local_address(number));
    }
    assert_int_equal(addressed, 88);
}

/* 3.1 Definitions, by hand. */
static const struct {
    int line;
    const char *name;
    int number;
    uint64_t local, global;
} perfregs[] = {
    {__LINE__, "PCR", 0, 0, 0},
    {__LINE__, "L2_CONTROL", 1, 0, 0},
    {__LINE__, "NODE0_MCU0_PCR", 2, 0x8400000400, 0xd000000400},
    {__LINE__, "NODE1_MCU1_PIC", 9, 0x8400001408, 0xd400001408},
    {__LINE__, "NODE3_MCU1_PIC", 17, 0x8400001408, 0xdc00001408},
    {__LINE__, "ZAM0_LPU_A_PCR", 18, 0x8130001000, 0xe130004000},
    {__LINE__, "ZAM0_LPU_D_PIC1", 29, 0x8130007010, 0xe13001c010},
    {__LINE__, "ZAM0_GPD_PIC0", 31, 0x8130009008, 0xe130024008},
    {__LINE__, "ZAM0_ASU_PIC1", 35, 0x813000b010, 0xe13002c010},
    {__LINE__, "ZAM1_LPU_A_PCR", 36, 0x8130001000, 0xe530005000},
    {__LINE__, "ZAM3_ASU_PIC1", 89, 0x813000b010, 0xed3002f010},
};

static void
test_perfreg_rows(void **state)
{
    const struct machine_row *m = machine_of("ultrasparc-t2plus");

    (void)state;
    for (size_t i = 0; i < COUNT(perfregs); i++) {
        const struct register_row *r = register_find(m, perfregs[i].name);
        if (r == NULL)
            fail_msg("no register %s", perfregs[i].name);
        same_number(perfregs[i].line, r->number, perfregs[i].number);
        same_number(perfregs[i].line, (long long)r->local_address,
                    (long long)perfregs[i].local);
        same_number(perfregs[i].line, (long long)r->global_address,
                    (long long)perfregs[i].global);
    }
}

/* Where the manual says what a reset leaves (rules X1, X2; Table 3-10). */
static const struct {
    int line;
    const char *machine, *name;
    uint64_t reset;
} resets[] = {
    {__LINE__, "montecito", "PMC0", 0},
    {__LINE__, "montecito", "PMC32", 0x030f01ffffffffff},
    {__LINE__, "montecito", "PMC33", 0x1ffffffffff},
    {__LINE__, "montecito", "PMC34", 0x000f01ffffffffff},
    {__LINE__, "montecito", "PMC35", 0x1ffffffffff},
    {__LINE__, "montecito", "PMC36", 0xfffffff0},
    {__LINE__, "montecito", "PMC38", 0xdb6},
    {__LINE__, "montecito", "PMC41", 0x2078fefefefe},
    {__LINE__, "sparc-t4", "PCR0", 0},
    {__LINE__, "sparc-t4", "DRAM_PERF_CTL_REG3", 0},
};

static void
test_resets(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(resets); i++) {
        const struct register_row *r =
            register_find(machine_of(resets[i].machine), resets[i].name);
        uint64_t value = 0;
        if (r == NULL)
            fail_msg("row at line %d: no %s", resets[i].line, resets[i].name);
        for (size_t k = 0; k < r->field_count; k++)
            if (r->fields[k].has_reset)
                value |= r->fields[k].reset << r->fields[k].low;
        same_number(resets[i].line, (long long)value,
                    (long long)resets[i].reset);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perfregs),
        cmocka_unit_test(test_perfreg_rows),
        cmocka_unit_test(test_resets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
