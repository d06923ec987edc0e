/* SPDX-License-Identifier: MIT */
/*
 * Counting: a session runs one program under QEMU on a modelled machine, its
 * threads and child processes included, and returns what the counters of that
 * machine would have shown in user mode.
 *
 *     struct tally_session_options options;
 *     struct tally_result *result;
 *
 *     tally_session_options_init(&options, sizeof(options));
 *     options.events = "All_instr,Dcache_misses";
 *     if (tally_session_run(&options, argv, &result) == 0) {
 *         ...
 *         tally_result_destroy(result);
 *     }
 */
#ifndef TALLY_SESSION_H
#define TALLY_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/event.h"
#include "tally/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What is asked. tally_session_options_init() sets the defaults, which are
 * NULL, 0 and false. The session reads the texts while it runs and keeps none.
 *
 * @since 0.1
 */
struct tally_session_options {
    size_t size; /* of this struct, as the caller was compiled with it */
    /* NULL: ultrasparc-t2 for sparc64 programs, host-model for x86-64. */
    const struct tally_machine *machine;
    /* Names, aliases or codes, separated by commas; "all": each of them. NULL:
     * the machine's default events. */
    const char *events;
    /* "key=value" texts that change parameters, NULL-terminated; or NULL. */
    const char *const *set;
    const char *from, *to; /* count between these functions; NULL: all */
    uint64_t skip;         /* count only after so many instructions */
    bool foreign; /* allow a program that is not of the machine's own ISA */
    /* A fixed environment, not the caller's, and fixed random bytes: what the
     * program reads of the kernel's random bytes is the same in every run, so
     * keys made of them are not secret; real_random leaves them random. */
    bool clean_env, real_random;
    const char *sysroot; /* of dynamic programs; NULL: the cross libc's */
    const char *cpu;     /* CPU model QEMU shows the program; NULL: pinned */
    const char *qemu;    /* path or name; NULL: see doc/qemu.md */
    const char *plugin;  /* path of tally-plugin.so; NULL: where installed */
    struct tally_log log;
    /* Threads take turns of so many instructions, 0: 100,000, and the program
     * sees so many processors, 1 to 64, 0: 4, and a clock of its own; or all
     * run at once, on the host's clock, and counts of threads vary. */
    uint64_t quantum;
    unsigned processors;
    bool parallel;
};

/*
 * Sets the first `size` bytes of `options`, sizeof(*options) for callers, to
 * the defaults.
 *
 * @since 0.1
 */
TALLY_API void
tally_session_options_init(struct tally_session_options *options, size_t size);

/* What a session found. Constant; any thread may read it. @since 0.1 */
struct tally_result;

/*
 * Runs argv[0], found as execvp() finds it, with the arguments argv, and waits
 * for its end. NULL options: the defaults. That the program fails is no failure
 * of the session: see tally_result_status().
 *
 * Returns 0 and a result for tally_result_destroy(), or a negative enum
 * tally_error, with *result untouched: TALLY_ESYNTAX, TALLY_EUNKNOWN,
 * TALLY_EIDLE and TALLY_ERANGE for the options; TALLY_EPROGRAM and TALLY_EARCH
 * for the program; TALLY_EQEMU, TALLY_ENOMEM, TALLY_EIO and TALLY_ESYSTEM for
 * the rest.
 *
 * The program inherits the caller's standard files, environment and folder.
 * While it runs the calling thread has SIGCHLD, SIGINT, SIGTERM, SIGHUP,
 * SIGQUIT, SIGUSR1 and SIGUSR2 blocked and passes all but the first on to the
 * program; a process of several threads should block them in the others, or
 * the program's end is noticed up to half a second late. No two sessions may
 * run in one process at the same time.
 *
 * @since 0.1
 */
TALLY_API int
tally_session_run(const struct tally_session_options *options,
                  char *const argv[], struct tally_result **result);

/* NULL is ignored. @since 0.1 */
TALLY_API void tally_result_destroy(struct tally_result *result);

/* @since 0.1 */
TALLY_API const struct tally_machine *
tally_result_machine(const struct tally_result *result);

/* The events counted, in the order asked for. @since 0.1 */
TALLY_API size_t tally_result_event_count(const struct tally_result *result);

/*
 * Event `index`, below tally_result_event_count().
 *
 * @since 0.1
 */
TALLY_API const struct tally_event *
tally_result_event(const struct tally_result *result, size_t index);

/*
 * How often it occurred, in all threads of all processes. 0 where the fidelity
 * is TALLY_IDLE.
 *
 * @since 0.1
 */
TALLY_API uint64_t tally_result_value(const struct tally_result *result,
                                      size_t index);

/*
 * The standing of that number: the event's, lowered from exact to modelled for
 * a foreign program, and to varies where threads of it ran side by side.
 *
 * @since 0.1
 */
TALLY_API enum tally_fidelity
tally_result_fidelity(const struct tally_result *result, size_t index);

/* Threads that ran, of all processes. @since 0.1 */
TALLY_API size_t tally_result_thread_count(const struct tally_result *result);

/*
 * What thread `thread` adds to tally_result_value(). Threads stand by process,
 * in order of creation.
 *
 * @since 0.1
 */
TALLY_API uint64_t tally_result_thread_value(const struct tally_result *result,
                                             size_t thread, size_t index);

/* Seconds it took here. @since 0.1 */
TALLY_API double tally_result_wall_s(const struct tally_result *result);

/*
 * Seconds it would take on the machine by its cycle model, that is an
 * estimate; below 0 if no event asked for needs that model, which then did
 * not run.
 *
 * @since 0.1
 */
TALLY_API double tally_result_modelled_s(const struct tally_result *result);

/* The program's status as waitpid() gives it. @since 0.1 */
TALLY_API int tally_result_status(const struct tally_result *result);

#ifdef __cplusplus
}
#endif

#endif
