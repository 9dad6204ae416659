//===- TensorSpec.cpp - the type of a tensor ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/TensorSpec.h"

#include "heddle/Error.h"

using namespace heddle;

std::string heddle::describe(const TensorSpec &spec) {
  std::string text;
  for (const auto &[name, size] : spec.dims)
    text += (text.empty() ? "" : ", ") + name + ": " + size.str();
  return std::string(spelling(spec.element)) + " {" + text + "}";
}

Sizes heddle::constantSizes(const TensorSpec &spec) {
  Sizes sizes;
  for (const auto &[name, size] : spec.dims) {
    auto number = size.constant();
    if (!number || *number < 0)
      throw Error("expected a number of at least 0 as the size of '" + name + "', got " +
                  size.str());
    sizes[name] = *number;
  }
  return sizes;
}

int64_t heddle::byteCount(const TensorSpec &spec, const Layout &layout) {
  return layout.elements(constantSizes(spec)) * byteSize(spec.element);
}
