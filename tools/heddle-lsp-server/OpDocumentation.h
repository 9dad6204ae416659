//===- OpDocumentation.h - what ops mean, for editors -----------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server shows an op's generic form, but not what its record in TableGen says: ops
// do not carry that at run time. So the pages of docs/reference, which are made of the records, are
// a part of the program, and the server's answers are completed by them:
//
//     OpDocumentation documentation;
//     text = documentation.complete(text);        // an answer to a hover or completion
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_LSP_OPDOCUMENTATION_H
#define HEDDLE_TOOLS_LSP_OPDOCUMENTATION_H

#include "llvm/ADT/StringMap.h"

#include <string>

namespace heddle {

class OpDocumentation {
public:
  OpDocumentation();
  /// Summary, syntax, description and constraints of an op, as Markdown; empty for ops of others.
  llvm::StringRef of(llvm::StringRef op) const { return texts.lookup(op); }
  /// A message of the server, with documentation where it shows or offers an op.
  std::string complete(llvm::StringRef message) const;

private:
  llvm::StringMap<llvm::StringRef> texts;

  void addPage(llvm::StringRef page);
};

} // namespace heddle

#endif // HEDDLE_TOOLS_LSP_OPDOCUMENTATION_H
