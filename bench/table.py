#!/usr/bin/env python3
# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns rows of `heddle-bench --json FILE` into the tables of docs/performance.md.

    bench/table.py [--filter REGEX] rows.jsonl...

Programs for any size are in a table of their own, relative to the program for one size in the same run. A row that was
measured more than once is taken from the last file that has it.
"""
import argparse
import json
import re
import sys

ANY = "heddle-any-"


def spelled(number):
    """A number with three significant digits, as an integer from 100 on."""
    return "" if number is None else f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def print_table(header, lines):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for line in lines:
        print("| " + " | ".join(line) + " |")
    print()


def of_one_size(rows):
    for row in rows.values():
        if row["system"].startswith(ANY):
            continue
        percent, ratio, memory = row["percent_of_peak"], row["ratio_to_peer"], row["peak_memory_bytes"]
        yield (row["bench"], row["dtype"], str(row["threads"]), row["system"], f"{spelled(row['value'])} {row['unit']}",
               "" if percent is None else f"{percent:.0f}", "" if ratio is None else f"{ratio:.2f}",
               "" if row["compile_ms"] is None else f"{row['compile_ms']:.0f}",
               "" if memory is None else f"{memory / 2**20:.1f}")


def of_any_size(rows):
    for (bench, dtype, threads, system), row in rows.items():
        fixed = rows.get((bench, dtype, threads, "heddle"))
        if system.startswith(ANY) and fixed:
            yield (bench, dtype, str(threads), system.removeprefix("heddle-"), f"{fixed['median_ms'] / row['median_ms']:.2f}",
                   f"{row['compile_ms'] / fixed['compile_ms']:.1f}" if fixed["compile_ms"] else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", metavar="REGEX", help="benchmarks whose names match")
    parser.add_argument("files", nargs="+", type=argparse.FileType(), metavar="rows.jsonl")
    arguments = parser.parse_args()
    rows = {}
    for file in arguments.files:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
                if re.search(arguments.filter, row["bench"]):
                    rows[row["bench"], row["dtype"], row["threads"], row["system"]] = row
            except (ValueError, KeyError, TypeError) as error:
                sys.exit(f"{file.name}:{number}: expected a row of heddle-bench, got {line.strip()!r} ({error})")
    print_table(("benchmark", "dtype", "threads", "system", "value", "% of probe", "x first peer", "compile ms", "MiB"),
                of_one_size(rows))
    print_table(("benchmark", "dtype", "threads", "program", "speed", "compile"), of_any_size(rows))


main()
