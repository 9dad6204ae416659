"""Compiles programs for a GPU and checks that blocks of lanes run each of their steps.

    lanes.py HEDDLEC TARGET FILE...

Prints what the compiler says a step lacks (`lacks` of --explain-json).
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

heddlec, target, files = sys.argv[1], sys.argv[2], sys.argv[3:]


def lacks_of(value, name=""):
    """The name of each step or nest that lacks something, and what."""
    if isinstance(value, dict):
        name = value.get("name", name)
        if "lacks" in value:
            yield name, value["lacks"]
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from lacks_of(inner, name)


bad = 0
with tempfile.TemporaryDirectory() as place:
    for file in map(pathlib.Path, files):
        source, explained = pathlib.Path(place, file.name), pathlib.Path(place, "explained.json")
        source.write_text(re.sub(r"(?m)^ *check\..*$", "", file.read_text()))  # heddlec does not know the dialect
        command = [heddlec, source, "--target", target, "--no-cache", "-o", pathlib.Path(place, "x.heddle"), "--explain-json", explained]
        made = subprocess.run(command, capture_output=True, text=True)
        text = explained.read_text() if made.returncode == 0 else "{}"
        if made.returncode or '"lanes_of_block"' not in text:
            print(f"{file}: {made.stderr or 'no step has lanes'}")
            bad += 1
            continue
        for name, lack in lacks_of(json.loads(text)):
            print(f"{file}: '{name}' lacks {lack}")
            bad += 1
print(f"{len(files)} programs, {bad} steps without lanes")
sys.exit(bad > 0)
