#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The made-up /sys and /proc of a mock machine.

tree.py SCRIPT FOLDER               makes the tree in the folder
tree.py SCRIPT -- COMMAND...        runs the command on the machine; the object
                                    for LD_PRELOAD is in the variable
                                    TALLY_MOCK_OBJECT

README.md here says what a script holds.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

DEVICES = "sys/bus/event_source/devices"
CPUS = "sys/devices/system/cpu"
# Those of every kernel; their numbers are the interface.
ALWAYS = {"software": 1, "tracepoint": 2, "breakpoint": 5}
# system/name: number, of every machine with tracefs.
TRACEPOINTS = {"sched/sched_switch": 314, "sched/sched_waking": 315}
# Files of /proc/sys/kernel that a tool may ask for, as a kernel has them.
KERNEL = {"perf_event_max_sample_rate": 100000, "perf_event_mlock_kb": 516,
          "perf_event_max_stack": 127, "perf_event_max_contexts_per_stack": 8,
          "perf_cpu_time_max_percent": 25, "kptr_restrict": 0,
          "osrelease": "6.1.0-mock", "ostype": "Linux", "pid_max": 4194304,
          "threads-max": 100000, "cap_last_cap": 40, "ngroups_max": 65536}


def cpu_list(text):
    """0-3,8 as a list of numbers."""
    numbers = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def cpu_mask(numbers):
    return f"{sum(1 << number for number in numbers):x}"


def as_list(numbers):
    """Numbers as 0-3,8."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def lines(script):
    """(words, {key: value}) of each line."""
    for line in pathlib.Path(script).read_text().splitlines():
        words = line.split("#", 1)[0].split()
        if words:
            values = dict(w.split("=", 1) for w in words[1:] if "=" in w)
            yield words, values


class Tree:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.cpus = []

    def put(self, path, text):
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def pmu(self, words, values):
        name = words[1]
        folder = f"{DEVICES}/{name}"
        self.put(f"{folder}/type", values.get("type", "4"))
        self.put(f"{folder}/perf_event_mux_interval_ms", "4")
        for key in ("cpus", "cpumask"):
            if key in values:
                self.put(f"{folder}/{key}", values[key])
                # perf looks for the cpus of a hybrid machine here as well.
                self.put(f"sys/devices/{name}/{key}", values[key])
        if "precise" in values:
            self.put(f"{folder}/caps/max_precise", values["precise"])

    def event(self, words):
        folder = f"{DEVICES}/{words[1]}/events/{words[2]}"
        self.put(folder, words[3])
        for word in words[4:]:
            key, _, value = word.partition("=")
            self.put(f"{folder}.{key}", value)

    def topology(self, count, values, online):
        """Threads of a core are neighbours, cores of a socket too."""
        threads = int(values.get("threads", 1))
        sockets = int(values.get("sockets", 1))
        each = count // sockets
        self.put(f"{CPUS}/online", as_list(online))
        self.put(f"{CPUS}/possible", as_list(range(count)))
        self.put(f"{CPUS}/present", as_list(range(count)))
        self.put(f"{CPUS}/kernel_max", "511")
        for cpu in online:
            socket = cpu // each
            mates = [n for n in online if n // threads == cpu // threads]
            near = [n for n in online if n // each == socket]
            folder = f"{CPUS}/cpu{cpu}/topology"
            self.put(f"{folder}/physical_package_id", socket)
            self.put(f"{folder}/die_id", 0)
            self.put(f"{folder}/core_id", cpu % each // threads)
            # In /sys a link to the node.
            self.put(f"{CPUS}/cpu{cpu}/node{socket}/cpulist", as_list(near))
            for name in ("thread_siblings", "core_cpus"):
                self.put(f"{folder}/{name}", cpu_mask(mates))
                self.put(f"{folder}/{name}_list", as_list(mates))
            for name in ("core_siblings", "package_cpus", "die_cpus"):
                self.put(f"{folder}/{name}", cpu_mask(near))
                self.put(f"{folder}/{name}_list", as_list(near))
            self.put(f"{CPUS}/cpu{cpu}/online", 1)
        for node in range(sockets):
            cpus = [n for n in online if n // each == node]
            folder = f"sys/devices/system/node/node{node}"
            self.put(f"{folder}/cpulist", as_list(cpus))
            self.put(f"{folder}/cpumap", cpu_mask(cpus))
            for cpu in cpus:
                link = self.root / folder / f"cpu{cpu}"
                link.symlink_to(f"../../cpu/cpu{cpu}")
        nodes = as_list(range(sockets))
        self.put("sys/devices/system/node/online", nodes)
        self.put("sys/devices/system/node/possible", nodes)

    def tracefs(self, mounted):
        """An empty folder where it is not mounted."""
        events = "sys/kernel/tracing/events"
        for name, number in TRACEPOINTS.items() if mounted else ():
            self.put(f"{events}/{name}/id", number)
        (self.root / "sys/kernel/tracing").mkdir(parents=True, exist_ok=True)
        (self.root / "sys/kernel/debug").mkdir(parents=True, exist_ok=True)

    def cpuinfo(self, online):
        """Names a processor of no maker."""
        self.put("proc/cpuinfo", "\n\n".join(
            f"processor\t: {cpu}\nvendor_id\t: mock\ncpu family\t: 0\n"
            f"model\t\t: 0\nmodel name\t: mock\nstepping\t: 0"
            for cpu in online))

    def status(self, seccomp, capable):
        """/proc/self/status without the lines that depend on the process."""
        effective = "000001ffffffffff" if capable else "0000000000000000"
        user = 0 if capable else 1000
        self.put("proc/self/status", "\n".join([
            "Name:\tmock", f"Uid:\t{user}\t{user}\t{user}\t{user}",
            f"CapPrm:\t{effective}", f"CapEff:\t{effective}",
            "CapBnd:\t000001ffffffffff", "NoNewPrivs:\t0",
            f"Seccomp:\t{seccomp}", f"Seccomp_filters:\t{int(seccomp != 0)}"]))


def make(script, root):
    tree = Tree(root)
    count, shape, online = 1, {}, None
    paranoid, watchdog, seccomp, capable, traces = -1, 0, 0, True, True
    files = []
    for name, number in ALWAYS.items():
        tree.put(f"{DEVICES}/{name}/type", number)
    for words, values in lines(script):
        match words[0]:
            case "cpus":
                count, shape = int(words[1]), values
            case "online":
                online = cpu_list(words[1])
            case "pmu":
                tree.pmu(words, values)
            case "format":
                tree.put(f"{DEVICES}/{words[1]}/format/{words[2]}", words[3])
            case "event":
                tree.event(words)
            case "file":
                files.append((words[1], " ".join(words[2:])))
            case "paranoid":
                paranoid = int(words[1])
            case "watchdog":
                watchdog = int(words[1])
            case "seccomp":
                seccomp = int(words[1])
            case "capable":
                capable = words[1] == "yes"
            case "tracefs":
                traces = words[1] == "yes"
    online = range(count) if online is None else online
    tree.topology(count, shape, online)
    tree.cpuinfo(online)
    tree.tracefs(traces)
    for name, value in KERNEL.items():
        tree.put(f"proc/sys/kernel/{name}", value)
    tree.put("proc/sys/kernel/perf_event_paranoid", paranoid)
    tree.put("proc/sys/kernel/nmi_watchdog", watchdog)
    tree.status(seccomp, capable)
    for path, text in files:
        tree.put(path, text.replace("\\n", "\n"))


def variables(script, root, library, log=None):
    """What a program's environment needs to be on the machine."""
    values = {"LD_PRELOAD": str(library), "TALLY_MOCK_ROOT": str(root),
              "TALLY_MOCK_SCRIPT": str(script)}
    if log:
        values["TALLY_MOCK_LOG"] = str(log)
    return values


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    script = pathlib.Path(sys.argv[1]).resolve()
    if sys.argv[2] != "--":
        make(script, sys.argv[2])
        return 0
    with tempfile.TemporaryDirectory(prefix="tally-mock-") as root:
        make(script, root)
        # `env` sets LD_PRELOAD behind this interpreter.
        given = variables(script, root, os.environ["TALLY_MOCK_OBJECT"])
        words = [f"{key}={value}" for key, value in given.items()]
        return subprocess.call(["env", *words, *sys.argv[3:]])


if __name__ == "__main__":
    sys.exit(main())
