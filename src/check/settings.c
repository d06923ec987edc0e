/* SPDX-License-Identifier: MIT */
#include "check/settings.h"

#include <errno.h>
#include <fnmatch.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/input.h"
#include "base/path.h"
#include "check/toml.h"
#include "table/near.h"

#define MOST_BYTES (1u << 20)
#define MOST_PERCENT 1e6

/* What is being read: where errors are, and whom they go to. */
struct reading {
    const char *path;
    const char *benchmark; /* NULL: the top of the file */
    const char *folder;    /* of the file */
    const struct tally_log *log;
};

/* Errors */

__attribute__((format(printf, 2, 3))) static int
bad(const struct reading *r, const char *format, ...)
{
    va_list arguments;
    char text[512];

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (r->benchmark == NULL)
        return tally_fail(r->log, TALLY_ESYNTAX, "%s: %s", r->path, text);
    return tally_fail(r->log, TALLY_ESYNTAX, "%s: benchmark '%s': %s", r->path,
                      r->benchmark, text);
}

static int
no_memory(const struct reading *r)
{
    return tally_fail(r->log, TALLY_ENOMEM, "out of memory");
}

static const char *const top_keys[] = {
    "benchmark", "environment", "events", "hard",    "layouts",
    "machine",   "output",      "soft",   "timeout", NULL};
static const char *const benchmark_keys[] = {
    "command", "directory", "environment", "events",  "hard",
    "input",   "layouts",   "machine",     "match",   "names",
    "output",  "setup",     "soft",        "timeout", NULL};

/* Refuses a table with a key that means nothing. */
static int
check_keys(const struct reading *r, json_t *table, const char *const *keys)
{
    const char *key;
    json_t *value;

    json_object_foreach(table, key, value)
    {
        struct near near;
        bool known = false;
        near_init(&near, key, 1);
        for (const char *const *k = keys; *k != NULL; k++) {
            known |= strcmp(*k, key) == 0;
            near_add(&near, *k, NULL);
        }
        if (!known && near.count > 0)
            return bad(r, "'%s' means nothing here; is it '%s'?", key,
                       near.names[0]);
        if (!known)
            return bad(r,
                       "'%s' means nothing here; doc/check.md has what a "
                       "benchmark may say",
                       key);
    }
    return 0;
}

/* Values */

/* Sets *text to a copy of a text, which takes the place of an old one. */
static int
take_text(const struct reading *r, const json_t *table, const char *key,
          char **text)
{
    const json_t *const value = json_object_get(table, key);

    if (value == NULL)
        return 0;
    if (!json_is_string(value) || json_string_length(value) == 0)
        return bad(r, "%s: a text is expected, as %s = \"...\"", key, key);
    free(*text);
    *text = strdup(json_string_value(value));
    return *text != NULL ? 0 : no_memory(r);
}

static void
free_words(char **words)
{
    for (char **w = words; w != NULL && *w != NULL; w++)
        free(*w);
    free(words);
}

static char **
copy_words(char *const *words)
{
    size_t count = 0;

    while (words != NULL && words[count] != NULL)
        count++;
    char **const copy = calloc(count + 1, sizeof(*copy));
    for (size_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = strdup(words[i]);
        if (copy[i] == NULL) {
            free_words(copy);
            return NULL;
        }
    }
    return copy;
}

/* Sets *words to the texts of an array. `one`: a single text will do. */
static int
take_words(const struct reading *r, const json_t *table, const char *key,
           bool one, char ***words)
{
    const json_t *const value = json_object_get(table, key);
    const bool alone = one && json_is_string(value);
    const size_t count = alone ? 1 : json_array_size(value);

    if (value == NULL)
        return 0;
    if (!alone && !json_is_array(value))
        return bad(r, "%s: %san array of texts is expected, as %s = [\"...\"]",
                   key, one ? "a text or " : "", key);
    char **const made = calloc(count + 1, sizeof(*made));
    if (made == NULL)
        return no_memory(r);
    free_words(*words);
    *words = made;
    for (size_t i = 0; i < count; i++) {
        const json_t *const word = alone ? value : json_array_get(value, i);
        if (!json_is_string(word))
            return bad(r, "%s: element %zu of the array is no text", key,
                       i + 1);
        made[i] = strdup(json_string_value(word));
        if (made[i] == NULL)
            return no_memory(r);
    }
    return 0;
}

/* Takes a command, an array of a program and its arguments. */
static int
take_command(const struct reading *r, const json_t *table, const char *key,
             char ***words)
{
    const json_t *const value = json_object_get(table, key);

    if (json_is_string(value))
        return bad(r,
                   "%s: an array is expected, as %s = [\"./program\", "
                   "\"argument\"]: no shell takes it apart",
                   key, key);
    const int error = take_words(r, table, key, false, words);
    if (error == 0 && value != NULL &&
        ((*words)[0] == NULL || *(*words)[0] == '\0'))
        return bad(r, "%s: the program is missing", key);
    return error;
}

/* A text is for a shell. */
static int
take_setup(const struct reading *r, const json_t *table, char ***words)
{
    const json_t *const value = json_object_get(table, "setup");

    if (!json_is_string(value))
        return take_command(r, table, "setup", words);
    char *const shell[] = {(char *)"sh", (char *)"-c",
                           (char *)json_string_value(value), NULL};
    free_words(*words);
    *words = copy_words(shell);
    return *words != NULL ? 0 : no_memory(r);
}

static int
take_variables(const struct reading *r, const json_t *table, char ***words)
{
    json_t *const value = json_object_get(table, "environment");
    const char *name;
    json_t *text;
    size_t count = 0;

    if (value == NULL)
        return 0;
    if (!json_is_object(value))
        return bad(r, "environment: a table is expected, as environment = "
                      "{ NAME = \"value\" }");
    char **const made = calloc(json_object_size(value) + 1, sizeof(*made));
    if (made == NULL)
        return no_memory(r);
    free_words(*words);
    *words = made;
    json_object_foreach(value, name, text)
    {
        if (!json_is_string(text) || *name == '\0' || strchr(name, '='))
            return bad(r, "environment: '%s' is no name with a text", name);
        if (asprintf(&made[count], "%s=%s", name, json_string_value(text)) <
            0) {
            made[count] = NULL;
            return no_memory(r);
        }
        count++;
    }
    return 0;
}

static int
take_layouts(const struct reading *r, const json_t *table, unsigned *layouts)
{
    const json_t *const value = json_object_get(table, "layouts");

    if (value == NULL)
        return 0;
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > CHECK_LAYOUTS_MOST)
        return bad(r, "layouts: a number from 1 to %u is expected",
                   CHECK_LAYOUTS_MOST);
    *layouts = (unsigned)json_integer_value(value);
    return 0;
}

static int
take_timeout(const struct reading *r, const json_t *table, double *seconds)
{
    const json_t *const value = json_object_get(table, "timeout");

    if (value == NULL)
        return 0;
    if (!json_is_number(value) || json_number_value(value) <= 0 ||
        json_number_value(value) > CHECK_TIMEOUT_MOST)
        return bad(r, "timeout: seconds are expected, above 0 and up to %u",
                   CHECK_TIMEOUT_MOST);
    *seconds = json_number_value(value);
    return 0;
}

static int
take_output(const struct reading *r, const json_t *table, bool *any)
{
    const json_t *const value = json_object_get(table, "output");
    const char *const text = json_string_value(value);

    if (value == NULL)
        return 0;
    *any = text != NULL && strcmp(text, "any") == 0;
    return *any || (text != NULL && strcmp(text, "same") == 0)
               ? 0
               : bad(r, "output: \"same\" or \"any\" is expected");
}

/* Limits */

/* Returns the limits of a measure, which it adds without any if need be; NULL:
 * no memory. */
static struct check_limit *
limit_of(struct check_benchmark *b, const char *measure)
{
    /* The cost is this event. */
    const char *const name =
        strcmp(measure, "cycles") == 0 ? CHECK_COST : measure;

    for (size_t i = 0; i < b->limit_count; i++) {
        if (strcmp(b->limits[i].measure, name) == 0)
            return &b->limits[i];
    }
    struct check_limit *const more =
        realloc(b->limits, (b->limit_count + 1) * sizeof(*more));
    if (more == NULL)
        return NULL;
    b->limits = more;
    more[b->limit_count] =
        (struct check_limit){.measure = strdup(name), .soft = NAN, .hard = NAN};
    return more[b->limit_count].measure != NULL ? &more[b->limit_count++]
                                                : NULL;
}

static int
take_limits(const struct reading *r, const json_t *table, const char *key,
            struct check_benchmark *b)
{
    json_t *const limits = json_object_get(table, key);
    const char *measure;
    json_t *value;

    if (limits != NULL && !json_is_object(limits))
        return bad(r, "%s: a table is expected, as %s = { cost = 1.0 }", key,
                   key);
    json_object_foreach(limits, measure, value)
    {
        const double percent = json_number_value(value);
        if (!json_is_false(value) &&
            (!json_is_number(value) || !(percent >= 0) ||
             percent > MOST_PERCENT))
            return bad(r,
                       "%s: '%s': per cent from 0 to %g are expected, or "
                       "false: no limit",
                       key, measure, MOST_PERCENT);
        struct check_limit *const limit = limit_of(b, measure);
        if (limit == NULL)
            return no_memory(r);
        *(*key == 'h' ? &limit->hard : &limit->soft) =
            json_is_false(value) ? NAN : percent;
    }
    return 0;
}

/* Benchmarks */

static void
finish_benchmark(struct check_benchmark *b)
{
    for (size_t i = 0; i < b->limit_count; i++)
        free(b->limits[i].measure);
    free(b->limits);
    free(b->name);
    free(b->input);
    free(b->directory);
    free(b->machine);
    free(b->unready);
    free_words(b->command);
    free_words(b->variables);
    free_words(b->setup);
    free_words(b->names);
    free_words(b->match);
    free_words(b->events);
    memset(b, 0, sizeof(*b));
}

/* Makes a copy, of which the caller finishes what a failure leaves. */
static bool
copy_benchmark(const struct check_benchmark *from, struct check_benchmark *to)
{
    const struct {
        char *from, **to;
    } texts[] = {{from->name, &to->name},
                 {from->input, &to->input},
                 {from->directory, &to->directory},
                 {from->machine, &to->machine}};
    const struct {
        char **from, ***to;
    } lists[] = {
        {from->command, &to->command}, {from->variables, &to->variables},
        {from->setup, &to->setup},     {from->names, &to->names},
        {from->match, &to->match},     {from->events, &to->events}};

    *to = (struct check_benchmark){.layouts = from->layouts,
                                   .timeout = from->timeout,
                                   .any_output = from->any_output};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (texts[i].from != NULL &&
            (*texts[i].to = strdup(texts[i].from)) == NULL)
            return false;
    }
    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        if (lists[i].from != NULL &&
            (*lists[i].to = copy_words(lists[i].from)) == NULL)
            return false;
    }
    for (size_t i = 0; i < from->limit_count; i++) {
        struct check_limit *const limit = limit_of(to, from->limits[i].measure);
        if (limit == NULL)
            return false;
        limit->soft = from->limits[i].soft;
        limit->hard = from->limits[i].hard;
    }
    return true;
}

/* What a benchmark has unless the file says otherwise. */
static bool
begin_defaults(struct check_benchmark *b)
{
    *b = (struct check_benchmark){.layouts = CHECK_LAYOUTS};
    b->machine = strdup(CHECK_MACHINE);
    struct check_limit *limit = limit_of(b, CHECK_INSTRUCTIONS);
    if (limit != NULL) {
        limit->hard = CHECK_HARD_INSTRUCTIONS;
        limit = limit_of(b, CHECK_COST);
    }
    if (limit != NULL)
        limit->hard = CHECK_HARD_COST;
    return b->machine != NULL && limit != NULL;
}

/* Takes what the top of the file may have as a benchmark does. */
static int
take_common(const struct reading *r, const json_t *table,
            struct check_benchmark *b)
{
    int error = take_text(r, table, "machine", &b->machine);

    if (error == 0)
        error = take_layouts(r, table, &b->layouts);
    if (error == 0)
        error = take_timeout(r, table, &b->timeout);
    if (error == 0)
        error = take_words(r, table, "events", false, &b->events);
    if (error == 0)
        error = take_variables(r, table, &b->variables);
    if (error == 0)
        error = take_output(r, table, &b->any_output);
    if (error == 0)
        error = take_limits(r, table, "hard", b);
    return error == 0 ? take_limits(r, table, "soft", b) : error;
}

/* Puts the folder of the file before a path that is relative. */
static int
place(const struct reading *r, char **path)
{
    char *text;

    if (*path == NULL || **path == '/')
        return 0;
    if (asprintf(&text, "%s/%s", r->folder, *path) < 0)
        return no_memory(r);
    free(*path);
    *path = text;
    return 0;
}

static int
read_benchmark(struct reading *r, const char *name, json_t *table,
               const struct check_benchmark *defaults,
               struct check_benchmark *b)
{
    int error = 0;

    r->benchmark = name;
    if (!copy_benchmark(defaults, b) || (b->name = strdup(name)) == NULL)
        return no_memory(r);
    if (!json_is_object(table))
        return bad(r, "a table is expected: [benchmark.%s]", name);
    if (*name == '\0' || strchr(name, '/') != NULL)
        return bad(r, "a name is not empty and has no '/'");
    if (error == 0)
        error = check_keys(r, table, benchmark_keys);
    if (error == 0)
        error = take_command(r, table, "command", &b->command);
    if (error == 0 && b->command == NULL)
        error = bad(r, "it lacks command = [\"./program\", \"argument\"]");
    if (error == 0)
        error = take_text(r, table, "input", &b->input);
    if (error == 0)
        error = take_text(r, table, "directory", &b->directory);
    if (error == 0)
        error = take_setup(r, table, &b->setup);
    if (error == 0)
        error = take_command(r, table, "names", &b->names);
    if (error == 0)
        error = take_words(r, table, "match", true, &b->match);
    if (error == 0 && b->match != NULL && b->names == NULL)
        error = bad(r, "match needs names = [...], a command that lists them");
    if (error == 0)
        error = take_common(r, table, b);
    if (error == 0 && b->directory != NULL)
        error = place(r, &b->directory);
    else if (error == 0 && (b->directory = strdup(r->folder)) == NULL)
        error = no_memory(r);
    return error == 0 ? place(r, &b->input) : error;
}

static int
read_root(struct reading *r, json_t *root, struct check_settings *s)
{
    struct check_benchmark defaults;
    json_t *const benchmarks = json_object_get(root, "benchmark");
    const char *name;
    json_t *table;
    int error = begin_defaults(&defaults) ? 0 : no_memory(r);

    if (error == 0)
        error = check_keys(r, root, top_keys);
    if (error == 0 && benchmarks != NULL && !json_is_object(benchmarks))
        error = bad(r, "benchmark: a table of benchmarks is expected, as "
                       "[benchmark.NAME]");
    if (error == 0 && json_object_size(benchmarks) == 0)
        error = bad(r, "it has no benchmark: [benchmark.NAME] with command = "
                       "[\"./program\"] makes one");
    if (error == 0)
        error = take_common(r, root, &defaults);
    if (error == 0) {
        s->benchmarks =
            calloc(json_object_size(benchmarks), sizeof(*s->benchmarks));
        error = s->benchmarks == NULL ? no_memory(r) : 0;
    }
    json_object_foreach(benchmarks, name, table)
    {
        if (error != 0)
            break;
        error = read_benchmark(r, name, table, &defaults,
                               &s->benchmarks[s->count++]);
    }
    finish_benchmark(&defaults);
    return error;
}

int
check_settings_parse(const char *text, size_t size, const char *path,
                     const struct tally_log *log, struct check_settings *s)
{
    struct reading r = {.path = path, .log = log};
    char message[512], *folder = NULL;
    int error = 0;

    memset(s, 0, sizeof(*s));
    json_t *const root = toml_read(text, size, message, sizeof(message));
    if (root == NULL)
        return bad(&r, "%s", message);
    s->path = strdup(path);
    folder = strdup(path);
    if (s->path == NULL || folder == NULL) {
        error = no_memory(&r);
    } else {
        r.folder = dirname(folder);
        error = read_root(&r, root, s);
    }
    free(folder);
    json_decref(root);
    return error;
}

int
check_settings_read(const char *path, const struct tally_log *log,
                    struct check_settings *s)
{
    size_t size;
    char *const text = input_read(path, MOST_BYTES, &size);

    memset(s, 0, sizeof(*s));
    if (text == NULL && errno == EFBIG)
        return tally_fail(log, TALLY_ESYNTAX,
                          "%s has more than 1 MiB: it is no tally.toml", path);
    if (text == NULL)
        return tally_fail(log, TALLY_EIO,
                          "cannot read %s: %s; -f names another file, and "
                          "tally check -- PROGRAM needs none",
                          path, input_reason(errno));
    const int error = check_settings_parse(text, size, path, log, s);
    free(text);
    return error;
}

/* Returns the name of a program of the command line: its file's name and its
 * arguments; NULL: no memory. */
static char *
name_of(char *const *argv)
{
    char *name = NULL;
    size_t size;
    FILE *const out = open_memstream(&name, &size);

    if (out == NULL)
        return NULL;
    fputs(path_base(argv[0]), out);
    /* In quotes where it would look like several. */
    for (char *const *a = argv + 1; *a != NULL; a++)
        fprintf(out, **a == '\0' || strpbrk(*a, " \t\n'") ? " '%s'" : " %s",
                *a);
    const bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return name;
    free(name);
    return NULL;
}

int
check_settings_program(char *const *argv, const struct tally_log *log,
                       struct check_settings *s)
{
    memset(s, 0, sizeof(*s));
    s->benchmarks = calloc(1, sizeof(*s->benchmarks));
    if (s->benchmarks != NULL) {
        struct check_benchmark *const b = &s->benchmarks[s->count++];
        const bool begun = begin_defaults(b);
        b->name = name_of(argv);
        b->directory = strdup(".");
        b->command = copy_words(argv);
        if (begun && b->name != NULL && b->directory != NULL &&
            b->command != NULL)
            return 0;
    }
    return tally_fail(log, TALLY_ENOMEM, "out of memory");
}

/* Suites */

static bool
matches(const struct check_benchmark *suite, const char *name)
{
    char **pattern = suite->match;

    if (pattern == NULL || *pattern == NULL)
        return true;
    while (*pattern != NULL && fnmatch(*pattern, name, 0) != 0)
        pattern++;
    return *pattern != NULL;
}

/* Returns the text with the name in place of each {}, and frees the text; NULL:
 * no memory. */
static char *
put_name(char *text, const char *name)
{
    char *made = NULL;
    size_t size;
    FILE *const out = text != NULL ? open_memstream(&made, &size) : NULL;

    for (const char *at = text; out != NULL && *at != '\0';) {
        const char *const hole = strstr(at, "{}");
        const size_t length = hole != NULL ? (size_t)(hole - at) : strlen(at);
        fprintf(out, "%.*s%s", (int)length, at, hole != NULL ? name : "");
        at += length + (hole != NULL ? 2 : 0);
    }
    free(text);
    if (out == NULL || fclose(out) != 0) {
        free(made);
        return NULL;
    }
    return made;
}

/* Makes one benchmark of a suite. */
static bool
make_member(const struct check_benchmark *suite, const char *name,
            struct check_benchmark *b)
{
    if (!copy_benchmark(suite, b))
        return false;
    free(b->name);
    if (asprintf(&b->name, "%s/%s", suite->name, name) < 0)
        b->name = NULL;
    bool whole = b->name != NULL;
    for (char **word = b->command; whole && *word != NULL; word++) {
        char *const made = put_name(*word, name);
        whole = made != NULL;
        *word = made;
        if (!whole) {
            /* The words behind a NULL would be lost. */
            for (char **rest = word + 1; *rest != NULL; rest++)
                free(*rest);
        }
    }
    free_words(b->names);
    b->names = NULL;
    return whole;
}

/* Appends a benchmark of a suite; a name that is not wanted is passed over. */
static int
add_member(struct check_settings *s, size_t suite, size_t first,
           const char *name, const struct tally_log *log)
{
    const struct check_benchmark *const from = &s->benchmarks[suite];

    if (*name == '\0' || !matches(from, name))
        return 0;
    for (size_t i = first; i < s->count; i++) {
        if (strcmp(s->benchmarks[i].name + strlen(from->name) + 1, name) == 0)
            return tally_fail(log, TALLY_ESYNTAX,
                              "benchmark '%s' lists '%s' twice", from->name,
                              name);
    }
    struct check_benchmark *const more =
        realloc(s->benchmarks, (s->count + 1) * sizeof(*more));
    if (more == NULL)
        return tally_fail(log, TALLY_ENOMEM, "out of memory");
    s->benchmarks = more;
    return make_member(&more[suite], name, &more[s->count++])
               ? 0
               : tally_fail(log, TALLY_ENOMEM, "out of memory");
}

int
check_settings_expand(struct check_settings *s, size_t suite, const char *names,
                      size_t size, const struct tally_log *log)
{
    const size_t first = s->count;
    char *const lines = strndup(names, size);
    char *rest = NULL;
    int error =
        lines != NULL ? 0 : tally_fail(log, TALLY_ENOMEM, "out of memory");

    for (char *line = lines != NULL ? strtok_r(lines, "\r\n", &rest) : NULL;
         error == 0 && line != NULL; line = strtok_r(NULL, "\r\n", &rest)) {
        line += strspn(line, " \t");
        size_t length = strcspn(line, " \t");
        /* Rust's test harness puts a colon behind the name. */
        if (length > 0 && line[length - 1] == ':')
            length--;
        line[length] = '\0';
        error = add_member(s, suite, first, line, log);
    }
    free(lines);
    if (error == 0 && s->count == first)
        error = tally_fail(log, TALLY_ESYNTAX, "benchmark '%s' lists no name%s",
                           s->benchmarks[suite].name,
                           s->benchmarks[suite].match != NULL ? " that matches"
                                                              : "");
    while (error != 0 && s->count > first)
        finish_benchmark(&s->benchmarks[--s->count]);
    if (error != 0)
        return error;
    finish_benchmark(&s->benchmarks[suite]);
    memmove(&s->benchmarks[suite], &s->benchmarks[suite + 1],
            (s->count - suite - 1) * sizeof(*s->benchmarks));
    s->count--;
    return 0;
}

void
check_settings_finish(struct check_settings *s)
{
    for (size_t i = 0; i < s->count; i++)
        finish_benchmark(&s->benchmarks[i]);
    free(s->benchmarks);
    free(s->path);
    memset(s, 0, sizeof(*s));
}
