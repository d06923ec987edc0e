/* SPDX-License-Identifier: MIT */
#include "cli/check_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/command.h"
#include "cli/scratch.h"
#include "cli/words.h"
#include "record/crc32c.h"

/* What a run is started with */

/* Makes the command line of a run: tally record of the benchmark. */
static void
make_words(const struct check_run *run, struct words *w)
{
    const struct check_program *const p = run->program;
    char *events = NULL;
    size_t size;
    FILE *const list = open_memstream(&events, &size);

    for (size_t i = 0; list != NULL && i < p->event_count; i++)
        fprintf(list, "%s%s", i > 0 ? "," : "", p->events[i]);
    if (list == NULL || fclose(list) != 0)
        w->failed = true;
    /* The names are read of the files, once for all runs. */
    words_add_all(w, (const char *const[]){"tally", "record", "--quiet",
                                           "--no-callers", "--no-names",
                                           "--clean-env", NULL});
    words_addf(w, "--machine=%s", p->machine);
    words_addf(w, "--event=%s", events != NULL ? events : "");
    if (p->has_layouts)
        words_addf(w, "--set=layout=%u", run->layout);
    for (char *const *v = p->variables; v != NULL && *v != NULL; v++)
        words_addf(w, "--env=%s", *v);
    words_addf(w, "--output=/dev/fd/%d", run->record);
    words_add(w, "--");
    words_add_all(w, (const char *const *)p->argv);
    free(events);
}

/* Sets why a run is of no use. */
__attribute__((format(printf, 3, 4))) static void
fail(struct check_run *run, int status, const char *format, ...)
{
    va_list arguments;

    run->status = status;
    va_start(arguments, format);
    if (vasprintf(&run->reason, format, arguments) < 0)
        run->reason = NULL;
    va_end(arguments);
}

static void
close_files(struct check_run *run)
{
    int *const files[] = {&run->record, &run->out, &run->err};

    for (unsigned i = 0; i < 3; i++) {
        if (*files[i] >= 0)
            close(*files[i]);
        *files[i] = -1;
    }
}

static void
start(struct check_run *run)
{
    struct words w = {0};

    run->tried = true;
    run->pid = 0;
    run->began = child_clock();
    run->record = scratch_open();
    run->out = scratch_open();
    run->err = scratch_open();
    if (run->record < 0 || run->out < 0 || run->err < 0) {
        fail(run, EXIT_OURS,
             "cannot make a file for its run: %s; TMPDIR names "
             "another folder",
             strerror(errno));
        return;
    }
    make_words(run, &w);
    if (!w.failed)
        run->pid = fork();
    if (run->pid == 0 && !w.failed) {
        /* The others' and our own are closed on execution. */
        fcntl(run->record, F_SETFD, 0);
        _exit(child_execute(CHILD_SELF, w.word, run->program->directory,
                            run->program->input, run->out, run->err));
    }
    if (run->pid > 0)
        setpgid(run->pid, run->pid);
    if (w.failed || run->pid < 0)
        fail(run, EXIT_OURS, "cannot start its run: %s",
             strerror(w.failed ? ENOMEM : errno));
    words_finish(&w);
}

/* What a run has left */

/* Returns what a file holds in words, for the caller to free; NULL: no memory.
 */
static char *
describe_output(int fd)
{
    unsigned char bytes[32768];
    uint32_t crc = 0;
    uint64_t size = 0;
    char *text = NULL;
    ssize_t n;

    lseek(fd, 0, SEEK_SET);
    while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
        crc = crc32c(crc, bytes, (size_t)n);
        size += (uint64_t)n;
    }
    return asprintf(&text, "%" PRIu64 " bytes, crc32c %08" PRIx32, size, crc) <
                   0
               ? NULL
               : text;
}

/* Says that the program ended by a signal or with another status than 0, and
 * what it said last. */
static void
fail_ended(struct check_run *run)
{
    const int status = run->sample.status;
    char *const line = child_last_line(run->err);
    const char *const said = line != NULL ? line : "";
    const char *const colon = line != NULL ? ": " : "";

    if (WIFSIGNALED(status))
        fail(run, CHECK_EXIT_FAILED, "was killed by SIG%s%s%s",
             sigabbrev_np(WTERMSIG(status)), colon, said);
    else
        fail(run, CHECK_EXIT_FAILED, "ended with status %d%s%s",
             WEXITSTATUS(status), colon, said);
    free(line);
}

/* Of a run that left no record: says what tally record said. */
static void
fail_unrecorded(struct check_run *run, int ended)
{
    static const char *const prefixes[] = {"tally record: ", "tally: "};
    char *const line = child_last_line(run->err);
    const char *said = line;
    const bool usage = WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_USAGE;

    for (size_t i = 0; said != NULL && i < 2; i++) {
        if (strncmp(said, prefixes[i], strlen(prefixes[i])) == 0)
            said += strlen(prefixes[i]);
    }
    fail(run,
         usage ? EXIT_USAGE
         : WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_OURS
             ? EXIT_OURS
             : CHECK_EXIT_FAILED,
         "%s",
         said != NULL
             ? said
             : "left no record of its run; is the folder of TMPDIR full?");
    free(line);
}

static void
end(struct check_run *run, int ended, struct names *files)
{
    struct record *record = NULL;

    run->seconds = child_clock() - run->began;
    /* What the benchmark has left running would disturb the others. */
    kill(-run->pid, SIGKILL);
    run->pid = 0;
    run->output = describe_output(run->out);
    if (run->expired) {
        fail(run, CHECK_EXIT_FAILED, "ran for longer than its timeout, %g s",
             run->program->timeout);
        close_files(run);
        return;
    }
    if (lseek(run->record, 0, SEEK_END) <= 0 ||
        (WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_OURS)) {
        fail_unrecorded(run, ended);
        close_files(run);
        return;
    }
    lseek(run->record, 0, SEEK_SET);
    const int error = record_open_fd(dup(run->record), "the record of its run",
                                     NULL, &record);
    if (error == 0 &&
        check_sample_read(record, run->program->events,
                          run->program->event_count, files, &command_log,
                          &run->sample) == 0 &&
        run->output != NULL) {
        run->status = 0;
        if (!run->sample.whole)
            fail(run, CHECK_EXIT_FAILED, "was cut short");
        else if (run->sample.status != 0)
            fail_ended(run);
    } else {
        fail(run, EXIT_OURS,
             "the record of its run could not be read: is the "
             "folder of TMPDIR full?");
    }
    record_close(record);
    close_files(run);
}

/* All runs */

/* Waits for a child to end. Returns its run, or NULL: none of ours has ended.
 */
static struct check_run *
reap(struct check_run *runs, size_t count, struct names *files)
{
    int ended;
    const pid_t pid = waitpid(-1, &ended, WNOHANG);

    for (size_t i = 0; pid > 0 && i < count; i++) {
        if (runs[i].pid == pid) {
            end(&runs[i], ended, files);
            return &runs[i];
        }
    }
    return NULL;
}

/* Ends the runs that are over their time. Returns the seconds until the next
 * may be; infinity where none ever is. */
static double
expire(struct check_run *runs, size_t count)
{
    double next = INFINITY;

    for (size_t i = 0; i < count; i++) {
        const double timeout = runs[i].program->timeout;
        const double left = runs[i].began + timeout - child_clock();
        if (runs[i].pid <= 0 || timeout <= 0 || runs[i].expired)
            continue;
        if (left <= 0) {
            runs[i].expired = true;
            kill(-runs[i].pid, SIGKILL);
        } else if (left < next) {
            next = left;
        }
    }
    return next;
}

static pid_t *
pid_of(void *user, size_t i)
{
    return &((struct check_run *)user)[i].pid;
}

/* Notes that a run was ended before it was done. */
static void
drop(void *user, size_t i)
{
    struct check_run *const run = &((struct check_run *)user)[i];

    run->tried = false;
    close_files(run);
}

int
check_runs(struct check_run *runs, size_t count, unsigned jobs,
           check_progress *progress, void *user)
{
    size_t next = 0, left = count, running = 0;
    sigset_t before;
    const sigset_t set = child_block_signals(&before);
    struct names *files = NULL;
    int number = 0;

    /* Without memory for it, each run reads its files anew. */
    if (names_create(NULL, &command_log, &files) != 0)
        files = NULL;

    while (left > 0 && number == 0) {
        while (running < jobs && next < count) {
            start(&runs[next]);
            if (runs[next].pid > 0)
                running++;
            else
                left--;
            next++;
        }
        struct check_run *run;
        while ((run = reap(runs, next, files)) != NULL) {
            running--;
            left--;
            progress(user, run);
        }
        if (left == 0 || (running < jobs && next < count))
            continue;
        number = child_wait_signal(&set, expire(runs, next));
    }
    if (number != 0)
        child_end_all(&(struct child_list){next, pid_of, drop, runs}, &set,
                      number);
    names_destroy(files);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return number;
}

void
check_run_finish(struct check_run *run)
{
    check_sample_finish(&run->sample);
    free(run->reason);
    free(run->output);
    run->reason = run->output = NULL;
}

/* Waits for a command of a process group of its own. A signal that asks tally
 * to end ends the group, and then tally: nothing has been counted yet. */
static int
wait_command(pid_t pid)
{
    sigset_t before;
    const sigset_t set = child_block_signals(&before);
    int status = 0, number = 0;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        const int more = child_wait_signal(
            &set, number != 0 ? CHILD_GRACE_SECONDS : INFINITY);
        if (number != 0 && waitpid(pid, &status, WNOHANG) == 0)
            kill(-pid, SIGKILL);
        else if (more != 0)
            kill(-pid, number = more);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (number == 0)
        return status;
    fprintf(stderr,
            "tally check: ended by SIG%s; nothing is compared or written\n",
            sigabbrev_np(number));
    raise(number);
    return status;
}

/* In the child of check_command(): executes; tells by the pipe, which execution
 * closes, why that did not work. */
static int
execute_command(char *const *argv, const char *directory, int out, int told)
{
    const struct rlimit most = {CHECK_LIST_MOST, CHECK_LIST_MOST};

    if (out >= 0)
        setrlimit(RLIMIT_FSIZE, &most);
    const int status =
        child_execute(argv[0], argv, directory, NULL,
                      out >= 0 ? out : STDERR_FILENO, STDERR_FILENO);
    const int cause = errno;
    (void)!write(told, &cause, sizeof(cause));
    return status;
}

int
check_command(char *const *argv, const char *directory, int out, char **reason)
{
    int told[2] = {-1, -1}, cause = 0, made;
    const pid_t pid = pipe2(told, O_CLOEXEC) == 0 ? fork() : -1;
    const int failure = errno;

    *reason = NULL;
    if (pid == 0)
        _exit(execute_command(argv, directory, out, told[1]));
    if (told[1] >= 0)
        close(told[1]);
    if (pid > 0)
        setpgid(pid, pid);
    const int status = pid > 0 ? wait_command(pid) : 0;
    if (told[0] >= 0) {
        if (read(told[0], &cause, sizeof(cause)) != sizeof(cause))
            cause = 0;
        close(told[0]);
    }
    if (pid > 0 && status == 0)
        return 0;
    if (pid < 0 || cause != 0)
        made = asprintf(reason, "cannot run %s: %s", argv[0],
                        strerror(pid < 0 ? failure : cause));
    else if (out >= 0 && lseek(out, 0, SEEK_END) >= (off_t)CHECK_LIST_MOST)
        made = asprintf(reason, "%s lists 1 MiB or more", argv[0]);
    else if (WIFSIGNALED(status))
        made = asprintf(reason, "%s was killed by SIG%s", argv[0],
                        sigabbrev_np(WTERMSIG(status)));
    else
        made = asprintf(reason, "%s ended with status %d", argv[0],
                        WEXITSTATUS(status));
    if (made < 0)
        *reason = NULL;
    return -1;
}
