/* SPDX-License-Identifier: MIT */
#include "lib/internal.h"
#include "lib/options.h"
#include "tally/session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "profile/machine_choice.h"
#include "profile/session.h"
#include "source/plugin_path.h"

struct tally_result {
    const struct machine_row *machine;
    const struct event_row **events; /* owned */
    size_t event_count;
    bool foreign;
    struct session_result session;
};

void
tally_session_options_init(struct tally_session_options *options, size_t size)
{
    options_init(options, size);
}

static int
set_params(const struct tally_session_options *o,
           const struct machine_row *machine, uint64_t *params)
{
    size_t count = 0;

    while (o->set != NULL && o->set[count] != NULL)
        count++;
    return machine_params(machine, o->set, count, &o->log, params, NULL);
}

static int
choose_events(const struct tally_session_options *o, struct tally_result *r)
{
    if (o->events == NULL)
        return event_list_default(r->machine, &r->events, &r->event_count);
    return event_list_parse(r->machine, o->events, &o->log, &r->events,
                            &r->event_count);
}

static int
find_plugin(const struct tally_session_options *o, char *path)
{
    if (o->plugin == NULL)
        return plugin_find(&o->log, path, PATH_MAX);
    if (strlen(o->plugin) >= PATH_MAX)
        return tally_fail(&o->log, TALLY_ERANGE,
                          "the plugin's path is too long");
    strcpy(path, o->plugin);
    return 0;
}

static int
run_program(const struct tally_session_options *o,
            const struct program *program, struct tally_result *r)
{
    uint64_t params[PARAM_COUNT];
    char plugin[PATH_MAX];
    int error =
        machine_choose(o->machine != NULL ? machine_row(o->machine) : NULL,
                       program, o->foreign, &o->log, &r->machine, &r->foreign);

    if (error == 0)
        error = set_params(o, r->machine, params);
    if (error == 0)
        error = choose_events(o, r);
    if (error == 0)
        error = find_plugin(o, plugin);
    if (error != 0)
        return error;
    const struct session_options session = {
        .machine = r->machine,
        .params = params,
        .events = (const struct event_row *const *)r->events,
        .event_count = r->event_count,
        .from = o->from,
        .to = o->to,
        .skip = o->skip,
        .launch = {.qemu = o->qemu,
                   .sysroot = o->sysroot,
                   .cpu = o->cpu,
                   .plugin = plugin,
                   .clean_env = o->clean_env,
                   .real_random = o->real_random,
                   .quantum = o->quantum,
                   .processors = o->processors,
                   .parallel = o->parallel},
    };
    error = session_run(&session, program, &o->log, &r->session);
    if (error == 0 && r->session.process_count == 0)
        error = tally_fail(&o->log, TALLY_EQEMU,
                           "QEMU ended without running %s", program->path);
    return error;
}

static int
check_span(const struct tally_session_options *o)
{
    if (o->skip == 0 || (o->from == NULL && o->to == NULL))
        return 0;
    return tally_fail(&o->log, TALLY_ERANGE,
                      "skip does not go with from and to");
}

static int
check_turns(const struct tally_session_options *o)
{
    if (o->parallel && (o->quantum != 0 || o->processors != 0))
        return tally_fail(&o->log, TALLY_ERANGE,
                          "parallel has no turns: quantum and processors are "
                          "to be 0");
    if (o->quantum > LAUNCH_QUANTUM_MOST)
        return tally_fail(&o->log, TALLY_ERANGE,
                          "quantum: %u instructions at most",
                          LAUNCH_QUANTUM_MOST);
    if (o->processors > LAUNCH_PROCESSORS_MOST)
        return tally_fail(&o->log, TALLY_ERANGE, "processors: %u at most",
                          LAUNCH_PROCESSORS_MOST);
    return 0;
}

int
tally_session_run(const struct tally_session_options *options,
                  char *const argv[], struct tally_result **result)
{
    struct tally_session_options o;
    struct program program;
    int error = options_read(options, &o, sizeof(o));

    if (error == 0)
        error = check_span(&o);
    if (error == 0)
        error = check_turns(&o);
    if (error == 0)
        error = program_open(argv, &o.log, &program);
    if (error != 0)
        return error;
    struct tally_result *r = calloc(1, sizeof(*r));
    error = r != NULL ? run_program(&o, &program, r) : TALLY_ENOMEM;
    program_close(&program);
    if (error != 0)
        tally_result_destroy(r);
    else
        *result = r;
    return error;
}

void
tally_result_destroy(struct tally_result *result)
{
    if (result == NULL)
        return;
    session_result_finish(&result->session);
    free(result->events);
    free(result);
}

const struct tally_machine *
tally_result_machine(const struct tally_result *result)
{
    return machine_handle(result->machine);
}

size_t
tally_result_event_count(const struct tally_result *result)
{
    return result->event_count;
}

const struct tally_event *
tally_result_event(const struct tally_result *result, size_t index)
{
    return event_handle(result->events[index]);
}

uint64_t
tally_result_value(const struct tally_result *result, size_t index)
{
    return event_value(result->events[index], &result->session.totals);
}

enum tally_fidelity
tally_result_fidelity(const struct tally_result *result, size_t index)
{
    return (enum tally_fidelity)fidelity_in_run(
        result->events[index]->fidelity, result->foreign,
        session_varies(&result->session) != 0,
        session_left_early(&result->session),
        session_partial(&result->session));
}

size_t
tally_result_thread_count(const struct tally_result *result)
{
    return result->session.thread_count;
}

uint64_t
tally_result_thread_value(const struct tally_result *result, size_t thread,
                          size_t index)
{
    return event_value(result->events[index],
                       &result->session.threads[thread].totals);
}

double
tally_result_wall_s(const struct tally_result *result)
{
    return result->session.wall_s;
}

double
tally_result_modelled_s(const struct tally_result *result)
{
    if ((result->session.components & COMPONENT_TIME) == 0)
        return -1;
    return result->session.modelled_s;
}

int
tally_result_status(const struct tally_result *result)
{
    return result->session.status;
}
