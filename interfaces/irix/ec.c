/* SPDX-License-Identifier: MIT */
#include "ec.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/syssgi.h"
#include "table/table.h"

#define PERIOD_NS 50000000L
#define ANSWER_PERIODS 200
#define READ_TRIES 200
#define READ_WAIT_NS 10000000L

static int ec_file = -1;

static const char *
file_name(void)
{
    const char *name = getenv("TALLY_EC_FILE");

    return name != NULL && *name != '\0' ? name : EC_FILE;
}

static uint64_t
now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void
wait_ns(long ns)
{
    const struct timespec length = {0, ns};

    nanosleep(&length, NULL);
}

static struct ec_state *
map_file(const char *program, bool create)
{
    const int flags =
        O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (create ? O_CREAT | O_RDWR : 0);
    struct stat status;

    ec_file = open(file_name(), flags, 0644);
    if (ec_file < 0 && errno == ENOENT) {
        fprintf(stderr,
                "%s: no event counters are enabled; tally-ecadmin -e enables "
                "them\n",
                program);
        return NULL;
    }
    if (ec_file < 0 || fstat(ec_file, &status) != 0 ||
        (create && status.st_size == 0 &&
         ftruncate(ec_file, sizeof(struct ec_state)) != 0)) {
        fprintf(stderr, "%s: %s: %s\n", program, file_name(), strerror(errno));
        return NULL;
    }
    if (!S_ISREG(status.st_mode) ||
        (status.st_size != 0 &&
         status.st_size != (off_t)sizeof(struct ec_state))) {
        fprintf(stderr, "%s: %s is no file of tally-ecadmin\n", program,
                file_name());
        return NULL;
    }
    void *at = mmap(NULL, sizeof(struct ec_state),
                    create ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
                    ec_file, 0);
    if (at != MAP_FAILED)
        return at;
    fprintf(stderr, "%s: %s: %s\n", program, file_name(), strerror(errno));
    return NULL;
}

struct ec_state *
ec_open(const char *program, bool create, bool *kept)
{
    struct ec_state *s = map_file(program, create);

    if (s == NULL)
        return NULL;
    *kept = flock(ec_file, LOCK_SH | LOCK_NB) != 0;
    if (!*kept)
        flock(ec_file, LOCK_UN);
    if (create && !*kept) {
        memset(s, 0, sizeof(*s));
        s->magic = EC_MAGIC;
        s->processor = irix_processor();
    }
    if (s->magic == EC_MAGIC)
        return s;
    fprintf(stderr, "%s: %s is no file of tally-ecadmin\n", program,
            file_name());
    return NULL;
}

void
ec_remove(void)
{
    if (flock(ec_file, LOCK_EX | LOCK_NB) == 0)
        unlink(file_name());
}

static void
publish(struct ec_state *s)
{
    struct ec_counts counts = s->counts;
    const struct irix_ops *ops;
    void *system;

    ops = irix_system(&system);
    const int generation = ops->system_read(system, counts.sum);
    if (generation <= 0 || ops->system_control(system, counts.spec) < 0)
        return;
    counts.generation = generation;
    counts.time_ns = now_ns();
    atomic_fetch_add(&s->sequence, 1);
    atomic_thread_fence(memory_order_seq_cst);
    s->counts = counts;
    atomic_thread_fence(memory_order_seq_cst);
    atomic_fetch_add(&s->sequence, 1);
}

bool
ec_try_read(struct ec_state *s, struct ec_counts *counts)
{
    const unsigned before = atomic_load(&s->sequence);

    atomic_thread_fence(memory_order_seq_cst);
    *counts = s->counts;
    atomic_thread_fence(memory_order_seq_cst);
    return before == atomic_load(&s->sequence) && (before & 1) == 0;
}

/* The keeper writes for less than a microsecond, but may have to wait for a
 * processor meanwhile. */
bool
ec_read(struct ec_state *s, struct ec_counts *counts)
{
    for (unsigned i = 0; i < READ_TRIES; i++) {
        if (ec_try_read(s, counts))
            return true;
        wait_ns(READ_WAIT_NS);
    }
    return false;
}

int
ec_unreadable(const char *program)
{
    fprintf(stderr,
            "%s: the process that keeps the counters ended while it wrote "
            "them: tally-ecadmin -r, then enable them again\n",
            program);
    return 1;
}

static uint64_t
scaled(const struct counter_reading *reading)
{
    uint64_t value = reading->value;

    counter_scaled(reading, &value);
    return value;
}

void
ec_print(FILE *out, const struct ec_view *view, int processor,
         const struct ec_counts *from, const struct ec_counts *to)
{
    const double seconds = (double)(to->time_ns - from->time_ns) * 1e-9;

    if (view->screen)
        fputs("\033[H\033[2J", out);
    if (view->talk)
        fprintf(out, "generation %d\n", to->generation);
    fprintf(out, "%-62s %18s\n", "Event",
            view->absolute ? "count" : "a second");
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const struct counter_reading *r = &to->sum[i];
        const uint64_t now = scaled(r), then = scaled(&from->sum[i]);
        char name[64];
        if (to->spec[i] == 0 && !view->all)
            continue;
        ec_name(processor, i, name, sizeof(name));
        fprintf(out, "%2u %-59s ", i, name);
        if (to->spec[i] == 0)
            fprintf(out, "%18s\n", "-");
        else if (view->absolute)
            fprintf(out, "%18" PRIu64 "%s\n", now,
                    r->running < r->enabled ? "*" : "");
        else
            fprintf(out, "%18.0f%s\n",
                    seconds > 0 && now > then ? (double)(now - then) / seconds
                                              : 0,
                    r->running < r->enabled ? "*" : "");
    }
}

/* One request. False: it was the last. */
static bool
serve(struct ec_state *s, bool *active)
{
    hwperf_profevctrarg_t args;
    bool any = false;
    int result;

    memset(&args, 0, sizeof(args));
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        args.hwp_evctrargs.hwp_evctrl[i].hwperf_spec = (short)s->wanted[i];
        any = any || s->wanted[i] != 0;
    }
    if (!any)
        result = syssgi(SGI_EVENTCTR, HWPERF_RELSYSCNTRS);
    else
        result =
            syssgi(SGI_EVENTCTR,
                   *active ? HWPERF_SET_SYSEVCTRL : HWPERF_ENSYSCNTRS, &args);
    s->error = result < 0 ? errno : 0;
    *active = *active || (any && result > 0);
    if (*active && any)
        publish(s);
    return any && *active;
}

static __attribute__((noreturn)) void
keep(struct ec_state *s)
{
    bool active = false, goes_on = true;

    while (goes_on) {
        const unsigned asked = atomic_load(&s->asked);
        if (asked != atomic_load(&s->answered)) {
            goes_on = serve(s, &active);
            if (!goes_on) /* unlocked before the answer: nobody keeps it */
                flock(ec_file, LOCK_UN);
            atomic_store(&s->answered, asked);
        } else if (active) {
            publish(s);
        }
        wait_ns(PERIOD_NS);
    }
    _exit(0);
}

/* Twice, so that nobody has to wait for it. */
int
ec_keep(struct ec_state *s)
{
    const pid_t child = fork();

    if (child != 0)
        return child > 0 ? 0 : -1;
    setsid();
    signal(SIGHUP, SIG_IGN);
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        dup2(null, fd);
    if (chdir("/") != 0 || flock(ec_file, LOCK_EX | LOCK_NB) != 0)
        _exit(1);
    keep(s);
}

int
ec_ask(struct ec_state *s, const uint16_t wanted[VIRTUAL_EVENTS])
{
    memcpy(s->wanted, wanted, sizeof(s->wanted));
    const unsigned asked = atomic_fetch_add(&s->asked, 1) + 1;

    for (unsigned i = 0; i < ANSWER_PERIODS; i++) {
        if (atomic_load(&s->answered) == asked)
            return s->error;
        wait_ns(PERIOD_NS / 2);
    }
    return ETIMEDOUT;
}

static const struct machine_row *
machine_of(int processor)
{
    return machine_find(processor == 12000 ? "r12000" : "r10000");
}

void
ec_name(int processor, unsigned event, char *text, size_t size)
{
    const struct machine_row *m = machine_of(processor);

    *text = '\0';
    for (size_t i = 0; i < m->event_count; i++)
        if (m->events[i].number == (int)event)
            snprintf(text, size, "%s", m->events[i].name);
}

int
ec_find(int processor, const char *name)
{
    const struct event_row *e = event_find(machine_of(processor), name);

    return e != NULL && e->number >= 0 ? e->number : -1;
}
