//===- HalvesByBits.h - f16 for devices that lack it ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OpenCL does not say that a device has f16. Here a half is the i16 of its bits, a builtin makes a
// float of it, and operations on halves compute in f32:
//
//     %x = load half, ptr %p               %x = load i16, ptr %p
//     %y = fpext half %x to float    ->    %y = call float @heddle_half_to_float(i16 %x)
//
// The bits of sums, differences, products, quotients and square roots are those of operations in
// f16: f32 has more than twice its bits (Figueroa, When is double rounding innocuous?, 1995).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_OPENCL_HALVESBYBITS_H
#define HEDDLE_LIB_TARGET_OPENCL_HALVESBYBITS_H

namespace llvm {
class Module;
} // namespace llvm

namespace heddle::gpu {

/// Replaces scalar halves. Vectors of halves, arguments and results of functions stay.
void replaceHalvesByBits(llvm::Module &module);

} // namespace heddle::gpu

#endif // HEDDLE_LIB_TARGET_OPENCL_HALVESBYBITS_H
