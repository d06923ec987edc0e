/* SPDX-License-Identifier: MIT */
#include "source/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHES "/sys/devices/system/cpu/cpu0/cache"

static bool
read_word(const char *path, char *word, size_t size)
{
    FILE *file = fopen(path, "re");
    bool ok = false;

    if (file != NULL) {
        ok = fgets(word, (int)size, file) != NULL;
        fclose(file);
    }
    if (ok)
        word[strcspn(word, "\n")] = '\0';
    return ok;
}

static uint64_t
cache_number(int index, const char *name)
{
    char path[128], word[64], *end;

    snprintf(path, sizeof(path), CACHES "/index%d/%s", index, name);
    if (!read_word(path, word, sizeof(word)))
        return 0;
    uint64_t n = strtoull(word, &end, 10);
    if (*end == 'K')
        n <<= 10;
    else if (*end == 'M')
        n <<= 20;
    return n;
}

static void
set(uint64_t *params, bool *known, enum param_id id, uint64_t value)
{
    params[id] = value;
    if (known != NULL)
        known[id] = true;
}

/* size, ways and line stand together in the list of parameters. */
static void
set_cache(uint64_t *params, bool *known, enum param_id size, int index)
{
    const uint64_t bytes = cache_number(index, "size");
    const uint64_t ways = cache_number(index, "ways_of_associativity");
    const uint64_t line = cache_number(index, "coherency_line_size");

    if (bytes == 0 || ways == 0 || line == 0 || (line & (line - 1)) != 0)
        return;
    uint64_t sets = bytes / (ways * line);
    if (sets == 0)
        return;
    while (sets & (sets - 1))
        sets &= sets - 1;
    set(params, known, size, sets * ways * line);
    set(params, known, size + 1, ways);
    set(params, known, size + 2, line);
}

static void
set_caches(uint64_t *params, bool *known)
{
    for (int index = 0; index < 8; index++) {
        char path[128], type[32];
        snprintf(path, sizeof(path), CACHES "/index%d/type", index);
        if (!read_word(path, type, sizeof(type)))
            return;
        const uint64_t level = cache_number(index, "level");
        if (level == 1 && strcmp(type, "Instruction") == 0)
            set_cache(params, known, PARAM_L1I_SIZE, index);
        else if (level == 1)
            set_cache(params, known, PARAM_L1D_SIZE, index);
        else if (level == 2)
            set_cache(params, known, PARAM_L2_SIZE, index);
        else if (level == 3)
            set_cache(params, known, PARAM_L3_SIZE, index);
    }
}

/* The base clock: today's clock changes from one second to the next. */
static void
set_clock(uint64_t *params, bool *known)
{
    static const char *const files[] = {
        "/sys/devices/system/cpu/cpu0/cpufreq/base_frequency",
        "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
    };
    char word[64];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (!read_word(files[i], word, sizeof(word)))
            continue;
        const uint64_t hertz = strtoull(word, NULL, 10) * 1000;
        if (hertz >= 100000000) {
            set(params, known, PARAM_CLOCK, hertz);
            return;
        }
    }
}

void
host_params(uint64_t *params, bool *known)
{
    set_caches(params, known);
    set_clock(params, known);
}
