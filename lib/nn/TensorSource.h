//===- TensorSource.h - tensors from files of other programs ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How names are translated, and which part of an array becomes a tensor (heddle/nn/Checkpoint.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_TENSORSOURCE_H
#define HEDDLE_NN_TENSORSOURCE_H

#include "heddle/Tensor.h"
#include "heddle/io/HostArray.h"

namespace heddle::nn {

/// `name` with the texts for its stars that those of `pattern` stand for in `path`; none if the
/// path does not fit.
std::optional<std::string> translated(const std::string &pattern, const std::string &path,
                                      const std::string &name);

/// A part of an array as one with names: the element at coordinates c lies at offset + sum of c *
/// strides.
struct Selection {
  io::HostArray header; ///< without bytes
  std::vector<int64_t> strides;
  int64_t offset = 0;
  std::string problem; ///< why it does not give what is wanted; begins with "; "
};
/// `axes`: the names of each axis of `array`, as TensorSource says; `wanted`: those of the result.
Selection select(const io::HostArray &array, const std::vector<std::string> &axes,
                 const Sizes &wanted);
io::HostArray selected(io::HostArray array, const Selection &selection);

} // namespace heddle::nn

#endif // HEDDLE_NN_TENSORSOURCE_H
