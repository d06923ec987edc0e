# SPDX-License-Identifier: MIT
"""Benchmarks that list their names: sort.py --list, sort.py NAME."""
import heapq
import sys


def numbers():
    # The same each time.
    state = 1
    for _ in range(5000):
        state = (state * 1664525 + 1013904223) & 0xffffffff
        yield state >> 8


def built_in():
    return sorted(numbers())


def heap():
    all_numbers = list(numbers())
    heapq.heapify(all_numbers)
    return [heapq.heappop(all_numbers) for _ in range(len(all_numbers))]


BENCHMARKS = {"sorted": built_in, "heap": heap}

if sys.argv[1] == "--list":
    print("\n".join(BENCHMARKS))
else:
    done = BENCHMARKS[sys.argv[1]]()
    print(done[len(done) // 2])
