//===- Loaded.h - a program that is ready to run ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_PROGRAM_LOADED_H
#define HEDDLE_RUNTIME_PROGRAM_LOADED_H

#include "runtime/program/EntryPlan.h"
#include "runtime/program/Mapping.h"
#include "runtime/program/Program.h"

namespace heddle {

/// What the calls of a program share; it lives as long as any of them.
struct Program::Loaded {
  Manifest manifest;
  Mapping code, constants;
  std::vector<HeddleEntry> functions; ///< of each entry
  /// Plans by entry and values of its symbols.
  std::mutex mutex;
  std::map<std::pair<const EntrySpec *, std::vector<int64_t>>, std::shared_ptr<const EntryPlan>>
      plans;

  std::shared_ptr<const EntryPlan> planFor(const EntrySpec &entry,
                                           const std::vector<int64_t> &symbols);
  HeddleEntry functionOf(const EntrySpec &entry) const {
    return functions[size_t(&entry - manifest.entries.data())];
  }
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_PROGRAM_LOADED_H
