/* SPDX-License-Identifier: MIT */
/* tally check: runs benchmarks in several layouts of memory and holds their
 * counts to a baseline. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <libgen.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "check/report.h"
#include "check/settings.h"
#include "cli/check_run.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/scratch.h"
#include "profile/machine_choice.h"
#include "record/crc32c.h"
#include "table/signals.h"
#include "table/table.h"
#include "version.h"

#define SETTINGS "tally.toml"
#define BASELINE "tally-baseline.json"
#define JOBS_MOST 256u
/* Bytes of the list of names of a suite that are read. */
#define NAMES_MOST (1u << 20)
#define EVENTS_FIXED 4u

/* Exit statuses beside those of all commands. */
enum {
    STATUS_ROSE = 3,
    STATUS_NO_BASELINE = 4,
    STATUS_FAILED = 5,
    STATUS_VARIES = 6
};

enum {
    OPT_FILE,
    OPT_BASELINE,
    OPT_UPDATE,
    OPT_STRICT,
    OPT_HARD,
    OPT_SOFT,
    OPT_LAYOUTS,
    OPT_MACHINE,
    OPT_EVENT,
    OPT_JOBS,
    OPT_FORMAT,
    OPT_OUTPUT,
    OPT_COLOR,
    OPT_QUIET,
};

static const struct option_row options[] = {
    [OPT_FILE] = {'f', "file", "FILE",
                  "the benchmarks (default: " SETTINGS ")"},
    [OPT_BASELINE] = {0, "baseline", "FILE",
                      "what to compare with (default: " BASELINE
                      " beside the file of the benchmarks)"},
    [OPT_UPDATE] = {0, "update", NULL,
                    "write what is counted now as the baseline"},
    [OPT_STRICT] = {0, "strict", NULL,
                    "end with status 3 where a soft limit is broken, too"},
    [OPT_HARD] = {0, "hard", "MEASURE=PERCENT",
                  "a hard limit of all benchmarks: instructions=0.2 and cost=1 "
                  "by default"},
    [OPT_SOFT] = {0, "soft", "MEASURE=PERCENT",
                  "a soft limit, beyond which a rise is a warning"},
    [OPT_LAYOUTS] = {0, "layouts", "K",
                     "run each benchmark in so many layouts of memory (default "
                     "9)"},
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine to count on (default: ci-1)"},
    [OPT_EVENT] = {'e', "event", "EVENTS",
                   "events to compare beside instructions and the cost"},
    [OPT_JOBS] = {'j', "jobs", "N",
                  "runs at the same time (default: one a processor)"},
    [OPT_FORMAT] = {0, "format", "FORM",
                    "text, markdown, junit, json, benchmark-action or bencher"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the report there (default: standard output)"},
    [OPT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    [OPT_QUIET] = {'q', "quiet", NULL, "no progress line"},
    {0},
};

enum check_form {
    FORM_TEXT,
    FORM_MARKDOWN,
    FORM_JUNIT,
    FORM_JSON,
    FORM_ACTION,
    FORM_BENCHER
};
static const char *const forms[] = {
    [FORM_TEXT] = "text",
    [FORM_MARKDOWN] = "markdown",
    [FORM_JUNIT] = "junit",
    [FORM_JSON] = "json",
    [FORM_ACTION] = "benchmark-action",
    [FORM_BENCHER] = "bencher",
    NULL,
};

/* A limit of the command line. */
struct asked_limit {
    const char *text; /* MEASURE=PERCENT */
    bool hard;
};

struct check_request {
    const char *file, *baseline, *machine, *output, *color;
    char *events; /* owned; NULL: none */
    struct asked_limit *limits;
    size_t limit_count;
    unsigned layouts, jobs;
    int form;
    bool update, strict, quiet;
    char **patterns; /* of names of benchmarks, in argv */
    size_t pattern_count;
    char **program; /* in argv; NULL: the benchmarks of a file */
};

/* One benchmark with its runs. */
struct bench {
    struct check_benchmark *settings; /* of the request's */
    struct check_program program;
    const char **events;   /* of the program, owned */
    const char **measures; /* the same but for the cost, owned */

    struct check_run *runs;
    size_t run_count;  /* a run a layout, and the first layout once more */
    uint32_t geometry; /* of a machine that has this host's caches; else 0 */
};

struct checking {
    struct check_request request;
    struct check_settings settings;
    struct check_baseline baseline;
    struct check_baseline counted; /* entries for --update */
    char *baseline_path;
    struct bench *benches;
    size_t bench_count;
    struct check_run *runs; /* of all benches, owned */
    size_t run_count, runs_done;
    struct check_report report;
    int failure; /* 125 or 2, where a benchmark failed for that; or 0 */
};

/* The command line */

static int
refuse(const char *text, const char *value)
{
    escape_printf(stderr, "tally check: %s'%s'; see tally check --help\n", text,
                  value);
    return EXIT_USAGE;
}

static int
add_limit(struct check_request *r, const char *text, bool hard)
{
    const char *const sign = strrchr(text, '=');
    char *end;

    if (sign == NULL || sign == text || sign[1] < '0' || sign[1] > '9')
        return refuse("a limit is MEASURE=PERCENT, as cost=1.5, not ", text);
    const double percent = strtod(sign + 1, &end);
    if (*end != '\0' || !(percent <= 1e6))
        return refuse("a limit is MEASURE=PERCENT, as cost=1.5, not ", text);
    struct asked_limit *const more =
        realloc(r->limits, (r->limit_count + 1) * sizeof(*more));
    if (more == NULL)
        return command_no_memory();
    r->limits = more;
    more[r->limit_count++] = (struct asked_limit){text, hard};
    return 0;
}

static int
take_number(const char *value, unsigned most, const char *text,
            unsigned *number)
{
    uint64_t found;

    if (!command_number(value, 1, most, &found))
        return refuse(text, value);
    *number = (unsigned)found;
    return 0;
}

static int
take_option(struct check_request *r, int option, const char *value)
{
    switch (option) {
    case OPT_FILE:
        r->file = value;
        return 0;
    case OPT_BASELINE:
        r->baseline = value;
        return 0;
    case OPT_UPDATE:
        r->update = true;
        return 0;
    case OPT_STRICT:
        r->strict = true;
        return 0;
    case OPT_HARD:
    case OPT_SOFT:
        return add_limit(r, value, option == OPT_HARD);
    case OPT_LAYOUTS:
        return take_number(value, CHECK_LAYOUTS_MOST,
                           "--layouts takes 1 to 64, not ", &r->layouts);
    case OPT_MACHINE:
        r->machine = value;
        return 0;
    case OPT_EVENT:
        return command_join(&r->events, value) == 0 ? 0 : EXIT_OURS;
    case OPT_JOBS:
        return take_number(value, JOBS_MOST, "-j takes 1 to 256 runs, not ",
                           &r->jobs);
    case OPT_FORMAT:
        return command_form(&command_check, value, forms, &r->form);
    case OPT_OUTPUT:
        r->output = value;
        return 0;
    case OPT_COLOR:
        r->color = value;
        return 0;
    default:
        r->quiet = true;
        return 0;
    }
}

/* Returns 0, a status, or COMMAND_HELP. */
static int
read_options(struct check_request *r, int argc, char **argv)
{
    struct option_walk walk = {&command_check, argc, argv, 0, NULL};
    const char *value;
    int status = 0;

    r->patterns = argv;
    r->jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    if (r->jobs == 0 || r->jobs > JOBS_MOST)
        r->jobs = 1;
    while (status == 0) {
        const int found = command_option(&walk, &value);
        if (found == COMMAND_HELP)
            return COMMAND_HELP;
        if (found == COMMAND_BAD)
            return EXIT_USAGE;
        if (found >= 0) {
            status = take_option(r, found, value);
        } else if (walk.next >= argc) {
            if (argc > 1 && strcmp(argv[argc - 1], "--") == 0) {
                fputs("tally check: a program is missing behind --\n", stderr);
                status = EXIT_USAGE;
            }
            break;
        } else if (strcmp(argv[walk.next - 1], "--") == 0) {
            r->program = argv + walk.next;
            break;
        } else {
            /* These places of argv have been read. */
            r->patterns[r->pattern_count++] = argv[walk.next++];
        }
    }
    if (status == 0 && r->program != NULL &&
        (r->file != NULL || r->pattern_count != 0)) {
        fputs("tally check: a program after -- is checked alone; leave -f and "
              "names of benchmarks away\n",
              stderr);
        return EXIT_USAGE;
    }
    if (status == 0 && command_color(r->color, stdout) < 0)
        return refuse("--color takes auto, always or never, not ", r->color);
    return status;
}

/* What to run */

/* Returns whether a pattern is of a benchmark, or of the suite that it is in;
 * of a suite, whether one of its benchmarks may be meant. */
static bool
is_meant(const char *pattern, const struct check_benchmark *b)
{
    const char *const name = strchr(b->name, '/');
    const char *const member = strchr(pattern, '/');
    const size_t length =
        name != NULL ? (size_t)(name - b->name) : strlen(b->name);
    char *const suite = strndup(b->name, length);
    char *const wanted = member != NULL
                             ? strndup(pattern, (size_t)(member - pattern))
                             : strdup(pattern);
    const bool meant =
        fnmatch(pattern, b->name, 0) == 0 ||
        (suite != NULL && wanted != NULL &&
         (b->names != NULL || (name != NULL && member == NULL)) &&
         fnmatch(wanted, suite, 0) == 0);

    free(suite);
    free(wanted);
    return meant;
}

static bool
is_wanted(const struct check_request *r, const struct check_benchmark *b)
{
    for (size_t i = 0; i < r->pattern_count; i++) {
        if (is_meant(r->patterns[i], b))
            return true;
    }
    return r->pattern_count == 0;
}

/* Refuses a pattern that no benchmark has. 0 or a status. */
static int
check_patterns(const struct checking *c)
{
    for (size_t i = 0; i < c->request.pattern_count; i++) {
        bool found = false;
        for (size_t k = 0; k < c->settings.count; k++)
            found |=
                is_meant(c->request.patterns[i], &c->settings.benchmarks[k]);
        if (!found) {
            escape_printf(stderr,
                          "tally check: %s has no benchmark '%s'; without a "
                          "name all are checked\n",
                          c->settings.path, c->request.patterns[i]);
            return EXIT_USAGE;
        }
    }
    return 0;
}

/* Removes the benchmarks that were not asked for. 0 or a status. */
static int
keep_wanted(struct checking *c)
{
    struct check_settings *const s = &c->settings;
    struct check_settings gone = {0};
    const int status = check_patterns(c);
    size_t kept = 0;

    if (status != 0)
        return status;
    gone.benchmarks = calloc(s->count + 1, sizeof(*gone.benchmarks));
    if (gone.benchmarks == NULL)
        return command_no_memory();
    for (size_t i = 0; i < s->count; i++) {
        if (is_wanted(&c->request, &s->benchmarks[i]))
            s->benchmarks[kept++] = s->benchmarks[i];
        else
            gone.benchmarks[gone.count++] = s->benchmarks[i];
    }
    s->count = kept;
    check_settings_finish(&gone);
    return 0;
}

/* Runs the command that lists the names of a suite, and puts its benchmarks in
 * its place. Returns 0 or a status. */
static int
expand_suite(struct checking *c, size_t suite)
{
    const struct check_benchmark *const b = &c->settings.benchmarks[suite];
    const int fd = scratch_open();
    char *reason = NULL, *text = malloc(NAMES_MOST);
    int status = EXIT_OURS;

    if (fd < 0 || text == NULL) {
        escape_printf(stderr,
                      "tally check: cannot list the names of '%s': %s\n",
                      b->name, strerror(errno));
    } else if (check_command(b->names, b->directory, fd, &reason) != 0) {
        escape_printf(stderr,
                      "tally check: cannot list the names of '%s': %s\n",
                      b->name, reason != NULL ? reason : "no memory");
        status = STATUS_FAILED;
    } else {
        const ssize_t size = pread(fd, text, NAMES_MOST, 0);
        if (size == NAMES_MOST)
            escape_printf(stderr,
                          "tally check: the names of '%s' are 1 MiB or more\n",
                          b->name);
        status = size >= 0 && size < NAMES_MOST &&
                         check_settings_expand(&c->settings, suite, text,
                                               (size_t)size, &command_log) == 0
                     ? 0
                     : STATUS_FAILED;
    }
    if (fd >= 0)
        close(fd);
    free(reason);
    free(text);
    return status;
}

/* Makes what is needed before the benchmarks run. Returns 0 or a status. */
static int
set_up(struct checking *c)
{
    for (size_t i = 0; i < c->settings.count; i++) {
        const struct check_benchmark *const b = &c->settings.benchmarks[i];
        char *reason = NULL;
        if (b->setup == NULL ||
            check_command(b->setup, b->directory, -1, &reason) == 0)
            continue;
        escape_printf(stderr, "tally check: setup of '%s' failed: %s\n",
                      b->name, reason != NULL ? reason : "no memory");
        free(reason);
        return STATUS_FAILED;
    }
    for (size_t i = c->settings.count; i-- > 0;) {
        if (c->settings.benchmarks[i].names == NULL)
            continue;
        const int status = expand_suite(c, i);
        if (status != 0)
            return status;
    }
    return keep_wanted(c);
}

static int
compare_benchmarks(const void *x, const void *y)
{
    const struct check_benchmark *const a = x, *const b = y;

    return strcmp(a->name, b->name);
}

/* Puts a limit of the command line in the place of the settings'. */
static int
override_limit(struct check_benchmark *b, const struct asked_limit *asked)
{
    const size_t given = (size_t)(strrchr(asked->text, '=') - asked->text);
    const double percent = strtod(asked->text + given + 1, NULL);
    /* The cost is this event. */
    const bool cycles = given == 6 && strncmp(asked->text, "cycles", 6) == 0;
    const char *const name = cycles ? CHECK_COST : asked->text;
    const size_t length = cycles ? strlen(CHECK_COST) : given;

    for (size_t i = 0; i < b->limit_count; i++) {
        struct check_limit *const limit = &b->limits[i];
        if (strncmp(limit->measure, name, length) == 0 &&
            limit->measure[length] == '\0') {
            *(asked->hard ? &limit->hard : &limit->soft) = percent;
            return 0;
        }
    }
    struct check_limit *const more =
        realloc(b->limits, (b->limit_count + 1) * sizeof(*more));
    if (more == NULL)
        return command_no_memory();
    b->limits = more;
    more[b->limit_count] = (struct check_limit){
        .measure = strndup(name, length),
        .soft = asked->hard ? NAN : percent,
        .hard = asked->hard ? percent : NAN,
    };
    return more[b->limit_count++].measure != NULL ? 0 : command_no_memory();
}

/* Sets what the command line has in place of the settings. 0 or a status. */
static int
override(const struct check_request *r, struct check_benchmark *b)
{
    int status = 0;

    if (r->layouts != 0)
        b->layouts = r->layouts;
    if (r->machine != NULL) {
        free(b->machine);
        b->machine = strdup(r->machine);
        if (b->machine == NULL)
            return command_no_memory();
    }
    for (size_t i = 0; status == 0 && i < r->limit_count; i++)
        status = override_limit(b, &r->limits[i]);
    return status;
}

/* Reads the benchmarks, and leaves those that were asked for. 0 or a status. */
static int
choose_benchmarks(struct checking *c)
{
    const struct check_request *const r = &c->request;
    int status = 0;
    const int error =
        r->program != NULL
            ? check_settings_program(r->program, &command_log, &c->settings)
            : check_settings_read(r->file != NULL ? r->file : SETTINGS,
                                  &command_log, &c->settings);

    if (error != 0)
        return error == TALLY_ENOMEM ? EXIT_OURS : EXIT_USAGE;
    status = keep_wanted(c);
    if (status == 0)
        status = set_up(c);
    qsort(c->settings.benchmarks, c->settings.count,
          sizeof(*c->settings.benchmarks), compare_benchmarks);
    for (size_t i = 0; status == 0 && i < c->settings.count; i++)
        status = override(r, &c->settings.benchmarks[i]);
    return status;
}

/* Returns whether the program may be counted with the event, on a machine with
 * these parameters. */
static bool
has_event(const struct machine_row *machine, const uint64_t *params,
          const char *name)
{
    const struct event_row *const event = event_find(machine, name);

    return event != NULL && event_lacks(event, params) == NULL;
}

/* Adds an event, unless it is there already under this or another name. */
static void
add_event(const struct machine_row *machine, struct bench *b, const char *event,
          const char *measure)
{
    for (size_t i = 0; i < b->program.event_count; i++) {
        if (event_find(machine, b->events[i]) == event_find(machine, event))
            return;
    }
    b->events[b->program.event_count] = event;
    b->measures[b->program.event_count++] = measure;
}

/* Refuses an event that the machine lacks. 0 or a status. */
static int
check_event(const struct machine_row *machine, const uint64_t *params,
            const struct check_benchmark *b, const char *name)
{
    const struct event_row *const event = event_find(machine, name);
    const char *const lacks = event != NULL ? event_lacks(event, params) : NULL;

    if (event != NULL && lacks == NULL)
        return 0;
    if (lacks != NULL)
        escape_printf(stderr, "tally check: '%s': the event '%s': %s\n",
                      b->name, name, lacks);
    else
        escape_printf(stderr,
                      "tally check: '%s': %s has no event '%s'; tally list "
                      "events -m %s shows its events\n",
                      b->name, machine->name, name, machine->name);
    return EXIT_USAGE;
}

/* Chooses the events of a benchmark: instructions, the cost, what tells other
 * work, and those that were asked for. 0 or a status. */
static int
choose_events(struct bench *b, const struct machine_row *machine,
              const uint64_t *params)
{
    const struct check_benchmark *const s = b->settings;
    size_t count = EVENTS_FIXED;
    int status = check_event(machine, params, s, "instructions");

    for (char **e = s->events; e != NULL && *e != NULL; e++)
        count++;
    b->events = calloc(count + 1, sizeof(*b->events));
    b->measures = calloc(count + 1, sizeof(*b->measures));
    if (b->events == NULL || b->measures == NULL)
        return command_no_memory();
    if (status == 0)
        status = check_event(machine, params, s, "cycles");
    add_event(machine, b, "instructions", CHECK_INSTRUCTIONS);
    add_event(machine, b, "cycles", CHECK_COST);
    if (has_event(machine, params, CHECK_LOADS))
        add_event(machine, b, CHECK_LOADS, CHECK_LOADS);
    if (has_event(machine, params, CHECK_STORES))
        add_event(machine, b, CHECK_STORES, CHECK_STORES);
    for (char **e = s->events; status == 0 && e != NULL && *e != NULL; e++) {
        status = check_event(machine, params, s, *e);
        add_event(machine, b, *e, *e);
    }
    b->program.events = b->events;
    return status;
}

static int
choose_machine(struct bench *b)
{
    static const char *const layout = "layout=1";
    const struct machine_row *machine = NULL;
    uint64_t params[PARAM_COUNT];
    int status = command_machine(b->settings->machine, &machine);

    if (status != 0)
        return status;
    if (machine->native || machine->params == NULL) {
        escape_printf(stderr,
                      "tally check: '%s': %s is no modelled machine, whose "
                      "counts repeat; -m " CHECK_MACHINE " is one\n",
                      b->settings->name, machine->name);
        return EXIT_USAGE;
    }
    b->program.has_layouts =
        machine_params(machine, &layout, 1, NULL, params) == 0;
    if (machine_params(machine, NULL, 0, &command_log, params) != 0)
        return EXIT_USAGE;
    if (!b->program.has_layouts)
        b->settings->layouts = 1;
    b->program.machine = machine->name;
    if (machine->reads_host)
        b->geometry = crc32c(0, params, sizeof(params));
    return choose_events(b, machine, params);
}

/* Refuses a limit of what is not counted. 0 or a status. */
static int
check_limits(const struct bench *b)
{
    for (size_t i = 0; i < b->settings->limit_count; i++) {
        const char *const name = b->settings->limits[i].measure;
        bool known = false;
        for (size_t k = 0; k < b->program.event_count; k++)
            known |= strcmp(b->measures[k], name) == 0;
        if (!known) {
            escape_printf(stderr,
                          "tally check: '%s' has a limit of '%s', which is not "
                          "counted; -e %s or events = [\"%s\"] counts it\n",
                          b->settings->name, name, name, name);
            return EXIT_USAGE;
        }
    }
    return 0;
}

/* Adds the events of -e to those of each benchmark. 0 or a status. */
static int
add_events(struct checking *c)
{
    for (size_t i = 0; c->request.events != NULL && i < c->settings.count;
         i++) {
        struct check_benchmark *const b = &c->settings.benchmarks[i];
        char *const words = strdup(c->request.events), *rest = NULL;
        size_t count = 0;
        if (words == NULL)
            return command_no_memory();
        while (b->events != NULL && b->events[count] != NULL)
            count++;
        for (char *word = strtok_r(words, ",", &rest); word != NULL;
             word = strtok_r(NULL, ",", &rest)) {
            char **const more = realloc(b->events, (count + 2) * sizeof(*more));
            char *const copy = strdup(word);
            if (more != NULL)
                b->events = more;
            if (more == NULL || copy == NULL) {
                free(copy);
                free(words);
                return command_no_memory();
            }
            more[count++] = copy;
            more[count] = NULL;
        }
        free(words);
    }
    return 0;
}

/* Makes the benches with their runs. 0 or a status. */
static int
plan_runs(struct checking *c)
{
    int status = add_events(c);

    c->benches = calloc(c->settings.count + 1, sizeof(*c->benches));
    if (status != 0 || c->benches == NULL)
        return status != 0 ? status : command_no_memory();
    for (size_t i = 0; i < c->settings.count; i++) {
        struct check_benchmark *const s = &c->settings.benchmarks[i];
        struct bench *const b = &c->benches[c->bench_count++];
        b->settings = s;
        b->program = (struct check_program){
            .argv = s->command,
            .directory = s->directory,
            .input = s->input,
            .variables = s->variables,
        };
        status = choose_machine(b);
        if (status == 0)
            status = check_limits(b);
        if (status != 0)
            return status;
        b->run_count = s->layouts + 1u;
        c->run_count += b->run_count;
    }
    c->runs = calloc(c->run_count + 1, sizeof(*c->runs));
    if (c->runs == NULL)
        return command_no_memory();
    struct check_run *next = c->runs;
    for (size_t i = 0; i < c->bench_count; i++) {
        struct bench *const b = &c->benches[i];
        b->runs = next;
        for (size_t k = 0; k < b->run_count; k++, next++) {
            *next = (struct check_run){
                .program = &b->program,
                .layout = k < b->settings->layouts ? (unsigned)k + 1 : 1,
                .record = -1,
                .out = -1,
                .err = -1,
            };
        }
    }
    return 0;
}

/* Running */

static void
show_progress(void *user, const struct check_run *run)
{
    struct checking *const c = user;

    (void)run;
    c->runs_done++;
    if (c->request.quiet || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\rtally check: %zu of %zu runs%s", c->runs_done,
            c->run_count, c->runs_done == c->run_count ? "\r\033[K" : "");
    fflush(stderr);
}

/* Judging */

__attribute__((format(printf, 3, 4))) static void
set_reason(struct check_result *r, enum check_status status, const char *format,
           ...)
{
    va_list arguments;

    r->status = status;
    free(r->reason);
    va_start(arguments, format);
    if (vasprintf(&r->reason, format, arguments) < 0)
        r->reason = NULL;
    va_end(arguments);
    /* One line, whatever a program has said. */
    for (char *at = r->reason; at != NULL && *at != '\0'; at++) {
        if (*at == '\n' || *at == '\r' || *at == '\t')
            *at = ' ';
    }
}

/* Returns whether all runs of a benchmark are of use; else sets why not, and
 * *failure where tally failed, or the benchmark is asked for wrongly. */
static bool
all_ran(const struct bench *b, struct check_result *r, int *failure)
{
    const unsigned layouts = b->settings->layouts;

    for (size_t i = 0; i < b->run_count; i++) {
        const struct check_run *const run = &b->runs[i];
        r->seconds += run->seconds;
        if (run->status == EXIT_OURS ||
            (run->status == EXIT_USAGE && *failure == 0))
            *failure = run->status;
        if (r->reason == NULL && run->status != 0)
            set_reason(r, CHECK_FAILED, "%s",
                       run->reason != NULL ? run->reason : "no memory");
    }
    for (size_t i = 1; r->reason == NULL && i < b->run_count; i++) {
        if (!b->settings->any_output &&
            strcmp(b->runs[i].output, b->runs[0].output) != 0)
            set_reason(r, CHECK_FAILED,
                       "prints %s in layout %u, and %s in layout 1; "
                       "output = \"any\" in " SETTINGS " allows that",
                       b->runs[i].output, b->runs[i].layout, b->runs[0].output);
    }
    size_t event = 0;
    const struct check_sample *const first = &b->runs[0].sample;
    const struct check_sample *const again = &b->runs[layouts].sample;
    const char *const differs =
        r->reason == NULL ? check_difference(first, again, b->measures, &event)
                          : NULL;
    if (differs != NULL)
        set_reason(r, CHECK_VARIES,
                   "counts %llu and %llu %s in two runs of one layout: %s",
                   (unsigned long long)first->counts[event],
                   (unsigned long long)again->counts[event], differs,
                   first->varies != NULL
                       ? first->varies
                       : "does it look at the time, at its process number, at "
                         "a file that it changes, or at what others do?");
    return r->reason == NULL;
}

/* Says why there is nothing to compare a benchmark with. */
static void
say_no_baseline(const struct checking *c, struct check_result *r)
{
    const char *const other = check_baseline_other(&c->baseline, r->benchmark);

    if (c->baseline.missing)
        set_reason(r, CHECK_NO_BASELINE, "there is no %s; --update writes it",
                   c->baseline_path);
    else if (other != NULL)
        set_reason(r, CHECK_NO_BASELINE,
                   "%s has it on '%s', not on '%s'; --update adds that",
                   c->baseline_path, other, r->key);
    else
        set_reason(r, CHECK_NO_BASELINE, "%s lacks it; --update adds it",
                   c->baseline_path);
}

/* Judges a benchmark that ran, and with --update puts its counts into the
 * baseline. Returns 0 or TALLY_ENOMEM. */
static int
judge_runs(struct checking *c, const struct bench *b, struct check_result *r)
{
    const unsigned layouts = b->settings->layouts;
    struct check_sample *const samples = calloc(layouts, sizeof(*samples));
    struct check_entry now = {0}, before = {0};
    int error = samples != NULL ? 0 : TALLY_ENOMEM;

    for (unsigned i = 0; error == 0 && i < layouts; i++)
        samples[i] = b->runs[i].sample;
    if (error == 0) {
        r->key = check_key(b->program.machine, samples[0].isa, samples[0].cpu,
                           b->geometry);
        error = r->key == NULL ? TALLY_ENOMEM : 0;
    }
    if (error == 0)
        error = check_sum_up(samples, layouts, b->measures,
                             b->settings->any_output ? "" : b->runs[0].output,
                             &now);
    if (error == 0) {
        const int found =
            check_baseline_find(&c->baseline, r->benchmark, r->key, &before);
        if (found == TALLY_ENOMEM)
            error = found;
        else
            error =
                check_compare(&now, found == 0 ? &before : NULL,
                              b->settings->limits, b->settings->limit_count, r);
        if (error == 0 && found != 0)
            say_no_baseline(c, r);
        else if (error == 0 && r->status == CHECK_NO_BASELINE)
            set_reason(r, CHECK_NO_BASELINE,
                       "%s lacks a measure that has a limit; --update adds it",
                       c->baseline_path);
    }
    if (error == 0 && c->request.update)
        error = check_baseline_put(&c->counted, r->benchmark, r->key, &now);
    check_entry_finish(&now);
    check_entry_finish(&before);
    free(samples);
    return error;
}

static int
judge(struct checking *c)
{
    struct check_report *const report = &c->report;
    int error = 0;

    report->results = calloc(c->bench_count + 1, sizeof(*report->results));
    report->version = strdup(TALLY_VERSION);
    report->baseline = strdup(c->baseline_path);
    report->settings =
        c->settings.path != NULL ? strdup(c->settings.path) : NULL;
    if (report->results == NULL || report->version == NULL ||
        report->baseline == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; error == 0 && i < c->bench_count; i++) {
        struct check_result *const r = &report->results[report->result_count++];
        r->benchmark = check_text(c->benches[i].settings->name);
        r->machine = strdup(c->benches[i].program.machine);
        r->layouts = c->benches[i].settings->layouts;
        if (r->benchmark == NULL || r->machine == NULL)
            error = TALLY_ENOMEM;
        else if (all_ran(&c->benches[i], r, &c->failure))
            error = judge_runs(c, &c->benches[i], r);
        if (c->request.strict && r->status == CHECK_WARNED)
            r->status = CHECK_ROSE;
    }
    return error;
}

/* Writing */

/* What was counted is the baseline now: nothing rose, and nothing lacks. */
static void
accept(struct check_report *report)
{
    report->updated = true;
    for (size_t i = 0; i < report->result_count; i++) {
        report->results[i].status = CHECK_PASSED;
        free(report->results[i].reason);
        report->results[i].reason = NULL;
    }
}

/* Locks the folder of a file against another tally check that updates there.
 * Returns a descriptor whose end lets go, or -1: there is no lock. */
static int
lock_folder(const char *path)
{
    char *const copy = strdup(path);
    const int fd = copy != NULL
                       ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                       : -1;

    free(copy);
    if (fd >= 0)
        flock(fd, LOCK_EX);
    return fd;
}

/* Puts what was counted into the baseline as it is now, which another tally
 * check may have written while this one ran. 0 or a status. */
static int
read_again(struct checking *c)
{
    struct check_baseline now;
    int status = 0;

    if (check_baseline_read(c->baseline_path, &command_log, &now) != 0)
        status = EXIT_USAGE;
    else if (check_baseline_merge(&now, &c->counted) != 0)
        status = command_no_memory();
    if (status != 0) {
        check_baseline_finish(&now);
        return status;
    }
    check_baseline_finish(&c->baseline);
    c->baseline = now;
    return 0;
}

/* Writes the baseline anew, unless a benchmark was of no use. 0 or a status. */
static int
update(struct checking *c)
{
    struct output out;

    if (check_count(&c->report, CHECK_FAILED) +
            check_count(&c->report, CHECK_VARIES) !=
        0) {
        escape_printf(stderr,
                      "tally check: %s is left as it is, as not all benchmarks "
                      "ran as they should\n",
                      c->baseline_path);
        return 0;
    }
    const int lock = lock_folder(c->baseline_path);
    int status = read_again(c);
    if (status == 0)
        status = output_open(c->baseline_path, REPLACE_WHOLE, &out);
    if (status != 0) {
        close(lock);
        return status;
    }
    const int error =
        output_end(&out, check_baseline_write(&c->baseline, out.file));
    close(lock);
    if (error == 0)
        accept(&c->report);
    return error == 0              ? 0
           : error == TALLY_ENOMEM ? command_no_memory()
                                   : output_unwritten(c->baseline_path);
}

static int
write_form(const struct checking *c, FILE *out)
{
    const struct check_report *const report = &c->report;

    switch ((enum check_form)c->request.form) {
    case FORM_MARKDOWN:
        return check_write_markdown(report, out);
    case FORM_JUNIT:
        return check_write_junit(report, out);
    case FORM_JSON:
        return check_write_json(report, out);
    case FORM_ACTION:
        return check_write_action(report, out);
    case FORM_BENCHER:
        return check_write_bencher(report, out);
    default:
        return check_write_text(report,
                                c->request.output == NULL &&
                                    command_color(c->request.color, stdout) > 0,
                                out);
    }
}

static int
write_report(const struct checking *c)
{
    struct output out;
    const int status =
        output_open(c->request.output != NULL ? c->request.output : "-",
                    REPLACE_WHOLE, &out);

    if (status != 0)
        return status;
    const int error = output_end(&out, write_form(c, out.file));
    return error == 0                  ? 0
           : error == TALLY_ENOMEM     ? command_no_memory()
           : c->request.output != NULL ? output_unwritten(c->request.output)
                                       : command_unwritten("report");
}

/* The status of the worst benchmark. */
static int
status_of(const struct checking *c)
{
    const struct check_report *const r = &c->report;

    if (check_count(r, CHECK_FAILED) > 0)
        return c->failure != 0 ? c->failure : STATUS_FAILED;
    if (check_count(r, CHECK_VARIES) > 0)
        return STATUS_VARIES;
    if (check_count(r, CHECK_ROSE) > 0)
        return STATUS_ROSE;
    return check_count(r, CHECK_NO_BASELINE) > 0 ? STATUS_NO_BASELINE : 0;
}

/* Returns the path of the baseline, for the caller to free; NULL: no memory. */
static char *
baseline_path(const struct check_request *r)
{
    const char *const file = r->file != NULL ? r->file : SETTINGS;
    const char *const slash = r->program == NULL ? strrchr(file, '/') : NULL;
    char *path = NULL;

    if (r->baseline != NULL)
        return strdup(r->baseline);
    return asprintf(&path, "%.*s" BASELINE,
                    slash != NULL ? (int)(slash - file) + 1 : 0, file) < 0
               ? NULL
               : path;
}

/* Refuses a file in a folder that is not there or cannot be written. 0 or a
 * status. */
static int
check_place(const char *path)
{
    char *const copy = strdup(path);
    int status = 0;

    if (copy == NULL)
        return command_no_memory();
    if (access(path, F_OK) != 0 && access(dirname(copy), W_OK | X_OK) != 0)
        status = output_refused(path);
    free(copy);
    return status;
}

/* Refuses a report that would replace what is read. 0 or a status. */
static int
check_output(const struct checking *c)
{
    const char *const output = c->request.output;
    const char *const settings =
        c->request.file != NULL ? c->request.file : SETTINGS;

    if (output == NULL || strcmp(output, "-") == 0 ||
        (!same_file(output, c->baseline_path) &&
         (c->request.program != NULL ? !same_file(output, c->request.program[0])
                                     : !same_file(output, settings))))
        return 0;
    escape_printf(
        stderr, "tally check: -o %s would replace a file that is read or run\n",
        output);
    return EXIT_USAGE;
}

static int
check(struct checking *c)
{
    int status = check_output(c);

    if (status == 0 && c->request.output != NULL &&
        strcmp(c->request.output, "-") != 0)
        status = check_place(c->request.output);
    if (status == 0 && c->request.update)
        status = check_place(c->baseline_path);

    if (status == 0 &&
        check_baseline_read(c->baseline_path, &command_log, &c->baseline) != 0)
        status = c->request.update ? EXIT_USAGE : STATUS_NO_BASELINE;
    if (status == 0 && check_baseline_begin(&c->counted) != 0)
        status = command_no_memory();
    if (status == 0)
        status = choose_benchmarks(c);
    if (status == 0)
        status = plan_runs(c);
    if (status != 0)
        return status;
    const int number =
        check_runs(c->runs, c->run_count, c->request.jobs, show_progress, c);
    if (number != 0) {
        fprintf(stderr,
                "tally check: ended by SIG%s after %zu of %zu runs; nothing is "
                "compared or written\n",
                sigabbrev_np(number), c->runs_done, c->run_count);
        return 128 + number;
    }
    if (judge(c) != 0)
        return command_no_memory();
    if (c->request.update)
        status = update(c);
    if (status == 0)
        status = write_report(c);
    return status != 0 ? status : status_of(c);
}

static void
finish(struct checking *c)
{
    for (size_t i = 0; i < c->run_count && c->runs != NULL; i++)
        check_run_finish(&c->runs[i]);
    for (size_t i = 0; i < c->bench_count; i++) {
        free(c->benches[i].events);
        free(c->benches[i].measures);
    }
    free(c->runs);
    free(c->benches);
    free(c->baseline_path);
    free(c->request.limits);
    free(c->request.events);
    check_report_finish(&c->report);
    check_settings_finish(&c->settings);
    check_baseline_finish(&c->baseline);
    check_baseline_finish(&c->counted);
}

static int
run_check(int argc, char **argv)
{
    struct checking c = {0};
    int status = read_options(&c.request, argc, argv);

    if (status == COMMAND_HELP) {
        command_help(&command_check, stdout);
        return 0;
    }
    /* Where our parent ignored it, the end of a command could not be seen. */
    signal(SIGCHLD, SIG_DFL);
    if (status == 0) {
        c.baseline_path = baseline_path(&c.request);
        status = c.baseline_path != NULL ? check(&c) : command_no_memory();
    }
    finish(&c);
    return status;
}

const struct command command_check = {
    .name = "check",
    .summary = "hold benchmarks to a baseline, and say what rose and where",
    .synopsis = "[OPTIONS] [NAME...] | tally check [OPTIONS] -- PROGRAM "
                "[ARGUMENTS]",
    .example =
        "  # Keep what a program counts now, and compare after a change.\n"
        "  tally check --update -- ./program && tally check -- ./program\n"
        "  # The benchmarks of tally.toml, as a comment on a change.\n"
        "  tally check --format markdown -o comment.md",
    .options = options,
    .run = run_check,
};
