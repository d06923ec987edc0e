/* SPDX-License-Identifier: MIT */
#include "source/processor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a file like /proc/cpuinfo says of its first processor. */
struct processor {
    char vendor[32]; /* "": none */
    bool has_family, has_model, has_implementer, has_part;
    uint32_t family, model, implementer, part;
};

const char *
processor_value(const char *line, const char *key)
{
    const size_t length = strlen(key);
    const char *value = line + length;

    if (strncmp(line, key, length) != 0)
        return NULL;
    value += strspn(value, " \t");
    if (*value != ':')
        return NULL;
    value++;
    return value + strspn(value, " \t");
}

/* Takes the number of a line of `key`, in decimal or as 0xd0c. */
static void
take_number(const char *line, const char *key, bool *has, uint32_t *number)
{
    const char *const value = processor_value(line, key);
    char *end;

    if (value == NULL || *has || *value < '0' || *value > '9')
        return;
    const unsigned long long n = strtoull(value, &end, 0);
    *has = n <= UINT32_MAX && strspn(end, " \t\n") == strlen(end);
    *number = (uint32_t)n;
}

static void
take_line(const char *line, struct processor *p)
{
    const char *const vendor = processor_value(line, "vendor_id");

    if (vendor != NULL && p->vendor[0] == '\0')
        snprintf(p->vendor, sizeof(p->vendor), "%.*s",
                 (int)strcspn(vendor, "\n"), vendor);
    take_number(line, "cpu family", &p->has_family, &p->family);
    take_number(line, "model", &p->has_model, &p->model);
    take_number(line, "CPU implementer", &p->has_implementer, &p->implementer);
    take_number(line, "CPU part", &p->has_part, &p->part);
}

static bool
is_in(const struct processor *p, const struct processor_row *row)
{
    if (row->vendor == NULL)
        return p->has_implementer && p->has_part &&
               p->implementer == row->family && p->part >= row->first &&
               p->part <= row->last;
    return p->has_family && p->has_model &&
           strcmp(p->vendor, row->vendor) == 0 && p->family == row->family &&
           p->model >= row->first && p->model <= row->last;
}

const struct machine_row *
processor_core(const char *cpuinfo)
{
    struct processor p = {.vendor = ""};
    FILE *const file = fopen(cpuinfo, "re");
    char line[512];

    if (file == NULL)
        return NULL;
    /* An empty line ends the first processor. */
    while (fgets(line, sizeof(line), file) != NULL && line[0] != '\n')
        take_line(line, &p);
    fclose(file);
    for (const struct processor_row *r = processor_rows; r->machine != NULL;
         r++)
        if (is_in(&p, r))
            return machine_find(r->machine);
    return NULL;
}

bool
processor_has(enum param_id id)
{
    const char *const key = tally_params[id].key;

    for (const char *const *p = processor_params; *p != NULL; p++) {
        const size_t length = strlen(*p);
        if ((*p)[length - 1] == '*' ? strncmp(key, *p, length - 1) == 0
                                    : strcmp(key, *p) == 0)
            return true;
    }
    return false;
}
