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
// The schedule is chosen on that text, so that it can't depend on spelling either.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PIPELINES_KERNELSOURCE_H
#define HEDDLE_LIB_PIPELINES_KERNELSOURCE_H

#include "dialects/nest/Nest.h"
#include "lib/conversion/nest_to_loops/Kernel.h"

#include "mlir/IR/BuiltinOps.h"

namespace heddle {

/// Lists the reads of `nest` in an order that neither names nor the order in which they were
/// written influence. Operands of the kernel follow it (`nest::kernelOperands`).
void orderOperands(mlir::Operation *nest, llvm::function_ref<Layout(mlir::Value)> layoutOf);

/// The text for `nest`, of which `orderOperands` ordered the reads. Chooses its schedule if it has
/// none, and writes it on the nest, in the nest's own names.
std::string kernelSource(mlir::Operation *nest, llvm::ArrayRef<Layout> operandLayouts,
                         llvm::ArrayRef<Layout> resultLayouts, nest::MachineAttr machine);

/// What `kernelSource` wrote, as a request for the emitter. `module` holds the parsed text.
nest::KernelRequest kernelRequest(mlir::ModuleOp module, const std::string &symbol);

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_KERNELSOURCE_H
