//===- NdInferenceNames.h - checks of names ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_NDINFERENCENAMES_H
#define HEDDLE_DIALECTS_ND_NDINFERENCENAMES_H

#include "dialects/nd/NdInference.h"

namespace heddle::nd {

/// Fails unless the tensor has the name.
LogicalResult requireName(NdTensorType type, StringRef name, EmitError emitError);
/// Fails if one of the dimensions has the name.
LogicalResult requireNew(ArrayRef<Dim> dims, StringRef name, EmitError emitError);
/// The dimensions of a type without `name`.
SmallVector<Dim> others(NdTensorType type, StringRef name);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_NDINFERENCENAMES_H
