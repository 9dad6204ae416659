//===- SizeAsTensor.h - sizes as tensors ------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A size that may be symbolic takes part in arithmetic as a tensor without names:
//
//     Tensor first = number * widthOf({row, x.size(row)}, ElementType::I64) / double(parts);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_SIZEASTENSOR_H
#define HEDDLE_LIB_NN_SIZEASTENSOR_H

#include "heddle/Ops.h"

namespace heddle::nn {

inline Tensor widthOf(const Extent &extent, ElementType type) {
  return countOf(iota(extent), {extent.name}, type);
}

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_SIZEASTENSOR_H
