//===- heddle.h - the public API --------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Includes the public API: names, tensors, operations, kernels as index expressions, compiled
// functions and gradients.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H

#include "heddle/Activations.h"
#include "heddle/Compositions.h"
#include "heddle/FastMath.h"
#include "heddle/Fields.h"
#include "heddle/Jit.h"
#include "heddle/Kernel.h"
#include "heddle/LayerScope.h"
#include "heddle/Mesh.h"
#include "heddle/Name.h"
#include "heddle/Ops.h"
#include "heddle/Order.h"
#include "heddle/Quantize.h"
#include "heddle/Ranks.h"
#include "heddle/Scalar.h"
#include "heddle/Scope.h"
#include "heddle/Tensor.h"
#include "heddle/Timeline.h"
#include "heddle/Tree.h"

#endif // HEDDLE_HEDDLE_H
