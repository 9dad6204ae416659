//===- Translate.h - IR and program files as text ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program file contains its types and names, so its translations need no IR:
//
//     @scale (N)        code at 0x40, arena 4096 bytes
//       argument 0   x: f32 {row: N}  [row]
//       ...
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_HEDDLE_TRANSLATE_TRANSLATE_H
#define HEDDLE_TOOLS_HEDDLE_TRANSLATE_TRANSLATE_H

#include "runtime/format/ProgramImage.h"

#include "mlir/IR/BuiltinOps.h"

namespace heddle::translate {

/// Writes a graph with a node for each op on tensors and each argument, and an edge for each use of
/// a value, labelled with its names, sizes and layout. Ops that contain ops on tensors are boxes.
void writeDot(mlir::ModuleOp module, llvm::raw_ostream &out);

void writeText(const ProgramImage &image, llvm::raw_ostream &out);
/// Throws Error if LLVM does not know the program's target.
void writeAssembly(const ProgramImage &image, llvm::raw_ostream &out);

} // namespace heddle::translate

#endif // HEDDLE_TOOLS_HEDDLE_TRANSLATE_TRANSLATE_H
