//===- NeutralNames.h - hides the spelling of names from passes -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion, layouts and schedules choose among names, and the choice must not depend on spelling. So
// names are `n000`, `n001`, ... in their canonical order (lib/analysis/CanonicalNames.h) while
// those passes run, and get their spelling back afterwards. The function carries the dictionary
// meanwhile:
//
//     func.func @f(...) attributes {heddle.names = {n000 = "row", n001 = "k"}}
//
// A diagnostic of these passes about `n001` reaches the user with `k` (SpelledDiagnostics).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_NEUTRALNAMES_H
#define HEDDLE_TRANSFORMS_ND_NEUTRALNAMES_H

#include "lib/analysis/Canonical.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace heddle {

/// `text` with whole words replaced: `n001$1 >= 0` is `k$1 >= 0` if `n001` is written as `k`.
std::string respell(llvm::StringRef text, const Labels &names);

/// While it lives, diagnostics about functions of `module` spell names as the user does.
class SpelledDiagnostics : public mlir::ScopedDiagnosticHandler {
public:
  explicit SpelledDiagnostics(mlir::ModuleOp module);

private:
  mlir::ModuleOp module;
  bool emitting = false; ///< the spelled diagnostic, which other handlers take
  mlir::LogicalResult handle(mlir::Diagnostic &diagnostic);
  Labels namesFor(mlir::Location loc);
};

} // namespace heddle

#endif // HEDDLE_TRANSFORMS_ND_NEUTRALNAMES_H
