/* SPDX-License-Identifier: MIT */
/* tally sweep: counts a program on all combinations of settings of a machine,
 * several at the same time, by a tally count each. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/batch.h"
#include "cli/child.h"
#include "cli/counted.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/scratch.h"
#include "cli/words.h"
#include "profile/machine_choice.h"
#include "record/crc32c.h"
#include "sweep/plot_page.h"
#include "sweep/sweep_report.h"
#include "version.h"

#define JOBS_MOST 1024
#define MACHINES_MOST 64
/* A run gave no counts. */
#define STATUS_FAILED 1
#define MANIFEST "sweep.json"
#define USUAL_EVENTS                                                    \
    "instructions", "cycles", "branch-misses", "L1-dcache-load-misses", \
        "L1-icache-load-misses", "LLC-load-misses"

enum {
    OPT_MACHINE,
    OPT_EVENT,
    OPT_JOBS,
    OPT_STATE,
    OPT_FORMAT,
    OPT_OUTPUT,
    OPT_HTML,
    OPT_MODEL,
};

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINES",
                     "these machines, with commas between them (default: the "
                     "one of the program's instruction set)"},
    [OPT_EVENT] = {'e', "event", "EVENTS",
                   "count these events, with commas between them (default: "
                   "instructions, cycles, and misses of branches and caches)"},
    [OPT_JOBS] = {'j', "jobs", "N|parallel|slurm",
                  "N runs at the same time (default: one a processor), or as "
                  "jobs of GNU parallel or Slurm; these need --state"},
    [OPT_STATE] = {0, "state", "DIR",
                   "keep each run's counts in DIR; the same command goes on "
                   "there where it was ended"},
    [OPT_FORMAT] = {0, "format", "FORM", "text, csv, json or svg (a plot)"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write to FILE (default: standard output)"},
    [OPT_HTML] = {0, "html", "FILE",
                  "write the counts as one page for a browser there"},
    [OPT_MODEL + MODEL_SET] =
        {0, "set", "KEY=VALUES",
         "give a parameter of the machine (tally show -v MACHINE) these "
         "values, "
         "as 1,2,4 or LOW..HIGH for LOW and its doubles or LOW..HIGH+STEP"},
    MODEL_RUN_ROWS(OPT_MODEL, "100000"),
    MODEL_PARALLEL_ROW(OPT_MODEL),
    {0},
};

static const struct option_group groups[] = {
    {OPT_MACHINE, "What to count"},
    {OPT_FORMAT, "What to write"},
    {OPT_MODEL, "Settings of the machine, and of the program's run"},
    {0},
};

static const char *const forms[] = {"text", "csv", "json", "svg", NULL};
static int (*const writers[])(const struct sweep *s, FILE *out) = {
    sweep_write_text, sweep_write_csv, sweep_write_json, sweep_write_svg,
    sweep_write_page};

/* The page's place among the writers: --html asks for it. */
#define FORM_PAGE 4

/* A run that is under way. */
struct run {
    pid_t pid; /* 0: none */
    size_t point;
    int report, err; /* files; `report` -1: in the folder of --state */
};

struct sweeping {
    const char *machine_names, *output;
    const char *page;   /* a file for a page, or NULL */
    const char *formed; /* an option of a form that is no page, or NULL */
    const char *state;  /* the folder as it was given */
    char *folder;       /* its absolute path; owned */
    char *events;       /* owned; of -e, or NULL */
    uint64_t jobs;
    struct batch batch;
    int form;
    struct model_options model; /* but --set */
    const char *sets[SWEEP_SETS_MOST];
    size_t set_count;
    struct words passed; /* options for each run */
    struct measured measured;
    const struct machine_row *machines[MACHINES_MOST];
    size_t machine_count;
    struct counted counted; /* of the first machine */
    struct sweep sweep;
    char *program;    /* the command line as one text; owned */
    struct run *runs; /* [jobs] */
    int nowhere;      /* /dev/null */
    size_t wanted, done;
};

/* The command line */

static int
refuse(const char *text, const char *value)
{
    escape_printf(stderr, "tally sweep: %s'%s'; see tally sweep --help\n", text,
                  value);
    return EXIT_USAGE;
}

/* Returns the word of --jobs for the program that gives out the jobs. */
static const char *
giver_of(const struct sweeping *s)
{
    return s->batch.by == BATCH_SLURM ? "slurm" : "parallel";
}

/* Takes an option of the model, which each run gets as it is. */
static int
take_model(struct sweeping *s, int option, const char *value)
{
    const char *given = value;

    if (option == MODEL_SET) {
        if (s->set_count == SWEEP_SETS_MOST)
            return refuse("more than 16 --set, the last is ", value);
        s->sets[s->set_count++] = value;
        return 0;
    }
    const char *const wrong = model_options_take(&s->model, option, &given);
    if (wrong != NULL)
        return refuse(wrong, given);
    if (options[OPT_MODEL + option].argument != NULL)
        words_addf(&s->passed, "--%s=%s", options[OPT_MODEL + option].name,
                   value);
    else
        words_addf(&s->passed, "--%s", options[OPT_MODEL + option].name);
    return 0;
}

static int
take_option(void *user, int option, const char *value)
{
    struct sweeping *const s = user;
    switch (option) {
    case OPT_MACHINE:
        s->machine_names = value;
        return 0;
    case OPT_EVENT:
        return command_join(&s->events, value) == 0 ? 0 : EXIT_OURS;
    case OPT_JOBS:
        s->batch.by = strcmp(value, "slurm") == 0      ? BATCH_SLURM
                      : strcmp(value, "parallel") == 0 ? BATCH_PARALLEL
                                                       : BATCH_NONE;
        return s->batch.by != BATCH_NONE ||
                       command_number(value, 1, JOBS_MOST, &s->jobs)
                   ? 0
                   : refuse("--jobs takes 1 to 1024 runs, 'parallel' or "
                            "'slurm', not ",
                            value);
    case OPT_STATE:
        s->state = value;
        return *value != '\0' ? 0 : refuse("--state takes a folder, not ", "");
    case OPT_FORMAT:
        s->formed = "format";
        return command_form(&command_sweep, value, forms, &s->form);
    case OPT_HTML:
        s->page = value;
        return *value != '\0' ? 0 : refuse("--html takes a file, not ", "");
    case OPT_OUTPUT:
        s->formed = "output";
        s->output = value;
        return *value != '\0' ? 0 : refuse("--output takes a file, not ", "");
    default:
        return take_model(s, option - OPT_MODEL, value);
    }
}

/* Returns 0, a status, or COMMAND_HELP; *program becomes what is to run. */
static int
read_options(struct sweeping *s, int argc, char **argv, char ***program)
{
    int operand, status;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);

    s->jobs =
        processors > 0 && processors <= JOBS_MOST ? (uint64_t)processors : 1;
    status = command_read_options(&command_sweep, argc, argv, take_option, s,
                                  &operand);
    if (status != 0)
        return status;
    if (operand >= argc) {
        fputs("tally sweep: a program is missing; see tally sweep --help\n",
              stderr);
        return EXIT_USAGE;
    }
    if (command_page_alone(&command_sweep, s->page, s->formed,
                           "all counts, and FILE says where it goes") != 0)
        return EXIT_USAGE;
    if (s->page != NULL) {
        s->form = FORM_PAGE;
        s->output = s->page;
    }
    *program = argv + operand;
    if (s->batch.by != BATCH_NONE && s->state == NULL)
        return refuse("--state DIR is missing, a folder that all computers "
                      "see, with --jobs ",
                      giver_of(s));
    return s->output != NULL
               ? output_spares_program("sweep",
                                       s->page != NULL ? "--html" : "-o",
                                       s->output, **program)
               : 0;
}

/* What is to run */

/* Finds the machines. Returns 0, or a status after saying why. */
static int
find_machines(struct sweeping *s)
{
    char *const names =
        s->machine_names != NULL ? strdup(s->machine_names) : NULL;
    char *rest = names;
    const struct machine_row *machine;
    int status = 0;
    bool foreign;

    if (s->machine_names != NULL && names == NULL)
        return command_no_memory();
    do {
        const char *const name = rest != NULL ? strsep(&rest, ",") : NULL;
        machine = NULL;
        if (s->machine_count == MACHINES_MOST)
            status = refuse("more than 64 machines, the last is ", name);
        else if (name != NULL)
            status = command_machine(name, &machine);
        if (status == 0 &&
            machine_choose(machine, &s->measured.program, s->model.foreign,
                           &command_log, &machine, &foreign) != 0)
            status = EXIT_USAGE;
        if (status == 0)
            s->machines[s->machine_count++] = machine;
    } while (status == 0 && rest != NULL);
    free(names);
    return status;
}

/* Sets the events to the usual events that all machines have. */
static int
choose_events(struct sweeping *s)
{
    static const char *const usual[] = {USUAL_EVENTS};
    int status = 0;

    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual) && status == 0; i++) {
        bool all = true;
        for (size_t m = 0; m < s->machine_count; m++)
            all &= event_find(s->machines[m], usual[i]) != NULL;
        if (all && command_join(&s->events, usual[i]) != 0)
            status = EXIT_OURS;
    }
    return status;
}

/* Checks that all machines have the events. Returns 0, or a status after saying
 * why. */
static int
check_events(struct sweeping *s)
{
    int status = s->events == NULL ? choose_events(s) : 0;

    if (status == 0 &&
        counted_choose(s->machines[0], s->events, NULL, NULL, &s->counted) != 0)
        status = EXIT_USAGE;
    for (size_t m = 1; status == 0 && m < s->machine_count; m++) {
        struct counted other = {0};
        if (counted_choose(s->machines[m], s->events, NULL, NULL, &other) != 0)
            status = EXIT_USAGE;
        counted_finish(&other);
    }
    for (size_t i = 0; status == 0 && i < s->counted.asked_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(s->counted.asked[i], s->counted.asked[k]) == 0)
                return refuse("-e names an event twice: ", s->counted.asked[i]);
    return status;
}

/* Makes axes and points of the options. Returns 0, or a status after saying
 * why. */
static int
make_sweep(struct sweeping *s)
{
    const char *names[MACHINES_MOST];
    int error = 0;

    for (size_t i = 0; i < s->machine_count; i++)
        names[i] = s->machines[i]->name;
    error =
        sweep_add_machines(&s->sweep, names, s->machine_count, &command_log);
    for (size_t i = 0; error == 0 && i < s->set_count; i++)
        error = sweep_add_axis(&s->sweep, s->sets[i], &command_log);
    if (error == 0)
        error =
            sweep_make_points(&s->sweep, (const char *const *)s->counted.asked,
                              s->counted.asked_count, &command_log);
    s->sweep.program = s->program;
    return error == 0 ? 0 : error == TALLY_ENOMEM ? EXIT_OURS : EXIT_USAGE;
}

/* Returns the settings of a point, "key=value" each, for the caller to finish.
 */
static struct words
settings_of(const struct sweeping *s, size_t point)
{
    struct words w = {0};

    for (size_t a = 1; a < s->sweep.axis_count; a++)
        words_addf(&w, "%s=%s", s->sweep.axes[a].key,
                   sweep_word(&s->sweep, point, a));
    return w;
}

/* Keeps the text of an error: `user` is a char *, owned. */
static void
keep_text(void *user, enum tally_level level, const char *text)
{
    char **const kept = user;

    if (level == TALLY_LOG_ERROR && *kept == NULL)
        *kept = strdup(text);
}

/* Finds the points that the machine cannot be set to. Returns 0, or a status
 * after saying why, as where no point is left. */
static int
check_points(struct sweeping *s)
{
    uint64_t params[PARAM_COUNT];
    size_t cannot = 0;

    for (size_t i = 0; i < s->sweep.point_count; i++) {
        struct sweep_point *const p = &s->sweep.points[i];
        const struct tally_log log = {keep_text, &p->why};
        struct words w = settings_of(s, i);
        if (w.failed)
            return command_no_memory();
        p->cannot = machine_params(s->machines[sweep_place(&s->sweep, i, 0)],
                                   (const char *const *)w.word, w.count, &log,
                                   params, NULL) != 0;
        words_finish(&w);
        if (p->cannot && p->why == NULL)
            return command_no_memory();
        p->done = p->cannot;
        cannot += p->cannot;
    }
    s->wanted = s->sweep.point_count - cannot;
    if (s->wanted > 0)
        return 0;
    if (cannot == 1)
        escape_printf(stderr, "tally sweep: %s\n", s->sweep.points[0].why);
    else
        escape_printf(stderr,
                      "tally sweep: the machine can be set to none of the %zu "
                      "combinations; of the first: %s\n",
                      cannot, s->sweep.points[0].why);
    return EXIT_USAGE;
}

/* The folder of --state */

/* Returns the path of a point's report, for the caller to free; or NULL. */
static char *
path_of(const struct sweeping *s, size_t point)
{
    char *path = NULL;

    return asprintf(&path, "%s/%04zu.json", s->folder, point) < 0 ? NULL : path;
}

/* Returns the checksum of the program's file; 0 where it cannot be read. */
static uint32_t
program_sum(const char *path)
{
    unsigned char bytes[16384];
    uint32_t crc = 0;
    size_t n;
    FILE *const in = fopen(path, "rb");

    while (in != NULL && (n = fread(bytes, 1, sizeof(bytes), in)) > 0)
        crc = crc32c(crc, bytes, n);
    if (in != NULL)
        fclose(in);
    return crc;
}

/* Returns the checksum of the machines' own parameters, which `tally calibrate`
 * and the computer may change. */
static uint32_t
machines_sum(const struct sweeping *s)
{
    uint64_t params[PARAM_COUNT];
    uint32_t crc = 0;

    for (size_t i = 0; i < s->machine_count; i++) {
        memset(params, 0, sizeof(params));
        machine_params(s->machines[i], NULL, 0, NULL, params, NULL);
        crc = crc32c(crc, params, sizeof(params));
    }
    return crc;
}

/* Reads a JSON document of the folder; NULL: there is none, or it is no regular
 * file. */
static json_t *
read_json(const char *path)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    json_t *document = NULL;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        document = json_loadfd(fd, 0, NULL);
    if (fd >= 0)
        close(fd);
    return document;
}

static json_t *
json_words(char *const *words)
{
    json_t *const list = json_array();

    for (; words != NULL && *words != NULL; words++) {
        char *const plain = escape_copy(*words, ESCAPE_JSON);
        json_array_append_new(list, json_string(plain != NULL ? plain : ""));
        free(plain);
    }
    return list;
}

/* Returns what the folder's manifest says of this sweep. */
static json_t *
describe(const struct sweeping *s)
{
    json_t *const o = json_object(), *const axes = json_array();

    for (size_t a = 0; a < s->sweep.axis_count; a++) {
        json_t *const values = json_array();
        for (size_t k = 0; k < s->sweep.axes[a].count; k++)
            json_array_append_new(values,
                                  json_string(s->sweep.axes[a].values[k]));
        json_array_append_new(axes, json_pack("{s:s, s:o}", "key",
                                              s->sweep.axes[a].key, "values",
                                              values));
    }
    json_object_set_new(o, "tally", json_string(TALLY_VERSION));
    json_object_set_new(o, "program", json_words(s->measured.program.argv));
    json_object_set_new(
        o, "crc32c",
        json_integer(program_sum(s->model.launch.trace != NULL
                                     ? s->model.launch.trace
                                     : s->measured.program.path)));
    json_object_set_new(o, "options", json_words(s->passed.word));
    json_object_set_new(o, "events", json_string(s->events));
    json_object_set_new(o, "parameters", json_integer(machines_sum(s)));
    json_object_set_new(o, "axes", axes);
    return o;
}

/* Says how the folder's sweep differs from ours. */
static int
refuse_state(const struct sweeping *s, const json_t *theirs, const json_t *ours)
{
    static const struct {
        const char *key, *what;
    } parts[] = {
        {"axes", "is of other values of --set or -m"},
        {"tally", "was made by another version of tally"},
        {"program", "is of another program, or of other arguments"},
        {"crc32c", "is of another build of the program"},
        {"options", "was made with other options"},
        {"events", "is of other events"},
        {"parameters", "is of a machine with other values, as tally calibrate "
                       "or another computer gives host-model"},
    };
    const char *what = "cannot be read";
    const bool readable = json_is_array(json_object_get(theirs, "axes"));

    for (size_t i = 0; readable && i < sizeof(parts) / sizeof(*parts); i++) {
        if (!json_equal(json_object_get(theirs, parts[i].key),
                        json_object_get(ours, parts[i].key))) {
            what = parts[i].what;
            break;
        }
    }
    escape_printf(stderr,
                  "tally sweep: --state %s: the sweep there %s; name another "
                  "folder, or remove this one\n",
                  s->state, what);
    return EXIT_USAGE;
}

/* Writes the manifest. Returns 0, or a status after saying why. */
static int
write_manifest(const char *path, const json_t *ours)
{
    struct output out;
    int status = output_open(path, REPLACE_WHOLE, &out);

    if (status != 0)
        return status;
    const bool written =
        json_dumpf(ours, out.file, JSON_INDENT(2) | JSON_SORT_KEYS) == 0;
    return output_finish(&out, path, written ? 0 : TALLY_EIO);
}

/* Reads the report of a point in the folder of --state; NULL: there is none. */
static json_t *
read_kept(const struct sweeping *s, size_t point)
{
    char *const path = path_of(s, point);
    json_t *const report = path != NULL ? read_json(path) : NULL;

    free(path);
    return report;
}

/* Takes from the folder the counts of the runs that have none yet. */
static void
take_kept(struct sweeping *s)
{
    for (size_t i = 0; i < s->sweep.point_count; i++) {
        json_t *const report = s->sweep.points[i].done ? NULL : read_kept(s, i);
        if (report != NULL && sweep_take(&s->sweep, i, report))
            s->done++;
    }
}

/* Returns whether the folder has a report of a point. */
static bool
has_reports(const struct sweeping *s)
{
    bool any = false;

    for (size_t i = 0; !any && i < s->sweep.point_count; i++) {
        char *const path = path_of(s, i);
        any = path == NULL || access(path, F_OK) == 0;
        free(path);
    }
    return any;
}

static int
refuse_reports(const struct sweeping *s)
{
    escape_printf(
        stderr,
        "tally sweep: --state %s: the folder has reports and no " MANIFEST
        ", which says what they are of; name another folder\n",
        s->state);
    return EXIT_USAGE;
}

/* Takes the counts that the folder has from the command before. */
static int
take_before(struct sweeping *s)
{
    take_kept(s);
    if (s->done > 0)
        fprintf(stderr, "tally sweep: %zu of %zu runs are done already\n",
                s->done, s->wanted);
    return 0;
}

/* Makes the folder of --state, or takes the counts that it has of runs. Returns
 * 0, or a status after saying why. */
static int
open_state(struct sweeping *s)
{
    char *path = NULL;
    struct stat st;
    int status;

    if (mkdir(s->state, 0777) != 0 && errno != EEXIST)
        return output_refused(s->state);
    if (stat(s->state, &st) == 0 && !S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        return output_refused(s->state);
    }
    s->folder = realpath(s->state, NULL);
    if (s->folder == NULL)
        return output_refused(s->state);
    s->batch.folder = s->folder;
    if (asprintf(&path, "%s/" MANIFEST, s->folder) < 0)
        return command_no_memory();
    json_t *const ours = describe(s);
    if (access(path, F_OK) != 0) {
        status =
            has_reports(s) ? refuse_reports(s) : write_manifest(path, ours);
    } else {
        json_t *const theirs = read_json(path);
        status = json_equal(theirs, ours) ? take_before(s)
                                          : refuse_state(s, theirs, ours);
        json_decref(theirs);
    }
    json_decref(ours);
    free(path);
    return status;
}

/* The runs */

/* Makes the command line of a run: tally count of the point. `report`: the
 * descriptor that the report goes to; -1: a file of the folder. */
static struct words
words_of(const struct sweeping *s, size_t point, int report)
{
    struct words w = {0}, sets = settings_of(s, point);

    words_add_all(&w, (const char *const[]){"tally", "count", "--json", NULL});
    words_addf(&w, "--machine=%s", sweep_word(&s->sweep, point, 0));
    words_addf(&w, "--event=%s", s->events);
    for (size_t i = 0; i < sets.count; i++)
        words_addf(&w, "--set=%s", sets.word[i]);
    if (s->passed.word != NULL)
        words_add_all(&w, (const char *const *)s->passed.word);
    if (report >= 0) {
        words_addf(&w, "--output=/dev/fd/%d", report);
    } else {
        char *const path = path_of(s, point);
        words_addf(&w, "--output=%s", path != NULL ? path : "");
        w.failed |= path == NULL;
        free(path);
    }
    words_add(&w, "--");
    if (s->model.launch.trace != NULL)
        words_add(&w, s->model.launch.trace);
    else
        words_add_all(&w, (const char *const *)s->measured.program.argv);
    w.failed |= sets.failed;
    words_finish(&sets);
    return w;
}

static void
close_files(struct run *run)
{
    if (run->report >= 0)
        close(run->report);
    if (run->err >= 0)
        close(run->err);
    run->report = run->err = -1;
}

/* Notes why a run gave no counts; takes the text over. */
static void
fail(struct sweeping *s, size_t point, char *why)
{
    struct sweep_point *const p = &s->sweep.points[point];

    p->done = true;
    p->why = why != NULL ? why : strdup("no memory to say why");
}

static void
start(struct sweeping *s, struct run *run, size_t point)
{
    *run = (struct run){.point = point, .report = -1, .err = scratch_open()};
    if (s->state == NULL)
        run->report = scratch_open();
    if (run->err < 0 || (s->state == NULL && run->report < 0)) {
        const int reason = errno;
        char *why = NULL;
        if (asprintf(&why,
                     "cannot make a file for its run: %s; TMPDIR names "
                     "another folder",
                     strerror(reason)) < 0)
            why = NULL;
        fail(s, point, why);
        close_files(run);
        return;
    }
    struct words w = words_of(s, point, run->report);
    run->pid = w.failed ? -1 : fork();
    if (run->pid == 0) {
        if (run->report >= 0)
            fcntl(run->report, F_SETFD, 0);
        _exit(child_execute(CHILD_SELF, w.word, NULL, NULL, s->nowhere,
                            run->err));
    }
    if (run->pid > 0) {
        setpgid(run->pid, run->pid);
    } else {
        run->pid = 0;
        fail(s, point, strdup("cannot start its run"));
        close_files(run);
    }
    words_finish(&w);
}

/* Reads the report of a run that has ended. */
static json_t *
read_report(const struct sweeping *s, const struct run *run)
{
    if (run->report < 0)
        return read_kept(s, run->point);
    lseek(run->report, 0, SEEK_SET);
    return json_loadfd(run->report, 0, NULL);
}

/* Returns why a run gave no counts, for the caller to free. `said`: its last
 * line of errors; NULL: there is none. `ended`: of its process. */
static char *
reason_of(const char *said, json_t *report, int ended)
{
    static const char *const prefixes[] = {"tally count: ", "tally: "};
    const json_t *const status = json_object_get(report, "status");
    const json_int_t signal =
        json_integer_value(json_object_get(status, "signal"));
    const char *const killed =
        signal > 0 && signal < NSIG ? sigabbrev_np((int)signal) : NULL;
    char *why = NULL;
    int made;

    for (size_t i = 0; said != NULL && i < 2; i++)
        if (strncmp(said, prefixes[i], strlen(prefixes[i])) == 0)
            said += strlen(prefixes[i]);
    if (killed != NULL)
        made = asprintf(&why, "the program was killed by SIG%s", killed);
    else if (WIFSIGNALED(ended))
        made = asprintf(&why, "the run was killed by SIG%s",
                        sigabbrev_np(WTERMSIG(ended)));
    else
        made = asprintf(&why, "%s", said != NULL ? said : "no report came");
    return made < 0 ? NULL : why;
}

static void
show_progress(const struct sweeping *s)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K%s%zu of %zu runs%s",
                s->done < s->wanted ? "tally sweep: " : "", s->done, s->wanted,
                s->done < s->wanted ? "" : "\r\033[K");
}

static void
end(struct sweeping *s, struct run *run, int ended)
{
    json_t *const report = read_report(s, run);

    /* What the program has left running would disturb the others. */
    kill(-run->pid, SIGKILL);
    run->pid = 0;
    if (!sweep_take(&s->sweep, run->point, json_incref(report))) {
        char *const said = child_last_line(run->err);
        fail(s, run->point, reason_of(said, report, ended));
        free(said);
    }
    json_decref(report);
    close_files(run);
    s->done++;
    show_progress(s);
}

static pid_t *
pid_of(void *user, size_t i)
{
    return &((struct sweeping *)user)->runs[i].pid;
}

static void
drop(void *user, size_t i)
{
    close_files(&((struct sweeping *)user)->runs[i]);
}

/* Ends the runs whose children have ended. Returns how many. */
static size_t
reap(struct sweeping *s)
{
    size_t ended = 0;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (size_t i = 0; i < s->jobs; i++) {
            if (s->runs[i].pid == pid) {
                end(s, &s->runs[i], status);
                ended++;
            }
        }
    }
    return ended;
}

/* Makes all runs that are not done. Returns 0, or the signal that ended them.
 */
static int
run_all(struct sweeping *s)
{
    sigset_t before;
    const sigset_t set = child_block_signals(&before);
    size_t next = 0, running = 0;
    int number = 0;

    while (number == 0) {
        for (size_t i = 0; i < s->jobs && next < s->sweep.point_count; i++) {
            while (next < s->sweep.point_count && s->sweep.points[next].done)
                next++;
            if (s->runs[i].pid != 0 || next == s->sweep.point_count)
                continue;
            start(s, &s->runs[i], next++);
            running += s->runs[i].pid > 0;
        }
        if (running == 0 && next == s->sweep.point_count)
            break;
        const size_t ended = reap(s);
        running -= ended;
        if (ended == 0 && running > 0)
            number = child_wait_signal(&set, INFINITY);
    }
    if (number != 0)
        child_end_all(&(struct child_list){s->jobs, pid_of, drop, s}, &set,
                      number);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return number;
}

/* The runs as jobs of another program */

/* Refuses what is another machine on each computer. */
static int
check_batch(const struct sweeping *s)
{
    for (size_t i = 0; i < s->machine_count; i++)
        if (s->machines[i]->reads_host)
            return refuse("host-model differs between computers; -m names a "
                          "machine, with --jobs ",
                          giver_of(s));
    return 0;
}

/* Writes the scripts of all runs that are not done, and starts them. Returns 0,
 * or a status after saying why. */
static int
start_batch(struct sweeping *s)
{
    int status = 0;

    for (size_t i = 0; i < s->sweep.point_count && status == 0; i++) {
        if (s->sweep.points[i].done)
            continue;
        struct words w = words_of(s, i, -1);
        status =
            w.failed ? command_no_memory() : batch_add(&s->batch, i, w.word);
        words_finish(&w);
    }
    return status == 0 && s->batch.count > 0 ? batch_start(&s->batch) : status;
}

/* Says why each run that has no counts has none. Returns 0, or a status after
 * saying that no run was made at all, and why. */
static int
explain_missing(struct sweeping *s, int ended)
{
    char *const complaint = batch_complaint(&s->batch);
    bool any = false;

    for (size_t i = 0; i < s->batch.count; i++) {
        const size_t point = s->batch.numbers[i];
        if (s->sweep.points[point].done) {
            any = true;
            continue;
        }
        json_t *const report = read_kept(s, point);
        char *const said = batch_said(&s->batch, point);
        any |= report != NULL || said != NULL;
        fail(s, point,
             report != NULL || said != NULL
                 ? reason_of(said, report, 0)
                 : strdup("no report came: its job was ended or lost; the "
                          "same command makes the run again"));
        free(said);
        json_decref(report);
    }
    if (!any && ended != 0)
        escape_printf(stderr, "tally sweep: --jobs %s: no run was made: %s\n",
                      giver_of(s),
                      complaint != NULL ? complaint : "it says nothing");
    free(complaint);
    return any || ended == 0 ? 0 : EXIT_OURS;
}

/* Makes all runs that are not done as jobs. *number becomes the signal that
 * ended them, or 0. Returns 0, or a status after saying why. */
static int
run_batch(struct sweeping *s, int *number)
{
    sigset_t before;
    const sigset_t set = child_block_signals(&before);
    int ended = 0, status = start_batch(s);

    *number = 0;
    while (status == 0 && *number == 0 && !batch_ended(&s->batch, &ended)) {
        *number = child_wait_signal(&set, isatty(STDERR_FILENO) ? 1 : INFINITY);
        if (isatty(STDERR_FILENO))
            take_kept(s);
        show_progress(s);
    }
    if (*number != 0)
        batch_cancel(&s->batch, &set, *number);
    take_kept(s);
    if (status == 0 && *number == 0)
        status = explain_missing(s, ended);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* The whole */

static int
say_ended(const struct sweeping *s, int number)
{
    fprintf(stderr,
            "%stally sweep: ended by SIG%s after %zu of %zu runs; nothing is "
            "written%s\n",
            isatty(STDERR_FILENO) ? "\r\033[K" : "", sigabbrev_np(number),
            s->done, s->wanted,
            s->state != NULL ? ", and the same command goes on from here"
                             : "; with --state DIR a sweep can go on");
    return 128 + number;
}

/* Writes the report. Returns a status. */
static int
write_sweep(struct sweeping *s, struct output *out)
{
    int status =
        output_finish(out, s->output, writers[s->form](&s->sweep, out->file));

    if (status != 0)
        return status;
    for (size_t i = 0; i < s->sweep.point_count; i++)
        if (s->sweep.points[i].why != NULL && !s->sweep.points[i].cannot)
            status = STATUS_FAILED;
    return status;
}

static int
sweep_program(struct sweeping *s, char **argv)
{
    int status = find_machines(s);

    s->program = command_text(argv);
    s->nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    s->runs = calloc(s->jobs, sizeof(*s->runs));
    if (s->program == NULL || s->runs == NULL || s->nowhere < 0)
        return command_no_memory();
    if (status == 0)
        status = check_events(s);
    if (status == 0)
        status = make_sweep(s);
    if (status == 0)
        status = check_points(s);
    if (status == 0 && s->passed.failed)
        status = command_no_memory();
    if (status == 0 && s->batch.by != BATCH_NONE)
        status = check_batch(s);
    if (status == 0 && s->state != NULL)
        status = open_state(s);
    if (status != 0)
        return status;
    /* First: what cannot be written need not be counted. */
    struct output out;
    status =
        output_open(s->output != NULL ? s->output : "-", REPLACE_WHOLE, &out);
    if (status != 0)
        return status;
    int number = 0;
    if (s->batch.by != BATCH_NONE)
        status = run_batch(s, &number);
    else
        number = run_all(s);
    if (status == 0 && number == 0)
        return write_sweep(s, &out);
    output_close(&out, false);
    return status != 0 ? status : say_ended(s, number);
}

/* Reads the command line, and shows the help or counts the program. Returns a
 * status. */
static int
run_request(struct sweeping *s, int argc, char **argv)
{
    char **program;
    int status = read_options(s, argc, argv, &program);

    if (status == COMMAND_HELP) {
        command_help(&command_sweep, stdout);
        return 0;
    }
    if (status == 0)
        status = measured_open_any(&s->measured, program, &s->model.launch);
    if (status != 0)
        return status;
    status = sweep_program(s, program);
    program_close(&s->measured.program);
    return status;
}

static int
run_sweep(int argc, char **argv)
{
    struct sweeping *const s = calloc(1, sizeof(*s));

    if (s == NULL)
        return command_no_memory();
    s->nowhere = -1;
    const int status = run_request(s, argc, argv);
    sweep_finish(&s->sweep);
    counted_finish(&s->counted);
    words_finish(&s->passed);
    if (s->nowhere >= 0)
        close(s->nowhere);
    batch_finish(&s->batch);
    free(s->events);
    free(s->folder);
    free(s->program);
    free(s->runs);
    free(s);
    return status;
}

const struct command command_sweep = {
    .name = "sweep",
    .summary = "count a program over many settings of a machine",
    .synopsis = "[OPTIONS] [--set KEY=VALUES]... [--] PROGRAM [ARGS]",
    .example =
        "  # How large an L1 data cache should be, and of how many ways.\n"
        "  tally sweep -m zen4 --set l1d.size=4K..128K --set l1d.ways=4,8 -- "
        "./program\n"
        "  # A plot; a sweep that is ended goes on where it was.\n"
        "  tally sweep -m zen4,skylake --set l2.size=256K..4M --state dir "
        "--format svg -o sweep.svg -- ./program\n"
        "  # Over the computers of GNU parallel; slurm: as an "
        "array job.\n"
        "  tally sweep -m zen4 --set l2.size=256K..4M --jobs parallel --state "
        "shared -- ./program",
    .options = options,
    .groups = groups,
    .run = run_sweep,
};
