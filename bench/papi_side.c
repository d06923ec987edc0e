/* SPDX-License-Identifier: MIT */
#include "papi_side.h"

#include <ctype.h>
#include <dlfcn.h>
#include <papi.h>
#include <perfmon/pfmlib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

__attribute__((visibility("default"))) pfm_err_t
pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info);

typedef pfm_err_t get_info(pfm_pmu_t pmu, pfm_pmu_info_t *info);

static get_info *
real_get_info(void)
{
    return (get_info *)dlsym(RTLD_NEXT, "pfm_get_pmu_info");
}

/* Returns whether libpfm knows this processor's counters. */
static bool
has_default(get_info *real)
{
    for (int i = 0; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t info = {.size = sizeof(info)};
        if (real((pfm_pmu_t)i, &info) == PFM_SUCCESS && info.is_present &&
            info.is_dfl)
            return true;
    }
    return false;
}

/*
 * Where the processor has no counters PAPI gives up perf_event altogether,
 * software events too. Called by PAPI in place of libpfm's, this shows it the
 * kernel's own events as the processor's. Reading them costs the same.
 */
pfm_err_t
pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
    get_info *real = real_get_info();
    const pfm_err_t error = real(pmu, info);

    if (error == PFM_SUCCESS && strcmp(info->name, "perf") == 0 &&
        !has_default(real)) {
        info->type = PFM_PMU_TYPE_CORE;
        info->is_dfl = 1;
    }
    return error;
}

int
papi_start(const char *event)
{
    char name[64] = "perf::";
    int set = PAPI_NULL;

    for (size_t i = 0; event[i] != '\0' && i < 50; i++)
        name[6 + i] = (char)toupper((unsigned char)event[i]);
    if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
        PAPI_create_eventset(&set) != PAPI_OK)
        return -1;
    if (PAPI_add_named_event(set, name) != PAPI_OK ||
        PAPI_start(set) != PAPI_OK) {
        PAPI_destroy_eventset(&set);
        return -1;
    }
    return set;
}

void
papi_stop(int set)
{
    long long value;

    if (set < 0)
        return;
    PAPI_stop(set, &value);
    PAPI_cleanup_eventset(set);
    PAPI_destroy_eventset(&set);
}
