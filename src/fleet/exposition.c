/* SPDX-License-Identifier: MIT */
#include "fleet/exposition.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/escape.h"
#include "base/texts.h"

/* The samples of one family as lines of text. */
struct family_text {
    FILE *out; /* a stream of open_memstream(); NULL: no sample yet */
    char *text;
    size_t size;
};

struct exposition {
    const struct metric_family *families;
    size_t count;
    struct family_text *texts; /* of each family */
    struct texts known;        /* family and labels of each sample */
    bool failed;               /* there was no memory for a sample */
};

int
exposition_create(const struct metric_family *families, size_t count,
                  struct exposition **exposition)
{
    struct exposition *const e = calloc(1, sizeof(*e));

    if (e == NULL)
        return TALLY_ENOMEM;
    e->families = families;
    e->count = count;
    e->texts = calloc(count + 1, sizeof(*e->texts));
    if (e->texts == NULL || texts_init(&e->known) != 0) {
        exposition_destroy(e);
        return TALLY_ENOMEM;
    }
    *exposition = e;
    return 0;
}

void
exposition_destroy(struct exposition *e)
{
    if (e == NULL)
        return;
    for (size_t i = 0; e->texts != NULL && i < e->count; i++) {
        if (e->texts[i].out != NULL)
            fclose(e->texts[i].out);
        free(e->texts[i].text);
    }
    texts_finish(&e->known);
    free(e->texts);
    free(e);
}

/* Writes the value of a label between its quotes. False: no memory. */
static bool
write_value(const char *value, FILE *out)
{
    char *const shown = escape_copy(value, ESCAPE_LINE);

    for (const char *c = shown; c != NULL && *c != '\0'; c++) {
        if (*c == '\\' || *c == '"')
            fputc('\\', out);
        fputc(*c, out);
    }
    free(shown);
    return shown != NULL;
}

/* Writes the labels in braces, or nothing where there are none. False: no
 * memory. */
static bool
write_labels(const struct metric_label *labels, FILE *out)
{
    bool any = false, whole = true;

    for (const struct metric_label *l = labels; l->name != NULL; l++) {
        if (l->value == NULL || l->value[0] == '\0')
            continue;
        fprintf(out, "%s%s=\"", any ? "," : "{", l->name);
        whole = write_value(l->value, out) && whole;
        fputc('"', out);
        any = true;
    }
    if (any)
        fputc('}', out);
    return whole;
}

static const char *
ending(const struct metric_family *family)
{
    return family->kind == METRIC_COUNTER ? "_total" : "";
}

/* Makes the name and labels of a sample, for the caller to free; NULL: no
 * memory. */
static char *
sample_name(const struct metric_family *family,
            const struct metric_label *labels)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    fprintf(out, "%s%s", family->name, ending(family));
    const bool whole = write_labels(labels, out) && !ferror(out);
    if (fclose(out) != 0 || !whole) {
        free(text);
        return NULL;
    }
    return text;
}

/* Adds a sample, whose value is text already. */
static void
add_sample(struct exposition *e, size_t family,
           const struct metric_label *labels, const char *value)
{
    struct family_text *const f = &e->texts[family];
    char *const name = sample_name(&e->families[family], labels);

    if (f->out == NULL)
        f->out = open_memstream(&f->text, &f->size);
    if (name == NULL || f->out == NULL)
        e->failed = true;
    else if (texts_find(&e->known, name) == 0) {
        if (texts_add(&e->known, name) == 0 ||
            fprintf(f->out, "%s %s\n", name, value) < 0)
            e->failed = true;
    }
    free(name);
}

void
exposition_add(struct exposition *e, size_t family,
               const struct metric_label *labels, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    add_sample(e, family, labels, text);
}

void
exposition_add_real(struct exposition *e, size_t family,
                    const struct metric_label *labels, double value)
{
    char text[40];

    snprintf(text, sizeof(text), "%.15g", value);
    add_sample(e, family, labels, text);
}

/* Writes what stands in front of a family's samples. In the older form the name
 * of a counter's family has the ending, too, and other lines are comments. */
static void
write_head(const struct metric_family *f, enum exposition_form form, FILE *out)
{
    const bool old = form == EXPOSITION_PROMETHEUS;
    const char *const end = old ? ending(f) : "";

    fprintf(out, "# TYPE %s%s %s\n", f->name, end,
            f->kind == METRIC_COUNTER ? "counter" : "gauge");
    if (f->unit != NULL && !old)
        fprintf(out, "# UNIT %s %s\n", f->name, f->unit);
    fprintf(out, "# HELP %s%s %s\n", f->name, end, f->help);
}

int
exposition_write(const struct exposition *e, enum exposition_form form,
                 FILE *out)
{
    if (e->failed)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < e->count; i++) {
        if (e->texts[i].out == NULL)
            continue;
        if (fflush(e->texts[i].out) != 0)
            return TALLY_ENOMEM;
        write_head(&e->families[i], form, out);
        fwrite(e->texts[i].text, 1, e->texts[i].size, out);
    }
    if (form == EXPOSITION_OPENMETRICS)
        fputs("# EOF\n", out);
    return ferror(out) ? TALLY_EIO : 0;
}
