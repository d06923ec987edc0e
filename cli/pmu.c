/* SPDX-License-Identifier: MIT */
/* tally pmu: a console on the register models, and a reader of scripts. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/input.h"
#include "cli/command.h"
#include "cli/pmu_console.h"
#include "cli/pmu_loop.h"
#include "report/json_text.h"

enum { OPT_MACHINE, OPT_FORMAT, OPT_JSON };

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINE", "the machine to work on"},
    [OPT_FORMAT] = {0, "format", "FORM", "text or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    {0},
};

struct session {
    struct pmu_console console;
    const char *machine; /* what -m named */
    const char *path;    /* NULL: standard input */
    FILE *in;
    bool json, prompt;
    bool failed;
};

static void
list_verbs(FILE *out)
{
    for (size_t i = 0; pmu_verb(i)->name != NULL; i++) {
        const struct pmu_verb *v = pmu_verb(i);
        fprintf(out, "  %s%s%s\n      %s\n", v->name, *v->words ? " " : "",
                v->words, v->brief);
    }
}

static void
help_verbs(FILE *out)
{
    fprintf(out, "\ncommands, one a line; = RESULT may follow, which must be "
                 "what comes of it:\n");
    list_verbs(out);
}

/* Writes where the line is, for messages; at a prompt, where the loop is alone.
 */
static void
tell_place(const struct session *s, unsigned long line, const char *row)
{
    fprintf(stderr, "tally pmu: ");
    if (!s->prompt)
        escape_printf(stderr, "%s:%lu: ", s->path ? s->path : "-", line);
    escape_printf(stderr, "%s%s", row, *row ? ": " : "");
}

static void
tell_trouble(const struct session *s, const struct pmu_result *r)
{
    tell_place(s, r->line, r->row);
    if (r->verdict == PMU_WRONG)
        escape_printf(stderr, "%s\n", r->message);
    else
        escape_printf(stderr, "%s%s%s: %s, not %s\n", r->command,
                      *r->name ? " " : "", r->name, r->text, r->wanted);
}

static void
tell_text(const struct session *s, const struct pmu_result *r)
{
    if (r->verdict == PMU_WRONG)
        return;
    if (!s->prompt)
        escape_printf(stdout, "%lu: %s%s%s%s%s = ", r->line, r->row,
                      *r->row ? ": " : "", r->command, *r->name ? " " : "",
                      r->name);
    else if (r->has_value && *r->name)
        escape_printf(stdout, "%s = ", r->name);
    escape_printf(stdout, "%s\n", r->text);
}

static json_t *
traps_json(uint32_t traps)
{
    json_t *names = json_array();

    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        const char *name = NULL;
        if ((traps & bit) != 0)
            name = tally_pmu_trap_name((enum tally_pmu_trap)bit);
        if (name != NULL)
            json_array_append_new(names, json_string(name));
    }
    return names;
}

static void
tell_json(const struct pmu_result *r)
{
    char value[32];

    snprintf(value, sizeof(value), "0x%llx", (unsigned long long)r->value);
    json_t *o = json_pack(
        "{sisIss?soss?so}", "schema", 1, "line", (json_int_t)r->line, "cmd",
        r->command, "reg", *r->name ? report_json_text(r->name) : json_null(),
        "value", r->has_value ? value : NULL, "traps", traps_json(r->traps));
    if (o == NULL)
        return;
    if (*r->row)
        json_object_set_new(o, "row", report_json_text(r->row));
    if (r->verdict == PMU_WRONG)
        json_object_set_new(o, "error", report_json_text(r->message));
    else
        json_object_set_new(o, "result", report_json_text(r->text));
    if (*r->wanted && r->verdict != PMU_WRONG) {
        json_object_set_new(o, "expected", report_json_text(r->wanted));
        json_object_set_new(o, "met", json_boolean(r->verdict == PMU_DONE));
    }
    json_dumpf(o, stdout, JSON_PRESERVE_ORDER);
    printf("\n");
    json_decref(o);
}

static void
tell(void *user, const struct pmu_result *r)
{
    struct session *const s = user;

    if (s->json)
        tell_json(r);
    else
        tell_text(s, r);
    if (r->verdict == PMU_DONE)
        return;
    fflush(stdout);
    tell_trouble(s, r);
    s->failed = true;
}

static int
no_machine(void)
{
    const char *names[MACHINE_COUNT];
    size_t count = 0;

    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (!m->hidden && m->family != FAMILY_NONE)
            names[count++] = m->name;
    }
    fprintf(stderr, "tally pmu: no machine; -m MACHINE names one of ");
    for (size_t i = 0; i < count; i++)
        fprintf(stderr, "%s%s", names[i],
                i + 1 == count   ? "\n"
                : i + 2 == count ? " and "
                                 : ", ");
    return EXIT_USAGE;
}

/* Returns whether a line may come while there is no machine: it names one, is
 * of a loop, or says nothing. */
static bool
may_come_first(const struct session *s, const char *line)
{
    return pmu_says_nothing(line) || pmu_begins_with(line, "machine") ||
           pmu_loop_takes(&s->console, line);
}

/* Carries out a line that only a person types, such as help. Returns whether
 * the line was one. */
static bool
is_answered(const struct session *s, const char *line)
{
    if (s->prompt && strcmp(line, "help") == 0) {
        list_verbs(stdout);
        printf("  quit\n");
        return true;
    }
    return false;
}

static int
read_lines(struct session *s)
{
    char *line = NULL;
    size_t size = 0;
    int status = 0;

    for (;;) {
        if (s->prompt) {
            printf("%s%s ", s->console.machine->name,
                   s->console.loop != NULL ? "..." : ">");
            fflush(stdout);
        }
        ssize_t length = getline(&line, &size, s->in);
        if (length < 0) {
            /* Without memory for a line getline() marks the file with nothing.
             */
            if (!feof(s->in) && !ferror(s->in))
                status = command_no_memory();
            break;
        }
        while (length > 0 &&
               (line[length - 1] == '\n' || line[length - 1] == '\r'))
            line[--length] = '\0';
        if (strlen(line) != (size_t)length) {
            tell_place(s, ++s->console.line, "");
            fprintf(stderr,
                    "a byte 0 is in the line; a line is text up to its end\n");
            s->failed = true;
            continue;
        }
        if (s->prompt && strcmp(line, "quit") == 0)
            break;
        if (is_answered(s, line)) {
            s->console.line++;
            continue;
        }
        if (s->console.machine == NULL && !may_come_first(s, line)) {
            status = no_machine();
            break;
        }
        pmu_console_line(&s->console, line);
        if (s->console.no_memory && !s->prompt) {
            status = EXIT_OURS;
            break;
        }
        s->console.no_memory = false;
    }
    if (s->prompt && feof(s->in))
        printf("\n");
    free(line);
    if (status == 0 && !s->failed && feof(s->in) && s->console.machine == NULL)
        return no_machine(); /* a script without a line to carry out */
    return status;
}

static FILE *
open_file(void *user, const char *path)
{
    (void)user;
    return input_stream(path);
}

static int
run_session(struct session *s)
{
    struct tally_pmu_options monitor;
    int status = 0;

    pmu_console_init(&s->console, tell, s);
    s->console.open_file = open_file;
    tally_pmu_options_init(&monitor, sizeof(monitor));
    monitor.machine = s->machine;
    if (s->machine != NULL &&
        pmu_console_machine(&s->console, &monitor, &command_log) != 0)
        return EXIT_USAGE;
    s->in = s->path != NULL ? input_stream(s->path) : stdin;
    if (s->in == NULL) {
        escape_printf(stderr, "tally pmu: cannot read %s: %s\n", s->path,
                      input_reason(errno));
        status = EXIT_USAGE;
    } else {
        s->prompt = !s->json && isatty(fileno(s->in)) && isatty(fileno(stdout));
        if (s->prompt && s->machine == NULL)
            status = no_machine();
        else
            status = read_lines(s);
        if (status == 0 && ferror(s->in)) {
            escape_printf(stderr, "tally pmu: cannot read %s: %s\n",
                          s->path ? s->path : "standard input",
                          strerror(errno));
            status = EXIT_USAGE;
        }
    }
    if (s->in != NULL && s->in != stdin)
        fclose(s->in);
    pmu_console_end(&s->console);
    pmu_console_finish(&s->console);
    return status != 0 ? status : s->failed;
}

static int
take_option(void *user, int option, const char *value)
{
    struct session *const s = user;

    if (option == OPT_MACHINE) {
        s->machine = value;
        return 0;
    }
    s->json = option == OPT_JSON || strcmp(value, "json") == 0;
    if (s->json || strcmp(value, "text") == 0)
        return 0;
    escape_printf(stderr, "tally pmu: --format takes text or json, not '%s'\n",
                  value);
    return EXIT_USAGE;
}

static int
take_file(void *user, char *name)
{
    struct session *const s = user;

    if (s->path != NULL) {
        escape_printf(stderr, "tally pmu: one file, not '%s' too\n", name);
        return EXIT_USAGE;
    }
    s->path = name;
    return 0;
}

static int
run_pmu(int argc, char **argv)
{
    struct session session = {0};
    const int status = command_read(&command_pmu, argc, argv, take_option,
                                    take_file, &session);

    if (status == COMMAND_HELP) {
        command_help(&command_pmu, stdout);
        return 0;
    }
    if (status != 0)
        return status;
    if (session.path != NULL && strcmp(session.path, "-") == 0)
        session.path = NULL;
    return run_session(&session);
}

const struct command command_pmu = {
    .name = "pmu",
    .summary = "read and write the registers of a model, raise its signals",
    .synopsis = "-m MACHINE [FILE]",
    .example =
        "  # Write a register of a model and read it back.\n"
        "  printf 'write PCR 0x2\\nread PCR\\n' | tally pmu -m ultrasparc-t2\n"
        "  # Print a register field by field.\n"
        "  echo dump PCR | tally pmu -m sparc-t4",
    .options = options,
    .more = help_verbs,
    .run = run_pmu,
};
