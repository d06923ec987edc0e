/* SPDX-License-Identifier: MIT */
/* What the programs of this folder share: requests, and a child that works when
 * it is told to. Event 15 is graduated instructions. */
#ifndef FAMILY_H
#define FAMILY_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/hwperfmacros.h>
#include <sys/hwperftypes.h>
#include <sys/ioctl.h>
#include <sys/procfs.h>
#include <sys/syssgi.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loop.h"

#define INSTRUCTIONS 15
#define U HWPERF_CNTEN_U
#define K HWPERF_CNTEN_K

static inline hwperf_profevctrarg_t
request(unsigned index, unsigned modes)
{
    hwperf_profevctrarg_t args;

    memset(&args, 0, sizeof(args));
    args.hwp_evctrargs.hwp_evctrl[index].hwperf_creg.hwp_mode = modes & 0xf;
    args.hwp_evctrargs.hwp_evctrl[index].hwperf_creg.hwp_ev = index & 0x7ff;
    return args;
}

static inline int
open_counters(pid_t pid)
{
    char path[32];

    snprintf(path, sizeof(path), "/proc/%05d", (int)pid);
    return open(path, O_RDWR);
}

/* Starts instructions; the generation, or -errno. */
static inline int
start(int fd, unsigned modes)
{
    hwperf_profevctrarg_t args = request(INSTRUCTIONS, modes);
    const int result = ioctl(fd, PIOCENEVCTRS, (void *)&args);

    return result < 0 ? -errno : result;
}

static inline unsigned long long
count(int fd, int *generation)
{
    hwperf_cntr_t counts;

    *generation = ioctl(fd, PIOCGETEVCTRS, (void *)&counts);
    if (*generation < 0) {
        *generation = -errno;
        return 0;
    }
    return counts.hwp_evctr[INSTRUCTIONS];
}

/* A child that loops so many turns each time that it is told to. */
struct child {
    pid_t pid;
    int tell, hear; /* pipes */
};

static inline void
work(int tell, int hear)
{
    unsigned long turns;

    while (read(tell, &turns, sizeof(turns)) == sizeof(turns) && turns != 0) {
        loop(turns);
        if (write(hear, &turns, sizeof(turns)) < 0)
            break;
    }
    _exit(0);
}

/* It sleeps: what it has counted stays. */
static inline void
await_sleep(pid_t pid)
{
    char path[32], state = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    for (int seen = 0; seen < 3; seen += state == 'S') {
        FILE *file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            exit(3);
        fclose(file);
        usleep(2000);
    }
}

static inline struct child
make_child(void)
{
    int tell[2], hear[2];
    struct child c;

    if (pipe(tell) != 0 || pipe(hear) != 0)
        exit(3);
    c.pid = fork();
    if (c.pid == 0) {
        close(tell[1]);
        close(hear[0]);
        work(tell[0], hear[1]);
    }
    close(tell[0]);
    close(hear[1]);
    c.tell = tell[1];
    c.hear = hear[0];
    await_sleep(c.pid);
    return c;
}

static inline void
let_work(const struct child *c, unsigned long turns)
{
    if (write(c->tell, &turns, sizeof(turns)) != sizeof(turns) ||
        read(c->hear, &turns, sizeof(turns)) != sizeof(turns))
        exit(3);
    await_sleep(c->pid);
}

static inline void
end_child(const struct child *c)
{
    close(c->tell);
    close(c->hear);
    waitpid(c->pid, NULL, 0);
}

#endif
