/* SPDX-License-Identifier: MIT */
/* The form for people: findings, then tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "profile/session.h"
#include "record/locks.h"
#include "record/run_note.h"
#include "record/short_name.h"
#include "record/text_line.h"
#include "report/count_report.h"

#define NUMBER_TEXT 40
#define FINDINGS 8u /* at most, unless all rows are asked for */

/* A text that is being written. */
struct writing {
    const struct locks *l;
    const struct breakdown_look *look;
    FILE *out;
    size_t top;
};

static double
percent(uint64_t part, uint64_t all)
{
    return all != 0 ? (double)part / (double)all * 100 : 0;
}

static void
write_summary(const struct writing *w)
{
    const struct locks *const l = w->l;
    const uint64_t busy = l->time[LOCKS_RUNNING] + l->time[LOCKS_SPINNING];
    char text[NUMBER_TEXT];

    format_grouped(l->elapsed, text);
    fprintf(w->out,
            "\n What the threads of %zu process%s waited for, on %s\n"
            " %zu thread%s, %s cycles from first to last, each on a processor "
            "of its own,\n estimated; %.2f threads ran at a time\n",
            l->record->process_count, l->record->process_count == 1 ? "" : "es",
            l->record->machine, l->thread_count,
            l->thread_count == 1 ? "" : "s", text,
            l->elapsed != 0 ? (double)busy / (double)l->elapsed : 0);
    if (l->record->cut)
        fputs(" the record is cut short\n", w->out);
    if (l->record->partial || l->lost)
        fputs(" some threads, programs or waits are missing\n", w->out);
    run_note_write(l->record, " ", w->out);
    run_note_varies(l->record->varies | (l->outside ? SESSION_OUTSIDE : 0u),
                    " ", "another run may differ", w->out);
}

static int
write_findings(const struct writing *w)
{
    const struct locks *const l = w->l;
    const size_t shown = w->top != 0 && l->finding_count > FINDINGS
                             ? FINDINGS
                             : l->finding_count;

    text_heading("Findings", w->look->color, w->out);
    if (l->finding_count == 0)
        fputs(l->lock_count == 0
                  ? " None: no wait has ended.\n"
                  : " None: no lock took 1 % of the threads' time.\n",
              w->out);
    for (size_t i = 0; i < shown; i++) {
        char *const brief = short_name(l->findings[i].text);
        char *const escaped =
            brief != NULL ? escape_copy(brief, ESCAPE_LINE) : NULL;
        free(brief);
        if (escaped == NULL)
            return TALLY_ENOMEM;
        fprintf(w->out, "%2zu. ", i + 1);
        text_wrap(escaped, 4, w->look->width, w->out);
        free(escaped);
    }
    text_more(l->finding_count, shown, w->out);
    return 0;
}

static size_t
shown(const struct writing *w, size_t count)
{
    return w->top != 0 && count > w->top ? w->top : count;
}

static void
write_threads(const struct writing *w)
{
    const struct locks *const l = w->l;
    const size_t count = shown(w, l->thread_count);
    const bool many = l->record->process_count > 1;

    text_heading("Time of each thread, in cycles and per cent", w->look->color,
                 w->out);
    fprintf(w->out,
            "   %sthread          cycles  running  locks  other  spins"
            "    waits  begins at\n",
            many ? "process  " : "");
    for (size_t i = 0; i < count; i++) {
        const struct locks_thread *const t = &l->threads[i];
        const uint64_t all = t->end - t->begin;
        fputs("   ", w->out);
        if (many)
            fprintf(w->out, "%7u  ", l->record->processes[t->process].number);
        fprintf(w->out, "%6" PRIu32, t->thread);
        text_number(all, 16, w->out);
        fprintf(w->out, "%9.1f%7.1f%7.1f%7.1f",
                percent(t->time[LOCKS_RUNNING], all),
                percent(t->time[LOCKS_FUTEX], all),
                percent(t->time[LOCKS_OTHER], all),
                percent(t->time[LOCKS_SPINNING], all));
        text_number(t->waits, 9, w->out);
        fputs("  ", w->out);
        text_number(t->begin, 9, w->out);
        fputc('\n', w->out);
    }
    text_more(l->thread_count, count, w->out);
}

/* Writes the locks, or all other things that threads waited for. */
static void
write_locks(const struct writing *w, bool futex)
{
    const struct locks *const l = w->l;
    size_t count = 0, written = 0;

    for (size_t i = 0; i < l->lock_count; i++)
        count += (l->locks[i].kind == RECORD_WAIT_FUTEX) == futex;
    if (count == 0)
        return;
    text_heading(futex ? "Locks" : "Other waits", w->look->color, w->out);
    fprintf(w->out, "             cycles      %%     waits       longest  %s\n",
            futex ? "kind       lock" : "ended by   where");
    for (size_t i = 0; i < l->lock_count && written < shown(w, count); i++) {
        const struct locks_lock *const lock = &l->locks[i];
        if ((lock->kind == RECORD_WAIT_FUTEX) != futex)
            continue;
        text_number(lock->time, 19, w->out);
        fprintf(w->out, "%7.1f", percent(lock->time, locks_all(l)));
        text_number(lock->count, 10, w->out);
        text_number(lock->longest, 14, w->out);
        fprintf(w->out, "  %-9s  ",
                futex ? locks_class_name(lock->class)
                      : locks_kind_name(lock->kind));
        text_end_name(lock->name, 63, w->look->width, w->out);
        written++;
    }
    text_more(count, shown(w, count), w->out);
}

/* Writes who waited where, and who let them go on. */
static void
write_waits(const struct writing *w)
{
    const struct locks *const l = w->l;
    size_t count = 0, written = 0;

    for (size_t i = 0; i < l->lock_count; i++)
        count +=
            l->locks[i].kind == RECORD_WAIT_FUTEX ? l->locks[i].wait_count : 0;
    if (count == 0)
        return;
    text_heading("Who waited at a lock, and who let them go on", w->look->color,
                 w->out);
    fputs("             cycles     waits  thread  waker  lock, where each "
          "was\n",
          w->out);
    for (size_t i = 0; i < l->lock_count; i++) {
        const struct locks_lock *const lock = &l->locks[i];
        for (size_t k = 0;
             k < lock->wait_count && lock->kind == RECORD_WAIT_FUTEX &&
             written < shown(w, count);
             k++) {
            const struct locks_wait *const wait = &lock->waits[k];
            text_number(wait->time, 19, w->out);
            text_number(wait->count, 10, w->out);
            fprintf(w->out, "%8" PRIu32, wait->thread);
            if (wait->waker == RECORD_NO_NUMBER)
                fprintf(w->out, "%7s  ", "-");
            else
                fprintf(w->out, "%7" PRIu32 "  ", wait->waker);
            text_end_name(lock->name, 46, w->look->width, w->out);
            fprintf(w->out, "%20s waited in  ", "");
            text_end_name(*wait->at != '\0' ? wait->at : "?", 33,
                          w->look->width, w->out);
            if (lock->class != LOCKS_JOIN) {
                fprintf(w->out, "%20s let go in  ", "");
                text_end_name(*wait->by != '\0' ? wait->by : "?", 33,
                              w->look->width, w->out);
            }
            written++;
        }
    }
    text_more(count, written, w->out);
}

/* Writes who holds the lock that a thread waits at, if that may be known. */
static void
write_holder(const struct writing *w, const struct locks_unended *u)
{
    if (u->row->kind != RECORD_WAIT_FUTEX || u->class == LOCKS_JOIN ||
        (u->class != LOCKS_MUTEX && u->holder == RECORD_NO_NUMBER))
        return;
    fprintf(w->out, "%20s held by    ", "");
    if (u->holder == RECORD_HOLDER_ENDED)
        fputs("a thread that has ended\n", w->out);
    else if (u->holder == RECORD_NO_NUMBER)
        fputs("? (not known)\n", w->out);
    else
        fprintf(w->out, "thread %" PRIu32 "\n", u->holder);
}

/* Writes the waits that had not ended. */
static void
write_unended(const struct writing *w)
{
    const struct locks *const l = w->l;
    const size_t count = shown(w, l->unended_count);
    const bool many = l->record->process_count > 1;

    if (l->unended_count == 0)
        return;
    text_heading("Waits that had not ended when the program ended",
                 w->look->color, w->out);
    fputs(many
              ? "           since at  process  thread  kind       lock, where, "
                "who holds it\n"
              : "           since at  thread  kind       lock, where, who "
                "holds it\n",
          w->out);
    for (size_t i = 0; i < count; i++) {
        const struct locks_unended *const u = &l->unended[i];
        const bool lock = u->row->kind == RECORD_WAIT_FUTEX;
        text_number(u->row->since, 19, w->out);
        if (many)
            fprintf(w->out, "%9u", l->record->processes[u->process].number);
        fprintf(w->out, "%8" PRIu32 "  %-9s  ", u->row->thread,
                lock ? locks_class_name(u->class)
                     : locks_kind_name(u->row->kind));
        text_end_name(lock ? u->name : "(no lock)", many ? 49 : 40,
                      w->look->width, w->out);
        fprintf(w->out, "%20s waits in   ", "");
        text_end_name(*u->at != '\0' ? u->at : "?", 32, w->look->width, w->out);
        write_holder(w, u);
    }
    text_more(l->unended_count, count, w->out);
}

int
locks_text(const struct locks *l, size_t top, const struct breakdown_look *look,
           FILE *out)
{
    const struct writing w = {l, look, out, top};

    write_summary(&w);
    const int error = write_findings(&w);
    if (error != 0)
        return error;
    write_unended(&w);
    write_threads(&w);
    write_locks(&w, true);
    write_waits(&w);
    write_locks(&w, false);
    fputc('\n', out);
    return ferror(out) != 0 ? TALLY_EIO : 0;
}
