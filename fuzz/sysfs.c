/* SPDX-License-Identifier: MIT */
/*
 * Lines as the files of a host's /sys, /proc and tracefs, after a first line
 * with an event list: what is read of them is within its bounds, and an event
 * that is read once is read the same again.
 */
#include <ftw.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "host/event.h"
#include "host/open.h"
#include "host/sysfs.h"
#include "source/host.h"
#include "table/param.h"

#define PMU "/sys/bus/event_source/devices/"
#define CPU0 "/sys/devices/system/cpu/cpu0/"

static const char *const files[] = {
    PMU "cpu_core/type",
    PMU "cpu_core/cpus",
    PMU "cpu_core/format/event",
    PMU "cpu_core/format/umask",
    PMU "cpu_core/events/cycles",
    PMU "cpu_core/events/loads",
    PMU "uncore_0/type",
    PMU "uncore_0/cpumask",
    PMU "uncore_0/format/event",
    PMU "uncore_0/events/reads",
    PMU "uncore_0/events/reads.scale",
    PMU "uncore_0/events/reads.unit",
    "/trace/events/sched/sched_switch/id",
    "/proc/sys/kernel/perf_event_paranoid",
    "/proc/sys/kernel/nmi_watchdog",
    "/proc/self/status",
    "/sys/devices/system/cpu/online",
    CPU0 "cache/index0/type",
    CPU0 "cache/index0/level",
    CPU0 "cache/index0/size",
    CPU0 "cache/index0/ways_of_associativity",
    CPU0 "cache/index0/coherency_line_size",
    CPU0 "cpufreq/base_frequency",
};

#define FILES (sizeof(files) / sizeof(files[0]))
#define PATH_SIZE 128

/* The files are links to files in memory: a disk would be most of the time. */
static struct {
    char folder[32], sys[PATH_SIZE], proc[PATH_SIZE], trace[PATH_SIZE];
    int fds[FILES];
    size_t sizes[FILES];
} tree;

static int
remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

static void
remove_tree(void)
{
    nftw(tree.folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

/* Makes the folders that the file stands in, and the file; returns it. */
static int
make_file(const char *name)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof(path), "%s%s", tree.folder, name);
    for (char *slash = path + strlen(tree.folder);
         (slash = strchr(slash + 1, '/')) != NULL;) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
    const int fd = memfd_create("file", MFD_CLOEXEC);
    char link[32];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    fuzz_check(fd >= 0 && symlink(link, path) == 0);
    return fd;
}

static void
make_tree(void)
{
    snprintf(tree.folder, sizeof(tree.folder), "/tmp/tally-fuzz-XXXXXX");
    fuzz_check(mkdtemp(tree.folder) != NULL);
    atexit(remove_tree);
    snprintf(tree.sys, sizeof(tree.sys), "%s/sys", tree.folder);
    snprintf(tree.proc, sizeof(tree.proc), "%s/proc", tree.folder);
    snprintf(tree.trace, sizeof(tree.trace), "%s/trace", tree.folder);
    for (size_t i = 0; i < FILES; i++)
        tree.fds[i] = make_file(files[i]);
}

static void
write_file(size_t file, const char *text)
{
    const size_t size = strlen(text);

    if (size < tree.sizes[file])
        fuzz_check(ftruncate(tree.fds[file], (off_t)size) == 0);
    if (size > 0)
        fuzz_check(pwrite(tree.fds[file], text, size, 0) == (ssize_t)size);
    tree.sizes[file] = size;
}

static void
check_event(const struct host_event *e)
{
    fuzz_check(e->attr.size == sizeof(e->attr));
    fuzz_check(strnlen(e->name, HOST_NAME) < HOST_NAME);
    fuzz_check(strnlen(e->pmu, HOST_PMU) < HOST_PMU);
    fuzz_check(strnlen(e->unit, HOST_UNIT) < HOST_UNIT);
    fuzz_check(e->scale > 0 && e->group >= -1);
}

static void
read_list(const struct host_root *root, const char *list)
{
    const struct tally_log log = {.write = fuzz_hear};
    struct host_event *events = NULL, *again = NULL;
    size_t count = 0, again_count = 0;
    const int error =
        host_event_list_parse_at(root, list, &log, &events, &count);

    fuzz_check((error == 0) == (count > 0));
    fuzz_check(host_event_list_parse_at(root, list, &log, &again,
                                        &again_count) == error);
    fuzz_check(count == again_count);
    for (size_t i = 0; i < count; i++) {
        check_event(&events[i]);
        fuzz_check(memcmp(&events[i].attr, &again[i].attr,
                          sizeof(events[i].attr)) == 0);
    }
    free(events);
    free(again);
}

static void
read_pmus(const struct host_root *root)
{
    static const char *const names[] = {"cpu_core", "uncore_0", "absent"};
    struct host_pmu pmus[HOST_HYBRID], pmu;
    struct host_facts facts;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (host_pmu_read(root, names[i], &pmu))
            fuzz_check(strcmp(pmu.name, names[i]) == 0 &&
                       pmu.type <= INT32_MAX);
    fuzz_check(host_hybrid_find(root, pmus) <= HOST_HYBRID);
    host_facts_find(root, 0, &facts);
}

/* Checks that what this host is said to have is what a model may have. */
static void
read_caches(const struct host_root *root)
{
    const struct machine_row *const machine = machine_find("host-model");
    uint64_t params[PARAM_COUNT];
    bool known[PARAM_COUNT] = {false};

    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = machine->params[i].value;
    host_params(root->sys, params, known);
    for (int i = 0; i < PARAM_COUNT; i++)
        fuzz_check(known[i] ? param_check(i, params[i], NULL) == 0
                            : params[i] == machine->params[i].value);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *const text = fuzz_text(data, size), *rest = text;

    if (tree.folder[0] == '\0')
        make_tree();
    const char *const list = strsep(&rest, "\n");
    for (size_t i = 0; i < FILES; i++) {
        const char *const line = strsep(&rest, "\n");
        write_file(i, line != NULL ? line : "");
    }
    const struct host_root root = {tree.sys, tree.proc, tree.trace};
    read_list(&root, list);
    read_pmus(&root);
    read_caches(&root);
    free(text);
    return 0;
}
