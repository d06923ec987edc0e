/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a file of costs, on each machine: what is accepted is in order
 * and in its limits, and the costs are those that the rows were before.
 */
#include "table/cost.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

static void
check_costs(const struct machine_row *machine, const struct cost *costs)
{
    for (size_t i = 0; i < machine->event_count + machine->made_count; i++) {
        if (!costs[i].known)
            continue;
        fuzz_check(costs[i].minimum >= 0);
        fuzz_check(costs[i].minimum <= costs[i].typical);
        fuzz_check(costs[i].typical <= costs[i].maximum);
    }
}

static void
read_costs(const struct machine_row *machine, const char *path)
{
    const struct tally_log log = {.write = fuzz_hear_any};
    uint64_t params[PARAM_COUNT];

    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = machine->params != NULL ? machine->params[i].value : 1;
    struct cost *const costs = cost_table(machine, params);
    struct cost *const again = cost_table(machine, params);
    fuzz_check(costs != NULL && again != NULL);
    check_costs(machine, costs);
    const int error = cost_table_read(machine, path, &log, costs);
    check_costs(machine, costs);
    fuzz_check(cost_table_read(machine, path, &log, again) == error);
    for (size_t i = 0; i < machine->event_count; i++)
        fuzz_check(costs[i].known == again[i].known &&
                   costs[i].typical == again[i].typical);
    free(costs);
    free(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int fd = memfd_create("cost", MFD_CLOEXEC);
    char path[64];

    if (size > 0) {
        fuzz_check(fd >= 0);
        fuzz_check(write(fd, data + 1, size - 1) == (ssize_t)size - 1);
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        read_costs(&tally_machines[data[0] % MACHINE_COUNT], path);
    }
    close(fd);
    return 0;
}
