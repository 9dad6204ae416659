//===- KernelSource.h - the text of a kernel without its names --*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two layers of a network that differ only in the names of their dimensions should share a kernel.
// So every nest is extracted from its program as a text with canonical labels instead of names:
// nests with equal texts have equal code, independently of the spelling and order of names.
//
//     func.func @kernel(%arg0: !nd.tensor<f32, d0: 64, d2: 16> {nd.layout = #nest.layout<[d0, d2]>}, ...)
//         -> (... {nd.layout = ...}) {
//       %0 = nest.compute (d0: 64, d1: 32) reduce (d2: 16) reads %arg0[], ... }
//
// A text does not depend on the machine. Schedules are chosen for distinct texts (Kernels.h), so
// they can't depend on spelling either; they are stored separately from the text, one for each op
// that has one.
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
  std::vector<std::string> ranks; ///< labels of the operands; empty if they have none
  bool uniform = false;           ///< `iteration` has all names, including operands'

  /// Maps labels to names, for messages.
  Labels spelling() const;
};

/// Sorts the reads of `nest` into an order that depends neither on names nor on their order in the
/// source. Operands of the kernel are in the same order (`nest::kernelOperands`).
KernelLabels orderOperands(mlir::Operation *nest, llvm::function_ref<Layout(mlir::Value)> layoutOf,
                           KnownKernels &known);

/// The text of `nest`, after `orderOperands` has sorted its reads. It includes the schedule of the
/// nest, if any. `facts` has the user's machine facts except rates, or is null. `symbols` receives
/// the size symbols that are arguments of the kernel, in order, and `locations` the source
/// locations of its ops, that of op n + 1 at index n.
std::string kernelSource(mlir::Operation *nest, const KernelLabels &labels,
                         llvm::ArrayRef<Layout> operandLayouts,
                         llvm::ArrayRef<Layout> resultLayouts, nest::MachineAttr facts,
                         std::vector<std::string> &symbols,
                         llvm::SmallVectorImpl<mlir::Location> &locations);

/// The schedules of a nest and of those in it, as text: `[#nest.schedule<...>, ...]`.
std::string printSchedules(mlir::Operation *nest);
/// Sets the schedules on `nest`, translated to its names by the labels of `orderOperands`. False if
/// `schedules` is not a valid text.
bool setSchedules(mlir::Operation *nest, llvm::StringRef schedules,
                  const KernelLabels *labels = nullptr);

/// The attribute of a module, or kernel, by which a user overrides facts of the machine.
inline constexpr llvm::StringLiteral machineAttrName("heddle.machine");
/// `machine` with its facts overridden by `facts`, which may be null.
nest::MachineAttr withFacts(nest::MachineAttr machine, nest::MachineAttr facts);

/// The text for a kernel that clears `bytes` bytes (lib/target/cpu/Zero.h); if that is not a
/// constant, it is an argument of the kernel.
std::string zeroSource(const Expr &bytes);
/// The number of bytes, or its symbol, if the text is that of a clearing kernel.
std::optional<Expr> zeroedBytes(llvm::StringRef source);

} // namespace heddle

#endif // HEDDLE_CONVERSION_NEST_TO_STEPS_KERNELSOURCE_H
