#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""dhat.py BUILD: the blocks and bytes that each place of a program asks for, by
tally record --objects and by Valgrind's DHAT, are the same.

DHAT tells whole stacks, tally the innermost place that is no part of a library
of the language: a stack of DHAT's is of the first place, from the allocator on,
that tally names. What the dynamic loader asks for before there is an allocator is mapped
memory to tally, and not there for DHAT."""
import json
import pathlib
import re
import subprocess
import tempfile

import tallytest as t

# Lists, recursion, several allocators, threads, and containers.
PROGRAM = r"""
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>
#include <map>
#include <list>

struct node {
    node *next;
    char text[40];
};

static node *make_list(int length)
{
    node *first = nullptr;
    for (int i = 0; i < length; i++) {
        node *one = new node;
        one->next = first;
        std::memset(one->text, i, sizeof(one->text));
        first = one;
    }
    return first;
}

static void free_list(node *first)
{
    while (first != nullptr) {
        node *next = first->next;
        delete first;
        first = next;
    }
}

static void *nest(int depth)
{
    void *block = std::malloc(100 + depth);
    std::memset(block, depth, 100 + depth);
    if (depth > 0)
        std::free(nest(depth - 1));
    return block;
}

static void work(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        int *numbers = new int[1000 + i];
        numbers[i] = i;
        void *aligned = std::aligned_alloc(256, 512);
        std::memset(aligned, 0, 512);
        void *other = nullptr;
        if (posix_memalign(&other, 128, 384) == 0)
            std::memset(other, 0, 384);
        std::free(other);
        std::free(aligned);
        delete[] numbers;
    }
}

int main()
{
    /* In a program of one place in memory, this is the address of a stub of the
     * program's own. */
    void *(*volatile give)(std::size_t) = std::malloc;
    std::free(std::memset(give(77), 1, 77));
    free_list(make_list(500));
    node *kept = make_list(20);
    std::free(nest(30));
    long *zeroed = static_cast<long *>(std::calloc(300, sizeof(long)));
    zeroed[7] = 7;
    std::thread threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = std::thread(work, 20 * (i + 1));
    for (std::thread &thread : threads)
        thread.join();
    std::map<int, std::string> names;
    for (int i = 0; i < 100; i++)
        names[i] = std::string(40 + i, 'x');
    std::vector<long> values;
    for (int i = 0; i < 1000; i++)
        values.push_back(i);
    free_list(kept);
    std::free(zeroed);
}
"""
PLACE = re.compile(r"\(([^()]+:\d+)\)")


def by_dhat(folder):
    """The places of each stack, from the allocator on, blocks and bytes."""
    out = folder / "dhat.out"
    done = t.run("valgrind", "--tool=dhat", f"--dhat-out-file={out}", "./sites",
                 cwd=folder)
    t.equal(done.returncode, 0, done.stderr)
    found = json.loads(out.read_text())
    stacks = []
    for point in found["pps"]:
        places = [place for frame in point["fs"]
                  for place in PLACE.findall(found["ftbl"][frame])]
        stacks.append((places, point["tbk"], point["tb"]))
    return stacks


def by_tally(folder):
    """The objects that an allocator gave: their names, blocks and bytes."""
    done = t.run(t.tally(), "record", "-q", "--objects=all", "-m", "host-model",
                 "-e", "L1-dcache-load-misses,L1-dcache-store-misses",
                 "./sites", cwd=folder)
    t.equal(done.returncode, 0, done.stderr)
    done = t.run(t.tally(), "report", "-j", "--by", "object", cwd=folder)
    t.equal(done.returncode, 0, done.stderr)
    keys = [row["keys"] for row in json.loads(done.stdout)["rows"]]
    return [(key["object"], key["allocations"], key["allocated_bytes"])
            for key in keys
            if key["object_kind"] == "heap" and key["allocations"] > 0]


def sites(*options):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "sites.cc").write_text(PROGRAM)
        subprocess.run(["g++", "-g", "-O0", "-std=c++17", "-pthread",
                        *options, "sites.cc", "-o", "sites"], cwd=folder, check=True)
        stacks, objects = by_dhat(folder), by_tally(folder)
    told = {place[1]: row for row in objects if (place := PLACE.search(row[0]))}
    assert len(told) >= 9, objects
    sums = dict.fromkeys(told, (0, 0))
    for places, blocks, size in stacks:
        place = next((place for place in places if place in told), None)
        if place is not None:
            sums[place] = (sums[place][0] + blocks, sums[place][1] + size)
    for place, (name, *counts) in told.items():
        t.equal(tuple(counts), sums[place], name)
    t.equal((sum(row[1] for row in objects), sum(row[2] for row in objects)),
            (sum(stack[1] for stack in stacks),
             sum(stack[2] for stack in stacks)), "in all")


t.case("blocks and bytes of each place, and in all", sites)
t.case("the same of a program that stands at one place in memory", sites,
       "-fno-pie", "-no-pie")
t.main()
