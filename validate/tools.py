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


def need(program):
    """The path of a program, or Missing with the package that has it."""
    found = shutil.which(program)
    if found is None:
        package = PACKAGES.get(program, program)
        raise Missing(f"{program} is not in the PATH: apt install {package}")
    return found


def run(words, **options):
    """Runs a program, and returns its standard output; Missing where it fails,
    with the line of what it said that has its first error, or the last one."""
    words = [str(w) for w in words]
    done = subprocess.run(words, text=True, errors="replace",
                          stderr=subprocess.PIPE,
                          **{"stdout": subprocess.PIPE, **options})
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        line = next((l for l in said if "error" in l), said[-1])
        raise Missing(f"{pathlib.Path(words[0]).name} ended with status "
                      f"{done.returncode}: {line}")
    return done.stdout


def compiled(compiler, output, source, *options):
    """Compiles a kernel; returns the program's path."""
    run([need(compiler), KERNELS / source, "-o", output, *options])
    return output


def sink(args, words):
    """Where the output of a program goes whose time or counts are wanted: to
    /dev/null, but grep's, which would end at its first match there."""
    return open(args.folder / "output" if words[0] == "grep" else os.devnull, "w")


def counted(args, machine, events, words, sets=(), env=None):
    """The counts of events in a run under tally, in their order."""
    with (tempfile.NamedTemporaryFile(suffix=".json") as out,
          sink(args, words) as output):
        run([args.tally, "count", "-m", machine, "-e", ",".join(events),
             "--format", "json", "-o", out.name,
             *(w for s in sets for w in ("--set", s)), "--", *words],
            env=env or ENVIRONMENT, stdout=output)
        rows = json.load(open(out.name, encoding="utf-8"))["events"]
    return [row["value"] for row in rows]


def countable(args):
    """Ends by Missing where the machine of parts b and c cannot count programs of
    this host, with MODEL and --set."""
    counted(args, args.host_machine, ("cycles",), ["true"], [*MODEL, *args.set])


def wanted(args, name):
    """Whether a program is to be compared, by --programs; notes that there is
    one of this name."""
    args.known.add(name)
    return args.programs is None or name in args.programs


def at_once(function, items):
    """The results of function(item), as many at a time as there are
    processors: for counts, which take no harm by that, and for no times."""
    workers = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, items))


def processor():
    """The host's processor by name, and its vendor, family and model."""
    fields = {}
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    return (fields.get("model name", "unknown"), fields.get("vendor_id", ""),
            int(fields.get("cpu family", "0")), int(fields.get("model", "0")))


def nearest_machine():
    """The machine that stands for this host, and what to say of the choice."""
    name, vendor, family, model = processor()
    if vendor == "AuthenticAMD" and family == 25:
        zen4 = 0x10 <= model <= 0x1f or 0x60 <= model <= 0xaf
        chosen = "zen4" if zen4 else "zen3"
        return chosen, f"{chosen} is of the family of this host's {name}"
    if vendor == "AuthenticAMD" and family > 25:
        return "zen4", f"zen4 stands in for this host's {name}"
    if vendor == "GenuineIntel":
        how = "is of the family of" if model == 85 else "stands in for"
        return "skylake", f"skylake {how} this host's {name}"
    return "zen3", f"zen3 stands in for this host's {name}"
