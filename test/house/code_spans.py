# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fails if a code span in the Markdown files of ROOT is broken over lines.

    code_spans.py ROOT [--write]

--write joins these spans: it breaks the line before each of them.
"""
import pathlib
import re
import sys

FOLDERS = ["bench", "dialects", "docs", "lib", "runtime"]
MOST = 120


def spans(text):
    """The places of code spans that are broken over lines."""
    # Blocks of code become empty lines, which end a paragraph as well.
    blank = lambda block: re.sub(r"[^\n]", " ", block[0])
    prose = re.sub(r"^ *```.*?^ *```$|^    .*?$", blank, text, flags=re.S | re.M)
    for paragraph in re.finditer(r"(?:[^\n]*[^\n ][^\n]*\n)+", prose):
        for span in re.finditer(r"(?<!`)`([^`]+)`(?!`)", paragraph[0]):
            if "\n" in span[1]:
                yield paragraph.start() + span.start(), paragraph.start() + span.end()


def join(text, begin, end):
    """The text with the span on a line of its own if need be, indented as the item of a list that it is in."""
    line = text[text.rfind("\n", 0, begin) + 1 : begin]
    item = re.match(r" *(?:[-*] )?", line)[0]
    word = len(line) - len(line.rstrip("("))  # an opening bracket stays with the span
    span = text[begin - word : begin] + re.sub(r"\n *", " ", text[begin:end])
    rest, _, after = text[end:].partition("\n")
    indent = " " * len(item)
    if len(indent + span + rest) > MOST and " " in rest:
        behind, _, rest = rest.partition(" ")
        rest = behind + "\n" + indent + rest
    return text[: begin - word].rstrip() + "\n" + indent + span + rest + "\n" + after


def main():
    root, broken = pathlib.Path(sys.argv[1]), []
    for path in sorted([*root.glob("*.md"), *(page for folder in FOLDERS for page in (root / folder).rglob("*.md"))]):
        text = path.read_text(encoding="utf-8")
        if "--write" in sys.argv:
            while found := next(spans(text), None):
                text = join(text, *found)
            path.write_text(text, encoding="utf-8")
        for begin, end in spans(text):
            broken.append(f"{path.relative_to(root)}:{text[:begin].count(chr(10)) + 1}: expected the code span on one line: "
                          f"{text[begin:end]!r}")
    if broken:
        sys.exit("\n".join(broken) + f"\n{sys.argv[0]} {root} --write joins them")


main()
