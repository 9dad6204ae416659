//===- ResponseFilter.h - edits the server's answers ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's server writes its messages to standard output itself. During the lifetime of a
// `ResponseFilter`, standard output is a pipe; a thread reads messages from it, applies `change`,
// and writes the results to the original standard output. Other text, such as that of --help, is
// not changed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_HEDDLE - LSP - SERVER_RESPONSEFILTER_H
#define HEDDLE_TOOLS_HEDDLE -LSP - SERVER_RESPONSEFILTER_H

#include "llvm/ADT/StringRef.h"

#include <cstdio>
#include <functional>
#include <string>
#include <thread>

namespace heddle {

class ResponseFilter {
public:
  using Change = std::function<std::string(llvm::StringRef message)>;

  /// Throws Error if no pipe can be made. Only one object may exist at a time.
  explicit ResponseFilter(Change change);
  ~ResponseFilter() { finish(); }
  ResponseFilter(const ResponseFilter &) = delete;
  ResponseFilter &operator=(const ResponseFilter &) = delete;

private:
  std::FILE *from = nullptr, *to = nullptr;
  std::thread thread;

  void pass(const Change &change);
  /// Returns when all messages are written, also where --help ends the process.
  void finish();
};

} // namespace heddle

#endif // HEDDLE_TOOLS_HEDDLE-LSP-SERVER_RESPONSEFILTER_H
