"""Runs each program of test/exec on the target `null`, as its first RUN line with --compare does on the CPU.

    null.py FOLDER HEDDLE-RUN
"""
import concurrent.futures
import pathlib
import re
import shlex
import subprocess
import sys

folder, tool = pathlib.Path(sys.argv[1]), sys.argv[2]


def run(path):
    line = re.search(r"RUN: heddle-run %s (.*--compare.*)", path.read_text())
    if not line or "|" in line[1]:
        return None
    words = [word.replace("%s", str(path)).replace("%S", str(path.parent)) for word in shlex.split(line[1])]
    drop = {"--target-cpu": 2, "--threads": 2}
    kept = []
    while words:
        count = drop.get(words[0], 0)
        if not count:
            kept.append(words[0])
        words = words[max(count, 1):]
    result = subprocess.run([tool, str(path), *kept, "--target-cpu", "null"], capture_output=True, text=True)
    return path, result


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    results = [each for each in pool.map(run, sorted(folder.rglob("*.mlir"))) if each]
failed = [(path, result) for path, result in results if result.returncode]
for path, result in failed:
    print(f"{path}: {result.stderr[-2000:]}{result.stdout[-2000:]}")
print(f"{len(results) - len(failed)} programs agree, {len(failed)} do not")
sys.exit(bool(failed))
