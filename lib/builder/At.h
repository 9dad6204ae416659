//===- At.h - operands with a caller's source location ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function that is made of other operations gives them the source location of its caller:
//
//     At at{x.here};
//     return log(at(sum(at(exp(x)), over)));
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_AT_H
#define HEDDLE_LIB_BUILDER_AT_H

#include "heddle/Tensor.h"

namespace heddle::detail {

/// Makes operands with the source location of the caller, not of a line in the library.
struct At {
  Here here;
  Operand operator()(const auto &value) const { return {value, here}; }
};

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_AT_H
