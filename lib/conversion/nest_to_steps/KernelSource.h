//===- KernelSource.h - a nest on its own, without its names ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two layers of a network differ in how their dimensions are called and in nothing else; they share
// one kernel. So every nest is taken out of its program as a text in which names are canonical
// labels: equal texts, equal code, whatever the names were and in whichever order they were
// written.
//
//     func.func @kernel(%arg0: !nd.tensor<f32, d0: 64, d2: 16> {nd.layout = #nest.layout<[d0, d2]>}, ...)
//         -> (... {nd.layout = ...}) {
//       %0 = nest.compute (d0: 64, d1: 32) reduce (d2: 16) reads %arg0[], ... }
//
// A text says nothing of the machine. Schedules are chosen for distinct texts (Kernels.h), and can't
// depend on spelling either; they are kept beside the text, one for each op that has one.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_CONVERSION_NEST_TO_STEPS_KERNELSOURCE_H
#define HEDDLE_CONVERSION_NEST_TO_STEPS_KERNELSOURCE_H

#include "dialects/nest/Nest.h"
#include "lib/analysis/Canonical.h"

#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// How the names of a nest become labels.
struct KernelLabels {
  Labels iteration;
  std::vector<Labels> operands;   ///< of each distinct operand (`nest::kernelOperands`)
  std::vector<std::string> ranks; ///< labels of the operands themselves; empty if they have none
  bool uniform = false;           ///< all names of the op, wherever they stand, by `iteration`

  /// Names by labels, for messages.
  Labels spelling() const;
};

/// Lists the reads of `nest` in an order that neither names nor the order in which they were
/// written influence. Operands of the kernel follow it (`nest::kernelOperands`).
KernelLabels orderOperands(mlir::Operation *nest, llvm::function_ref<Layout(mlir::Value)> layoutOf,
                           KnownKernels &known);

/// The text for `nest`, of which `orderOperands` ordered the reads. A schedule that the nest has is
/// part of it. `facts` is what the user says of the machine beside its rates, or null. `symbols` gets
/// the size symbols that the kernel has to be given, in order, and `locations` those of its ops,
/// op n + 1 at n.
std::string kernelSource(mlir::Operation *nest, const KernelLabels &labels,
                         llvm::ArrayRef<Layout> operandLayouts,
                         llvm::ArrayRef<Layout> resultLayouts, nest::MachineAttr facts,
                         std::vector<std::string> &symbols,
                         llvm::SmallVectorImpl<mlir::Location> &locations);

/// The schedules of a nest and of those in it, as text: `[#nest.schedule<...>, ...]`.
std::string printSchedules(mlir::Operation *nest);
/// Writes them on `nest`; where it has other names than the kernel, in its own, by the labels of
/// `orderOperands`. False if `schedules` is no such text.
bool setSchedules(mlir::Operation *nest, llvm::StringRef schedules,
                  const KernelLabels *labels = nullptr);

/// The attribute of a module, or kernel, by which a user overrides facts of the machine.
inline constexpr llvm::StringLiteral machineAttrName("heddle.machine");
/// `machine` with `facts`, which may be null, in the place of its own.
nest::MachineAttr withFacts(nest::MachineAttr machine, nest::MachineAttr facts);

/// The text for a kernel that clears so many bytes (lib/target/cpu/Zero.h); where that is no
/// number, as many as it is given.
std::string zeroSource(const Expr &bytes);
/// The number of bytes, or the symbol for it, if a text is one of those.
std::optional<Expr> zeroedBytes(llvm::StringRef source);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_KERNELSOURCE_H
