//===- DistributeSteps.cpp - how steps run --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/DistributeSteps.h"

#include "lib/conversion/nest_to_steps/PlaceBarriers.h"
#include "lib/cost/Steps.h"
#include "runtime/memory/RuntimeTensor.h"

using namespace heddle;
using namespace mlir;

/// The maximum of the sizes; their sum if many different ones are symbolic, since the maximum would
/// be too large an expression.
static Expr mostOf(ArrayRef<Expr> sizes) {
  Expr most, sum;
  for (const Expr &size : sizes) {
    most = Expr::max(most, size);
    sum = sum + size;
  }
  return most.isTooLarge() ? sum : most;
}

void heddle::distributeSteps(OutlinedEntry &entry, ArrayRef<StepCode> kernels,
                             const cost::Machine &machine) {
  std::vector<bool> serial;
  EntrySpec &spec = entry.spec;
  std::vector<Expr> chunks;
  SmallVector<Expr> scratch; // distinct sizes, which keeps the maximum small
  for (OutlinedStep &step : entry.steps) {
    if (step.spec.kind != StepKind::Kernel) {
      chunks.push_back(1);
      serial.push_back(false); // all threads take the same branch
      continue;
    }
    const StepCode &kernel = kernels[step.kernel];
    auto numberOf = [&](const std::string &symbol) -> std::optional<Expr> {
      auto number = llvm::find(kernel.sizes, symbol) - kernel.sizes.begin();
      size_t at = size_t(step.spec.numbers[size_t(number)]), count = spec.symbols.size();
      return at < count ? Expr::name(spec.symbols[at]) : spec.derived[at - count];
    };
    step.spec.kernel = kernel.symbol;
    if (Expr bytes = kernel.scratchBytes.substitute(numberOf); !llvm::is_contained(scratch, bytes))
      scratch.push_back(bytes);
    chunks.push_back(kernel.chunks.substitute(numberOf));
    bool isOne = chunks.back().constant().value_or(2) <= 1;
    double seconds =
        step.nest ? kernel.seconds : cost::secondsToClear(step.spec.bytesMoved, machine);
    bool isSmall = cost::isShorterThanBarrier(seconds, machine);
    serial.push_back(isOne || (isSmall && chunks.back().isConstant()));
  }
  spec.scratchBytes = mostOf(scratch);
  std::vector<bool> waits = placeBarriers(entry, serial);
  for (auto [s, step] : llvm::enumerate(entry.steps)) {
    StepSpec &made = spec.steps.emplace_back(step.spec);
    if (step.spec.kind == StepKind::Await) {
      auto isStart = [&](size_t i) {
        return entry.steps[i].transfer == step.transfer &&
               entry.steps[i].spec.kind == StepKind::Start;
      };
      for (made.awaits = int32_t(s) - 1; !isStart(size_t(made.awaits));)
        --made.awaits;
    } else if (step.spec.kind == StepKind::Copy) {
      made.values = {step.results[0], step.operands[0]};
    } else {
      made.values = step.operands;
      llvm::append_range(made.values, step.results);
    }
    made.serial = serial[s];
    made.waits = waits[s];
    made.chunks = chunks[s].constant().value_or(2); // 2: more than one
    if (chunks[s].isConstant())
      continue;
    size_t found = size_t(llvm::find(spec.derived, chunks[s]) - spec.derived.begin());
    if (found == spec.derived.size())
      spec.derived.push_back(chunks[s]);
    made.chunksAt = int32_t(spec.symbols.size() + found);
  }
}

LogicalResult heddle::checkSizes(const OutlinedEntry &entry) {
  func::FuncOp function = entry.function;
  auto refuse = [&](const std::string &what) {
    return function.emitError() << "expected " << Expr::limits() << " for " << what << " in '@"
                                << entry.spec.name << "', got more";
  };
  for (const ValueSpec &value : entry.spec.values)
    if (value.bytes.isTooLarge())
      return refuse("the bytes of '" + value.name + "' with the type " + describe(value.type));
  if (entry.spec.scratchBytes.isTooLarge())
    return refuse("the memory of its steps");
  if (llvm::any_of(entry.spec.derived, [](const Expr &each) { return each.isTooLarge(); }))
    return refuse("how often its steps are run");
  return success();
}
