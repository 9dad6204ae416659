//===- NestSyntax.h - text shared by attributes and ops ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parses and prints maps and guards, which occur in attributes (`#nest.map<..>`) and in ops (`reads
// %x[..] if [..]`).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_NEST_NESTSYNTAX_H
#define HEDDLE_DIALECTS_NEST_NESTSYNTAX_H

#include "dialects/nest/Nest.h"

namespace heddle::nest {

/// `row = 2 * row + ky, column = column` between delimiters.
mlir::ParseResult parseEntries(mlir::AsmParser &parser, mlir::AsmParser::Delimiter delimiter,
                               SmallVectorImpl<MapEntry> &entries);
/// Sorts the entries; null, with an error at `loc`, if a name occurs twice.
MapAttr getCheckedMap(mlir::AsmParser &parser, llvm::SMLoc loc, SmallVectorImpl<MapEntry> &entries);
/// `[row + ky - 1 >= 0, row == 0] else 0.0 : f32`
FailureOr<GuardAttr> parseGuardText(mlir::AsmParser &parser);
/// `atLeast`: the spelling of `>=`; the parser also accepts `ge`.
void printGuardText(mlir::AsmPrinter &printer, GuardAttr guard, StringRef atLeast = ">=");
/// `add [0.0 : f32]`, or `[0.0 : f32, 0 : i64] { region }`, after `combine`. `yieldName`: the
/// terminator of the region.
mlir::ParseResult parseCombine(mlir::OpAsmParser &parser, mlir::Region &region, ArrayAttr &neutral,
                               StringRef yieldName = "nest.yield");
/// Prints it with the word `combine`.
void printCombine(mlir::OpAsmPrinter &printer, mlir::Region &region, ArrayAttr neutral);

} // namespace heddle::nest

#endif // HEDDLE_DIALECTS_NEST_NESTSYNTAX_H
