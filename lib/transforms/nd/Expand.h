//===- Expand.h - expands extension ops -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Extension dialects may define ops on named tensors. Such an op implements interfaces: the
// interpreter evaluates it (lib/interp/Meaning.h), differentiation builds its gradients
// (dialects/nd/NdInterfaces.td), and the compiler replaces it by ops of nd and nest:
//
//     %y = my.softsign %x        ->        %y = nd.pointwise %x { e / (1 + |e|) }
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_EXPAND_H
#define HEDDLE_TRANSFORMS_ND_EXPAND_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "lib/transforms/nd/ExpandInterface.h.inc"

#endif // HEDDLE_TRANSFORMS_ND_EXPAND_H
