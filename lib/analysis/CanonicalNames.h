//===- CanonicalNames.h - an order of a function's names --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pass that chooses among names has to break ties, and spelling must not do it. `canonicalNames`
// lists all names of a function in an order that follows from what they are used for:
//
//     f(x: {row: 8, k: 4}, y: {k: 4}) = sum over k of x * y     k, row, whatever they are called
//
// How: colour refinement over the whole function. Names begin alike. A name's colour becomes what
// all ops that mention it look like when it alone stands out and the others are written by their
// colours; values are written by what makes them. This is repeated until no colour splits. Of names
// that still look alike (rows and columns of a square picture) one is set apart and the rest
// follows.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_CANONICALNAMES_H
#define HEDDLE_ANALYSIS_CANONICALNAMES_H

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <string>
#include <vector>

namespace heddle {

std::vector<std::string> canonicalNames(mlir::FunctionOpInterface function);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_CANONICALNAMES_H
