/* SPDX-License-Identifier: MIT */
#include "cli/trace_replay.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/command.h"
#include "cli/scratch.h"
#include "cli/trace_words.h"
#include "cli/words.h"
#include "trace/trace_reader.h"

/* The count of a trace on one machine, by a child. */
struct replay {
    const char *machine;
    pid_t pid;    /* 0: it does not run */
    int out, err; /* files that the child writes to; -1: none */
    bool ended;
    int status; /* then; of tally */
};

struct replays {
    struct replay *all;
    size_t count, started, written;
};

static struct words
words_of(const struct trace_replaying *r, const char *machine)
{
    struct words w = {0};

    words_add_all(&w, (const char *const[]){"tally", "count", NULL});
    if (machine != NULL)
        words_addf(&w, "--machine=%s", machine);
    if (r->events != NULL)
        words_addf(&w, "--event=%s", r->events);
    if (r->metrics != NULL)
        words_addf(&w, "--metrics=%s", r->metrics);
    if (r->format != NULL)
        words_addf(&w, "--format=%s", r->format);
    for (size_t i = 0; i < r->model->set_count; i++)
        words_addf(&w, "--set=%s", r->model->sets[i]);
    if (r->model->foreign)
        words_add(&w, "--foreign");
    return w;
}

/* Adds what ends each command, and checks that all words are there. */
static bool
finish_words(struct words *w, const char *trace)
{
    words_add(w, "--");
    words_add(w, trace);
    return !w->failed;
}

/* Counts on one machine, NULL: the program's, in this process. */
static int
count_alone(const struct trace_replaying *r, const char *machine,
            const char *trace)
{
    struct words w = words_of(r, machine);
    const int status = finish_words(&w, trace)
                           ? command_count.run((int)w.count - 1, w.word + 1)
                           : command_no_memory();

    words_finish(&w);
    return status;
}

/* Begins a count in a child. */
static void
start(const struct trace_replaying *r, struct replay *p, const char *trace)
{
    struct words w = words_of(r, p->machine);

    if (command_color(NULL, stderr) == 1)
        words_add(&w, "--color=always");
    p->out = scratch_open();
    p->err = scratch_open();
    p->pid = !finish_words(&w, trace) || p->out < 0 || p->err < 0 ? -1 : fork();
    if (p->pid == 0)
        _exit(child_execute(CHILD_SELF, w.word, NULL, NULL, p->out, p->err));
    if (p->pid > 0) {
        setpgid(p->pid, p->pid);
    } else {
        p->pid = 0;
        p->ended = true;
        p->status = EXIT_OURS;
        fprintf(stderr, "tally trace replay: %s: the count cannot be started\n",
                p->machine);
    }
    words_finish(&w);
}

static void
close_files(struct replay *p)
{
    if (p->out >= 0)
        close(p->out);
    if (p->err >= 0)
        close(p->err);
    p->out = p->err = -1;
}

/* Writes what a child has written. */
static void
copy(int fd, FILE *to)
{
    char bytes[16384];
    ssize_t n;

    if (fd < 0)
        return;
    lseek(fd, 0, SEEK_SET);
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        fwrite(bytes, 1, (size_t)n, to);
    fflush(to);
}

/* Notes which children have ended, and writes the reports whose turn it is. */
static bool
reap(struct replays *r)
{
    bool any = false;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        for (size_t i = 0; i < r->started; i++) {
            if (r->all[i].pid != pid)
                continue;
            r->all[i].pid = 0;
            r->all[i].ended = any = true;
            r->all[i].status = command_status(status);
        }
    }
    while (r->written < r->started && r->all[r->written].ended) {
        struct replay *const p = &r->all[r->written++];
        copy(p->out, stdout);
        copy(p->err, stderr);
        close_files(p);
    }
    return any;
}

static pid_t *
pid_of(void *user, size_t i)
{
    return &((struct replays *)user)->all[i].pid;
}

static void
drop(void *user, size_t i)
{
    close_files(&((struct replays *)user)->all[i]);
}

/* The processors that this process may use. */
static size_t
processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0
               ? (size_t)CPU_COUNT(&set)
               : 1;
}

static size_t
running(const struct replays *r)
{
    size_t n = 0;

    for (size_t i = 0; i < r->started; i++)
        n += r->all[i].pid != 0;
    return n;
}

/* Counts on all machines. Returns a status. */
static int
count_all(const struct trace_replaying *r, struct replays *all,
          const char *trace)
{
    const size_t most = processors();
    sigset_t before;
    const sigset_t set = child_block_signals(&before);
    int number = 0, status = 0;

    while (number == 0 && all->written < all->count) {
        while (all->started < all->count && running(all) < most)
            start(r, &all->all[all->started++], trace);
        if (!reap(all) && running(all) > 0)
            number = child_wait_signal(&set, INFINITY);
    }
    if (number != 0) {
        child_end_all(&(struct child_list){all->started, pid_of, drop, all},
                      &set, number);
        fprintf(stderr,
                "tally trace replay: interrupted: %zu of %zu machines "
                "have counted\n",
                all->written, all->count);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    for (size_t i = 0; i < all->count && status == 0; i++)
        status = all->all[i].status;
    return number != 0 ? 128 + number : status;
}

/* Takes the names apart, and refuses a wrong one before any machine counts. */
static int
take_names(char *names, struct replays *all)
{
    int status = 0;

    for (char *name; status == 0 && (name = strsep(&names, ",")) != NULL;) {
        const struct machine_row *machine;
        status = command_machine(name, &machine);
        all->all[all->count++] =
            (struct replay){.machine = name, .out = -1, .err = -1};
    }
    return status;
}

/* A machine that cannot count the trace, or a program that had failed, ends no
 * other machine's counting. */
int
trace_replay(const struct trace_replaying *r, char *trace)
{
    char *const names = r->machines != NULL ? strdup(r->machines) : NULL;
    struct replays all = {0};

    if (r->machines == NULL)
        return count_alone(r, NULL, trace);
    all.all = calloc(strlen(r->machines) + 1, sizeof(*all.all));
    int status = names == NULL || all.all == NULL ? command_no_memory()
                                                  : take_names(names, &all);
    if (status == 0)
        status = all.count == 1 ? count_alone(r, all.all[0].machine, trace)
                                : count_all(r, &all, trace);
    free(all.all);
    free(names);
    return status;
}
