/* SPDX-License-Identifier: MIT */
/*
 * prusage of a process from what Linux shows: getrusage() of the caller, /proc
 * of any; an emulated machine adds system calls (irix_guest.c). Stay 0, because
 * Linux counts no such thing or not of one process: pu_utlb, pu_ktlb, pu_sigs,
 * pu_sysc, pu_syscps, pu_sysci, pu_graph*, pu_vfault, pu_cpu_mon; and on a
 * process of another user pu_bread, pu_bwrit, pu_syscr, pu_syscw.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "irix.h"

#define GIGA (UINT64_C(1) << 30)

static timespec_t
ticks(uint64_t n)
{
    const uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

    return (timespec_t){.tv_sec = (time_t)(n / hz),
                        .tv_nsec = (long)(n % hz * (1000000000 / hz))};
}

/* The start in /proc is since boot. */
static timespec_t
since_boot(uint64_t n)
{
    timespec_t now, boot, start = ticks(n);

    clock_gettime(CLOCK_REALTIME, &now);
    clock_gettime(CLOCK_BOOTTIME, &boot);
    start.tv_sec += now.tv_sec - boot.tv_sec;
    start.tv_nsec += now.tv_nsec - boot.tv_nsec;
    for (; start.tv_nsec < 0; start.tv_nsec += 1000000000)
        start.tv_sec--;
    for (; start.tv_nsec >= 1000000000; start.tv_nsec -= 1000000000)
        start.tv_sec++;
    return start;
}

int
irix_usage_stat(const char *text, hwperf_prusage_t *u)
{
    uint64_t minor, major, user, system, start, size, resident;

    /* A name may hold anything; the last bracket ends it. */
    const char *rest = strrchr(text, ')');
    if (rest == NULL ||
        sscanf(rest,
               ") %*c %*d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64
               " %*u %" SCNu64 " %" SCNu64 " %*d %*d %*d %*d %*d %*d %" SCNu64
               " %" SCNu64 " %" SCNu64,
               &minor, &major, &user, &system, &start, &size, &resident) != 7)
        return -EIO;
    u->pu_minf = minor;
    u->pu_majf = major;
    u->pu_utime = ticks(user);
    u->pu_stime = ticks(system);
    u->pu_starttime = since_boot(start);
    u->pu_size = size / (uint64_t)sysconf(_SC_PAGESIZE);
    u->pu_rss = resident;
    return 0;
}

static int
read_stat(pid_t pid, hwperf_prusage_t *u)
{
    char path[64], text[1024];

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return errno == ENOENT ? -ESRCH : -errno;
    const size_t n = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[n] = '\0';
    return irix_usage_stat(text, u);
}

void
irix_usage_line(const char *line, hwperf_prusage_t *u)
{
    uint64_t n;

    if (sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &n) == 1)
        u->pu_vctx = n;
    else if (sscanf(line, "nonvoluntary_ctxt_switches: %" SCNu64, &n) == 1)
        u->pu_ictx = n;
    else if (sscanf(line, "syscr: %" SCNu64, &n) == 1)
        u->pu_syscr = n;
    else if (sscanf(line, "syscw: %" SCNu64, &n) == 1)
        u->pu_syscw = n;
    else if (sscanf(line, "rchar: %" SCNu64, &n) == 1) {
        u->pu_gbread = n / GIGA;
        u->pu_bread = n % GIGA;
    } else if (sscanf(line, "wchar: %" SCNu64, &n) == 1) {
        u->pu_gbwrit = n / GIGA;
        u->pu_bwrit = n % GIGA;
    }
}

/* "name: number" lines. */
static void
read_lines(pid_t pid, const char *name, hwperf_prusage_t *u)
{
    char path[64], line[256];

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    while (fgets(line, sizeof(line), file) != NULL)
        irix_usage_line(line, u);
    fclose(file);
}

int
irix_usage(pid_t pid, hwperf_prusage_t *u)
{
    struct rusage own;

    memset(u, 0, sizeof(*u));
    const int error = read_stat(pid, u);
    if (error != 0)
        return error;
    clock_gettime(CLOCK_REALTIME, &u->pu_tstamp);
    read_lines(pid, "status", u);
    read_lines(pid, "io", u);
    if (pid == getpid() && getrusage(RUSAGE_SELF, &own) == 0) {
        u->pu_nswap = (uint64_t)own.ru_nswap;
        u->pu_inblock = (uint64_t)own.ru_inblock;
        u->pu_oublock = (uint64_t)own.ru_oublock;
    }
    return 0;
}
