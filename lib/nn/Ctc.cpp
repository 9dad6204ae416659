//===- Ctc.cpp - connectionist temporal classification --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The states of a label a b are: blank, a, blank, b, blank. In each step of time a path stays in
// its state or advances by one, or by two over a blank between different elements. The scan carries
// the log-probability of all paths to each state; its gradient is the backward pass over the same
// states. The logarithm of the probability 0 is a large negative number instead of -inf, so that no
// difference is NaN.
//
//===----------------------------------------------------------------------===//

#include "heddle/Compositions.h"
#include "heddle/Jit.h"
#include "heddle/nn/Losses.h"
#include "lib/nn/LayerUtils.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;

static constexpr double impossible = -1e30;

namespace {
/// A label as a sequence of states.
struct States {
  Name state;
  Size count;
  Tensor number;  ///< 0, 1, ...
  Tensor spelled; ///< the class that a state emits
  Tensor skips;   ///< i1: a path may reach it from the state before the previous one
};
/// The values that one step of time reads.
struct Slice {
  Tensor emission, isInside;
  HEDDLE_FIELDS(emission, isInside)
};
} // namespace

/// `x` shifted by `by` states; the first `by` states get `value`.
static Tensor shifted(const Tensor &x, const States &states, int64_t by, double value) {
  return x.pad(states.state, by, 0, value).slice(states.state, 0, states.count);
}

static States statesOf(const Tensor &label, const CtcNames &names) {
  States states{fresh("state"), label.size(names.position) * 2 + 1, {}, {}, {}};
  states.number = iota({states.state, states.count});
  Tensor isElement = equal(states.number % 2.0, 1.0);
  // A blank at the end, for the last state and for labels of size 0.
  Tensor padded = label.pad(names.position, 0, 1, double(names.blank));
  Tensor element = padded.gather(names.position, states.number / 2.0);
  states.spelled = select(isElement, element, double(names.blank));
  Tensor before = shifted(states.spelled, states, 2, -1);
  states.skips = logicalAnd(isElement, notEqual(states.spelled, before));
  return states;
}

namespace {
/// The arguments as i64, and whether they are valid.
struct Problem {
  Tensor times, label, positions; ///< elements after the label's end are blanks
  Tensor isValid;                 ///< lengths are within the sizes and elements are classes
};
} // namespace

/// Throws Error unless the blank is a class.
static void requireBlank(const Tensor &scores, const CtcNames &names, Here here) {
  Size classes = scores.size(names.classes);
  if (names.blank < 0 || (classes.isNumber() && names.blank >= int64_t(classes)))
    throw Error("expected a blank among the classes of " + scores.type() + ", got " +
                    std::to_string(names.blank),
                here);
}

static Problem problemOf(const Tensor &logProbability, const Tensor &times, const Tensor &label,
                         const Tensor &positions, const CtcNames &names, Here here) {
  auto within = [](const Tensor &value, const Tensor &most) {
    return logicalAnd(value >= 0.0, value <= most);
  };
  Problem problem{times.cast(ElementType::I64), {}, positions.cast(ElementType::I64), {}};
  Tensor place = iota({names.position, label.size(names.position)});
  Tensor counts = place.broadcast(positions.extents()) < problem.positions;
  Tensor element = label.cast(ElementType::I64);
  Tensor last = countOf(logProbability, over(names.classes), ElementType::I64) - 1.0;
  Tensor isGood = logicalAnd(within(element, last), notEqual(element, double(names.blank)));
  Tensor bad = logicalAnd(counts, logicalNot(isGood));
  Tensor number = sum(bad.cast(ElementType::I64), over(names.position));
  problem.label = select(logicalAnd(counts, isGood), element, double(names.blank));
  problem.isValid = logicalAnd(
      equal(number, 0.0),
      logicalAnd(areLengths(times, names.time, logProbability.size(names.time), here),
                 areLengths(positions, names.position, label.size(names.position), here)));
  return problem;
}

/// Probability 1 in the first state, where every path begins, and 0 elsewhere, with the names of
/// the slices except `without`.
static Tensor beginning(const Slice &slices, const States &states, Names without) {
  std::vector<Extent> others;
  without.push_back(states.state);
  for (const Tensor *slice : {&slices.emission, &slices.isInside})
    for (const Extent &extent : slice->extents())
      if (std::find(without.begin(), without.end(), extent.name) == without.end()) {
        others.push_back(extent);
        without.push_back(extent.name);
      }
  Tensor zero = constant(0, slices.emission.elementType());
  return select(equal(states.number, 0.0), zero, impossible).broadcast(others);
}

Tensor nn::ctc(const Tensor &logProbability, const Tensor &times, const Tensor &label,
               const Tensor &positions, const CtcNames &names, Here here) {
  CallScope scope(here);
  for (const Tensor *each : {&times, &label, &positions})
    if (isFloat(each->elementType()))
      throw Error("expected a label and lengths of integers, got " + each->type(), here);
  requireBlank(logProbability, names, here);
  Problem problem = problemOf(logProbability, times, label, positions, names, here);
  States states = statesOf(problem.label, names);
  Tensor step = iota({names.time, logProbability.size(names.time)});
  Tensor wide = byteSize(logProbability.elementType()) < 4 ? logProbability.cast(ElementType::F32)
                                                           : logProbability;
  Slice slices{wide.gather(names.classes, states.spelled),
               step.broadcast(problem.times.extents()) < problem.times};
  auto advance = [&](Tensor paths, Slice now) {
    Tensor one = shifted(paths, states, 1, impossible);
    Tensor two = select(states.skips, shifted(paths, states, 2, impossible), impossible);
    Tensor all = logAddExp(logAddExp(paths, one), two);
    return std::pair(select(now.isInside, all + now.emission, paths), std::vector<Tensor>());
  };
  Tensor paths =
      heddle::scan(names.time, beginning(slices, states, names.time), slices, advance).first;

  // A path ends in the last element or in the blank after it.
  Tensor last = problem.positions * 2.0;
  Tensor inBlank = paths.gather(states.state, last);
  Tensor inElement = paths.gather(states.state, maximum(last - 1.0, 0.0));
  Tensor isEmpty = equal(last, 0.0);
  Tensor total = logAddExp(inBlank, select(isEmpty, impossible, inElement));
  Tensor loss = select(total > impossible / 2, -total, INFINITY);
  return select(problem.isValid, loss, NAN);
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {
/// One step of the edit distance. The scan carries the distances of the prefix of `got` so far from
/// each prefix of `wanted`.
struct Element {
  Tensor got, counts;
  HEDDLE_FIELDS(got, counts)
};
} // namespace

Tensor nn::editDistance(const Tensor &got, const Tensor &counts, const Name &time,
                        const Tensor &wanted, const Tensor &positions, const Name &position,
                        Here here) {
  CallScope scope(here);
  Name prefix = fresh("prefix");
  Size size = wanted.size(position) + 1;
  Tensor length = iota({prefix, size}, ElementType::F32);
  // The last element of each prefix; the empty prefix has none.
  Tensor last = wanted.cast(ElementType::I64).rename({{position, prefix}}).pad(prefix, 1, 0);
  for (const Extent &extent : got.extents()) // all samples may share one label
    if (extent.name != time && !last.has(extent.name))
      last = last.broadcast({extent});
  Tensor start = length; // insert the whole prefix
  for (const Tensor &each : {got, counts, last})
    for (const Extent &extent : each.extents())
      if (extent.name != time && !start.has(extent.name))
        start = start.broadcast({extent});
  auto advance = [&](Tensor row, Element now) {
    Tensor differs = notEqual(last, now.got).cast(ElementType::F32);
    Tensor shorter = row.pad(prefix, 1, 0, INFINITY).slice(prefix, 0, size);
    Tensor best = minimum(row + 1.0, shorter + differs);
    // The rest of a prefix may be inserted after any shorter one: the minimum of best[i] - i + j
    // over i <= j.
    Tensor next = scan(best - length, prefix, Combiner::Min) + length;
    return std::pair(select(now.counts, next, row), std::vector<Tensor>());
  };
  Element elements{got.cast(ElementType::I64), counts};
  Tensor distances = heddle::scan(time, start, elements, advance).first;
  Tensor isLength = areLengths(positions, position, wanted.size(position), here);
  return select(isLength, distances.gather(prefix, positions), NAN);
}

Tensor nn::ctcErrors(const Tensor &scores, const Tensor &times, const Tensor &label,
                     const Tensor &positions, const CtcNames &names, Here here) {
  CallScope scope(here);
  requireBlank(scores, names, here);
  Size size = scores.size(names.time);
  double blank = double(names.blank);
  Tensor best = argmax(stopGradient(scores), over(names.classes));
  Tensor before = best.pad(names.time, 1, 0, blank).slice(names.time, 0, size);
  Tensor isInside =
      iota({names.time, size}).broadcast(times.extents()) < times.cast(ElementType::I64);
  Tensor isNew = logicalAnd(notEqual(best, blank), notEqual(best, before));
  Tensor errors =
      editDistance(best, logicalAnd(isNew, isInside), names.time, label, positions, names.position);
  return select(areLengths(times, names.time, size, here), errors, NAN);
}
