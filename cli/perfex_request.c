/* SPDX-License-Identifier: MIT */
#include "cli/perfex_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

enum {
    OPT_EVENT,
    OPT_ALL,
    OPT_THREADS,
    OPT_SIGNALS,
    OPT_PERIOD,
    OPT_EXCEPTION,
    OPT_KERNEL,
    OPT_TIMES,
    OPT_TABLE,
    OPT_TABLES,
    OPT_COSTS,
    OPT_OUTPUT,
    OPT_MACHINE,
    OPT_FORMAT,
    OPT_JSON,
    OPT_MODEL, /* and those behind it */
};

const struct option_row perfex_options[] = {
    [OPT_EVENT] = {'e', "event", "EVENT",
                   "an event by number or name; twice for both counters, more "
                   "take turns"},
    [OPT_ALL] = {'a', "all", NULL,
                 "all events in turns, and totals projected from that"},
    [OPT_THREADS] = {0, "mp", NULL,
                     "the counts of each thread too; also written -mp"},
    [OPT_SIGNALS] = {'s', "signals", NULL,
                     "count from a SIGUSR1 to perfex until a SIGUSR2"},
    [OPT_PERIOD] = {'p', "period", "MS",
                    "print counts every MS milliseconds of modelled time"},
    [OPT_EXCEPTION] = {'x', "exception", NULL, "count exception level too"},
    [OPT_KERNEL] = {'k', "kernel", NULL, "count kernel mode too"},
    [OPT_TIMES] = {'y', "costs", NULL,
                   "what the events cost: typical, minimum and maximum time"},
    [OPT_TABLE] = {'t', "table", NULL, "print the costs of an event too"},
    [OPT_TABLES] = {'T', "tables", NULL,
                    "print those of every machine, on standard output"},
    [OPT_COSTS] = {'c', "cost-file", "FILE",
                   "take costs from this file, written as -t prints them"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the report there instead of stderr"},
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine to count on; host: this computer"},
    [OPT_FORMAT] = {0, "format", "FORM", "text, csv or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    MODEL_OPTION_ROWS(OPT_MODEL),
    {0},
};

/* Says what is wrong with the command line. */
static int
bad_usage(const char *text, const char *value)
{
    escape_printf(stderr, "tally perfex: %s'%s'; see tally perfex --help\n",
                  text, value);
    return EXIT_USAGE;
}

/* Adds an event to the list. */
static int
add_event(char **list, const char *more)
{
    if (*more == '\0')
        return bad_usage("-e takes an event, not ", more);
    return command_join(list, more) != 0 ? EXIT_OURS : 0;
}

/* Reads the value of -p. */
static int
take_period(struct perfex_request *r, const char *value)
{
    char *end;

    errno = 0;
    const unsigned long long ms = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || errno != 0 || ms < 1 ||
        ms > 1000000000)
        return bad_usage("-p takes 1 to 1000000000 milliseconds, not ", value);
    r->period_ms = ms;
    return 0;
}

#define AT(member) offsetof(struct perfex_request, member)
static const struct {
    int option;
    size_t at;
} flags[] =
    {
        {OPT_ALL, AT(all)},         {OPT_THREADS, AT(threads)},
        {OPT_SIGNALS, AT(signals)}, {OPT_EXCEPTION, AT(exception)},
        {OPT_KERNEL, AT(kernel)},   {OPT_TIMES, AT(times)},
        {OPT_TABLE, AT(table)},     {OPT_TABLES, AT(tables)},
},
  texts[] = {
      {OPT_MACHINE, AT(machine)},
      {OPT_COSTS, AT(costs)},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Takes one option. */
static int
take_option(struct perfex_request *r, int option, const char *value)
{
    static const char *const forms[] = {"text", "csv", "json", NULL};
    const char *wrong;
    int form = COUNT_TEXT, status;

    for (size_t i = 0; i < COUNT_OF(flags); i++)
        if (flags[i].option == option) {
            *(bool *)((char *)r + flags[i].at) = true;
            return 0;
        }
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        if (texts[i].option == option) {
            *(const char **)((char *)r + texts[i].at) = value;
            return 0;
        }
    switch (option) {
    case OPT_EVENT:
        return add_event(&r->events, value);
    case OPT_PERIOD:
        return take_period(r, value);
    case OPT_FORMAT:
        status = command_form(&command_perfex, value, forms, &form);
        r->format = (enum count_format)form;
        return status;
    case OPT_JSON:
        r->format = COUNT_JSON;
        return 0;
    case OPT_OUTPUT:
        if (*value == '\0')
            return bad_usage("-o takes a file's name, not ", value);
        r->output = value;
        return 0;
    default:
        wrong = model_options_take(&r->model, option - OPT_MODEL, &value);
        return wrong == NULL ? 0 : bad_usage(wrong, value);
    }
}

/* Returns whether the next word is -mp, which is one word on IRIX; as letters
 * it would be -m p. */
static bool
is_threads(const struct option_walk *w)
{
    const int next = w->next > 0 ? w->next : 1;

    return (w->cluster == NULL || *w->cluster == '\0') && next < w->argc &&
           strcmp(w->argv[next], "-mp") == 0;
}

/* Refuses options that do not go together. */
static int
check(const struct perfex_request *r)
{
    const char *const ways[] = {r->threads ? "-mp" : NULL,
                                r->signals ? "-s" : NULL,
                                r->period_ms != 0 ? "-p" : NULL};
    const char *first = NULL;

    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        if (ways[i] != NULL && first != NULL) {
            escape_printf(
                stderr,
                "tally perfex: %s does not go with %s; see tally perfex "
                "--help\n",
                ways[i], first);
            return EXIT_USAGE;
        }
        first = ways[i] != NULL ? ways[i] : first;
    }
    if (r->all && r->events != NULL)
        return bad_usage("-a counts all events; it does not go with ", "-e");
    if (r->all && r->period_ms != 0)
        return bad_usage("-a needs the whole run; it does not go with ", "-p");
    return 0;
}

/* Takes events from the environment, which the command line overrides. */
static int
read_environment(struct perfex_request *r)
{
    static const char *const names[] = {"T5_EVENT0", "T5_EVENT1"};
    int status = 0;

    for (size_t i = 0; i < 2 && status == 0; i++) {
        const char *value = getenv(names[i]);
        if (value == NULL || *value == '\0')
            continue;
        if (r->events_from == NULL)
            r->events_from = names[i];
        status = add_event(&r->events, value);
    }
    return status;
}

int
perfex_request_read(int argc, char **argv, struct perfex_request *r,
                    int *operand)
{
    struct option_walk walk = command_walk(&command_perfex, argc, argv);
    const char *value;
    int option = COMMAND_END, status = 0;

    *r = (struct perfex_request){0};
    while (status == 0) {
        if (is_threads(&walk)) {
            walk.next = (walk.next > 0 ? walk.next : 1) + 1;
            r->threads = true;
            continue;
        }
        option = command_option(&walk, &value);
        if (option < 0)
            break;
        status = take_option(r, option, value);
    }
    if (status != 0)
        return status;
    if (option == COMMAND_HELP)
        return COMMAND_HELP;
    if (option == COMMAND_BAD)
        return EXIT_USAGE;
    if (walk.next >= argc && !r->tables) {
        fprintf(stderr, "tally perfex: no program to run; see tally perfex "
                        "--help\n");
        return EXIT_USAGE;
    }
    status = check(r);
    if (status == 0 && r->events == NULL && !r->all)
        status = read_environment(r);
    *operand = walk.next;
    return status;
}

void
perfex_request_finish(struct perfex_request *r)
{
    free(r->events);
}
