/* SPDX-License-Identifier: MIT */
#include "table/items.h"

#include <string.h>

#include "table/table.h"
#include "table/text.h"

#define SPACES " \t\n"
#define ENDS ",{}" SPACES

/*
 * Returns the length of the list's first word, which ends at a comma, a brace
 * or a space. Terms between slashes may have commas and braces. Among events of
 * the host every slash but those of a breakpoint begins or ends terms; on a
 * machine only slashes with an equals sign do, as in cpu/event=0xc0,umask=0x0/.
 */
static size_t
word_length(const char *list, bool host)
{
    if (host) {
        const bool breakpoint = strncmp(list, "mem:", 4) == 0;
        bool inside = false;
        size_t length = 0;
        for (; list[length] != '\0'; length++) {
            if (!inside && strchr(ENDS, list[length]) != NULL)
                break;
            inside ^= list[length] == '/' && !breakpoint;
        }
        return length;
    }
    const size_t length = strcspn(list, ENDS);
    const char *slash = memchr(list, '/', length);
    const char *equals = slash != NULL ? strpbrk(slash + 1, "=:/" ENDS) : NULL;
    if (equals == NULL || *equals != '=')
        return length;
    const char *const end = strpbrk(equals, "/{}");
    if (end == NULL || *end != '/')
        return length;
    return (size_t)(end - list) + strcspn(end, ENDS);
}

/* Logs that the list is wrong at `p`. */
static int
fail_at(const struct items *s, const char *p, const char *what)
{
    return tally_fail(s->log, TALLY_ESYNTAX, "event list: %s at '%s'", what,
                      shown(p, strlen(p)).text);
}

int
items_parse(const struct items *s, const char *text)
{
    bool inside = false;
    int groups = 0;

    for (const char *p = text;; p++) {
        p += strspn(p, SPACES);
        /* A group of host events may have a name, which says nothing. */
        const size_t name = s->host && !inside ? strcspn(p, ":/" ENDS) : 0;
        if (p[name] == '{')
            p += name;
        while (*p == '{') {
            if (inside)
                return fail_at(s, p, "groups do not nest");
            inside = true;
            p++;
            p += strspn(p, SPACES);
        }
        const size_t length = word_length(p, s->host);
        if (length == 0)
            return tally_fail(s->log, TALLY_ESYNTAX,
                              "an event name is missing in the event list");
        int error = s->word(s->user, p, length, inside ? groups : -1);
        p += length;
        p += strspn(p, SPACES);
        if (error == 0 && *p == '}' && inside) {
            const char *letters = p[1] == ':' ? p + 2 : NULL;
            const size_t most = letters != NULL ? strcspn(letters, ENDS) : 0;
            p = letters != NULL ? letters + most : p + 1;
            inside = false;
            error = s->close(s->user, letters, most, groups++);
            p += strspn(p, SPACES);
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
    int braces = 0;

    for (size_t i = 0;; i++) {
        i += word_length(list + i, host);
        if (list[i] == '\0' || (list[i] == ',' && braces == 0))
            return i;
        braces += (list[i] == '{') - (list[i] == '}');
    }
}

int
item_name(const struct machine_row *machine, const char *word, size_t length,
          const struct tally_log *log, char *copy, char **name)
{
    const struct shown text = shown(word, length);

    if (length >= ITEM_SIZE)
        return tally_fail(log, TALLY_EUNKNOWN,
                          "unknown event '%s' on %s: no name is this long",
                          text.text, machine->name);
    memcpy(copy, word, length);
    copy[length] = '\0';
    char *const colons = strstr(copy, "::");
    *name = copy;
    if (colons == NULL)
        return 0;
    *colons = '\0';
    if (colons == copy)
        return tally_fail(log, TALLY_EUNKNOWN,
                          "'%s': no machine is named before '::'", text.text);
    if (machine_find(copy) != machine)
        return tally_fail(log, TALLY_EUNKNOWN,
                          "'%s': the machine is %s, not %s", text.text,
                          machine->name, shown(copy, strlen(copy)).text);
    *name = colons + 2;
    return 0;
}
