//===- HoldLaws.cpp - laws held on many programs --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"

#include "test/unit/laws/Property.h"

#include "lib/conversion/nd_to_nest/NdToNest.h"
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

LogicalResult laws::lowerToNests(ModuleOp module, bool fuse) {
  PassManager passes(module.getContext());
  CompileOptions options;
  options.assignLayouts = false;
  buildNdPipeline(passes, options);
  if (fuse)
    buildNestPipeline(passes, options);
  else
    passes.addNestedPass<func::FuncOp>(createConvertNdToNestPass());
  return passes.run(module);
}

/// With HEDDLE_LAWS_PRINT programs are printed before anything is done with them.
static void show(ModuleOp module) {
  if (std::getenv("HEDDLE_LAWS_PRINT"))
    llvm::outs() << module << "\n";
  llvm::outs().flush();
}

/// Says what was held; too much that is not decided is a failure.
static void conclude(const Tally &tally) {
  std::printf("%d programs, %lld tensors compared, %lld of %lld elements undecided\n",
              tally.programs, (long long)tally.comparisons, (long long)tally.undecided,
              (long long)tally.elements);
  // A tensor that the oracle can't decide counts once for each pass of its program.
  double each = double(tally.comparisons) / std::max(tally.programs, 1);
  EXPECT_LE(tally.undecidedTensors, each * mostDiscarded(0.05, tally.programs))
      << "more than 5 % of the tensors are not decided";
}

void laws::holdEach(const ProgramLaw &law, Share share) {
  auto context = makeContext();
  Tally tally;
  holdPrograms(law.name, share, [&](uint64_t seed) -> std::optional<Suspect> {
    ++tally.programs;
    return Suspect{makeProgram(*context, seed, law.options(seed)),
                   [&, seed](ModuleOp candidate) { return law.check(candidate, seed, tally); }};
  });
  conclude(tally);
}

void laws::holdPrograms(StringRef law, Share share,
                        const std::function<std::optional<Suspect>(uint64_t)> &make) {
  Seeds seeds = seedsFor(share);
  std::string said = holdOnCases(seeds.draw, seeds.count, [&](uint64_t i) -> std::optional<Fault> {
    uint64_t seed = seeds.first + i;
    Announce announce(law, seed);
    std::optional<Suspect> suspect = make(seed);
    if (!suspect)
      return std::nullopt;
    show(*suspect->module);
    Violation violation = suspect->check(*suspect->module);
    if (!violation)
      return std::nullopt;
    auto shared = std::make_shared<Suspect>(std::move(*suspect));
    return Fault{
        law.str() + ", seed " + std::to_string(seed) + ": " + violation.what,
        [=, law = law.str()] { return report(seed, law, *shared->module, shared->check); }};
  });
  if (!said.empty())
    ADD_FAILURE() << said;
}

/// The oracle has to be shown derivatives as ops.
FailureOr<Values> laws::evaluated(ModuleOp module, StringRef program,
                                  ArrayRef<TensorValue> values) {
  OwningOpRef<ModuleOp> copy(module.clone());
  PassManager manager(module.getContext());
  manager.addPass(nd::createNdDifferentiatePass());
  if (failed(manager.run(*copy)))
    return failure();
  return interp::interpret(copy->lookupSymbol<func::FuncOp>(program), values);
}

namespace {
/// Some programs in one module, and runs of them with the values that the oracle gives.
struct Batch {
  OwningOpRef<ModuleOp> module;
  SmallVector<std::string> names, entries;
  SmallVector<uint64_t> seeds, runs;
  SmallVector<Values> arguments, expected;

  Batch(const CompiledLaw &law, MLIRContext &context, Seeds drawn)
      : module(ModuleOp::create(UnknownLoc::get(&context))) {
    for (int i = 0; i < drawn.count; ++i) {
      seeds.push_back(drawn.first + uint64_t(i));
      names.push_back("p" + std::to_string(seeds.back()));
      Announce announce(law.name + ", as it is generated", seeds.back());
      generateProgram(*module, names.back(), seeds.back(), law.options(seeds.back()));
    }
  }
  /// The first program that the oracle refuses.
  std::optional<uint64_t> evaluate(const CompiledLaw &law) {
    for (auto [name, seed] : llvm::zip_equal(names, seeds)) {
      Announce announce(law.name + ", in the interpreter", seed);
      auto function = module->lookupSymbol<func::FuncOp>(name);
      if (!run(name, seed, drawArguments(function, seed)))
        return seed;
      if (!law.sizes)
        continue;
      auto [n, m] = law.sizes(seed);
      ScopedDiagnosticHandler quiet(module->getContext(), [](Diagnostic &) { return success(); });
      run(name, seed, drawArguments(function, seed, true, n, m));
    }
    return std::nullopt;
  }

private:
  bool run(const std::string &name, uint64_t seed, Values values) {
    if (values.size() != module->lookupSymbol<func::FuncOp>(name).getNumArguments())
      return false;
    auto result = evaluated(*module, name, values);
    if (failed(result))
      return false;
    entries.push_back(name);
    runs.push_back(seed);
    arguments.push_back(std::move(values));
    expected.push_back(std::move(*result));
    return true;
  }
};

/// What `checkCompiled` says, after the law's choices in `module`; and if there are others, whether
/// they give the same bits. None if some pass refuses the programs.
std::optional<SmallVector<Violation>>
checkChoices(const CompiledLaw &law, ModuleOp module, ArrayRef<std::string> names,
             ArrayRef<uint64_t> seeds, ArrayRef<std::string> entries, ArrayRef<Values> arguments,
             ArrayRef<Values> expected, Tally &tally) {
  OwningOpRef<ModuleOp> other(module.clone());
  if (failed(law.prepare(module, names, seeds)))
    return std::nullopt;
  SmallVector<Values> first, second;
  auto violations = checkCompiled(module, entries, arguments, expected, tally, law.compile, &first);
  if (!law.prepareAgain || llvm::any_of(violations, [](auto &each) { return bool(each); }))
    return violations;
  if (failed(law.prepareAgain(*other, names, seeds)))
    return std::nullopt;
  violations = checkCompiled(*other, entries, arguments, expected, tally, law.compile, &second);
  for (auto [violation, one, two] : llvm::zip(violations, first, second))
    if (!violation && !haveSameBits(one, two))
      violation = {"other choices give other bits", printed(*other)};
  return violations;
}

Violation checkAlone(const CompiledLaw &law, ModuleOp module, uint64_t seed) {
  SmallVector<Values> arguments{drawArguments(mainOf(module), seed)}, wanted;
  if (law.sizes) {
    auto [n, m] = law.sizes(seed);
    arguments.push_back(drawArguments(mainOf(module), seed, true, n, m));
  }
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  for (const Values &values : arguments)
    if (FailureOr<Values> result = failure(); values.size() == mainOf(module).getNumArguments() &&
                                              succeeded(result = evaluated(module, "main", values)))
      wanted.push_back(std::move(*result));
  OwningOpRef<ModuleOp> copy(module.clone());
  Tally ignored;
  arguments.resize(wanted.size());
  SmallVector<std::string> names(wanted.size(), "main");
  auto violations = wanted.empty() ? std::nullopt
                                   : checkChoices(law, *copy, {"main"}, {seed}, names, arguments,
                                                  wanted, ignored);
  if (!violations)
    return {"the interpreter refuses it", ""};
  for (Violation &violation : *violations)
    if (violation)
      return violation;
  return {};
}
} // namespace

void laws::holdCompiled(const CompiledLaw &law, Share share) {
  auto context = makeContext();
  Tally tally;
  Seeds all = seedsFor(share);
  int size = std::min(law.programsPerModule, all.count), atOtherSizes = 0;
  auto check = [&](uint64_t number) -> std::optional<Fault> {
    Batch batch(law, *context, {all.first + number * uint64_t(size), size, 0});
    show(*batch.module);
    if (auto refused = batch.evaluate(law))
      return Fault{law.name + ", seed " + std::to_string(*refused) + ": the interpreter refuses it",
                   nullptr};
    Announce announce(law.name + ", a program from here on", batch.seeds[0]);
    tally.programs += int(batch.names.size());
    atOtherSizes += int(batch.runs.size() - batch.names.size());
    auto violations = checkChoices(law, *batch.module, batch.names, batch.seeds, batch.entries,
                                   batch.arguments, batch.expected, tally);
    if (!violations)
      return Fault{law.name + ", one of " + std::to_string(batch.names.size()) +
                       " programs from seed " + std::to_string(batch.seeds[0]) +
                       ": the passes refuse it",
                   nullptr};
    for (auto [violation, seed] : llvm::zip_equal(*violations, batch.runs)) {
      if (!violation)
        continue;
      Fault fault{law.name + ", seed " + std::to_string(seed) + " among others: " + violation.what,
                  nullptr};
      auto alone = [&, seed = seed](ModuleOp candidate) {
        return checkAlone(law, candidate, seed);
      };
      if (alone(*makeProgram(*context, seed, law.options(seed)))) {
        fault.smaller = [&, alone, seed = seed] {
          return report(seed, law.name, *makeProgram(*context, seed, law.options(seed)), alone);
        };
        return fault;
      }
      // A batch is refused for one of its programs, which is found alone.
      if (violation.what.find("the compiler refuses") == std::string::npos)
        return fault;
    }
    return std::nullopt;
  };
  std::string said = holdOnCases(all.draw, (all.count + size - 1) / size, check);
  if (!said.empty())
    ADD_FAILURE() << said;
  conclude(tally);
  if (!law.sizes)
    return;
  std::printf("%d of them at other sizes as well\n", atOtherSizes);
  EXPECT_LE(tally.programs - atOtherSizes, mostDiscarded(0.4, tally.programs))
      << "too few programs run at other sizes";
}
