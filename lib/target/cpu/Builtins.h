//===- Builtins.h - functions that instruction sets lack --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an instruction set lacks an operation LLVM calls a function by its customary name: `floorf`
// before SSE 4.1, `fmaf` without FMA, `__extendhfsf2` without F16C, `exp` on doubles everywhere.
// Programs import nothing, so these functions are part of them: small and slow, since nobody
// chooses such a target for speed. All are exact but those of BuiltinsMath.h, which err by a few
// units in the last place.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CPU_BUILTINS_H
#define HEDDLE_LIB_TARGET_CPU_BUILTINS_H

#include "lib/target/cpu/Link.h"

#include <optional>

namespace heddle::cpu {

/// An object with those functions that `objects` lack and we have; none if they lack none.
llvm::Expected<std::optional<Object>> builtinsFor(llvm::ArrayRef<Object> objects);

/// The object itself, with all functions.
Object allBuiltins();
/// The names of all functions that there are, sorted.
std::vector<std::string> builtinNames();

} // namespace heddle::cpu

#endif // HEDDLE_LIB_TARGET_CPU_BUILTINS_H
