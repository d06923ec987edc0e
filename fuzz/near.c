/* SPDX-License-Identifier: MIT */
/*
 * Two lines, a word that was typed and a name: names near the word are those
 * that a plain count of edits finds near.
 */
#include "table/near.h"

#include "fuzz/fuzz.h"
#include "table/text.h"

#define WORD 64 /* longer words are near to nothing */

static unsigned
least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the word in small letters, with one sign for all that joins words. */
static size_t
fold(const char *word, char *folded)
{
    const size_t length = strlen(word);

    if (length >= WORD)
        return 0;
    for (size_t i = 0; i <= length; i++)
        folded[i] = strchr("-.:", word[i]) != NULL && word[i] != '\0'
                        ? '_'
                        : ascii_lower(word[i]);
    return length;
}

/* Counts the edits, by the whole table. */
static unsigned
edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned table[WORD + 1][WORD + 1];

    for (size_t i = 0; i <= a_length; i++)
        for (size_t j = 0; j <= b_length; j++) {
            unsigned n = (unsigned)(i + j);
            if (i > 0 && j > 0) {
                n = least(table[i - 1][j], table[i][j - 1]) + 1;
                n = least(n, table[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            }
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                n = least(n, table[i - 2][j - 2] + 1);
            table[i][j] = n;
        }
    return table[a_length][b_length];
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = fuzz_text(data, size), *name = text;
    const char *const wanted = strsep(&name, "\n");
    char a[WORD], b[WORD], shown_names[256];
    struct near near;

    if (name == NULL) {
        free(text);
        return 0;
    }
    const size_t a_length = fold(wanted, a), b_length = fold(name, b);
    const size_t allowed = a_length < 6 ? 1 : a_length / 3;
    unsigned n = WORD;
    if (a_length > 0 && b_length > 0)
        n = edits(a, a_length, b, b_length);
    /* Of aliases, nothing but the number of edits makes them near. */
    const char *const aliases[] = {name, NULL};
    near_init(&near, wanted, 1);
    near_add(&near, "", aliases);
    fuzz_check((near.count == 1) == (n <= allowed && n < a_length));
    near_init(&near, wanted, 3);
    near_add(&near, name, NULL);
    fuzz_check(n > allowed || n >= a_length || near.count == 1);
    near_text(&near, shown_names, sizeof(shown_names));
    fuzz_check((near.count == 0) == (shown_names[0] == '\0'));
    free(text);
    return 0;
}
