//===- Quantize.h - tensors of few bits -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A quantised tensor is a tensor of small integers and a scale, for the whole tensor or for each
// coordinate of some names: element = integer * scale.
//
//     Quantized q = quantize(weight, over(out));       // i8 and a scale for each `out`
//     Tensor y = sum(x * dequantize(q), over(in));     // fuses: weights are read as bytes
//     Tensor packed = packInt4(quantize(weight, over(out), 4).values, in);   // two in a byte
//
// In training `fakeQuantize` rounds as quantisation would and lets gradients through as if it did
// not (straight through), but where a value was clipped.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_QUANTIZE_H
#define HEDDLE_QUANTIZE_H

#include "heddle/Ops.h"

namespace heddle {

struct Quantized {
  Tensor values; ///< i8, from -(2^(bits-1) - 1) to 2^(bits-1) - 1
  Tensor scale;  ///< floats, with some of the names of `values`
};

/// The scale at which the largest magnitude is the largest integer of `bits` bits (2 to 8), for
/// each coordinate of `per`, or for the whole tensor. Where all is zero it is 1.
Tensor quantizationScale(Operand x, const Names &per = {}, int bits = 8);
/// Divides by the scale, rounds to nearest (ties to even) and clips.
Quantized quantize(Operand x, const Tensor &scale, int bits = 8);
Quantized quantize(Operand x, const Names &per = {}, int bits = 8);
Tensor dequantize(const Quantized &x, Here here = Here::current());
/// Quantises and dequantises; the gradient is 1 where nothing is clipped.
Tensor fakeQuantize(Operand x, const Tensor &scale, int bits = 8);

/// Two neighbours along `name`, of 4 bits each, in one byte (ui8); the size must be even (a
/// symbolic one is checked when a program is entered).
Tensor packInt4(const Tensor &x, const Name &name, Here here = Here::current());
Tensor unpackInt4(const Tensor &packed, const Name &name, Here here = Here::current());

} // namespace heddle

#endif // HEDDLE_QUANTIZE_H
