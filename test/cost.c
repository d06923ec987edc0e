/* SPDX-License-Identifier: MIT */
/* What events cost: a machine's own costs, and those of a file. */
#include "table/cost.h"

#include <unistd.h>

#include "check.h"
#include "table/param.h"

/* Sets the parameters of a machine, and one more unless `set` is NULL. */
static void
set_params(const struct machine_row *m, const char *set, uint64_t *params)
{
    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = m->params[i].value;
    if (set != NULL)
        assert_int_equal(param_set(set, NULL, params), 0);
}

/* Costs of the R10000 as its costs.toml has them, in cycles. */
static const struct {
    int line;
    const char *event, *set;
    double minimum, typical, maximum;
    bool known, assumed;
} rows[] = {
    {__LINE__, "Cycles", "time.l2=8", 1, 1, 1, true, false},
    {__LINE__, "Graduated_instructions", "time.l2=8", .25, .25, 1, true, false},
    {__LINE__, "Primary_data_cache_misses", "time.l2=8", 2, 8, 10, true, true},
    {__LINE__, "Primary_data_cache_misses", "time.l2=40", 10, 40, 50, true,
     true},
    {__LINE__, "TLB_misses", "time.walk=30", 30, 30, 60, true, true},
    {__LINE__, "Secondary_data_cache_misses", "time.memory=62", 15.5, 62, 124,
     true, true},
    {__LINE__, "Issued_instructions", "time.l2=8", 0, 0, 0, false, false},
};

static void
test_table(void **state)
{
    const struct machine_row *m = machine_of("r10000");
    uint64_t params[PARAM_COUNT];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct event_row *event = event_find(m, rows[i].event);
        set_params(m, rows[i].set, params);
        struct cost *costs = cost_table(m, params);
        assert_non_null(costs);
        assert_non_null(event);
        const struct cost *c = &costs[event - m->events];
        if (c->minimum != rows[i].minimum || c->typical != rows[i].typical ||
            c->maximum != rows[i].maximum || c->known != rows[i].known ||
            c->assumed != rows[i].assumed ||
            (c->source != NULL) != rows[i].known)
            fail_msg("row at line %d: %g %g %g, %d %d", rows[i].line,
                     c->minimum, c->typical, c->maximum, c->known, c->assumed);
        free(costs);
    }
}

/* The last event of a machine has a row too, also one without costs. */
static void
test_all(void **state)
{
    uint64_t params[PARAM_COUNT];

    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        size_t known = 0;
        if (m->params == NULL) /* the host */
            continue;
        set_params(m, NULL, params);
        struct cost *costs = cost_table(m, params);
        assert_non_null(costs);
        for (size_t e = 0; e < m->event_count + m->made_count; e++) {
            known += costs[e].known;
            assert_true(costs[e].minimum <= costs[e].typical &&
                        costs[e].typical <= costs[e].maximum);
        }
        assert_int_equal(known, m->cost_count);
        free(costs);
    }
}

/* Reads a text as a file of costs of the R10000. */
static int
read_text(const char *text, size_t size, struct heard *heard,
          struct cost *costs)
{
    const struct tally_log log = listen(heard);
    char path[] = "/tmp/tally-cost-XXXXXX";
    const int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    close(fd);
    const int error = cost_table_read(machine_of("r10000"), path, &log, costs);
    /* The path differs from run to run. */
    char *place = strstr(heard->text, path);
    if (place != NULL)
        memmove(place, place + strlen(path), strlen(place + strlen(path)) + 1);
    unlink(path);
    return error;
}

static const char syntax[] = "a line is EVENT TYPICAL MINIMUM MAXIMUM, in "
                             "cycles from 0 to 1000000";
static const char order[] = "typical must be between minimum and maximum";

/* Files, and the cost of Cycles that they leave, or the error. */
static const struct {
    int line;
    const char *text;
    int error;
    const char *at, *message;
    double minimum, typical, maximum;
} files[] = {
    {__LINE__, "", 0, "", "", 1, 1, 1},
    {__LINE__, "\n  \t\r\n# Cycles 2 2 2\n", 0, "", "", 1, 1, 1},
    {__LINE__, "Cycles 2 1 3\n", 0, "", "", 1, 2, 3},
    {__LINE__, "Cycles 2 1 3", 0, "", "", 1, 2, 3},
    {__LINE__, " \tCycles\t2  1 3 \r\n", 0, "", "", 1, 2, 3},
    {__LINE__, "0 2.5 1 3 # by number\n", 0, "", "", 1, 2.5, 3},
    {__LINE__, "Cycles 2 1 3#\n", 0, "", "", 1, 2, 3},
    {__LINE__, "Cycles 2 1 3\nCycles 5 4 6\n", 0, "", "", 4, 5, 6},
    {__LINE__, "Cycles 0 0 0\n", 0, "", "", 0, 0, 0},
    {__LINE__, "Cycles 1e6 1e6 1e6\n", 0, "", "", 1e6, 1e6, 1e6},
    {__LINE__, "Cycles 1 1 1000001\n", TALLY_ESYNTAX, ":1: ", syntax, 1, 1, 1},
    {__LINE__, "Cycles 1 -1 1\n", TALLY_ESYNTAX, ":1: ", syntax, 1, 1, 1},
    {__LINE__, "Cycles inf 1 inf\n", TALLY_ESYNTAX, ":1: ", syntax, 1, 1, 1},
    {__LINE__, "Cycles nan 1 1\n", TALLY_ESYNTAX, ":1: ", syntax, 1, 1, 1},
    {__LINE__, "Cycles 1 1 1x\n", TALLY_ESYNTAX, ":1: ", syntax, 1, 1, 1},
    {__LINE__, "Cycles 1 x 1\n", TALLY_ESYNTAX, ":1: ", syntax, 1, 1, 1},
    {__LINE__, "Cycles x 1 1\n", TALLY_ESYNTAX, ":1: ", syntax, 1, 1, 1},
    {__LINE__, "Cycles\n", TALLY_ESYNTAX, ":1: ", syntax, 1, 1, 1},
    {__LINE__, "Cycles 1 1\n", TALLY_ESYNTAX, ":1: ", syntax, 1, 1, 1},
    {__LINE__, "Cycles 1 1 1 1\n", TALLY_ESYNTAX, ":1: ", syntax, 1, 1, 1},
    {__LINE__, "\n\nCycles 1 2 3\n", TALLY_ERANGE, ":3: ", order, 1, 1, 1},
    {__LINE__, "Cycles 4 2 3\n", TALLY_ERANGE, ":1: ", order, 1, 1, 1},
    {__LINE__, "Nothing 1 1 1\n", TALLY_EUNKNOWN,
     ":1: ", "no event 'Nothing' on r10000", 1, 1, 1},
    {__LINE__, "Cycles 2 2 2\nNothing 1 1 1\nCycles 3 3 3\n", TALLY_EUNKNOWN,
     ":2: ", "no event 'Nothing' on r10000", 2, 2, 2},
};

static void
test_files(void **state)
{
    const struct machine_row *m = machine_of("r10000");
    uint64_t params[PARAM_COUNT];
    struct heard heard;

    (void)state;
    set_params(m, "time.l2=8", params);
    for (size_t i = 0; i < COUNT(files); i++) {
        char message[TEXT_SIZE];
        struct cost *costs = cost_table(m, params);
        const int error =
            read_text(files[i].text, strlen(files[i].text), &heard, costs);
        const struct cost *c = &costs[event_find(m, "Cycles") - m->events];
        snprintf(message, sizeof(message), "%s%s", files[i].at,
                 files[i].message);
        same_number(files[i].line, error, files[i].error);
        same_text(files[i].line, heard.text, message);
        if (c->minimum != files[i].minimum || c->typical != files[i].typical ||
            c->maximum != files[i].maximum || !c->known || c->assumed)
            fail_msg("row at line %d: %g %g %g", files[i].line, c->minimum,
                     c->typical, c->maximum);
        free(costs);
    }
    struct cost *costs = cost_table(m, params);
    const struct tally_log log = listen(&heard);
    assert_int_equal(cost_table_read(m, "/no/such/file", &log, costs),
                     TALLY_EIO);
    same_text(__LINE__, heard.text,
              "cannot read /no/such/file: No such file or directory");
    assert_int_equal(heard.lines, 1);
    /* What a file says is nobody's assumption, and has no source. */
    assert_int_equal(read_text("TLB_misses 1 1 1", strlen("TLB_misses 1 1 1"),
                               &heard, costs),
                     0);
    const struct cost *tlb = &costs[event_find(m, "TLB_misses") - m->events];
    assert_true(tlb->known && !tlb->assumed && tlb->source == NULL);
    free(costs);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
