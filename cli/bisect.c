/* SPDX-License-Identifier: MIT */
/* tally bisect: finds the commit at which a measure of a program rose, by git
 * bisect and tally check. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "check/compare.h"
#include "check/settings.h"
#include "cli/check_run.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/scratch.h"
#include "cli/words.h"

#define COMMIT 128 /* bytes of a commit's number */
/* A limit that nothing breaks, per cent. */
#define NO_LIMIT "1000000"
/* Commits were skipped, and any of several can be the one. */
#define STATUS_UNCLEAR 1

enum {
    OPT_BUILD,
    OPT_EVENT,
    OPT_LIMIT,
    OPT_MACHINE,
    OPT_LAYOUTS,
    OPT_JOBS,
};

static const struct option_row options[] = {
    [OPT_BUILD] = {0, "build", "COMMAND",
                   "builds the program at a commit, by sh -c; where it fails "
                   "the commit is skipped"},
    [OPT_EVENT] = {'e', "event", "EVENT",
                   "what rose: instructions (default), cost, or an event"},
    [OPT_LIMIT] = {0, "limit", "PERCENT",
                   "a commit is bad from this rise on (default: half of the "
                   "rise from GOOD to BAD)"},
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine to count on (default: ci-1)"},
    [OPT_LAYOUTS] = {0, "layouts", "K",
                     "run in so many layouts of memory (default 9)"},
    [OPT_JOBS] = {'j', "jobs", "N",
                  "runs at the same time (default: one a processor)"},
    {0},
};

struct bisecting {
    const char *build, *event, *limit, *machine, *layouts, *jobs;
    char *good, *bad;        /* in argv */
    char **program;          /* in argv, ends with NULL */
    char commits[2][COMMIT]; /* numbers of GOOD and BAD */
    char folder[4096];       /* of the baseline, "" before it is made */
    char *baseline;          /* its path, owned */
    char *self;              /* path of tally, owned */
    double limit_used;       /* per cent */
};

/* The signal that asked for an end, or 0. */
static volatile sig_atomic_t asked;

static void
ask_for_end(int number)
{
    asked = number;
}

/* The command line */

static int
refuse(const char *text, const char *value)
{
    escape_printf(stderr, "tally bisect: %s'%s'; see tally bisect --help\n",
                  text, value);
    return EXIT_USAGE;
}

static int
take_option(struct bisecting *b, int option, const char *value)
{
    const char **const places[] = {
        [OPT_BUILD] = &b->build,     [OPT_EVENT] = &b->event,
        [OPT_LIMIT] = &b->limit,     [OPT_MACHINE] = &b->machine,
        [OPT_LAYOUTS] = &b->layouts, [OPT_JOBS] = &b->jobs,
    };
    char *end;

    *places[option] = value;
    if (option == OPT_LIMIT && (*value < '0' || *value > '9' ||
                                strtod(value, &end) > 1e6 || *end != '\0'))
        return refuse("--limit takes per cent from 0 on, not ", value);
    if (option == OPT_LAYOUTS &&
        (*value < '1' || *value > '9' ||
         strtoul(value, &end, 10) > CHECK_LAYOUTS_MOST || *end != '\0'))
        return refuse("--layouts takes a number from 1 to 64, not ", value);
    if (option == OPT_EVENT && strchr(value, ',') != NULL)
        return refuse("--event takes one event, not ", value);
    /* Reports of tally check have the event cycles under the name cost. */
    if (option == OPT_EVENT && strcmp(value, "cycles") == 0)
        b->event = CHECK_COST;
    return 0;
}

/* Returns 0, a status, or COMMAND_HELP. */
static int
read_options(struct bisecting *b, int argc, char **argv)
{
    struct option_walk walk = command_walk(&command_bisect, argc, argv);
    const char *value;
    int status = 0;

    b->event = "instructions";
    while (status == 0 && b->program == NULL) {
        const int found = command_option(&walk, &value);
        if (found == COMMAND_HELP)
            return COMMAND_HELP;
        if (found == COMMAND_BAD)
            return EXIT_USAGE;
        if (found >= 0)
            status = take_option(b, found, value);
        else if (walk.next >= argc)
            break;
        else if (strcmp(argv[walk.next - 1], "--") == 0)
            b->program = argv + walk.next;
        else if (b->good == NULL)
            b->good = argv[walk.next++];
        else if (b->bad == NULL)
            b->bad = argv[walk.next++];
        else
            return refuse("one commit is good and one is bad, not ",
                          argv[walk.next]);
    }
    if (status == 0 && (b->bad == NULL || b->program == NULL)) {
        fputs(
            "tally bisect: it takes a good commit, a bad one, and -- PROGRAM; "
            "see tally bisect --help\n",
            stderr);
        return EXIT_USAGE;
    }
    return status;
}

/* Commands */

/* Runs a command, with its standard output into an open file, or -1: nowhere;
 * and its standard error into another. A signal that asks tally to end goes on
 * to the command. Returns the command's exit status; 125 where it did not run
 * or was killed. */
static int
run(char *const *argv, int out, int err)
{
    int status = 0;
    const pid_t pid = fork();

    if (pid == 0) {
        const int to = out >= 0 ? out : open("/dev/null", O_WRONLY);
        /* Of its own, so that all of it can be ended. */
        setpgid(0, 0);
        if (to < 0 || dup2(to, STDOUT_FILENO) < 0 ||
            dup2(err, STDERR_FILENO) < 0)
            _exit(EXIT_OURS);
        execvp(argv[0], argv);
        escape_printf(stderr, "tally bisect: cannot run %s: %s\n", argv[0],
                      strerror(errno));
        _exit(EXIT_OURS);
    }
    if (pid > 0)
        setpgid(pid, pid);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        if (asked != 0)
            kill(-pid, asked);
    }
    return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_OURS;
}

#define RUN(out, ...) \
    run((char *const[]){__VA_ARGS__, NULL}, out, STDERR_FILENO)

/* Runs words, and lets them go. Returns as run() does. */
static int
run_words(struct words *w, int out, int err)
{
    const int status = w->failed ? command_no_memory() : run(w->word, out, err);

    words_finish(w);
    return status;
}

/* Adds tally check with the options of all its runs, and the program. `limit`:
 * of the measure, per cent; NaN: the baseline is written. */
static void
add_check(const struct bisecting *b, struct words *w, double limit, bool json)
{
    words_add_all(w, (const char *const[]){b->self, "check", "--quiet",
                                           "--baseline", b->baseline, NULL});
    if (b->machine != NULL)
        words_addf(w, "--machine=%s", b->machine);
    if (b->layouts != NULL)
        words_addf(w, "--layouts=%s", b->layouts);
    if (b->jobs != NULL)
        words_addf(w, "--jobs=%s", b->jobs);
    if (strcmp(b->event, CHECK_INSTRUCTIONS) != 0 &&
        strcmp(b->event, CHECK_COST) != 0)
        words_addf(w, "--event=%s", b->event);
    if (json)
        words_add(w, "--format=json");
    if (isnan(limit)) {
        words_add(w, "--update");
    } else {
        words_add(w, "--hard=" CHECK_INSTRUCTIONS "=" NO_LIMIT);
        words_add(w, "--hard=" CHECK_COST "=" NO_LIMIT);
        words_addf(w, "--hard=%s=%.6f", b->event, limit);
    }
    words_add(w, "--");
    words_add_all(w, (const char *const *)b->program);
}

/* Builds what is checked out. Returns whether that worked. */
static bool
build(const struct bisecting *b)
{
    return b->build == NULL || RUN(STDOUT_FILENO, (char *)"sh", (char *)"-c",
                                   (char *)b->build) == 0;
}

/* Commits */

/* Finds the number of a commit, as what a name like HEAD stands for changes on
 * the way. 0 or a status. */
static int
find_commit(const char *name, char *number)
{
    const int fd = scratch_open();
    char *commit = NULL;
    ssize_t n = 0;

    if (fd < 0 || asprintf(&commit, "%s^{commit}", name) < 0)
        return command_no_memory();
    if (RUN(fd, (char *)"git", (char *)"rev-parse", (char *)"--verify",
            (char *)"--quiet", commit) == 0)
        n = pread(fd, number, COMMIT - 1, 0);
    number[n > 0 ? n : 0] = '\0';
    number[strcspn(number, "\n")] = '\0';
    close(fd);
    free(commit);
    if (*number != '\0')
        return 0;
    escape_printf(stderr,
                  "tally bisect: '%s' is no commit of this repository\n", name);
    return EXIT_USAGE;
}

/* Checks that both commits are there and that nothing would be lost. 0 or a
 * status. */
static int
check_repository(struct bisecting *b)
{
    const char *wrong = NULL;

    if (RUN(-1, (char *)"git", (char *)"rev-parse", (char *)"--git-dir") != 0)
        /* Git has said why. */
        return EXIT_USAGE;
    int status = find_commit(b->good, b->commits[0]);
    if (status == 0)
        status = find_commit(b->bad, b->commits[1]);
    if (status != 0)
        return status;
    if (strcmp(b->commits[0], b->commits[1]) == 0)
        wrong = "the good commit and the bad one are the same";
    else if (RUN(-1, (char *)"git", (char *)"diff-index", (char *)"--quiet",
                 (char *)"HEAD", (char *)"--") != 0)
        wrong = "files of the repository are changed; commit them, or put them "
                "aside with git stash";
    else if (RUN(-1, (char *)"sh", (char *)"-c",
                 (char *)"git bisect log 2>/dev/null") == 0)
        wrong = "git bisect is at work in this repository; git bisect reset "
                "ends it";
    if (wrong == NULL)
        return 0;
    fprintf(stderr, "tally bisect: %s\n", wrong);
    return EXIT_USAGE;
}

/* Checks a commit out and builds it. 0 or a status. */
static int
go_to(struct bisecting *b, unsigned which)
{
    if (RUN(STDOUT_FILENO, (char *)"git", (char *)"checkout", (char *)"--quiet",
            b->commits[which]) != 0)
        return EXIT_OURS;
    if (build(b))
        return 0;
    escape_printf(stderr, "tally bisect: '%s' does not build\n",
                  which == 0 ? b->good : b->bad);
    return EXIT_USAGE;
}

/* Measuring */

/* Returns the measure's change of a result of tally check in JSON; NaN: there
 * is none. */
static double
read_change(json_t *result, const char *event)
{
    double change = NAN;
    size_t i;
    json_t *measure;

    json_array_foreach(json_object_get(result, "measures"), i, measure)
    {
        const json_t *const value = json_object_get(measure, "change_percent");
        const char *const name =
            json_string_value(json_object_get(measure, "name"));
        if (name != NULL && strcmp(name, event) == 0 && json_is_number(value))
            change = json_number_value(value);
    }
    return change;
}

/* Says why the program could not be counted at a commit: the reason of the
 * report or, where that has none, what tally check has written to a file. */
static void
say_uncounted(const char *commit, const char *reason, int err)
{
    char text[4096];
    const ssize_t n = pread(err, text, sizeof(text) - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    escape_printf(stderr,
                  "tally bisect: the program cannot be counted at '%s': %s\n",
                  commit, reason != NULL ? reason : text);
}

/* Counts a commit that is checked out and built: for the baseline, or with its
 * change. Returns the status of tally check, and says why the program could not
 * be counted. */
static int
measure(struct bisecting *b, const char *commit, double limit, double *change)
{
    struct words w = {0};
    const int fd = scratch_open(), err = scratch_open();

    if (fd < 0 || err < 0)
        return command_no_memory();
    add_check(b, &w, limit, true);
    const int status = run_words(&w, fd, err);
    lseek(fd, 0, SEEK_SET);
    json_t *const report = json_loadfd(fd, 0, NULL);
    json_t *const result =
        json_array_get(json_object_get(report, "results"), 0);
    *change = read_change(result, b->event);
    if (status != 0 && status != CHECK_EXIT_ROSE && asked == 0)
        say_uncounted(
            commit, json_string_value(json_object_get(result, "reason")), err);
    json_decref(report);
    close(fd);
    close(err);
    return status;
}

/* Counts the good commit for the baseline. 0 or a status. */
static int
measure_good(struct bisecting *b)
{
    double change;
    const int status = go_to(b, 0);

    return status != 0 ? status : measure(b, b->good, NAN, &change);
}

/* Compares the bad commit with the good one, and chooses the limit. 0 or a
 * status. */
static int
measure_bad(struct bisecting *b)
{
    double change = NAN;
    int status = go_to(b, 1);

    if (status != 0)
        return status;
    status = measure(b, b->bad, 0, &change);
    if (status != 0 && status != CHECK_EXIT_ROSE)
        return EXIT_USAGE;
    if (status != CHECK_EXIT_ROSE || !(change > 0)) {
        escape_printf(stderr,
                      "tally bisect: %s did not rise from '%s' to '%s'\n",
                      b->event, b->good, b->bad);
        return EXIT_USAGE;
    }
    b->limit_used = b->limit != NULL ? strtod(b->limit, NULL) : change / 2;
    if (change <= b->limit_used) {
        escape_printf(stderr,
                      "tally bisect: %s rose by %.2f %% from '%s' to '%s', "
                      "which is not beyond --limit %s\n",
                      b->event, change, b->good, b->bad, b->limit);
        return EXIT_USAGE;
    }
    escape_printf(stderr,
                  "tally bisect: %s rose by %.2f %% from '%s' to '%s'; a "
                  "commit is bad from %.2f %% on\n",
                  b->event, change, b->good, b->bad, b->limit_used);
    return 0;
}

/* What git bisect runs at a commit: builds, and has tally check compare. git
 * takes 125 as a commit to skip, and what is above 127 as an end. */
static const char step[] =
    "build=$1; shift\n"
    "commit=$(git log -1 --format='%h %s')\n"
    "say() { printf 'tally bisect: %-8s %s\\n' \"$1\" \"$commit$2\" >&2; }\n"
    "if [ -n \"$build\" ] && ! sh -c \"$build\" >&2; then\n"
    "    say skipped ', which does not build'; exit 125\n"
    "fi\n"
    "\"$@\" >/dev/null 2>&1; status=$?\n"
    "case $status in\n"
    "0) say good; exit 0;;\n"
    "3) say bad; exit 1;;\n"
    "4|5|6) say skipped \", where tally check ends with status $status\";\n"
    "    exit 125;;\n"
    "esac\n"
    "[ $status -le 127 ] && status=255; exit $status\n";

/* Writes what git bisect has found, of all that git has written to a file.
 * Returns whether git found one commit. */
static bool
write_found(int fd)
{
    static const char found[] = " is the first bad commit";
    static const char several[] = "There are only 'skip'ped commits";
    char text[32768];
    const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    char *at = strstr(text, found);
    const bool one = at != NULL;
    if (at == NULL)
        at = strstr(text, several);
    while (at != NULL && at > text && at[-1] != '\n')
        at--;
    /* Line by line: what a commit says is its author's. */
    for (char *rest = NULL,
              *line = at != NULL ? strtok_r(at, "\n", &rest) : NULL;
         line != NULL && strcmp(line, "bisect found first bad commit") != 0;
         line = strtok_r(NULL, "\n", &rest))
        escape_printf(stdout, "%s\n", line);
    fflush(stdout);
    return one;
}

/* Has git find the commit. Returns a status. */
static int
search(const struct bisecting *b)
{
    struct words w = {0};
    const int fd = scratch_open();

    if (fd < 0 || RUN(-1, (char *)"git", (char *)"bisect", (char *)"next") != 0)
        return EXIT_OURS;
    words_add_all(&w, (const char *const[]){"git", "bisect", "run", "sh", "-c",
                                            step, "sh", NULL});
    words_add(&w, b->build != NULL ? b->build : "");
    add_check(b, &w, b->limit_used, false);
    fflush(stdout);
    const int status = run_words(&w, fd, STDERR_FILENO);
    const bool one = write_found(fd);
    close(fd);
    return one ? 0 : status > 127 ? EXIT_OURS : STATUS_UNCLEAR;
}

/* Makes the folder of the baseline. 0 or a status. */
static int
make_folder(struct bisecting *b)
{
    snprintf(b->folder, sizeof(b->folder), "%s/tally-bisect.XXXXXX",
             path_scratch());
    if (mkdtemp(b->folder) == NULL) {
        escape_printf(stderr, "tally bisect: cannot make a folder in %s: %s\n",
                      path_scratch(), strerror(errno));
        b->folder[0] = '\0';
        return EXIT_OURS;
    }
    b->self = realpath(CHILD_SELF, NULL);
    return b->self == NULL ||
                   asprintf(&b->baseline, "%s/baseline.json", b->folder) < 0
               ? command_no_memory()
               : 0;
}

/* Finds the commit, and leaves the repository as it was. Returns a status. */
static int
bisect(struct bisecting *b)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = ask_for_end};
    int status = check_repository(b);

    if (status == 0)
        status = make_folder(b);
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        struct sigaction before;
        /* One that our parent has us ignore, as nohup does, ends nothing. */
        if (sigaction(ends[i], NULL, &before) == 0 &&
            before.sa_handler != SIG_IGN)
            sigaction(ends[i], &action, NULL);
    }
    if (status != 0)
        return status;
    if (RUN(-1, (char *)"git", (char *)"bisect", (char *)"start", b->commits[1],
            b->commits[0], (char *)"--") != 0)
        return EXIT_USAGE;
    status = measure_good(b);
    if (status == 0 && asked == 0)
        status = measure_bad(b);
    if (status == 0 && asked == 0)
        status = search(b);
    const int number = asked;
    asked = 0;
    RUN(-1, (char *)"sh", (char *)"-c",
        (char *)"git bisect reset >/dev/null 2>&1");
    if (number == 0)
        return status;
    fprintf(stderr,
            "tally bisect: ended by SIG%s; the repository is as it was\n",
            sigabbrev_np(number));
    return 128 + number;
}

static int
run_bisect(int argc, char **argv)
{
    struct bisecting b = {0};
    int status = read_options(&b, argc, argv);

    if (status == COMMAND_HELP) {
        command_help(&command_bisect, stdout);
        return 0;
    }
    if (status == 0)
        status = bisect(&b);
    if (b.baseline != NULL)
        unlink(b.baseline);
    if (b.folder[0] != '\0')
        rmdir(b.folder);
    free(b.baseline);
    free(b.self);
    return status;
}

const struct command command_bisect = {
    .name = "bisect",
    .summary = "find the commit at which a program got dearer",
    .synopsis = "[OPTIONS] GOOD BAD -- PROGRAM [ARGUMENTS]",
    .example = "  # Find the commit since v1.2 that made the program execute "
               "more.\n"
               "  tally bisect --build 'make -s' v1.2 HEAD -- ./program input\n"
               "  # Find the one that made it cost more, whatever the reason.\n"
               "  tally bisect -e cost --build 'make -s' v1.2 HEAD -- "
               "./program input",
    .options = options,
    .run = run_bisect,
};
