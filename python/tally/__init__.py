# SPDX-License-Identifier: MIT
"""Counts what programs do, on modelled machines and on this computer.

>>> import tally
>>> counts = tally.count(["/bin/true"], "instructions", machine="host-model")
>>> counts["instructions"].fidelity
'exact'

The page doc/python.md begins with an example of each part, and says what is stable.
"""
from tally._command import VERSION as __version__
from tally._errors import TallyError, TallyWarning
from tally.catalogue import (Clash, Decoded, Event, Field, Machine, Metric, Plan, Planned,
                             Register, Umask, Write, machine, machines)
from tally.counter import Counter, Reading
from tally.counting import Count, Counts, count
from tally.curves import Curve, Point, curve
from tally.recording import Change, Diff, Page, Record, Row, diff, record
from tally.teaching import Steps, teach

__all__ = [
    "Change", "Clash", "Count", "Counter", "Counts", "Curve", "Decoded", "Diff", "Event",
    "Field", "Machine", "Metric", "Page", "Plan", "Planned", "Point", "Reading", "Record",
    "Register", "Row", "Steps", "TallyError", "TallyWarning", "Umask", "Write", "count",
    "curve", "diff", "machine", "machines", "record", "teach",
]
