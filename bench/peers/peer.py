# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Answers of a peer in Python to heddle-bench, as Process.h describes them."""
import os
import sys
import tempfile
import time


def suffix():
    """"+tuned" if jemalloc is preloaded: then the allocator keeps freed memory and uses huge pages, as Heddle does."""
    with open("/proc/self/maps") as maps:
        return "+tuned" if "jemalloc" in maps.read() else ""


def answer(run, line):
    """Prints `line`, then answers each number N on standard input with the time of N runs in seconds."""
    print(line, flush=True)
    for number in sys.stdin:
        begin = time.perf_counter()
        for _ in range(int(number)):
            run()
        print(time.perf_counter() - begin, flush=True)


def start_ranks(count):
    """Forks into `count` ranks of torch.distributed that are connected by gloo. Returns False for one rank."""
    if count == 1:
        return False
    import torch.distributed
    path = os.path.join(tempfile.mkdtemp(prefix="heddle-peer-"), "meeting")
    children = (r for r in range(1, count) if os.fork() == 0)
    rank = next(children, 0)
    os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[rank % os.cpu_count()]})
    torch.distributed.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=count)
    return True


def answer_as_rank(run, line):
    """Like `answer`, on rank 0; the other ranks run as often as rank 0 does."""
    import torch
    number = torch.zeros(1, dtype=torch.int64)

    def together():
        torch.distributed.broadcast(number, 0)
        for _ in range(int(number)):
            run()
        torch.distributed.barrier()
        return int(number) > 0

    if torch.distributed.get_rank() > 0:
        while together():
            pass
        return
    print(line, flush=True)
    for text in sys.stdin:
        number.fill_(int(text))
        begin = time.perf_counter()
        together()
        print(time.perf_counter() - begin, flush=True)
    number.zero_()
    together()
