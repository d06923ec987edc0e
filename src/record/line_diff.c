/* SPDX-License-Identifier: MIT */
#include "record/line_diff.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "record/keys.h"

#define PAIRS_MOST (16u << 20)        /* that are compared in one gap */
#define EDITED_PAIRS_MOST (64u << 10) /* the same, where texts are compared */
#define DEPTH_MOST 64
#define BLOCK_LEAST 3 /* lines with letters that a moved block has */
#define NOWHERE UINT32_MAX

/* Two texts as numbers: equal lines have one number. */
struct texts {
    uint32_t *before, *after; /* numbers of lines */
    size_t before_count, after_count;
    uint32_t number_count;
    uint32_t *to;   /* [before] index in `after`, or NOWHERE */
    uint32_t *from; /* [after] index in `before`, or NOWHERE */
    bool *moved;    /* [before] the line went elsewhere with a block */
    /* Scratch, [number]: how often a line is in a range, and where. */
    uint32_t *seen_before, *seen_after, *place;
};

/* A range of each text, ends not included. */
struct gap {
    size_t before, before_end, after, after_end;
};

static void
match(struct texts *t, size_t before, size_t after)
{
    t->to[before] = (uint32_t)after;
    t->from[after] = (uint32_t)before;
}

/* Matches equal lines at both ends of the gap, which becomes smaller. */
static void
trim(struct texts *t, struct gap *g)
{
    while (g->before < g->before_end && g->after < g->after_end &&
           t->before[g->before] == t->after[g->after])
        match(t, g->before++, g->after++);
    while (g->before < g->before_end && g->after < g->after_end &&
           t->before[g->before_end - 1] == t->after[g->after_end - 1])
        match(t, --g->before_end, --g->after_end);
}

/* Matches the longest common sequence of a gap. */
static int
match_longest(struct texts *t, const struct gap *g)
{
    const size_t rows = g->before_end - g->before;
    const size_t columns = g->after_end - g->after;

    if (rows == 0 || columns == 0 || rows > PAIRS_MOST / columns)
        return 0;
    /* lengths[i][j]: of the sequence from row i and column j on; of the rows
     * two are kept. skips[i][j]: 0 both match, 1 skip the row, 2 the column. */
    uint32_t *lengths = calloc(2 * (columns + 1), sizeof(*lengths));
    uint8_t *skips = malloc(rows * columns);
    if (lengths == NULL || skips == NULL) {
        free(lengths);
        free(skips);
        return TALLY_ENOMEM;
    }
    uint32_t *here = lengths, *below = lengths + columns + 1;
    for (size_t i = rows; i-- > 0;) {
        here[columns] = 0;
        for (size_t j = columns; j-- > 0;) {
            uint8_t *skip = &skips[i * columns + j];
            if (t->before[g->before + i] == t->after[g->after + j]) {
                *skip = 0;
                here[j] = below[j + 1] + 1;
            } else {
                *skip = below[j] >= here[j + 1] ? 1 : 2;
                here[j] = *skip == 1 ? below[j] : here[j + 1];
            }
        }
        uint32_t *other = here;
        here = below;
        below = other;
    }
    for (size_t i = 0, j = 0; i < rows && j < columns;) {
        const uint8_t skip = skips[i * columns + j];
        if (skip == 0)
            match(t, g->before + i, g->after + j);
        i += skip != 2;
        j += skip != 1;
    }
    free(lengths);
    free(skips);
    return 0;
}

/* A line that each side of a gap has once. */
struct anchor {
    uint32_t before, after;
    uint32_t previous; /* anchor in the sequence before this one, or NOWHERE */
};

/* Lists the anchors of the gap in the order of `before`; *count: their number.
 * NULL: no memory. */
static struct anchor *
list_anchors(struct texts *t, const struct gap *g, size_t *count)
{
    struct anchor *all = calloc(g->before_end - g->before + 1, sizeof(*all));

    *count = 0;
    for (size_t i = g->before; i < g->before_end; i++)
        t->seen_before[t->before[i]] = t->seen_after[t->before[i]] = 0;
    for (size_t i = g->after; i < g->after_end; i++)
        t->seen_before[t->after[i]] = t->seen_after[t->after[i]] = 0;
    for (size_t i = g->before; i < g->before_end; i++)
        t->seen_before[t->before[i]]++;
    for (size_t i = g->after; i < g->after_end; i++) {
        t->seen_after[t->after[i]]++;
        t->place[t->after[i]] = (uint32_t)i;
    }
    for (size_t i = g->before; all != NULL && i < g->before_end; i++) {
        const uint32_t number = t->before[i];
        if (t->seen_before[number] == 1 && t->seen_after[number] == 1)
            all[(*count)++] = (struct anchor){
                .before = (uint32_t)i,
                .after = t->place[number],
                .previous = NOWHERE,
            };
    }
    return all;
}

/* Keeps the longest sequence of anchors that is ascending in `after` too, by
 * patience sorting. Returns its length, or NOWHERE: no memory. */
static size_t
keep_ascending(struct anchor *all, size_t count)
{
    uint32_t *piles = calloc(count + 1, sizeof(*piles)); /* top of each */
    size_t pile_count = 0;

    if (piles == NULL)
        return NOWHERE;
    for (size_t i = 0; i < count; i++) {
        size_t low = 0, high = pile_count;
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (all[piles[middle]].after < all[i].after)
                low = middle + 1;
            else
                high = middle;
        }
        all[i].previous = low > 0 ? piles[low - 1] : NOWHERE;
        piles[low] = (uint32_t)i;
        pile_count += low == pile_count;
    }
    /* Walk back from the top of the last pile. */
    uint32_t at = pile_count > 0 ? piles[pile_count - 1] : NOWHERE;
    for (size_t i = pile_count; i-- > 0; at = all[at].previous)
        piles[i] = at;
    for (size_t i = 0; i < pile_count; i++)
        all[i] = all[piles[i]];
    free(piles);
    return pile_count;
}

static int follow_gap(struct texts *t, struct gap g, unsigned depth);

/* Matches the anchors and follows the lines between them. */
static int
follow_between(struct texts *t, const struct gap *g,
               const struct anchor *anchors, size_t count, unsigned depth)
{
    struct gap rest = *g;
    int error = 0;

    for (size_t i = 0; error == 0 && i < count; i++) {
        struct gap part = rest;
        part.before_end = anchors[i].before;
        part.after_end = anchors[i].after;
        match(t, anchors[i].before, anchors[i].after);
        error = follow_gap(t, part, depth + 1);
        rest.before = anchors[i].before + 1;
        rest.after = anchors[i].after + 1;
    }
    return error == 0 ? follow_gap(t, rest, depth + 1) : error;
}

static int
follow_gap(struct texts *t, struct gap g, unsigned depth)
{
    size_t count = 0;
    int error;

    trim(t, &g);
    if (g.before == g.before_end || g.after == g.after_end)
        return 0;
    if (depth > DEPTH_MOST)
        return match_longest(t, &g);
    struct anchor *anchors = list_anchors(t, &g, &count);
    if (anchors != NULL)
        count = keep_ascending(anchors, count);
    if (anchors == NULL || count == NOWHERE)
        error = TALLY_ENOMEM;
    else if (count == 0)
        error = match_longest(t, &g);
    else
        error = follow_between(t, &g, anchors, count, depth);
    free(anchors);
    return error;
}

/* Returns whether the line says something: it has a letter or a digit. */
static bool
has_word(const char *line)
{
    while (*line != '\0' && !isalnum((unsigned char)*line))
        line++;
    return *line != '\0';
}

/* Matches the block of equal lines around a line that went to another place, if
 * enough of its lines say something. */
static void
match_block(struct texts *t, char *const *lines, size_t before, size_t after)
{
    size_t first = 0, end = 0, words = 0;

    while (first < before && first < after &&
           t->to[before - first - 1] == NOWHERE &&
           t->from[after - first - 1] == NOWHERE &&
           t->before[before - first - 1] == t->after[after - first - 1])
        first++;
    while (before + end < t->before_count && after + end < t->after_count &&
           t->to[before + end] == NOWHERE && t->from[after + end] == NOWHERE &&
           t->before[before + end] == t->after[after + end])
        end++;
    for (size_t i = before - first; i < before + end; i++)
        words += has_word(lines[i]);
    for (size_t i = 0; words >= BLOCK_LEAST && i < first + end; i++) {
        match(t, before - first + i, after - first + i);
        t->moved[before - first + i] = true;
    }
}

/* Follows blocks that went to another place: from a line that each text has
 * once among those that were not followed. */
static void
follow_blocks(struct texts *t, char *const *lines)
{
    memset(t->seen_before, 0, t->number_count * sizeof(*t->seen_before));
    memset(t->seen_after, 0, t->number_count * sizeof(*t->seen_after));
    for (size_t i = 0; i < t->before_count; i++)
        t->seen_before[t->before[i]] += t->to[i] == NOWHERE;
    for (size_t i = 0; i < t->after_count; i++) {
        if (t->from[i] != NOWHERE)
            continue;
        t->seen_after[t->after[i]]++;
        t->place[t->after[i]] = (uint32_t)i;
    }
    for (size_t i = 0; i < t->before_count; i++) {
        const uint32_t number = t->before[i];
        if (t->to[i] == NOWHERE && t->seen_before[number] == 1 &&
            t->seen_after[number] == 1 && t->from[t->place[number]] == NOWHERE)
            match_block(t, lines, i, t->place[number]);
    }
}

static const char *
without_indent(const char *line)
{
    return line + strspn(line, " \t");
}

/* Returns how much two lines have in common at their beginning and their end,
 * without indent, in thousandths of the longer one. */
static uint32_t
likeness(const char *a, const char *b)
{
    a = without_indent(a);
    b = without_indent(b);
    const size_t a_size = strlen(a), b_size = strlen(b);
    const size_t least = a_size < b_size ? a_size : b_size;
    const size_t most = a_size < b_size ? b_size : a_size;
    size_t start = 0, end = 0;

    if (!has_word(a) || !has_word(b))
        return 0;
    while (start < least && a[start] == b[start])
        start++;
    while (end < least - start && a[a_size - end - 1] == b[b_size - end - 1])
        end++;
    return (uint32_t)(1000 * (start + end) / most);
}

/* Matches the lines of a gap that are alike, in order, so that they have the
 * most in common; notes them in `edited`. */
static int
match_edited(struct texts *t, char *const *before, char *const *after,
             const struct gap *g, bool *edited)
{
    const size_t rows = g->before_end - g->before;
    const size_t columns = g->after_end - g->after;

    if (rows == 0 || columns == 0 || rows > EDITED_PAIRS_MOST / columns)
        return 0;
    const size_t width = columns + 1;
    uint32_t *best = calloc((rows + 1) * width, sizeof(*best));
    uint32_t *alike = calloc(rows * columns, sizeof(*alike));
    if (best == NULL || alike == NULL) {
        free(best);
        free(alike);
        return TALLY_ENOMEM;
    }
    for (size_t i = rows; i-- > 0;)
        for (size_t j = columns; j-- > 0;) {
            const uint32_t like =
                likeness(before[g->before + i], after[g->after + j]);
            const uint32_t down = best[(i + 1) * width + j];
            const uint32_t right = best[i * width + j + 1];
            uint32_t most = down > right ? down : right;
            alike[i * columns + j] = like >= 500 ? like : 0;
            if (like >= 500 && best[(i + 1) * width + j + 1] + like > most)
                most = best[(i + 1) * width + j + 1] + like;
            best[i * width + j] = most;
        }
    for (size_t i = 0, j = 0; i < rows && j < columns;) {
        const uint32_t value = best[i * width + j];
        const uint32_t like = alike[i * columns + j];
        if (like != 0 && value == best[(i + 1) * width + j + 1] + like) {
            match(t, g->before + i, g->after + j);
            edited[g->before + i] = true;
            i++;
            j++;
        } else if (value == best[(i + 1) * width + j]) {
            i++;
        } else {
            j++;
        }
    }
    free(best);
    free(alike);
    return 0;
}

/* Follows lines that were edited, in each gap between lines that are the same
 * on both sides. */
static int
follow_edited(struct texts *t, char *const *before, char *const *after,
              bool *edited)
{
    size_t i = 0, j = 0;

    while (i < t->before_count && j < t->after_count) {
        struct gap g = {i, i, j, j};
        while (g.before_end < t->before_count && t->to[g.before_end] == NOWHERE)
            g.before_end++;
        while (g.after_end < t->after_count && t->from[g.after_end] == NOWHERE)
            g.after_end++;
        const int error = match_edited(t, before, after, &g, edited);
        if (error != 0)
            return error;
        /* Behind the gap are two lines that are the same, unless one is of a
         * block that went elsewhere. */
        i = g.before_end;
        j = g.after_end;
        const bool left = i < t->before_count && t->moved[i];
        const bool came = j < t->after_count && t->moved[t->from[j]];
        i += left || !came;
        j += came || !left;
    }
    return 0;
}

/* Gives each line its number. */
static int
number_lines(struct keys *keys, char *const *lines, size_t count,
             uint32_t *numbers)
{
    for (size_t i = 0; i < count; i++) {
        numbers[i] = keys_add(keys, lines[i], strlen(lines[i]));
        if (numbers[i] == KEYS_NONE)
            return TALLY_ENOMEM;
    }
    return 0;
}

static uint32_t *
numbers_of(size_t count)
{
    uint32_t *numbers = malloc((count + 1) * sizeof(*numbers));

    for (size_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] = NOWHERE;
    return numbers;
}

static void
texts_finish(struct texts *t)
{
    free(t->before);
    free(t->after);
    free(t->to);
    free(t->from);
    free(t->moved);
    free(t->seen_before);
    free(t->seen_after);
    free(t->place);
}

/* Numbers the lines of both texts, none of which is followed so far. */
static int
texts_init(struct texts *t, char *const *before, size_t before_count,
           char *const *after, size_t after_count)
{
    struct keys keys = {0};
    int error = TALLY_ENOMEM;

    *t = (struct texts){
        .before = numbers_of(before_count),
        .after = numbers_of(after_count),
        .to = numbers_of(before_count),
        .from = numbers_of(after_count),
        .moved = calloc(before_count + 1, sizeof(bool)),
        .before_count = before_count,
        .after_count = after_count,
    };
    if (t->before != NULL && t->after != NULL && t->to != NULL &&
        t->from != NULL && t->moved != NULL && before_count < NOWHERE &&
        after_count < NOWHERE)
        error = number_lines(&keys, before, before_count, t->before);
    if (error == 0)
        error = number_lines(&keys, after, after_count, t->after);
    t->number_count = keys.count;
    keys_finish(&keys);
    t->seen_before = numbers_of(t->number_count);
    t->seen_after = numbers_of(t->number_count);
    t->place = numbers_of(t->number_count);
    return error == 0 && t->seen_before != NULL && t->seen_after != NULL &&
                   t->place != NULL
               ? 0
               : TALLY_ENOMEM;
}

int
line_diff(char *const *before, size_t before_count, char *const *after,
          size_t after_count, struct followed_line *found)
{
    struct texts t;
    bool *edited = calloc(before_count + 1, sizeof(*edited));
    int error = edited == NULL ? TALLY_ENOMEM : 0;

    if (error == 0)
        error = texts_init(&t, before, before_count, after, after_count);
    else
        t = (struct texts){0};
    if (error == 0)
        error =
            follow_gap(&t, (struct gap){0, before_count, 0, after_count}, 0);
    if (error == 0) {
        follow_blocks(&t, before);
        error = follow_edited(&t, before, after, edited);
    }
    for (size_t i = 0; error == 0 && i < before_count; i++)
        found[i] = (struct followed_line){
            .line = t.to[i] == NOWHERE ? 0 : t.to[i] + 1,
            .edited = edited[i],
        };
    texts_finish(&t);
    free(edited);
    return error;
}
