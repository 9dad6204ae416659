//===- Adjustment.h - changes of the cost model by extensions ---*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An extension of the compiler (lib/pipelines/Extension.h) may know more of a machine than the
// target does, or know better what some nests take. It changes the facts, the costs, or both:
//
//     struct Slow : cost::Adjustment {
//       nest::MachineAttr adjustMachine(nest::MachineAttr machine) const override {
//         return cost::withFact(machine, "memory_cycles_per_byte", 0.3);
//       }
//       void adjustCost(llvm::ArrayRef<NestFacts> nests, Cost &cost) const override {
//         cost.seconds *= 2;
//       }
//     };
//
// An MLIRContext holds the adjustments: a compilation sets those of its extensions, and a plugin of
// `heddle-opt` adds them with its dialects. From then on
//
//     Machine::at(op)        reads the facts as they are adjusted: so do all passes
//     costOf(...)                is adjusted for all nests of the context
//
// Code is generated for the machine as its target states it. Several threads may call the hooks at
// once, and a hook must return the same for the same arguments, because schedules are cached under
// the key of the extension.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_COST_ADJUSTMENT_H
#define HEDDLE_LIB_COST_ADJUSTMENT_H

#include "dialects/nest/Nest.h"

#include <memory>
#include <vector>

namespace heddle::cost {

struct Cost;
class NestFacts;

/// See `Adjustment::adjustCost`.
inline constexpr double mostAdjusted = 4;

class Adjustment {
public:
  virtual ~Adjustment();
  /// Returns the facts on which choices and predictions are based. `machine` has the ones that the
  /// target and the module state.
  virtual nest::MachineAttr adjustMachine(nest::MachineAttr machine) const { return machine; }
  /// Changes the cost of nests that run together, or of a sort, for which there are none. The bound
  /// is lowered to the seconds afterwards if it is above them. A search does not ask for schedules
  /// that would be chosen only if this changed the ratio of two costs by more than `mostAdjusted`.
  virtual void adjustCost(ArrayRef<NestFacts> nests, Cost &cost) const {}
};

using Adjustments = std::vector<std::shared_ptr<const Adjustment>>;

/// Replaces the adjustments of a context, in which no pass is running.
void setAdjustments(MLIRContext *context, Adjustments adjustments);
/// Adds an adjustment to each context that loads the nest dialect from this registry.
void addAdjustment(mlir::DialectRegistry &registry, std::shared_ptr<const Adjustment> adjustment);
/// Returns those of a context, in the order in which they apply; null if there are none.
const Adjustments *adjustmentsOf(MLIRContext *context);

/// Returns `machine` as the extensions of its context adjust it.
nest::MachineAttr adjusted(nest::MachineAttr machine);
void adjust(const Adjustments *adjustments, ArrayRef<NestFacts> nests, Cost &cost);

} // namespace heddle::cost

#endif // HEDDLE_LIB_COST_ADJUSTMENT_H
