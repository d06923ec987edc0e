/* SPDX-License-Identifier: MIT */
#include "table/items.h"

#include <string.h>

#include "table/text.h"

/* Returns the length of the first word of an event list: a comma, or a brace,
 * ends the word, but no comma between the slashes of cpu/event=0xc0,umask=0x0/.
 */
static size_t
word_length(const char *list)
{
    const size_t length = strcspn(list, ",{}");
    const char *slash = memchr(list, '/', length);
    const char *equals = slash != NULL ? strpbrk(slash + 1, "=:,/{}") : NULL;

    if (equals == NULL || *equals != '=')
        return length;
    const char *const end = strpbrk(equals, "/{}");
    if (end == NULL || *end != '/')
        return length;
    return (size_t)(end - list) + strcspn(end, ",{}");
}

static int
fail_at(const struct items *s, const char *p, const char *what)
{
    return tally_fail(s->log, TALLY_ESYNTAX, "event list: %s at '%s'", what,
                      shown(p, strlen(p)).text);
}

static int
take_word(const struct items *s, const char *word, size_t length, int group)
{
    if (length == 0)
        return tally_fail(s->log, TALLY_ESYNTAX,
                          "an event name is missing in the event list");
    return s->word(s->user, word, length, group);
}

/* Steps over "}" and the letters behind it. */
static int
close_group(const struct items *s, const char **p, int group)
{
    const char *letters = *p + 2;

    *p += 1;
    if (**p != ':')
        return 0;
    *p = letters + strcspn(letters, ",{}");
    return s->letters(s->user, letters, (size_t)(*p - letters), group);
}

int
items_parse(const struct items *s, const char *text)
{
    bool inside = false;
    int groups = 0;

    for (const char *p = text;; p++) {
        int error;
        if (*p == '{') {
            if (inside)
                return fail_at(s, p, "groups do not nest");
            inside = true;
            p++;
        }
        const size_t length = word_length(p);
        error = take_word(s, p, length, inside ? groups : -1);
        p += length;
        if (error == 0 && *p == '}' && inside) {
            inside = false;
            error = close_group(s, &p, groups++);
        }
        if (error != 0)
            return error;
        if (*p == '\0' && inside)
            return tally_fail(s->log, TALLY_ESYNTAX,
                              "event list: a group lacks its }");
        if (*p == '\0')
            return 0;
        if (*p != ',')
            return fail_at(s, p, "expected a comma");
    }
}

size_t
item_length(const char *list, bool host)
{
    bool terms = false;
    int braces = 0;

    for (size_t i = 0;; i++) {
        if (!host)
            i += word_length(list + i);
        if (list[i] == '\0' || (list[i] == ',' && braces == 0 && !terms))
            return i;
        terms ^= list[i] == '/';
        braces += (list[i] == '{') - (list[i] == '}');
    }
}
