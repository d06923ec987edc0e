#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The register models, and the virtual counters on them, need nothing: compiles
them as freestanding C17 without any library, links them with a program that
brings only memcpy, memmove, memset and memcmp, and runs it. Takes the source
root, the folder of pmu_tables.c and the compiler; reports TAP."""

import pathlib
import platform
import subprocess
import sys
import tempfile

import surroundings

FLAGS = ["-std=c17", "-ffreestanding", "-nostdlib", "-nostartfiles", "-static",
         "-O2", "-Wall", "-Wextra", "-Werror=implicit-function-declaration",
         "-fno-stack-protector", "-fno-pic", "-fno-asynchronous-unwind-tables"]
PROVIDED = {"memcpy", "memmove", "memset", "memcmp"}
# TALLY_EUNKNOWN: the machine has no registers to work on.
PROGRAM = r"""
#include "ref/virtual_mips.h"
#include "pmu/table.h"
#include "tally/pmu.h"

void *memcpy(void *to, const void *from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int byte, size_t n);
int memcmp(const void *a, const void *b, size_t n);

static _Alignas(16) char memory[1 << 20];

static void *
copy(volatile char *to, const char *from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = from[i];
    return (void *)to;
}

void *
memcpy(void *to, const void *from, size_t n)
{
    return copy(to, from, n);
}

void *
memmove(void *to, const void *from, size_t n)
{
    if ((const char *)to <= (const char *)from)
        return copy(to, from, n);
    for (volatile char *p = to; n-- > 0;)
        p[n] = ((const char *)from)[n];
    return to;
}

void *
memset(void *to, int byte, size_t n)
{
    for (volatile char *p = to; n-- > 0;)
        *p++ = (char)byte;
    return to;
}

int
memcmp(const void *a, const void *b, size_t n)
{
    const unsigned char *x = a, *y = b;

    for (size_t i = 0; i < n; i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

/* 0, or 1 + the number of the machine that does not work. */
static int
check(void)
{
    for (unsigned i = 0; i < PMU_MACHINES; i++) {
        struct tally_pmu_options options;
        struct tally_pmu *pmu = NULL;

        tally_pmu_options_init(&options, sizeof(options));
        options.machine = tally_pmu_machines[i].name;
        const int made =
            tally_pmu_init(memory, sizeof(memory), &options, &pmu);
        if (made == TALLY_EUNKNOWN)
            continue;
        if (made != 0 || tally_pmu_size(&options) > sizeof(memory))
            return 1 + (int)i;
        uint64_t value;
        for (unsigned id = 0; tally_pmu_register_name(pmu, id) != NULL; id++)
            tally_pmu_read(pmu, 0, id, TALLY_PMU_PRIVILEGED, &value);
        tally_pmu_signal(pmu, 0, TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, 2, 1), 3,
                         NULL);
        tally_pmu_retire(pmu, 0, 1, NULL);
    }
    return 0;
}

static uint64_t
no_time(void *kernel, unsigned cpu)
{
    (void)kernel;
    (void)cpu;
    return 0;
}

static const struct virtual_kernel_ops kernel_ops = {.time = no_time};
static struct virtual_system virtual_system;
static struct virtual_cpu cpu;
static struct virtual_owner owner;

/* 0, or 100 and more. */
static int
check_virtual(void)
{
    struct tally_pmu_options options;
    struct tally_pmu *pmu = NULL;
    struct virtual_mips mips;
    struct counter_reading readings[VIRTUAL_EVENTS];
    struct virtual_request request = {.signal = 0};

    request.spec[9] = 9 << 5 | VIRTUAL_USER;
    tally_pmu_options_init(&options, sizeof(options));
    options.machine = "r10000";
    if (tally_pmu_init(memory, sizeof(memory), &options, &pmu) != 0 ||
        virtual_mips_init(&mips, &pmu) != 0 ||
        virtual_init(&virtual_system, &virtual_r10000_ops, &mips, &kernel_ops,
                     NULL, &cpu, 1) != 0)
        return 100;
    virtual_owner_init(&owner, 0, false);
    virtual_switch(&virtual_system, 0, &owner, 0);
    tally_pmu_set_state(pmu, 0, TALLY_PMU_LEVEL, TALLY_PMU_USER);
    if (virtual_start(&virtual_system, &owner, &owner, &request) <= 0)
        return 101;
    tally_pmu_signal(pmu, 0, TALLY_PMU_SIGNAL(TALLY_PMU_CPU, 0, 9, 1), 3, NULL);
    virtual_read(&virtual_system, &owner, &owner, readings);
    return readings[9].value == 3 ? 0 : 102;
}

void _start(void);

__attribute__((force_align_arg_pointer)) void
_start(void)
{
    const int monitors = check();
    const long status = monitors != 0 ? monitors : check_virtual();

    __asm__ volatile("syscall" : : "a"(60L), "D"(status) : "memory");
    for (;;)
        ;
}
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def build(root, tables, compiler, folder):
    """Objects of src/pmu and the virtual counters; None and the compiler's
    words on error."""
    objects = []
    sources = [*sorted((root / "src" / "pmu").glob("*.c")),
               *sorted((root / "src" / "counter").glob("virtual*.c")),
               root / "test" / "ref" / "virtual_mips.c",
               tables / "pmu_tables.c"]
    for source in sources:
        target = folder / (source.stem + ".o")
        status, words = run(*compiler, *FLAGS, "-I", root / "include", "-I",
                            root / "src", "-I", root / "test", "-I", tables,
                            "-c", source, "-o", target)
        if status != 0:
            return None, words
        objects.append(target)
    return objects, ""


def needed(objects):
    """Symbols that no object of them defines."""
    undefined, defined = set(), set()
    for line in run("nm", *objects)[1].splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == "U":
            undefined.add(words[1])
        elif len(words) == 3:
            defined.add(words[2])
    return undefined - defined


def writable(objects):
    """Variables: there must be none."""
    kinds = {"b", "B", "d", "D", "C"}
    lines = [line.split() for line in run("nm", *objects)[1].splitlines()]
    return sorted(w[2] for w in lines if len(w) == 3 and w[1] in kinds)


def report(number, name, good, words=""):
    print(f"{'' if good else 'not '}ok {number} {name}")
    for line in [] if good else words.splitlines():
        print("#", line)


def main():
    root, tables = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
    compiler = sys.argv[3:]
    if platform.machine() != "x86_64":
        print("1..0 # SKIP the entry is written for x86-64")
        return
    surroundings.make_plain()
    print("1..4")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        objects, words = build(root, tables, compiler, folder)
        report(1, "compiles freestanding", objects is not None, words)
        if objects is None:
            return
        extra = needed(objects) - PROVIDED
        report(2, "needs memcpy, memmove, memset, memcmp and no more",
               not extra, " ".join(sorted(extra)))
        moving = writable(objects)
        report(3, "has no variables", not moving, " ".join(moving))
        (folder / "entry.c").write_text(PROGRAM)
        status, words = run(*compiler, *FLAGS, "-I", root / "include", "-I",
                            root / "src", "-I", root / "test", "-I", tables,
                            folder / "entry.c",
                            *objects, "-o", folder / "bare")
        if status == 0:
            status, words = run(folder / "bare")
            words = words or f"exit status {status}: machine {status - 1}"
        report(4, "makes a monitor of each machine, and counts", status == 0,
               words)


main()
