/* SPDX-License-Identifier: MIT */
#include "cli/count_request.h"

#include "base/escape.h"
#include "base/path.h"
#include "profile/filter.h"
#include "table/generic.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_MS 1000000000 /* eleven days */
#define MOST_INTERVALS 1000000000
#define MOST_PERIOD (UINT64_C(1) << 46) /* half of what a counter holds */

enum {
    OPT_MACHINE,
    OPT_EVENTS,
    OPT_DETAIL,
    OPT_METRICS,
    OPT_GROUP,
    OPT_REPEAT,
    OPT_INTERVAL,
    OPT_PER_THREAD,
    OPT_PER_PROCESS,
    OPT_JSON,
    OPT_SEPARATOR,
    OPT_OUTPUT,
    OPT_QUIET,
    OPT_VERBOSE,
    OPT_TABLE,
    OPT_PRE,
    OPT_POST,
    OPT_SYNC,
    OPT_STRICT,
    OPT_METRIC_ONLY,
    OPT_SUMMARY,
    OPT_FORMAT,
    OPT_APPEND,
    OPT_LOG_FD,
    OPT_BIG_NUM,
    OPT_NO_BIG_NUM,
    OPT_COLOR,
    OPT_FROM,
    OPT_TO,
    OPT_SKIP,
    OPT_FILTER,
    OPT_ALL_USER,
    OPT_ACCOUNTING,
    OPT_PLACE,
    OPT_MPI,
    OPT_MPI_DIR,
    OPT_NO_HOST_FIELDS,
    OPT_MODEL,
    OPT_MODEL_LAST = OPT_MODEL + MODEL_OPTION_COUNT - 1,
    OPT_PID,
    OPT_TID,
    OPT_ALL_CPUS,
    OPT_CPUS,
    OPT_NO_AGGR,
    OPT_PER_CORE,
    OPT_PER_DIE,
    OPT_PER_SOCKET,
    OPT_PER_NODE,
    OPT_NULL,
    OPT_ALL_KERNEL,
    OPT_NO_INHERIT,
    OPT_DELAY,
    OPT_TIMEOUT,
    OPT_INTERVAL_COUNT,
    OPT_INTERVAL_CLEAR,
    OPT_HARDWARE,
    OPT_COMPARE,
    OPT_EAR,
    OPT_ETB,
    OPT_IP_EAR,
    OPT_PERIOD,
};

const struct option_row count_options[] = {
    [OPT_MACHINE] =
        {'m', "machine", "MACHINE",
         "the machine to be, or host; default: by the program's architecture"},
    [OPT_EVENTS] = {'e', "event", "EVENTS",
                    "events to count, by name or code; 'all' counts every one"},
    [OPT_DETAIL] = {'d', "detailed", NULL,
                    "count cache events too; -dd and -ddd for more"},
    [OPT_METRICS] = {'M', "metrics", "METRICS",
                     "compute these too, such as ipc (tally list metrics)"},
    [OPT_GROUP] = {'g', "group", "METRICS", "the same as -M"},
    [OPT_REPEAT] = {'r', "repeat", "N",
                    "run N times; print means and their spread"},
    [OPT_INTERVAL] = {'I', "interval-print", "MS",
                      "print every MS milliseconds, of modelled time on a "
                      "modelled machine"},
    [OPT_PER_PROCESS] = {0, "per-process", NULL,
                         "show each program too that the program runs "
                         "[modelled]"},
    [OPT_PER_THREAD] = {0, "per-thread", NULL,
                        "show each thread too; on the host, those of -p or -t"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_SEPARATOR] = {'x', "field-separator", "CHAR",
                       "CSV with this separator"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the report there instead of stderr"},
    [OPT_QUIET] = {'q', "quiet", NULL, "no progress line"},
    [OPT_VERBOSE] = {'v', "verbose", NULL,
                     "say what is run, or how each event is opened"},
    [OPT_TABLE] = {0, "table", NULL, "show each run of -r too"},
    [OPT_PRE] = {0, "pre", "COMMAND",
                 "give COMMAND to sh before each run, uncounted"},
    [OPT_POST] = {0, "post", "COMMAND",
                  "give COMMAND to sh after each run, uncounted"},
    [OPT_SYNC] = {'S', "sync", NULL,
                  "write all files' pages to their disks before each run"},
    [OPT_STRICT] = {0, "strict", NULL, "fail if an event was not counted"},
    [OPT_METRIC_ONLY] = {0, "metric-only", NULL,
                         "show the metrics of -M without the events"},
    [OPT_SUMMARY] = {0, "summary", NULL,
                     "end CSV and JSON with the sums of all intervals of -I"},
    [OPT_FORMAT] = {0, "format", "FORM", "text, csv or json"},
    [OPT_APPEND] = {0, "append", NULL, "add to the file of -o"},
    [OPT_LOG_FD] = {0, "log-fd", "N",
                    "write the report to this open descriptor"},
    [OPT_BIG_NUM] = {'B', "big-num", NULL,
                     "separate thousands in text, as without the option"},
    [OPT_NO_BIG_NUM] = {0, "no-big-num", NULL, "no such separators"},
    [OPT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    [OPT_FROM] = {0, "from", "FUNCTION",
                  "count only from where this function is entered"},
    [OPT_TO] = {0, "to", "FUNCTION", "and stop where this one is entered"},
    [OPT_SKIP] = {0, "skip", "N",
                  "begin to count after the first N instructions [modelled]"},
    [OPT_FILTER] = {0, "filter", "KIND=WHERE",
                    "count only code=FUNCTION, or accesses of data=OBJECT; or "
                    "FIRST-LAST addresses [modelled]"},
    [OPT_ALL_USER] = {0, "all-user", NULL,
                      "count user mode alone, as :u does; models count no "
                      "other mode"},
    [OPT_ACCOUNTING] = {0, "accounting", NULL,
                        "show where the modelled machine's cycles go, by "
                        "reason"},
    [OPT_PLACE] = {0, "place", "WORDS",
                   "threads: pack or spread; pages: first-touch, interleave or "
                   "node=N"},
    [OPT_MPI] = {0, "mpi", NULL,
                 "one report of all ranks that mpirun starts, what is inside "
                 "MPI apart"},
    [OPT_MPI_DIR] = {0, "mpi-dir", "DIR",
                     "the folder in which the ranks of --mpi meet, shared "
                     "between nodes"},
    [OPT_NO_HOST_FIELDS] = {0, "no-host-fields", NULL,
                            "JSON without what is the host's alone: process "
                            "numbers and the times that it took"},
    MODEL_OPTION_ROWS(OPT_MODEL),
    [OPT_PID] = {'p', "pid", "PIDS",
                 "count these processes until they or PROGRAM end [host]"},
    [OPT_TID] = {'t', "tid", "TIDS", "the same of single threads [host]"},
    [OPT_ALL_CPUS] = {'a', "all-cpus", NULL, "count whole cpus [host]"},
    [OPT_CPUS] = {'C', "cpu", "LIST",
                  "the same of these cpus, such as 0-3,7 [host]"},
    [OPT_NO_AGGR] = {'A', "no-aggr", NULL, "show each cpu too [host]"},
    [OPT_PER_CORE] = {0, "per-core", NULL, "show each core too [host]"},
    [OPT_PER_DIE] = {0, "per-die", NULL, "show each die too [host]"},
    [OPT_PER_SOCKET] = {0, "per-socket", NULL, "show each socket too [host]"},
    [OPT_PER_NODE] = {0, "per-node", NULL, "show each memory node too [host]"},
    [OPT_NULL] = {'n', "null", NULL, "no events: times alone [host]"},
    [OPT_ALL_KERNEL] = {0, "all-kernel", NULL, "every event as with :k [host]"},
    [OPT_NO_INHERIT] = {'i', "no-inherit", NULL,
                        "leave out children and later threads [host]"},
    [OPT_DELAY] = {'D', "delay", "MS",
                   "begin to count after MS milliseconds [host]"},
    [OPT_TIMEOUT] = {0, "timeout", "MS",
                     "end the program after MS milliseconds [host]"},
    [OPT_INTERVAL_COUNT] = {0, "interval-count", "N",
                            "end after N intervals of -I [host]"},
    [OPT_INTERVAL_CLEAR] = {0, "interval-clear", NULL,
                            "clear the screen before each interval [host]"},
    [OPT_HARDWARE] = {0, "hardware", NULL,
                      "count through the machine's own counters, in turns "
                      "[all but host-model]"},
    [OPT_COMPARE] = {0, "compare", NULL,
                     "show the exact counts beside those of --hardware [all "
                     "but host-model]"},
    [OPT_EAR] = {0, "ear", "WHAT",
                 "sample event address registers: load-latency=CYCLES, dtlb, "
                 "fetch-latency=CYCLES or itlb [montecito]"},
    [OPT_ETB] = {0, "etb", "N",
                 "show the last N entries of the trace buffer, 1 to 16 "
                 "[montecito]"},
    [OPT_IP_EAR] = {0, "ip-ear", "DELAY",
                    "sample the instructions that retired until DELAY cycles "
                    "after an overflow [montecito]"},
    [OPT_PERIOD] = {0, "period", "N",
                    "one sample for N events of --ear or --ip-ear "
                    "[montecito]"},
    {0},
};

const struct option_group count_groups[] = {
    {OPT_MACHINE, "Everyday"},
    {OPT_TABLE, "More about runs and reports"},
    {OPT_FROM, "A part of the program"},
    {OPT_ACCOUNTING, "Modelled machines, not the host"},
    {OPT_PID, "Host only, this computer's own counters"},
    {OPT_HARDWARE, "Machines of the manuals, not host-model"},
    {0},
};

/* Says what is wrong with the command line. */
static int
bad_usage(const char *text, const char *value)
{
    escape_printf(stderr, "tally count: %s'%s'; see tally count --help\n", text,
                  value);
    return EXIT_USAGE;
}

/* Reads a whole number, with K, M or G for thousands, millions, milliards. */
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

/* Reads a time in milliseconds. */
static int
parse_ms(const char *option, const char *value, uint64_t least, uint64_t *ms)
{
    if (parse_number(value, least, MOST_MS, ms))
        return 0;
    escape_printf(stderr,
                  "tally count: %s takes %d to %d milliseconds, not '%s'\n",
                  option, (int)least, MOST_MS, value);
    return EXIT_USAGE;
}

/* Options that only set a flag, name a text, or say how to add up. */
#define AT(member) offsetof(struct count_request, member)
static const struct {
    int option;
    size_t flag;
} flags[] = {
    {OPT_PER_THREAD, AT(per_thread)},
    {OPT_PER_PROCESS, AT(per_process)},
    {OPT_ALL_CPUS, AT(all_cpus)},
    {OPT_ALL_USER, AT(only_user)},
    {OPT_ALL_KERNEL, AT(only_kernel)},
    {OPT_NULL, AT(null)},
    {OPT_NO_INHERIT, AT(no_inherit)},
    {OPT_STRICT, AT(strict)},
    {OPT_TABLE, AT(table)},
    {OPT_SYNC, AT(sync)},
    {OPT_METRIC_ONLY, AT(metric_only)},
    {OPT_NO_HOST_FIELDS, AT(no_host_fields)},
    {OPT_SUMMARY, AT(summary)},
    {OPT_BIG_NUM, AT(big_num)},
    {OPT_INTERVAL_CLEAR, AT(interval_clear)},
    {OPT_APPEND, AT(append)},
    {OPT_ACCOUNTING, AT(accounting)},
    {OPT_HARDWARE, AT(hardware)},
    {OPT_COMPARE, AT(compare)},
    {OPT_MPI, AT(mpi)},
    {OPT_QUIET, AT(quiet)},
    {OPT_VERBOSE, AT(verbose)},
};

static const struct {
    int option;
    size_t text;
} texts[] = {
    {OPT_MACHINE, AT(machine)}, {OPT_PID, AT(pids)},  {OPT_TID, AT(tids)},
    {OPT_CPUS, AT(cpus)},       {OPT_FROM, AT(from)}, {OPT_TO, AT(to)},
    {OPT_COLOR, AT(color)},     {OPT_PRE, AT(pre)},   {OPT_POST, AT(post)},
    {OPT_MPI_DIR, AT(mpi_dir)},
};

static const struct {
    int option;
    enum count_aggregate aggregate;
} aggregates[] = {
    {OPT_NO_AGGR, AGGREGATE_CPU},       {OPT_PER_CORE, AGGREGATE_CORE},
    {OPT_PER_SOCKET, AGGREGATE_SOCKET}, {OPT_PER_DIE, AGGREGATE_DIE},
    {OPT_PER_NODE, AGGREGATE_NODE},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Takes an option that needs no check; returns false of another option. */
static bool
take_plain(struct count_request *r, int option, const char *value)
{
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        if (flags[i].option == option) {
            *(bool *)((char *)r + flags[i].flag) = true;
            return true;
        }
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (texts[i].option == option) {
            *(const char **)((char *)r + texts[i].text) = value;
            return true;
        }
    for (size_t i = 0; i < COUNT_OF(aggregates); i++)
        if (aggregates[i].option == option) {
            r->aggregate = aggregates[i].aggregate;
            return true;
        }
    return false;
}

/* Reads the descriptor of --log-fd, which must be open. */
static int
parse_descriptor(struct count_request *r, const char *value)
{
    uint64_t n;

    if (!parse_number(value, 1, INT_MAX, &n))
        return bad_usage("--log-fd takes a descriptor from 1 on, not ", value);
    if (fcntl((int)n, F_GETFD) < 0)
        return bad_usage("--log-fd takes an open descriptor, not ", value);
    r->log_fd = (int)n;
    return 0;
}

/* Takes the separator of -x. */
static int
take_separator(struct count_request *r, const char *value)
{
    const char *const sign = strcmp(value, "\\t") == 0 ? "\t" : value;

    if (strchr(value, '\n') != NULL)
        return bad_usage("-x takes one sign such as , or ; or | or \\t, not ",
                         "the end of a line");
    if (strlen(sign) != 1 || strchr(",;:|/ \t", *sign) == NULL)
        return bad_usage("-x takes one sign such as , or ; or | or \\t, not ",
                         value);
    r->separator = *sign;
    r->format = COUNT_CSV;
    return 0;
}

/* Takes an option of modelled machines. */
static int
take_model(struct count_request *r, int option, const char *value)
{
    const char *const wrong = model_options_take(&r->model, option, &value);

    return wrong == NULL ? 0 : bad_usage(wrong, value);
}

/* Sets the parameters that a word of --place stands for. */
static int
place_word(struct count_request *r, const char *word, size_t length,
           enum placed *what)
{
    static const struct {
        const char *word, *set;
        enum placed what;
    } words[] = {
        {"pack", "place.threads=pack", PLACED_THREADS},
        {"spread", "place.threads=spread", PLACED_THREADS},
        {"first-touch", "place.pages=first-touch", PLACED_PAGES},
        {"interleave", "place.pages=interleave", PLACED_PAGES},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (length == strlen(words[i].word) &&
            memcmp(word, words[i].word, length) == 0) {
            *what = words[i].what;
            return take_model(r, MODEL_SET, words[i].set);
        }
    }
    const size_t digits =
        strncmp(word, "node=", 5) == 0 ? strspn(word + 5, "0123456789") : 0;
    if (digits > 0 && digits <= 9 && length == 5 + digits) {
        snprintf(r->place_node, sizeof(r->place_node), "place.%.*s",
                 (int)length, word);
        *what = PLACED_PAGES;
        const int error = take_model(r, MODEL_SET, "place.pages=node");
        return error != 0 ? error : take_model(r, MODEL_SET, r->place_node);
    }
    return bad_usage("--place takes pack, spread, first-touch, interleave and "
                     "node=N, not ",
                     word);
}

/* Reads the words of --place. */
static int
parse_place(struct count_request *r, const char *value)
{
    unsigned seen = 0;
    int error = 0;

    for (const char *word = value; word != NULL && error == 0;) {
        const size_t length = strcspn(word, ",");
        enum placed what = PLACED_THREADS;
        error = place_word(r, word, length, &what);
        if (error == 0 && (seen & what) != 0)
            return bad_usage("--place takes one word for threads and one for "
                             "pages, not ",
                             value);
        seen |= what;
        word = word[length] == ',' ? word + length + 1 : NULL;
    }
    r->placed |= seen;
    return error;
}

/* Reads an option of what is sampled. */
static int
parse_capture(struct count_request *r, int option, const char *value)
{
    int error = 0;

    if (option == OPT_EAR)
        error = capture_parse_ear(value, &command_log, &r->capture);
    else if (option == OPT_ETB)
        error = capture_parse_trace(value, &command_log, &r->capture);
    else if (option == OPT_IP_EAR)
        error = capture_parse_retired(value, &command_log, &r->capture);
    else if (!parse_number(value, 1, MOST_PERIOD, &r->period))
        return bad_usage("--period takes 1 to 70368744177664 events, not ",
                         value);

    return error != 0 ? EXIT_USAGE : 0;
}

/* Refuses what sampling does not go with: samples are of one run and of each
 * access by itself. */
static int
check_capture(struct count_request *r)
{
    if (capture_complete(&r->capture, r->period, &command_log) != 0)
        return EXIT_USAGE;
    if (!capture_wanted(&r->capture))
        return 0;
    const char *const with =
        filter_data(r->filters, r->filter_count) ? "--filter data="
        : r->hardware                            ? "--hardware"
        : r->interval_ms != 0                    ? "-I"
        : r->runs > 1                            ? "-r"
        : r->format == COUNT_CSV ? "CSV; its records are text or JSON"
                                 : NULL;
    if (with == NULL)
        return 0;
    escape_printf(stderr,
                  "tally count: what is sampled does not go with %s; see tally "
                  "count --help\n",
                  with);
    return EXIT_USAGE;
}

/* Refuses options of the report that need other options, or do not go with
 * them. */
static int
check_report(const struct count_request *r)
{
    if (r->table && r->runs == 1)
        return bad_usage("--table shows each of the runs of ", "-r");
    if (r->table && r->format == COUNT_CSV)
        return bad_usage("--table goes with text and JSON, not with ", "CSV");
    if (r->table && r->interval_ms != 0)
        return bad_usage("--table does not go with ", "-I");
    if (r->metric_only && r->metrics == NULL)
        return bad_usage("--metric-only shows the metrics of ", "-M");
    if (r->summary && r->interval_ms == 0)
        return bad_usage("--summary adds up the intervals of ", "-I");
    if (r->interval_clear && r->interval_ms == 0)
        return bad_usage("--interval-clear is for the intervals of ", "-I");
    if (r->interval_clear && (r->format != COUNT_TEXT || r->output != NULL))
        return bad_usage("--interval-clear is for text on a terminal, not for ",
                         r->format == COUNT_CSV    ? "CSV"
                         : r->format == COUNT_JSON ? "JSON"
                                                   : "-o");
    if ((r->big_num || r->plain) && r->format != COUNT_TEXT)
        return bad_usage("separators stand in text alone; leave away ",
                         r->plain ? "--no-big-num" : "-B");
    if (r->no_host_fields && r->format != COUNT_JSON)
        return bad_usage("--no-host-fields is for JSON, not for ",
                         r->format == COUNT_CSV ? "CSV" : "text");
    if (r->log_fd != 0 && r->output != NULL)
        return bad_usage("--log-fd does not go with ", "-o");
    return 0;
}

/* Refuses what does not go with --mpi: what has no place in the one report, or
 * what counts but a part of the program. */
static int
check_mpi(const struct count_request *r)
{
    const char *const with = !r->mpi               ? NULL
                             : r->runs > 1         ? "-r"
                             : r->interval_ms != 0 ? "-I"
                             : r->per_thread       ? "--per-thread"
                             : r->per_process      ? "--per-process"
                             : r->accounting       ? "--accounting"
                             : r->hardware         ? "--hardware"
                             : r->from != NULL     ? "--from"
                             : r->to != NULL       ? "--to"
                             : r->skip != 0        ? "--skip"
                             : r->filter_count > 0 ? "--filter"
                             : r->no_host_fields   ? "--no-host-fields"
                             : capture_wanted(&r->capture)
                                 ? capture_option(&r->capture)
                                 : NULL;

    if (r->mpi_dir != NULL && !r->mpi)
        return bad_usage("--mpi-dir names the folder of ", "--mpi");
    if (r->mpi && r->model.launch.clean_env)
        return bad_usage("--mpi: the library finds the other ranks by the "
                         "environment, so leave out ",
                         "--clean-env");
    return with != NULL ? bad_usage("--mpi does not go with ", with) : 0;
}

/* Returns whether the first name of the list is a metric of any machine. */
static bool
names_metric(const char *list)
{
    char name[128];
    bool found = false;

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(list, ","), list);
    for (size_t i = 0; i < MACHINE_COUNT && !found; i++)
        found = metric_find(&tally_machines[i], name) != NULL;
    return found || generic_metric_find(name) >= 0;
}

/* Takes one option. */
static int
take_option(void *user, int option, const char *value)
{
    struct count_request *const r = user;
    static const char *const forms[] = {"text", "csv", "json", NULL};
    int form = COUNT_TEXT, status;
    uint64_t number;

    if (take_plain(r, option, value))
        return 0;
    if (option >= OPT_MODEL && option <= OPT_MODEL_LAST)
        return take_model(r, option - OPT_MODEL, value);
    switch (option) {
    case OPT_EVENTS:
        return command_join(&r->events, value) != 0 ? EXIT_OURS : 0;
    case OPT_GROUP:
        if (!names_metric(value)) /* as with perf, whose -g takes nothing */
            return bad_usage("-g takes metrics, as -M does; -e '{A,B}' makes a "
                             "group of events; not ",
                             value);
        return command_join(&r->metrics, value) != 0 ? EXIT_OURS : 0;
    case OPT_METRICS:
        return command_join(&r->metrics, value) != 0 ? EXIT_OURS : 0;
    case OPT_REPEAT:
        if (!parse_number(value, 1, 100000, &number))
            return bad_usage("-r takes 1 to 100000, not ", value);
        r->runs = (unsigned)number;
        return 0;
    case OPT_SKIP:
        if (!parse_number(value, 1, UINT64_MAX / 2, &r->skip))
            return bad_usage("--skip takes a number of instructions, not ",
                             value);
        return 0;
    case OPT_INTERVAL:
        return parse_ms("-I", value, 1, &r->interval_ms);
    case OPT_DELAY:
        return parse_ms("-D", value, 0, &r->delay_ms);
    case OPT_TIMEOUT:
        return parse_ms("--timeout", value, 10, &r->timeout_ms);
    case OPT_INTERVAL_COUNT:
        if (!parse_number(value, 1, MOST_INTERVALS, &r->interval_count))
            return bad_usage("--interval-count takes 1 to 1000000000, not ",
                             value);
        return 0;
    case OPT_DETAIL:
        r->detail++;
        return 0;
    case OPT_FORMAT:
        status = command_form(&command_count, value, forms, &form);
        if (status == 0)
            r->format = (enum count_format)form;
        return status;
    case OPT_JSON:
        r->format = COUNT_JSON;
        return 0;
    case OPT_SEPARATOR:
        return take_separator(r, value);
    case OPT_OUTPUT:
        if (*value == '\0')
            return bad_usage("-o takes a file's name, not ", value);
        r->output = value;
        return 0;
    case OPT_LOG_FD:
        return parse_descriptor(r, value);
    case OPT_NO_BIG_NUM:
        r->plain = true;
        return 0;
    case OPT_FILTER:
        if (r->filter_count == CODE_RANGES)
            return bad_usage("too many --filter, the last is ", value);
        r->filters[r->filter_count++] = value;
        return 0;
    case OPT_PLACE:
        return parse_place(r, value);
    case OPT_EAR:
    case OPT_ETB:
    case OPT_IP_EAR:
    default: /* OPT_PERIOD */
        return parse_capture(r, option, value);
    }
}

/* Returns whether the word may be a subcommand of perf stat: by `tally count`
 * only where there is no such program, and never behind "--". */
static bool
is_subcommand(char *const *argv, int word)
{
    char path[PATH_MAX];

    return strcmp(argv[word - 1], "--") != 0 &&
           (strcmp(argv[0], "stat") == 0 || !path_search(argv[word], path));
}

int
count_request_read(int argc, char **argv, struct count_request *r, int *operand)
{
    int status;

    *r = (struct count_request){.runs = 1, .separator = ','};
    status = command_read_options(&command_count, argc, argv, take_option, r,
                                  operand);
    if (status != 0)
        return status;
    if (*operand < argc && is_subcommand(argv, *operand) &&
        command_subcommand(&command_count, argv[*operand]) != 0)
        return EXIT_USAGE;
    const bool attached =
        r->pids != NULL || r->tids != NULL || r->all_cpus || r->cpus != NULL;
    if (*operand >= argc && !attached) {
        fprintf(stderr, "tally count: no program to run; see tally count "
                        "--help\n");
        return EXIT_USAGE;
    }
    if (r->skip != 0 && (r->from != NULL || r->to != NULL))
        return bad_usage("--skip does not go with ",
                         r->from ? "--from" : "--to");
    if (r->hardware && r->interval_ms != 0)
        return bad_usage("--hardware does not go with ", "-I");
    if (r->compare && !r->hardware)
        return bad_usage("--compare compares what is counted with ",
                         "--hardware");
    if (r->accounting && (r->hardware || r->interval_ms != 0))
        return bad_usage("--accounting does not go with ",
                         r->hardware ? "--hardware" : "-I");
    if (r->hardware && r->per_thread)
        return bad_usage("--hardware does not go with ", "--per-thread");
    if (r->per_process && (r->hardware || r->interval_ms != 0))
        return bad_usage("--per-process does not go with ",
                         r->hardware ? "--hardware" : "-I");
    if (r->interval_count != 0 && r->interval_ms == 0)
        return bad_usage("--interval-count counts the intervals of ", "-I");
    if (r->append && r->output == NULL)
        return bad_usage("--append adds to the file of ", "-o");
    if (command_color(r->color, stderr) < 0)
        return bad_usage("--color takes auto, always or never, not ", r->color);
    status = check_mpi(r);
    if (status == 0)
        status = check_report(r);
    return status != 0 ? status : check_capture(r);
}

const char *
count_detail(unsigned level)
{
    static const char *const lists[] = {
        "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
        "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,"
        "iTLB-loads,iTLB-load-misses",
        "L1-dcache-prefetches,L1-dcache-prefetch-misses",
    };

    return lists[level - 1];
}

bool
count_request_talks(const struct count_request *r)
{
    return r->format == COUNT_TEXT || r->output != NULL ||
           (r->log_fd != 0 && r->log_fd != STDERR_FILENO);
}

bool
count_request_color(const struct count_request *r)
{
    return command_color(r->color, stderr) == 1 && r->output == NULL &&
           r->log_fd == 0;
}

int
count_request_strict(const struct count_request *r, int status,
                     bool all_counted)
{
    if (status != 0 || all_counted || !r->strict)
        return status;
    if (count_request_talks(r)) /* the report tells which counts */
        fprintf(stderr, "tally: counts are missing, and --strict is given\n");
    return EXIT_OURS;
}

void
count_request_finish(struct count_request *r)
{
    free(r->events);
    free(r->metrics);
}
