//===- SampleLosses.cpp - distances, counts, several labels ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Losses.h"

#include "heddle/Jit.h"
#include "heddle/nn/Gradients.h"
#include "lib/nn/LayerUtils.h"
#include "lib/nn/SizeAsTensor.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

static void requireAboveZero(const char *what, double value, Here here) {
  if (!(value > 0))
    refuse(std::string("expected ") + what + " above 0, got " + std::to_string(value), here);
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

/// x^power, with the gradient 0 instead of infinity at 0.
static Tensor powerOf(const Tensor &x, double power) {
  Tensor isZero = equal(x, 0.0), safe = select(isZero, 1.0, x);
  return select(isZero, 0.0, power == 0.5 ? sqrt(safe) : pow(safe, power));
}

static Tensor distance(const Tensor &a, const Tensor &b, const Names &over,
                       const TripletOptions &options) {
  Tensor difference = a - b + options.epsilon;
  if (options.power == 2)
    return powerOf(sum(square(difference), over), 0.5);
  Tensor length = abs(difference);
  if (std::isinf(options.power))
    return max(length, over);
  if (options.power == 1)
    return sum(length, over);
  return powerOf(sum(powerOf(length, options.power), over), 1 / options.power);
}

Tensor nn::tripletMargin(const Tensor &anchor, const Tensor &positive, const Tensor &negative,
                         const Names &over, const TripletOptions &options, Here here) {
  CallScope scope(here);
  requireAboveZero("a margin", options.margin, here);
  requireAboveZero("a power", options.power, here);
  Tensor a = widened(anchor), p = widened(positive), n = widened(negative);
  Tensor near = distance(a, p, over, options), far = distance(a, n, over, options);
  if (options.swap)
    far = minimum(far, distance(p, n, over, options));
  return relu(near - far + options.margin).cast(anchor.elementType());
}

Tensor nn::cosineEmbedding(const Tensor &x, const Tensor &y, const Tensor &wanted,
                           const Names &over, double margin, Here here) {
  CallScope scope(here);
  nn::detail::requireRange("a margin", margin, -1, 1, here);
  Tensor a = widened(x), b = widened(y);
  // PyTorch's constant is an f32.
  auto length = [&](const Tensor &v) { return sqrt(sum(square(v), over) + double(1e-12f)); };
  Tensor cosine = sum(a * b, over) / (length(a) * length(b));
  Tensor apart = select(equal(wanted, -1.0), relu(cosine - margin), NAN);
  return select(equal(wanted, 1.0), 1.0 - cosine, apart).cast(x.elementType());
}

//===----------------------------------------------------------------------===//
// Distributions
//===----------------------------------------------------------------------===//

Tensor nn::poissonNll(const Tensor &x, const Tensor &wanted, const PoissonOptions &options,
                      Here here) {
  CallScope scope(here);
  Tensor rate = widened(x), count = wanted.cast(rate.elementType());
  Tensor loss =
      options.logarithm ? exp(rate) - count * rate : rate - count * log(rate + options.epsilon);
  if (options.full) {
    Tensor isMany = count > 1.0, many = select(isMany, count, 2.0);
    Tensor stirling = many * log(many) - many + log(many * (2 * M_PI)) * 0.5;
    loss = loss + select(isMany, stirling, 0.0);
  }
  return loss.cast(x.elementType());
}

Tensor nn::gaussianNll(const Tensor &x, const Tensor &wanted, const Tensor &variance,
                       const GaussianOptions &options, Here here) {
  CallScope scope(here);
  requireAboveZero("an epsilon", options.epsilon, here);
  Tensor mean = widened(x), given = variance.cast(mean.elementType());
  Tensor held = withGradient([&](Tensor v) { return maximum(v, options.epsilon); },
                             [](Tensor, Tensor g) { return g; }, here)(given);
  Tensor safe = select(given < 0.0, NAN, held);
  Tensor loss = (log(safe) + square(mean - wanted.cast(mean.elementType())) / safe) * 0.5;
  return (options.full ? loss + 0.5 * std::log(2 * M_PI) : loss).cast(x.elementType());
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

namespace {
/// Losses of samples and their weights, in the type of sums.
struct Chosen {
  Tensor loss, weight;
};
} // namespace

/// An ignored sample has loss 0 and weight 0, for any scores and any number as the ignored label.
static Chosen negativeLogs(const Tensor &logProbability, const Tensor &label, const Name &classes,
                           const NllOptions &options, Here here) {
  requireHas(logProbability, classes, here);
  for (const Extent &extent : label.extents())
    if (!logProbability.has(extent.name) || extent.name == classes)
      refuse("expected labels with names of the probabilities, without '" + classes.str() +
                 "', got " + label.type() + " for " + logProbability.type(),
             here);
  if (isFloat(label.elementType()))
    refuse("expected labels of integers, the numbers of classes, got " + label.type(), here);
  if (!options.weight.empty() && !options.weight.has(classes))
    refuse("expected a weight of each class, along '" + classes.str() + "', got " +
               options.weight.type(),
           here);
  std::vector<Extent> missing; // samples may share a label
  for (const Extent &extent : logProbability.extents())
    if (!label.has(extent.name) && extent.name != classes)
      missing.push_back(extent);
  Tensor number = label.cast(ElementType::I64).broadcast(missing);
  Tensor counts = constant(1, ElementType::I1).broadcast(number.extents());
  if (options.ignored)
    counts = notEqual(number, double(*options.ignored));
  Tensor at = select(counts, number, 0.0);
  // `gather` clamps a label out of range, and JitOptions::check reports it.
  Tensor isClass = equal(iota({classes, logProbability.size(classes)}).gather(classes, at), at);
  Tensor wide = widened(logProbability);
  auto chosen = [&](const Tensor &x) { return select(counts, x.gather(classes, at), 0.0); };
  Tensor loss = -chosen(wide), weight = counts.cast(wide.elementType());
  if (!options.weight.empty()) {
    weight = chosen(options.weight.cast(wide.elementType()));
    loss = loss * weight;
  }
  return {select(isClass, loss, NAN), weight};
}

Tensor nn::nll(const Tensor &logProbability, const Tensor &label, const Name &classes,
               const NllOptions &options, Here here) {
  CallScope scope(here);
  Tensor loss = negativeLogs(logProbability, label, classes, options, here).loss;
  return loss.cast(logProbability.elementType());
}

Tensor nn::nllMean(const Tensor &logProbability, const Tensor &label, const Name &classes,
                   const Names &over, const NllOptions &options, Here here) {
  CallScope scope(here);
  auto [loss, weight] = negativeLogs(logProbability, label, classes, options, here);
  return (sum(loss, over) / sum(weight, over)).cast(logProbability.elementType());
}

Tensor nn::multiLabelSoftMargin(const Tensor &logits, const Tensor &wanted, const Name &classes,
                                const Tensor &weight, Here here) {
  CallScope scope(here);
  requireHas(logits, classes, here);
  Tensor wide = widened(logits);
  Tensor each = binaryCrossEntropyOfLogits(wide, wanted.cast(wide.elementType()));
  if (!weight.empty())
    each = each * weight.cast(wide.elementType());
  return mean(each, classes).cast(logits.elementType());
}

Tensor nn::multiLabelMargin(const Tensor &scores, const Tensor &labels, const Name &classes,
                            const Name &position, Here here) {
  CallScope scope(here);
  requireHas(scores, classes, here);
  requireHas(labels, position, here);
  if (isFloat(labels.elementType()) || labels.has(classes) || scores.has(position))
    refuse("expected labels of integers along '" + position.str() + "', without '" + classes.str() +
               "', and scores without '" + position.str() + "', got " + labels.type() + " for " +
               scores.type(),
           here);
  Extent all{classes, scores.size(classes)};
  Tensor x = widened(scores), label = labels.cast(ElementType::I64);
  // The first negative number ends the list.
  Tensor isLabel = equal(scan((label >= 0.0).cast(ElementType::I32), position, Combiner::Min), 1.0);
  Tensor number = select(isLabel, label, 0.0);
  Tensor own = select(isLabel, x.gather(classes, number), 0.0).broadcast({all});
  Tensor inList = isLabel.broadcast({all});
  Tensor isChosen = equal(number.broadcast({all}), iota(all));
  Tensor isOther = logicalNot(max(logicalAnd(isChosen, inList), position));
  Tensor lack = select(logicalAnd(inList, isOther), relu(1.0 - (own - x)), 0.0);
  Tensor loss = sum(lack, over(position, classes)) / widthOf(all, x.elementType());
  Tensor isClass = min(number < widthOf(all, ElementType::I64), position);
  return select(isClass, loss, NAN).cast(scores.elementType());
}
