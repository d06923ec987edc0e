/* SPDX-License-Identifier: MIT */
#include "record/locks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "record/text_line.h"
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

/* Files of libraries whose functions may lack a name in their symbols: a frame
 * there is no more the program's own than one with a name. */
static const char *const libraries[] = {
    "libc.",    "libc-",    "libpthread", "ld-",        "ld.",
    "libgomp.", "libiomp5", "libomp.",    "libstdc++.", "libgcc_s.",
};

/* A frame, and where its function's instruction is. */
struct frame {
    struct resolved_frame is;
    uint32_t image;   /* path, or 0 */
    uint64_t address; /* in the image's file, or in the process */
};

/* Where a thread is: its frames, from the innermost on. */
struct frames {
    struct frame frame[FRAMES_MOST];
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
locks_kind_name(enum record_wait_kind kind)
{
    static const char *const names[] = {
        [RECORD_WAIT_FUTEX] = "futex",     [RECORD_WAIT_THREAD] = "thread",
        [RECORD_WAIT_TIME] = "time",       [RECORD_WAIT_SPIN] = "spin",
        [RECORD_WAIT_OUTSIDE] = "outside",
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

/* Returns the time that threads ran, spun or waited at locks: what they wait
 * for outside, such as a terminal, may take any time. */
static uint64_t
locks_base(const struct locks *l)
{
    return locks_all(l) - l->time[LOCKS_OTHER];
}

/* Places */

static void
add_frames(struct locks *l, size_t process, uint32_t insn, struct frames *to)
{
    const struct resolved *const r = resolver_find(l->resolver, process, insn);

    for (size_t i = 0; i < r->frame_count && to->count < FRAMES_MOST; i++) {
        to->frame[to->count++] = (struct frame){
            .is = r->frames[i],
            .image = r->file_address != UINT64_MAX ? r->image : 0,
            .address = r->file_address != UINT64_MAX
                           ? r->file_address
                           : l->record->processes[process].insns[insn].address,
        };
    }
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
plain_name(const struct locks *l, const struct frame *frame)
{
    const char *name = resolver_text(l->resolver, frame->is.function);

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

/* Returns whether a frame's image is one of the libraries between the program
 * and the system. */
static bool
is_of_library(const struct locks *l, const struct frame *frame)
{
    const char *const image =
        path_base(resolver_text(l->resolver, frame->image));

    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        if (begins(image, libraries[i]))
            return true;
    }
    return false;
}

/* Returns whether a frame's function is between the program and the system: of
 * a library, as names with two underscores are. */
static bool
is_between(const struct locks *l, const struct frame *frame)
{
    const char *const name = plain_name(l, frame);

    if (*name == '\0')
        return is_of_library(l, frame);
    if (class_of(name) != LOCKS_CLASSES ||
        begins(resolver_text(l->resolver, frame->is.function), "__"))
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

/* Writes a frame's function; where no symbol has a name for it, the address of
 * the instruction in its file. */
static void
say_frame(const struct locks *l, const struct frame *f, FILE *out)
{
    if (f->is.function != 0)
        fputs(resolver_text(l->resolver, f->is.function), out);
    else if (f->image != 0)
        fprintf(out, "%s+0x%" PRIx64,
                path_base(resolver_text(l->resolver, f->image)), f->address);
    else
        fprintf(out, "0x%" PRIx64, f->address);
    if (f->is.file != 0)
        fprintf(out, " (%s:%" PRIu32 ")",
                path_base(resolver_text(l->resolver, f->is.file)), f->is.line);
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
           frames->frame[own - 1].is.function == 0)
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

    if (row->kind != RECORD_WAIT_FUTEX)
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

/* A kind of wait of the record, and what is known of it. */
struct taken {
    size_t process;
    size_t index; /* of the row, of all processes */
    const struct record_wait_row *row;
    enum locks_class class;
    char *name, *at, *by; /* owned; NULL: given away */
};

static int
compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Orders by what is waited for: waits that are equal have one lock. */
static int
compare_lock_of(const struct taken *a, const struct taken *b)
{
    int order = compare_numbers(a->process, b->process);

    if (order == 0)
        order = compare_numbers(a->row->kind, b->row->kind);
    if (order == 0)
        order = compare_numbers(a->class, b->class);
    if (order == 0)
        order = compare_numbers(a->row->word / LOCK_BYTES,
                                b->row->word / LOCK_BYTES);
    return order != 0 ? order : strcmp(a->name, b->name);
}

/* Orders by the lock, then by who waits, who lets go, and where. */
static int
compare_taken(const void *x, const void *y)
{
    const struct taken *a = x, *b = y;
    int order = compare_lock_of(a, b);

    if (order == 0)
        order = compare_numbers(a->row->thread, b->row->thread);
    if (order == 0)
        order = compare_numbers(a->row->waker, b->row->waker);
    if (order == 0)
        order = strcmp(a->at, b->at);
    return order != 0 ? order : strcmp(a->by, b->by);
}

static int
take_wait(struct locks *l, size_t process, const struct record_wait_row *row,
          struct taken *taken)
{
    enum locks_class other;
    struct frames frames;

    taken->process = process;
    taken->row = row;
    find_frames(l, process, row->path, row->insn, &frames);
    size_t own = find_own(l, &frames, &taken->class);
    taken->at = say_frames(l, &frames, own);
    find_frames(l, process, row->waker_path, row->waker_insn, &frames);
    own = find_own(l, &frames, &other);
    /* The end of a thread is in no function. */
    taken->by =
        taken->class == LOCKS_JOIN ? strdup("") : say_frames(l, &frames, own);
    if (taken->at == NULL || taken->by == NULL)
        return TALLY_ENOMEM;
    taken->name = name_lock(l, process, row, taken->class, taken->at);
    return taken->name == NULL ? TALLY_ENOMEM : 0;
}

/* Adds a lock. NULL: no memory. */
static struct locks_lock *
add_lock(struct locks *l, struct taken *t)
{
    struct locks_lock *const lock =
        add_element((void **)&l->locks, &l->lock_count, sizeof(*lock));

    if (lock == NULL)
        return NULL;
    lock->kind = t->row->kind;
    lock->class = t->class;
    lock->process = (uint32_t)t->process;
    lock->word = t->row->word;
    lock->name = t->name;
    t->name = NULL;
    return lock;
}

/* Adds a wait to the lock. `like`: it is as the last one; else it has the
 * number `number`. */
static int
add_wait(struct locks_lock *lock, struct taken *t, bool like, size_t number)
{
    const struct record_wait_row *const row = t->row;

    if (!like) {
        struct locks_wait *const w = add_element(
            (void **)&lock->waits, &lock->wait_count, sizeof(*lock->waits));
        if (w == NULL)
            return TALLY_ENOMEM;
        lock->thread_count +=
            lock->wait_count == 1 || w[-1].thread != row->thread;
        *w = (struct locks_wait){.number = number,
                                 .thread = row->thread,
                                 .waker = row->waker,
                                 .at = t->at,
                                 .by = t->by};
        t->at = t->by = NULL;
    }
    struct locks_wait *const to = &lock->waits[lock->wait_count - 1];
    to->count += row->count;
    to->time += row->time;
    to->longest = row->longest > to->longest ? row->longest : to->longest;
    lock->word = row->word < lock->word ? row->word : lock->word;
    lock->count += row->count;
    lock->time += row->time;
    lock->longest = row->longest > lock->longest ? row->longest : lock->longest;
    return 0;
}

/* Makes the locks of waits, which are in order. */
static int
make_locks(struct locks *l, struct taken *taken, size_t count)
{
    struct taken before = {0};
    size_t waits = 0;
    int error = 0;

    for (size_t i = 0; error == 0 && i < count; i++) {
        struct taken *const t = &taken[i];
        /* What the elements before have given away is still there. */
        const struct taken copy = *t;
        const bool new = i == 0 || compare_lock_of(&before, t) != 0;
        const bool like = !new &&compare_taken(&before, t) == 0;
        if (new &&add_lock(l, t) == NULL)
            error = TALLY_ENOMEM;
        else
            error = add_wait(&l->locks[l->lock_count - 1], t, like, waits);
        waits += !like;
        l->wait_numbers[t->index] = waits - 1;
        before = copy;
    }
    return error;
}

/* Takes all waits of the record. */
static int
take_waits(struct locks *l)
{
    const struct record *const record = l->record;
    size_t all = 0, count = 0;
    int error = 0;

    for (size_t p = 0; p < record->process_count; p++)
        all += record->processes[p].wait_count;
    struct taken *const taken = calloc(all + 1, sizeof(*taken));
    l->wait_numbers = calloc(all + 1, sizeof(*l->wait_numbers));
    if (taken == NULL || l->wait_numbers == NULL) {
        free(taken);
        return TALLY_ENOMEM;
    }
    for (size_t p = 0; p < record->process_count; p++) {
        const struct record_process_row *const row = &record->processes[p];
        for (size_t i = 0; error == 0 && i < row->wait_count; i++) {
            taken[count].index = count;
            l->outside |= row->waits[i].kind == RECORD_WAIT_OUTSIDE;
            error = take_wait(l, p, &row->waits[i], &taken[count++]);
        }
    }
    if (error == 0) {
        qsort(taken, count, sizeof(*taken), compare_taken);
        error = make_locks(l, taken, count);
    }
    for (size_t i = 0; i < count; i++) {
        free(taken[i].name);
        free(taken[i].at);
        free(taken[i].by);
    }
    free(taken);
    return error;
}

/* Waits that have not ended */

/* Returns whether a thread waits in a function of a mutex that keeps its owner
 * where the recorded holder was found. */
static bool
keeps_owner(const struct locks *l, const struct frames *frames, size_t own)
{
    for (size_t i = 0; i < own; i++) {
        const char *const name = plain_name(l, &frames->frame[i]);
        if (begins(name, "pthread_mutex_") || begins(name, "mtx_"))
            return true;
    }
    return false;
}

/* Returns the holder that the record tells where it is sure: of a mutex that
 * keeps its owner, and of a join. Of a function that is not known a thread's
 * number in its place can be no chance. */
static uint32_t
sure_holder(const struct record_unended_row *row, enum locks_class class,
            bool owned)
{
    const bool known =
        row->kind == RECORD_WAIT_FUTEX &&
        (owned || ((class == LOCKS_JOIN || class == LOCKS_UNKNOWN) &&
                   row->holder != RECORD_HOLDER_ENDED));

    return known ? row->holder : RECORD_NO_NUMBER;
}

static int
take_unended_row(struct locks *l, size_t process,
                 const struct record_unended_row *row)
{
    struct frames frames;
    struct locks_unended *const u =
        add_element((void **)&l->unended, &l->unended_count, sizeof(*u));

    if (u == NULL)
        return TALLY_ENOMEM;
    u->row = row;
    u->process = (uint32_t)process;
    find_frames(l, process, row->path, row->insn, &frames);
    const size_t own = find_own(l, &frames, &u->class);
    u->holder = sure_holder(row, u->class, keeps_owner(l, &frames, own));
    u->at = say_frames(l, &frames, own);
    if (u->at == NULL)
        return TALLY_ENOMEM;
    const struct record_wait_row like = {.kind = row->kind,
                                         .object = row->object,
                                         .word = row->word,
                                         .waker = u->holder};
    u->name = name_lock(l, process, &like, u->class, u->at);
    return u->name == NULL ? TALLY_ENOMEM : 0;
}

/* Takes the waits of the record that have not ended. */
static int
take_unended(struct locks *l)
{
    const struct record *const record = l->record;
    int error = 0;

    for (size_t p = 0; p < record->process_count; p++) {
        const struct record_process_row *const row = &record->processes[p];
        for (size_t i = 0; error == 0 && i < row->unended_count; i++)
            error = take_unended_row(l, p, &row->unended[i]);
    }
    return error;
}

/* Finds how long these waits were when the last thread of their process ended.
 */
static int
measure_unended(struct locks *l)
{
    uint64_t *const last = calloc(l->record->process_count + 1, sizeof(*last));

    if (last == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < l->thread_count; i++) {
        const struct locks_thread *const t = &l->threads[i];
        if (t->end > last[t->process])
            last[t->process] = t->end;
    }
    for (size_t i = 0; i < l->unended_count; i++) {
        struct locks_unended *const u = &l->unended[i];
        if (last[u->process] > u->row->since)
            u->time = last[u->process] - u->row->since;
    }
    free(last);
    return 0;
}

/* Threads */

/* Orders threads of a process by their numbers, then by when they began. */
static int
compare_threads(const void *x, const void *y)
{
    const struct locks_thread *a = x, *b = y;
    const int order = compare_numbers(a->thread, b->thread);

    return order != 0 ? order : compare_numbers(a->begin, b->begin);
}

static int
compare_thread_numbers(const void *x, const void *y)
{
    const struct locks_thread *a = x, *b = y;

    return compare_numbers(a->thread, b->thread);
}

/* Returns a thread of a process, whose threads are from `first` to before
 * `end`. */
static struct locks_thread *
find_thread(struct locks *l, size_t first, size_t end, uint32_t thread)
{
    const struct locks_thread key = {.thread = thread};

    return end == first ? NULL
                        : bsearch(&key, l->threads + first, end - first,
                                  sizeof(key), compare_thread_numbers);
}

/* Adds the threads of a process, once each. */
static int
add_threads(struct locks *l, size_t process)
{
    const struct record_process_row *const p = &l->record->processes[process];
    const size_t first = l->thread_count;
    size_t kept = first;

    for (size_t i = 0; i < p->begin_count; i++) {
        struct locks_thread *const t =
            add_element((void **)&l->threads, &l->thread_count, sizeof(*t));
        if (t == NULL)
            return TALLY_ENOMEM;
        t->process = (uint32_t)process;
        t->thread = p->begins[i].thread;
        t->maker = p->begins[i].maker;
        t->begin = t->end = p->begins[i].time;
    }
    if (l->thread_count > first)
        qsort(l->threads + first, l->thread_count - first, sizeof(*l->threads),
              compare_threads);
    for (size_t i = first; i < l->thread_count; i++) {
        if (kept == first ||
            l->threads[kept - 1].thread != l->threads[i].thread)
            l->threads[kept++] = l->threads[i];
    }
    l->thread_count = kept;
    return 0;
}

static enum locks_state
state_of(enum record_wait_kind kind)
{
    return kind == RECORD_WAIT_FUTEX  ? LOCKS_FUTEX
           : kind == RECORD_WAIT_SPIN ? LOCKS_SPINNING
                                      : LOCKS_OTHER;
}

/* Takes the threads of a process with their waits, and the time that they ran:
 * `event` is the event cycles. */
static int
take_threads(struct locks *l, size_t process, size_t event)
{
    const struct record *const record = l->record;
    const struct record_process_row *const p = &record->processes[process];

    const size_t first = l->thread_count;
    const int error = add_threads(l, process);

    if (error != 0)
        return error;
    for (size_t i = 0; i < record->thread_count; i++) {
        const struct record_thread_row *const row = &record->threads[i];
        struct locks_thread *const t =
            row->process == process
                ? find_thread(l, first, l->thread_count, row->thread)
                : NULL;
        if (t != NULL)
            t->time[LOCKS_RUNNING] += (uint64_t)row->totals[event];
    }
    for (size_t i = 0; i < p->wait_count; i++) {
        const struct record_wait_row *const row = &p->waits[i];
        struct locks_thread *const t =
            find_thread(l, first, l->thread_count, row->thread);
        if (t == NULL)
            continue;
        t->time[state_of(row->kind)] += row->time;
        t->waits += row->kind == RECORD_WAIT_FUTEX ? row->count : 0;
    }
    return 0;
}

/* Adds up the time of threads, and finds how long each process took. */
static void
add_up(struct locks *l)
{
    uint64_t first = 0, last = 0;

    for (size_t i = 0; i < l->thread_count; i++) {
        struct locks_thread *const t = &l->threads[i];
        for (unsigned s = 0; s < LOCKS_STATES; s++) {
            t->end += t->time[s];
            l->time[s] += t->time[s];
        }
        /* Threads of a process follow each other. */
        const bool next = i == 0 || t->process != t[-1].process;
        first = next || t->begin < first ? t->begin : first;
        last = next || t->end > last ? t->end : last;
        if (last - first > l->elapsed)
            l->elapsed = last - first;
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

/* When threads waited */

static int
compare_stretches(const void *x, const void *y)
{
    const struct locks_stretch *a = x, *b = y;
    const int order = compare_numbers(a->thread, b->thread);

    return order != 0 ? order : compare_numbers(a->begin, b->begin);
}

/* Takes when the threads of a process waited, which are from `first` to before
 * `end`. `numbers`: those of the process's rows of waits. `places`: where a
 * wait is, by its number. */
static void
take_stretches_of(struct locks *l, const struct record_process_row *p,
                  size_t first, size_t end, const size_t *numbers,
                  const struct locks_place *places)
{
    for (size_t i = 0; i < p->stretch_count; i++) {
        const struct record_stretch_row *const row = &p->stretches[i];
        const struct locks_thread *const t =
            find_thread(l, first, end, row->thread);
        if (t == NULL)
            continue;
        struct locks_stretch *const s = &l->stretches[l->stretch_count++];
        s->thread = (size_t)(t - l->threads);
        s->begin = row->begin;
        s->end = row->end;
        s->count = row->count;
        if (row->wait != RECORD_NO_NUMBER)
            s->longest = places[numbers[row->wait]];
        for (unsigned k = 1; k < RECORD_WAIT_KINDS; k++)
            s->time[state_of((enum record_wait_kind)k)] += row->time[k];
    }
}

/* Returns where each wait is, by its number, for the caller to free; NULL: no
 * memory. */
static struct locks_place *
find_places(const struct locks *l)
{
    size_t waits = 0;

    for (size_t i = 0; i < l->lock_count; i++)
        waits += l->locks[i].wait_count;
    struct locks_place *const places = calloc(waits + 1, sizeof(*places));
    if (places == NULL)
        return NULL;
    for (size_t i = 0; i < l->lock_count; i++) {
        for (size_t k = 0; k < l->locks[i].wait_count; k++)
            places[l->locks[i].waits[k].number] =
                (struct locks_place){.known = true, .lock = i, .wait = k};
    }
    return places;
}

/* Takes when threads waited, once locks, waits and threads are in their order.
 */
static int
take_stretches(struct locks *l)
{
    const struct record *const record = l->record;
    size_t all = 0, row = 0, thread = 0;

    for (size_t p = 0; p < record->process_count; p++)
        all += record->processes[p].stretch_count;
    struct locks_place *const places = find_places(l);
    l->stretches = calloc(all + 1, sizeof(*l->stretches));
    if (places == NULL || l->stretches == NULL) {
        free(places);
        return TALLY_ENOMEM;
    }
    for (size_t p = 0; p < record->process_count; p++) {
        const size_t first = thread;
        while (thread < l->thread_count && l->threads[thread].process == p)
            thread++;
        take_stretches_of(l, &record->processes[p], first, thread,
                          l->wait_numbers + row, places);
        row += record->processes[p].wait_count;
    }
    free(places);
    if (l->stretch_count > 0)
        qsort(l->stretches, l->stretch_count, sizeof(*l->stretches),
              compare_stretches);
    return 0;
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
    if (lock->kind == RECORD_WAIT_SPIN)
        return "let it sleep in a lock, or shorten what it waits for";
    switch (lock->class) {
    case LOCKS_CONDITION:
    case LOCKS_SEMAPHORE:
        return "the thread that lets it go on is late: give that thread less "
               "to do, or have more of its kind";
    case LOCKS_BARRIER:
    case LOCKS_OPENMP:
        return "give the threads equal work, or let them meet less often";
    case LOCKS_MUTEX:
    case LOCKS_RWLOCK:
        return "hold it for less, or split it";
    default:
        return "have the thread that lets others go on do so sooner, or wait "
               "less often";
    }
}

/* Orders waits by who let them go on, and where. */
static int
compare_wakers(const void *x, const void *y)
{
    const struct locks_wait *a = *(const struct locks_wait *const *)x,
                            *b = *(const struct locks_wait *const *)y;
    const int order = compare_numbers(a->waker, b->waker);

    return order != 0 ? order : strcmp(a->by, b->by);
}

/* Writes who let most of the waits of a lock go on. */
static void
say_waker(const struct locks_lock *lock, FILE *out)
{
    const struct locks_wait *most = NULL;
    const struct locks_wait **const order =
        calloc(lock->wait_count + 1, sizeof(struct locks_wait *));
    uint64_t top = 0, time = 0;

    if (order == NULL)
        return;
    for (size_t i = 0; i < lock->wait_count; i++)
        order[i] = &lock->waits[i];
    qsort(order, lock->wait_count, sizeof(struct locks_wait *), compare_wakers);
    for (size_t i = 0; i < lock->wait_count; i++) {
        if (i > 0 && compare_wakers(&order[i - 1], &order[i]) != 0)
            time = 0;
        time += order[i]->time;
        if (time > top && order[i]->waker != RECORD_NO_NUMBER) {
            top = time;
            most = order[i];
        }
    }
    free(order);
    if (most == NULL)
        return;
    fputs("; ", out);
    text_percent((double)top, (double)lock->time, out);
    fprintf(out, " of that until thread %" PRIu32 " %s", most->waker,
            lock->kind == RECORD_WAIT_SPIN ? "had run"
            : lock->class == LOCKS_BARRIER ? "came"
            : lock->class == LOCKS_MUTEX || lock->class == LOCKS_RWLOCK
                ? "let it go"
                : "let them go on");
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
    if (lock->kind == RECORD_WAIT_SPIN)
        fprintf(out, "%s: %zu thread%s spun %s time%s", lock->name,
                lock->thread_count, lock->thread_count == 1 ? "" : "s",
                number[0], lock->count == 1 ? "" : "s");
    else
        fprintf(out, "%s at %s (0x%" PRIx64 "): %zu thread%s waited %s time%s",
                locks_class_name(lock->class), lock->name, lock->word,
                lock->thread_count, lock->thread_count == 1 ? "" : "s",
                number[0], lock->count == 1 ? "" : "s");
    fputs(", ", out);
    text_percent((double)lock->time, (double)locks_base(l), out);
    fprintf(out, " of the threads' time, at most %s cycles at once", number[1]);
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
    return (lock->kind == RECORD_WAIT_SPIN ||
            (lock->kind == RECORD_WAIT_FUTEX && lock->class != LOCKS_JOIN)) &&
           percent(lock->time, locks_base(l)) >= LEAST_PERCENT;
}

struct locks_finding *
locks_add_finding(struct locks *l)
{
    return add_element((void **)&l->findings, &l->finding_count,
                       sizeof(*l->findings));
}

static int
find_findings(struct locks *l)
{
    const int error = locks_find_deadlocks(l);

    if (error != 0)
        return error;
    for (size_t i = 0; i < l->lock_count; i++) {
        if (!stands_out(l, &l->locks[i]))
            continue;
        struct locks_finding *const f = locks_add_finding(l);
        if (f == NULL)
            return TALLY_ENOMEM;
        f->kind = LOCKS_WAITS;
        f->lock = i;
        f->text = finding_text(l, &l->locks[i]);
        if (f->text == NULL)
            return TALLY_ENOMEM;
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
    }
    if (error == 0)
        error = take_waits(l);
    if (error == 0)
        error = take_unended(l);
    if (error != 0)
        return tally_fail(log, error,
                          "no memory to find what threads wait for");
    add_up(l);
    for (size_t i = 0; i < l->lock_count; i++)
        qsort(l->locks[i].waits, l->locks[i].wait_count,
              sizeof(*l->locks[i].waits), compare_waits);
    if (l->lock_count > 0)
        qsort(l->locks, l->lock_count, sizeof(*l->locks), compare_locks);
    if (take_stretches(l) != 0)
        return tally_fail(log, TALLY_ENOMEM, "no memory for when threads wait");
    if (measure_unended(l) != 0 || find_findings(l) != 0)
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
    for (size_t i = 0; i < l->finding_count; i++) {
        free(l->findings[i].text);
        free(l->findings[i].unended);
    }
    free(l->findings);
    for (size_t i = 0; i < l->unended_count; i++) {
        free(l->unended[i].name);
        free(l->unended[i].at);
    }
    free(l->unended);
    free(l->locks);
    free(l->stretches);
    free(l->wait_numbers);
    free(l->threads);
    object_names_finish(&l->objects);
    free(l);
}
