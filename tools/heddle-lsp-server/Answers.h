//===- Answers.h - edits the server's answers -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's server writes its messages to standard output itself. During the lifetime of `Answers`,
// standard output is a pipe; a thread reads messages from it, applies `change`, and writes the
// results to the original standard output. Other text, such as that of --help, is not changed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_LSP_ANSWERS_H
#define HEDDLE_TOOLS_LSP_ANSWERS_H

#include "llvm/ADT/StringRef.h"

#include <cstdio>
#include <functional>
#include <string>
#include <thread>

namespace heddle {

class Answers {
public:
  using Change = std::function<std::string(llvm::StringRef message)>;

  /// Throws Error if no pipe can be made. Only one object may exist at a time.
  explicit Answers(Change change);
  ~Answers() { finish(); }
  Answers(const Answers &) = delete;
  Answers &operator=(const Answers &) = delete;

private:
  std::FILE *from = nullptr, *to = nullptr;
  std::thread thread;

  void pass(const Change &change);
  /// Returns when all messages are written, also where --help ends the process.
  void finish();
};

} // namespace heddle

#endif // HEDDLE_TOOLS_LSP_ANSWERS_H
