# SPDX-License-Identifier: MIT
"""Where in a program its events come from, and what changed between two builds.

>>> import os, tempfile, tally
>>> folder = tempfile.TemporaryDirectory()
>>> record = tally.record(["/bin/true"], "instructions", machine="host-model",
...                       output=os.path.join(folder.name, "true.data"))
>>> rows = record.rows(by="image")
>>> sum(row.values["instructions"] for row in rows) == record.totals["instructions"]
True
>>> len(tally.diff(record, record).rows)
0
>>> folder.cleanup()
"""
import html
import json
import os
import subprocess
import tempfile
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Union

from tally import _command, _display
from tally._command import Word
from tally._errors import TallyError
from tally.counting import Counts, Events, MachineName, _program, _words

Keys = Union[str, Sequence[str]]

SHOWN = 15  # rows in a notebook


class Row(NamedTuple):
    """What one function, line, image ... came to."""
    keys: Dict[str, Any]  #: as {'function': 'main', 'image': '/usr/bin/x'}; None: not known
    values: Dict[str, int]  #: events by name, of itself
    inclusive: Dict[str, int]  #: with the cost of what it calls; {}: that has no meaning


class Record:
    """A record of `tally record`: which instructions the events come from.

    path -- the file, which is the caller's to delete
    status -- the status with which `tally record` ended: the program's, or 128 + N if
              signal N ended the program; None of a record that was opened
    stdout, stderr -- what the program wrote, with capture=True; otherwise None
    """

    def __init__(self, path: Word, status: Optional[int] = None,
                 stdout: Optional[str] = None, stderr: Optional[str] = None) -> None:
        self.path = os.fspath(path)
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        if not os.path.exists(self.path):
            raise TallyError(f"{self.path}: there is no such record")

    def report(self, by: Keys = "function", *, top: Optional[int] = None,
               sort: Optional[str] = None, match: Optional[str] = None,
               options: Sequence[Word] = ()) -> Dict[str, Any]:
        """Returns the document of `tally report --format json`, see doc/where.md.

        by -- 'function', 'caller', 'object', 'line', 'instruction', 'file', 'image',
              'thread' or 'process'; several with commas between
        top -- only so many rows
        sort -- by this event; None: the first one
        match -- only rows whose name has this text or fits this pattern
        """
        words: List[Word] = ["report", "--by", by if isinstance(by, str) else ",".join(by)]
        for name, value in (("--top", top), ("--sort", sort), ("--match", match)):
            if value is not None:
                words += [name, str(value)]
        return _command.report([*words, *options, "-i", self.path])[0]

    def rows(self, by: Keys = "function", **how: Any) -> List[Row]:
        """Returns the rows of report(), which takes the same arguments."""
        return [Row(row["keys"], row["values"], row.get("inclusive") or {})
                for row in self.report(by, **how)["rows"]]

    @property
    def totals(self) -> Dict[str, int]:
        """The sum of each event over the whole run."""
        return {event["name"]: event["total"] for event in self.report(top=1)["events"]}

    def frame(self, by: Keys = "function", **how: Any) -> Any:
        """Returns a pandas.DataFrame with a row as of rows() each: its keys, its events,
        and its events with what it calls as 'EVENT, inclusive'. ImportError without
        pandas."""
        rows = [{**row.keys, **row.values,
                 **{f"{name}, inclusive": value for name, value in row.inclusive.items()}}
                for row in self.rows(by, **how)]
        columns = list(dict.fromkeys(name for row in rows for name in row))
        return _display.frame([[row.get(name) for name in columns] for row in rows],
                              columns)

    def export(self, form: str, output: Word) -> None:
        """Writes the record in a form that others read, as of `tally export --as`:
        'callgrind', 'folded', 'pprof', 'speedscope', 'perf-script', 'perf-data' ..."""
        _command.text(["export", "--as", form, "-o", output, "-i", self.path])

    def page(self) -> "Page":
        """Returns the page of `tally report --html`: a flame graph, tables, sources.
        A notebook shows it."""
        return _page(["report", "-i", self.path, "--html"], stdin=subprocess.DEVNULL)

    def __repr__(self) -> str:
        return f"<tally.Record {self.path}>"

    def _repr_html_(self) -> str:
        document = self.report(top=SHOWN)
        names = [event["name"] for event in document["events"]]
        rows = [[str(row["keys"].get("function") or "?"),
                 *(row["values"].get(name) for name in names)]
                for row in document["rows"]]
        more = (document.get("more") or {}).get("rows", 0)
        return _display.table(
            f"{' '.join(document['command'])} on {document['machine']}",
            ("function", *names), rows,
            [f"{more:,} more functions"] if more else [])


class Page:
    """A page that stands alone: text -- its HTML."""

    def __init__(self, text: str) -> None:
        self.text = text

    def save(self, path: Word) -> None:
        """Writes the page into a file. OSError where that cannot be."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    def __repr__(self) -> str:
        return f"<tally.Page of {len(self.text):,} characters>"

    def _repr_html_(self) -> str:
        # In a frame of its own: the page's scripts and styles touch nothing else.
        return (f'<iframe srcdoc="{html.escape(self.text)}" sandbox="allow-scripts" '
                'style="width: 100%; height: 40em; border: 1px solid #888"></iframe>')


def _page(words: Sequence[Word], program: Sequence[Word] = (), **how: Any) -> Page:
    """Returns the page that tally writes into the file whose name comes after these words.
    TallyError with tally's own line if there is no page."""
    with tempfile.TemporaryDirectory(prefix="tally-") as folder:
        path = os.path.join(folder, "page.html")
        ended = _command.run([*words, path, *(["--", *program] if program else [])],
                             capture=True, **how)
        try:
            with open(path, encoding="utf-8") as file:
                return Page(file.read())
        except FileNotFoundError:
            raise TallyError(ended.last_line) from None


def record(program: Sequence[Word], events: Optional[Events] = None,
           machine: MachineName = None, *,
           output: Word = "tally.data", callers: bool = True, objects: bool = False,
           settings: Optional[Mapping[str, Any]] = None, clean_env: bool = False,
           options: Sequence[Word] = (), cwd: Optional[Word] = None,
           env: Optional[Mapping[str, str]] = None, stdin: Any = None,
           capture: bool = False) -> Record:
    """Runs a program and records which instructions its events come from.

    output -- the file of the record; a record that was there gets the ending .old
    callers -- record the calls that led to each instruction, too
    objects -- record which variable, heap block or stack frame misses are of, too
    The other arguments are those of tally.count(); `options` are of `tally record`.
    TallyError says in one line what tally cannot do.
    """
    path = os.path.abspath(output)
    # A folder or a device would have no record, and may change meanwhile.
    if os.path.exists(path) and not os.path.isfile(path):
        raise TallyError(f"{path}: a record is a file")
    before = _identity(path)
    ended = _command.run(
        ["record", "-q", "-o", path,
         *_words(settings, events, machine, clean_env, options),
         *([] if callers else ["--no-callers"]), *(["--objects"] if objects else []), "--",
         *_program(program)], cwd=cwd, env=env, stdin=stdin, capture=capture)
    if _identity(path) in (None, before):
        raise _command.failure(ended)
    _command.show(ended.held)
    return Record(path, ended.status, ended.output.stdout, ended.output.stderr)


def _identity(path: str) -> Optional[tuple]:
    """Returns what tells a file from the one that replaces it; None without a file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


class Change(NamedTuple):
    """What one function, line ... came to before and after."""
    keys: Dict[str, Any]
    before: Dict[str, Any]  #: events by name
    after: Dict[str, Any]
    change: Dict[str, Any]


class Diff:
    """What rose and what fell between two records or two counts.

    document -- the whole report of `tally diff --format json`, see doc/where.md
    """

    def __init__(self, document: Dict[str, Any]) -> None:
        self.document = document

    @property
    def totals(self) -> Dict[str, Change]:
        """Each event over the whole run, by name."""
        return {event["name"]: Change({}, event["before"], event["after"], event["change"])
                for event in self.document["events"]}

    @property
    def rows(self) -> List[Change]:
        """The functions, lines ... that changed, the largest change first."""
        return [Change(row["keys"], row["before"], row["after"], row["change"])
                for row in self.document.get("rows") or []]

    @property
    def notes(self) -> List[str]:
        """What makes the two hard to compare."""
        return list(self.document.get("notes") or [])

    def frame(self) -> Any:
        """Returns a pandas.DataFrame of the rows, with columns 'EVENT, before', 'EVENT,
        after' and 'EVENT, change'. ImportError without pandas."""
        names = list(self.totals)
        keys = list(dict.fromkeys(key for row in self.rows for key in row.keys))
        return _display.frame(
            [[*(row.keys.get(key) for key in keys),
              *(values.get(name) for name in names
                for values in (row.before, row.after, row.change))] for row in self.rows],
            [*keys, *(f"{name}, {word}" for name in names
                      for word in ("before", "after", "change"))])

    def __repr__(self) -> str:
        changes = ", ".join(f"{name} {one.change:+}" for name, one in self.totals.items()
                            if one.change is not None)
        return f"<tally.Diff {changes}>"

    def _repr_html_(self) -> str:
        names = list(self.totals)
        rows: List[List[Any]] = [
            ["all", *(cell for name in names
                      for cell in (self.totals[name].before, self.totals[name].after,
                                   self.totals[name].change))]]
        for row in self.rows[:SHOWN]:
            label = next((str(value) for value in row.keys.values() if value), "?")
            rows.append([label, *(values.get(name) for name in names
                                  for values in (row.before, row.after, row.change))])
        return _display.table(
            "what rose and what fell",
            ["", *(f"{name}, {word}" for name in names
                   for word in ("before", "after", "change"))], rows, self.notes)


def diff(before: Union[Record, Counts, Word], after: Union[Record, Counts, Word], *,
         by: Keys = "function", options: Sequence[Word] = ()) -> Diff:
    """Compares two records, or two counts: results of this package, or files.

    by -- rows of records, as of Record.report()
    options -- other options of `tally diff`
    TallyError where the two cannot be compared, as of two machines.
    """
    if {type(before), type(after)} == {Record, Counts}:
        raise TallyError("two records or two counts can be compared, not a record and a count")
    with tempfile.TemporaryDirectory(prefix="tally-") as folder:
        paths: List[Word] = []
        for name, one in (("before", before), ("after", after)):
            if isinstance(one, Record):
                paths.append(one.path)
            elif isinstance(one, Counts):
                paths.append(os.path.join(folder, name + ".json"))
                with open(paths[-1], "w", encoding="utf-8") as file:
                    json.dump(one.document, file)
            else:
                paths.append(one)
        of_records = not isinstance(before, Counts) and not str(paths[0]).endswith(".json")
        words: List[Word] = ["diff", *options, *paths]
        if of_records:
            words[1:1] = ["--by", by if isinstance(by, str) else ",".join(by)]
        try:
            return Diff(_command.report(words)[0])
        except TallyError as error:
            text = str(error)
            for path, one in zip(paths, (before, after)):
                if isinstance(one, Counts): # the caller knows no file of it
                    text = text.replace(str(path), f"the count of {one.document['program']}")
            raise TallyError(text) from None
