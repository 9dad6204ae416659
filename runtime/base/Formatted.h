//===- Formatted.h - printf into a string -----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_BASE_FORMATTED_H
#define HEDDLE_RUNTIME_BASE_FORMATTED_H

#include <string>

namespace heddle {

/// printf into a string of at most 255 bytes.
std::string formatted(const char *pattern, ...) __attribute__((format(printf, 1, 2)));

} // namespace heddle

#endif // HEDDLE_RUNTIME_BASE_FORMATTED_H
