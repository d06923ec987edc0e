/* SPDX-License-Identifier: MIT */
#include "cli/trace_record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/trace_words.h"
#include "source/plugin_path.h"
#include "trace/trace_recorder.h"
#include "version.h"

/* Writes the line that says what was recorded. */
static void
say_recorded(const char *path, const struct trace_run *run, uint64_t size)
{
    char why[TRACE_WORDS];

    fprintf(stderr,
            "tally: %" PRIu64 " instructions in %" PRIu64 " bytes (%.3f an "
            "instruction)",
            trace_instructions(run), size,
            run->instructions != 0
                ? (double)size / (double)trace_instructions(run)
                : 0.0);
    escape_printf(stderr, ": %s\n", path);
    if (run->end > TRACE_END_SIGNAL && run->end != TRACE_END_PART)
        fprintf(stderr, "tally: the trace ends there, %s\n",
                trace_end_words(run, why));
}

/* Returns how the run ended, as far as the session knows. */
static enum trace_end
end_of(const struct session_result *result)
{
    bool executed = result->uncounted > 0;

    for (size_t i = 0; i < result->process_count; i++)
        executed |= result->processes[i].begin == BEGIN_EXEC &&
                    result->processes[i].pid == result->processes[0].pid;
    return executed                      ? TRACE_END_EXEC
           : WIFSIGNALED(result->status) ? TRACE_END_SIGNAL
                                         : TRACE_END_EXIT;
}

static void
on_size_limit(int number)
{
    (void)number;
}

/* Has a file that reaches the limit of sizes (ulimit -f) end the recording as a
 * full disk does: write() then fails. A handler does so, as execve() hands none
 * on: the program has the signal as tally found it. */
static void
survive_size_limit(void)
{
    const struct sigaction tell = {.sa_handler = on_size_limit,
                                   .sa_flags = SA_RESTART};
    struct sigaction old;

    if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &tell, NULL);
}

/* The part of the run that is asked for: the arguments of the tracer, and how
 * it was asked for. */
struct part {
    char arguments[256];
    char asked[4096];
};

/* Adds the address of a function to the tracer's arguments. */
static int
add_function(struct part *part, const struct program *program,
             const char *argument, const char *name)
{
    const size_t used = strlen(part->arguments);
    uint64_t address;

    if (name == NULL)
        return 0;
    const int error =
        program_symbol(program->path, name, &command_log, &address);
    if (error == 0)
        snprintf(part->arguments + used, sizeof(part->arguments) - used,
                 ",%s=0x%" PRIx64, argument, address);
    return error;
}

/* Adds to how the part was asked for. */
static void
add_asked(struct part *part, const char *option, const char *value)
{
    const size_t used = strlen(part->asked);

    snprintf(part->asked + used, sizeof(part->asked) - used, "%s%s %s",
             used > 0 ? " " : "", option, value);
}

static void
add_number(struct part *part, const char *argument, const char *option,
           uint64_t number)
{
    const size_t used = strlen(part->arguments);
    char text[24];

    if (number == 0)
        return;
    snprintf(text, sizeof(text), "%" PRIu64, number);
    snprintf(part->arguments + used, sizeof(part->arguments) - used, ",%s=%s",
             argument, text);
    add_asked(part, option, text);
}

/* Finds the part that is asked for. Returns 0 or a status. */
static int
find_part(const struct trace_recording *r, const struct program *program,
          struct part *part)
{
    *part = (struct part){0};
    if (r->skip != 0 && r->from != NULL)
        return trace_wrong("--skip does not go with ", "--from");
    if (r->from != NULL && r->to != NULL && strcmp(r->from, r->to) == 0)
        return trace_wrong("--from and --to are the same function: ", r->to);
    if (add_function(part, program, "from", r->from) != 0 ||
        add_function(part, program, "to", r->to) != 0)
        return EXIT_USAGE;
    if (r->from != NULL)
        add_asked(part, "--from", r->from);
    if (r->to != NULL)
        add_asked(part, "--to", r->to);
    add_number(part, "skip", "--skip", r->skip);
    add_number(part, "most", "--instructions", r->instructions);
    return 0;
}

/* Shows how large the trace is, and how fast it grows, from the first second
 * on.
 */
static void
show_progress(void *user, uint64_t instructions, double wall_s)
{
    const double bytes = (double)trace_recorder_size(user);

    if (wall_s >= 1)
        fprintf(stderr,
                "\r tally: %.1f G instructions, %.0f s, %.0f MB: %.1f MB a "
                "second; --max-size ends a trace\033[K",
                (double)instructions * 1e-9, wall_s, bytes * 1e-6,
                bytes * 1e-6 / wall_s);
}

/* A recording under way. */
struct run {
    struct part part;
    char tracer[PATH_MAX];
    char allocations[COUNTS_NAME]; /* path of what is preloaded, or "" */
    char plugin[3 * PATH_MAX + sizeof(struct part)]; /* with its arguments */
    struct trace_recorder *recorder;
    struct session_result result;
};

/* Finds what the recording needs. Returns 0 or a status. */
static int
prepare(struct trace_recording *r, struct measured *m, struct run *run)
{
    if (find_part(r, &m->program, &run->part) != 0 ||
        measured_choose(m, NULL, r->model, true) != 0)
        return EXIT_USAGE;
    if (plugin_find_beside(m->plugin, PLUGIN_TRACER, &command_log, run->tracer,
                           sizeof(run->tracer)) != 0)
        return EXIT_OURS;
    if (strchr(run->tracer, ',') != NULL) {
        tally_fail(&command_log, TALLY_ERANGE,
                   "%s: QEMU takes no path with a comma", run->tracer);
        return EXIT_OURS;
    }
    if (!r->objects)
        return 0;
    if (plugin_find_allocations(m->plugin, m->program.isa->name, &command_log,
                                run->allocations,
                                sizeof(run->allocations)) != 0)
        return EXIT_OURS;
    r->model->launch.objects = run->allocations;
    return 0;
}

/* Opens the trace. Returns 0 or a status. */
static int
open_recorder(struct trace_recording *r, const struct program *program,
              const char *plugin, struct run *run)
{
    const char *const cpu =
        r->model->launch.cpu != NULL ? r->model->launch.cpu : program->isa->cpu;
    const struct trace_head head = {
        .version = TALLY_VERSION,
        .isa = program->isa->name,
        .cpu = cpu != NULL ? cpu : "",
        .path = program->path,
        .code = program->code,
        .code_offset = program->code_offset,
        .code_size = program->code_size,
        .argv = program->argv,
        .allocations = run->allocations,
        .loader = program->loader,
        .part = run->part.asked,
        .quantum = launch_quantum(&r->model->launch),
        .by_cycles = r->model->launch.by_cycles,
    };

    errno = 0;
    const int error = trace_recorder_begin(r->output, &head, r->max_size,
                                           &command_log, &run->recorder);
    if (error != 0)
        return error == TALLY_EIO ? output_status(errno) : EXIT_OURS;
    snprintf(run->plugin, sizeof(run->plugin),
             "%s,ring=%s,beside=%s%s,code=0x%" PRIx64 "%s", run->tracer,
             trace_recorder_ring(run->recorder), plugin,
             r->objects ? ",maps=on" : "", program->code, run->part.arguments);
    r->model->launch.tracer = run->plugin;
    return 0;
}

/* Says that nothing was recorded of the part that was asked for, and why. */
static void
say_empty(const struct part *part, const struct trace_run *made)
{
    if (part->asked[0] == '\0' || made->blocks != 0)
        return;
    if (made->end == TRACE_END_PART)
        escape_printf(stderr,
                      "tally: the part that was asked for (%s) ends in its "
                      "first block: the trace has nothing\n",
                      part->asked);
    else if (made->end <= TRACE_END_SIGNAL)
        escape_printf(stderr,
                      "tally: the run did not come to what was asked for (%s): "
                      "the trace has nothing\n",
                      part->asked);
}

/* Writes how the run ended, and says what was recorded. Returns a status. */
static int
end_recording(const struct trace_recording *r, struct run *run)
{
    const struct session_result *const result = &run->result;
    struct trace_run made = {
        .end = end_of(result),
        .status = (uint64_t)result->status,
        .counted = (uint64_t)result->totals.signal[SIGNAL_INSTRUCTIONS],
    };
    uint64_t size;

    if (made.end == TRACE_END_EXEC || run->part.asked[0] != '\0')
        made.counted = 0; /* of both programs, or of all of the run */
    if (trace_recorder_end(&run->recorder, &made, &size) != 0)
        return EXIT_OURS;
    if (!r->quiet)
        say_recorded(r->output, &made, size);
    say_empty(&run->part, &made);
    return command_status(result->status);
}

/* Runs the program and records it. Returns a status. */
static int
record_program(struct trace_recording *r, struct measured *m, struct run *run)
{
    int status = prepare(r, m, run);

    if (status == 0)
        status = open_recorder(r, &m->program, m->plugin, run);
    if (status != 0)
        return status;
    const bool shows = isatty(STDERR_FILENO) && !r->quiet;
    const struct session_options session = {
        .machine = m->machine,
        .params = m->params,
        .launch = r->model->launch,
        .progress = shows ? show_progress : NULL,
        .progress_user = run->recorder,
    };
    const int error =
        session_run(&session, &m->program, &command_log, &run->result);
    if (shows)
        fputs("\r\033[K", stderr);
    if (error == 0 && run->result.started)
        return end_recording(r, run);
    trace_recorder_abandon(&run->recorder);
    return error != 0 ? measured_failed(error)
                      : measured_unstarted(m, &run->result);
}

int
trace_record(struct trace_recording *r, char **program)
{
    struct measured *const m = calloc(1, sizeof(*m));
    struct run *const run = calloc(1, sizeof(*run));
    int status = m == NULL || run == NULL ? command_no_memory() : 0;

    survive_size_limit();
    if (status == 0)
        status =
            output_spares_program("trace record", "-o", r->output, *program);
    if (status == 0)
        status = measured_open(m, program, &r->model->launch);
    if (status == 0) {
        status = record_program(r, m, run);
        session_result_finish(&run->result);
        program_close(&m->program);
    }
    free(run);
    free(m);
    return status;
}
