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
//     module { func.func @kernel(%arg0: !nd.tensor<f32, d0: 64, d2: 16>, ...) -> ...
//         attributes {heddle.operands = [#nest.layout<[d0, d2]>, ...], heddle.results = [...],
//                     heddle.machine = #nest.machine<...>} {
//       %0 = nest.compute (d0: 64, d1: 32) reduce (d2: 16) reads %arg0[], ... } }
//
// The schedule is chosen on that text, so that it can't depend on spelling either, and not before
// the cache was asked for the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PIPELINES_KERNELSOURCE_H
#define HEDDLE_LIB_PIPELINES_KERNELSOURCE_H

#include "dialects/nest/Nest.h"
#include "lib/analysis/Canonical.h"
#include "lib/conversion/nest_to_loops/Kernel.h"

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
/// part of it; otherwise one is chosen when the kernel is compiled, as it follows from the text.
/// `symbols` gets the size symbols that the kernel has to be given, in order, and `places` the
/// locations of its ops, op n + 1 at n. With `showSchedule` it is chosen right away, too, and
/// written on the nest in the nest's own names.
std::string kernelSource(mlir::Operation *nest, const KernelLabels &labels,
                         llvm::ArrayRef<Layout> operandLayouts,
                         llvm::ArrayRef<Layout> resultLayouts, nest::MachineAttr machine,
                         bool showSchedule, std::vector<std::string> &symbols,
                         llvm::SmallVectorImpl<mlir::Location> &places);

/// The text for a kernel that clears so many bytes (lib/target/cpu/Zero.h); where that is no
/// number, as many as it is given.
std::string zeroSource(const Expr &bytes);
/// The number of bytes, or the symbol for it, if a text is one of those.
std::optional<Expr> zeroedBytes(llvm::StringRef source);

/// What `kernelSource` wrote, as a request for the emitter. `module` holds the parsed text. Its ops
/// get their numbers as lines: the code is for all nests of this text, wherever they were written,
/// so it says by which op an instruction was made and each program where that op comes from.
nest::KernelRequest kernelRequest(mlir::ModuleOp module, const std::string &symbol);

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_KERNELSOURCE_H
