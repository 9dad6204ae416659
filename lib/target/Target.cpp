//===- Target.cpp - finds targets by name ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace heddle;

namespace {
struct Kind {
  std::vector<std::string> examples;
  std::function<bool(llvm::StringRef)> knows;
  std::function<TargetRegistration::Made(llvm::StringRef)> make;
};
} // namespace

/// A function-local static: registrations are static objects, which may be constructed earlier than
/// those of this file.
static std::vector<Kind> &kinds() {
  static std::vector<Kind> known;
  return known;
}

TargetRegistration::TargetRegistration(std::vector<std::string> examples,
                                       std::function<bool(llvm::StringRef)> knows,
                                       std::function<Made(llvm::StringRef)> make) {
  kinds().push_back({std::move(examples), std::move(knows), std::move(make)});
  llvm::sort(kinds(), [](const Kind &a, const Kind &b) { return a.examples < b.examples; });
}

llvm::Expected<Object> KernelCompiler::compileEntry(const std::string &symbol,
                                                    const std::vector<StepSpec> &) {
  return Object{symbol, ""};
}

llvm::Error heddle::refuseCustom(llvm::StringRef target, const CustomKernel &kernel) {
  return llvm::createStringError("the target '" + target + "' can't call the machine code of '" +
                                 kernel.function + "'");
}

std::string heddle::exampleTargets() {
  std::vector<std::string> names;
  for (const Kind &kind : kinds())
    for (const std::string &name : kind.examples)
      names.push_back(name);
  return llvm::join(names, ", ");
}

llvm::Expected<std::shared_ptr<const Target>> heddle::findTarget(llvm::StringRef name) {
  for (const Kind &kind : kinds())
    if (kind.knows(name))
      return kind.make(name);
  return llvm::createStringError("unknown target '" + name + "'; expected a name such as " +
                                 exampleTargets());
}
