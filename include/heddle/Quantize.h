//===- Quantize.h - quantised tensors ---------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A quantised tensor is a tensor of small integers with a scale, one for the whole tensor or one
// for each coordinate of some names: element = integer * scale.
//
//     Quantized q = quantize(weight, over(out));       // i8 and a scale for each `out`
//     Tensor y = sum(x * dequantize(q), over(in));     // fuses: weights are read as bytes
//     Tensor packed = packInt4(quantize(weight, over(out), 4).values, in);   // two per byte
//
// In training `fakeQuantize` rounds as quantisation would. Its gradient ignores the rounding
// (straight-through estimator), and is 0 where a value was clipped.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_QUANTIZE_H
#define HEDDLE_QUANTIZE_H

#include "heddle/Ops.h"

namespace heddle {

/// A tensor of integers of `bits` bits with its scale.
struct Quantized {
  Tensor values; ///< i8, from -(2^(bits-1) - 1) to 2^(bits-1) - 1
  Tensor scale;  ///< floats, with some of the names of `values`
};

/// The scale that maps the largest magnitude of `x` to the largest integer of `bits` bits: one
/// scale for each coordinate of `per`, or one for the whole tensor. 1 where all elements are 0.
/// Throws Error unless `bits` is 2 to 8.
Tensor quantizationScale(Operand x, const Names &per = {}, int bits = 8);
/// Divides by `scale`, rounds to nearest (ties to even) and clips to integers of `bits` bits.
Quantized quantize(Operand x, const Tensor &scale, int bits = 8);
/// The same with the scale of `quantizationScale`.
Quantized quantize(Operand x, const Names &per = {}, int bits = 8);
/// `x.values * x.scale`, in the element type of the scale.
Tensor dequantize(const Quantized &x, Here here = Here::current());
/// Quantises and dequantises. The gradient is 1 where `x` is not clipped, else 0.
Tensor fakeQuantize(Operand x, const Tensor &scale, int bits = 8);

/// Packs two neighbours along `name`, i8 values of 4 bits, into one byte (ui8); the element with
/// the even coordinate takes the lower half. Throws Error for an odd size; a symbolic size is
/// checked when the program is called.
Tensor packInt4(const Tensor &x, const Name &name, Here here = Here::current());
/// The inverse of `packInt4`: i8 elements, twice as many along `name`.
Tensor unpackInt4(const Tensor &packed, const Name &name, Here here = Here::current());

} // namespace heddle

#endif // HEDDLE_QUANTIZE_H
