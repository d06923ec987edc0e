/* SPDX-License-Identifier: MIT */
/*
 * `tally calibrate` on a processor that is arithmetic, for calibrate.py: links
 * with the command, in place of the loops that are timed. Arguments are those
 * of the command. TALLY_MADE_NOISE: the probe, by its number, whose time varies
 * from one time to the next.
 */
#include <math.h>
#include <stdlib.h>

#include "calibrate/native.h"
#include "calibrate/tlb_told.h"
#include "cli/command.h"

int __wrap_native_create(const struct native_facts *facts,
                         const struct tally_log *log, struct native **native);
void __wrap_native_destroy(struct native *native);
double __wrap_native_measure(void *user, const struct probe *probe);
void __wrap_native_renew(void *user);
struct tlb_told __wrap_tlb_told_here(void);

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

struct tlb_told
__wrap_tlb_told_here(void)
{
    return (struct tlb_told){0};
}

void
__wrap_native_renew(void *user)
{
    (void)user;
}

/* Caches of whatever sizes: a load takes more cycles from more bytes. */
static double
load_cycles(double size)
{
    return 5 * log2(size / 1024);
}

double
__wrap_native_measure(void *user, const struct probe *p)
{
    const char *const noise = getenv("TALLY_MADE_NOISE");
    unsigned *const calls = user;
    const double lines = (double)p->count * 64;
    const double page = p->count <= 64 ? 0 : p->count <= 1536 ? 7 : 40;
    const double cycles[] = {
        [PROBE_ADDS_CHAINED] = 1,
        [PROBE_ADDS_APART] = 0.25,
        [PROBE_ADDS_AND_LOADS] = 0.2,
        [PROBE_MISPREDICTS] = 17,
        [PROBE_RANDOM_WALK] = load_cycles((double)p->size),
        [PROBE_RANDOM_WALKS] = load_cycles((double)p->size) / 10,
        [PROBE_WALK_IN_ORDER] = 9,
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
