//===- LiftedGradientLawTest.cpp - lifting and gradients commute ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a lifted function equals the gradient function, lifted: a gradient of an argument
// without the lifted names is the sum over the points. The programs branch. Their sides have poles
// at points where they are not taken, which lifted branches visit nevertheless. The same holds for
// tangents, and for the gradient of the gradient.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Derivatives.h"

#include "test/unit/laws/Dice.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
SmallVector<nd::NdTensorType> tensorTypes(TypeRange types) {
  return llvm::map_to_vector(types, [](Type type) { return cast<nd::NdTensorType>(type); });
}

/// Adds @`name`, which calls `callee` with operands of the types `taken`. Its results have the
/// types `given`: repeated over names that they lack, or summed over others.
func::FuncOp addCall(ModuleOp module, func::FuncOp callee, StringRef name,
                     ArrayRef<nd::NdTensorType> taken, ArrayRef<nd::NdTensorType> given) {
  OpBuilder b(module.getContext());
  Location loc = callee.getLoc();
  SmallVector<Type> arguments(taken.begin(), taken.end()), results(given.begin(), given.end());
  auto function = func::FuncOp::create(loc, name, b.getFunctionType(arguments, results));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  module.push_back(function);
  SmallVector<Value> values = nd::buildCall(b, loc, callee, block->getArguments());
  if (values.size() != given.size()) {
    function.erase();
    return {};
  }
  // Every point counts once in a sum, also if the result does not depend on the point.
  SmallVector<nd::Dim> lifted;
  for (auto [own, formal] : llvm::zip_equal(taken, tensorTypes(callee.getArgumentTypes())))
    for (const nd::Dim &dim : own.getDims())
      if (!formal.has(dim.name) && !llvm::is_contained(lifted, dim))
        lifted.push_back(dim);
  for (auto [value, type] : llvm::zip_equal(values, given))
    value = nd::buildSumTo(b, loc, nd::buildBroadcast(b, loc, value, lifted), type);
  func::ReturnOp::create(b, loc, values);
  for (unsigned i = 0; i < taken.size(); ++i)
    function.setArgAttr(i, nd::nameAttrName, b.getStringAttr("x" + std::to_string(i)));
  return function;
}

using AddDerivative = func::FuncOp (*)(ModuleOp, func::FuncOp, StringRef);

/// Adds @`name`_of_lift, the derivative of @`lifted`, and @`name`_lifted, the lifted derivative of
/// @`callee`; returns both derivatives.
std::optional<std::pair<func::FuncOp, func::FuncOp>> addBoth(ModuleOp module, func::FuncOp callee,
                                                             func::FuncOp lifted, StringRef name,
                                                             AddDerivative add) {
  func::FuncOp ofLift = add(module, lifted, (name + "_of_lift").str()),
               own = add(module, callee, name);
  func::FuncOp liftedOwn =
      addCall(module, own, (name + "_lifted").str(), tensorTypes(ofLift.getArgumentTypes()),
              tensorTypes(ofLift.getResultTypes()));
  if (!liftedOwn)
    return std::nullopt;
  for (unsigned i = 0; i < ofLift.getNumArguments(); ++i)
    liftedOwn.setArgAttr(i, nd::nameAttrName, ofLift.getArgAttr(i, nd::nameAttrName));
  return std::pair(ofLift, own);
}

/// Adds @main, which calls `callee` with operands that have one or two more names.
func::FuncOp addLifted(ModuleOp module, func::FuncOp callee, Dice &dice) {
  SmallVector<nd::NdTensorType> formals = tensorTypes(callee.getArgumentTypes()),
                                results = tensorTypes(callee.getResultTypes()), taken, given;
  SmallVector<nd::Dim> lifted;
  for (StringRef name : {dice.pick({"a", "c", "row", "b1", "lane"}), dice.pick({"b", "k", "k2"})}) {
    auto has = [&](nd::NdTensorType type) { return type.has(name); };
    // A gradient has the names of its argument, and those of the points.
    if (!llvm::any_of(formals, has) && !llvm::any_of(results, has) &&
        (lifted.empty() || dice.chance(30)))
      lifted.emplace_back(module.getContext(), name, Expr(dice.pick({1, 2, 3, 5})));
  }
  if (lifted.empty())
    return {};
  for (auto [i, formal] : llvm::enumerate(formals)) {
    SmallVector<nd::Dim> dims =
        llvm::filter_to_vector(lifted, [&](const nd::Dim &) { return i == 0 || dice.chance(65); });
    taken.push_back(formal.with(dims));
  }
  for (nd::NdTensorType result : results)
    given.push_back(result.with(lifted));
  return addCall(module, callee, "main", taken, given);
}

/// True if a condition depends on an argument, so that a lifted branch goes both ways.
bool hasBranch(func::FuncOp function) {
  return function
      .walk([](scf::IfOp op) {
        auto item = op.getCondition().getDefiningOp<nd::ItemOp>();
        return item && !item.getInput().getDefiningOp<nd::ConstantOp>() ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
      })
      .wasInterrupted();
}
} // namespace

class LiftedGradientLaw : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, LiftedGradientLaw, ::testing::Range(0, 2));

TEST_P(LiftedGradientLaw, LiftingAndDerivativesCommute) {
  auto context = makeContext();
  Tally tally;
  int tried = 0, branching = 0;
  holdPrograms(
      "the lifted gradient law", {0.5, GetParam()}, [&](uint64_t seed) -> std::optional<Suspect> {
        ++tried;
        GeneratorOptions options;
        options.smooth = options.control = options.branches = true;
        options.kernels = seed % 2;
        options.steps = int(seed % 4);
        options.scale = 1;
        OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context.get()));
        func::FuncOp callee = generateProgram(*module, "f", seed, options);
        bool twice = seed % 4 == 1;
        {
          // A lifted name that a result has is refused, and tried again with others.
          ScopedDiagnosticHandler quiet(context.get(), [](Diagnostic &) { return success(); });
          Dice dice(seed);
          func::FuncOp lifted;
          for (int tries = 0; tries < 6 && !lifted; ++tries)
            lifted = addLifted(*module, callee, dice);
          if (!lifted)
            return std::nullopt;
          auto gradients = addBoth(*module, callee, lifted, "gradient", addGradient);
          if (!gradients || !addBoth(*module, callee, lifted, "tangent", addTangent) ||
              (twice &&
               !addBoth(*module, gradients->second, gradients->first, "second", addGradient)))
            return std::nullopt;
        }
        ++tally.programs;
        branching += hasBranch(callee);
        auto check = [&, seed](ModuleOp candidate) -> Violation {
          OwningOpRef<ModuleOp> copy(candidate.clone());
          if (auto messages = expandDerivatives(*copy, seed % 2))
            return {"differentiation fails: " + *messages, printed(*copy)};
          for (std::string name : {"gradient", "tangent", "second"}) {
            auto ofLift = copy->lookupSymbol<func::FuncOp>(name + "_of_lift"),
                 lifted = copy->lookupSymbol<func::FuncOp>(name + "_lifted");
            if (!ofLift || !lifted)
              continue;
            Values arguments = drawArguments(ofLift, seed);
            FailureOr<Values> expected = interp::interpret(lifted, arguments),
                              got = interp::interpret(ofLift, arguments);
            if (failed(expected) || failed(got))
              return {"the interpreter refuses the " + name, printed(*copy)};
            if (std::string difference = tally.compare(*expected, *got); !difference.empty())
              return {"the " + name + " of the lifted function is not the lifted " + name + ": " +
                          difference,
                      printed(ofLift)};
          }
          return {};
        };
        return Suspect{std::move(module), check};
      });
  std::printf("%d programs, %d branch, %lld tensors compared, %lld of %lld elements undecided\n",
              tally.programs, branching, (long long)tally.comparisons, (long long)tally.undecided,
              (long long)tally.elements);
  EXPECT_GE(tally.programs * 10, tried * 8) << "of " << tried << " programs too few can be lifted";
  EXPECT_GE(branching * 10, tally.programs * 9) << "too few programs branch";
  double each = double(tally.comparisons) / std::max(tally.programs, 1);
  EXPECT_LE(tally.undecidedTensors, each * mostDiscarded(0.05, tally.programs))
      << "more than 5 % of the tensors are not decided";
}
