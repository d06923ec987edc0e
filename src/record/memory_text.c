/* SPDX-License-Identifier: MIT */
/* The form for people: findings, then tables. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/path.h"
#include "record/memory.h"
#include "record/run_note.h"
#include "record/text_line.h"
#include "report/count_report.h"
#include "table/level.h"

#define NUMBER_TEXT 40
#define FINDINGS 8u /* at most, unless all rows are asked for */
#define BAR 40u     /* columns of the longest */

/* A text that is being written. */
struct writing {
    const struct memory *m;
    const struct breakdown_look *look;
    FILE *out;
    size_t top;
};

static double
percent(uint64_t part, uint64_t all)
{
    return all != 0 ? (double)part / (double)all * 100 : 0;
}

static size_t
shown(const struct writing *w, size_t count)
{
    return w->top != 0 && count > w->top ? w->top : count;
}

static void
write_summary(const struct writing *w)
{
    const struct memory *const m = w->m;
    const struct record_cache *const cache = &m->record->cache;
    const uint64_t misses = memory_misses(m->counts);
    const uint64_t accesses =
        m->counts[MEMORY_LOADS] + m->counts[MEMORY_STORES];
    char text[2][NUMBER_TEXT], size[MEMORY_SIZE_TEXT];

    memory_size_text(cache->size, size);
    format_grouped(misses, text[0]);
    format_grouped(accesses, text[1]);
    fprintf(w->out,
            "\n Why data missed the %s of %s: %s, %" PRIu64
            " way%s, lines of %" PRIu64 " bytes\n"
            " %s misses of %s accesses (%.2f %%), %s\n",
            level_title(cache->level), m->record->machine, size, cache->ways,
            cache->ways == 1 ? "" : "s", cache->line, text[0], text[1],
            percent(misses, accesses), m->standing);
    if (m->record->cut)
        fputs(" the record is cut short\n", w->out);
    if (m->record->partial)
        fputs(" counts of a part of the run are missing\n", w->out);
    run_note_varies(m->record->varies, " ", "another run may differ", w->out);
    run_note_write(m->record, " ", w->out);
    if (m->record->heap_is_whole)
        escape_printf(w->out, " heap by site not available: %s\n",
                      m->record->heap_reason != NULL ? m->record->heap_reason
                                                     : "the program is static");
}

/* Writes that most misses are of the dynamic loader. */
static void
write_loader(const struct writing *w)
{
    char text[NUMBER_TEXT];

    format_grouped(memory_misses(w->m->loader), text);
    fprintf(w->out,
            " %s misses (%.0f %%) are of the start by the dynamic loader, not "
            "of the program\n",
            text,
            percent(memory_misses(w->m->loader), memory_misses(w->m->counts)));
}

/* Writes that threads had few turns, if they had. */
static void
write_turns(const struct writing *w)
{
    const uint64_t turns = memory_few_turns(w->m);

    if (turns != 0)
        fprintf(w->out,
                " threads had %" PRIu64 " turn%s each at most: what they share "
                "shows more\n with shorter turns, as by --quantum 1000\n",
                turns, turns == 1 ? "" : "s");
}

static int
write_findings(const struct writing *w)
{
    const size_t most = w->top != 0 && w->m->finding_count > FINDINGS
                            ? FINDINGS
                            : w->m->finding_count;

    text_heading("Findings", w->look->color, w->out);
    if (memory_is_loaders(w->m))
        write_loader(w);
    write_turns(w);
    if (most == 0 && memory_misses(w->m->loader) != 0)
        fputs(" nothing of the program itself stands out\n", w->out);
    else if (most == 0)
        fprintf(w->out,
                " nothing stands out: no object has misses of one class in "
                "more than 1 of %s\n accesses\n",
                w->m->record->cache.level == CACHE_L1D ? "1,000" : "10,000");
    for (size_t i = 0; i < most; i++) {
        char *const text = memory_finding_text(w->m, &w->m->findings[i]);
        if (text == NULL)
            return TALLY_ENOMEM;
        char *const escaped = escape_copy(text, ESCAPE_LINE);
        free(text);
        if (escaped == NULL)
            return TALLY_ENOMEM;
        fprintf(w->out, " %zu. ", i + 1);
        text_wrap(escaped, i < 9 ? 4 : 5, w->look->width, w->out);
        free(escaped);
    }
    return 0;
}

static void
write_class(const struct writing *w, const char *name, uint64_t misses,
            const char *what)
{
    text_number(misses, 16, w->out);
    fprintf(w->out, " %6.1f %%  %-14s",
            percent(misses, memory_misses(w->m->counts)), name);
    text_end_line(what, 41, w->look->width, w->out);
}

static void
write_classes(const struct writing *w)
{
    const uint64_t *const c = w->m->counts;

    text_heading("Misses by class", w->look->color, w->out);
    write_class(w, "coherence", c[MEMORY_COHERENCE],
                w->m->any_machine ? "another core or an atomic took the line"
                                  : "another core took the line by a store");
    write_class(w, "  of it false", c[MEMORY_FALSE],
                "by stores to other bytes of the line");
    write_class(w, "first touch", c[MEMORY_FIRST],
                w->m->any_machine ? "the cache never had the line"
                                  : "the core's cache never had the line");
    write_class(w, "capacity", c[MEMORY_CAPACITY],
                "too many other lines came between");
    write_class(w, "conflict", c[MEMORY_CONFLICT],
                "too many lines of one set came between");
}

/* Writes the classes of a row in per cent of its misses. */
static void
write_shares(const struct writing *w, const uint64_t counts[MEMORY_COUNTS])
{
    static const enum memory_count classes[] = {MEMORY_COHERENCE, MEMORY_FALSE,
                                                MEMORY_FIRST, MEMORY_CAPACITY,
                                                MEMORY_CONFLICT};
    const uint64_t misses = memory_misses(counts);

    text_number(misses, 14, w->out);
    fprintf(w->out, " %5.1f", percent(misses, memory_misses(w->m->counts)));
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        if (counts[classes[i]] == 0)
            fputs("     -", w->out);
        else
            fprintf(w->out, " %5.1f", percent(counts[classes[i]], misses));
    }
}

#define SHARES_HEADING "        misses     % coher false first capac confl"
#define SHARES_WIDTH 50

static size_t
with_misses(const struct memory *m)
{
    size_t count = 0;

    while (count < m->object_count &&
           memory_misses(m->objects[count].counts) != 0)
        count++;
    return count;
}

static void
write_objects(const struct writing *w)
{
    const size_t count = with_misses(w->m);

    text_heading("Misses by object, and how much was used of what came in",
                 w->look->color, w->out);
    fputs(SHARES_HEADING "  used  object\n", w->out);
    for (size_t i = 0; i < shown(w, count); i++) {
        const struct memory_object *const o = &w->m->objects[i];
        write_shares(w, o->counts);
        if (o->name->used.fetched != 0)
            fprintf(w->out, " %3.0f %%  ",
                    percent(o->name->used.touched, o->name->used.fetched));
        else
            fputs("     -  ", w->out);
        text_end_name(o->name->text, SHARES_WIDTH + 8, w->look->width, w->out);
    }
    text_more(count, shown(w, count), w->out);
}

/* Writes the members that instructions tell of objects whose type is known. */
static int
write_members(const struct writing *w)
{
    const struct memory *const m = w->m;

    if (m->member_count == 0)
        return 0;
    text_heading("Misses by member, where the type of the data is known",
                 w->look->color, w->out);
    fputs(SHARES_HEADING "  member\n", w->out);
    for (size_t i = 0; i < shown(w, m->member_count); i++) {
        char *const name = memory_member_name(&m->members[i]);
        char *text = NULL;
        if (name == NULL ||
            asprintf(&text, "%s of %s", name,
                     m->objects[m->members[i].object].name->text) < 0) {
            free(name);
            return TALLY_ENOMEM;
        }
        write_shares(w, m->members[i].counts);
        fputs("  ", w->out);
        text_end_name(text, SHARES_WIDTH + 2, w->look->width, w->out);
        free(text);
        free(name);
    }
    text_more(m->member_count, shown(w, m->member_count), w->out);
    return 0;
}

/* Writes a place in the source to `text`, of `size` bytes. */
static void
place_text(const struct memory *m, uint32_t function, uint32_t file,
           uint32_t line, char *text, size_t size)
{
    const char *const name =
        function != 0 ? resolver_text(m->resolver, function) : "(no name)";

    if (file != 0)
        snprintf(text, size, "%s (%s:%" PRIu32 ")", name,
                 path_base(resolver_text(m->resolver, file)), line);
    else
        snprintf(text, size, "%s", name);
}

static void
write_lines(const struct writing *w)
{
    const struct memory *const m = w->m;

    text_heading("Misses by line, and how its addresses follow each other",
                 w->look->color, w->out);
    fputs(SHARES_HEADING "  addresses             line\n", w->out);
    for (size_t i = 0; i < shown(w, m->line_count); i++) {
        const struct memory_line *const l = &m->lines[i];
        char text[512], pattern[32];
        write_shares(w, l->counts);
        snprintf(pattern, sizeof(pattern), "%s",
                 memory_pattern_name(l->pattern));
        if (memory_has_stride(l))
            snprintf(pattern + strlen(pattern),
                     sizeof(pattern) - strlen(pattern), " %+" PRId64,
                     l->stride);
        fprintf(w->out, "  %-20s  ", pattern);
        place_text(m, l->function, l->file, l->line, text, sizeof(text));
        text_end_name(text, SHARES_WIDTH + 24, w->look->width, w->out);
    }
    text_more(m->line_count, shown(w, m->line_count), w->out);
}

/* A row of a table that has rows of all objects. */
struct object_row {
    const struct memory_object *object;
    const void *row;
    uint64_t misses;
};

/* Orders by misses, most first; then by object, in the order of the objects;
 * then as the object has them. */
static int
compare_object_rows(const void *x, const void *y)
{
    const struct object_row *a = x, *b = y;

    if (a->misses != b->misses)
        return a->misses < b->misses ? 1 : -1;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return ((const char *)a->row > (const char *)b->row) -
           ((const char *)a->row < (const char *)b->row);
}

/* Writes the rows of one object to `rows`, if that is not NULL. Returns how
 * many there are. */
typedef size_t
object_rows(const struct memory_object *object, struct object_row *rows);

static size_t
shared_rows(const struct memory_object *o, struct object_row *rows)
{
    for (size_t i = 0; rows != NULL && i < o->shared_count; i++)
        rows[i] = (struct object_row){o, &o->shared[i],
                                      o->shared[i].same + o->shared[i].other};
    return o->shared_count;
}

static size_t
driven_rows(const struct memory_object *o, struct object_row *rows)
{
    for (size_t i = 0; rows != NULL && i < o->driven_count; i++)
        rows[i] = (struct object_row){
            o, &o->driven[i], o->driven[i].capacity + o->driven[i].conflict};
    return o->driven_count;
}

/* Returns the rows of all objects, in the order in which they are shown, and
 * their number; for the caller to free. NULL: no memory. */
static struct object_row *
list_rows(const struct memory *m, object_rows *rows_of, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < m->object_count; i++)
        *count += rows_of(&m->objects[i], NULL);
    struct object_row *const rows = calloc(*count + 1, sizeof(*rows));
    if (rows == NULL)
        return NULL;
    size_t n = 0;
    for (size_t i = 0; i < m->object_count; i++)
        n += rows_of(&m->objects[i], rows + n);
    qsort(rows, n, sizeof(*rows), compare_object_rows);
    return rows;
}

static int
write_shared(const struct writing *w)
{
    size_t count;
    struct object_row *const rows = list_rows(w->m, shared_rows, &count);

    if (rows == NULL)
        return TALLY_ENOMEM;
    if (count != 0) {
        text_heading("Lines that threads take from each other", w->look->color,
                     w->out);
        fputs("        misses  of it false  then used  lines  thread  "
              "from thread  object\n",
              w->out);
    }
    for (size_t i = 0; i < shown(w, count); i++) {
        const struct memory_shared *const s = rows[i].row;
        text_number(rows[i].misses, 14, w->out);
        text_number(s->other, 13, w->out);
        text_number(s->used, 11, w->out);
        text_number(s->lines, 7, w->out);
        fprintf(w->out, " %7" PRIu32 " %12" PRIu32 "  ", s->thread, s->from);
        text_end_name(rows[i].object->name->text, 69, w->look->width, w->out);
    }
    text_more(count, shown(w, count), w->out);
    free(rows);
    return 0;
}

static int
write_driven(const struct writing *w)
{
    const struct memory *const m = w->m;
    size_t count;
    struct object_row *const rows = list_rows(m, driven_rows, &count);

    if (rows == NULL)
        return TALLY_ENOMEM;
    if (count != 0) {
        text_heading("What drove out the lines that were missed",
                     w->look->color, w->out);
        fputs("      capacity      conflict  object  <-  by\n", w->out);
    }
    for (size_t i = 0; i < shown(w, count); i++) {
        const struct memory_object *const o = rows[i].object;
        const struct memory_driven *const d = rows[i].row;
        char place[512], text[2048];
        text_number(d->capacity, 14, w->out);
        text_number(d->conflict, 14, w->out);
        place_text(m, d->function, d->file, d->line, place, sizeof(place));
        snprintf(text, sizeof(text), "%s  <-  %s in %s", o->name->text,
                 &m->objects[d->by] == o ? "itself"
                                         : m->objects[d->by].name->text,
                 place);
        fputs("  ", w->out);
        text_end_name(text, 30, w->look->width, w->out);
    }
    text_more(count, shown(w, count), w->out);
    free(rows);
    return 0;
}

/* Writes a bar for a part of the largest. */
static void
write_bar(const struct writing *w, uint64_t part, uint64_t largest)
{
    const unsigned length =
        (unsigned)((double)part / (double)largest * BAR + 0.5);

    for (unsigned i = 0; i < length; i++)
        fputc('#', w->out);
    fputc('\n', w->out);
}

static void
write_reuse(const struct writing *w)
{
    const struct memory *const m = w->m;
    const uint64_t line = m->record->cache.line;
    uint64_t all = 0, largest = 0;

    for (unsigned i = 0; i < MEMORY_POWERS; i++) {
        all += m->reuse[i];
        largest = m->reuse[i] > largest ? m->reuse[i] : largest;
    }
    if (all == 0)
        return;
    text_heading("How much other data came before a line came back",
                 w->look->color, w->out);
    for (unsigned i = 0; i < MEMORY_POWERS; i++) {
        char text[NUMBER_TEXT], size[MEMORY_SIZE_TEXT] = "";
        if (m->reuse[i] == 0)
            continue;
        if (i < 25)
            memory_size_text(line << i, size);
        snprintf(text, sizeof(text), "%s%s", i < 25 ? "< " : "more", size);
        text_number(m->reuse[i], 16, w->out);
        fprintf(w->out, " %6.1f %%  %-14s", percent(m->reuse[i], all), text);
        write_bar(w, m->reuse[i], largest);
    }
}

static void
write_sets(const struct writing *w)
{
    const struct memory *const m = w->m;

    if (m->counts[MEMORY_CONFLICT] == 0)
        return;
    text_heading("Sets", w->look->color, w->out);
    fprintf(w->out,
            " 9 of 10 conflict misses are in %" PRIu64 " of %" PRIu64 " sets\n",
            memory_crowded(m, m->sets), m->set_count);
}

int
memory_text(const struct memory *m, size_t top,
            const struct breakdown_look *look, FILE *out)
{
    const struct writing w = {m, look, out, top};

    errno = 0;
    write_summary(&w);
    int error = write_findings(&w);
    if (error != 0)
        return error;
    write_classes(&w);
    write_objects(&w);
    error = write_members(&w);
    if (error != 0)
        return error;
    write_lines(&w);
    error = write_shared(&w);
    if (error == 0)
        error = write_driven(&w);
    if (error != 0)
        return error;
    write_reuse(&w);
    write_sets(&w);
    fputc('\n', out);
    return ferror(out) != 0 ? TALLY_EIO : 0;
}
