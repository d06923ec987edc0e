/* SPDX-License-Identifier: MIT */
/* The console's commands that call the hypervisor of sun4v. */
#include "cli/pmu_verbs.h"

#include <stdio.h>
#include <string.h>

#include "table/text.h"
#include "tally/sun4v.h"

#define ARGUMENTS 5
#define CORE (UINT64_C(1) << 63) /* a function of the core trap */
#define API_SET_VERSION 0x00
#define API_GET_VERSION 0x03

static const struct pmu_word functions[] = {
    {"NIAGARA_GET_PERFREG", 0x100},
    {"NIAGARA_SET_PERFREG", 0x101},
    {"NIAGARA_MMUSTAT_CONF", 0x102},
    {"NIAGARA_MMUSTAT_INFO", 0x103},
    {"NIAGARA2_GET_PERFREG", 0x104},
    {"NIAGARA2_SET_PERFREG", 0x105},
    {"VFALLS_GET_PERFREG", 0x106},
    {"VFALLS_SET_PERFREG", 0x107},
    {"VT_GET_PERFREG", 0x184},
    {"VT_SET_PERFREG", 0x185},
    {"API_SET_VERSION", CORE | API_SET_VERSION},
    {"API_GET_VERSION", CORE | API_GET_VERSION},
    {0},
};

static const struct pmu_word statuses[] = {
    {"EOK", TALLY_SUN4V_EOK},
    {"EINVAL", TALLY_SUN4V_EINVAL},
    {"EBADTRAP", TALLY_SUN4V_EBADTRAP},
    {"EBADALIGN", 8},
    {"EWOULDBLOCK", TALLY_SUN4V_EWOULDBLOCK},
    {"ENOACCESS", TALLY_SUN4V_ENOACCESS},
    {"ENOTSUPPORTED", TALLY_SUN4V_ENOTSUPPORTED},
    {0},
};

static int
arguments(struct pmu_call *call, size_t at, uint64_t args[ARGUMENTS])
{
    int error = 0;

    memset(args, 0, ARGUMENTS * sizeof(args[0]));
    for (size_t i = 0; at + i < call->line.count && error == 0; i++)
        error = pmu_number_word(call->line.words[at + i], "an argument",
                                UINT64_MAX, call->log, &args[i]);
    return error;
}

/* Writes the result of a call: "EOK 0x5", "EINVAL"; for a version that was
 * asked for "EOK 0x1 0x0". */
static void
call_result(struct pmu_result *r, uint64_t status, const uint64_t values[2],
            bool both)
{
    const struct pmu_word *row = statuses;
    char second[32] = "";

    while (row->name != NULL && row->value != status)
        row++;
    if (both)
        snprintf(second, sizeof(second), " 0x%llx",
                 (unsigned long long)values[1]);
    if (row->name == NULL)
        snprintf(r->text, sizeof(r->text), "status %llu",
                 (unsigned long long)status);
    else if (status != TALLY_SUN4V_EOK)
        snprintf(r->text, sizeof(r->text), "%s", row->name);
    else
        snprintf(r->text, sizeof(r->text), "%s 0x%llx%s", row->name,
                 (unsigned long long)values[0], second);
    r->has_value = status == TALLY_SUN4V_EOK;
    r->value = values[0];
}

static int
do_call(struct pmu_console *c, struct pmu_call *call, size_t first,
        uint64_t function)
{
    uint64_t args[ARGUMENTS];
    uint64_t results[2] = {0};
    const unsigned trap =
        (function & CORE) != 0 ? TALLY_SUN4V_CORE_TRAP : TALLY_SUN4V_FAST_TRAP;
    const int error = arguments(call, first, args);

    if (error != 0)
        return error;
    const uint64_t status = tally_sun4v_call(c->pmu, call->strand, trap,
                                             function & ~CORE, args, results);
    call_result(call->result, status, results,
                function == (CORE | API_GET_VERSION));
    return 0;
}

int
pmu_do_hcall(struct pmu_console *c, struct pmu_call *call)
{
    const char *const name = call->line.words[1];
    uint64_t function;
    const int error =
        pmu_word_value(functions, name, "function", call->log, &function);

    if (error != 0)
        return error;
    snprintf(call->result->name, sizeof(call->result->name), "%s",
             shown(name, strlen(name)).text);
    return do_call(c, call, 2, function);
}

int
pmu_do_api(struct pmu_console *c, struct pmu_call *call)
{
    return do_call(c, call, 1, CORE | API_SET_VERSION);
}

int
pmu_do_contend(struct pmu_console *c, struct pmu_call *call)
{
    uint64_t count;
    const int error = pmu_number_word(call->line.words[1], "how often",
                                      UINT32_MAX, call->log, &count);

    if (error == 0)
        tally_sun4v_contend(c->pmu, (uint32_t)count);
    return error;
}
