#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally summarize: summarize.py BUILD [WORD]

The samples of the Netra DPS profiler's document, what follows from them and
what does not (rules P30 to P52), and made-up dumps against arithmetic done
here.
"""
import csv
import io
import json
import math
import os
import random
import resource
import signal
import subprocess
import tempfile

import tallytest as t
from summarize_help import (document, Dump, END, HEADER, metrics, near, sample,
                            series, START, summarize, workbook)

# The T1 summary of the document, L718-728: what can be had from its sample
# dump, and what takes the intervals that the dump does not show.

T1_SHOWN = [  # cycles, Instr_cnt, code, value, userdata 1: L721-728
    (295649212, 52240523, 2, 0, 400000),
    (147824128, 26122620, 4, 689, 600000),
    (295647284, 52238312, 8, 2472263, 800000),
    (295646420, 52234078, 0x10, 0, 1000000),
    (295644896, 52241803, 0x20, 0, 1200000),
    (295649084, 52246157, 0x40, 434, 1400000),
    (295646316, 52250156, 0x80, 236270, 1600000),
]
T1_TOP = {"cycle": 289219777, "SB_full": 3121, "ITLB_miss": 0,
          "Instr_cnt": 51104522, "FP_instr_cnt": 0, "DTLB_miss": 0,
          "IC_miss": 1080, "L2_Imiss": 433, "DC_miss": 2471858,
          "L2_Dmiss_LD": 236191, "userdata1": 2600000, "userdata2": 64641356}
NAMES = {1: "SB_full", 2: "FP_instr_cnt", 4: "IC_miss", 8: "DC_miss",
         0x10: "ITLB_miss", 0x20: "DTLB_miss", 0x40: "L2_Imiss",
         0x80: "L2_Dmiss_LD"}
WORD2 = 64641356


def share(total, count):
    """`count` whole numbers, as equal as can be, that make `total`."""
    return [total // count + (i < total % count) for i in range(count)]


def t1_whole():
    """The dump of 23 intervals that the top row is the mean of: seven that the
    document's summary shows, seven of its dump, nine that nobody saw."""
    dump = Dump()
    rows = [(c, i, code, v, u) for c, i, code, v, u in T1_SHOWN]
    lines = open(sample("t1.csv")).read().splitlines()[2:-1]
    for start, update in zip(lines[::2], lines[1::2]):
        s, u = start.split(","), update.split(",")
        rows.append((int(u[3], 16) - int(s[3], 16), int(u[6], 16),
                     int(s[7], 16), int(u[7], 16), int(u[9], 16)))
    unseen = [0x80, 1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80]
    cycles = share(T1_TOP["cycle"] * 23 - sum(r[0] for r in rows), 9)
    instructions = share(T1_TOP["Instr_cnt"] * 23 - sum(r[1] for r in rows), 9)
    values = {}
    for code in set(unseen):
        seen = [r[3] for r in rows if r[2] == code]
        more = unseen.count(code)
        total = T1_TOP[NAMES[code]] * (len(seen) + more) - sum(seen)
        values[code] = share(total, more)
    for i, code in enumerate(unseen):
        rows.append((cycles[i], instructions[i], code, values[code].pop(),
                     3200000 + 200000 * i))
    for c, i, code, v, u in rows:
        dump.interval(c, i, v, (0x100, code), (u, WORD2))
    return dump.text()


# P17 P19 P31
@t.named("P31: the SB_full row follows from the sample dump")
def t1_row():
    out = summarize("--format", "teja", sample("t1.csv")).stdout
    t.contains(out, "\n4,0x521f08,0x5128f0,295644764,52232100,SB_full,3114,"
               "1800000,64641356,\n")


# P30 P32 P33 P34 P35 P37 P38
@t.named("P32 to P34: the T1 summary, the nine unseen intervals supplied")
def t1_summary():
    lines = summarize("--format", "teja", text=t1_whole()).stdout.splitlines()
    t.equal(lines[0], "cpuid , cycle ,  SB_full ,ITLB_miss ,Instr_cnt ,"
            "FP_instr_cnt ,DTLB_miss ,IC_miss ,L2_Imiss ,DC_miss ,"
            "L2_Dmiss_LD ,userdata1 ,userdata2 ,")
    t.equal(lines[1], "4 , 289219777 ,3121, 0, 51104522, 0, 0, 1080, 433, "
            "2471858, 236191, 2600000  ,64641356 ,")
    t.equal(lines[2], "CPU,StartPC,UpdatePC,Cycles,Instr_cnt,CntrName,Value,"
            "UserData.1,UserData.2,")
    for line, (c, i, code, v, u) in zip(lines[3:], T1_SHOWN):
        t.equal(line, f"4,0x521f08,0x5128f0,{c},{i},{NAMES[code]},{v},{u},"
                f"{WORD2},")
    t.equal(len(lines), 3 + 23, "lines")


# P50 P51
@t.named("P50, P51: the T1 metrics; user word 1 as it is and as a running sum")
def t1_metrics():
    text = t1_whole()
    got = metrics(document("--by", "thread", text=text)["cells"][0])
    for name, wanted in (("ipc", 0.176698), ("ipp", 19.65559),
                         ("sb_full_per_1000", 0.0611),
                         ("ic_miss_per_1000", 0.02113),
                         ("dc_miss_per_1000", 48.369),
                         ("l2_imiss_per_1000", 0.008473),
                         ("l2_dmiss_ld_per_1000", 4.6217)):
        if abs(got[name] / wanted - 1) > 1e-3:
            raise AssertionError(f"{name}: {got[name]}, not {wanted}")
    # 23 sums have 22 differences, each of 200000.
    got = metrics(document("--by", "thread", "--user-cumulative",
                           text=text)["cells"][0])
    near(got["ipp"], 51104522 / 200000)


# P39 P35
@t.named("P39: the T2 sample, its first interval in and out")
def t2_skip():
    for skip, wanted, words in ((0, 339693737, 210526), (1, 348874454, 200000)):
        out = summarize("--format", "teja", "--skip", str(skip),
                        sample("t2.csv")).stdout.splitlines()
        t.contains(out, f"{'Cycles':29}{wanted}")
        t.contains(out, f"{'Userdata.1':29}{words}")


# P20 P32 P33 P36
@t.named("P36: profiler_n2.pl's column, names and order of L799-840")
def t2_column():
    names = """CPUid Cycles Store_instr L2_instr_misses ITLB_miss_L2
        CPU_ST_to_PCX MA_OP MA_Busy Completed_branches Icache_misses
        Stream_LD_to_PCX DES_3DES_OP DES_3DES_Busy_cycle Sethi_instr
        L2_load_misses DTLB_miss_L2 MMU_LD_to_PCX CRC_TCPIP_Cksum_OP
        CRC_MPA_Cksum Taken_branches Dcache_misses Stream_ST_to_PCX AES_OP
        AES_Busy_cycle Other_instr FGU_arithmatic_instr ITLB_ref_L2
        CPU_LD_to_PCX RC4_OP RC4_Busy_cycle ITLB_miss Atomics Load_instr
        DTLB_ref_L2 CPU_Ifetch_to_PCX MD5_SHA1_SHA256_OP
        MD5_SHA1_SHA256_Busy_cycle DTLB_miss TLB_miss All_instr Userdata.1
        Userdata.2""".split()
    lines = summarize("--format", "teja", sample("t2.csv")).stdout.split("\n")
    column = lines[lines.index(f"{'CPUid':29}2"):-1]
    t.equal([line.split()[0] for line in column], names)
    # The three sections say the same.
    t.equal(lines[0], ",".join(names) + ",")
    t.equal(lines[1], ",".join(line.split()[1] for line in column) + ",")
    t.equal({line.rindex(" ") for line in column}, {28}, "the values' column")


# P22
@t.named("P22: the format's example, with its own mistakes")
def example():
    text = """TEJA_PROFILE_DUMP_START,ver1.1 
CPUID,ID,Type,Cycles,PC,Grp,Evt_Hi,Evt_Lo,Overflow,User Data 
4,15136,1,4d048ad5c4,521f08,1,100,2 
4,30e6,2,4d162a0db0,5128f0,1,36c2ba96,ce,0,1e8480,3da594c 
4,18236,1,4cf2eb9ce4,521f08,1,100,1 
4,3a2f,2,4d048acb40,5128f0,1,31cffa4,c2a,0,1b7740,3da594c 
TEJA_PROFILE_DUMP_END 
"""
    got = document(text=text)
    t.equal(got["troubles"], [])
    cells = {c["start"]["id"]: series(c) for c in got["cells"]}
    t.equal(cells["0x15136"]["instr_cnt"]["max"], 918731414)
    t.equal(cells["0x15136"]["cycles"]["max"], 295647212)
    t.equal(cells["0x18236"]["SB_full"]["max"], 3114)


@t.named("a hint where user word 1 only grows")
def running_sum():
    hint = "user word 1 only grows"
    t.contains(summarize(sample("t1.csv")).stderr, hint)
    for options in (["--user-cumulative", sample("t1.csv")],
                    ["--input", "pkts=7", sample("t1.csv")],
                    ["--skip", "1", sample("t2.csv")]):
        assert hint not in summarize(*options).stderr, options


@t.named("a user word that no record has is told")
def absent_word():
    for word in (1, 2, 3, 9):
        done = summarize("--input", f"pkts=user{word}", sample("t1.csv"))
        t.equal("tally: warning: no record has user word 9: metrics with pkts "
                "have no value\n" in done.stderr, word == 9, word)


T2_SUMMARY = {"Cycles": 213357798, "Store_instr": 5157787,
              "L2_load_misses": 59993, "Icache_misses": 1932,
              "Dcache_misses": 1024428, "Load_instr": 14564094,
              "All_instr": 65033422}


# P52 P53
@t.named("P52: the T2 metrics of the document's own summary")
def t2_metrics():
    dump = Dump(8)
    codes = {"Store_instr": 0x102, "L2_load_misses": 0x203,
             "Icache_misses": 0x13, "Dcache_misses": 0x23,
             "Load_instr": 0x82, "All_instr": 0xfd2}
    for name, code in codes.items():
        value = T2_SUMMARY[name]
        dump.interval(T2_SUMMARY["Cycles"], value, value, (code, code),
                      (200000, 0))
    for freq, rate in (("1.4G", 1312.35), ("1.2G", 1124.87)):
        got = metrics(document("--freq", freq, text=dump.text())["cells"][0])
        for name, wanted in (
                ("ipp", 325.167), ("ipc", 0.304809),
                ("stores_per_packet", 25.7889), ("loads_per_packet", 72.8205),
                ("l2_load_misses_per_packet", 0.299965),
                ("icache_misses_per_1000_packets", 9.66),
                ("dcache_misses_per_packet", 5.12214),
                ("pipeline_utilisation", 30.4809), ("packet_rate", rate)):
            if abs(got[name] / wanted - 1) > 1e-5:
                raise AssertionError(f"{name}: {got[name]}, not {wanted}")


# P54 P57
@t.named("P54: idle time; and bandwidth, shares of CPI by given latencies")
def inputs():
    dump = Dump()
    dump.interval(1000000, 500000, 2000, (0x100, 4), (100, 40))
    dump.interval(1000000, 500000, 1000, (0x100, 0x40), (100, 60))
    dump.interval(1000000, 500000, 3000, (0x100, 0x80), (100, 50))
    got = metrics(document(
        "--freq", "1G", "--input", "idle_loop_count=user2", "--input",
        "idle_loop_time=1e-6", "--input", "l1_miss_latency=20", "--input",
        "l2_miss_latency=100", text=dump.text())["cells"][0])
    near(got["idle_time"], 50e-6)
    near(got["icache_miss_cpi"], 2000 / 500000 * 20)
    near(got["l2_instr_miss_cpi"], 1000 / 500000 * 100)
    near(got["memory_bandwidth"], 64 * 4000 / 1e-3)


# Made-up dumps.

def percentile(values, percent):
    values = sorted(values)
    return values[max(math.ceil(percent / 100 * len(values)), 1) - 1]


@t.named("mean, deviation and percentiles, exact and rounded")
def statistics():
    rng = random.Random(7)
    for count, spread in ((1, 1), (10, 1000), (1000, 10**9), (5000, 10**12),
                          (100000, 10**6), (30000, 20)):
        dump, cycles = Dump(), []
        for _ in range(count):
            cycles.append(rng.randrange(1, spread + 1))
            dump.interval(cycles[-1], cycles[-1] * 2, 0)
        got = series(document(text=dump.text())["cells"][0])["cycles"]
        mean = sum(cycles) / count
        near(got["mean"], mean)
        near(got["deviation"] + 1,
             math.sqrt(sum((c - mean) ** 2 for c in cycles) / count) + 1)
        t.equal((got["min"], got["max"]), (min(cycles), max(cycles)))
        error = got["percentile_rank_error"]
        t.equal(error == 0, count <= 1000 or spread < 1000,
                "exact")
        assert error < 0.005, error
        for p in (50, 90, 95, 99):
            if error == 0:
                t.equal(got[f"p{p}"], percentile(cycles, p), f"p{p}")
            less = sum(c < got[f"p{p}"] for c in cycles) / count
            most = sum(c <= got[f"p{p}"] for c in cycles) / count
            assert less <= p / 100 + error, (p, less, count)
            assert most >= p / 100 - error, (p, most, count)


@t.named("threads, regions, cores, all")
def places():
    text = ""
    for cpu in range(8):
        dump = Dump(cpu)
        for i in range(10):
            dump.interval(1000 * (cpu + 1), 500, 10, start=0x100 + i % 2)
        text += dump.text()
    cells = document(text=text)["cells"]
    t.equal(len(cells), 16)
    t.equal([(c["cpu"], c["start"]["id"], c["intervals"]) for c in cells[:3]],
            [(0, "0x100", 5), (0, "0x101", 5), (1, "0x100", 5)])
    cells = document("--by", "region", text=text)["cells"]
    t.equal([c["intervals"] for c in cells], [40, 40])
    near(series(cells[0])["cycles"]["mean"], 4500)
    cells = document("--by", "core", text=text)["cells"]
    t.equal([(c["core"], c["strands"], c["intervals"]) for c in cells],
            [(0, 4, 40), (1, 4, 40)])
    # A core's strands run at the same time: its IPC is the sum of theirs.
    near(metrics(cells[0])["ipc"], sum(500 / (1000 * (c + 1))
                                       for c in range(4)))
    [cell] = document("--by", "all", text=text)["cells"]
    near(metrics(cell)["ipc"], sum(500 / (1000 * (c + 1)) for c in range(8)))
    near(series(cell)["between"]["mean"], 2692)


# P17 P23
@t.named("P23: an update after an update counts from there")
def chain():
    lines = ["4,1,1,100,0,1,100,8\n", "4,2,2,200,0,1,50,5,0\n",
             "4,3,2,400,0,1,90,5,0\n", "4,3,2,500,0,1,a0,4,0\n",
             "4,3,2,600,0,1,1,6,2\n"]
    done = summarize("-j", "--by", "thread",
                     text=START + "".join(lines) + END)
    got = series(json.loads(done.stdout)["cells"][0])
    near(got["cycles"]["mean"], (0x100 + 0x200 + 0x100 + 0x100) / 4)
    t.equal((got["instr_cnt"]["n"], got["DC_miss"]["n"]), (3, 3))
    near(got["instr_cnt"]["mean"], (0x50 + 0x40 + 0x10) / 3)
    t.contains(done.stderr, "skipped: 1 count is less than the one before it")
    t.contains(done.stderr, "skipped: 1 count overflowed its counter")


# P14 P18
@t.named("P14: overflow bits: 1 is evt_lo's, 2 evt_hi's, 3 both")
def overflow():
    for bits, counted in ((0, "11"), (1, "10"), (2, "01"), (3, "00")):
        dump = Dump()
        dump.interval(1000, 5, 7, overflow=bits)
        cells = document(text=dump.text())["cells"]
        got = series(cells[0])
        t.equal("".join(str(int(n in got)) for n in ("instr_cnt", "SB_full")),
                counted, f"overflow {bits}")
        t.equal(cells[0]["intervals"], 1)
        out = summarize("--format", "teja", text=dump.text()).stdout
        t.contains(out, "4,0x521f08,0x5128f0,1000,5,SB_full,7,\n")


# P15
@t.named("P15: nothing goes across an overrun of the buffer")
def overrun():
    dump = Dump()
    for i in range(4):
        dump.interval(1000 + i, 5, 7, words=(100 * i,))
    lines = dump.lines
    # The last two intervals come behind the gap, the first of them halved.
    lines = lines[:3] + ["-1," + line for line in lines[5:]]
    done = summarize("-j", "--user-cumulative",
                     text=START + HEADER + "".join(lines) + END)
    got = json.loads(done.stdout)
    t.equal(got["intervals"], 2)
    t.equal([x["what"] for x in got["troubles"]], ["gap", "overrun"])
    assert "user1" not in series(got["cells"][0]), "a difference across"
    t.contains(done.stderr, "profiler_log_table_size")


@t.named("P15: behind an overrun updates of one start go on")
def overrun_resumes():
    # One start, ten cycles and an event a turn; turns up to 6 are lost. A
    # buffer of 2^n + 1 records keeps the start alone.
    rows = ["4,1,1,0,0,1,100,8\n"]
    rows += [f"4,2,2,{10 * i:x},0,1,{i:x},{i:x},0\n" for i in range(1, 11)]
    rows[7:] = ["-1," + row for row in rows[7:]]
    for kept in (0, 1, 2):
        text = "".join(rows[:1 + kept] + rows[7:])
        done = summarize("-j", "--by", "thread",
                         text=START + HEADER + text + END)
        got = json.loads(done.stdout)
        t.equal(got["intervals"], kept + 3)
        got = {x["name"]: x for x in got["cells"][0]["series"]}
        t.equal([got["cycles"][x] for x in ("min", "max")], [10, 10])
        t.equal([got["DC_miss"][x] for x in ("min", "max")], [1, 1])


@t.named("dumps without the group of the processor have a machine, too")
def other_groups():
    codes = {"ultrasparc-t2": ("0", "1", ["mem_reads", "mem_writes"]),
             "host": ("200000002", "200000001", ["task-clock", "page-faults"])}
    for machine, (hi, lo, names) in codes.items():
        text = (START + HEADER + f"0,1,1,0,0,2,{hi},{lo}\n"
                "0,2,2,a,0,2,5,6,0\n" + END)
        t.contains(summarize(text=text).stdout, machine)
        t.contains(summarize("--format", "teja", text=text).stdout, "Cycles")
        got = json.loads(summarize("-j", text=text).stdout)
        t.equal(got["machine"], machine)
        t.equal(sorted(series(got["cells"][0])), sorted(["cycles"] + names))
        with tempfile.TemporaryDirectory() as folder:
            workbook(folder, text=text)


@t.named("all eight groups of a thread are told apart")
def groups():
    text = "".join(f"0,1,1,{8 * g:x},0,{g},200000002,200000002\n"
                   f"0,2,2,{100 + 8 * g:x},0,{g},{g},{g},0\n"
                   for g in range(8))
    done = summarize("-j", text=START + HEADER + text + END)
    got = json.loads(done.stdout)
    t.equal((got["intervals"], done.stderr.count("skipped")), (8, 0))
    t.equal(got["cells"][0]["series"][0]["mean"], 100)


@t.named("codes of this host's events have their unit above")
def host_codes():
    text = ("0,1,1,0,0,1,200000002,200000001\n0,2,2,a,0,1,5,6,0\n")
    got = json.loads(summarize("-j", text=START + HEADER + text + END).stdout)
    t.equal(got["machine"], "host")
    t.equal({x["name"]: x["mean"] for x in got["cells"][0]["series"]},
            {"cycles": 10, "page-faults": 5, "task-clock": 6})


def named_dump(machine, events, group=1):
    """Two events of a machine that dumps name, counted once: 42 and 3."""
    lines = "".join(f"TALLY_PROFILE_EVENT,{group:x},{code:x},{name}\n"
                    for code, name in events.items())
    hi, lo = list(events)[:2]
    return (f"TALLY_PROFILE_MACHINE,{machine}\n" + lines + START + HEADER +
            f"4,1,1,10,0,{group:x},{hi:x},{lo:x}\n"
            f"4,2,2,74,0,{group:x},2a,3,0\n" + END)


@t.named("a dump's lines name the machine and its events")
def named_events():
    for machine, events, wanted in (
            # By name, whatever the code; what was asked for stands beside.
            ("host-model", {0xff00000001: "instructions",
                            0xff00000002: "branches branch-instructions:u"},
             {"instructions": None, "branches": "branch-instructions:u"}),
            ("r10000", {2: "Issued_loads", 0xff0012: "x Graduated_loads"},
             {"Issued_loads": None, "x": "Graduated_loads"}),
            # A part of an event, and one that this tally does not know.
            ("ultrasparc-t2", {0xff00000001: "mem_reads:at=0",
                               0xff00000002: "news,made=1"},
             {"mem_reads:at=0": None, "news,made=1": None})):
        for group in (1, 5):
            done = summarize("-j", text=named_dump(machine, events, group))
            got = json.loads(done.stdout)
            t.equal((got["machine"], got["troubles"]), (machine, []))
            rows = got["cells"][0]["series"][1:]
            t.equal({s["name"]: s.get("asked") for s in rows}, wanted)
            t.equal({s["code"] for s in rows}, {hex(code) for code in events})
            t.equal({s["mean"] for s in rows}, {42, 3})
        rows = csv.DictReader(io.StringIO(summarize(
            "--format", "csv", text=named_dump(machine, events)).stdout))
        t.equal({r["name"]: r["asked"] or None for r in rows
                 if r["kind"] == "event"}, wanted)
        text = summarize(text=named_dump(machine, events)).stdout
        for name in wanted:
            t.contains(text, name)
        t.contains(text, f"{machine}: 1 interval")


@t.named("an empty dump says what to do, one of starts alone what it lacks")
def empty_dumps():
    for machine, text, wanted in (
            ("", "", "there is no record; tally profile PROGRAM dumps the "
             "records of a program that calls the profiler"),
            ("host", "", "there is no record; if the host lacks the program's "
             "events, tally profile -e task-clock,page-faults PROGRAM counts "
             "the kernel's, tally profile -m host-model -e instructions "
             "PROGRAM a model's"),
            ("r10000", "", "there is no record; if r10000 lacks the program's "
             "events, tally profile -m r10000 -e EVENTS PROGRAM counts events "
             "of tally list events -m r10000"),
            ("", "4,1,1,10,0,1,100,8\n", "no start has an update behind it")):
        line = f"TALLY_PROFILE_MACHINE,{machine}\n" if machine else ""
        done = summarize(text=line + START + HEADER + text + END, status=1)
        t.equal(done.stderr.splitlines()[-1],
                f"tally summarize: no interval: {wanted}")


@t.named("without a name's line the name's own number finds the event")
def numbered_events():
    # FNV-1a of "instructions" and "L1-dcache-load-misses".
    text = (START + HEADER + "1,1,1,0,0,1,ff5e5e9744,ff644d05d5\n"
            "1,2,2,a,0,1,5,6,0\n" + END)
    got = json.loads(summarize("-j", "-m", "host-model", text=text).stdout)
    t.equal({s["name"] for s in got["cells"][0]["series"]},
            {"cycles", "instructions", "L1-dcache-load-misses"})


@t.named("a summary is of one machine: dumps that name another are left out")
def other_machine():
    one = named_dump("r10000", {2: "Issued_loads", 3: "Issued_stores"})
    two = named_dump("host-model", {0xff00000001: "instructions",
                                    0xff00000002: "branches"})
    left_out = "skipped: 2 records are of another machine than the summary"
    done = summarize("-j", text=one + two)
    got = json.loads(done.stdout)
    t.equal((got["machine"], got["intervals"]), ("r10000", 1))
    t.equal([(x["what"], x["count"]) for x in got["troubles"]],
            [("other_machine", 2)])
    t.contains(done.stderr, left_out)
    done = summarize("-j", "-m", "host-model", text=one + two)
    t.equal(json.loads(done.stdout)["machine"], "host-model")
    t.contains(done.stderr, left_out)
    for options, text in ((("-m", "r12000"), one),
                          ((), named_dump("pdp-11", {1: "a", 2: "b"}))):
        done = summarize(*options, text=text, status=1)
        t.contains(done.stderr, left_out)


@t.named("dumps of two threads, line by line between each other")
def interleaved():
    one, two = open(sample("t1.csv")).readlines(), open(sample("t2.csv"))
    two = two.readlines()
    mixed = []
    rng = random.Random(3)
    while one or two:
        mixed.append((one if not two or one and rng.random() < .3 else two)
                     .pop(0))
    done = summarize("-j", "--by", "thread", text="".join(mixed))
    t.equal([(c["cpu"], c["intervals"])
             for c in json.loads(done.stdout)["cells"]], [(2, 38), (4, 7)])
    t.contains(done.stderr, "1 dump begins inside another")


@t.named("a console's text: CR LF, blank lines, prompts, a lost end")
def console():
    text = open(sample("t2.csv")).read()
    plain = document(sample("t2.csv"))
    noisy = "ok boot\r\n\r\n" + text.replace("\n", "\r\n\r\n")[:-39]
    got = document(text=noisy)
    t.equal([x["what"] for x in got["troubles"]], ["text", "cut", "unended"])
    t.equal(got["cells"], plain["cells"], "cells")


@t.named("JSON Lines say the same")
def json_lines():
    out = []
    for line in open(sample("t2.csv")):
        f = line.strip().split(",")
        if f[0].startswith("TEJA_PROFILE_DUMP_START"):
            out.append({"schema": 1, "dump": "start", "version": f[1]})
        elif f[0].startswith("TEJA_PROFILE_DUMP_END"):
            out.append({"dump": "end"})
        elif len(f) >= 8 and f[0] != "CPUID":
            n = [int(x, 16) for x in f]
            row = {"cpu": n[0], "id": hex(n[1]), "type": n[2], "cycles": n[3],
                   "pc": hex(n[4]), "group": n[5], "evt_hi": n[6],
                   "evt_lo": n[7]}
            if n[2] == 2:
                row |= {"overflow": n[8], "user": n[9:]}
            else:
                row |= {"evt_hi": hex(n[6]), "evt_lo": hex(n[7])}
            out.append(row)
    text = "".join(json.dumps(row) + "\n" for row in out)
    t.equal(document(text=text), document(sample("t2.csv")), "document")


@t.named("calls are named by profiler_calls_location.txt")
def locations():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/reports")
        dump = f"{folder}/dump.csv"
        with open(dump, "w") as file:
            file.write(open(sample("t1.csv")).read())
        with open(f"{folder}/reports/profiler_calls_location.txt", "w") as file:
            file.write("ID  Location\n0x18236 rx.c:20:main\r\n"
                       "3a2f\trx.c:41:loop\n")
        t.contains(summarize(dump).stdout, "cpu 4, rx.c:20:main to rx.c:41:loop")
        rows = csv.DictReader(io.StringIO(
            summarize("--format", "csv", dump).stdout))
        t.equal({(r["start"], r["update"]) for r in rows},
                {("rx.c:20:main", "rx.c:41:loop")})
        other = f"{folder}/other.txt"
        with open(other, "w") as file:
            file.write("18236,a.c:1:f\n")
        t.contains(summarize("--locations", other, dump).stdout,
                   "cpu 4, a.c:1:f to id 3a2f")


@t.named("--recover reads the buffers of a program that was killed")
def recover():
    with tempfile.TemporaryDirectory() as folder:
        buffers = f"{folder}/buffers"
        done = subprocess.run(
            [f"{t.build}/test/host-selfprofile", "", "3", "20", "kill"],
            env=os.environ | {"TALLY_PROFILER_BUFFER_FILE": buffers},
            stdout=subprocess.PIPE)
        t.equal((done.returncode, done.stdout), (-signal.SIGKILL, b""))
        got = json.loads(summarize("-j", "--recover", buffers).stdout)
        t.equal((got["dumps"], got["intervals"]), (3, 60))
        t.contains(summarize(buffers, status=2).stderr,
                   "is no dump; --recover reads it")
        t.contains(summarize("--recover", buffers).stdout,
                   "selfprofile.c:")
        done = subprocess.run(
            [t.tally(), "count", "-m", "host-model", "-o", os.devnull, "--",
             f"{t.build}/test/host-selfprofile", "branches,instructions", "3",
             "20", "kill"],
            env=os.environ | {"TALLY_PROFILER_BUFFER_FILE": buffers},
            stdout=subprocess.PIPE)
        got = json.loads(summarize("-j", "--recover", buffers).stdout)
        t.equal((got["machine"], got["intervals"]), ("host-model", 60))
        t.equal({s["name"] for s in got["cells"][0]["series"]},
                {"cycles", "branches", "instructions", "user1", "between"})
        with open(buffers, "r+b") as file:
            file.write(b"no more ")
        done = summarize("--recover", buffers, status=2)
        t.equal(done.stderr, f"tally summarize: {buffers} holds no profiler's "
                             "buffers\n")


@t.named("a warning where intervals vary")
def unsteady():
    dump = Dump()
    for i in range(20):
        dump.interval(100000 + 20000 * (i % 2), 50000, 10)
    t.contains(summarize(text=dump.text()).stderr,
               "intervals vary: cycles of cpu 4, id 18236 to id 3a2f by 9.1 %;")
    steady = Dump()
    for i in range(20):
        steady.interval(100000 + 2000 * (i % 2), 50000, i % 3)
    t.equal(summarize(text=steady.text()).stderr, "")


@t.named("many threads, random values: memory stays within 200 MB")
def memory():
    """The worst there is: every value differs, more threads than have room."""
    rng = random.Random(1)

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))

    if b"__asan_init" in open(t.tally(), "rb").read():
        raise t.Skip("address sanitizer takes terabytes of addresses")
    process = subprocess.Popen([t.tally(), "summarize", "--format", "csv", "-"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, preexec_fn=limit,
                               text=True)
    process.stdin.write(START)
    for block in range(100):
        lines = []
        for i in range(2000):
            cpu = rng.randrange(30000)
            clock, code = rng.randrange(2**40), 1 << rng.randrange(8)
            lines.append(f"{cpu:x},1,1,{clock:x},0,1,100,{code:x}\n"
                         f"{cpu:x},2,2,{clock + rng.randrange(2**40):x},0,1,"
                         f"{rng.randrange(2**32):x},{rng.randrange(2**32):x},0,"
                         f"{rng.randrange(2**32):x}\n")
        process.stdin.write("".join(lines))
    process.stdin.write(END)
    out, err = process.communicate()
    t.equal(process.returncode, 0, err)
    assert len(out) > 100000


t.main()
