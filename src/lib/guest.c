/* SPDX-License-Identifier: MIT */
#include "tally/guest.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "gateway/doorbell.h"
#include "gateway/register.h"

struct tally_guest {
    struct gateway_hello hello;
};

int
tally_guest_open(const struct tally_log *log, struct tally_guest **guest)
{
    struct gateway_hello hello;

    if (!gateway_hello(&hello)) {
        const int error = gateway_check(&hello, log);
        if (error != 0)
            return error;
        return tally_fail(log, TALLY_EQEMU,
                          "no emulated machine runs this program: start it "
                          "with tally count");
    }
    struct tally_guest *g = malloc(sizeof(*g));
    if (g == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for a handle");
    g->hello = hello;
    *guest = g;
    return 0;
}

void
tally_guest_close(struct tally_guest *guest)
{
    free(guest);
}

const char *
tally_guest_machine(const struct tally_guest *guest)
{
    return guest->hello.machine;
}

static int64_t
ask(const struct tally_guest *guest, struct gateway_register *request)
{
    return gateway_register(
        (const struct gateway_page *)(uintptr_t)guest->hello.page, request);
}

int
tally_guest_find(const struct tally_guest *guest, const char *name)
{
    struct gateway_register request = {
        .access = GATEWAY_FIND,
        .text = (uintptr_t)name,
    };

    return (int)ask(guest, &request);
}

int
tally_guest_read(const struct tally_guest *guest, int id,
                 enum tally_pmu_level level, uint64_t *value)
{
    struct gateway_register request = {
        .access = GATEWAY_GET,
        .id = (uint64_t)id,
        .level = (uint64_t)level,
    };
    const int status = (int)ask(guest, &request);

    if (status == 0)
        *value = request.value;
    return status;
}

int
tally_guest_write(const struct tally_guest *guest, int id,
                  enum tally_pmu_level level, uint64_t value)
{
    struct gateway_register request = {
        .access = GATEWAY_SET,
        .id = (uint64_t)id,
        .level = (uint64_t)level,
        .value = value,
    };

    return (int)ask(guest, &request);
}

uint32_t
tally_guest_pending(const struct tally_guest *guest)
{
    struct gateway_register request = {.access = GATEWAY_PENDING};

    return ask(guest, &request) == 0 ? (uint32_t)request.value : 0;
}

int
tally_guest_take(const struct tally_guest *guest, enum tally_pmu_trap trap,
                 uint32_t *counters)
{
    struct gateway_register request = {
        .access = GATEWAY_TAKE,
        .value = (uint64_t)trap,
    };
    const int status = (int)ask(guest, &request);

    if (status == 0 && counters != NULL)
        *counters = (uint32_t)request.results[0];
    return status;
}

uint64_t
tally_guest_sun4v(void *guest, unsigned trap, uint64_t function,
                  const uint64_t args[5], uint64_t results[2])
{
    struct gateway_register request = {
        .access = GATEWAY_SUN4V,
        .id = trap,
        .value = function,
        .results = {results[0], results[1]},
    };

    memcpy(request.args, args, sizeof(request.args));
    const uint64_t status = (uint64_t)ask(guest, &request);
    memcpy(results, request.results, sizeof(request.results));
    return status;
}
