//===- LibraryEntry.h - an entry whose steps call a library -----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// y = 2 x + rank by functions of the library in test/unit/runtime/library, one of which is started
// before the flag that it waits for is set:
//
//     step 0   invoke   heddle_test_clear            flag
//     step 1   start    heddle_test_double_when_set  flag, x -> y
//     step 2   invoke   heddle_test_set              flag
//     step 3   await 1
//     step 4   invoke   heddle_test_add              y, the number `rank` that the caller supplies
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_RUNTIME_LIBRARYENTRY_H
#define HEDDLE_TEST_UNIT_RUNTIME_LIBRARYENTRY_H

#include "test/unit/runtime/Programs.h"

namespace heddle {

inline EntrySpec libraryEntry() {
  using Kind = ValueSpec::Kind;
  EntrySpec entry;
  entry.name = "f";
  entry.symbols = entry.supplied = {"rank"};
  entry.values = {value(Kind::Argument, "x", floats({{"i", 4}}), "[i]"),
                  value(Kind::Result, "y", floats({{"i", 4}}), "[i]"),
                  value(Kind::Temporary, "flag", {ElementType::I32, {}}, "[]", 0, 3)};
  entry.values[2].offset = 0;
  entry.arenaBytes = 64;
  auto add = [&](StepKind kind, std::string function, std::vector<int32_t> values) -> StepSpec & {
    StepSpec &step = entry.steps.emplace_back();
    step.name = "step " + std::to_string(entry.steps.size() - 1);
    step.location = "model.cpp:" + std::to_string(entry.steps.size()) + ":1";
    step.kind = kind;
    step.kernel = std::move(function);
    step.values = std::move(values);
    step.library = kind == StepKind::Await ? "" : HEDDLE_TEST_LIBRARY;
    return step;
  };
  add(StepKind::Invoke, "heddle_test_clear", {2});
  add(StepKind::Start, "heddle_test_double_when_set", {2, 0, 1});
  add(StepKind::Invoke, "heddle_test_set", {2});
  add(StepKind::Await, "", {}).awaits = 1;
  add(StepKind::Invoke, "heddle_test_add", {1}).numbers = {0};
  entry.arguments = {0};
  entry.results = {1};
  return entry;
}

} // namespace heddle

#endif // HEDDLE_TEST_UNIT_RUNTIME_LIBRARYENTRY_H
