/* SPDX-License-Identifier: MIT */
#include "calibrate/calibrate_host.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "source/host.h"
#include "table/table.h"

#define SIZE_LEAST (UINT64_C(128) << 20)
#define SIZE_MOST (UINT64_C(1) << 30)
/* As little as the largest probe may have where memory is short. */
#define SIZE_SHORT (UINT64_C(64) << 20)

uint64_t
calibrate_size(const struct calibrate_host *h)
{
    const uint64_t walks = 2 * h->told.stlb * h->page;
    uint64_t size = SIZE_LEAST;

    while (size < SIZE_MOST && (size < 4 * h->l3 || size < walks))
        size *= 2;
    return size;
}

/* Returns the bytes of memory that programs can have; 0: unknown. */
static uint64_t
available_memory(void)
{
    FILE *const file = fopen("/proc/meminfo", "re");
    char line[128];
    uint64_t kilobytes = 0;

    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (sscanf(line, "MemAvailable: %" SCNu64, &kilobytes) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return kilobytes << 10;
}

int
calibrate_host_find(const struct tally_log *log, struct calibrate_host *host)
{
    const struct machine_row *const machine = machine_find("host-model");
    uint64_t params[PARAM_COUNT];
    const uint64_t room = available_memory() / 2;

    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = machine->params[i].value;
    host_params("/sys", params, NULL);
    *host = (struct calibrate_host){
        .l1d = params[PARAM_L1D_SIZE],
        .l2 = params[PARAM_L2_SIZE],
        .l3 = params[PARAM_L3_SIZE],
        .line = params[PARAM_L1D_LINE],
        .page = (uint64_t)sysconf(_SC_PAGESIZE),
        .told = tlb_told_here(),
    };
    host->size = calibrate_size(host);
    while (room > 0 && host->size > room && host->size > SIZE_SHORT)
        host->size /= 2;
    if ((room > 0 && host->size > room) || host->size < 2 * host->l3)
        return tally_fail(log, TALLY_ENOMEM,
                          "twice the last cache, and 128 MB at least, must be "
                          "available of memory; %" PRIu64 " MB are",
                          2 * room >> 20);
    return 0;
}
