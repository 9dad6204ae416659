//===- AttributeText.h - texts of types and attributes ----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Printing a type or attribute creates a printer, which takes longer than the printing. These
// functions return the same text, and need no printer for the types and attributes that are
// frequent in scalar code: scalar types, flags, integers and floats, and dictionaries of these.
//
//     printed(f32)                                             f32
//     printed({fastmath = #arith.fastmath<none>})              {fastmath = #arith.fastmath<none>}
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_ATTRIBUTETEXT_H
#define HEDDLE_ANALYSIS_ATTRIBUTETEXT_H

#include "lib/support/Mlir.h"

namespace heddle {

std::string printed(Type type);
std::string printed(Attribute attr);

} // namespace heddle

#endif // HEDDLE_ANALYSIS_ATTRIBUTETEXT_H
