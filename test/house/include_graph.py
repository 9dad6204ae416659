#!/usr/bin/env python3
"""Checks the order of dependence between the folders on every include.

    include_graph.py ROOT     prints the includes that go against the order, and fails if there are any

The order is that of cmake/folders.txt, which CMakeLists.txt reads as well. Public headers under
include/heddle belong to the folder that implements them, and include each other only, because they
are installed without the rest.
"""
import pathlib
import re
import sys

# Who implements a public header, where that is not the builder.
PUBLIC = {
    "include/heddle/ElementType.h": "runtime/base",
    "include/heddle/Error.h": "runtime/base",
    "include/heddle/Expr.h": "runtime/expr",
    "include/heddle/runtime.h": "runtime/program",
    "include/heddle/runtime_c.h": "runtime/program",
    "include/heddle/FastMath.h": "lib/support",
    "include/heddle/MeshRule.h": "lib/support",
    "include/heddle/io": "lib/support/io",
    "include/heddle/nn": "lib/nn",
    "include/heddle/nn/data": "lib/nn/data",
    "include/heddle": "lib/builder",
}
ORDER = pathlib.Path(__file__).parents[2] / "cmake/folders.txt"
LEVEL = {
    folder: level
    for level, line in enumerate(ORDER.read_text().splitlines())
    if not line.startswith("#")
    for folder in line.split()
}
# Pairs (folder, other): the folder does without the other one, although that comes earlier.
WITHOUT = {
    (folder, other)
    for folders, others in re.findall(r"^# (lib/.*) without (.*)$", ORDER.read_text(), re.M)
    for folder in folders.split()
    for other in others.split()
}
# Folders that include no LLVM.
WITHOUT_LLVM = ["runtime", "lib/profile", "lib/support/io", "lib/nn", "include"]
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
                if (room, other) in WITHOUT:
                    faults.append(f"{place}: {room} includes {name}, and does without {other}")
                elif other != room and LEVEL[other] >= LEVEL[room]:
                    faults.append(f"{place}: {room} includes {name} of {other}, which comes "
                                  + ("later" if LEVEL[other] > LEVEL[room] else "beside it"))
    for fault in faults:
        print(fault)
    print(f"{files} files, {arrows} arrows, {len(faults)} against the order")
    return 1 if faults or arrows == 0 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
