/* SPDX-License-Identifier: MIT */
/* The steps of accesses to data: addresses in their parts, the set before and
 * after, and why the level lacked a line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "machine/watched.h"
#include "record/point_words.h"
#include "record/steps_writing.h"
#include "report/json_text.h"
#include "table/level.h"

#define REASON_TEXT 320
#define NEVER UINT32_MAX

/* The geometry of the level. */
struct shape {
    uint64_t line, sets;
    unsigned offset_bits, set_bits;
};

static struct shape
shape_of(const struct steps_report *r)
{
    const struct cache_row *const row = &tally_caches[r->request->level];
    const uint64_t line = r->params[row->line];
    const uint64_t sets = r->params[row->size] / line / r->params[row->ways];

    return (struct shape){line, sets, (unsigned)__builtin_ctzll(line),
                          (unsigned)__builtin_ctzll(sets)};
}

static const char *
replacement_of(const struct steps_report *r)
{
    char key[64];

    snprintf(key, sizeof(key), "%s.replacement",
             tally_caches[r->request->level].name);
    const int param = param_find(key);
    return param < 0 ? "lru" : tally_params[param].choices[r->params[param]];
}

json_t *
steps_sets_head(const struct steps_writing *w)
{
    static const char *const orders[] = {
        [POINT_BY_USE] = "use", [POINT_BY_AGE] = "age", [POINT_BY_WAY] = "way"};
    const enum cache_id level = (enum cache_id)w->r->request->level;
    const struct cache_row *const row = &tally_caches[level];
    const uint64_t *const params = w->r->params;
    const struct shape shape = shape_of(w->r);
    const char *const replacement = replacement_of(w->r);
    const unsigned order =
        strcmp(replacement, "fifo") == 0 ? POINT_BY_AGE
        : strcmp(replacement, "plru") == 0 || strcmp(replacement, "srrip") == 0
            ? POINT_BY_WAY
            : POINT_BY_USE;
    json_t *const o = json_object();

    json_object_set_new(o, "name", json_string(row->name));
    json_object_set_new(o, "title", json_string(level_title(level)));
    json_object_set_new(o, "bytes", report_json_number(params[row->size]));
    json_object_set_new(o, "ways", report_json_number(params[row->ways]));
    json_object_set_new(o, "line_bytes", report_json_number(shape.line));
    json_object_set_new(o, "sets", report_json_number(shape.sets));
    json_object_set_new(o, "offset_bits",
                        report_json_number(shape.offset_bits));
    json_object_set_new(o, "set_bits", report_json_number(shape.set_bits));
    json_object_set_new(o, "replacement", json_string(replacement));
    json_object_set_new(o, "order", json_string(orders[order]));
    return o;
}

/* A step with what its words say. */
struct access {
    const struct run_step *step;
    const uint64_t *before, *after; /* [ways] */
    uint64_t line;                  /* address of its first byte */
    uint64_t evicted;               /* the same of a line, + 1; 0: none */
    uint32_t lost_at; /* the step that drove the line out last; or NEVER */
    uint32_t last_at; /* the step that used the line last; or NEVER */
};

static uint64_t
line_of(const struct steps_writing *w, const struct run_step *step)
{
    const uint64_t line = shape_of(w->r).line;
    const uint64_t at = step->flags & STEP_SECOND
                            ? step->address + step->size - 1
                            : step->address;

    return at & ~(line - 1);
}

static bool
has_line(const uint64_t *places, uint32_t ways, uint64_t line)
{
    for (uint32_t i = 0; i < ways; i++) {
        if ((places[i] & WATCHED_LINE) != 0 && (places[i] & ~7ull) == line)
            return true;
    }
    return false;
}

/* Returns the address of the line that left a set, + 1; 0: none did. */
static uint64_t
evicted_of(const uint64_t *before, const uint64_t *after, uint32_t ways)
{
    for (uint32_t i = 0; i < ways; i++) {
        if ((before[i] & WATCHED_LINE) != 0 &&
            !has_line(after, ways, before[i] & ~7ull))
            return (before[i] & ~7ull) + 1;
    }
    return 0;
}

/* Finds the steps before that used the line, or drove the line out. */
static void
look_back(const struct steps_writing *w, uint32_t number, struct access *a)
{
    const uint32_t ways = w->s->ways;
    const uint64_t set_mask = shape_of(w->r).sets - 1;
    const unsigned shift = shape_of(w->r).offset_bits;

    a->lost_at = a->last_at = NEVER;
    for (uint32_t i = number; i > 0 && a->last_at == NEVER; i--) {
        const struct run_step *const step = &w->s->steps[i - 1];
        const uint64_t line = line_of(w, step);
        if (step->cache != a->step->cache ||
            (line >> shift & set_mask) != (a->line >> shift & set_mask))
            continue;
        const uint64_t *const words = &w->s->words[step->word];
        if (a->lost_at == NEVER && has_line(words, ways, a->line) &&
            !has_line(words + ways, ways, a->line))
            a->lost_at = i - 1;
        if (line == a->line)
            a->last_at = i - 1;
    }
}

static struct access
access_of(const struct steps_writing *w, uint32_t number)
{
    const struct run_step *const step = &w->s->steps[number];
    const uint64_t *const words = &w->s->words[step->word];
    struct access a = {
        .step = step,
        .before = words,
        .after = words + w->s->ways,
        .line = line_of(w, step),
    };

    a.evicted = evicted_of(a.before, a.after, w->s->ways);
    look_back(w, number, &a);
    return a;
}

/* Writes why a miss was one. */
static void
miss_reason(const struct access *a, uint64_t set, const char *title, char *text)
{
    static const char *const classes[POINT_CLASSES] = {
        [POINT_CLASS_NONE] = "",
        [POINT_CLASS_COHERENCE] = "another core has taken the line by a store",
        [POINT_CLASS_FALSE] =
            "another core has taken the line by a store to other bytes of it",
        [POINT_CLASS_FIRST] = "the cache never had the line",
        [POINT_CLASS_CAPACITY] = "too many other lines came since the line was "
                                 "used: a fully associative cache of the same "
                                 "size would lack the line too",
        [POINT_CLASS_CONFLICT] = "too many other lines of this set came since: "
                                 "a fully associative cache of the same size "
                                 "would have the line",
    };
    int used = snprintf(text, REASON_TEXT, "set %" PRIu64 " of the %s lacks it",
                        set, title);

    if (a->lost_at != NEVER && a->step->class != POINT_CLASS_FIRST)
        used +=
            snprintf(text + used, (size_t)(REASON_TEXT - used),
                     ": step %" PRIu32 " drove the line out", a->lost_at + 1);
    if (a->step->class != POINT_CLASS_NONE)
        snprintf(text + used, (size_t)(REASON_TEXT - used), "%s%s",
                 used > 0 ? "; " : "", classes[a->step->class]);
}

/* Writes why an access was a hit or a miss, in words. */
static json_t *
reason_of(const struct steps_writing *w, const struct access *a, uint64_t set)
{
    const char *const title = level_title((enum cache_id)w->r->request->level);
    char text[REASON_TEXT];

    if (a->step->flags & STEP_PASSED)
        snprintf(text, sizeof(text), "%s",
                 a->step->flags & STEP_STORE
                     ? "stores go through this level, which takes no line for "
                       "them"
                     : "the load passes this level by");
    else if (a->step->flags & STEP_MISSED)
        miss_reason(a, set, title, text);
    else if (a->step->flags & STEP_VICTIM)
        snprintf(text, sizeof(text),
                 "the set lacks it, and the victim cache has it");
    else if (a->last_at != NEVER)
        snprintf(text, sizeof(text),
                 "set %" PRIu64 " has it: step %" PRIu32 " used the line last",
                 set, a->last_at + 1);
    else
        snprintf(text, sizeof(text),
                 "set %" PRIu64 " has it, since before the first step", set);
    return json_string(text);
}

/* Returns a set as an array; null: an empty place. */
static json_t *
places_json(const struct steps_writing *w, const uint64_t *places)
{
    json_t *const array = json_array();

    for (uint32_t i = 0; i < w->s->ways; i++) {
        if ((places[i] & WATCHED_LINE) == 0) {
            json_array_append_new(array, json_null());
            continue;
        }
        json_t *const o = json_object();
        json_object_set_new(o, "line", steps_address(w, places[i] & ~7ull));
        json_object_set_new(o, "dirty",
                            w->s->knows_dirty != 0
                                ? json_boolean((places[i] & WATCHED_DIRTY) != 0)
                                : json_null());
        json_object_set_new(o, "others",
                            json_boolean((places[i] & WATCHED_OTHERS) != 0));
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *
access_json(const struct steps_writing *w, uint32_t number)
{
    const struct access a = access_of(w, number);
    const struct shape shape = shape_of(w->r);
    const uint64_t set = a.line >> shape.offset_bits & (shape.sets - 1);
    const uint16_t flags = a.step->flags;
    json_t *const o = steps_row(w, a.step);

    json_object_set_new(o, "kind",
                        json_string(flags & STEP_STORE ? "store" : "load"));
    json_object_set_new(o, "address", steps_address(w, a.step->address));
    json_object_set_new(o, "bytes", report_json_number(a.step->size));
    json_object_set_new(o, "second", json_boolean((flags & STEP_SECOND) != 0));
    json_object_set_new(o, "line", steps_address(w, a.line));
    json_object_set_new(
        o, "tag",
        steps_address(w, a.line >> shape.offset_bits >> shape.set_bits));
    json_object_set_new(o, "set", report_json_number(set));
    json_object_set_new(
        o, "offset",
        report_json_number(flags & STEP_SECOND ? 0 : a.step->address - a.line));
    json_object_set_new(o, "hit",
                        flags & STEP_PASSED
                            ? json_null()
                            : json_boolean((flags & STEP_MISSED) == 0));
    json_object_set_new(o, "class",
                        a.step->class != POINT_CLASS_NONE
                            ? json_string(point_class_text(a.step->class))
                            : json_null());
    json_object_set_new(o, "reason", reason_of(w, &a, set));
    json_object_set_new(o, "evicted",
                        a.evicted != 0 ? steps_address(w, a.evicted - 1)
                                       : json_null());
    json_object_set_new(o, "cache", report_json_number(a.step->cache));
    json_object_set_new(o, "before", places_json(w, a.before));
    json_object_set_new(o, "after", places_json(w, a.after));
    return o;
}

json_t *
steps_sets(const struct steps_writing *w)
{
    const uint32_t count = atomic_load(&w->s->count);
    json_t *const array = json_array();

    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array, access_json(w, i));
    return array;
}
