"""Prints the times of all plans of step.mlir on two devices, the shortest first, in the form of --json.

    brute-force.py step.mlir two.json PLAN     PLAN: a file to write plans to
"""
import itertools
import json
import subprocess
import sys

program, topology, path = sys.argv[1:]


def choices(operator, names):
    """No rule; or the axis splits none of the names, or one."""
    yield ""
    for split in [None, *names]:
        yield "".join(f"op .{operator}./{name}:{'d' if name == split else ''}\n" for name in names)


def picoseconds(rules):
    with open(path, "w") as file:
        file.write("mesh d=2\nx/batch:\n" + "".join(rules))
    command = ["heddle-plan", "simulate", program, "--topology", topology, "--plan", path, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["picoseconds"]


operators = [choices("net.w", ["batch", "in"]), choices("net.w.dw", ["batch", "in"]), choices("net.w.update", ["in"])]
times = sorted({picoseconds(rules) for rules in itertools.product(*operators)})
print("\n".join(json.dumps({"picoseconds": each}) for each in times))
