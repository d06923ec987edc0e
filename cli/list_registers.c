/* SPDX-License-Identifier: MIT */
/* tally list registers: by machine and group. */
#include <inttypes.h>
#include <string.h>

#include "cli/json_rows.h"
#include "cli/list.h"
#include "cli/rows_text.h"

/*
 * Longer ones would leave no room for the words on a terminal: there only tally
 * show has them.
 */
#define ADDRESS_WIDTH 20

static bool
register_matches(const struct list *l, const struct register_row *r)
{
    const char *names[16] = {r->name};
    const char *const texts[] = {r->brief, r->group};
    size_t count = 1;

    for (const char *const *a = r->aliases; *a != NULL && count < 16; a++)
        names[count++] = *a;
    return list_matches(l, names, count, texts, 2);
}

/* How it is reached: a number, or words. */
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

/* Names are in one column, addresses in one for each group. */
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

static size_t
matching(const struct list *l, const struct machine_row *m)
{
    size_t count = 0;

    for (size_t i = 0; i < m->register_count; i++)
        count += register_matches(l, &m->registers[i]);
    return count;
}

static void
add_machine(struct list *l, const struct machine_row *m)
{
    for (size_t k = 0; k < m->register_count; k++)
        if (register_matches(l, &m->registers[k]))
            list_add(l, m, register_json(&m->registers[k]));
}

size_t
list_registers(struct list *l)
{
    static const struct list_kind kind = {matching, print_machine, add_machine};

    return list_by_machine(l, &kind);
}
