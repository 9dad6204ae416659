//===- Npy.h - read and write NumPy's .npy files ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A .npy file holds one array: the bytes 93 "NUMPY", a version, the length of a
// header, the header and the elements. The header is a Python literal:
//
//     {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//
// The format stores no names of axes, and NumPy has neither bf16 nor 8-bit floats. An array of bf16
// is written as its bit patterns, '<u2', and read back as ui16; an array of 8-bit floats is read
// back as ui8.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_NPY_H
#define HEDDLE_IO_NPY_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

namespace heddle::io {

/// Which axis varies fastest in the file: the last (C) or the first (Fortran).
enum class Order : uint8_t { C, Fortran };

/// Reads the array in the file `path`: versions 1 to 3 of the format, both orders of axes, both
/// byte orders. Throws Error that names the file if it is missing, damaged or of another format.
HostArray readNpy(const std::string &path, Here here = Here::current());

/// Writes `array` to the file `path`, atomically (AtomicFile.h). Throws Error that names the file.
void writeNpy(const std::string &path, const HostArray &array, Order order = Order::C,
              Here here = Here::current());

} // namespace heddle::io

#endif // HEDDLE_IO_NPY_H
