/* SPDX-License-Identifier: MIT */
/* The guest's end of the protocol (src/gateway/protocol.h). */
#ifndef TALLY_GATEWAY_DOORBELL_H
#define TALLY_GATEWAY_DOORBELL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "gateway/guest_calls.h"
#include "gateway/protocol.h"

/* Asks whether this program runs on an emulated machine, and on which. */
bool gateway_hello(struct gateway_hello *hello);

/* Explains why gateway_hello() got no answer: 0 if there is no emulated
 * machine; an error, logged, if there is a tally of another version. */
int
gateway_check(const struct gateway_hello *hello, const struct tally_log *log);

/* The calling thread's page, from its first gateway_hello() on; NULL before. */
extern _Thread_local struct gateway_live *gateway_own
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Does GATEWAY_READ without a system call, on the thread that owns the page.
 * Safe in a signal handler: the handler restores the address that the thread
 * had put into the page.
 */
static inline __attribute__((always_inline)) void
gateway_lookup_on(struct gateway_live *own, struct gateway_read *request)
{
    const uint64_t before = own->lookup;

    own->lookup = (uintptr_t)request;
    guest_look_up();
    own->lookup = before;
}

/* Does GATEWAY_READ, by a system call if the thread has no page yet. */
static inline __attribute__((always_inline)) void
gateway_lookup(struct gateway_read *request)
{
    if (__builtin_expect(gateway_own != NULL, 1))
        gateway_lookup_on(gateway_own, request);
    else
        gateway_ring(GATEWAY_READ, request);
}

#endif
