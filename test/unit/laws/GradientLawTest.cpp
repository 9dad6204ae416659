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
// Forward mode is held against reverse mode: <w, Jv> = <J'w, v>, at kinks as well, where both
// follow one branch. In second order, forward over reverse and reverse over forward give one
// Hessian: <u, d(J'w) v> = <d(<w, Ju>), v>, where no kink is near.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Derivatives.h"

#include "lib/transforms/nd/Passes.h"

#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
GeneratorOptions optionsFor(uint64_t seed) {
  GeneratorOptions options;
  options.smooth = true;
  options.symbols = seed % 4 == 3;
  options.control = seed % 3 == 1;
  options.steps = 2 + int(seed % 6);
  return options;
}

enum class Outcome { Equal, Discarded, Different };

/// Values drawn by `seed` where symbols are `scale` times as large.
Values drawAt(int64_t scale, func::FuncOp function, uint64_t seed, bool ties) {
  return drawArguments(function, seed, ties, sizeOfN * scale, sizeOfM * scale);
}

/// Holds @`gradient` of @`function` against differences in a direction.
Outcome hold(func::FuncOp function, func::FuncOp gradient, int64_t times, uint64_t seed, bool ties,
             std::string &what) {
  Values x = drawAt(times, gradient, seed, ties), v = drawAt(times, function, seed + 3, false);
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
  // A step that turns a sine many times says nothing.
  if (scale * h > 1e3 * (1 + std::fabs(middle)) || !std::isfinite(one) ||
      !std::isfinite(directional) || std::fabs(one - two) > tolerance ||
      (bend(h / 4) > 0.5 * bend(h) && bend(h / 4) > tolerance))
    return Outcome::Discarded;
  if (std::fabs(directional - two) <= 4 * tolerance)
    return Outcome::Equal;
  // Both steps may go round a sine or a remainder so often that they say the same of chance: a
  // slope is one that a much smaller step has as well, as far as rounding lets it tell.
  double smaller = h / 1000, noise = 1e-12 * (1 + std::fabs(middle)) / smaller;
  if (std::fabs(difference(smaller) - two) > 4 * tolerance + noise)
    return Outcome::Discarded;
  what = "expected the slope " + std::to_string(two) + " by differences, the gradient gives " +
         std::to_string(directional);
  return Outcome::Different;
}
} // namespace

class GradientLaw : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, GradientLaw, ::testing::Range(0, 2));

TEST_P(GradientLaw, GradientsEqualDifferences) {
  auto context = makeContext();
  int discarded = 0, held = 0;
  holdPrograms("the gradient law", {0.5, GetParam()}, [&](uint64_t seed) -> std::optional<Suspect> {
    GeneratorOptions options = optionsFor(seed);
    OwningOpRef<ModuleOp> module = makeProgram(*context, seed, options);
    // Twice for small programs: the gradient of a gradient grows fast.
    bool twice = options.steps <= 4;
    auto check = [&, seed, twice](ModuleOp candidate) -> Violation {
      OwningOpRef<ModuleOp> copy(candidate.clone());
      func::FuncOp function = mainOf(*copy);
      func::FuncOp first = addGradient(*copy, function, "first");
      if (twice)
        addGradient(*copy, first, "second");
      std::string text;
      if (auto messages = expandDerivatives(*copy, seed % 2))
        return {"differentiation fails: " + *messages, text};
      for (StringRef name : {"first", "second"}) {
        if (name == "second" && !twice)
          break;
        func::FuncOp of = copy->lookupSymbol<func::FuncOp>(name == "first" ? "main" : "first");
        auto gradient = copy->lookupSymbol<func::FuncOp>(name);
        std::string what;
        // Where there are ties, a gradient follows one of the two: that of min(x, max(x, 2)), which
        // is x, may be 0 at 2, and the slopes of max(x * x, 2 * x * x) at 0 are not the slope of
        // its gradient. Other points must do then.
        Outcome outcome = hold(of, gradient, scaleOf(seed), seed, true, what);
        if (outcome != Outcome::Equal)
          outcome = hold(of, gradient, scaleOf(seed), seed + 2, false, what);
        ++(outcome == Outcome::Discarded ? discarded : held);
        if (outcome == Outcome::Different) {
          llvm::raw_string_ostream(text) << gradient;
          return {"the gradient @" + name.str() + " is wrong: " + what, text};
        }
        if (outcome == Outcome::Discarded)
          break;
      }
      return {};
    };
    return Suspect{std::move(module), check};
  });
  std::printf("%d gradients held against differences, %d discarded\n", held, discarded);
  EXPECT_LE(discarded, mostDiscarded(0.05, held + discarded));
}

TEST_P(GradientLaw, ForwardEqualsReverse) {
  auto context = makeContext();
  int held = 0, discarded = 0;
  holdPrograms(
      "the gradient law, forward", {0.5, GetParam()}, [&](uint64_t seed) -> std::optional<Suspect> {
        GeneratorOptions options = optionsFor(seed);
        OwningOpRef<ModuleOp> module = makeProgram(*context, seed, options);
        bool twice = options.steps <= 4;
        auto check = [&, seed, twice](ModuleOp candidate) -> Violation {
          OwningOpRef<ModuleOp> copy(candidate.clone());
          func::FuncOp function = mainOf(*copy);
          func::FuncOp reverse = addGradient(*copy, function, "reverse");
          func::FuncOp forward = addTangent(*copy, function, "forward");
          if (twice) {
            addTangent(*copy, reverse, "forward_over_reverse");
            addGradient(*copy, forward, "reverse_over_forward");
          }
          std::string messages, text;
          ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
            messages += diagnostic.str() + "\n";
            return success();
          });
          PassManager passes(context.get());
          passes.addPass(nd::createNdDifferentiatePass());
          if (seed % 2) {
            passes.addPass(nd::createNdInlineCallsPass());
            passes.addPass(nd::createNdSimplifyPass({.verifyRules = true}));
            passes.addPass(nd::createNdCsePass());
          }
          if (failed(passes.run(*copy)))
            return {"differentiation fails: " + messages, text};

          unsigned n = function.getNumArguments();
          int64_t scale = scaleOf(seed);
          Values all = drawAt(scale, reverse, seed, /*ties=*/true);
          Values x(all.begin(), all.begin() + n), w(all.begin() + n, all.end());
          Values v = realsOf(drawAt(scale, function, seed + 6, false)),
                 u = realsOf(drawAt(scale, function, seed + 9, false));
          auto gradients = valuesOf(*copy, "reverse", joined(x, w)),
               tangents = valuesOf(*copy, "forward", joined(x, v));
          if (!gradients || !tangents)
            return {"the interpreter refuses: " + messages, text};
          auto [one, sizeOfOne] = innerOfAll(*gradients, v);
          auto [two, sizeOfTwo] = innerOfAll(realsOf(w), *tangents);
          if (!std::isfinite(one) || !std::isfinite(two)) {
            ++discarded;
            return {};
          }
          ++held;
          if (std::fabs(one - two) > 1e-9 * (sizeOfOne + sizeOfTwo)) {
            llvm::raw_string_ostream(text) << *copy->lookupSymbol<func::FuncOp>("forward");
            return {"reverse mode gives " + std::to_string(one) + ", forward mode " +
                        std::to_string(two) + " " + messages,
                    text};
          }
          if (!twice)
            return {};
          // Away from ties: there two orders may follow different branches.
          all = drawAt(scale, reverse, seed + 3, /*ties=*/false);
          x.assign(all.begin(), all.begin() + n);
          w.assign(all.begin() + n, all.end());
          Values still = realsOf(w); // the cotangents do not move
          for (TensorValue &value : still)
            for (auto &element : value.elements)
              element = interp::exactly(0);
          auto hv = valuesOf(*copy, "forward_over_reverse", joined(joined(joined(x, w), v), still)),
               hu = valuesOf(*copy, "reverse_over_forward", joined(joined(x, u), realsOf(w)));
          if (!hv || !hu)
            return {"the interpreter refuses the second derivative: " + messages, text};
          hu->resize(v.size()); // by x; the rest is by u
          auto [first, sizeOfFirst] = innerOfAll(*hv, u);
          auto [second, sizeOfSecond] = innerOfAll(*hu, v);
          if (!std::isfinite(first) || !std::isfinite(second)) {
            ++discarded;
            return {};
          }
          ++held;
          if (std::fabs(first - second) > 1e-8 * (sizeOfFirst + sizeOfSecond))
            return {"forward over reverse gives " + std::to_string(first) +
                        ", reverse over forward " + std::to_string(second) + " " + messages,
                    printed(copy->lookupSymbol("forward_over_reverse"))};
          return {};
        };
        return Suspect{std::move(module), check};
      });
  std::printf("%d times forward and reverse mode held against each other, %d discarded\n", held,
              discarded);
  EXPECT_LE(discarded, mostDiscarded(0.05, held + discarded));
}
