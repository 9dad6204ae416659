//===- Combine.h - sums, products, max and min of arrays --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_ENGINE_COMBINE_H
#define HEDDLE_RUNTIME_COLLECTIVES_ENGINE_COMBINE_H

#include "heddle/ElementType.h"

namespace heddle::collectives {

/// output[i] = ((inputs[0][i] . inputs[1][i]) . inputs[2][i]) ..., where . is the combiner
/// (HEDDLE_SUM, ...), as Collectives.h says. `output` may be one of the inputs. An element's value
/// depends neither on its position nor on `count`.
void combine(ElementType type, int32_t combiner, const void *const *inputs, int members,
             void *output, int64_t count);

} // namespace heddle::collectives

#endif // HEDDLE_RUNTIME_COLLECTIVES_ENGINE_COMBINE_H
