//===- NarrowProducts.h - narrow factors of sums of products ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixed precision, decided by the form of scalar code: factors of f32 are rounded to a narrow type
// where their products are summed and each factor lacks a name of the iteration space, so that each
// element is used in many products. The products and their sum remain f32:
//     sum over k of %a[m, k] * %b[n, k]
//     becomes   %c = bf16(%a); %d = bf16(%b)
//               sum over k of f32(%c[m, k]) * f32(%d[n, k])
//
// This covers matrix products, convolutions, attention, and their gradients. Elsewhere rounding
// saves nothing or harms accuracy: a factor that has all names (sums of squares, moments of a
// normalisation, weighted means) is read once per product. Factors without names, such as a scale,
// are not rounded.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NEST_FUSE_NARROWPRODUCTS_H
#define HEDDLE_LIB_TRANSFORMS_NEST_FUSE_NARROWPRODUCTS_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// Rounds the factors of all such sums to `narrow`, a float type of less than 32 bits.
void narrowProducts(func::FuncOp function, FloatType narrow);

} // namespace heddle::nest

#endif // HEDDLE_LIB_TRANSFORMS_NEST_FUSE_NARROWPRODUCTS_H
