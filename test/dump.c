/* SPDX-License-Identifier: MIT */
/* The dump reader and writer: rows of texts, the twin, the two forms. */
#include "profile/dump.h"

#include "check.h"
#include "ref/dump_ref.h"
#include "ref/random.h"

/* A text as a file that gives `step` bytes at a time. */
struct text {
    const char *p;
    size_t left, step;
};

static long
give(void *user, void *data, size_t size)
{
    struct text *t = user;
    const size_t most = size < t->step ? size : t->step;
    const size_t count = t->left < most ? t->left : most;

    memcpy(data, t->p, count);
    t->p += count;
    t->left -= count;
    return (long)count;
}

/* Reads all; what came as a table of its own, what was odd as "name@line:n". */
static void
read_text(const char *in, size_t length, size_t step, char *out, char *troubles)
{
    struct dump_troubles t = {0};
    struct dump_reader reader;
    struct dump_record record;
    struct text text = {in, length, step};

    assert_int_equal(dump_reader_init(&reader, "in", give, &text, &t), 0);
    while (dump_next(&reader, &record) > 0)
        out += dump_write_record(DUMP_FORM_TABLE, &record, out);
    *out = '\0';
    dump_reader_finish(&reader);
    char *const first = troubles;
    *troubles = '\0';
    for (int i = 0; i < DUMP_TROUBLES; i++)
        if (t.places[i].count > 0)
            troubles +=
                sprintf(troubles, "%s%s@%d:%d", troubles > first ? " " : "",
                        dump_trouble_name((enum dump_trouble)i),
                        (int)t.places[i].line, (int)t.places[i].count);
}

#define BEGIN "TEJA_PROFILE_DUMP_START,ver1.1\n"
#define HEAD "CPUID,ID,Type,Cycles,PC,Grp,Evt_Hi,Evt_Lo,Overflow,User Data\n"
#define END "TEJA_PROFILE_DUMP_END\n"
#define S1 "4,18236,1,4cf2eb9ce4,521f08,1,100,1\n"
#define U1 "4,3a2f,2,4d048acb40,5128f0,1,31cffa4,c2a,0,1b7740,3da594c\n"
#define U0 "4,3a2f,2,4d048acb40,5128f0,1,31cffa4,c2a,0\n"

/* `M` and `E` are passed over where nothing asks for names. */
#define M "TALLY_PROFILE_MACHINE,host-model\n"
#define E "TALLY_PROFILE_EVENT,1,ff5e5e9744,instructions\n"

static const struct {
    int line;
    const char *in, *out, *troubles;
} rows[] = {
    /* Names, in front of a dump or inside, behind a console's text. */
    {__LINE__, M E BEGIN HEAD S1 U1 END, S1 U1, ""},
    {__LINE__, BEGIN M "> " E S1 U1 END, S1 U1, ""},
    {__LINE__, "TALLY_PROFILE_MACHINE,\nTALLY_PROFILE_EVENT,1,2\n" BEGIN END,
     "", "text@1:2"},
    {__LINE__,
     BEGIN "TALLY_PROFILE_EVENT,1,2,a b c\nTALLY_PROFILE_EVENT,1,2,a \n"
           "TALLY_PROFILE_EVENT,1,,a\nTALLY_PROFILE_EVENT,1,g,a\n"
           "TALLY_PROFILE_EVENT,1,11112222333344445,a\n"
           "TALLY_PROFILE_EVENT,1,2,\"\n" END,
     "", "damaged@2:5"},
    {__LINE__, BEGIN S1 "TALLY_PROFILE_EVENT,1,2,instruct", S1,
     "cut@3:1 unended@3:1"},
    {__LINE__,
     "{\"dump\":\"machine\",\"machine\":\"r10000\"}\n{\"dump\":\"event\","
     "\"group\":1,\"code\":\"0x12\",\"name\":\"Cycles\"}\n" BEGIN S1 END,
     S1, ""},
    {__LINE__,
     BEGIN "{\"dump\":\"machine\"}\n{\"dump\":\"event\",\"group\":1,"
           "\"name\":\"Cycles\"}\n{\"dump\":\"event\",\"group\":1,"
           "\"code\":2,\"name\":\"a b\"}\n" END,
     "", "damaged@2:3"},
    /* P10 P11: the frame, hexadecimal fields. P12 P13: eight, nine and more. */
    {__LINE__, BEGIN HEAD S1 U1 END, S1 U1, ""},
    {__LINE__, "", "", ""},
    {__LINE__, BEGIN HEAD U0 END, U0, ""},
    /* P22: as the format's example has it: blanks at the ends (L172-182). */
    {__LINE__,
     "TEJA_PROFILE_DUMP_START,ver1.1 \nCPUID,ID \n"
     "4,18236,1,4cf2eb9ce4,521f08,1,100,1 \nTEJA_PROFILE_DUMP_END \n",
     S1, ""},
    /* Consoles. */
    {__LINE__, BEGIN "\n\xc2\xa0\n \r\n" S1 "\n\n" U1 "\t\n" END, S1 U1, ""},
    {__LINE__,
     "TEJA_PROFILE_DUMP_START,ver1.1\r\nCPUID,\r\n4,18236,1,4cf2eb9ce4,521f08,"
     "1,100,1\r\nTEJA_PROFILE_DUMP_END\r\n",
     S1, ""},
    {__LINE__, "{0} ok boot\n\nboot done, 64 strands\n" BEGIN S1 END "bye\n",
     S1, "text@1:3"},
    {__LINE__, "{0} ok " BEGIN S1 "> " END, S1, ""},
    {__LINE__, BEGIN "[ 1.5] eth0: link up\n" S1 END, S1, "damaged@2:1"},
    {__LINE__, BEGIN "[ 1.5] " S1 END, S1, "prefixed@2:1"},
    {__LINE__, "nothing of the kind\n1,2,3\n4,5,6,7,8,9,a,b\n", "",
     "text@1:2 other_call@3:1"},
    /* P12 P13: damage shows in the number of fields. */
    {__LINE__, BEGIN "4,18236,1,4cf2eb9ce4,521f08,1,100\n" END, "",
     "damaged@2:1"},
    {__LINE__, BEGIN "4,18236,1,4cf2eb9ce4,521f08,1,100,1,0\n" END, "",
     "damaged@2:1"},
    {__LINE__, BEGIN "4,3a2f,2,4d048acb40,5128f0,1,31cffa4,c2a\n" END, "",
     "damaged@2:1"},
    {__LINE__, BEGIN "4,3a2f,2,4d048acb40,5128f0,1,31cffa4,c2a,\n" END, "",
     "damaged@2:1"},
    {__LINE__, BEGIN "4,,2,4d048acb40,5128f0,1,31cffa4,c2a,0\n" END, "",
     "damaged@2:1"},
    {__LINE__, BEGIN "4,3a2f,2,11112222333344445,5128f0,1,3,c,0\n" END, "",
     "damaged@2:1"},
    {__LINE__, BEGIN "4,3a2f,2,1111222233334444,5128f0,1,3,c,0\n" END,
     "4,3a2f,2,1111222233334444,5128f0,1,3,c,0\n", ""},
    {__LINE__, BEGIN "4,3a2f,2,0X11,5128f0,1,3,c,0\n" END, "", "damaged@2:1"},
    {__LINE__, BEGIN "4,3A2F,2,00AB,5128f0,1,3,c,0\n" END,
     "4,3a2f,2,ab,5128f0,1,3,c,0\n", ""},
    {__LINE__, BEGIN "4,18236,1,4cf2eb 4,18236,1,4cf2eb9ce4,521f08,1,100,1\n",
     S1, "prefixed@2:1 unended@2:1"},
    /* Cut short, at either end. */
    {__LINE__, BEGIN S1 "4,3a2f,2,4d048acb40,5128f0,1,31cffa4,c2a,0,1b", S1,
     "cut@3:1 unended@3:1"},
    {__LINE__, BEGIN S1 "TEJA_PROFILE_DUMP_END", S1, ""},
    {__LINE__, BEGIN S1, S1, "unended@2:1"},
    {__LINE__, S1 U1 END, S1 U1, "outside@1:2 unstarted@3:1"},
    {__LINE__, "END\n" U1, U1, "text@1:1 outside@2:1"},
    /* Interleaved. */
    {__LINE__, BEGIN HEAD S1 BEGIN HEAD U1 END U0 END, S1 U1 U0, "inside@4:1"},
    /* P10: versions. */
    {__LINE__, "TEJA_PROFILE_DUMP_START,ver1.0\n" S1 "junk\n" END BEGIN U0 END,
     U0, "other_version@1:1"},
    {__LINE__, "TEJA_PROFILE_DUMP_START\n" S1 END, "", "other_version@1:1"},
    {__LINE__, "TEJA_PROFILE_DUMP_START,ver1.11\n" END, "",
     "other_version@1:1"},
    /* P15: overruns. */
    {__LINE__, BEGIN "-1," S1 END, "-1," S1, ""},
    {__LINE__, BEGIN "-1" S1 END, "-1," S1, ""},
    {__LINE__, BEGIN "-1 " S1 END, "-1," S1, ""},
    {__LINE__, BEGIN "-2," S1 END, "", "damaged@2:1"},
    /* P11: other calls. */
    {__LINE__, BEGIN "4,1,3,9,8,1,0,0\n4,1,4,9,8,1,0,0,0,1\n" U0 END, U0,
     "other_call@2:2"},
    /* JSON Lines. */
    {__LINE__,
     "{\"schema\": 1, \"dump\": \"start\", \"version\": \"ver1.1\"}\n"
     "{\"cpu\": 4, \"id\": \"0x18236\", \"type\": 1, \"cycles\": 330493041892, "
     "\"pc\": \"0x521f08\", \"group\": 1, \"evt_hi\": \"0x100\", \"evt_lo\": "
     "\"0x1\"}\n"
     "{\"dump\": \"end\"}\n",
     S1, ""},
    {__LINE__,
     "{\"dump\":\"start\",\"version\":\"ver1.1\"}\n"
     "{\"id\":\"0x3a2f\",\"cpu\":4,\"type\":2,\"more\":\"x\",\"cycles\":"
     "18446744073709551615,\"pc\":\"0x1\",\"group\":1,\"evt_hi\":2,\"evt_lo\":3"
     ",\"overflow\":3,\"user\":[ 1 , 2],\"overrun\":true}\n"
     "{\"dump\":\"end\"}",
     "-1,4,3a2f,2,ffffffffffffffff,1,1,2,3,3,1,2\n", ""},
    {__LINE__,
     "{\"dump\":\"start\",\"version\":\"ver2\"}\n{\"dump\":\"end\"}\n", "",
     "other_version@1:1"},
    {__LINE__, BEGIN "{\"cpu\": 4}\n{\"cpu\"\n{}\n{\"cpu\": -4}\n" END, "",
     "damaged@2:4"},
    {__LINE__,
     BEGIN "{\"cpu\":4,\"id\":18446744073709551616,\"type\":1,\"cycles\":1,"
           "\"pc\":1,\"group\":1,\"evt_hi\":1,\"evt_lo\":1}\n" END,
     "", "damaged@2:1"},
};

static void
texts(void **state)
{
    static const size_t steps[] = {1, 7, 64, 1u << 20};
    char out[TEXT_SIZE], troubles[TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; k < COUNT(steps); k++) {
            read_text(rows[i].in, strlen(rows[i].in), steps[k], out, troubles);
            if (strcmp(out, rows[i].out) != 0 ||
                strcmp(troubles, rows[i].troubles) != 0)
                fail_msg("line %d, %zu bytes at a time:\n%s%s\n", rows[i].line,
                         steps[k], out, troubles);
        }
}

/* Longer than any buffer, then a dump. */
static void
long_lines(void **state)
{
    const char *rest = "\n" BEGIN S1 END;
    char out[TEXT_SIZE], troubles[TEXT_SIZE];

    (void)state;
    for (size_t size = 262140; size < 262148; size++) {
        char *in = malloc(size + strlen(rest) + 1);
        assert_non_null(in);
        memset(in, '1', size);
        memcpy(in + size, rest, strlen(rest) + 1);
        read_text(in, size + strlen(rest), 4096, out, troubles);
        assert_string_equal(out, S1);
        assert_string_equal(troubles, size < 262143 ? "text@1:1" : "long@1:1");
        free(in);
    }
}

static struct dump_record
random_record(uint64_t *seed)
{
    struct dump_record r = {
        .cpu = random_next(seed) % 64,
        .caller = random_next(seed) >> 40,
        .call = random_next(seed) % 2 + 1,
        .cycles = random_next(seed) >> (random_next(seed) % 64),
        .pc = random_next(seed) >> 32,
        .group = random_next(seed) % 3,
        .hi = random_next(seed) >> (random_next(seed) % 64),
        .lo = random_next(seed) >> 32,
        .overrun = random_next(seed) % 8 == 0,
    };

    if (r.call == DUMP_CALL_UPDATE) {
        r.overflow = random_next(seed) % 4;
        r.word_count = random_next(seed) % (DUMP_WORDS + 1);
    }
    for (size_t i = 0; i < r.word_count; i++)
        r.words[i] = random_next(seed) >> (random_next(seed) % 64);
    return r;
}

/* A stream of records, written. */
static char *
random_dump(uint64_t seed, enum dump_form form, size_t count, size_t *size)
{
    char *const text = malloc((count + 2) * DUMP_LINE_SIZE);
    char *p = text;

    assert_non_null(text);
    p += dump_write_start(form, p);
    for (size_t i = 0; i < count; i++) {
        const struct dump_record r = random_record(&seed);
        p += dump_write_record(form, &r, p);
    }
    p += dump_write_end(form, p);
    *size = (size_t)(p - text);
    return text;
}

static void
append(void *user, const struct dump_record *record)
{
    char **p = user;

    *p += dump_write_record(DUMP_FORM_TABLE, record, *p);
}

#define RECORDS 2000

/* What was written is read back, in either form, and so does the twin. */
static void
forms(void **state)
{
    const uint64_t seed = 20240517;
    size_t size, json_size;
    char *const table = random_dump(seed, DUMP_FORM_TABLE, RECORDS, &size);
    char *const json = random_dump(seed, DUMP_FORM_JSON, RECORDS, &json_size);
    char *const out = malloc(size + 1), *const twin = malloc(size + 1);
    char troubles[TEXT_SIZE], *p = twin;
    const char *const records = strchr(strchr(table, '\n') + 1, '\n') + 1;
    FILE *file = fmemopen(table, size, "r");

    (void)state;
    assert_true(out != NULL && twin != NULL && file != NULL);
    const size_t length = size - (size_t)(records - table) - strlen(END);
    read_text(table, size, 5000, out, troubles);
    assert_string_equal(troubles, "");
    assert_int_equal(strlen(out), length);
    assert_memory_equal(out, records, length);
    read_text(json, json_size, 5000, out, troubles);
    assert_string_equal(troubles, "");
    assert_int_equal(strlen(out), length);
    assert_memory_equal(out, records, length);
    dump_ref_read(file, append, &p);
    assert_int_equal(p - twin, length);
    assert_memory_equal(twin, records, length);
    fclose(file);
    free(table);
    free(json);
    free(out);
    free(twin);
}

/* The longest line there can be. */
static void
longest(void **state)
{
    struct dump_record r;
    char text[DUMP_LINE_SIZE], out[DUMP_LINE_SIZE + 1], troubles[TEXT_SIZE];

    (void)state;
    memset(&r, 0xff, sizeof(r));
    r.call = DUMP_CALL_UPDATE;
    r.word_count = DUMP_WORDS;
    r.overrun = true;
    for (int form = DUMP_FORM_TABLE; form <= DUMP_FORM_JSON; form++) {
        const size_t size = dump_write_record((enum dump_form)form, &r, text);
        assert_true(size > 1000 && size <= DUMP_LINE_SIZE);
        read_text(text, size, size, out, troubles);
        assert_string_equal(troubles, "outside@1:1");
    }
}

/* Reads the names of a text; in each form what was written is read back. */
static void
names(void **state)
{
    static const struct dump_event events[] = {
        {1, 0x12, "r10000", "Issued_loads", ""},
        {1, 0xff12345678, "r10000", "cycles", "cpu-cycles:u"},
        {2, 0x12, "r10000", "cpu/event=0x3c,umask=0/", "{a"},
    };
    char text[8 * DUMP_LINE_SIZE];

    (void)state;
    for (int form = DUMP_FORM_TABLE; form <= DUMP_FORM_JSON; form++) {
        struct dump_troubles troubles = {0};
        struct dump_names got = {0};
        struct dump_reader reader;
        struct dump_record none;
        size_t size = dump_write_machine((enum dump_form)form, "r10000", text);
        for (size_t i = 0; i < 2 * COUNT(events); i++)
            size += dump_write_event((enum dump_form)form,
                                     &events[i % COUNT(events)], text + size);
        struct text in = {text, size, 9};
        assert_int_equal(dump_reader_init(&reader, "in", give, &in, &troubles),
                         0);
        reader.names = &got;
        assert_int_equal(dump_next(&reader, &none), 0);
        assert_string_equal(reader.machine, "r10000");
        assert_int_equal(got.count, COUNT(events));
        for (size_t i = 0; i < COUNT(events); i++) {
            const struct dump_event *const e = dump_names_find(
                &got, "r10000", events[i].group, events[i].code);
            assert_non_null(e);
            assert_string_equal(e->name, events[i].name);
            assert_string_equal(e->asked, events[i].asked);
        }
        assert_null(dump_names_find(&got, "r12000", 1, 0x12));
        assert_null(dump_names_find(&got, "r10000", 1, 0x13));
        for (int i = 0; i < DUMP_TROUBLES; i++)
            assert_int_equal(troubles.places[i].count, 0);
        dump_reader_finish(&reader);
        dump_names_finish(&got);
    }
}

/* Names that a dump cannot hold are not written. */
static void
odd_names(void **state)
{
    static const char *const odd[] = {
        "", "a b", "a\n", "\"", "a\\", "\xc3\xa4", "TEJA_PROFILE_DUMP_END"};
    char text[DUMP_LINE_SIZE], longest_name[DUMP_NAME + 1];

    (void)state;
    for (size_t i = 0; i < COUNT(odd); i++) {
        struct dump_event e = {.group = 1};
        strcpy(e.name, odd[i]);
        assert_int_equal(dump_write_event(DUMP_FORM_TABLE, &e, text), 0);
        assert_int_equal(dump_write_machine(DUMP_FORM_JSON, odd[i], text), 0);
    }
    memset(longest_name, 'a', DUMP_NAME);
    longest_name[DUMP_NAME] = '\0';
    assert_false(dump_name_is_plain(longest_name));
    longest_name[DUMP_NAME - 1] = '\0';
    assert_true(dump_name_is_plain(longest_name));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts), cmocka_unit_test(long_lines),
        cmocka_unit_test(forms), cmocka_unit_test(longest),
        cmocka_unit_test(names), cmocka_unit_test(odd_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
