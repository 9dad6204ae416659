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


def kernels_of(code):
    """The symbol of each kernel, its image, and its code for one chip (runtime/device/KernelImages.h)."""
    while code:
        line, code = code.split(b"\n", 1)
        _, symbol, _, _, *lengths = line.split()
        image, end = int(lengths[0]), sum(map(int, lengths))
        yield symbol.decode(), code[:image], code[image:end]
        code = code[end:]


def images_of(code):
    return ((symbol, image) for symbol, image, _ in kernels_of(code))


def codes_of(code):
    return ((symbol, made) for symbol, _, made in kernels_of(code))
