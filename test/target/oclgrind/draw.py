"""Writes random programs of the laws as files that run.py runs.

    draw.py HeddleLawTests SEED NUMBER FOLDER
    run.py FOLDER heddle-run clang --seconds 60

About NUMBER programs are drawn, several in a file.
"""
import os
import pathlib
import re
import subprocess
import sys

tool, seed, number, folder = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
environment = dict(os.environ, HEDDLE_LAWS_SEED=seed, HEDDLE_LAWS_PROGRAMS=number, HEDDLE_LAWS_PRINT="1")
drawn = subprocess.run([tool, "--gtest_filter=*CompiledPrograms*"], env=environment, capture_output=True, text=True, check=True)
modules = re.findall(r"^module \{\n.*?^\}\n", drawn.stdout, re.DOTALL | re.MULTILINE)
folder.mkdir(parents=True, exist_ok=True)
programs = 0
for i, module in enumerate(modules):
    symbols = "".join(f" --size {name}={size}" for name, size in [("N", 5), ("M", 3)] if re.search(rf": [^{{>]*\b{name}\b", module))
    (folder / f"{i}.mlir").write_text(f"// RUN: heddle-run %s --compare{symbols}\n{module}")
    programs += len(re.findall(r"^  func\.func @", module, re.MULTILINE))
print(f"{programs} programs in {len(modules)} files")
