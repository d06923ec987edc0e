/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/span.h"

#include "plugin/plugin.h"
#include "table/signals.h"

/*
 * Returns the instructions until the next look at the clock: half of those to
 * the boundary, if they take as long as the last did, so that looks come more
 * often towards the boundary. On bzip2, a look every 20,000 instructions takes
 * as much time as all else together.
 */
static uint64_t
next_look(const struct strand *s, uint64_t clock, uint64_t interval)
{
    const double left = (double)(interval - clock % interval);
    const double pace = (double)(clock - s->interval.clock + 1) /
                        (double)(s->interval.passed + 1);
    const double half = left / pace / 2;

    return half > LOOK_LEAST ? (uint64_t)half : LOOK_LEAST;
}

void
plugin_snapshot(struct strand *strand)
{
    struct plugin *p = &tally_plugin;
    const struct session_request *r = &p->request;
    struct totals sum, derived;

    strand_drain(strand);
    counts_sum_all(&p->process, strand->counts, &sum);
    derived = sum;
    signals_derive(r->params, r->components, derived.signal);
    const uint64_t clock = strand->counts->born + derived.signal[SIGNAL_CYCLES];
    strand->interval.length = next_look(strand, clock, r->interval);
    strand->interval.clock = clock;
    strand->interval.passed = 0;
    if (clock / r->interval == strand->interval.boundary ||
        strand->counts == p->spare)
        return;
    strand->interval.boundary = clock / r->interval;
    pthread_mutex_lock(&p->lock);
    counts_snap(&p->process, strand->counts, strand->interval.boundary, &sum);
    pthread_mutex_unlock(&p->lock);
}

/* Returns whether strands have intervals (-I) or slices. */
static bool
has_intervals(void)
{
    const struct session_request *r = &tally_plugin.request;

    return r->interval > 0 || session_takes_turns(r);
}

/* Sets when the strand looks again: at the end of its interval or slice, and of
 * the turn of its thread, of which `turn` instructions are left. */
static void
plan_look(struct strand *strand, uint64_t turn)
{
    const struct interval *const i = &strand->interval;
    const uint64_t left =
        tally_plugin.phases.process != NULL ? phases_left(&tally_plugin.phases)
        : has_intervals() && i->length > i->passed ? i->length - i->passed
                                                   : (uint64_t)INT64_MAX;

    strand->look.step = (int64_t)(left < turn ? left : turn);
    strand->look.left = strand->look.step;
}

/* Returns the modelled cycles since the last look of the thread that runs,
 * which has the turn. */
static uint64_t
cycles_passed(struct strand *strand)
{
    const uint64_t before = strand->look.cycles;

    strand_drain(strand);
    strand->look.cycles = tally_plugin.turn_clock(tally_plugin.schedule.holder);
    /* After fork() the thread's count begins anew. */
    return strand->look.cycles - (strand->look.cycles < before ? 0 : before);
}

/* Returns the instructions until the next look at the cycles of the turn, of
 * which `left` are left: those of half of them, or of a sixteenth of the whole
 * turn where that is more, if they take as long as the last ones did. */
static uint64_t
next_cycles(struct look *look, uint64_t left, uint64_t instructions,
            uint64_t cycles)
{
    const uint64_t most = tally_plugin.schedule.quantum / 16;
    const uint64_t part = left / 2 > most ? left / 2
                          : left < most   ? left
                                          : most;

    /* What was before counts half. */
    look->pace_instructions = look->pace_instructions / 2 + instructions;
    look->pace_cycles = look->pace_cycles / 2 + cycles;
    const double n = (double)part * (double)(look->pace_instructions + 1) /
                     (double)(look->pace_cycles + 1);
    return n < 1 ? 1 : n < LOOK_LEAST ? (uint64_t)n : LOOK_LEAST;
}

/* Counts what has passed since the last look; returns the instructions that are
 * left of the turn of the thread, or until the next look at its cycles. */
static uint64_t
count_passed(struct strand *strand)
{
    struct schedule *const schedule = &tally_plugin.schedule;
    const uint64_t passed = (uint64_t)(strand->look.step - strand->look.left);

    strand->turn_ran += passed;
    if (!strand->span.outside) {
        strand->interval.passed += passed;
        phases_pass(&tally_plugin, passed);
    }
    /* What is not counted has no cycles: its turns are of instructions. */
    if (tally_plugin.turn_clock == NULL || !schedule->threaded ||
        strand->span.outside)
        return schedule_ran(schedule, passed, passed);
    const uint64_t cycles = cycles_passed(strand);
    const uint64_t left = schedule_ran(schedule, passed, cycles);
    return next_cycles(&strand->look, left, passed, cycles);
}

void
plugin_note_passed(struct strand *strand)
{
    plan_look(strand, count_passed(strand));
}

void
plugin_look(struct strand *strand, const struct block *block)
{
    const struct session_request *r = &tally_plugin.request;
    const uint64_t turn = count_passed(strand);

    phases_look(&tally_plugin, block->instructions);
    if (has_intervals() && strand->interval.passed >= strand->interval.length) {
        if (!session_takes_turns(r)) {
            plugin_snapshot(strand);
        } else {
            strand->interval.passed = 0;
            strand_begin_slice(strand, (strand->span.slice + 1) % r->slices);
        }
    }
    plan_look(strand, turn);
}
