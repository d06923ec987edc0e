/* SPDX-License-Identifier: MIT */
/* tally validate: what the models say, held against arithmetic, published
 * counts and latencies, this host's clock, perf and cachegrind. The scripts of
 * validate/ do the work, as they run other programs and compile kernels; this
 * command checks the options, finds the scripts, and writes what they print. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/words.h"
#include "source/plugin_path.h"
#include "table/table.h"

#define PARTS "abcde"
#define TIMES_MOST 1000

enum {
    OPT_PART,
    OPT_MACHINE,
    OPT_SET,
    OPT_FORMAT,
    OPT_OUTPUT,
    OPT_PROGRAMS,
    OPT_TIMES,
    OPT_GUESTS,
    OPT_DETERMINISTIC,
};

static const struct option_row options[] = {
    [OPT_PART] = {'p', "part", "PARTS",
                  "these parts alone, with commas between them (default: "
                  "a,b,c,d,e)"},
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "this machine (default: of parts b and c the one nearest "
                     "to this host, of a and d all that they know)"},
    [OPT_SET] = {'s', "set", "KEY=VALUE",
                 "set a parameter of the machine in parts b and c"},
    [OPT_FORMAT] = {0, "format", "FORM", "text, markdown or json"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write to FILE (default: standard output)"},
    [OPT_PROGRAMS] = {0, "programs", "NAMES",
                      "these programs alone, with commas between them"},
    [OPT_TIMES] = {0, "times", "N",
                   "run natively N times in each of two rounds (default 9)"},
    [OPT_GUESTS] = {0, "guests", "DIR",
                    "bzip2.x86_64 and others, as scripts/build-guests makes "
                    "them (default: those of the build)"},
    [OPT_DETERMINISTIC] =
        {0, "deterministic", "DIR",
         "the folder static/binaries of deater/deterministic, "
         "for part a"},
    {0},
};

static const struct option_group groups[] = {
    {OPT_PART, "What to compare"},
    {OPT_FORMAT, "What to write"},
    {OPT_PROGRAMS, "Programs"},
    {0},
};

struct request {
    struct words words; /* options for the script */
    const char *output;
};

static int
refuse(const char *text, const char *value)
{
    escape_printf(stderr, "tally validate: %s'%s'; see tally validate --help\n",
                  text, value);
    return EXIT_USAGE;
}

/* Returns whether the text is letters of parts with commas between them. */
static bool
are_parts(const char *text)
{
    for (; *text != '\0' && strchr(PARTS, *text) != NULL; text += 2)
        if (text[1] != ',')
            return text[1] == '\0';
    return false;
}

static bool
is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Checks an option, and adds it to the words of the script or keeps it. */
static int
take_option(void *user, int option, const char *value)
{
    struct request *const r = user;
    static const char *const forms[] = {"text", "markdown", "json", NULL};
    const struct machine_row *machine;
    uint64_t times;
    int form, status = 0;

    switch (option) {
    case OPT_PART:
        if (!are_parts(value))
            return refuse("--part takes a, b, c, d and e with commas between "
                          "them, not ",
                          value);
        break;
    case OPT_MACHINE:
        status = command_machine(value, &machine);
        if (status == 0)
            value = machine->name;
        break;
    case OPT_SET:
        if (strchr(value, '=') == NULL)
            return refuse("--set takes KEY=VALUE, not ", value);
        break;
    case OPT_FORMAT:
        status = command_form(&command_validate, value, forms, &form);
        break;
    case OPT_TIMES:
        if (!command_number(value, 1, TIMES_MOST, &times))
            return refuse("--times takes a number from 1 to 1000, not ", value);
        break;
    case OPT_GUESTS:
    case OPT_DETERMINISTIC:
        if (!is_folder(value)) {
            escape_printf(stderr,
                          "tally validate: --%s takes a folder, not '%s'\n",
                          options[option].name, value);
            return EXIT_USAGE;
        }
        break;
    case OPT_OUTPUT:
        r->output = value;
        return 0;
    default:
        break;
    }
    if (status == 0)
        words_addf(&r->words, "--%s=%s", options[option].name, value);
    return status;
}

static int
take_operand(void *user, char *word)
{
    (void)user;
    return refuse("it takes options alone, not ", word);
}

/* Begins the words with those that run the script. Returns 0, or a
 * status after saying why. */
static int
add_script(struct words *w)
{
    char python[PATH_MAX], script[PATH_MAX], self[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[n > 0 ? n : 0] = '\0';
    if (!path_search("python3", python)) {
        fputs("tally validate: python3 is not in the PATH: apt install "
              "python3\n",
              stderr);
        return EXIT_OURS;
    }
    if (plugin_find_validate(&command_log, script, sizeof(script)) != 0)
        return EXIT_OURS;
    words_add_all(
        w, (const char *const[]){python, "-B", script, "--tally", self, NULL});
    return 0;
}

/* Starts the script, with its standard output into `out`. Returns the process,
 * or -1 with errno. */
static pid_t
start_script(char *const *argv, int out, const sigset_t *mask)
{
    const pid_t parent = getpid();
    const pid_t pid = fork();

    if (pid != 0)
        return pid;
    /* The script removes its folder, even where tally is killed. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(out, STDOUT_FILENO) >= 0 &&
        sigprocmask(SIG_SETMASK, mask, NULL) == 0)
        execv(argv[0], argv);
    escape_printf(stderr, "tally validate: cannot run %s: %s\n", argv[0],
                  strerror(errno));
    _exit(EXIT_OURS);
}

/* Waits for the script, which the signals that ask tally to end go on to.
 * Returns the script's exit status. */
static int
await_script(pid_t pid, const sigset_t *awaited)
{
    int status = 0;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        const int number = child_wait_signal(awaited, INFINITY);
        if (number != 0)
            kill(pid, number);
    }
    return command_status(status);
}

/* Runs the script, whose standard output is the open file. Returns the exit
 * status of the script. */
static int
run_script(char *const *argv, struct output *out)
{
    sigset_t before;
    const sigset_t awaited = child_block_signals(&before);
    const pid_t pid = start_script(argv, fileno(out->file), &before);
    if (pid < 0)
        escape_printf(stderr, "tally validate: cannot run %s: %s\n", argv[0],
                      strerror(errno));
    const int status = pid < 0 ? EXIT_OURS : await_script(pid, &awaited);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* Runs the script, and keeps the ledger that it prints if the script succeeds.
 * Returns a status. */
static int
write_ledger(const struct request *r)
{
    struct words w = {0};
    struct output out;
    int status = add_script(&w);

    if (status == 0 && r->words.word != NULL)
        words_add_all(&w, (const char *const *)r->words.word);
    if (status == 0 && (w.failed || r->words.failed))
        status = command_no_memory();
    if (status == 0)
        status = output_open(r->output != NULL ? r->output : "-", REPLACE_WHOLE,
                             &out);
    if (status == 0) {
        status = run_script(w.word, &out);
        if (output_close(&out, status == 0) != 0 && status == 0)
            status = output_unwritten(r->output);
    }
    words_finish(&w);
    return status;
}

static int
run_validate(int argc, char **argv)
{
    struct request r = {.output = NULL};
    int status = command_read(&command_validate, argc, argv, take_option,
                              take_operand, &r);

    if (status == COMMAND_HELP) {
        command_help(&command_validate, stdout);
        status = 0;
    } else if (status == 0) {
        status = write_ledger(&r);
    }
    words_finish(&r.words);
    return status;
}

const struct command command_validate = {
    .name = "validate",
    .summary = "hold the models against clock, arithmetic and other tools",
    .synopsis = "[OPTIONS]",
    .example =
        "  # What follows from arithmetic, and published latencies: seconds.\n"
        "  tally validate --part a,d\n"
        "  # Modelled cycles beside the clock of this host, as for the page.\n"
        "  tally validate --part b -m zen4 --format markdown\n"
        "  # Everything, for a script.\n"
        "  tally validate --format json -o ledger.json",
    .options = options,
    .groups = groups,
    .run = run_validate,
};
