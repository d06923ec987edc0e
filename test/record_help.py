# SPDX-License-Identifier: MIT
"""The programs that the tests of recordings run, for an architecture each."""
import pathlib
import shutil

import tallytest as t

LUA = "local s = 0 for i = 1, 1000 do s = s + #tostring(i * 7) end print(s)"
SQL = ("create table a(b, c); with recursive n(i) as (select 1 union all "
       "select i + 1 from n where i < 100) insert into a select i, i * 7 % 10 "
       "from n; select sum(b), c from a group by c;")


def words(isa):
    return [t.guest(f"words.{isa}"), t.source("CONTRIBUTING.md")]


def lua(isa):
    return [t.guest(f"lua.{isa}"), "-e", LUA]


def bzip2(isa):
    return [t.guest(f"bzip2.{isa}"), "-1c", t.source("README.md")]


def sqlite(isa):
    return [t.guest(f"sqlite.{isa}"), ":memory:", SQL]


# A program of C++ with functions that the compiler copies into others.
CPLUSPLUS = """
#include <algorithm>
#include <thread>
#include <vector>
namespace {
struct item { int key; bool operator<(const item &o) const
              { return key < o.key; } };
}
static inline int mixed(int x) { return (x * 7919) ^ (x >> 3); }
__attribute__((noinline)) int work(int n)
{
    std::vector<item> all;
    for (int i = 0; i < n; i++)
        all.push_back({mixed(i)});
    std::sort(all.begin(), all.end());
    return all[0].key;
}
int main()
{
    std::thread other([] { work(50); });
    other.join();
    return work(400) == 1;
}
"""


def cplusplus(program, text=CPLUSPLUS, options=("-static", "-pthread")):
    """Compiles a program in C++, with debug information, as the file `program`.
    Returns the words of the command."""
    if shutil.which("g++") is None:
        raise t.Skip("g++ is missing")
    source = pathlib.Path(program).with_suffix(".cc")
    source.write_text(text)
    done = t.run("g++", "-g", "-O2", *options, "-o", program, source)
    if done.returncode != 0:
        raise t.Skip(f"g++ makes no such program: {done.stderr}")
    return [str(program)]
