# SPDX-License-Identifier: MIT
"""What the parts of `tally validate` share: running tally, and finding the other
programs that they need."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE / "kernels"

# What glibc and OpenSSL may not choose, as QEMU's processor lacks it, and what glibc
# is to prefer, as it does on QEMU's processor, a Haswell: which strstr() runs, too.
ENVIRONMENT = dict(
    os.environ, LC_ALL="C", PERL_HASH_SEED="0", PYTHONHASHSEED="0",
    OPENSSL_ia32cap=":~0x20000000",
    GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,"
                   "-AVX512CD,-ERMS,-FSRM,Fast_Unaligned_Load")

# Debian's packages of the programs that are needed.
PACKAGES = {
    "gcc": "gcc libc6-dev", "nm": "binutils", "perf": "linux-perf", "valgrind": "valgrind",
    "x86_64-linux-gnu-gcc": "gcc libc6-dev",
    "sparc64-linux-gnu-gcc": "gcc-sparc64-linux-gnu libc6-dev-sparc64-cross",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
}


# What the model of parts b and c is, unless --set says otherwise.
MODEL = ["time.model=ooo"]


class Missing(Exception):
    """Something that is needed is not there; the text says what mends it."""


class Failed(Exception):
    """A program failed that is there; the text is one line."""


# What programs say where what they need is not installed or not permitted.
LACKING = ("apt install", "is not installed", "perf_event_paranoid")
# A command's status where the program that it is to run is not there.
NOT_FOUND = 127
# tally's status where the words that it was given cannot be.
USAGE = 2


def need(program):
    """The path of a program, or Missing with the package that has it."""
    found = shutil.which(program)
    if found is None:
        package = PACKAGES.get(program, program)
        raise Missing(f"{program} is not in the PATH: apt install {package}")
    return found


def run(words, refused=None, **options):
    """Runs a program, and returns its standard output. Where it fails, it ends by
    Missing if something is not installed, and otherwise by Failed: with the line of
    what it said that has its first error, or the last one. `refused`: a status that
    is Missing too, by that line alone."""
    absent = (NOT_FOUND, refused)
    words = [str(w) for w in words]
    done = subprocess.run(words, text=True, errors="replace",
                          stderr=subprocess.PIPE,
                          **{"stdout": subprocess.PIPE, **options})
    if done.returncode != 0:
        name = pathlib.Path(words[0]).name
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        line = next((l for l in said if "error" in l), said[-1])
        line = line.removeprefix(f"{name}: ")
        lacks = (done.returncode in absent
                 or any(text in done.stderr for text in LACKING))
        raise (Missing if lacks else Failed)(
            line if done.returncode == refused
            else f"{name} ended with status {done.returncode}: {line}")
    return done.stdout


def compiled(compiler, output, source, *options):
    """Compiles a kernel; returns the program's path."""
    run([need(compiler), KERNELS / source, "-o", output, *options])
    return output


def sink(args, words):
    """Where the output of a program goes whose time or counts are wanted: to
    /dev/null, but grep's, which would end at its first match there."""
    return open(args.folder / "output" if words[0] == "grep" else os.devnull, "w")


def counted(args, machine, events, words, sets=(), env=None, refused=None):
    """The counts of events in a run under tally, in their order. `refused`: as
    run() has it."""
    with (tempfile.NamedTemporaryFile(suffix=".json") as out,
          sink(args, words) as output):
        run([args.tally, "count", "-m", machine, "-e", ",".join(events),
             "--format", "json", "-o", out.name,
             *(w for s in sets for w in ("--set", s)), "--", *words],
            refused=refused, env=env or ENVIRONMENT, stdout=output)
        rows = json.load(open(out.name, encoding="utf-8"))["events"]
    return [row["value"] for row in rows]


def countable(args):
    """Ends by Missing where the machine of parts b and c cannot count programs of
    this host, with MODEL and --set."""
    counted(args, args.host_machine, ("cycles",), ["true"], [*MODEL, *args.set],
            refused=USAGE)


def wanted(args, name):
    """Whether a program is to be compared, by --programs."""
    return args.programs is None or name in args.programs


def at_once(function, items):
    """The results of function(item), as many at a time as there are
    processors: for counts, which take no harm by that, and for no times."""
    workers = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


def whole_number(text):
    """The number of a field of /proc/cpuinfo; 0 where it is none."""
    try:
        return int(text, 0)
    except ValueError:
        return 0


def processor_fields(path="/proc/cpuinfo"):
    """What /proc/cpuinfo says of the host's first processor."""
    fields = {}
    try:
        for line in pathlib.Path(path).read_text().splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    return fields


def processor(fields):
    """The host's processor by name; by its numbers where Linux names none, as on
    Arm."""
    if "CPU part" in fields and "model name" not in fields:
        return (f"processor of implementer {fields.get('CPU implementer', '?')}, "
                f"part {fields['CPU part']}")
    return fields.get("model name", "unknown")


# The machine for processors that processors.toml does not name, by "vendor_id"; None:
# those without, as of Arm.
OTHERS = {"GenuineIntel": "skylake", None: "neoverse-n1"}
OTHER = "zen3"


def is_of(row, fields):
    """Whether a processor is one of a row of processors.toml."""
    if "vendor" in row:
        number = whole_number(fields.get("model", ""))
        return (fields.get("vendor_id") == row["vendor"]
                and whole_number(fields.get("cpu family", "")) == row["family"]
                and any(a <= number <= b for a, b in row["models"]))
    return (whole_number(fields.get("CPU implementer", "")) == row["implementer"]
            and whole_number(fields.get("CPU part", "")) in row["parts"])


def nearest_machine(fields):
    """The machine that stands for the host, and what to say of the choice."""
    table = tomllib.loads((HERE / "processors.toml").read_text(encoding="utf-8"))
    row = next((r for r in table["processor"].values() if is_of(r, fields)), None)
    if row is None:
        vendor = None if "CPU part" in fields else fields.get("vendor_id", "")
        row = {"machine": OTHERS.get(vendor, OTHER), "near": True}
    how = "stands in for" if row.get("near") else "is of the family of"
    return (row["machine"],
            f"{row['machine']} {how} this host's {processor(fields)}")
