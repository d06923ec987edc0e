/* SPDX-License-Identifier: MIT */
/*
 * selfregs WORD...: does what the words say, from left to right, to the
 * registers of the machine that runs it:
 *
 *   NAME=VALUE    writes         NAME    prints the value, or the trap
 *   loop=N        N turns of loop()
 *   NAME:N        prints how far N turns more take it, in halves of 32 bits
 *   user priv hyper              the level of what follows; at first hyper
 *   pending       prints the traps pending
 *   take=TRAP     takes one, and prints the counters that overflowed
 *   thread        the rest is done by another thread
 *   t2plus        counts branches through the hypervisor's calls
 *   links         counts lines that cross the hubs of four nodes, through the
 *                 hypervisor's calls
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/guest.h>

#include "interfaces/sun4v/hv_perf.h"
#include "loop.h"

static struct tally_guest *guest;
static enum tally_pmu_level level = TALLY_PMU_HYPERPRIVILEGED;

static void
complain(void *user, enum tally_level how, const char *text)
{
    (void)user, (void)how;
    fprintf(stderr, "%s\n", text);
}

static void
report(const char *name, int status)
{
    if (status < 0)
        printf("%s: %s\n", name, tally_strerror(status));
    else if (status > 0)
        printf("%s: trap %#x\n", name, (unsigned)status);
}

static int
read_register(const char *name)
{
    uint64_t value = 0;
    int id = tally_guest_find(guest, name);
    const int status = id < 0 ? id : tally_guest_read(guest, id, level, &value);

    report(name, status);
    if (status == 0)
        printf("%s %#" PRIx64 "\n", name, value);
    return status;
}

static void
write_register(const char *name, uint64_t value)
{
    const int id = tally_guest_find(guest, name);

    report(name, id < 0 ? id : tally_guest_write(guest, id, level, value));
}

static void
call_hypervisor(void)
{
    uint64_t minor = 0, value = 0;

    hv_bind_call(tally_guest_sun4v, guest);
    const uint64_t early = hv_vfalls_get_perfreg(HV_SPARC_PCR, &value);
    const uint64_t version = hv_api_set_version(HV_GRP_VF_CPU, 1, 0, &minor);
    const uint64_t set = hv_vfalls_set_perfreg(HV_SPARC_PCR, 0x1234 << 4);
    const uint64_t get = hv_vfalls_get_perfreg(HV_SPARC_PCR, &value);
    printf("%d %d %d %d %#" PRIx64 "\n", (int)early, (int)version, (int)set,
           (int)get, value);
}

enum { HUBS = 4, HUB_REGISTERS = 18, LINE = 64, BYTES = 16384 };

static _Alignas(BYTES) unsigned char written[BYTES];

static void
read_hubs(uint64_t *counts)
{
    for (uint64_t i = 0; i < HUBS; i++)
        hv_vfalls_get_perfreg(HV_ZAM0_LPU_B_PIC0 + i * HUB_REGISTERS,
                              &counts[i]);
}

/* Every second line twice: the first time, all else comes into the caches. */
static void *
read_lines(void *unused)
{
    uint64_t before[HUBS] = {0}, after[HUBS] = {0};

    hv_bind_call(tally_guest_sun4v, guest);
    for (size_t round = 0; round < 2; round++) {
        read_hubs(before);
        for (size_t i = round * LINE; i < BYTES; i += 2 * (size_t)LINE)
            *(volatile unsigned char *)&written[i];
        read_hubs(after);
    }
    for (size_t i = 0; i < HUBS; i++)
        printf("hub %zu %" PRIu64 "\n", i, after[i] - before[i]);
    return unused;
}

/* This thread runs on node 0, the next on node 1, port B. */
static void
call_links(void)
{
    const uint64_t reads_to_share = 0x12;
    uint64_t minor = 0;
    pthread_t thread;

    hv_bind_call(tally_guest_sun4v, guest);
    hv_api_set_version(HV_GRP_VF_CPU, 1, 1, &minor);
    for (uint64_t i = 0; i < HUBS; i++)
        hv_vfalls_set_perfreg(HV_ZAM0_LPU_B_PCR + i * HUB_REGISTERS,
                              reads_to_share);
    memset(written, 1, sizeof(written));
    pthread_create(&thread, NULL, read_lines, NULL);
    pthread_join(thread, NULL);
}

static void
assign(char *name, char *equals)
{
    const uint64_t value = strtoull(equals + 1, NULL, 0);
    uint32_t counters = 0;

    *equals = '\0';
    if (strcmp(name, "loop") == 0) {
        loop(value);
    } else if (strcmp(name, "take") == 0) {
        const int status =
            tally_guest_take(guest, (enum tally_pmu_trap)value, &counters);
        report("take", status);
        if (status == 0)
            printf("counters %#x\n", counters);
    } else {
        write_register(name, value);
    }
}

static uint64_t
get(int id)
{
    uint64_t value = 0;

    tally_guest_read(guest, id, level, &value);
    return value;
}

/* Each half of a register by itself. */
static uint64_t
halves(uint64_t later, uint64_t earlier)
{
    return (uint64_t)((uint32_t)(later >> 32) - (uint32_t)(earlier >> 32))
               << 32 |
           (uint32_t)((uint32_t)later - (uint32_t)earlier);
}

static __attribute__((noinline)) uint64_t
spent(int id, unsigned long turns)
{
    const uint64_t before = get(id);

    loop(turns);
    return halves(get(id), before);
}

static void
count_turns(char *name, char *colon)
{
    const unsigned long turns = strtoul(colon + 1, NULL, 0);

    *colon = '\0';
    const int id = tally_guest_find(guest, name);
    const uint64_t few = spent(id, 1), many = halves(spent(id, turns + 1), few);
    printf("%s %" PRIu64 " %" PRIu64 "\n", name, many >> 32, many & UINT32_MAX);
}

static void *work(void *words);

static bool
do_word(char **word)
{
    char *equals = strchr(*word, '='), *colon = strchr(*word, ':');
    pthread_t thread;

    if (equals != NULL) {
        assign(*word, equals);
    } else if (colon != NULL) {
        count_turns(*word, colon);
    } else if (strcmp(*word, "pending") == 0) {
        printf("pending %#x\n", tally_guest_pending(guest));
    } else if (strcmp(*word, "user") == 0) {
        level = TALLY_PMU_USER;
    } else if (strcmp(*word, "priv") == 0) {
        level = TALLY_PMU_PRIVILEGED;
    } else if (strcmp(*word, "hyper") == 0) {
        level = TALLY_PMU_HYPERPRIVILEGED;
    } else if (strcmp(*word, "t2plus") == 0) {
        call_hypervisor();
    } else if (strcmp(*word, "links") == 0) {
        call_links();
    } else if (strcmp(*word, "thread") == 0) {
        pthread_create(&thread, NULL, work, word + 1);
        pthread_join(thread, NULL);
        return false;
    } else {
        read_register(*word);
    }
    return true;
}

static void *
work(void *words)
{
    char **word = words;

    while (*word != NULL && do_word(word))
        word++;
    return NULL;
}

int
main(int argc, char **argv)
{
    const struct tally_log log = {complain, NULL};

    (void)argc;
    const int error = tally_guest_open(&log, &guest);
    if (error != 0) {
        fprintf(stderr, "%s\n", tally_strerror(error));
        return 1;
    }
    printf("%s\n", tally_guest_machine(guest));
    work(argv + 1);
    tally_guest_close(guest);
    return 0;
}
