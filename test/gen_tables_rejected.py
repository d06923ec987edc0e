# SPDX-License-Identifier: MIT
"""What scripts/gen_tables.py must reject: rows of test/gen_tables.py."""

SIGNALS, PARAMS = "signals.toml", "parameters.toml"
# The fake machine's levels behind the L1 data cache, up to its parameters.
BEHIND_L1D = '''

[level.l2]
size = { value = "8K" }
ways = { value = 4 }
line = { value = 32 }
shared = { value = "chip" }

[level.l3]
size = { value = 0 }
ways = { value = 1 }
line = { value = 32 }

# A level that no other machine has, until --set gives it a size.
[level.l5]
size = { value = 0 }

[level.itlb]
entries = { value = 4 }

[level.dtlb]
entries = { value = 4 }
next = { value = "stlb" }

# Three levels behind, without entries until --set adds some.
[level.stlb]
entries = { value = 0 }
next = { value = "tlb3" }

[level.tlb3]
entries = { value = 0 }
next = { value = "tlb4" }

[level.tlb4]
entries = { value = 0 }
ways = { value = 4 }

[predictor.branch]
predictor = { value = "gshare" }
entries = { value = 16 }
history = { value = 4 }

[predictor.btc]
entries = { value = 8 }
ways = { value = 2 }

[predictor.far]
entries = { value = 4 }
reach = { value = 256 }

[predictor.indirect]
entries = { value = 8 }
history = { value = 2 }

[predictor.return]
depth = { value = 3 }

[parameter]
'''
# The same with a second, a third and a fourth TLB behind the first two.
TLBS = BEHIND_L1D[:BEHIND_L1D.index("next")] + """\
next = { value = "t2" }

[level.t2]
entries = { value = 8 }
shared = { value = "strand" }
next = { value = "t3" }

[level.t3]
entries = { value = 24 }
ways = { value = 3 }
next = { value = "t4" }

[level.t4]
entries = { value = 64 }
ways = { value = 4 }
replacement = { value = "fifo" }
time = { value = 9 }

""" + BEHIND_L1D[BEHIND_L1D.index("[predictor.branch]"):]
# A second direction predictor.
PREDICTORS = """
[predictor.side]
kind = { value = "gshare" }
entries = { value = 512 }
history = { value = 6 }

[parameter]
"""
COMPONENTS = "components.toml"
FOLDER = "machines/fake"
MACHINE, EVENTS = f"{FOLDER}/machine.toml", f"{FOLDER}/events.toml"
REGISTERS, METRICS = f"{FOLDER}/registers.toml", f"{FOLDER}/metrics.toml"
INSTRUCTIONS = f"{FOLDER}/instructions.toml"
COSTS = f"{FOLDER}/costs.toml"
ACCOUNTS = f"{FOLDER}/accounting.toml"
GENERICS, GENERIC = "generic.toml", f"{FOLDER}/generic.toml"
PLAIN = "l1d_load_misses - bulk_l1d_misses"
FIXED = '[signal.instructions]\nkind = "fixed"'

# A file of the fake CPU, what is replaced in it (None: all of it), by what,
# and what the one line says after "data/FILE: " (None: it is still good).
REJECTED = [
    # Any file
    (EVENTS, None, "x =", "Invalid value (at end of document)"),
    (EVENTS, None, "\xff", "'utf-8' codec can't decode byte 0xff in position "
     "0: invalid start byte"),
    (EVENTS, None, "", "top level: 'source' is missing: one line of plain "
     "ASCII text"),
    (EVENTS, None, 'source = "s"', "there is no event"),
    (EVENTS, None, 'source = 1', "top level: 'source' is of the wrong kind: "
     "one line of plain ASCII text"),
    (EVENTS, None, 'source = ""', "top level: 'source' must be one line of "
     "plain ASCII text"),
    (EVENTS, None, 'source = "s"\nevent = 3', "top level: 'event' is of the "
     "wrong kind: rows [event.NAME]"),
    (EVENTS, None, 'source = "s"\nevent.A = 3',
     "[event.A]: must be a table"),
    (EVENTS, "[default]", "[defaults]", "[event.Ticks]: 'unit' is missing: "
     "one line of plain ASCII text"),
    (EVENTS, "[event.Naps]", "[other]\n[event.Naps]", "top level: unknown key "
     "'other'; known are source, default, event"),
    (EVENTS, "[event.Done]", "[event.Ticks]", 'Cannot declare (\'event\', '
     "'Ticks') twice (at line 20, column 13)"),
    # Events
    (EVENTS, "[event.Done]", '[event."Do ne"]', "[event.Do ne]: the name must "
     "be letters, digits, '_', '-' and '.'"),
    (EVENTS, "[event.Done]", "[event.tICKS]", "[event.tICKS]: the name "
     "'tICKS' is taken by [event.Ticks]"),
    (EVENTS, "[event.Done]", "[event.Fake-Cycles]", "[event.Fake-Cycles]: the "
     "name 'Fake-Cycles' is taken by [event.Ticks]"),
    (EVENTS, '"Retired"', '"ticks"', "[event.Done]: the name 'ticks' is taken "
     "by [event.Ticks]"),
    (EVENTS, '"Retired"', '"DONE"', "[event.Done]: the name 'DONE' is taken "
     "by [event.Done]"),
    (EVENTS, '"Retired"', '"Op:done"', "[event.Done]: 'aliases' names "
     "something twice"),
    (EVENTS, '"Retired"', '"a,b"', "[event.Done]: 'aliases' must be a list of "
     "names: 'a,b' is none"),
    (EVENTS, '"Retired"', '"0x12"', "[event.Done]: 'aliases' must be a list "
     "of names: '0x12' is none"),
    (EVENTS, '"Retired"', '3', "[event.Done]: 'aliases' must be a list of "
     "names: 3 is none"),
    (EVENTS, '"Retired"', f'"{96 * "a"}"', None),
    (EVENTS, '"Retired"', f'"{97 * "a"}"', "[event.Done]: 'aliases' must be a "
     f"list of names: '{97 * 'a'}' is none"),
    (EVENTS, '"Retired"', '"Done:u"', "[event.Done]: the name 'Done:u' means "
     "something else in event lists"),
    (EVENTS, "[event.Done]", "[event.All]", "[event.All]: the name 'All' "
     "means something else in event lists"),
    (EVENTS, 'counts = "in each cycle"\n', "", "[event.Ticks]: 'counts' is "
     "missing: one line of plain ASCII text"),
    (EVENTS, 'brief = "cycles"', 'brief = "cycl\\u00e9s"', "[event.Ticks]: "
     "'brief' must be one line of plain ASCII text"),
    (EVENTS, 'brief = "cycles"', 'brief = "two\\nlines"', "[event.Ticks]: "
     "'brief' must be one line of plain ASCII text"),
    (EVENTS, 'brief = "cycles"', 'breif = "cycles"', "[event.Ticks]: 'brief' "
     "is missing: one line of plain ASCII text"),
    (EVENTS, "code = 0x7", "cod = 0x7", "[event.Ticks]: unknown key 'cod'; "
     "did you mean 'code'?"),
    (EVENTS, "code = 0x7", 'code = "7"', "[event.Ticks]: 'code' is of the "
     "wrong kind: a whole number from 0 to 2147483647"),
    (EVENTS, "code = 0x7", "code = true", "[event.Ticks]: 'code' is of the "
     "wrong kind: a whole number from 0 to 2147483647"),
    (EVENTS, "code = 0x7", "code = -2", "[event.Ticks]: code = -2: must be a "
     "whole number from 0 to 2147483647"),
    (EVENTS, "code = 0x7", "code = 0x12", "[event.Done]: code 0x12 is taken "
     "by [event.Ticks]"),
    (EVENTS, "code = 0x012", "code = 0x021", "[event.Done]: code = 0x21: sl "
     "0x2 and mask 0x1 make 0x12"),
    (EVENTS, "code = 0x012\n", "", "[event.Done]: code = -0x1: sl 0x2 and "
     "mask 0x1 make 0x12"),
    (EVENTS, "mask = 0x01\n", "", "[event.Done]: 'sl' and 'mask' go together"),
    (EVENTS, "sl = 0x2\nmask = 0x01", "sl = 32\nmask = 0x01", "[event.Done]: "
     "sl = 32: must be a whole number from 0 to 31"),
    (EVENTS, "mask = 0x01", "mask = 256", "[event.Done]: mask = 256: must be "
     "a whole number from 0 to 255"),
    (EVENTS, 'fidelity = "estimated"', 'fidelity = "guessed"',
     "[event.Ticks]: fidelity = 'guessed': must be one of exact, modelled, "
     "estimated, idle"),
    (EVENTS, 'fidelity = "estimated"', 'fidelity = "exact"', "[event.Ticks]: "
     "'cycles' comes from the model: the fidelity must be modelled or "
     "estimated"),
    (EVENTS, '["cycles"]', '["cycels"]', "[event.Ticks]: unknown signal "
     "'cycels'; did you mean 'cycles'?"),
    (EVENTS, '["cycles"]', '["cycles", "cycles"]', "[event.Ticks]: 'signals' "
     "names something twice"),
    (EVENTS, '["cycles"]', '"cycles"', "[event.Ticks]: 'signals' is of the "
     "wrong kind: a list of names"),
    (EVENTS, 'signals = ["cycles"]\n', "", "[event.Ticks]: an event that is "
     "not idle has 'signals' and no 'reason'"),
    (EVENTS, 'signals = ["cycles"]', 'signals = ["cycles"]\nreason = "no"',
     "[event.Ticks]: an event that is not idle has 'signals' and no "
     "'reason'"),
    (EVENTS, 'reason = "this CPU never sleeps"\n', "", "[event.Naps]: an idle "
     "event has a 'reason' and no 'signals'"),
    (EVENTS, 'reason = "this CPU never sleeps"',
     'reason = "x"\nsignals = ["cycles"]', "[event.Naps]: an idle event has a "
     "'reason' and no 'signals'"),
    (EVENTS, "default = false", "default = 0", "[event.Misses]: 'default' is "
     "of the wrong kind: true or false"),
    # Machines
    (MACHINE, 'title = "The fake CPU"\n', "", "top level: 'title' is missing: "
     "one line of plain ASCII text"),
    (MACHINE, 'isas = ["fake", "fake_wide"]\n', "", "top level: 'isas' is "
     "missing: a list of names"),
    (MACHINE, "hidden", "hiden", "top level: unknown key 'hiden'; did you "
     "mean 'hidden'?"),
    (MACHINE, '"fake-1"', '"FAKE"', "top level: the name 'FAKE' is taken by "
     "data/machines/fake/machine.toml"),
    (MACHINE, '"cores" = { value = 2, ', '"cores" = { ', "[parameter.cores]: "
     "'value' is missing: a number or text"),
    (MACHINE, '"cores" = { value = 2', '"cores" = { value = 0',
     "[parameter.cores]: value = 0: must be a whole number from 1 to 64"),
    (MACHINE, '"cores" = { value = 2', '"cores" = { value = "2"',
     "[parameter.cores]: value = '2': must be a count"),
    (MACHINE, '"cores" = { value = 2', '"cores" = { value = 1.5',
     "[parameter.cores]: 'value' is of the wrong kind: a number or text"),
    (MACHINE, "assumed = false", "assumed = 0", "[parameter.cores]: 'assumed' "
     "is of the wrong kind: true or false"),
    (MACHINE, '"1.5K"', '"1.5Q"', "[level.l1d.size]: value = '1.5Q': must "
     "be a size"),
    (MACHINE, '"1.5K"', '"1.3K"', "[level.l1d.size]: value = 1.3K: must "
     "be a whole number from 64 to 4294967296"),
    (MACHINE, "line = { value = 16 }\nw", "line = { value = 24 }\nw",
     "[level.l1d.line]: value = 24: must be a power of two"),
    (MACHINE, '"through"', '"thru"', "[level.l1d.write]: value = 'thru': "
     "must be one of allocate, through"),
    (MACHINE, '"through"', '1', "[level.l1d.write]: 'value' is of the "
     "wrong kind: one of allocate, through"),
    (MACHINE, "ways = { value = 3 }", "way = { value = 3 }", "[level.l1d.way]: unknown "
     "parameter; did you mean 'l1d.ways'?"),
    (MACHINE, '"clock" =', '"l1d.ways" = { value = 3 }\n"clock" =',
     "[level.l1d.ways]: 'l1d.ways' stands twice"),
    (MACHINE, "[level.l1i]", "[level]\nl1i = 1\n[level.l4]", "[level.l1i]: "
     "must be a table"),
    (MACHINE, "size = { value = 256 }", "size = 256", "[level.l1i.size]: must "
     "be a table"),
    (MACHINE, '"time.fp" = { value = 2 }\n', "", "[parameter]: a machine "
     "gives every parameter that has no default: missing is time.fp"),
    (MACHINE, "[default]\nassumed = true\nsource", "[default]\nassumed = true"
     "\nx", "[parameter.cores]: unknown key 'x'; known are value, source, "
     "assumed"),
    # Native machines
    (MACHINE, "hidden = true", "hidden = true\nnative = 1", "top level: "
     "'native' is of the wrong kind: true or false"),
    (MACHINE, "hidden = true", "hidden = true\nnative = true", "top level: a "
     "native machine has no [parameter]: it is no model"),
    (MACHINE, "hidden = true", "hidden = true\nbase_parameters = true", "top "
     "level: base_parameters is for a machine with a base"),
    # Geometry
    (MACHINE, '"1.5K"', '"1K"', "[parameter]: l1d.size = 1024: must be 3 ways "
     "of 16 bytes times a power of two"),
    (MACHINE, "ways = { value = 2 }", "ways = { value = 32 }",
     "[parameter]: l1i.size = 256: must be 32 ways of 16 bytes times a power "
     "of two"),
    (MACHINE, '"8K"', "0", "[parameter]: l2.size = 0: the table walk needs "
     "an L2; set tlb.walk=0 as well"),
    (MACHINE, '"clock" =', '"l4.size" = { value = "8K" }\n"clock" =',
     "[parameter]: l4.size = 8192: an L4 needs an L3, and l3.shared=chip"),
    (MACHINE, "line = { value = 16 }", "line = { value = 64 }",
     "[parameter]: l2.line = 32: must be at least l1i.line, 64"),
    # Predictors
    (MACHINE, "\n[parameter]\n", PREDICTORS, None),
    (MACHINE, "\n[parameter]\n", PREDICTORS.replace("512", "500"),
     "[predictor.side.entries]: value = 500: must be a power of two"),
    (MACHINE, "\n[parameter]\n", PREDICTORS.replace("gshare", "neural"),
     "[predictor.side.kind]: value = 'neural': must be one of none, "
     "bimodal, gshare, perceptron, tage"),
    (MACHINE, "\n[parameter]\n", PREDICTORS.replace("history", "histories"),
     "[predictor.side.histories]: unknown parameter; did you mean "
     "'side.history'?"),
    (MACHINE, "\n[parameter]\n", PREDICTORS.replace(".side", ".Side"),
     "[predictor.Side]: the name of a direction predictor is up to 16 small "
     "letters, digits and '_'"),
    # Target caches
    (MACHINE, "\n[parameter]\n", "\n[target.side]\nentries = { value = 512 }\n"
     "history = { value = 8 }\n[parameter]\n", None),
    (MACHINE, "\n[parameter]\n", "\n[target.side]\nentries = { value = 500 }\n"
     "[parameter]\n", "[parameter]: side.entries = 500: must be 0 or a power of two"),
    (MACHINE, "\n[parameter]\n", "\n[target.Side]\nentries = { value = 8 }\n"
     "[parameter]\n", "[target.Side]: the name of a target cache is up to 16 small "
     "letters, digits and '_'"),
    # Tables with tags
    (MACHINE, "\n[parameter]\n", "\n[predictor.ittage]\n"
     "shortest = { value = 70 }\n[parameter]\n",
     "[parameter]: ittage.longest = 64: must be at least ittage.shortest, 70"),
    (MACHINE, "\n[parameter]\n", "\n[predictor.ittage]\n"
     "entries = { value = 500 }\n[parameter]\n",
     "[predictor.ittage.entries]: value = 500: must be a power of two"),
    # Branch target buffers
    (MACHINE, "\n[parameter]\n", "\n[predictor.btb2]\n"
     "entries = { value = 512 }\n[parameter]\n",
     "[parameter]: btb2.entries = 512: needs btb1.entries above 0"),
    (MACHINE, "\n[parameter]\n", "\n[predictor.btb1]\n"
     "entries = { value = 1000 }\nways = { value = 8 }\n[parameter]\n",
     "[parameter]: btb1.entries = 1000: must be 0, or btb1.ways=8 times a power of two"),
    # Cache levels
    (MACHINE, "[level.l5]", "[level.back]",
     "[level.back]: the name of a cache level behind the L3 is l4 to l15"),
    (MACHINE, "[level.l5]\nsize = { value = 0 }", "[level.l5]\nsize = "
     '{ value = "8K" }',
     "[parameter]: l5.size = 8192: an L5 needs an L4, and l3.shared=chip"),
    # TLB levels
    (MACHINE, BEHIND_L1D, TLBS, None),
    (MACHINE, BEHIND_L1D, TLBS.replace("value = 24", "value = 25"),
     "[parameter]: t3.entries = 25: must be t3.ways=3 times a power of two"),
    (MACHINE, BEHIND_L1D, TLBS.replace('"t4"', '"t5"'),
     "[level.t3.next]: value = 't5': must be one of walk, t2, t3, t4"),
    (MACHINE, BEHIND_L1D, TLBS.replace('"t4"', '"t2"'),
     "[parameter]: t3.next = t2: t2 comes before t3 already"),
    (MACHINE, BEHIND_L1D, TLBS.replace('"t4"', '"walk"'),
     "[parameter]: t4.entries = 64: no miss gets there; set dtlb.next=t4 or "
     "itlb.next=t4 as well"),
    (MACHINE, BEHIND_L1D, TLBS.replace("[level.t3]", "[level.T3]"),
     "[level.T3]: the name of a TLB level is up to 16 small letters, digits "
     "and '_'"),
    (MACHINE, BEHIND_L1D, TLBS.replace(
        'shared = { value = "strand" }', 'share = { value = "strand" }'),
     "[level.t2.share]: unknown parameter; did you mean 't2.shared'?"),
    (MACHINE, '[predictor.btc]\nentries = { value = 8 }',
     '[predictor.btc]\nentries = { value = 6 }',
     "[parameter]: btc.entries = 6: must be 0, or btc.ways=2 times a power "
     "of two"),
    (MACHINE, '[predictor.far]\nentries = { value = 4 }',
     '[predictor.far]\nentries = { value = 5 }',
     "[parameter]: far.entries = 5: must be 0 or a power of two"),
    (MACHINE, "line = { value = 32 }", "line = { value = 2048 }",
     "[parameter]: tlb.page = 1024: must be at least l2.line, 2048"),
    (PARAMS, 'of = "tlb.kind"', 'of = "tlb.kin"',
     "top level: rule 36: of = 'tlb.kin': did you mean 'tlb.kind'?"),
    (PARAMS, "{btc.ways}", "{btc.way}",
     "top level: rule 24: otherwise: unknown parameter 'btc.way'; did you "
     "mean 'btc.ways'?"),
    (PARAMS, "$itlb.first != 1", "$itlb.fist != 1",
     "top level: rule 34: formula: unknown parameter '$itlb.fist'; did "
     "you mean 'itlb.first'?"),
    (PARAMS, "$place.node < $nodes", "place < $nodes",
     "top level: rule 25: formula: unknown name 'place'; no name is known "
     "here"),
    # Signals
    (SIGNALS, FIXED, FIXED.replace("fixed", "fixd"), "[signal.instructions]: "
     "kind = 'fixd': must be one of fixed, dynamic"),
    (SIGNALS, FIXED, FIXED.replace("fixed", "dynamic"),
     "[signal.instructions]: a fixed signal implies nothing, a dynamic one "
     "something"),
    (SIGNALS, FIXED, FIXED + '\nimplies = ["l2"]',
     "[signal.instructions]: a fixed signal implies nothing, a dynamic one "
     "something"),
    (SIGNALS, FIXED, FIXED.replace("fixed", "dynamic") +
     '\nimplies = ["l2"]',
     "[signal.class_branch]: fixed signals stand before the others"),
    (SIGNALS, FIXED, FIXED + '\nrequires = ["bundle"]', "[signal."
     "instructions]: unknown condition 'bundle'; did you mean 'bundles'?"),
    (SIGNALS, FIXED, FIXED + '\nrequires = ["nodes"]',
     "[signal.instructions]: condition 'nodes' has no 'otherwise' to tell"),
    (SIGNALS, 'implies = ["direction"]', 'implies = ["directions"]',
     "[signal.conditional_taken]: unknown component 'directions'; did you mean "
     "'direction'?"),
    # Formulas
    (SIGNALS, PLAIN, "l1d_load_misses - bulk_misses", "[signal."
     "plain_load_misses]: formula: unknown name 'bulk_misses'; did you mean "
     "'bulk_l5_misses'?"),
    (SIGNALS, PLAIN, "l1d_load_misses -", "[signal.plain_load_misses]: "
     "formula: invalid syntax: l1d_load_misses -"),
    (SIGNALS, PLAIN, "l1d_load_misses ** 2", "[signal.plain_load_misses]: "
     "formula: 'l1d_load_misses ** 2': the operators are + - * // %"),
    (SIGNALS, PLAIN, "l1d_load_misses / 2",
     "[signal.plain_load_misses]: formula: 'l1d_load_misses / 2': the "
     "operators are + - * // %"),
    (SIGNALS, PLAIN, "-l1d_load_misses", "[signal.plain_load_misses]: "
     "formula: '-l1d_load_misses': a number has no sign"),
    (SIGNALS, PLAIN, "l1d_load_misses + 0.5", "[signal.plain_load_misses]: "
     "formula: 0.5 stands where a number is expected"),
    (SIGNALS, PLAIN, "[l1d_load_misses]", "[signal.plain_load_misses]: "
     "formula: '[l1d_load_misses]' is no expression of this language"),
    (SIGNALS, PLAIN, "$l1d.lines", "[signal.plain_load_misses]: formula: "
     "unknown parameter '$l1d.lines'; did you mean 'l1d.line'?"),
    (SIGNALS, PLAIN, "1 if $l1d.write == 'back' else 0",
     "[signal.plain_load_misses]: formula: '_['l1d.write']' is never 'back'; "
     "known are allocate, through"),
    (SIGNALS, PLAIN, "1 if $l1d.write > 'through' else 0",
     "[signal.plain_load_misses]: formula: '_['l1d.write'] > 'through'': a word "
     "is compared by == or !="),
    (SIGNALS, PLAIN, "()[copy]", "[signal.plain_load_misses]: formula: [copy] "
     "follows a list with a number for each copy"),
    (SIGNALS, PLAIN, "1 if 0 < l1d_load_misses < 2 else 0",
     "[signal.plain_load_misses]: formula: '0 < l1d_load_misses < 2': a "
     "comparison has one of == != > <"),
    (SIGNALS, PLAIN, "wait(l1d_load_misses)", "[signal.plain_load_misses]: "
     "formula: wait() takes 5 arguments"),
    (SIGNALS, PLAIN, "waits(l1d_load_misses)", "[signal.plain_load_misses]: "
     "formula: unknown function 'waits'; did you mean 'wait'?"),
    (SIGNALS, PLAIN, "(1, 2)[copy]", "[signal.plain_load_misses]: formula: "
     "[copy] follows a list with a number for each copy"),
    (SIGNALS, "l1d_writebacks * ", "(1, 2)[copy] * ",
     "[signal.l1d_writeback_quadwords]: formula: [copy] follows a list with a "
     "number for each copy"),
    (SIGNALS, PLAIN, "load_memory", "[signal.plain_load_misses]: formula: it "
     "follows from itself by plain_load_misses, load_memory"),
    (SIGNALS, "l2_store_remote + l2_store_cache", "store_wait", "[signal."
     "stall_store]: formula: 'store_wait' uses itself"),
    (SIGNALS, "[term.mispredicts]", "[term.wait]", "[term.wait]: 'wait' is the "
     "name of a signal, term, function or condition already"),
    (SIGNALS, "[signal.class_fgu]", "[signal.walk]", "[signal.walk]: 'walk' is "
     "the name of a signal, term, function or condition already"),
    (SIGNALS, PLAIN, "18446744073709551616", "[signal.plain_load_misses]: "
     "formula: 18446744073709551616 has more than 64 bits"),
    (SIGNALS, 'arguments = ["a", "b"]', 'arguments = ["l2", "b"]',
     "[function.excess]: argument 'l2' is the name of a signal, term or "
     "condition"),
    # A term does not see the arguments of the function that uses the term.
    (SIGNALS, 'arguments = ["a", "b"]\nformula = "a - b if a > b else 0"',
     'arguments = ["instruction", "b"]\nformula = "leak"\n[term.leak]\n'
     'formula = "instruction"', "[signal.indirect_foretold]: formula: "
     "unknown name 'instruction'; did you mean 'instructions'?"),
    # Conditions and components
    (COMPONENTS, "'performed' and not bus", "'performed' and not buss",
     "[condition.prefetch]: formula: unknown name 'buss'; did you mean 'bus'?"),
    (COMPONENTS, 'implies = ["l2"]', 'implies = ["l2 where l3"]',
     "[component.l3]: 'implies' must be a list of names: 'l2 where l3' is "
     "none"),
    (COMPONENTS, 'implies = ["l2"]', 'implies = ["writebacks"]',
     "[component.l3]: unknown component 'writebacks'; did you mean "
     "'writeback'?"),
    (COMPONENTS, 'implies = ["l2"]', 'implies = ["l2 if snoops"]',
     "[component.l3]: unknown condition 'snoops'; did you mean 'snoop'?"),
    (COMPONENTS, 'brief = "iterations of REP string instructions"\nneeds = ["data"]',
     'brief = "iterations of REP string instructions"',
     "[component.repeat]: 'needs' is missing: a list of names"),
    (COMPONENTS, 'brief = "the L1 instruction cache"\nneeds = ["fetches"]',
     'brief = "the L1 instruction cache"\nneeds = ["fetch"]',
     "[component.l1i]: unknown feed 'fetch'; did you mean 'fetches'?"),
    (COMPONENTS, '[feed.data]\notherwise = ', '[feed.data]\nothewise = ',
     "[feed.data]: 'otherwise' is missing: one line of plain ASCII text"),
    (COMPONENTS, "[component.repeat]", "".join(
        f'[component.more{i}]\nbrief = "b"\nneeds = []\n' for i in range(40)) +
     "[component.repeat]", "top level: there are more than 64 components"),
    (SIGNALS, "[signal.class_fgu]", "[signal.Class_Branch]",
     "[signal.Class_Branch]: the name must be letters, digits, '_', '-' and "
     "'.', and stay different as a C name"),
    (SIGNALS, "[signal.cycles]", "[signal.count]", "[signal.count]: the name "
     "must be letters, digits, '_', '-' and '.', and stay different as a C "
     "name"),
    # Parameters
    (PARAMS, '"cores" = { kind = "count"', '"cores" = { kind = "number"',
     "[parameter.cores]: kind = 'number': must be one of count, size, hertz, "
     "cycles, choice"),
    (PARAMS, '"cores" = { kind = "count", min = 1',
     '"cores" = { kind = "count", min = 65', "[parameter.cores]: max = 64: "
     "must be a whole number from 65 to 9223372036854775807"),
    (PARAMS, 'min = 8, max = 4096, power_of_two', 'min = 7, max = 4096, '
     "power_of_two", "[parameter.l1d.line]: 'min' and 'max' must be powers of "
     "two as well"),
    (PARAMS, 'choices = ["allocate", "through"]', "min = 1",
     "[parameter.l1d.write]: 'choices' is missing: a list of names"),
    (PARAMS, 'choices = ["allocate", "through"]',
     'choices = ["allocate", "through"], min = 1', "[parameter.l1d.write]: "
     "unknown key 'min'; known are kind, brief, choices, power_of_two, "
     "default"),
    (MACHINE, '"clock" =', '"place.node" = { value = 1 }\n"clock" =',
     "[parameter]: place.node = 1: there is no such node; see the "
     "parameter nodes"),
    (MACHINE, '"pipelines" = { value = 1', '"pipelines" = { value = 3',
     "[parameter]: pipelines = 3: must divide strands, 2"),
    (MACHINE, '"clock" =', '"nodes" = { value = 2 }\n'
     '"memory.banks" = { value = 8 }\n"clock" =',
     "[parameter]: memory.banks = 8: with all nodes there may be 8 at "
     "most"),
    (MACHINE, f'"through" }}{BEHIND_L1D}',
     f'"allocate" }}{BEHIND_L1D}"nodes" = {{ value = 2 }}\n',
     "[parameter]: nodes = 2: needs l2.shared=chip, l1d.write=through, "
     "an L2 and no L3"),
    (MACHINE, '"clock" =', '"l3.shared" = { value = "core" }\n"clock" =',
     "[parameter]: l3.shared = core: needs l2.shared=core, "
     "l1d.write=through, one node, an L2 and an L3 with lines of one "
     "size"),
    (MACHINE, '"clock" =', '"l2i.size" = { value = "8K" }\n"clock" =',
     "[parameter]: l2i.size = 8192: needs l3.shared=core"),
    (MACHINE, '"clock" =', '"dtlb.first" = { value = 1 }\n"clock" =',
     "[parameter]: dtlb.first = 1: must be 0 or at least 2"),
    (MACHINE, '"clock" =', '"itlb.first" = { value = 2 }\n'
     '"tlb.kind" = { value = "joint" }\n"clock" =',
     "[parameter]: tlb.kind = joint: needs itlb.first=0, dtlb.first=0"),
    (PARAMS, "default = 64, brief = \"bytes", "default = 8, brief = \"bytes", "[parameter.memory.interleave]: "
     "default = 8: must be a whole number from 16 to 1048576"),
    (PARAMS, 'choices = ["allocate", "through"]',
     'choices = ["allocate", "through"], default = "back"',
     "[parameter.l1d.write]: default = 'back': must be one of allocate, "
     "through"),
    (SIGNALS, "copies = 8", "copies = 1", "[signal.memory_reads]: copies = 1: "
     "must be a whole number from 2 to 64"),
    (SIGNALS, "[signal.cycles]", "[signal.memory_reads_3]",
     "[signal.memory_reads_3]: the name must be letters, digits, '_', '-' and "
     "'.', and stay different as a C name"),
    # Parts of events
    (EVENTS, 'signals = ["instructions"]', 'signals = ["instructions"]\n'
     'narrowed = { "from=here" = ["instruction"] }', "[event.Done]: unknown "
     "signal 'instruction'; did you mean 'instructions'?"),
    (EVENTS, 'signals = ["instructions"]', 'signals = ["instructions"]\n'
     'narrowed = { here = ["instructions"] }', "[event.Done]: 'narrowed' gives "
     'each "modifier=word" its signals'),
    # Registers
    (REGISTERS, 'bits = "19"', 'bits = "19.0"', "[register.CTL]: fields 4: "
     "'bits' must be \"HIGH:LOW\" or \"BIT\", 63 at most"),
    (REGISTERS, 'bits = "19"', 'bits = "64"', "[register.CTL]: fields 4: "
     "'bits' must be \"HIGH:LOW\" or \"BIT\", 63 at most"),
    (REGISTERS, 'bits = "18:14"', 'bits = "14:18"', "[register.CTL]: fields "
     "5: 'bits' must be \"HIGH:LOW\" or \"BIT\", 63 at most"),
    (REGISTERS, 'bits = "18:14"', 'bits = "19:14"', "[register.CTL]: fields "
     "5: 'bits' must begin at bit 18: fields go from the most significant "
     "down, without gap or overlap"),
    (REGISTERS, 'bits = "18:14"', 'bits = "17:14"', "[register.CTL]: fields "
     "5: 'bits' must begin at bit 18: fields go from the most significant "
     "down, without gap or overlap"),
    (REGISTERS, '"st", bits = "0"', '"st", bits = "1:0"',
     "[register.CTL]: fields 10: 'bits' must begin at bit 0: fields go from "
     "the most significant down, without gap or overlap"),
    (REGISTERS, '  { name = "st", bits = "0", access = "RW" },\n', "",
     "[register.CTL]: 'fields' leave bits 0:0 without a name"),
    (REGISTERS, '"ov", bits = "11", reset = 0, access = "RW0"',
     '"ov", bits = "11", reset = 0, access = "R0"', "[register.CTL]: fields "
     "7: access = 'R0': must be one of RW, RO, WO, RW0, IGN, RSVD"),
    (REGISTERS, '"on1", bits = "19", reset = 0', '"on1", bits = "19", reset = '
     '2', "[register.CTL]: reset of on1 = 0x2: too large for 1 bits"),
    (REGISTERS, "reset = { ut = 1, st = 1 }", "reset = { ut = 1, sst = 1 }",
     "[register.CTL]: 'reset' names no field: sst; did you mean 'st'?"),
    (REGISTERS, "reset = { ut = 1, st = 1 }", 'reset = { ut = "1" }',
     "[register.CTL]: 'reset' must be a table of names with whole numbers: ut "
     "has '1'"),
    (REGISTERS, '"on1", bits = "19", reset = 0, access = "RW", brief',
     '"on1", bits = "19", reset = 0, access = "RW", breif',
     "[register.CTL]: fields 4: unknown key 'breif'; did you mean 'brief'?"),
    (REGISTERS, 'layout = "cache_control"', 'layout = "cache_controls"',
     "[register.CACHE0_CTL]: layout = 'cache_controls': must be one of "
     "cache_control, cache_count"),
    (REGISTERS, 'layout = "cache_control"\nwidth = 32',
     'layout = "cache_control"', "[register.CACHE0_CTL]: layout "
     "'cache_control' is not 64 bits wide"),
    (REGISTERS, 'layout = "cache_control"\nwidth = 32',
     'layout = "cache_control"\nwidth = 32\nfields = []',
     "[register.CACHE0_CTL]: a register has either a 'layout' or 'fields'"),
    (REGISTERS, 'layout = "cache_control"\nwidth = 32\n', "",
     "[register.CACHE0_CTL]: a register has either a 'layout' or 'fields'"),
    (REGISTERS, "[register.COUNT]", '[register."CO UNT"]',
     "[register.CO UNT]: the name must be letters, digits, '_', '-' and '.'"),
    (REGISTERS, "[register.COUNT]", "[register.ctl]", "[register.ctl]: the "
     "name 'ctl' is taken by [register.CTL]"),
    (REGISTERS, '["%ctl"]', '["COUNT"]', "[register.COUNT]: the name 'COUNT' "
     "is taken by [register.CTL]"),
    (REGISTERS, 'group = "control"\naddress', "address", "[register.CTL]: "
     "'group' is missing: one line of plain ASCII text"),
    (REGISTERS, "local_address = 0x100", "local_address = -1",
     "[register.CACHE0_CTL]: local_address = -1: must be a whole number from "
     "0 to 18446744073709551615"),
    # Units, counters, modifiers, groups
    (MACHINE, 'scope = "strand"', 'scope = "thread"', "[unit.cpu]: scope = "
     "'thread': must be one of strand, core, chip, node, system"),
    (MACHINE, 'instances = ["0", "1"]', 'instances = ["0", "0"]',
     "[unit.cache]: 'instances' names something twice"),
    (MACHINE, 'unit = "cpu"\nselect', 'unit = "cup"\nselect',
     "[counter.C0]: unit = 'cup': must be one of cpu, cache, bus, model"),
    (MACHINE, 'select = "CTL"', 'select = "CTRL"', "[counter.C0]: unknown "
     "register 'CTRL'; did you mean 'CTL'?"),
    (MACHINE, 'select = "CACHE#_CTL"', 'select = "CACHE_CTL"',
     "[counter.MISSES]: unknown register 'CACHE_CTL'; did you mean "
     "'CACHE1_CTL'?"),
    (MACHINE, 'instances = ["0", "1"]', 'instances = ["0", "1", "2"]',
     "[counter.MISSES]: unknown register 'CACHE2_CTL'; did you mean "
     "'CACHE1_CTL'?"),
    (MACHINE, '{ code = "event0" }', '{ code = "evnt0" }',
     "[counter.C0]: CTL has no field 'evnt0'"),
    (MACHINE, '{ code = "event0" }', '{ cod = "event0" }',
     "[counter.C0]: 'fields' gives one of sl, mask, code, number, umask the "
     "name of a field, not cod"),
    (MACHINE, "fixed = { on1 = 1", "fixed = { on2 = 1",
     "[counter.C1]: CTL has no field 'on2'"),
    (MACHINE, '"FILTER.run" = 1', '"FILTER.rum" = 1',
     "[counter.C1]: FILTER has no field 'rum'"),
    (MACHINE, '"FILTER.run" = 1', '"FLTER.run" = 1',
     "[counter.C1]: unknown register 'FLTER'; did you mean 'FILTER'?"),
    (MACHINE, 'modifiers = { k = "st1" }', 'modifiers = { kk = "st1" }',
     "[counter.C1]: 'modifiers' gives a modifier the name of this counter's "
     "field, not kk; did you mean 'k'?"),
    (MACHINE, 'modifiers = { k = "st1" }', 'modifiers = { k = "st2" }',
     "[counter.C1]: CTL has no field 'st2'"),
    (MACHINE, 'kind = "flag"\nfield = "both"\n',
     'kind = "flag"\nfield = "both"\ninverted = true\n',
     "[modifier.both]: 'inverted' goes with kind = \"privilege\""),
    (MACHINE, "fixed = { on1 = 1", "fixed = { on1 = -1",
     "[counter.C1]: 'fixed' must be a table of names with whole numbers: on1 "
     "has -1"),
    (MACHINE, 'value = "COUNT.count0"', 'value = "COUNTS.count0"',
     "[counter.C0]: unknown register 'COUNTS'; did you mean 'COUNT'?"),
    (MACHINE, 'value = "COUNT.count0"', 'value = "COUNT.count2"',
     "[counter.C0]: COUNT has no field 'count2'"),
    (MACHINE, 'value = "COUNT.count0"\n', "", "[counter.C0]: 'value' is "
     "missing: one line of plain ASCII text"),
    (MACHINE, "bits = 8", "bits = 65", "[counter.C0]: bits = 65: must be a "
     "whole number from 1 to 64"),
    (MACHINE, 'kind = "flag"\nfield = "both"\n', 'kind = "flag"\n',
     "[modifier.both]: 'field' is missing: one line of plain ASCII text"),
    (MACHINE, 'field = "ut"', 'field = "tu"', "[modifier.u]: CTL has no field "
     "'tu'"),
    (MACHINE, 'field = "FILTER.from"', 'field = "FILTER.form"',
     "[modifier.from]: FILTER has no field 'form'"),
    (MACHINE, 'field = "FILTER.from"', 'field = "FLTER.from"',
     "[modifier.from]: unknown register 'FLTER'; did you mean 'FILTER'?"),
    (MACHINE, 'kind = "flag"', 'kind = "flags"', "[modifier.both]: kind = "
     "'flags': must be one of privilege, flag, number, letters, words"),
    (MACHINE, 'units = ["cpu"]\nkind', 'units = ["cup"]\nkind',
     "[modifier.u]: unknown unit 'cup'; did you mean 'cpu'?"),
    (MACHINE, 'words = ["all", "near", "far"]\n', "", "[modifier.from]: "
     "'words' goes with kind = \"words\""),
    (MACHINE, "letters = { I = 1, S = 2, E = 4, M = 8 }\n", "",
     "[modifier.mesi]: 'letters' goes with kind = \"letters\""),
    (MACHINE, "high = 3\n", "", "[modifier.thr]: 'low' to 'high' is what kind "
     "= \"number\" takes"),
    (MACHINE, 'value = 1\nneeds = "all"', 'value = 1\nhigh = 3\nneeds = "all"',
     "[modifier.both]: 'low' to 'high' is what kind = \"number\" takes"),
    (MACHINE, 'needs = "all"', 'needs = "both"', "[modifier.both]: needs = "
     "'both': must be one of mesi, all"),
    (MACHINE, "value = 1\nneeds", "value = 2\nneeds", "[modifier.both]: 0x2 "
     "does not fit into the 1 bits of both"),
    (MACHINE, "M = 8 }", "M = 16 }", "[modifier.mesi]: 0x17 does not fit into "
     "the 4 bits of MESI"),
    (MACHINE, "high = 3", "high = 4", "[modifier.thr]: 0x4 does not fit into "
     "the 2 bits of threshold"),
    (MACHINE, '"near", "far"]', '"near", "far", "a", "b"]',
     "[modifier.from]: 0x4 does not fit into the 2 bits of from"),
    (MACHINE, "[group.3]", "[group.32]", "[group.32]: the name must be the sl "
     "value, 0 to 31"),
    (MACHINE, "[group.3]", "[group.three]", "[group.three]: the name must be "
     "the sl value, 0 to 31"),
    (MACHINE, "[group.3]", "[group.02]", "[group.02]: sl 2 stands twice"),
    (MACHINE, 'title = "reserved"\n', 'title = "reserved"\npart = 1\n',
     "[group.3]: whole and part must stand together"),
    (MACHINE, 'title = "reserved"\n', "", "[group.3]: 'title' is missing: one "
     "line of plain ASCII text"),
    # Unit masks, counters and lists of events
    (EVENTS, '"xx01", brief', '"xx0y", brief', "[event.Misses]: umasks 2: "
     "'pattern' must be four characters of 0, 1 and x"),
    (EVENTS, '"xx01", brief', '"xx011", brief', "[event.Misses]: umasks 2: "
     "'pattern' must be four characters of 0, 1 and x"),
    (EVENTS, '"xx01", brief', '"xx0x", brief', "[event.Misses]: umasks 2: "
     "pattern xx0x overlaps xx00"),
    (EVENTS, 'name = "LOAD", ', 'name = "", ', "[event.Misses]: umasks 2: a "
     "unit mask that counts has a name"),
    (EVENTS, 'name = "LOAD", ', 'name = "LO AD", ', "[event.Misses]: umasks "
     "2: 'name' must be letters, digits, '_', '-' and '.'"),
    (EVENTS, 'name = "LOAD", ', 'name = "LOAD", repeats = "STORE", ',
     "[event.Misses]: umasks 2: repeats = 'STORE': must be one of ALL"),
    (EVENTS, 'name = "LOAD", ', 'name = "all", ', "[event.Misses]: umasks 2: "
     "the name 'all' stands twice"),
    (EVENTS, 'aliases = ["LD"]', 'aliases = ["store"]', "[event.Misses]: "
     "umasks 3: the name 'STORE' stands twice"),
    (EVENTS, 'counts = "nothing"', 'counts = "never"', "[event.Misses]: "
     "umasks 4: counts = 'never': must be one of yes, nothing, illegal, "
     "undefined"),
    (EVENTS, 'brief = "loads"', 'breif = "loads"', "[event.Misses]: umasks 2: "
     "unknown key 'breif'; did you mean 'brief'?"),
    (EVENTS, 'attribution = "TrueThrd"', 'attribution = "TrueThread"',
     "[event.Misses]: umasks 3: attribution = 'TrueThread': must be one of "
     "ActiveTrue, ActiveApprox, TrueThrd"),
    (EVENTS, 'counters = ["C0"]', 'counters = ["C2"]', "[event.Ticks]: "
     "unknown counter 'C2'; known are C0, C1, grouped"),
    (EVENTS, 'counters = ["C0"]', 'counters = ["MISSES"]',
     "[event.Ticks]: unknown counter 'MISSES'; known are C0, C1, grouped"),
    (EVENTS, 'counters = ["C0"]', 'counters = "C0"', "[event.Ticks]: "
     "'counters' is of the wrong kind: a list of names"),
    (EVENTS, '["everything"]', '["nothing"]', "[event.Done]: 'instructions' "
     "must be a list of names: 'nothing' is none"),
    (EVENTS, 'related = ["Naps"]', 'related = ["Nap"]', "[event.Ticks]: "
     "'related' names no event: 'Nap'; did you mean 'Naps'?"),
    (EVENTS, 'excludes = ["Naps"]', 'excludes = ["Ticks"]', "[event.Ticks]: "
     "'excludes' names no other event of its unit: 'Ticks'; "
     "known are Done, Jumps, Naps"),
    (EVENTS, 'unit = "cache"', 'unit = "cash"', "[event.Misses]: unknown unit "
     "'cash'; did you mean 'cache'?"),
    (EVENTS, "code = 0x7", "code = 0x207", "[event.Ticks]: 0x207 does not fit "
     "into the 9 bits of event0"),
    (EVENTS, 'type = "F"', 'type = "B"', "[event.Misses]: type = 'B': must be "
     "one of A, C, F, S"),
    (EVENTS, "max_inc = 4", "max_inc = 256", "[event.Misses]: max_inc = 256: "
     "must be a whole number from 0 to 255"),
    (COSTS, "[cost.Ticks]", "[cost.Tick]", "[cost.Tick]: unknown event; did "
     "you mean 'Ticks'?"),
    (COSTS, "minimum = 0.5", "", "[cost.Jumps]: 'minimum' is missing: a "
     "number of cycles"),
    (COSTS, "minimum = 0.5", "minimum = -1", "[cost.Jumps]: minimum = -1: "
     "must be a number from 0 to 1000000"),
    (COSTS, "minimum = 0.5", "minimum = 2", "[cost.Jumps]: minimum, typical "
     "and maximum must not fall"),
    (COSTS, "assumed = true", 'per = "time.l9"', "[cost.Jumps]: per = "
     "'time.l9': no parameter of the machine; did you mean 'time.l5'?"),
    (COSTS, "assumed = true", "cost = 3", "[cost.Jumps]: unknown key 'cost'; known are per, source, assumed, "
     "minimum, typical, maximum"),
    (INSTRUCTIONS, "names = [", "name = [", "[instructions.everything]: "
     "unknown key 'name'; did you mean 'names'?"),
    (INSTRUCTIONS, '"NOP"', '"NOP", "NOP"', "[instructions.everything]: "
     "'names' names something twice"),
    (INSTRUCTIONS, 'reference = "the fake manual, page 5"\n', "",
     "[instructions.everything]: 'reference' is missing: one line of plain "
     "ASCII text"),
    (EVENTS, 'all = false, attr', 'default = 1, attr', "[event.Misses]: umasks "
     "3: 'default' is of the wrong kind: true or false"),
    (EVENTS, 'fidelity = "modelled"\nsignals = ["l1d_load_misses", '
     '"l1d_store_misses"]', 'fidelity = "modelled"', "[event.Misses]: an event "
     "that is not idle has 'signals' and no 'reason'"),
    (EVENTS, None, 'source = "s"\n[event.A]\nunit = "cache"\ncode = 1\n'
     'umasks = [{ name = "X", pattern = "0000", signals = ["cycles"] },\n'
     '{ name = "Y", pattern = "0001", signals = ["cycles"] }]\n'
     'fidelity = "modelled"\ncounts = "c"\nbrief = "b"\nreference = "r"',
     "[event.A]: counted by default, it has a unit mask that is: default = "
     "true"),
    # The accounting of cycles
    (ACCOUNTS, '"Done - Jumps"', '"Done - Jump"', "[account.busy]: formula: "
     "unknown event 'Jump'; did you mean 'Jumps'?"),
    (ACCOUNTS, '"@ipc"', '"@ip"', "[account.speed]: formula: no metric 'ip' "
     "stands before it"),
    (ACCOUNTS, 'of = "busy"', 'of = "rest"', "[account.odd]: of = 'rest': no "
     "row before it; known are cycles, busy"),
    (ACCOUNTS, "[account.speed]", '[account.speed]\nof = "odd"',
     "[account.speed]: it does not stand with the other parts of its whole"),
    (ACCOUNTS, "[account.speed]", '[account.speed]\nof = "rest"', None),
    (ACCOUNTS, '"cycles each"', '"cycle"', "[account.speed]: unit = 'cycle': "
     "must be one of cycles, cycles each"),
    (ACCOUNTS, 'brief = "odd"', "", "[account.odd]: 'brief' is missing: one "
     "line of plain ASCII text"),
    (ACCOUNTS, "[account.odd]", '[account."o d"]', "[account.o d]: the name "
     "must be letters, digits, '_', '-' and '.'"),
    (ACCOUNTS, "[account.odd]\n", '[account.odd]\nkey = 1\n', "[account.odd]: "
     "unknown key 'key'; known are of, formula, brief, unit"),
    # Metrics
    (METRICS, '"Done / Ticks"', '"Done / Tick"', "[metric.ipc]: formula: "
     "unknown event 'Tick'; did you mean 'Ticks'?"),
    (METRICS, '"Done / Ticks"', '"Done / Misses"', "[metric.ipc]: formula: "
     "'Misses' needs a unit mask"),
    (METRICS, '"Done / Ticks"', '"Done / Misses.LD"', "[metric.ipc]: formula: "
     "Misses has no unit mask 'LD' that counts; did you mean 'LOAD'?"),
    (METRICS, '"Done / Ticks"', '"Done / Misses.BOTH"', "[metric.ipc]: "
     "formula: Misses has no unit mask 'BOTH' that counts; known are ALL, "
     "LOAD, STORE"),
    (METRICS, '"Done / Ticks"', '"Done / Ticks.ALL"', "[metric.ipc]: formula: "
     "Ticks has no unit mask 'ALL' that counts; known are none"),
    (METRICS, '"Done / Ticks"', '"Done / @speed"', "[metric.ipc]: formula: no "
     "metric 'speed' stands before it"),
    (METRICS, '"Done / Ticks"', '"Done / @odd"', "[metric.ipc]: formula: no "
     "metric 'odd' stands before it"),
    (METRICS, '"Done / Ticks"', '"Done / $packet"', "[metric.ipc]: formula: "
     "unknown input '$packet'; did you mean 'packets'?"),
    (METRICS, '"Done / Ticks"', '"Done / "', "[metric.ipc]: formula: it ends "
     "where a value is expected"),
    (METRICS, '"Done / Ticks"', '"Done Ticks"', "[metric.ipc]: formula: "
     "'Ticks' stands where an operator is expected"),
    (METRICS, '"Done / Ticks"', '"( Done / Ticks"', "[metric.ipc]: formula: a "
     "')' is missing"),
    (METRICS, '"Done / Ticks"', '"Done / Ticks )"', "[metric.ipc]: formula: "
     "')' stands where an operator is expected"),
    (METRICS, '"Done / Ticks"', '"/ Done"', "[metric.ipc]: formula: '/' "
     "stands where a value is expected"),
    (METRICS, '"Done / Ticks"', '""', "[metric.ipc]: 'formula' must be one "
     "line of plain ASCII text"),
    (METRICS, 'formula = "Done / Ticks"\n', "", "[metric.ipc]: 'formula' is "
     "missing: one line of plain ASCII text"),
    (METRICS, "[metric.jump_rate]", "[metric.Speed]", "[metric.Speed]: the "
     "name 'Speed' is taken by [metric.ipc]"),
    (METRICS, "[metric.jump_rate]", '[metric."jump rate"]',
     "[metric.jump rate]: the name must be letters, digits, '_', '-' and '.'"),
    (METRICS, "[input.packets]", "[input.clock]", "[input.clock]: the name "
     "must be letters, digits and '_', and new"),
    # Bases
    (MACHINE, 'family = "niagara2"', 'family = "niagara2"\nbase = "none"',
     "top level: base = 'none': no such machine; known are fake"),
    (MACHINE, 'family = "niagara2"', 'family = "niagara2"\nbase = "fake"',
     "top level: base = 'fake': it is built on this machine"),
    (MACHINE, 'family = "niagara2"', 'family = "niagara9"',
     "top level: family = 'niagara9': must be one of niagara1, niagara2, "
     "sparc-t4, r10000, montecito"),
    # Generic names
    (GENERICS, '"cpu-cycles"', '"Instructions"', "[generic.cycles]: the name "
     "'Instructions' stands twice"),
    (GENERICS, "[generic.cycles]", '[generic."cyc les"]', "[generic.cyc les]: "
     "the name must be letters, digits, '_', '-' and '.', and stay different "
     "as a C name"),
    (GENERICS, "instructions / cycles", "instructions / cyles", "[metric.ipc]:"
     " formula: no generic name 'cyles'; did you mean 'cycles'?"),
    (GENERICS, "instructions / cycles", "instructions cycles", "[metric.ipc]: "
     "formula: 'cycles' stands where an operator is expected"),
    (GENERICS, "[metric.cpi]", "[metric.IPC]", "[metric.IPC]: the name 'IPC' "
     "stands twice"),
    (GENERIC, "[generic.cycles]", "[generic.cycle]", "[generic.cycle]: unknown "
     "generic name; did you mean 'cycles'?"),
    (GENERIC, '[generic.PAPI_L2_TCM]\nnone = "the fake manual does not mention '
     'it"\n\n[generic.PAPI_L3_TCM]\nnone = "the fake manual does not mention '
     'it"\n', "", "it says neither what stands for 'PAPI_L2_TCM', "
     "'PAPI_L3_TCM' nor why nothing does"),
    (GENERIC, 'event = "Done"', "", "[generic.instructions]: it has one of "
     "event, sum, signals, same, none"),
    (GENERIC, 'event = "Done"', 'event = "Done"\nnone = "no"',
     "[generic.instructions]: it has one of event, sum, signals, same, none"),
    (GENERIC, 'event = "Done"', 'event = "Dome"', "[generic.instructions]: "
     "unknown event 'Dome'; did you mean 'Done'?"),
    (GENERIC, 'event = "Done"', 'event = "Naps"', "[generic.instructions]: "
     "'Naps' is idle: say why in 'none'"),
    (GENERIC, 'event = "Done"', 'event = "Done"\ncode = 3',
     "[generic.instructions]: unknown key 'code'; known are differs, event, "
     "none"),
    (GENERIC, 'event = "Done"', 'event = "Misses.LAOD"',
     "[generic.instructions]: unknown event 'Misses.LAOD'; did you mean "
     "'Misses'?"),
    (GENERIC, 'event = "Done"', 'event = "Misses.LOAD"',
     "[generic.instructions]: the model counts no unit mask of 'Misses'"),
    (GENERIC, 'sum = ["Done", "Jumps"]', 'sum = ["Done"]',
     "[generic.PAPI_LST_INS]: 'sum' needs two events; of one write event = "
     '"NAME"'),
    (GENERIC, 'sum = ["Done", "Jumps"]', 'sum = ["Done", "cpu/Done"]',
     "[generic.PAPI_LST_INS]: 'sum' counts the signal instructions twice"),
    (GENERIC, 'sum = ["Done", "Jumps"]', 'sum = ["Naps", "cpu/Naps"]',
     "[generic.PAPI_LST_INS]: 'sum' has idle events only: say why in 'none'"),
    (GENERIC, 'signals = ["dtlb_load_misses"', 'signals = ["dtlb_load_mises"',
     "[generic.PAPI_TLB_DM]: unknown signal 'dtlb_load_mises'; did you mean "
     "'dtlb_load_misses'?"),
    (GENERIC, 'fidelity = "modelled"', "", "[generic.PAPI_TLB_DM]: 'fidelity' "
     "is missing: one of exact, modelled, estimated"),
    (GENERIC, 'fidelity = "modelled"', 'fidelity = "exact"',
     "[generic.PAPI_TLB_DM]: 'dtlb_load_misses' comes from the model: the "
     "fidelity must be modelled or estimated"),
    (GENERIC, 'event = "Done"', 'same = "Done"', "[generic.instructions]: same "
     "= 'Done': must be one of "),
    (GENERIC, 'event = "cpu/Jumps"', 'none = "no"\ndiffers = "much"',
     "[generic.branches]: 'differs' goes with what stands for the name"),
    (EVENTS, '"Retired"', '"PAPI_TOT_INS"', "[event.Done]: the generic name "
     "'PAPI_TOT_INS' stands in generic.toml alone"),
    (METRICS, '"Done / Ticks"', '"Jumps / Ticks"', "[metric.ipc]: its value is "
     "not that of the generic metric: give it another name"),
    (METRICS, 'aliases = ["speed"]', 'aliases = ["cpi"]', "[metric.ipc]: the "
     "name 'cpi' is the generic metric cpi's"),
    (METRICS, 'aliases = ["speed"]', 'aliases = ["branch_mpki"]',
     "[metric.ipc]: the name 'branch_mpki' is the generic metric "
     "branch_mpki's"),
]
