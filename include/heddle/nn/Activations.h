//===- Activations.h - learned slopes, and softmax --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of heddle/Activations.h and heddle/Ops.h, in this namespace too, and some that have
// parameters or names. leakyRelu is in heddle/Compositions.h.
//
//     x = nn::gelu(x);                                       // heddle::gelu
//     Tensor probability = nn::softmax(scores, classes);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_ACTIVATIONS_H
#define HEDDLE_NN_ACTIVATIONS_H

#include "heddle/Activations.h"
#include "heddle/Ops.h"
#include "heddle/Tree.h"

namespace heddle::nn {

using heddle::elu;
using heddle::gatedLinear;
using heddle::gelu;
using heddle::geluTanh;
using heddle::hardTanh;
using heddle::relu;
using heddle::relu6;
using heddle::sigmoid;
using heddle::silu;
using heddle::softplus;
using heddle::tanh;
using heddle::thresholdRelu;

/// x where it is above 0, else slope * x (torch.nn.PReLU); one slope for all elements, or one for
/// each coordinate of `extents`.
struct PRelu {
  Tensor slope;
  HEDDLE_FIELDS(slope)
  static PRelu make(const std::vector<Extent> &extents = {}, double slope = 0.25,
                    Here here = Here::current());
  Tensor operator()(const Tensor &x, Here here = Here::current()) const;
};

/// exp(x) over its sum along `along`, and the logarithm of that; neither overflows.
Tensor softmax(const Tensor &x, const Names &along, Here here = Here::current());
Tensor logSoftmax(const Tensor &x, const Names &along, Here here = Here::current());

} // namespace heddle::nn

#endif // HEDDLE_NN_ACTIVATIONS_H
