/* SPDX-License-Identifier: MIT */
#include "cli/count_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "cli/output.h"
#include "report/mpi_report.h"

/* How long a rank is waited for that has not begun when this rank has ended:
 * by then all ranks have met in MPI_Init(). */
#define BEGIN_S 10
/* How long ranks that run are waited for once a signal has come: mpirun sends
 * one before it kills. */
#define SIGNALLED_MS 700
#define POLL_MS 20
#define REPORT_MOST (64u << 20) /* bytes of a rank's counts */

/* What signal came while this rank waits for others. There is no other way to
 * tell a handler's news. */
static volatile sig_atomic_t came;

static void
on_signal(int number)
{
    came = number;
}

/* Which rank this is */

/* The variables in which a launcher tells rank and size. */
static const struct {
    const char *rank, *size;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   /* MVAPICH */
    {"SLURM_PROCID", "SLURM_NTASKS"},                 /* srun */
};

/* Finds rank and size in the environment. Returns 0, or EXIT_USAGE after saying
 * why. */
static int
find_rank(struct count_mpi *m)
{
    for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
        const char *const rank = getenv(launchers[i].rank);
        const char *const size = getenv(launchers[i].size);
        uint64_t number, count;
        if (rank == NULL || size == NULL)
            continue;
        if (!command_number(size, 1, MPI_RANKS, &count) ||
            !command_number(rank, 0, count - 1, &number)) {
            escape_printf(stderr,
                          "tally count: --mpi: %s=%s and %s=%s: must be a rank "
                          "below a number of at most %u ranks\n",
                          launchers[i].rank, rank, launchers[i].size, size,
                          MPI_RANKS);
            return EXIT_USAGE;
        }
        m->rank = (unsigned)number;
        m->size = (unsigned)count;
        return 0;
    }
    fputs("tally count: --mpi: not started by mpirun: as in mpirun -n 4 tally "
          "count --mpi -- ./a.out\n",
          stderr);
    return EXIT_USAGE;
}

/* The folder */

/* Returns when a process started, in ticks since the computer did; 0: not
 * known. */
static unsigned long long
start_of(pid_t pid)
{
    char path[64], text[1024];

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return 0;
    const size_t size = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *at = strrchr(text, ')'); /* behind the process's name */
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at + 1, NULL, 10) : 0;
}

/* Returns the process of mpirun that started this rank on this node: the one
 * that made the socket of PMI_FD; else the parent. */
static pid_t
launcher_process(void)
{
    const char *const text = getenv("PMI_FD");
    struct ucred peer;
    socklen_t size = sizeof(peer);
    uint64_t fd;

    if (text != NULL && command_number(text, 3, INT32_MAX, &fd) &&
        getsockopt((int)fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
        peer.pid > 0)
        return peer.pid;
    return getppid();
}

/* Returns what names the job, the same for all of its ranks and for no other
 * job of this user, for the caller to free; NULL: no memory. */
static char *
job_name(void)
{
    const char *const space = getenv("PMIX_NAMESPACE");
    const char *const uri = getenv("PMIX_SERVER_URI2");
    const char *const session = getenv("OMPI_MCA_orte_precondition_transports");
    const char *const job = getenv("SLURM_JOB_ID");
    const char *const step = getenv("SLURM_STEP_ID");
    char *text = NULL;
    int n;

    if (space != NULL)
        n = asprintf(&text, "pmix-%s-%s", space,
                     session != NULL ? session
                     : uri != NULL   ? uri
                                     : "");
    else if (job != NULL && step != NULL && getenv("PMI_FD") == NULL)
        n = asprintf(&text, "slurm-%s-%s", job, step);
    else
        n = asprintf(&text, "pid-%d-%llu", (int)launcher_process(),
                     start_of(launcher_process()));
    if (n < 0)
        return NULL;
    for (char *c = text; *c != '\0'; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                   "0123456789-",
                   *c) == NULL)
            *c = '_';
    text[strnlen(text, 150)] = '\0';
    return text;
}

/* Says why the folder cannot be used, and returns EXIT_USAGE. */
static int
refuse_folder(const struct count_mpi *m, const char *why)
{
    escape_printf(stderr,
                  "tally count: --mpi: %s: %s; --mpi-dir DIR names a folder of "
                  "your own\n",
                  m->place, why);
    return EXIT_USAGE;
}

/* Opens the folder, which must be the user's alone: in /tmp others could have
 * made it. Links are not followed. */
static int
open_folder(const struct count_request *r, struct count_mpi *m)
{
    struct stat st;

    if (mkdir(m->place, 0700) == 0)
        m->made = r->mpi_dir == NULL;
    else if (errno != EEXIST)
        return refuse_folder(m, strerror(errno));
    m->folder = open(m->place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (m->folder < 0) {
        const char *const why = strerror(errno);
        return refuse_folder(m, lstat(m->place, &st) == 0 && S_ISLNK(st.st_mode)
                                    ? "is a link"
                                    : why);
    }
    if (fstat(m->folder, &st) != 0)
        return refuse_folder(m, strerror(errno));
    if (st.st_uid != geteuid())
        return refuse_folder(m, "is another user's");
    if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return refuse_folder(m, "can be written by others");
    return 0;
}

/* Finds the folder and opens it. */
static int
find_folder(const struct count_request *r, struct count_mpi *m)
{
    char *const job = job_name();
    int n;

    if (job == NULL)
        return command_no_memory();
    if (r->mpi_dir != NULL)
        n = asprintf(&m->place, "%s", r->mpi_dir);
    else
        n = asprintf(&m->place, "%s/tally-mpi-%u-%s", path_scratch(),
                     (unsigned)geteuid(), job);
    free(job);
    if (n < 0) {
        m->place = NULL;
        return command_no_memory();
    }
    const int status = open_folder(r, m);
    if (status != 0)
        return status;
    if (asprintf(&m->report, "%s/report-%u", m->place, m->rank) < 0) {
        m->report = NULL;
        return command_no_memory();
    }
    return 0;
}

/* Takes the place of this rank. The file is locked before it gets the name by
 * which others look for it. */
static int
take_place(struct count_mpi *m)
{
    char own[64], name[32];

    snprintf(own, sizeof(own), "new-%u-%d", m->rank, (int)getpid());
    snprintf(name, sizeof(name), "rank-%u", m->rank);
    m->lock = openat(m->folder, own,
                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (m->lock < 0 || flock(m->lock, LOCK_EX) != 0)
        return refuse_folder(m, strerror(errno));
    const int error =
        linkat(m->folder, own, m->folder, name, 0) != 0 ? errno : 0;
    unlinkat(m->folder, own, 0);
    if (error == 0)
        return 0;
    close(m->lock);
    m->lock = -1;
    if (error != EEXIST)
        return refuse_folder(m, strerror(error));
    escape_printf(stderr,
                  "tally count: --mpi: there is a rank %u already: %s/%s is of "
                  "another process of this job, or of a job before; one tally "
                  "count a rank, and a new --mpi-dir a job\n",
                  m->rank, m->place, name);
    return EXIT_USAGE;
}

/* Tries whether the report of all can be written, as one would like to know
 * before all is counted. */
static int
try_output(const struct count_request *r)
{
    struct output out;
    int status;

    if (r->log_fd != 0 || r->output == NULL)
        return 0;
    status = output_open(r->output, r->append ? REPLACE_APPEND : REPLACE_WHOLE,
                         &out);
    if (status == 0)
        output_close(&out, false);
    return status;
}

int
count_mpi_begin(struct count_request *r, struct count_mpi *m)
{
    *m = (struct count_mpi){
        .folder = -1,
        .lock = -1,
        .output = r->output,
        .log_fd = r->log_fd,
        .format = r->format,
    };
    int status = find_rank(m);
    if (status == 0)
        status = try_output(r);
    if (status == 0)
        status = find_folder(r, m);
    if (status == 0)
        status = take_place(m);
    if (status == 0) {
        r->format = COUNT_JSON;
        r->output = m->report;
        r->log_fd = 0;
    }
    return status;
}

/* The other ranks */

enum rank_state { RANK_UNBEGUN, RANK_RUNS, RANK_DONE, RANK_DEAD };

/* Returns how it stands with a rank. */
static enum rank_state
state_of(const struct count_mpi *m, unsigned rank)
{
    char name[32];

    snprintf(name, sizeof(name), "rank-%u", rank);
    const int fd =
        openat(m->folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return RANK_UNBEGUN;
    const bool runs = rank != m->rank && flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    /* In this order: the report is there before the lock is let go. */
    snprintf(name, sizeof(name), "report-%u", rank);
    if (faccessat(m->folder, name, R_OK, 0) == 0)
        return RANK_DONE;
    return runs ? RANK_RUNS : RANK_DEAD;
}

/* Returns whether the tally of a lower rank runs: it writes the report. */
static bool
leaves_it_to_lower(const struct count_mpi *m)
{
    for (unsigned i = 0; i < m->rank; i++) {
        char name[32];
        snprintf(name, sizeof(name), "rank-%u", i);
        const int fd = openat(m->folder, name,
                              O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
        const bool runs = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
        if (fd >= 0)
            close(fd);
        if (runs)
            return true;
    }
    return false;
}

/* Returns whether no other rank runs or has a report. */
static bool
is_alone(const struct count_mpi *m)
{
    for (unsigned i = 0; i < m->size; i++) {
        const enum rank_state state =
            i != m->rank ? state_of(m, i) : RANK_UNBEGUN;
        if (state == RANK_RUNS || state == RANK_DONE)
            return false;
    }
    return true;
}

/* Becomes the one who writes the report; false: another rank is. */
static bool
becomes_writer(const struct count_mpi *m, int *lock)
{
    *lock = openat(m->folder, "writer",
                   O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    return *lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) == 0;
}

static int64_t
now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits until each rank has ended or will not. `states` are then final. */
static void
wait_for_ranks(const struct count_mpi *m, enum rank_state *states)
{
    const struct timespec pause = {0, POLL_MS * 1000000L};
    const int64_t began = now_ms();
    int64_t told = 0;

    for (;;) {
        unsigned unbegun = 0, run = 0;
        for (unsigned i = 0; i < m->size; i++) {
            if (states[i] != RANK_DONE && states[i] != RANK_DEAD)
                states[i] = state_of(m, i);
            unbegun += states[i] == RANK_UNBEGUN;
            run += states[i] == RANK_RUNS;
        }
        if (came != 0 && told == 0)
            told = now_ms();
        if (unbegun + run == 0 ||
            (told != 0 && now_ms() - told > SIGNALLED_MS) ||
            (run == 0 && now_ms() - began > BEGIN_S * 1000))
            return;
        nanosleep(&pause, NULL);
    }
}

/* Reads the counts of a rank. Returns NULL, with `*why`, where they cannot be
 * read. */
static struct count_document *
read_rank(const struct count_mpi *m, unsigned rank, const char **why)
{
    struct count_document *document = NULL;
    char name[32], *text = NULL;
    struct stat st;
    size_t size = 0;

    snprintf(name, sizeof(name), "report-%u", rank);
    *why = "its report cannot be read";
    const int fd =
        openat(m->folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size > 0 && st.st_size <= (off_t)REPORT_MOST &&
        (text = malloc((size_t)st.st_size)) != NULL) {
        ssize_t n = 1;
        while (n > 0 && size < (size_t)st.st_size) {
            n = read(fd, text + size, (size_t)st.st_size - size);
            size += n > 0 ? (size_t)n : 0;
        }
        if (count_document_read(text, size, name, &command_log, &document) != 0)
            document = NULL;
    }
    free(text);
    if (fd >= 0)
        close(fd);
    return document;
}

/* Takes away what the ranks have in the folder, and the folder if it was made
 * for the job. */
static void
clean_up(const struct count_request *r, const struct count_mpi *m)
{
    char name[32];

    for (unsigned i = 0; i < m->size; i++) {
        snprintf(name, sizeof(name), "report-%u", i);
        unlinkat(m->folder, name, 0);
        snprintf(name, sizeof(name), "rank-%u", i);
        unlinkat(m->folder, name, 0);
    }
    unlinkat(m->folder, "writer", 0);
    if (r->mpi_dir == NULL)
        rmdir(m->place);
}

/* Writes the report in the form that was asked for. */
static int
write_report(const struct count_request *r, const struct count_mpi *m,
             struct mpi_report *report)
{
    struct output out;
    int status =
        m->log_fd != 0
            ? output_open_descriptor(m->log_fd, &out)
            : output_open(m->output, r->append ? REPLACE_APPEND : REPLACE_WHOLE,
                          &out);
    if (status != 0)
        return status;
    const int error =
        m->format == COUNT_CSV ? mpi_report_csv(report, r->separator, out.file)
        : m->format == COUNT_JSON ? mpi_report_json(report, out.file)
                                  : mpi_report_text(report, out.file);
    return output_finish(&out, m->output != NULL ? m->output : "stderr", error);
}

/* Returns why a rank has no report. */
static const char *
why_missing(enum rank_state state)
{
    return state == RANK_UNBEGUN ? "it was not started with tally count --mpi"
           : state == RANK_RUNS  ? "it had not ended"
                                 : "its tally ended without a report";
}

/* Waits for the ranks and writes the report of all. */
static int
report_all(const struct count_request *r, const struct count_mpi *m)
{
    enum rank_state *const states = calloc(m->size, sizeof(*states));
    struct mpi_rank *const ranks = calloc(m->size, sizeof(*ranks));
    struct mpi_report report = {ranks, m->size, r->plain, NULL};
    unsigned missing = 0;
    int status = states != NULL && ranks != NULL ? 0 : command_no_memory();

    if (status == 0)
        wait_for_ranks(m, states);
    for (unsigned i = 0; status == 0 && i < m->size; i++) {
        if (states[i] == RANK_DONE)
            ranks[i].document = read_rank(m, i, &ranks[i].why);
        else
            ranks[i].why = why_missing(states[i]);
        if (ranks[i].document == NULL) {
            escape_printf(stderr,
                          "tally count: --mpi: no counts of rank %u: "
                          "%s\n",
                          i, ranks[i].why);
            missing++;
        }
    }
    if (status == 0 && mpi_report_check(&report, &command_log) != 0)
        status = EXIT_OURS;
    else if (status == 0)
        status = write_report(r, m, &report);
    for (unsigned i = 0; ranks != NULL && i < m->size; i++)
        count_document_destroy((struct count_document *)ranks[i].document);
    free(ranks);
    free(states);
    return status == 0 && missing > 0 ? EXIT_OURS : status;
}

/* Has the signals noted by which mpirun ends a job, so that the report is
 * written nevertheless. */
static void
note_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_handler = on_signal};

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        sigaction(numbers[i], &action, NULL);
}

int
count_mpi_end(const struct count_request *r, struct count_mpi *m, int status)
{
    int writer = -1;

    if (m->lock >= 0) {
        note_signals();
        const bool counted = state_of(m, m->rank) == RANK_DONE;
        if (counted && !leaves_it_to_lower(m) && becomes_writer(m, &writer)) {
            const int reported = report_all(r, m);
            status = status != 0 ? status : reported;
            clean_up(r, m);
        } else if (!counted && is_alone(m)) {
            clean_up(r, m); /* nobody waits for this rank */
        }
    }
    if (writer >= 0)
        close(writer);
    if (m->lock >= 0)
        close(m->lock);
    if (m->folder >= 0)
        close(m->folder);
    free(m->place);
    free(m->report);
    return status;
}
