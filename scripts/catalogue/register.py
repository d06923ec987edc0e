# SPDX-License-Identifier: MIT
"""Registers: a layout of fields that cover every bit, shared or of their own."""
import re

from catalogue.row import ALIAS, NAME, near

ACCESSES = ("RW", "RO", "WO", "RW0", "IGN", "RSVD")
BITS = re.compile(r"(\d{1,2})(?::(\d{1,2}))?")
U64 = 2**64 - 1


def load_field(row):
    field = {"name": row.text("name"), "brief": row.text("brief", None),
             "access": row.word("access", ACCESSES),
             "reset": row.number("reset", 0, U64, None)}
    bits = BITS.fullmatch(row.text("bits"))
    high, low = (int(bits[1]), int(bits[2] or bits[1])) if bits else (0, 1)
    if not 0 <= low <= high <= 63:
        row.bad("'bits' must be \"HIGH:LOW\" or \"BIT\", 63 at most")
    field["low"], field["width"] = low, high - low + 1
    row.done()
    return field


def load_fields(row, width):
    """Returns the fields, most significant first. Raises BadData where fields
    leave a gap or overlap."""
    fields, at = [], width
    for part in row.parts("fields"):
        field = load_field(part)
        if field["low"] + field["width"] != at:
            part.bad(f"'bits' must begin at bit {at - 1}: fields go from the "
                     "most significant down, without gap or overlap")
        at = field["low"]
        fields.append(field)
    if at != 0:
        row.bad(f"'fields' leave bits {at - 1}:0 without a name")
    return fields


def with_resets(row, fields):
    resets = row.numbers("reset", {})
    for name in resets:
        if name not in (f["name"] for f in fields):
            row.bad(f"'reset' names no field: {name}; "
                    f"{near(name, [f['name'] for f in fields])}")
    fields = [f | {"reset": resets.get(f["name"], f["reset"])}
              for f in fields]
    for f in fields:
        if f["reset"] is not None and f["reset"] >> f["width"]:
            row.bad(f"reset of {f['name']} = {f['reset']:#x}: too large for "
                    f"{f['width']} bits")
    return fields


def load_register(name, row, layouts):
    register = {"name": name, "aliases": row.words("aliases", ALIAS, []),
                "number": row.number("number", 0, 2**31 - 1, -1),
                "width": row.number("width", 1, 64, 64),
                "group": row.text("group"),
                "address": row.text("address", None),
                "access": row.text("access", None),
                "local": row.number("local_address", 0, U64, None),
                "global": row.number("global_address", 0, U64, None),
                "brief": row.text("brief"),
                "reference": row.text("reference")}
    layout = row.word("layout", list(layouts), None)
    if (layout is None) == (not row.has("fields")):
        row.bad("a register has either a 'layout' or 'fields'")
    if layout is None:
        fields = load_fields(row, register["width"])
    else:
        fields = layouts[layout]
        if sum(f["width"] for f in fields) != register["width"]:
            row.bad(f"layout '{layout}' is not {register['width']} bits wide")
    register["fields"] = with_resets(row, fields)
    row.done()
    return register


def load_registers(file):
    layouts = {}
    for name, row in file.rows("layout", optional=True):
        width = row.number("width", 1, 64, 64)
        layouts[name] = load_fields(row, width)
        row.done()
    registers = []
    for name, row in file.rows("register"):
        if not NAME.fullmatch(name):
            row.bad("the name must be letters, digits, '_', '-' and '.'")
        registers.append((row, load_register(name, row, layouts)))
    return registers
