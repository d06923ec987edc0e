/* SPDX-License-Identifier: MIT */
#include "record/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/comparison_match.h"
#include "record/comparison_note.h"

static int64_t
wrapped_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t
wrapped_difference(int64_t after, int64_t before)
{
    return (int64_t)((uint64_t)after - (uint64_t)before);
}

static uint64_t
magnitude(int64_t value)
{
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

void
comparison_events(const struct record *before, const struct record *after,
                  size_t *to)
{
    for (size_t i = 0; i < before->event_count; i++)
        to[i] = SIZE_MAX;
    for (int by_asked = 0; by_asked < 2; by_asked++)
        for (size_t i = 0; i < before->event_count; i++)
            for (size_t k = 0; to[i] == SIZE_MAX && k < after->event_count;
                 k++) {
                const struct record_event_row *a = &before->events[i];
                const struct record_event_row *b = &after->events[k];
                bool taken = false;
                for (size_t j = 0; j < before->event_count; j++)
                    taken |= to[j] == k;
                if (!taken && (by_asked ? strcmp(a->asked, b->asked)
                                        : strcmp(a->name, b->name)) == 0)
                    to[i] = k;
            }
}

int64_t
comparison_value(const struct compared_row *row, enum compared_side s,
                 size_t event)
{
    return row->rows[s] != NULL ? row->rows[s]->values[event] : 0;
}

int64_t
comparison_elsewhere(const struct comparison *c, enum compared_side s,
                     size_t event)
{
    return c->breakdowns[s]->elsewhere[event];
}

double
comparison_part(const struct comparison *c, size_t event, int64_t change)
{
    const struct count_number *before = &c->events[event].values[BEFORE];

    return before->known && before->real > 0
               ? 100 * (double)change / before->real
               : (double)NAN;
}

char *
comparison_name(const struct comparison *c, const struct compared_row *row,
                enum breakdown_key key)
{
    const enum compared_side s = row->rows[AFTER] != NULL ? AFTER : BEFORE;

    return breakdown_name(c->breakdowns[s], row->rows[s], key);
}

/* Orders standings from the surest to the least sure. */
static const char *const standings[] = {"",          "exact",  "modelled",
                                        "estimated", "varies", "measured",
                                        "emulator",  "idle",   "partial"};
#define LAST_THAT_REPEATS 3 /* "estimated" */
static const char *const advices[] = {
    NULL,
    NULL,
    "by a model that looks at addresses: code and data that moved change it "
    "too",
    "by a model of time; a small change may mean nothing",
    "another run of the same program differs",
    "on this computer; another run differs",
    "of the emulator and not of the program; another run differs",
    "nothing here can count it",
    "counts of a part of the run are missing",
};

static size_t
rank(const char *standing)
{
    for (size_t i = 0; i < sizeof(standings) / sizeof(*standings); i++)
        if (strcmp(standing, standings[i]) == 0)
            return i;
    return 0;
}

const char *
comparison_standing(const struct compared_event *e)
{
    const size_t before = rank(e->standings[BEFORE]);
    const size_t after = rank(e->standings[AFTER]);

    return e->standings[before > after ? BEFORE : AFTER];
}

const char *
comparison_advice(const char *standing)
{
    return advices[rank(standing)];
}

size_t
comparison_answer_event(const struct comparison *c)
{
    const struct compared_event *e = c->events;

    if (c->of_records && c->event_count > 0 && e[c->sort].change.real != 0)
        return c->sort;
    for (int unsure = 0; unsure < 3; unsure++)
        for (size_t i = 0; i < c->event_count; i++) {
            const bool repeats =
                rank(comparison_standing(&e[i])) <= LAST_THAT_REPEATS;
            if (e[i].change.known && e[i].change.real != 0 &&
                (repeats || unsure > 0) && (!e[i].overlaps || unsure > 1))
                return i;
        }
    return SIZE_MAX;
}

/* Fills in the change of an event whose values are known. */
static void
set_change(struct compared_event *e)
{
    const struct count_number *a = &e->values[BEFORE], *b = &e->values[AFTER];

    e->percent = (double)NAN;
    if (!a->known || !b->known)
        return;
    e->change.known = true;
    e->change.whole =
        a->whole && b->whole &&
        !__builtin_sub_overflow(b->count, a->count, &e->change.count);
    e->change.real =
        e->change.whole ? (double)e->change.count : b->real - a->real;
    if (a->real != 0)
        e->percent = 100 * e->change.real / fabs(a->real);
}

static struct count_number
whole_number(int64_t value)
{
    return (struct count_number){true, true, value, (double)value};
}

/* Fills in the events of two records. */
static int
fill_record_events(struct comparison *c)
{
    c->event_count = c->options.breakdown.event_count;
    c->events = calloc(c->event_count + 1, sizeof(*c->events));
    if (c->events == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < c->event_count; i++) {
        struct compared_event *e = &c->events[i];
        for (int s = 0; s < SIDES; s++) {
            const struct breakdown *b = c->breakdowns[s];
            const struct record_event_row *row =
                &b->record->events[b->options.events[i]];
            e->names[s] = row->name;
            e->standings[s] = row->standing;
            e->values[s] = whole_number(b->totals[i]);
            if (s == BEFORE) {
                e->name = row->asked;
                e->unit = row->unit;
            }
        }
        set_change(e);
    }
    return 0;
}

/* Adds a row that both or one side has. */
static void
add_row(struct comparison *c, const struct breakdown_row *before,
        const struct breakdown_row *after, const struct matched_row *how)
{
    const size_t n = c->event_count;
    struct compared_row *row = &c->rows[c->row_count];

    *row = (struct compared_row){
        .rows = {before, after},
        .edited = how != NULL && how->edited,
        .moved = how != NULL && how->moved,
        .change = c->values + 2 * n * c->row_count,
    };
    if (c->breakdowns[BEFORE]->has_inclusive &&
        c->breakdowns[AFTER]->has_inclusive)
        row->inclusive = row->change + n;
    for (size_t e = 0; e < n; e++) {
        row->change[e] = wrapped_difference(comparison_value(row, AFTER, e),
                                            comparison_value(row, BEFORE, e));
        if (row->inclusive != NULL)
            row->inclusive[e] =
                wrapped_difference(after != NULL ? after->inclusive[e] : 0,
                                   before != NULL ? before->inclusive[e] : 0);
    }
    c->row_count++;
}

/* Matches the rows of both records, and adds those that one has alone. */
static int
fill_rows(struct comparison *c)
{
    const struct breakdown *a = c->breakdowns[BEFORE];
    const struct breakdown *b = c->breakdowns[AFTER];
    const size_t most = a->row_count + b->row_count;
    struct matched_row *found = calloc(a->row_count + 1, sizeof(*found));
    bool *taken = calloc(b->row_count + 1, sizeof(*taken));
    int error = TALLY_ENOMEM;

    c->rows = calloc(most + 1, sizeof(*c->rows));
    c->values = calloc(2 * (most + 1), c->event_count * sizeof(*c->values));
    if (found != NULL && taken != NULL && c->rows != NULL && c->values != NULL)
        error = comparison_match(a, b, c->pairing, found);
    for (size_t i = 0; error == 0 && i < a->row_count; i++) {
        const uint32_t other = found[i].row;
        if (other != ROW_ALONE)
            taken[other] = true;
        add_row(c, &a->rows[i], other != ROW_ALONE ? &b->rows[other] : NULL,
                other != ROW_ALONE ? &found[i] : NULL);
    }
    for (size_t i = 0; error == 0 && i < b->row_count; i++)
        if (!taken[i])
            add_row(c, NULL, &b->rows[i], NULL);
    free(found);
    free(taken);
    return error;
}

/* Returns the changes that rows are sorted and chosen by. */
static const int64_t *
sort_values(const struct comparison *c, const struct compared_row *row)
{
    return c->by_inclusive && row->inclusive != NULL ? row->inclusive
                                                     : row->change;
}

/* Returns whether the row changed in any event, of those that are looked at. */
static bool
has_changed(const struct comparison *c, const struct compared_row *row)
{
    for (size_t e = 0; e < c->event_count; e++)
        if (row->change[e] != 0 || (c->by_inclusive && row->inclusive != NULL &&
                                    row->inclusive[e] != 0))
            return true;
    return false;
}

/* Chooses the event that rows are sorted by if none was asked for: the first
 * whose total changed, else the first that changed in some row. */
static void
choose_sort(struct comparison *c)
{
    c->sort = c->options.breakdown.sort;
    if (!c->options.sort_is_free)
        return;
    c->sort = 0;
    for (size_t e = 0; e < c->event_count; e++)
        if (c->events[e].change.real != 0) {
            c->sort = e;
            return;
        }
    for (size_t e = 0; e < c->event_count; e++)
        for (size_t i = 0; i < c->row_count; i++)
            if (c->rows[i].change[e] != 0) {
                c->sort = e;
                return;
            }
}

/* What a row is sorted by. */
struct order {
    const struct comparison *comparison;
    const struct compared_row *row;
    char *name; /* or NULL: by value */
    size_t index;
};

static int
compare(const void *first, const void *second)
{
    const struct order *a = first, *b = second;
    const struct comparison *c = a->comparison;
    const int64_t *x = sort_values(c, a->row), *y = sort_values(c, b->row);
    const int names = a->name != NULL ? strcmp(a->name, b->name) : 0;

    if (names != 0)
        return names;
    for (size_t i = 0; a->name == NULL && i <= c->event_count; i++) {
        const size_t e = i == 0 ? c->sort : i - 1;
        const uint64_t more = magnitude(x[e]), less = magnitude(y[e]);
        if (more != less)
            return more < less ? 1 : -1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

/* Returns the names of a row by all keys, joined. */
static char *
joined_name(const struct comparison *c, const struct compared_row *row)
{
    char *joined = strdup("");

    for (size_t i = 0; joined != NULL && i < c->options.breakdown.key_count;
         i++) {
        char *name = comparison_name(c, row, c->options.breakdown.keys[i]);
        joined = breakdown_join(joined, name);
    }
    return joined;
}

static int
sort_rows(struct comparison *c)
{
    struct order *orders = calloc(c->row_count + 1, sizeof(*orders));
    struct compared_row *sorted = calloc(c->row_count + 1, sizeof(*sorted));
    int error = orders != NULL && sorted != NULL ? 0 : TALLY_ENOMEM;

    for (size_t i = 0; error == 0 && i < c->row_count; i++) {
        orders[i] = (struct order){c, &c->rows[i], NULL, i};
        if (!c->options.breakdown.sort_by_name)
            continue;
        orders[i].name = joined_name(c, &c->rows[i]);
        if (orders[i].name == NULL)
            error = TALLY_ENOMEM;
    }
    if (error == 0) {
        if (c->row_count > 1)
            qsort(orders, c->row_count, sizeof(*orders), compare);
        for (size_t i = 0; i < c->row_count; i++)
            sorted[i] = *orders[i].row;
        free(c->rows);
        c->rows = sorted;
        sorted = NULL;
    }
    for (size_t i = 0; orders != NULL && i < c->row_count; i++)
        free(orders[i].name);
    free(orders);
    free(sorted);
    return error;
}

/* Returns 1 if a name of the row on either side matches, 0 if none does, or -1:
 * no memory. */
static int
row_matches(const struct comparison *c, const struct compared_row *row)
{
    const char *match = c->options.breakdown.match;
    int found = match == NULL;

    for (int s = 0; found == 0 && s < SIDES; s++) {
        if (row->rows[s] != NULL)
            found =
                breakdown_row_matches(c->breakdowns[s], row->rows[s], match);
    }
    return found;
}

static bool
is_large(const struct comparison *c, const struct compared_row *row)
{
    const double part =
        comparison_part(c, c->sort, sort_values(c, row)[c->sort]);

    return isnan(part) || fabs(part) >= c->options.breakdown.min;
}

/* Moves the rows that stay to the front, and adds up the others. */
static int
select_rows(struct comparison *c)
{
    const size_t top = c->options.breakdown.top;
    size_t kept = 0;

    for (size_t i = 0; i < c->row_count; i++) {
        const struct compared_row row = c->rows[i];
        const bool changed = has_changed(c, &row);
        const int matches = changed ? row_matches(c, &row) : 0;
        if (matches < 0)
            return TALLY_ENOMEM;
        if (matches && (top == 0 || kept < top) && is_large(c, &row)) {
            c->rows[kept++] = row;
            continue;
        }
        c->more_count += changed;
        c->unchanged_count += !changed;
        for (int s = 0; s < SIDES; s++)
            for (size_t e = 0; e < c->event_count; e++)
                c->more[s][e] = wrapped_sum(
                    c->more[s][e],
                    comparison_value(&row, (enum compared_side)s, e));
    }
    c->row_count = kept;
    return 0;
}

/* Breaks both records down, into all rows. */
static int
break_down(struct comparison *c, const struct paired_record *before,
           const struct paired_record *after, const struct tally_log *log)
{
    const struct paired_record *const sides[] = {before, after};

    for (int s = 0; s < SIDES; s++) {
        struct breakdown_options o = c->options.breakdown;
        if (s == AFTER)
            o.events = c->options.after_events;
        o.sort = 0;
        o.sort_by_name = o.by_inclusive = false;
        o.top = 0;
        o.min = 0;
        o.match = NULL;
        const int error = breakdown_create(sides[s]->record, sides[s]->resolver,
                                           &o, log, &c->breakdowns[s]);
        if (error != 0)
            return error;
        c->more[s] = calloc(o.event_count + 1, sizeof(*c->more[s]));
        if (c->more[s] == NULL)
            return TALLY_ENOMEM;
    }
    return 0;
}

static int
describe_records(struct comparison *c)
{
    for (int s = 0; s < SIDES; s++) {
        const struct record *r = c->breakdowns[s]->record;
        c->runs[s] = (struct compared_run){
            .path = r->path,
            .command = comparison_command(r->argv),
            .machine = r->machine,
            .isa = r->isa,
            .cpu = r->cpu,
            .end = comparison_end(r),
        };
        if (c->runs[s].command == NULL || c->runs[s].end == NULL)
            return TALLY_ENOMEM;
    }
    return 0;
}

int
comparison_of_records(const struct paired_record *before,
                      const struct paired_record *after,
                      const struct comparison_options *options,
                      const struct tally_log *log, struct comparison **result)
{
    struct comparison *c = calloc(1, sizeof(*c));
    int error = TALLY_ENOMEM;

    if (c != NULL) {
        c->of_records = true;
        c->options = *options;
        c->by_inclusive = options->breakdown.by_inclusive;
        error = break_down(c, before, after, log);
        if (error == 0)
            error = pairing_create(
                before, after,
                breakdown_has(c->breakdowns[BEFORE], BREAKDOWN_LINE), log,
                &c->pairing);
    }
    if (error == 0)
        error = describe_records(c);
    if (error == 0)
        error = fill_record_events(c);
    if (error == 0)
        error = fill_rows(c);
    if (error == 0) {
        choose_sort(c);
        error = sort_rows(c);
    }
    if (error == 0)
        error = select_rows(c);
    if (error == 0)
        error = comparison_note_records(c);
    if (error != 0) {
        comparison_destroy(c);
        return tally_fail(log, error, "%s: no memory to compare",
                          before->record->path);
    }
    *result = c;
    return 0;
}

/* Returns the row of a report that goes on an event of the other report: by
 * name and unit, or by the name that was asked for. NULL: it has none. */
static const struct count_row *
find_count(const struct count_row *row, bool by_asked,
           const struct count_row *others, size_t count, bool *taken)
{
    for (size_t i = 0; i < count; i++)
        if (!taken[i] && strcmp(row->unit, others[i].unit) == 0 &&
            (by_asked ? strcmp(row->asked, others[i].asked)
                      : strcmp(row->name, others[i].name)) == 0) {
            taken[i] = true;
            return &others[i];
        }
    return NULL;
}

/* Fills in one side of an event; `row` NULL: the report lacks it. */
static void
fill_count(struct compared_event *e, int s, const struct count_row *row)
{
    e->standings[s] = "";
    if (row == NULL) {
        e->codes[s] = "not-asked";
        e->reasons[s] = "the report does not have it";
        return;
    }
    e->name = row->asked;
    e->unit = row->unit;
    e->names[s] = row->name;
    e->standings[s] = row->standing;
    e->values[s] = row->value;
    e->codes[s] = row->value.known ? NULL : row->code;
    e->reasons[s] = row->value.known ? NULL : row->reason;
    e->every_run[s] = row->has_range;
    e->has_range[s] = row->has_range || row->runs > 1;
    e->low[s] = row->has_range ? row->low : row->mean - 2 * row->stddev;
    e->high[s] = row->has_range ? row->high : row->mean + 2 * row->stddev;
    if (!e->has_range[s])
        e->low[s] = e->high[s] = row->value.real;
}

static void
fill_pair(struct comparison *c, const struct count_row *before,
          const struct count_row *after, bool metric)
{
    struct compared_event *e = &c->events[c->event_count++];

    e->metric = metric;
    /* The name is that of `before` if both have the event. */
    fill_count(e, AFTER, after);
    fill_count(e, BEFORE, before);
    set_change(e);
    e->overlaps = e->change.known && (e->has_range[0] || e->has_range[1]) &&
                  e->low[BEFORE] <= e->high[AFTER] &&
                  e->low[AFTER] <= e->high[BEFORE];
}

/* Pairs events or metrics, in the order of `before`, then those that `after`
 * has alone. */
static int
pair_counts(struct comparison *c, const struct count_row *before,
            size_t before_count, const struct count_row *after,
            size_t after_count, bool metric)
{
    const struct count_row **others = calloc(before_count + 1, sizeof(*others));
    bool *taken = calloc(after_count + 1, sizeof(*taken));
    int error = others != NULL && taken != NULL ? 0 : TALLY_ENOMEM;

    for (int by_asked = 0; error == 0 && by_asked < 2; by_asked++)
        for (size_t i = 0; i < before_count; i++)
            if (others[i] == NULL)
                others[i] = find_count(&before[i], by_asked != 0, after,
                                       after_count, taken);
    for (size_t i = 0; error == 0 && i < before_count; i++)
        fill_pair(c, &before[i], others[i], metric);
    for (size_t i = 0; error == 0 && i < after_count; i++)
        if (!taken[i])
            fill_pair(c, NULL, &after[i], metric);
    free(others);
    free(taken);
    return error;
}

static int
describe_counts(struct comparison *c, const struct count_document *d, int s)
{
    c->runs[s] = (struct compared_run){
        .path = d->path,
        .command = strdup(d->program != NULL ? d->program : ""),
        .machine = d->machine,
        .isa = d->isa,
        .cpu = d->cpu,
        .end = d->status != NULL ? strdup(d->status) : NULL,
    };
    return c->runs[s].command != NULL &&
                   (d->status == NULL || c->runs[s].end != NULL)
               ? 0
               : TALLY_ENOMEM;
}

int
comparison_of_counts(const struct count_document *before,
                     const struct count_document *after,
                     const struct tally_log *log, struct comparison **result)
{
    struct comparison *c = calloc(1, sizeof(*c));
    int error = TALLY_ENOMEM;

    if (c != NULL) {
        c->events = calloc(before->event_count + before->metric_count +
                               after->event_count + after->metric_count + 1,
                           sizeof(*c->events));
        if (c->events != NULL)
            error = describe_counts(c, before, BEFORE);
        if (error == 0)
            error = describe_counts(c, after, AFTER);
    }
    if (error == 0)
        error = pair_counts(c, before->events, before->event_count,
                            after->events, after->event_count, false);
    if (error == 0)
        error = pair_counts(c, before->metrics, before->metric_count,
                            after->metrics, after->metric_count, true);
    if (error == 0)
        error = comparison_note_counts(c, before, after);
    if (error != 0) {
        comparison_destroy(c);
        return tally_fail(log, error, "%s: no memory to compare", before->path);
    }
    *result = c;
    return 0;
}

/* Returns whether the event has the name, or one that begins so. */
static bool
is_named(const struct compared_event *e, const char *word, size_t length,
         bool whole)
{
    const char *const names[] = {e->name, e->names[BEFORE], e->names[AFTER]};

    for (size_t i = 0; i < 3; i++)
        if (names[i] != NULL && strncasecmp(names[i], word, length) == 0 &&
            (!whole || names[i][length] == '\0'))
            return true;
    return false;
}

int
comparison_choose(struct comparison *c, const char *names,
                  const struct tally_log *log)
{
    bool *kept = calloc(c->event_count + 1, sizeof(*kept));
    size_t count = 0;

    if (kept == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory to compare");
    for (const char *word = names; *word != '\0';) {
        const size_t length = strcspn(word, ",");
        size_t found = 0;
        for (int whole = 1; length > 0 && found == 0 && whole >= 0; whole--)
            for (size_t i = 0; i < c->event_count; i++)
                if (is_named(&c->events[i], word, length, whole != 0)) {
                    kept[i] = true;
                    found++;
                }
        if (found == 0) {
            free(kept);
            return tally_fail(log, TALLY_EUNKNOWN,
                              "the reports have no event '%.*s'", (int)length,
                              word);
        }
        word += length + (word[length] == ',');
    }
    for (size_t i = 0; i < c->event_count; i++)
        if (kept[i])
            c->events[count++] = c->events[i];
    c->event_count = count;
    free(kept);
    return 0;
}

void
comparison_destroy(struct comparison *c)
{
    if (c == NULL)
        return;
    for (int s = 0; s < SIDES; s++) {
        breakdown_destroy(c->breakdowns[s]);
        free(c->more[s]);
        free(c->runs[s].command);
        free(c->runs[s].end);
    }
    for (size_t i = 0; i < c->note_count; i++)
        free(c->notes[i]);
    free(c->notes);
    pairing_destroy(c->pairing);
    free(c->events);
    free(c->rows);
    free(c->values);
    free(c);
}
