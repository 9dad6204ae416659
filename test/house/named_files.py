# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails if a page or the comment at the beginning of a header of ROOT names a file that does not exist.

    named_files.py ROOT

A name is a path from the root, with a folder and an ending: `lib/nn/Trainer.cpp` in a code span of a page,
lib/nn/Trainer.cpp in a header. Patterns may contain `*`, `{A,B}` and `<name>`. `docs/where.md` must name a file in each
row of its tables. What the first cells of the tables in the README of a folder name are files or folders below it, whose
ending may be left out.
"""
import itertools
import pathlib
import re
import sys

PAGES = ["[!C]*.md", "CONTRIBUTING.md", "bench/**/*.md", "dialects/**/*.md", "docs/**/*.md", "lib/**/*.md", "runtime/**/*.md"]
HEADERS = ["dialects/**/*.h", "include/**/*.h", "lib/**/*.h", "runtime/**/*.h"]
FOLDERS = "bench|cmake|dialects|docs|include|lib|models|quickstart|runtime|scripts|test|tools"
ENDINGS = r"(?:h|c|cpp|td|md|py|mlir|test|txt|cmake|sh)"
PATH = rf"(?:{FOLDERS})/[\w/.*{{}},<>-]*\.(?:{ENDINGS}\b|{{{ENDINGS}(?:,{ENDINGS})*}})"


def variants(pattern):
    """The patterns without braces: a.{h,cpp} is a.h and a.cpp."""
    parts = [part.split(",") for part in re.split(r"[{}]", pattern)]
    return ["".join(each) for each in itertools.product(*parts)]


def names(path, text):
    """(line, name) of each file that a page or a header names."""
    if path.suffix == ".h":
        text = re.match(r"(?://.*\n)*", text)[0]
        found = re.finditer(rf"(?<![\w/`.])({PATH})", text)
    else:
        found = re.finditer(rf"`({PATH})`", text)
    for match in found:
        yield text.count("\n", 0, match.start()) + 1, match[1]


def missing_below(path, text):
    """(line, name) of what the tables of the README `path` name and its folder does not have."""
    for number, line in enumerate(text.split("\n"), 1):
        cell = re.match(r"\| (`[^|]*)\|", line)
        for name in re.findall(r"`([\w/*.]+)`", cell[1] if cell else ""):
            if not any(path.parent.glob(f"**/{name}")) and not any(path.parent.glob(f"**/{name}.*")):
                yield number, name


def main(root):
    count, faults = 0, []
    for path in sorted({path for pattern in PAGES + HEADERS for path in root.glob(pattern)}):
        text = path.read_text(encoding="utf-8", errors="replace")
        place = path.relative_to(root).as_posix()
        for line, name in names(path, text):
            count += 1
            for each in variants(name):
                if not any(root.glob(re.sub(r"<\w+>", "*", each))):
                    faults.append(f"{place}:{line}: there is no file '{each}'")
        if path.name == "README.md" and re.match("dialects|lib|runtime", place):
            count += 1
            for line, name in missing_below(path, text):
                faults.append(f"{place}:{line}: there is no file '{name}' below this folder")
        if place == "docs/where.md":
            for number, line in enumerate(text.split("\n"), 1):
                if re.match(r"\| (?!where|---|-)", line) and not re.search(rf"`{PATH}`", line):
                    faults.append(f"{place}:{number}: expected the name of a file in the row")
    for fault in faults:
        print(fault)
    print(f"{count} names of files, {len(faults)} faults")
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
