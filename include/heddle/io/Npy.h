//===- Npy.h - arrays in NumPy's format -------------------------*- C++ -*-===//
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
// The format stores no names of axes, and NumPy has neither bf16 nor floats of 8 bits: an array of
// bf16 is written as its bit patterns, '<u2', and read back as ui16; floats of 8 bits are read back
// as ui8.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_NPY_H
#define HEDDLE_IO_NPY_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

namespace heddle::io {

/// Which axis varies fastest in the file: the last (C) or the first (Fortran).
enum class Order : uint8_t { C, Fortran };

/// Reads versions 1 to 3, both orders and both byte orders. Throws Error that names the file.
HostArray readNpy(const std::string &path, Here here = Here::current());

/// Writes `array`, whole or not at all.
void writeNpy(const std::string &path, const HostArray &array, Order order = Order::C,
              Here here = Here::current());

} // namespace heddle::io

#endif // HEDDLE_IO_NPY_H
