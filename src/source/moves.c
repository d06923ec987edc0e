/* SPDX-License-Identifier: MIT */
#include "source/moves.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
moves_fit(uint64_t every, uint64_t gap)
{
    if (gap == 0 || gap > MOVES_GAP || every > MOVES_GAP)
        return false;
    return every == 0 || gap <= (MOVES_GROWTH - 1) * every;
}

/* Returns whether the parts are of whole lines, in order, and their groups are
 * fewer than a line has bytes. */
static bool
parts_fit(const struct moves *m)
{
    if (m->line > MOVES_LINE || (m->line & (m->line - 1)) != 0 ||
        m->part_count == 0 || m->part_count > MOVES_PARTS)
        return false;
    for (uint32_t i = 0; i < m->part_count; i++) {
        const struct moves_part *const p = &m->parts[i];
        if (p->first % m->line != 0 || p->last % m->line != m->line - 1 ||
            p->first > p->last || (i > 0 && p->first <= p[-1].last))
            return false;
        for (uint64_t k = 0; k < m->line; k++) {
            if (p->group[k] >= m->line)
                return false;
        }
    }
    return true;
}

bool
moves_are_valid(const struct moves *m)
{
    if (m->count == 0 || m->count > MOVES_OBJECTS)
        return false;
    return m->line != 0 ? parts_fit(m) : moves_fit(m->every, m->gap);
}

unsigned
moves_group(const struct moves *m, uint64_t addr)
{
    uint32_t low = 0, high = m->part_count;

    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (m->parts[middle].last < addr)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == m->part_count || addr < m->parts[low].first)
        return 0;
    return m->parts[low].group[addr & (m->line - 1)];
}

/* Reads a number, and the character that follows it. */
static bool
read_number(const char **at, int base, char end, uint64_t *number)
{
    char *after;

    if (**at < '0' || **at > '9')
        return false;
    *number = strtoull(*at, &after, base);
    *at = after + 1;
    return *after == end;
}

/* Reads the groups of a part, such as 8-15/16-23, and the character behind,
 * which ends the part. */
static bool
read_groups(const char **at, struct moves_part *p)
{
    unsigned group = 1;

    for (;;) {
        char *end;
        const unsigned long first = strtoul(*at, &end, 10);
        unsigned long last = first;
        if (**at < '0' || **at > '9')
            return false;
        if (*end == '-') {
            *at = end + 1;
            if (**at < '0' || **at > '9')
                return false;
            last = strtoul(*at, &end, 10);
        }
        if (last < first || last >= MOVES_LINE || group >= MOVES_LINE)
            return false;
        memset(p->group + first, (int)group, last - first + 1);
        *at = end + 1;
        if (*end == ',' || *end == ':')
            return true;
        if (*end != '/' && *end != '+')
            return false;
        group += *end == '/';
    }
}

static bool
read_parts(struct moves *m, const char **at)
{
    do {
        struct moves_part *const p = &m->parts[m->part_count];
        if (m->part_count++ == MOVES_PARTS ||
            !read_number(at, 16, '-', &p->first) ||
            !read_number(at, 16, '=', &p->last) || !read_groups(at, p))
            return false;
    } while ((*at)[-1] == ',');
    return true;
}

bool
moves_read(struct moves *m, const char *text)
{
    const char *at = text;
    char *end;

    memset(m, 0, sizeof(*m));
    if (!read_number(&at, 10, ':', &m->every))
        return false;
    if (strchr(at, '=') != NULL) {
        m->line = m->every;
        m->every = 0;
        if (m->line == 0 || !read_parts(m, &at))
            return false;
    } else if (!read_number(&at, 10, ':', &m->gap)) {
        return false;
    }
    do {
        const unsigned long number = strtoul(at, &end, 10);
        if (*at < '1' || *at > '9' || (*end != ',' && *end != '\0') ||
            number > UINT32_MAX || m->count == MOVES_OBJECTS)
            return false;
        m->objects[m->count++] = (uint32_t)number;
        at = end + 1;
    } while (*end == ',');
    return moves_are_valid(m);
}

/* Writes the bytes of each group of a part. */
static void
write_groups(const struct moves_part *p, uint64_t line, FILE *out)
{
    const char *between = "";

    for (unsigned group = 1; group < line; group++) {
        for (unsigned i = 0, last; i < line; i = last + 1) {
            last = i;
            if (p->group[i] != group)
                continue;
            while (last + 1 < line && p->group[last + 1] == group)
                last++;
            fprintf(out, "%s%u-%u", between, i, last);
            between = "+";
        }
        between = "/";
    }
}

char *
moves_text(const struct moves *m)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    if (m->line == 0)
        fprintf(out, "%" PRIu64 ":%" PRIu64, m->every, m->gap);
    else
        fprintf(out, "%" PRIu64, m->line);
    for (uint32_t i = 0; i < m->part_count; i++) {
        const struct moves_part *const p = &m->parts[i];
        fprintf(out, "%c0x%" PRIx64 "-0x%" PRIx64 "=", i == 0 ? ':' : ',',
                p->first, p->last);
        write_groups(p, m->line, out);
    }
    for (uint32_t i = 0; i < m->count; i++)
        fprintf(out, "%c%" PRIu32, i == 0 ? ':' : ',', m->objects[i]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
