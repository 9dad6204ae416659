//===- TensorSource.h - tensors from files of other programs ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates names, and selects the part of an array that becomes a tensor
// (heddle/nn/Checkpoint.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_TENSORSOURCE_H
#define HEDDLE_NN_TENSORSOURCE_H

#include "heddle/Tensor.h"
#include "heddle/io/HostArray.h"

namespace heddle::nn {

/// Replaces the stars of `name` by the texts that the stars of `pattern` match in `path`; none if
/// the path does not match.
std::optional<std::string> translated(const std::string &pattern, const std::string &path,
                                      const std::string &name);

/// A strided view of an array, with names: the element at coordinates c is at offset + sum of c *
/// strides.
struct Selection {
  io::HostArray header; ///< without bytes
  std::vector<int64_t> strides;
  int64_t offset = 0;
  std::string problem; ///< why the array does not fit; begins with "; "
};
/// `axes`: the names on each axis of `array`, as in TensorSource; `wanted`: names and sizes of the
/// result.
Selection select(const io::HostArray &array, const std::vector<std::string> &axes,
                 const Sizes &wanted);
io::HostArray selected(io::HostArray array, const Selection &selection);

} // namespace heddle::nn

#endif // HEDDLE_NN_TENSORSOURCE_H
