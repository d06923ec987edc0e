/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/virtual_time.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "plugin/calls.h"
#include "plugin/memory.h"

#define MICROSECOND UINT64_C(1000)
#define TICK (10 * MILLISECOND) /* of times(), _SC_CLK_TCK of Linux */

/* What CLOCK_MONOTONIC says at 0. */
#define UPTIME (1000 * SECOND)

/* The longest wait that a timespec is read as, 146 years, and where one ends
 * that waits for ever. */
#define WAIT_MOST (UINT64_C(1) << 62)
#define FOR_EVER (UINT64_C(1) << 32) /* seconds */

/* Reads a struct timespec, or where `unit` is MICROSECOND a struct timeval, as
 * ns. False: it is not there, or no time. */
static bool
read_time(const struct isa *isa, uint64_t at, uint64_t unit, uint64_t *ns)
{
    uint64_t seconds, rest;

    if (!plugin_read_word(isa, at, &seconds) ||
        !plugin_read_word(isa, at + 8, &rest))
        return false;
    if (unit == MICROSECOND && isa->microseconds == 4)
        rest = isa->big_endian ? rest >> 32 : (uint32_t)rest;
    if ((int64_t)seconds < 0 || rest >= SECOND / unit)
        return false;
    *ns = seconds < WAIT_MOST / SECOND ? seconds * SECOND + rest * unit
                                       : WAIT_MOST;
    return true;
}

static bool
write_time(const struct isa *isa, uint64_t at, uint64_t unit, uint64_t ns)
{
    const uint64_t rest = ns % SECOND / unit;
    const bool half = unit == MICROSECOND && isa->microseconds == 4;
    const uint64_t words[2] = {
        plugin_guest_word(isa, ns / SECOND),
        plugin_guest_word(isa, half && isa->big_endian ? rest << 32 : rest)};

    return plugin_write(at, words, half ? 12 : 16);
}

uint64_t
host_time(clockid_t clock)
{
    struct timespec t;

    if (clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* Returns what the clock says when the program's clock is at 0. */
static uint64_t
base_of(const struct virtual_time *v, clockid_t clock)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_REALTIME_ALARM:
    case CLOCK_TAI:
        return v->epoch;
    }
    return UPTIME;
}

bool
virtual_time_signal_ends(const struct isa *isa, int64_t number)
{
    static const enum system_call calls[] = {CALL_RT_SIGTIMEDWAIT,
                                             CALL_MQ_TIMEDSEND,
                                             CALL_MQ_TIMEDRECEIVE, CALL_COUNT};

    return call_is_any(calls, isa, number);
}

int64_t
virtual_time_result(const struct isa *isa, int64_t number)
{
    return call_is(CALL_RT_SIGTIMEDWAIT, isa, number) ? -EAGAIN
                                                      : -isa->timed_out;
}

bool
virtual_time_is_read(const struct isa *isa, int64_t number)
{
    static const enum system_call calls[] = {
        CALL_CLOCK_GETTIME, CALL_GETTIMEOFDAY, CALL_TIME,
        CALL_TIMES,         CALL_GETRUSAGE,    CALL_COUNT};

    return call_is_any(calls, isa, number);
}

/* Sets the deadline to `ns` from now. */
static void
end_after(const struct virtual_time *v, struct timed_wait *wait, uint64_t ns)
{
    wait->deadline = v->now + ns;
}

/* Writes another time over the guest's timespec. */
static void
replace(const struct virtual_time *v, struct timed_wait *wait, uint64_t at,
        uint64_t ns)
{
    if (plugin_read(at, wait->before, sizeof(wait->before)) &&
        write_time(v->isa, at, 1, ns))
        wait->set_at = at;
}

/* The call waits until a time of a clock of the program's. */
static void
wait_until(const struct virtual_time *v, struct timed_wait *wait, uint64_t at,
           clockid_t clock, enum host_wait how)
{
    const uint64_t base = base_of(v, clock);
    uint64_t ns;

    if (!read_time(v->isa, at, 1, &ns))
        return;
    wait->deadline = ns > base ? ns - base : 0;
    if (wait->deadline <= v->now)
        replace(v, wait, at, 0);
    else if (how == HOST_WAIT_LONG)
        replace(v, wait, at, FOR_EVER * SECOND);
    else
        replace(v, wait, at, host_time(clock) + wait->deadline - v->now);
}

/* A timer is set to a time of a clock of the program's, at the end of a struct
 * itimerspec: of the date where the time is one of the date's, since only the
 * timer knows its clock. */
static void
set_timer(const struct virtual_time *v, struct timed_wait *wait, uint64_t timer)
{
    const uint64_t at = timer + 16;
    uint64_t ns;

    if (timer == 0 || !read_time(v->isa, at, 1, &ns) || ns == 0)
        return;
    const clockid_t clock =
        ns >= v->epoch / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    const uint64_t base = base_of(v, clock) + v->now;
    replace(v, wait, at, host_time(clock) + (ns > base ? ns - base : 1));
}

/* The call waits for so long. */
static void
wait_for(const struct virtual_time *v, struct timed_wait *wait, uint64_t at,
         uint64_t unit, enum host_wait how)
{
    uint64_t ns;

    if (at == 0 || !read_time(v->isa, at, unit, &ns))
        return;
    if (ns > 0)
        end_after(v, wait, ns);
    if (ns > 0 && how == HOST_WAIT_LONG)
        replace(v, wait, at, FOR_EVER * SECOND);
}

/* As wait_for(), of a number of milliseconds: negative is for ever. */
static void
wait_milliseconds(const struct virtual_time *v, struct timed_wait *wait,
                  uint64_t argument)
{
    const int32_t ms = (int32_t)argument;

    if (ms > 0)
        end_after(v, wait, (uint64_t)ms * MILLISECOND);
}

static void
wait_in_futex(const struct virtual_time *v, struct timed_wait *wait,
              const uint64_t args[6], enum host_wait how)
{
    const clockid_t clock =
        args[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;

    if (args[3] == 0)
        return;
    switch (args[1] & (uint64_t)FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        wait_for(v, wait, args[3], 1, how);
        break;
    case FUTEX_WAIT_BITSET:
        wait_until(v, wait, args[3], clock, how);
        break;
    case FUTEX_LOCK_PI:
        wait_until(v, wait, args[3], CLOCK_REALTIME, HOST_WAIT_SAME);
        break;
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
        wait_until(v, wait, args[3], clock, HOST_WAIT_SAME);
        break;
    }
}

struct timed_wait
virtual_time_wait(const struct virtual_time *v, int64_t number,
                  const uint64_t args[6], enum host_wait how)
{
    const struct isa *const isa = v->isa;
    struct timed_wait w = {.deadline = NO_DEADLINE};

    if (call_is(CALL_FUTEX, isa, number)) {
        wait_in_futex(v, &w, args, how);
    } else if (call_is(CALL_TIMERFD_SETTIME, isa, number) ||
               call_is(CALL_TIMER_SETTIME, isa, number)) {
        if (args[1] & TIMER_ABSTIME)
            set_timer(v, &w, args[2]);
    } else if (call_is(CALL_NANOSLEEP, isa, number)) {
        wait_for(v, &w, args[0], 1, HOST_WAIT_SAME);
        w.remains = args[1];
        w.alone = true;
    } else if (call_is(CALL_CLOCK_NANOSLEEP, isa, number)) {
        const clockid_t clock = (clockid_t)args[0];
        if (clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID)
            return w;
        if (args[1] & TIMER_ABSTIME)
            wait_until(v, &w, args[2], clock, HOST_WAIT_SAME);
        else
            wait_for(v, &w, args[2], 1, HOST_WAIT_SAME);
        w.remains = args[1] & TIMER_ABSTIME ? 0 : args[3];
        w.alone = true;
    } else if (call_is(CALL_RT_SIGTIMEDWAIT, isa, number)) {
        wait_for(v, &w, args[2], 1, how);
        w.alone = true;
    } else if (call_is(CALL_MQ_TIMEDSEND, isa, number) ||
               call_is(CALL_MQ_TIMEDRECEIVE, isa, number)) {
        if (args[4] != 0)
            wait_until(v, &w, args[4], CLOCK_REALTIME, how);
    } else if (call_is(CALL_POLL, isa, number)) {
        wait_milliseconds(v, &w, args[2]);
    } else if (call_is(CALL_EPOLL_WAIT, isa, number) ||
               call_is(CALL_EPOLL_PWAIT, isa, number)) {
        wait_milliseconds(v, &w, args[3]);
    } else if (call_is(CALL_EPOLL_PWAIT2, isa, number)) {
        wait_for(v, &w, args[3], 1, HOST_WAIT_SAME);
    } else if (call_is(CALL_PPOLL, isa, number)) {
        wait_for(v, &w, args[2], 1, HOST_WAIT_SAME);
        w.remains = args[2];
    } else if (call_is(CALL_PSELECT6, isa, number)) {
        wait_for(v, &w, args[4], 1, HOST_WAIT_SAME);
        w.remains = args[4];
    } else if (call_is(CALL_SELECT, isa, number) ||
               call_is(CALL_NEWSELECT, isa, number)) {
        wait_for(v, &w, args[4], MICROSECOND, HOST_WAIT_SAME);
        w.remains = args[4];
        w.seconds_only = true;
    }
    if (w.deadline == NO_DEADLINE)
        w.remains = 0;
    return w;
}

void
virtual_time_restore(struct timed_wait *wait)
{
    if (wait->set_at != 0)
        plugin_write(wait->set_at, wait->before, sizeof(wait->before));
    wait->set_at = 0;
}

bool
virtual_time_ended(const struct isa *isa, int64_t number,
                   const struct timed_wait *wait, int64_t result)
{
    if (wait->deadline == NO_DEADLINE)
        return false;
    return result == (call_is(CALL_FUTEX, isa, number) ||
                              virtual_time_signal_ends(isa, number)
                          ? virtual_time_result(isa, number)
                          : 0);
}

void
virtual_time_write_left(const struct virtual_time *v,
                        const struct timed_wait *wait)
{
    uint64_t there;

    if (wait->remains == 0 || !plugin_read_word(v->isa, wait->remains, &there))
        return;
    write_time(v->isa, wait->remains, wait->seconds_only ? MICROSECOND : 1,
               wait->deadline > v->now ? wait->deadline - v->now : 0);
}

/* Writes the times of a process or thread that ran for so long: struct rusage
 * begins with two of struct timeval, the user's and the system's. */
static void
tell_usage(const struct isa *isa, uint64_t at, uint64_t ran)
{
    write_time(isa, at, MICROSECOND, ran);
    write_time(isa, at + 16, MICROSECOND, 0);
}

static void
tell_times(const struct virtual_time *v, uint64_t at)
{
    const uint64_t words[2] = {plugin_guest_word(v->isa, v->ran / TICK), 0};

    if (at != 0)
        plugin_write(at, words, sizeof(words));
}

/* The numbers of clocks that name a process or a thread are negative; of their
 * last three bits two say that it is the whole processor time, and one that it
 * is a thread's. */
#define CLOCK_OF_PROCESS 2
#define CLOCK_OF_THREAD 6

bool
virtual_time_is_threads(int32_t clock)
{
    return clock < 0 && (clock & 7) == CLOCK_OF_THREAD;
}

/* Returns whether a clock is that of the processor time of the process. */
static bool
is_process_clock(int32_t clock)
{
    const int32_t process = ~(clock >> 3);

    return clock == CLOCK_PROCESS_CPUTIME_ID ||
           (clock < 0 && (clock & 7) == CLOCK_OF_PROCESS &&
            (process == 0 || process == getpid()));
}

bool
virtual_time_tell(const struct virtual_time *v, int64_t number,
                  const uint64_t args[6], uint64_t thread_ran, int64_t *result)
{
    const struct isa *const isa = v->isa;

    if (call_failed((uint64_t)*result))
        return false;
    if (call_is(CALL_CLOCK_GETTIME, isa, number)) {
        const clockid_t clock = (clockid_t)args[0];
        if (is_process_clock(clock))
            write_time(isa, args[1], 1, v->ran);
        else if (clock == CLOCK_THREAD_CPUTIME_ID ||
                 virtual_time_is_threads(clock))
            write_time(isa, args[1], 1, thread_ran);
        else if (clock >= 0)
            write_time(isa, args[1], 1, base_of(v, clock) + v->now);
    } else if (call_is(CALL_GETTIMEOFDAY, isa, number)) {
        if (args[0] != 0)
            write_time(isa, args[0], MICROSECOND, v->epoch + v->now);
    } else if (call_is(CALL_GETRUSAGE, isa, number)) {
        if ((int32_t)args[0] == RUSAGE_SELF)
            tell_usage(isa, args[1], v->ran);
        else if ((int32_t)args[0] == RUSAGE_THREAD)
            tell_usage(isa, args[1], thread_ran);
    } else if (call_is(CALL_TIME, isa, number)) {
        const uint64_t seconds = (v->epoch + v->now) / SECOND;
        const uint64_t word = plugin_guest_word(isa, seconds);
        if (args[0] != 0)
            plugin_write(args[0], &word, sizeof(word));
        *result = (int64_t)seconds;
        return true;
    } else if (call_is(CALL_TIMES, isa, number)) {
        tell_times(v, args[0]);
        *result = (int64_t)((UPTIME + v->now) / TICK);
        return true;
    }
    return false;
}
