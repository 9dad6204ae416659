//===- GraphHash.h - which program a plan is for ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan names the operators of one program. The hash of a program's graph tells it from others:
//
//     func.func @step(%x: !nd.tensor<f32, batch: 4> {nd.name = "x"}) -> ...        99aa06d3014798d8
//
// It depends on operators, on names and sizes of tensors, and on the names of arguments and
// results. It does not depend on names of functions and values, on locations, on the numbers of
// fresh names (`from$3`), or on what plans state: attributes such as shardings, and
// `mesh.constrain`. So the step of a trainer has the same hash with and without ZeRO.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TRANSFORMS_NAMES_GRAPHHASH_H
#define HEDDLE_LIB_TRANSFORMS_NAMES_GRAPHHASH_H

#include "lib/support/Mlir.h"

#include <string>

namespace heddle {

/// 16 hexadecimal digits, of a function and of those that it calls.
std::string graphHash(func::FuncOp function);

/// Numbers the fresh names of a module's functions in a canonical order. `fresh` counts per
/// process, so equal programs may have other numbers, and types may list their names in another
/// order.
void renumberFresh(ModuleOp module);

} // namespace heddle

#endif // HEDDLE_LIB_TRANSFORMS_NAMES_GRAPHHASH_H
