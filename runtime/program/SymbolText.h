//===- SymbolText.h - values of symbols in messages -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_SYMBOLTEXT_H
#define HEDDLE_RUNTIME_PROGRAM_SYMBOLTEXT_H

#include "runtime/format/Manifest.h"

#include <algorithm>
#include <initializer_list>

namespace heddle {

/// ` with N = 3, M = 4`, without the symbols of `shown`, whose values the message has already.
inline std::string symbolText(const EntrySpec &entry, const std::vector<int64_t> &values,
                              std::initializer_list<Expr> shown) {
  std::string text;
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    if (std::find(shown.begin(), shown.end(), Expr::name(entry.symbols[i])) == shown.end())
      text +=
          (text.empty() ? " with " : ", ") + entry.symbols[i] + " = " + std::to_string(values[i]);
  return text;
}

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_SYMBOLTEXT_H
