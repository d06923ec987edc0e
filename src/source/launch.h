/* SPDX-License-Identifier: MIT */
/*
 * The command line and environment under which QEMU runs a program for us.
 */
#ifndef TALLY_SOURCE_LAUNCH_H
#define TALLY_SOURCE_LAUNCH_H

#include <stdbool.h>

#include "base/error.h"
#include "source/program.h"
#include "source/process_counts.h"
#include "source/qemu.h"

/* Letters of an allocator's name with its end, and arguments that can be told.
 */
#define LAUNCH_NAME 64u
#define LAUNCH_ARGUMENTS 6u

/* A function of the program that gives memory; its argument of that number,
 * from 1 on, is the size. */
struct launch_allocator {
    char name[LAUNCH_NAME];
    unsigned argument;
};

/* Turns of a thread, and the processors of which a program is told. */
#define LAUNCH_QUANTUM 100000u
#define LAUNCH_PROCESSORS 4u
/* The most of both. A thread that waits for another in a loop that is not known
 * to wait goes through a whole turn before the other runs. */
#define LAUNCH_QUANTUM_MOST 1000000000u
#define LAUNCH_PROCESSORS_MOST 64u

/* What a trace has of the program that it stands for. */
enum trace_part {
    TRACE_PART_NONE,    /* there is no trace */
    TRACE_PART_ALL,     /* all that its program did */
    TRACE_PART_ASKED,   /* the part of the run that was asked for */
    TRACE_PART_EARLY,   /* the recording ended before the program, as it says */
    TRACE_PART_CUT,     /* the file ends before the trace does */
    TRACE_PART_DAMAGED, /* some of the file cannot be read */
};

/* Returns the word that reports have for it, or NULL: there is no trace. */
const char *trace_part_name(enum trace_part part);

/* Returns whether what the recording wrote is not all there. */
static inline bool
trace_part_lacks(enum trace_part part)
{
    return part >= TRACE_PART_CUT;
}

struct launch_options {
    const char *qemu;    /* NULL: qemu_find() (source/qemu.h) */
    const char *sysroot; /* NULL: the cross libc's root if it exists */
    const char *cpu;     /* NULL: the pinned model, see struct isa */
    const char *plugin;  /* path of tally-plugin.so */
    const char *objects; /* NULL, or the library that is preloaded to report
                            allocations (plugin_find_allocations()) */
    const struct launch_allocator *allocators; /* with objects */
    size_t allocator_count;
    /* NULL, or a trace that is replayed in place of the program, and the
     * program that plays QEMU's part then. */
    const char *trace, *replayer;
    enum trace_part trace_part; /* of the program that the trace has */
    uint64_t trace_quantum;     /* as `quantum` and `by_cycles`, of the run */
    bool trace_by_cycles;       /* that the trace has */
    /* The status of the program with which the trace ends, as waitpid() gives
     * it; 0 where the trace does not say. */
    int trace_status;
    /* NULL, or a second plugin with its options, which tells what the program
     * does. */
    const char *tracer;
    const char *debugger; /* NULL, or the path of a socket: QEMU waits there for
                             a debugger of the first program */
    /* NAME=VALUE, in place of those of the same name in the environment, or
     * beside them; ends with NULL after `variable_count`; NULL: none. */
    char *const *variables;
    size_t variable_count;
    bool clean_env;   /* a fixed environment instead of ours */
    bool real_random; /* random bytes are random, also with clean_env */
    bool parallel;    /* all threads run at once, on the host's clock */
    uint64_t quantum; /* instructions of a thread's turn, where they take turns;
                         0: LAUNCH_QUANTUM, and where QEMU cannot have threads
                         take turns they run at once */
    bool by_cycles;   /* `quantum` is of modelled cycles */
    unsigned processors; /* that the program sees where threads take turns, 1 to
                            64; 0: LAUNCH_PROCESSORS */
};

/* Returns the length of turns that the options ask for; 0: there are none. */
uint64_t launch_quantum(const struct launch_options *options);

struct launch {
    struct qemu_found qemu;
    char **argv; /* owned, NULL-terminated */
    char **env;  /* owned, NULL-terminated */
    char *path;  /* owned; of the program, padded */
};

/* Returns whether launch_options.variables may have a variable, NAME=VALUE:
 * neither one that is set for the program in any case, nor one by which QEMU
 * would run otherwise. */
bool launch_takes_variable(const char *variable);

/* Finds QEMU for an ISA, `wanted` or, where that is NULL, the one that
 * qemu_find() uses, and checks that it can be used. Fills in *found.
 * TALLY_EQEMU. */
int launch_find_qemu(const struct isa *isa, const char *wanted,
                     const struct tally_log *log, struct qemu_found *found);

/* Checks what was asked for: that QEMU is where it was named, the root is
 * there, and QEMU takes the CPU model, which it tells of a file that is no
 * program. Of a QEMU that was not named only launch_build() says that it is
 * missing. */
int launch_check(const struct launch_options *options, const struct isa *isa,
                 const struct tally_log *log);

/* Checks that a dynamic program's loader is under `sysroot`, or if that is NULL
 * under the cross libc's root. TALLY_EPROGRAM says what to install. */
int launch_check_loader(const struct program *program, const char *sysroot,
                        const struct tally_log *log);

/* Finds out whether registers tell what the allocators of a program give, as
 * QEMU has a function that reads them; else *reason says why not. Refuses
 * allocators that were asked for where none can be told, and those that the
 * program does not have (TALLY_EQEMU, TALLY_EUNKNOWN, logged). */
int launch_find_registers(const struct launch_options *options,
                          const struct program *program,
                          const struct tally_log *log, const char **reason);

/* Returns why the blocks of a program without a dynamic loader are not told
 * apart although registers can be read, or NULL: they are. */
const char *launch_heap_reason(const struct program *program);

/*
 * Fills the request's qemu_args and plugin path. Also checks that a dynamic
 * program's loader is there.
 */
int launch_request(const struct launch_options *options,
                   const struct program *program, const struct tally_log *log,
                   struct session_request *request);

/*
 * Builds the words. `session` is the session's place (source/process_counts.h).
 * The environment is padded so that the program finds its stack at the same
 * addresses wherever it was started: counts then repeat. OLDPWD is left out,
 * `_` is the program's path, TALLY_PAD is added.
 */
int launch_build(const struct launch_options *options,
                 const struct program *program,
                 const struct session_request *request, const char *session,
                 const struct tally_log *log, struct launch *launch);
void launch_finish(struct launch *launch);

#endif
