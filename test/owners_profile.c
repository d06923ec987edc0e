/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The buckets of a profile in the plugin: taken from the program, given to it
 * in its order of bytes, and freed. The program's memory is this one's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/gateway.h"
#include "plugin/vcounter_processes_own.h"

#define NOWHERE 16 /* an address without memory */
#define LARGE 20000

struct plugin tally_plugin;

static uint16_t buckets[4], more[2], large[LARGE];
static bool written_to = true; /* whether the program's memory can be */

bool
plugin_read(uint64_t addr, void *buf, size_t size)
{
    if (addr == NOWHERE)
        return false;
    memcpy(buf, (const void *)(uintptr_t)addr, size);
    return true;
}

bool
plugin_write(uint64_t addr, const void *buf, size_t size)
{
    if (addr == NOWHERE || !written_to)
        return false;
    memcpy((void *)(uintptr_t)addr, buf, size);
    return true;
}

/* The linker puts this before calloc(): after `calls_left` calls the plugin has
 * no memory. */
static int calls_left = -1;
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *
__wrap_calloc(size_t count, size_t size)
{
    return calls_left >= 0 && calls_left-- == 0 ? NULL
                                                : __real_calloc(count, size);
}

static struct gateway_range
range_of(uint16_t *memory, uint64_t count)
{
    return (struct gateway_range){
        .offset = gateway_word(0x1000),
        .scale = gateway_word(0x8000),
        .count = gateway_word(count),
        .buckets = gateway_word((uintptr_t)memory),
    };
}

static const struct virtual_range *
take(const struct gateway_range *ranges, uint64_t count, int *error)
{
    const struct gateway_virtual request = {
        .range_count = gateway_word(count),
        .ranges = gateway_word((uintptr_t)ranges),
    };

    return vcounter_profile_claim(&request, error);
}

static const struct virtual_range *
must_take(const struct gateway_range *ranges, uint64_t count)
{
    int error = 1;
    const struct virtual_range *taken = take(ranges, count, &error);

    assert_non_null(taken);
    assert_int_equal(error, 0);
    return taken;
}

static void
refuse(const struct gateway_range *ranges, uint64_t count, int wanted)
{
    int error = 0;

    assert_null(take(ranges, count, &error));
    assert_int_equal(error, wanted);
}

static int
begin(void **state)
{
    (void)state;
    tally_plugin.shape.isa = &isa_rows[ISA_MIPS64];
    written_to = true;
    memset(buckets, 0, sizeof(buckets));
    memset(more, 0, sizeof(more));
    return 0;
}

static int
end(void **state)
{
    (void)state;
    vcounter_profile_forget();
    return 0;
}

static void
test_given(void **state)
{
    static const struct isa *isas[] = {&isa_rows[ISA_MIPS64],
                                       &isa_rows[ISA_MIPS64EL]};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        tally_plugin.shape.isa = isas[i];
        const uint16_t three = i == 0 ? 0x0300 : 3, four = i == 0 ? 0x0400 : 4;
        const struct gateway_range ranges[] = {range_of(buckets, 4),
                                               range_of(more, 2)};
        buckets[1] = buckets[3] = three;
        const struct virtual_range *taken = must_take(ranges, 2);
        assert_int_equal(taken[0].offset, 0x1000);
        assert_int_equal(taken[0].scale, 0x8000);
        assert_int_equal(taken[0].count, 4);
        assert_int_equal(taken[0].buckets[1], 3);
        assert_int_equal(taken[0].buckets[3], 3);
        assert_int_equal(taken[1].count, 2);
        taken[0].buckets[1]++;
        taken[1].buckets[0] = 3;
        vcounter_profile_choose(true);
        assert_int_equal(buckets[1], three);
        vcounter_profile_report();
        assert_int_equal(buckets[1], four);
        assert_int_equal(buckets[3], three);
        assert_int_equal(more[0], three);
        vcounter_profile_forget();
        buckets[1] = 9;
        vcounter_profile_report();
        assert_int_equal(buckets[1], 9);
    }
}

/* What was refused leaves nothing behind, and the profile that counts goes on.
 */
static void
test_refused(void **state)
{
    const struct gateway_range good = range_of(buckets, 4);
    const struct gateway_range bad[] = {
        range_of(more, 2),
        range_of((uint16_t *)NOWHERE, 2),
        range_of(more, 2),
    };

    (void)state;
    const struct virtual_range *taken = must_take(&good, 1);
    vcounter_profile_choose(true);
    refuse(bad, 3, -EFAULT);
    written_to = false; /* what can be read alone is refused too */
    refuse(bad, 1, -EFAULT);
    written_to = true;
    refuse((const struct gateway_range *)NOWHERE, 1, -EFAULT);
    refuse(bad, 0, -EINVAL);
    refuse(bad, 65, -EINVAL);
    refuse((const struct gateway_range[]){range_of(more, 0)}, 1, -EINVAL);
    refuse((const struct gateway_range[]){range_of(more, (1 << 24) + 1)}, 1,
           -EINVAL);
    const struct virtual_range *other = must_take(&bad[2], 1);
    assert_int_equal(other[0].count, 2);
    other[0].buckets[0] = 9;
    vcounter_profile_choose(false);
    taken[0].buckets[3] = 256;
    vcounter_profile_report();
    assert_int_equal(buckets[3], 1);
    assert_int_equal(more[0], 0);
}

/* As many ranges as there may be, the first of as many buckets. */
static void
test_largest(void **state)
{
    const size_t most = (size_t)1 << 24;
    struct gateway_range ranges[64];
    uint16_t *memory = calloc(most, sizeof(*memory));

    (void)state;
    assert_non_null(memory);
    ranges[0] = range_of(memory, most);
    for (size_t i = 1; i < 64; i++)
        ranges[i] = range_of(more, 2);
    const struct virtual_range *taken = must_take(ranges, 64);
    assert_int_equal(taken[0].count, most);
    assert_int_equal(taken[63].count, 2);
    vcounter_profile_choose(false);
    free(memory);
}

/* Buckets that cannot be written once are not written again. */
static void
test_gone(void **state)
{
    const struct gateway_range range = range_of(buckets, 4);

    (void)state;
    const struct virtual_range *taken = must_take(&range, 1);
    vcounter_profile_choose(true);
    taken[0].buckets[0] = 1;
    written_to = false;
    vcounter_profile_report();
    written_to = true;
    vcounter_profile_report();
    assert_int_equal(buckets[0], 0);
}

/* Bytes that are allocated; 0 under a sanitizer, which finds leaks itself. */
static size_t
allocated(void)
{
    const struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static void
replace_often(void)
{
    const struct gateway_range ranges[] = {range_of(large, LARGE),
                                           range_of((uint16_t *)NOWHERE, 2)};

    for (int i = 0; i < 20; i++) {
        must_take(ranges, 1);
        vcounter_profile_choose(true);
        must_take(ranges, 1);
        vcounter_profile_choose(false);
        refuse(ranges, 2, -EFAULT);
        vcounter_profile_report();
    }
    vcounter_profile_forget();
}

/* Each way by which a profile goes gives back all that it took. */
static void
test_freed(void **state)
{
    (void)state;
    replace_often(); /* what the C library keeps for itself is there */
    const size_t before = allocated();
    replace_often();
    assert_int_equal(allocated(), before);
}

static void
test_no_memory(void **state)
{
    struct gateway_range ranges[] = {range_of(buckets, 4), range_of(more, 2)};

    (void)state;
    /* The ranges, their addresses, the buckets of each. */
    for (int calls = 0; calls < 4; calls++) {
        calls_left = calls;
        refuse(ranges, 2, -ENOMEM);
        assert_int_equal(calls_left, -1);
    }
    must_take(ranges, 2);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_given, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_largest, begin, end),
        cmocka_unit_test_setup_teardown(test_gone, begin, end),
        cmocka_unit_test_setup_teardown(test_freed, begin, end),
        cmocka_unit_test_setup_teardown(test_no_memory, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
