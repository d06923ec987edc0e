/* SPDX-License-Identifier: MIT */
/* The guest's end of the protocol (src/gateway/protocol.h). */
#ifndef TALLY_GATEWAY_DOORBELL_H
#define TALLY_GATEWAY_DOORBELL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "gateway/protocol.h"

/* Asks whether this program runs on an emulated machine, and on which. */
bool gateway_hello(struct gateway_hello *hello);

/* Explains why gateway_hello() got no answer: 0 if there is no emulated
 * machine; an error, logged, if there is a tally of another version. */
int
gateway_check(const struct gateway_hello *hello, const struct tally_log *log);

/* Rings: makes the system call of the protocol. */
static inline __attribute__((always_inline)) void
gateway_ring(enum gateway_operation operation, void *request)
{
#if defined(__x86_64__) && !defined(__ILP32__)
    long number = GATEWAY_CALL;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"((long)operation), "S"(request)
                     : "rcx", "r11", "memory");
#elif defined(__sparc__) && defined(__arch64__)
    register long number __asm__("g1") = GATEWAY_CALL;
    register long first __asm__("o0") = (long)operation;
    register void *second __asm__("o1") = request;
    __asm__ volatile("ta 0x6d"
                     : "+r"(first)
                     : "r"(number), "r"(second)
                     : "memory", "cc");
#elif defined(__mips64)
    register long number __asm__("$2") = GATEWAY_CALL;
    register long first __asm__("$4") = (long)operation;
    register void *second __asm__("$5") = request;
    register long error __asm__("$7");
    __asm__ volatile("syscall"
                     : "+r"(number), "=r"(error)
                     : "r"(first), "r"(second)
                     : "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13",
                       "$14", "$15", "$24", "$25", "hi", "lo", "memory");
#else
    (void)operation, (void)request;
#endif
}

/* The calling thread's page, from its first gateway_hello() on; NULL before. */
extern _Thread_local struct gateway_live *gateway_own
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Does GATEWAY_READ without a system call, on the thread that owns the page.
 * Safe in a signal handler: the handler restores the address that the thread
 * had put into the page. The instruction is the key `lookup` of data/isa.toml.
 */
static inline __attribute__((always_inline)) void
gateway_lookup_on(struct gateway_live *own, struct gateway_read *request)
{
    const uint64_t before = own->lookup;

    own->lookup = (uintptr_t)request;
#if defined(__x86_64__)
    __asm__ volatile("nopl 0x796c6174(%%rax)" ::: "memory");
#elif defined(__sparc__)
    __asm__ volatile(".word 0x0134616c" ::: "memory");
#elif defined(__mips__)
    __asm__ volatile(".word 0x3c007461" ::: "memory");
#endif
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

/* Loads a live value, which is in the host's byte order: little endian. */
static inline __attribute__((always_inline)) uint64_t
gateway_load(const uint64_t *at)
{
#if defined(__sparc__) && defined(__arch64__)
    uint64_t value;

    __asm__ volatile("ldxa [%1] 0x88, %0" : "=r"(value) : "r"(at) : "memory");
    return value;
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(*(const volatile uint64_t *)at);
#else
    return *(const volatile uint64_t *)at;
#endif
}

#endif
