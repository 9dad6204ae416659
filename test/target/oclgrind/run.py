"""Runs programs under Oclgrind, which looks for races, bad accesses and reads of unwritten memory.

    run.py FOLDER HEDDLE-RUN CLANG FILE...

Each is run by its first RUN line with --compare; what Oclgrind reports is an error.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

folder, tool, clang, files = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
here = pathlib.Path(__file__).parent
library = pathlib.Path(shutil.which("oclgrind")).parent.parent / "lib/oclgrind/liboclgrind-rt.so"
SECONDS = 200  # time limit of a program: many times its usual time
bad = 0
with tempfile.TemporaryDirectory() as place:
    # The library's own name is libOpenCL.so.
    os.symlink(library, f"{place}/libOpenCL.so")
    shim = f"{place}/shim.so"
    subprocess.run([clang, "-shared", "-fPIC", here / "Shim.c", "-o", shim, library, "-Wl,--allow-shlib-undefined"], check=True)
    environment = dict(os.environ, HEDDLE_OPENCL=shim, HEDDLE_OPENCL_OPTIONS="-x spir -spir-std=1.2", HEDDLE_TO_BITCODE=str(here / "to-bitcode"))
    environment.update(OCLGRIND_DATA_RACES="1", OCLGRIND_UNINITIALIZED="1")
    # A copy to a buffer makes the plugin for unwritten values forget the rest of it.
    environment["HEDDLE_FRESH_BUFFERS"] = "1"
    environment["LD_LIBRARY_PATH"] = place + ":" + environment.get("LD_LIBRARY_PATH", "")
    for name in files:
        path = folder / name
        line = re.search(r"RUN: heddle-run %s (.*--compare.*)", path.read_text())[1]
        words = [word.replace("%s", str(path)) for word in shlex.split(line) if word != "--managed"]
        done = subprocess.run([tool, path, *words, "--device", "opencl", "--no-cache"], env=environment, capture_output=True, text=True, timeout=SECONDS)
        if done.returncode or done.stderr:
            print(f"{name}: {done.stderr[-1000:]}{done.stdout[-1000:]}")
            bad += 1
print(f"{len(files) - bad} programs agree and have no report, {bad} do not")
sys.exit(bad > 0)
