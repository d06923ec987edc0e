/* SPDX-License-Identifier: MIT */
#include "source/host.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/processor.h"
#include "table/param.h"

#define CPU0 "devices/system/cpu/cpu0/"
#define PATH_SIZE 512

/* Reads the first line of a file below `sys` (/sys, or a test's own). */
static bool
read_word(const char *sys, const char *name, char *word, size_t size)
{
    char path[PATH_SIZE];
    bool ok = false;

    snprintf(path, sizeof(path), "%s/%s", sys, name);
    FILE *file = fopen(path, "re");

    if (file != NULL) {
        ok = fgets(word, (int)size, file) != NULL;
        fclose(file);
    }
    if (ok)
        word[strcspn(word, "\n")] = '\0';
    return ok;
}

/* Returns the number in a file of a cache; 0: there is none, or it is more than
 * any cache has. */
static uint64_t
cache_number(const char *sys, int index, const char *name)
{
    char path[128], word[64], *end;

    snprintf(path, sizeof(path), CPU0 "cache/index%d/%s", index, name);
    if (!read_word(sys, path, word, sizeof(word)))
        return 0;
    const uint64_t n = strtoull(word, &end, 10);
    const unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    return n <= UINT32_MAX ? n << shift : 0;
}

static void
set(uint64_t *params, bool *known, enum param_id id, uint64_t value)
{
    params[id] = value;
    if (known != NULL)
        known[id] = true;
}

/* size, ways and line stand together in the list of parameters. What no model
 * takes is left as it was. */
static void
set_cache(const char *sys, uint64_t *params, bool *known, enum param_id size,
          int index)
{
    const uint64_t bytes = cache_number(sys, index, "size");
    const uint64_t ways = cache_number(sys, index, "ways_of_associativity");
    const uint64_t line = cache_number(sys, index, "coherency_line_size");

    if (ways == 0 || line == 0 || (line & (line - 1)) != 0)
        return;
    uint64_t sets = bytes / line / ways;
    if (sets == 0)
        return;
    while (sets & (sets - 1))
        sets &= sets - 1;
    if (param_check((int)size, sets * ways * line, NULL) != 0 ||
        param_check((int)size + 1, ways, NULL) != 0 ||
        param_check((int)size + 2, line, NULL) != 0)
        return;
    set(params, known, size, sets * ways * line);
    set(params, known, size + 1, ways);
    set(params, known, size + 2, line);
}

static void
set_caches(const char *sys, uint64_t *params, bool *known)
{
    for (int index = 0; index < 8; index++) {
        char path[128], type[32];
        snprintf(path, sizeof(path), CPU0 "cache/index%d/type", index);
        if (!read_word(sys, path, type, sizeof(type)))
            return;
        const uint64_t level = cache_number(sys, index, "level");
        if (level == 1 && strcmp(type, "Instruction") == 0)
            set_cache(sys, params, known, PARAM_L1I_SIZE, index);
        else if (level == 1)
            set_cache(sys, params, known, PARAM_L1D_SIZE, index);
        else if (level == 2)
            set_cache(sys, params, known, PARAM_L2_SIZE, index);
        else if (level == 3)
            set_cache(sys, params, known, PARAM_L3_SIZE, index);
    }
}

/* The base clock: today's clock changes from one second to the next. */
static void
set_clock(const char *sys, uint64_t *params, bool *known)
{
    static const char *const files[] = {
        CPU0 "cpufreq/base_frequency",
        CPU0 "cpufreq/cpuinfo_max_freq",
    };
    char word[64];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (!read_word(sys, files[i], word, sizeof(word)))
            continue;
        const uint64_t khertz = strtoull(word, NULL, 10);
        if (khertz >= 100000 && khertz <= UINT32_MAX &&
            param_check(PARAM_CLOCK, khertz * 1000, NULL) == 0) {
            set(params, known, PARAM_CLOCK, khertz * 1000);
            return;
        }
    }
}

void
host_params(const char *sys, uint64_t *params, bool *known)
{
    set_caches(sys, params, known);
    set_clock(sys, params, known);
}

void
host_core(const char *cpuinfo, uint64_t *params, struct host_values *from)
{
    const struct machine_row *const core = processor_core(cpuinfo);

    from->core = core;
    from->no_core = core == NULL;
    for (size_t i = 0; core != NULL && i < PARAM_COUNT; i++) {
        if (!processor_has((enum param_id)i))
            continue;
        params[i] = core->params[i].value;
        from->of_core[i] = true;
    }
}

/* Turns the rule that values break together into a warning. */
static void
warn_rule(void *user, enum tally_level level, const char *text)
{
    char path[PATH_MAX] = "";

    (void)level;
    calibration_path(path, sizeof(path));
    tally_logf(user, TALLY_LOG_WARNING,
               "%s: %s; not used, and tally calibrate writes the file anew",
               path, text);
}

void
host_values(const struct tally_log *log, uint64_t *params,
            struct host_values *from)
{
    const struct tally_log warn = {warn_rule, (void *)log};
    struct calibration *const c = &from->calibration;
    uint64_t with[PARAM_COUNT];

    memset(from, 0, sizeof(*from));
    memcpy(with, params, sizeof(with));
    if (!calibration_is_off())
        host_core("/proc/cpuinfo", with, from);
    host_params("/sys", with, from->read);
    /* Where the core does not go with these caches, it does not stand in. */
    if (from->core != NULL && params_check(with, NULL) != 0) {
        memset(from, 0, sizeof(*from));
        from->no_core = true;
        memcpy(with, params, sizeof(with));
        host_params("/sys", with, from->read);
    }
    memcpy(params, with, sizeof(with));
    if (!calibration_find(log, c))
        return;
    for (size_t i = 0; i < PARAM_COUNT; i++)
        with[i] = c->params[i].known ? c->params[i].value : params[i];
    if (params_check(with, &warn) == 0)
        memcpy(params, with, sizeof(with));
    else
        memset(c, 0, sizeof(*c));
}
