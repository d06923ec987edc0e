#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Everyday programs of this computer: everyday.py BUILD [WORD]

Each program is one that Debian packages, or that g++ makes here. It runs
natively and under `tally count`: its output, its messages and its exit status
are the same. Under --clean-env a program of one thread counts the same in two
folders; those of a program of several threads are marked as varying.
"""
import contextlib
import os
import pathlib
import platform
import shutil
import signal
import tempfile
from dataclasses import dataclass

import tallytest as t

TEXT = t.ROOT / "LICENSES" / "GPL-2.0-or-later.txt"
MOST = 100_000_000
# Where Debian puts programs: a python3 of another kind has no numpy of Debian's.
PATH = "/usr/bin:/bin"

PYTHON = """
import sys
words = {}
for line in open("text"):
    for word in line.split():
        words[word] = words.get(word, 0) + 1
common = {w for w in words if words[w] > 9} & {"the", "of", "and", "Program"}
print(sorted(common), len(words))
try:
    words["no such word"]
except KeyError as error:
    print("KeyError", error, file=sys.stderr)
    sys.exit(3)
"""

NUMPY = """
import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
a = np.arange(4096, dtype=np.float64)
b = a.reshape(64, 64)
print(a.sum(), np.sqrt(a).sum().round(6), (b @ b).trace())
print(np.sort(a[::-1] % 17)[:40:3], np.linalg.det(b[:2, :2]).round(6))
"""

PYTHON_THREADS = """
import threading
total, lock = [0], threading.Lock()
def add(numbers):
    for n in numbers:
        with lock:
            total[0] += n
crew = [threading.Thread(target=add, args=(range(i, 2000, 4),))
        for i in range(4)]
for one in crew: one.start()
for one in crew: one.join()
print(total[0])
"""

PERL = r"""
my %seen;
while (<>) { $seen{lc $_}++ for /[A-Za-z]+/g }
my @most = sort { $seen{$b} <=> $seen{$a} || $a cmp $b } keys %seen;
print "$_ $seen{$_}\n" for @most[0 .. 9];
eval { die "caught\n" };
print STDERR $@;
exit 4;
"""

NODE = """
const words = new Map();
for (const w of require("fs").readFileSync("text", "utf8").split(/\\s+/))
  words.set(w, (words.get(w) || 0) + 1);
console.log([...words].sort((a, b) => b[1] - a[1]).slice(0, 5));
process.exitCode = 5;
"""

SQL = """
CREATE TABLE word(id INTEGER PRIMARY KEY, name TEXT, size INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
INSERT INTO word SELECT i, printf('word%04d', i * 7919 % 1009), i % 97 FROM n;
CREATE INDEX by_name ON word(name);
SELECT size, count(*) FROM word GROUP BY size ORDER BY 2 DESC, 1 LIMIT 3;
SELECT * FROM no_such_table;
"""

BASH = r"""
declare -A seen
while read -ra words; do
    for w in "${words[@]}"; do seen[$w]=$((seen[$w] + 1)); done
    ((++lines >= 100)) && break
done <text
echo "$lines ${#seen[@]} ${seen[the]} ${BASH_VERSION%%.*}"
[[ ${words[0]} =~ ^[a-z]+$ ]] && echo "${BASH_REMATCH[0]^^}"
echo done >&2
echo ${#PPID} >digits
exit 6
"""

# How often a program of a pipe reads is the scheduler's affair.
PIPES = r"""
set -o pipefail
tr -cs a-zA-Z '\n' <text | sort | uniq -c | sort -rn | head -n 3
gzip -c text | gunzip -c | cksum
find . -name text -exec grep -c the {} +
ls missing 2>/dev/null | wc -l
"""

C_SOURCE = """
struct point { int x, y; };
int inside(const struct point *p, int n, int r)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += p[i].x * p[i].x + p[i].y * p[i].y < r * r;
    return count;
}
"""

CXX_ONE = """
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

static int depth(int n)
{
    if (n == 0)
        throw std::out_of_range("the bottom");
    return depth(n - 1) + 1;
}

int main()
{
    std::unordered_map<std::string, int> sizes;
    for (int i = 0; i < 1000; i++)
        sizes["key" + std::to_string(i % 37)] += i;
    int caught = 0;
    for (int i = 0; i < 50; i++) {
        try {
            caught += depth(i);
        } catch (const std::out_of_range &error) {
            caught += static_cast<int>(std::string(error.what()).size());
        }
    }
    std::cout << sizes.size() << ' ' << sizes["key36"] << ' ' << caught << '\\n';
    std::cout.flush();
    throw std::runtime_error("nobody catches this");
}
"""

CXX_THREADS = """
#include <atomic>
#include <future>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

int main()
{
    std::atomic<long> sum{0};
    std::vector<std::thread> crew;
    for (int i = 0; i < 4; i++)
        crew.emplace_back([&sum, i] {
            for (int n = i; n < 20000; n += 4)
                sum += n;
        });
    for (auto &one : crew)
        one.join();
    auto answer = std::async(std::launch::async, []() -> int {
        throw std::runtime_error("from another thread");
    });
    try {
        answer.get();
    } catch (const std::runtime_error &error) {
        std::cout << sum << ' ' << error.what() << '\\n';
    }
    return 9;
}
"""


@dataclass
class Program:
    """An everyday program, run in a folder that holds `text`.

    words     its name and arguments
    package   the Debian package that has it
    status    its exit status; below 0, the signal that ends it
    threads   it has several threads
    most      it executes fewer instructions
    made_by   a function that makes in a folder what the program needs there
    reads_cwd it works with the path of its folder: a longer path costs it more
              instructions, so its two folders have paths of one length
    unsteady  processes that run side by side decide what it counts
    nearly    it orders tables by addresses, and a thread of QEMU may map memory
              before it does: some instructions of each million differ
    """
    words: list
    package: str
    status: int = 0
    threads: bool = False
    most: int = MOST
    made_by: object = None
    reads_cwd: bool = False
    unsteady: bool = False
    nearly: bool = False


def compiles(source, *options):
    """What makes the C++ program `made` in a folder."""
    def make(folder):
        (folder / "made.cc").write_text(source)
        done = t.run("g++", "-O2", "-pthread", *options, "made.cc", "-o",
                     "made", cwd=folder)
        t.equal(done.returncode, 0, f"status of g++; {done.stderr}")
    return make


def writes(name, text):
    def make(folder):
        (folder / name).write_text(text)
    return make


def commits(folder):
    """Makes a repository of three commits, the same in every folder."""
    env = {"PATH": PATH, "GIT_CONFIG_GLOBAL": "/dev/null",
           "GIT_CONFIG_SYSTEM": "/dev/null"}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "A. Reader", f"GIT_{who}_EMAIL": "a@b.c",
                f"GIT_{who}_DATE": "2001-01-01T00:00:00Z"}
    t.run("git", "init", "-q", "-b", "main", cwd=folder, env=env)
    for i in range(3):
        (folder / "note").write_text(f"line {i}\n" * (i + 1))
        t.run("git", "add", "note", cwd=folder, env=env)
        t.run("git", "commit", "-q", "-m", f"note {i}", cwd=folder, env=env)


PROGRAMS = {
    "python3": Program(["python3", "-c", PYTHON], "python3", status=3),
    # -I: without its folder's name among those where modules are looked for.
    "python3, numpy": Program(["python3", "-I", "-c", NUMPY], "python3-numpy",
                              most=4 * MOST),
    "python3, threads": Program(["python3", "-c", PYTHON_THREADS], "python3",
                                threads=True),
    "perl": Program(["perl", "-e", PERL, "text"], "perl", status=4),
    "node": Program(["node", "-e", NODE], "nodejs", status=5, threads=True,
                    nearly=True, most=4 * MOST),
    "sqlite3": Program(["sqlite3", "-batch", ":memory:", SQL], "sqlite3",
                       status=1),
    "git log": Program(["git", "--no-pager", "log", "--stat", "--format=%h %s"],
                       "git", made_by=commits, reads_cwd=True),
    "gcc": Program(["gcc", "-O2", "-S", "-o", "-", "in.c"], "gcc",
                   reads_cwd=True,
                   made_by=writes("in.c", C_SOURCE)),
    "gcc, an error": Program(["gcc", "-S", "-o", "-", "in.c"], "gcc", status=1,
                             reads_cwd=True,
                             made_by=writes("in.c", "int f(void) { return x; }\n")),
    "xz": Program(["xz", "-c", "-T1", "text"], "xz-utils"),
    "openssl dgst": Program(["openssl", "dgst", "-sha256", "text"], "openssl"),
    "openssl enc": Program(["openssl", "enc", "-aes-256-gcm", "-in", "text"],
                           "openssl", status=1),
    "openssl aes": Program(["openssl", "enc", "-aes-256-ctr", "-in", "text",
                            "-K", "01" * 32, "-iv", "02" * 16, "-a"],
                           "openssl"),
    "bash": Program(["bash", "-c", BASH], "bash", status=6,
                    reads_cwd=True),
    "bash, pipes": Program(["bash", "-c", PIPES], "bash", status=2,
                           unsteady=True),
    "Rust, ripgrep": Program(["rg", "-j1", "-n", "--heading", "licen[cs]e",
                              "text"], "ripgrep"),
    "Rust, ripgrep, nothing found": Program(["rg", "-j1", "absent", "text"],
                                            "ripgrep", status=1),
    "Rust, ripgrep, threads": Program(["rg", "-j4", "-c", "Program", "."],
                                      "ripgrep", threads=True),
    "Go, fzf": Program(["fzf", "--filter=lic free"], "fzf", threads=True),
    "C++, exceptions": Program(["./made"], "g++", status=-signal.SIGABRT,
                               made_by=compiles(CXX_ONE)),
    "C++, threads": Program(["./made"], "g++", status=9, threads=True,
                            made_by=compiles(CXX_THREADS)),
}


@contextlib.contextmanager
def two_folders(program):
    """Two folders of equal contents."""
    with tempfile.TemporaryDirectory() as top:
        folders = []
        other = "b" if program.reads_cwd else "a longer name/with another"
        for name in ("a", other):
            folder = pathlib.Path(top, name)
            folder.mkdir(parents=True)
            shutil.copy(TEXT, folder / "text")
            if program.made_by is not None:
                program.made_by(folder)
            folders.append(folder)
        yield folders


def find(program):
    """The words to run, the first with its path."""
    first = program.words[0]
    if not first.startswith("./"):
        first = shutil.which(first, path=PATH)
        if first is None:
            raise t.Skip(f"{program.words[0]} is not installed (package "
                         f"{program.package})")
    elif not shutil.which("g++"):
        raise t.Skip("g++ is not installed (package g++)")
    if program.package == "python3-numpy" and \
            t.run(first, "-c", "import numpy").returncode != 0:
        raise t.Skip("numpy is not installed (package python3-numpy)")
    return [first, *program.words[1:]]


def count(words, folder):
    with open(folder / "text") as stdin:
        return t.Count(["-m", "host-model", "--clean-env"], words, cwd=folder,
                       stdin=stdin)


def has_threads(c):
    return any(s["thread"] > 0 for s in c.json["strands"])


def standing(c, event):
    """What a count is called: exact, varies, ..."""
    return next(e["fidelity"] for e in c.json["events"] if e["name"] == event)


def own_messages(text):
    """Messages less the line that QEMU adds where a signal ends a program."""
    return "".join(line for line in text.splitlines(keepends=True)
                   if not line.startswith("qemu: uncaught target signal"))


def digits(folder):
    """What a shell wrote of its parent's number: the counts of bash, which
    makes PPID of it, follow from how many digits that has."""
    path = folder / "digits"
    return path.read_text() if path.exists() else ""


def repeats(words, native, first, one, other):
    """It counts in the folder `other` what it counted at `first` in `one`."""
    again = count(words, other)
    while digits(one) != digits(other):
        one, other, first = other, one, again
        again = count(words, other)
    t.equal(again.stdout, native.stdout, "output in the other folder")
    t.same(first.values, again.values)


def repeats_in_turns(first, again, nearly):
    """What two runs of a program with threads call exact is equal. On a busy host
    a wait for a file may end by the host's clock, and counts are called varies
    then. The folder stays: a longer name moves the turns of threads."""
    for c in (first, again):
        t.contains(("exact", "varies"), standing(c, "instructions"))
    names = [e["name"] for e in first.json["events"]
             if e["fidelity"] == standing(again, e["name"]) == "exact"]
    if not nearly:
        t.same({name: first[name] for name in names},
               {name: again[name] for name in names})
        return
    for name in names:
        assert abs(first[name] - again[name]) <= 1e-5 * first[name] + 50, (
            f"{name}: {first[name]}, then {again[name]}")


def runs(program):
    if platform.machine() != "x86_64":
        raise t.Skip("not an x86-64 computer")
    words = find(program)
    with two_folders(program) as (one, other):
        with open(one / "text") as stdin:
            native = t.run(*words, cwd=one, stdin=stdin, env={"PATH": PATH})
        t.equal(native.returncode, program.status, "status of the native run; "
                f"{native.stderr}")
        first = count(words, one)
        t.equal(first.stdout, native.stdout, "output")
        t.equal(own_messages(first.stderr), native.stderr, "messages")
        status = program.status
        t.equal(first.status, 128 - status if status < 0 else status, "status")
        assert 0 < first["instructions"] < program.most, first["instructions"]
        t.equal(has_threads(first), program.threads, "threads")
        if program.threads:
            repeats_in_turns(first, count(words, one), program.nearly)
            return
        t.equal(standing(first, "instructions"),
                "varies" if program.unsteady else "exact", "standing")
        if not program.unsteady:
            repeats(words, native, first, one, other)


for name, program in PROGRAMS.items():
    t.case(name, runs, program)
t.main()
