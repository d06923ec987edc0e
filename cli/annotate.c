/* SPDX-License-Identifier: MIT */
/* tally annotate: a record's counts beside the lines of sources and beside
 * instructions. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/open_record.h"
#include "cli/report_output.h"
#include "cli/source_moves.h"
#include "record/annotation_report.h"
#include "record/breakdown.h"
#include "table/near.h"
#include "table/text.h"

#define EVENTS_SHOWN 4 /* as text, if -e names none */

enum {
    OPT_INPUT,
    OPT_EVENTS,
    OPT_ASSEMBLY,
    OPT_MIN,
    OPT_SOURCE,
    OPT_DEBUG_DIR,
    OPT_OUTPUT,
    OPT_FORMAT,
    OPT_JSON,
    OPT_COLOR,
};

static const struct option_row options[] = {
    [OPT_INPUT] =
        {'i', "input", "FILE",
         "the record to read, - for standard input (default: tally.data)"},
    [OPT_EVENTS] = {'e', "event", "EVENTS",
                    "only these events of the record; names may be short"},
    [OPT_ASSEMBLY] = {0, "asm", NULL, "show the instructions of each line too"},
    [OPT_MIN] = {0, "min", "PERCENT",
                 "without operands: functions with at least this part of the "
                 "first event (default: 1)"},
    [OPT_SOURCE] = {0, "source", "OLD=NEW",
                    "sources whose path begins with OLD are now in NEW"},
    [OPT_DEBUG_DIR] = {0, "debug-dir", "DIR",
                       "look for separate debug files there too"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write there (default: standard output)"},
    [OPT_FORMAT] = {0, "format", "FORM", "text or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    {0},
};

struct annotate_request {
    const char *input, *output, *color;
    char *events; /* owned; all -e joined; NULL: all */
    const char **debug_dirs, **operands;
    size_t debug_dir_count, operand_count;
    struct source_moves moves;
    double min; /* per cent */
    bool assembly, json;
};

/* Says what is wrong with the command line. */
static int
bad_usage(const char *text, const char *value)
{
    escape_printf(stderr, "tally annotate: %s'%s'; see tally annotate --help\n",
                  text, shown(value, strlen(value)).text);
    return EXIT_USAGE;
}

static int
take_option(void *user, int option, const char *value)
{
    struct annotate_request *const r = user;
    char *end;

    switch (option) {
    case OPT_INPUT:
        return open_record_take("annotate", &r->input, value);
    case OPT_EVENTS:
        return command_join(&r->events, value) == 0 ? 0 : EXIT_OURS;
    case OPT_ASSEMBLY:
        r->assembly = true;
        return 0;
    case OPT_MIN:
        r->min = strtod(value, &end);
        end += *end == '%';
        return end != value && *end == '\0' && r->min >= 0 && r->min <= 100
                   ? 0
                   : bad_usage("--min takes 0 to 100 per cent, not ", value);
    case OPT_SOURCE:
        return source_moves_add(&r->moves, "annotate", "source", value);
    case OPT_DEBUG_DIR:
        r->debug_dirs[r->debug_dir_count++] = value;
        return command_debug_dir(&command_annotate, value);
    case OPT_OUTPUT:
        r->output = value;
        return *value != '\0' ? 0
                              : bad_usage("-o takes a file's name, not ", "");
    case OPT_COLOR:
        r->color = value;
        return 0;
    default:
        return command_json(&command_annotate,
                            option == OPT_JSON ? NULL : value, &r->json);
    }
}

static int
take_operand(void *user, char *word)
{
    struct annotate_request *const r = user;

    r->operands[r->operand_count++] = word;
    return 0;
}

/* Returns 0, an exit status, or COMMAND_HELP. */
static int
read_options(struct annotate_request *r, int argc, char **argv)
{
    const int status = command_read(&command_annotate, argc, argv, take_option,
                                    take_operand, r);

    if (status != 0)
        return status;
    if (command_color(r->color, stdout) < 0)
        return bad_usage("--color takes auto, always or never, not ", r->color);
    return open_record_spares("annotate", "-o", r->input, r->output);
}

/* What is annotated: a function, file or image of the record. */
struct choice {
    uint32_t name;
    enum annotation_kind kind;
};

struct work {
    const struct annotate_request *request;
    const struct record *record;
    struct resolver *resolver;
    struct breakdown *functions, *files; /* all rows, largest first */
    size_t *events, event_count;
    struct choice *choices;
    size_t choice_count;
    bool found; /* what the operand names that was looked for last */
    struct annotation **annotations;
};

/* Returns whether `name` is the function, with or without its arguments. */
static bool
is_function(const char *function, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(function, name, length) == 0 &&
           (function[length] == '\0' || function[length] == '(');
}

/* Returns whether `name` is the file, or the end of its path. */
static bool
is_path(const char *file, const char *name)
{
    const size_t length = strlen(file), end = strlen(name);

    return end <= length && strcmp(file + length - end, name) == 0 &&
           (end == length || file[length - end - 1] == '/');
}

static int
choose(struct work *w, uint32_t name, enum annotation_kind kind)
{
    struct choice *choices;

    w->found = true;
    for (size_t i = 0; i < w->choice_count; i++) {
        if (w->choices[i].name == name && w->choices[i].kind == kind)
            return 0;
    }
    choices = reallocarray(w->choices, w->choice_count + 1, sizeof(*choices));
    if (choices == NULL)
        return command_no_memory();
    w->choices = choices;
    choices[w->choice_count++] = (struct choice){name, kind};
    return 0;
}

/* Says that nothing has the name, and which names are near. */
static int
unknown_name(const struct work *w, const char *name)
{
    const struct shown asked = shown(name, strlen(name));
    struct near near;
    char text[128];

    near_init(&near, asked.text, 3);
    for (size_t i = 0; i < w->functions->row_count; i++)
        near_add(
            &near,
            resolver_text(w->resolver, w->functions->rows[i].place.function),
            NULL);
    near_text(&near, text, sizeof(text));
    escape_printf(stderr,
                  "tally annotate: no function or file that ran has the name "
                  "'%s'; %s%s%s\n",
                  asked.text, *text != '\0' ? "did you mean " : "",
                  *text != '\0' ? text : "tally report shows all",
                  *text != '\0' ? "?" : "");
    return EXIT_USAGE;
}

/* Returns how the name of a function has the text: as its whole, as a part, or
 * not. */
enum has_text { HAS_NONE, HAS_PART, HAS_WHOLE };

static enum has_text
function_has(const struct work *w, uint32_t function, const char *text)
{
    const char *const name = resolver_text(w->resolver, function);

    return function == 0                ? HAS_NONE
           : is_function(name, text)    ? HAS_WHOLE
           : strstr(name, text) != NULL ? HAS_PART
                                        : HAS_NONE;
}

/* Chooses the files that an operand names, or else the images whose code has no
 * names. */
static int
choose_paths(struct work *w, const char *name)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < w->files->row_count; i++) {
        const uint32_t file = w->files->rows[i].place.file;
        if (file != 0 && is_path(resolver_text(w->resolver, file), name))
            status = choose(w, file, ANNOTATE_FILE);
    }
    for (size_t i = 0; status == 0 && !w->found && i < w->functions->row_count;
         i++) {
        const struct breakdown_place *place = &w->functions->rows[i].place;
        if (place->function == 0 && place->image != 0 &&
            is_path(resolver_text(w->resolver, place->image), name))
            status = choose(w, place->image, ANNOTATE_IMAGE);
    }
    return status;
}

/* Chooses what an operand names: functions of that name, else a file, else an
 * image, else the only function that has the text in its name. */
static int
choose_operand(struct work *w, const char *name)
{
    uint32_t part = 0;
    size_t parts = 0;
    int status = 0;

    w->found = false;
    if (*name == '\0')
        return bad_usage("an operand is a function or file, not ", name);
    for (size_t i = 0; status == 0 && i < w->functions->row_count; i++) {
        const uint32_t function = w->functions->rows[i].place.function;
        const enum has_text has = function_has(w, function, name);
        if (has == HAS_WHOLE)
            status = choose(w, function, ANNOTATE_FUNCTION);
        else if (has == HAS_PART && function != part) {
            part = function;
            parts++;
        }
    }
    if (status == 0 && !w->found)
        status = choose_paths(w, name);
    if (status != 0 || w->found)
        return status;
    if (parts == 1)
        return choose(w, part, ANNOTATE_FUNCTION);
    if (parts > 1) {
        escape_printf(stderr,
                      "tally annotate: %zu functions have '%s' in their "
                      "names; tally report --match '%s' shows them\n",
                      parts, shown(name, strlen(name)).text,
                      shown(name, strlen(name)).text);
        return EXIT_USAGE;
    }
    return unknown_name(w, name);
}

/* Chooses the hottest functions; with --asm code without names too. */
static int
choose_hot(struct work *w)
{
    int status = 0;

    for (size_t i = 0; status == 0 && i < w->functions->row_count; i++) {
        const struct breakdown_row *row = &w->functions->rows[i];
        const double percent =
            breakdown_percent(w->functions, 0, row->values[0]);
        if (!(percent >= w->request->min))
            continue;
        if (row->place.function != 0)
            status = choose(w, row->place.function, ANNOTATE_FUNCTION);
        else if (row->place.image != 0 && w->request->assembly)
            status = choose(w, row->place.image, ANNOTATE_IMAGE);
    }
    if (status == 0 && w->choice_count == 0) {
        escape_printf(
            stderr,
            "tally annotate: no function with a name has %g %% of "
            "%s; --min takes less%s\n",
            w->request->min, w->record->events[w->events[0]].asked,
            w->request->assembly ? "" : ", and --asm shows code without names");
        status = EXIT_USAGE;
    }
    return status;
}

static int
choose_events(struct work *w)
{
    const struct annotate_request *r = w->request;

    w->events = calloc(w->record->event_count + 1, sizeof(*w->events));
    if (w->events == NULL)
        return command_no_memory();
    if (record_events(w->record, r->events, &command_log, w->events,
                      &w->event_count) != 0)
        return EXIT_USAGE;
    if (w->event_count == 0)
        return bad_usage("-e takes events of the record, not ", r->events);
    if (r->events == NULL && !r->json && w->event_count > EVENTS_SHOWN)
        w->event_count = EVENTS_SHOWN;
    return 0;
}

static int
group(struct work *w, enum breakdown_key key, struct breakdown **result)
{
    const struct breakdown_options o = {
        .keys = {key},
        .key_count = 1,
        .events = w->events,
        .event_count = w->event_count,
    };

    return breakdown_create(w->record, w->resolver, &o, &command_log, result) ==
                   0
               ? 0
               : EXIT_OURS;
}

static int
write_all(void *user, const struct breakdown_look *page, FILE *out)
{
    const struct work *const w = user;
    const struct annotate_request *r = w->request;
    struct disassembly *disassembly = disassembly_create(w->record->isa);
    struct texts warned = {0};
    const struct annotation_look look = {
        .record = w->record,
        .resolver = w->resolver,
        .events = w->events,
        .event_count = w->event_count,
        .disassembly = disassembly,
        .assembly = r->assembly,
        .color = page->color,
        .moves = r->moves.rows,
        .move_count = r->moves.count,
        .log = &command_log,
        .warned = &warned,
    };
    int error = texts_init(&warned);

    if (error == 0 && r->json)
        error = annotation_json(w->annotations, w->choice_count, &look, out);
    for (size_t i = 0; !r->json && error == 0 && i < w->choice_count; i++) {
        if (i > 0)
            fputc('\n', out);
        error = annotation_text(w->annotations[i], &look, out);
    }
    texts_finish(&warned);
    disassembly_destroy(disassembly);
    return error;
}

static int
write_output(struct work *w)
{
    const struct report_output output = {w->request->output, w->request->color,
                                         !w->request->json};

    return report_output_write(&output, write_all, w);
}

/* Chooses what is asked for, and annotates it. */
static int
annotate(struct work *w)
{
    int status = choose_events(w);

    if (status == 0)
        status = group(w, BREAKDOWN_FUNCTION, &w->functions);
    if (status == 0)
        status = group(w, BREAKDOWN_FILE, &w->files);
    for (size_t i = 0; status == 0 && i < w->request->operand_count; i++)
        status = choose_operand(w, w->request->operands[i]);
    if (status == 0 && w->request->operand_count == 0)
        status = choose_hot(w);
    if (status != 0)
        return status;
    w->annotations = calloc(w->choice_count + 1, sizeof(*w->annotations));
    if (w->annotations == NULL)
        return command_no_memory();
    for (size_t i = 0; i < w->choice_count; i++) {
        if (annotation_create(w->record, w->resolver, w->choices[i].name,
                              w->choices[i].kind, w->events, w->event_count,
                              &command_log, &w->annotations[i]) != 0)
            return EXIT_OURS;
    }
    return write_output(w);
}

static int
annotate_record(const struct annotate_request *r, const struct record *record)
{
    const struct resolver_options names = {
        .debug_dirs = r->debug_dirs, .debug_dir_count = r->debug_dir_count};
    struct work w = {.request = r, .record = record};
    int status = EXIT_OURS;

    if (resolver_create(record, &names, &command_log, &w.resolver) == 0)
        status = annotate(&w);
    for (size_t i = 0; w.annotations != NULL && i < w.choice_count; i++)
        annotation_destroy(w.annotations[i]);
    breakdown_destroy(w.functions);
    breakdown_destroy(w.files);
    resolver_destroy(w.resolver);
    free(w.annotations);
    free(w.choices);
    free(w.events);
    return status;
}

static int
run_annotate(int argc, char **argv)
{
    struct annotate_request request = {.min = 1};
    struct record *record = NULL;
    int status = EXIT_OURS;

    request.debug_dirs = calloc((size_t)argc, sizeof(*request.debug_dirs));
    request.operands = calloc((size_t)argc, sizeof(*request.operands));
    if (request.debug_dirs != NULL && request.operands != NULL)
        status = read_options(&request, argc, argv);
    else
        command_no_memory();
    if (status == COMMAND_HELP) {
        command_help(&command_annotate, stdout);
        status = 0;
    } else if (status == 0) {
        status = open_record("annotate", request.input, &record);
        if (status == 0)
            status = annotate_record(&request, record);
        record_close(record);
    }
    source_moves_finish(&request.moves);
    free(request.debug_dirs);
    free(request.operands);
    free(request.events);
    return status;
}

const struct command command_annotate = {
    .name = "annotate",
    .summary = "show a record's counts beside source lines and instructions",
    .synopsis = "[OPTIONS] [FUNCTION|FILE]...",
    .example = "  # The sources of the hottest functions, a column an event.\n"
               "  tally annotate\n"
               "  # One function, with its instructions.\n"
               "  tally annotate --asm main\n"
               "  # One whose source has moved since the build.\n"
               "  tally annotate --source /build/src=src main",
    .options = options,
    .run = run_annotate,
};
