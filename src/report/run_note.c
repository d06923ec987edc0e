/* SPDX-License-Identifier: MIT */
#include "report/run_note.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"

#define LARGEST 3 /* programs that are named */

/* The instructions of all programs of one name. */
struct share {
    const char *name;
    uint64_t instructions;
};

static int
by_name(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static int
by_instructions(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    return x->instructions != y->instructions
               ? (x->instructions < y->instructions ? 1 : -1)
               : strcmp(x->name, y->name);
}

/* Adds up programs of one name, and sorts the sums, the largest first. Returns
 * how many there are. */
static size_t
add_shares(const struct session_result *run, struct share *shares)
{
    size_t kept = 0;

    for (size_t i = 0; i < run->process_count; i++)
        shares[i] = (struct share){
            path_base(run->processes[i].program),
            run->processes[i].totals.signal[SIGNAL_INSTRUCTIONS]};
    qsort(shares, run->process_count, sizeof(*shares), by_name);
    for (size_t i = 0; i < run->process_count; i++) {
        if (kept > 0 && by_name(&shares[kept - 1], &shares[i]) == 0)
            shares[kept - 1].instructions += shares[i].instructions;
        else
            shares[kept++] = shares[i];
    }
    qsort(shares, kept, sizeof(*shares), by_instructions);
    return kept;
}

bool
report_programs(const struct session_result *run, char *text, size_t size)
{
    const double all = (double)run->totals.signal[SIGNAL_INSTRUCTIONS];
    size_t programs = 0, used;
    char runs[40] = "";

    if (run->process_count < 2)
        return false;
    struct share *shares = calloc(run->process_count, sizeof(*shares));
    if (shares == NULL)
        return false;
    const size_t names = add_shares(run, shares);
    for (size_t i = 0; i < run->process_count; i++)
        programs += run->processes[i].begin != BEGIN_FORK;
    if (programs != names)
        snprintf(runs, sizeof(runs), "%zu runs of ", programs);
    used = (size_t)snprintf(text, size,
                            "the sum of %s%zu program%s in %zu "
                            "process%s; largest:",
                            runs, names, names == 1 ? "" : "s", run->pid_count,
                            run->pid_count == 1 ? "" : "es");
    for (size_t i = 0; i < names && i < LARGEST && used < size; i++)
        used += (size_t)snprintf(
            text + used, size - used, "%s %.80s %.1f %%", i > 0 ? "," : "",
            shares[i].name,
            all > 0 ? 100 * (double)shares[i].instructions / all : 0);
    free(shares);
    return true;
}

static const char *
unit_of_turns(const struct session_result *run)
{
    return run->by_cycles ? "modelled cycles" : "instructions";
}

/* Writes what the processes asked the system for and what may differ in another
 * run, if they asked for any of it. */
static void
tell_asked(unsigned asked, char *text, size_t size)
{
    static const char *const names[] = {
        "its process number", "the system's memory and load", "its connections",
        "how its input comes", "its timers"};
    size_t used = 0;

    static_assert(ASKED_ALL == (1 << sizeof(names) / sizeof(names[0])) - 1,
                  "a name for each");
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if ((asked & 1u << i) == 0)
            continue;
        const bool last = asked >> i == 1;
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 used == 0 ? " but for what depends on "
                                 : last    ? " and "
                                           : ", ",
                                 names[i]);
    }
}

bool
report_threads(const struct session_result *run, char *text, size_t size)
{
    char asked[200];

    if (run->together < 2)
        return false;
    tell_asked(run->asked, asked, sizeof(asked));
    if (run->quantum == 0)
        snprintf(text, size,
                 "%u threads ran side by side: all counts vary with how they "
                 "ran",
                 run->together);
    else if (run->free == 0)
        snprintf(text, size, "%u threads ran in turns of %" PRIu64 " %s%s%s",
                 run->together, run->quantum, unit_of_turns(run),
                 session_varies(run) != 0 ? "" : ": counts repeat",
                 session_varies(run) != 0 ? "" : asked);
    else
        snprintf(text, size,
                 "%u threads ran in turns of %" PRIu64
                 " %s, but %u wait%s or timer%s ended by the host's clock, "
                 "another process or a signal: all counts vary with when",
                 run->together, run->quantum, unit_of_turns(run),
                 run->outside_wakes, run->outside_wakes == 1 ? "" : "s",
                 run->outside_wakes == 1 ? "" : "s");
    return true;
}

bool
report_beside(const struct session_result *run, char *text, size_t size)
{
    if (run->beside == 0)
        return false;
    snprintf(text, size,
             "processes ran at the same time: all counts vary with how they "
             "waited for each other");
    return true;
}

bool
report_signals(const struct session_result *run, char *text, size_t size)
{
    if (run->ended_by != 0) {
        snprintf(text, size,
                 "signal %d (%s) of a timer or from outside ended the program: "
                 "all counts vary with when it came",
                 run->ended_by, strsignal(run->ended_by));
        return true;
    }
    if (run->signalled == 0)
        return false;
    snprintf(text, size,
             "%" PRIu64 " signal%s of a timer or from outside %s handled: "
             "all counts vary with when %s came",
             run->signalled, run->signalled == 1 ? "" : "s",
             run->signalled == 1 ? "was" : "were",
             run->signalled == 1 ? "it" : "they");
    return true;
}

bool
report_random_fixed(const struct session_result *run, char *text, size_t size)
{
    if (run->random_fixed == 0)
        return false;
    snprintf(text, size,
             "random bytes were fixed, %" PRIu64
             " of them: keys made in this run are not secret (--real-random)",
             run->random_fixed);
    return true;
}

bool
report_random_left(const struct session_result *run, char *text, size_t size)
{
    if (run->random_left == 0)
        return false;
    snprintf(text, size,
             "random bytes that could not be fixed: %" PRIu64
             ", which the kernel moved itself (sendfile, splice)",
             run->random_left);
    return true;
}

bool
report_lost(const struct session_result *run, char *text, size_t size)
{
    if (run->lost_threads == 0)
        return false;
    snprintf(text, size,
             "not counted: %u threads; of a process, counts of %u threads at "
             "once are kept if it is killed",
             run->lost_threads, COUNTS_STRANDS);
    return true;
}

/* QEMU's blocks have no more instructions than this, and the model's queue of
 * accesses, which is lost where the signal ends the process, has fewer. */
#define BLOCK_MOST 512u

bool
report_left_early(const struct session_result *run, char *text, size_t size)
{
    const uint64_t blocks = run->left_early;

    if (blocks == 0)
        return false;
    snprintf(text, size,
             "%" PRIu64 " block%s of code %s left before the end, by a signal "
             "that an instruction raised or a write to the block's own page: "
             "counts may be off by up to %" PRIu64
             " instructions or accesses to memory",
             blocks, blocks == 1 ? "" : "s", blocks == 1 ? "was" : "were",
             blocks * BLOCK_MOST);
    return true;
}

bool
report_heaped(const struct session_result *run, char *text, size_t size)
{
    if (run->heaped_threads == 0)
        return false;
    snprintf(text, size,
             "%u threads share a row with others of their strand: a report has "
             "rows for %u threads",
             run->heaped_threads, SESSION_ROWS);
    return true;
}

bool
report_cut(const struct session_result *run, char *text, size_t size)
{
    if (run->cut_processes == 0)
        return false;
    snprintf(text, size,
             "not counted: the later part of %u processes: QEMU's numbers for "
             "threads ran out",
             run->cut_processes);
    return true;
}

bool
report_trace(const struct session_result *run, char *text, size_t size)
{
    if (!trace_part_lacks(run->trace))
        return false;
    snprintf(text, size, "not counted: what the trace lacks, which is %s",
             run->trace == TRACE_PART_CUT ? "cut short" : "damaged");
    return true;
}

void
run_notes_take(struct run_notes *notes, const struct session_result *run)
{
    static bool (*const says[RUN_NOTES])(const struct session_result *run,
                                         char *text, size_t size) = {
        report_programs, report_threads, report_signals, report_beside,
        report_lost,     report_cut,     report_trace,
    };
    size_t count = 0;

    for (size_t i = 0; i < RUN_NOTES; i++)
        if (says[i](run, notes->text[count], RUN_NOTE)) {
            notes->lines[count] = notes->text[count];
            count++;
        }
    notes->lines[count] = NULL;
}

void
report_inconsistent(const struct session_inconsistent *one, char *text,
                    size_t size)
{
    if (one->pid == 0)
        snprintf(text, size,
                 "inconsistent: %s in memory, so no count can be trusted",
                 one->why);
    else
        snprintf(text, size,
                 "not counted: %.160s (pid %d), whose counts are inconsistent "
                 "in memory: %s",
                 one->program, one->pid, one->why);
}

/* report_left_out() of programs and processes by their names; those without a
 * name count as one more. */
static void
name_left_out(const struct session_result *run, size_t index, char *text,
              size_t size)
{
    const size_t programs =
        run->uncounted_named + (run->uncounted > run->uncounted_named);

    if (index < run->uncounted_named)
        snprintf(text, size, "not counted: %s, which ran outside the emulation",
                 run->uncounted_names[index]);
    else if (index < programs)
        snprintf(text, size, "not counted: %u more programs",
                 run->uncounted - run->uncounted_named);
    else if (index - programs < SESSION_UNCOUNTED)
        report_inconsistent(&run->inconsistent[index - programs], text, size);
    else
        snprintf(text, size, "not counted: %zu more processes",
                 run->inconsistent_count - SESSION_UNCOUNTED);
}

/* Writes a note on a process that still runs: with `index` 0 on the first one,
 * with 1 on the second. Returns false if fewer processes run. */
static bool
still_running(const struct session_result *run, size_t index, char *text,
              size_t size)
{
    for (size_t i = 0; i < run->process_count; i++) {
        const struct session_process *const p = &run->processes[i];
        if (!p->running || index-- != 0)
            continue;
        snprintf(text, size, "still running, counted so far: %s (pid %d)",
                 p->program, p->pid);
        return true;
    }
    return false;
}

bool
report_left_out(const struct session_result *run, size_t index, char *text,
                size_t size)
{
    const size_t programs =
        run->uncounted_named + (run->uncounted > run->uncounted_named);
    const size_t processes = run->inconsistent_count <= SESSION_UNCOUNTED
                                 ? run->inconsistent_count
                                 : SESSION_UNCOUNTED + 1;
    size_t other = index - programs - processes;

    if (index < programs + processes) {
        name_left_out(run, index, text, size);
        return true;
    }
    if (run->lost_threads > 0 && other-- == 0)
        return report_lost(run, text, size);
    if (run->cut_processes > 0 && other-- == 0)
        return report_cut(run, text, size);
    if (trace_part_lacks(run->trace) && other-- == 0)
        return report_trace(run, text, size);
    return still_running(run, other, text, size);
}
