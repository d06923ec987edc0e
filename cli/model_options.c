/* SPDX-License-Identifier: MIT */
#include "cli/model_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/setting.h"

static const char *
take_quantum(struct launch_options *launch, const char *value)
{
    if (!command_number(value, 1, LAUNCH_QUANTUM_MOST, &launch->quantum))
        return "--quantum takes 1 to 1000000000 instructions, or cycles with "
               "--schedule cycles, not ";
    return launch->parallel ? "--parallel has no turns; it does not go with "
                              "--quantum "
                            : NULL;
}

static const char *
take_schedule(struct launch_options *launch, const char *value)
{
    launch->by_cycles = strcmp(value, "cycles") == 0;
    if (!launch->by_cycles && strcmp(value, "instructions") != 0)
        return "--schedule takes 'instructions' or 'cycles', not ";
    return launch->by_cycles && launch->parallel
               ? "--parallel has no turns; it does not go with --schedule "
               : NULL;
}

static const char *
take_cpus(struct launch_options *launch, const char *value)
{
    uint64_t number;

    if (!command_number(value, 1, LAUNCH_PROCESSORS_MOST, &number))
        return "--cpus takes 1 to 64 processors, not ";
    launch->processors = (unsigned)number;
    return launch->parallel
               ? "--parallel shows this host's processors; it does "
                 "not go with --cpus "
               : NULL;
}

static const char *
take_variable(struct model_options *m, const char *value)
{
    const char *const sign = strchr(value, '=');

    if (sign == NULL || sign == value)
        return "--env takes NAME=VALUE, not ";
    if (m->launch.variable_count == MODEL_VARIABLES)
        return "too many --env, the last is ";
    if (!launch_takes_variable(value))
        return "--env sets no variable that tally or QEMU sets itself: ";
    m->variables[m->launch.variable_count++] = (char *)value;
    m->launch.variables = m->variables;
    return NULL;
}

const char *
model_options_take(struct model_options *m, int option, const char **given)
{
    const char *const value = *given;

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
    case MODEL_ENV:
        return take_variable(m, value);
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
        return take_quantum(&m->launch, value);
    case MODEL_SCHEDULE:
        return take_schedule(&m->launch, value);
    case MODEL_CPUS:
        return take_cpus(&m->launch, value);
    case MODEL_PARALLEL:
        m->launch.parallel = true;
        *given = "--parallel";
        if (m->launch.quantum != 0)
            return "--quantum gives threads turns; it does not go with ";
        if (m->launch.by_cycles)
            return "--schedule gives threads turns; it does not go with ";
        if (m->launch.processors != 0)
            return "--cpus needs threads that take turns; it does not go with ";
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
           : m->launch.variable_count  ? "--env"
           : m->launch.real_random     ? "--real-random"
           : m->launch.sysroot != NULL ? "--sysroot"
           : m->launch.cpu != NULL     ? "--cpu-model"
           : m->launch.qemu != NULL    ? "--qemu"
           : m->launch.quantum != 0    ? "--quantum"
           : m->launch.by_cycles       ? "--schedule"
           : m->launch.processors != 0 ? "--cpus"
           : m->launch.parallel        ? "--parallel"
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
