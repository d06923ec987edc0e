/* SPDX-License-Identifier: MIT */
#include "record/locks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "report/count_report.h"

#define FRAMES_SHOWN 3u
#define FRAMES_MOST 64u

/* Words that a lock takes at most: threads of one lock wait at several words,
 * as those of a condition do. */
#define LOCK_BYTES 8u

/* A finding has at least this part of the time of all threads, in per cent. */
#define LEAST_PERCENT 1.0

/* Functions of libraries that threads wait in, without the underscores that
 * they begin with. */
static const struct {
    const char *begin;
    enum locks_class class;
} functions[] = {
    {"pthread_mutex_cond_lock", LOCKS_MUTEX},
    {"pthread_mutex_", LOCKS_MUTEX},
    {"mtx_", LOCKS_MUTEX},
    {"std::sys::sync::mutex", LOCKS_MUTEX},
    {"pthread_cond_", LOCKS_CONDITION},
    {"cnd_", LOCKS_CONDITION},
    {"std::condition_variable", LOCKS_CONDITION},
    {"std::sys::sync::condvar", LOCKS_CONDITION},
    {"pthread_barrier_", LOCKS_BARRIER},
    {"pthread_join", LOCKS_JOIN},
    {"pthread_clockjoin", LOCKS_JOIN},
    {"pthread_timedjoin", LOCKS_JOIN},
    {"thrd_join", LOCKS_JOIN},
    {"std::thread::join", LOCKS_JOIN},
    {"sem_", LOCKS_SEMAPHORE},
    {"new_sem_", LOCKS_SEMAPHORE},
    {"pthread_rwlock_", LOCKS_RWLOCK},
    {"std::sys::sync::rwlock", LOCKS_RWLOCK},
    {"pthread_once", LOCKS_ONCE},
    {"call_once", LOCKS_ONCE},
    {"cxa_guard_", LOCKS_ONCE},
    {"std::sys::sync::once", LOCKS_ONCE},
    {"gomp_", LOCKS_OPENMP},
    {"GOMP_", LOCKS_OPENMP},
    {"kmp", LOCKS_OPENMP},
    {"runtime.", LOCKS_GO},
};

/* Other functions between the program and the system. */
static const char *const others[] = {"lll_",     "futex",       "syscall",
                                     "pthread_", "std::mutex",  "clone",
                                     "exit",     "start_thread"};

/* Where a thread is: its frames, from the innermost on. */
struct frames {
    struct resolved_frame frame[FRAMES_MOST];
    size_t count;
};

const char *locks_class_name(enum locks_class class)
{
    static const char *const names[] = {
        [LOCKS_UNKNOWN] = "futex",       [LOCKS_MUTEX] = "mutex",
        [LOCKS_CONDITION] = "condition", [LOCKS_BARRIER] = "barrier",
        [LOCKS_JOIN] = "join",           [LOCKS_SEMAPHORE] = "semaphore",
        [LOCKS_RWLOCK] = "rwlock",       [LOCKS_ONCE] = "once",
        [LOCKS_OPENMP] = "openmp",       [LOCKS_GO] = "go",
    };

    return names[class];
}

const char *
locks_kind_name(enum record_wait_row_kind kind)
{
    static const char *const names[] = {
        [RECORD_WAITS_FUTEX] = "futex",     [RECORD_WAITS_THREAD] = "thread",
        [RECORD_WAITS_TIME] = "time",       [RECORD_WAITS_SPIN] = "spin",
        [RECORD_WAITS_OUTSIDE] = "outside",
    };

    return names[kind];
}

uint64_t
locks_all(const struct locks *l)
{
    uint64_t all = 0;

    for (unsigned i = 0; i < LOCKS_STATES; i++)
        all += l->time[i];
    return all;
}

/* Places */

static void
add_frames(struct locks *l, size_t process, uint32_t insn, struct frames *to)
{
    const struct resolved *const r = resolver_find(l->resolver, process, insn);

    for (size_t i = 0; i < r->frame_count && to->count < FRAMES_MOST; i++)
        to->frame[to->count++] = r->frames[i];
}

/* Finds the frames of a thread in a function that a path leads to. */
static void
find_frames(struct locks *l, size_t process, uint32_t path, uint32_t insn,
            struct frames *to)
{
    const struct record_process_row *const p = &l->record->processes[process];

    to->count = 0;
    if (insn != RECORD_NO_CALL)
        add_frames(l, process, insn, to);
    while (path != RECORD_NO_NUMBER && path != 0 && to->count < FRAMES_MOST) {
        const struct record_path *const at = &p->paths[path];
        if (at->call == RECORD_NO_CALL)
            break;
        add_frames(l, process, at->call, to);
        path = at->parent;
    }
}

/* Returns the name of a frame's function without what the library puts in front
 * of its own. */
static const char *
plain_name(const struct locks *l, const struct resolved_frame *frame)
{
    const char *name = resolver_text(l->resolver, frame->function);

    name += strspn(name, "_");
    if (strncmp(name, "GI_", 3) == 0)
        name += 3 + strspn(name + 3, "_");
    return name;
}

static bool
begins(const char *name, const char *begin)
{
    return strncmp(name, begin, strlen(begin)) == 0;
}

/* Returns the class of a library's function, or LOCKS_CLASSES: the function is
 * none. */
static enum locks_class
class_of(const char *name)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        if (begins(name, functions[i].begin))
            return functions[i].class;
    }
    return LOCKS_CLASSES;
}

/* Returns whether a frame's function is between the program and the system: of
 * a library, as names with two underscores are, or without a name. */
static bool
is_between(const struct locks *l, const struct resolved_frame *frame)
{
    const char *const name = plain_name(l, frame);

    if (*name == '\0' || class_of(name) != LOCKS_CLASSES ||
        begins(resolver_text(l->resolver, frame->function), "__"))
        return true;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (begins(name, others[i]))
            return true;
    }
    return false;
}

/* Finds the first frame of the program's own; *class is that of the library's
 * functions in front of it, if they have one. Returns an index, frames->count
 * where there is none. */
static size_t
find_own(const struct locks *l, const struct frames *frames,
         enum locks_class *class)
{
    size_t i = 0;

    *class = LOCKS_UNKNOWN;
    for (; i < frames->count; i++) {
        const char *const name = plain_name(l, &frames->frame[i]);
        const enum locks_class found = class_of(name);
        if (!is_between(l, &frames->frame[i]))
            break;
        /* A wait for a condition ends with one for the mutex. */
        if (begins(name, "pthread_mutex_cond_lock")) {
            *class = LOCKS_MUTEX;
            return i + 2 < frames->count ? i + 2 : frames->count;
        }
        if (found != LOCKS_CLASSES)
            *class = found;
    }
    return i;
}

static void
say_frame(const struct locks *l, const struct resolved_frame *f, FILE *out)
{
    fputs(f->function != 0 ? resolver_text(l->resolver, f->function) : "?",
          out);
    if (f->file != 0)
        fprintf(out, " (%s:%" PRIu32 ")",
                path_base(resolver_text(l->resolver, f->file)), f->line);
}

/* Returns the program's own frames in words, owned by the caller; NULL: no
 * memory. Where all frames are a library's, the outermost one that has a name
 * stands for them. */
static char *
say_frames(const struct locks *l, const struct frames *frames, size_t own)
{
    char *text = NULL;
    size_t size = 0, shown = 0;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    while (own == frames->count && own > 0 &&
           frames->frame[own - 1].function == 0)
        own--;
    if (own == frames->count && own > 0)
        own--;
    for (size_t i = own; i < frames->count && shown < FRAMES_SHOWN; i++) {
        /* Behind a thread's first function come those of the library. */
        if (shown > 0 && is_between(l, &frames->frame[i]))
            break;
        fputs(shown > 0 ? " <- " : "", out);
        say_frame(l, &frames->frame[i], out);
        shown++;
    }
    const bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}

/* Locks */

/* Returns room for one more element of an array, zeroed; NULL: no memory. */
static void *
add_element(void **array, size_t *count, size_t size)
{
    char *more = *array;

    if ((*count & (*count - 1)) == 0) {
        more = realloc(more, (*count != 0 ? 2 * *count : 1) * size);
        if (more == NULL)
            return NULL;
        *array = more;
    }
    memset(more + *count * size, 0, size);
    return more + (*count)++ * size;
}

/* Returns the name of what a wait is for, owned by the caller; NULL: no memory.
 */
static char *
name_lock(const struct locks *l, size_t process,
          const struct record_wait_row *row, enum locks_class class,
          const char *at)
{
    char *name = NULL;
    int length = 0;

    if (row->kind != RECORD_WAITS_FUTEX)
        return strdup(*at != '\0' ? at : "(not known)");
    if (class == LOCKS_JOIN && row->waker != RECORD_NO_NUMBER)
        length = asprintf(&name, "the end of thread %" PRIu32, row->waker);
    else if (row->object == 0)
        length = asprintf(&name, "0x%" PRIx64, row->word);
    else
        return strdup(
            l->objects.rows[l->objects.of[process][row->object]].text);
    return length < 0 ? NULL : name;
}

/* Returns whether a wait is for the lock. */
static bool
is_for(const struct locks_lock *lock, size_t process,
       const struct record_wait_row *row, enum locks_class class,
       const char *name)
{
    return lock->process == process && lock->kind == row->kind &&
           lock->class == class &&
           lock->word / LOCK_BYTES == row->word / LOCK_BYTES &&
           strcmp(lock->name, name) == 0;
}

/* Returns the lock that a wait is for, which is added if it is new and then
 * owns `name`; else `name` is freed. NULL: no memory. */
static struct locks_lock *
find_lock(struct locks *l, size_t process, const struct record_wait_row *row,
          enum locks_class class, char *name)
{
    for (size_t i = 0; i < l->lock_count; i++) {
        if (is_for(&l->locks[i], process, row, class, name)) {
            free(name);
            return &l->locks[i];
        }
    }
    struct locks_lock *const lock =
        add_element((void **)&l->locks, &l->lock_count, sizeof(*lock));
    if (lock == NULL) {
        free(name);
        return NULL;
    }
    lock->kind = row->kind;
    lock->class = class;
    lock->process = (uint32_t)process;
    lock->word = row->word;
    lock->name = name;
    return lock;
}

/* Adds a wait to those of the lock; takes `at` and `by` over. */
static int
add_wait(struct locks_lock *lock, const struct record_wait_row *row, char *at,
         char *by)
{
    struct locks_wait *to = NULL;
    bool new_thread = true;

    for (size_t i = 0; i < lock->wait_count; i++) {
        struct locks_wait *const w = &lock->waits[i];
        new_thread &= w->thread != row->thread;
        if (w->thread == row->thread && w->waker == row->waker &&
            strcmp(w->at, at) == 0 && strcmp(w->by, by) == 0)
            to = w;
    }
    if (to != NULL) {
        free(at);
        free(by);
    } else {
        to = add_element((void **)&lock->waits, &lock->wait_count, sizeof(*to));
        if (to == NULL) {
            free(at);
            free(by);
            return TALLY_ENOMEM;
        }
        *to = (struct locks_wait){
            .thread = row->thread, .waker = row->waker, .at = at, .by = by};
    }
    to->count += row->count;
    to->time += row->time;
    to->longest = row->longest > to->longest ? row->longest : to->longest;
    lock->word = row->word < lock->word ? row->word : lock->word;
    lock->count += row->count;
    lock->time += row->time;
    lock->longest = row->longest > lock->longest ? row->longest : lock->longest;
    lock->thread_count += new_thread;
    return 0;
}

static int
take_wait(struct locks *l, size_t process, const struct record_wait_row *row)
{
    enum locks_class class, other;
    struct frames frames;

    find_frames(l, process, row->path, row->insn, &frames);
    size_t own = find_own(l, &frames, &class);
    char *const at = say_frames(l, &frames, own);
    find_frames(l, process, row->waker_path, row->waker_insn, &frames);
    own = find_own(l, &frames, &other);
    /* The end of a thread is in no function. */
    char *const by =
        class == LOCKS_JOIN ? strdup("") : say_frames(l, &frames, own);
    char *const name =
        at != NULL ? name_lock(l, process, row, class, at) : NULL;
    struct locks_lock *const lock =
        by != NULL && name != NULL ? find_lock(l, process, row, class, name)
                                   : NULL;

    if (lock == NULL) {
        if (by == NULL)
            free(name);
        free(at);
        free(by);
        return TALLY_ENOMEM;
    }
    return add_wait(lock, row, at, by);
}

/* Threads */

static struct locks_thread *
find_thread(struct locks *l, size_t process, uint32_t thread)
{
    for (size_t i = 0; i < l->thread_count; i++) {
        if (l->threads[i].process == process && l->threads[i].thread == thread)
            return &l->threads[i];
    }
    return NULL;
}

static enum locks_state
state_of(enum record_wait_row_kind kind)
{
    return kind == RECORD_WAITS_FUTEX  ? LOCKS_FUTEX
           : kind == RECORD_WAITS_SPIN ? LOCKS_SPINNING
                                       : LOCKS_OTHER;
}

/* Takes the threads of a process with their waits, and the time that they ran:
 * `event` is the event cycles. */
static int
take_threads(struct locks *l, size_t process, size_t event)
{
    const struct record *const record = l->record;
    const struct record_process_row *const p = &record->processes[process];

    for (size_t i = 0; i < p->begin_count; i++) {
        if (find_thread(l, process, p->begins[i].thread) != NULL)
            continue;
        struct locks_thread *const t =
            add_element((void **)&l->threads, &l->thread_count, sizeof(*t));
        if (t == NULL)
            return TALLY_ENOMEM;
        t->process = (uint32_t)process;
        t->thread = p->begins[i].thread;
        t->maker = p->begins[i].maker;
        t->begin = t->end = p->begins[i].time;
    }
    for (size_t i = 0; i < record->thread_count; i++) {
        const struct record_thread_row *const row = &record->threads[i];
        struct locks_thread *const t =
            row->process == process ? find_thread(l, process, row->thread)
                                    : NULL;
        if (t != NULL)
            t->time[LOCKS_RUNNING] += (uint64_t)row->totals[event];
    }
    for (size_t i = 0; i < p->wait_count; i++) {
        const struct record_wait_row *const row = &p->waits[i];
        struct locks_thread *const t = find_thread(l, process, row->thread);
        if (t == NULL)
            continue;
        t->time[state_of(row->kind)] += row->time;
        t->waits += row->kind == RECORD_WAITS_FUTEX ? row->count : 0;
    }
    return 0;
}

/* Adds up the time of threads, and finds how long each process took. */
static void
add_up(struct locks *l)
{
    for (size_t i = 0; i < l->thread_count; i++) {
        struct locks_thread *const t = &l->threads[i];
        uint64_t first = t->begin;
        for (unsigned s = 0; s < LOCKS_STATES; s++) {
            t->end += t->time[s];
            l->time[s] += t->time[s];
        }
        for (size_t k = 0; k < i; k++) {
            if (l->threads[k].process == t->process &&
                l->threads[k].begin < first)
                first = l->threads[k].begin;
        }
        if (t->end - first > l->elapsed)
            l->elapsed = t->end - first;
    }
}

static int
compare_waits(const void *x, const void *y)
{
    const struct locks_wait *a = x, *b = y;

    if (a->time != b->time)
        return a->time < b->time ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->waker != b->waker)
        return a->waker < b->waker ? -1 : 1;
    const int at = strcmp(a->at, b->at);
    return at != 0 ? at : strcmp(a->by, b->by);
}

static int
compare_locks(const void *x, const void *y)
{
    const struct locks_lock *a = x, *b = y;

    if (a->time != b->time)
        return a->time < b->time ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->word != b->word)
        return a->word < b->word ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->class != b->class)
        return a->class < b->class ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Findings */

static double
percent(uint64_t part, uint64_t all)
{
    return all != 0 ? (double)part / (double)all * 100 : 0;
}

static const char *
advice_of(const struct locks_lock *lock)
{
    if (lock->kind == RECORD_WAITS_SPIN)
        return "let it sleep in a lock, or shorten what it waits for";
    switch (lock->class) {
    case LOCKS_CONDITION:
    case LOCKS_SEMAPHORE:
        return "the thread that lets it go on is late: give that thread less "
               "to do, or have more of its kind";
    case LOCKS_BARRIER:
    case LOCKS_OPENMP:
        return "give the threads equal work, or let them meet less often";
    default:
        return "hold it for less, or split it";
    }
}

/* Writes who let most of the waits of a lock go on. */
static void
say_waker(const struct locks_lock *lock, FILE *out)
{
    const struct locks_wait *most = NULL;
    uint64_t top = 0;

    for (size_t i = 0; i < lock->wait_count; i++) {
        uint64_t time = 0;
        const struct locks_wait *const w = &lock->waits[i];
        for (size_t k = 0; k < lock->wait_count; k++) {
            if (lock->waits[k].waker == w->waker &&
                strcmp(lock->waits[k].by, w->by) == 0)
                time += lock->waits[k].time;
        }
        if (time > top && w->waker != RECORD_NO_NUMBER) {
            top = time;
            most = w;
        }
    }
    if (most == NULL)
        return;
    fprintf(out, "; %.0f %% of that until thread %" PRIu32 " %s",
            percent(top, lock->time), most->waker,
            lock->kind == RECORD_WAITS_SPIN ? "had run"
            : lock->class == LOCKS_BARRIER  ? "came"
            : lock->class == LOCKS_MUTEX || lock->class == LOCKS_RWLOCK
                ? "let it go"
                : "woke the others");
    if (*most->by != '\0')
        fprintf(out, " in %s", most->by);
}

static char *
finding_text(const struct locks *l, const struct locks_lock *lock)
{
    char *text = NULL, number[2][40];
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    format_grouped(lock->count, number[0]);
    format_grouped(lock->longest, number[1]);
    if (lock->kind == RECORD_WAITS_SPIN)
        fprintf(out, "%s: %zu thread%s spun %s time%s", lock->name,
                lock->thread_count, lock->thread_count == 1 ? "" : "s",
                number[0], lock->count == 1 ? "" : "s");
    else
        fprintf(out, "%s at %s (0x%" PRIx64 "): %zu thread%s waited %s time%s",
                locks_class_name(lock->class), lock->name, lock->word,
                lock->thread_count, lock->thread_count == 1 ? "" : "s",
                number[0], lock->count == 1 ? "" : "s");
    fprintf(out, ", %.0f %% of all threads' time, at most %s cycles at once",
            percent(lock->time, locks_all(l)), number[1]);
    say_waker(lock, out);
    fprintf(out, ": %s", advice_of(lock));
    const bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}

/* Returns whether a lock is worth a finding: who waits for the end of a thread,
 * or for time, does what it is to do. */
static bool
stands_out(const struct locks *l, const struct locks_lock *lock)
{
    return (lock->kind == RECORD_WAITS_SPIN ||
            (lock->kind == RECORD_WAITS_FUTEX && lock->class != LOCKS_JOIN)) &&
           percent(lock->time, locks_all(l)) >= LEAST_PERCENT;
}

static int
find_findings(struct locks *l)
{
    l->findings = calloc(l->lock_count + 1, sizeof(*l->findings));
    l->finding_locks = calloc(l->lock_count + 1, sizeof(*l->finding_locks));
    if (l->findings == NULL || l->finding_locks == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < l->lock_count; i++) {
        if (!stands_out(l, &l->locks[i]))
            continue;
        char *const text = finding_text(l, &l->locks[i]);
        if (text == NULL)
            return TALLY_ENOMEM;
        l->finding_locks[l->finding_count] = i;
        l->findings[l->finding_count++] = text;
    }
    return 0;
}

/* Returns the index of the event cycles; event_count: the record lacks it. */
static size_t
find_cycles(const struct record *record)
{
    size_t i = 0;

    while (i < record->event_count &&
           strcmp(record->events[i].name, "cycles") != 0 &&
           strcmp(record->events[i].asked, "cycles") != 0)
        i++;
    return i;
}

static int
fill_in(struct locks *l, const struct tally_log *log)
{
    const struct record *const record = l->record;
    const size_t cycles = find_cycles(record);

    if (!record->has_waits || cycles == record->event_count)
        return tally_fail(log, TALLY_EUNKNOWN,
                          "%s does not say what threads wait for: record it "
                          "with tally record --locks",
                          record->path);
    int error = object_names_create(record, l->resolver, &l->objects);
    for (size_t p = 0; error == 0 && p < record->process_count; p++) {
        const struct record_process_row *const row = &record->processes[p];
        l->lost |= row->waits_lost;
        error = take_threads(l, p, cycles);
        for (size_t i = 0; error == 0 && i < row->wait_count; i++) {
            l->outside |= row->waits[i].kind == RECORD_WAITS_OUTSIDE;
            error = take_wait(l, p, &row->waits[i]);
        }
    }
    if (error != 0)
        return tally_fail(log, error,
                          "no memory to find what threads wait for");
    add_up(l);
    for (size_t i = 0; i < l->lock_count; i++)
        qsort(l->locks[i].waits, l->locks[i].wait_count,
              sizeof(*l->locks[i].waits), compare_waits);
    if (l->lock_count > 0)
        qsort(l->locks, l->lock_count, sizeof(*l->locks), compare_locks);
    if (find_findings(l) != 0)
        return tally_fail(log, TALLY_ENOMEM, "no memory for findings");
    return 0;
}

int
locks_create(const struct record *record, struct resolver *resolver,
             const struct tally_log *log, struct locks **result)
{
    struct locks *const l = calloc(1, sizeof(*l));

    if (l == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for a report");
    l->record = record;
    l->resolver = resolver;
    const int error = fill_in(l, log);
    if (error != 0)
        locks_destroy(l);
    else
        *result = l;
    return error;
}

void
locks_destroy(struct locks *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; i < l->lock_count; i++) {
        for (size_t k = 0; k < l->locks[i].wait_count; k++) {
            free(l->locks[i].waits[k].at);
            free(l->locks[i].waits[k].by);
        }
        free(l->locks[i].waits);
        free(l->locks[i].name);
    }
    for (size_t i = 0; i < l->finding_count; i++)
        free(l->findings[i]);
    free(l->findings);
    free(l->finding_locks);
    free(l->locks);
    free(l->threads);
    object_names_finish(&l->objects);
    free(l);
}
