/* SPDX-License-Identifier: MIT */
#include "table/near.h"

#include <stdbool.h>
#include <string.h>

#include "table/table.h"
#include "table/text.h"

#define PART_MIN 3 /* shorter ones are a part of too much */
#define START_MIN 5
#define SCORE_EDIT 10u
#define SCORE_START 15u
#define SCORE_PART 25u
#define SCORE_COMMON 35u
#define SCORE_BAND 5u   /* shown beside the best */
#define SCORE_NOT 1000u /* not near */

/* The bits in which a character differs from the one that it is folded to. */
static const unsigned char flips[256] = {
    ['A' ... 'Z'] = 'A' ^ 'a',
    ['-'] = '-' ^ '_',
    ['.'] = '.' ^ '_',
    [':'] = ':' ^ '_',
};

/* Folds the word. Looks each character up, without a comparison: a typo in an
 * event is compared with every name of a machine. */
static void
fold(const char *word, struct near_word *folded)
{
    const size_t length = strlen(word);

    folded->letters = 0;
    folded->length = length < NEAR_WORD ? length : 0;
    if (length >= NEAR_WORD)
        return;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)word[i];
        const unsigned char small = c ^ flips[c];
        folded->text[i] = (char)small;
        folded->letters |= (uint64_t)1 << (small % 64);
    }
    folded->text[length] = '\0';
}

static unsigned
least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Counts the edits from a to b (insert, remove, replace, or swap two
 * neighbours), or returns any number above `allowed` where there are more. No
 * later row has a smaller number than the least of the two rows before. */
static unsigned
edits(const char *a, size_t a_length, const char *b, size_t b_length,
      unsigned allowed)
{
    unsigned rows[3][NEAR_WORD + 1];
    unsigned least_of_last = 0;

    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *last = rows[(i + 2) % 3];
        const unsigned *last_but_one = rows[(i + 1) % 3];
        unsigned least_of_row = (unsigned)i;
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            const bool same = a[i - 1] == b[j - 1];
            row[j] = least(last[j], row[j - 1]) + 1;
            row[j] = least(row[j], last[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], last_but_one[j - 2] + 1);
            least_of_row = least(least_of_row, row[j]);
        }
        if (least(least_of_row, least_of_last) > allowed)
            return allowed + 1;
        least_of_last = least_of_row;
    }
    return rows[a_length % 3][b_length];
}

/* Returns whether more letters of one word are missing in the other than the
 * edits allowed: each edit brings or removes one letter at most. */
static bool
is_far(const struct near_word *a, const struct near_word *b, size_t allowed)
{
    return (size_t)__builtin_popcountll(a->letters & ~b->letters) > allowed ||
           (size_t)__builtin_popcountll(b->letters & ~a->letters) > allowed;
}

static unsigned
score_edits(const struct near_word *a, const struct near_word *b)
{
    const size_t allowed = a->length < 6 ? 1 : a->length / 3;

    /* Each edit changes the length by at most one. */
    if (a->length > b->length + allowed || b->length > a->length + allowed ||
        is_far(a, b, allowed))
        return SCORE_NOT;
    const unsigned n =
        edits(a->text, a->length, b->text, b->length, (unsigned)allowed);

    /* All of a short word changed is another word. */
    return n <= allowed && n < a->length ? n * SCORE_EDIT : SCORE_NOT;
}

static unsigned
score_shared(const struct near_word *a, const struct near_word *b)
{
    const size_t shorter = a->length < b->length ? a->length : b->length;
    size_t common = 0;

    while (common < shorter && a->text[common] == b->text[common])
        common++;
    if (common == shorter && shorter >= PART_MIN)
        return SCORE_START;
    if (a->length >= PART_MIN && (a->letters & ~b->letters) == 0 &&
        strstr(b->text, a->text) != NULL)
        return SCORE_PART;
    if (common >= START_MIN && 3 * common >= 2 * a->length)
        return SCORE_COMMON;
    return SCORE_NOT;
}

static unsigned
score(const struct near_word *wanted, const char *name, bool typo)
{
    struct near_word folded;
    unsigned best;

    if (wanted->length == 0)
        return SCORE_NOT;
    fold(name, &folded);
    if (folded.length == 0)
        return SCORE_NOT;
    best = score_edits(wanted, &folded);
    if (!typo)
        best = least(best, score_shared(wanted, &folded));
    return best;
}

void
near_init(struct near *n, const char *wanted, size_t max)
{
    fold(wanted, &n->wanted);
    n->max = max < NEAR_MAX ? max : NEAR_MAX;
    n->count = 0;
}

static void
insert(struct near *n, const char *name, unsigned name_score)
{
    size_t at = n->count;

    if (name_score >= SCORE_NOT)
        return;
    for (size_t i = 0; i < n->count; i++)
        if (same_name(n->names[i], name))
            return; /* two machines may have the same name */
    while (at > 0 && n->scores[at - 1] > name_score)
        at--;
    if (at == n->max)
        return;
    if (n->count < n->max)
        n->count++;
    for (size_t i = n->count - 1; i > at; i--) {
        n->names[i] = n->names[i - 1];
        n->scores[i] = n->scores[i - 1];
    }
    n->names[at] = name;
    n->scores[at] = name_score;
}

void
near_add(struct near *n, const char *name, const char *const *aliases)
{
    const char *best = name;
    unsigned best_score = score(&n->wanted, name, false);

    for (; aliases != NULL && *aliases != NULL; aliases++) {
        const unsigned alias_score = score(&n->wanted, *aliases, true);
        if (alias_score < best_score) {
            best = *aliases;
            best_score = alias_score;
        }
    }
    insert(n, best, best_score);
}

void
near_text(const struct near *n, char *text, size_t text_size)
{
    size_t count = 0;

    while (count < n->count && n->scores[count] <= n->scores[0] + SCORE_BAND)
        count++;
    join_words(n->names, count, text, text_size);
}

void
near_names(const char *name, const char *const *names, size_t count, size_t max,
           char *text, size_t text_size)
{
    struct near n;

    near_init(&n, name, max);
    for (size_t i = 0; i < count; i++)
        near_add(&n, names[i], NULL);
    near_text(&n, text, text_size);
}
