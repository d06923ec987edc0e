/* SPDX-License-Identifier: MIT */
/* tally list: machines, their events, metrics, registers and so on. */
#include "cli/list.h"

#include <fnmatch.h>
#include <string.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/json_rows.h"
#include "table/near.h"
#include "table/text.h"

enum { OPT_MACHINE, OPT_LONG, OPT_FORMAT, OPT_JSON, OPT_COLOR };

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINE", "only this machine"},
    [OPT_LONG] = {'v', "long", NULL,
                  "with unit masks, other names, fields, formulas"},
    [OPT_FORMAT] = {0, "format", "FORM", "text or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    {0},
};

static const struct kind {
    const char *name, *one; /* of them */
    size_t (*run)(struct list *list);
    bool of_machine; /* the JSON names the machine */
} kinds[] = {
    {"machines", "machine", list_machines, false},
    {"events", "event", list_events, true},
    {"metrics", "metric", list_metrics, true},
    {"registers", "register", list_registers, true},
    {"parameters", "parameter", list_params, true},
    {"signals", "signal", list_signals, true},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))
enum {
    KIND_MACHINES,
    KIND_EVENTS,
    KIND_METRICS,
    KIND_REGISTERS,
    KIND_PARAMETERS,
    KIND_SIGNALS,
};

bool
list_has(const struct list *l, const struct machine_row *m)
{
    return l->machine != NULL ? m == l->machine : !m->hidden;
}

/* Returns whether the word is in one of the texts. */
static bool
word_in(const char *word, const char *const *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (texts[i] != NULL && strcasestr(texts[i], word) != NULL)
            return true;
    return false;
}

bool
list_matches(const struct list *l, const char *const *names, size_t name_count,
             const char *const *texts, size_t text_count)
{
    const char *pattern = l->pattern;

    if (pattern == NULL)
        return true;
    if (strpbrk(pattern, "*?[") != NULL) {
        for (size_t i = 0; i < name_count; i++)
            if (names[i] != NULL &&
                fnmatch(pattern, names[i], FNM_CASEFOLD) == 0)
                return true;
        return false;
    }
    for (pattern += strspn(pattern, " "); *pattern != '\0';) {
        char word[64];
        const size_t length = strcspn(pattern, " ");
        snprintf(word, sizeof(word), "%.*s", (int)length, pattern);
        if (length >= sizeof(word) || (!word_in(word, names, name_count) &&
                                       !word_in(word, texts, text_count)))
            return false;
        pattern += length;
        pattern += strspn(pattern, " ");
    }
    return true;
}

bool
list_matches_row(const struct list *l, const char *name,
                 const char *const *aliases, const char *brief,
                 const char *more)
{
    const char *names[24] = {name};
    const char *const texts[] = {brief, more};
    size_t count = 1;

    for (; aliases != NULL && *aliases != NULL && count < 24; aliases++)
        names[count++] = *aliases;
    return list_matches(l, names, count, texts, 2);
}

void
list_add(struct list *l, const struct machine_row *m, json_t *row)
{
    if (l->machine == NULL)
        json_set_text(row, "machine", m->name);
    json_array_append_new(l->rows, row);
}

/* Adds names of the kind, those of the machine, to what may be meant. */
static void
add_machine(struct near *n, const struct machine_row *m, size_t kind)
{
    for (size_t i = 0; kind == KIND_EVENTS && i < m->event_count; i++)
        near_add(n, m->events[i].name, m->events[i].aliases);
    for (size_t i = 0; kind == KIND_METRICS && i < m->metric_count; i++)
        near_add(n, m->metrics[i].name, m->metrics[i].aliases);
    for (size_t i = 0; kind == KIND_REGISTERS && i < m->register_count; i++)
        near_add(n, m->registers[i].name, m->registers[i].aliases);
    if (kind == KIND_MACHINES)
        near_add(n, m->name, m->aliases);
}

/* Writes "; did you mean a or b?" of the names of this kind, and of the kinds.
 */
static void
near_pattern(const struct list *l, size_t kind, char *text, size_t size)
{
    char names[256] = "";
    struct near n;

    text[0] = '\0';
    near_init(&n, l->pattern, 3);
    for (size_t i = 0; i < KINDS; i++)
        near_add(&n, kinds[i].name, NULL);
    for (size_t i = 0; i < MACHINE_COUNT; i++)
        if (list_has(l, &tally_machines[i]))
            add_machine(&n, &tally_machines[i], kind);
    for (size_t i = 0; kind == KIND_PARAMETERS && i < PARAM_COUNT; i++)
        near_add(&n, tally_params[i].key, NULL);
    for (size_t i = 0; kind == KIND_SIGNALS && i < SIGNAL_COUNT; i++)
        near_add(&n, tally_signals[i].name, NULL);
    near_text(&n, names, sizeof(names));
    if (names[0] != '\0')
        snprintf(text, size, "; did you mean %s?", names);
}

/* Says that nothing matches. */
static void
nothing_listed(const struct list *l, const struct kind *kind)
{
    const char *of = l->machine != NULL ? l->machine->name : "no machine";
    char near[300];

    if (l->pattern == NULL) {
        escape_printf(stderr, "tally: %s has no %s\n", of, kind->name);
        return;
    }
    near_pattern(l, (size_t)(kind - kinds), near, sizeof(near));
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(l->pattern, kinds[i].name) == 0)
            snprintf(near, sizeof(near), "; to list %s, name nothing else",
                     kinds[i].name);
    escape_printf(stderr, "tally: no %s%s%s matches '%s'%s\n", kind->one,
                  l->machine != NULL ? " of " : "",
                  l->machine != NULL ? of : "",
                  shown(l->pattern, strlen(l->pattern)).text, near);
}

/* Lists the rows of a kind; returns an exit status. */
static int
list_kind(struct list *l, const struct kind *kind, const char *color)
{
    struct screen screen;

    if (l->json) {
        if (command_color(color, stdout) < 0)
            return screen_open(&screen, color); /* tells why */
        l->rows = json_array();
        kind->run(l);
        return json_print_rows(
            kind->name, l->rows, kind->of_machine ? l->machine : NULL,
            kind == &kinds[KIND_EVENTS] ? list_software_json(l) : NULL,
            l->generic);
    }
    int status = screen_open(&screen, color);
    if (status != 0)
        return status;
    l->s = &screen;
    const size_t found = kind->run(l);
    status = screen_close(&screen);
    if (found > 0 || status != 0)
        return status;
    nothing_listed(l, kind);
    return 1;
}

struct line {
    struct list list;
    const char *color;
    const char *operands[2];
    size_t count;
};

static int
take_option(void *user, int option, const char *value)
{
    struct line *const line = user;
    struct list *l = &line->list;

    switch (option) {
    case OPT_MACHINE:
        return command_machine(value, &l->machine);
    case OPT_LONG:
        l->details = true;
        return 0;
    case OPT_COLOR:
        line->color = value;
        return 0;
    default:
        return command_json(&command_list, value, &l->json);
    }
}

static int
take_operand(void *user, char *word)
{
    struct line *const line = user;

    if (line->count == 2) {
        escape_printf(stderr, "tally list: one pattern, not '%s' too\n", word);
        return EXIT_USAGE;
    }
    line->operands[line->count++] = word;
    return 0;
}

static int
unknown_kind(const char *word)
{
    char names[64];
    struct near n;

    near_init(&n, word, 2);
    for (size_t i = 0; i < KINDS; i++)
        near_add(&n, kinds[i].name, NULL);
    near_text(&n, names, sizeof(names));
    escape_printf(stderr,
                  "tally list: '%s' is none of machines, events, metrics, "
                  "registers, parameters, signals%s%s%s\n",
                  shown(word, strlen(word)).text,
                  names[0] != '\0' ? "; did you mean " : "", names,
                  names[0] != '\0' ? "?" : "");
    return EXIT_USAGE;
}

static int
run_list(int argc, char **argv)
{
    struct line line = {0};
    size_t kind = 0;
    const int status = command_read(&command_list, argc, argv, take_option,
                                    take_operand, &line);

    if (status == COMMAND_HELP) {
        command_help(&command_list, stdout);
        return 0;
    }
    if (status != 0)
        return status;
    while (line.count > 0 && kind < KINDS &&
           strcmp(line.operands[0], kinds[kind].name) != 0)
        kind++;
    if (line.count == 0) {
        /* A machine alone means its events. */
        kind = line.list.machine != NULL ? KIND_EVENTS : KIND_MACHINES;
    } else if (kind < KINDS) {
        line.list.pattern = line.operands[1];
    } else if (line.count == 1) {
        kind = KIND_EVENTS;
        line.list.pattern = line.operands[0];
    } else {
        return unknown_kind(line.operands[0]);
    }
    return list_kind(&line.list, &kinds[kind], line.color);
}

const struct command command_list = {
    .name = "list",
    .summary = "list machines, their events, metrics, registers",
    .synopsis = "[machines|events|metrics|registers|parameters|signals] "
                "[-m MACHINE] [PATTERN]",
    .example = "  # List the events of a machine that have to do with misses.\n"
               "  tally list events -m ultrasparc-t2 miss\n"
               "  # List metrics by the beginning of their name.\n"
               "  tally list metrics -m montecito 'L1D*'\n"
               "  # List a register with its fields.\n"
               "  tally list registers -m sparc-t4 -v PCR0\n"
               "  # List the unit masks of some events.\n"
               "  tally list -m montecito -v 'L2D_OZQ*.*'",
    .options = options,
    .run = run_list,
};
