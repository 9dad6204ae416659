//===- Adjustment.cpp - changes of the cost model by extensions -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/cost/Adjustment.h"

#include "lib/cost/Cost.h"

#include "mlir/IR/DialectInterface.h"
#include "mlir/IR/DialectRegistry.h"

using namespace heddle;
using namespace heddle::cost;
using namespace mlir;

Adjustment::~Adjustment() = default;

namespace {
/// The adjustments of a context; its nest dialect owns them.
struct Held : DialectInterface::Base<Held> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Held)
  explicit Held(Dialect *dialect) : Base(dialect) {}
  Adjustments list;
};

struct AddToContext : DialectExtension<AddToContext, nest::NestDialect> {
  explicit AddToContext(std::shared_ptr<const Adjustment> added) : added(std::move(added)) {}
  std::shared_ptr<const Adjustment> added;
  void apply(MLIRContext *, nest::NestDialect *dialect) const override;
};
} // namespace

static Held &heldBy(Dialect &dialect) {
  if (auto *held = dialect.getRegisteredInterface<Held>())
    return *held;
  return dialect.addInterface<Held>();
}

void AddToContext::apply(MLIRContext *, nest::NestDialect *dialect) const {
  heldBy(*dialect).list.push_back(added);
}

void cost::setAdjustments(MLIRContext *context, Adjustments adjustments) {
  heldBy(*context->getOrLoadDialect<nest::NestDialect>()).list = std::move(adjustments);
}

void cost::addAdjustment(DialectRegistry &registry, std::shared_ptr<const Adjustment> adjustment) {
  const void *address = adjustment.get(); // tells adjustments of one class apart
  registry.addExtension(TypeID::getFromOpaquePointer(address),
                        std::make_unique<AddToContext>(std::move(adjustment)));
}

const Adjustments *cost::adjustmentsOf(MLIRContext *context) {
  auto *dialect = context->getLoadedDialect<nest::NestDialect>();
  auto *held = dialect ? dialect->getRegisteredInterface<Held>() : nullptr;
  return held && !held->list.empty() ? &held->list : nullptr;
}

nest::MachineAttr cost::adjusted(nest::MachineAttr machine) {
  if (const Adjustments *adjustments = adjustmentsOf(machine.getContext()))
    for (const auto &each : *adjustments)
      machine = each->adjustMachine(machine);
  return machine;
}

void cost::adjust(const Adjustments *adjustments, ArrayRef<NestFacts> nests, Cost &cost) {
  if (!adjustments)
    return;
  for (const auto &each : *adjustments)
    each->adjustCost(nests, cost);
  cost.bound = std::min(cost.bound, cost.seconds);
}
