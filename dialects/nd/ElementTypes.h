//===- ElementTypes.h - element types of memory and IR ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element types of heddle/ElementType.h are types of IR with the same spelling.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_ELEMENTTYPES_H
#define HEDDLE_DIALECTS_ND_ELEMENTTYPES_H

#include "heddle/ElementType.h"
#include "lib/support/Mlir.h"

namespace heddle::nd {

/// The element type of tensors in memory; none for a type without a memory format.
std::optional<ElementType> elementTypeOf(Type type);
Type mlirType(MLIRContext *context, ElementType element);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_ELEMENTTYPES_H
