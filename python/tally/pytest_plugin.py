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
import json
import os
import sys
import tempfile
from typing import Any, Dict, Iterable, List, Optional, Tuple

import pytest

from tally import _command
from tally._errors import TallyError

# What a test's interpreter keeps of the caller's environment: `tally check` fixes the rest.
KEPT = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PATH", "LD_LIBRARY_PATH")
# What runs a test's command once before it is counted.
ONCE = ("env", "-u", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED=0")
BASELINE = "tally-baseline.json"
# Ends of `tally check` with a report of all benchmarks.
REPORTED = (0, 3, 4, 5, 6)


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


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    updated = getattr(config, "_tally_updated", None)
    if updated is not None:
        terminalreporter.write_line(f"tally: {updated} holds the counts of this run now")


def _toml(value: Any) -> str:
    """Returns a text, number, list or table as TOML has it."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml(str(key))} = {_toml(one)}"
                                for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # A text of JSON is one of TOML, but for the character 127.
    return json.dumps(value).replace("\x7f", "\\u007f")


class Run:
    """One run of `tally check` for all marked tests, when the first result is asked for."""

    def __init__(self, config: Any) -> None:
        self.config = config
        self.root = str(config.rootpath)
        self.baseline = os.path.abspath(
            config.getoption("tally_baseline") or os.path.join(self.root, BASELINE))
        self.items: List["CountedItem"] = []
        self.results: Optional[Dict[str, Any]] = None

    def result(self, name: str) -> Dict[str, Any]:
        """Returns the result of one test, of the JSON that doc/check.md describes."""
        if self.results is None:
            self.results = self._count()
        return self.results[name]

    def _settings(self) -> Iterable[str]:
        environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        environment["PYTHONHASHSEED"] = "0"
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        hard = dict(limit.split("=", 1) for limit in self.config.getini("tally_hard"))
        yield f"machine = {_toml(self.config.getini('tally_machine'))}"
        yield f"layouts = {int(self.config.getini('tally_layouts'))}"
        yield f"environment = {_toml(environment)}"
        yield 'output = "any"'
        if hard:
            yield f"hard = {_toml({name: float(value) for name, value in hard.items()})}"
        for item in self.items:
            yield f"[benchmark.{_toml(item.benchmark)}]"
            yield f"directory = {_toml(self.root)}"
            yield f"command = {_toml(item.command())}"
            # Once uncounted, so that the files of compiled code are there.
            yield f"setup = {_toml([*ONCE, *item.command()])}"
            for key in ("hard", "events", "layouts"):
                if item.mark.kwargs.get(key) is not None:
                    yield f"{key} = {_toml(item.mark.kwargs[key])}"

    def _count(self) -> Dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="tally-") as folder:
            settings = os.path.join(folder, "tally.toml")
            report = os.path.join(folder, "report.json")
            with open(settings, "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for line in self._settings()))
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
            raise TallyError(ended.last_line)
        if document["updated"]:
            self.config._tally_updated = self.baseline
        self.said = ended.output.stderr or ""
        return {result["benchmark"]: result for result in document["results"]}


class Rise(Exception):
    """A test's counts are not what they should be; the text says how."""


class CountedItem(pytest.Item):
    """A marked test, in the place of the one that pytest has collected."""

    def take(self, run: Run, original: Any, mark: Any) -> None:
        """Takes the place of a test of pytest's."""
        self.run = run
        self.mark = mark
        self.place: Tuple["os.PathLike[str]", Optional[int], str] = original.reportinfo()
        self._nodeid = original.nodeid
        for name in original.keywords:
            self.keywords[name] = original.keywords[name]
        # A benchmark's name has no slash.
        self.benchmark = original.nodeid.replace("/", ".")
        self.refusal = _refusal(original)
        if self.refusal == "":
            self._command = _command_of(original)
            run.items.append(self)

    def command(self) -> List[str]:
        """Returns the command that calls the test alone."""
        return self._command

    def runtest(self) -> None:
        if self.refusal != "":
            raise Rise(self.refusal)
        result = self.run.result(self.benchmark)
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


def _parameters(original: Any) -> Dict[str, Any]:
    """Returns the arguments that pytest.mark.parametrize gives a test."""
    return dict(original.callspec.params) if hasattr(original, "callspec") else {}


def _refusal(original: Any) -> str:
    """Returns why a test cannot be called alone; '' if it can."""
    if type(original) is not pytest.Function:
        return "only functions and methods run under tally, not tests of unittest"
    parameters = _parameters(original)
    fixtures = [name for name in original.fixturenames
                if name not in parameters and name != "request"]
    if fixtures:
        return (f"the test uses the fixture {fixtures[0]!r}: a test that runs under tally "
                "has no fixtures, its interpreter runs without pytest")
    try:
        equal = ast.literal_eval(repr(parameters)) == parameters
    except (ValueError, SyntaxError):
        equal = False
    return "" if equal else ("a parameter of the test is no number, text, list, tuple, set "
                             "or dictionary, and cannot be given to another interpreter")


def _command_of(original: Any) -> List[str]:
    """Returns the command that calls a test alone."""
    module = original.module.__name__
    folder = os.path.dirname(os.path.abspath(original.module.__file__))
    for _ in range(module.count(".")):
        folder = os.path.dirname(folder)
    owner = original.cls.__qualname__ + "." if original.cls is not None else ""
    alone = os.path.join(os.path.dirname(__file__), "_alone.py")
    return [sys.executable, alone, folder, module, owner + original.originalname, repr(_parameters(original))]


def _told(result: Dict[str, Any], said: str) -> str:
    """Returns what is wrong with a test's counts, for people."""
    status = result["status"]
    if status == "no-baseline":
        reason = (result["reason"] or "the baseline lacks this test").partition(";")[0]
        return f"{reason}; pytest --tally --tally-update writes it"
    if status == "failed":
        return f"under tally the test failed: {result['reason']}\n{said}"
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
