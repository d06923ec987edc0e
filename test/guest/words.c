/* SPDX-License-Identifier: MIT */
/*
 * words FILE: counts the words of a text in a hash table and prints the ten
 * most frequent. An everyday program for the demonstration: nothing in it is
 * there to be counted.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 4096, LONGEST = 63, SHOWN = 10 };

struct word {
    struct word *next;
    unsigned long count;
    char text[LONGEST + 1];
};

struct table {
    struct word *buckets[BUCKETS];
    size_t words;
};

static unsigned
hash(const char *text)
{
    unsigned value = 2166136261u;

    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 16777619u;
    return value % BUCKETS;
}

static void
count(struct table *table, const char *text)
{
    struct word **place = &table->buckets[hash(text)];

    while (*place != NULL && strcmp((*place)->text, text) != 0)
        place = &(*place)->next;
    if (*place == NULL) {
        *place = calloc(1, sizeof(**place));
        if (*place == NULL)
            abort();
        memcpy((*place)->text, text, strlen(text) + 1);
        table->words++;
    }
    (*place)->count++;
}

static void
read_words(FILE *file, struct table *table)
{
    char text[LONGEST + 1];
    size_t length = 0;
    int c = 0;

    while ((c = getc(file)) != EOF) {
        if (isalpha(c) && length < LONGEST) {
            text[length++] = (char)tolower(c);
        } else if (length > 0) {
            text[length] = '\0';
            count(table, text);
            length = 0;
        }
    }
}

static int
by_count(const void *a, const void *b)
{
    const struct word *left = *(const struct word *const *)a;
    const struct word *right = *(const struct word *const *)b;

    if (left->count != right->count)
        return left->count < right->count ? 1 : -1;
    return strcmp(left->text, right->text);
}

static int
print_words(const struct table *table)
{
    const struct word **words = calloc(table->words + 1, sizeof(*words));
    size_t n = 0;

    if (words == NULL)
        return 1;
    for (int i = 0; i < BUCKETS; i++) {
        for (const struct word *w = table->buckets[i]; w != NULL; w = w->next)
            words[n++] = w;
    }
    qsort(words, n, sizeof(*words), by_count);
    for (size_t i = 0; i < n && i < SHOWN; i++)
        printf("%7lu %s\n", words[i]->count, words[i]->text);
    free(words);
    return 0;
}

int
main(int argc, char **argv)
{
    struct table table = {.words = 0};
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (file == NULL) {
        fprintf(stderr, "usage: words FILE\n");
        return 2;
    }
    read_words(file, &table);
    fclose(file);
    return print_words(&table);
}
