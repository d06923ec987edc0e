# SPDX-License-Identifier: MIT
"""How many misses a cache of each size would have, from one run.

>>> import tally
>>> curve = tally.curve(["/bin/true"], sizes="4K,64K", machine="host-model")
>>> [point.size for point in curve.points], curve.unit
([4096, 65536], 'bytes')
>>> curve.points[0].misses >= curve.points[1].misses
True
"""
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

from tally import _command, _display
from tally._command import Word
from tally.counting import MachineName, _program, _words
from tally.recording import Page, _page


class Point(NamedTuple):
    """One size of the cache or TLB."""
    size: int  #: in Curve.unit
    ways: Optional[int]  #: None: full associativity
    misses: int
    at_least: int  #: with `sample`, the true number lies between these two in 95 of 100 cases
    at_most: int


class Curve:
    """The misses of all sizes.

    document -- the whole report of `tally curve --format json`, see doc/curve.md
    """

    def __init__(self, document: Dict[str, Any], again: Sequence[Word],
                 program: Sequence[Word], how: Mapping[str, Any]) -> None:
        self.document = document
        self._again, self._program, self._how = list(again), list(program), dict(how)

    @property
    def unit(self) -> str:
        """The unit of the sizes: 'bytes', or 'entries' of a TLB."""
        return self.document["unit"]

    @property
    def points(self) -> List[Point]:
        """All sizes that were asked for."""
        return [Point(*(point[name] for name in Point._fields))
                for point in self.document["points"]]

    def frame(self) -> Any:
        """Returns a pandas.DataFrame with a row a point. ImportError without pandas."""
        return _display.frame(self.points, Point._fields)

    def page(self) -> Page:
        """Returns the page of `tally curve --html`, which plots the curve. A notebook shows
        it. The program runs once more for it, with the standard input and the environment of
        the first time."""
        return _page([*self._again, "--html"], self._program, **self._how)

    def __repr__(self) -> str:
        return f"<tally.Curve {self.document['level']}, {len(self.points)} sizes>"

    def _repr_html_(self) -> str:
        return _display.table(
            f"{self.document['program']}: {self.document['level']} on "
            f"{self.document['machine']}, {self.document['standing']}",
            (self.unit, "ways", "misses"),
            [(point.size, point.ways or "full", point.misses) for point in self.points],
            list(self.document.get("notes") or []))


def curve(program: Sequence[Word], *, level: str = "l1d",
          sizes: Union[str, Sequence[Union[int, str]], None] = None,
          ways: Union[int, Sequence[int], None] = None, sample: Optional[int] = None,
          machine: MachineName = None, settings: Optional[Mapping[str, Any]] = None,
          clean_env: bool = False, options: Sequence[Word] = (),
          cwd: Optional[Word] = None, env: Optional[Mapping[str, str]] = None,
          stdin: Any = None) -> Curve:
    """Runs a program once, and tells the misses of all sizes of a cache or TLB.

    level -- 'l1d', 'l1i', 'l2', 'l3', 'dtlb' or 'itlb'
    sizes -- as '4K..64M', or a sequence of sizes in bytes, of a TLB in entries
    ways -- one or several associativities; None: full associativity
    sample -- follow one line or page in so many, and estimate the misses
    The other arguments are those of tally.count(); `options` are of `tally curve`.
    TallyError says in one line what tally cannot do.
    """
    words: List[Word] = ["curve", "--level", level,
                         *_words(settings, None, machine, clean_env, options)]
    if sizes is not None:
        words += ["--sizes", sizes if isinstance(sizes, str) else ",".join(map(str, sizes))]
    if ways is not None:
        words += ["--ways", str(ways) if isinstance(ways, int) else ",".join(map(str, ways))]
    if sample is not None:
        words += ["--sample", f"1/{sample}"]
    run = _program(program)
    how = {"cwd": cwd, "env": env, "stdin": stdin}
    return Curve(_command.report(words, run, **how)[0], words, run, how)
