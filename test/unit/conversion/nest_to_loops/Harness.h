//===- Harness.h - run kernels beside the oracle ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A test writes one nest in a function, with layouts as argument attributes and on the nest:
//
//     Kernel kernel(
//         R"(func.func @f(%a: !nd.tensor<f32, m: 5> {nest.layout = #nest.layout<[m]>}) ...)");
//     EXPECT_EQ(kernel.check(), "");
//
// `check` fills the operands with numbers from a seed, runs the compiled kernel chunk by
// chunk (in both directions) and compares each element with the oracle's (lib/interp). Every
// operand and result ends at an inaccessible page, and bytes that belong to no element are
// NaN.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_CONVERSION_NEST_TO_LOOPS_HARNESS_H
#define HEDDLE_TEST_UNIT_CONVERSION_NEST_TO_LOOPS_HARNESS_H

#include "lib/conversion/nest_to_loops/Kernel.h"
#include "lib/interp/TensorValue.h"
#include "runtime/base/CodePages.h"

namespace heddle::test {

/// Memory that ends at an inaccessible page.
class Guarded {
public:
  Guarded(size_t bytes);
  ~Guarded();
  Guarded(const Guarded &) = delete;
  void *data;

private:
  void *pages;
  size_t pageBytes;
};

struct Options {
  bool machine512 = true;                   ///< AVX-512 if the host has it
  int64_t alias = -1;                       ///< the operand whose buffer the first result reuses
  bool hot = true;                          ///< compiled with the highest optimisation level
  bool pairs = true;                        ///< products of bf16 are added two at once
  bool dot = true;                          ///< by the instruction for that, if the host has it
  const nest::LoopTarget *target = nullptr; ///< null: this machine's
  int64_t l1 = 0, l2 = 0; ///< bytes of the caches that schedules are chosen for; 0: usual ones
};

class Kernel {
public:
  Kernel(mlir::MLIRContext &context, const std::string &text, Options options = {});
  /// Empty if the kernel agrees with the oracle; else the difference.
  std::string check(unsigned seed = 1);
  /// The error of the compilation, if any.
  std::string error;
  int64_t chunks = 0, scratchBytes = 0;

  mlir::OwningOpRef<mlir::ModuleOp> source;
  mlir::Operation *nest = nullptr;
  std::string schedule; ///< that of the nest, or the chosen one

private:
  Options options;
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<Layout> operandLayouts, resultLayouts;
  using Function = void(void *const *, int64_t, void *);
  Mapping code;
  Function *function = nullptr;

  std::vector<interp::TensorValue> inputs(unsigned seed);
};

/// Empty if the kernel of `text` agrees with the oracle; else the difference, with the schedule and
/// the text.
std::string checkText(const std::string &text, Options options = {});

/// A context with the dialects.
std::unique_ptr<mlir::MLIRContext> makeContext();

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_CONVERSION_NEST_TO_LOOPS_HARNESS_H
