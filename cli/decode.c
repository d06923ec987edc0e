/* SPDX-License-Identifier: MIT */
/* tally decode: what register values mean, and what is wrong with them. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/selected.h"
#include "table/decode.h"

enum { OPT_MACHINE, OPT_FORMAT, OPT_JSON };

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINE", "the machine of the registers"},
    [OPT_FORMAT] = {0, "format", "FORM", "text or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    {0},
};

#define REGISTERS_MAX 256

struct request {
    const struct machine_row *machine;
    bool json;
    size_t count;
    const struct register_row *rows[REGISTERS_MAX];
    uint64_t values[REGISTERS_MAX];
};

static void
bits_text(const struct field_row *f, char *text, size_t size)
{
    if (f->width == 1)
        snprintf(text, size, "%u", f->low);
    else
        snprintf(text, size, "%u:%u", f->low + f->width - 1u, f->low);
}

static void
print_field(void *user, const struct field_row *f, uint64_t value)
{
    char bits[12];

    (void)user;
    bits_text(f, bits, sizeof(bits));
    /* What is nobody's and says nothing is left out. */
    if ((f->access == ACCESS_RSVD || f->access == ACCESS_IGN) &&
        value == (f->has_reset ? f->reset : 0))
        return;
    printf("  %-10s %5s  0x%-6llx %s\n", f->name, bits,
           (unsigned long long)value, f->brief != NULL ? f->brief : "");
}

static void
print_counter(void *user, const struct counter_row *c,
              const struct selection *s, const char *note)
{
    char text[SELECTION_TEXT];

    (void)user;
    if (s != NULL) {
        selection_text(s, text, sizeof(text));
        printf("  %s counts %s%s%s\n", c->name, text, note ? ": " : "",
               note ? note : "");
        if (s->event->brief != NULL)
            printf("    %s%s%s\n", s->event->brief,
                   s->umask != NULL && s->umask->brief[0] ? ": " : "",
                   s->umask != NULL ? s->umask->brief : "");
    } else {
        printf("  %s: %s\n", c->name, note);
    }
}

static void
print_warning(void *user, const char *text)
{
    (void)user;
    printf("  warning: %s\n", text);
}

static int
decode_text(const struct request *r)
{
    const struct decode_sink sink = {print_field, print_counter, print_warning,
                                     NULL};
    const struct decode_sink together = {NULL, NULL, print_warning, NULL};

    for (size_t i = 0; i < r->count; i++) {
        printf("%s%s = 0x%llx   %s\n", i > 0 ? "\n" : "", r->rows[i]->name,
               (unsigned long long)r->values[i], r->rows[i]->brief);
        decode_register(r->machine, r->rows[i], r->values[i], &sink);
    }
    decode_together(r->machine, r->rows, r->values, r->count, &together);
    return 0;
}

struct lists {
    json_t *fields, *counters, *warnings;
};

static void
add_field(void *user, const struct field_row *f, uint64_t value)
{
    struct lists *l = user;
    char bits[12], text[24];

    bits_text(f, bits, sizeof(bits));
    snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
    json_array_append_new(l->fields, json_pack("{ssssss}", "name", f->name,
                                               "bits", bits, "value", text));
}

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

static void
add_warning(void *user, const char *text)
{
    struct lists *l = user;

    json_array_append_new(l->warnings, json_string(text));
}

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

static int
take_option(struct request *r, int option, const char *value)
{
    if (option == OPT_MACHINE) {
        r->machine = machine_find(value);
        if (r->machine == NULL)
            machine_unknown(value, &command_log);
        return r->machine != NULL ? 0 : EXIT_USAGE;
    }
    r->json = option == OPT_JSON || strcmp(value, "json") == 0;
    if (r->json || strcmp(value, "text") == 0)
        return 0;
    fprintf(stderr, "tally decode: --format takes text or json, not '%s'\n",
            value);
    return EXIT_USAGE;
}

static int
take_values(struct request *r, char **words, size_t count)
{
    if (r->machine == NULL) {
        fprintf(stderr, "tally decode: no machine; -m MACHINE names it, tally "
                        "list machines shows them\n");
        return EXIT_USAGE;
    }
    if (count == 0) {
        fprintf(stderr, "tally decode: no REGISTER=VALUE; see tally decode "
                        "--help\n");
        return EXIT_USAGE;
    }
    if (count > REGISTERS_MAX) {
        fprintf(stderr, "tally decode: more than %d registers\n",
                REGISTERS_MAX);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < count; i++)
        if (decode_parse(r->machine, words[i], &command_log, &r->rows[i],
                         &r->values[i]) != 0)
            return EXIT_USAGE;
    r->count = count;
    return 0;
}

static int
run_decode(int argc, char **argv)
{
    struct option_walk walk = {&command_decode, argc, argv, 0, NULL};
    struct request request = {0};
    size_t count = 0;
    const char *value;
    int status;

    for (;;) {
        const int option = command_option(&walk, &value);
        if (option == COMMAND_HELP) {
            command_help(&command_decode, stdout);
            return 0;
        }
        if (option == COMMAND_BAD)
            return EXIT_USAGE;
        if (option >= 0) {
            status = take_option(&request, option, value);
            if (status != 0)
                return status;
        } else if (walk.next < argc) {
            argv[count++] = argv[walk.next++];
        } else {
            break;
        }
    }
    status = take_values(&request, argv, count);
    if (status != 0)
        return status;
    return request.json ? decode_json(&request) : decode_text(&request);
}

const struct command command_decode = {
    .name = "decode",
    .summary = "say what register values count, and what is wrong",
    .synopsis = "-m MACHINE REGISTER=VALUE...",
    .example = "  tally decode -m montecito PMC5=0x2001208\n"
               "  tally decode -m sparc-t4 PCR0=0x1fe6",
    .options = options,
    .run = run_decode,
};
