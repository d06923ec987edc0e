# SPDX-License-Identifier: MIT
"""What the model did, step by step: cache sets, branch predictors, pipelines.

>>> import tally
>>> steps = tally.teach(["/bin/true"], steps=50, clean_env=True)
>>> len(steps), steps.what
(50, 'sets')
>>> steps[0]["kind"] in ("load", "store")
True
"""
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple

from tally import _command, _display
from tally._command import Word
from tally._errors import TallyError
from tally.counting import MachineName, _program, _words
from tally.recording import Page, _page

SHOWN = 12  # rows of a table in a notebook

# The members of a step that a table has, by what the steps are.
_COLUMNS: Dict[str, Tuple[str, ...]] = {
    "sets": ("kind", "address", "bytes", "tag", "set", "offset", "hit", "class", "evicted"),
    "branches": ("to", "history", "table", "index", "before", "after", "sum", "predicted",
                 "taken", "wrong"),
    "bubbles": ("instructions", "cycles"),
}
_ADDRESSES = ("address", "to", "evicted", "tag")


class Steps:
    """The steps of a part of a run.

    document -- the whole report of `tally teach --format json`, see doc/teach.md
    """

    def __init__(self, document: Dict[str, Any], again: Sequence[Word],
                 program: Sequence[Word], how: Mapping[str, Any]) -> None:
        self.document = document
        self._again, self._program, self._how = list(again), list(program), dict(how)

    @property
    def what(self) -> str:
        """What the steps are: 'sets', 'branches' or 'bubbles'."""
        return self.document["what"]

    def __len__(self) -> int:
        return len(self.document["steps"])

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return iter(self.document["steps"])

    def __getitem__(self, number: int) -> Dict[str, Any]:
        """Returns a step, by its number from 0 on; IndexError."""
        return self.document["steps"][number]

    def place(self, step: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
        """Returns where a step is: address, function, file, line, ...; None: not known."""
        return None if step["place"] is None else self.document["places"][step["place"]]

    def frame(self) -> Any:
        """Returns a pandas.DataFrame with a row a step: thread, instruction, function,
        line, and what the steps are of. ImportError without pandas."""
        names = _COLUMNS[self.what]
        rows: List[List[Any]] = []
        for step in self:
            place = self.place(step) or {}
            rows.append([step["thread"], step["instruction"], place.get("function"),
                         place.get("line"), *(step[name] for name in names)])
        return _display.frame(rows, ["thread", "instruction", "function", "line", *names])

    def page(self) -> Page:
        """Returns the page that replays the steps. A notebook shows it. The program runs
        once more for it, with the standard input and the environment of the first time."""
        return _page([*self._again, "-o"], self._program, **self._how)

    def __repr__(self) -> str:
        return f"<tally.Steps {self.what}, {len(self):,} steps>"

    def _repr_html_(self) -> str:
        names = _COLUMNS[self.what]
        rows = [[str(number), *(_shown(name, step[name]) for name in names)]
                for number, step in enumerate(self.document["steps"][:SHOWN], 1)]
        more = len(self) - len(rows)
        return _display.table(
            f"{' '.join(map(os.path.basename, self.document['command']))} on "
            f"{self.document['machine']}, {self.document['standing']}",
            ("step", *names), rows, [f"{more:,} more steps"] if more > 0 else [])


def _shown(name: str, value: Any) -> Any:
    """Returns a value as a table has it: addresses in base 16, truth as a word."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return hex(value) if name in _ADDRESSES and value is not None else value


def teach(program: Sequence[Word], what: str = "sets", *, level: str = "l1d",
          steps: Optional[int] = None, function: Optional[str] = None,
          machine: MachineName = None, settings: Optional[Mapping[str, Any]] = None,
          clean_env: bool = False, options: Sequence[Word] = (),
          cwd: Optional[Word] = None, env: Optional[Mapping[str, str]] = None,
          stdin: Any = None) -> Steps:
    """Runs a program, or replays a trace, and tells what the model did step by step.

    program -- the program and its arguments, or the path of a trace, in a sequence
    what -- 'sets': accesses to data, and the sets of a level of caches; 'branches':
            conditional branches, and what predicts them; 'bubbles': blocks of code, and
            their cycles
    level -- of sets: 'l1d', 'l2', 'l3' or a level behind the L3
    steps -- so many at most; None: 1000
    function -- steps of this function's code alone
    The other arguments are those of tally.count(); `options` are of `tally teach`.
    TallyError says in one line what tally cannot do.
    """
    if what not in _COLUMNS:
        raise TallyError(f"what is 'sets', 'branches' or 'bubbles', not {what!r}")
    words: List[Word] = ["teach", *(["--level", level] if what == "sets" else [f"--{what}"]),
                         *_words(settings, None, machine, clean_env, options)]
    if steps is not None:
        words += ["--steps", str(steps)]
    if function is not None:
        words += ["--in", function]
    run = _program(program)
    how = {"cwd": cwd, "env": env, "stdin": stdin}
    return Steps(_command.report(words, run, **how)[0], words, run, how)
