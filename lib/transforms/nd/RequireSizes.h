//===- RequireSizes.h - conditions on sizes that calls check ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that reads a part of a tensor must stay in bounds, and sizes must not be negative. The
// verifier checks constant sizes. Conditions on symbols that do not follow from the declared ranges
// become an attribute of the function, as do these ranges; a compiled program checks them at each
// call:
//
//     func.func @f(%x: !nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: 5>
//         attributes {heddle.requires = [{got = "5", location = loc(...), most = "N",
//                                         what = "the size of 'n' in 'nd.sort'"}]} {
//       %0 = nd.sort %x along n : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: 5>
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_REQUIRESIZES_H
#define HEDDLE_TRANSFORMS_ND_REQUIRESIZES_H

#include "lib/support/Mlir.h"

#include "runtime/format/Manifest.h"

namespace heddle {

/// Applies a renaming of the function's symbols to its requirements.
void renameRequirements(func::FuncOp function, const ExprMap &symbols);
/// The requirements of the function that involve only `symbols`; `locationText` prints source
/// locations.
std::vector<SizeRequirement> requirementsOf(func::FuncOp function, ArrayRef<std::string> symbols,
                                            function_ref<std::string(Location)> locationText);

} // namespace heddle

#endif // HEDDLE_TRANSFORMS_ND_REQUIRESIZES_H
