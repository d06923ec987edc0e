/* SPDX-License-Identifier: MIT */
#include "check/baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/input.h"
#include "check/string_functions.h"

#define SCHEMA 2
#define MOST_BYTES (64u << 20)
#define MOST_LAYOUTS 64

/* Entries */

const struct check_range *
check_entry_measure(const struct check_entry *e, const char *name)
{
    for (size_t i = 0; i < e->measure_count; i++) {
        if (strcmp(e->measures[i].name, name) == 0)
            return &e->measures[i].range;
    }
    return NULL;
}

void
check_entry_finish(struct check_entry *e)
{
    for (size_t i = 0; i < e->build_count; i++) {
        free(e->builds[i].name);
        free(e->builds[i].id);
    }
    for (size_t i = 0; i < e->measure_count; i++)
        free(e->measures[i].name);
    for (size_t i = 0; i < e->function_count; i++) {
        free(e->functions[i].name);
        free(e->functions[i].image);
    }
    free(e->builds);
    free(e->measures);
    free(e->functions);
    free(e->version);
    free(e->output);
    memset(e, 0, sizeof(*e));
}

/* Returns a copy of the text of a member, or NULL: it is no text, or there is
 * no memory, which *error then says. */
static char *
copy_text(const json_t *value, int *error)
{
    const char *const text = json_string_value(value);
    char *const copy = text != NULL ? strdup(text) : NULL;

    if (copy == NULL)
        *error = text != NULL ? TALLY_ENOMEM : TALLY_ESYNTAX;
    return copy;
}

static char *
copy_key(const char *key, int *error)
{
    char *const copy = strdup(key);

    if (copy == NULL)
        *error = TALLY_ENOMEM;
    return copy;
}

/* Reads an array of numbers that are not negative, and leaves 0 for what it
 * lacks: it has at least `least` and at most `most`. */
static bool
read_numbers(const json_t *array, size_t least, size_t most, uint64_t *numbers)
{
    const size_t count = json_array_size(array);

    if (!json_is_array(array) || count < least || count > most)
        return false;
    memset(numbers, 0, most * sizeof(*numbers));
    for (size_t i = 0; i < count; i++) {
        const json_t *const value = json_array_get(array, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0)
            return false;
        numbers[i] = (uint64_t)json_integer_value(value);
    }
    return true;
}

static int
read_builds(json_t *object, struct check_entry *e)
{
    const char *key;
    json_t *value;
    int error = 0;

    if (!json_is_object(object))
        return TALLY_ESYNTAX;
    e->builds = calloc(json_object_size(object) + 1, sizeof(*e->builds));
    if (e->builds == NULL)
        return TALLY_ENOMEM;
    json_object_foreach(object, key, value)
    {
        struct check_build *const b = &e->builds[e->build_count++];
        b->name = copy_key(key, &error);
        b->id = copy_text(value, &error);
        if (error != 0)
            return error;
    }
    return 0;
}

static int
read_measures(json_t *object, struct check_entry *e)
{
    const char *key;
    json_t *value;
    int error = 0;

    if (!json_is_object(object))
        return TALLY_ESYNTAX;
    e->measures = calloc(json_object_size(object) + 1, sizeof(*e->measures));
    if (e->measures == NULL)
        return TALLY_ENOMEM;
    json_object_foreach(object, key, value)
    {
        struct check_baseline_measure *const m =
            &e->measures[e->measure_count++];
        uint64_t numbers[3];
        m->name = copy_key(key, &error);
        if (error != 0)
            return error;
        if (!read_numbers(value, 3, 3, numbers) || numbers[1] > numbers[0] ||
            numbers[0] > numbers[2])
            return TALLY_ESYNTAX;
        m->range = (struct check_range){numbers[0], numbers[1], numbers[2]};
    }
    return 0;
}

static int
read_functions(json_t *images, struct check_entry *e)
{
    const char *image, *name;
    json_t *functions, *value;
    size_t count = 0;
    int error = 0;

    if (!json_is_object(images))
        return TALLY_ESYNTAX;
    json_object_foreach(images, image, functions)
    {
        if (!json_is_object(functions))
            return TALLY_ESYNTAX;
        count += json_object_size(functions);
    }
    e->functions = calloc(count + 1, sizeof(*e->functions));
    if (e->functions == NULL)
        return TALLY_ENOMEM;
    json_object_foreach(images, image, functions)
    {
        json_object_foreach(functions, name, value)
        {
            struct check_counts *const f = &e->functions[e->function_count++];
            uint64_t numbers[3];
            f->name = copy_key(name, &error);
            f->image = copy_key(image, &error);
            if (error != 0)
                return error;
            /* Schema 1 has no calls. */
            if (!read_numbers(value, 2, 3, numbers))
                return TALLY_ESYNTAX;
            f->instructions = numbers[0];
            f->cost = numbers[1];
            f->calls = numbers[2];
        }
    }
    qsort(e->functions, e->function_count, sizeof(*e->functions),
          check_counts_order);
    return 0;
}

/* Reads an entry. 0, TALLY_ESYNTAX or TALLY_ENOMEM; the caller finishes it. */
static int
read_entry(const json_t *object, struct check_entry *e)
{
    const json_t *const layouts = json_object_get(object, "layouts");
    int error = 0;

    memset(e, 0, sizeof(*e));
    if (!json_is_object(object) || !json_is_integer(layouts) ||
        json_integer_value(layouts) < 1 ||
        json_integer_value(layouts) > MOST_LAYOUTS)
        return TALLY_ESYNTAX;
    e->layouts = (unsigned)json_integer_value(layouts);
    e->version = copy_text(json_object_get(object, "tally"), &error);
    if (error == 0)
        e->output = copy_text(json_object_get(object, "output"), &error);
    if (error == 0)
        error = read_builds(json_object_get(object, "builds"), e);
    if (error == 0)
        error = read_measures(json_object_get(object, "measures"), e);
    if (error == 0)
        error = read_functions(json_object_get(object, "functions"), e);
    /* What nothing could be compared with would pass everything. */
    if (error == 0 && (check_entry_measure(e, "instructions") == NULL ||
                       check_entry_measure(e, "cost") == NULL))
        error = TALLY_ESYNTAX;
    return error;
}

/* Reading files */

/* Checks all entries. Returns 0, or an error, logged. */
static int
check_document(const json_t *document, const char *name,
               const struct tally_log *log)
{
    json_t *const benchmarks = json_object_get(document, "benchmarks");
    const json_t *const schema = json_object_get(document, "schema");
    const char *benchmark, *key;
    json_t *keys, *entry;

    if (!json_is_object(benchmarks) || !json_is_integer(schema))
        return tally_fail(log, TALLY_ESYNTAX,
                          "%s is no baseline of tally check: it lacks "
                          "'schema' or 'benchmarks'; --update makes one where "
                          "there is no file",
                          name);
    if (json_integer_value(schema) < 1 || json_integer_value(schema) > SCHEMA)
        return tally_fail(log, TALLY_ESYNTAX,
                          "%s has schema %lld; this tally reads schemas 1 to "
                          "%d",
                          name, (long long)json_integer_value(schema), SCHEMA);
    json_object_foreach(benchmarks, benchmark, keys)
    {
        if (!json_is_object(keys))
            return tally_fail(log, TALLY_ESYNTAX,
                              "%s: benchmark '%s' is damaged: an object of "
                              "its entries is expected",
                              name, benchmark);
        json_object_foreach(keys, key, entry)
        {
            struct check_entry e;
            const int error = read_entry(entry, &e);
            check_entry_finish(&e);
            if (error == TALLY_ENOMEM)
                return tally_fail(log, error, "out of memory");
            if (error != 0)
                return tally_fail(log, error,
                                  "%s: benchmark '%s' is damaged at '%s'; "
                                  "doc/format/baseline.md says what an entry "
                                  "has",
                                  name, benchmark, key);
        }
    }
    return 0;
}

int
check_baseline_parse(const char *text, size_t size, const char *name,
                     const struct tally_log *log, struct check_baseline *b)
{
    json_error_t error;

    memset(b, 0, sizeof(*b));
    b->document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (b->document == NULL)
        return tally_fail(log, TALLY_ESYNTAX,
                          "%s is no baseline of tally check: line %d, column "
                          "%d: %s",
                          name, error.line, error.column, error.text);
    return check_document(b->document, name, log);
}

int
check_baseline_begin(struct check_baseline *b)
{
    memset(b, 0, sizeof(*b));
    b->document = json_pack("{s:i, s:{}}", "schema", SCHEMA, "benchmarks");
    return b->document != NULL ? 0 : TALLY_ENOMEM;
}

int
check_baseline_merge(struct check_baseline *b,
                     const struct check_baseline *other)
{
    json_t *const all = json_object_get(b->document, "benchmarks");
    const char *benchmark;
    json_t *keys;

    json_object_foreach(json_object_get(other->document, "benchmarks"),
                        benchmark, keys)
    {
        json_t *const own = json_object_get(all, benchmark);
        if (own != NULL ? json_object_update(own, keys) != 0
                        : json_object_set(all, benchmark, keys) != 0)
            return TALLY_ENOMEM;
    }
    return 0;
}

int
check_baseline_read(const char *path, const struct tally_log *log,
                    struct check_baseline *b)
{
    size_t size;
    char *const text = input_read(path, MOST_BYTES, &size);

    memset(b, 0, sizeof(*b));
    if (text == NULL && errno == ENOENT) {
        const int error = check_baseline_begin(b);
        b->missing = true;
        return error == 0 ? 0 : tally_fail(log, error, "out of memory");
    }
    if (text == NULL && errno == EFBIG)
        return tally_fail(log, TALLY_EIO,
                          "%s: more than 64 MiB; no baseline of tally check is "
                          "so large",
                          path);
    if (text == NULL)
        return tally_fail(log, TALLY_EIO, "cannot read %s: %s", path,
                          input_reason(errno));
    const int error = check_baseline_parse(text, size, path, log, b);
    free(text);
    return error;
}

void
check_baseline_finish(struct check_baseline *b)
{
    json_decref(b->document);
    memset(b, 0, sizeof(*b));
}

/* Looking up */

char *
check_key(const char *machine, const char *isa, const char *cpu,
          uint32_t geometry)
{
    char caches[32] = "", *key = NULL;

    if (geometry != 0)
        snprintf(caches, sizeof(caches), " caches-%08" PRIx32, geometry);
    return asprintf(&key, "%s %s %s model-%d%s", machine, isa,
                    *cpu != '\0' ? cpu : "emulator", CHECK_MODEL, caches) < 0
               ? NULL
               : key;
}

static json_t *
keys_of(const struct check_baseline *b, const char *benchmark)
{
    return json_object_get(json_object_get(b->document, "benchmarks"),
                           benchmark);
}

int
check_baseline_find(const struct check_baseline *b, const char *benchmark,
                    const char *key, struct check_entry *entry)
{
    const json_t *const found = json_object_get(keys_of(b, benchmark), key);

    memset(entry, 0, sizeof(*entry));
    return found != NULL ? read_entry(found, entry) : TALLY_EUNKNOWN;
}

const char *
check_baseline_other(const struct check_baseline *b, const char *benchmark)
{
    json_t *const keys = keys_of(b, benchmark);

    return json_object_iter_key(json_object_iter(keys));
}

/* Writing */

/* Sets a member, which is taken over. Returns the object or, where there was no
 * memory for one of them, NULL. */
static json_t *
set(json_t *object, const char *key, json_t *value)
{
    if (object == NULL || json_object_set_new(object, key, value) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *
make_builds(const struct check_entry *e)
{
    json_t *object = json_object();

    for (size_t i = 0; object != NULL && i < e->build_count; i++)
        object = set(object, e->builds[i].name, json_string(e->builds[i].id));
    return object;
}

static json_t *
make_measures(const struct check_entry *e)
{
    json_t *object = json_object();

    for (size_t i = 0; object != NULL && i < e->measure_count; i++) {
        const struct check_range *const r = &e->measures[i].range;
        object = set(object, e->measures[i].name,
                     json_pack("[I,I,I]", (json_int_t)r->median,
                               (json_int_t)r->least, (json_int_t)r->most));
    }
    return object;
}

/* Returns how much of a measure is too little for a function to be kept. */
static uint64_t
least_of(const struct check_entry *e, const char *measure)
{
    const struct check_range *const range = check_entry_measure(e, measure);

    return range != NULL ? range->median / CHECK_LEAST_PART : 0;
}

/* Returns the instructions by which it is decided whether a function is kept: a
 * string function may have more of them the next time. */
static uint64_t
expected_instructions(const struct check_counts *f)
{
    const struct string_function *const s = string_function_find(f->name);

    return f->instructions + (s != NULL ? s->most * f->calls : 0);
}

static json_t *
make_functions(const struct check_entry *e)
{
    const uint64_t instructions = least_of(e, "instructions");
    const uint64_t cost = least_of(e, "cost");
    json_t *images = json_object();

    for (size_t i = 0; images != NULL && i < e->function_count; i++) {
        const struct check_counts *const f = &e->functions[i];
        if (expected_instructions(f) <= instructions && f->cost <= cost)
            continue;
        if (json_object_get(images, f->image) == NULL)
            images = set(images, f->image, json_object());
        json_t *const image = json_object_get(images, f->image);
        if (image != NULL &&
            json_object_set_new(
                image, f->name,
                json_pack("[I,I,I]", (json_int_t)f->instructions,
                          (json_int_t)f->cost, (json_int_t)f->calls)) != 0) {
            json_decref(images);
            return NULL;
        }
    }
    return images;
}

int
check_baseline_put(struct check_baseline *b, const char *benchmark,
                   const char *key, const struct check_entry *e)
{
    json_t *const benchmarks = json_object_get(b->document, "benchmarks");
    json_t *const entry = json_pack(
        "{s:s, s:I, s:s, s:o, s:o, s:o}", "tally", e->version, "layouts",
        (json_int_t)e->layouts, "output", e->output, "builds", make_builds(e),
        "measures", make_measures(e), "functions", make_functions(e));

    if (entry == NULL ||
        json_object_set_new(b->document, "schema", json_integer(SCHEMA)) != 0) {
        json_decref(entry);
        return TALLY_ENOMEM;
    }
    if (json_object_get(benchmarks, benchmark) == NULL &&
        json_object_set_new(benchmarks, benchmark, json_object()) != 0) {
        json_decref(entry);
        return TALLY_ENOMEM;
    }
    return json_object_set_new(json_object_get(benchmarks, benchmark), key,
                               entry) == 0
               ? 0
               : TALLY_ENOMEM;
}

/* What writes a document: how deep objects are written a line for a member. */
#define OBJECTS 6

static int write_value(const json_t *value, unsigned depth, FILE *out);

static int
compare_keys(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Writes an object with a line for each member, sorted by name. */
static int
write_object(const json_t *object, unsigned depth, FILE *out)
{
    const size_t count = json_object_size(object);
    const char **const keys = calloc(count + 1, sizeof(*keys));
    const char *key;
    json_t *value;
    size_t n = 0;
    int error = 0;

    if (keys == NULL)
        return TALLY_ENOMEM;
    json_object_foreach((json_t *)object, key, value) keys[n++] = key;
    qsort(keys, n, sizeof(*keys), compare_keys);
    fputs("{", out);
    for (size_t i = 0; error == 0 && i < n; i++) {
        json_t *const name = json_string(keys[i]);
        char *const text =
            name != NULL ? json_dumps(name, JSON_ENCODE_ANY) : NULL;
        error = text == NULL ? TALLY_ENOMEM : 0;
        if (error == 0) {
            fprintf(out, "%s\n%*s%s: ", i > 0 ? "," : "", (int)depth, "", text);
            error = write_value(json_object_get(object, keys[i]), depth, out);
        }
        free(text);
        json_decref(name);
    }
    if (n > 0)
        fprintf(out, "\n%*s", (int)depth - 1, "");
    fputs("}", out);
    free(keys);
    return error;
}

static int
write_value(const json_t *value, unsigned depth, FILE *out)
{
    if (json_is_object(value) && depth < OBJECTS)
        return write_object(value, depth + 1, out);
    char *const text = json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);
    if (text == NULL)
        return TALLY_ENOMEM;
    fputs(text, out);
    free(text);
    return 0;
}

int
check_baseline_write(const struct check_baseline *b, FILE *out)
{
    const int error = write_value(b->document, 0, out);

    if (error != 0)
        return error;
    fputc('\n', out);
    return ferror(out) ? TALLY_EIO : 0;
}
