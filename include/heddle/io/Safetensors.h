//===- Safetensors.h - named arrays in one file -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The safetensors format: eight bytes with the length of a JSON header, the header, the data. The
// header lists type, shape and offsets of each array, and may hold a map of texts:
//
//     {"__metadata__": {"epoch": "3", "names:w": "in,out"},
//      "w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}
//
// Names of axes are kept in the metadata, as text under "names:" and the
// array's name; other programs see an ordinary safetensors file.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_IO_SAFETENSORS_H
#define HEDDLE_IO_SAFETENSORS_H

#include "heddle/Error.h"
#include "heddle/io/HostArray.h"

#include <map>

namespace heddle::io {

struct Safetensors {
  std::map<std::string, HostArray, std::less<>> arrays;
  std::map<std::string, std::string, std::less<>> metadata;

  /// The array called `name`. Throws Error that lists the names there are.
  const HostArray &at(std::string_view name, Here here = Here::current()) const;
};

/// Reads and checks a file: lengths, sizes and element types agree, the arrays fill the data
/// without gap or overlap, no name occurs twice. Throws Error that names file and array.
Safetensors readSafetensors(const std::string &path, Here here = Here::current());

/// Writes a file, whole or not at all. Equal contents give equal bytes. Names of arrays and
/// metadata are UTF-8; those that begin with "names:" or are "__metadata__" are taken.
void writeSafetensors(const std::string &path, const Safetensors &contents,
                      Here here = Here::current());

} // namespace heddle::io

#endif // HEDDLE_IO_SAFETENSORS_H
