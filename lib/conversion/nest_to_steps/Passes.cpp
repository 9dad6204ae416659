//===- Passes.cpp - from nests to steps -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_steps/Passes.h"

#include "lib/conversion/nest_to_steps/ControlRanges.h"
#include "lib/conversion/nest_to_steps/InsertCopies.h"
#include "lib/conversion/nest_to_steps/PlanMemory.h"
#include "lib/transforms/nest/prepare/PrepareSteps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace heddle {
#define GEN_PASS_DEF_NESTOUTLINEKERNELSPASS
#define GEN_PASS_DEF_NESTPLANMEMORYPASS
#include "lib/conversion/nest_to_steps/Passes.h.inc"
} // namespace heddle

using namespace heddle;
using namespace mlir;

/// The buffer of a value, as an attribute.
static DictionaryAttr memoryOf(Builder &b, const OutlinedEntry &entry, int32_t number,
                               const std::vector<int32_t> &makers) {
  const std::vector<ValueSpec> &values = entry.spec.values;
  const ValueSpec &value = values[size_t(number)];
  size_t buffer = bufferOf(values, number);
  const ValueSpec &holder = values[buffer];
  NamedAttrList memory;
  bool isNamed = holder.kind != ValueSpec::Kind::Temporary;
  if (buffer != size_t(number))
    memory.set("alias", isNamed ? Attribute(b.getStringAttr(holder.name))
                                : b.getI64IntegerAttr(makers[buffer]));
  else if (isNamed)
    memory.set("buffer", b.getStringAttr(holder.name));
  else
    memory.set("offset", b.getI64IntegerAttr(holder.offset));
  memory.set("bytes", b.getStringAttr(value.bytes.str()));
  memory.set("live", b.getI64ArrayAttr({value.firstStep, value.lastStep}));
  return memory.getDictionary(b.getContext());
}

static void writeMemory(OutlinedEntry &entry) {
  Builder b(entry.function.getContext());
  int64_t least = planMemory(entry);
  entry.function->setAttr("heddle.arena", b.getI64ArrayAttr({entry.spec.arenaBytes, least}));
  std::vector<int32_t> makers(entry.spec.values.size(), -1); // first defining steps
  for (auto [s, step] : llvm::enumerate(entry.steps))
    for (int32_t result : step.results)
      if (makers[size_t(result)] < 0)
        makers[size_t(result)] = int32_t(s);
  for (OutlinedStep &step : entry.steps) {
    if (!step.nest)
      continue;
    auto each = llvm::map_to_vector(step.results, [&](int32_t result) -> Attribute {
      return memoryOf(b, entry, result, makers);
    });
    step.nest->setAttr("heddle.memory", b.getArrayAttr(each));
  }
}

namespace {
struct NestOutlineKernelsPass : heddle::impl::NestOutlineKernelsPassBase<NestOutlineKernelsPass> {
  void runOnOperation() override {
    insertCopies(getOperation());
    outlineKernels(getOperation(), /*facts=*/{});
  }
};
struct NestPlanMemoryPass : heddle::impl::NestPlanMemoryPassBase<NestPlanMemoryPass> {
  void runOnOperation() override {
    if (failed(nest::prepareSteps(getOperation()))) // required by outlining
      return signalPassFailure();
    insertCopies(getOperation());
    auto program = outline(getOperation(), /*kernels=*/{});
    if (failed(program))
      return signalPassFailure();
    for (OutlinedEntry &entry : program->entries)
      writeMemory(entry);
  }
};
} // namespace
