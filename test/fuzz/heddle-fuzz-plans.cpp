//===- heddle-fuzz-plans.cpp - plan files with faults ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads arbitrary bytes as a plan file. The parser must either refuse them with a reason that names
// a line or read them. A plan that was read is written again, with one setting or rule a line, and
// must read as the same plan, with the same number of rules. Matching a rule's pattern against a
// name must terminate for any name.
//
//===----------------------------------------------------------------------===//

#include "lib/support/PlanFile.h"

#include <cstdlib>
#include <iostream>

using namespace heddle;
using namespace heddle::mesh;

static std::string textOf(const Plan &plan) {
  std::string text;
  for (const auto &[axis, size] : plan.mesh.axes)
    text += (text.empty() ? "mesh " : ",") + axis + "=" + std::to_string(size);
  for (const auto &[word, setting] : plan.settings)
    if (word != "mesh")
      text += "\n" + word + " " + setting.text;
  for (const Plan::Links &each : plan.links)
    text += "\n" + each.str();
  for (const MeshRule &rule : plan.rules)
    text += "\n" + rule.text;
  return text + "\n";
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string input(reinterpret_cast<const char *>(data), size);
  Plan plan, again;
  if (std::string refused = plan.parseFile(input, "fuzz"); !refused.empty()) {
    if (!llvm::StringRef(refused).starts_with("plan 'fuzz', line "))
      std::abort();
    return 0;
  }
  std::string text = textOf(plan), reason = again.parseFile(text);
  bool isSame =
      textOf(again) == text && again.mesh == plan.mesh && again.rules.size() == plan.rules.size() &&
      again.links.size() == plan.links.size() && again.settings.size() == plan.settings.size();
  for (size_t i = 0; isSame && i < plan.rules.size(); ++i)
    isSame = again.rules[i].memory == plan.rules[i].memory &&
             again.rules[i].isOfOperators == plan.rules[i].isOfOperators &&
             again.rules[i].mayMatchNothing == plan.rules[i].mayMatchNothing &&
             again.rules[i].recomputes == plan.rules[i].recomputes &&
             again.rules[i].coordinate == plan.rules[i].coordinate &&
             again.rules[i].pattern == plan.rules[i].pattern &&
             again.rules[i].name == plan.rules[i].name && again.rules[i].axes == plan.rules[i].axes;
  if (!reason.empty() || !isSame) {
    std::cerr << "a plan is not what is written of it\n" << text << "\n" << reason << "\n";
    std::abort();
  }
  for (const MeshRule &rule : plan.rules)
    for (const char *name : {"", "net", "net.layers.0.attention.query.weight", "a.b.a.b.a.b.c"})
      (void)rule.fits(name);
  return 0;
}
