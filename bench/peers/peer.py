# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Answers of a peer in Python to heddle-bench, as Process.h describes them."""
import sys
import time


def suffix():
    """"+tuned" where jemalloc is preloaded: for training, an allocator that keeps its memory, and huge pages, are fair."""
    with open("/proc/self/maps") as maps:
        return "+tuned" if "jemalloc" in maps.read() else ""


def answer(run, line):
    """Prints `line`, then answers each number N on standard input with the seconds that N runs took."""
    print(line, flush=True)
    for number in sys.stdin:
        begin = time.perf_counter()
        for _ in range(int(number)):
            run()
        print(time.perf_counter() - begin, flush=True)
