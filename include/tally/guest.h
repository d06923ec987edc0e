/* SPDX-License-Identifier: MIT */
/*
 * A program on the machine that emulates it: what tally/counter.h cannot know
 * of. Under `tally count`, for programs of each guest architecture.
 *
 * Registers are those of the performance monitor of the strand that the caller
 * runs on, as in tally/pmu.h: with its rules, its traps, its width. Counters
 * move by what the model counted of the strand since they were last looked at,
 * so an overflow is pending from the next access on, and interrupts nobody.
 * Software may call from any level; the program itself counts as user mode.
 */
#ifndef TALLY_GUEST_H
#define TALLY_GUEST_H

#include <stdbool.h>

#include "tally/counter.h"
#include "tally/pmu.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The machine. @since 0.1 */
struct tally_guest;

/*
 * 0 and a handle for tally_guest_close(), which serves all threads of this
 * process; TALLY_EQEMU where no emulated machine runs it, TALLY_ENOMEM. NULL
 * log: none.
 *
 * @since 0.1
 */
TALLY_API int
tally_guest_open(const struct tally_log *log, struct tally_guest **guest);

/* NULL is ignored. @since 0.1 */
TALLY_API void tally_guest_close(struct tally_guest *guest);

/* "ultrasparc-t2"; the handle's. @since 0.1 */
TALLY_API const char *tally_guest_machine(const struct tally_guest *guest);

/*
 * A register by name, as tally_pmu_register_find(); its number, or
 * TALLY_EUNKNOWN.
 *
 * @since 0.1
 */
TALLY_API int
tally_guest_find(const struct tally_guest *guest, const char *name);

/*
 * tally_pmu_read() and tally_pmu_write(): 0, the trap that the access takes, or
 * a negative enum tally_error. Safe in a signal handler. After a write that
 * chooses events, all that they need is counted when it returns.
 *
 * @since 0.1
 */
TALLY_API int tally_guest_read(const struct tally_guest *guest, int id,
                               enum tally_pmu_level level, uint64_t *value);
TALLY_API int tally_guest_write(const struct tally_guest *guest, int id,
                                enum tally_pmu_level level, uint64_t value);

/* Traps pending of the strand, enum tally_pmu_trap bits. @since 0.1 */
TALLY_API uint32_t tally_guest_pending(const struct tally_guest *guest);

/*
 * Takes one of them, as tally_pmu_take(); *counters, which may be NULL, becomes
 * the bits of those that overflowed.
 *
 * @since 0.1
 */
TALLY_API int tally_guest_take(const struct tally_guest *guest,
                               enum tally_pmu_trap trap, uint32_t *counters);

/*
 * A hypervisor call of sun4v, as tally_sun4v_call(). `guest` is a struct
 * tally_guest: the two together are what hv_bind_call() of libtally-sun4v
 * wants.
 *
 * @since 0.1
 */
TALLY_API uint64_t tally_guest_sun4v(void *guest, unsigned trap,
                                     uint64_t function, const uint64_t args[5],
                                     uint64_t results[2]);

/* Where a value is that needs no call. @since 0.1 */
struct tally_live {
    const uint64_t *at;
    uint64_t base;
};

/*
 * The event at `index` of a handle that counts, if it is kept current in one
 * place: of the thread that opened it, alone, an event that instructions raise.
 * 0; TALLY_EIDLE if it is not, and on a host; TALLY_ERANGE after the last
 * event. *live is good until the handle is stopped, reset or closed.
 *
 * @since 0.1
 */
TALLY_API int tally_counter_live(const struct tally_counter *counter,
                                 size_t index, struct tally_live *live);

/*
 * Returns what tally_counter_read() would say is the value: one load. @since
 * 0.1
 */
static inline uint64_t
tally_live_read(const struct tally_live *live)
{
    uint64_t now;

#if defined(__sparc__) && defined(__arch64__) && defined(__GNUC__)
    /* Little endian, by its ASI. */
    __asm__ volatile("ldxa [%1] 0x88, %0" : "=r"(now) : "r"(live->at));
#elif defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    now = __builtin_bswap64(*(const volatile uint64_t *)live->at);
#else
    now = *(const volatile uint64_t *)live->at;
#endif
    return now - live->base;
}

#ifdef __cplusplus
}
#endif

#endif
