//===- heddle-fuzz-plans.cpp - plan files with faults ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads arbitrary bytes as a plan file. The parser must either refuse them with a reason or read
// them. A plan that was read is written again, with one axis or rule a line, and must read as the
// same plan. Matching a rule's pattern against a name must terminate for any name.
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/Plan.h"

#include <cstdlib>
#include <iostream>

using namespace heddle::mesh;

static std::string textOf(const Plan &plan) {
  std::string text;
  for (const auto &[axis, size] : plan.mesh)
    text += (text.empty() ? "mesh " : ",") + axis + "=" + std::to_string(size);
  for (const PlanRule &rule : plan.rules)
    text += "\n" + rule.text;
  return text + "\n";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string input(reinterpret_cast<const char *>(data), size);
  Plan plan, again;
  if (!plan.parseFile(input).empty())
    return 0;
  std::string text = textOf(plan), reason = again.parseFile(text);
  if (!reason.empty() || textOf(again) != text) {
    std::cerr << "a plan is not what is written of it\n" << text << "\n" << reason << "\n";
    std::abort();
  }
  for (const PlanRule &rule : plan.rules)
    for (const char *name : {"", "net", "net.layers.0.attention.query.weight", "a.b.a.b.a.b.c"})
      (void)rule.fits(name);
  return 0;
}
