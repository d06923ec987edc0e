# SPDX-License-Identifier: MIT
"""Counting a program.

>>> import tally
>>> counts = tally.count(["/bin/true"], "instructions,L1-dcache-load-misses",
...                      machine="host-model")
>>> counts.status, counts["L1-dcache-load-misses"].fidelity
(0, 'modelled')
>>> counts["instructions"].value > 1000
True
"""
from typing import (Any, Dict, Iterator, List, Mapping, NamedTuple, Optional,
                    Sequence, Union)

from tally import _command, _display
from tally._command import Word
from tally._errors import TallyError
from tally.catalogue import Events, Machine

MachineName = Union[str, Machine, None]


class Count(NamedTuple):
    """What one event, or one metric, came to."""
    name: str  #: the event's name
    asked: str  #: the name that it was asked for by
    value: Union[int, float, None]  #: None: it was not counted; `reason` says why
    unit: str  #: '' for a plain number, 'ns' for clocks
    #: its standing: 'exact', 'varies', 'modelled', 'estimated', 'partial', 'measured' ...;
    #: '' without a value
    fidelity: str
    reason: str  #: why there is no value; '' with one
    mean: Optional[float]  #: of all runs, where there were several
    stddev: Optional[float]  #: of all runs, where there were several


class Counts:
    """What a program came to. Looks events up by name: counts["instructions"].

    document -- the whole report of `tally count --format json`, whose members are on the
                pages doc/host.md and doc/tour.md
    stdout, stderr -- what the program wrote, with capture=True; otherwise None
    """

    def __init__(self, document: Dict[str, Any], stdout: Optional[str],
                 stderr: Optional[str]) -> None:
        self.document = document
        self.stdout = stdout
        self.stderr = stderr

    @property
    def machine(self) -> str:
        """The machine's name; 'host' for this computer's own counters."""
        return self.document["machine"]

    @property
    def status(self) -> Optional[int]:
        """The program's exit status; -N if signal N ended it; None if it did not run."""
        status = self.document.get("status") or {}
        if "signal" in status:
            return -status["signal"]
        return status.get("exit")

    @property
    def wall_s(self) -> float:
        """Seconds that it took here, under the model."""
        return self.document["wall_s"]

    @property
    def modelled_s(self) -> Optional[float]:
        """Seconds that it would take on the machine: an estimate, or None."""
        return self.document.get("modelled_s")

    @property
    def events(self) -> List[Count]:
        """All events, in the order asked for."""
        return [_count(row) for row in self.document["events"]]

    @property
    def metrics(self) -> List[Count]:
        """All metrics."""
        return [_count(row) for row in self.document.get("metrics") or []]

    def __getitem__(self, name: str) -> Count:
        """Returns an event or metric by its name or the name asked for; KeyError."""
        for one in [*self.events, *self.metrics]:
            if name in (one.name, one.asked):
                return one
        raise KeyError(name)

    def __iter__(self) -> Iterator[Count]:
        return iter(self.events)

    def __contains__(self, name: object) -> bool:
        """Returns whether an event or metric has this name, or was asked for by it."""
        return any(name in (one.name, one.asked) for one in [*self.events, *self.metrics])

    def __len__(self) -> int:
        return len(self.document["events"])

    def values(self) -> Dict[str, Union[int, float, None]]:
        """Returns the values of events and metrics, by the names they were asked for."""
        return {one.asked: one.value for one in [*self.events, *self.metrics]}

    def frame(self) -> Any:
        """Returns a pandas.DataFrame with a row an event or metric. ImportError without
        pandas."""
        return _display.frame([*self.events, *self.metrics], Count._fields)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.values().items())
        return f"<tally.Counts {self.machine}: {values}>"

    def _repr_html_(self) -> str:
        rows = [(one.value, one.unit, one.name, one.fidelity or one.reason)
                for one in [*self.events, *self.metrics]]
        notes = [f"status {self.status}"] if self.status != 0 else []
        return _display.table(f"{self.document['program']} on {self.machine}",
                              ("count", "", "event", "standing"), rows, notes)


def _count(row: Mapping[str, Any]) -> Count:
    return Count(row["name"], row.get("asked", row["name"]), row.get("value"),
                 row.get("unit") or "", row.get("fidelity") or "",
                 row.get("reason") or "", row.get("mean"), row.get("stddev"))


def _words(settings: Optional[Mapping[str, Any]], events: Optional[Events],
           machine: MachineName, clean_env: bool, options: Sequence[Word]) -> List[Word]:
    """Returns the options of a command that runs a program."""
    more = _command.sequence(options, "options", '["--from", "main"]')
    for word in more:
        if word in _command.OURS:
            raise TallyError(f"{word!r} does not go into options: the report goes to the "
                             "result")
    return [*_command.options(settings, events, machine),
            *(["--clean-env"] if clean_env else []), *more]


def _program(program: Any) -> List[Word]:
    """Returns the words of a program to run."""
    return _command.sequence(program, "a program", '["ls", "-l"]')


def count(program: Sequence[Word], events: Optional[Events] = None,
          machine: MachineName = None, *,
          metrics: Union[str, Sequence[str], None] = None, repeat: int = 1,
          settings: Optional[Mapping[str, Any]] = None, clean_env: bool = False,
          options: Sequence[Word] = (), cwd: Optional[Word] = None,
          env: Optional[Mapping[str, str]] = None, stdin: Any = None,
          capture: bool = False) -> Counts:
    """Runs a program and counts its events, its threads and child processes included.

    program -- the program and its arguments, a sequence of words
    events -- names with commas between, or a sequence of names or of tally.Event; None:
              the machine's default events
    machine -- a machine's name or a tally.Machine; 'host': this computer's own counters;
               None: by the program's architecture
    metrics -- metrics to compute, as 'ipc'
    repeat -- how often to run it; values are then means
    settings -- the machine's parameters to change, as {'l1d.size': '64K'}
    clean_env -- a fixed environment and fixed random bytes, so that counts repeat
    options -- other options of `tally count`, as ['--from', 'main']
    cwd, env, stdin -- as of subprocess.run(); what the program writes to standard error
              is passed on to sys.stderr
    capture -- keep what the program writes, instead

    That the program fails is no error: see Counts.status. TallyError says in one line
    what tally cannot do.
    """
    words: List[Word] = ["count", "-q",
                         *_words(settings, events, machine, clean_env, options)]
    if metrics is not None:
        words += ["-M", metrics if isinstance(metrics, str) else ",".join(metrics)]
    if repeat != 1:
        words += ["-r", str(repeat)]
    document, ended = _command.report(words, _program(program), cwd=cwd, env=env, stdin=stdin,
                                      capture=capture)
    return Counts(document, ended.output.stdout, ended.output.stderr)
