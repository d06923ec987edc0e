/* SPDX-License-Identifier: MIT */
/* Dumps of the profiler's buffers: no lock, no allocation. */
#include "lib/profiler_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/replace.h"

/* A target of text: the descriptor of `text`, or memory. */
struct sink {
    enum dump_form form;
    int fd; /* -1: memory */
    char text[2 * DUMP_LINE_SIZE];
    size_t used;
    char *memory;
    size_t size, length; /* `length` above `size`: the text was cut */
};

static int
write_all(int fd, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t n = write(fd, text, length);
        if (n > 0) {
            text += n;
            length -= (size_t)n;
        } else if (n == 0 || errno != EINTR)
            return TALLY_EIO;
    }
    return 0;
}

/* Writes the text out where it has no room for one more line, or where `all`.
 */
static int
flush(struct sink *s, bool all)
{
    const size_t used = s->used;

    if (!all && sizeof(s->text) - used >= DUMP_LINE_SIZE)
        return 0;
    s->used = 0;
    if (s->fd >= 0)
        return write_all(s->fd, s->text, used);
    if (s->length <= s->size && used <= s->size - s->length)
        memcpy(s->memory + s->length, s->text, used);
    s->length += used;
    return 0;
}

static int
add_record(void *user, const struct dump_record *record)
{
    struct sink *const s = user;
    const int error = flush(s, false);

    if (error == 0)
        s->used += dump_write_record(s->form, record, s->text + s->used);
    return error;
}

/* Writes the names of the machine and its events: in front of the first table,
 * or behind the first line of JSON, which has the schema. */
static int
dump_names(struct sink *s)
{
    int error = flush(s, false);

    if (error == 0)
        s->used +=
            dump_write_machine(s->form, profiler.machine, s->text + s->used);
    for (const struct profiler_name *name = atomic_load(&profiler.names);
         name != NULL && error == 0; name = atomic_load(&name->next)) {
        error = flush(s, false);
        if (error == 0)
            s->used +=
                dump_write_event(s->form, &name->event, s->text + s->used);
    }
    return error == 0 ? flush(s, false) : error;
}

static int
dump_thread(struct sink *s, struct tally_profiler_thread *t, bool first)
{
    uint64_t head = 0;
    int error =
        first && s->form == DUMP_FORM_TABLE ? dump_names(s) : flush(s, false);

    if (error == 0)
        s->used += dump_write_start(s->form, s->text + s->used);
    if (error == 0 && first && s->form == DUMP_FORM_JSON)
        error = dump_names(s);
    if (error == 0)
        error = call_log_walk(&t->log, add_record, s, &head);
    if (error == 0)
        error = flush(s, false);
    if (error == 0)
        s->used += dump_write_end(s->form, s->text + s->used);
    atomic_store_explicit(&t->dumped, head, memory_order_relaxed);
    return error;
}

static void
empty_thread(struct tally_profiler_thread *t)
{
    call_log_empty(&t->log,
                   atomic_load_explicit(&t->dumped, memory_order_relaxed));
}

/* Dumps all threads in the order of their numbers. The list begins with the
 * last thread. */
static int
dump_all(struct sink *s, struct tally_profiler_thread *first)
{
    const uint64_t count = first != NULL ? first->number + 1 : 0;
    int error = 0;

    for (uint64_t i = 0; i < count && error == 0; i++) {
        struct tally_profiler_thread *t = first;
        while (t->number != i)
            t = t->next;
        error = dump_thread(s, t, i == 0);
    }
    return error;
}

static int
dump(struct sink *s, struct tally_profiler_thread *one)
{
    struct tally_profiler_thread *const first =
        atomic_load_explicit(&profiler.threads, memory_order_acquire);
    int error = one != NULL ? dump_thread(s, one, true) : dump_all(s, first);

    if (error == 0)
        error = flush(s, true);
    if (error == 0 && s->fd < 0 && s->length > s->size)
        error = TALLY_ERANGE;
    if (error != 0)
        return error;
    if (one != NULL)
        empty_thread(one);
    else
        for (struct tally_profiler_thread *t = first; t != NULL; t = t->next)
            empty_thread(t);
    return 0;
}

int
tally_profiler_dump_fd(struct tally_profiler_thread *thread, int fd,
                       enum tally_profiler_form form)
{
    struct sink s = {.form = (enum dump_form)form, .fd = fd};

    if (fd < 0) {
        errno = EBADF;
        return TALLY_EIO;
    }
    return dump(&s, thread);
}

int
tally_profiler_dump_file(struct tally_profiler_thread *thread, const char *path,
                         enum tally_profiler_form form)
{
    struct replace file;

    /* Written piece by piece, since part of the dump of a program that dies is
     * worth something. */
    if (replace_open(path, REPLACE_FOLLOW, &profiler.log, &file) != 0)
        return TALLY_EIO;
    int error = tally_profiler_dump_fd(thread, file.fd, form);
    int reason = errno;
    if (replace_commit(&file) != 0 && error == 0) {
        error = TALLY_EIO;
        reason = errno;
    }
    if (error != 0)
        tally_fail(&profiler.log, TALLY_EIO, "cannot write %s: %s", path,
                   strerror(reason));
    return error;
}

int
tally_profiler_dump_memory(struct tally_profiler_thread *thread, char *text,
                           size_t size, size_t *length,
                           enum tally_profiler_form form)
{
    struct sink s = {
        .form = (enum dump_form)form, .fd = -1, .memory = text, .size = size};

    const int error = dump(&s, thread);
    *length = s.length;
    return error;
}

int
tally_profiler_locations_fd(int fd)
{
    int error = 0;

    for (struct tally_profiler_site *site =
             atomic_load_explicit(&profiler.sites, memory_order_acquire);
         site != NULL && error == 0; site = site->next) {
        char text[DUMP_LINE_SIZE];
        if (!profiler_is_known(site))
            error =
                write_all(fd, text, profiler_place(site, text, sizeof(text)));
    }
    return error;
}

#define LOCATIONS "profiler_calls_location.txt"

/* Writes the places into a file that takes the place of `path`. */
static void
replace_places(const char *path)
{
    struct replace file;

    if (replace_open(path, REPLACE_WHOLE, &profiler.log, &file) != 0)
        return;
    if (tally_profiler_locations_fd(file.fd) == 0 && replace_commit(&file) == 0)
        return;
    tally_fail(&profiler.log, TALLY_EIO, "cannot write %s: %s", path,
               strerror(errno));
    replace_discard(&file);
}

/* Writes the places where `tally summarize` looks for them, beside a dump that
 * is a file. Without a call there are no places, and the file of an earlier run
 * stays. */
static void
write_beside(const char *dump_path)
{
    char path[PATH_MAX + sizeof(LOCATIONS)];
    const char *slash = strrchr(dump_path, '/');
    struct stat status;

    if (atomic_load(&profiler.sites) == NULL || stat(dump_path, &status) != 0 ||
        !S_ISREG(status.st_mode))
        return;
    snprintf(path, sizeof(path), "%.*s" LOCATIONS,
             slash != NULL ? (int)(slash - dump_path) + 1 : 0, dump_path);
    replace_places(path);
}

void
profiler_dump_at_exit(void)
{
    char path[PATH_MAX];

    if (profiler.properties.dump_file[0] == '\0' || !profiler.ready ||
        !profiler_path(profiler.properties.dump_file, path, sizeof(path)))
        return;
    if (tally_profiler_dump_file(NULL, path, TALLY_PROFILER_TABLE) == 0)
        write_beside(path);
}
