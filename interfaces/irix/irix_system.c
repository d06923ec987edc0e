/* SPDX-License-Identifier: MIT */
/* System mode of r10k_evcntrs(5): a block a cpu of this host. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "irix_counter.h"

#define CPUS_MAX 1024

/* On every cpu that is on, that is, whose block is active; or none. */
static int
open_cpus(const struct virtual_request *r, struct block *cpus, unsigned count)
{
    int error = 0;

    for (unsigned c = 0; c < count && error == 0; c++)
        error = cpus[c].active ? irix_open_all(&cpus[c], r, 0, c) : 0;
    for (unsigned c = 0; c < count && error != 0; c++)
        irix_close_all(&cpus[c]);
    return error;
}

/* Marks the cpus that are on, from "0-6,8". Returns how many numbers there are.
 */
static unsigned
cpus_here(bool on[CPUS_MAX])
{
    FILE *file = fopen("/sys/devices/system/cpu/online", "re");
    unsigned first, last, count = 0;

    while (file != NULL && fscanf(file, "%u", &first) == 1) {
        last = first;
        if (fscanf(file, "-%u", &last) < 0)
            last = first;
        for (unsigned c = first; c <= last && c < CPUS_MAX; c++) {
            on[c] = true;
            count = c + 1;
        }
        if (fgetc(file) != ',')
            break;
    }
    if (file != NULL)
        fclose(file);
    on[0] = on[0] || count == 0;
    return count > 0 ? count : 1;
}

int
irix_begin_system(const struct virtual_request *r)
{
    bool on[CPUS_MAX] = {false};

    const unsigned count = cpus_here(on);
    struct block *cpus = calloc(count, sizeof(*cpus));
    for (unsigned c = 0; cpus != NULL && c < count; c++)
        cpus[c].active = on[c];
    int error = cpus == NULL ? -ENOMEM : open_cpus(r, cpus, count);
    if (error != 0) {
        free(cpus);
        return error;
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        if (irix.blocks[i].active) {
            irix_keep(&irix.blocks[i]);
            irix.blocks[i].generation++;
        }
    free(irix.cpus);
    irix.cpus = cpus;
    irix.cpu_count = count;
    irix.active = true;
    irix.request = *r;
    return ++irix.generation;
}

int
irix_system_start(void *system, const struct virtual_request *r)
{
    bool whole = false;
    int error;

    (void)system;
    irix_lock();
    if (geteuid() != 0)
        return irix_leave(-EPERM);
    error = irix_check(r, &whole);
    if (error == 0 && !whole)
        error = -EINVAL;
    if (error == 0 && irix.active)
        error = -EBUSY;
    return irix_leave(error != 0 ? error : irix_begin_system(r));
}

/* Sums up what the cpus have counted. */
static void
coalesce(void)
{
    memset(irix.global, 0, sizeof(irix.global));
    irix.lost = false;
    for (unsigned c = 0; c < irix.cpu_count; c++)
        if (irix_add_readings(&irix.cpus[c], irix.global) != 0)
            irix.lost = true;
}

int
irix_system_read(void *system, struct counter_reading readings[VIRTUAL_EVENTS])
{
    (void)system;
    irix_lock();
    if (irix.active)
        coalesce();
    memcpy(readings, irix.global, sizeof(irix.global));
    return irix_leave(irix.lost ? -EIO : irix.generation);
}

int
irix_system_read_cpu(void *system, unsigned cpu,
                     struct counter_reading readings[VIRTUAL_EVENTS])
{
    (void)system;
    irix_lock();
    if (cpu >= irix.cpu_count || !irix.active || !irix.cpus[cpu].active)
        return irix_leave(0);
    memset(readings, 0, VIRTUAL_EVENTS * sizeof(*readings));
    const int error = irix_add_readings(&irix.cpus[cpu], readings);
    return irix_leave(error != 0 ? error : irix.generation);
}

int
irix_system_control(void *system, uint16_t spec[VIRTUAL_EVENTS])
{
    (void)system;
    irix_lock();
    if (!irix.active)
        return irix_leave(-EINVAL);
    memcpy(spec, irix.request.spec, sizeof(irix.request.spec));
    return irix_leave(irix.generation);
}

int
irix_system_change(void *system, const struct virtual_request *r)
{
    bool whole = false;

    (void)system;
    irix_lock();
    if (geteuid() != 0)
        return irix_leave(-EPERM);
    int error = irix.active ? irix_check(r, &whole) : -EINVAL;
    if (error == 0 && !whole)
        error = -EINVAL;
    struct block *fresh = calloc(irix.cpu_count + 1, sizeof(*fresh));
    for (unsigned c = 0; fresh != NULL && c < irix.cpu_count; c++)
        fresh[c].active = irix.cpus[c].active;
    if (error == 0)
        error = fresh == NULL ? -ENOMEM : open_cpus(r, fresh, irix.cpu_count);
    for (unsigned c = 0; c < irix.cpu_count && error == 0; c++) {
        irix_keep(&irix.cpus[c]);
        irix.cpus[c].active = fresh[c].active;
        memcpy(irix.cpus[c].counter, fresh[c].counter,
               sizeof(fresh[c].counter));
    }
    free(fresh);
    if (error != 0)
        return irix_leave(error);
    irix.request = *r;
    return irix_leave(++irix.generation);
}

int
irix_system_release(void *system)
{
    (void)system;
    irix_lock();
    if (geteuid() != 0)
        return irix_leave(-EPERM);
    if (irix.active)
        coalesce();
    for (unsigned c = 0; c < irix.cpu_count; c++)
        irix_keep(&irix.cpus[c]);
    irix.active = false;
    return irix_leave(0);
}
