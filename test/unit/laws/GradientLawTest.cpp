//===- GradientLawTest.cpp - gradients equal differences ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For L(x) = <w, f(x)> and a random direction v the gradient must give <grad L, v> = (L(x + hv) -
// L(x - hv)) / 2h. Where two steps h disagree with each other a kink lies between; such a sample is
// discarded and counted. The function that computes the gradient is then itself differentiated: the
// second derivative.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"

#include "test/unit/laws/Dice.h"

#include "lib/transforms/nd/Passes.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
/// Adds @`name`, which returns the gradients of @`of` by all float arguments, given cotangents.
func::FuncOp addGradient(ModuleOp module, func::FuncOp of, StringRef name) {
  OpBuilder b(module.getContext());
  Location loc = of.getLoc();
  SmallVector<Type> arguments(of.getArgumentTypes()), results;
  llvm::append_range(arguments, of.getResultTypes());
  SmallVector<int64_t> wrt;
  for (auto [i, type] : llvm::enumerate(of.getArgumentTypes()))
    if (isa<FloatType>(cast<nd::NdTensorType>(type).getElementType())) {
      wrt.push_back(int64_t(i));
      results.push_back(type);
    }
  auto gradient = func::FuncOp::create(loc, name, b.getFunctionType(arguments, results));
  Block *block = gradient.addEntryBlock();
  b.setInsertionPointToEnd(block);
  unsigned n = of.getNumArguments();
  SmallVector<Value> values = nd::buildVjp(b, loc, of, block->getArguments().take_front(n),
                                           block->getArguments().drop_front(n), wrt);
  func::ReturnOp::create(b, loc, ValueRange(values).drop_front(of.getNumResults()));
  for (unsigned i = 0; i < arguments.size(); ++i)
    gradient.setArgAttr(i, nd::nameAttrName,
                        b.getStringAttr((i < n ? "x" : "w") + std::to_string(i)));
  module.push_back(gradient);
  return gradient;
}

double inner(const TensorValue &a, const TensorValue &b) {
  double sum = 0;
  for (auto [x, y] : llvm::zip_equal(a.elements, b.elements))
    sum += x.value * y.value;
  return sum;
}
double size(const TensorValue &a) { return std::sqrt(inner(a, a)); }

bool isReal(const TensorValue &value) { return isa<FloatType>(value.elementType()); }

/// <w, f(x + hv)>; NaN where it can't be said.
double loss(func::FuncOp function, Values x, ArrayRef<TensorValue> v, double h,
            ArrayRef<TensorValue> w) {
  for (auto [value, direction] : llvm::zip_equal(x, v))
    if (isReal(value))
      for (auto [a, d] : llvm::zip_equal(value.elements, direction.elements))
        a = interp::exactly(a.value + h * d.value);
  FailureOr<Values> results = interp::interpret(function, x);
  if (failed(results))
    return NAN;
  double sum = 0;
  for (auto [result, weight] : llvm::zip_equal(*results, w))
    if (isReal(result))
      sum += inner(result, weight);
  return sum;
}

enum class Outcome { Equal, Discarded, Different };

/// Holds @`gradient` of @`function` against differences in a direction.
Outcome hold(func::FuncOp function, func::FuncOp gradient, uint64_t seed, bool ties,
             std::string &what) {
  Values x = drawArguments(gradient, seed, ties), v = drawArguments(function, seed + 1, false);
  Values w(x.begin() + function.getNumArguments(), x.end());
  FailureOr<Values> got = interp::interpret(gradient, x);
  if (failed(got)) {
    what = "the interpreter refuses the gradient";
    return Outcome::Different;
  }
  x.resize(function.getNumArguments());
  double directional = 0, scale = 1e-3;
  size_t next = 0;
  for (auto [value, direction] : llvm::zip_equal(x, v))
    if (isReal(value)) {
      directional += inner((*got)[next], direction);
      scale += size((*got)[next++]) * size(direction);
    }
  auto difference = [&](double h) {
    return (loss(function, x, v, h, w) - loss(function, x, v, -h, w)) / (2 * h);
  };
  double h = 1e-5, one = difference(h), two = difference(h / 4);
  double middle = loss(function, x, v, 0, w);
  double tolerance = 1e-6 * (scale + std::fabs(one) + std::fabs(middle));
  // Slopes on both sides come together as h gets smaller, unless there is a kink.
  auto bend = [&](double h) {
    return std::fabs(loss(function, x, v, h, w) + loss(function, x, v, -h, w) - 2 * middle) / h;
  };
  if (!std::isfinite(one) || !std::isfinite(directional) || std::fabs(one - two) > tolerance ||
      (bend(h / 4) > 0.5 * bend(h) && bend(h / 4) > tolerance))
    return Outcome::Discarded;
  if (std::fabs(directional - two) <= 4 * tolerance)
    return Outcome::Equal;
  what = "expected the slope " + std::to_string(two) + " by differences, the gradient gives " +
         std::to_string(directional);
  return Outcome::Different;
}
} // namespace

TEST(GradientLaw, GradientsEqualDifferences) {
  auto context = makeContext();
  Seeds seeds = seedsFor(0.5);
  int discarded = 0, held = 0;
  for (int i = 0; i < seeds.count; ++i) {
    uint64_t seed = seeds.first + uint64_t(i);
    Announce announce("the gradient law", seed);
    GeneratorOptions options;
    options.smooth = true;
    options.symbols = seed % 4 == 3;
    options.steps = 2 + int(seed % 6);
    OwningOpRef<ModuleOp> module = makeProgram(*context, seed, options);
    // Twice for small programs: the gradient of a gradient grows fast.
    bool twice = options.steps <= 4;
    auto check = [&](ModuleOp candidate) -> Violation {
      OwningOpRef<ModuleOp> copy(candidate.clone());
      func::FuncOp function = mainOf(*copy);
      func::FuncOp first = addGradient(*copy, function, "first");
      if (twice)
        addGradient(*copy, first, "second");
      std::string messages;
      ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
        messages += diagnostic.str() + "\n";
        return success();
      });
      PassManager passes(context.get());
      passes.addPass(nd::createNdDifferentiatePass());
      passes.addPass(nd::createNdInlineCallsPass());
      if (seed % 2) {
        passes.addPass(nd::createNdSimplifyPass());
        passes.addPass(nd::createNdCsePass());
      }
      std::string text;
      if (failed(passes.run(*copy)))
        return {"differentiation fails: " + messages, text};
      for (StringRef name : {"first", "second"}) {
        if (name == "second" && !twice)
          break;
        func::FuncOp of = copy->lookupSymbol<func::FuncOp>(name == "first" ? "main" : "first");
        auto gradient = copy->lookupSymbol<func::FuncOp>(name);
        std::string what;
        // Where there are ties, other points may do. The slopes of max(x * x, 2 * x * x) are one
        // function at 0, where a gradient follows one of the two: its own slope is that one's.
        Outcome outcome = hold(of, gradient, seed, true, what);
        if (outcome == Outcome::Discarded || (outcome == Outcome::Different && name == "second"))
          outcome = hold(of, gradient, seed + 2, false, what);
        ++(outcome == Outcome::Discarded ? discarded : held);
        if (outcome == Outcome::Different) {
          llvm::raw_string_ostream(text) << gradient;
          return {"the gradient @" + name.str() + " is wrong: " + what + " " + messages, text};
        }
        if (outcome == Outcome::Discarded)
          break;
      }
      return {};
    };
    if (Violation violation = check(*module))
      ADD_FAILURE() << report(seed, "the gradient law", *module, check);
  }
  std::printf("%d gradients held against differences, %d discarded\n", held, discarded);
  EXPECT_LE(discarded * 10, held + discarded);
}
