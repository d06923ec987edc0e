# SPDX-License-Identifier: MIT
"""The C library, libtally, as ctypes sees it: structures, functions, errors.

Nothing here is for users of the package. The declarations follow tally/event.h and
tally/counter.h, which say what each function does.
"""
import ctypes
import glob
import os
import warnings
from ctypes import (CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char_p, c_double,
                    c_int, c_int32, c_size_t, c_uint, c_uint64, c_void_p)
from typing import Any, Callable, List, Optional

from tally import _command
from tally._errors import TallyError, TallyWarning

SONAME = "libtally.so.0"

# enum tally_level.
LEVEL_ERROR, LEVEL_WARNING = 0, 1
# Of enum tally_error.
OUT_OF_RANGE = -4

LogFunction = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class Log(Structure):
    """struct tally_log"""
    _fields_ = [("write", LogFunction), ("user", c_void_p)]


class Umask(Structure):
    """struct tally_umask"""
    _fields_ = [("name", c_char_p), ("pattern", c_char_p), ("brief", c_char_p),
                ("counts", c_int)]


class Field(Structure):
    """struct tally_field"""
    _fields_ = [("name", c_char_p), ("brief", c_char_p), ("low", c_uint),
                ("width", c_uint), ("access", c_int), ("has_reset", c_int),
                ("reset", c_uint64)]


class Write(Structure):
    """struct tally_write"""
    _fields_ = [("name", c_char_p), ("number", c_int32), ("value", c_uint64)]


class Decoded(Structure):
    """struct tally_decoded"""
    _fields_ = [("kind", c_int), ("name", c_char_p), ("text", c_char_p),
                ("value", c_uint64)]


class Planned(Structure):
    """struct tally_planned"""
    _fields_ = [("event", c_char_p), ("counter", c_char_p), ("group", c_size_t)]


class Clash(Structure):
    """struct tally_clash"""
    _fields_ = [("a", c_size_t), ("b", c_size_t), ("why", c_char_p)]


class CounterOptions(Structure):
    """struct tally_counter_options"""
    _fields_ = [("size", c_size_t), ("scope", c_int), ("id", c_int),
                ("inherit", c_bool), ("period", c_uint64), ("signal", c_int),
                ("log", Log)]


class Counted(Structure):
    """struct tally_counted"""
    _fields_ = [("name", c_char_p), ("unit", c_char_p), ("scale", c_double)]


class Reading(Structure):
    """struct tally_reading"""
    _fields_ = [("value", c_uint64), ("enabled", c_uint64), ("running", c_uint64)]


TakeDecoded = CFUNCTYPE(None, c_void_p, POINTER(Decoded))
ValueOf = CFUNCTYPE(c_double, c_void_p, c_char_p)

# Result and parameters of each function. A handle is a pointer of no type.
_FUNCTIONS = {
    "tally_version": (c_char_p,),
    "tally_strerror": (c_char_p, c_int),
    "tally_fidelity_name": (c_char_p, c_int),
    "tally_machine_find": (c_void_p, c_char_p),
    "tally_machine_next": (c_void_p, c_void_p),
    "tally_machine_name": (c_char_p, c_void_p),
    "tally_machine_title": (c_char_p, c_void_p),
    "tally_event_find": (c_void_p, c_void_p, c_char_p),
    "tally_event_next": (c_void_p, c_void_p, c_void_p),
    "tally_event_name": (c_char_p, c_void_p),
    "tally_event_unit": (c_char_p, c_void_p),
    "tally_event_alias": (c_char_p, c_void_p, c_size_t),
    "tally_event_brief": (c_char_p, c_void_p),
    "tally_event_counts": (c_char_p, c_void_p),
    "tally_event_reference": (c_char_p, c_void_p),
    "tally_event_reason": (c_char_p, c_void_p),
    "tally_event_code": (c_int32, c_void_p),
    "tally_event_number": (c_int32, c_void_p),
    "tally_event_fidelity": (c_int, c_void_p),
    "tally_event_umask": (c_int, c_void_p, c_size_t, POINTER(Umask)),
    "tally_register_find": (c_void_p, c_void_p, c_char_p),
    "tally_register_next": (c_void_p, c_void_p, c_void_p),
    "tally_register_name": (c_char_p, c_void_p),
    "tally_register_brief": (c_char_p, c_void_p),
    "tally_register_number": (c_int32, c_void_p),
    "tally_register_field": (c_int, c_void_p, c_size_t, POINTER(Field)),
    "tally_encode": (c_int, c_void_p, c_char_p, POINTER(Log), POINTER(Write), c_size_t,
                     POINTER(c_size_t)),
    "tally_decode": (c_int, c_void_p, c_char_p, POINTER(Log), TakeDecoded, c_void_p),
    "tally_plan_create": (c_int, c_void_p, c_char_p, POINTER(Log), POINTER(c_void_p)),
    "tally_plan_destroy": (None, c_void_p),
    "tally_plan_group_count": (c_size_t, c_void_p),
    "tally_plan_event": (c_int, c_void_p, c_size_t, POINTER(Planned)),
    "tally_plan_clash": (c_int, c_void_p, c_size_t, POINTER(Clash)),
    "tally_metric_find": (c_void_p, c_void_p, c_char_p),
    "tally_metric_next": (c_void_p, c_void_p, c_void_p),
    "tally_metric_name": (c_char_p, c_void_p),
    "tally_metric_brief": (c_char_p, c_void_p),
    "tally_metric_formula": (c_char_p, c_void_p),
    "tally_metric_unit": (c_char_p, c_void_p),
    "tally_metric_value": (c_double, c_void_p, c_void_p, ValueOf, c_void_p),
    "tally_counter_options_init": (None, POINTER(CounterOptions), c_size_t),
    "tally_counter_open": (c_int, POINTER(CounterOptions), POINTER(c_void_p)),
    "tally_counter_add": (c_int, c_void_p, c_char_p),
    "tally_counter_count": (c_size_t, c_void_p),
    "tally_counter_event": (c_int, c_void_p, c_size_t, POINTER(Counted)),
    "tally_counter_start": (c_int, c_void_p),
    "tally_counter_stop": (c_int, c_void_p),
    "tally_counter_read": (c_int, c_void_p, POINTER(Reading), c_size_t),
    "tally_counter_reset": (c_int, c_void_p),
    "tally_counter_close": (None, c_void_p),
    "tally_reading_scaled": (c_int, POINTER(Reading), POINTER(c_uint64)),
}

_loaded: Optional[ctypes.CDLL] = None


def _declare(loaded: ctypes.CDLL) -> None:
    for name, (result, *parameters) in _FUNCTIONS.items():
        try:
            function = getattr(loaded, name)
        except AttributeError:
            raise TallyError(f"{loaded._name} has no {name}(): it is not the library of "
                             "this package; TALLY_LIBRARY names another") from None
        function.restype = result
        function.argtypes = parameters


def _candidates() -> List[str]:
    """Returns where the library may be, the first that counts first."""
    chosen = os.environ.get("TALLY_LIBRARY", "")
    if chosen:
        return [chosen]
    command = _command.find()
    beside = []
    if command is not None:
        prefix = os.path.dirname(os.path.dirname(os.path.realpath(command)))
        # Of an installation, Debian's with a folder of the architecture, or of a build.
        beside = [path for folder in ("lib", "lib64", "lib/*", "src/lib")
                  for path in glob.glob(os.path.join(glob.escape(prefix), folder, SONAME))]
    return [*beside, SONAME]


def lib() -> ctypes.CDLL:
    """Returns the library, which is loaded at the first call. TallyError where it is
    missing or of another version."""
    global _loaded
    if _loaded is not None:
        return _loaded
    reason = ""
    for path in _candidates():
        try:
            loaded = ctypes.CDLL(path)
        except OSError as error:
            reason = str(error)
            continue
        _declare(loaded)
        found = loaded.tally_version().decode()
        _command.check_version(found, path)
        _loaded = loaded
        return loaded
    raise TallyError(f"libtally does not load: {reason}; install libtally, or name the "
                     "file in TALLY_LIBRARY")


class Lines:
    """Collects what the library says. Errors become the text of an exception, warnings
    are raised as TallyWarning."""

    def __init__(self) -> None:
        self.errors: List[str] = []
        # Kept alive as long as the C side may call it.
        self._function = LogFunction(self._take)
        self.log = Log(self._function, None)

    def _take(self, _user: Optional[int], level: int, text: bytes) -> None:
        line = text.decode(errors="replace")
        if level == LEVEL_ERROR:
            self.errors.append(line)
        elif level == LEVEL_WARNING:
            warnings.warn(line, TallyWarning, stacklevel=4)

    def check(self, status: int) -> None:
        """Raises TallyError if a function returned an error."""
        if status >= 0:
            self.errors.clear()
            return
        text = "; ".join(self.errors) or lib().tally_strerror(status).decode()
        self.errors.clear()
        raise TallyError(text, status)


def encoded(text: Any, noun: str) -> bytes:
    """Returns a text as the library takes it. TallyError for what is no text."""
    if not isinstance(text, str) or "\0" in text:
        raise TallyError(f"{noun}: a text is expected, not {text!r}")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise TallyError(f"{noun}: a text of Unicode is expected, not {text!r}") from None


def text_of(value: Optional[bytes]) -> str:
    """Returns a text of the library; '' for none."""
    return value.decode() if value is not None else ""


def rows(step: Callable[[Optional[int]], Optional[int]]) -> List[int]:
    """Returns all handles of a function that tells the next one."""
    found = []
    handle = step(None)
    while handle is not None:
        found.append(handle)
        handle = step(handle)
    return found


def indexed(function: Callable[..., int], handle: Any, kind: Any) -> List[Any]:
    """Returns the structures that a function fills in at index 0, 1, ... of a handle."""
    found: List[Any] = []
    while True:
        one = kind()
        if function(handle, len(found), byref(one)) == OUT_OF_RANGE:
            return found
        found.append(one)
