/* SPDX-License-Identifier: MIT */
#include "cli/check_plan.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/scratch.h"
#include "profile/machine_choice.h"
#include "record/crc32c.h"
#include "table/signals.h"
#include "table/table.h"

/* Instructions, the cost, loads and stores. */
#define EVENTS_FIXED 4u

/* Which benchmarks */

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
is_wanted(const struct check_choice *r, const struct check_benchmark *b)
{
    for (size_t i = 0; i < r->pattern_count; i++) {
        if (is_meant(r->patterns[i], b))
            return true;
    }
    return r->pattern_count == 0;
}

/* Refuses a pattern that no benchmark has. 0 or a status. */
static int
check_patterns(const struct check_plan *p)
{
    for (size_t i = 0; i < p->choice->pattern_count; i++) {
        bool found = false;
        for (size_t k = 0; k < p->settings.count; k++)
            found |=
                is_meant(p->choice->patterns[i], &p->settings.benchmarks[k]);
        if (!found) {
            escape_printf(stderr,
                          "tally check: %s has no benchmark '%s'; without a "
                          "name all are checked\n",
                          p->settings.path, p->choice->patterns[i]);
            return EXIT_USAGE;
        }
    }
    return 0;
}

/* Removes the benchmarks that were not asked for. 0 or a status. */
static int
keep_wanted(struct check_plan *p)
{
    struct check_settings *const s = &p->settings;
    struct check_settings gone = {0};
    const int status = check_patterns(p);
    size_t kept = 0;

    if (status != 0)
        return status;
    gone.benchmarks = calloc(s->count + 1, sizeof(*gone.benchmarks));
    if (gone.benchmarks == NULL)
        return command_no_memory();
    for (size_t i = 0; i < s->count; i++) {
        if (is_wanted(p->choice, &s->benchmarks[i]))
            s->benchmarks[kept++] = s->benchmarks[i];
        else
            gone.benchmarks[gone.count++] = s->benchmarks[i];
    }
    s->count = kept;
    check_settings_finish(&gone);
    return 0;
}

/* Says why a benchmark cannot be run. 0 or a status. */
__attribute__((format(printf, 2, 3))) static int
set_unready(struct check_benchmark *b, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int length = vasprintf(&b->unready, format, arguments);
    va_end(arguments);
    if (length >= 0)
        return 0;
    b->unready = NULL;
    return command_no_memory();
}

/* Keeps the last line that is logged as the reason why a benchmark cannot be
 * run: `user` is the struct check_benchmark. */
static void
keep_line(void *user, enum tally_level level, const char *text)
{
    struct check_benchmark *const b = user;

    (void)level;
    free(b->unready);
    b->unready = strdup(text);
}

/* Runs the command that lists the names of a suite, and puts its benchmarks in
 * its place. Returns 0 or a status. */
static int
expand_suite(struct check_plan *p, size_t suite)
{
    struct check_benchmark *const b = &p->settings.benchmarks[suite];
    const int fd = scratch_open();
    char *reason = NULL, *text = malloc(CHECK_LIST_MOST);
    int status = 0;

    if (fd < 0 || text == NULL) {
        escape_printf(stderr,
                      "tally check: cannot list the names of '%s': %s\n",
                      b->name, strerror(errno));
        status = EXIT_OURS;
    } else if (check_command(b->names, b->directory, fd, &reason) != 0) {
        status = set_unready(b, "cannot list its names: %s",
                             reason != NULL ? reason : "no memory");
    } else {
        const ssize_t size = pread(fd, text, CHECK_LIST_MOST, 0);
        /* The array of the benchmarks may move. */
        struct check_benchmark heard = {0};
        const struct tally_log log = {keep_line, &heard};
        if (size < 0 || size == CHECK_LIST_MOST)
            status = set_unready(b, "cannot list its names: %s",
                                 size < 0 ? strerror(errno)
                                          : "they are 1 MiB or more");
        else if (check_settings_expand(&p->settings, suite, text, (size_t)size,
                                       &log) != 0)
            p->settings.benchmarks[suite].unready = heard.unready;
    }
    if (fd >= 0)
        close(fd);
    free(reason);
    free(text);
    return status;
}

/* Makes what is needed before the benchmarks run. Returns 0 or a status. */
static int
set_up(struct check_plan *p)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < p->settings.count; i++) {
        struct check_benchmark *const b = &p->settings.benchmarks[i];
        char *reason = NULL;
        if (b->setup != NULL &&
            check_command(b->setup, b->directory, -1, &reason) != 0)
            status = set_unready(b, "its setup failed: %s",
                                 reason != NULL ? reason : "no memory");
        free(reason);
    }
    for (size_t i = p->settings.count; status == 0 && i-- > 0;) {
        const struct check_benchmark *const b = &p->settings.benchmarks[i];
        if (b->names != NULL && b->unready == NULL)
            status = expand_suite(p, i);
    }
    return status != 0 ? status : keep_wanted(p);
}

static int
compare_benchmarks(const void *x, const void *y)
{
    const struct check_benchmark *const a = x, *const b = y;

    return strcmp(a->name, b->name);
}

/* Puts a limit of the command line in the place of the settings'. */
static int
override_limit(struct check_benchmark *b, const struct check_asked_limit *asked)
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

/* Adds the events of the option -e to a benchmark's own. 0 or a status. */
static int
add_events(const struct check_choice *choice, struct check_benchmark *b)
{
    char *const words = strdup(choice->events), *rest = NULL;
    size_t count = 0;
    int status = words != NULL ? 0 : command_no_memory();

    while (b->events != NULL && b->events[count] != NULL)
        count++;
    for (char *word = status == 0 ? strtok_r(words, ",", &rest) : NULL;
         status == 0 && word != NULL; word = strtok_r(NULL, ",", &rest)) {
        char **const more = realloc(b->events, (count + 2) * sizeof(*more));
        if (more != NULL) {
            b->events = more;
            more[count] = strdup(word);
            more[count + 1] = NULL;
        }
        status =
            more != NULL && more[count++] != NULL ? 0 : command_no_memory();
    }
    free(words);
    return status;
}

/* Sets what the command line has in place of the settings. 0 or a status. */
static int
override(const struct check_choice *r, struct check_benchmark *b)
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
    return status == 0 && r->events != NULL ? add_events(r, b) : status;
}

/* Machine and events */

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
add_event(const struct machine_row *machine, struct check_bench *b,
          const char *event, const char *measure)
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
choose_events(struct check_bench *b, const struct machine_row *machine,
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

/* Logs all but warnings. */
static void
log_errors(void *user, enum tally_level level, const char *text)
{
    (void)user;
    if (level != TALLY_LOG_WARNING)
        tally_logf(&command_log, level, "%s", text);
}

/* Chooses the machine of a benchmark. `warned`: what is wrong with this host's
 * values was said of another benchmark. */
static int
choose_machine(struct check_bench *b, bool *warned)
{
    static const struct tally_log errors = {log_errors, NULL};
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
        machine_params(machine, &layout, 1, NULL, params, NULL) == 0;
    if (machine_params(machine, NULL, 0, *warned ? &errors : &command_log,
                       params, NULL) != 0)
        return EXIT_USAGE;
    *warned |= machine->reads_host;
    if (!b->program.has_layouts)
        b->settings->layouts = 1;
    b->program.machine = machine->name;
    b->program.timeout = b->settings->timeout;
    if (machine->reads_host)
        b->geometry = crc32c(0, params, sizeof(params));
    return choose_events(b, machine, params);
}

/* Refuses a limit of what is not counted. 0 or a status. */
static int
check_limits(const struct check_bench *b)
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

/* Chooses the machine and the events of a benchmark, and refuses what is wrong
 * with them. 0 or a status. */
static int
plan_bench(struct check_benchmark *settings, struct check_bench *b,
           bool *warned)
{
    *b = (struct check_bench){
        .settings = settings,
        .program =
            {
                .argv = settings->command,
                .directory = settings->directory,
                .input = settings->input,
                .variables = settings->variables,
            },
    };
    const int status = choose_machine(b, warned);
    return status != 0 ? status : check_limits(b);
}

static void
finish_bench(struct check_bench *b)
{
    free(b->events);
    free(b->measures);
}

/* Reads the benchmarks, leaves those that were asked for, and refuses what is
 * wrong with them before anything runs. 0 or a status. */
static int
choose_benchmarks(struct check_plan *p)
{
    const struct check_choice *const choice = p->choice;
    const int error =
        choice->program != NULL
            ? check_settings_program(choice->program, &command_log,
                                     &p->settings)
            : check_settings_read(choice->file != NULL ? choice->file
                                                       : CHECK_SETTINGS_FILE,
                                  &command_log, &p->settings);

    if (error != 0)
        return error == TALLY_ENOMEM ? EXIT_OURS : EXIT_USAGE;
    int status = keep_wanted(p);
    for (size_t i = 0; status == 0 && i < p->settings.count; i++)
        status = override(choice, &p->settings.benchmarks[i]);
    for (size_t i = 0; status == 0 && i < p->settings.count; i++) {
        struct check_bench b;
        status = plan_bench(&p->settings.benchmarks[i], &b, &p->warned);
        finish_bench(&b);
    }
    return status;
}

/* Makes the benches with their runs. 0 or a status. */
static int
plan_runs(struct check_plan *p)
{
    p->benches = calloc(p->settings.count + 1, sizeof(*p->benches));
    if (p->benches == NULL)
        return command_no_memory();
    for (size_t i = 0; i < p->settings.count; i++) {
        struct check_bench *const b = &p->benches[p->bench_count++];
        const int status =
            plan_bench(&p->settings.benchmarks[i], b, &p->warned);
        if (status != 0)
            return status;
        if (b->settings->unready == NULL)
            b->run_count = b->settings->layouts + 1u;
        p->run_count += b->run_count;
    }
    p->runs = calloc(p->run_count + 1, sizeof(*p->runs));
    if (p->runs == NULL)
        return command_no_memory();
    struct check_run *next = p->runs;
    for (size_t i = 0; i < p->bench_count; i++) {
        struct check_bench *const b = &p->benches[i];
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

int
check_plan_make(const struct check_choice *choice, struct check_plan *p)
{
    p->choice = choice;
    int status = choose_benchmarks(p);
    if (status == 0)
        status = set_up(p);
    if (status != 0)
        return status;
    qsort(p->settings.benchmarks, p->settings.count,
          sizeof(*p->settings.benchmarks), compare_benchmarks);
    return plan_runs(p);
}

void
check_plan_finish(struct check_plan *p)
{
    for (size_t i = 0; i < p->run_count && p->runs != NULL; i++)
        check_run_finish(&p->runs[i]);
    for (size_t i = 0; i < p->bench_count; i++)
        finish_bench(&p->benches[i]);
    free(p->runs);
    free(p->benches);
    check_settings_finish(&p->settings);
}
