/* SPDX-License-Identifier: MIT */
/* The values of tally summarize's options. */
#include "cli/summarize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "table/text.h"

int
summarize_by(const char *text, unsigned *by)
{
    static const struct {
        const char *name;
        unsigned bit;
    } words[] = {{"thread", SUMMARY_BY_THREAD},
                 {"core", SUMMARY_BY_CORE},
                 {"region", SUMMARY_BY_REGION},
                 {"all", 0}};
    const char *rest = text;

    for (*by = 0;; rest++) {
        const size_t length = strcspn(rest, ",");
        size_t i = 0;
        while (i < 4 && (strlen(words[i].name) != length ||
                         strncmp(words[i].name, rest, length) != 0))
            i++;
        if (i == 4)
            break;
        *by |= words[i].bit;
        rest += length;
        if (*rest == '\0')
            return 0;
    }
    escape_printf(stderr,
                  "tally summarize: --by takes thread, core, region or all, or "
                  "several as thread,region; not '%s'\n",
                  shown(text, strlen(text)).text);
    return EXIT_USAGE;
}

static int
take_metric(void *user, const struct metric_row *metric, const char *asked)
{
    struct summarize_request *r = user;

    (void)asked;
    if (r->metric_count == SUMMARIZE_METRICS)
        return tally_fail(&command_log, TALLY_ERANGE, "more than %d metrics",
                          SUMMARIZE_METRICS);
    r->metrics[r->metric_count++] = metric;
    return 0;
}

/* The machines that dumps without -m are of. */
static const char *const told[] = {"ultrasparc-t2", "ultrasparc-t1"};

static const struct tally_log silent = {NULL, NULL};

#define ANOTHER "; a dump of another machine needs -m"

static void
tell_guessed(void *user, enum tally_level level, const char *text)
{
    (void)user, (void)level;
    tally_fail(&command_log, TALLY_EUNKNOWN, "%s" ANOTHER, text);
}

static const struct tally_log guessed = {tell_guessed, NULL};

int
summarize_metrics(struct summarize_request *r,
                  const struct machine_row *machine)
{
    if (r->metric_list == NULL)
        return 0;
    for (size_t i = 0; machine == NULL && i < 2; i++) {
        r->metric_count = 0;
        if (metric_list_parse(machine_find(told[i]), r->metric_list, &silent,
                              take_metric, r) == 0)
            return 0;
    }
    r->metric_count = 0;
    return metric_list_parse(machine != NULL ? machine : machine_find(told[0]),
                             r->metric_list,
                             r->options.machine == NULL ? &guessed
                                                        : &command_log,
                             take_metric, r) == 0
               ? 0
               : EXIT_USAGE;
}

static int
input_find(const struct machine_row *machine, const char *name, size_t length)
{
    for (size_t i = 0; i < machine->input_count && i < SUMMARY_INPUTS; i++)
        if (i != INPUT_CLOCK && i != INPUT_INTERVAL &&
            strlen(machine->inputs[i].name) == length &&
            strncmp(machine->inputs[i].name, name, length) == 0)
            return (int)i;
    return -1;
}

/* "user2" or a number; false if it is neither. */
static bool
read_input(const char *text, struct summary_input *input)
{
    char *end;

    if (strncmp(text, "user", 4) == 0) {
        const long word = strtol(text + 4, &end, 10);
        input->source = SUMMARY_WORD;
        input->word = (size_t)(word - 1);
        return end > text + 4 && *end == '\0' && word >= 1 &&
               word <= DUMP_WORDS;
    }
    input->source = SUMMARY_NUMBER;
    input->number = strtod(text, &end);
    return end > text && *end == '\0' && isfinite(input->number) &&
           input->number >= 0;
}

static int
input_unknown(const struct summarize_request *r,
              const struct machine_row *machine, const char *text,
              size_t length)
{
    const char *names[SUMMARY_INPUTS];
    char list[256];
    size_t count = 0;

    for (size_t i = INPUT_INTERVAL + 1;
         i < machine->input_count && i < SUMMARY_INPUTS; i++)
        names[count++] = machine->inputs[i].name;
    join_words(names, count, list, sizeof(list));
    escape_printf(stderr,
                  "tally summarize: the metrics of %s have no input '%s'",
                  machine->name, shown(text, length).text);
    escape_printf(stderr, count > 0 ? "; they have %s%s\n" : "%s%s\n", list,
                  r->options.machine == NULL ? ANOTHER : "");
    return EXIT_USAGE;
}

static int
take_input(const struct summarize_request *r, const char *text,
           const struct machine_row *machine, struct summary_input *inputs)
{
    const size_t length = strcspn(text, "=");
    struct summary_input input = {0};

    if (text[length] == '\0' || !read_input(text + length + 1, &input)) {
        escape_printf(
            stderr,
            "tally summarize: --input takes NAME=NUMBER or NAME=userN, "
            "not '%s'\n",
            shown(text, strlen(text)).text);
        return EXIT_USAGE;
    }
    int row = -1;
    if (machine != NULL)
        row = input_find(machine, text, length);
    for (size_t i = 0; machine == NULL && row < 0 && i < 2; i++)
        row = input_find(machine_find(told[i]), text, length);
    if (row < 0)
        return input_unknown(
            r, machine != NULL ? machine : machine_find(told[0]), text, length);
    input.given = true;
    inputs[row] = input;
    return 0;
}

static void
assume(const struct machine_row *machine, const char *name, int param,
       struct summary_input *inputs)
{
    const int row = input_find(machine, name, strlen(name));

    if (row >= 0 && machine->params != NULL)
        inputs[row] = (struct summary_input){
            .source = SUMMARY_MODEL,
            .number = (double)machine->params[param].value};
}

int
summarize_inputs(const struct summarize_request *r,
                 const struct machine_row *machine,
                 struct summary_input *inputs)
{
    memset(inputs, 0, SUMMARY_INPUTS * sizeof(*inputs));
    if (machine != NULL) {
        const int pkts = input_find(machine, "pkts", 4);
        assume(machine, "l1_miss_latency", PARAM_TIME_L2, inputs);
        assume(machine, "l2_miss_latency", PARAM_TIME_MEMORY, inputs);
        if (pkts >= 0)
            inputs[pkts].source = SUMMARY_WORD;
    }
    if (r->clock > 0)
        inputs[INPUT_CLOCK] = (struct summary_input){.source = SUMMARY_NUMBER,
                                                     .number = r->clock};
    for (size_t i = 0; i < r->input_count; i++)
        if (take_input(r, r->inputs[i], machine, inputs) != 0)
            return EXIT_USAGE;
    return 0;
}
