#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests scripts/gen_tables.py: every rejection, the golden of the fake CPU.

  gen_tables.py              runs the tests
  gen_tables.py --refresh    writes the golden anew
"""
import importlib.util
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "gen_tables.py"
GOLDEN = ROOT / "test" / "gen_tables" / "fake.expected"

spec = importlib.util.spec_from_file_location("generator", SCRIPT)
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))
generator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generator)

SIGNALS, PARAMS = "signals.toml", "parameters.toml"
FOLDER = "machines/fake"
MACHINE, EVENTS = f"{FOLDER}/machine.toml", f"{FOLDER}/events.toml"
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
     "'Ticks') twice (at line 17, column 13)"),
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
    (MACHINE, '"1.5K"', '"1.5Q"', "[parameter.l1d.size]: value = '1.5Q': must "
     "be a size"),
    (MACHINE, '"1.5K"', '"1.3K"', "[parameter.l1d.size]: value = 1.3K: must "
     "be a whole number from 64 to 4294967296"),
    (MACHINE, '"l1d.line" = { value = 16', '"l1d.line" = { value = 24',
     "[parameter.l1d.line]: value = 24: must be a power of two"),
    (MACHINE, '"through"', '"thru"', "[parameter.l1d.write]: value = 'thru': "
     "must be one of allocate, through"),
    (MACHINE, '"through"', '1', "[parameter.l1d.write]: 'value' is of the "
     "wrong kind: one of allocate, through"),
    (MACHINE, '"l1d.ways"', '"l1d.way"', "[parameter.l1d.way]: unknown "
     "parameter; did you mean 'l1d.ways'?"),
    (MACHINE, '"time.fp" = { value = 2 }\n', "", "[parameter]: 'time.fp' is "
     "missing: a machine gives every parameter"),
    (MACHINE, "[default]\nassumed = true\nsource", "[default]\nassumed = true"
     "\nx", "[parameter.cores]: unknown key 'x'; known are value, source, "
     "assumed"),
    # Geometry
    (MACHINE, '"1.5K"', '"1K"', "[parameter]: l1d.size = 1024: must be 3 ways "
     "of 16 bytes times a power of two"),
    (MACHINE, '"l1i.ways" = { value = 2 }', '"l1i.ways" = { value = 32 }',
     "[parameter]: l1i.size = 256: must be 32 ways of 16 bytes times a power "
     "of two"),
    (MACHINE, '"8K"', "0", "[parameter]: l2.size = 0: only with l3.size = 0 "
     "and tlb.walk = 0"),
    (MACHINE, '"l1i.line" = { value = 16 }', '"l1i.line" = { value = 64 }',
     "[parameter]: l2.line: must be at least l1i.line"),
    (MACHINE, '"l2.banks" = { value = 2 }', '"l2.banks" = { value = 64 }',
     None),
    (MACHINE, '"8K" }\n"l2.ways" = { value = 4 }',
     '"8K" }\n"l2.ways" = { value = 256 }',
     "[parameter]: l2.banks: more banks than sets"),
    (MACHINE, '"l2.line" = { value = 32 }', '"l2.line" = { value = 2048 }',
     "[parameter]: tlb.page: must be at least the largest line"),
    # Signals
    (SIGNALS, FIXED, FIXED.replace("fixed", "fixd"), "[signal.instructions]: "
     "kind = 'fixd': must be one of fixed, dynamic"),
    (SIGNALS, FIXED, FIXED.replace("fixed", "dynamic"),
     "[signal.instructions]: a fixed signal has no parts, a dynamic one has "
     "some"),
    (SIGNALS, FIXED, FIXED + '\nparts = ["l2"]',
     "[signal.instructions]: a fixed signal has no parts, a dynamic one has "
     "some"),
    (SIGNALS, FIXED, FIXED.replace("fixed", "dynamic") +
     '\nparts = ["l2"]',
     "[signal.class_branch]: fixed signals stand before the dynamic ones"),
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
     "unknown key 'min'; known are kind, brief, choices, power_of_two"),
]


def copy_data(to):
    """The data of the fake CPU alone."""
    for name in (SIGNALS, PARAMS, MACHINE, EVENTS):
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "data" / name, to / name)


def run(*args):
    return subprocess.run([sys.executable, SCRIPT, *args], text=True,
                          capture_output=True)


class Generator(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.data = self.root / "data"
        copy_data(self.data)

    def load_error(self):
        try:
            generator.load(self.data)
        except generator.BadData as e:
            return str(e)
        return None

    def test_fake_alone_is_good(self):
        self.assertIsNone(self.load_error())

    def test_rejections(self):
        for name, old, new, text in REJECTED:
            path = self.data / name
            good = path.read_text()
            with self.subTest(file=name, new=new):
                if old is not None:
                    self.assertIn(old, good)
                bad = new if old is None else good.replace(old, new, 1)
                path.write_bytes(bad.encode("latin-1"))
                wanted = f"data/{name}: {text}" if text else None
                self.assertEqual(self.load_error(), wanted)
            path.write_text(good)

    def test_machine_without_events(self):
        (self.data / EVENTS).unlink()
        self.assertEqual(self.load_error(),
                         f"data/{EVENTS}: there is no event")

    def test_machine_without_main_file(self):
        (self.data / MACHINE).unlink()
        self.assertEqual(self.load_error(),
                         f"data/{MACHINE}: the file is missing")

    def test_no_machine(self):
        shutil.rmtree(self.data / FOLDER)
        self.assertEqual(self.load_error(),
                         "data/machines: there is no machine")

    def test_two_machines_of_one_name(self):
        shutil.copytree(self.data / FOLDER, self.data / "machines/twin")
        self.assertEqual(self.load_error(), "data/machines/twin/machine.toml: top "
                         "level: the name 'fake-1' is taken by "
                         "data/machines/fake/machine.toml")

    def test_machines_of_one_c_name(self):
        for name in ("a-b", "a_b"):
            shutil.copytree(self.data / FOLDER, self.data / "machines" / name)
        path = self.data / "machines/a_b/machine.toml"
        path.write_text(path.read_text().replace('"fake-1", "F1"', '"x"'))
        self.assertIn("stay different as a C name", self.load_error())

    def test_too_many_defaults(self):
        row = ('[event.Extra{}]\nfidelity = "exact"\n'
               'signals = ["instructions"]\ncounts = "c"\nbrief = "b"\n')
        path = self.data / EVENTS
        path.write_text(path.read_text() +
                        "".join(map(row.format, range(62))))
        self.assertEqual(self.load_error(), f"data/{MACHINE}: top level: more "
                         "than 64 events are counted by default: mark the "
                         "others default = false")

    def test_bad_data_writes_nothing(self):
        (self.data / EVENTS).write_text('source = "s"')
        got = run(self.data, self.root / "t.h", self.root / "t.c")
        self.assertEqual(got.returncode, 1)
        self.assertEqual(got.stderr,
                         f"data/{EVENTS}: there is no event\n")
        self.assertEqual(got.stdout, "")
        self.assertFalse((self.root / "t.h").exists())
        self.assertFalse((self.root / "t.c").exists())

    def test_usage(self):
        self.assertEqual(run(self.data).returncode, 2)
        self.assertEqual(run("--machine", "none", self.data).returncode, 2)

    def test_same_twice(self):
        names = [self.root / name for name in ("1.h", "1.c", "2.h", "2.c")]
        for header, code in (names[:2], names[2:]):
            got = run(ROOT / "data", header, code)
            self.assertEqual((got.returncode, got.stderr), (0, ""))
        texts = [name.read_text() for name in names]
        self.assertEqual(texts[:2], texts[2:])

    def test_golden(self):
        got = run("--machine", "fake", ROOT / "data")
        self.assertEqual((got.returncode, got.stderr), (0, ""))
        self.assertEqual(got.stdout, GOLDEN.read_text(),
                         "test/gen_tables.py --refresh writes it anew")


def refresh():
    got = run("--machine", "fake", ROOT / "data")
    if got.returncode == 0:
        GOLDEN.write_text(got.stdout)
    sys.exit(got.stderr or 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--refresh"]:
        refresh()
    unittest.main()
