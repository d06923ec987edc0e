/* SPDX-License-Identifier: MIT */
#include "cli/trace_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/escape.h"
#include "cli/command.h"

int
trace_wrong(const char *what, const char *given)
{
    escape_printf(stderr, "tally trace: %s%s\n", what, given);
    return EXIT_USAGE;
}

const char *
trace_end_words(const struct trace_run *run, char text[TRACE_WORDS])
{
    static const char *const before[] = {
        [TRACE_END_THREAD] = "made a second thread",
        [TRACE_END_FORK] = "made a child",
        [TRACE_END_EXEC] = "executed another program",
    };

    switch (run->end) {
    case TRACE_END_EXIT:
        snprintf(text, TRACE_WORDS, "with the program, status %d",
                 WEXITSTATUS((int)run->status));
        break;
    case TRACE_END_SIGNAL:
        snprintf(text, TRACE_WORDS, "with the program, by signal %d",
                 WTERMSIG((int)run->status));
        break;
    case TRACE_END_SIZE:
        snprintf(text, TRACE_WORDS,
                 "as the trace had its largest size after %" PRIu64
                 " instructions",
                 run->instructions);
        break;
    case TRACE_END_PART:
        snprintf(text, TRACE_WORDS,
                 "with the part of the run that was asked for");
        break;
    default:
        if (run->instructions == 0) {
            snprintf(text, TRACE_WORDS,
                     "as the program %s before the part that was asked for",
                     before[run->end]);
            break;
        }
        snprintf(text, TRACE_WORDS,
                 "as the program %s after %" PRIu64 " instructions: %s",
                 before[run->end], run->instructions,
                 run->end == TRACE_END_THREAD
                     ? "with --parallel, or of a part of a run, a trace has "
                       "one thread"
                     : "a trace has one process of one program");
    }
    return text;
}

uint64_t
trace_instructions(const struct trace_run *run)
{
    return run->counted != 0 ? run->counted : run->instructions;
}

const char *
trace_run_option(const struct launch_options *l)
{
    return l->clean_env        ? "--clean-env"
           : l->variable_count ? "--env"
           : l->real_random    ? "--real-random"
           : l->sysroot        ? "--sysroot"
           : l->cpu            ? "--cpu-model"
           : l->qemu           ? "--qemu"
           : l->quantum        ? "--quantum"
           : l->by_cycles      ? "--schedule"
           : l->processors     ? "--cpus"
           : l->parallel       ? "--parallel"
                               : NULL;
}
