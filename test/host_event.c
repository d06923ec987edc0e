/* SPDX-License-Identifier: MIT */
/*
 * Event strings on processors that this host is not, described by files. What
 * perf makes of the same strings is compared in test/perf_attr.py.
 */
#include "host/event.h"

#include <ftw.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define DEVICES "/sys/bus/event_source/devices"
#define HYBRID_TREE "/hybrid"

struct fixture {
    char folder[64], sys[96], hybrid[96], trace[96];
    char text[512]; /* the last line logged */
};

#define TEN(text) text text text text text text text text text text

static const char *const files[][2] = {
    {DEVICES "/cpu/type", "4"},
    {DEVICES "/cpu/format/event", "config:0-7"},
    {DEVICES "/cpu/format/umask", "config:8-15"},
    {DEVICES "/cpu/format/ldlat", "config1:0-15"},
    {DEVICES "/cpu/format/odd", "nonsense:0-3"},
    {DEVICES "/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3"},
    {DEVICES "/cpu/events/ask", "event=?"},
    {DEVICES "/cpu/events/loop", "loop"},
    {DEVICES "/cpu/events/many", TEN(TEN("event=1,")) "event=1"},
    {DEVICES "/cpu/events/more", TEN(TEN("many,")) "many"},
    {DEVICES "/cpu/events/slots", "event=0x00,umask=0x4"},
    {DEVICES "/uncore_imc_2/type", "14"},
    {DEVICES "/uncore_imc_2/cpumask", "0,2-3"},
    {DEVICES "/uncore_imc_2/format/event", "config:0-7"},
    {DEVICES "/uncore_imc_2/events/reads", "event=0x04"},
    {DEVICES "/uncore_imc_2/events/reads.scale", "6.103515625e-5"},
    {DEVICES "/uncore_imc_2/events/reads.unit", "MiB"},
    {DEVICES "/uncore_imc_10/type", "15"},
    {DEVICES "/uncore_imc_10/cpumask", "0"},
    {DEVICES "/uncore_imc_10/format/event", "config:0-7"},
    {DEVICES "/uncore_imc_10/events/reads", "event=0x04"},
    {DEVICES "/broken/type", "what"},
    {HYBRID_TREE DEVICES "/cpu_core/type", "4"},
    {HYBRID_TREE DEVICES "/cpu_core/cpus", "0-15"},
    {HYBRID_TREE DEVICES "/cpu_core/format/event", "config:0-7"},
    {HYBRID_TREE DEVICES "/cpu_atom/type", "10"},
    {HYBRID_TREE DEVICES "/cpu_atom/cpus", "16-23"},
    {HYBRID_TREE DEVICES "/cpu_atom/format/event", "config:0-7"},
    {"/trace/events/sched/sched_switch/id", "314"},
    {"/trace/events/sched/sched_waking/id", "315"},
    {"/trace/events/irq/irq_entry/id", "7"},
    {"/trace/events/ftrace/print/format", ""},
};

static void
write_file(const char *folder, const char *name, const char *text)
{
    char path[512];

    snprintf(path, sizeof(path), "%s%s", folder, name);
    for (char *p = path + strlen(folder) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0755);
        *p = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    assert_int_equal(fclose(file), 0);
}

static int
setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    strcpy(f->folder, "/tmp/tally-host-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->sys, sizeof(f->sys), "%s/sys", f->folder);
    snprintf(f->hybrid, sizeof(f->hybrid), "%s/hybrid/sys", f->folder);
    snprintf(f->trace, sizeof(f->trace), "%s/trace", f->folder);
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        write_file(f->folder, files[i][0], files[i][1]);
    *state = f;
    return 0;
}

static int
forget(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static int
teardown(void **state)
{
    struct fixture *f = *state;

    nftw(f->folder, forget, 16, FTW_DEPTH | FTW_PHYS);
    free(f);
    return 0;
}

static void
hear(void *user, enum tally_level level, const char *text)
{
    struct fixture *f = user;

    (void)level;
    assert_null(strchr(text, '\n'));
    snprintf(f->text, sizeof(f->text), "%s", text);
}

static int
parse(struct fixture *f, bool hybrid, const char *text,
      struct host_event **events, size_t *count)
{
    const struct host_root root = {hybrid ? f->hybrid : f->sys, NULL, f->trace};
    const struct tally_log log = {hear, f};

    f->text[0] = '\0';
    return host_event_list_parse_at(&root, text, &log, events, count);
}

/* The last event of a list. */
static const struct good_row {
    int line;
    const char *text;
    size_t count;
    const char *name;
    uint32_t type;
    uint64_t config, config1;
    int group;
} good[] = {
    {__LINE__, "cycles", 1, "cycles", 0, 0, 0, -1},
    {__LINE__, "CPU-Cycles:u", 1, "CPU-Cycles:u", 0, 0, 0, -1},
    {__LINE__, " cycles , faults ", 2, "faults", 1, 2, 0, -1},
    {__LINE__, "l1d-load-miss", 1, "l1d-load-miss", 3, 0x10000, 0, -1},
    {__LINE__, "r1A8:k", 1, "r1A8:k", 4, 0x1a8, 0, -1},
    {__LINE__, "r0x1a8", 1, "r0x1a8", 4, 0x1a8, 0, -1},
    {__LINE__, "cpu/mem-loads/", 1, "cpu/mem-loads/", 4, 0x1cd, 3, -1},
    {__LINE__, "cpu/mem-loads,ldlat=30/pp", 1, "cpu/mem-loads,ldlat=30/pp", 4,
     0x1cd, 31, -1},
    {__LINE__, "mem-loads:u", 1, "mem-loads:u", 4, 0x1cd, 3, -1},
    {__LINE__, "cpu/event=1,name=mine/:u", 1, "mine", 4, 1, 0, -1},
    {__LINE__, "cpu/ask,event=5/", 1, NULL, 0, 0, 0, -1},
    {__LINE__, "imc/reads/", 2, "imc/reads/", 15, 4, 0, -1},
    {__LINE__, "uncore_imc_2/reads/", 1, "uncore_imc_2/reads/", 14, 4, 0, -1},
    {__LINE__, "uncore_imc_*/event=9/", 2, "uncore_imc_*/event=9/", 15, 9, 0,
     -1},
    {__LINE__, "{imc/reads/,imc/event=9/}", 4, "imc/event=9/", 15, 9, 0, 1},
    {__LINE__, "{cycles,faults},{cs}:u", 3, "cs", 1, 3, 0, 1},
    {__LINE__, "x{cs},cs", 2, "cs", 1, 3, 0, -1},
    {__LINE__, "sched:sched_switch:u", 1, "sched:sched_switch", 2, 314, 0, -1},
    {__LINE__, "sched:*", 2, "sched:sched_waking", 2, 315, 0, -1},
    {__LINE__, "*:*_*", 3, "sched:sched_waking", 2, 315, 0, -1},
    {__LINE__, "mem:0x10/8:w", 1, "mem:0x10/8:w", 5, 0, 0x10, -1},
    {__LINE__, "1:2", 1, "1:2", 1, 2, 0, -1},
    {__LINE__, "perf::PAGE-FAULTS:u", 1, "perf::PAGE-FAULTS:u", 1, 2, 0, -1},
};

static void
test_good(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        const struct good_row *row = &good[i];
        struct host_event *events = NULL;
        size_t count = 0;
        const int error = parse(f, false, row->text, &events, &count);
        if (row->name == NULL) {
            assert_int_equal(error, TALLY_ESYNTAX);
            continue;
        }
        if (error != 0)
            fail_msg("line %d: %s", row->line, f->text);
        const struct host_event *last = &events[count - 1];
        if (count != row->count || last->attr.type != row->type ||
            last->attr.config != row->config ||
            last->attr.config1 != row->config1 || last->group != row->group)
            fail_msg("line %d: %zu events, type %u config 0x%llx 0x%llx group "
                     "%d",
                     row->line, count, last->attr.type,
                     (unsigned long long)last->attr.config,
                     (unsigned long long)last->attr.config1, last->group);
        if (strncmp(last->name, row->name, strlen(row->name)) != 0)
            fail_msg("line %d: %s", row->line, last->name);
        free(events);
    }
}

static const struct bad_row {
    int line;
    const char *text;
    int error;
    const char *says;
} bad[] = {
    {__LINE__, "", TALLY_ESYNTAX, "an event name is missing"},
    {__LINE__, "cycles,", TALLY_ESYNTAX, "an event name is missing"},
    {__LINE__, "{cycles", TALLY_ESYNTAX, "lacks its }"},
    {__LINE__, "{a,{b}}", TALLY_EUNKNOWN, "'a'"},
    {__LINE__, "{cs,{cs}}", TALLY_ESYNTAX, "do not nest"},
    {__LINE__, "{cs}}", TALLY_ESYNTAX, "expected a comma"},
    {__LINE__, "cycels", TALLY_EUNKNOWN, "did you mean cycles?"},
    {__LINE__, "cycles:z", TALLY_ESYNTAX, "there is no 'z'; known are u k"},
    {__LINE__, "cycles:uu", TALLY_ESYNTAX, "'u' stands twice"},
    {__LINE__, "cycles:pppp", TALLY_ESYNTAX, "more than three p"},
    {__LINE__, "{cycles:pp}:pp", TALLY_ESYNTAX, "behind its group"},
    {__LINE__, "cpu/evnt=1/", TALLY_EUNKNOWN, "did you mean event?"},
    {__LINE__, "cpu/mem-lods/", TALLY_EUNKNOWN, "did you mean mem-loads?"},
    {__LINE__, "cpu/event=0x100/", TALLY_ERANGE, "at most 0xff, for 'event'"},
    {__LINE__, "cpu/event=x/", TALLY_ESYNTAX, "no number: 'x'"},
    {__LINE__, "cpu/odd=1/", TALLY_EUNKNOWN, "cannot be read"},
    {__LINE__, "cpu/ask/", TALLY_ESYNTAX, "give a value for 'event'"},
    {__LINE__, "cpu/loop/", TALLY_EUNKNOWN, "no event or term 'loop'"},
    {__LINE__, "cpu/more/", TALLY_ESYNTAX, "too many terms, at 'event'"},
    {__LINE__, "cpu/period=5/", TALLY_ESYNTAX, "no term of sampling"},
    {__LINE__, "cpu/event=1", TALLY_ESYNTAX, "expected a second '/'"},
    {__LINE__, "cpu/event=1,,/", TALLY_ESYNTAX, "a term is missing"},
    {__LINE__, "/event=1/", TALLY_ESYNTAX, "expected a PMU"},
    {__LINE__, "cpus/event=1/", TALLY_EUNKNOWN, "did you mean cpu?"},
    {__LINE__, "../cpu/type/", TALLY_EUNKNOWN, "no PMU '..'"},
    {__LINE__, "broken/event=1/", TALLY_EUNKNOWN, "no PMU 'broken'"},
    {__LINE__, "sched:sched_swich", TALLY_EUNKNOWN, "sched:sched_switch?"},
    {__LINE__, "mem:x", TALLY_ESYNTAX, "expected an address"},
    {__LINE__, "mem:1:q", TALLY_ESYNTAX, "there is no 'q'"},
    {__LINE__, "1:x", TALLY_ESYNTAX, "expected TYPE:CONFIG"},
    {__LINE__, "iTLB-stores", TALLY_EUNKNOWN, "unknown event 'iTLB-stores'"},
    {__LINE__, "Instr_cnt", TALLY_EUNKNOWN, "is an event of ultrasparc-t1"},
    {__LINE__, "duration_time", TALLY_EUNKNOWN, "is no counter"},
    {__LINE__, "perf::PAGE-FAULTS:zz", TALLY_ESYNTAX, "it takes u, k"},
    {__LINE__, "no::such", TALLY_EUNKNOWN, "unknown event 'no::such'"},
    {__LINE__, "a\nb\x01", TALLY_ESYNTAX, ""},
};

static void
test_bad(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct host_event *events = (void *)f;
        size_t count = 77;
        const int error = parse(f, false, bad[i].text, &events, &count);
        if (i + 1 == sizeof(bad) / sizeof(bad[0])) {
            assert_true(error < 0);
            continue;
        }
        if (error != bad[i].error || strstr(f->text, bad[i].says) == NULL)
            fail_msg("line %d: %d: %s", bad[i].line, error, f->text);
        assert_ptr_equal(events, f);
        assert_int_equal(count, 77);
    }
}

/* What the letters make of the last event of a list: who is left out (u, k, h,
 * i: idle, G: guests, H: the host), and how precise it is. */
static const struct letters_row {
    int line;
    const char *text, *out;
    unsigned precise;
    bool pinned, exclusive, weak;
} letters[] = {
    {__LINE__, "cycles", "G", 0, false, false, false},
    {__LINE__, "cycles:u", "khG", 0, false, false, false},
    {__LINE__, "cycles:k", "uh", 0, false, false, false},
    {__LINE__, "cycles:h", "uk", 0, false, false, false},
    {__LINE__, "cycles:uk", "hG", 0, false, false, false},
    {__LINE__, "cycles:ku", "hG", 0, false, false, false},
    {__LINE__, "cycles:kh", "u", 0, false, false, false},
    {__LINE__, "cycles:ukh", "G", 0, false, false, false},
    {__LINE__, "cycles:G", "H", 0, false, false, false},
    {__LINE__, "cycles:H", "G", 0, false, false, false},
    {__LINE__, "cycles:GH", "", 0, false, false, false},
    {__LINE__, "cycles:HG", "", 0, false, false, false},
    {__LINE__, "cycles:uG", "khH", 0, false, false, false},
    {__LINE__, "cycles:Gu", "khH", 0, false, false, false},
    {__LINE__, "cycles:Hp", "G", 1, false, false, false},
    {__LINE__, "cycles:Gp", "H", 1, false, false, false},
    {__LINE__, "cycles:I", "i", 0, false, false, false},
    {__LINE__, "cycles:p", "G", 1, false, false, false},
    {__LINE__, "cycles:pp", "G", 2, false, false, false},
    {__LINE__, "cycles:ppp", "G", 3, false, false, false},
    {__LINE__, "cycles:P", "", 0, false, false, false},
    {__LINE__, "cycles:S", "", 0, false, false, false},
    {__LINE__, "cycles:D", "", 0, true, false, false},
    {__LINE__, "cycles:e", "", 0, false, true, false},
    {__LINE__, "cycles:W", "", 0, false, false, true},
    {__LINE__, "cycles:uD", "khG", 0, true, false, false},
    {__LINE__, "{cycles:pp}:p", "G", 3, false, false, false},
    {__LINE__, "{cycles:p}:pp", "G", 3, false, false, false},
    {__LINE__, "{cycles}:k", "uhG", 0, false, false, false},
    {__LINE__, "{cycles:u}:k", "hG", 0, false, false, false},
    {__LINE__, "{cycles}:D", "G", 0, true, false, false},
    {__LINE__, "{cycles,cs}:De", "G", 0, false, false, false},
    {__LINE__, "{cycles,cs:e}:D", "", 0, false, false, false},
    {__LINE__, "{cycles},{cs}:D", "G", 0, true, false, false},
};

static void
test_letters(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
        const struct letters_row *row = &letters[i];
        struct host_event *events = NULL;
        size_t count = 0;
        if (parse(f, false, row->text, &events, &count) != 0)
            fail_msg("line %d: %s", row->line, f->text);
        const struct host_event *last = &events[count - 1];
        const struct perf_event_attr *a = &last->attr;
        char out[8];
        snprintf(out, sizeof(out), "%s%s%s%s%s%s", a->exclude_user ? "u" : "",
                 a->exclude_kernel ? "k" : "", a->exclude_hv ? "h" : "",
                 a->exclude_idle ? "i" : "", a->exclude_guest ? "G" : "",
                 a->exclude_host ? "H" : "");
        if (strcmp(out, row->out) != 0 || a->precise_ip != row->precise ||
            a->pinned != row->pinned || a->exclusive != row->exclusive ||
            last->weak != row->weak)
            fail_msg("line %d: leaves out '%s', precise %d, %d %d %d",
                     row->line, out, (int)a->precise_ip, (int)a->pinned,
                     (int)a->exclusive, last->weak);
        free(events);
    }
}

static void
test_no_tracefs(void **state)
{
    struct fixture *f = *state;
    struct host_event *events;
    size_t count;

    strcat(f->trace, "/nowhere");
    assert_int_equal(parse(f, false, "sched:sched_switch", &events, &count),
                     TALLY_EUNKNOWN);
    assert_non_null(strstr(f->text, "tracefs is not mounted, so that "
                                    "'sched:sched_switch' cannot be found; "
                                    "sudo mount -t tracefs nodev "
                                    "/sys/kernel/tracing"));
    assert_int_equal(parse(f, false, "no::such", &events, &count),
                     TALLY_EUNKNOWN);
    assert_null(strstr(f->text, "tracefs"));
    f->trace[strlen(f->trace) - strlen("/nowhere")] = '\0';
}

static void
test_uncore(void **state)
{
    struct fixture *f = *state;
    struct host_event *events;
    size_t count;

    /* Comma or point, the scale is the same. */
    setlocale(LC_ALL, "fr_FR.UTF-8");
    assert_int_equal(parse(f, false, "imc/reads/", &events, &count), 0);
    setlocale(LC_ALL, "C");
    assert_int_equal(count, 2);
    assert_string_equal(events[0].pmu, "uncore_imc_2");
    assert_string_equal(events[1].pmu, "uncore_imc_10");
    assert_true(events[0].uncore && events[1].uncore);
    assert_string_equal(events[0].unit, "MiB");
    assert_true(events[0].scale == 6.103515625e-5);
    assert_string_equal(events[1].unit, "");
    assert_true(events[1].scale == 1);
    assert_int_equal(CPU_COUNT(&events[0].cpus), 3);
    assert_true(CPU_ISSET(3, &events[0].cpus));
    free(events);
}

static void
test_hybrid(void **state)
{
    struct fixture *f = *state;
    struct host_event *e;
    size_t count;

    assert_int_equal(
        parse(f, true, "{cycles:u,cs,L1-dcache-loads}:D,r12", &e, &count), 0);
    assert_int_equal(count, 7);
    assert_string_equal(e[0].name, "cpu_core/cycles/u");
    assert_string_equal(e[1].name, "cs");
    assert_string_equal(e[2].name, "cpu_core/L1-dcache-loads/");
    assert_string_equal(e[3].name, "cpu_atom/cycles/u");
    assert_string_equal(e[6].name, "cpu_atom/r12/");
    assert_true(e[0].attr.config == UINT64_C(4) << 32);
    assert_true(e[3].attr.config == UINT64_C(10) << 32);
    assert_int_equal(e[6].attr.type, 10);
    assert_int_equal(e[0].group, 0);
    assert_int_equal(e[2].group, 0);
    assert_int_equal(e[3].group, 1);
    assert_int_equal(e[5].group, -1);
    assert_true(e[0].attr.pinned && e[3].attr.pinned && !e[2].attr.pinned);
    assert_true(e[0].attr.exclude_kernel && !e[2].attr.exclude_kernel);
    assert_true(!e[0].uncore && CPU_COUNT(&e[3].cpus) == 8);
    assert_ptr_equal(e[0].row, e[3].row);
    free(e);
}

static void
test_rows(void **state)
{
    const struct machine_row *host = machine_find("host");
    struct fixture *f = *state;

    for (size_t i = 0; i < host->event_count; i++) {
        const struct event_row *row = &host->events[i];
        struct host_event *events;
        size_t count;
        if (strcmp(row->unit, "topdown") == 0)
            continue;
        if (parse(f, false, row->name, &events, &count) != 0)
            fail_msg("%s: %s", row->name, f->text);
        assert_int_equal(count, 1);
        assert_ptr_equal(events[0].row, row);
        free(events);
        for (const char *const *a = row->aliases; *a != NULL; a++) {
            assert_int_equal(parse(f, false, *a, &events, &count), 0);
            assert_ptr_equal(events[0].row, row);
            free(events);
        }
    }
    struct host_event *events;
    size_t count;
    assert_int_equal(parse(f, false, "slots", &events, &count), 0);
    assert_string_equal(events[0].row->name, "slots");
    free(events);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),    cmocka_unit_test(test_bad),
        cmocka_unit_test(test_letters), cmocka_unit_test(test_no_tracefs),
        cmocka_unit_test(test_uncore),  cmocka_unit_test(test_hybrid),
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
