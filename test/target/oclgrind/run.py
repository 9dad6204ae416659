"""Runs programs under Oclgrind, which looks for races, bad accesses and reads of unwritten memory.

    run.py FOLDER HEDDLE-RUN CLANG [--seconds N] [FILE...]

Each is run by its first RUN line with --compare; what Oclgrind reports is an error. Without FILE: all programs below
FOLDER that have such a line. Programs of several ranks are left out. Those that take longer than N seconds run again with
sizes of at most 16, and are named and left out if they still do. A report has the kernel, the value that its nest
computes, the source line, the block and the lane.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).parents[1]))
from run_lines import compared  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("tool")
parser.add_argument("clang")
parser.add_argument("--seconds", type=float, help="leave out programs that take longer")
parser.add_argument("files", nargs="*")
options = parser.parse_intermixed_args()
here = pathlib.Path(__file__).parent
library = pathlib.Path(shutil.which("oclgrind")).parent.parent / "lib/oclgrind/liboclgrind-rt.so"


def command(path):
    """The words of the first RUN line that compares a program of one rank; None without one."""
    ranks = {"--plan", "--mesh", "--ranks", "--simulate"}
    lines = compared(path, {"--managed": 1, "--target-cpu": 2})
    return next((words for words in lines if not ranks.intersection(words)), None)


def with_nests(said, path):
    """What is said, with the value and the location of the nest behind the name of each kernel."""
    tools = os.pathsep.join([str(pathlib.Path(options.tool).parent), os.environ["PATH"]])
    with tempfile.NamedTemporaryFile(suffix=".heddle") as program:
        words = [shutil.which("heddlec", path=tools), path, "--target", "opencl", "--no-cache", "-o", program.name]
        if subprocess.run(words, capture_output=True).returncode:  # it has checks, which only heddle-run knows
            return said
        words = [shutil.which("heddle-translate", path=tools), "--program-to-text", program.name]
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    nests = collections.defaultdict(set)
    for value, kernel, location in re.findall(r"^ +\d+  (.*): (k_\w+),.*  at (\S+)$", text, re.MULTILINE):
        nests[kernel].add(f"{value} at {location}")
    return re.sub(r"k_\w+", lambda kernel: kernel[0] + (f" ({', '.join(sorted(nests[kernel[0]]))})" if kernel[0] in nests else ""), said)


def smaller(words):
    """The words with sizes of at most 16; the first three of those that a size has in turn."""
    sizes = lambda text: ",".join(str(min(int(size), 16)) for size in text.split(",")[:3])
    return [re.sub(r"(?<==)\d[\d,]*$", lambda found: sizes(found[0]), word) for word in words]


def judge(path, words, environment):
    """What happens to a program: 'agrees', 'reports' or a reason to leave it out; and what is said."""
    words = [options.tool, path, *words, "--device", "opencl", "--no-cache"]
    try:
        done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=options.seconds or 200)
    except subprocess.TimeoutExpired:
        return ("takes too long" if options.seconds else "reports"), f"takes longer than {options.seconds or 200:g} s"
    if re.search("elements can't be compared", done.stderr) and "Kernel:" not in done.stderr:
        return "depends on roundings", ""
    if done.returncode or done.stderr:
        return "reports", with_nests(done.stderr[:2000] + done.stdout[-1000:], path)
    return "agrees", ""


files = options.files or sorted(str(path.relative_to(options.folder)) for path in options.folder.rglob("*.mlir"))
counts = collections.Counter()
with tempfile.TemporaryDirectory() as place:
    # The library's own name is libOpenCL.so.
    os.symlink(library, f"{place}/libOpenCL.so")
    shim = f"{place}/shim.so"
    subprocess.run([options.clang, "-shared", "-fPIC", here / "Shim.c", "-o", shim, library, "-Wl,--allow-shlib-undefined"], check=True)
    environment = dict(os.environ, HEDDLE_OPENCL=shim, HEDDLE_OPENCL_OPTIONS="-x spir -spir-std=1.2", HEDDLE_TO_BITCODE=str(here / "to-bitcode"))
    environment.update(OCLGRIND_DATA_RACES="1", OCLGRIND_UNINITIALIZED="1", OCLGRIND_LOCAL_MEM_SIZE="65536")
    # A copy to a buffer makes the plugin for unwritten values forget the rest of it.
    environment["HEDDLE_FRESH_BUFFERS"] = "1"
    environment["LD_LIBRARY_PATH"] = place + ":" + environment.get("LD_LIBRARY_PATH", "")
    for name in files:
        words = command(options.folder / name)
        if words is None:
            assert not options.files, f"{name} compares nothing on one rank"
            continue
        result, said = judge(options.folder / name, words, environment)
        if result == "takes too long" and smaller(words) != words:
            result, said = judge(options.folder / name, smaller(words), environment)
        counts[result] += 1
        if result != "agrees":
            print(f"{name}: {said or result}", flush=True)
left_out = sum(counts.values()) - counts["agrees"] - counts["reports"]
print(f"{counts['agrees']} programs agree and have no report, {counts['reports']} do not, {left_out} are left out")
sys.exit(counts["reports"] > 0)
