/* SPDX-License-Identifier: MIT */
/* tally count: runs a program and prints what the counters would show. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/counted.h"
#include "profile/machine_choice.h"
#include "profile/session.h"
#include "report/count_report.h"
#include "source/plugin_path.h"

enum {
    OPT_MACHINE,
    OPT_EVENTS,
    OPT_METRICS,
    OPT_GROUP,
    OPT_REPEAT,
    OPT_PER_THREAD,
    OPT_FORMAT,
    OPT_JSON,
    OPT_SEPARATOR,
    OPT_OUTPUT,
    OPT_APPEND,
    OPT_SET,
    OPT_FROM,
    OPT_TO,
    OPT_SKIP,
    OPT_FOREIGN,
    OPT_CLEAN_ENV,
    OPT_SYSROOT,
    OPT_CPU,
    OPT_QEMU,
    OPT_COLOR,
    OPT_QUIET,
    OPT_VERBOSE,
};

static const struct option_row options[] = {
    [OPT_MACHINE] =
        {'m', "machine", "MACHINE",
         "the machine to be; default: by the program's architecture"},
    [OPT_EVENTS] = {'e', "event", "EVENTS",
                    "events to count, by name or code; 'all' counts every one"},
    [OPT_METRICS] = {'M', "metrics", "METRICS",
                     "compute these too, such as ipc (tally list metrics)"},
    [OPT_GROUP] = {'g', "group", "METRICS", "the same as -M"},
    [OPT_REPEAT] = {'r', "repeat", "N",
                    "run N times; print means and their spread"},
    [OPT_PER_THREAD] = {0, "per-thread", NULL, "show each thread too"},
    [OPT_FORMAT] = {0, "format", "FORM", "text, csv or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_SEPARATOR] = {'x', "field-separator", "CHAR",
                       "CSV with this separator"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the report there instead of stderr"},
    [OPT_APPEND] = {0, "append", NULL, "add to the file of -o"},
    [OPT_SET] = {0, "set", "KEY=VALUE",
                 "change a parameter of the machine (tally show MACHINE)"},
    [OPT_FROM] = {0, "from", "FUNCTION",
                  "count only from where this function is entered"},
    [OPT_TO] = {0, "to", "FUNCTION", "and stop where this one is entered"},
    [OPT_SKIP] = {0, "skip", "N",
                  "count only after N instructions, to the block"},
    [OPT_FOREIGN] = {0, "foreign", NULL,
                     "allow a program of another instruction set"},
    [OPT_CLEAN_ENV] =
        {0, "clean-env", NULL,
         "run in a fixed environment, for equal counts everywhere"},
    [OPT_SYSROOT] = {'L', "sysroot", "DIR",
                     "where a dynamic program finds its loader and libraries"},
    [OPT_CPU] = {0, "cpu", "MODEL", "CPU model that QEMU shows the program"},
    [OPT_QEMU] = {0, "qemu", "FILE", "the QEMU to use"},
    [OPT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    [OPT_QUIET] = {'q', "quiet", NULL, "no progress line"},
    [OPT_VERBOSE] = {'v', "verbose", NULL, "say what is run"},
    {0},
};

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON };

struct request {
    const char *machine, *from, *to, *output, *color;
    char *events, *metrics; /* owned; all -e, all -M joined */
    const char *sets[PARAM_COUNT];
    size_t set_count;
    struct launch_options launch;
    uint64_t skip;
    unsigned runs;
    enum format format;
    char separator;
    bool per_thread, append, foreign, quiet, verbose;
};

static int
bad_usage(const char *text, const char *value)
{
    fprintf(stderr, "tally count: %s'%s'; see tally count --help\n", text,
            value);
    return EXIT_USAGE;
}

/* A whole number, with K, M or G for thousands, millions, milliards. */
static bool
parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    static const char units[] = "KMG";
    uint64_t factor = 1, n;
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    n = strtoull(text, &end, 10);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    if (errno != 0 || (*end != '\0' && (unit == NULL || end[1] != '\0')))
        return false;
    for (const char *u = units; unit != NULL && u <= unit; u++)
        factor *= 1000;
    if (__builtin_mul_overflow(n, factor, &n) || n < least || n > most)
        return false;
    *value = n;
    return true;
}

static int
join_list(char **list, const char *more)
{
    char *joined = NULL;

    if (asprintf(&joined, "%s%s%s", *list ? *list : "", *list ? "," : "",
                 more) < 0)
        return EXIT_OURS;
    free(*list);
    *list = joined;
    return 0;
}

static int
parse_format(struct request *r, const char *value)
{
    static const char *const names[] = {"text", "csv", "json"};

    for (size_t i = 0; i < 3; i++) {
        if (strcmp(value, names[i]) == 0) {
            r->format = (enum format)i;
            return 0;
        }
    }
    return bad_usage("--format takes text, csv or json, not ", value);
}

static int
parse_count(struct request *r, int option, const char *value)
{
    uint64_t n;

    if (option == OPT_REPEAT) {
        if (!parse_number(value, 1, 100000, &n))
            return bad_usage("-r takes 1 to 100000, not ", value);
        r->runs = (unsigned)n;
    } else {
        if (!parse_number(value, 1, UINT64_MAX / 2, &n))
            return bad_usage("--skip takes a number of instructions, not ",
                             value);
        r->skip = n;
    }
    return 0;
}

static int
take_option(struct request *r, int option, const char *value)
{
    switch (option) {
    case OPT_MACHINE:
        r->machine = value;
        return 0;
    case OPT_EVENTS:
        return join_list(&r->events, value);
    case OPT_METRICS:
    case OPT_GROUP:
        return join_list(&r->metrics, value);
    case OPT_REPEAT:
    case OPT_SKIP:
        return parse_count(r, option, value);
    case OPT_PER_THREAD:
        r->per_thread = true;
        return 0;
    case OPT_FORMAT:
        return parse_format(r, value);
    case OPT_JSON:
        r->format = FORMAT_JSON;
        return 0;
    case OPT_SEPARATOR:
        if (strlen(value) != 1 || strchr(",;:|/ \t", *value) == NULL)
            return bad_usage("-x takes one sign such as , or ; or |, not ",
                             value);
        r->separator = *value;
        r->format = FORMAT_CSV;
        return 0;
    case OPT_OUTPUT:
        if (*value == '\0')
            return bad_usage("-o takes a file's name, not ", value);
        r->output = value;
        return 0;
    case OPT_APPEND:
        r->append = true;
        return 0;
    case OPT_SET:
        if (r->set_count == PARAM_COUNT)
            return bad_usage("too many --set, the last is ", value);
        r->sets[r->set_count++] = value;
        return 0;
    case OPT_FROM:
        r->from = value;
        return 0;
    case OPT_TO:
        r->to = value;
        return 0;
    case OPT_FOREIGN:
        r->foreign = true;
        return 0;
    case OPT_CLEAN_ENV:
        r->launch.clean_env = true;
        return 0;
    case OPT_SYSROOT:
        r->launch.sysroot = value;
        return 0;
    case OPT_CPU:
        r->launch.cpu = value;
        return 0;
    case OPT_QEMU:
        r->launch.qemu = value;
        return 0;
    case OPT_COLOR:
        r->color = value;
        return 0;
    case OPT_QUIET:
        r->quiet = true;
        return 0;
    default:
        r->verbose = true;
        return 0;
    }
}

/* 0, an exit status, or COMMAND_HELP; *operand is the program's index. */
static int
parse_options(int argc, char **argv, struct request *r, int *operand)
{
    struct option_walk walk = {&command_count, argc, argv, 0, NULL};
    const char *value;
    int option, status = 0;

    while (status == 0 && (option = command_option(&walk, &value)) >= 0)
        status = take_option(r, option, value);
    if (status != 0)
        return status;
    if (option == COMMAND_HELP)
        return COMMAND_HELP;
    if (option == COMMAND_BAD)
        return EXIT_USAGE;
    if (walk.next >= argc) {
        fprintf(stderr, "tally count: no program to run; see tally count "
                        "--help\n");
        return EXIT_USAGE;
    }
    if (r->skip != 0 && (r->from != NULL || r->to != NULL))
        return bad_usage("--skip does not go with ",
                         r->from ? "--from" : "--to");
    if (command_color(r->color, stderr) < 0)
        return bad_usage("--color takes auto, always or never, not ", r->color);
    *operand = walk.next;
    return 0;
}

static int
choose_machine(const struct request *r, const struct program *program,
               const struct machine_row **machine, bool *foreign)
{
    const struct machine_row *wanted =
        r->machine != NULL ? machine_find(r->machine) : NULL;

    if (r->machine != NULL && wanted == NULL)
        return machine_unknown(r->machine, &command_log);
    return machine_choose(wanted, program, r->foreign, &command_log, machine,
                          foreign);
}

/* The command line, for reports; NULL without memory. */
static char *
program_text(char *const *argv)
{
    size_t size = 1;

    for (char *const *a = argv; *a != NULL; a++)
        size += strlen(*a) + 1;
    char *text = malloc(size), *at = text;
    if (text == NULL)
        return NULL;
    for (char *const *a = argv; *a != NULL; a++)
        at += sprintf(at, "%s%s", a == argv ? "" : " ", *a);
    return text;
}

static void
show_progress(void *user, uint64_t instructions, double wall_s)
{
    (void)user;
    if (wall_s < 1)
        return;
    fprintf(stderr,
            "\r tally: %.1f G instructions, %.0f s, %.0f M a second\033[K",
            (double)instructions * 1e-9, wall_s,
            (double)instructions / wall_s * 1e-6);
}

/* Means and deviations, by Welford's recurrence. */
static void
add_run(struct count_value *values, size_t count, unsigned run,
        const struct session_result *result)
{
    for (size_t i = 0; i < count; i++) {
        const double x = (double)event_value(values[i].event, &result->totals);
        const double off = x - values[i].mean;
        values[i].mean += off / run;
        values[i].stddev += off * (x - values[i].mean); /* sum of squares */
        values[i].value = run == 1
                              ? event_value(values[i].event, &result->totals)
                              : (uint64_t)llround(values[i].mean);
    }
}

static void
finish_runs(struct count_value *values, size_t count, unsigned runs)
{
    for (size_t i = 0; i < count; i++)
        values[i].stddev = runs > 1 ? sqrt(values[i].stddev / (runs - 1)) : 0;
}

/* Where the report goes: stderr, or a file that appears whole. */
struct output {
    FILE *file;
    char *temporary; /* renamed to `target` at the end, or NULL */
    char target[PATH_MAX];
};

static int
output_open(const struct request *r, struct output *out)
{
    struct stat st;

    *out = (struct output){.file = stderr};
    if (r->output == NULL)
        return 0;
    const bool special = stat(r->output, &st) == 0 && !S_ISREG(st.st_mode);
    /* A link keeps pointing where it does: its target is replaced. */
    if (realpath(r->output, out->target) == NULL)
        snprintf(out->target, sizeof(out->target), "%s", r->output);
    if (!r->append && !special &&
        asprintf(&out->temporary, "%s.%d.new", out->target, (int)getpid()) < 0)
        out->temporary = NULL;
    out->file = fopen(out->temporary ? out->temporary : r->output,
                      r->append ? "ae" : "we");
    if (out->file != NULL)
        return 0;
    free(out->temporary);
    return tally_fail(&command_log, TALLY_EIO, "cannot write %s: %s", r->output,
                      strerror(errno));
}

static int
output_close(struct output *out, bool keep)
{
    int error = 0;

    if (out->file != NULL && out->file != stderr && fclose(out->file) != 0)
        error = TALLY_EIO;
    if (out->temporary != NULL) {
        if (!keep || error != 0)
            unlink(out->temporary);
        else if (rename(out->temporary, out->target) != 0)
            error = TALLY_EIO;
    }
    free(out->temporary);
    return error;
}

static int
write_report(const struct request *r, const struct count_report *report,
             FILE *out)
{
    switch (r->format) {
    case FORMAT_CSV:
        return report_count_csv(report, r->separator, out);
    case FORMAT_JSON:
        return report_count_json(report, out);
    default:
        return report_count_text(report, out);
    }
}

/* The status a shell would give for the program. */
static int
program_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

struct job {
    const struct request *request;
    const struct program *program;
    struct session_options session;
    struct count_report report;
    uint64_t params[PARAM_COUNT];
};

static int
run_all(struct job *job, struct count_value *values,
        struct session_result *result)
{
    double mean = 0, squares = 0;

    for (unsigned run = 1; run <= job->request->runs; run++) {
        if (run > 1)
            session_result_finish(result);
        const int error =
            session_run(&job->session, job->program, &command_log, result);
        if (error != 0)
            return error;
        add_run(values, job->report.count, run, result);
        const double off = result->wall_s - mean;
        mean += off / run;
        squares += off * (result->wall_s - mean);
        job->report.runs = run;
        if (result->interrupted)
            break;
    }
    finish_runs(values, job->report.count, job->report.runs);
    job->report.wall_s = mean;
    job->report.wall_stddev =
        job->report.runs > 1 ? sqrt(squares / (job->report.runs - 1)) : 0;
    return 0;
}

static int
run_and_report(struct job *job, struct count_value *values)
{
    struct session_result result = {0};
    struct output out;
    int error = output_open(job->request, &out);

    if (error != 0)
        return EXIT_OURS;
    error = run_all(job, values, &result);
    if (job->session.progress != NULL)
        fprintf(stderr, "\r\033[K");
    if (error == 0 && !result.started)
        error = tally_fail(&command_log, TALLY_EQEMU,
                           "%s: QEMU could not start it", job->program->path);
    if (error == 0) {
        job->report.last = &result;
        error = write_report(job->request, &job->report, out.file);
    }
    const int closed = output_close(&out, error == 0);
    if (error == TALLY_EIO || closed != 0)
        tally_fail(&command_log, TALLY_EIO, "cannot write the report: %s",
                   strerror(errno));
    const int status = error == TALLY_EUNKNOWN ? EXIT_USAGE
                       : error != 0 || closed != 0
                           ? EXIT_OURS
                           : program_status(result.status);
    session_result_finish(&result);
    return status;
}

static int
count_events(struct job *job, const struct counted *c)
{
    struct count_value *values = calloc(c->count, sizeof(*values));
    char *text = program_text(job->program->argv);
    int status = EXIT_OURS;

    if (values != NULL && text != NULL) {
        for (size_t i = 0; i < c->count; i++)
            values[i].event = c->events[i];
        job->session.events = (const struct event_row *const *)c->events;
        job->session.event_count = c->count;
        job->report.values = values;
        job->report.count = c->count;
        job->report.metrics = (const struct metric_row *const *)c->metrics;
        job->report.metric_count = c->metric_count;
        job->report.program = text;
        status = run_and_report(job, values);
    }
    free(values);
    free(text);
    return status;
}

static int
prepare(const struct request *r, const struct program *program, struct job *job)
{
    const struct machine_row *machine = NULL;
    bool foreign = false;
    int error = choose_machine(r, program, &machine, &foreign);

    if (error == 0)
        error = machine_params(machine, r->sets, r->set_count, &command_log,
                               job->params);
    if (error != 0)
        return error;
    const char *cpu = r->launch.cpu ? r->launch.cpu : launch_cpu(program->isa);
    job->report = (struct count_report){
        .machine = machine,
        .params = job->params,
        .isa = isa_name(program->isa),
        .cpu = cpu,
        .foreign = foreign,
        .per_thread = r->per_thread,
        .windowed = r->from || r->to || r->skip,
        .color = command_color(r->color, stderr) == 1 && r->output == NULL,
    };
    job->session = (struct session_options){
        .machine = machine,
        .params = job->params,
        .from = r->from,
        .to = r->to,
        .skip = r->skip,
        .launch = r->launch,
        .progress = isatty(STDERR_FILENO) && !r->quiet ? show_progress : NULL,
    };
    return 0;
}

static int
count_program(struct request *r, char **argv)
{
    struct job job = {.request = r};
    struct program program;
    struct counted counted = {0};
    char plugin[PATH_MAX];
    int status = EXIT_USAGE;

    if (plugin_find(&command_log, plugin, sizeof(plugin)) != 0)
        return EXIT_OURS;
    r->launch.plugin = plugin;
    const int opened = program_open(argv, &command_log, &program);
    if (opened != 0)
        return program.missing         ? EXIT_MISSING
               : opened == TALLY_EARCH ? EXIT_USAGE
                                       : EXIT_CANNOT;
    job.program = &program;
    int error = prepare(r, &program, &job);
    if (error == 0)
        error =
            counted_choose(job.report.machine, r->events, r->metrics, &counted);
    if (error == 0 && r->verbose)
        fprintf(stderr, "tally: %s on %s\n", program.path,
                job.report.machine->name);
    if (error == 0)
        status = count_events(&job, &counted);
    counted_finish(&counted);
    program_close(&program);
    return status;
}

static int
run_count(int argc, char **argv)
{
    struct request request = {.runs = 1, .separator = ','};
    int operand = 0;
    int status = parse_options(argc, argv, &request, &operand);

    if (status == 0)
        status = count_program(&request, argv + operand);
    if (status == COMMAND_HELP) {
        command_help(&command_count, stdout);
        status = 0;
    }
    free(request.events);
    free(request.metrics);
    return status;
}

const struct command command_count = {
    .name = "count",
    .alias = "stat",
    .summary = "run a program and count its events",
    .synopsis = "[OPTIONS] [--] PROGRAM [ARGUMENTS]",
    .example = "  tally count -m ultrasparc-t2 -e All_instr,Dcache_misses -- "
               "./bzip2.sparc64 -9k file",
    .options = options,
    .run = run_count,
};
