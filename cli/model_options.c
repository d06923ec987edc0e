/* SPDX-License-Identifier: MIT */
#include "cli/model_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "source/setting.h"

/* Longest turn, in instructions. */
#define QUANTUM_MOST 1000000000000u

static bool
take_quantum(const char *value, uint64_t *quantum)
{
    char *end;

    errno = 0;
    *quantum = strtoull(value, &end, 10);
    return *value >= '0' && *value <= '9' && *end == '\0' && errno == 0 &&
           *quantum > 0 && *quantum <= QUANTUM_MOST;
}

const char *
model_options_take(struct model_options *m, int option, const char *value)
{
    switch (option) {
    case MODEL_SET:
        if (m->set_count == PARAM_COUNT)
            return "too many --set, the last is ";
        m->sets[m->set_count++] = value;
        break;
    case MODEL_FOREIGN:
        m->foreign = true;
        break;
    case MODEL_CLEAN_ENV:
        m->launch.clean_env = true;
        break;
    case MODEL_REAL_RANDOM:
        m->launch.real_random = true;
        break;
    case MODEL_SYSROOT:
        m->launch.sysroot = value;
        break;
    case MODEL_CPU:
        m->launch.cpu = value;
        break;
    case MODEL_QUANTUM:
        if (!take_quantum(value, &m->launch.quantum))
            return "--quantum takes 1 to 1000000000000 instructions, not ";
        break;
    default:
        m->launch.qemu = value;
    }
    return NULL;
}

const char *
model_options_given(const struct model_options *m)
{
    return m->set_count > 0            ? "--set"
           : m->foreign                ? "--foreign"
           : m->launch.clean_env       ? "--clean-env"
           : m->launch.real_random     ? "--real-random"
           : m->launch.sysroot != NULL ? "--sysroot"
           : m->launch.cpu != NULL     ? "--cpu-model"
           : m->launch.qemu != NULL    ? "--qemu"
           : m->launch.quantum != 0    ? "--quantum"
                                       : NULL;
}

void
model_options_say_settings(const struct model_options *m)
{
    char names[512];

    if (!m->launch.clean_env && setting_list(names, sizeof(names)))
        fprintf(stderr,
                "tally: left out of the environment, since QEMU would run "
                "otherwise: %s\n",
                names);
}
