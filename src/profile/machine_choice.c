/* SPDX-License-Identifier: MIT */
#include "profile/machine_choice.h"

#include <inttypes.h>
#include <string.h>

#include "machine/writeback.h"
#include "source/host.h"
#include "table/text.h"

static bool
runs_isa(const struct machine_row *machine, const struct isa *isa)
{
    if (isa->imported)
        return true;
    for (const char *const *i = machine->isas; *i != NULL; i++) {
        if (strcmp(*i, isa->name) == 0)
            return true;
    }
    return false;
}

int
machine_choose(const struct machine_row *wanted, const struct program *program,
               bool foreign_allowed, const struct tally_log *log,
               const struct machine_row **machine, bool *foreign)
{
    const struct machine_row *m =
        wanted ? wanted : machine_find(program->isa->machine);
    const bool other = !runs_isa(m, program->isa);

    if (m->params == NULL) {
        const char *names[MACHINE_COUNT];
        char text[256];
        size_t count = 0;
        for (size_t i = 0; i < MACHINE_COUNT; i++)
            if (tally_machines[i].params != NULL && !tally_machines[i].hidden)
                names[count++] = tally_machines[i].name;
        join_words(names, count, text, sizeof(text));
        return tally_fail(log, TALLY_EIDLE,
                          "%s cannot count yet: its model has not landed; "
                          "programs run on %s",
                          m->name, text);
    }
    /* A machine whose own architecture tally does not emulate (isas[0] NULL)
     * runs the programs of all architectures alike. */
    if (other && !foreign_allowed && m->isas[0] != NULL)
        return tally_fail(log, TALLY_EARCH,
                          "%s: a program for %s, but %s runs %s; --foreign "
                          "runs it all the same",
                          program->path, program->isa->name, m->name,
                          m->isas[0]);
    *machine = m;
    *foreign = other;
    return 0;
}

/*
 * Refuses memory banks that the machine's events cannot show: reads of a bank
 * without an event would be lost, and reads of a bank that is counted as
 * another node's would be shown as that node's.
 */
static int
check_banks(const struct machine_row *machine, const uint64_t *params,
            const struct tally_log *log)
{
    const uint64_t banks = params[PARAM_MEMORY_BANKS];
    const uint64_t own = machine->params[PARAM_MEMORY_BANKS].value;
    uint64_t shown = 0; /* banks of all nodes that events show */

    for (size_t i = 0; i < machine->event_count; i++) {
        const struct event_row *e = &machine->events[i];
        for (size_t s = 0; s < e->signal_count; s++) {
            const uint64_t bank =
                (uint64_t)e->signals[s] - SIGNAL_MEMORY_READS_0;
            if (bank < MEMORY_BANKS && bank >= shown)
                shown = bank + 1;
        }
    }
    if (shown == 0)
        return 0;
    if (params[PARAM_NODES] * banks > shown)
        return tally_fail(log, TALLY_ERANGE,
                          "nodes=%" PRIu64 " of memory.banks=%" PRIu64
                          ": %s has counters for %" PRIu64 " in all",
                          params[PARAM_NODES], banks, machine->name, shown);
    if (params[PARAM_NODES] > 1 && machine->params[PARAM_NODES].value > 1 &&
        banks != own)
        return tally_fail(log, TALLY_ERANGE,
                          "memory.banks=%" PRIu64 ": of several nodes %s has "
                          "counters for %" PRIu64 " each",
                          banks, machine->name, own);
    return 0;
}

int
machine_params(const struct machine_row *machine, const char *const *set,
               size_t count, const struct tally_log *log, uint64_t *params,
               struct machine_origin *origin)
{
    struct host_values host = {.calibration.date = ""};
    int error = 0;

    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = machine->params[i].value;
    if (machine->reads_host)
        host_values(log, params, &host);
    if (origin != NULL) {
        strcpy(origin->calibrated, host.calibration.date);
        origin->core = host.core != NULL ? host.core->name : NULL;
        origin->no_core = host.no_core;
    }
    for (size_t i = 0; error == 0 && i < count; i++)
        error = param_set(set[i], log, params);
    if (error == 0)
        error = params_check(params, log);
    return error != 0 ? error : check_banks(machine, params, log);
}
