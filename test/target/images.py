"""Compiles the programs of a folder for a GPU and checks each kernel's image by a tool that is not ours.

    images.py FOLDER HEDDLEC TARGET TOOL WORD...      TOOL WORD... FILE: exits with 0 if the image is good
    images.py --code ...                              the same for the code for one chip, which each kernel has too

Programs get the flags for the compiler of their first RUN line with --compare.
"""
import concurrent.futures
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from gpu_images import code_of, codes_of, images_of

of_kernels = codes_of if sys.argv[1] == "--code" and sys.argv.pop(1) else images_of
folder, heddlec, target, tool = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:]
FLAGS = {"--products": 2, "--mesh": 2, "--shard": 2, "--plan": 2, "--fast-math": 2, "--row-major": 1}


def run(path):
    line = re.search(r"RUN: heddle-run %s ([^|\n]*--compare[^|\n]*)", path.read_text())
    if not line:
        return []
    words = [word.replace("%s", str(path)).replace("%S", str(path.parent)) for word in shlex.split(line[1])]
    kept = []
    while words:
        count = 1 if "=" in words[0] and words[0].split("=")[0] in FLAGS else FLAGS.get(words[0], 0)
        kept += words[:count]
        words = words[max(count, 1) :]
    with tempfile.TemporaryDirectory() as place:
        output, source = pathlib.Path(place, "program.heddle"), pathlib.Path(place, path.name)
        source.write_text(re.sub(r"(?m)^ *check\..*$", "", path.read_text()))  # heddlec does not know the dialect
        command = [heddlec, str(source), *kept, "--target", target, "--no-cache", "-o", str(output)]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            return [f"{path}: {made.stderr[-1000:]}"]
        errors = [""]
        for symbol, image in of_kernels(code_of(output.read_bytes())):
            file = pathlib.Path(place, "image")
            file.write_bytes(image)
            checked = subprocess.run([*tool, str(file)], capture_output=True, text=True, cwd=place)
            said = f"{path}: {symbol}: {checked.stderr[-500:]}{checked.stdout[-500:]}"
            errors.append(said if checked.returncode else "")
        return errors


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    results = [each for each in pool.map(run, sorted(folder.rglob("*.mlir"))) if each]
errors = [error for each in results for error in each if error]
for error in errors:
    print(error)
print(f"{len(results)} programs, {sum(len(each) - 1 for each in results)} kernels, {len(errors)} bad")
sys.exit(bool(errors))
