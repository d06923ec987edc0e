#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gen_isa.py DATA SOURCE HEADER DECODERS CAPSTONE: isa.toml of the folder DATA as
the C rows of src/isa/isa.h, the enum of their places, the table of decoders, and
the rows of the disassembler.
gen_isa.py --list DATA: a line an architecture, for meson: its name, its decoder and
its C compiler.

A key of a row and what it says:

  elf             machine, class and order of bytes, by their names in elf.h
  decoder         NAME_decoder of src/isa/NAME.c
  flags_mask, flags_most, flags_none, flags_refusal
                  programs run whose e_flags have at most flags_most in the bits
                  of flags_mask, and none of flags_none; flags_refusal says which
                  they are and which run
  repeats         it has instructions that repeat themselves
  page            bytes of a page of memory
  step            bytes that the address of an instruction is a multiple of
  slots           delay slots: "none"; "apart": QEMU ends a block before a slot
                  that may be annulled; "within": it has such a slot in the block
  machine         the machine that counts where none is asked for
  cpu             QEMU's -cpu; its own choice if missing
  triplet         of the cross libc, which lies below /usr/TRIPLET
  compiler        the C compiler for it; TRIPLET-gcc if missing
  loader_package  Debian's package of the loader
  lookup          the instruction by which a guest looks up counts, its bytes in
                  the order of memory, in hexadecimal: one that does nothing and
                  that no compiler makes; src/gateway/guest_calls.h has the same,
                  and doc/gateway.md says what it does
  stack_pointer   the number of the register, as the decoder has it
  stack_bias      bytes that the stack pointer is below what it points to; 0 if
                  missing
  frame_pointer   the number of the register that has the caller's stack pointer;
                  -1 if missing
  kept            the numbers of registers that a function gives back as they were
  call_pushes     bytes that a call puts on the stack; 0 if missing
  dwarf_registers the numbers of the general registers by the numbers that DWARF
                  has for them; the same if missing
  return_behind   bytes from the return address, as a register has it, to where
                  the call returns; 0 if missing
  registers       QEMU's functions REGISTERS_gdb_read_register and
                  REGISTERS_gdb_write_register read and write a register for a
                  debugger
  register_numbers
                  the numbers of registers for those functions: six arguments, the
                  result, the stack pointer, the return address, the register that
                  says that a system call failed, and the two that get the halves
                  of the processor's own clock; -1: none
  capstone        the architecture and the modes of the disassembler, by their
                  names in capstone.h; an empty list: Capstone lacks it, and the
                  decoder's own text is shown
  sigbus          the number of SIGBUS
  handler_at      where in struct sigaction the handler stands
  cause_at        where in siginfo_t the cause stands (si_code)
  clone_child     which argument of clone() is the word that is cleared as the
                  new thread ends, from 1 on
  timed_out       the number of ETIMEDOUT
  microseconds    bytes of tv_usec in struct timeval; 8 if missing
  failure_bits    the bits of the register of failure that say that a system call
                  failed, and that its result is the number of the error; without
                  them such a result is the number's negative
  level_property  the note by which a file says what level it needs
  write_repeated  QEMU ends a block at a write to the block's own code, and makes
                  the write once more, alone
  waits_unseen    whose process waits for which child is not looked at
  calls           the numbers of system calls, by the names of src/isa/calls.h
"""
import pathlib
import re
import sys

from catalogue.c_code import c_bool, c_enum, c_row, c_text
from catalogue.row import NAME, BadData, File, ident, write_changed

SLOTS = ("none", "apart", "within")
BYTES = re.compile(r"(?:[0-9a-f]{2}){1,8}")
CAPSTONE = re.compile(r"CS_(?:ARCH|MODE)_[0-9A-Z_]+")
REGISTERS = 12 # numbers of a row, as REGISTERS_PARTS in plugin/registers.h
CONSTANT = re.compile(r"E(?:M|LFCLASS|LFDATA)[0-9A-Z_]+")


def inherit(file, rows):
    """Gives each row that is like another the values of the other row that the
    row itself lacks."""
    for name, row in rows.items():
        like = row.text("like", None)
        if like is None:
            continue
        if like not in rows or rows[like].has("like"):
            row.bad(f"like = '{like}': no such row, or one like another")
        row.values = rows[like].values | row.values


def read_registers(row):
    """Returns the numbers of registers for QEMU."""
    numbers = row.get("register_numbers", list, "a list of numbers")
    if len(numbers) != REGISTERS or not all(
            type(n) is int and -1 <= n <= 127 for n in numbers):
        row.bad(f"'register_numbers' must be {REGISTERS} numbers from -1 to 127")
    return "{" + ", ".join(map(str, numbers)) + "}"


def read_kept(row):
    """Returns the bits of the registers that functions keep."""
    kept = row.get("kept", list, "a list of numbers")
    if not all(type(n) is int and 0 <= n <= 31 for n in kept):
        row.bad("'kept' must be numbers from 0 to 31")
    return f"{sum(1 << n for n in set(kept)):#x}u"


def read_dwarf_registers(row):
    """Returns the decoder's numbers of DWARF's registers."""
    numbers = row.get("dwarf_registers", list, "a list of numbers",
                      list(range(32)))
    if len(numbers) > 32 or not all(
            type(n) is int and 0 <= n <= 31 for n in numbers):
        row.bad("'dwarf_registers' must be up to 32 numbers from 0 to 31")
    numbers = numbers + [-1] * (32 - len(numbers))
    return "{" + ", ".join(map(str, numbers)) + "}"


def read(name, row):
    """Returns what the row says: decoder and compiler, the names of capstone, the
    fields of its C row, its calls."""
    elf = row.words("elf", CONSTANT)
    lookup = row.text("lookup")
    if len(elf) != 3:
        row.bad("'elf' must be a machine, a class and an order of bytes")
    if not BYTES.fullmatch(lookup):
        row.bad("'lookup' must be up to 8 bytes in hexadecimal")
    cpu, triplet = row.text("cpu", None), row.text("triplet", None)
    page = row.number("page", 1, 1 << 30)
    if page & (page - 1):
        row.bad("'page' must be a power of two")
    step = row.number("step", 1, 8)
    if step & (step - 1):
        row.bad("'step' must be a power of two")
    flags = [row.number(f"flags_{key}", 0, 0xffffffff, 0)
             for key in ("mask", "most", "none")]
    if any(flags) != row.has("flags_refusal"):
        row.bad("'flags_mask', 'flags_most' and 'flags_none' stand with "
                "'flags_refusal'")
    decoder, registers = row.text("decoder"), row.text("registers")
    fields = [
        ("name", c_text(name)), ("elf_machine", elf[0]),
        ("elf_class", elf[1]), ("elf_data", elf[2]), ("big_endian",
         c_bool(elf[2] == "ELFDATA2MSB")),
        ("flags_mask", f"{flags[0]:#x}u"), ("flags_most", f"{flags[1]:#x}u"),
        ("flags_none", f"{flags[2]:#x}u"),
        ("flags_refusal", c_text(row.text("flags_refusal", None))),
        ("repeats", c_bool(row.flag("repeats"))),
        ("page", page), ("step_bits", step.bit_length() - 1),
        ("slots", ident("slots", row.word("slots", SLOTS))),
        ("machine", c_text(row.text("machine"))), ("cpu", c_text(cpu)),
        ("cpu_name", c_text(cpu and cpu.split(",")[0])),
        ("sysroot", c_text(triplet and f"/usr/{triplet}")),
        ("loader_package", c_text(row.text("loader_package"))),
        ("lookup", "{" + ", ".join(f"0x{byte:02x}" for byte in bytes.fromhex(lookup))
         + "}"),
        ("lookup_size", len(lookup) // 2), ("stack_pointer", row.number("stack_pointer", 0, 31)),
        ("stack_bias", row.number("stack_bias", 0, 4096, 0)),
        ("frame_pointer", row.number("frame_pointer", 0, 31, -1)),
        ("kept", read_kept(row)),
        ("call_pushes", row.number("call_pushes", 0, 16, 0)),
        ("dwarf_registers", read_dwarf_registers(row)),
        ("return_behind", row.number("return_behind", 0, 16, 0)),
        ("register_reader", c_text(f"{registers}_gdb_read_register")),
        ("register_writer", c_text(f"{registers}_gdb_write_register")),
        ("register_numbers", read_registers(row)),
        ("sigbus", row.number("sigbus", 1, 64)),
        ("handler_at", row.number("handler_at", 0, 64)),
        ("cause_at", row.number("cause_at", 0, 64)),
        ("clone_child", row.number("clone_child", 1, 5)),
        ("timed_out", row.number("timed_out", 1, 4095)),
        ("microseconds", row.number("microseconds", 4, 8, 8)),
        ("failure_bits", f"{row.number('failure_bits', 0, 1 << 63, 0):#x}u"),
        ("level_property",
         f"{row.number('level_property', 0, 0xffffffff, 0):#x}u"),
        ("write_repeated", c_bool(row.flag("write_repeated"))),
        ("waits_unseen", c_bool(row.flag("waits_unseen"))),
    ]
    capstone = row.words("capstone", CAPSTONE)
    if capstone and (len(capstone) < 2 or
                     not capstone[0].startswith("CS_ARCH_")):
        row.bad("'capstone' must be an architecture and its modes")
    compiler = row.text("compiler", triplet and f"{triplet}-gcc")
    calls = row.numbers("calls", {})
    row.done()
    return {"decoder": decoder, "compiler": compiler, "capstone": capstone,
            "fields": fields, "calls": calls}


def read_imported(file):
    """Returns the fields of the row that stands for what an imported trace has of
    a program: it has no calls, and no decoder of machine code."""
    row, = file.parts("imported")
    page, machine = row.number("page", 1, 1 << 30), row.text("machine")
    row.done()
    return [("name", c_text("imported")), ("imported", c_bool(True)),
            ("page", page), ("slots", ident("slots", "none")),
            ("machine", c_text(machine)), ("stack_pointer", -1),
            ("frame_pointer", -1), ("register_numbers",
             "{" + ", ".join(["-1"] * REGISTERS) + "}")]


def load(data):
    """Returns the rows by name, and the fields of the row for imported traces."""
    file = File(data, "isa.toml")
    rows = dict(file.rows("isa"))
    imported = read_imported(file)
    for name, row in rows.items():
        if not NAME.fullmatch(name):
            row.bad("the name is none that QEMU could have")
    inherit(file, rows)
    file.done()
    return {name: read(name, row) for name, row in rows.items()}, imported


def source(rows, imported):
    names = sorted({call for row in rows.values() for call in row["calls"]})
    lines = ["/* Generated by scripts/gen_isa.py from data/isa.toml. */",
             "#include <elf.h>", "", '#include "isa/isa.h"', ""]
    lines += [f"_Static_assert(CALL_COUNT == {len(names)},",
              '    "a system call that no row of data/isa.toml has");', "",
              "const struct isa isa_rows[ISA_ROWS] = {"]
    for row in rows.values():
        numbers = ", ".join(f"[{ident('call', n)}] = {row['calls'].get(n, -1)}"
                            for n in names)
        lines += c_row([*row["fields"], ("calls", f"{{{numbers}}}")])
    none = ", ".join("-1" for _ in names)
    lines += c_row([*imported, ("calls", f"{{{none}}}")])
    return "\n".join([*lines, "};", ""])


def decoders(rows):
    names = [*(f"{row['decoder']}_decoder" for row in rows.values()),
             "imported_decoder"]
    return "\n".join(
        ["/* Generated by scripts/gen_isa.py from data/isa.toml. */",
         '#include "isa/isa.h"', "",
         *(f"extern const struct isa_decoder {name};"
           for name in sorted(set(names))), "",
         "const struct isa_decoder *const isa_decoders[ISA_ROWS] = {",
         *(f"    &{name}," for name in names), "};", ""])


def header(rows):
    names = [ident("isa", name) for name in rows]
    return "\n".join(["/* Generated by scripts/gen_isa.py from data/isa.toml. */",
                      *c_enum("isa_place", [*names, "ISA_COUNT",
                                            "ISA_IMPORTED = ISA_COUNT",
                                            "ISA_ROWS"])])


def capstone(rows):
    """Returns rows for the disassembler: name, architecture, modes."""
    return "\n".join(
        ["/* Generated by scripts/gen_isa.py from data/isa.toml. */",
         *(f"{{{c_text(name)}, {row['capstone'][0]}, "
           f"(cs_mode)({' | '.join(row['capstone'][1:])})}},"
            for name, row in rows.items() if row["capstone"]),
         ""])


def main():
    listing = sys.argv[1:2] == ["--list"]
    data, *outputs = map(pathlib.Path, sys.argv[1 + listing:] or [""])
    if len(outputs) != (0 if listing else 4):
        sys.exit(__doc__)
    try:
        rows, imported = load(data)
    except BadData as e:
        sys.exit(str(e))
    if listing:
        for name, row in rows.items():
            print(name, row["decoder"], row["compiler"])
        return
    write_changed(outputs[0], source(rows, imported))
    write_changed(outputs[1], header(rows))
    write_changed(outputs[2], decoders(rows))
    write_changed(outputs[3], capstone(rows))


if __name__ == "__main__":
    main()
