/* SPDX-License-Identifier: MIT */
#include "record/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Returns the end of the brackets that begin at `text`, behind the last; NULL:
 * they do not end. Parentheses and angle brackets are counted as one, but for
 * the one of "->", so that a comparison in a type may end them too early. */
static const char *
end_of_brackets(const char *text)
{
    size_t depth = 0;

    for (const char *at = text; *at != '\0'; at++) {
        depth += *at == '<' || *at == '(';
        if (*at == ')' || (*at == '>' && at[-1] != '-'))
            depth--;
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

static bool
is_of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80) != 0;
}

/* Returns how long the signs of an operator are that `text` begins with, which
 * "operator" stands before. */
static size_t
operator_length(const char *text)
{
    static const char *const operators[] = {
        "<=>", "<<=", ">>=", "->*", "()", "<<",
        ">>",  "<=",  ">=",  "->",  "<",  ">",
    };

    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        const size_t length = strlen(operators[i]);
        if (strncmp(text, operators[i], length) == 0)
            return length;
    }
    return 0;
}

/* Returns whether what was written ends with this word, as a word. */
static bool
ends_with(const char *begin, const char *end, const char *word)
{
    const size_t length = strlen(word);

    return (size_t)(end - begin) >= length &&
           memcmp(end - length, word, length) == 0 &&
           ((size_t)(end - begin) == length || !is_of_name(end[-length - 1]));
}

char *
short_name(const char *text)
{
    /* Each name of one letter may become that and "<...>". */
    char *const name = malloc(3 * strlen(text) + 1);
    char *to = name;

    if (name == NULL)
        return NULL;
    while (*text != '\0') {
        const char *end = NULL;
        size_t signs = 0;
        if (ends_with(name, to, "operator")) {
            signs = operator_length(text);
            to = mempcpy(to, text, signs);
            text += signs;
        }
        const char before = to > name ? to[-1] : ' ';
        const bool named = is_of_name(before) || before == ':' || signs != 0;
        if (*text == '<' && named && (end = end_of_brackets(text)) != NULL) {
            to = mempcpy(to, "<...>", 5);
            text = end;
        } else if (*text == '(' &&
                   ((named && before != ':') || before == '>' ||
                    before == ')') &&
                   (end = end_of_brackets(text)) != NULL) {
            text = end;
            if (strncmp(text, " const", 6) == 0 && !is_of_name(text[6]))
                text += 6;
        } else if (*text != '\0') {
            *to++ = *text++;
        }
    }
    *to = '\0';
    return name;
}
