#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line: cli.py BUILD [WORD], cli.py --refresh BUILD

LINES has a case a line: the arguments of tally (behind VARIABLE=VALUE ones),
the exit status, and texts that must be there:
  ERR text   stderr is this one line (it holds the text); stdout is empty
  SAYS text  stderr holds the text
  OUT text   stdout holds the text
{hello} is a sparc64 program, {hello86} an x86-64 one, {d} a folder of files
that are no programs. SCREENS are whole outputs, kept in test/cli/;
--refresh writes them anew.
"""
import contextlib
import csv
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tallytest as t

LINES = """
# Usage
 | EXIT 2 | SAYS usage: tally COMMAND
--help | EXIT 0 | OUT usage: tally COMMAND
-h | EXIT 0 | OUT usage: tally COMMAND
help | EXIT 0 | OUT usage: tally COMMAND
--version | EXIT 0 | OUT tally 0.
-V | EXIT 0 | OUT tally 0.
cuont {hello} | EXIT 2 | ERR unknown command 'cuont'; did you mean count?
frobnicate | EXIT 2 | ERR unknown command 'frobnicate'
stat {hello} | EXIT 0 | OUT hello | SAYS All_instr
count | EXIT 2 | ERR no program to run
count -- | EXIT 2 | ERR no program to run
count -e All_instr | EXIT 2 | ERR no program to run
count -m | EXIT 2 | ERR a value is missing after -m
count -o | EXIT 2 | ERR a value is missing after -o
count --set | EXIT 2 | ERR a value is missing after --set
count --fromat json {hello} | EXIT 2 | ERR did you mean --format or --from?
count --zzzzzzzz {hello} | EXIT 2 | ERR unknown option --zzzzzzzz
count -Z {hello} | EXIT 2 | ERR unknown option -Z
count --json=3 {hello} | EXIT 2 | ERR no value belongs to --json
count --format xml {hello} | EXIT 2 | ERR --format takes text, csv or json
count --format= {hello} | EXIT 2 | ERR --format takes text, csv or json
count --color maybe {hello} | EXIT 2 | ERR auto, always or never, not 'maybe'
count -x ab {hello} | EXIT 2 | ERR -x takes one sign such as , or ; or |, not 'ab'
count -x '' {hello} | EXIT 2 | ERR -x takes one sign such as , or ; or |, not ''
count -r 0 {hello} | EXIT 2 | ERR -r takes 1 to 100000, not '0'
count -r -1 {hello} | EXIT 2 | ERR -r takes 1 to 100000, not '-1'
count -r 2x {hello} | EXIT 2 | ERR -r takes 1 to 100000, not '2x'
count -r '' {hello} | EXIT 2 | ERR -r takes 1 to 100000, not ''
count -r 99999999999999999999 {hello} | EXIT 2 | ERR -r takes 1 to 100000
count --skip 0 {hello} | EXIT 2 | ERR --skip takes a number of instructions
count --skip much {hello} | EXIT 2 | ERR --skip takes a number of instructions
count --skip 5 --from main {hello} | EXIT 2 | ERR --skip does not go with
count --from nofunction {hello} | EXIT 2 | ERR no function 'nofunction'
count --to nofunction {hello} | EXIT 2 | ERR no function 'nofunction'
list -Z | EXIT 2 | ERR unknown option -Z
list --format xml | EXIT 2 | ERR --format takes text or json, not 'xml'
list events a b | EXIT 2 | ERR one pattern, not 'b' too
list a b | EXIT 2 | ERR 'a' is none of machines, events, metrics, registers, parameters, signals
list -m nope | EXIT 2 | ERR unknown machine 'nope'
list events zzz | EXIT 1 | ERR no event matches 'zzz'
list events -m ultrasparc-t2 zzz | EXIT 1 | ERR no event of ultrasparc-t2 matches 'zzz'
list events metrics | EXIT 1 | ERR to list metrics, name nothing else
list evnts | EXIT 1 | ERR no event matches 'evnts'; did you mean events?
list evnts miss | EXIT 2 | ERR registers, parameters, signals; did you mean events?
list Dcache_mises | EXIT 1 | ERR no event matches 'Dcache_mises'; did you mean Dcache_misses?
list metrics -m montecito IA64_IPD | EXIT 1 | ERR no metric of montecito matches 'IA64_IPD'; did you mean IA64_IPC?
list registers PMC99 | EXIT 1 | ERR did you mean PMC9 or PMC39?
list machines ultrasparc-t9 | EXIT 1 | ERR did you mean ultrasparc-t1 or ultrasparc-t2?
list parameters l1d.sise | EXIT 1 | ERR did you mean l1d.size?
list signals instrctions | EXIT 1 | ERR did you mean instructions?
list machines zzz | EXIT 1 | ERR no machine matches 'zzz'
list metrics -m host-model | EXIT 0 | OUT counters
list registers -m host-model | EXIT 1 | ERR host-model has no registers
list parameters -m host | EXIT 1 | ERR host has no parameters
list -m montecito --color maybe | EXIT 2 | ERR auto, always or never, not 'maybe'
list -j --color maybe | EXIT 2 | ERR auto, always or never, not 'maybe'
list -m montecito 0xc2 | EXIT 0 | OUT L1D_READS_SET0
list -m montecito BE_RSE_BUBBLE.AR_DEP | EXIT 0 | OUT AR_DEP       x010
list -m montecito 'be_rse*.*' | EXIT 0 | OUT LOADRS       x101
list -m montecito 'be_rse*' | EXIT 0 | OUT 0x01
list -m sparc-t4 'microtag way' | EXIT 0 | OUT 0x1c9
list -m ultrasparc-t2plus 'lpu/*miss' | EXIT 0 | OUT cycles_cache_miss
list -m sparc-t4 ethernet | EXIT 0 | OUT described elsewhere: SPARC T4
list metrics -m sparc-t4 'taken_ratio' | EXIT 0 | OUT group 1: Taken_branches on
list registers -m sparc-t4 PCR0 | EXIT 0 | OUT sl
list registers -m r10000 | EXIT 0 | OUT CTRL1
list machines victoria | EXIT 0 | OUT ultrasparc-t2plus
list machines -v t4 | EXIT 0 | OUT also t4 niagara4 n4
list parameters -m ultrasparc-t2 l1d.size | EXIT 0 | OUT 8K
list signals -m ultrasparc-t2 | EXIT 0 | OUT l1d_load_misses
show | EXIT 2 | ERR no name given
show a b | EXIT 2 | ERR one name, not 'b' too
show -m ultrasparc-t2plus mem_reads | EXIT 0 | OUT memory_reads_0 and 7 more like it: lines
show -m ultrasparc-t2plus cycles_TID_RTO | EXIT 0 | OUT link_cache_owns_1 and 47 more like it
show nope | EXIT 2 | ERR 'nope'
show Dcache_mises | EXIT 2 | ERR did you mean Dcache_misses?
show ultrasparc-t9 | EXIT 2 | ERR did you mean ultrasparc-t1 or ultrasparc-t2?
show -m ultrasparc-t2 L1-dcache-loads | EXIT 2 | ERR an event of host
show -m montecito PCR0 | EXIT 2 | ERR 'PCR0' is a register of sparc-t4; montecito lacks it
show -m r10000 IA64_IPC | EXIT 2 | ERR is a metric of montecito; r10000 lacks it
show PMC99 | EXIT 2 | ERR did you mean PMC9 or PMC39?
show IA64_IPD | EXIT 2 | ERR did you mean IA64_IPC?
show -m montecito BE_RSE_BUBLE | EXIT 2 | ERR on montecito; did you mean BE_RSE_BUBBLE?
show -m montecito zzzzqqq | EXIT 2 | ERR no event, register, metric, unit or parameter 'zzzzqqq' on montecito; tally list
show -m ultrasparc-t2plus nodes | EXIT 0 | OUT nodes, a parameter of ultrasparc-t2plus
show -m ultrasparc-t2plus nodes | EXIT 0 | OUT takes        1 to 4
show -m ultrasparc-t2plus time.remote | EXIT 0 | OUT --set time.remote=
show -m sparc-t4 place.pages | EXIT 0 | OUT takes        first-touch, interleave, node
show l1d.line | EXIT 0 | OUT l1d.line, a parameter of r10000
show -m host nodes | EXIT 2 | ERR parameter 'nodes' on host
show -m sparc-t4 l1d.lines | EXIT 2 | ERR did you mean l1d.line
show BE_RSE_BUBBLE.XX | EXIT 2 | ERR no unit mask 'XX'; it has ALL
show BE_RSE_BUBBLE.ALL:mesi=Q | EXIT 2 | ERR BE_RSE_BUBBLE.ALL:mesi=Q
show sl:99 | EXIT 2 | ERR 'sl:99'
show --color maybe montecito | EXIT 2 | ERR auto, always or never, not 'maybe'
show -m nope x | EXIT 2 | ERR unknown machine 'nope'
show sl:0x1c | EXIT 0 | OUT sl 0x1c of sparc-t4, unit cpu: commit
show PIC | EXIT 0 | OUT holds        the count of PIC0, PIC1
show BE_RSE_BUBBLE.AR_DEP:u | EXIT 0 | OUT -> PMC4 = 0x2020108 (on PMD4)
show -m r10000 25 | EXIT 0 | OUT CTRL1 = 0x
show -m r10000 25 | EXIT 0 | OUT counters     CNT1
show DRAM_CTL0 | EXIT 0 | OUT the events of DRAM_PIC0 at 0
show CPU_OP_CYCLES_HALTED | EXIT 0 | OUT counters     PMD10
show montecito | EXIT 0 | OUT of any instruction set, none its own
show PXM | EXIT 0 | OUT described    elsewhere: SPARC T4 Supplement
show -m montecito pxm | EXIT 2 | ERR 'pxm' is a unit of sparc-t4; montecito lacks it
show pxn | EXIT 2 | ERR did you mean pxm
show lpu | EXIT 0 | OUT instances    ZAM0_LPU_A
show IA64_IPC | EXIT 0 | OUT formula      IA64_INST_RETIRED.THIS / CPU_OP_CYCLES.ALL
encode -m ultrasparc-t2 cycles | EXIT 2 | ERR cycles is counted by the model of ultrasparc-t2, no counter has it; tally count -m ultrasparc-t2 -e cycles
encode -m ultrasparc-t2 cycles Idle_strands | EXIT 2 | ERR no counter has it
plan -m ultrasparc-t2 -M ipc | EXIT 2 | ERR metric ipc: cycles is counted by the model
plan -m host-model cycles | EXIT 2 | ERR cycles is counted by the model of host-model
plan -m host cycles | EXIT 2 | ERR cycles is counted by the kernel of host, which chooses the counter; tally count -m host -e cycles
show -m host ipc | EXIT 0 | OUT counted by the kernel: instructions, cycles
encode -m ultrasparc-t2plus cycles | EXIT 2 | ERR cycles is counted by the model of ultrasparc-t2plus, no counter has it
encode -m ultrasparc-t2 ITLB_miss Dcache_misses DTLB_miss | EXIT 2 | ERR for PIC0 and PIC1; tally plan divides them
encode -m montecito cycles:u instructions | EXIT 0 | OUT CPU_OP_CYCLES.ALL:u | OUT IA64_INST_RETIRED.THIS
encode -m montecito cpu-cycles PAPI_TOT_INS | EXIT 0 | OUT PMC4 = 0x2001209
decode -m montecito PMC4=0x200dd09 | EXIT 0 | OUT PMD4 is set to L3_READS.0x0
decode -m montecito PMC4=0x2701209 | EXIT 0 | OUT PMD4 is set to CPU_OP_CYCLES.ALL
decode -m r10000 CTRL0=0x1e0 | EXIT 0 | OUT CNT0 is set to Graduated_instructions:off
decode -m sparc-t4 PCR0=0xd00c | EXIT 0 | OUT PIC0 counts Cycles
decode -m montecito PMC5=1 --color maybe | EXIT 2 | ERR auto, always or never, not 'maybe'
decode -m montecito PMC5=1 -j --color maybe | EXIT 2 | ERR auto, always or never, not 'maybe'
encode -m ultrasparc-t2plus L2_load_misses | EXIT 0 | OUT L2_CONTROL = 0x0   # L2_load_misses: from=all (default)
encode -m ultrasparc-t2plus L2_load_misses:from=remote | EXIT 0 | OUT # L2_load_misses: from=remote
pmu | EXIT 0
pmu -m nope | EXIT 2 | ERR unknown machine 'nope'
pmu -m r1000 | EXIT 2 | ERR did you mean r10000
pmu -m host | EXIT 2 | ERR host has no registers to work on
pmu -m r10000 a b | EXIT 2 | ERR one file, not 'b' too
pmu -m r10000 --format csv | EXIT 2 | ERR --format takes text or json, not 'csv'
pmu -m r10000 {d}/nothere | EXIT 2 | ERR cannot read {d}/nothere: No such file
pmu -m r10000 {d} | EXIT 2 | ERR cannot read {d}: Is a directory
pmu {d}/nomachine.pmu | EXIT 2 | ERR no machine; -m MACHINE names one of montecito, r10000
pmu {d}/wrong.pmu | EXIT 1 | SAYS wrong.pmu:2: unknown command 'raed'; did you mean read?
pmu {d}/wrong.pmu | EXIT 1 | SAYS :3: unknown register 'CTN0' on r10000: did you mean CNT0?
pmu {d}/wrong.pmu | EXIT 1 | SAYS :4: CTRL0 has no field 'evnt'; did you mean event?
pmu {d}/wrong.pmu | EXIT 1 | SAYS :5: unknown event 'Cycels' on r10000: did you mean Cycles
pmu {d}/wrong.pmu | EXIT 1 | SAYS :6: a value is a number, not '0xg'
pmu {d}/wrong.pmu | EXIT 1 | SAYS :7: a value is at most 15, not '16'
pmu {d}/wrong.pmu | EXIT 1 | SAYS :8: it is: read REG[.FIELD] [@user|@priv|@hyper]
pmu {d}/wrong.pmu | EXIT 1 | SAYS :9: a strand is at most 0, not '1'
pmu {d}/wrong.pmu | EXIT 1 | SAYS :10: unknown level '@root'; there is @user, @priv or @hyper
pmu {d}/wrong.pmu | EXIT 1 | SAYS :11: unknown key 'pcc'; there is pc, npc, ea
pmu {d}/wrong.pmu | EXIT 1 | SAYS :12: unknown flag 'takn'; did you mean taken?
pmu {d}/wrong.pmu | EXIT 1 | SAYS :13: 'cpll' is no part of a processor's state
pmu {d}/wrong.pmu | EXIT 1 | SAYS :14: r10000 has no cpl
pmu {d}/wrong.pmu | EXIT 1 | SAYS :15: not pending
pmu {d}/wrong.pmu | EXIT 1 | SAYS :16: nothing was saved
pmu {d}/wrong.pmu | EXIT 1 | SAYS :17: '1:1' is of another group
pmu {d}/wrong.pmu | EXIT 1 | SAYS :18: read CNT0: 0x0, not 1
pmu {d}/wrong.pmu | EXIT 1 | SAYS :19: = stands between a command and its result
pmu {d}/wrong.pmu | EXIT 1 | SAYS :20: r10000 cannot have strands=9 nodes=0
pmu {d}/wrong.pmu | EXIT 1 | SAYS :21: a machine has strands, nodes and flags, not 'size'
pmu {d}/wrong.pmu | EXIT 1 | SAYS :22: dump has many results
pmu {d}/wrong.pmu | EXIT 1 | OUT 23: read CNT0 = 0x0
pmu {d}/signals.pmu | EXIT 1 | SAYS :2: 'CPU_OP_CYCLES': CPU_OP_CYCLES needs a unit mask; it has ALL or QUAL
pmu {d}/signals.pmu | EXIT 1 | SAYS :3: 'CPU_OP_CYCLES.ANY': CPU_OP_CYCLES has no unit mask 'ANY'; it has ALL or QUAL
pmu {d}/signals.pmu | EXIT 1 | SAYS :4: 'NOPS_RETIRED.ALL': NOPS_RETIRED has no unit masks
pmu {d}/signals.pmu | EXIT 1 | SAYS :5: unknown event ''
pmu {d}/signals.pmu | EXIT 1 | SAYS :6: unknown event ''
pmu {d}/signals.pmu | EXIT 1 | SAYS :8: '2:0' is of another group
pmu -j {d}/wrong.pmu | EXIT 1 | OUT "line": 18, "cmd": "read", "reg": "CNT0", "value": "0x0", "traps": [], "result": "0x0", "expected": "1", "met": false
pmu -j {d}/wrong.pmu | EXIT 1 | OUT "line": 2, "cmd": null, "reg": null, "value": null, "traps": [], "error": "unknown command 'raed'
pmu -j {d}/bytes.pmu | EXIT 1 | OUT "result": "0x0", "expected": "??", "met": false
pmu {d}/capitals.pmu | EXIT 0 | OUT 2: read CNT0 = 0x0
pmu {d}/right.pmu | EXIT 0 | OUT 2: write CNT0 = ok
doctor x-none | EXIT 2 | ERR no such program in PATH
doctor {hello} | OUT symbols
doctor {hello} x | EXIT 2 | ERR one program
doctor | EXIT 0 | OUT tally count works here

count --from main --filter code=main --filter code=0-9 --set l1d.size=16K {hello} | EXIT 0 | SAYS   counted: --from main --filter code=main --filter code=0-9 --set l1d.size=16K
count --skip 1K --place spread {hello} | EXIT 0 | SAYS   counted: --skip 1000 --set place.threads=spread
count --filter code=0-0 {hello} | EXIT 0 | SAYS the program executed nothing of what is counted
count --skip 1G {hello} | EXIT 0 | SAYS the program never came to where counting begins
count --filter code=nonesuch {hello} | EXIT 2 | ERR no function 'nonesuch'
count --filter code= {hello} | EXIT 2 | ERR must be code=FUNCTION, data=OBJECT
count --filter code {hello} | EXIT 2 | ERR must be code=FUNCTION, data=OBJECT
count -e All_instr --filter data=1-2 {hello} | EXIT 2 | ERR restricts nothing: no event
count --filter code=1 {hello} | EXIT 2 | ERR must be two addresses, as code=0x10400-0x104ff
count --filter code=2-1 {hello} | EXIT 2 | ERR its last address must follow the first
count --filter code=1-2x {hello} | EXIT 2 | ERR must be two addresses
count --filter code=0-0xffffffffffffffff {hello} | EXIT 2 | ERR addresses are less than 0x8000000000000000
count --filter data=0-0x1ffffffffffffffff {hello} | EXIT 2 | ERR addresses are less than 0x8000000000000000
count --filter code=main -m host true | EXIT 2 | ERR --filter is for a modelled machine
count --hardware -e All_instr,cycles {hello} | EXIT 2 | ERR no counter of ultrasparc-t2 counts cycles
count --hardware -e all {hello} | EXIT 0 | SAYS tally: --hardware leaves 37 events out of all: no counter of a strand has them
count --hardware -e all {hello} | EXIT 0 | SAYS in 13 turns
count --hardware -m sparc-t4 -e all {hello} | EXIT 0 | SAYS counted on PIC0 to PIC3 of each strand
count --hardware -e all,mem_reads {hello} | EXIT 2 | ERR dram/mem_reads is of unit dram: count it without
count --hardware -m host-model -e all -- /bin/true | EXIT 2 | ERR --hardware is for r10000
count --hardware -M ipc {hello} | EXIT 2 | ERR no counter of ultrasparc-t2 counts cycles
perfex | EXIT 2 | ERR no program to run
perfex -Z {hello} | EXIT 2 | ERR unknown option -Z
perfex -e | EXIT 2 | ERR a value is missing after -e
perfex -e '' {hello} | EXIT 2 | ERR -e takes an event, not ''
perfex -p 0 {hello} | EXIT 2 | ERR -p takes 1 to 1000000000 milliseconds, not '0'
perfex -pp {hello} | EXIT 2 | ERR -p takes 1 to 1000000000 milliseconds, not 'p'
perfex -a -e 3 {hello} | EXIT 2 | ERR -a counts all events; it does not go with '-e'
perfex -a -p 5 {hello} | EXIT 2 | ERR -a needs the whole run; it does not go with '-p'
perfex -mp -s {hello} | EXIT 2 | ERR -s does not go with -mp
perfex -s -p 5 {hello} | EXIT 2 | ERR -p does not go with -s
perfex --format xml {hello} | EXIT 2 | ERR --format takes text, csv or json, not 'xml'
perfex -o '' {hello} | EXIT 2 | ERR -o takes a file's name, not ''
perfex -o {d}/none/x -e All_instr {hello} | EXIT 125 | ERR cannot write
perfex {hello} | EXIT 2 | ERR no counter of ultrasparc-t2 counts cycles, which perfex counts by default; choose events with -e
perfex -e cycles {hello} | EXIT 2 | ERR no counter of ultrasparc-t2 counts cycles; tally count does
perfex -e All_inst {hello} | EXIT 2 | ERR did you mean All_instr?
perfex -y -e All_instr {hello} | EXIT 2 | ERR nobody knows what events cost on ultrasparc-t2; -c takes costs from a file
perfex -y -c {d}/nofile -e All_instr {hello} | EXIT 2 | ERR cannot read
perfex -m nope {hello} | EXIT 2 | ERR unknown machine 'nope'
perfex -m r10000 {hello} | EXIT 2 | ERR sparc64
perfex -m r10000 --foreign -e 9 -e 15 {hello} | EXIT 2 | ERR conflicting counters: Primary_instruction_cache_misses and Graduated_instructions are both counted on CNT0 alone; choose another, or -a
perfex -m host-model -a {hello86} | EXIT 2 | ERR host-model has no counters, as perfex needs them
perfex -m host {hello} | EXIT 2 | ERR a program for sparc64, but this host runs
perfex -m host {hello} | EXIT 2 | ERR tally perfex -m MACHINE emulates one that runs it
perfex -m host /nope | EXIT 127 | ERR /nope: no such program
count -m host -n {hello} | EXIT 2 | ERR tally count -m MACHINE emulates one that runs it
perfex -m host -y true | EXIT 2 | ERR -y is for a modelled machine
perfex -m host -mp true | EXIT 2 | ERR -mp is for a modelled machine
perfex -e All_instr {hello} | EXIT 0 | OUT hello | SAYS All_instr.........................................
perfex -e All_instr {d}/none | EXIT 127 | ERR No such file
perfex -T | EXIT 0 | OUT # r12000: event
T5_EVENT0=nope perfex -m r12000 --foreign {hello} | EXIT 2 | ERR T5_EVENT0: unknown event 'nope' on r12000
count --compare {hello} | EXIT 2 | ERR --compare compares what is counted with '--hardware'
count --hardware --per-thread {hello} | EXIT 2 | ERR --hardware does not go with '--per-thread'
count -m ultrasparc-t2 -n {hello} | EXIT 2 | ERR -n is for the host's counters; leave -m ultrasparc-t2 away
count -m ultrasparc-t2 --all-user {hello} | EXIT 2 | ERR --all-user is for the host's counters
count -m ultrasparc-t2 --all-kernel {hello} | EXIT 2 | ERR --all-kernel is for the host's counters
count -m ultrasparc-t2 --per-die -a {hello} | EXIT 2 | ERR -a is for the host's counters
count -m ultrasparc-t2 -I 100 --interval-count 2 {hello} | EXIT 2 | ERR --interval-count is for the host's counters
count --hardware -I 100 {hello} | EXIT 2 | ERR --hardware does not go with '-I'
count -m ultrasparc-t2 --timeout 100 {hello} | EXIT 2 | ERR --timeout is for the host's counters
count --hardware -m host true | EXIT 2 | ERR --hardware is for a modelled machine
count --hardware -m host-model -- /bin/true | EXIT 2 | ERR --hardware is for r10000, r10000-rev2, r12000, sparc-t4, ultrasparc-t1, ultrasparc-t2 or ultrasparc-t2plus; host-model is counted by its model alone
count -m montecito -e L1D_READ_MISSES.FOO -- /bin/true | EXIT 2 | ERR L1D_READ_MISSES has no unit mask 'FOO'; it has ALL or RSE_FILL
count -m montecito -e L1D_READ_MISSES:FOO -- /bin/true | EXIT 2 | ERR L1D_READ_MISSES has no unit mask 'FOO'; it has ALL or RSE_FILL

# Events
count -e nonesuch {hello} | EXIT 2 | ERR unknown event 'nonesuch'
count -e Dcache_mises {hello} | EXIT 2 | ERR did you mean Dcache_misses?
count -e L1-dcache-loads {hello} | EXIT 2 | ERR an event of host-model
count -m host-model -e Dcache_misses {hello86} | EXIT 2 | ERR an event of ultrasparc-t2
count -e '' {hello} | EXIT 2 | ERR an event name is missing
count -e All_instr,,cycles {hello} | EXIT 2 | ERR an event name is missing
count -e '{{All_instr' {hello} | EXIT 2 | ERR a group lacks its }}
count -e 0xffff {hello} | EXIT 2 | ERR 0xffff
count -m sparc-t4 -e Instruction_cache_eviction_invalidations {hello} | EXIT 2 | ERR not modelled yet
count -e All_instr:k {hello} | EXIT 2 | ERR only user mode
count -e all_INSTR:u {hello} | EXIT 0 | SAYS All_instr | OUT hello
count -e '{{All_instr,Atomics}}' -e cycles {hello} | EXIT 0 | SAYS Atomics
count -e 0x12 {hello} | EXIT 0 | OUT hello

count -x, -m sparc-t4 -M l3_data_mpki {hello} | EXIT 0 | SAYS ,l3_data_mpki,modelled
count -x, -m sparc-t4 -M utilisation {hello} | EXIT 0 | SAYS ,100,utilisation,estimated
count -x, -m sparc-t4 -M itlb_trap_share {hello} | EXIT 0 | SAYS ,itlb_trap_share,idle

# Machines and programs
count -m ultrasparc-t9 {hello} | EXIT 2 | ERR did you mean ultrasparc-t1 or ultrasparc-t2?
count -m '' {hello} | EXIT 2 | ERR unknown machine ''
count -m Niagara2 -e cycles {hello} | EXIT 0 | SAYS ultrasparc-t2
count -m r12000 --foreign {hello} | EXIT 0 | SAYS (estimated): 300 MHz,
count -m ultrasparc-t2 {hello86} | EXIT 2 | ERR runs sparc64; --foreign
count -m host-model {hello} | EXIT 2 | ERR runs x86_64; --foreign
count -m ultrasparc-t2 --foreign {hello86} | EXIT 0 | SAYS nothing is exact
count -m host-model --foreign {hello} | EXIT 0 | SAYS a program for sparc64 on
count {d}/junk | EXIT 126 | ERR {d}/junk: neither an ELF program nor a #! script
count {d}/short | EXIT 126 | ERR {d}/short: neither an ELF program nor
count {d}/empty | EXIT 126 | ERR {d}/empty: an empty file
count {d}/arm | EXIT 2 | ERR {d}/arm: a program for AArch64
count {d}/n32 | EXIT 2 | ERR {d}/n32: a program for 32-bit MIPS; tally runs
count {d}/release6 | EXIT 2 | ERR {d}/release6: a program for MIPS release 6
count {d}/object | EXIT 126 | ERR {d}/object: an ELF file, but not a program
count {d}/plain | EXIT 126 | ERR {d}/plain: not executable
count {d}/loop | EXIT 126 | ERR scripts that interpret each other
count {d}/lost | EXIT 127 | ERR its interpreter /no/such cannot be run
count {d} | EXIT 126 | ERR {d}: is a directory
count {d}/nothere | EXIT 127 | ERR {d}/nothere: No such file
count {d}/junk/x | EXIT 127 | ERR {d}/junk/x: Not a directory
count no-such-program | EXIT 127 | ERR no-such-program: no such program in PATH
count '' | EXIT 127 | ERR : no such program in PATH

# Geometry
count --set l1d.size=7K {hello} | EXIT 2 | ERR it must be 4K or 8K
count --set l1d.line=24 {hello} | EXIT 2 | ERR l1d.line=24: must be a power
count --set l1d.ways=0 {hello} | EXIT 2 | ERR l1d.ways=0: must be 1 to
count --set l1d.ways=3 {hello} | EXIT 2 | ERR l1d.
count --set l1i.line=128 {hello} | EXIT 2 | ERR line
count --set l2.banks=3 {hello} | EXIT 2 | ERR l2.banks
count --set pipelines=3 {hello} | EXIT 2 | ERR pipelines=3: must divide strands, 8
count --set pipelines=16 {hello} | EXIT 2 | ERR pipelines=16: must divide strands, 8
count --set pipelines=4 {hello} | EXIT 0 | OUT hello
count --set tlb.page=100 {hello} | EXIT 2 | ERR tlb.page
count --set l1d.size=999G {hello} | EXIT 2 | ERR l1d.size=999G
count --set l1d.size=-8K {hello} | EXIT 2 | ERR l1d.size=-8K
count --set l1d.size=abc {hello} | EXIT 2 | ERR l1d.size=abc: must be bytes
count --set l1d.size= {hello} | EXIT 2 | ERR l1d.size=: must be bytes
count --set l1d.write=maybe {hello} | EXIT 2 | ERR must be allocate or through
count --set l1d {hello} | EXIT 2 | ERR l1d: must be KEY=VALUE
count --set =3 {hello} | EXIT 2 | ERR must be KEY=VALUE
count --set '' {hello} | EXIT 2 | ERR must be KEY=VALUE
count --set l1d.sise=8K {hello} | EXIT 2 | ERR did you mean l1d.size?
count --set l1d.size=8K --set l1d.ways=8 {hello} | EXIT 0 | OUT hello

# Dumps of the profiler
summarize | EXIT 2 | ERR no dump; name its file, or - for standard input
summarize - | EXIT 1 | ERR no interval: no start has an update behind it
summarize {d}/nothere | EXIT 2 | ERR cannot read {d}/nothere: No such file
summarize {d} | EXIT 2 | ERR cannot read {d}: Is a directory
summarize {d}/text | EXIT 1 | SAYS skipped: 1 line outside dumps is no record ({d}/text:1)
summarize {s}/t1.csv {d}/nothere | EXIT 2 | ERR cannot read {d}/nothere
summarize -m nope {s}/t1.csv | EXIT 2 | ERR unknown machine 'nope'
summarize --format xml {s}/t1.csv | EXIT 2 | ERR --format takes text, csv, json or teja, not 'xml'
summarize --by thraed {s}/t1.csv | EXIT 2 | ERR --by takes thread, core, region or all
summarize --by '' {s}/t1.csv | EXIT 2 | ERR --by takes thread, core, region or all
summarize --by thread,core {s}/t1.csv | EXIT 2 | ERR --by thread or core, not both
summarize --skip x {s}/t1.csv | EXIT 2 | ERR --skip takes a number of intervals, not 'x'
summarize --skip -1 {s}/t1.csv | EXIT 2 | ERR --skip takes a number of intervals, not '-1'
summarize --freq fast {s}/t1.csv | EXIT 2 | ERR clock=fast: must be hertz
summarize -M ipd {s}/t1.csv | EXIT 2 | ERR did you mean
summarize -M pipeline_utilisation {s}/t1.csv | EXIT 2 | ERR unknown metric 'pipeline_utilisation' on ultrasparc-t1
summarize --input pkts {s}/t1.csv | EXIT 2 | ERR --input takes NAME=NUMBER or NAME=userN, not 'pkts'
summarize --input pkts=user0 {s}/t1.csv | EXIT 2 | ERR --input takes NAME=NUMBER or NAME=userN
summarize --input pkst=3 {s}/t1.csv | EXIT 2 | ERR have no input 'pkst'; they have pkts, idle_loop_count
summarize --format teja --by all {s}/t1.csv | EXIT 2 | ERR --by does not go with --format teja
summarize --format teja --user-cumulative {s}/t1.csv | EXIT 2 | ERR --user-cumulative does not go with
summarize --locations {d}/nothere {s}/t1.csv | EXIT 2 | ERR cannot read {d}/nothere
summarize --locations {d}/text {s}/t1.csv | EXIT 2 | ERR no line has an id and a place
summarize --html {d}/no/page --user-cumulative {s}/t1.csv | EXIT 125 | ERR cannot write {d}/no/page
summarize --html /dev/full --user-cumulative {s}/t1.csv | EXIT 125 | ERR cannot write /dev/full: No space left on device
summarize --xlsx {d}/no/book --user-cumulative {s}/t1.csv | EXIT 125 | ERR cannot write {d}/no/book
summarize --html /dev/null --format csv {s}/t1.csv | EXIT 0 | OUT cycles,cycles,7
summarize --color maybe {s}/t1.csv | EXIT 2 | ERR auto, always or never, not 'maybe'
summarize --skip 9 {s}/t1.csv | EXIT 1 | ERR no interval behind those skipped
summarize -m ultrasparc-t2 {s}/t1.csv | EXIT 0 | SAYS warning: 8 event codes are none of the machine's | OUT 0x100
summarize -M ipp --input pkts=1000 {s}/t1.csv | EXIT 0 | OUT 52238.8349  instructions per packet
summarize -M ipp --user-cumulative {s}/t1.csv | EXIT 0 | OUT 261.194174  instructions per packet
summarize -M memory_bandwidth {s}/t1.csv | EXIT 0 | OUT not counted: L2_dmiss_ld
summarize -M packet_rate {s}/t1.csv | EXIT 0 | OUT not known: clock
summarize -M packet_rate --freq 1.4G --by thread --skip 1 {s}/t2.csv | EXIT 0 | OUT 802.580976  thousand packets per second
summarize --by thread {s}/t2.csv | EXIT 0 | SAYS intervals vary: cycles of cpu 2 by 16.4 %;

# QEMU
PATH=/nonexistent count {hello} | EXIT 125 | ERR apt install qemu-user
PATH=/nonexistent doctor | EXIT 125 | OUT apt install qemu-user
count --qemu /no/qemu {hello} | EXIT 125 | ERR /no/qemu not found
count --qemu {d}/junk {hello} | EXIT 125 | ERR {d}/junk
count --qemu qemu-x86_64 {hello} | EXIT 125 | ERR qemu-x86_64 runs x86_64 programs, and this one is for sparc64
count --qemu /usr/bin/qemu-sparc64 {hello86} | EXIT 125 | ERR /usr/bin/qemu-sparc64 runs sparc64 programs
count --qemu /bin/true {hello} | EXIT 125 | ERR is built without plugins

# Reports that cannot be written
count -o {d}/no/report {hello} | EXIT 125 | ERR cannot write {d}/no/report
count -o {d} {hello} | EXIT 125 | ERR cannot write {d}
count -o /dev/full {hello} | EXIT 125 | SAYS No space left on device
count -j -o /dev/full {hello} | EXIT 125 | SAYS No space left on device
count -x, -o /dev/full {hello} | EXIT 125 | SAYS No space left on device
"""

# Each line but the first and the last is wrong in its own way.
WRONG_PMU = """machine r10000
raed CNT0
read CTN0
write CTRL0.evnt 1
signal Cycels 1
write CNT0 0xg
write CTRL0.event 16
read
read CNT0 strand 1
read CNT0 @root
signal Cycles 1 pcc=1
signal Cycles 1 flags=takn
mode cpll=1
mode cpl=1
take counter_interrupt
restore
signal 0:1+1:1 1
read CNT0 = 1
read CNT0 =
machine r10000 strands=9
machine r10000 size=1
dump = 1
read CNT0
"""

SCREENS = {
    "help": "--help",
    "count-help": "count --help",
    "perfex-help": "perfex --help",
    "perfex-tables": "perfex -T",
    "list-help": "list --help",
    "show-help": "show --help",
    "doctor-help": "doctor --help",
    "profile-help": "profile --help",
    "pmu-help": "pmu --help",
    "list": "list",
    "list-events-t2": "list events -m ultrasparc-t2",
    "list-miss": "list miss",
    "list-events-json": "list events -m ultrasparc-t2 --format json Dcache",
    "list-parameters": "list parameters",
    "list-signals": "list signals",
    "list-fake": "list -m fake",
    "list-fake-long": "list -m fake -v",
    "list-fake-json": "list -m fake -j",
    "list-fake-machine-json": "list machines -m fake -j",
    "list-fake-metrics": "list metrics -m fake",
    "list-fake-metrics-long": "list metrics -m fake -v",
    "list-fake-metrics-json": "list metrics -m fake -j",
    "list-fake-registers": "list registers -m fake",
    "list-fake-registers-long": "list registers -m fake -v control",
    "list-fake-registers-json": "list registers -m fake -j",
    "list-montecito-stalls": "list -m montecito 'BE_*'",
    "list-umasks": "list events UNDERFLOW",
    "list-t1": "list -m ultrasparc-t1",
    "list-elsewhere": "list -m sparc-t4 'coverage'",
    "show-event": "show Dcache_misses",
    "show-idle": "show AES_OP",
    "show-t2": "show ultrasparc-t2",
    "show-montecito": "show montecito",
    "show-t4": "show sparc-t4",
    "show-fake-event": "show -m fake Misses",
    "show-fake-umask": "show -m fake Misses.STORE:mesi=ME",
    "show-fake-register": "show -m fake CTL",
    "show-fake-address": "show -m fake CACHE0_CTL",
    "show-fake-metric": "show -m fake odd",
    "show-fake-unit": "show -m fake cache",
    "show-fake-group": "show -m fake sl:2",
    "show-montecito-event": "show L2D_OZQ_CANCELS0.ACQ",
    "show-t4-event": "show -m sparc-t4 Branches",
    "show-r10000-event": "show -m r10000 25",
    "show-register": "show PMC5",
    "show-several": "show Cycles",
    "summarize-help": "summarize --help",
    "summarize-t1": "summarize {s}/t1.csv",
    "summarize-t1-teja": "summarize --format teja {s}/t1.csv",
    "summarize-t1-json": "summarize -j --by core -M ipc {s}/t1.csv",
    "summarize-t2": "summarize --by all --skip 1 --freq 1.4G {s}/t2.csv",
    "summarize-t2-teja": "summarize --format teja {s}/t2.csv",
    "summarize-t2-csv": "summarize --format csv {s}/t2.csv",
    "decode": "decode -m montecito PMC5=0x620edd09 PMC6=0x2030012",
    "decode-t4": "decode -m sparc-t4 PCR1=0x18b4",
    "count-text": "count -e all {g}/window.sparc64",
    "count-csv": "count -x, -e all {g}/window.sparc64",
    "count-json": "count -j -e All_instr,AES_OP,cycles {g}/window.sparc64",
    "count-repeat": "count -r 3 -e All_instr,cycles {g}/window.sparc64",
    "count-threads": "count --per-thread -e All_instr {g}/window.sparc64",
}

# What differs from run to run or place to place.
FILTERS = [
    (re.compile(r'("(?:wall_s|user_s|sys_s)": )[\d.e-]+'), r"\1TIME"),
    (re.compile(r'("(?:enabled|running|pid)": )\d+'), r"\1NUMBER"),
    (re.compile(r",\d+(,100\.00,)"), r",NS\1"),
    (re.compile(r" +[\d.]+ s wall( \( \+- [\d.]+ % \))? .*"), " TIMES"),
    (re.compile(r"# +[\d.]+ M a second of wall time"), "# SPEED"),
    (re.compile(r" +[\d.]+ M instructions a second of"), " SPEED of"),
    (re.compile(r"\(pid \d+\)"), "(pid NUMBER)"),
]

folder = None


def make_files(d):
    """Files that are no programs, and a few good for nothing."""
    elf = bytearray(64)
    elf[:7] = b"\x7fELF\2\1\1"
    elf[16:20] = bytes((2, 0, 183, 0))
    mips = bytearray(64)
    mips[:7] = b"\x7fELF\2\2\1"
    mips[16:20] = bytes((0, 2, 0, 8))
    n32, release6 = bytearray(mips), bytearray(mips)
    n32[4] = 1
    release6[48] = 0xa0
    object_file = bytearray(elf)
    object_file[16:20] = bytes((1, 0, 62, 0))
    files = {"junk": b"neither\n" * 20, "short": b"\x7fE", "empty": b"",
             "arm": elf, "object": object_file, "n32": n32,
             "release6": release6,
             "loop": f"#!{d}/loop\n".encode(), "lost": b"#!/no/such\n"}
    for name, content in files.items():
        (d / name).write_bytes(content)
        (d / name).chmod(0o755)
    (d / "wrong.pmu").write_text(WRONG_PMU)
    (d / "signals.pmu").write_text(
        "machine montecito\nsignal CPU_OP_CYCLES\nsignal CPU_OP_CYCLES.ANY\n"
        "signal NOPS_RETIRED.ALL\nsignal +\nsignal NOPS_RETIRED+\n"
        "machine r10000\nsignal 0:0+2:0\n")
    (d / "bytes.pmu").write_bytes(b"machine r10000\nread CNT0 = \xff\x01\n")
    (d / "capitals.pmu").write_text("MACHINE R10000\nREAD cnt0\n")
    (d / "right.pmu").write_text("machine r10000\nwrite CNT0 1 = ok\n")
    (d / "nomachine.pmu").write_text("read CNT0\n")
    (d / "plain").write_bytes(b"\x7fELF")
    (d / "plain").chmod(0o644)
    (d / "text").write_text("text")


def names():
    return {"hello": t.guest("hello.sparc64"), "d": str(folder),
            "hello86": t.guest("hello.x86_64"), "g": t.guest(""),
            "s": t.source("test", "dump")}


def run_words(words, **how):
    """Runs tally; VARIABLE=VALUE words in front change its environment."""
    env = dict(os.environ)
    while words and re.match(r"[A-Z0-9_]+=", words[0]):
        key, _, env[key] = words[0].partition("=")
        words = words[1:]
    return t.run(t.tally(), *words, env=env, **how)


def one_line(text):
    t.equal(text.count("\n"), 1, f"lines of {text!r}")
    assert text.startswith("tally"), f"{text!r} does not begin with 'tally'"


def check(done, test):
    kind, _, value = test.partition(" ")
    value = value.format(**names())
    if kind == "EXIT":
        t.equal(done.returncode, int(value), f"status; {done.stderr!r}")
    elif kind == "ERR":
        one_line(done.stderr)
        t.contains(done.stderr, value)
        t.equal(done.stdout, "", "stdout")
    elif kind in ("SAYS", "OUT"):
        t.contains(done.stderr if kind == "SAYS" else done.stdout, value)
    else:
        raise ValueError(test)


def line_case(line):
    args, *tests = line.split(" | ")
    before = set(folder.iterdir())
    done = run_words(shlex.split(args.format(**names())))
    for test in tests:
        check(done, test)
    t.equal(set(folder.iterdir()), before, "files left behind")


# Screens

def screen(args):
    done = run_words(shlex.split(args.format(**names())))
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    text = (done.stdout or done.stderr).replace(names()["g"], "GUESTS")
    for pattern, word in FILTERS:
        text = pattern.sub(word, text)
    return text


def golden(name):
    return t.ROOT / "test" / "cli" / f"{name}.expected"


def screen_case(name, args):
    got, path = screen(args), golden(name)
    wanted = path.read_text() if path.exists() else ""
    if got != wanted:
        lines = zip(got.splitlines() + [""], wanted.splitlines() + [""])
        first = next((pair for pair in lines if pair[0] != pair[1]),
                     ("a longer screen", "or a shorter one"))
        raise AssertionError(f"{path.name}: {first[0]!r}, not {first[1]!r}; "
                             "test/cli.py --refresh BUILD writes it anew")


def refresh():
    for name, args in SCREENS.items():
        golden(name).write_text(screen(args))


# Streams

def full(args):
    with open("/dev/full", "w") as sink:
        done = t.run(t.tally(), *args, stdout=sink, stderr=subprocess.PIPE)
    t.equal(done.returncode, 125, "status")
    one_line(done.stderr)
    t.contains(done.stderr, "No space left on device")


for words in ("list", "--help", "--version", "show ultrasparc-t2",
              "count --help", "list events --format json", "doctor"):
    t.case(f"tally {words} >/dev/full", full, words.split())


@t.named("report to a full stderr: status 125")
def full_stderr():
    for form in ("text", "csv", "json"):
        with open("/dev/full", "w") as sink:
            done = t.run(t.tally(), "count", "--format", form,
                         t.guest("hello.sparc64"), stdout=subprocess.PIPE,
                         stderr=sink)
        t.equal((done.returncode, done.stdout), (125, "hello\n"), form)


def undivided(words):
    """encode names tally plan exactly where that would do."""
    divided = t.run(t.tally(), "plan", *words).returncode == 0
    done = t.run(t.tally(), "encode", *words)
    t.equal(done.returncode, 2, "status")
    one_line(done.stderr)
    t.equal("tally plan divides them" in done.stderr, divided, done.stderr)


for words in ("-m ultrasparc-t2plus cycles Idle_strands",
              "-m montecito L1D_READS_SET0 L1D_READS_SET1",
              "-m montecito {L1D_READS_SET0,L1D_READS_SET1}",
              "-m ultrasparc-t2 ITLB_miss Dcache_misses DTLB_miss"):
    t.case(f"encode {words}: as plan has it", undivided, words.split())


# Examples

def fed_by(command):
    """What comes out of it, to be read."""
    return subprocess.Popen(["sh", "-c", command],
                            stdout=subprocess.PIPE).stdout


def example(words, stdin):
    """The guest stands for the program, where there is one."""
    if "--" in words:
        before = words[:words.index("--") + 1]
        isa = "mips64" if any(".mips64" in w for w in words) else "sparc64"
        words = [*before, t.guest("hello." + isa)]
    words = [t.guest("hello.sparc64") if w == "./program" else w for w in words]
    done = t.run(*words, stdin=stdin)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    assert done.stdout, "no output"


@t.named("every example that --help prints works")
def examples():
    commands = re.findall(r"^  (\w+)  ", t.run(t.tally(), "--help").stdout,
                          re.MULTILINE)
    for command in commands:
        text = t.run(t.tally(), command, "--help").stdout
        lines = text.partition("\nexample:\n")[2].splitlines()
        assert lines, f"tally {command} has no example"
        for line in lines:
            before, bar, after = line.rpartition(" | ")
            name, *words = shlex.split(after)
            t.equal(name, "tally", "the command")
            example([t.tally(), *words],
                    fed_by(before) if bar else subprocess.DEVNULL)


def broken_pipe():
    read, write = os.pipe()
    os.close(read)
    return open(write, "w")


@t.named("report to a closed pipe: a silent death")
def closed_report():
    with broken_pipe() as pipe:
        for words in (("count",), ("count", "-j"), ("count", "-x,"),
                      ("count", "-m", "host-model", "--foreign"),
                      ("perfex", "-e", "15", "-m", "r12000", "--foreign")):
            done = t.run(t.tally(), *words, t.guest("hello.sparc64"),
                         stdout=subprocess.PIPE, stderr=pipe)
            t.equal((done.returncode, done.stdout),
                    (-signal.SIGPIPE, "hello\n"), f"status, output: {words}")


@t.named("report to a pipe's file that is closed early: a silent death")
def closed_fifo():
    with tempfile.TemporaryDirectory() as d:
        os.mkfifo(f"{d}/fifo")
        reader = subprocess.Popen(["head", "-c1", f"{d}/fifo"],
                                  stdout=subprocess.DEVNULL)
        done = t.run(t.tally(), "count", "-e", "all", "-I", 1, "-o",
                     f"{d}/fifo", t.guest("spin.sparc64"), 100000000)
        reader.wait()
    t.equal((done.returncode, done.stderr), (-signal.SIGPIPE, ""),
            "status, stderr")


def closed_pipe(words):
    with broken_pipe() as pipe:
        done = t.run(t.tally(), *words, stdout=pipe, stderr=subprocess.PIPE)
    t.equal((done.returncode, done.stderr), (-signal.SIGPIPE, ""),
            "status, stderr")


for words in ("list events", "list events -j", "show montecito", "--help",
              "decode -m sparc-t4 PCR0=0", "encode -j -m sparc-t4 Branches"):
    t.case(f"tally {words} into a closed pipe: a silent death", closed_pipe,
           words.split())


@t.named("a program that writes into a closed pipe dies of it")
def closed_program():
    with broken_pipe() as pipe:
        done = t.run(t.tally(), "count", "-j", t.guest("hello.sparc64"),
                     stdout=pipe, stderr=subprocess.PIPE)
    t.equal(done.returncode, 128 + signal.SIGPIPE, "status")


@t.named("stdin, stdout and stderr are the program's")
def streams():
    text = pathlib.Path(t.source("LICENSES", "MIT.txt"))
    with tempfile.TemporaryDirectory() as d, open(text) as stdin:
        done = t.run(t.tally(), "count", "-o", f"{d}/r",
                     t.guest("words.sparc64"), "/dev/stdin", stdin=stdin)
    t.equal((done.returncode, done.stderr), (0, ""), "status, stderr")
    t.contains(done.stdout, " the\n")


@t.named("stderr closed from the start")
def no_stderr():
    done = t.run("sh", "-c", 'exec "$@" 2>&-', "sh", t.tally(), "count",
                 t.guest("hello.sparc64"))
    t.equal((done.returncode, done.stdout), (125, "hello\n"), "status, output")


# Report files

@contextlib.contextmanager
def report_folder():
    with tempfile.TemporaryDirectory() as d:
        yield pathlib.Path(d)


@t.named("-o FILE appears whole, replaces, leaves nothing else")
def replaces():
    with report_folder() as d:
        report = d / "report"
        report.write_text("the old one")
        command = [t.tally(), "count", "-j", "-o", str(report),
                   t.guest("waiter.sparc64")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        t.equal(process.stdout.readline(), "ready\n", "the program's word")
        t.equal(report.read_text(), "the old one", "report while running")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        t.equal(process.returncode, 7, "status")
        t.equal(json.loads(report.read_text())["schema"], 1, "schema")
        t.equal([p.name for p in d.iterdir()], ["report"], "files")


@t.named("a failure leaves an old report as it is")
def keeps():
    with report_folder() as d:
        report = d / "report"
        report.write_text("the old one")
        for program in (str(d / "nothere"), "/tmp"):
            done = t.run(t.tally(), "count", "-o", report, program)
            one_line(done.stderr)
        t.run(t.tally(), "count", "-o", report, "--qemu", "/bin/true",
              t.guest("hello.sparc64"))
        t.equal(report.read_text(), "the old one", "report")
        t.equal([p.name for p in d.iterdir()], ["report"], "files")


@t.named("--append adds")
def appends():
    with report_folder() as d:
        for _ in range(2):
            t.run(t.tally(), "count", "-x,", "--append", "-o", d / "r", "-e",
                  "All_instr,cycles", t.guest("window.sparc64"))
        rows = (d / "r").read_text().splitlines()
    t.equal(len(rows), 4, "rows")
    t.equal([r.split(",")[0] for r in rows[:2]],
            [r.split(",")[0] for r in rows[2:]], "counts")


@t.named("-o follows a link and keeps it")
def link():
    with report_folder() as d:
        (d / "target").write_text("old")
        (d / "link").symlink_to("target")
        t.run(t.tally(), "count", "-x,", "-e", "cycles", "-o", d / "link",
              t.guest("window.sparc64"))
        assert (d / "link").is_symlink(), "the link became a file"
        t.contains((d / "target").read_text(), "cycles")


@t.named("-o /dev/stdout and /dev/null")
def devices():
    done = t.run(t.tally(), "count", "-x,", "-e", "cycles", "-o",
                 "/dev/stdout", t.guest("window.sparc64"))
    t.contains(done.stdout, ",cycles,")
    done = t.run(t.tally(), "count", "-o", "/dev/null",
                 t.guest("window.sparc64"))
    t.equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "all")


# Forms

FIELDS = {"schema", "machine", "program", "status", "strands", "events",
          "wall_s", "modelled_s"}
EVENT_FIELDS = {"name", "value", "fidelity", "enabled", "running"}
FIDELITIES = {"exact", "modelled", "estimated", "idle"}


def check_event(row):
    t.equal(EVENT_FIELDS - set(row), set(), "missing fields")
    for field in ("value", "enabled", "running"):
        t.equal(type(row[field]), int, f"type of {row['name']} {field}")
    assert row["fidelity"] in FIDELITIES, row
    t.equal("reason" in row, row["fidelity"] == "idle", f"reason of {row}")


@t.named("JSON has the fields of schema 1")
def json_fields():
    c = t.count(["-e", "all"], t.guest("hello.sparc64"), "argument")
    t.equal(FIELDS - set(c.json), set(), "missing fields")
    t.equal(c.json["schema"], 1, "schema")
    t.equal(next(iter(c.json)), "schema", "first field")
    t.equal(c.json["machine"], "ultrasparc-t2", "machine")
    t.equal(c.json["program"], t.guest("hello.sparc64") + " argument",
            "program")
    t.equal(c.json["status"], {"exit": 0}, "status")
    for row in c.json["events"]:
        check_event(row)
    for field in ("wall_s", "modelled_s"):
        assert c.json[field] > 0, field
    t.equal(c.json["strands"][0]["events"], c.values, "the one strand")


DRAM_EVENTS = set(t.table("machines", "ultrasparc-t2",
                          "events-dram.toml")["event"])


@t.named("all 38 events of the T2, and no more by default than 64")
def all_events():
    c = t.count([], t.guest("hello.sparc64"))
    every = t.count(["-e", "all"], t.guest("hello.sparc64"))
    t.same(c.values, {e: every[e] for e in c.values})
    rows = t.table("machines", "ultrasparc-t2", "events.toml")["event"]
    coded = {e for e, row in rows.items()
             if "code" in row and row.get("default", True)}
    t.equal(len(coded), 38, "events with a code")
    t.equal(coded - set(c.values), set(), "events not counted")


@t.named("a foreign program: nothing is exact, in JSON too")
def foreign():
    c = t.count(["-m", "ultrasparc-t2", "--foreign"], t.guest("hello.x86_64"))
    t.equal(c.json["foreign"], True, "foreign")
    assert "exact" not in {e["fidelity"] for e in c.json["events"]}


@t.named("JSON says what is counted, where it is not all of the program")
def scope():
    hello = t.guest("hello.sparc64")
    assert "counted" not in t.count([], hello).json
    for options, wanted in (
            (["--from", "main", "--to", "exit"],
             {"from": "main", "to": "exit"}),
            (["--skip", "1K", "--set", "l1d.size=16K", "--place", "spread"],
             {"skip": 1000, "set": ["l1d.size=16K", "place.threads=spread"]}),
            (["--filter", "code=main", "--filter", "data=0-9"],
             {"filter": ["code=main", "data=0-9"]})):
        t.equal(t.count([*options, "-e", "all"], hello).json["counted"],
                wanted, "counted")


@t.named("a metric that is named twice is reported once")
def metric_twice():
    c = t.count(["-M", "ipc,IPC,cpi"], t.guest("hello.sparc64"))
    t.equal([m["name"] for m in c.json["metrics"]], ["ipc", "cpi"], "metrics")


@t.named("the pinned CPU model is named")
def cpu_named():
    c = t.count([], t.guest("hello.x86_64"))
    done = t.run(t.tally(), "count", "-m", "host-model",
                 t.guest("hello.x86_64"))
    assert c.json["cpu"], c.json["cpu"]
    t.contains(done.stderr, f"CPU model {c.json['cpu']}")
    c = t.count(["--cpu-model", "max"], t.guest("hello.x86_64"))
    t.equal(c.json["cpu"], "max", "cpu")


@t.named("names that are not plain: JSON and CSV stay whole")
def odd_names():
    with report_folder() as d:
        for name in ('a "b", c', "tab\tand\\", "n\u00e4h", b"\xff\xfe"):
            path = os.path.join(os.fsencode(d), os.fsencode(name))
            shutil.copy(t.guest("hello.sparc64"), path)
            done = subprocess.run([t.tally(), "count", "-j", path],
                                  capture_output=True)
            t.equal(done.returncode, 0, f"status of {name!r}")
            json.loads(done.stderr)


def csv_rows(*options, **how):
    done = t.run(t.tally(), "count", *options, t.guest("window.sparc64"),
                 **how)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return done.stderr


@t.named("CSV: eight fields, perf's order")
def csv_fields():
    for separator in ",;\t|":
        text = csv_rows("-x", separator, "-e", "all")
        rows = list(csv.reader(text.splitlines(), delimiter=separator))
        for row in rows:
            t.equal(len(row), 8, f"fields of {row}")
            assert row[0].isdigit() and row[3].isdigit(), row
            t.equal((row[4], row[6]), ("100.00", "per instruction"), row[2])
            float(row[5])
            assert row[7] in FIDELITIES, row
    t.equal(csv_rows("--format", "csv", "-e", "window_spills").split(",")[0],
            "140", "first field")


def counts_of(text):
    return [line.split(",")[0] for line in text.splitlines()]


@contextlib.contextmanager
def french():
    """An environment in French, its locale made here where it is not."""
    plain = {k: v for k, v in os.environ.items() if k[:3] != "LC_"}
    if "fr_FR.utf8" in t.run("locale", "-a").stdout.split():
        yield {**plain, "LC_ALL": "fr_FR.UTF-8"}
        return
    with report_folder() as d:
        made = t.run("sh", "-c", "localedef -c -i fr_FR -f UTF-8 "
                     f"{d}/fr_FR.UTF-8").returncode
        if made != 0 or not (d / "fr_FR.UTF-8").exists():
            raise t.Skip("no French locale, and no source to make it from")
        yield {**plain, "LC_ALL": "fr_FR.UTF-8", "LOCPATH": str(d)}


@t.named("French locale: CSV and JSON unchanged")
def in_french():
    with french() as env:
        check_numbers(csv_rows("-x", ",", "-e", "all", env=env),
                      json.loads(csv_rows("-j", "-e", "all", env=env)))


@t.named("a locale that is not there: CSV and JSON unchanged")
def in_no_locale():
    env = {**os.environ, "LC_ALL": "fr_FR.UTF-8"}
    check_numbers(csv_rows("-x", ",", "-e", "all", env=env),
                  json.loads(csv_rows("-j", "-e", "all", env=env)))


def check_numbers(text, document):
    t.equal(counts_of(text), counts_of(csv_rows("-x", ",", "-e", "all")),
            "counts")
    t.equal([str(e["value"]) for e in document["events"]], counts_of(text),
            "counts of CSV and JSON")
    t.equal({line.count(",") for line in text.splitlines()}, {7}, "commas")


# Colour

def on_terminal(*options, **environment):
    """stderr of a run that sees a terminal there."""
    master, slave = pty.openpty()
    env = {**os.environ, **environment}
    t.run(t.tally(), "count", *options, "-e", "AES_OP",
          t.guest("hello.sparc64"), stdout=subprocess.PIPE, stderr=slave,
          env=env)
    os.close(slave)
    chunks = []
    with contextlib.suppress(OSError):
        while chunk := os.read(master, 65536):
            chunks.append(chunk)
    os.close(master)
    return b"".join(chunks).decode()


def coloured(text):
    return "\033[2m" in text


@t.named("colour: on a terminal alone, NO_COLOR, --color wins")
def colour():
    t.equal(coloured(on_terminal()), True, "on a terminal")
    t.equal(coloured(on_terminal(NO_COLOR="1")), False, "NO_COLOR=1")
    t.equal(coloured(on_terminal(NO_COLOR="")), True, "NO_COLOR=''")
    t.equal(coloured(on_terminal("--color", "never")), False, "never")
    t.equal(coloured(on_terminal("--color", "always", NO_COLOR="1")), True,
            "always, NO_COLOR=1")
    for options, wanted in (((), False), (("--color", "always"), True)):
        t.equal(coloured(csv_rows(*options, "-e", "AES_OP")), wanted,
                f"no terminal, {options}")


@t.named("machine forms have no colour")
def no_colour():
    for form in ("csv", "json"):
        text = csv_rows("--color", "always", "--format", form, "-e", "AES_OP")
        assert "\033" not in text, form


@t.named("progress: on a terminal of a long run, not with -q")
def progress():
    long_run = (t.guest("spin.sparc64"), "2000000000")
    for options, wanted in (((), True), (("-q",), False)):
        master, slave = pty.openpty()
        process = subprocess.Popen([t.tally(), "count", "-e", "all", *options,
                                    *long_run], stderr=slave)
        time.sleep(2.5)
        process.terminate()
        process.wait(60)
        os.close(slave)
        text = os.read(master, 65536).decode()
        os.close(master)
        t.equal("instructions, " in text, wanted, f"progress with {options}")


def add_cases():
    for line in LINES.splitlines():
        if line and line[0] != "#":
            t.case(line.split(" | ")[0].strip() or "no arguments", line_case,
                   line)
    for name, args in SCREENS.items():
        t.case(f"screen {name}", screen_case, name, args)


def main():
    global folder
    fresh = "--refresh" in sys.argv
    if fresh:
        sys.argv.remove("--refresh")
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        make_files(folder)
        if fresh:
            t.build = pathlib.Path(sys.argv[1]).resolve()
            refresh()
        else:
            add_cases()
            t.main()


main()
