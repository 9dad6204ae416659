#!/usr/bin/env python3
"""The order of dependence between the folders, checked on every include.

    include_graph.py ROOT     prints the arrows that point back, and fails if there are any

A folder may include itself, and folders that stand in an earlier line than its own. Public headers
under include/heddle belong to the folder that implements them, and include each other only, as they
are installed alone. Folders in one line know nothing of one another.
"""
import pathlib
import re
import sys

# From the bottom up. A room is a prefix of paths; the longest that fits counts.
ORDER = [
    ["runtime"],
    ["lib/support"],
    ["dialects/nd"],
    ["dialects/nest"],
    ["dialects/check", "dialects/mesh"],
    ["lib/analysis"],
    ["lib/interp"],
    ["lib/transforms/nd", "lib/transforms/nest", "lib/transforms/mesh", "lib/conversion"],
    ["lib/conversion/nest_to_steps"],
    ["lib/target"],
    ["lib/pipelines"],
    ["lib/builder"],
    ["lib/nn", "lib/planner"],
    ["tools", "models"],
    ["bench", "docs"],
]
# Who implements a public header, where that is not the builder.
PUBLIC = {
    "include/heddle/ElementType.h": "runtime",
    "include/heddle/Error.h": "runtime",
    "include/heddle/Expr.h": "runtime",
    "include/heddle/runtime.h": "runtime",
    "include/heddle/runtime_c.h": "runtime",
    "include/heddle/FastMath.h": "lib/support",
    "include/heddle/io": "lib/support",
    "include/heddle/nn": "lib/nn",
    "include/heddle": "lib/builder",
}
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
# Whoever sets no foot into LLVM.
WITHOUT_LLVM = ["runtime", "lib/support/io", "lib/nn", "include"]
SOURCES = {".h", ".c", ".cpp", ".td"}


def longest_prefix(path, prefixes):
    fitting = [p for p in prefixes if path == p or path.startswith(p + "/")]
    return max(fitting, key=len, default=None)


def room_of(path):
    owner = longest_prefix(path, PUBLIC)
    return PUBLIC[owner] if owner else longest_prefix(path, LEVEL)


def target_of(root, including, name):
    """The file of ours that an include names, as a path from the root; none for others."""
    for folder in ["", "include", str(pathlib.PurePosixPath(including).parent)]:
        path = pathlib.PurePosixPath(folder) / name
        # Generated files lie beside the sources that they belong to.
        if (root / path).is_file() or (name.endswith(".inc") and (root / path).parent.is_dir()):
            return str(path) if room_of(str(path)) else None
    return None


def main(root):
    faults, arrows, files = [], 0, 0
    for folder in ["runtime", "include", "dialects", "lib", "tools", "models", "bench", "docs"]:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SOURCES or not file.is_file():
                continue
            path = file.relative_to(root).as_posix()
            room = room_of(path)
            if room is None:
                faults.append(f"{path}: stands in no room of the house")
                continue
            files += 1
            for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
                found = re.match(r'\s*(?:#\s*)?include\s+(["<])([^">]+)[">]', line)
                if not found:
                    continue
                place, name = f"{path}:{number}", found[2]
                if re.match(r"(mlir|llvm)(-c)?/", name):
                    if longest_prefix(path, WITHOUT_LLVM):
                        faults.append(f"{place}: includes {name}; no LLVM in here")
                    continue
                target = target_of(root, path, name)
                if target is None:
                    if path.startswith("include/heddle/") and found[1] == '"':
                        faults.append(f"{place}: includes {name}, which is not installed")
                    continue
                if path.startswith("include/heddle/") and not target.startswith("include/heddle/"):
                    faults.append(f"{place}: includes {name}, which is not installed")
                arrows += 1
                other = room_of(target)
                if other == room or LEVEL[other] < LEVEL[room]:
                    continue
                faults.append(f"{place}: {room} includes {name} of {other}, which comes "
                              + ("later" if LEVEL[other] > LEVEL[room] else "beside it"))
    for fault in faults:
        print(fault)
    print(f"{files} files, {arrows} arrows, {len(faults)} against the order")
    return 1 if faults or arrows == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
