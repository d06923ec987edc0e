#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The package for Python: python_package.py BUILD [WORD]

The documentation's examples run as doctests, with each Python from 3.9 on that is here.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tallytest as t

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "python"
OLDEST, NEWEST = 9, 13
MODULES = ("tally", "tally.catalogue", "tally.counter", "tally.counting", "tally.curves",
           "tally.recording", "tally.teaching")
PROGRAM = """
import pytest

@pytest.mark.tally
def test_sum():
    assert sum(i * i for i in range({n})) > 0

@pytest.mark.tally(hard={{"instructions": 50}})
@pytest.mark.parametrize("n", [1, {{2, 3}}])
def test_parameter(n):
    assert n

class TestMethod:
    @pytest.mark.tally
    def test_equal(self):
        assert {equal}

def test_plain():
    pass
"""

REFUSED = """
import pytest

@pytest.fixture(params=[1])
def n(request): return 3

@pytest.mark.tally
def test_fixture(n): pass

@pytest.mark.tally
@pytest.mark.parametrize("n", ["q"], indirect=True)
def test_indirect(n): pass

@pytest.mark.tally
def test_folder(tmp_path): pass

@pytest.mark.tally
@pytest.mark.parametrize("f", [print])
def test_function(f): pass

@pytest.mark.tally
async def test_async(): assert 0

@pytest.mark.tally(hards={})
def test_mark(): pass

@pytest.mark.tally(layouts=0)
def test_layouts(): pass

@pytest.mark.tally
@pytest.mark.parametrize("s", ["\U0001f600/a"])
def test_new(s): pass

@pytest.mark.tally
@pytest.mark.parametrize("s", ["\u00fc%d"])
def test_escaped(s): pass

@pytest.mark.tally
@pytest.mark.xfail
def test_unfit(tmp_path): pass

@pytest.mark.tally
@pytest.mark.xfail
def test_passes(): pass

@pytest.mark.tally
@pytest.mark.skip
def test_skip(): assert 0

@pytest.mark.tally
@pytest.mark.skipif("1 == 1", reason="so it is")
def test_skipif(): assert 0

@pytest.mark.tally
def test_skips_itself(): pytest.skip("not here")

@pytest.mark.tally
@pytest.mark.xfail
def test_xfail(): assert 0

def test_plain(): pass
"""
BROKEN = """
import pytest

@pytest.mark.tally
@pytest.mark.xfail
def test_xfail(): assert 0

@pytest.mark.tally
def test_plain(): pass
"""
REFUSALS = {
    "test_fixture": "the test uses the fixture 'n'",
    "test_indirect": "the test uses the fixture 'n'",
    "test_folder": "the test uses the fixture 'tmp_path':",
    "test_function": "a parameter of the test is no number",
    "test_async": "the test is asynchronous",
    "test_mark": "pytest.mark.tally takes hard=, events=, layouts= and no hards=",
    "test_layouts": "layouts= is a number from 1 to 64, not 0",
    "test_new": ".*tally-baseline.json lacks it; pytest --tally --tally-update writes it",
    "test_escaped": ".*tally-baseline.json lacks it; pytest",
    # What is expected is that the test itself fails.
    "test_unfit": "the test uses the fixture 'tmp_path':",
    "test_passes": ".*tally-baseline.json lacks it; pytest",
}


def environment(**more):
    values = {**os.environ, "PYTHONPATH": str(PACKAGE), "TALLY_COMMAND": str(t.tally()),
              "TALLY_LIBRARY": "", "PYTHONDONTWRITEBYTECODE": "1", **more}
    values.pop("PYTHONHASHSEED", None)
    return values


def python(text, *words, program=sys.executable, **more):
    """Runs a script; returns what it did."""
    return subprocess.run([program, "-c", text, *map(str, words)], text=True,
                          capture_output=True, env=environment(**more), check=False)


def told(text, *words, **more):
    """Returns what a script that must succeed prints, a line each."""
    done = python("import tally\n" + text, *words, **more)
    t.equal(done.returncode, 0, done.stderr)
    return done.stdout.splitlines()


def refused(text, words, **more):
    """A script raises TallyError, with these words in one line."""
    done = python("import sys, tally\ntry:\n    " + text + "\nexcept tally.TallyError as "
                  "error:\n    print(error)\nelse:\n    sys.exit('not refused')", **more)
    t.equal(done.returncode, 0, done.stderr)
    t.equal(done.stdout.count("\n"), 1, done.stdout)
    t.contains(done.stdout, words)
    t.equal(done.stderr, "", "what is raised is not written, too")


def pythons():
    """Returns each Python that the package is for and that is here."""
    found = [sys.executable]
    for minor in range(OLDEST, NEWEST + 1):
        path = shutil.which(f"python3.{minor}")
        # A name may stand for a version that is not installed.
        if path is not None and subprocess.run([path, "-c", ""], capture_output=True,
                                               check=False).returncode == 0:
            found.append(path)
    return found


@t.named("the examples of the documentation, with each Python")
def examples():
    for program in pythons():
        for module in MODULES:
            done = python("import doctest, importlib, sys\n"
                          "failed, tried = doctest.testmod(importlib.import_module("
                          "sys.argv[1]))\n"
                          "sys.exit(f'{failed} of {tried}' if failed or not tried else 0)",
                          module, program=program)
            t.equal((program, module, done.returncode), (program, module, 0),
                    done.stdout + done.stderr)


@t.named("each public name has a docstring; each example of the page runs")
def documented():
    bare = told("import inspect\n"
                "for name in dir(tally):\n"
                "    one = getattr(tally, name)\n"
                "    if name[0] == '_' or inspect.ismodule(one): continue\n"
                "    parts = [one] + ([m for k, m in vars(one).items() if k[0] != '_' and\n"
                "             (inspect.isfunction(m) or isinstance(m, property))]\n"
                "             if inspect.isclass(one) else [])\n"
                "    for part in parts:\n"
                "        if not inspect.getdoc(part): print(name, part)")
    t.equal(bare, [], "names without a docstring")
    page = (PACKAGE.parent / "doc" / "python.md").read_text()
    with tempfile.TemporaryDirectory() as folder:
        blocks = re.findall(r"```python\n(.*?)```", page, re.S)
        assert len(blocks) >= 5, blocks
        for block in blocks:
            if "pytest" in block:
                continue # the plugin has a test of its own
            done = subprocess.run([sys.executable, "-c", block], cwd=folder, text=True,
                                  capture_output=True, env=environment(), check=False)
            t.equal(done.returncode, 0, block + done.stderr)


@t.named("types hold, for the oldest Python")
def types():
    mypy = shutil.which("mypy")
    if mypy is None:
        raise t.Skip("no mypy")
    with tempfile.TemporaryDirectory() as folder:
        done = t.run(mypy, "--python-version", f"3.{OLDEST}", "--cache-dir", folder,
                     "--python-executable", "/usr/bin/python3", PACKAGE / "tally")
    t.equal(done.returncode, 0, done.stdout)


@t.named("the catalogue is that of tally list, encode and plan")
def catalogue():
    for name in ("ultrasparc-t2", "montecito", "zen4"):
        ours = told(f"for e in tally.machine('{name}').events(): print(e.name)")
        listed = json.loads(t.run(t.tally(), "list", "events", "-m", name,
                                  "--format", "json").stdout)
        rows = listed if isinstance(listed, list) else listed["events"]
        t.equal(set(ours) - {row["name"] for row in rows}, set(), name)
        assert len(ours) > 30, ours
    write = told("w, = tally.machine('t2').encode('Dcache_misses:u')\n"
                 "print(w.name, hex(w.value))")
    encoded = t.run(t.tally(), "encode", "-m", "ultrasparc-t2", "Dcache_misses:u").stdout
    t.contains(encoded.lower(), write[0].split()[1][2:])
    t.equal(told("plan = tally.machine('t2').plan('Dcache_misses,Icache_misses,All_instr')\n"
                 "print(len(plan.groups), sum(map(len, plan.groups)))"), ["2 3"])
    refused("tally.machine('t2').event('Dcache_mises')", "did you mean Dcache_misses?")
    refused("tally.machine('ultrasparc-t22')", "did you mean ultrasparc-t2")
    refused("tally.machine('t2').encode('Dcache_misses,Icache_misses,All_instr')",
            "3 events for PIC0 and PIC1")
    refused("tally.machine('t2').decode('PCR', 2 ** 70)", "")
    for call in ("machine(None)", "machine('zen4\\0x')", "machine('\\udcff')",
                 "machine('t2').encode(None)", "machine('t2').encode([b'x'])",
                 "machine('t2').event(3)"):
        refused(f"tally.{call}", "text")
    t.equal(told("t2 = tally.machine('t2')\n"
                 "print(t2.encode(t2.event('Dcache_misses')) == t2.encode(['Dcache_misses']))"),
            ["True"])


@t.named("counts are those of tally count")
def counts():
    program = str(t.guest("args.x86_64"))
    wanted = t.Count(["-m", "host-model", "-e", "instructions,cycles", "--clean-env"],
                     [program, "a"])
    got = told("import json, sys\n"
               "c = tally.count([sys.argv[1], 'a'], ['instructions', 'cycles'],\n"
               "                'host-model', clean_env=True, capture=True)\n"
               "print(json.dumps(c.values())); print(c.status); print(len(c.stdout) > 0)\n"
               "print('<td' in c._repr_html_())", program)
    t.equal(json.loads(got[0]), {e["name"]: e["value"] for e in wanted.json["events"]})
    t.equal(got[1:], [str(wanted.status), "True", "True"])
    ends = told("for script in ('exit 3', 'kill -9 $$'):\n"
                "    print(tally.count(['sh', '-c', script], 'instructions').status)")
    t.equal(ends, ["3", "-9"])
    # What the program writes goes on; what tally cannot do is raised alone.
    done = python("import tally\n"
                  "tally.count(['sh', '-c', 'echo out; echo err >&2'], 'instructions')")
    t.equal((done.stdout, done.stderr), ("out\n", "err\n"))
    html = told("c = tally.count(['sh', '-c', 'true <x >y', '<script>'], 'instructions')\n"
                "print(c._repr_html_())")
    assert "<script>" not in html[0], html
    refused("tally.count(['/no/such/program'])", "/no/such/program: No such file")
    refused("tally.count(['/bin/true'], 'nonsense')", "unknown event 'nonsense'")
    refused("tally.count([])", "no program")
    refused("tally.count('ls -l')", "a program is a sequence of words")
    refused("tally.count(['/bin/true'], b'instructions')", "an event is a text")
    refused("tally.count(['/bin/true'], options=['--help'])", "'--help' does not go into")
    refused("tally.diff(tally.Record('/bin/true'), tally.count(['/bin/true']))",
            "two records or two counts")
    t.equal(told("c = tally.count(['/bin/true'], 'instructions', 'host-model')\n"
                 "print('instructions' in c, 'cycles' in c)"), ["True False"])
    refused("tally.count(['/bin/true'], settings={'l1d.size': '3'})", "l1d.size")
    for settings in ("'l1d.size=4K'", "['l1d.size=4K']"):
        refused(f"tally.count(['/bin/true'], settings={settings})",
                f"settings is a dictionary, as {{'l1d.size': '64K'}}, not {settings}")
    refused("tally.curve(['/bin/true'], level='l9')", "--level is l1d")


@t.named("a closed standard error, and Ctrl-C of a program that ignores signals")
def given_up():
    done = python("import io, sys, tally\n"
                  "sys.stderr = io.StringIO(); sys.stderr.close()\n"
                  "c = tally.count(['sh', '-c', 'head -c 300000 /dev/zero >&2'],\n"
                  "                'instructions')\n"
                  "print(c.status)")
    t.equal(done.stdout, "0\n", done.stderr)
    with tempfile.TemporaryDirectory() as folder:
        ready = os.path.join(folder, "ready")
        process = subprocess.Popen(
            [sys.executable, "-c",
             "import sys, tally\n"
             "try:\n"
             "    tally.count(['sh', '-c', 'trap \"\" INT TERM; >$0; while :; do :; done',\n"
             "                 sys.argv[1]], 'instructions')\n"
             "except KeyboardInterrupt: print('given up')", ready], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        while not os.path.exists(ready):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        t.equal(process.communicate()[0], "given up\n")


@t.named("a program counts itself, here and under tally count")
def counter():
    lines = told("with tally.Counter('page-faults,task-clock') as c:\n"
                 "    memory = bytearray(8 << 20)\n"
                 "r = c.read()\n"
                 "print([one.name for one in r], r[0].running_ns <= r[0].enabled_ns)\n"
                 "before = c['page-faults']; memory = bytearray(8 << 20)\n"
                 "print(c['page-faults'] == before); c.close(); c.close()\n"
                 "print(repr(c))")
    t.equal(lines, ["['page-faults', 'task-clock'] True", "True", "<tally.Counter closed>"])
    refused("tally.Counter('nonsense')", "unknown event 'nonsense'")
    refused("c = tally.Counter('page-faults'); c.close(); c.read()", "closed")
    text = ("import tally\n"
            "with tally.Counter('instructions:u') as c: sum(range(1000))\n"
            "a = c.read()[0]; c.reset()\n"
            "with c: sum(range(3000))\n"
            "print(a.value, a.enabled_ns == a.running_ns, c['instructions:u'])\n"
            "print(len({c[n] for n in ('instructions:u', 'instructions', 'ex_ret_instr')}),\n"
            "      list(c), list(c.values()), a.name, a.asked, repr(c), sep=', ')")
    options = [o for name in ("PYTHONPATH", "TALLY_COMMAND", "PYTHONDONTWRITEBYTECODE")
               for o in ("--env", f"{name}={environment()[name]}")]
    done = t.run(t.tally(), "count", "-q", "-m", "zen4", "-e", "instructions",
                 "--clean-env", *options, "--", sys.executable, "-c", text)
    first, whole, second = done.stdout.partition("\n")[0].split()
    t.equal(whole, "True")
    # The machine's own name is a name, too.
    t.equal(done.stdout.partition("\n")[2],
            "1, ['instructions:u'], ['instructions:u'], ex_ret_instr, instructions:u, "
            "<tally.Counter instructions:u>\n")
    t.equal(told("from tally.counter import _asked\n"
                 "print(_asked('{a:u,cpu/b=1,c=2/u}:k, d', list('wxy')), _asked('a', ['b', 'c']),"
                 "\n      _asked('{a,b},c', list('xyz')))"),
            ["['a:u', 'cpu/b=1,c=2/u', 'd'] ['b', 'c'] ['a', 'b', 'c']"])
    # Some instructions a number: more than 5, fewer than 1,000.
    assert 5 < (int(second) - int(first)) / 2000 < 1000, done.stdout


@t.named("records, differences, pages")
def records():
    program = str(t.guest("why.x86_64"))
    with tempfile.TemporaryDirectory() as folder:
        lines = told(
            "import sys\n"
            "a, b = (tally.record([sys.argv[1], words], 'instructions,L1-dcache-load-misses',\n"
            "        'host-model', output=f'{sys.argv[2]}/{words}.data', capture=True)\n"
            "        for words in ('chase', 'columns'))\n"
            "for r in (a, b):\n"
            "    rows = r.rows('function')\n"
            "    print(sum(row.values['instructions'] for row in rows) ==\n"
            "          r.totals['instructions'], r.status)\n"
            "d = tally.diff(a, b)\n"
            "print(any('columns' in str(row.keys.get('function')) for row in d.rows))\n"
            "t = d.totals['instructions']; print(t.after - t.before == t.change)\n"
            "print(len(tally.diff(a, a.path).rows))\n"
            "page = a.page(); print('</html>' in page.text, '<html' in page._repr_html_())\n"
            "page.save(sys.argv[2] + '/page.html')\n"
            "a.export('folded', sys.argv[2] + '/folded')\n"
            "print('<td' in a._repr_html_(), '<td' in d._repr_html_())", program, folder)
        t.equal(lines, ["True 0", "True 0", "True", "True", "0", "True False", "True True"])
        assert os.path.getsize(os.path.join(folder, "folded")) > 0
        # What was there stays if there is no new record.
        refused(f"tally.record(['/bin/true'], 'nonsense', output='{folder}/chase.data')",
                "unknown event 'nonsense'")
        for output in (folder, "/dev/null"):
            refused(f"tally.record(['/bin/true'], output='{output}')",
                    f"{output}: a record is a file")
        refused("tally.diff(tally.count(['/bin/true'], 'instructions', 'host-model'),\n"
                f"        '{folder}/chase.data')",
                "chase.data is a record and the count of /bin/true a report of tally count")
    refused("tally.Record('/no/such/record')", "/no/such/record: there is no such record")
    refused("tally.diff('/no/a', '/no/b')", "/no/a")


@t.named("steps of a run: values, a page, a table for a notebook")
def steps():
    folder = tempfile.mkdtemp(dir=t.build)
    trace = pathlib.Path(folder, "a.trace")
    trace.write_text(" L 10,1\n L 110,1\n L 10,1\n")
    try:
        done = python(
            "import tally\n"
            "s = tally.teach([{!r}], settings={{'l1d.size': 256, 'l1d.ways': 1, "
            "'l1d.line': 16}})\n"
            "print(len(s), s.what, [x['class'] for x in s], s.place(s[0]), s)\n"
            "print('</html>' in s.page().text, '<td' in s._repr_html_())\n"
            .format(str(trace)))
        t.equal(done.returncode, 0, done.stderr)
        t.equal(done.stdout, "3 sets ['first touch', 'first touch', 'conflict'] None "
                     "<tally.Steps sets, 3 steps>\nTrue True\n")
        refused("tally.teach(['/bin/true'], 'lines')", "'sets', 'branches' or")
        refused("tally.teach(['/bin/true'], level='l9')", "--level 'l9'")
        refused("tally.teach('/bin/true')", "a sequence of words")
    finally:
        shutil.rmtree(folder)


@t.named("a curve has a page, also of a program that fails")
def curves():
    t.equal(told("u = tally.curve(['sh', '-c', 'exit 3'], sizes='4K,8K', machine='host-model')\n"
                 "page = u.page()\n"
                 "print('</html>' in page.text, '<svg' in page.text, '<td' in u._repr_html_())\n"
                 "print('<iframe' in page._repr_html_())"), ["True True True", "True"])
    refused("u = tally.curve(['/bin/true'], sizes='4K', machine='host-model'); "
            "u._program = ['/no/such/program']; u.page()", "/no/such/program: No such file")


@t.named("frames of pandas, or what would help")
def frames():
    done = python("import tally\n"
                  "c = tally.count(['/bin/true'], 'instructions', 'host-model')\n"
                  "print(list(c.frame().columns)[:3])\n"
                  "s = tally.teach(['/bin/true'], steps=5, clean_env=True)\n"
                  "print(len(s.frame()), list(s.frame().columns)[:2])\n"
                  "u = tally.curve(['/bin/true'], sizes='4K,8K', machine='host-model')\n"
                  "print(len(u.frame()))")
    if done.returncode == 0:
        t.equal(done.stdout, "['name', 'asked', 'value']\n"
                "5 ['thread', 'instruction']\n2\n")
    else:
        t.contains(done.stderr, "ImportError: a frame needs pandas, which is not installed")


@t.named("a missing or foreign library or command has one line")
def missing():
    refused("tally.machines()", "TALLY_LIBRARY", TALLY_LIBRARY="/no/such/libtally.so")
    refused("tally.machines()", "is not the library of this package",
            TALLY_LIBRARY="libc.so.6")
    refused("tally.count(['/bin/true'])", "TALLY_COMMAND names /no/such/tally",
            TALLY_COMMAND="/no/such/tally")
    refused("tally.machines()", "TALLY_COMMAND names", TALLY_COMMAND="/no/such/tally")
    refused("tally.count(['/bin/true'])", "is not the command tally",
            TALLY_COMMAND="/bin/true")
    refused("tally.count(['/bin/true'])", "not in PATH", TALLY_COMMAND="", PATH="/nowhere")
    refused("tally._command.VERSION = '0.9.0'; tally.count(['/bin/true'])",
            "is of version 0.1.0, and this package of version 0.9.0")
    refused("tally._command.VERSION = '0.9.0'; tally.machines()", "is of version 0.1.0")


def test_of(folder, *options, program, **more):
    return subprocess.run([program, "-m", "pytest", "-q", "-p", "tally.pytest_plugin", "-p",
                           "no:cacheprovider", *options], cwd=folder, text=True,
                          capture_output=True, env=environment(**more), check=False)


@t.named("pytest --tally holds marked tests to the baseline")
def plugin():
    program = next((p for p in (*pythons(), "/usr/bin/python3")
                    if subprocess.run([p, "-c", "import pytest"], capture_output=True,
                                      check=False).returncode == 0), None)
    if program is None:
        raise t.Skip("no pytest")
    with tempfile.TemporaryDirectory() as folder:
        test = pathlib.Path(folder, "test_it.py")
        test.write_text(PROGRAM.format(n=1000, equal="True"))
        done = test_of(folder, program=program)
        t.equal((done.returncode, "5 passed" in done.stdout), (0, True), done.stdout)
        done = test_of(folder, "--tally", program=program)
        t.equal((done.returncode, done.stdout.count("--tally-update writes it")), (1, 4),
                done.stdout)
        done = test_of(folder, "--tally", "--tally-update", program=program)
        t.equal(done.returncode, 0, done.stdout)
        t.contains(done.stdout, "tally-baseline.json holds the counts of this run now")
        # More work is found in the one test that does it; a failure is one here, too.
        test.write_text(PROGRAM.format(n=20000, equal="False"))
        done = test_of(folder, "--tally", program=program)
        t.equal(done.returncode, 1)
        t.contains(done.stdout, "2 failed, 3 passed")
        assert re.search(r"test_sum.*\ninstructions rose by \d", done.stdout), done.stdout
        assert re.search(r"\+\d.* instructions  _PyEval_EvalFrame", done.stdout), done.stdout
        t.contains(done.stdout, "the test failed before it was counted")
        test.write_text(REFUSED)
        done = test_of(folder, "--tally", program=program)
        for name, words in REFUSALS.items():
            assert re.search(rf"_ {name}.* _+\n(?:{words})", done.stdout), (name, done.stdout)
        t.contains(done.stdout, f"{len(REFUSALS)} failed, 1 passed, 3 skipped, 1 xfailed")
        for setting in ("tally_layouts=x", "tally_hard=instructions", "tally_hard=a=b"):
            done = test_of(folder, "--tally", "-o", setting, program=program)
            t.equal(done.stderr.count("\n"), 1 + done.stderr.count("\n\n"), done.stderr)
            t.contains(done.stderr, setting.split("=", 1)[0])
        done = test_of(folder, "--tally-update", program=program)
        t.contains(done.stderr, "--tally-update needs --tally")
        # Each test says why tally counts nothing, and none is expected to.
        test.write_text(BROKEN)
        for chosen, count in (("xfail or plain", 2), ("xfail", 1)):
            done = test_of(folder, "--tally", "-k", chosen, program=program,
                           TALLY_COMMAND="/no/such/tally")
            t.equal((done.returncode, done.stdout.count(
                "_\nTALLY_COMMAND names /no/such/tally, and there is no such file\n")),
                (1, count), done.stdout)


t.main()
