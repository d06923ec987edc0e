/* SPDX-License-Identifier: MIT */
/* The modelled core that is nearest to a processor, by /proc/cpuinfo, and the
 * values that host-model takes of the core. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/host.h"
#include "source/processor.h"
#include "table/param.h"

#include <cmocka.h>

#define X86(vendor, family, model)                                      \
    "processor\t: 0\nvendor_id\t: " vendor "\ncpu family\t: " family    \
    "\nmodel\t\t: " model "\nmodel name\t: Some CPU\nstepping\t: 1\n\n" \
    "processor\t: 1\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"      \
    "model\t\t: 85\n"
#define ARM(implementer, part)                        \
    "processor\t: 0\nCPU implementer\t: " implementer \
    "\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: " part "\n\n"

static const struct {
    int line;
    const char *text, *machine; /* NULL: none is near */
} rows[] = {
    {__LINE__, X86("AuthenticAMD", "23", "1"), "zen2"},
    {__LINE__, X86("AuthenticAMD", "23", "49"), "zen2"},
    {__LINE__, X86("AuthenticAMD", "23", "128"), NULL},
    {__LINE__, X86("AuthenticAMD", "25", "1"), "zen3"},
    {__LINE__, X86("AuthenticAMD", "25", "17"), "zen4"},
    {__LINE__, X86("AuthenticAMD", "25", "97"), "zen4"},
    {__LINE__, X86("AuthenticAMD", "25", "176"), NULL},
    {__LINE__, X86("AuthenticAMD", "26", "2"), "zen5"},
    {__LINE__, X86("AuthenticAMD", "21", "2"), NULL},
    {__LINE__, X86("GenuineIntel", "6", "85"), "skylake"},
    {__LINE__, X86("GenuineIntel", "6", "158"), "skylake"},
    {__LINE__, X86("GenuineIntel", "6", "106"), "icelake"},
    {__LINE__, X86("GenuineIntel", "6", "143"), "icelake"},
    {__LINE__, X86("GenuineIntel", "6", "63"), NULL},
    {__LINE__, X86("GenuineIntel", "15", "85"), NULL},
    {__LINE__, X86("GenuineIntelX", "6", "85"), NULL},
    {__LINE__, X86("AuthenticAMD", "6", "85"), NULL},
    {__LINE__, X86("GenuineIntel", "6", "85x"), NULL},
    {__LINE__, X86("GenuineIntel", "6", "4294967381"), NULL},
    {__LINE__, X86("GenuineIntel", "6", "-"), NULL},
    {__LINE__, X86("GenuineIntel", "-6", "85"), NULL},
    {__LINE__, ARM("0x41", "0xd08"), "cortex-a72"},
    {__LINE__, ARM("0x41", "0xd0b"), "neoverse-n1"},
    {__LINE__, ARM("0x41", "0xd0c"), "neoverse-n1"},
    {__LINE__, ARM("0x41", "0xd40"), "neoverse-v1"},
    {__LINE__, ARM("0x41", "0xd4f"), "neoverse-v1"},
    {__LINE__, ARM("0x41", "0xd03"), NULL},
    {__LINE__, ARM("0x43", "0xd0c"), NULL},
    {__LINE__, "processor\t: 0\nmodel\t: 85\n", NULL},
    {__LINE__, "\nvendor_id : GenuineIntel\ncpu family : 6\nmodel : 85\n",
     NULL},
    {__LINE__, "", NULL},
};

/* A file as /proc/cpuinfo, with another text for each row. */
struct cpuinfo {
    char path[64];
    int fd;
};

static struct cpuinfo
open_cpuinfo(void)
{
    struct cpuinfo c = {.path = "/tmp/tally-cpuinfo-XXXXXX"};

    c.fd = mkstemp(c.path);
    assert_true(c.fd >= 0);
    return c;
}

static void
write_cpuinfo(const struct cpuinfo *c, const char *text)
{
    const size_t size = strlen(text);

    assert_int_equal(ftruncate(c->fd, 0), 0);
    assert_int_equal(pwrite(c->fd, text, size, 0), size);
}

static void
close_cpuinfo(const struct cpuinfo *c)
{
    close(c->fd);
    unlink(c->path);
}

static void
test_core(void **state)
{
    const struct cpuinfo c = open_cpuinfo();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        write_cpuinfo(&c, rows[i].text);
        const struct machine_row *const core = processor_core(c.path);
        const char *const name = core != NULL ? core->name : NULL;
        if ((name == NULL) != (rows[i].machine == NULL) ||
            (name != NULL && strcmp(name, rows[i].machine) != 0))
            fail_msg("line %d: %s", rows[i].line, name != NULL ? name : "none");
    }
    close_cpuinfo(&c);
    assert_null(processor_core(c.path));
}

static void
test_params(void **state)
{
    (void)state;
    assert_true(processor_has(PARAM_TIME_MEMORY));
    assert_true(processor_has(PARAM_ROB_ENTRIES));
    assert_true(processor_has(PARAM_UNITS_ALU));
    assert_true(processor_has(PARAM_STLB_ENTRIES));
    assert_false(processor_has(PARAM_TIME_MODEL));
    assert_false(processor_has(PARAM_L1D_SIZE));
    assert_false(processor_has(PARAM_BRANCH_PREDICTOR));
    assert_false(processor_has(PARAM_CORES));
}

/* Each core that may stand in goes with the caches that host-model has where
 * the system tells none, and with time.model=ooo. */
static void
test_values(void **state)
{
    const struct machine_row *const host = machine_find("host-model");
    const struct cpuinfo c = open_cpuinfo();
    uint64_t params[PARAM_COUNT];
    struct host_values from;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memset(&from, 0, sizeof(from));
        write_cpuinfo(&c, rows[i].text);
        for (size_t k = 0; k < PARAM_COUNT; k++)
            params[k] = host->params[k].value;
        host_core(c.path, params, &from);
        assert_true(from.no_core == (rows[i].machine == NULL));
        for (size_t k = 0; k < PARAM_COUNT; k++) {
            assert_true(from.of_core[k] ==
                        (from.core != NULL && processor_has((enum param_id)k)));
            assert_true(params[k] ==
                        (from.of_core[k] ? from.core : host)->params[k].value);
        }
        if (from.core == NULL)
            continue;
        assert_string_equal(from.core->name, rows[i].machine);
        params[PARAM_TIME_MODEL] = TIME_MODEL_OOO;
        assert_int_equal(params_check(params, NULL), 0);
    }
    close_cpuinfo(&c);
}

/* An empty TALLY_HOST_MODEL has no core stand in. */
static void
test_off(void **state)
{
    const struct machine_row *const host = machine_find("host-model");
    const struct tally_log silent = {0};
    uint64_t params[PARAM_COUNT];
    struct host_values from;

    (void)state;
    for (size_t k = 0; k < PARAM_COUNT; k++)
        params[k] = host->params[k].value;
    setenv("TALLY_HOST_MODEL", "", 1);
    host_values(&silent, params, &from);
    assert_null(from.core);
    assert_false(from.no_core);
    for (size_t k = 0; k < PARAM_COUNT; k++)
        if (processor_has((enum param_id)k) && !from.read[k])
            assert_true(params[k] == host->params[k].value);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_core),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
