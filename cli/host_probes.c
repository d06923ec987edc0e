/* SPDX-License-Identifier: MIT */
#include "cli/host_probes.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"

/* Returns the option that names another target or another time, or NULL. */
static const char *
other_option(const struct count_request *r)
{
    return r->pids != NULL       ? "-p"
           : r->tids != NULL     ? "-t"
           : r->all_cpus         ? "-a"
           : r->cpus != NULL     ? "-C"
           : r->interval_ms != 0 ? "-I"
           : r->delay_ms != 0    ? "-D"
                                 : NULL;
}

static int
check_options(const struct count_request *r)
{
    const char *other = other_option(r);

    if (other != NULL)
        escape_printf(
            stderr,
            "tally count: on the host --from and --to count a part of a "
            "program that is run: %s does not go with them\n",
            other);
    /* Which of two probes at one place is told first is not defined. */
    else if (r->from != NULL && r->to != NULL && strcmp(r->from, r->to) == 0)
        escape_printf(stderr,
                      "tally count: on the host --from and --to want two "
                      "functions, not '%s' twice\n",
                      r->from);
    else
        return 0;
    return EXIT_USAGE;
}

static int
find_probe(const char *path, const char *function, struct host_probe *probe)
{
    uint64_t address;
    int error;

    if (function == NULL)
        return 0;
    probe->function = function;
    error = program_symbol(path, function, &command_log, &address);
    if (error == 0)
        error = program_offset(path, address, &command_log, &probe->offset);
    return error == 0 ? 0 : EXIT_USAGE;
}

/* Two names of one function are one place too. */
static int
check_places(const struct host_marks *m)
{
    const struct host_probe *at = m->probes.at;

    if (at[PROBE_FROM].function == NULL || at[PROBE_TO].function == NULL ||
        at[PROBE_FROM].offset != at[PROBE_TO].offset)
        return 0;
    escape_printf(
        stderr,
        "tally count: on the host --from and --to want two functions, and "
        "'%s' and '%s' are one\n",
        at[PROBE_FROM].function, at[PROBE_TO].function);
    return EXIT_USAGE;
}

int
host_marks_find(const struct count_request *r, char *const *argv,
                struct host_marks *m)
{
    m->wanted = r->from != NULL || r->to != NULL;
    m->opened = false;
    int status = m->wanted ? check_options(r) : 0;
    if (status != 0 || !m->wanted)
        return status;
    const int error = program_open(argv, &command_log, &m->program);
    if (error != 0)
        return m->program.missing     ? EXIT_MISSING
               : error == TALLY_EARCH ? EXIT_USAGE
                                      : EXIT_CANNOT;
    m->opened = true;
    m->probes = (struct host_probes){.path = m->program.path};
    status = find_probe(m->program.path, r->from, &m->probes.at[PROBE_FROM]);
    if (status == 0)
        status = find_probe(m->program.path, r->to, &m->probes.at[PROBE_TO]);
    return status == 0 ? check_places(m) : status;
}

void
host_marks_finish(struct host_marks *m)
{
    if (m->opened)
        program_close(&m->program);
    m->opened = false;
}

static size_t
say_hits(const struct host_probe *probe, const char *option, uint64_t hits,
         char *text, size_t size)
{
    if (probe->function == NULL)
        return 0;
    const int n =
        snprintf(text, size, "%s '%s' was entered %" PRIu64 " time%s; ", option,
                 probe->function, hits, hits == 1 ? "" : "s");
    return n < 0 || (size_t)n >= size ? 0 : (size_t)n;
}

void
host_marks_note(const struct host_marks *m, const struct host_count_result *run,
                char *text, size_t size)
{
    const struct host_probe *at = m->probes.at;
    size_t used = 0;

    used += say_hits(&at[PROBE_FROM], "--from", run->from_hits, text, size);
    used +=
        say_hits(&at[PROBE_TO], "--to", run->to_hits, text + used, size - used);
    snprintf(text + used, size - used,
             "%sits first thread alone is counted, no other and no child",
             at[PROBE_TO].function != NULL && run->to_hits == 0 &&
                     (at[PROBE_FROM].function == NULL || run->from_hits > 0)
                 ? "so counted to the end; "
                 : "");
}
