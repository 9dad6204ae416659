//===- RequireSizes.h - what sizes must be like on entry --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that take a part of a tensor may not take more than there is, and no size is negative. Where
// sizes are numbers that is verified; where they have symbols and it doesn't follow from the ranges
// that are declared, it is written on the function, as are these ranges, and a compiled program
// checks it when sizes are known:
//
//     func.func @f(%x: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: 5>
//         attributes {heddle.requires = [{got = "5", most = "N",
//                                         what = "the size of 'n' in 'nd.sort'",
//                                         place = loc(...)}]} {
//       %0 = nd.sort %x along n : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: 5>
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_REQUIRESIZES_H
#define HEDDLE_TRANSFORMS_ND_REQUIRESIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "runtime/program/Manifest.h"

namespace heddle {

/// Follows a renaming of the function's symbols.
void renameRequirements(mlir::func::FuncOp function, const ExprMap &symbols);
/// What is written on the function about `symbols` alone; `placeOf` spells locations.
std::vector<SizeRequirement>
requirementsOf(mlir::func::FuncOp function, llvm::ArrayRef<std::string> symbols,
               llvm::function_ref<std::string(mlir::Location)> placeOf);

} // namespace heddle

#endif // HEDDLE_TRANSFORMS_ND_REQUIRESIZES_H
