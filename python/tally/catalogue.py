# SPDX-License-Identifier: MIT
"""The machines, and what their counters can count.

>>> import tally
>>> t2 = tally.machine("ultrasparc-t2")
>>> t2.title
'Sun UltraSPARC T2 (Niagara 2)'
>>> event = t2.event("Dcache_misses")
>>> event.brief, event.fidelity
('L1 data cache misses of loads', 'modelled')
>>> for write in t2.encode("Dcache_misses:u"):
...     print(write.name, hex(write.value))
PCR 0xc084
"""
import ctypes
import difflib
import operator
from typing import (Any, Callable, Iterable, List, Mapping, NamedTuple, Optional, Tuple,
                    Union)

from tally import _command, _display, _library
from tally._errors import TallyError
from tally._library import lib, text_of

_ACCESS = ("read-write", "read-only", "write-only", "write-zero", "ignored", "reserved")
_DECODED = ("field", "counter", "warning")


class Umask(NamedTuple):
    """A row of an event's unit masks, in the manual's words."""
    name: str  #: '' where the manual has none
    pattern: str  #: as 'x01x', the most significant bit first
    brief: str  #: may be ''
    counts: bool  #: False: it counts nothing, is illegal or undefined


class Field(NamedTuple):
    """A field of a register."""
    name: str
    brief: str  #: may be ''
    low: int  #: its lowest bit
    width: int  #: in bits
    access: str  #: 'read-write', 'read-only', 'write-only', 'write-zero', 'ignored', 'reserved'
    reset: Optional[int]  #: its value after a reset; None: undefined


class Write(NamedTuple):
    """A register, and the whole value to write into it."""
    name: str  #: the register's
    number: Optional[int]  #: the register's; None: it has none
    value: int


class Decoded(NamedTuple):
    """One finding of Machine.decode()."""
    kind: str  #: 'field', 'counter' or 'warning'
    name: str  #: of the field or the counter
    text: str  #: a field's meaning, what a counter counts, or what is wrong
    value: int  #: of a field


class Planned(NamedTuple):
    """An event's place in a plan."""
    event: str
    counter: str  #: the machine's name of it
    group: int  #: from 0; events of one group count at the same time


class Clash(NamedTuple):
    """Two events that cannot count at the same time."""
    first: str
    second: str
    why: str  #: the rule that forbids it


class Plan(NamedTuple):
    """Events in groups that count at the same time."""
    groups: Tuple[Tuple[Planned, ...], ...]
    clashes: Tuple[Clash, ...]


class _Row:
    """A row of the library's tables. Two are equal if they mean the same."""
    __slots__ = ("_handle",)

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._handle == other._handle  # type: ignore

    def __hash__(self) -> int:
        return hash(self._handle)

    @property
    def name(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<tally.{type(self).__name__} {self.name}>"


class Event(_Row):
    """What a counter of one machine can count."""
    __slots__ = ()

    @property
    def name(self) -> str:
        """The manual's spelling."""
        return text_of(lib().tally_event_name(self._handle))

    @property
    def unit(self) -> str:
        """The unit that it belongs to, as 'cpu' or 'dram'."""
        return text_of(lib().tally_event_unit(self._handle))

    @property
    def brief(self) -> str:
        """A description in a few words."""
        return text_of(lib().tally_event_brief(self._handle))

    @property
    def counts(self) -> str:
        """When exactly it counts."""
        return text_of(lib().tally_event_counts(self._handle))

    @property
    def reference(self) -> str:
        """The document and table that it is from."""
        return text_of(lib().tally_event_reference(self._handle))

    @property
    def fidelity(self) -> str:
        """The standing of its counts for a program of the machine's own instruction set:
        'exact', 'modelled', 'estimated' or 'idle'."""
        return text_of(lib().tally_fidelity_name(lib().tally_event_fidelity(self._handle)))

    @property
    def reason(self) -> str:
        """Why an event that is idle cannot count; '' for any other."""
        return text_of(lib().tally_event_reason(self._handle))

    @property
    def aliases(self) -> Tuple[str, ...]:
        """Other names: perf's, libpfm's, PAPI's."""
        found: List[str] = []
        while (alias := lib().tally_event_alias(self._handle, len(found))) is not None:
            found.append(alias.decode())
        return tuple(found)

    @property
    def code(self) -> Optional[int]:
        """The code that selects it in a control register; None: it has none."""
        return _number(lib().tally_event_code(self._handle))

    @property
    def number(self) -> Optional[int]:
        """The manual's number, where events have no code; None: it has none."""
        return _number(lib().tally_event_number(self._handle))

    @property
    def umasks(self) -> Tuple[Umask, ...]:
        """Its unit masks; () for none."""
        return tuple(Umask(text_of(u.name), text_of(u.pattern), text_of(u.brief),
                           u.counts != 0)
                     for u in _library.indexed(lib().tally_event_umask, self._handle,
                                               _library.Umask))


class Register(_Row):
    """A register of one machine."""
    __slots__ = ()

    @property
    def name(self) -> str:
        """The name, as 'PMC4'."""
        return text_of(lib().tally_register_name(self._handle))

    @property
    def brief(self) -> str:
        """A description in a few words."""
        return text_of(lib().tally_register_brief(self._handle))

    @property
    def number(self) -> Optional[int]:
        """The manual's number; None: it has none."""
        return _number(lib().tally_register_number(self._handle))

    @property
    def fields(self) -> Tuple[Field, ...]:
        """Its fields, the most significant first."""
        return tuple(Field(text_of(f.name), text_of(f.brief), f.low, f.width,
                           _ACCESS[f.access], f.reset if f.has_reset else None)
                     for f in _library.indexed(lib().tally_register_field, self._handle,
                                               _library.Field))


class Metric(_Row):
    """A value that is computed from events."""
    __slots__ = ("_machine",)

    def __init__(self, machine: int, handle: int) -> None:
        super().__init__(handle)
        self._machine = machine

    @property
    def name(self) -> str:
        """The name, as 'ipc'."""
        return text_of(lib().tally_metric_name(self._handle))

    @property
    def brief(self) -> str:
        """A description in a few words."""
        return text_of(lib().tally_metric_brief(self._handle))

    @property
    def formula(self) -> str:
        """The formula, of events and, with a dollar, inputs such as $clock."""
        return text_of(lib().tally_metric_formula(self._handle))

    @property
    def unit(self) -> str:
        """The unit; '' of a plain number."""
        return text_of(lib().tally_metric_unit(self._handle))

    def value(self, values: Mapping[str, Optional[float]]) -> Optional[float]:
        """Computes the metric from counts by the names that the formula has. None where a
        count is missing, or where the formula divides by 0.

        >>> import tally
        >>> ipc = tally.machine("host-model").metric("ipc")
        >>> ipc.formula
        'instructions / cycles'
        >>> ipc.value({"instructions": 300, "cycles": 200})
        1.5
        >>> ipc.value({"instructions": 300, "cycles": None}) is None
        True
        """
        known = {name: float(value) for name, value in values.items() if value is not None}

        def value_of(_user: Optional[int], name: bytes) -> float:
            return known.get(name.decode(), float("nan"))

        found = lib().tally_metric_value(self._machine, self._handle,
                                         _library.ValueOf(value_of), None)
        return None if found != found else found


#: Names with commas between, an event, or a sequence of names and events.
Events = Union[str, Event, Iterable[Union[str, Event]]]


class Machine(_Row):
    """A processor as a model, or one whose registers alone are known."""
    __slots__ = ()

    @property
    def name(self) -> str:
        """The name, as 'ultrasparc-t2'."""
        return text_of(lib().tally_machine_name(self._handle))

    @property
    def title(self) -> str:
        """The full name, as 'Sun UltraSPARC T2 (Niagara 2)'."""
        return text_of(lib().tally_machine_title(self._handle))

    def _step(self, function: Callable[..., Optional[int]]) -> List[int]:
        return _library.rows(lambda row: function(self._handle, row))

    def _find(self, function: Callable[..., Optional[int]], noun: str, name: str,
              known: Callable[[], List[Any]]) -> int:
        handle = function(self._handle, _library.encoded(name, noun))
        if handle is None:
            raise _unknown(noun, name, f"machine {self.name}", [row.name for row in known()])
        return handle

    def events(self) -> List[Event]:
        """Returns all events, in the order of the machine's manual."""
        return [Event(handle) for handle in self._step(lib().tally_event_next)]

    def event(self, name: str) -> Event:
        """Returns an event by its name, an alias, its code as '0x12', or its number.
        TallyError if the machine has none."""
        return Event(self._find(lib().tally_event_find, "event", name, self.events))

    def registers(self) -> List[Register]:
        """Returns all registers."""
        return [Register(handle) for handle in self._step(lib().tally_register_next)]

    def register(self, name: str) -> Register:
        """Returns a register by its name. TallyError if the machine has none."""
        return Register(self._find(lib().tally_register_find, "register", name,
                                   self.registers))

    def metrics(self) -> List[Metric]:
        """Returns all metrics."""
        return [Metric(self._handle, handle)
                for handle in self._step(lib().tally_metric_next)]

    def metric(self, name: str) -> Metric:
        """Returns a metric by its name. TallyError if the machine has none."""
        return Metric(self._handle, self._find(lib().tally_metric_find, "metric", name,
                                               self.metrics))

    def encode(self, events: Events) -> List[Write]:
        """Returns the writes that make the machine count all of these events at once, in
        the order of its registers. `events` is a text as tally-encode(1) takes it,
        'NAME.UMASK:u:thr=2' with commas between, or a sequence of such names.
        TallyError if a name is unknown, or if the events do not count together;
        TallyWarning where filters let nothing be counted."""
        lines = _library.Lines()
        names = _library.encoded(_command.event_list(events), "events")
        count = ctypes.c_size_t()
        room = 64
        while True:
            writes = (_library.Write * room)()
            lines.check(lib().tally_encode(self._handle, names,
                                           ctypes.byref(lines.log), writes, room,
                                           ctypes.byref(count)))
            if count.value <= room:
                return [Write(text_of(w.name), _number(w.number), w.value)
                        for w in writes[:count.value]]
            room = count.value

    def decode(self, register: str, value: int) -> List[Decoded]:
        """Takes a value of a register apart: its fields, what the counters then count, and
        warnings. TallyError if the machine has no such register, or if the value is too
        large for it.

        >>> import tally
        >>> for found in tally.machine("ultrasparc-t2").decode("PCR", 0xc084):
        ...     if found.kind == "counter":
        ...         print(found.name, found.text)
        PIC0 Dcache_misses:u
        PIC1 Idle_strands:u
        """
        found: List[Decoded] = []

        def take(_user: Optional[int], row: Any) -> None:
            d = row.contents
            found.append(Decoded(_DECODED[d.kind], text_of(d.name), text_of(d.text),
                                 d.value))

        lines = _library.Lines()
        text = _library.encoded(f"{register}={operator.index(value):#x}", "register")
        lines.check(lib().tally_decode(self._handle, text,
                                       ctypes.byref(lines.log),
                                       _library.TakeDecoded(take), None))
        return found

    def plan(self, events: Events) -> Plan:
        """Returns the fewest groups in which these events can be counted: exactly the
        fewest for up to twelve events. TallyError as for encode(), and if an event can
        never count."""
        lines = _library.Lines()
        names = _library.encoded(_command.event_list(events), "events")
        plan = ctypes.c_void_p()
        lines.check(lib().tally_plan_create(self._handle, names,
                                            ctypes.byref(lines.log), ctypes.byref(plan)))
        try:
            planned = [Planned(text_of(p.event), text_of(p.counter), p.group)
                       for p in _library.indexed(lib().tally_plan_event, plan,
                                                 _library.Planned)]
            clashes = [Clash(planned[c.a].event, planned[c.b].event, text_of(c.why))
                       for c in _library.indexed(lib().tally_plan_clash, plan,
                                                 _library.Clash)]
            count = lib().tally_plan_group_count(plan)
        finally:
            lib().tally_plan_destroy(plan)
        return Plan(tuple(tuple(p for p in planned if p.group == group)
                          for group in range(count)), tuple(clashes))

    def _repr_html_(self) -> str:
        return _display.table(self.title, ("event", "standing", "what it counts"),
                              [(e.name, e.fidelity, e.brief) for e in self.events()])


def _number(value: int) -> Optional[int]:
    return value if value >= 0 else None


def _unknown(noun: str, name: str, where: str, known: List[str]) -> TallyError:
    lower = {word.lower(): word for word in known}
    near = difflib.get_close_matches(name.lower(), lower, n=1)
    hint = f"; did you mean {lower[near[0]]}?" if near else ""
    return TallyError(f"{where} has no {noun} {name!r}{hint}")


def machines() -> List[Machine]:
    """Returns all machines."""
    return [Machine(handle) for handle in _library.rows(lib().tally_machine_next)]


def machine(name: str) -> Machine:
    """Returns a machine by its name or an alias. TallyError if there is none."""
    handle = lib().tally_machine_find(_library.encoded(name, "machine"))
    if handle is None:
        raise _unknown("machine", name, "tally", [m.name for m in machines()])
    return Machine(handle)
