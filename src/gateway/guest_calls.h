/* SPDX-License-Identifier: MIT */
/*
 * What a guest program needs in the instructions of its architecture: system
 * calls, the instruction by which it looks up counts, loads of the host's byte
 * order. No other header has code that depends on the guest's architecture.
 */
#ifndef TALLY_GATEWAY_GUEST_CALLS_H
#define TALLY_GATEWAY_GUEST_CALLS_H

#include <stdint.h>

#include "gateway/protocol.h"

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
#elif defined(__aarch64__) && !defined(__ILP32__) && \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    register long number __asm__("x8") = GATEWAY_CALL;
    register long first __asm__("x0") = (long)operation;
    register void *second __asm__("x1") = request;
    __asm__ volatile("svc #0"
                     : "+r"(first)
                     : "r"(number), "r"(second)
                     : "memory");
#elif defined(__riscv) && __riscv_xlen == 64
    register long number __asm__("a7") = GATEWAY_CALL;
    register long first __asm__("a0") = (long)operation;
    register void *second __asm__("a1") = request;
    __asm__ volatile("ecall"
                     : "+r"(first)
                     : "r"(number), "r"(second)
                     : "memory");
#else
    (void)operation, (void)request;
#endif
}

/* Makes a system call of five arguments, whose result does not matter. */
static inline __attribute__((always_inline)) void
guest_call_five(uint64_t number, uint64_t first, uint64_t second,
                uint64_t third, uint64_t fourth, uint64_t fifth)
{
#if defined(__x86_64__)
    register uint64_t a0 __asm__("rdi") = first;
    register uint64_t a1 __asm__("rsi") = second;
    register uint64_t a2 __asm__("rdx") = third;
    register uint64_t a3 __asm__("r10") = fourth;
    register uint64_t a4 __asm__("r8") = fifth;
    uint64_t result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(a4)
                     : "rcx", "r11", "memory");
#elif defined(__sparc__)
    register uint64_t g1 __asm__("g1") = number;
    register uint64_t a0 __asm__("o0") = first;
    register uint64_t a1 __asm__("o1") = second;
    register uint64_t a2 __asm__("o2") = third;
    register uint64_t a3 __asm__("o3") = fourth;
    register uint64_t a4 __asm__("o4") = fifth;
    __asm__ volatile("ta 0x6d"
                     : "+r"(g1), "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3),
                       "+r"(a4)
                     :
                     : "o5", "o7", "g2", "g3", "g4", "g5", "cc", "memory");
#elif defined(__mips__)
    register uint64_t v0 __asm__("$2") = number;
    register uint64_t a0 __asm__("$4") = first;
    register uint64_t a1 __asm__("$5") = second;
    register uint64_t a2 __asm__("$6") = third;
    register uint64_t a3 __asm__("$7") = fourth;
    register uint64_t a4 __asm__("$8") = fifth;
    __asm__ volatile("syscall"
                     : "+r"(v0), "+r"(a3)
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a4)
                     : "$1", "$3", "$10", "$11", "$12", "$13", "$14", "$15",
                       "$24", "$25", "hi", "lo", "memory");
#elif defined(__aarch64__)
    register uint64_t x8 __asm__("x8") = number;
    register uint64_t a0 __asm__("x0") = first;
    register uint64_t a1 __asm__("x1") = second;
    register uint64_t a2 __asm__("x2") = third;
    register uint64_t a3 __asm__("x3") = fourth;
    register uint64_t a4 __asm__("x4") = fifth;
    __asm__ volatile("svc #0"
                     : "+r"(a0)
                     : "r"(x8), "r"(a1), "r"(a2), "r"(a3), "r"(a4)
                     : "memory");
#elif defined(__riscv)
    register uint64_t a7 __asm__("a7") = number;
    register uint64_t a0 __asm__("a0") = first;
    register uint64_t a1 __asm__("a1") = second;
    register uint64_t a2 __asm__("a2") = third;
    register uint64_t a3 __asm__("a3") = fourth;
    register uint64_t a4 __asm__("a4") = fifth;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4)
                     : "memory");
#else
    (void)number, (void)first, (void)second, (void)third, (void)fourth,
        (void)fifth;
#endif
}

/* The instruction by which a guest looks up counts, the key `lookup` of
 * data/isa.toml. */
static inline __attribute__((always_inline)) void
guest_look_up(void)
{
#if defined(__x86_64__)
    __asm__ volatile("nopl 0x796c6174(%%rax)" ::: "memory");
#elif defined(__sparc__)
    __asm__ volatile(".word 0x0134616c" ::: "memory");
#elif defined(__mips__)
    __asm__ volatile(".word 0x3c007461" ::: "memory");
#elif defined(__aarch64__)
    __asm__ volatile("movk xzr, #0x7461" ::: "memory");
#elif defined(__riscv)
    __asm__ volatile("lui zero, 0x74617" ::: "memory");
#endif
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
