//===- Mutate.h - mutates the programs of tests -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text is changed as text (a number, a type or a name becomes another one, everywhere or in one
// place) or as IR (an operand becomes another value of its type, an op is erased, a function is
// differentiated, a gradient is lifted). Most mutants still verify.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_FUZZ_MUTATE_H
#define HEDDLE_TEST_FUZZ_MUTATE_H

#include "mlir/IR/BuiltinOps.h"

#include <random>
#include <string>
#include <vector>

namespace heddle::fuzz {

using Random = std::mt19937_64;

/// A number below `count`, which is not 0.
inline size_t below(Random &random, size_t count) { return size_t(random() % count); }

/// Changes some words; `others` are texts to take words and lines from.
std::string mutateText(std::string text, const std::vector<std::string> &others, Random &random);
/// Changes the ops in one way. The result need not verify.
void mutateModule(mlir::ModuleOp module, Random &random);

} // namespace heddle::fuzz

#endif // HEDDLE_TEST_FUZZ_MUTATE_H
