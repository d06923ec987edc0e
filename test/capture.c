/* SPDX-License-Identifier: MIT */
/* What --ear, --etb and --ip-ear take, the registers that follow, and entries
 * of the trace buffer. A request changes on success only. */
#include "profile/capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef int parse(const char *text, const struct tally_log *log,
                  struct capture_request *request);

static const struct row {
    int line;
    parse *parse;
    const char *text;
    int error;
} rows[] = {
    {__LINE__, capture_parse_ear, "load-latency=64", 0},
    {__LINE__, capture_parse_ear, "fetch-latency=32", 0},
    {__LINE__, capture_parse_ear, "dtlb", 0},
    {__LINE__, capture_parse_ear, "itlb", 0},
    {__LINE__, capture_parse_ear, "load-latency=65", TALLY_ERANGE},
    {__LINE__, capture_parse_ear, "load-latency=", TALLY_ERANGE},
    {__LINE__, capture_parse_ear, "fetch-latency=64", TALLY_ERANGE},
    {__LINE__, capture_parse_ear, "alat", TALLY_EIDLE},
    {__LINE__, capture_parse_ear, "stores", TALLY_ESYNTAX},
    {__LINE__, capture_parse_trace, "16", 0},
    {__LINE__, capture_parse_trace, "0", TALLY_ERANGE},
    {__LINE__, capture_parse_trace, "17", TALLY_ERANGE},
    {__LINE__, capture_parse_retired, "0", 0},
    {__LINE__, capture_parse_retired, "255", 0},
    {__LINE__, capture_parse_retired, "256", TALLY_ERANGE},
};

static void
check(const struct row *row, const char *text, int error,
      struct capture_request *r)
{
    struct capture_request before;

    memcpy(&before, r, sizeof(before));
    if (row->parse(text, NULL, r) != error)
        fail_msg("row at line %d: not %d", row->line, error);
    if ((memcmp(&before, r, sizeof(before)) == 0) != (error != 0))
        fail_msg("row at line %d: the request", row->line);
}

static void
test_parse(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct capture_request r;
        memset(&r, 0, sizeof(r));
        check(&rows[i], rows[i].text, rows[i].error, &r);
    }
}

/* What was asked for once is not asked for again. */
static void
test_twice(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct capture_request r;
        if (rows[i].error != 0)
            continue;
        memset(&r, 0, sizeof(r));
        check(&rows[i], rows[i].text, 0, &r);
        check(&rows[i], rows[i].text, TALLY_ERANGE, &r);
    }
}

static char message[256];

static void
hear(void *user, enum tally_level level, const char *text)
{
    (void)user, (void)level;
    snprintf(message, sizeof(message), "%s", text);
}

static const struct tally_log heard = {hear, NULL};

/* The registers of a request (latencies: tables 3-16 and 3-21 of the manual),
 * and what a report says of the records. */
static const struct programmed {
    int line;
    parse *parse;
    const char *text;
    uint64_t pmc37, pmc39, pmc40, pmc42;
    const char *event, *option, *records;
} registers[] = {
    {__LINE__, capture_parse_ear, "dtlb", 0, 0, 0x20e0088, 0, "DATA_EAR_EVENTS",
     "--ear", "accesses that missed the data TLB"},
    {__LINE__, capture_parse_ear, "itlb", 0xe8, 0, 0, 0, "L1I_EAR_EVENTS",
     "--ear", "fetches that missed the instruction TLB"},
    {__LINE__, capture_parse_trace, "1", 0, 0x3e08, 0, 0, "ETB_EVENT", "--etb",
     "taken branches"},
    {__LINE__, capture_parse_retired, "0", 0, 0, 0, 0x408, "IA64_INST_RETIRED",
     "--ip-ear", "instructions that retired"},
    {__LINE__, capture_parse_retired, "9", 0, 0, 0, 0x4c08, "IA64_INST_RETIRED",
     "--ip-ear", "instructions that retired"},
    {__LINE__, capture_parse_retired, "255", 0, 0, 0, 0x7fc08,
     "IA64_INST_RETIRED", "--ip-ear", "instructions that retired"},
};

static void
check_registers(const struct programmed *row)
{
    struct capture_request r = {0};
    char text[64];

    assert_int_equal(row->parse(row->text, NULL, &r), 0);
    capture_text(&r, text, sizeof(text));
    if (r.pmc37 != row->pmc37 || r.pmc39 != row->pmc39 ||
        r.pmc40 != row->pmc40 || r.pmc42 != row->pmc42 ||
        r.delay != r.pmc42 >> 11 ||
        strcmp(capture_event(&r), row->event) != 0 ||
        strcmp(capture_option(&r), row->option) != 0 ||
        strcmp(text, row->records) != 0)
        fail_msg("row at line %d, %s: 0x%llx 0x%llx 0x%llx 0x%llx %s %s %s",
                 row->line, row->text, (unsigned long long)r.pmc37,
                 (unsigned long long)r.pmc39, (unsigned long long)r.pmc40,
                 (unsigned long long)r.pmc42, capture_event(&r),
                 capture_option(&r), text);
}

static void
test_registers(void **unused)
{
    static const struct {
        unsigned cycles, umask;
    } fetches[] = {{1, 0x40},   {4, 0xff},    {8, 0xfe},
                   {16, 0xfc},  {32, 0xf8},   {128, 0xf0},
                   {256, 0xe0}, {1024, 0xc0}, {4096, 0x80}};
    const struct capture_request none = {0};
    char text[64], records[64];

    (void)unused;
    for (size_t i = 0; i < COUNT(registers); i++)
        check_registers(&registers[i]);
    /* Loads of 4 cycles, 8, 16 and so on have the codes 0, 1, 2. */
    for (unsigned code = 0; code <= 10; code++) {
        snprintf(text, sizeof(text), "load-latency=%u", 4u << code);
        snprintf(records, sizeof(records), "loads of %u cycles or more",
                 4u << code);
        check_registers(&(struct programmed){
            __LINE__, capture_parse_ear, text, 0, 0, 0x2000008 | code << 16, 0,
            "DATA_EAR_EVENTS", "--ear", records});
    }
    for (size_t i = 0; i < COUNT(fetches); i++) {
        snprintf(text, sizeof(text), "fetch-latency=%u", fetches[i].cycles);
        snprintf(records, sizeof(records),
                 "instruction fetches of %u cycles or more", fetches[i].cycles);
        check_registers(&(struct programmed){
            __LINE__, capture_parse_ear, text, 0x2008 | fetches[i].umask << 5,
            0, 0, 0, "L1I_EAR_EVENTS", "--ear", records});
    }
    assert_null(capture_event(&none));
    assert_null(capture_option(&none));
}

static void
test_messages(void **unused)
{
    static const struct {
        int line;
        parse *parse;
        const char *text, *says;
    } said[] = {
        {__LINE__, capture_parse_ear, "load-latency=5",
         "the register takes latencies of 4, 8, 16, 32, 64, 128, 256, 512, "
         "1024, 2048 or 4096 cycles, not '5'"},
        {__LINE__, capture_parse_ear, "fetch-latency=-1",
         "the register takes latencies of 1, 4, 8, 16, 32, 128, 256, 1024 or "
         "4096 cycles, not '-1'"},
        {__LINE__, capture_parse_ear, "load-latency=8x",
         "the register takes latencies of 4, 8, 16, 32, 64, 128, 256, 512, "
         "1024, 2048 or 4096 cycles, not '8x'"},
        {__LINE__, capture_parse_trace, " 1",
         "--etb takes 1 to 16 entries of the trace buffer, not ' 1'"},
        {__LINE__, capture_parse_trace, "1 ",
         "--etb takes 1 to 16 entries of the trace buffer, not '1 '"},
        {__LINE__, capture_parse_retired, "",
         "--ip-ear takes a delay of 0 to 255 cycles, not ''"},
    };

    (void)unused;
    for (size_t i = 0; i < COUNT(said); i++) {
        struct capture_request r = {0};
        assert_int_equal(said[i].parse(said[i].text, &heard, &r), TALLY_ERANGE);
        if (strcmp(message, said[i].says) != 0)
            fail_msg("row at line %d: %s", said[i].line, message);
    }
}

static void
test_complete(void **unused)
{
    static const struct {
        int line;
        const char *ear, *trace, *retired;
        uint64_t period;
        int error;
        uint64_t completed;
    } asked[] = {
        {__LINE__, NULL, NULL, NULL, 0, 0, 0},
        {__LINE__, NULL, NULL, NULL, 7, TALLY_ERANGE, 0},
        {__LINE__, "dtlb", NULL, NULL, 0, 0, 101},
        {__LINE__, "dtlb", NULL, NULL, 7, 0, 7},
        {__LINE__, NULL, "4", NULL, 0, 0, 0},
        {__LINE__, NULL, "4", NULL, 7, 0, 7},
        {__LINE__, NULL, NULL, "4", 0, 0, 1000003},
        {__LINE__, NULL, NULL, "4", 7, 0, 7},
        {__LINE__, "itlb", "4", NULL, 0, 0, 101},
        {__LINE__, "itlb", NULL, "4", 0, 0, 101},
        {__LINE__, NULL, "4", "4", 0, TALLY_ERANGE, 0},
    };

    (void)unused;
    for (size_t i = 0; i < COUNT(asked); i++) {
        struct capture_request r = {0};
        if (asked[i].ear != NULL)
            capture_parse_ear(asked[i].ear, NULL, &r);
        if (asked[i].trace != NULL)
            capture_parse_trace(asked[i].trace, NULL, &r);
        if (asked[i].retired != NULL)
            capture_parse_retired(asked[i].retired, NULL, &r);
        if (capture_complete(&r, asked[i].period, NULL) != asked[i].error ||
            r.period != asked[i].completed)
            fail_msg("row at line %d: %llu", asked[i].line,
                     (unsigned long long)r.period);
        assert_int_equal(
            capture_check_machine(&r, machine_find("montecito"), NULL), 0);
        assert_int_equal(
            capture_check_machine(&r, machine_find("sparc-t4"), NULL),
            capture_wanted(&r) ? TALLY_ERANGE : 0);
    }
}

/* Which events read 0 beside which option: one letter an event, in the order of
 * `events`. */
static void
test_lacks(void **unused)
{
    static const char *const events[] = {"DATA_EAR_EVENTS", "L1I_EAR_EVENTS",
                                         "ETB_EVENT", "CPU_OP_CYCLES"};
    static const struct {
        int line;
        parse *parse;
        const char *text, *lacking;
    } beside[] = {
        {__LINE__, NULL, NULL, "DLE"},
        {__LINE__, capture_parse_ear, "load-latency=4", "LE"},
        {__LINE__, capture_parse_ear, "dtlb", "LE"},
        {__LINE__, capture_parse_ear, "fetch-latency=4", "DE"},
        {__LINE__, capture_parse_ear, "itlb", "DE"},
        {__LINE__, capture_parse_trace, "4", "DL"},
        {__LINE__, capture_parse_retired, "4", "DLE"},
    };
    const struct machine_row *m = machine_find("montecito");

    (void)unused;
    for (size_t i = 0; i < COUNT(beside); i++) {
        struct capture_request r = {0};
        char lacking[8] = "";
        if (beside[i].parse != NULL)
            assert_int_equal(beside[i].parse(beside[i].text, NULL, &r), 0);
        for (size_t k = 0; k < COUNT(events); k++) {
            const struct event_row *e = event_find(m, events[k]);
            assert_non_null(e);
            if (capture_lacks(e, &r) != NULL)
                strncat(lacking, events[k], 1);
        }
        if (strcmp(lacking, beside[i].lacking) != 0)
            fail_msg("row at line %d: %s", beside[i].line, lacking);
    }
}

/* One register of the buffer, its four bits in PMD39, and what they say. */
static const struct {
    int line;
    bool retired;
    uint64_t value, extension;
    struct capture_entry entry;
} entry_rows[] = {
    /* A target: neither slot nor prediction nor the bit of the extension. */
    {__LINE__, false, 0x4000000000001230, 1, {.address = 0x4000000000001230}},
    {__LINE__, false, 0x123e, 15, {.address = 0x1230}},
    {__LINE__, false, 0x1231, 0, {.address = 0x1230, .source = true}},
    {__LINE__, false, 0x1231, 14, {.address = 0x1230, .source = true}},
    {__LINE__, false, 0x1231, 1, {.address = 0x1240, .source = true}},
    {__LINE__,
     false,
     0x1233,
     0,
     {.address = 0x1230, .source = true, .mispredicted = true}},
    {__LINE__,
     false,
     0x1235,
     0,
     {.address = 0x1230, .source = true, .slot = 1}},
    {__LINE__,
     false,
     0x123d,
     0,
     {.address = 0x1230, .source = true, .slot = 3}},
    {__LINE__, true, 0x12345, 0, {.address = 0x123450}},
    {__LINE__,
     true,
     0xa000000000012345,
     0,
     {.address = 0x123450, .cycles = 10}},
    {__LINE__,
     true,
     0xa000000000012345,
     12,
     {.address = 0x123450, .cycles = 58}},
    {__LINE__,
     true,
     0xf000000000012345,
     15,
     {.address = 0x123000, .cycles = 63, .early = true}},
    {__LINE__, true, 0x12345, 2, {.address = 0x123450}},
};

static void
test_entries(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(entry_rows); i++)
        for (unsigned k = 0; k < CAPTURE_ENTRIES; k++) {
            const struct capture_request request = {.retired =
                                                        entry_rows[i].retired};
            /* Entry k is the last: its bits of the extension are at 8 k and,
             * from k = 8 on, between these. */
            const unsigned at = k < 8 ? 8 * k : 8 * (k - 8) + 4;
            struct capture_record record = {
                .index = (k + 1) % CAPTURE_ENTRIES + 32,
                .extension = entry_rows[i].extension << at,
            };
            struct capture_entry got[CAPTURE_ENTRIES];
            const struct capture_entry *want = &entry_rows[i].entry;
            record.entries[k] = entry_rows[i].value;
            assert_int_equal(capture_entries(&request, &record, 1, got), 1);
            if (got[0].number != 48 + k ||
                got[0].value != entry_rows[i].value ||
                got[0].address != want->address ||
                got[0].source != want->source ||
                got[0].mispredicted != want->mispredicted ||
                got[0].slot != want->slot || got[0].cycles != want->cycles ||
                got[0].early != want->early)
                fail_msg("row at line %d, entry %u: 0x%llx %d %d %u %u %d",
                         entry_rows[i].line, k,
                         (unsigned long long)got[0].address, got[0].source,
                         got[0].mispredicted, got[0].slot, got[0].cycles,
                         got[0].early);
        }
}

/* How many entries there are, and the first and the last of them. */
static void
test_order(void **unused)
{
    static const struct {
        int line;
        uint64_t index;
        size_t most, count;
        unsigned first, last;
    } orders[] = {
        {__LINE__, 0, 16, 0, 0, 0},       {__LINE__, 3, 16, 3, 48, 50},
        {__LINE__, 3, 2, 2, 49, 50},      {__LINE__, 3, 0, 0, 0, 0},
        {__LINE__, 32, 16, 16, 48, 63},   {__LINE__, 32 + 3, 16, 16, 51, 50},
        {__LINE__, 32 + 3, 4, 4, 63, 50}, {__LINE__, 16 + 3, 16, 3, 48, 50},
    };
    const struct capture_request request = {0};

    (void)unused;
    for (size_t i = 0; i < COUNT(orders); i++) {
        const struct capture_record record = {.index = orders[i].index};
        struct capture_entry got[CAPTURE_ENTRIES] = {{0}};
        const size_t n =
            capture_entries(&request, &record, orders[i].most, got);
        if (n != orders[i].count || got[0].number != orders[i].first ||
            (n > 0 && got[n - 1].number != orders[i].last))
            fail_msg("row at line %d: %zu from %u", orders[i].line, n,
                     got[0].number);
    }
    assert_string_equal(capture_level_name(0), "");
    assert_string_equal(capture_level_name(1), "L2");
    assert_string_equal(capture_level_name(5), "page walk");
    assert_string_equal(capture_level_name(6), "");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),     cmocka_unit_test(test_twice),
        cmocka_unit_test(test_registers), cmocka_unit_test(test_messages),
        cmocka_unit_test(test_complete),  cmocka_unit_test(test_lacks),
        cmocka_unit_test(test_entries),   cmocka_unit_test(test_order),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
