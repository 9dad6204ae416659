//===- JitPrograms.cpp - the programs of a compiled function --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/JitPrograms.h"

using namespace heddle;
using namespace heddle::detail;

std::shared_ptr<const Compiled> JitPrograms::find(const std::string &signature) const {
  std::lock_guard guard(mutex);
  auto found = compiled.find(signature);
  if (found == compiled.end())
    return nullptr;
  const Compiled &made = *found->second;
  // A compilation that a parent's thread was running at the fork is never finished in the child.
  bool isLost = made.age != processAge() &&
                made.program.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  return isLost ? nullptr : found->second;
}

void JitPrograms::add(const std::string &signature, std::shared_ptr<const Compiled> made) {
  std::lock_guard guard(mutex);
  compiled[signature] = std::move(made);
}

void JitPrograms::remove(const std::string &signature) {
  std::lock_guard guard(mutex);
  compiled.erase(signature);
}

void JitPrograms::requireFewValues(const std::string &tensors, const PlainMembers &plain,
                                   const std::string &function, Here here) {
  constexpr size_t most = 8;
  std::lock_guard guard(mutex);
  for (const auto &[path, text] : plain)
    if (const auto &values = plainValues[tensors][path];
        values.size() >= most && !values.contains(text))
      fail(here, "'" + function + "' was traced for " + std::to_string(most) + " values of '" +
                     path + "', a plain member of an argument: expected one of these, got " + text +
                     "; a Tensor would be an input of one program");
}

void JitPrograms::noteValues(const std::string &tensors, const PlainMembers &plain) {
  std::lock_guard guard(mutex);
  for (const auto &[path, text] : plain)
    plainValues[tensors][path].insert(text);
}

JitStatistics JitPrograms::statistics() const {
  std::lock_guard guard(mutex);
  return last;
}

void JitPrograms::setStatistics(const JitStatistics &statistics) {
  std::lock_guard guard(mutex);
  last = statistics;
}
