#!/usr/bin/env python3
"""Checks that the specification's rules, the checks that cite them and the tests named after them agree.

    specification.py ROOT     prints the number of rules, or fails and lists what is missing
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/specification.md").read_text(encoding="utf-8")


def read(patterns):
    return "".join(path.read_text(encoding="utf-8") for each in patterns for path in sorted(root.glob(each)))


tests = read(["test/dialects/*/specification.mlir"])
code = read(["dialects/*/*.cpp", "lib/transforms/mesh/**/*.cpp"])
rules = {int(number): text for number, text in re.findall(r"^\*\*S(\d+)\.(.*?)(?=^\*\*S|^## )", page, re.S | re.M)}
cited = {int(number) for number in re.findall(r"//[^\n]*\bS(\d+)\b", code)}
tested = {int(number) for number in re.findall(r"@s(\d+)_\w+", tests)}
faults = []
if sorted(rules) != list(range(1, len(rules) + 1)):
    faults.append(f"rules are numbered {sorted(rules)}")
for number, text in rules.items():
    text = " ".join(text.split())
    if "*Checked by*" in text:
        if number not in cited:
            faults.append(f"S{number} is cited by no check in dialects or lib/transforms/mesh")
        if number not in tested:
            faults.append(f"S{number} has no test @s{number}_... of what it refuses")
    elif "*Tested by*" not in text:
        faults.append(f"S{number} states neither what checks it nor what tests it")
for number in sorted((cited | tested) - set(rules)):
    faults.append(f"S{number} is cited but not written")
print("\n".join(faults + [f"{len(rules)} rules, {len(faults)} faults"]))
sys.exit(bool(faults))
