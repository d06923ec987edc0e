/* SPDX-License-Identifier: MIT */
/* The page of what threads wait for: locks_page.html with its data. All names
 * are escaped here, as a line may show them; the script shows them as text
 * only. */
#include "record/locks_page.h"

#include <jansson.h>

#include "locks_page_text.h" /* generated: with its style and scripts */
#include "record/page_section.h"
#include "report/json_text.h"

/* Returns numbers as an array. */
static json_t *
numbers_json(const uint64_t *numbers, size_t count)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, report_json_number(numbers[i]));
    return array;
}

/* Returns the number of a thread; -1: none. */
static json_t *
thread_json(uint32_t thread)
{
    return json_integer(thread == RECORD_NO_NUMBER ? -1 : (json_int_t)thread);
}

/* Returns the address that threads wait at, as text: a script's numbers have 53
 * bits. */
static json_t *
address_json(enum record_wait_kind kind, uint64_t word)
{
    return kind == RECORD_WAIT_FUTEX
               ? json_sprintf("0x%llx", (unsigned long long)word)
               : json_string("");
}

static json_t *
process_json(const struct locks *l, uint32_t process)
{
    return report_json_number(l->record->processes[process].number);
}

static json_t *
threads_json(const struct locks *l)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < l->thread_count; i++) {
        const struct locks_thread *const t = &l->threads[i];
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "process",
                             process_json(l, t->process), "thread",
                             report_json_number(t->thread), "maker",
                             report_json_number(t->maker), "begin",
                             report_json_number(t->begin), "end",
                             report_json_number(t->end), "time",
                             numbers_json(t->time, LOCKS_STATES), "waits",
                             report_json_number(t->waits)));
    }
    return array;
}

/* Returns the waits of a lock, a row each. */
static json_t *
waits_json(const struct locks_lock *lock)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < lock->wait_count; i++) {
        const struct locks_wait *const w = &lock->waits[i];
        json_array_append_new(
            array,
            json_pack("[o, o, o, o, o, o, o]", report_json_number(w->thread),
                      report_json_line(w->at), thread_json(w->waker),
                      report_json_line(w->by), report_json_number(w->count),
                      report_json_number(w->time),
                      report_json_number(w->longest)));
    }
    return array;
}

static json_t *
locks_json_array(const struct locks *l)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < l->lock_count; i++) {
        const struct locks_lock *const lock = &l->locks[i];
        json_array_append_new(
            array,
            json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                      "process", process_json(l, lock->process), "ended_by",
                      locks_kind_name(lock->kind), "class",
                      locks_class_name(lock->class), "name",
                      report_json_line(lock->name), "address",
                      address_json(lock->kind, lock->word), "threads",
                      report_json_number(lock->thread_count), "count",
                      report_json_number(lock->count), "time",
                      report_json_number(lock->time), "longest",
                      report_json_number(lock->longest), "waits",
                      waits_json(lock)));
    }
    return array;
}

/* Returns when threads waited, a row each; lock and wait -1: not known. */
static json_t *
stretches_json(const struct locks *l)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < l->stretch_count; i++) {
        const struct locks_stretch *const s = &l->stretches[i];
        json_array_append_new(
            array,
            json_pack("[o, o, o, o, o, o, o, I, I]",
                      report_json_number(s->thread),
                      report_json_number(s->begin), report_json_number(s->end),
                      report_json_number(s->count),
                      report_json_number(s->time[LOCKS_FUTEX]),
                      report_json_number(s->time[LOCKS_OTHER]),
                      report_json_number(s->time[LOCKS_SPINNING]),
                      s->longest.known ? (json_int_t)s->longest.lock : -1,
                      s->longest.known ? (json_int_t)s->longest.wait : -1));
    }
    return array;
}

static json_t *
unended_json(const struct locks *l)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < l->unended_count; i++) {
        const struct locks_unended *const u = &l->unended[i];
        const bool ended = u->holder == RECORD_HOLDER_ENDED;
        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:b, s:o, s:o}",
                      "process", process_json(l, u->process), "thread",
                      report_json_number(u->row->thread), "waits_for",
                      locks_kind_name(u->row->kind), "class",
                      locks_class_name(u->class), "name",
                      report_json_line(u->name), "address",
                      address_json(u->row->kind, u->row->word), "at",
                      report_json_line(u->at), "holder",
                      thread_json(ended ? RECORD_NO_NUMBER : u->holder),
                      "holder_ended", ended, "since",
                      report_json_number(u->row->since), "time",
                      report_json_number(u->time)));
    }
    return array;
}

static json_t *
findings_json(const struct locks *l)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < l->finding_count; i++) {
        const struct locks_finding *const f = &l->findings[i];
        const bool waits = f->kind == LOCKS_WAITS;
        json_array_append_new(array,
                              json_pack("{s:s, s:I, s:o}", "kind",
                                        locks_finding_name(f->kind), "lock",
                                        waits ? (json_int_t)f->lock : -1,
                                        "text", report_json_line(f->text)));
    }
    return array;
}

/* Returns the head of the page; NULL: no memory. */
static json_t *
head_json(const struct locks *l, const char *creator)
{
    json_t *const o = page_head(l->record, creator);

    json_object_set_new(o, "lost", json_boolean(l->lost));
    json_object_set_new(o, "waited_outside", json_boolean(l->outside));
    json_object_set_new(o, "elapsed", report_json_number(l->elapsed));
    json_object_set_new(o, "time", numbers_json(l->time, LOCKS_STATES));
    return o;
}

int
locks_page(const struct locks *l, const char *creator, FILE *out)
{
    json_t *const data =
        json_pack("{s:o, s:o, s:o, s:o, s:o}", "findings", findings_json(l),
                  "threads", threads_json(l), "locks", locks_json_array(l),
                  "stretches", stretches_json(l), "unended", unended_json(l));

    return page_fill(locks_page_text, head_json(l, creator), "locks", data,
                     out);
}
