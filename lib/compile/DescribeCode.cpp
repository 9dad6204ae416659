//===- DescribeCode.cpp - maps machine code to ops ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/compile/DescribeCode.h"

using namespace heddle;
using namespace mlir;

/// The source locations of the code of a function into which ops at `locations` were fused.
/// Instructions without a particular op get the first location, which is the nest's.
static void describeLines(const ProgramCode::Function &code, ArrayRef<Location> locations,
                          FunctionSpec &spec) {
  std::map<std::string, int32_t> numbers;
  for (auto [offset, op] : code.lines) {
    std::string location = op && op <= locations.size() ? spellLocation(locations[op - 1]) : "";
    if (location.empty())
      location = spec.location;
    auto [known, isNew] = numbers.try_emplace(location, int32_t(numbers.size()));
    if (isNew)
      spec.locations.push_back(location);
    if (spec.lines.empty() || spec.lines.back().second != known->second)
      spec.lines.emplace_back(offset, known->second);
  }
  if (spec.locations.size() == 1 && spec.locations[0] == spec.location) {
    spec.locations.clear();
    spec.lines.clear();
  }
}

std::vector<FunctionSpec> heddle::describeFunctions(const ProgramCode &block,
                                                    const std::vector<EntrySpec> &entries,
                                                    ArrayRef<OutlinedKernel> sources,
                                                    ArrayRef<CompiledKernel> kernels) {
  llvm::StringMap<const OutlinedKernel *> sourceOf;
  for (auto [source, kernel] : llvm::zip_equal(sources, kernels))
    sourceOf[kernel.symbol] = &source;
  std::map<std::string, const StepSpec *> steps;
  for (const EntrySpec &entry : entries)
    for (const StepSpec &step : entry.steps)
      steps.try_emplace(step.kernel, &step);
  std::vector<FunctionSpec> functions;
  for (const ProgramCode::Function &code : block.functions) {
    auto step = steps.find(code.name);
    bool isKernel = step != steps.end();
    // Several layers may share the code, so its name has no layer.
    functions.push_back({isKernel ? sourceOf.lookup(code.name)->name : code.name,
                         isKernel ? step->second->location : "", code.offset, code.bytes});
    if (isKernel)
      describeLines(code, sourceOf.lookup(code.name)->locations, functions.back());
  }
  return functions;
}
