//===- OpDocumentation.h - documentation of ops, for editors ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's language server shows an op's generic form, but not the descriptions in its TableGen
// record, which are not available at run time. So the pages of docs/reference, which are generated
// from the records, are embedded into the program, and added to the server's answers:
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
  /// Summary, syntax, description and constraints of an op, as Markdown; empty for ops of other
  /// dialects.
  llvm::StringRef of(llvm::StringRef op) const { return texts.lookup(op); }
  /// Adds documentation to a message of the server wherever it shows or offers an op.
  std::string complete(llvm::StringRef message) const;

private:
  llvm::StringMap<llvm::StringRef> texts;

  void addPage(llvm::StringRef page);
};

} // namespace heddle

#endif // HEDDLE_TOOLS_LSP_OPDOCUMENTATION_H
