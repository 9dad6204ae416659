//===- ToolOptions.h - options of tools alone -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shared libLLVM registers hundreds of options of its own, `threads` among them, and an option
// registered twice is fatal. A tool calls this first, so that its options are those that it
// declares.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TOOLS_TOOLOPTIONS_H
#define HEDDLE_TOOLS_TOOLOPTIONS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

namespace heddle {

/// Removes the options that libraries registered, except `--help` and its like.
inline void removeLibraryOptions() {
  llvm::SmallVector<llvm::cl::Option *> library;
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (llvm::none_of(option->Categories, [](llvm::cl::OptionCategory *category) {
          return category->getName() == "Generic Options";
        }))
      library.push_back(option);
  for (llvm::cl::Option *option : library)
    option->removeArgument();
}

} // namespace heddle

#endif // HEDDLE_TOOLS_TOOLOPTIONS_H
