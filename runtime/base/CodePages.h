//===- CodePages.h - code and constants in memory ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Page-aligned copies of a program's bytes: read-only once they are written, and executable only if
// they are code.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_BASE_CODEPAGES_H
#define HEDDLE_RUNTIME_BASE_CODEPAGES_H

#include <cstddef>
#include <string_view>
#include <utility>

namespace heddle {

class Mapping {
public:
  enum class Use { Code, Constants };
  Mapping() = default;
  /// Throws Error if the system refuses.
  Mapping(std::string_view bytes, Use use);
  ~Mapping();
  Mapping(Mapping &&other) noexcept { *this = std::move(other); }
  Mapping &operator=(Mapping &&other) noexcept {
    std::swap(start, other.start);
    std::swap(length, other.length);
    return *this;
  }

  char *data() const { return start; } ///< null if empty
  std::string_view bytes() const { return {start, length}; }

private:
  char *start = nullptr;
  size_t length = 0;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_BASE_CODEPAGES_H
