# SPDX-License-Identifier: MIT
"""A plugin of pytest that holds the counts of tests to a baseline.

    @pytest.mark.tally
    def test_parse():
        parse(SAMPLE)

`pytest --tally` runs each test with this mark in an interpreter of its own under `tally
check`, with a fixed hash seed, and fails the test if its counts rose beyond a limit;
`pytest --tally --tally-update` writes the baseline. Without --tally the mark does nothing.
The page doc/python.md has more.
"""
import ast
import inspect
import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Dict, Generator, Iterable, List, Optional, Set, Tuple

import pytest

from tally import _command
from tally._alone import SKIPPED
from tally._errors import TallyError

# What a test's interpreter keeps of the caller's environment: `tally check` fixes the rest.
KEPT = ("PYTHONHOME", "VIRTUAL_ENV", "PATH", "LD_LIBRARY_PATH")
BASELINE = "tally-baseline.json"
# Ends of `tally check` with a report of all benchmarks.
REPORTED = (0, 3, 4, 5, 6)
KEYS = ("hard", "events", "layouts")  # of the mark
LAYOUTS = 64


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("tally", "counts held to a baseline")
    group.addoption("--tally", action="store_true",
                    help="run tests marked 'tally' under tally, and compare their counts "
                         "with the baseline")
    group.addoption("--tally-update", action="store_true",
                    help="with --tally: write the counts as the baseline")
    group.addoption("--tally-baseline", metavar="FILE",
                    help=f"the baseline (default: {BASELINE} in pytest's root folder)")
    parser.addini("tally_machine", "the machine to count on (default: ci-1)", default="ci-1")
    parser.addini("tally_layouts", "in how many layouts of memory each test runs "
                  "(default: 1)", default="1")
    parser.addini("tally_hard", "hard limits of a rise in per cent, as instructions=0.5 "
                  "(default: those of tally check)", type="args", default=[])


def pytest_configure(config: Any) -> None:
    config.addinivalue_line(
        "markers", "tally(hard=None, events=None, layouts=None): hold the test's counts to "
        "a baseline when pytest runs with --tally")
    if config.getoption("tally_update") and not config.getoption("tally"):
        raise pytest.UsageError("--tally-update needs --tally")
    layouts = config.getini("tally_layouts")
    if not layouts.isdecimal() or not 1 <= int(layouts) <= LAYOUTS:
        raise pytest.UsageError(f"tally_layouts: a number from 1 to {LAYOUTS} is expected, not "
                                f"{layouts!r}")
    for limit in config.getini("tally_hard"):
        if _limit(limit) is None:
            raise pytest.UsageError("tally_hard: MEASURE=PERCENT is expected, as "
                                    f"instructions=0.5, not {limit!r}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: Any, items: List[Any]) -> None:
    if not config.getoption("tally"):
        return
    run = Run(config)
    for place, item in enumerate(items):
        mark = item.get_closest_marker("tally")
        if mark is not None and not config.getoption("collectonly"):
            counted = CountedItem.from_parent(item.parent, name=item.name)
            counted.take(run, item, mark)
            items[place] = counted


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Generator[None, Any, None]:
    """A mark `xfail` expects that the test fails, not that tally does or that counts rise."""
    outcome = yield
    report = outcome.get_result()
    if (isinstance(item, CountedItem) and hasattr(report, "wasxfail")
            and call.excinfo is not None and call.excinfo.errisinstance((Rise, TallyError))
            and not call.excinfo.errisinstance(OwnFailure)):
        del report.wasxfail
        report.outcome = "failed"
        report.longrepr = str(call.excinfo.value)


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    updated = getattr(config, "_tally_updated", None)
    if updated is not None:
        terminalreporter.write_line(f"tally: {updated} holds the counts of this run now")


def _limit(text: str) -> Optional[Tuple[str, float]]:
    """Returns the measure and the per cent of a limit, or None."""
    name, _, percent = text.partition("=")
    try:
        value = float(percent)
    except ValueError:
        return None
    return (name, value) if name and 0 <= value < 1e9 else None


def _toml(value: Any) -> str:
    """Returns a text, number, list or table as TOML has it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml(str(key))} = {_toml(one)}"
                                for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # A text of JSON is one of TOML, but for the character 127.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


class Run:
    """One run of `tally check` for all marked tests, when the first result is asked for."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.root = str(config.rootpath)
        self.baseline = os.path.abspath(
            config.getoption("tally_baseline") or os.path.join(self.root, BASELINE))
        self.items: List["CountedItem"] = []
        self.results: Optional[Dict[str, Any]] = None
        self.error = ""  # why tally counted nothing
        self.updated = False
        self.said = ""  # what the tests wrote to standard error under tally

    def count(self) -> None:
        """Counts all tests, if they were not counted yet."""
        if self.results is None:
            self.results = {} # if this fails, the next test does not count again
            try:
                self.results = self._count()
            except TallyError as error:
                self.error = str(error)
        if self.error:
            raise TallyError(self.error)

    def result(self, name: str) -> Dict[str, Any]:
        """Returns the result of one test, of the JSON that doc/check.md describes."""
        if self.results is None or name not in self.results:
            raise TallyError(f"tally check has no result of {name}")
        return self.results[name]

    def _settings(self, items: List["CountedItem"]) -> Iterable[str]:
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment["PYTHONHASHSEED"] = "0"
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        limits = [_limit(text) for text in self.config.getini("tally_hard")]
        hard = {limit[0]: limit[1] for limit in limits if limit is not None}
        yield f"machine = {_toml(self.config.getini('tally_machine'))}"
        yield f"layouts = {int(self.config.getini('tally_layouts'))}"
        yield f"environment = {_toml(environment)}"
        yield 'output = "any"'
        if hard:
            yield f"hard = {_toml(hard)}"
        for item in items:
            yield f"[benchmark.{_toml(item.benchmark)}]"
            yield f"directory = {_toml(self.root)}"
            yield f"command = {_toml(item.command)}"
            for key in KEYS:
                if item.mark.kwargs.get(key) is not None:
                    yield f"{key} = {_toml(item.mark.kwargs[key])}"

    def _count(self) -> Dict[str, Any]:
        """Calls each test once uncounted, and then those that passed under tally."""
        _command.command() # TallyError without one, also where no test passes
        for item in self.items:
            item.try_alone(self.root)
        items = [item for item in self.items if item.alone == 0]
        if not items:
            return {}
        with tempfile.TemporaryDirectory(prefix="tally-") as folder:
            settings = os.path.join(folder, "tally.toml")
            report = os.path.join(folder, "report.json")
            with open(settings, "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in self._settings(items)))
            words = ["check", "-q", "-f", settings, "--baseline", self.baseline,
                     "--format", "json", "-o", report]
            if self.config.getoption("tally_update"):
                words.append("--update")
            ended = _command.run(words, capture=True)
            try:
                with open(report, encoding="utf-8") as file:
                    document = json.load(file)
            except (OSError, ValueError):
                document = None
        if document is None or ended.status not in REPORTED:
            raise TallyError(ended.last_line.replace(settings, "the tests' settings"))
        self.updated = document["updated"]
        if self.updated:
            self.config._tally_updated = self.baseline
        self.said = ended.output.stderr or ""
        return {result["benchmark"]: result for result in document["results"]}


class Rise(Exception):
    """A test's counts are not what they should be; the text says how."""


class OwnFailure(Rise):
    """A test failed before it was counted, which a mark `xfail` may expect."""


class CountedItem(pytest.Item):
    """A marked test, in the place of the one that pytest has collected."""

    def take(self, run: Run, original: Any, mark: Any) -> None:
        """Takes the place of a test of pytest's."""
        self.run = run
        self.mark = mark
        self.place: Tuple["os.PathLike[str]", Optional[int], str] = original.reportinfo()
        self._nodeid = original.nodeid
        # By these, pytest skips tests and expects failures.
        self.own_markers = list(original.own_markers)
        self.obj = original.obj
        for name in original.keywords:
            self.keywords[name] = original.keywords[name]
        self.benchmark = _benchmark(original.nodeid)
        self.alone = 0
        self.told = ""  # what the test wrote to standard error when it was called alone
        self.refusal = _refusal(original) or _refused_mark(mark)
        if any(item.benchmark == self.benchmark for item in run.items):
            self.refusal = "another test has the same name but for '/' and '.'"
        if not self.refusal and not _is_skipped(original):
            self.command = _command_of(original)
            run.items.append(self)

    def try_alone(self, root: str) -> None:
        """Calls the test once, uncounted. Python's files of compiled code are there then."""
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment.pop("PYTHONPATH", None)
        done = subprocess.run(self.command, cwd=root, env=environment, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        self.alone = done.returncode
        self.told = done.stderr.decode(errors="replace").rstrip("\n")

    def runtest(self) -> None:
        if self.refusal:
            raise Rise(self.refusal)
        self.run.count()
        if self.alone == SKIPPED:
            pytest.skip(self.told)
        if self.alone != 0:
            raise OwnFailure(f"the test failed before it was counted:\n{self.told}")
        result = self.run.result(self.benchmark)
        wants = self.config.getoption("tally_update")
        if wants and not self.run.updated and result["status"] not in ("failed", "varies"):
            raise Rise("the test was counted, but no baseline was written, as another test "
                       "failed or varies")
        if result["status"] not in ("passed", "warned"):
            raise Rise(_told(result, self.run.said))
        for note in result["notes"]:
            self.add_report_section("call", "tally", note)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if excinfo.errisinstance((Rise, TallyError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> Tuple["os.PathLike[str]", Optional[int], str]:
        return self.place


def _benchmark(nodeid: str) -> str:
    r"""Returns a name without a slash and without '\x', for which reports of tally have
    '\\x'. Slashes of a path become dots, others %2F."""
    path, colons, rest = nodeid.partition("::")
    return (path.replace("/", ".") + colons
            + rest.replace("%", "%25").replace("/", "%2F")).replace("\\x", "%5Cx")


def _parameters(original: Any) -> Dict[str, Any]:
    """Returns the arguments that pytest.mark.parametrize gives a test."""
    return dict(original.callspec.params) if hasattr(original, "callspec") else {}


def _direct(original: Any) -> Set[str]:
    """Returns the names that pytest.mark.parametrize gives a test itself, no fixture."""
    found: Set[str] = set()
    for mark in original.iter_markers("parametrize"):
        names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",")]
        indirect = mark.kwargs.get("indirect", False)
        if indirect is not True:
            found.update(name for name in names if name not in (indirect or ()))
    return found


def _is_skipped(original: Any) -> bool:
    """Returns whether a mark has pytest skip a test."""
    try:
        from _pytest.skipping import evaluate_skip_marks
        return evaluate_skip_marks(original) is not None
    except Exception: # pytest says itself what is wrong with the mark
        return original.get_closest_marker("skip") is not None


def _refusal(original: Any) -> str:
    """Returns why a test cannot be called alone; '' if it can."""
    if type(original) is not pytest.Function:
        return "only functions and methods run under tally, not tests of unittest"
    function = original.obj
    if (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)
            or inspect.isgeneratorfunction(function)):
        return "the test is asynchronous or a generator, which is not run under tally"
    direct = _direct(original)
    if any(name.startswith("_xunit_setup") for name in original.fixturenames):
        return ("the module or class of the test has setup or teardown functions, which are "
                "not run under tally")
    # The test's own fixtures come first, before those that its fixtures use.
    own = original._fixtureinfo
    for name in (*own.argnames, *own.initialnames, *original.fixturenames):
        if name not in direct:
            return (f"the test uses the fixture {name!r}: a test that runs under tally has no "
                    "fixtures, its interpreter runs without pytest")
    parameters = _parameters(original)
    try:
        equal = ast.literal_eval(repr(parameters)) == parameters
        f"{original.nodeid}{parameters!r}".encode()
    except (ValueError, SyntaxError): # of encode(), too
        equal = False
    return "" if equal else ("a parameter of the test is no number, text, list, tuple, set "
                             "or dictionary, and cannot be given to another interpreter")


def _refused_mark(mark: Any) -> str:
    """Returns what is wrong with the mark's arguments; '' if nothing is."""
    wrong = [name for name in mark.kwargs if name not in KEYS]
    if mark.args or wrong:
        return (f"pytest.mark.tally takes {', '.join(name + '=' for name in KEYS)} and no "
                f"{wrong[0] + '=' if wrong else repr(mark.args[0])}")
    hard = mark.kwargs.get("hard")
    if not (hard is None or hard is False or isinstance(hard, dict)
            and all(isinstance(name, str) and isinstance(value, (int, float)) and value >= 0
                    for name, value in hard.items())):
        return f"hard= is a dictionary, as {{'instructions': 0.5}}, not {hard!r}"
    layouts = mark.kwargs.get("layouts")
    if layouts is not None and not (type(layouts) is int and 1 <= layouts <= LAYOUTS):
        return f"layouts= is a number from 1 to {LAYOUTS}, not {layouts!r}"
    events = mark.kwargs.get("events")
    if events is not None and not (isinstance(events, (list, tuple))
                                   and all(isinstance(event, str) for event in events)):
        return f"events= is a list of names, not {events!r}"
    return ""


def _command_of(original: Any) -> List[str]:
    """Returns the command that calls a test alone."""
    owner = original.cls.__qualname__ + "." if original.cls is not None else ""
    folders = [os.path.abspath(folder) for folder in sys.path if ":" not in folder]
    alone = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_alone.py")
    return [sys.executable, alone, ":".join(folders), original.module.__name__,
            owner + original.originalname, repr(_parameters(original))]


def _told(result: Dict[str, Any], said: str) -> str:
    """Returns what is wrong with a test's counts, for people."""
    status = result["status"]
    if status == "no-baseline":
        reason = (result["reason"] or "the baseline lacks this test").partition(";")[0]
        return f"{reason}; pytest --tally --tally-update writes it"
    if status == "failed":
        return (f"the test passed alone, and failed under tally: {result['reason']}\n"
                f"all tests wrote:\n{said}")
    if status == "varies":
        return f"two runs of the test count differently: {result['reason']}"
    lines = []
    for measure in result["measures"]:
        if measure["verdict"] in ("hard", "soft"):
            lines.append(f"{measure['name']} rose by {measure['change_percent']:.2f} %, from "
                         f"{measure['baseline']['median']:,} to "
                         f"{measure['now']['median']:,}: the limit is "
                         f"{measure[measure['verdict'] + '_percent']:g} %")
    for function in result["functions"][:8]:
        change = function["instructions"] - function["instructions_baseline"]
        lines.append(f"{change:+15,} instructions  {function['name']}  ({function['image']})")
    lines += result["notes"]
    return "\n".join(lines)
