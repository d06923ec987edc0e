/* SPDX-License-Identifier: MIT */
/*
 * Sessions as a program of its own sees them: public headers only, linked to
 * the shared library. TALLY_GUESTS names the folder of the guest programs;
 * without them the runs are skipped.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <tally/session.h>
#include <tally/tally.h>

static void
keep_line(void *user, enum tally_level level, const char *text)
{
    if (level == TALLY_LOG_ERROR)
        snprintf(user, 256, "%s", text);
}

/* The path of a guest program; skips the test where it is not built. */
static char *
guest(const char *name)
{
    static char path[4096];
    const char *folder = getenv("TALLY_GUESTS");

    snprintf(path, sizeof(path), "%s/%s", folder ? folder : ".", name);
    if (access(path, X_OK) != 0)
        skip();
    return path;
}

/* Runs it with its output thrown away: ours is TAP. */
static int
run(const struct tally_session_options *options, char *const argv[],
    struct tally_result **result)
{
    const int ours = dup(STDOUT_FILENO);
    const int nowhere = open("/dev/null", O_WRONLY);

    assert_true(ours >= 0 && nowhere >= 0);
    fflush(stdout);
    dup2(nowhere, STDOUT_FILENO);
    const int error = tally_session_run(options, argv, result);
    dup2(ours, STDOUT_FILENO);
    close(ours);
    close(nowhere);
    return error;
}

static void
counts_a_guest(void **state)
{
    char *argv[] = {guest("hello.sparc64"), NULL};
    struct tally_session_options options;
    struct tally_result *r = NULL;
    uint64_t classes = 0, threads = 0;

    (void)state;
    tally_session_options_init(&options, sizeof(options));
    assert_int_equal(run(&options, argv, &r), 0);
    assert_true(WIFEXITED(tally_result_status(r)));
    assert_int_equal(WEXITSTATUS(tally_result_status(r)), 0);
    assert_string_equal(tally_machine_name(tally_result_machine(r)),
                        "ultrasparc-t2");

    /* 0x012, 0x042 ... 0x802 are classes and 0xfd2 is their sum; 0x022, taken
     * branches, is a part of the first. */
    uint64_t all = 0;
    for (size_t i = 0; i < tally_result_event_count(r); i++) {
        const int32_t code = tally_event_code(tally_result_event(r, i));
        if (code == 0xfd2)
            all = tally_result_value(r, i);
        else if ((code & 0xf) == 2 && code != 0x022)
            classes += tally_result_value(r, i);
        if (code == 0xfd2) {
            assert_int_equal(tally_result_fidelity(r, i), TALLY_EXACT);
            for (size_t t = 0; t < tally_result_thread_count(r); t++)
                threads += tally_result_thread_value(r, t, i);
        }
    }
    assert_true(all > 1000);
    assert_int_equal(classes, all);
    assert_int_equal(threads, all);
    assert_true(tally_result_wall_s(r) > 0);
    tally_result_destroy(r);
}

static void
threads_vary(void **state)
{
    char turns[] = "100", three[] = "3", none[] = "0";
    struct tally_session_options options;

    (void)state;
    tally_session_options_init(&options, sizeof(options));
    options.events = "All_instr";
    options.clean_env = true;
    for (int real = 0; real < 2; real++) {
        options.real_random = real != 0;
        for (int beside = 0; beside < 3; beside++) {
            options.parallel = beside == 2;
            char *argv[] = {guest("threads.sparc64"), beside ? three : none,
                            turns, NULL};
            struct tally_result *r = NULL;
            assert_int_equal(run(&options, argv, &r), 0);
            assert_int_equal(tally_result_fidelity(r, 0),
                             beside == 2 ? TALLY_VARIES : TALLY_EXACT);
            tally_result_destroy(r);
        }
    }
}

static void
models_time(void **state)
{
    char *argv[] = {guest("hello.sparc64"), NULL};
    struct tally_session_options options;
    struct tally_result *r = NULL;

    (void)state;
    tally_session_options_init(&options, sizeof(options));
    options.events = "cycles";
    options.clean_env = true;
    assert_int_equal(run(&options, argv, &r), 0);
    assert_int_equal(tally_result_event_count(r), 1);
    assert_int_equal(tally_result_fidelity(r, 0), TALLY_ESTIMATED);
    /* One strand: cycles of a 1.4 GHz clock, in whole nanoseconds. */
    const double seconds = (double)tally_result_value(r, 0) / 1.4e9;
    const double off = tally_result_modelled_s(r) - seconds;
    assert_true(off > -2e-9 && off < 2e-9);
    tally_result_destroy(r);
}

static void
takes_parameters(void **state)
{
    static const char *const small[] = {"l1d.size=1K", "l1d.ways=1", NULL};
    char *argv[] = {guest("hello.sparc64"), NULL};
    struct tally_session_options options;
    struct tally_result *r = NULL;
    uint64_t misses[2];

    (void)state;
    tally_session_options_init(&options, sizeof(options));
    options.events = "Dcache_misses";
    for (int i = 0; i < 2; i++) {
        options.set = i ? small : NULL;
        assert_int_equal(run(&options, argv, &r), 0);
        misses[i] = tally_result_value(r, 0);
        /* Nobody asked for cycles. */
        assert_true(tally_result_modelled_s(r) < 0);
        tally_result_destroy(r);
    }
    assert_true(misses[1] > misses[0]);
}

static void
says_what_is_wrong(void **state)
{
    static const char *const odd[] = {"l1d.size=7", NULL};
    char *t2 = guest("hello.sparc64");
    const struct {
        int line;
        const char *program, *events, *from;
        const char *const *set;
        uint64_t skip;
        const char *machine;
        int error;
        const char *text;
    } rows[] = {
        {__LINE__, "/nowhere", NULL, NULL, NULL, 0, NULL, TALLY_EPROGRAM,
         "/nowhere"},
        {__LINE__, t2, "Dcache_mises", NULL, NULL, 0, NULL, TALLY_EUNKNOWN,
         "Dcache_misses"},
        {__LINE__, t2, "", NULL, NULL, 0, NULL, TALLY_ESYNTAX, ""},
        {__LINE__, t2, NULL, NULL, odd, 0, NULL, TALLY_ERANGE, "l1d.size"},
        {__LINE__, t2, NULL, "no_such_function", NULL, 0, NULL, TALLY_EUNKNOWN,
         "no_such_function"},
        {__LINE__, t2, NULL, "main", NULL, 1, NULL, TALLY_ERANGE, "skip"},
        {__LINE__, t2, NULL, NULL, NULL, 0, "host-model", TALLY_EARCH,
         "host-model"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[256] = "";
        char *argv[] = {(char *)rows[i].program, NULL};
        struct tally_session_options options;
        struct tally_result *r = NULL;

        tally_session_options_init(&options, sizeof(options));
        options.events = rows[i].events;
        options.from = rows[i].from;
        options.set = rows[i].set;
        options.skip = rows[i].skip;
        if (rows[i].machine != NULL)
            options.machine = tally_machine_find(rows[i].machine);
        options.log = (struct tally_log){keep_line, line};
        const int error = run(&options, argv, &r);
        if (error != rows[i].error || r != NULL ||
            strstr(line, rows[i].text) == NULL)
            fail_msg("row of line %d: error %d, text '%s'", rows[i].line, error,
                     line);
    }
}

/* A caller compiled before the last options were added, and after. */
static void
knows_sizes(void **state)
{
    static const char *const odd[] = {"l1d.size=7", NULL};
    char *argv[] = {guest("hello.sparc64"), NULL};
    struct {
        struct tally_session_options options;
        uint64_t newer;
    } wide;
    struct tally_result *r = NULL;

    (void)state;
    tally_session_options_init(&wide.options, sizeof(wide));
    wide.options.events = "All_instr";
    assert_int_equal(run(&wide.options, argv, &r), 0);
    tally_result_destroy(r);
    r = NULL;

    wide.newer = 1; /* asks for what this library does not know */
    assert_int_equal(run(&wide.options, argv, &r), TALLY_ERANGE);
    assert_null(r);

    wide.options.size = offsetof(struct tally_session_options, set);
    wide.options.set = odd; /* beyond what this caller knows of */
    assert_int_equal(run(&wide.options, argv, &r), 0);
    assert_int_equal(tally_result_event_count(r), 1);
    tally_result_destroy(r);
    tally_result_destroy(NULL);
    r = NULL;

    wide.options.size = 0;
    assert_int_equal(run(&wide.options, argv, &r), TALLY_ERANGE);
    assert_null(r);
}

/* It fails after the options were read, without QEMU. */
static void
takes_no_options(void **state)
{
    char *argv[] = {"/no/such/program", NULL};
    struct tally_result *r = NULL;

    (void)state;
    assert_int_equal(tally_session_run(NULL, argv, &r), TALLY_EPROGRAM);
    assert_null(r);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_a_guest),
        cmocka_unit_test(threads_vary),
        cmocka_unit_test(models_time),
        cmocka_unit_test(takes_parameters),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(knows_sizes),
        cmocka_unit_test(takes_no_options),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
