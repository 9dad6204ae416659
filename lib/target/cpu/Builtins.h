//===- Builtins.h - functions that instruction sets lack --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If an instruction set lacks an operation, LLVM emits a call of a library function: `floorf`
// before SSE 4.1, `fmaf` without FMA, `__extendhfsf2` without F16C, `exp` on doubles everywhere.
// Programs import nothing, so they contain these functions. They are small and slow, since nobody
// chooses such a target for speed. All are exact except those of BuiltinsMath.h, whose error is a
// few units in the last place.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_BUILTINS_H
#define HEDDLE_LIB_TARGET_CPU_BUILTINS_H

#include "lib/target/cpu/Link.h"

#include <optional>

namespace heddle::cpu {

/// Returns an object with the builtins that `objects` refer to and do not define; none if there are
/// none.
llvm::Expected<std::optional<Object>> builtinsFor(ArrayRef<Object> objects);

/// Returns the object with all builtins.
Object allBuiltins();
/// Returns the names of all builtins, sorted.
std::vector<std::string> builtinNames();

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_BUILTINS_H
