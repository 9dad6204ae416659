//===- Layers.h - layers ----------------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layer is a struct of tensors (a tree, heddle/Tree.h) and a call operator. The call states the
// names that it works along, so a layer fits the names of any model:
//
//     struct Net {
//       nn::Conv first;  nn::LayerNorm norm;  nn::Linear last;
//       HEDDLE_FIELDS(first, norm, last)
//     };
//     x = relu(net.first(x, over(row, column), channel, out));
//     x = net.norm(x, over(row, column, channel));
//     x = net.last(x, over(row, column, channel));
//
// Each layer is made of operations of heddle/Ops.h, which the compiler differentiates and fuses
// like a user's own. Layers that differ between training and evaluation take a mode (Mode.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_LAYERS_H
#define HEDDLE_NN_LAYERS_H

#include "heddle/nn/Activations.h"
#include "heddle/nn/Attention.h"
#include "heddle/nn/Convolution.h"
#include "heddle/nn/Embedding.h"
#include "heddle/nn/EmbeddingBag.h"
#include "heddle/nn/Graph.h"
#include "heddle/nn/Linear.h"
#include "heddle/nn/Mode.h"
#include "heddle/nn/Normalization.h"
#include "heddle/nn/Pooling.h"
#include "heddle/nn/Recurrent.h"
#include "heddle/nn/Resampling.h"
#include "heddle/nn/Speech.h"
#include "heddle/nn/Transformer.h"

#endif // HEDDLE_NN_LAYERS_H
