/* SPDX-License-Identifier: MIT */
/*
 * `tally calibrate` on a processor that is arithmetic, for calibrate.py: links
 * with the command, in place of the loops that are timed. Arguments are those
 * of the command. TALLY_MADE_NOISE: the probe, by its number, whose time varies
 * from one time to the next. TALLY_MADE_NAMELESS, if set: the system does not
 * say which processor it has. TALLY_MADE_TLBS: that many TLBs show; two by
 * default.
 */
#include <stdlib.h>

#include "calibrate/calibrate_host.h"
#include "calibrate/native.h"
#include "cli/command.h"
#include "source/calibration.h"

int __wrap_native_create(const struct native_facts *facts,
                         const struct tally_log *log, struct native **native);
void __wrap_native_destroy(struct native *native);
double __wrap_native_measure(void *user, const struct probe *probe);
void __wrap_native_renew(void *user);
int __wrap_calibrate_host_find(const struct tally_log *log,
                               struct calibrate_host *host);
bool __wrap_calibration_processor(const char *cpuinfo, char *text, size_t size);
bool __real_calibration_processor(const char *cpuinfo, char *text, size_t size);

const struct command *const commands[] = {&command_calibrate, NULL};

int
__wrap_native_create(const struct native_facts *facts,
                     const struct tally_log *log, struct native **native)
{
    static unsigned calls;

    (void)facts, (void)log;
    *native = (struct native *)(void *)&calls;
    return 0;
}

void
__wrap_native_destroy(struct native *native)
{
    (void)native;
}

/* A computer with the same caches and memory wherever the test runs. */
int
__wrap_calibrate_host_find(const struct tally_log *log,
                           struct calibrate_host *host)
{
    (void)log;
    *host = (struct calibrate_host){
        .l1d = 32 << 10,
        .l2 = 1 << 20,
        .l3 = 8 << 20,
        .line = 64,
        .page = 4096,
        .size = 128 << 20,
    };
    return 0;
}

/* The values of the file count where its processor is this computer's. */
bool
__wrap_calibration_processor(const char *cpuinfo, char *text, size_t size)
{
    return getenv("TALLY_MADE_NAMELESS") == NULL &&
           __real_calibration_processor(cpuinfo, text, size);
}

void
__wrap_native_renew(void *user)
{
    (void)user;
}

static double
load_cycles(uint64_t size)
{
    return size <= 32 << 10  ? 4
           : size <= 1 << 20 ? 14
           : size <= 8 << 20 ? 50
                             : 300;
}

double
__wrap_native_measure(void *user, const struct probe *p)
{
    const char *const noise = getenv("TALLY_MADE_NOISE");
    unsigned *const calls = user;
    const double lines = (double)p->count * 64;
    const char *const tlbs = getenv("TALLY_MADE_TLBS");
    const int shown = tlbs != NULL ? atoi(tlbs) : 2;
    const double page = p->count <= 64 || shown == 0     ? 0
                        : p->count <= 1536 || shown == 1 ? 7
                                                         : 40;
    const double cycles[] = {
        [PROBE_ADDS_CHAINED] = 1,
        [PROBE_ADDS_APART] = 0.25,
        [PROBE_ADDS_AND_LOADS] = 0.2,
        [PROBE_MISPREDICTS] = 17,
        [PROBE_RANDOM_WALK] = load_cycles(p->size),
        [PROBE_RANDOM_WALKS] = load_cycles(p->size) / 10,
        [PROBE_LOADS_IN_ORDER] = 8,
        [PROBE_WALK_OF_PAGES] = 20 + lines / 65536 + page,
        [PROBE_WALK_OF_LINES] = 20 + lines / 65536,
    };
    const double ns = cycles[p->kind] / 2;

    if (noise != NULL && atoi(noise) == (int)p->kind && ++*calls % 2 == 0)
        return 2 * ns;
    return ns;
}

int
main(int argc, char **argv)
{
    return command_calibrate.run(argc, argv);
}
