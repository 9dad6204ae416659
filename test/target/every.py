"""Runs each program of test/exec on a device, as RUN lines with --compare do on the CPU: the first, and those of several sizes.

    every.py FOLDER [--only|--but PATTERN] HEDDLE-RUN FLAG...           FLAG...: of the device, "--device opencl:0"

PATTERN is one of file names, such as 'lane*'. Prints a line for each program that does not agree with the interpreter,
and the numbers of programs.
"""
import concurrent.futures
import fnmatch
import pathlib
import re
import subprocess
import sys

from run_lines import compared

folder, *rest = sys.argv[1:]
kind, pattern = (rest.pop(0), rest.pop(0)) if rest[0] in ("--only", "--but") else ("--only", "*")
tool, *flags = rest
paths = [path for path in sorted(pathlib.Path(folder).rglob("*.mlir")) if fnmatch.fnmatch(path.name, pattern) == (kind == "--only")]
SECONDS = 300  # time limit of a program: many times its usual time


def run(path):
    lines = compared(path, {"--target-cpu": 2, "--threads": 2})
    chosen = lines[:1] + [line for line in lines[1:] if any(re.match(r"\w+=\d+,", word) for word in line) and "--mesh" not in line]
    return (path, "".join(error_of(path, line) for line in chosen)) if lines else None


def error_of(path, words):
    try:
        result = subprocess.run([tool, str(path), *words, *flags], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"it takes longer than {SECONDS} s"
    return (result.stderr[-2000:] + result.stdout[-2000:] or "it fails") if result.returncode else ""


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    results = [each for each in pool.map(run, paths) if each]
failed = [(path, error) for path, error in results if error]
for path, error in failed:
    print(f"{path}: {error}")
print(f"{len(results) - len(failed)} programs agree, {len(failed)} do not")
sys.exit(bool(failed))
