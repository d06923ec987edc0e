# SPDX-License-Identifier: MIT
"""Writes records (doc/format/record.md) that no run would give: with huge
counts, strange names, forged parts."""
import itertools
import json
import struct

TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    TABLE.append(byte)


def crc32c(data):
    value = 0xffffffff
    for byte in data:
        value = TABLE[(value ^ byte) & 255] ^ value >> 8
    return value ^ 0xffffffff


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def signed(n):
    return varint(2 * n if n >= 0 else -2 * n - 1)


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return varint(len(data)) + data


def chunk(kind, data):
    """A chunk that is not compressed."""
    head = b"CHNK" + kind + struct.pack("<QQI", len(data), len(data), 0)
    return (head + struct.pack("<I", crc32c(head + data)) + data +
            b"\0" * (-len(data) % 8))


def event(name, standing="exact", **more):
    return {"name": name, "asked": name, "unit": "", "brief": "",
            "standing": standing} | more


class Record:
    """One process with one thread. Instructions are of no file: their names
    are rows of made code, (name, size), one after the other, an instruction of
    one byte each."""

    def __init__(self, events, names, command=("program",)):
        self.head = {"schema": 1, "tally": "0", "machine": "host-model",
                     "isa": "x86_64", "cpu": None, "command": list(command),
                     "events": events, "heap_is_whole": False}
        self.names = names
        self.paths = []   # (index of the path to the call, 1 + instruction)
        self.counts = {}  # (path, instruction): values
        self.extra = [0] * len(events)  # elsewhere

    def process(self):
        insns = b"".join(
            varint(0) + signed(0x1000 if i == 0 else 15) + b"\x01"
            for i in range(len(self.names)))
        return (varint(1) + varint(7) + varint(0) + varint(0) +
                string("program") + varint(0) + varint(len(self.names)) +
                insns + b"\x90" * len(self.names))

    def made(self):
        rows = b"".join(varint(0x1000 + 16 * i) + varint(16) + string(name) +
                        varint(0) for i, name in enumerate(self.names))
        pieces = b"".join(varint(1 + i) for i in range(len(self.names)))
        # No source files, and no lines.
        return (varint(1) + varint(0) + varint(len(self.names)) + rows +
                pieces)

    def path_rows(self):
        # The process has path 0 so far.
        return (varint(1) + varint(1) + varint(len(self.paths)) +
                b"".join(varint(p) + varint(c) for p, c in self.paths))

    def count_rows(self):
        places = sorted(self.counts)
        groups = sorted({path for path, _ in places})
        out = varint(1) + varint(0) + varint(len(places)) + varint(len(groups))
        last = 0
        for path in groups:
            insns = [i for p, i in places if p == path]
            out += varint(path - last) + varint(len(insns))
            last, next_insn = path, 0
            for i in insns:
                out += varint(i - next_insn)
                next_insn = i + 1
        for e in range(len(self.head["events"])):
            rows = [(n, self.counts[place][e])
                    for n, place in enumerate(places) if self.counts[place][e]]
            out += varint(len(rows))
            next_row = 0
            for n, value in rows:
                out += varint(n - next_row) + signed(value)
                next_row = n + 1
        return out

    def totals(self):
        """The total of each event."""
        return [sum(v[e] for v in self.counts.values()) + more
                for e, more in enumerate(self.extra)]

    def set(self):
        """The chunks that say all that is known at one moment of the run."""
        total_rows = (varint(1) + varint(1) + varint(0) + varint(0) +
                      b"".join(map(signed, self.totals())))
        return [chunk(b"SET ", b""), chunk(b"PROC", self.process()),
                chunk(b"MADE", self.made()), chunk(b"PATH", self.path_rows()),
                chunk(b"CNTS", self.count_rows()), chunk(b"TOTL", total_rows)]

    def bytes(self, sets=None):
        """The file; `sets`: lists of chunks in the place of one set()."""
        run = {"status": 0, "wall_s": 0, "user_s": 0, "sys_s": 0,
               "modelled_s": 0, "processes": 1, "interrupted": False,
               "partial": False, "side_by_side": False, "left_early": False}
        chunks = [chunk(b"HEAD", json.dumps(self.head).encode()),
                  *itertools.chain.from_iterable(sets or [self.set()]),
                  chunk(b"RUN ", json.dumps(run).encode())]
        end = chunk(b"END\0", struct.pack("<Q", len(chunks)))
        return (b"TALLYREC" + struct.pack("<II", 1, 1) + b"".join(chunks) +
                end)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes())
        return path
