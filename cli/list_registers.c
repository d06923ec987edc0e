/* SPDX-License-Identifier: MIT */
/* tally list registers: by machine and group. */
#include <inttypes.h>
#include <string.h>

#include "cli/json_rows.h"
#include "cli/list.h"
#include "cli/rows_text.h"

/* Longer addresses would leave no room for the words on a terminal: there only
 * tally show has them. */
#define ADDRESS_WIDTH 20

/* Returns whether the register is listed. */
static bool
register_matches(const struct list *l, const struct register_row *r)
{
    return list_matches_row(l, r->name, r->aliases, r->brief, r->group);
}

/* Writes how the register is reached: a number, or words. */
static void
address_text(const struct screen *s, const struct register_row *r, char *text,
             size_t size)
{
    text[0] = '\0';
    if (r->address != NULL)
        snprintf(text, size, "%s", r->address);
    else if (r->has_global)
        snprintf(text, size, "0x%" PRIx64, r->global_address);
    if (s->width > 0 && strlen(text) > ADDRESS_WIDTH)
        text[0] = '\0';
}

struct columns {
    size_t name, address;
};

/* Prints a register. */
static void
print_register(struct screen *s, const struct register_row *r,
               const struct columns *c, bool details)
{
    char address[256];
    size_t used;

    address_text(s, r, address, sizeof(address));
    used = (size_t)fprintf(s->out, "  %-*s  ", (int)c->name, r->name);
    if (c->address > 0)
        used += (size_t)fprintf(s->out, "%-*s  ", (int)c->address, address);
    screen_rest(s, used, r->brief);
    if (details)
        fields_print(s, 6, r, false);
}

/* Finds the widths of the columns: names have one for all groups, addresses one
 * for each group. */
static struct columns
columns_of(const struct list *l, const struct machine_row *m, const char *group)
{
    struct columns c = {0};
    char address[256];

    for (size_t i = 0; i < m->register_count; i++) {
        const struct register_row *r = &m->registers[i];
        if (!register_matches(l, r))
            continue;
        if (strlen(r->name) > c.name)
            c.name = strlen(r->name);
        if (strcmp(r->group, group) != 0)
            continue;
        address_text(l->s, r, address, sizeof(address));
        if (strlen(address) > c.address)
            c.address = strlen(address);
    }
    return c;
}

/* Prints the registers of a machine. */
static void
print_machine(const struct list *l, const struct machine_row *m, bool details)
{
    struct columns c = {0};
    const char *group = NULL;

    for (size_t i = 0; i < m->register_count; i++) {
        const struct register_row *r = &m->registers[i];
        if (!register_matches(l, r))
            continue;
        if (group == NULL || strcmp(group, r->group) != 0) {
            screen_heading(l->s, "%s%s: %s", group != NULL ? "\n" : "", m->name,
                           r->group);
            c = columns_of(l, m, r->group);
        }
        group = r->group;
        print_register(l->s, r, &c, details);
    }
}

/* Counts the registers of a machine that match, and adds them to the JSON where
 * `add`. */
static size_t
matching(struct list *l, const struct machine_row *m, bool add)
{
    size_t count = 0;

    for (size_t i = 0; i < m->register_count; i++) {
        if (!register_matches(l, &m->registers[i]))
            continue;
        count++;
        if (add)
            list_add(l, m, register_json(&m->registers[i]));
    }
    return count;
}

size_t
list_registers(struct list *l)
{
    static const struct list_kind kind = {matching, print_machine};

    return list_by_machine(l, &kind);
}
