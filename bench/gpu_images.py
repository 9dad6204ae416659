# Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The images of a program file for a GPU."""
import struct


def code_of(program):
    """The section "code" of a program file (runtime/format/ProgramImage.h)."""
    sections = struct.unpack_from("<I", program, 12)[0]
    for i in range(sections):
        name, offset, length, _ = struct.unpack_from("<16sQQQ", program, 16 + 40 * i)
        if name.rstrip(b"\0") == b"code":
            return program[offset : offset + length]


def images_of(code):
    """The symbol and the bytes of each kernel's image (runtime/device/KernelImages.h)."""
    while code:
        line, code = code.split(b"\n", 1)
        _, symbol, _, _, length = line.split()
        yield symbol.decode(), code[: int(length)]
        code = code[int(length) :]
