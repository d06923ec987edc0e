/* SPDX-License-Identifier: MIT */
#include "record/comparison_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "report/count_report.h"

void
words_count(int64_t value, bool sign, char text[WORDS_SIZE])
{
    const bool plus = sign && value > 0;

    text[0] = '+';
    format_grouped_signed(value, text + plus);
}

void
words_number(const struct count_number *n, bool sign, char text[WORDS_SIZE])
{
    if (!n->known)
        strcpy(text, "-");
    else if (n->whole)
        words_count(n->count, sign, text);
    else
        snprintf(text, WORDS_SIZE, sign && n->real != 0 ? "%+.5g" : "%.5g",
                 n->real);
}

void
words_percent(double percent, char text[WORDS_SIZE])
{
    const double size = fabs(percent);

    if (isnan(percent))
        strcpy(text, "-");
    else if (percent == 0)
        strcpy(text, "0.0 %");
    else if (size >= 1e6)
        snprintf(text, WORDS_SIZE, "%+.2g %%", percent);
    else if (size >= 999.5)
        snprintf(text, WORDS_SIZE, "%+.0f %%", percent);
    else if (size >= 0.095)
        snprintf(text, WORDS_SIZE, "%+.1f %%", percent);
    else
        snprintf(text, WORDS_SIZE, "%+.3f %%", percent);
}

/* Returns the row that changed most in the direction of `sign`, or NULL;
 * `both`: of those that are on both sides. */
static const struct compared_row *
largest(const struct comparison *c, size_t event, int sign, bool both)
{
    const struct compared_row *found = NULL;

    for (size_t i = 0; i < c->row_count; i++) {
        const struct compared_row *row = &c->rows[i];
        const int64_t change = row->change[event];
        const int64_t most = found != NULL ? found->change[event] : 0;
        if ((sign > 0 ? change > most : change < most) &&
            (!both || (row->rows[BEFORE] != NULL && row->rows[AFTER] != NULL)))
            found = row;
    }
    return found;
}

/* Writes a row by its names. */
static void
write_row(const struct comparison *c, const struct compared_row *row,
          const struct words_form *form, FILE *out)
{
    const struct breakdown_options *o = &c->options.breakdown;
    char mark[WORDS_SIZE];

    for (size_t i = 0; i < o->key_count; i++) {
        char *name = words_name(c, row, (int)o->keys[i]);
        if (i > 0)
            fputc(' ', out);
        form->name(out, name != NULL ? name : "?");
        free(name);
    }
    words_mark(c, row, mark);
    fputs(mark, out);
}

/* Writes in which rows an event changed most: in the direction of its total,
 * and in the other one if that is a tenth of the change at least. Rows that are
 * on both sides come first if one of them has half of the change: a function
 * that got another name is a large new one and a large one that is gone. */
static void
write_rows(const struct comparison *c, size_t event,
           const struct words_form *form, FILE *out)
{
    const double change = c->events[event].change.real;
    const int sign = change > 0 ? 1 : -1;
    const struct compared_row *with = largest(c, event, sign, true);
    const bool both =
        with != NULL && fabs((double)with->change[event]) >= fabs(change) / 2;
    const struct compared_row *against = largest(c, event, -sign, both);
    char text[WORDS_SIZE];

    if (!both)
        with = largest(c, event, sign, false);
    if (with == NULL || c->by_inclusive)
        return;
    words_count(with->change[event], true, text);
    fputs(", most in ", out);
    write_row(c, with, form, out);
    fprintf(out, " (%s)", text);
    if (against == NULL ||
        fabs((double)against->change[event]) < fabs(change) / 10)
        return;
    words_count(against->change[event], true, text);
    fputs(", while ", out);
    write_row(c, against, form, out);
    fprintf(out, " %s (%s)", change > 0 ? "fell" : "rose", text);
}

/* Says that no total changed, and whether rows did. */
static void
write_same(const struct comparison *c, const struct words_form *form, FILE *out)
{
    size_t known = 0;

    for (size_t i = 0; i < c->event_count; i++)
        known += c->events[i].change.known;
    if (known == 0) {
        fputs("nothing to compare: no event has a count on both sides", out);
        return;
    }
    if (c->row_count + c->more_count == 0) {
        fprintf(out,
                "%sno difference%s: %zu event%s the same count%s on both "
                "sides",
                form->strong, form->plain, known,
                known == 1 ? " has" : "s have", known == 1 ? "" : "s");
        return;
    }
    fprintf(out, "the totals are the same");
    if (c->row_count > 0) {
        char text[WORDS_SIZE];
        words_count(c->rows[0].change[c->sort], true, text);
        fputs("; most changed ", out);
        write_row(c, &c->rows[0], form, out);
        fprintf(out, " (%s ", text);
        form->name(out, c->events[c->sort].name);
        fputc(')', out);
    }
}

/* Returns whether there are exact counts, and none of them changed. */
static bool
exact_is_same(const struct comparison *c)
{
    bool any = false;

    for (size_t i = 0; i < c->event_count; i++) {
        const struct compared_event *e = &c->events[i];
        if (strcmp(comparison_standing(e), "exact") != 0 || !e->change.known)
            continue;
        any = true;
        if (e->change.real != 0)
            return false;
    }
    return any;
}

void
words_event(const struct compared_event *e,
            char texts[WORDS_VALUES][WORDS_SIZE])
{
    words_number(&e->values[BEFORE], false, texts[WORDS_BEFORE]);
    words_number(&e->values[AFTER], false, texts[WORDS_AFTER]);
    words_number(&e->change, true, texts[WORDS_CHANGE]);
    words_percent(e->percent, texts[WORDS_PERCENT]);
}

void
words_row(const struct comparison *c, size_t event, const int64_t *before,
          const int64_t *after, char texts[WORDS_VALUES][WORDS_SIZE])
{
    const int64_t a = before != NULL ? before[event] : 0;
    const int64_t b = after != NULL ? after[event] : 0;
    const int64_t change = (int64_t)((uint64_t)b - (uint64_t)a);

    words_count(a, false, texts[WORDS_BEFORE]);
    words_count(b, false, texts[WORDS_AFTER]);
    if (before == NULL)
        strcpy(texts[WORDS_BEFORE], "-");
    if (after == NULL)
        strcpy(texts[WORDS_AFTER], "-");
    words_count(change, true, texts[WORDS_CHANGE]);
    words_percent(comparison_part(c, event, change), texts[WORDS_PERCENT]);
}

const char *
words_reason(const struct compared_event *e, enum compared_side s)
{
    return e->reasons[s] != NULL ? e->reasons[s]
           : e->codes[s] != NULL ? e->codes[s]
                                 : "the report does not say why";
}

const char *
words_machine(const struct comparison *c)
{
    const char *const a = c->runs[BEFORE].machine;
    const char *const b = c->runs[AFTER].machine;

    return a != NULL && b != NULL && strcmp(a, b) == 0 ? a : NULL;
}

void
words_answer(const struct comparison *c, const struct words_form *form,
             FILE *out)
{
    const size_t event = comparison_answer_event(c);
    char percent[WORDS_SIZE], change[WORDS_SIZE];

    if (event == SIZE_MAX) {
        write_same(c, form, out);
        return;
    }
    const struct compared_event *e = &c->events[event];
    const char *standing = comparison_standing(e);
    if (exact_is_same(c))
        fputs("the exact counts are the same; ", out);
    words_percent(fabs(e->percent), percent);
    words_number(&e->change, true, change);
    form->name(out, e->name);
    if (*standing != '\0' && strcmp(standing, "exact") != 0) {
        fputs(" (", out);
        form->name(out, standing);
        fputc(')', out);
    }
    fprintf(out, " %s%s by ", form->strong,
            e->change.real > 0 ? "rose" : "fell");
    if (isnan(e->percent))
        fprintf(out, "%s%s from 0", change + (*change == '+'), form->plain);
    else
        fprintf(out, "%s%s (%s)", percent + (*percent == '+'), form->plain,
                change);
    if (e->overlaps)
        fputs(", within the spread of the runs", out);
    if (c->of_records)
        write_rows(c, event, form, out);
}

size_t
words_columns(const struct comparison *c, int columns[WORDS_COLUMNS])
{
    const struct breakdown_options *o = &c->options.breakdown;
    const struct breakdown *b = c->breakdowns[BEFORE];
    bool several = false;
    size_t count = 0;
    uint32_t first = 0;

    for (size_t i = 0; i < c->row_count; i++) {
        const enum compared_side s =
            c->rows[i].rows[AFTER] != NULL ? AFTER : BEFORE;
        const uint32_t image =
            pairing_image(c->pairing, s, c->rows[i].rows[s]->place.image);
        several |= i > 0 && image != first;
        first = image;
    }
    for (size_t i = 0; i < o->key_count; i++) {
        if (o->keys[i] == BREAKDOWN_FUNCTION && several &&
            !breakdown_has(b, BREAKDOWN_IMAGE) &&
            !breakdown_has(b, BREAKDOWN_INSTRUCTION))
            columns[count++] = WORDS_IMAGE;
        columns[count++] = (int)o->keys[i];
    }
    return count;
}

const char *
words_heading(int column)
{
    return column == WORDS_IMAGE
               ? "image"
               : breakdown_key_name((enum breakdown_key)column);
}

char *
words_name(const struct comparison *c, const struct compared_row *row,
           int column)
{
    const enum compared_side s = row->rows[AFTER] != NULL ? AFTER : BEFORE;

    const struct breakdown_place *p = &row->rows[s]->place;
    const struct resolver *resolver = c->breakdowns[s]->resolver;
    char *name;

    if (column == WORDS_IMAGE)
        return strdup(path_base(resolver_text(resolver, p->image)));
    if ((column != BREAKDOWN_LINE && column != BREAKDOWN_FILE) ||
        !pairing_is_only_name(c->pairing, (int)s, p->file))
        return comparison_name(c, row, (enum breakdown_key)column);
    const char *base = path_base(resolver_text(resolver, p->file));
    if (column == BREAKDOWN_FILE || p->line == 0)
        return strdup(base);
    return asprintf(&name, "%s:%" PRIu32, base, p->line) < 0 ? NULL : name;
}

const int64_t *
words_values(const struct comparison *c, const struct compared_row *row,
             enum compared_side s)
{
    const struct breakdown_row *one = row->rows[s];

    return one == NULL                                 ? NULL
           : c->by_inclusive && row->inclusive != NULL ? one->inclusive
                                                       : one->values;
}

void
words_mark(const struct comparison *c, const struct compared_row *row,
           char text[WORDS_SIZE])
{
    const struct breakdown_row *a = row->rows[BEFORE], *b = row->rows[AFTER];
    const char *words[3] = {NULL, NULL, NULL};
    char was[32];

    text[0] = '\0';
    words[0] = a == NULL ? "new" : b == NULL ? "gone" : NULL;
    if (breakdown_has(c->breakdowns[BEFORE], BREAKDOWN_FUNCTION)) {
        const bool before = a != NULL && a->inlined;
        const bool after = b != NULL && b->inlined;
        if (a == NULL || b == NULL || before == after)
            words[1] = before || after ? "inlined" : NULL;
        else
            words[1] = after ? "inlined now" : "inlined before";
    }
    if (a != NULL && b != NULL && (row->edited || row->moved)) {
        snprintf(was, sizeof(was), "%s%s", row->edited ? "edited" : "",
                 row->edited && row->moved ? ", " : "");
        if (row->moved)
            snprintf(was + strlen(was), sizeof(was) - strlen(was),
                     "was line %" PRIu32, a->place.line);
        words[2] = was;
    }
    for (size_t i = 0; i < 3; i++)
        if (words[i] != NULL)
            snprintf(text + strlen(text), WORDS_SIZE - strlen(text), "%s%s",
                     *text == '\0' ? " (" : ", ", words[i]);
    if (*text != '\0')
        strcat(text, ")");
}

size_t
words_events(const struct comparison *c, size_t most, size_t *events)
{
    size_t count = 0;

    events[count++] = c->sort;
    for (size_t e = 0; e < c->event_count && (most == 0 || count < most); e++) {
        bool changed = most == 0;
        for (size_t i = 0; i < c->row_count && !changed; i++)
            changed = c->rows[i].change[e] != 0;
        if (changed && e != c->sort)
            events[count++] = e;
    }
    return count;
}

size_t
words_totals(const struct comparison *c, size_t most, bool *shown)
{
    const bool all = most == 0 || c->event_count <= most;
    const size_t answer = comparison_answer_event(c);
    size_t count = answer != SIZE_MAX;

    if (answer != SIZE_MAX)
        shown[answer] = true;
    for (size_t i = 0; i < c->event_count; i++) {
        const struct count_number *change = &c->events[i].change;
        const bool wanted = !change->known || change->real != 0;
        if (!shown[i] && (all || (wanted && count < most))) {
            shown[i] = true;
            count++;
        }
    }
    return count;
}

const char *
words_advice(const struct comparison *c, const bool *shown, size_t event)
{
    const char *standing = comparison_standing(&c->events[event]);

    for (size_t i = 0; i < event; i++)
        if (shown[i] &&
            strcmp(standing, comparison_standing(&c->events[i])) == 0)
            return NULL;
    return shown[event] ? comparison_advice(standing) : NULL;
}

void
words_more(const struct comparison *c, char text[WORDS_MORE])
{
    text[0] = '\0';
    if (c->more_count > 0 && c->unchanged_count > 0)
        snprintf(text, WORDS_MORE, "(%zu more row%s, %zu unchanged)",
                 c->more_count, c->more_count == 1 ? "" : "s",
                 c->unchanged_count);
    else if (c->more_count > 0)
        snprintf(text, WORDS_MORE, "(%zu more row%s)", c->more_count,
                 c->more_count == 1 ? "" : "s");
    else if (c->unchanged_count > 0)
        snprintf(text, WORDS_MORE, "(%zu row%s unchanged)", c->unchanged_count,
                 c->unchanged_count == 1 ? "" : "s");
}

bool
words_elsewhere(const struct comparison *c, const size_t *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const int64_t before = comparison_elsewhere(c, BEFORE, events[i]);
        const int64_t after = comparison_elsewhere(c, AFTER, events[i]);
        if (before != after || (i == 0 && before != 0))
            return true;
    }
    return false;
}

/* Writes a number, without a fraction if it is large. */
static void
write_number(double value, char text[WORDS_SIZE])
{
    const struct count_number number = {
        .known = true,
        .whole = fabs(value) >= 1000 && fabs(value) < 1e18,
        .count = fabs(value) < 1e18 ? llround(value) : 0,
        .real = value,
    };

    words_number(&number, false, text);
}

/* Writes "40..45", or the one value. */
static void
write_range(const struct compared_event *e, int s, char text[WORDS_SIZE * 2])
{
    char low[WORDS_SIZE], high[WORDS_SIZE];

    write_number(e->low[s], low);
    write_number(e->high[s], high);
    if (strcmp(low, high) == 0)
        strcpy(text, low);
    else
        snprintf(text, WORDS_SIZE * 2, "%s..%s", low, high);
}

void
words_range(const struct compared_event *e, char text[WORDS_RANGE])
{
    char before[WORDS_SIZE * 2], after[WORDS_SIZE * 2];

    text[0] = '\0';
    if (!e->change.known || (!e->has_range[BEFORE] && !e->has_range[AFTER]) ||
        (e->low[BEFORE] == e->high[BEFORE] && e->low[AFTER] == e->high[AFTER]))
        return;
    write_range(e, BEFORE, before);
    write_range(e, AFTER, after);
    snprintf(text, WORDS_RANGE, "runs %s before, %s after: ranges %s", before,
             after, e->overlaps ? "overlap" : "are apart");
}
