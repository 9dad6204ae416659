//===- TensorSpec.h - the type of a tensor ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An element type and sizes by name, which are numbers or expressions over symbols:
//
//     TensorSpec spec{ElementType::F32, {{"row", 2}, {"column", 3}}};
//     describe(spec)                                     // f32 {column: 3, row: 2}
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_FORMAT_TENSORSPEC_H
#define HEDDLE_RUNTIME_FORMAT_TENSORSPEC_H

#include "heddle/ElementType.h"
#include "runtime/expr/Layout.h"

namespace heddle {

/// A tensor type in the runtime: an element type and named sizes.
struct TensorSpec {
  ElementType element = ElementType::F32;
  ExprMap dims; ///< by name, over symbols
  bool operator==(const TensorSpec &) const = default;
};
/// The sizes of a type. Throws Error if one has a symbol.
Sizes constantSizes(const TensorSpec &spec);
/// The number of bytes of a tensor with constant sizes in a layout.
int64_t byteCount(const TensorSpec &spec, const Layout &layout);
/// The type for messages: `f32 {column: 3, row: 2}`.
std::string describe(const TensorSpec &spec);

} // namespace heddle

#endif // HEDDLE_RUNTIME_FORMAT_TENSORSPEC_H
