/* SPDX-License-Identifier: MIT */
#include "cli/rows_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/report_output.h"
#include "table/near.h"
#include "table/text.h"

int
rows_request_init(struct rows_request *r, const struct command *command,
                  const char *const *forms, int argc)
{
    *r = (struct rows_request){
        .command = command,
        .forms = forms,
        .breakdown = {.keys = {BREAKDOWN_FUNCTION}, .key_count = 1},
        .debug_dirs = calloc((size_t)argc + 1, sizeof(*r->debug_dirs)),
        .separator = ',',
    };
    return r->debug_dirs != NULL ? 0 : command_no_memory();
}

void
rows_request_finish(struct rows_request *r)
{
    free(r->debug_dirs);
    free(r->events);
}

int
rows_request_bad(const struct rows_request *r, const char *text,
                 const char *value)
{
    escape_printf(stderr, "tally %s: %s'%s'; see tally %s --help\n",
                  r->command->name, text, shown(value, strlen(value)).text,
                  r->command->name);
    return EXIT_USAGE;
}

static int
unknown_key(const struct rows_request *r, const char *word, size_t length)
{
    const struct shown name = shown(word, length);
    struct near near;
    char text[64];

    near_init(&near, name.text, 2);
    for (int i = 0; i < BREAKDOWN_KEYS; i++)
        near_add(&near, breakdown_key_name((enum breakdown_key)i), NULL);
    near_text(&near, text, sizeof(text));
    if (*text != '\0')
        escape_printf(stderr,
                      "tally %s: --by '%s' is no key; did you mean %s?\n",
                      r->command->name, name.text, text);
    else
        escape_printf(stderr,
                      "tally %s: --by takes function, caller, object, line, "
                      "instruction, file, image, thread or process, not "
                      "'%s'\n",
                      r->command->name, name.text);
    return EXIT_USAGE;
}

static int
take_keys(struct rows_request *r, const char *value)
{
    struct breakdown_options *o = &r->breakdown;

    o->key_count = 0;
    for (;;) {
        const size_t length = strcspn(value, ",");
        const int key = breakdown_key_find(value, length);
        bool known = false;
        if (key < 0)
            return unknown_key(r, value, length);
        for (size_t i = 0; i < o->key_count; i++)
            known |= o->keys[i] == (enum breakdown_key)key;
        if (!known)
            o->keys[o->key_count++] = (enum breakdown_key)key;
        if (value[length] == '\0')
            return 0;
        value += length + 1;
    }
}

static int
take_top(struct rows_request *r, const char *value)
{
    struct breakdown_options *o = &r->breakdown;
    char *end;

    errno = 0;
    o->top = strtoul(value, &end, 10);
    if (*value >= '0' && *value <= '9' && *end == '\0' && errno == 0 &&
        (o->top > 0 || r->zero_is_all))
        return 0;
    return rows_request_bad(
        r,
        r->zero_is_all ? "--top takes a number of rows, or 0 for all, not "
                       : "--top takes a number of rows from 1 on, not ",
        value);
}

static int
take_min(struct rows_request *r, const char *value)
{
    struct breakdown_options *o = &r->breakdown;
    char *end;

    o->min = strtod(value, &end);
    end += *end == '%';
    if (end != value && *end == '\0' && o->min >= 0 && o->min <= 100)
        return 0;
    return rows_request_bad(r, "--min takes 0 to 100 per cent, not ", value);
}

static int
take_separator(struct rows_request *r, const char *value)
{
    const char *const sign = strcmp(value, "\\t") == 0 ? "\t" : value;

    if (strlen(sign) != 1 || strchr(",;:|/ \t", *sign) == NULL)
        return rows_request_bad(
            r, "-x takes one sign such as , or ; or | or \\t, not ", value);
    r->separator = *sign;
    return command_form(r->command, "csv", r->forms, &r->form);
}

static int
take_output(struct rows_request *r, const char *value)
{
    r->output = value;
    return *value != '\0'
               ? 0
               : rows_request_bad(r, "-o takes a file's name, not ", "");
}

int
rows_request_take(struct rows_request *r, int option, const char *value)
{
    switch (option) {
    case ROWS_BY:
        return take_keys(r, value);
    case ROWS_EVENTS:
        return command_join(&r->events, value) == 0 ? 0 : EXIT_OURS;
    case ROWS_SORT:
        r->sort = value;
        return 0;
    case ROWS_TOP:
        return take_top(r, value);
    case ROWS_MIN:
        return take_min(r, value);
    case ROWS_MATCH:
        r->breakdown.match = value;
        return 0;
    case ROWS_NO_INLINE:
        r->breakdown.no_inline = true;
        return 0;
    case ROWS_INCLUSIVE:
        r->breakdown.by_inclusive = true;
        return 0;
    case ROWS_DEBUG_DIR:
        r->debug_dirs[r->debug_dir_count++] = value;
        return command_debug_dir(r->command, value);
    case ROWS_OUTPUT:
        return take_output(r, value);
    case ROWS_SEPARATOR:
        return take_separator(r, value);
    case ROWS_COLOR:
        r->color = value;
        return 0;
    default:
        return command_form(r->command, option == ROWS_JSON ? "json" : value,
                            r->forms, &r->form);
    }
}

int
rows_request_color(const struct rows_request *r)
{
    if (command_color(r->color, stdout) >= 0)
        return 0;
    escape_printf(stderr,
                  "tally: --color takes auto, always or never, not '%s'\n",
                  shown(r->color, strlen(r->color)).text);
    return EXIT_USAGE;
}

static bool
has_key(const struct breakdown_options *o, enum breakdown_key key)
{
    for (size_t i = 0; i < o->key_count; i++)
        if (o->keys[i] == key)
            return true;
    return false;
}

bool
rows_request_has(const struct rows_request *r, enum breakdown_key key)
{
    return has_key(&r->breakdown, key);
}

int
rows_request_check(const struct rows_request *r, const struct record *record)
{
    const struct breakdown_options *o = &r->breakdown;

    if (has_key(o, BREAKDOWN_OBJECT) && !record->has_objects) {
        escape_printf(stderr,
                      "tally %s: %s has no objects: record it with "
                      "--objects\n",
                      r->command->name, record->path);
        return EXIT_USAGE;
    }
    if ((!o->by_inclusive && !has_key(o, BREAKDOWN_CALLER)) ||
        record->has_callers)
        return 0;
    escape_printf(stderr,
                  "tally %s: %s has no callers: it was recorded with "
                  "--no-callers\n",
                  r->command->name, record->path);
    return EXIT_USAGE;
}

/* Returns whether objects have counts of the event. */
static bool
is_of_data(const struct record *record, size_t event)
{
    for (size_t i = 0; i < record->counts_count; i++) {
        const struct record_counts_row *counts = &record->counts[i];
        struct record_walk walk;
        if (counts->objects == NULL)
            continue;
        record_walk_begin(&walk, counts, event);
        for (size_t k = 0; k < counts->count; k++)
            if (record_walk_take(&walk, k) != 0)
                return true;
    }
    return false;
}

/* Leaves out the events that no object has, unless none has any. */
static void
keep_data_events(const struct record *record, struct breakdown_options *o,
                 size_t *events)
{
    size_t kept = 0;

    for (size_t i = 0; i < o->event_count; i++)
        if (is_of_data(record, events[i]))
            events[kept++] = events[i];
    if (kept != 0)
        o->event_count = kept;
}

/* Finds the event that --sort names. If it is not among the events it is added,
 * or takes the place of the last one where the table is full. */
static int
choose_sort(const struct rows_request *r, const struct record *record,
            size_t most, size_t *events, struct breakdown_options *o)
{
    size_t *found = calloc(record->event_count, sizeof(*found));
    size_t count = 0;
    int status = found == NULL ? command_no_memory() : 0;

    if (status == 0 && breakdown_key_find(r->sort, strlen(r->sort)) >= 0 &&
        record_events(record, r->sort, NULL, found, &count) != 0) {
        escape_printf(stderr,
                      "tally %s: --sort takes an event; --by %s gives the "
                      "rows\n",
                      r->command->name, r->sort);
        status = EXIT_USAGE;
    } else if (status == 0 && record_events(record, r->sort, &command_log,
                                            found, &count) != 0) {
        status = EXIT_USAGE;
    } else if (status == 0 && count != 1) {
        status = rows_request_bad(r, "--sort takes one event, not ", r->sort);
    }
    for (o->sort = 0; status == 0 && o->sort < o->event_count; o->sort++)
        if (events[o->sort] == found[0])
            break;
    if (status == 0 && o->sort == o->event_count) {
        if (o->event_count == most && r->events == NULL)
            o->sort = --o->event_count;
        events[o->event_count++] = found[0];
    }
    free(found);
    return status;
}

int
rows_request_choose(const struct rows_request *r, const struct record *record,
                    size_t most, size_t *events, struct breakdown_options *o)
{
    const bool all = r->events == NULL || strcmp(r->events, "all") == 0;

    o->events = events;
    if (record_events(record, all ? NULL : r->events, &command_log, events,
                      &o->event_count) != 0)
        return EXIT_USAGE;
    if (o->event_count == 0)
        return rows_request_bad(r, "-e takes events of the record, not ",
                                r->events);
    if (r->events == NULL && has_key(o, BREAKDOWN_OBJECT))
        keep_data_events(record, o, events);
    if (r->events == NULL && most != 0 && o->event_count > most)
        o->event_count = most;
    o->sort_by_name = r->sort != NULL && strcmp(r->sort, "name") == 0;
    return r->sort != NULL && !o->sort_by_name
               ? choose_sort(r, record, most, events, o)
               : 0;
}

int
rows_request_write(const struct rows_request *r, bool text,
                   int (*write)(void *user, const struct breakdown_look *look,
                                FILE *out),
                   void *user)
{
    const struct report_output output = {r->output, r->color, text};

    return report_output_write(&output, write, user);
}
