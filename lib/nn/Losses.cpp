//===- Losses.cpp - loss functions ----------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Losses.h"

#include "heddle/Jit.h"
#include "heddle/nn/Leaves.h"
#include "lib/nn/LayerUtils.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

/// `losses` have already been multiplied by `weight`, which has some of their names.
static CountedMean meanOfWeighted(const Tensor &losses, const Tensor &weight) {
  Names others;
  for (const Name &name : namesOf(losses))
    if (!weight.has(name))
      others.push_back(name);
  Tensor count = sum(weight.cast(losses.elementType()), namesOf(weight));
  if (!others.empty())
    count = count * countOf(losses, others, losses.elementType());
  return {sum(losses, namesOf(losses)) / select(count > 0.0, count, 1.0), count};
}

CountedMean nn::countedMean(const Tensor &each, const Tensor &weight, Here here) {
  CallScope scope(here);
  requireHas(each, namesOf(weight), here);
  Tensor own = widened(each), times = weight.cast(own.elementType());
  // An element of weight 0 may be NaN, and NaN * 0 is NaN.
  return meanOfWeighted(select(times > 0.0, own * times, 0.0), times);
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

Tensor nn::squaredError(const Tensor &x, const Tensor &wanted, Here here) {
  CallScope scope(here);
  return square(x - wanted);
}

Tensor nn::absoluteError(const Tensor &x, const Tensor &wanted, Here here) {
  CallScope scope(here);
  return abs(x - wanted);
}

Tensor nn::huber(const Tensor &x, const Tensor &wanted, double delta, Here here) {
  if (!(delta > 0))
    throw Error("expected a delta above 0, got " + std::to_string(delta), here);
  CallScope scope(here);
  Tensor error = x - wanted, distance = abs(error);
  Tensor inner = square(error) * 0.5;
  Tensor outer = (distance - delta / 2) * delta;
  return select(distance <= delta, inner, outer);
}

Tensor nn::binaryCrossEntropy(const Tensor &probability, const Tensor &wanted, Here here) {
  CallScope scope(here);
  // Near 0 and 1 the logarithms are clamped, as in PyTorch, and have the gradient 0. The derivative
  // of the logarithm is not evaluated there, since it is infinite, and infinity * 0 is NaN.
  auto slope = [](const Tensor &isIn, const Tensor &x, const Tensor &g) {
    return select(isIn, g, 0.0) * (1.0 / select(isIn, x, 1.0));
  };
  Tensor yes =
      withGradient([](Tensor p) { return maximum(log(p), -100.0); },
                   [&](Tensor p, Tensor g) { return slope(p > 1e-37, p, g); }, here)(probability);
  Tensor no = withGradient([](Tensor p) { return maximum(log1p(-p), -100.0); },
                           [&](Tensor p, Tensor g) { return -slope(p < 1.0, 1.0 - p, g); },
                           here)(probability);
  return -(wanted * yes + (1.0 - wanted) * no);
}

Tensor nn::binaryCrossEntropyOfLogits(const Tensor &logits, const Tensor &wanted,
                                      std::optional<Operand> positive, Here here) {
  CallScope scope(here);
  // -log(sigmoid(x)) = max(-x, 0) + log(1 + exp(-|x|)), and -log(1 - sigmoid(x)) is that plus x.
  // `maximum` and `abs` would not give the derivative 1/2 at 0.
  Tensor isPositive = logits >= 0.0;
  Tensor rest = log1p(exp(select(isPositive, -logits, logits)));
  Tensor yes = rest + select(isPositive, 0.0, -logits);
  if (positive)
    yes = yes * *positive;
  Tensor no = rest + select(isPositive, logits, 0.0);
  return wanted * yes + (1.0 - wanted) * no;
}

Tensor nn::klDivergence(const Tensor &logProbability, const Tensor &wanted, Here here) {
  CallScope scope(here);
  // Where `wanted` is 0, `logProbability` may be -inf; it must not be multiplied by 0.
  Tensor isThere = wanted > 0.0;
  Tensor value =
      wanted * (log(select(isThere, wanted, 1.0)) - select(isThere, logProbability, 0.0));
  return select(isThere, value, 0.0);
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

namespace {
/// The classes at labels.
struct Choice {
  Tensor chosen;  ///< i1: the label's class, among the classes
  Tensor isClass; ///< i1: the label is a class
  Tensor number;  ///< the labels
};
} // namespace

/// The label `ignored` is treated as a class, since its loss is replaced by 0.
static Choice choose(const Tensor &scores, const Tensor &label, const Name &classes, Here here,
                     std::optional<int64_t> ignored = {}) {
  auto refuse = [&](const std::string &what) {
    throw Error("expected " + what + ", got " + label.type(here) + " for " + scores.type(here),
                here);
  };
  CallScope scope(here);
  ElementType type = label.elementType();
  if (isFloat(type))
    refuse("labels of integers, the numbers of classes");
  for (const std::string &name : label.names())
    if (!scores.has(Name(name)) || classes == Name(name))
      refuse("labels with names of the logits, without '" + classes.str() + "'");
  if (byteSize(type) < 4) // the type may be too narrow for the number of classes
    type = ElementType::I32;
  Tensor number = label.cast(type);
  Tensor numbers = iota({classes, scores.size(classes)}, type);
  Tensor chosen = equal(number, numbers.broadcast(number.extents()));
  // `gather` clamps a label out of range, and JitOptions::check reports it.
  Tensor at = ignored ? select(equal(number, double(*ignored)), 0.0, number) : number;
  Tensor isClass = equal(numbers.gather(classes, at), at);
  return {chosen, isClass, number};
}

/// The sum over the classes of the chosen elements of `x`.
static Tensor pick(const Choice &choice, const Tensor &x, const Name &classes) {
  return sum(select(choice.chosen, x, 0.0), over(classes));
}

namespace {
/// Losses of samples and their weights in a mean (empty: 1), in the type of sums.
struct Weighted {
  Tensor loss, weight;
};
} // namespace

/// weight * cost; 0 where the weight is 0 and the cost infinite, for a class of probability 0.
static Tensor weighted(const Tensor &weight, const Tensor &cost) {
  Tensor isHidden = logicalAnd(equal(weight, 0.0), equal(cost, INFINITY));
  return weight * select(isHidden, 0.0, cost);
}

static Weighted crossEntropies(const Tensor &logits, const Tensor &label, const Name &classes,
                               const CrossEntropyOptions &options, Here here) {
  if (!(options.smoothing >= 0 && options.smoothing <= 1))
    throw Error("expected a smoothing from 0 to 1, got " + std::to_string(options.smoothing), here);
  CallScope scope(here);
  bool isWeighted = !options.weight.empty(), isSmooth = options.smoothing > 0;
  if (isWeighted && !options.weight.has(classes))
    refuse("expected a weight of each class, along '" + classes.str() + "', got " +
               options.weight.type(),
           here);
  bool isProbability = isFloat(label.elementType()) && label.has(classes);
  if (isProbability && options.ignored)
    refuse("expected no ignored label where labels are probabilities, got " +
               std::to_string(*options.ignored),
           here);
  Tensor wide = widened(logits), counts, classWeight;
  std::optional<Choice> choice;
  if (!isProbability)
    choice = choose(logits, label, classes, here, options.ignored);
  if (options.ignored) {
    counts = notEqual(choice->number, double(*options.ignored));
    wide = select(counts, wide, 0.0); // an ignored sample gets no gradient, even if it is NaN
  }
  if (isWeighted)
    classWeight = widened(options.weight);
  Tensor shifted = wide - stopGradient(max(wide, over(classes)));
  Tensor normaliser = log(sum(exp(shifted), over(classes)));
  // Label smoothing spreads a part of the target evenly over all classes: the weighted mean of
  // -log(p).
  auto smoothed = [&](const Tensor &loss) {
    if (!isSmooth)
      return loss;
    Tensor cost = normaliser - shifted;
    Tensor each = isWeighted ? weighted(classWeight, cost) : cost;
    return loss * (1 - options.smoothing) + mean(each, over(classes)) * options.smoothing;
  };
  if (isProbability) {
    Tensor target = widened(label);
    if (isWeighted)
      target = target * classWeight;
    return {smoothed(sum(weighted(target, normaliser - shifted), over(classes))), Tensor()};
  }
  Tensor loss = normaliser - pick(*choice, shifted, classes), weight;
  if (isWeighted) {
    weight = pick(*choice, classWeight, classes);
    loss = weighted(weight, loss);
  }
  loss = select(choice->isClass, smoothed(loss), NAN);
  if (options.ignored) {
    loss = select(counts, loss, 0.0);
    Tensor one = counts.cast(loss.elementType());
    weight = isWeighted ? weight * one : one;
  }
  return {loss, weight};
}

Tensor nn::crossEntropy(const Tensor &logits, const Tensor &label, const Name &classes,
                        const CrossEntropyOptions &options, Here here) {
  Tensor loss = crossEntropies(logits, label, classes, options, here).loss;
  return loss.cast(logits.elementType(here), here);
}

Tensor nn::crossEntropyMean(const Tensor &logits, const Tensor &label, const Name &classes,
                            const Names &over, const CrossEntropyOptions &options, Here here) {
  CallScope scope(here);
  auto [loss, weight] = crossEntropies(logits, label, classes, options, here);
  ElementType type = logits.elementType();
  if (weight.empty())
    return mean(loss, over).cast(type);
  std::vector<Extent> missing; // samples may share a label
  for (const Extent &extent : loss.extents())
    if (!weight.has(extent.name))
      missing.push_back(extent);
  if (!missing.empty())
    weight = weight.broadcast(missing);
  return (sum(loss, over) / sum(weight, over)).cast(type);
}

CountedMean nn::countedCrossEntropy(const Tensor &logits, const Tensor &label, const Name &classes,
                                    const CrossEntropyOptions &options, Here here) {
  CallScope scope(here);
  auto [loss, weight] = crossEntropies(logits, label, classes, options, here);
  return meanOfWeighted(loss, weight.empty() ? constant(1) : weight);
}

//===----------------------------------------------------------------------===//
// Margins
//===----------------------------------------------------------------------===//

static Tensor hinges(const Tensor &scores, const Tensor &label, const Name &classes, Operand margin,
                     int power, Here here) {
  if (power != 1 && power != 2)
    throw Error("expected a power of 1 or 2, got " + std::to_string(power), here);
  CallScope scope(here);
  Choice choice = choose(scores, label, classes, here);
  Tensor distance = pick(choice, scores, classes) - scores;
  Tensor lack = maximum(margin - distance, 0.0);
  if (power == 2)
    lack = square(lack);
  Tensor loss = sum(select(choice.chosen, 0.0, lack), over(classes));
  return select(choice.isClass, loss, NAN);
}

Tensor nn::hinge(const Tensor &scores, const Tensor &label, const Name &classes, double margin,
                 int power, Here here) {
  return hinges(scores, label, classes, {margin, here}, power, here);
}

Tensor nn::spread(const Tensor &activations, const Tensor &label, const Name &classes,
                  Operand margin, Here here) {
  return hinges(activations, label, classes, margin, 2, here);
}

Tensor nn::margin(const Tensor &lengths, const Tensor &label, const Name &classes,
                  MarginOptions options, Here here) {
  CallScope scope(here);
  Choice choice = choose(lengths, label, classes, here);
  Tensor present = square(maximum(options.present - lengths, 0.0));
  Tensor absent = square(maximum(lengths - options.absent, 0.0));
  Tensor each = select(choice.chosen, present, absent * options.others);
  return select(choice.isClass, sum(each, over(classes)), NAN);
}
