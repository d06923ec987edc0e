/* SPDX-License-Identifier: MIT */
#include "cli/measured.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "base/escape.h"
#include "cli/illegal.h"
#include "cli/trace_words.h"
#include "profile/machine_choice.h"
#include "source/plugin_path.h"
#include "table/signals.h"
#include "trace/trace_reader.h"

/* Opens the program. */
static int
open_program(struct measured *m, char *const *argv)
{
    const int error = program_open(argv, &command_log, &m->program);

    return error == 0             ? 0
           : m->program.missing   ? EXIT_MISSING
           : error == TALLY_EARCH ? EXIT_USAGE
                                  : EXIT_CANNOT;
}

/* Copies words into one block of memory with their array, or returns NULL. */
static char **
copy_words(char *const *words)
{
    size_t count = 0, size = 0;

    for (; words[count] != NULL; count++)
        size += strlen(words[count]) + 1;
    char **const copy = malloc((count + 1) * sizeof(*copy) + size);
    if (copy == NULL)
        return NULL;
    char *text = (char *)(copy + count + 1);
    for (size_t i = 0; i < count; i++) {
        copy[i] = text;
        text = stpcpy(text, words[i]) + 1;
    }
    copy[count] = NULL;
    return copy;
}

/* Returns what the trace tells the model, enum feed_id bits. */
static unsigned
feeds_of(const struct trace_head *head)
{
    static const struct {
        uint64_t holds;
        unsigned feed;
    } feeds[] = {
        {TRACE_HOLDS_DATA, FEED_DATA},
        {TRACE_HOLDS_SIZES, FEED_SIZES},
        {TRACE_HOLDS_FETCHES, FEED_FETCHES},
        {TRACE_HOLDS_INSTRUCTIONS, FEED_INSTRUCTIONS},
        {TRACE_HOLDS_BRANCHES, FEED_BRANCHES},
    };
    unsigned found = 0;

    if (head->source == NULL)
        return FEED_ALL;
    for (size_t i = 0; i < sizeof(feeds) / sizeof(feeds[0]); i++)
        found |= (head->holds & feeds[i].holds) != 0 ? feeds[i].feed : 0;
    return found;
}

/* Takes what a trace tells of its program for the program. */
static int
take_head(struct measured *m, const char *path, const struct trace_head *head)
{
    struct program *const p = &m->program;

    *p = (struct program){.isa = isa_find(head->isa),
                          .code = head->code,
                          .code_offset = head->code_offset,
                          .code_size = head->code_size};
    if (strlen(head->path) >= sizeof(p->path) ||
        strlen(head->loader) >= sizeof(p->loader) ||
        strlen(head->allocations) >= sizeof(m->allocations)) {
        tally_fail(&command_log, TALLY_ERANGE,
                   "%s: a path in the head of the trace is too long", path);
        return EXIT_OURS;
    }
    if (p->isa == NULL) {
        tally_fail(&command_log, TALLY_EARCH,
                   "%s: a trace of a program for %s, which this tally does not "
                   "know",
                   path, head->isa);
        return EXIT_USAGE;
    }
    strcpy(p->path, head->path);
    strcpy(p->loader, head->loader);
    strcpy(m->allocations, head->allocations);
    m->feeds = feeds_of(head);
    m->late = strstr(head->part, "--from ") != NULL ||
              strstr(head->part, "--skip ") != NULL;
    snprintf(m->imported, sizeof(m->imported), "%s",
             head->source != NULL ? head->source : "");
    p->argv = copy_words(head->argv);
    return p->argv != NULL ? 0 : command_no_memory();
}

/* Finds what of its program the trace has, and says so, unless it is all.
 * `part`: the options that had asked for a part of the run, or "". */
static void
find_part(const char *path, const char *part, struct launch_options *launch)
{
    char words[TRACE_WORDS];
    struct trace_run run = {0};
    bool damaged;

    launch->trace_part = *part != '\0' ? TRACE_PART_ASKED : TRACE_PART_ALL;
    if (*part != '\0')
        escape_printf(stderr,
                      "tally: %s has a part of its program's run (%s): caches "
                      "are empty where it begins\n",
                      path, part);
    if (!trace_find_run(path, &run, &damaged)) {
        launch->trace_part = damaged ? TRACE_PART_DAMAGED : TRACE_PART_CUT;
        escape_printf(stderr, "tally: %s is %s: what comes before is counted\n",
                      path, damaged ? "damaged" : "cut short");
    } else if (run.end > TRACE_END_SIGNAL && run.end != TRACE_END_PART) {
        launch->trace_part = TRACE_PART_EARLY;
        escape_printf(stderr, "tally: %s ends before its program, %s\n", path,
                      trace_end_words(&run, words));
    }
    launch->trace_status = (int)run.status;
}

/* Opens a trace in place of the program. */
static int
open_trace(struct measured *m, char *const *argv, struct launch_options *launch)
{
    const char *const option = trace_run_option(launch);
    struct trace_reader *reader = NULL;

    if (argv[1] != NULL || option != NULL) {
        tally_fail(&command_log, TALLY_ERANGE,
                   "%s is a trace of one run, which nothing changes: leave %s "
                   "away%s",
                   argv[0], option != NULL ? option : argv[1],
                   option == NULL && *argv[1] == '-'
                       ? ", or give it before the trace"
                       : "");
        return EXIT_USAGE;
    }
    if (plugin_find_beside(m->plugin, PLUGIN_REPLAYER, &command_log,
                           m->replayer, sizeof(m->replayer)) != 0 ||
        trace_reader_open(argv[0], &command_log, &reader) != 0)
        return EXIT_OURS;
    launch->trace = argv[0];
    launch->replayer = m->replayer;
    const int status = take_head(m, argv[0], trace_reader_head(reader));
    launch->trace_quantum = trace_reader_head(reader)->quantum;
    launch->trace_by_cycles = trace_reader_head(reader)->by_cycles;
    if (status == 0)
        find_part(argv[0], trace_reader_head(reader)->part, launch);
    trace_reader_close(&reader);
    return status;
}

int
measured_open_any(struct measured *m, char *const *argv,
                  struct launch_options *launch)
{
    if (plugin_find(&command_log, m->plugin, sizeof(m->plugin)) != 0)
        return EXIT_OURS;
    launch->plugin = m->plugin;
    m->feeds = FEED_ALL;
    m->imported[0] = '\0';
    m->late = false;
    return trace_is_trace(argv[0]) ? open_trace(m, argv, launch)
                                   : open_program(m, argv);
}

int
measured_open(struct measured *m, char *const *argv,
              struct launch_options *launch)
{
    if (trace_is_trace(argv[0])) {
        tally_fail(
            &command_log, TALLY_EPROGRAM,
            "%s is a trace, which tally count, record, memory, curve, sweep, "
            "phases, teach and trace replay take; here a program is expected",
            argv[0]);
        return EXIT_USAGE;
    }
    return measured_open_any(m, argv, launch);
}

/* Refuses a program whose instructions are not known as well as the cycles of
 * the machine ask. A foreign program has cycles that add up instead, unless the
 * model was asked for: nothing of it is exact in any case. */
static int
check_known(struct measured *m, const struct model_options *model)
{
    if (m->params[PARAM_TIME_MODEL] != TIME_MODEL_OOO ||
        isa_decoder(m->program.isa)->operands != NULL)
        return 0;
    bool asked = !m->foreign && !m->program.isa->imported;
    for (size_t i = 0; i < model->set_count; i++)
        asked |= param_assigned(model->sets[i]) == PARAM_TIME_MODEL;
    if (!asked) {
        m->params[PARAM_TIME_MODEL] = TIME_MODEL_SUM;
        return 0;
    }
    return tally_fail(&command_log, TALLY_EARCH,
                      "%s: it is not known what instructions of %s wait for, "
                      "as time.model=ooo asks; --set time.model=sum adds up "
                      "what misses cost",
                      m->program.path, m->program.isa->name);
}

/* Refuses huge pages for a trace that does not know what its program has
 * mapped. */
static int
check_mapped(const struct measured *m)
{
    if (m->params[PARAM_TLB_HUGE] == TLB_HUGE_NEVER)
        return 0;
    if (m->imported[0] != '\0')
        return tally_fail(&command_log, TALLY_ERANGE,
                          "a trace imported from %s has no system calls, which "
                          "tell what memory may be huge pages: tlb.huge=never",
                          m->imported);
    if (m->late)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "the trace begins after its program, and does not "
                          "know what memory was mapped before and may be huge "
                          "pages: tlb.huge=never");
    return 0;
}

int
measured_choose(struct measured *m, const char *name,
                const struct model_options *model, bool talks)
{
    const struct machine_row *wanted = name != NULL ? machine_find(name) : NULL;

    if (name != NULL && wanted == NULL)
        return machine_unknown(name, &command_log);
    int error = machine_choose(wanted, &m->program, model->foreign,
                               &command_log, &m->machine, &m->foreign);
    if (error == 0)
        error = illegal_check_level(&m->program, talks);
    if (error == 0)
        error = launch_check(&model->launch, m->program.isa, &command_log);
    if (error == 0 && talks)
        model_options_say_settings(model);
    if (error == 0)
        error = machine_params(m->machine, model->sets, model->set_count,
                               &command_log, m->params, &m->origin);
    if (error == 0 && model->launch.trace != NULL)
        error = measured_check_layout(m, "a trace has one layout");
    if (error == 0)
        error = check_mapped(m);
    return error != 0 ? error : check_known(m, model);
}

/* Returns whether the program is of the host's own architecture. */
static bool
is_of_host(const struct program *program, struct utsname *host)
{
    return uname(host) == 0 && strcmp(program->isa->name, host->machine) == 0;
}

const char *
measured_imported(const struct measured *m)
{
    return m->imported[0] != '\0' ? m->imported : NULL;
}

int
measured_refuse_imported(struct measured *m, const char *command)
{
    if (measured_imported(m) == NULL)
        return 0;
    escape_printf(stderr,
                  "tally %s: the trace was imported from %s, and has no code; "
                  "tally count, tally curve and tally sweep take it\n",
                  command, m->imported);
    program_close(&m->program);
    return EXIT_USAGE;
}

const char *
measured_lacks(const struct measured *m, const struct event_row *event)
{
    const char *const lacks = event_lacks(event, m->params);

    return lacks != NULL ? lacks : event_starves(event, m->feeds);
}

int
measured_check_layout(const struct measured *measured, const char *what)
{
    const uint64_t layout = measured->params[PARAM_LAYOUT];

    if (layout == 0)
        return 0;
    return tally_fail(&command_log, TALLY_ERANGE,
                      "with layout=%" PRIu64 " the caches see data at other "
                      "addresses than the program has; %s: layout=0",
                      layout, what);
}

int
measured_check_accesses(const struct measured *measured, const char *what)
{
    const int error = measured_check_layout(measured, what);

    if (error != 0)
        return error;
    if (condition_holds(CONDITION_DEMAND, measured->params))
        return 0;
    return tally_fail(&command_log, TALLY_ERANGE,
                      "prefetchers bring in lines that no access misses; %s: "
                      "l1d.prefetch=none and l2.prefetch=none",
                      what);
}

int
measured_check_objects(const struct measured *measured, const char *trace)
{
    if (trace == NULL || measured->allocations[0] != '\0')
        return 0;
    return tally_fail(&command_log, TALLY_EPROGRAM,
                      "%s has nothing of the program's data: tally trace "
                      "record --objects makes a trace that has",
                      trace);
}

int
measured_find_heap(const struct measured *m, struct launch_options *launch,
                   char *path, size_t size, const char **reason)
{
    *reason = NULL;
    if (launch->trace != NULL) {
        launch->objects = m->allocations;
        if (m->program.loader[0] == '\0')
            *reason = "the program is static, and a trace has no registers";
        return 0;
    }
    if (plugin_find_allocations(m->plugin, m->program.isa->name, &command_log,
                                path, size) != 0)
        return EXIT_OURS;
    launch->objects = path;
    if (launch_find_registers(launch, &m->program, &command_log, reason) != 0)
        return EXIT_USAGE;
    if (*reason == NULL)
        *reason = launch_heap_reason(&m->program);
    return 0;
}

bool
measured_is_native(char *const *argv)
{
    const struct tally_log silent = {0};
    struct program program;
    struct utsname host;

    if (program_open(argv, &silent, &program) != 0)
        return false;
    const bool native = is_of_host(&program, &host);
    program_close(&program);
    return native;
}

void
measured_share(const struct hardware_reading *r, struct count_value *v)
{
    v->running = r->enabled == 0
                     ? 0
                     : (uint64_t)((double)v->enabled * (double)r->running /
                                  (double)r->enabled);
    if (r->running < r->enabled && v->fidelity < FIDELITY_ESTIMATED)
        v->fidelity = FIDELITY_ESTIMATED;
    if (r->running == 0 && r->enabled != 0) {
        v->counted = false;
        v->code = "not-counted";
        v->reason = "the program ended before its turn came";
    }
}

int
measured_failed(int error)
{
    return error == TALLY_EUNKNOWN || error == TALLY_ESYNTAX ||
                   error == TALLY_ERANGE
               ? EXIT_USAGE
               : EXIT_OURS;
}

int
measured_unstarted(const struct measured *m, const struct session_result *r)
{
    const bool stopped = r->interrupted && WIFSIGNALED(r->status);

    if (r->trace != TRACE_PART_NONE && !stopped) {
        tally_fail(&command_log, TALLY_ESYNTAX,
                   "%s: nothing of its run is in the trace", m->program.path);
        return EXIT_OURS;
    }
    tally_fail(&command_log, TALLY_EQEMU, "%s: %s", m->program.path,
               stopped ? "a signal came before the program began"
                       : "QEMU could not start it");
    return stopped ? command_status(r->status) : EXIT_OURS;
}

int
measured_status(const struct session_result *r)
{
    return r->trace == TRACE_PART_DAMAGED ? EXIT_OURS
                                          : command_status(r->status);
}

int
exec_status(const char *command, int error, char *const *argv)
{
    struct program program;
    struct utsname host = {.machine = ""};

    if (error != ENOEXEC) {
        escape_printf(stderr, "tally: %s: %s\n", argv[0],
                      error == ENOENT ? "no such program" : strerror(error));
        return error == ENOENT ? EXIT_MISSING : EXIT_CANNOT;
    }
    /* The kernel takes a program of another processor for no program. */
    const int opened = program_open(argv, &command_log, &program);
    if (opened != 0)
        return opened == TALLY_EARCH ? EXIT_USAGE : EXIT_CANNOT;
    const bool native = is_of_host(&program, &host) || host.machine[0] == '\0';
    if (native)
        escape_printf(stderr, "tally: %s: %s\n", program.path,
                      strerror(ENOEXEC));
    else
        escape_printf(
            stderr,
            "tally: %s: a program for %s, but this host runs %s; tally %s -m "
            "MACHINE emulates one that runs it\n",
            program.path, program.isa->name, host.machine, command);
    program_close(&program);
    return native ? EXIT_CANNOT : EXIT_USAGE;
}
