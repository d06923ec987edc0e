# SPDX-License-Identifier: MIT
"""The command tally: where it is, and how it is run.

Nothing here is for users of the package.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from typing import Any, Dict, IO, List, Mapping, NamedTuple, Optional, Sequence, Union

from tally._errors import TallyError

VERSION = "0.1.0"

# An argument of a command line.
Word = Union[str, "os.PathLike[str]"]

KEPT = 64 * 1024  # bytes of standard error that are kept for an exception
GRACE_S = 2  # seconds in which a program that is given up may end by itself

# Options that would put the report elsewhere.
OURS = ("-h", "--help", "-o", "--output", "--append", "--log-fd", "--format", "-j", "--json",
        "-x", "--field-separator")

_checked = ""  # the command whose version was looked at


def find() -> Optional[str]:
    """Returns the absolute path of the command, or None if there is none. TALLY_COMMAND
    names the command; otherwise PATH has it."""
    chosen = os.environ.get("TALLY_COMMAND", "")
    if chosen and not os.path.exists(chosen):
        raise TallyError(f"TALLY_COMMAND names {chosen}, and there is no such file")
    found = chosen or shutil.which("tally")
    return os.path.abspath(found) if found else None


def check_version(found: str, path: str) -> None:
    """Raises TallyError if a part of another version was found."""
    if found.split(".")[:2] != VERSION.split(".")[:2]:
        raise TallyError(f"{path} is of version {found}, and this package of version "
                         f"{VERSION}: install both of one version")


def command() -> str:
    """Returns the path of the command, which exists and is of our version."""
    global _checked
    path = find()
    if path is None:
        raise TallyError("the command tally is not in PATH: install tally, or name the "
                         "file in TALLY_COMMAND")
    if path == _checked:
        return path
    try:
        done = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, check=False)
    except OSError as error:
        raise TallyError(f"{path} cannot be run: {error.strerror}") from None
    words = done.stdout.split()
    if done.returncode != 0 or len(words) < 2 or words[0] != "tally":
        raise TallyError(f"{path} is not the command tally")
    check_version(words[1], path)
    _checked = path
    return path


class Output(NamedTuple):
    """What a program that was counted wrote, as text, if that was asked for."""
    stdout: Optional[str]
    stderr: Optional[str]


def show(data: bytes) -> None:
    """Writes to standard error, which a notebook has in its own place. Where standard
    error is closed, nothing is written."""
    try:
        sys.stderr.write(data.decode(errors="replace"))
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass


def _forward(source: IO[bytes], kept: bytearray, held: bytearray, shown: bool) -> None:
    """Passes on what a process writes to standard error, and keeps the end of it. Text
    that begins as tally's own lines do is held, as an exception may say the same."""
    while data := source.read1(KEPT):  # type: ignore[attr-defined]
        kept += data
        if not shown:
            continue
        del kept[:-KEPT]
        if data.startswith(b"tally") or (held and not held.endswith(b"\n")):
            held += data
        else:
            show(data)


def _last_line(kept: bytes) -> str:
    """Returns the last line of tally's own in what a process wrote."""
    lines = [line for line in kept.decode(errors="replace").splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith("tally")]
    return (ours or lines or ["tally said nothing"])[-1]


def _children(pid: int) -> List[int]:
    """Returns the child processes of a process; [] where the system does not tell."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends a run that the caller gives up: asks first, and kills a program that goes on."""
    process.terminate()
    try:
        process.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        for child in _children(process.pid):
            os.kill(child, signal.SIGKILL)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()


class Ended(NamedTuple):
    """How a command ended."""
    status: int
    output: Output
    last_line: str
    held: bytes  # lines of tally's own that nobody has seen yet


def run(words: Sequence[Word], *, cwd: Optional[Word] = None,
        env: Optional[Mapping[str, str]] = None, capture: bool = False,
        stdin: Any = None) -> Ended:
    """Runs tally with these words and waits for its end."""
    kept, held = bytearray(), bytearray()
    try:
        process = subprocess.Popen([command(), *words], cwd=cwd, env=env, stdin=stdin,
                                   stdout=subprocess.PIPE if capture else None,
                                   stderr=subprocess.PIPE)
    except OSError as error:
        if error.errno is None: # `stdin` is no file of the system
            raise
        raise TallyError(f"tally cannot be run: {error.strerror}: "
                         f"{error.filename}") from None
    with process:
        assert process.stderr is not None
        reader = threading.Thread(daemon=True, target=_forward,
                                  args=(process.stderr, kept, held, not capture))
        reader.start()
        try:
            out = process.stdout.read() if process.stdout is not None else b""
            reader.join()
            process.wait()
        except BaseException:
            _end(process)
            raise
    return Ended(process.returncode,
                 Output(out.decode(errors="replace"), kept.decode(errors="replace"))
                 if capture else Output(None, None), _last_line(bytes(kept)), bytes(held))


def failure(ended: Ended) -> TallyError:
    """Returns the exception that has tally's line, after showing what else was held."""
    lines = ended.held.splitlines(keepends=True)
    show(b"".join(line for line in lines
                  if line.decode(errors="replace").rstrip("\n") != ended.last_line))
    return TallyError(ended.last_line)


def report(words: Sequence[Word], program: Sequence[Word] = (),
           **how: Any) -> "tuple[Dict[str, Any], Ended]":
    """Runs a command of tally that writes one JSON document, and returns the document.
    TallyError with tally's own line if there is no document."""
    with tempfile.TemporaryDirectory(prefix="tally-") as folder:
        path = os.path.join(folder, "report.json")
        ended = run([*words, "--format", "json", "-o", path,
                     *(["--", *program] if program else [])], **how)
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                text = file.read()
        except FileNotFoundError:
            text = ""
    if not text:
        raise failure(ended)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise TallyError(f"tally wrote no JSON document: {error}") from None
    show(ended.held)
    return document, ended


def text(words: Sequence[Word]) -> str:
    """Runs a command of tally, and returns what it prints."""
    ended = run(words, capture=True, stdin=subprocess.DEVNULL)
    if ended.status != 0:
        raise TallyError(ended.last_line)
    return ended.output.stdout or ""


def sequence(words: Any, noun: str, example: str) -> List[Word]:
    """Returns the words of a sequence. TallyError for one text."""
    if isinstance(words, (str, bytes)) or not hasattr(words, "__iter__"):
        raise TallyError(f"{noun} is a sequence of words, as {example}, not {words!r}")
    return list(words)


def event_list(events: Any) -> str:
    """Returns names of events with commas between: of one text, of an event, or of a
    sequence of both."""
    one = isinstance(events, (str, bytes)) or not hasattr(events, "__iter__")
    names = [getattr(event, "name", event) for event in ([events] if one else events)]
    for name in names:
        if not isinstance(name, str):
            raise TallyError(f"an event is a text or a tally.Event, not {name!r}")
    return ",".join(names)


def options(settings: Optional[Mapping[str, Any]], events: Optional[Any],
            machine: Optional[Any]) -> List[str]:
    """Returns the options that most commands share. `events`: names in one text or in a
    sequence."""
    words: List[str] = []
    if machine is not None:
        words += ["-m", str(getattr(machine, "name", machine))]
    if events is not None:
        words += ["-e", event_list(events)]
    if not isinstance(settings if settings is not None else {}, Mapping):
        raise TallyError(f"settings is a dictionary, as {{'l1d.size': '64K'}}, not {settings!r}")
    for key, value in (settings or {}).items():
        words += ["--set", f"{key}={value}"]
    return words
