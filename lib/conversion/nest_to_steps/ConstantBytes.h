//===- ConstantBytes.h - literals as bytes ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The constants block of a program: the bytes of every literal in its layout. Literals with equal
// bytes share an offset.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_CONSTANTBYTES_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_CONSTANTBYTES_H

#include "dialects/nd/Nd.h"
#include "runtime/format/Manifest.h"

namespace heddle {

/// The type of a tensor as the runtime sees it.
TensorSpec specOf(nd::NdTensorType type);

class ConstantBlock {
public:
  /// The offset of the literal's bytes; none for an element type without a format in memory.
  std::optional<int64_t> add(nd::LiteralInterface constant, const Layout &layout);
  std::string take() { return std::move(bytes); }

private:
  std::string bytes;
  std::map<std::pair<int64_t, std::string>, int64_t> offsets; ///< by alignment and hash
};

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_CONSTANTBYTES_H
