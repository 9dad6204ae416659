"""Writes random programs of the laws as files that run.py runs.

    draw.py HeddleLawTests SEED NUMBER FOLDER
    run.py FOLDER heddle-run clang --seconds 15

About NUMBER programs are drawn.
"""
import collections
import os
import pathlib
import re
import subprocess
import sys

tool, seed, number, folder = sys.argv[1], sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4])
environment = dict(os.environ, HEDDLE_LAWS_SEED=seed, HEDDLE_LAWS_PROGRAMS=number, HEDDLE_LAWS_PRINT="1")
drawn = subprocess.run([tool, "--gtest_filter=*CompiledPrograms*"], env=environment, capture_output=True, text=True, check=True)
modules = re.findall(r"^module \{\n.*?^\}\n", drawn.stdout, re.DOTALL | re.MULTILINE)
programs = collections.defaultdict(str)  # functions by the name of the program: p3, p3_0 and so on
for i, module in enumerate(modules):
    for text, name in re.findall(r"(^  func\.func (?:private )?@(\w+).*?^  \}\n)", module, re.DOTALL | re.MULTILINE):
        programs[i, name.split("_")[0]] += text
folder.mkdir(parents=True, exist_ok=True)
programs = {text: key for key, text in programs.items()}  # some are drawn again
for text, (i, name) in programs.items():
    sizes = "".join(f" --size {symbol}={size}" for symbol, size in [("N", 5), ("M", 3)] if re.search(rf"@{name}\(.*: [^{{\n]*\b{symbol}\b", text))
    (folder / f"{i}-{name}.mlir").write_text(f"// RUN: heddle-run %s --compare --entry {name}{sizes}\nmodule {{\n{text}}}\n")
print(f"{len(programs)} programs")
