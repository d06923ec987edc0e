#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tally passes to perf_event_open against what perf stat passes.

  perf_attr.py HOST_ATTR    compares the fields that the event's text decides

Each string goes through `perf stat -vv -e STRING true` and through
test/host_attr.c. A sysfs tree written here stands for processors that this
host is not; perf finds it through SYSFS_PATH. perf stops at the first event
of a list that does not open, so lists are of software events.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import surroundings

# Of perf's fields those that no option but only the text decides.
FIELDS = {"type", "config", "pinned", "exclusive", "exclude_user",
          "exclude_kernel", "exclude_hv", "exclude_idle", "precise_ip",
          "exclude_host", "exclude_guest", "bp_type",
          "{ bp_addr, config1 }", "{ bp_len, config2 }"}

INTEL = {
    "cpu": {
        "type": "4", "format/event": "config:0-7",
        "format/umask": "config:8-15", "format/edge": "config:18",
        "format/inv": "config:23", "format/cmask": "config:24-31",
        "format/wide": "config:0-7,32-35", "format/ldlat": "config1:0-15",
        "format/offcore_rsp": "config1:0-63", "format/extra": "config2:4-7",
        "events/mem-loads": "event=0xcd,umask=0x1,ldlat=3",
        "events/slots": "event=0x00,umask=0x4"},
    "uncore_imc_0": {
        "type": "14", "cpumask": "0", "format/event": "config:0-7",
        "format/umask": "config:8-15",
        "events/cas_count_read": "event=0x04,umask=0x03",
        "events/cas_count_read.scale": "6.103515625e-5",
        "events/cas_count_read.unit": "MiB"},
    "uncore_imc_1": {
        "type": "15", "cpumask": "0", "format/event": "config:0-7",
        "format/umask": "config:8-15",
        "events/cas_count_read": "event=0x04,umask=0x03"},
    "power": {
        "type": "20", "cpumask": "0", "format/event": "config:0-7",
        "events/energy-pkg": "event=0x02",
        "events/energy-pkg.scale": "2.3283064365386962890625e-10",
        "events/energy-pkg.unit": "Joules"},
}
HYBRID = {
    "cpu_core": {
        "type": "4", "cpus": "0", "format/event": "config:0-7",
        "format/umask": "config:8-15", "events/slots": "event=0,umask=4"},
    "cpu_atom": {
        "type": "10", "cpus": "1", "format/event": "config:0-7",
        "format/umask": "config:8-15",
        "events/topdown-retiring": "event=0xc2,umask=0x02"},
}

REAL = """
cycles cpu-cycles instructions:u instructions:k branches:uk branch-misses:h
cache-references cache-misses:G cycles:H cycles:uG cycles:I cycles:p
instructions:pp cycles:ppp cycles:upp bus-cycles ref-cycles cycles:GH
stalled-cycles-frontend idle-cycles-backend cycles:D cycles:ukh cycles:P
L1-dcache-loads L1-dcache-load-misses:u l1d-stores L1-icache-loads
LLC-load-misses LLC-stores:k LLC-prefetch-misses dTLB-loads dTLB-store-misses
iTLB-load-misses branch-loads branch-load-misses node-loads node-store-misses
L1-dcache l1d-misses L1-data-read-miss L1-dcache-misses-loads
bpu-read d-tlb-speculative-read-refs
page-faults page-faults:u faults minor-faults major-faults:k task-clock
cpu-clock context-switches cs:u cpu-migrations migrations alignment-faults
emulation-faults dummy bpf-output cgroup-switches page-faults:S page-faults:W
page-faults:e page-faults:uD task-clock:uk task-clock:h cs:uP
page-faults,task-clock,cs page-faults:u,faults:k
{page-faults,task-clock} {page-faults,task-clock}:u {page-faults:u,cs}:k
{page-faults:u,task-clock}:DG {page-faults,cs:u}:e name{cs,faults}:ku
{page-faults:G,cs}:uW {cs,faults},{task-clock:u,minor-faults}:S
r1a8 r1a8:k rFFff:upp 1:2 1:2:u 4:0x1a8:k
mem:0x1000 mem:0x1000:rw mem:0x1000/8:w:u mem:0x1000:x:u
msr/tsc/ msr/tsc/u msr/event=0/ msr/event=1/k msr/config=0/
cycles/name=mine/u
""".strip().splitlines()
ON_INTEL = """
cpu/event=0x3c/ cpu/event=0x3c,umask=1/u cpu/event=0x3c,umask=0x2,cmask=2/pp
cpu/event=1,edge/ cpu/event=1,inv=1,cmask=0xff/k cpu/mem-loads/
cpu/mem-loads,ldlat=30/p cpu/wide=0xabc/ cpu/config=0x12,config1=3/k
cpu/config2=7,event=2/ cpu/event=1,name=mine/ cpu/r1a8/ cpu/offcore_rsp=0xffffffffffffffff,event=0xb7/
cpu/extra=0xf,event=1/ cpu/event=mem-loads/ cpu/edge,event=1,edge=0/ cpu//
cpu/event=1/GH cpu/event=1/uG mem-loads:u slots uncore_imc_0/cas_count_read/
uncore_imc/cas_count_read/ imc/event=1/ cas_count_read imc_1/event=3,umask=4/
power/energy-pkg/ cycles:u L1-dcache-loads
""".strip().splitlines()
# perf 6.1 leaves exclude_guest out of cache events here; later ones do not.
ON_HYBRID = """
cycles instructions:u cpu_core/event=0x3c/u cpu_atom/event=1/ cpu_core/slots/
r1a8 r1a8:k page-faults branches:pp
""".strip().splitlines()
REFUSED = """
cycles:uu cycles:pppp cycles:x cycels cpu/event=0x1ff/ cpu/evnt=1/ cpu/event=1
{cycles {cycles,{cs}} cycles} nope/event=1/ sched:no_such_event r L1-dcache-x
iTLB-stores mem:x cpu/event=x/
""".strip().splitlines()


def plant(root, devices):
    for name, files in devices.items():
        for file, text in files.items():
            path = root / "bus/event_source/devices" / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
    return root


def attributes(text):
    """The attributes in a listing, each {field: value}."""
    found = []
    for line in text.splitlines():
        if line.startswith("perf_event_attr:"):
            found.append({})
        match = re.fullmatch(r"  (\S+|\{.*?\}) +(\S+)", line)
        if match and found and match[1] in FIELDS:
            found[-1][match[1]] = match[2]
    return found


def of_perf(string, tree):
    env = dict(os.environ, LC_ALL="C")
    if tree:
        env["SYSFS_PATH"] = str(tree)
    done = subprocess.run(["perf", "stat", "-vv", "-e", string, "true"],
                          env=env, text=True, capture_output=True)
    text = done.stderr
    parts, again = [], False
    for part in re.split(r"^-{10,}\n", text, flags=re.M):
        if part.startswith("perf_event_attr:") and not again:
            parts.append(part)
        # The next one is no other event, but this with less in it: what an
        # older kernel lacks, or an ordinary user may not count.
        again = not part.startswith("perf_event_attr:") and (
            "switching off" in part or "trying to fall back" in part)
    if "event syntax error" in text or "arser error" in text:
        return None
    return attributes("".join(parts))


def of_tally(program, string, tree):
    more = ["--sys", str(tree)] if tree else []
    done = subprocess.run([program, *more, string], text=True,
                          capture_output=True)
    if done.returncode != 0:
        lines = done.stderr.splitlines()
        return lines[0] if len(lines) == 1 else f"{len(lines)} lines"
    return attributes(done.stdout)


def plain(attribute_list):
    return sorted(sorted(a.items()) for a in attribute_list)


def first_of(perf, tally):
    """perf gives up after the event that did not open; so compare those."""
    return plain(perf) == plain(tally) or \
        (perf and all(a in plain(tally) for a in plain(perf)))


def strings(lines):
    return [word for line in lines for word in line.split()]


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def case(self, name, good, *notes):
        self.count += 1
        print(f"{'ok' if good else 'not ok'} {self.count} {name}".replace(
            "#", "\\#"))
        self.failed += not good
        for note in () if good else notes:
            print(f"# {note}")


def compare(tap, program, words, tree, name):
    for word in words:
        perf, tally = of_perf(word, tree), of_tally(program, word, tree)
        good = isinstance(tally, list) and perf is not None and \
            first_of(perf, tally) and len(tally) >= len(perf)
        tap.case(f"{name} {word}", good, f"perf:  {perf}", f"tally: {tally}")


def main():
    if shutil.which("perf") is None:
        print("1..0 # SKIP perf is not installed")
        return
    program = sys.argv[1]
    surroundings.make_plain()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        trees = {name: plant(pathlib.Path(folder) / name, devices)
                 for name, devices in (("intel", INTEL), ("hybrid", HYBRID))}
        compare(tap, program, strings(REAL), None, "this host:")
        compare(tap, program, strings(ON_INTEL), trees["intel"], "intel:")
        compare(tap, program, strings(ON_HYBRID), trees["hybrid"], "hybrid:")
        for word in strings(REFUSED):
            got = of_tally(program, word, trees["intel"])
            tap.case(f"refused: {word}", isinstance(got, str) and
                     got.startswith("host_attr: "), f"tally: {got}")
    print(f"1..{tap.count}")


if __name__ == "__main__":
    main()
