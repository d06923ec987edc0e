/* SPDX-License-Identifier: MIT */
/*
 * The kernel's generic events. Their names and codes are those of machine
 * `host` in data/; cache events have a grammar of names besides, which is that
 * of perf.
 */
#include <stdio.h>
#include <string.h>

#include "host/parse.h"
#include "host/sysfs.h"
#include "table/generic.h"
#include "table/text.h"

#define WORDS 6
#define OPS_READ 1u
#define OPS_WRITE 2u
#define OPS_PREFETCH 4u

static const char *const caches[][WORDS] = {
    [PERF_COUNT_HW_CACHE_L1D] = {"L1-dcache", "l1-d", "l1d", "L1-data"},
    [PERF_COUNT_HW_CACHE_L1I] = {"L1-icache", "l1-i", "l1i", "L1-instruction"},
    [PERF_COUNT_HW_CACHE_LL] = {"LLC", "L2"},
    [PERF_COUNT_HW_CACHE_DTLB] = {"dTLB", "d-tlb", "Data-TLB"},
    [PERF_COUNT_HW_CACHE_ITLB] = {"iTLB", "i-tlb", "Instruction-TLB"},
    [PERF_COUNT_HW_CACHE_BPU] = {"branch", "branches", "bpu", "btb", "bpc"},
    [PERF_COUNT_HW_CACHE_NODE] = {"node"},
};

/* The operations that the kernel knows of each cache. */
static const unsigned can[] = {
    [PERF_COUNT_HW_CACHE_L1D] = OPS_READ | OPS_WRITE | OPS_PREFETCH,
    [PERF_COUNT_HW_CACHE_L1I] = OPS_READ | OPS_PREFETCH,
    [PERF_COUNT_HW_CACHE_LL] = OPS_READ | OPS_WRITE | OPS_PREFETCH,
    [PERF_COUNT_HW_CACHE_DTLB] = OPS_READ | OPS_WRITE | OPS_PREFETCH,
    [PERF_COUNT_HW_CACHE_ITLB] = OPS_READ,
    [PERF_COUNT_HW_CACHE_BPU] = OPS_READ,
    [PERF_COUNT_HW_CACHE_NODE] = OPS_READ | OPS_WRITE | OPS_PREFETCH,
};

static const char *const operations[][WORDS] = {
    [PERF_COUNT_HW_CACHE_OP_READ] = {"load", "loads", "read"},
    [PERF_COUNT_HW_CACHE_OP_WRITE] = {"store", "stores", "write"},
    [PERF_COUNT_HW_CACHE_OP_PREFETCH] = {"prefetch", "prefetches",
                                         "speculative-read",
                                         "speculative-load"},
};

static const char *const results[][WORDS] = {
    [PERF_COUNT_HW_CACHE_RESULT_ACCESS] = {"refs", "Reference", "ops",
                                           "access"},
    [PERF_COUNT_HW_CACHE_RESULT_MISS] = {"misses", "miss"},
};

static bool
starts(const char *text, const char *word)
{
    while (*word != '\0' && ascii_lower(*text) == ascii_lower(*word))
        text++, word++;
    return *word == '\0' && (*text == '\0' || *text == '-');
}

/* Steps over the longest word of the table that `*text` starts with. */
static int
take(const char **text, const char *const (*words)[WORDS], size_t rows)
{
    size_t longest = 0;
    int found = -1;

    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0; i < WORDS && words[row][i] != NULL; i++) {
            const size_t length = strlen(words[row][i]);
            if (length > longest && starts(*text, words[row][i])) {
                longest = length;
                found = (int)row;
            }
        }
    *text += longest;
    return found;
}

/* Steps over a '-' and the longest word behind it; leaves the text alone if no
 * word follows. */
static int
take_next(const char **text, const char *const (*words)[WORDS], size_t rows)
{
    const char *next = *text + 1;
    const int found = **text == '-' ? take(&next, words, rows) : -1;

    if (found >= 0)
        *text = next;
    return found;
}

#define ROWS(table) (table), sizeof(table) / sizeof((table)[0])

/* Finds the code of "L1-dcache-load-misses" in its many spellings. */
static bool
cache_find(const char *name, uint64_t *config)
{
    const int cache = take(&name, ROWS(caches));
    int operation, result;

    if (cache < 0)
        return false;
    operation = take_next(&name, ROWS(operations));
    result = take_next(&name, ROWS(results));
    if (operation < 0)
        operation = take_next(&name, ROWS(operations));
    if (*name != '\0')
        return false;
    if (operation < 0)
        operation = PERF_COUNT_HW_CACHE_OP_READ;
    if (result < 0)
        result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
    if (!(can[cache] >> operation & 1))
        return false;
    *config =
        (uint64_t)cache | (uint64_t)operation << 8 | (uint64_t)result << 16;
    return true;
}

static const struct {
    const char *unit;
    uint32_t type;
} units[] = {
    {"hardware", PERF_TYPE_HARDWARE},
    {"software", PERF_TYPE_SOFTWARE},
    {"cache", PERF_TYPE_HW_CACHE},
};

static bool
unit_type(const char *unit, uint32_t *type)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].unit, unit) == 0) {
            *type = units[i].type;
            return true;
        }
    return false;
}

const struct event_row *
host_row(uint32_t type, uint64_t config)
{
    const struct machine_row *host = &tally_machines[MACHINE_HOST];

    for (size_t i = 0; i < host->event_count; i++) {
        const struct event_row *row = &host->events[i];
        uint32_t row_type;
        if (unit_type(row->unit, &row_type) && row_type == type &&
            (uint64_t)row->code == config)
            return row;
    }
    return NULL;
}

bool
host_generic_find(const char *name, uint32_t *type, uint64_t *config)
{
    const struct event_row *row = NULL;

    if (strncmp(name, "0x", 2) != 0 && strchr(name, '/') == NULL)
        row = event_find(&tally_machines[MACHINE_HOST], name);
    if (row != NULL && row->code >= 0 && unit_type(row->unit, type)) {
        *config = (uint64_t)row->code;
        return true;
    }
    *type = PERF_TYPE_HW_CACHE;
    return cache_find(name, config);
}

static int
add(struct host_list *list, const char *name, uint32_t type, uint64_t config,
    const struct host_pmu *pmu)
{
    struct host_event *event;
    const int error = host_list_add(list, name, &event);

    if (error != 0)
        return error;
    event->attr.type = type;
    event->attr.config = config;
    event->row = host_row(type, config);
    if (pmu != NULL) {
        event->attr.config |= (uint64_t)pmu->type << 32;
        memcpy(event->pmu, pmu->name, sizeof(event->pmu));
        event->cpus = pmu->cpus;
    }
    return 0;
}

void
host_core_name(char *name, const char *pmu, const char *written)
{
    const int length = (int)strcspn(written, ":/");
    const char *letters = written[length] == ':' ? written + length + 1 : "";

    snprintf(name, HOST_NAME, "%.39s/%.*s/%.16s", pmu,
             length < 90 ? length : 90, written, letters);
}

int
host_generic_add(struct host_list *list, const char *name, const char *shown)
{
    struct host_pmu pmus[HOST_HYBRID];
    char text[HOST_NAME];
    uint64_t config;
    uint32_t type;
    int error = 0;

    if (!host_generic_find(name, &type, &config))
        return HOST_NOT_MINE;
    const size_t count =
        type == PERF_TYPE_SOFTWARE ? 0 : host_hybrid_find(list->root, pmus);
    if (count == 0)
        return add(list, shown, type, config, NULL);
    for (size_t i = 0; i < count && error == 0; i++) {
        host_core_name(text, pmus[i].name, shown);
        error = add(list, text, type, config, &pmus[i]);
    }
    return error;
}

int
host_lacking_add(struct host_list *list, const char *name, const char *shown)
{
    const struct event_row *row =
        generic_lacking_event(&tally_machines[MACHINE_HOST], name);
    struct host_event *event;

    if (row == NULL || !list->lacking)
        return HOST_NOT_MINE;
    const int error = host_list_add(list, shown, &event);
    if (error != 0)
        return error;
    event->attr.type = UINT32_MAX; /* no PMU has it */
    event->row = row;
    return 0;
}

const char *
host_event_lacks(const struct host_event *event)
{
    return event->row != NULL && event_is_lacking(event->row)
               ? generic_lacking_reason(&tally_machines[MACHINE_HOST],
                                        event->row)
               : NULL;
}

bool
host_event_is_clock(const struct host_event *event)
{
    return event->attr.type == PERF_TYPE_SOFTWARE &&
           (event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
            event->attr.config == PERF_COUNT_SW_TASK_CLOCK);
}
