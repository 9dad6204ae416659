//===- HostTensor.h - tensors as bytes --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts between bytes of files and compiled programs (heddle/io/HostArray.h) and the
// interpreter's scalars with error bounds. Scalars from bytes are exact; bytes from scalars are
// rounded to the element type, without bounds.
//
//     HostArray bytes = toHost(tensor);        // row-major over the sorted names
//     TensorValue same = fromHost(context, bytes);
//
// An array's names may be in any order: {row: 2, column: 3} and its transpose {column: 3, row: 2}
// become the same tensor.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_HOSTTENSOR_H
#define HEDDLE_LIB_INTERP_HOSTTENSOR_H

#include "dialects/nd/ElementTypes.h"
#include "heddle/io/HostArray.h"
#include "lib/interp/TensorValue.h"

namespace heddle::interp {

/// Loads one element from bytes.
Scalar loadElement(ElementType element, const std::byte *from);
/// Stores one element as bytes; a float is rounded to its type.
void storeElement(ElementType element, const Scalar &scalar, std::byte *to);

/// The elements of a tensor, whose element type must have a memory format.
io::HostArray toHost(const TensorValue &tensor);
/// The tensor with the elements of an array that has a name for each axis.
TensorValue fromHost(MLIRContext *context, const io::HostArray &array);

} // namespace heddle::interp

#endif // HEDDLE_LIB_INTERP_HOSTTENSOR_H
