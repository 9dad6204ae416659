//===- JitPrograms.h - the programs of a compiled function ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A compiled function has one program for each signature: the paths and types of its tensors and
// the values of plain members. Several threads may look up and add programs.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_JITPROGRAMS_H
#define HEDDLE_LIB_BUILDER_JITPROGRAMS_H

#include "lib/builder/JitTrace.h"
#include "runtime/program/Program.h"

#include <future>
#include <set>

namespace heddle::detail {

/// The program of one signature; other threads may wait for it.
struct Compiled {
  TraceFacts facts;
  ProgramImage image;              ///< for program files; set before `program`
  std::vector<std::string> checks; ///< messages of JitOptions::check
  std::shared_future<std::shared_ptr<Program>> program;
  uint32_t age = processAge();
};

class JitPrograms {
public:
  /// Null: none, or one whose compilation will never finish.
  std::shared_ptr<const Compiled> find(const std::string &signature) const;
  void add(const std::string &signature, std::shared_ptr<const Compiled> made);
  void remove(const std::string &signature);

  /// Throws Error for a plain member that changes from call to call, since each value costs a
  /// compilation. `tensors`: the part of the signature that tensors determine.
  void requireFewValues(const std::string &tensors, const PlainMembers &plain,
                        const std::string &function, Here here);
  void noteValues(const std::string &tensors, const PlainMembers &plain);

  JitStatistics statistics() const;
  void setStatistics(const JitStatistics &statistics);

private:
  mutable ForkMutex mutex; ///< guards all members; no GraphLock is taken while it is held
  std::map<std::string, std::shared_ptr<const Compiled>> compiled;
  /// For each signature of tensors, the values that plain members had when it was traced.
  std::map<std::string, std::map<std::string, std::set<std::string>>> plainValues;
  JitStatistics last;
};

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_JITPROGRAMS_H
