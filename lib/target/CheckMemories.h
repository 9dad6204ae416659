//===- CheckMemories.h - the memories of arguments --------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An argument may state that it is in the memory of the host, or in a file:
//
//     %m: !nd.tensor<f32, k: 8> {mesh.sharding = #mesh.sharding<{}, memory file>}
//
// If the device's memory is the host's, `host` has no effect, and the runtime keeps tensors with
// `file` in mapped files (runtime/memory/FileMemory.h), which programs read and write directly.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_CHECKMEMORIES_H
#define HEDDLE_LIB_TARGET_CHECKMEMORIES_H

#include "lib/target/Target.h"

namespace heddle {

/// Fails if an argument of a public function has a memory that the target does not share.
/// `explain`: reports in remarks which memories are the device's.
LogicalResult checkMemories(ModuleOp module, const Target &target, bool explain);

} // namespace heddle

#endif // HEDDLE_LIB_TARGET_CHECKMEMORIES_H
