//===- HoldLaws.cpp - laws held on many programs --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"

#include "lib/transforms/nd/Passes.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

void laws::keepPrivate(ModuleOp module, ArrayRef<std::string> programs) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!llvm::is_contained(programs, function.getName()))
      function.setPrivate();
}

/// Says what was held; too much that is not decided is a failure, but of a few programs alone.
static void conclude(const Tally &tally) {
  std::printf("%d programs, %lld tensors compared, %lld of %lld elements undecided\n",
              tally.programs, (long long)tally.comparisons, (long long)tally.undecided,
              (long long)tally.elements);
  if (tally.programs >= 30)
    EXPECT_LE(tally.undecidedTensors, 0.05 * double(tally.comparisons))
        << "more than 5 % of the tensors are not decided";
}

void laws::holdEach(const ProgramLaw &law, double share) {
  auto context = makeContext();
  Tally tally;
  Seeds seeds = seedsFor(share);
  for (int i = 0; i < seeds.count; ++i) {
    uint64_t seed = seeds.first + uint64_t(i);
    Announce announce(law.name, seed);
    OwningOpRef<ModuleOp> module = makeProgram(*context, seed, law.options(seed));
    ++tally.programs;
    auto check = [&](ModuleOp candidate) { return law.check(candidate, seed, tally); };
    if (Violation violation = check(*module))
      ADD_FAILURE() << report(seed, law.name, *module, check);
  }
  conclude(tally);
}

/// What the oracle gives; it has to be shown derivatives as ops.
static FailureOr<Values> evaluated(ModuleOp module, StringRef program,
                                   ArrayRef<TensorValue> values) {
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager manager(module.getContext());
  manager.addPass(nd::createNdDifferentiatePass());
  if (failed(manager.run(*copy)))
    return failure();
  return interp::interpret(copy->lookupSymbol<func::FuncOp>(program), values);
}

namespace {
/// Some programs in one module, with the values that the oracle gives.
struct Batch {
  OwningOpRef<ModuleOp> module;
  SmallVector<std::string> names;
  SmallVector<uint64_t> seeds;
  SmallVector<Values> arguments, expected;

  Batch(const CompiledLaw &law, MLIRContext &context, Seeds drawn)
      : module(ModuleOp::create(UnknownLoc::get(&context))) {
    for (int i = 0; i < drawn.count; ++i) {
      uint64_t seed = drawn.first + uint64_t(i);
      seeds.push_back(seed);
      names.push_back("p" + std::to_string(seed));
      arguments.push_back(
          drawArguments(generateProgram(*module, names.back(), seed, law.options(seed)), seed));
    }
  }
  /// The first program that the oracle refuses.
  std::optional<uint64_t> evaluate() {
    for (auto [name, seed, values] : llvm::zip_equal(names, seeds, arguments)) {
      auto result = evaluated(*module, name, values);
      if (failed(result))
        return seed;
      expected.push_back(std::move(*result));
    }
    return std::nullopt;
  }
};

Violation checkAlone(const CompiledLaw &law, ModuleOp module, uint64_t seed) {
  Values values = drawArguments(mainOf(module), seed);
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  FailureOr<Values> wanted = evaluated(module, "main", values);
  OwningOpRef<ModuleOp> copy(module.clone());
  if (failed(wanted) || failed(law.prepare(*copy, {"main"}, {seed})))
    return {"the interpreter refuses it", ""};
  Tally ignored;
  return checkCompiled(*copy, {"main"}, {values}, {*wanted}, ignored)[0];
}
} // namespace

void laws::holdCompiled(const CompiledLaw &law, double share) {
  auto context = makeContext();
  Tally tally;
  Seeds all = seedsFor(share);
  for (int begin = 0; begin < all.count; begin += law.programsPerModule) {
    Batch batch(law, *context,
                {all.first + uint64_t(begin), std::min(law.programsPerModule, all.count - begin)});
    if (auto refused = batch.evaluate()) {
      ADD_FAILURE() << law.name << ", seed " << *refused << ": the interpreter refuses it";
      continue;
    }
    Announce announce(law.name + ", a program from here on", batch.seeds[0]);
    tally.programs += int(batch.names.size());
    if (failed(law.prepare(*batch.module, batch.names, batch.seeds))) {
      ADD_FAILURE() << law.name << ", one of " << batch.names.size() << " programs from seed "
                    << batch.seeds[0] << ": the passes refuse it";
      continue;
    }
    auto violations =
        checkCompiled(*batch.module, batch.names, batch.arguments, batch.expected, tally);
    for (auto [violation, seed] : llvm::zip_equal(violations, batch.seeds)) {
      if (!violation)
        continue;
      OwningOpRef<ModuleOp> alone = makeProgram(*context, seed, law.options(seed));
      auto check = [&](ModuleOp candidate) { return checkAlone(law, candidate, seed); };
      if (check(*alone))
        ADD_FAILURE() << report(seed, law.name, *alone, check);
      else if (violation.what.find("the compiler refuses") == std::string::npos)
        ADD_FAILURE() << law.name << ", seed " << seed << " among others: " << violation.what;
    }
  }
  conclude(tally);
}
