"""Prints how many plans of a folder send, compiled, the bytes and transfers that are predicted.

    python3 compare-sent.py PROGRAM TOPOLOGY FOLDER
"""
import pathlib
import re
import subprocess
import sys
import tempfile

program, topology, folder = sys.argv[1:]


def numbers(pattern, *command):
    done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(pattern, done.stdout + done.stderr)
    if done.returncode or not found:
        sys.exit(f"{' '.join(command)}: expected '{pattern}', got\n{done.stdout}{done.stderr}")
    return {name: int(number) for name, number in found.groupdict().items()}


plans = sorted(pathlib.Path(folder).glob("*.plan"))
sent = set()
with tempfile.TemporaryDirectory() as scratch:
    for plan in plans:
        predicted = numbers(r"sends (?P<bytes>\d+) bytes in (?P<transfers>\d+) transfers",
                            "heddle-plan", "simulate", program, "--topology", topology, "--plan", str(plan))
        compiled = numbers(r"remark: (?P<transfers>\d+) transfers, in which a device sends (?P<bytes>\d+) bytes",
                           "heddlec", program, "--plan", str(plan), "--explain", "-o", f"{scratch}/step.heddle")
        if predicted != compiled:
            sys.exit(f"{plan}: predicted {predicted}, compiled {compiled}")
        sent.add(tuple(predicted.values()))
print(f"{len(plans)} plans agree, which send {len(sent)} different numbers")
