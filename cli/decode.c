/* SPDX-License-Identifier: MIT */
/* tally decode: what register values mean, and what is wrong with them. */
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/rows_text.h"
#include "cli/selected.h"
#include "table/decode.h"

enum { OPT_MACHINE, OPT_FORMAT, OPT_JSON, OPT_COLOR };

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINE", "the machine of the registers"},
    [OPT_FORMAT] = {0, "format", "FORM", "text or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    {0},
};

#define REGISTERS_MAX 256

struct request {
    const struct machine_row *machine;
    bool json;
    const char *color;              /* what --color was given, or NULL */
    size_t count;                   /* of operands, and then of registers */
    char *words[REGISTERS_MAX + 1]; /* the operands; a last one too many */
    const struct register_row *rows[REGISTERS_MAX];
    uint64_t values[REGISTERS_MAX];
};

/* A register's fields on the screen, in columns. */
struct table {
    struct screen *s;
    size_t name, value; /* widths */
};

/* Returns how many characters the value takes. */
static int
digits(uint64_t value)
{
    return snprintf(NULL, 0, "0x%llx", (unsigned long long)value);
}

/* Returns whether the field is shown: a reserved field is not, unless the value
 * differs from its reset. */
static bool
is_shown(const struct field_row *f, uint64_t value)
{
    return (f->access != ACCESS_RSVD && f->access != ACCESS_IGN) ||
           value != (f->has_reset ? f->reset : 0);
}

/* Finds the widths of the columns. */
static struct table
table_of(struct screen *s, const struct register_row *row, uint64_t value)
{
    struct table t = {.s = s};

    for (size_t i = 0; i < row->field_count; i++) {
        const struct field_row *f = &row->fields[i];
        const uint64_t bits = field_get(f, value);
        if (!is_shown(f, bits))
            continue;
        if (strlen(f->name) > t.name)
            t.name = strlen(f->name);
        if ((size_t)digits(bits) > t.value)
            t.value = (size_t)digits(bits);
    }
    return t;
}

/* Prints a field. */
static void
print_field(void *user, const struct field_row *f, uint64_t value)
{
    const struct table *t = user;
    char bits[BITS_TEXT];

    if (!is_shown(f, value))
        return;
    bits_text(f, bits, sizeof(bits));
    int used = fprintf(t->s->out, "  %-*s  %5s  0x%llx", (int)t->name, f->name,
                       bits, (unsigned long long)value);
    if (f->brief == NULL) {
        fprintf(t->s->out, "\n");
        return;
    }
    used += fprintf(t->s->out, "%*s", (int)t->value - digits(value) + 2, "");
    screen_prose(t->s, (size_t)used, (size_t)used, f->brief);
}

/* Prints a line of at most 2,047 bytes, which goes on further in. */
__attribute__((format(printf, 3, 4))) static void
print_line(struct screen *s, int indent, const char *format, ...)
{
    char text[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(s->out, "%*s", indent, "");
    screen_prose(s, (size_t)indent, 4, text);
}

/* Prints what a counter counts. A counter that is set to count nothing is said
 * to be set; the warnings say why. */
static void
print_counter(void *user, const struct counter_row *c,
              const struct selection *s, const char *note)
{
    struct screen *screen = ((const struct table *)user)->s;
    char text[SELECTION_TEXT], why[SELECTION_TEXT];

    if (s == NULL) {
        print_line(screen, 2, "%s: %s", c->name, note);
        return;
    }
    const bool counts = !s->off &&
                        (s->umask == NULL || s->umask->counts == UMASK_YES) &&
                        !selection_never(s, why, sizeof(why));
    selection_text(s, text, sizeof(text));
    print_line(screen, 2, "%s %s %s%s%s", c->name,
               counts ? "counts" : "is set to", text, note ? ": " : "",
               note ? note : "");
    if (s->event->brief != NULL)
        print_line(screen, 4, "%s%s%s", s->event->brief,
                   s->umask != NULL && s->umask->brief[0] ? ": " : "",
                   s->umask != NULL ? s->umask->brief : "");
}

/* Prints a warning. */
static void
print_warning(void *user, const char *text)
{
    print_line(((const struct table *)user)->s, 2, "warning: %s", text);
}

/* Prints the registers one by one, and warnings of all together. */
static int
decode_text(const struct request *r)
{
    struct screen screen;
    struct table table = {.s = &screen};
    const struct decode_sink together = {NULL, NULL, print_warning, &table};
    const int status = screen_open(&screen, r->color);

    if (status != 0)
        return status;
    for (size_t i = 0; i < r->count; i++) {
        struct table one = table_of(&screen, r->rows[i], r->values[i]);
        const struct decode_sink sink = {print_field, print_counter,
                                         print_warning, &one};
        fprintf(screen.out, "%s", i > 0 ? "\n" : "");
        screen_heading(&screen, "%s = 0x%llx", r->rows[i]->name,
                       (unsigned long long)r->values[i]);
        fprintf(screen.out, "  ");
        screen_prose(&screen, 2, 2, r->rows[i]->brief);
        decode_register(r->machine, r->rows[i], r->values[i], &sink);
    }
    decode_together(r->machine, r->rows, r->values, r->count, &together);
    return screen_close(&screen);
}

struct lists {
    json_t *fields, *counters, *warnings;
};

/* Adds a field to the JSON. */
static void
add_field(void *user, const struct field_row *f, uint64_t value)
{
    struct lists *l = user;
    char bits[BITS_TEXT], text[24];

    bits_text(f, bits, sizeof(bits));
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
    json_array_append_new(l->fields, json_pack("{ssssss}", "name", f->name,
                                               "bits", bits, "value", text));
}

/* Adds what a counter counts to the JSON. */
static void
add_counter(void *user, const struct counter_row *c, const struct selection *s,
            const char *note)
{
    struct lists *l = user;
    json_t *o = json_pack("{ss}", "counter", c->name);

    if (s != NULL)
        selection_set(o, s);
    else
        json_object_set_new(o, "event", json_null());
    if (note != NULL)
        json_object_set_new(o, "note", json_string(note));
    json_array_append_new(l->counters, o);
}

/* Adds a warning to the JSON. */
static void
add_warning(void *user, const char *text)
{
    struct lists *l = user;

    json_array_append_new(l->warnings, json_string(text));
}

/* Prints the registers, and warnings of all together, as JSON. */
static int
decode_json(const struct request *r)
{
    json_t *o = json_object(), *rows = json_array();
    struct lists l = {.warnings = json_array()};
    const struct decode_sink together = {NULL, NULL, add_warning, &l};
    json_t *all = l.warnings;

    json_object_set_new(o, "schema", json_integer(1));
    json_object_set_new(o, "machine", json_string(r->machine->name));
    decode_together(r->machine, r->rows, r->values, r->count, &together);
    for (size_t i = 0; i < r->count; i++) {
        const struct decode_sink sink = {add_field, add_counter, add_warning,
                                         &l};
        char value[24];
        l = (struct lists){json_array(), json_array(), json_array()};
        snprintf(value, sizeof(value), "0x%llx",
                 (unsigned long long)r->values[i]);
        decode_register(r->machine, r->rows[i], r->values[i], &sink);
        json_array_append_new(
            rows, json_pack("{ssss so so so}", "name", r->rows[i]->name,
                            "value", value, "fields", l.fields, "counters",
                            l.counters, "warnings", l.warnings));
    }
    json_object_set_new(o, "registers", rows);
    json_object_set_new(o, "warnings", all);
    return json_print(o);
}

/* Takes one option. */
static int
take_option(void *user, int option, const char *value)
{
    struct request *const r = user;

    if (option == OPT_MACHINE)
        return command_machine(value, &r->machine);
    if (option == OPT_COLOR) {
        r->color = value;
        return 0;
    }
    return command_json(&command_decode, value, &r->json);
}

/* Reads the registers and their values. */
static int
take_values(struct request *r)
{
    if (r->machine == NULL) {
        fprintf(stderr, "tally decode: no machine; -m MACHINE names it, tally "
                        "list machines shows them\n");
        return EXIT_USAGE;
    }
    if (r->count == 0) {
        fprintf(stderr, "tally decode: no REGISTER=VALUE; see tally decode "
                        "--help\n");
        return EXIT_USAGE;
    }
    if (r->count > REGISTERS_MAX) {
        fprintf(stderr, "tally decode: more than %d registers\n",
                REGISTERS_MAX);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < r->count; i++)
        if (decode_parse(r->machine, r->words[i], &command_log, &r->rows[i],
                         &r->values[i]) != 0)
            return EXIT_USAGE;
    return 0;
}

static int
take_word(void *user, char *word)
{
    struct request *const r = user;

    if (r->count <= REGISTERS_MAX)
        r->words[r->count++] = word;
    return 0;
}

static int
run_decode(int argc, char **argv)
{
    struct request request = {0};
    int status = command_read(&command_decode, argc, argv, take_option,
                              take_word, &request);

    if (status == COMMAND_HELP) {
        command_help(&command_decode, stdout);
        return 0;
    }
    if (status == 0)
        status = take_values(&request);
    if (status != 0)
        return status;
    if (request.json && command_color(request.color, stdout) >= 0)
        return decode_json(&request);
    return decode_text(&request);
}

const struct command command_decode = {
    .name = "decode",
    .summary = "say what register values count, and what is wrong",
    .synopsis = "-m MACHINE REGISTER=VALUE...",
    .example =
        "  # Print which event the value of a register selects.\n"
        "  tally decode -m montecito PMC5=0x2001208\n"
        "  # The same of a register that chooses a group of events by a mask.\n"
        "  tally decode -m sparc-t4 PCR0=0x1fe6",
    .options = options,
    .run = run_decode,
};
