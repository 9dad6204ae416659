//===- Laws.h - holding random programs against the oracle ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers of the law tests: they make inputs from a seed, run passes and compare with the oracle
// after each, run compiled programs, and make a failing program smaller.
//
//     HEDDLE_LAWS_PROGRAMS=1000 HEDDLE_LAWS_SEED=7 HeddleLawTests
//
// runs more programs, or others; a failure prints the seed of its program alone.
// HEDDLE_LAWS_PRINT=1 prints every program.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_LAWS_LAWS_H
#define HEDDLE_TEST_UNIT_LAWS_LAWS_H

#include "test/unit/laws/Generate.h"

#include "lib/compile/Compile.h"
#include "lib/interp/Interpreter.h"

#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <functional>

namespace heddle::laws {

using interp::TensorValue;
using Values = llvm::SmallVector<TensorValue>;

/// Laws take long, so each is held by two tests, on a half of the programs each: they run side by
/// side.
class InHalves : public testing::TestWithParam<int> {};

/// A part of all programs that are asked for; `half` is 0 or 1.
struct Share {
  double part;
  int half;
};
/// The programs: HEDDLE_LAWS_PROGRAMS times the part, drawn by HEDDLE_LAWS_SEED; a single one has
/// that seed itself.
struct Seeds {
  uint64_t first;
  int count;
  uint64_t draw; ///< another for each half
};
Seeds seedsFor(Share share);
/// How many programs are asked for in all.
int programsInAll();

/// A context with all dialects, on one thread.
std::unique_ptr<mlir::MLIRContext> makeContext();
/// @main from `seed`, and what it calls.
mlir::OwningOpRef<mlir::ModuleOp> makeProgram(mlir::MLIRContext &context, uint64_t seed,
                                              const GeneratorOptions &options);
mlir::func::FuncOp mainOf(mlir::ModuleOp module);

/// Arguments for `function`; each depends on the seed and the argument's name and type alone.
/// `ties`: some hold few different numbers.
Values drawArguments(mlir::func::FuncOp function, uint64_t seed, bool ties = true);
/// The same with other values of N and M; none if some size would be negative.
Values drawArguments(mlir::func::FuncOp function, uint64_t seed, bool ties, int64_t n, int64_t m);

/// `values` under other names; those that `names` lacks stay.
Values renamed(llvm::ArrayRef<TensorValue> values, const std::map<std::string, std::string> &names);
std::string printed(mlir::Operation *op);

/// Counts the values that were compared with the oracle's.
struct Tally {
  int programs = 0;
  int64_t comparisons = 0; ///< of tensors
  int64_t elements = 0, undecided = 0;
  double undecidedTensors = 0; ///< each counts by the part of it that is not decided
  /// Compares two lists of values. Returns a description of the difference; empty if there is none.
  std::string compare(llvm::ArrayRef<TensorValue> expected, llvm::ArrayRef<TensorValue> got);
};

/// How many of `count` samples, at most `rate` of all, may be discarded: more are found so seldom
/// by chance (four deviations), however few there are, that something else is wrong.
double mostDiscarded(double rate, double count);

/// Something that a law forbids. `what` is empty if nothing is wrong.
struct Violation {
  std::string what; ///< the law, the pass, the values
  std::string ir;   ///< after the pass
  explicit operator bool() const { return !what.empty(); }
};

/// Runs the passes on a copy of `module`; after each, @main must give the values that it gave at
/// first (after gradients are expanded, where the program asks for some).
Violation checkPasses(mlir::ModuleOp module, uint64_t seed,
                      llvm::function_ref<void(mlir::OpPassManager &)> passes, Tally &tally);

/// True if all elements have the same bits.
bool haveSameBits(llvm::ArrayRef<TensorValue> a, llvm::ArrayRef<TensorValue> b);

/// Compiles `module` and runs each of `functions`; holds them against `expected`. `results`: the
/// results of each.
llvm::SmallVector<Violation>
checkCompiled(mlir::ModuleOp module, llvm::ArrayRef<std::string> functions,
              llvm::ArrayRef<Values> arguments, llvm::ArrayRef<Values> expected, Tally &tally,
              CompileOptions options = {}, llvm::SmallVector<Values> *results = nullptr);

/// A program, and what a law says of it or of a smaller version.
struct Suspect {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::function<Violation(mlir::ModuleOp)> check;
};
/// Holds a law on `share` of the programs, which `make` draws from seeds (or passes over).
/// RapidCheck stops at the first that fails, and reports a smaller one.
void holdPrograms(llvm::StringRef law, Share share,
                  const std::function<std::optional<Suspect>(uint64_t seed)> &make);

/// A law about one program at a time.
struct ProgramLaw {
  std::string name;
  std::function<GeneratorOptions(uint64_t seed)> options;
  /// Returns the violation by the program, or by a smaller version of it.
  std::function<Violation(mlir::ModuleOp, uint64_t seed, Tally &)> check;
};
void holdEach(const ProgramLaw &law, Share share);

/// A law about the values of compiled programs.
struct CompiledLaw {
  std::string name;
  int programsPerModule; ///< they are compiled as one module, since a module has a price of its own
  std::function<GeneratorOptions(uint64_t seed)> options;
  /// Makes the law's choices in a module; `functions` are the programs, each from its seed.
  using Prepare = std::function<mlir::LogicalResult(
      mlir::ModuleOp, llvm::ArrayRef<std::string> functions, llvm::ArrayRef<uint64_t> seeds)>;
  Prepare prepare;
  /// Other N and M at which programs run as well, if the oracle can.
  std::function<std::pair<int64_t, int64_t>(uint64_t seed)> sizes = nullptr;
  CompileOptions compile = {};
  /// Makes other choices, with which all programs must give the same bits.
  Prepare prepareAgain = nullptr;
};
/// The same.
void holdCompiled(const CompiledLaw &law, Share share);

/// Lowers to nests, fused or not, without layouts.
mlir::LogicalResult lowerToNests(mlir::ModuleOp module, bool fuse = true);

/// All functions but the programs are called by them alone.
void keepPrivate(mlir::ModuleOp module, llvm::ArrayRef<std::string> programs);

/// Runs a program of the module by the oracle, and returns the results.
mlir::FailureOr<Values> evaluated(mlir::ModuleOp module, llvm::StringRef program,
                                  llvm::ArrayRef<TensorValue> values);

/// Runs `entry` of a compiled program.
Values runProgram(Program &program, llvm::StringRef entry, llvm::ArrayRef<TensorValue> arguments,
                  mlir::MLIRContext *context, const CallOptions &options = {},
                  const std::vector<bool> &donate = {});

/// Returns the text to print about a failing program: seed, violation, the shrunk program.
std::string report(uint64_t seed, llvm::StringRef law, mlir::ModuleOp module,
                   llvm::function_ref<Violation(mlir::ModuleOp)> check);

/// Says which program is at work if the process dies.
class Announce {
public:
  Announce(llvm::StringRef law, uint64_t seed);
  ~Announce();
};

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_LAWS_H
