"""Runs each program of test/exec on a device, as its first RUN line with --compare does on the CPU.

    every.py FOLDER HEDDLE-RUN FLAG...           FLAG...: of the device, "--device opencl:0"

Prints a line for each program that does not agree with the interpreter, and the numbers of programs.
"""
import concurrent.futures
import pathlib
import re
import shlex
import subprocess
import sys

folder, tool, flags = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
SECONDS = 300  # time limit of a program: many times its usual time


def run(path):
    line = re.search(r"RUN: heddle-run %s ([^|\n]*--compare[^|\n]*)", path.read_text())
    if not line:
        return None
    words = [word.replace("%s", str(path)).replace("%S", str(path.parent)) for word in shlex.split(line[1])]
    drop = {"--target-cpu": 2, "--threads": 2}
    kept = []
    while words:
        count = drop.get(words[0], 0)
        if not count:
            kept.append(words[0])
        words = words[max(count, 1):]
    try:
        result = subprocess.run([tool, str(path), *kept, *flags], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return path, f"it takes longer than {SECONDS} s"
    return path, (result.stderr[-2000:] + result.stdout[-2000:] or "it fails") if result.returncode else ""


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    results = [each for each in pool.map(run, sorted(folder.rglob("*.mlir"))) if each]
failed = [(path, error) for path, error in results if error]
for path, error in failed:
    print(f"{path}: {error}")
print(f"{len(results) - len(failed)} programs agree, {len(failed)} do not")
sys.exit(bool(failed))
