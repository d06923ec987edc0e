/* SPDX-License-Identifier: MIT */
#include <jansson.h>

#include "record/locks.h"
#include "report/csv.h"
#include "report/json_text.h"

#define LOCKS_SCHEMA 1

static const char *const state_names[LOCKS_STATES] = {
    [LOCKS_RUNNING] = "running",
    [LOCKS_FUTEX] = "waiting",
    [LOCKS_OTHER] = "waiting_other",
    [LOCKS_SPINNING] = "spinning",
};

/* Returns the number of a thread; null: none. */
static json_t *
json_thread(uint32_t thread)
{
    return thread == RECORD_NO_NUMBER ? json_null()
                                      : report_json_number(thread);
}

static void
add_times(json_t *o, const uint64_t time[LOCKS_STATES])
{
    for (unsigned i = 0; i < LOCKS_STATES; i++)
        json_object_set_new(o, state_names[i], report_json_number(time[i]));
}

static json_t *
json_threads(const struct locks *l)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < l->thread_count; i++) {
        const struct locks_thread *const t = &l->threads[i];
        json_t *const o = json_object();
        json_object_set_new(
            o, "process",
            report_json_number(l->record->processes[t->process].number));
        json_object_set_new(o, "thread", report_json_number(t->thread));
        json_object_set_new(o, "maker", report_json_number(t->maker));
        json_object_set_new(o, "begin", report_json_number(t->begin));
        json_object_set_new(o, "end", report_json_number(t->end));
        add_times(o, t->time);
        json_object_set_new(o, "waits", report_json_number(t->waits));
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *
json_waits(const struct locks_lock *lock)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < lock->wait_count; i++) {
        const struct locks_wait *const w = &lock->waits[i];
        json_t *const o = json_object();
        json_object_set_new(o, "thread", report_json_number(w->thread));
        json_object_set_new(o, "at", report_json_text(w->at));
        json_object_set_new(o, "waker", json_thread(w->waker));
        json_object_set_new(o, "waker_at", report_json_text(w->by));
        json_object_set_new(o, "count", report_json_number(w->count));
        json_object_set_new(o, "time", report_json_number(w->time));
        json_object_set_new(o, "longest", report_json_number(w->longest));
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *
json_locks(const struct locks *l)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < l->lock_count; i++) {
        const struct locks_lock *const lock = &l->locks[i];
        json_t *const o = json_object();
        json_object_set_new(
            o, "process",
            report_json_number(l->record->processes[lock->process].number));
        json_object_set_new(o, "ended_by",
                            json_string(locks_kind_name(lock->kind)));
        json_object_set_new(o, "class",
                            lock->kind == RECORD_WAIT_FUTEX
                                ? json_string(locks_class_name(lock->class))
                                : json_null());
        json_object_set_new(o, "name", report_json_text(lock->name));
        json_object_set_new(o, "address",
                            lock->kind == RECORD_WAIT_FUTEX
                                ? report_json_number(lock->word)
                                : json_null());
        json_object_set_new(o, "threads",
                            report_json_number(lock->thread_count));
        json_object_set_new(o, "count", report_json_number(lock->count));
        json_object_set_new(o, "time", report_json_number(lock->time));
        json_object_set_new(o, "longest", report_json_number(lock->longest));
        json_object_set_new(o, "waits", json_waits(lock));
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *
json_stretches(const struct locks *l)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < l->stretch_count; i++) {
        const struct locks_stretch *const s = &l->stretches[i];
        const struct locks_thread *const t = &l->threads[s->thread];
        json_t *const o = json_object();
        json_object_set_new(
            o, "process",
            report_json_number(l->record->processes[t->process].number));
        json_object_set_new(o, "thread", report_json_number(t->thread));
        json_object_set_new(o, "begin", report_json_number(s->begin));
        json_object_set_new(o, "end", report_json_number(s->end));
        json_object_set_new(o, "count", report_json_number(s->count));
        for (unsigned k = LOCKS_RUNNING + 1; k < LOCKS_STATES; k++)
            json_object_set_new(o, state_names[k],
                                report_json_number(s->time[k]));
        json_object_set_new(o, "lock",
                            s->longest.known
                                ? report_json_number(s->longest.lock)
                                : json_null());
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *
json_unended(const struct locks *l)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < l->unended_count; i++) {
        const struct locks_unended *const u = &l->unended[i];
        const bool lock = u->row->kind == RECORD_WAIT_FUTEX;
        const bool ended = u->holder == RECORD_HOLDER_ENDED;
        json_t *const o = json_object();
        json_object_set_new(
            o, "process",
            report_json_number(l->record->processes[u->process].number));
        json_object_set_new(o, "thread", report_json_number(u->row->thread));
        json_object_set_new(o, "waits_for",
                            json_string(locks_kind_name(u->row->kind)));
        json_object_set_new(o, "class",
                            lock ? json_string(locks_class_name(u->class))
                                 : json_null());
        json_object_set_new(o, "name",
                            lock ? report_json_text(u->name) : json_null());
        json_object_set_new(o, "address",
                            lock ? report_json_number(u->row->word)
                                 : json_null());
        json_object_set_new(o, "at", report_json_text(u->at));
        json_object_set_new(o, "holder",
                            ended ? json_null() : json_thread(u->holder));
        json_object_set_new(o, "holder_ended", json_boolean(ended));
        json_object_set_new(o, "has_time", json_boolean(u->row->has_time));
        json_object_set_new(o, "since", report_json_number(u->row->since));
        json_object_set_new(o, "time", report_json_number(u->time));
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *
json_findings(const struct locks *l)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < l->finding_count; i++) {
        const struct locks_finding *const f = &l->findings[i];
        const bool waits = f->kind == LOCKS_WAITS;
        json_t *const unended = json_array();
        json_t *const o = json_object();
        for (size_t k = 0; k < f->unended_count; k++)
            json_array_append_new(unended, report_json_number(f->unended[k]));
        json_object_set_new(o, "kind",
                            json_string(locks_finding_name(f->kind)));
        json_object_set_new(o, "lock",
                            waits ? report_json_number(f->lock) : json_null());
        json_object_set_new(o, "time",
                            waits ? report_json_number(l->locks[f->lock].time)
                                  : json_null());
        json_object_set_new(o, "unended", unended);
        json_object_set_new(o, "text", report_json_text(f->text));
        json_array_append_new(array, o);
    }
    return array;
}

int
locks_json(const struct locks *l, FILE *out)
{
    const struct record *const record = l->record;
    json_t *const command = json_array();
    json_t *const o = json_object();

    for (char **word = record->argv; *word != NULL; word++)
        json_array_append_new(command, report_json_text(*word));
    json_object_set_new(o, "schema", json_integer(LOCKS_SCHEMA));
    json_object_set_new(o, "machine", report_json_text(record->machine));
    json_object_set_new(o, "command", command);
    json_object_set_new(o, "cut", json_boolean(record->cut));
    json_object_set_new(o, "partial", json_boolean(record->partial || l->lost));
    json_object_set_new(o, "repeats",
                        json_boolean(record->varies == 0 && !l->outside));
    json_object_set_new(o, "unit", json_string("cycles"));
    json_object_set_new(o, "standing", json_string("estimated"));
    json_object_set_new(o, "elapsed", report_json_number(l->elapsed));
    add_times(o, l->time);
    json_object_set_new(o, "findings", json_findings(l));
    json_object_set_new(o, "threads", json_threads(l));
    json_object_set_new(o, "locks", json_locks(l));
    json_object_set_new(o, "stretches", json_stretches(l));
    json_object_set_new(o, "unended", json_unended(l));
    const int failed = json_dumpf(o, out, JSON_INDENT(2));
    json_decref(o);
    fputc('\n', out);
    return failed != 0 || ferror(out) ? TALLY_EIO : 0;
}

/* Writes the waits that have not ended, a row each. */
static void
write_unended_rows(const struct locks *l, char separator, FILE *out)
{
    for (size_t i = 0; i < l->unended_count; i++) {
        const struct locks_unended *const u = &l->unended[i];
        const bool lock = u->row->kind == RECORD_WAIT_FUTEX;
        fprintf(out, "%u%cnothing%c%s%c",
                l->record->processes[u->process].number, separator, separator,
                lock ? locks_class_name(u->class) : "", separator);
        report_csv_text(lock ? u->name : "", separator, out);
        fprintf(out, "%c1%c1%c%llu%c%llu%c%lu%c", separator, separator,
                separator, (unsigned long long)u->time, separator,
                (unsigned long long)u->time, separator,
                (unsigned long)u->row->thread, separator);
        report_csv_text(u->at, separator, out);
        fprintf(out, "%c%llu%c", separator, (unsigned long long)u->row->since,
                separator);
        if (u->holder == RECORD_HOLDER_ENDED)
            fputs("ended", out);
        else if (u->holder != RECORD_NO_NUMBER)
            fprintf(out, "%lu", (unsigned long)u->holder);
        fputc('\n', out);
    }
}

int
locks_csv(const struct locks *l, char separator, FILE *out)
{
    static const char *const columns[] = {
        "ended_by", "class",   "name",   "threads", "count",
        "time",     "longest", "thread", "at",      "since"};

    fputs("process", out);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
        fprintf(out, "%c%s", separator, columns[i]);
    fprintf(out, "%cholder\n", separator);
    for (size_t i = 0; i < l->lock_count; i++) {
        const struct locks_lock *const lock = &l->locks[i];
        fprintf(out, "%u%c%s%c%s%c", l->record->processes[lock->process].number,
                separator, locks_kind_name(lock->kind), separator,
                lock->kind == RECORD_WAIT_FUTEX ? locks_class_name(lock->class)
                                                : "",
                separator);
        report_csv_text(lock->name, separator, out);
        fprintf(out, "%c%zu%c%llu%c%llu%c%llu%c%c%c%c\n", separator,
                lock->thread_count, separator, (unsigned long long)lock->count,
                separator, (unsigned long long)lock->time, separator,
                (unsigned long long)lock->longest, separator, separator,
                separator, separator);
    }
    write_unended_rows(l, separator, out);
    return ferror(out) != 0 ? TALLY_EIO : 0;
}
