//===- NeutralNames.h - hides the spelling of names from passes -*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fusion, layouts and schedules choose among names, and the choice must not depend on spelling. So
// while those passes run, names are `n000`, `n001`, ... in canonical order
// (lib/analysis/CanonicalNames.h); afterwards the original spelling is restored. Meanwhile the
// function has the dictionary:
//
//     func.func @f(...) attributes {heddle.names = {n000 = "row", n001 = "k"}}
//
// A diagnostic of these passes about `n001` is printed with `k` (SpelledDiagnostics).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_NEUTRALNAMES_H
#define HEDDLE_TRANSFORMS_ND_NEUTRALNAMES_H

#include "lib/analysis/CanonicalNames.h"

namespace heddle {

/// `text` with whole words replaced: `n001$1 >= 0` is `k$1 >= 0` if `n001` is written as `k`.
std::string respell(StringRef text, const Labels &names);

/// During its lifetime, diagnostics about functions of `module` spell names as the user does.
class SpelledDiagnostics : public mlir::ScopedDiagnosticHandler {
public:
  explicit SpelledDiagnostics(ModuleOp module);

private:
  ModuleOp module;
  bool emitting = false; ///< the spelled diagnostic, for other handlers
  LogicalResult handle(mlir::Diagnostic &diagnostic);
  Labels namesFor(Location loc);
};

} // namespace heddle

#endif // HEDDLE_TRANSFORMS_ND_NEUTRALNAMES_H
