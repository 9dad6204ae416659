//===- Activations.h - functions of single elements -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Activation functions of networks, beside relu, sigmoid and tanh of heddle/Ops.h and leakyRelu of
// heddle/Compositions.h:
//
//     x = gelu(x);
//     x = gatedLinear(x, feature);                           // half as many features
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ACTIVATIONS_H
#define HEDDLE_ACTIVATIONS_H

#include "heddle/Ops.h"

namespace heddle {

/// x * P(X <= x) for a normal X (Hendrycks and Gimpel, 2016; torch.nn.GELU): `gelu` is exact,
/// `geluTanh` is the approximation by tanh.
Tensor gelu(const Tensor &x, Here here = Here::current());
Tensor geluTanh(const Tensor &x, Here here = Here::current());
/// x * sigmoid(x), also called swish (torch.nn.SiLU).
Tensor silu(const Tensor &x, Here here = Here::current());
/// x where it is above 0, else alpha * (exp(x) - 1) (torch.nn.ELU).
Tensor elu(const Tensor &x, double alpha = 1, Here here = Here::current());
/// x clamped to [-1, 1] (torch.nn.Hardtanh), and to [0, 6] (torch.nn.ReLU6).
Tensor hardTanh(const Tensor &x, Here here = Here::current());
Tensor relu6(const Tensor &x, Here here = Here::current());
/// x where it is above `threshold`, else `value` (torch.nn.Threshold).
Tensor thresholdRelu(const Tensor &x, double threshold, double value = 0,
                     Here here = Here::current());
/// log(1 + exp(x)) without overflow (torch.nn.Softplus).
Tensor softplus(const Tensor &x, Here here = Here::current());
/// The first half along `name` times the sigmoid of the second (Dauphin et al., 2017;
/// torch.nn.GLU). Throws Error for an odd size.
Tensor gatedLinear(const Tensor &x, const Name &name, Here here = Here::current());

} // namespace heddle

#endif // HEDDLE_ACTIVATIONS_H
