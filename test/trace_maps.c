/* SPDX-License-Identifier: MIT */
/* What a trace's program has mapped, against a twin that notes it page by page.
 */
#include "trace/trace_maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ref/random.h"

#define PAGES 48u
#define PAGE 4096u

/* The twin: what each page has. */
struct page {
    bool mapped;
    uint64_t offset;
    char path[8];
};

static void
set(struct page *pages, uint64_t first, uint64_t last, const char *path,
    uint64_t offset)
{
    for (uint64_t i = first / PAGE; i <= last / PAGE; i++) {
        pages[i] = (struct page){.mapped = path != NULL};
        if (path == NULL)
            continue;
        pages[i].offset = offset + i * PAGE - first;
        snprintf(pages[i].path, sizeof(pages[i].path), "%s", path);
    }
}

static void
compare(const struct trace_maps *m, const struct page *pages)
{
    size_t at = 0;

    for (uint64_t i = 0; i < PAGES; i++) {
        while (at < m->count && m->rows[at].last < i * PAGE)
            at++;
        const struct trace_map *const row = &m->rows[at];
        const bool mapped = at < m->count && row->first <= i * PAGE;
        assert_int_equal(mapped, pages[i].mapped);
        if (!mapped)
            continue;
        assert_string_equal(row->path, pages[i].path);
        assert_int_equal(row->offset + i * PAGE - row->first, pages[i].offset);
    }
    for (size_t i = 1; i < m->count; i++)
        assert_true(m->rows[i - 1].last < m->rows[i].first);
}

static void
test_twin(void **unused)
{
    static const char *const paths[] = {"", "/a", "/b"};
    uint64_t random = 7;

    (void)unused;
    for (unsigned turn = 0; turn < 200; turn++) {
        struct trace_maps maps = {0};
        struct page pages[PAGES] = {0};
        for (unsigned step = 0; step < 60; step++) {
            const uint64_t from = random_below(&random, PAGES);
            const uint64_t to = from + random_below(&random, PAGES - from);
            const uint64_t first = from * PAGE, last = to * PAGE + PAGE - 1;
            const uint64_t offset = random_below(&random, 9) * PAGE;
            const char *const path = paths[random_below(&random, 3)];
            if (random_below(&random, 3) == 0) {
                assert_true(trace_maps_clear(&maps, first, last));
                set(pages, first, last, NULL, 0);
            } else {
                const struct trace_map row = {first, last, offset,
                                              (char *)(uintptr_t)path};
                assert_true(trace_maps_add(&maps, &row, strlen(path)));
                set(pages, first, last, path, offset);
            }
            compare(&maps, pages);
        }
        trace_maps_finish(&maps);
    }
}

/* Pieces at both ends of all addresses, as a foreign trace may have them. */
static void
test_ends(void **unused)
{
    const struct trace_map all = {0, UINT64_MAX, 0, (char *)(uintptr_t) "/all"};
    struct trace_maps maps = {0};

    (void)unused;
    assert_true(trace_maps_add(&maps, &all, 2));
    assert_string_equal(maps.rows[0].path, "/a");
    assert_true(trace_maps_clear(&maps, 100, 199));
    assert_int_equal(maps.count, 2);
    assert_int_equal(maps.rows[0].last, 99);
    assert_int_equal(maps.rows[1].first, 200);
    assert_int_equal(maps.rows[1].offset, 200);
    assert_true(trace_maps_clear(&maps, 0, 0));
    assert_true(trace_maps_clear(&maps, UINT64_MAX, UINT64_MAX));
    assert_int_equal(maps.rows[1].last, UINT64_MAX - 1);
    assert_true(trace_maps_add(&maps, &all, 4));
    assert_int_equal(maps.count, 1);
    assert_true(trace_maps_clear(&maps, 0, UINT64_MAX));
    assert_int_equal(maps.count, 0);
    trace_maps_finish(&maps);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_twin),
        cmocka_unit_test(test_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
