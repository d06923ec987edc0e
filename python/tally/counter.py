# SPDX-License-Identifier: MIT
"""Counters of the running program.

Natively these are the counters of this computer (Linux perf_event), under `tally count
python3 SCRIPT` those of the modelled machine:

>>> import tally
>>> with tally.Counter("page-faults") as counter:
...     memory = bytearray(4 << 20)
>>> counter["page-faults"] >= 0
True
"""
import ctypes
import re
from types import TracebackType
from typing import Dict, Iterator, List, NamedTuple, Optional, Type

from tally import _command, _library
from tally._errors import TallyError
from tally._library import lib, text_of
from tally.catalogue import Events


class Reading(NamedTuple):
    """What one event has counted."""
    name: str  #: the event's name; a modelled machine has names of its own
    value: int  #: what the counter has seen
    scaled: Optional[int]  #: for the whole time, if counters are shared; None: never counted
    enabled_ns: int  #: time between start and stop
    running_ns: int  #: how much of it the event had a counter
    unit: str  #: of value * scale; '' for a plain number
    scale: float
    asked: str  #: the name that it was asked for by


class Counter:
    """Counts events of this thread, or of all threads of this process.

    events -- names, as of `tally count -e`: 'instructions:u,cycles:u', or a sequence of names
    process -- count all threads, those to come too
    inherit -- count also what the counted threads create from now on

    TallyError says why an event cannot be counted here. A Counter belongs to the thread
    that made it, and is not used after fork().
    """

    def __init__(self, events: Events, *, process: bool = False, inherit: bool = False) -> None:
        self._handle: Optional[ctypes.c_void_p] = None
        self._lines = _library.Lines()
        names = _library.encoded(_command.event_list(events), "events")
        options = _library.CounterOptions()
        lib().tally_counter_options_init(ctypes.byref(options), ctypes.sizeof(options))
        options.scope = 1 if process else 0
        options.inherit = inherit
        options.log = self._lines.log
        handle = ctypes.c_void_p()
        self._lines.check(lib().tally_counter_open(ctypes.byref(options),
                                                   ctypes.byref(handle)))
        self._handle = handle
        try:
            self._lines.check(lib().tally_counter_add(handle, names))
        except TallyError:
            self.close()
            raise
        counted = _library.indexed(lib().tally_counter_event, handle, _library.Counted)
        self._asked = _asked(names.decode(), [text_of(c.name) for c in counted])
        self._events = [(text_of(c.name), text_of(c.unit), c.scale) for c in counted]
        self._readings = (_library.Reading * len(self._events))()

    def _open(self) -> ctypes.c_void_p:
        if self._handle is None:
            raise TallyError("the counter is closed")
        return self._handle

    def start(self) -> None:
        """Counts from here on, beginning with what was counted."""
        self._lines.check(lib().tally_counter_start(self._open()))

    def stop(self) -> None:
        """Counts no more."""
        self._lines.check(lib().tally_counter_stop(self._open()))

    def reset(self) -> None:
        """Sets counts and times to 0; counting goes on if it did."""
        self._lines.check(lib().tally_counter_reset(self._open()))

    def read(self) -> List[Reading]:
        """Returns what each event has counted, in the order asked for."""
        readings = self._readings
        self._lines.check(lib().tally_counter_read(self._open(), readings, len(readings)))
        return [Reading(name, r.value, _scaled(r), r.enabled, r.running, unit, scale, asked)
                for (name, unit, scale), asked, r in zip(self._events, self._asked, readings)]

    def __getitem__(self, name: str) -> int:
        """Returns the value of an event by the name that it was asked for, with or without
        its modifiers (':u'), or by its own name; KeyError."""
        readings = self.read()
        for reading in readings:
            if name in (reading.asked, reading.name):
                return reading.value
        for reading in readings:
            if name == re.sub(":[ukhp]+$", "", reading.asked):
                return reading.value
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._asked)

    def values(self) -> Dict[str, int]:
        """Returns the values, by the names that they were asked for."""
        return {reading.asked: reading.value for reading in self.read()}

    def close(self) -> None:
        """Gives the counters back. Further calls do nothing."""
        if self._handle is not None:
            lib().tally_counter_close(self._handle)
            self._handle = None

    def __enter__(self) -> "Counter":
        self.start()
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        if self._handle is not None:
            self.stop()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self.close()

    def __repr__(self) -> str:
        state = "closed" if self._handle is None else ", ".join(self)
        return f"<tally.Counter {state}>"


def _asked(text: str, names: List[str]) -> List[str]:
    """Returns the names by which a list asked for events. If it has another number of
    events than were found, as where one event has several counters, their own names."""
    # Commas between slashes are an event's own; braces make groups.
    items = re.findall(r"(?:/[^/]*/|[^,/{}])+", re.sub(r"\}:\w+", "}", text))
    asked = [item.strip() for item in items if item.strip()]
    return asked if len(asked) == len(names) else names


def _scaled(reading: _library.Reading) -> Optional[int]:
    scaled = ctypes.c_uint64()
    if lib().tally_reading_scaled(ctypes.byref(reading), ctypes.byref(scaled)) != 0:
        return None
    return scaled.value
