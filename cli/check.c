/* SPDX-License-Identifier: MIT */
/* tally check: runs benchmarks in several layouts of memory and holds their
 * counts to a baseline. */
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "check/history.h"
#include "check/report.h"
#include "cli/check_judge.h"
#include "cli/check_plan.h"
#include "cli/command.h"
#include "cli/output.h"

#define BASELINE "tally-baseline.json"
#define JOBS_MOST 256u

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
    OPT_HISTORY,
    OPT_HTML,
    OPT_COLOR,
    OPT_QUIET,
};

static const struct option_row options[] = {
    [OPT_FILE] = {'f', "file", "FILE",
                  "the benchmarks (default: " CHECK_SETTINGS_FILE ")"},
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
    [OPT_HISTORY] = {0, "history", "DIR",
                     "count nothing, and say what moved in a folder of reports "
                     "of --format json"},
    [OPT_HTML] = {0, "html", "FILE",
                  "with --history: write a page with curves"},
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

struct check_request {
    struct check_choice choice;
    char *events;                     /* of the choice, owned */
    struct check_asked_limit *limits; /* of the choice, owned */
    const char *baseline, *output, *history, *html, *color;
    unsigned jobs;
    int form;
    bool update, strict, quiet;
};

struct checking {
    struct check_request request;
    struct check_plan plan;
    struct check_baseline baseline;
    struct check_baseline counted; /* entries for --update */
    char *baseline_path;
    size_t runs_done;
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
    struct check_asked_limit *const more =
        realloc(r->limits, (r->choice.limit_count + 1) * sizeof(*more));
    if (more == NULL)
        return command_no_memory();
    r->limits = more;
    more[r->choice.limit_count++] = (struct check_asked_limit){text, hard};
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
        r->choice.file = value;
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
                           "--layouts takes 1 to 64, not ", &r->choice.layouts);
    case OPT_MACHINE:
        r->choice.machine = value;
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
    case OPT_HISTORY:
        r->history = value;
        return 0;
    case OPT_HTML:
        r->html = value;
        return 0;
    case OPT_COLOR:
        r->color = value;
        return 0;
    default:
        r->quiet = true;
        return 0;
    }
}

/* Refuses what --history has no use for. 0 or a status. */
static int
check_history_options(const struct check_request *r)
{
    const struct check_choice *const c = &r->choice;

    if (r->history == NULL && r->html != NULL) {
        fputs("tally check: --html is the page of --history DIR\n", stderr);
        return EXIT_USAGE;
    }
    if (r->history != NULL &&
        (c->program != NULL || c->pattern_count != 0 || c->file != NULL ||
         c->machine != NULL || c->events != NULL || c->limit_count != 0 ||
         c->layouts != 0 || r->baseline != NULL || r->update || r->strict ||
         r->form != FORM_TEXT)) {
        fputs("tally check: --history counts and compares nothing: it goes "
              "with --html and -o alone\n",
              stderr);
        return EXIT_USAGE;
    }
    return 0;
}

/* Returns 0, a status, or COMMAND_HELP. */
static int
read_options(struct check_request *r, int argc, char **argv)
{
    struct option_walk walk = command_walk(&command_check, argc, argv);
    const char *value;
    int status = 0;

    r->choice.patterns = argv;
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
            r->choice.program = argv + walk.next;
            break;
        } else {
            /* These places of argv have been read. */
            r->choice.patterns[r->choice.pattern_count++] = argv[walk.next++];
        }
    }
    r->choice.events = r->events;
    r->choice.limits = r->limits;
    if (status == 0 && r->choice.program != NULL &&
        (r->choice.file != NULL || r->choice.pattern_count != 0)) {
        fputs("tally check: a program after -- is checked alone; leave -f and "
              "names of benchmarks away\n",
              stderr);
        return EXIT_USAGE;
    }
    if (status == 0)
        status = check_history_options(r);
    if (status == 0 && command_color(r->color, stdout) < 0)
        return refuse("--color takes auto, always or never, not ", r->color);
    return status;
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
            c->plan.run_count,
            c->runs_done == c->plan.run_count ? "\r\033[K" : "");
    fflush(stderr);
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

/* Calls `write` with `user` and a stream, and puts what it has written in the
 * place of the file `path`; NULL: of standard output. 0 or a status. */
static int
write_to(const char *path, int write(const void *user, FILE *out),
         const void *user)
{
    struct output out;
    const int status =
        output_open(path != NULL ? path : "-", REPLACE_WHOLE, &out);

    if (status != 0)
        return status;
    const int error = output_end(&out, write(user, out.file));
    return error == 0              ? 0
           : error == TALLY_ENOMEM ? command_no_memory()
           : path != NULL          ? output_unwritten(path)
                                   : command_unwritten("report");
}

static int
write_baseline(const void *baseline, FILE *out)
{
    return check_baseline_write(baseline, out);
}

/* Writes the baseline anew, unless a benchmark was of no use. 0 or a status. */
static int
update(struct checking *c)
{
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
        status = write_to(c->baseline_path, write_baseline, &c->baseline);
    close(lock);
    if (status == 0)
        accept(&c->report);
    return status;
}

static int
write_form(const void *user, FILE *out)
{
    const struct checking *const c = user;
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

/* The status of the worst benchmark. */
static int
status_of(const struct checking *c)
{
    const struct check_report *const r = &c->report;

    if (check_count(r, CHECK_FAILED) > 0)
        return c->failure != 0 ? c->failure : CHECK_EXIT_FAILED;
    if (check_count(r, CHECK_VARIES) > 0)
        return CHECK_EXIT_VARIES;
    if (check_count(r, CHECK_ROSE) > 0)
        return CHECK_EXIT_ROSE;
    return check_count(r, CHECK_NO_BASELINE) > 0 ? CHECK_EXIT_NO_BASELINE : 0;
}

/* Returns the path of the baseline, for the caller to free; NULL: no memory. */
static char *
baseline_path(const struct check_request *r)
{
    const char *const file =
        r->choice.file != NULL ? r->choice.file : CHECK_SETTINGS_FILE;
    const char *const slash =
        r->choice.program == NULL ? strrchr(file, '/') : NULL;
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

/* Refuses a report that would replace what is read or run. 0 or a status. */
static int
check_output(const struct checking *c)
{
    const struct check_choice *const choice = &c->request.choice;
    const char *const output = c->request.output;
    const char *const settings =
        choice->file != NULL ? choice->file : CHECK_SETTINGS_FILE;

    if (output == NULL || strcmp(output, "-") == 0)
        return 0;
    if (same_file(output, c->baseline_path) ||
        (choice->program == NULL && same_file(output, settings))) {
        escape_printf(stderr,
                      "tally check: -o %s would replace a file that is read\n",
                      output);
        return EXIT_USAGE;
    }
    return choice->program != NULL
               ? output_spares_program("check", "-o", output,
                                       choice->program[0])
               : 0;
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
        status = c->request.update ? EXIT_USAGE : CHECK_EXIT_NO_BASELINE;
    if (status == 0 && check_baseline_begin(&c->counted) != 0)
        status = command_no_memory();
    if (status == 0)
        status = check_plan_make(&c->request.choice, &c->plan);
    if (status != 0)
        return status;
    const int number = check_runs(c->plan.runs, c->plan.run_count,
                                  c->request.jobs, show_progress, c);
    if (number != 0) {
        fprintf(stderr,
                "tally check: ended by SIG%s after %zu of %zu runs; nothing is "
                "compared or written\n",
                sigabbrev_np(number), c->runs_done, c->plan.run_count);
        return 128 + number;
    }
    const struct check_standard standard = {
        .baseline = &c->baseline,
        .path = c->baseline_path,
        .strict = c->request.strict,
    };
    if (check_judge(&c->plan, &standard, c->request.update ? &c->counted : NULL,
                    &c->report, &c->failure) != 0)
        return command_no_memory();
    if (c->request.update)
        status = update(c);
    if (status == 0)
        status = write_to(c->request.output, write_form, c);
    return status != 0 ? status : status_of(c);
}

/* What --history shows */

static int
write_history_text(const void *history, FILE *out)
{
    return check_history_text(history, out);
}

static int
write_history_page(const void *history, FILE *out)
{
    return check_history_page(history, out);
}

/* Refuses to write over a report of the folder. 0 or a status. */
static int
spare_reports(const char *folder, const char *option, const char *path)
{
    const size_t length = path != NULL ? strlen(path) : 0;
    char *at = NULL;

    if (length < 5 || strcmp(path + length - 5, ".json") != 0)
        return 0;
    if (asprintf(&at, "%s/%s", folder, path_base(path)) < 0)
        return command_no_memory();
    const bool replaces = same_file(at, path);
    free(at);
    if (replaces)
        escape_printf(stderr,
                      "tally check: %s %s would be a report of the folder %s\n",
                      option, path, folder);
    return replaces ? EXIT_USAGE : 0;
}

/* Checks what --history is to write. 0 or a status. */
static int
check_history_outputs(const struct check_request *r)
{
    int status = spare_reports(r->history, "--html", r->html);

    if (status == 0)
        status = spare_reports(r->history, "-o", r->output);
    if (status == 0 && r->html != NULL && r->output != NULL &&
        same_file(r->html, r->output)) {
        escape_printf(stderr,
                      "tally check: --html and -o are both to write %s\n",
                      r->html);
        status = EXIT_USAGE;
    }
    return status;
}

static int
show_history(const struct check_request *r)
{
    struct check_history history;
    const int error = check_history_read(r->history, &command_log, &history);
    int status = error == 0              ? 0
                 : error == TALLY_ENOMEM ? EXIT_OURS
                                         : EXIT_USAGE;

    if (status == 0 && r->html != NULL)
        status = write_to(r->html, write_history_page, &history);
    if (status == 0 && (r->html == NULL || r->output != NULL))
        status = write_to(r->output, write_history_text, &history);
    check_history_finish(&history);
    return status;
}

static void
finish(struct checking *c)
{
    free(c->baseline_path);
    free(c->request.limits);
    free(c->request.events);
    check_report_finish(&c->report);
    check_plan_finish(&c->plan);
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
    if (status == 0 && c.request.history != NULL) {
        status = check_history_outputs(&c.request);
        if (status == 0)
            status = show_history(&c.request);
    } else if (status == 0) {
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
                "[ARGUMENTS] | tally check --history DIR",
    .example =
        "  # Keep what a program counts now, and compare after a change.\n"
        "  tally check --update -- ./program && tally check -- ./program\n"
        "  # The benchmarks of tally.toml, as a comment on a change.\n"
        "  tally check --format markdown -o comment.md\n"
        "  # What moved in a folder of reports of --format json.\n"
        "  tally check --history reports",
    .options = options,
    .run = run_check,
};
