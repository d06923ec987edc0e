/* SPDX-License-Identifier: MIT */
/* The calls of Netra DPS's profiler on this host. */
#include "teja_profiler.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static teja_process_t main_process;
static teja_thread_t generator_thread;
static int marked;

/* P01 */
static void
generate(void)
{
    teja_profiler_values_t values;

    /* The host's events stand in for a mask's: see main(). */
    marked += teja_profiler_start(TEJA_PROFILER_CMT_CPU,
                                  TEJA_PROFILER_CMT_CPU_IC_MISS |
                                      TEJA_PROFILER_CMT_CPU_DC_MISS) == 0;
    for (uint64_t packet = 0; packet < 3; packet++)
        marked += teja_profiler_update(TEJA_PROFILER_CMT_CPU, packet, 7) == 0;
    marked += teja_profiler_get_values(TEJA_PROFILER_CMT_CPU, &values) == 0;
    marked += teja_profiler_stop(TEJA_PROFILER_CMT_CPU) == 0;
}

/* What a dump prints, in a file of its own. */
static size_t
dumped(teja_thread_t thread, char *text, size_t size)
{
    FILE *file = tmpfile();
    const int out = dup(STDOUT_FILENO);

    assert_non_null(file);
    fflush(stdout);
    dup2(fileno(file), STDOUT_FILENO);
    const int error = teja_profiler_dump(thread);
    dup2(out, STDOUT_FILENO);
    close(out);
    rewind(file);
    const size_t length = fread(text, 1, size - 1, file);
    text[length] = '\0';
    fclose(file);
    return error == 0 ? length : 0;
}

static void
threads_dump(void **state)
{
    char text[4096];

    (void)state;
    assert_int_equal(dumped(generator_thread, text, sizeof(text)), 0);
    assert_int_equal(teja_thread_start(generator_thread, generate), 0);
    assert_int_equal(teja_thread_join(generator_thread), 0);
    assert_int_equal(marked, 6);
    assert_true(dumped(generator_thread, text, sizeof(text)) > 0);
    /* The names come first; the dump is the document's. */
    assert_memory_equal(text, "TALLY_PROFILE_MACHINE,host\n", 27);
    const char *const table = strstr(text, "TEJA_PROFILE_DUMP_START");
    assert_non_null(table);
    assert_memory_equal(table, "TEJA_PROFILE_DUMP_START,ver1.1\nCPUID,", 37);
    int lines = 0;
    for (const char *c = table; *c != '\0'; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 7);
    assert_non_null(strstr(text, ",0,2,7\n"));
}

static void
properties(void **state)
{
    (void)state;
    assert_int_equal(
        teja_process_set_property(main_process, "profiler_size", "1"), -1);
    assert_int_equal(teja_process_set_property(
                         main_process, "profiler_log_table_size", "4096"),
                     0);
    assert_int_equal(
        teja_process_set_property(main_process, "profiler_user_data_size", "2"),
        0);
    assert_int_equal(
        teja_process_set_property(main_process, "profiler_events", ""), 0);
    assert_null(teja_process_create(NULL, "another", NULL));
}

/* P02: what a mask may hold on this host. */
static void
masks(void **state)
{
    static const struct {
        teja_profiler_group_t group;
        teja_profiler_event_t events;
        const char *text; /* NULL: refused */
    } rows[] = {
        {1, TEJA_PROFILER_CMT_CPU_IC_MISS | TEJA_PROFILER_CMT_CPU_DC_MISS,
         "L1-dcache-load-misses,L1-icache-load-misses"},
        {1, TEJA_PROFILER_CMT_CPU_INSTR_CNT, "instructions"},
        {1, 7, NULL},
        {1, 0, NULL},
        {1, TEJA_PROFILER_CMT_CPU_AES_OP, NULL},
        {1, TEJA_PROFILER_BIT(63), NULL},
        {2, TEJA_PROFILER_CMT_DRAM_MEM_READS, NULL},
        {0, 1, NULL},
        {4, 1, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct teja_profiler_list list;
        assert_int_equal(
            teja_profiler_list_of(rows[i].group, rows[i].events, &list),
            rows[i].text != NULL ? 0 : -1);
        if (rows[i].text != NULL)
            assert_string_equal(list.text, rows[i].text);
    }
    assert_int_equal(teja_process_set_property(main_process, "profiler_events",
                                               "page-faults:u,task-clock:u"),
                     0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties),
        cmocka_unit_test(masks),
        cmocka_unit_test(threads_dump),
    };

    main_process = teja_process_create(NULL, "main_process", NULL);
    generator_thread = teja_thread_create(main_process, "generator_thread");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
