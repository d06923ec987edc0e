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

from gen_tables_rejected import (ACCOUNTS, BEHIND_L1D, COMPONENTS, COSTS, EVENTS, FOLDER, GENERIC,
                                 GENERICS, INSTRUCTIONS, MACHINE, METRICS,
                                 PARAMS, REGISTERS, REJECTED, SIGNALS, TLBS)

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "gen_tables.py"
GOLDEN = ROOT / "test" / "gen_tables" / "fake.expected"

spec = importlib.util.spec_from_file_location("generator", SCRIPT)
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))
generator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generator)


def copy_data(to):
    """The data of the fake CPU alone."""
    for name in (SIGNALS, COMPONENTS, PARAMS, MACHINE, EVENTS, REGISTERS, METRICS,
                 INSTRUCTIONS, COSTS, ACCOUNTS, GENERICS, GENERIC):
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

    def test_tlb_levels(self):
        """A second, third and fourth TLB level of a machine, and an event of the
        last, are rows of its files: each has parameters, signals and its place
        in the cycles."""
        (self.data / MACHINE).write_text((self.data / MACHINE).read_text().replace(
            BEHIND_L1D, TLBS))
        with open(self.data / EVENTS, "a") as f:
            f.write('\n[event.T4_misses]\ncode = 0x3f\nfidelity = "modelled"\n'
                    'signals = ["t4_misses"]\ncounts = "c"\nbrief = "b"\n'
                    'reference = "r"\n')
        signals, params, _, machines = generator.load(self.data)
        self.assertEqual(params.tlbs(), ["itlb", "dtlb", "t2", "t3", "t4"])
        self.assertIn("t4_misses", [s for e in machines[0]["events"]
                                    for s in e["signals"]])
        self.assertEqual(
            signals.rows["itlb_walks"]["sources"],
            ["itlb_misses", "t2_fetch_hits", "t3_fetch_hits", "t4_fetch_hits"])
        terms = signals.linear("cycles").parts()[0]
        for level in ("t2", "t3", "t4"):
            self.assertIn(f"PARAM_{level.upper()}_TIME",
                          terms[f"{level}_load_hits"])

    def test_cache_levels(self):
        """A fourth, fifth and sixth cache level of a machine, and an event of the
        last, are rows of its files: each has parameters, signals and its place
        in the cycles."""
        text = (self.data / MACHINE).read_text()
        for old, new in (("[level.l3]\nsize = { value = 0 }",
                          '[level.l3]\nsize = { value = "1K" }'),
                         ("[level.l5]\nsize = { value = 0 }",
                          '[level.l4]\nsize = { value = "2K" }\nways = { value = 1 }\n'
                          '[level.l5]\nsize = { value = "2K" }\nways = { value = 1 }\n'
                          '[level.l6]\nsize = { value = "4K" }\nways = { value = 1 }')):
            self.assertIn(old, text)
            text = text.replace(old, new)
        (self.data / MACHINE).write_text(text)
        with open(self.data / EVENTS, "a") as f:
            f.write('\n[event.L6_misses]\ncode = 0x3f\nfidelity = "modelled"\n'
                    'signals = ["l6_load_misses"]\ncounts = "c"\nbrief = "b"\n'
                    'reference = "r"\n')
        signals, params, _, machines = generator.load(self.data)
        self.assertEqual(params.caches(), ["l1i", "l1d", "l2i", "l2", "l3", "l4",
                                           "l5", "l6"])
        self.assertIn("l6_load_misses", [s for e in machines[0]["events"]
                                         for s in e["signals"]])
        self.assertEqual(signals.components["l6"]["implies"], [("l5", None)])
        terms = signals.linear("cycles").parts()[0]
        for level, behind in (("l4", "L5"), ("l5", "L6"), ("l6", "MEMORY")):
            self.assertIn(f"PARAM_TIME_{behind}", terms[f"{level}_load_misses"])

    def test_machine_without_events(self):
        (self.data / EVENTS).unlink()
        self.assertEqual(self.load_error(),
                         f"data/{EVENTS}: there is no event")

    def test_machine_without_main_file(self):
        (self.data / MACHINE).unlink()
        self.assertEqual(self.load_error(),
                         f"data/{MACHINE}: the file is missing")

    def test_native_machine(self):
        machine, events = self.data / MACHINE, self.data / EVENTS
        for path in machine.parent.glob("*"):
            path.unlink()
        machine.write_text('title = "t"\nbrief = "b"\nsource = "s"\n'
                           'isas = ["i"]\nnative = true\n'
                           '[unit.cpu]\nbrief = "b"\nscope = "strand"\n')
        row = ('source = "s"\n[event.A]\nunit = "cpu"\ncounts = "c"\n'
               'brief = "b"\nreference = "r"\n')
        events.write_text(row)
        (self.data / GENERICS).write_text('source = "s"\n[generic]\n[metric]')
        self.assertIsNone(self.load_error())
        *_, machines = generator.load(self.data)
        event, = machines[0]["events"]
        self.assertEqual((event["fidelity"], event["signals"]), ("exact", []))
        for more in ('signals = ["cycles"]', 'reason = "no"'):
            events.write_text(row + more)
            self.assertEqual(self.load_error(), f"data/{EVENTS}: [event.A]: "
                             "an event of a native machine has no 'signals' "
                             "and no 'reason'")
        events.write_text(row)
        machine.write_text(machine.read_text().replace(
            "native = true", "native = true\nreads_host = true"))
        self.assertEqual(self.load_error(), f"data/{MACHINE}: top level: "
                         "reads_host is for a machine with parameters")

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

    def add_machine(self, name, base, rest=""):
        path = self.data / "machines" / name / "machine.toml"
        path.parent.mkdir()
        path.write_text(f'source = "s"\ntitle = "t"\nbrief = "b"\n'
                        f'base = "{base}"\nfamily = "niagara2"\n'
                        f'isas = []\n{rest}')

    def test_base(self):
        self.add_machine("child", "fake")
        self.add_machine("grandchild", "child", "[unit.bus]\nbrief = "
                         '"none"\nscope = "core"\n')
        *_, machines = generator.load(self.data)
        child, fake, grandchild = machines
        for part in ("registers", "counters", "metrics"):
            self.assertEqual(len(child[part]), len(fake[part]), part)
        self.assertEqual({e["fidelity"] for e in child["events"]}, {"idle"})
        for name, found in fake["generics"].items():
            for key in ("own", "kind", "differs", "reason"):
                self.assertEqual(child["generics"][name][key], found[key], name)
        self.assertEqual(grandchild["units"]["bus"]["brief"], "none")
        self.assertEqual(grandchild["units"]["cpu"], fake["units"]["cpu"])

    def test_base_parameters(self):
        whole = 'base_parameters = true\n'
        self.add_machine("child", "fake", whole)
        self.add_machine("grandchild", "child", whole + '[parameter]\n"l1d.ways" = '
                         '{ value = 6, source = "own" }\n')
        *_, machines = generator.load(self.data)
        child, fake, grandchild = machines
        self.assertEqual(child["params"], fake["params"])
        changed = {new[0]: new[1:] for old, new in
                   zip(fake["params"], grandchild["params"]) if old != new}
        self.assertEqual(changed, {"l1d.ways": (6, "own", False)})
        path = self.data / "machines/grandchild/machine.toml"
        path.write_text(path.read_text().replace("6,", "5,"))
        self.assertIn("grandchild/machine.toml: [parameter]: l1d.size = ",
                      self.load_error())

    def test_without(self):
        """Events of the base that the machine lacks."""
        row = ('[event."Extra.{}"]\nfidelity = "exact"\n'
               'signals = ["instructions"]\ncounts = "c"\nbrief = "b"\n')
        path = self.data / EVENTS
        path.write_text(path.read_text() + row.format("a") + row.format("b"))
        self.add_machine("child", "fake", 'without = ["Extra.*"]\n')
        *_, (child, fake) = generator.load(self.data)
        names = [e["name"] for e in fake["events"]]
        kept = [name for name in names if not name.startswith("Extra.")]
        self.assertEqual(len(kept) + 2, len(names))
        self.assertEqual([e["name"] for e in child["events"]], kept)

    def test_without_unknown(self):
        self.add_machine("child", "fake", 'without = ["Cycels"]\n')
        self.assertEqual(self.load_error(), "data/machines/child/machine.toml:"
                         " top level: without has Cycels: the base has no "
                         "such event; known are Ticks, Done, Jumps, Misses, Naps")

    def test_base_cycle(self):
        self.add_machine("a", "c")
        self.add_machine("b", "a")
        self.add_machine("c", "b")
        self.assertEqual(self.load_error(), "data/machines/b/machine.toml: "
                         "top level: base = 'a': it is built on this machine")

    def test_base_unknown(self):
        self.add_machine("child", "fakes")
        self.assertEqual(self.load_error(), "data/machines/child/machine.toml:"
                         " top level: base = 'fakes': no such machine; did "
                         "you mean 'fake'?")

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
        runs = [[self.root / f"{run}{name}" for name in
                 ("t.h", "t.c", "s.c", "pmu.h", "pmu.c")] for run in "12"]
        for names in runs:
            got = run(ROOT / "data", *names)
            self.assertEqual((got.returncode, got.stderr), (0, ""))
        first, second = ([n.read_text() for n in names] for names in runs)
        self.assertEqual(first, second)

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
