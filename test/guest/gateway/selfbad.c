/* SPDX-License-Identifier: MIT */
/*
 * selfbad: asks the plugin for what a program in good order never asks: at
 * addresses where nothing is, at the end of memory, for numbers without bound.
 * Then it asks for its instructions, and says whether it got them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "gateway/doorbell.h"
#include "gateway/register.h"

#define NOWHERE ((void *)8)

static const enum gateway_operation operations[] = {
    GATEWAY_EVENTS, GATEWAY_READ,    GATEWAY_REGISTER,
    GATEWAY_WATCH,  GATEWAY_VIRTUAL,
};

/* Requests that are not there, or whose end is not. */
static void
ask_nowhere(char *end)
{
    for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        gateway_ring(operations[i], NOWHERE);
        gateway_ring(operations[i], end - 16);
        gateway_ring(operations[i], (void *)(uintptr_t)-8);
    }
    prctl(GATEWAY_PRCTL, NOWHERE, 0, 0, 0);
    prctl(GATEWAY_PRCTL, end - 8, 0, 0, 0);
}

/* Requests whose addresses lead nowhere. */
static void
point_nowhere(char *end)
{
    uint64_t word = GATEWAY_INSTRUCTIONS;
    const uint64_t here = (uintptr_t)&word, nowhere = (uintptr_t)NOWHERE;
    const uint64_t ids[] = {nowhere, here, here, here, (uintptr_t)end - 4};
    const uint64_t values[] = {here, nowhere, here, (uintptr_t)end - 8, here};
    const uint64_t counts[] = {1, 1, UINT64_MAX / 8, 2, 1};
    struct gateway_read read = {.scope = GATEWAY_PROCESS};
    struct gateway_events events = {.room = GATEWAY_LIST, .rows = nowhere};
    struct gateway_register access = {.access = GATEWAY_FIND, .text = nowhere};

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        read.ids = ids[i];
        read.values = values[i];
        read.count = counts[i];
        gateway_ring(GATEWAY_READ, &read);
        gateway_lookup(&read);
    }
    end[-1] = 'x';
    events.text = (uintptr_t)end - 1;
    gateway_ring(GATEWAY_EVENTS, &events);
    events.text = (uintptr_t) "instructions,completed_instructions,All_instr";
    gateway_ring(GATEWAY_EVENTS, &events);
    gateway_ring(GATEWAY_REGISTER, &access);
    gateway_lookup(NOWHERE);
}

/* Threads that made each other, and an event that has risen 2^40 times. */
static void
ask_endless(const struct gateway_hello *hello)
{
    struct gateway_live *const live = (void *)(uintptr_t)hello->live;
    uint64_t id = GATEWAY_INSTRUCTIONS, value = 0;
    struct gateway_read read = {.scope = GATEWAY_DESCENDANTS,
                                .thread = 7,
                                .count = 1,
                                .ids = (uintptr_t)&id,
                                .values = (uintptr_t)&value};
    struct gateway_watch watch = {.summands = 1,
                                  .slots = {hello->slot},
                                  .period = 1,
                                  .left = -(UINT64_C(1) << 40)};
    const uint32_t maker = live->maker;

    live->maker = 0x01010101;
    gateway_ring(GATEWAY_READ, &read);
    live->maker = maker;
    gateway_ring(GATEWAY_WATCH, &watch);
    gateway_await((const void *)(uintptr_t)hello->page, watch.epoch);
    watch.period = 0;
    gateway_ring(GATEWAY_WATCH, &watch);
}

int
main(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct gateway_hello hello;
    uint64_t id = GATEWAY_INSTRUCTIONS, value = 0;
    struct gateway_read read = {.scope = GATEWAY_THREAD,
                                .count = 1,
                                .ids = (uintptr_t)&id,
                                .values = (uintptr_t)&value};
    char *const memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || munmap(memory + page, page) != 0 ||
        !gateway_hello(&hello))
        return 2;
    memset(memory, 0, page);
    ask_nowhere(memory + page);
    point_nowhere(memory + page);
    ask_endless(&hello);
    read.thread = hello.thread;
    gateway_ring(GATEWAY_READ, &read);
    puts(value > 0 ? "still counted" : "lost");
    return 0;
}
