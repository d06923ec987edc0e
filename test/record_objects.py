#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally record --objects and tally report --by object: record_objects.py BUILD

The misses of test/guest/objects.c follow from arithmetic.
"""
import json
import pathlib
import tempfile

import tallytest as t

# A machine with an L1D of 16 KB or less, its architecture, and loads that miss.
MACHINES = {
    "montecito": ("x86_64", "L1D_READ_MISSES.ALL"),
    "ultrasparc-t2": ("sparc64", "Dcache_misses"),
}
PASSES = 3

folder = None


@t.once
def record(machine, form, *options, program="objects.dyn", objects="--objects",
           more=()):
    """Records a form of the program once; returns the record's path."""
    isa, event = MACHINES[machine]
    path = folder / (f"{machine}.{form}.{program}{objects}"
                     f"{'.'.join((*options, *more))}.data")
    done = t.run(t.tally(), "record", "-q", objects, "-m", machine, "-o",
                 path, *(options or ("-e", event)), *more, "--",
                 t.guest(f"{program}.{isa}"), form)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return path


def report(path, *options):
    done = t.run(t.tally(), "report", "-j", *options, path)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return json.loads(done.stdout)


def misses(found, event):
    """The rows' objects and what each misses."""
    return {row["keys"]["object"]: row["values"][event]
            for row in found["rows"]}


def of(rows, beginning):
    """The sum of the objects whose names begin so."""
    return sum(count for name, count in rows.items()
               if name.startswith(beginning))


def adds_up(found):
    for event in found["events"]:
        rows = [*found["rows"], *([found["more"]] if "more" in found else [])]
        t.equal(sum(row["values"][event["name"]] for row in rows) +
                event["elsewhere"], event["total"], event["name"])


def near(found, expected):
    """All lines, or all but those that the allocator's own words touch."""
    assert expected - 4 * PASSES <= found <= expected, (found, expected)


@t.named("variables, lists, blocks and mappings miss what arithmetic says")
def arithmetic():
    for machine, (isa, event) in MACHINES.items():
        found = report(record(machine, "all"), "--by", "object")
        rows = misses(found, event)
        image = f" in objects.dyn.{isa}"
        t.equal(rows["table" + image], 4096 * PASSES, machine)
        t.equal(rows["matrix" + image], 256 * 256, machine)
        t.equal(of(rows, "aligned_alloc in make_list"), 4096 * PASSES, machine)
        near(of(rows, "calloc in make_buckets"), 4096 * PASSES)
        near(of(rows, "malloc in first_tenant"), 2047 * PASSES)
        near(of(rows, "malloc in second_tenant"), 2047 * PASSES)
        near(of(rows, "realloc in grow"), 2048 * PASSES)
        t.equal(of(rows, "mmap in run_all"), 1024 * PASSES, machine)
        # 512 bytes that are read again and again miss once a line, but for
        # what drives lines out.
        lines = 512 // (64 if machine == "montecito" else 16)
        ring = rows["ring" + image]
        assert lines <= ring <= 2 * lines, (machine, ring)
        adds_up(found)


@t.named("each function misses on its own objects")
def by_function():
    machine = "montecito"
    event = MACHINES[machine][1]
    found = report(record(machine, "all"), "--by", "function,object")
    walked = {row["keys"]["object"]: row["values"][event]
              for row in found["rows"] if row["keys"]["function"] == "walk"}
    t.equal(of(walked, "aligned_alloc in make_list"), 4096 * PASSES)
    assert sum(walked.values()) - 4096 * PASSES < 8, walked
    adds_up(found)


@t.named("threads' stacks and blocks")
def threads():
    for machine, (_, event) in MACHINES.items():
        found = report(record(machine, "threads"), "--by", "object")
        rows = misses(found, event)
        t.equal(of(rows, "aligned_alloc in shared_block"), 8 * 1024 * PASSES,
                machine)
        stack = rows["stack of run_thread"] - 8 * 1024 * PASSES
        assert -64 <= stack < 8 * 512, (machine, stack)
        assert rows["stack"] < 8 * 64, (machine, rows["stack"])
        adds_up(found)


@t.named("a forked child knows its parent's blocks")
def child():
    for machine, (_, event) in MACHINES.items():
        found = report(record(machine, "child"), "--by", "object,process")
        rows = {(row["keys"]["object"].split(" from")[0].split(" (")[0],
                 row["keys"]["process"]): row["values"][event]
                for row in found["rows"]}
        near(rows["malloc in first_tenant", 1], 2048 * PASSES)
        near(rows["malloc in second_tenant", 1], 2048 * PASSES)
        assert ("malloc in second_tenant", 0) not in rows, rows
        adds_up(found)


@t.named("allocations and bytes of each site")
def allocations():
    found = report(record("montecito", "all"), "--by", "object")
    keys = {row["keys"]["object"].split(" (")[0]: row["keys"]
            for row in found["rows"]}
    lists = keys["aligned_alloc in make_list"]
    t.equal((lists["object_kind"], lists["allocations"],
             lists["allocated_bytes"]), ("heap", 4096, 4096 * 64))
    variable = keys["matrix in objects.dyn.x86_64"]
    t.equal((variable["object_kind"], variable["allocations"]),
            ("variable", None))
    t.equal(keys["stack"]["object_kind"], "stack")


@t.named("all events of a machine add up by object, and to those of no object")
def everything():
    for machine in MACHINES:
        path = record(machine, "all", "-e", "all")
        for keys in ("object", "object,line", "process,object", "object,caller"):
            adds_up(report(path, "--by", keys, "-e", "all"))
        plain = report(path, "--by", "image", "-e", "all")
        t.equal({e["name"]: e["total"] for e in plain["events"]},
                {e["name"]: e["total"]
                 for e in report(path, "--by", "object", "-e", "all")["events"]})


@t.named("the program's own functions execute what they do without --objects")
def same_code():
    event = "IA64_INST_RETIRED"
    path = folder / "plain.data"
    program = t.guest("objects.dyn.x86_64")
    t.equal(t.run(t.tally(), "record", "-q", "-m", "montecito", "-e", event,
                  "-o", path, "--", program, "all").returncode, 0)
    counts = []
    for each in (path, record("montecito", "all", "-e", event)):
        found = report(each, "--by", "function,image")
        counts.append({row["keys"]["function"]: row["values"]
                       for row in found["rows"]
                       if row["keys"]["image"] == str(program)})
        # The library that reports allocations does not count.
        assert not any("tally-allocations" in row["keys"]["image"]
                       for row in found["rows"] if row["keys"]["image"])
    t.equal(*counts)


@t.named("blocks of a static program are told by its registers")
def static():
    for machine, (isa, event) in MACHINES.items():
        found = report(record(machine, "all", program="objects"), "--by",
                       "object")
        rows = misses(found, event)
        t.equal(rows[f"matrix in objects.{isa}"], 256 * 256, machine)
        # memalign() and aligned_alloc() may be one function.
        t.equal(of(rows, "memalign in make_list") +
                of(rows, "aligned_alloc in make_list"), 4096 * PASSES, machine)
        near(of(rows, "calloc in make_buckets"), 4096 * PASSES)
        near(of(rows, "malloc in first_tenant"), 2047 * PASSES)
        near(of(rows, "malloc in second_tenant"), 2047 * PASSES)
        near(of(rows, "realloc in grow"), 2048 * PASSES)
        t.equal(of(rows, "mmap in run_all"), 1024 * PASSES, machine)
        adds_up(found)


@t.named("an allocator of the program's own")
def own_allocator():
    for machine, (_, event) in MACHINES.items():
        for program in ("uses", "uses.dyn"):
            path = record(machine, "pool", program=program,
                          more=("--allocator", "pool_alloc:2"))
            found = report(path, "--by", "object")
            near(of(misses(found, event), "pool_alloc in from_pool"),
                 1024 * PASSES)
            keys = next(row["keys"] for row in found["rows"]
                        if row["keys"]["object"].startswith("pool_alloc"))
            t.equal((keys["allocations"], keys["allocated_bytes"]),
                    (1, 65536), machine)
            adds_up(found)


@t.named("stack frames are told by the function that has them")
def frames():
    for machine, (_, event) in MACHINES.items():
        for program in ("uses", "uses.dyn"):
            found = report(record(machine, "frames", program=program), "--by",
                           "object,function")
            walked = {row["keys"]["object"]: row["values"][event]
                      for row in found["rows"]
                      if row["keys"]["function"] == "walk"}
            # Of each walk the first pass may find lines that were just written.
            for owner, lines in (("outer_frame", 2 * 512), ("inner_frame", 512),
                                 ("recursive_frame", 5 * 512)):
                count = walked.get("stack of " + owner, 0)
                assert 2 * lines <= count <= 3 * lines + 8, (
                    machine, program, owner, count)
            assert walked.get("stack", 0) < 8, (machine, walked)
            adds_up(found)


@t.named("a file that is mapped in the midst of other memory")
def mapped():
    data = folder / "data"
    data.write_bytes(bytes(65536))
    for machine, (isa, event) in MACHINES.items():
        path = folder / f"{machine}.mapped.data"
        done = t.run(t.tally(), "record", "-q", "--objects", "-m", machine,
                     "-e", event, "-o", path, "--",
                     t.guest(f"uses.dyn.{isa}"), "mapped", data)
        t.equal(done.returncode, 0, f"status; {done.stderr!r}")
        found = report(path, "--by", "object")
        rows = misses(found, event)
        t.equal(rows[f"mapping of {data}"], 1024 * PASSES, machine)
        t.equal(of(rows, "mmap in map_file"), 2 * 1024 * PASSES, machine)
        adds_up(found)


@t.named("--objects=all: accesses, and how much of each line was used")
def uses():
    rows, passes = 2048, 3
    for machine, (isa, event) in MACHINES.items():
        line = 64 if machine == "montecito" else 16
        found = report(record(machine, "uses", program="uses.dyn",
                              objects="--objects=all"), "--by", "object")
        keys = {row["keys"]["object"]: row["keys"] for row in found["rows"]}
        missed = misses(found, event)
        for name, loads, stores, share in (
                ("rows", rows * passes, 0, min(line, 8 * 16) // 8),
                ("whole", 16 * rows * passes, 0, 1),
                ("half", 8 * rows * passes, 0, 2)):
            key = keys[f"{name} in uses.dyn.{isa}"]
            t.equal((key["loads"], key["stores"]), (loads, stores),
                    f"{machine} {name}")
            t.equal(key["fetched_bytes"], missed[key["object"]] * line)
            t.equal(key["touched_bytes"] * share, key["fetched_bytes"],
                    f"{machine} {name}")
        key = keys[f"written in uses.dyn.{isa}"]
        t.equal((key["loads"], key["stores"]), (0, 16 * rows * passes), machine)
        key = keys[f"bytes in uses.dyn.{isa}"]
        t.equal((key["loads"], key["stores"]), (2000, 0), machine)
        assert key["touched_bytes"] <= 2 * key["fetched_bytes"] // line, key
        adds_up(found)


@t.named("--objects=all where cores take lines from each other")
def uses_shared():
    """Each of the queue's lines is served by itself, and all that was touched of
    the others counts."""
    path = folder / "shared.data"
    done = t.run(t.tally(), "record", "-q", "--objects=all", "-m", "host-model",
                 "-e", "L1-dcache-load-misses,coherence-load-misses", "--set",
                 "l1d.size=16K", "--set", "l1d.ways=4", "-o", path, "--",
                 t.guest("uses.x86_64"), "uses")
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    keys = {row["keys"]["object"]: row["keys"]
            for row in report(path, "--by", "object")["rows"]}
    for name, lines, share in (("rows", 2048, 8), ("whole", 4096, 1),
                               ("half", 4096, 2)):
        key = keys[f"{name} in uses.x86_64"]
        t.equal((key["fetched_bytes"], key["touched_bytes"]),
                (3 * lines * 64, 3 * lines * 64 // share), name)


@t.named("all accesses add up to the loads and stores of the program")
def all_accesses():
    machine, isa = "ultrasparc-t2", "sparc64"
    path = record(machine, "uses", "-e", "Instr_ld,Instr_st", program="uses.dyn",
                  objects="--objects=all")
    found = report(path, "--by", "object", "--top", "100000")
    totals = [e["total"] for e in found["events"]]
    for kind, event in (("loads", 0), ("stores", 1)):
        total = sum(row["keys"][kind] for row in found["rows"]
                    if row["keys"]["object"] != "(no object)")
        # Atomics, which load and store, are instructions of another class.
        assert abs(total - totals[event]) <= totals[event] // 200, (
            kind, total, totals)


@t.named("what goes wrong is said in one line")
def refusals():
    program = t.guest("objects.dyn.x86_64")
    path = folder / "none.data"
    done = t.run(t.tally(), "record", "--objects", "--no-callers", "-o", path,
                 "--", program)
    t.equal(done.returncode, 2)
    t.equal(done.stderr, "tally record: --objects tells heap blocks by the "
            "calls that led to them, and needs these: leave --no-callers "
            "away\n")
    assert not path.exists(), "a record was written"
    t.equal(t.run(t.tally(), "record", "-q", "-m", "montecito", "-e",
                  "IA64_INST_RETIRED", "-o", path, "--", program,
                  "child").returncode, 0)
    done = t.run(t.tally(), "report", "--by", "object", path)
    t.equal(done.returncode, 2)
    t.equal(done.stderr, f"tally report: {path} has no objects: record it "
            "with --objects\n")
    for options, text in (
            (("--allocator", "pool_alloc:2"), "--allocator names a function "
             "that gives objects their memory, and needs --objects"),
            (("--objects=some",), "--objects=some: --objects or --objects=all "
             "is expected")):
        done = t.run(t.tally(), "record", *options, "-o", folder / "no.data",
                     "--", program)
        t.equal((done.returncode, done.stderr), (2, f"tally record: {text}\n"))
    for value in ("pool_alloc", ":1", "f:0", "f:7", "f:1x", "f:" + "9" * 30,
                  "f" * 64 + ":1"):
        done = t.run(t.tally(), "record", "--objects", "--allocator", value,
                     "-o", folder / "no.data", "--", program)
        t.equal(done.returncode, 2, value)
        t.contains(done.stderr, "such as pool_alloc:2")
    done = t.run(t.tally(), "record", "--objects", "--allocator", "wolk:1",
                 "-o", folder / "no.data", "--", t.guest("uses.dyn.x86_64"))
    t.equal(done.returncode, 2)
    t.contains(done.stderr, "no function 'wolk'; did you mean walk")
    assert not (folder / "no.data").exists(), "a record was written"


@t.named("inclusive costs are those of whole paths, of all objects together")
def inclusive():
    path = record("montecito", "heap")
    done = t.run(t.tally(), "export", "--as", "folded", "-i", path)
    t.equal(done.returncode, 0, done.stderr)
    wanted = {}
    for line in done.stdout.splitlines():
        stack, _, count = line.rpartition(" ")
        for name in set(stack.split(";")):
            wanted[name] = wanted.get(name, 0) + int(count)
    event = MACHINES["montecito"][1]
    rows = {}
    for row in report(path)["rows"]:
        rows.setdefault(row["keys"]["function"], []).append(
            row["inclusive"][event])
    # Functions of one name in several files are one in a folded stack.
    alone = {name: counts[0] for name, counts in rows.items()
             if name and len(counts) == 1}
    assert len(alone) > 20, rows
    t.same(alone, {name: wanted.get(name, 0) for name in alone})


def main():
    global folder
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main()


main()
