#!/usr/bin/env python3
# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds reads of hardware rates outside of lib/cost and lib/target.

    rates.py ROOT [EXCEPTION ...]     prints them, and fails if there are any

A pass that computes with a rate has a cost model of its own, which nobody measures. It asks lib/cost instead
(lib/cost/Machine.h says how). Files may be named as exceptions as long as they read rates: a name that is no longer
needed is a failure, too, so that the list only shrinks.

A file reads rates if it names the type `Rates`, or a member of it while it includes the table, directly or not.
"""
import functools
import pathlib
import re
import sys

FOLDERS = ["dialects", "include", "lib", "models", "runtime", "tools", "bench"]
MAY_READ = ("lib/cost/", "lib/target/")
TABLE = "lib/cost/Rates.h"


def main(root, exceptions):
    members = re.findall(r'RATE\((\w+),\s*"', (root / TABLE).read_text())
    read = re.compile(r"\bRates\b|(?:\.|->)(" + "|".join(members) + r")\b")

    @functools.cache
    def code(path):
        text = (root / path).read_text(errors="replace")
        return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"(?<!\.h")', "", text)

    def includes(path, seen):
        """True if `path` includes the table."""
        if path == TABLE:
            return True
        if path in seen or not (root / path).is_file():
            return False
        seen.add(path)
        return any(includes(each, seen) for each in re.findall(r'#include "((?:\w+/)+[\w.]+)"', code(path)))

    found = {}
    files = [f for folder in FOLDERS for f in sorted((root / folder).rglob("*")) if f.suffix in {".h", ".cpp"}]
    for file in files:
        path = str(file.relative_to(root))
        if path.startswith(MAY_READ):
            continue
        lines = [n for n, line in enumerate(code(path).split("\n"), 1) if read.search(line)]
        if lines and includes(path, set()):
            found[path] = lines
    faults = 0
    for path, lines in found.items():
        if path not in exceptions:
            faults += len(lines)
            for line in lines:
                print(f"{path}:{line}: reads a rate; ask lib/cost")
    for path in exceptions:
        if path not in found:
            faults += 1
            print(f"{path}: reads no rate; remove it from the exceptions")
    print(f"{len(files)} files, {len(members)} rates, {len(exceptions)} exceptions, {faults} faults")
    return 1 if faults else 0


sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
