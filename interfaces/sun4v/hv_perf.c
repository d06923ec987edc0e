/* SPDX-License-Identifier: MIT */
#include "hv_perf.h"

#include <stddef.h>

#include "tally/sun4v.h"

#define VFALLS_GET_PERFREG 0x106
#define VFALLS_SET_PERFREG 0x107

/* What a processor is to code that runs on it. */
static _Thread_local struct {
    uint64_t (*call)(void *user, unsigned trap, uint64_t function,
                     const uint64_t args[5], uint64_t results[2]);
    void *user;
    unsigned strand;
} self;

static uint64_t
call_pmu(void *user, unsigned trap, uint64_t function, const uint64_t args[5],
         uint64_t results[2])
{
    return tally_sun4v_call(user, self.strand, trap, function, args, results);
}

void
hv_bind(struct tally_pmu *pmu, unsigned strand)
{
    hv_bind_call(pmu != NULL ? call_pmu : NULL, pmu);
    self.strand = strand;
}

void
hv_bind_call(uint64_t (*call)(void *user, unsigned trap, uint64_t function,
                              const uint64_t args[5], uint64_t results[2]),
             void *user)
{
    self.call = call;
    self.user = user;
}

static uint64_t
call(unsigned trap, uint64_t function, const uint64_t args[5],
     uint64_t results[2])
{
    if (self.call == NULL)
        return H_EBADTRAP;
    return self.call(self.user, trap, function, args, results);
}

uint64_t
hv_api_set_version(uint64_t api_group, uint64_t major, uint64_t minor,
                   uint64_t *supported_minor)
{
    const uint64_t args[5] = {api_group, major, minor};
    uint64_t results[2] = {0, 0};
    const uint64_t status =
        call(TALLY_SUN4V_CORE_TRAP, TALLY_SUN4V_API_SET_VERSION, args, results);

    if (status == H_EOK)
        *supported_minor = results[0];
    return status;
}

uint64_t
hv_api_get_version(uint64_t api_group, uint64_t *majorp, uint64_t *minorp)
{
    const uint64_t args[5] = {api_group};
    uint64_t results[2] = {0, 0};
    const uint64_t status =
        call(TALLY_SUN4V_CORE_TRAP, TALLY_SUN4V_API_GET_VERSION, args, results);

    if (status == H_EOK) {
        *majorp = results[0];
        *minorp = results[1];
    }
    return status;
}

uint64_t
hv_vfalls_get_perfreg(uint64_t perfreg, uint64_t *value)
{
    const uint64_t args[5] = {perfreg};
    uint64_t results[2] = {0, 0};
    const uint64_t status =
        call(TALLY_SUN4V_FAST_TRAP, VFALLS_GET_PERFREG, args, results);

    if (status == H_EOK)
        *value = results[0];
    return status;
}

uint64_t
hv_vfalls_set_perfreg(uint64_t perfreg, uint64_t value)
{
    const uint64_t args[5] = {perfreg, value};
    uint64_t results[2] = {0, 0};

    return call(TALLY_SUN4V_FAST_TRAP, VFALLS_SET_PERFREG, args, results);
}
