//===- SumType.h - the type in which layers compute -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts, factors and small constants are no numbers of f16 or bf16: 65520 and 1e-8 are inf and 0 in
// f16. So a function with such numbers computes in f32, and rounds its result once:
//
//     Tensor y = sum(inSumType(x), over(row)) / widthOf({row, size}, sumTypeOf(x));
//     return y.cast(x.elementType());
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_NN_SUMTYPE_H
#define HEDDLE_LIB_NN_SUMTYPE_H

#include "heddle/Ops.h"

namespace heddle::nn {

/// f64 for elements of f64, else f32.
inline ElementType sumTypeOf(const Tensor &x) {
  return x.elementType() == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}
inline Tensor as(const Tensor &x, ElementType type) {
  return x.elementType() == type ? x : x.cast(type);
}
inline Tensor inSumType(const Tensor &x) { return as(x, sumTypeOf(x)); }
/// A size, which may be symbolic, as a tensor without names.
inline Tensor widthOf(const Extent &extent, ElementType type) {
  return countOf(iota(extent), {extent.name}, type);
}

} // namespace heddle::nn

#endif // HEDDLE_LIB_NN_SUMTYPE_H
