/* SPDX-License-Identifier: MIT */
/* The findings of waits that had not ended when the program ended: circles of
 * threads that wait for each other, locks whose holder has ended, and processes
 * in which all threads wait. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "record/locks.h"

/* Waits that the finding of a standstill names; the others it counts. */
#define NAMED 6u

/* In place of an index. */
#define NONE SIZE_MAX

const char *
locks_finding_name(enum locks_finding_kind kind)
{
    static const char *const names[] = {
        [LOCKS_DEADLOCK] = "deadlock",
        [LOCKS_ABANDONED] = "abandoned",
        [LOCKS_STANDSTILL] = "standstill",
        [LOCKS_WAITS] = "waits",
    };

    return names[kind];
}

/* Orders waits, by their indices, by process, thread and place in the array. */
static int
compare_threads(const void *x, const void *y, void *data)
{
    const struct locks *const l = data;
    const size_t i = *(const size_t *)x, k = *(const size_t *)y;
    const struct locks_unended *const a = &l->unended[i], *b = &l->unended[k];

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->row->thread != b->row->thread)
        return a->row->thread < b->row->thread ? -1 : 1;
    return (i > k) - (i < k);
}

/* Returns the wait of a thread of the process; NONE: it waits for nothing.
 * `order`: the waits as compare_threads() has them. */
static size_t
find_wait(const struct locks *l, const size_t *order, uint32_t process,
          uint32_t thread)
{
    size_t first = 0, count = l->unended_count;

    while (count > 0) {
        const size_t half = count / 2;
        const struct locks_unended *const u = &l->unended[order[first + half]];
        if (u->process < process ||
            (u->process == process && u->row->thread < thread)) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    if (first == l->unended_count)
        return NONE;
    const struct locks_unended *const u = &l->unended[order[first]];
    return u->process == process && u->row->thread == thread ? order[first]
                                                             : NONE;
}

/* Returns the wait of the thread that a wait is for. NONE: that thread is not
 * known or waits for nothing, or time would have ended the wait. */
static size_t
next_wait(const struct locks *l, const size_t *order, size_t at)
{
    const struct locks_unended *const u = &l->unended[at];

    if (u->row->has_time || u->holder == RECORD_NO_NUMBER ||
        u->holder == RECORD_HOLDER_ENDED)
        return NONE;
    return find_wait(l, order, u->process, u->holder);
}

/* Fills in which wait each wait is for: next[] gets indices, or NONE. 0 or
 * TALLY_ENOMEM. */
static int
find_next(struct locks *l, size_t *next)
{
    size_t *const order = calloc(l->unended_count + 1, sizeof(*order));

    if (order == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < l->unended_count; i++)
        order[i] = i;
    qsort_r(order, l->unended_count, sizeof(*order), compare_threads, l);
    for (size_t i = 0; i < l->unended_count; i++)
        next[i] = next_wait(l, order, i);
    free(order);
    return 0;
}

/* Writes the innermost of the program's own functions in which a thread waits.
 */
static void
say_place(const struct locks_unended *u, FILE *out)
{
    const char *const end = strstr(u->at, " <- ");
    const int length = end != NULL ? (int)(end - u->at) : (int)strlen(u->at);

    if (length > 0)
        fprintf(out, " in %.*s", length, u->at);
}

/* Writes who waits for what, and who holds it. */
static void
say_wait(const struct locks_unended *u, FILE *out)
{
    const struct record_unended_row *const row = u->row;

    fprintf(out, "thread %" PRIu32 " waits", row->thread);
    say_place(u, out);
    if (row->kind != RECORD_WAIT_FUTEX)
        return;
    if (u->class == LOCKS_JOIN && u->holder != RECORD_NO_NUMBER) {
        fprintf(out, " for %s", u->name);
        return;
    }
    fprintf(out, " for %s %s", locks_class_name(u->class), u->name);
    if (row->object != 0)
        fprintf(out, " (0x%" PRIx64 ")", row->word);
    if (u->holder == RECORD_HOLDER_ENDED)
        fputs(", which a thread holds that has ended", out);
    else if (u->holder == row->thread)
        fputs(", which it holds itself", out);
    else if (u->holder != RECORD_NO_NUMBER)
        fprintf(out, ", which thread %" PRIu32 " holds", u->holder);
}

/* Writes the process, where there are several. */
static void
say_process(const struct locks *l, uint32_t process, FILE *out)
{
    if (l->record->process_count > 1)
        fprintf(out, "process %u: ", l->record->processes[process].number);
}

/* Ends a finding's text. 0 or TALLY_ENOMEM. */
static int
end_text(FILE *out, struct locks_finding *f, char **text)
{
    const bool failed = ferror(out) != 0;

    if (fclose(out) == 0 && !failed) {
        f->text = *text;
        return 0;
    }
    free(*text);
    return TALLY_ENOMEM;
}

/* Adds a finding of waits, `count` of them from `first` on in their order of
 * next[], or where next is NULL in the order that they have. NULL: no memory.
 */
static struct locks_finding *
add_finding(struct locks *l, enum locks_finding_kind kind, size_t first,
            size_t count, const size_t *next)
{
    struct locks_finding *const f = locks_add_finding(l);

    if (f == NULL)
        return NULL;
    f->kind = kind;
    f->unended = calloc(count, sizeof(*f->unended));
    if (f->unended == NULL)
        return NULL;
    for (size_t at = first; f->unended_count < count;
         at = next != NULL ? next[at] : at + 1)
        f->unended[f->unended_count++] = at;
    return f;
}

/* Returns what to do about a circle. */
static const char *
circle_advice(const struct locks *l, const struct locks_finding *f)
{
    bool locks = true;

    for (size_t i = 0; i < f->unended_count; i++)
        locks &= l->unended[f->unended[i]].class == LOCKS_MUTEX;
    return !locks ? "have one of them not wait for the others"
           : f->unended_count == 1
               ? "let it go before it is taken again, or make it recursive"
               : "have all threads take these locks in the same order";
}

/* Adds the finding of a circle that begins with a wait. */
static int
add_circle(struct locks *l, size_t first, const size_t *next)
{
    char *text = NULL;
    size_t size = 0, count = 1;

    for (size_t at = next[first]; at != first; at = next[at])
        count++;
    struct locks_finding *const f =
        add_finding(l, LOCKS_DEADLOCK, first, count, next);
    FILE *const out = f != NULL ? open_memstream(&text, &size) : NULL;
    if (out == NULL)
        return TALLY_ENOMEM;
    fputs("deadlock: ", out);
    say_process(l, l->unended[first].process, out);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? "; " : "", out);
        say_wait(&l->unended[f->unended[i]], out);
    }
    fprintf(out, ": %s", circle_advice(l, f));
    return end_text(out, f, &text);
}

/* Returns the wait of the circle that a walk has come to whose thread has the
 * lowest number. */
static size_t
lowest_of(const struct locks *l, size_t first, const size_t *next)
{
    size_t lowest = first;

    for (size_t at = next[first]; at != first; at = next[at]) {
        if (l->unended[at].row->thread < l->unended[lowest].row->thread)
            lowest = at;
    }
    return lowest;
}

/* Finds circles: a walk along `next` from each wait marks the waits that it
 * comes by with its number, and a mark of its own is a circle. `told`
 * gets the marks of processes. */
static int
find_circles(struct locks *l, size_t *next, size_t *mark, bool *told)
{
    int error = find_next(l, next);

    for (size_t i = 0; error == 0 && i < l->unended_count; i++) {
        size_t at = i;
        while (at != NONE && mark[at] == 0) {
            mark[at] = i + 1;
            at = next[at];
        }
        if (at == NONE || mark[at] != i + 1)
            continue;
        told[l->unended[i].process] = true;
        error = add_circle(l, lowest_of(l, at, next), next);
    }
    return error;
}

/* Adds the findings of locks whose holder has ended. `told` gets the marks of
 * processes, as of circles. */
static int
find_abandoned(struct locks *l, bool *told)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < l->unended_count; i++) {
        char *text = NULL;
        size_t size = 0;
        if (l->unended[i].holder != RECORD_HOLDER_ENDED)
            continue;
        struct locks_finding *const f =
            add_finding(l, LOCKS_ABANDONED, i, 1, NULL);
        FILE *const out = f != NULL ? open_memstream(&text, &size) : NULL;
        if (out == NULL)
            return TALLY_ENOMEM;
        told[l->unended[i].process] = true;
        say_process(l, l->unended[i].process, out);
        say_wait(&l->unended[i], out);
        fputs(": let it go before the thread ends", out);
        error = end_text(out, f, &text);
    }
    return error;
}

/* Adds the finding of a process whose threads all wait, `count` from `first`
 * on.
 */
static int
add_standstill(struct locks *l, size_t first, size_t count)
{
    char *text = NULL;
    size_t size = 0;
    struct locks_finding *const f =
        add_finding(l, LOCKS_STANDSTILL, first, count, NULL);
    FILE *const out = f != NULL ? open_memstream(&text, &size) : NULL;

    if (out == NULL)
        return TALLY_ENOMEM;
    say_process(l, l->unended[first].process, out);
    if (count == 1)
        fputs("the only thread waits", out);
    else if (count == 2)
        fputs("both threads wait", out);
    else
        fprintf(out, "all %zu threads wait", count);
    fputs(", and none is left to let another go on: ", out);
    for (size_t i = 0; i < count && i < NAMED; i++) {
        fputs(i > 0 ? "; " : "", out);
        say_wait(&l->unended[first + i], out);
    }
    if (count > NAMED)
        fprintf(out, "; and %zu more", count - NAMED);
    return end_text(out, f, &text);
}

/* Adds the findings of processes whose threads all wait, where no other finding
 * says why. */
static int
find_standstills(struct locks *l, const bool *told)
{
    int error = 0;

    for (size_t i = 0, end; error == 0 && i < l->unended_count; i = end) {
        const uint32_t process = l->unended[i].process;
        for (end = i;
             end < l->unended_count && l->unended[end].process == process;)
            end++;
        if (l->record->processes[process].stuck == end - i && !told[process])
            error = add_standstill(l, i, end - i);
    }
    return error;
}

int
locks_find_deadlocks(struct locks *l)
{
    size_t *const next = calloc(l->unended_count + 1, sizeof(*next));
    size_t *const mark = calloc(l->unended_count + 1, sizeof(*mark));
    bool *const told = calloc(l->record->process_count + 1, sizeof(*told));
    int error = TALLY_ENOMEM;

    if (next != NULL && mark != NULL && told != NULL)
        error = find_circles(l, next, mark, told);
    if (error == 0)
        error = find_abandoned(l, told);
    if (error == 0)
        error = find_standstills(l, told);
    free(next);
    free(mark);
    free(told);
    return error;
}
