/* SPDX-License-Identifier: MIT */
#include "cli/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/scratch.h"
#include "cli/words.h"

/* The most tasks of an array job: Slurm's default for MaxArraySize is 1,001. A
 * task runs several commands where there are more. */
#define TASKS_MOST 1000u

/* Writes a word so that a shell reads it as it is. */
static void
write_quoted(FILE *out, const char *word)
{
    putc('\'', out);
    for (; *word != '\0'; word++) {
        if (*word == '\'')
            fputs("'\\''", out);
        else
            putc(*word, out);
    }
    putc('\'', out);
}

/* Writes the script of a command, which runs in the folder `here`. Returns 0 or
 * TALLY_EIO with errno. */
static int
write_script(const struct batch *b, size_t number, char *const *words,
             const char *here, FILE *out)
{
    char self[PATH_MAX];
    const ssize_t n = readlink(CHILD_SELF, self, sizeof(self) - 1);

    if (n < 0)
        return TALLY_EIO;
    self[n] = '\0';
    fprintf(out,
            "#!/bin/sh\n# A run of tally sweep. Its errors are in %04zu.err.\n"
            "exec </dev/null >/dev/null 2>",
            number);
    write_quoted(out, b->folder);
    fprintf(out, "/%04zu.err", number);
    fputs("\ncd ", out);
    write_quoted(out, here);
    fputs(" || exit\nexec ", out);
    write_quoted(out, self);
    for (words++; *words != NULL; words++) {
        fputs(" \\\n    ", out);
        write_quoted(out, *words);
    }
    return putc('\n', out) != EOF ? 0 : TALLY_EIO;
}

int
batch_add(struct batch *b, size_t number, char *const *words)
{
    size_t *const more =
        realloc(b->numbers, (b->count + 1) * sizeof(*b->numbers));
    char *const here = getcwd(NULL, 0);
    char *path = NULL;
    int status = 0;

    if (more != NULL)
        b->numbers = more;
    if (more == NULL || here == NULL ||
        asprintf(&path, "%s/%04zu.sh", b->folder, number) < 0) {
        path = NULL;
        status = command_no_memory();
    }
    struct output out;
    if (status == 0)
        status = output_open(path, REPLACE_WHOLE, &out);
    if (status == 0 &&
        output_end(&out, write_script(b, number, words, here, out.file)) != 0)
        status = output_unwritten(path);
    if (status == 0)
        b->numbers[b->count++] = number;
    free(path);
    free(here);
    return status;
}

static size_t
tasks_of(const struct batch *b)
{
    return b->count < TASKS_MOST ? b->count : TASKS_MOST;
}

/* Writes the script that each task of Slurm's array runs. */
static int
write_job(const struct batch *b, FILE *out)
{
    fputs("#!/bin/sh\n# Task T of N runs the commands T, T + N, T + 2 N ... of "
          "these.\ni=0\nfor n in",
          out);
    for (size_t i = 0; i < b->count; i++)
        fprintf(out, " %04zu", b->numbers[i]);
    fprintf(
        out,
        "; do\n    if [ $((i %% %zu)) -eq \"$SLURM_ARRAY_TASK_ID\" ]; then\n"
        "        sh ",
        tasks_of(b));
    write_quoted(out, b->folder);
    fputs("/\"$n\".sh\n    fi\n    i=$((i + 1))\ndone\n", out);
    return fputs("exit 0\n", out) >= 0 ? 0 : TALLY_EIO;
}

/* Adds where the tasks write, in whose name Slurm reads %. */
static void
add_output(const struct batch *b, struct words *w)
{
    char *name = NULL;
    size_t size;
    FILE *const out = open_memstream(&name, &size);

    if (out == NULL) {
        w->failed = true;
        return;
    }
    for (const char *at = b->folder; *at != '\0'; at++) {
        if (*at == '%')
            putc('%', out);
        putc(*at, out);
    }
    w->failed |= fclose(out) != 0;
    words_addf(w, "--output=%s/task-%%a.out", name);
    free(name);
}

/* Makes the script of the job, and the command line of sbatch. Returns 0, or a
 * status after saying why. */
static int
words_of_slurm(const struct batch *b, struct words *w)
{
    char *path = NULL;
    struct output out;

    if (asprintf(&path, "%s/job.sh", b->folder) < 0)
        return command_no_memory();
    int status = output_open(path, REPLACE_WHOLE, &out);
    if (status == 0 && output_end(&out, write_job(b, out.file)) != 0)
        status = output_unwritten(path);
    words_add_all(w, (const char *const[]){
                         "sbatch", "--wait", "--parsable", "--requeue",
                         "--job-name=tally-sweep", "--input=/dev/null", NULL});
    words_addf(w, "--array=0-%zu", tasks_of(b) - 1);
    add_output(b, w);
    words_add(w, path);
    free(path);
    return status;
}

/* Makes the command line of GNU parallel, which quotes the paths for a shell
 * and, in its first word, would replace {} in the folder's name. */
static void
words_of_parallel(const struct batch *b, struct words *w)
{
    words_add_all(w, (const char *const[]){"parallel", "sh", ":::", NULL});
    for (size_t i = 0; i < b->count; i++)
        words_addf(w, "%s/%04zu.sh", b->folder, b->numbers[i]);
}

int
batch_start(struct batch *b)
{
    struct words w = {0};
    int status = 0;

    if (b->by == BATCH_SLURM)
        status = words_of_slurm(b, &w);
    else
        words_of_parallel(b, &w);

    b->out = scratch_open();
    b->err = scratch_open();
    if (status == 0 && w.failed)
        status = command_no_memory();
    if (status == 0)
        b->pid = b->out < 0 || b->err < 0 ? -1 : fork();
    if (status == 0 && b->pid == 0)
        _exit(child_execute(w.word[0], w.word, NULL, NULL, b->out, b->err));
    if (b->pid > 0)
        setpgid(b->pid, b->pid);
    if (b->pid < 0) {
        fprintf(stderr, "tally: cannot start %s: %s\n", w.word[0],
                strerror(errno));
        b->pid = 0;
        status = EXIT_OURS;
    }
    words_finish(&w);
    return status;
}

bool
batch_ended(struct batch *b, int *status)
{
    if (b->pid != 0 && waitpid(b->pid, status, WNOHANG) == b->pid)
        b->pid = 0;
    return b->pid == 0;
}

/* Has Slurm end the job that sbatch has named on its output, "NUMBER" or
 * "NUMBER;CLUSTER". */
static void
cancel_slurm(const struct batch *b)
{
    char name[64];
    const ssize_t n = pread(b->out, name, sizeof(name) - 1, 0);

    if (n <= 0)
        return;
    name[n] = '\0';
    name[strspn(name, "0123456789")] = '\0';
    char *const words[] = {"scancel", name, NULL};
    const pid_t pid = *name != '\0' ? fork() : -1;
    if (pid == 0)
        _exit(child_execute(words[0], words, NULL, NULL, b->err, b->err));
    if (pid > 0)
        waitpid(pid, NULL, 0);
}

static pid_t *
pid_of(void *user, size_t i)
{
    (void)i;
    return &((struct batch *)user)->pid;
}

static void
ended(void *user, size_t i)
{
    (void)user;
    (void)i;
}

void
batch_cancel(struct batch *b, const sigset_t *set, int number)
{
    if (b->by == BATCH_SLURM)
        cancel_slurm(b);
    /* GNU parallel waits for its jobs at the first TERM, and ends them at the
     * second. */
    if (b->by == BATCH_PARALLEL && b->pid > 0)
        kill(b->pid, SIGTERM);
    child_end_all(&(struct child_list){1, pid_of, ended, b}, set,
                  b->by == BATCH_PARALLEL ? SIGTERM : number);
}

/* Returns the last line of a file of the folder, for the caller to free. */
static char *
last_line_of(const char *path)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    char *const line = fd >= 0 ? child_last_line(fd) : NULL;

    if (fd >= 0)
        close(fd);
    return line;
}

char *
batch_said(const struct batch *b, size_t number)
{
    char *path = NULL, *line = NULL;
    size_t place = 0;

    if (asprintf(&path, "%s/%04zu.err", b->folder, number) >= 0)
        line = last_line_of(path);
    free(path);
    path = NULL;
    while (place < b->count && b->numbers[place] != number)
        place++;
    if (line == NULL && place < b->count && b->by == BATCH_SLURM &&
        asprintf(&path, "%s/task-%zu.out", b->folder, place % tasks_of(b)) >= 0)
        line = last_line_of(path);
    free(path);
    return line;
}

char *
batch_complaint(const struct batch *b)
{
    return child_last_line(b->err);
}

void
batch_finish(struct batch *b)
{
    free(b->numbers);
    if (b->out > 0)
        close(b->out);
    if (b->err > 0)
        close(b->err);
    *b = (struct batch){0};
}
