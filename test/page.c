/* SPDX-License-Identifier: MIT */
/*
 * Counters read from the kernel's page, with a processor played by functions:
 * linux/perf_event.h, struct perf_event_mmap_page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "host/page.h"
#include "host/ring.h"

/* What the played processor has, and what the kernel does meanwhile. */
static struct {
    struct perf_event_mmap_page page;
    uint64_t pmc, tsc;
    unsigned reads;
    unsigned updates; /* of the page, one a read */
    uint32_t index;   /* that was read last */
} now;

static uint64_t
read_pmc(uint32_t index)
{
    now.index = index;
    now.reads++;
    if (now.updates > 0) {
        now.updates--;
        now.page.lock += 2;
        now.page.offset += 1000;
        now.page.time_enabled += 10;
        now.page.time_running += 10;
    }
    return now.pmc;
}

static uint64_t
read_tsc(void)
{
    return now.tsc;
}

static void
start(void)
{
    memset(&now, 0, sizeof(now));
    now.page.cap_user_rdpmc = 1;
    now.page.cap_user_time = 1;
    now.page.index = 3;
    now.page.offset = 500;
    now.page.pmc_width = 48;
    now.page.time_enabled = 100;
    now.page.time_running = 60;
    now.page.time_mult = 1 << 10;
    now.page.time_shift = 10;
    now.pmc = 42;
}

static bool
read_page(struct counter_reading *r)
{
    return page_read_with(&now.page, read_pmc, read_tsc, r);
}

static void
reads_the_counter(void **state)
{
    struct counter_reading r;

    (void)state;
    start();
    now.tsc = 7;
    assert_true(read_page(&r));
    assert_int_equal(now.index, 2); /* one less than the page's */
    assert_int_equal(r.value, 542);
    assert_int_equal(r.enabled, 107);
    assert_int_equal(r.running, 67);
}

static void
extends_the_sign(void **state)
{
    struct counter_reading r;

    (void)state;
    start();
    now.page.offset = INT64_C(1) << 47;
    now.pmc = (UINT64_C(1) << 48) - 8; /* -8: the kernel armed it so */
    assert_true(read_page(&r));
    assert_int_equal(r.value, (UINT64_C(1) << 47) - 8);
    now.page.pmc_width = 64;
    now.page.offset = 10;
    now.pmc = UINT64_MAX;
    assert_true(read_page(&r));
    assert_int_equal(r.value, 9);
}

static void
converts_time(void **state)
{
    struct counter_reading r;

    (void)state;
    start();
    now.page.time_enabled = now.page.time_running = 0;
    now.page.time_mult = 3 << 8; /* 0.75 ns a cycle */
    now.tsc = (UINT64_C(1) << 60) + 5;
    now.page.time_offset = (uint64_t) - ((int64_t)3 << 58);
    assert_true(read_page(&r));
    assert_int_equal(r.enabled, 3); /* 3.75, and no overflow on the way */
    now.page.cap_user_time_short = 1;
    now.page.time_mask = 0xffff;
    now.page.time_cycles = 0x1fff0;
    now.page.time_offset = 0;
    now.tsc = 0x10; /* the short clock went round: 0x20010 */
    assert_true(read_page(&r));
    assert_int_equal(r.enabled, 0x20010 * 3 / 4);
}

static void
reads_again_after_updates(void **state)
{
    struct counter_reading r;

    (void)state;
    start();
    now.updates = 3;
    assert_true(read_page(&r));
    assert_int_equal(now.reads, 4);
    assert_int_equal(r.value, 3542);
    assert_int_equal(r.enabled, 130);

    now.updates = UINT32_MAX; /* never still */
    r.value = 7;
    assert_false(read_page(&r));
    assert_int_equal(r.value, 7);

    start();
    now.page.lock = 1; /* the kernel is at it */
    assert_false(read_page(&r));
}

static void
leaves_it_to_the_kernel(void **state)
{
    struct counter_reading r;

    (void)state;
    start();
    now.page.index = 0; /* not on a counter now */
    assert_false(read_page(&r));
    start();
    now.page.cap_user_rdpmc = 0;
    assert_false(read_page(&r));
    assert_false(page_usable(&now.page));
    start();
    now.page.cap_user_time = 0;
    assert_false(read_page(&r));
    assert_int_equal(now.reads, 0);
}

/* A ring of 64 bytes: each record of 32 or 24 bytes, some across its end. */
#define RING 64

struct ring {
    struct perf_event_mmap_page page;
    unsigned char data[RING];
};

static void
put(struct ring *ring, const void *record, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ring->data[ring->page.data_head++ % RING] =
            ((const unsigned char *)record)[i];
}

static void
keep_last(void *user, const struct host_overflow *o)
{
    *(struct host_overflow *)user = *o;
}

static void
takes_records_across_the_end(void **state)
{
    static struct ring ring;
    struct {
        struct perf_event_header header;
        uint64_t ip;
        uint32_t pid, tid;
        uint64_t time;
    } sample = {{PERF_RECORD_SAMPLE, 0, sizeof(sample)}, 0, 1, 2, 3};
    const struct {
        struct perf_event_header header;
        uint64_t id, lost;
    } lost = {{PERF_RECORD_LOST, 0, sizeof(lost)}, 9, 5};

    (void)state;
    for (unsigned i = 0; i < 100; i++) {
        struct host_overflow last = {0};
        sample.ip = i;
        if (i % 3 == 0)
            put(&ring, &lost, sizeof(lost));
        put(&ring, &sample, sizeof(sample));
        host_ring_take(&ring.page, sizeof(ring.page), RING, keep_last, &last);
        assert_int_equal(last.ip, i);
        assert_int_equal(last.pid, 1);
        assert_int_equal(last.tid, 2);
        assert_int_equal(last.time, 3);
        assert_int_equal(last.lost, i % 3 == 0 ? 5 : 0);
        assert_int_equal(ring.page.data_tail, ring.page.data_head);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_counter),
        cmocka_unit_test(extends_the_sign),
        cmocka_unit_test(converts_time),
        cmocka_unit_test(reads_again_after_updates),
        cmocka_unit_test(leaves_it_to_the_kernel),
        cmocka_unit_test(takes_records_across_the_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
