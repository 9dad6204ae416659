//===- TrainerSteps.cpp - the steps of a trainer --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/nn/TrainerRun.h"

#include <algorithm>
#include <cmath>

using namespace heddle;
using namespace heddle::nn;

std::string AnyTrainer::Run::place() const {
  return "step " + std::to_string(position.step + 1) + " of epoch " +
         std::to_string(position.epoch + 1);
}

/// Describes the fields of a batch that may have made its loss NaN: those with floats that are not
/// finite; if there are none, the ranges of all integer fields, since a label or token may be out
/// of range.
static std::string suspects(const Fields &fields, bool isChecked) {
  std::string text, floats;
  for (const auto &[name, tensor] : fields)
    if (isFloat(tensor.elementType())) {
      std::vector<float> values = tensor.cast(ElementType::F32).to<float>(namesOf(tensor));
      auto isBad = [](float value) { return !std::isfinite(value); };
      if (auto count = std::ranges::count_if(values, isBad))
        floats +=
            "; " + std::to_string(count) + " elements of the batch's '" + name + "' are not finite";
    }
  if (!floats.empty())
    return floats;
  for (const auto &[name, tensor] : fields)
    if (!isFloat(tensor.elementType()) && tensor.elementType() != ElementType::I1) {
      std::vector<int64_t> values = tensor.cast(ElementType::I64).to<int64_t>(namesOf(tensor));
      if (values.empty())
        continue;
      auto [least, most] = std::ranges::minmax(values);
      text += (text.empty() ? "; the batch has '" : ", '") + name + "' from " +
              std::to_string(least) + " to " + std::to_string(most);
    }
  return text.empty() ? ""
                      : text + " (a label out of range makes the loss NaN" +
                            (isChecked ? ")" : "; a run with checks of indices reports it)");
}

void AnyTrainer::Run::requireFinite(const StepResult &result, double loss, Here here) const {
  int64_t bad = result.bad.empty() ? -1 : int64_t(result.bad.item());
  std::string first = bad < 0 ? "" : "the gradient of '" + network.order[size_t(bad)] + "'";
  std::string rate = " (learning rate " + exact(schedule(done())) + "); a smaller rate may help";
  if (!std::isfinite(loss))
    throw Error(std::string("the loss is ") + (std::isnan(loss) ? "not a number" : "infinite") +
                    " at " + place() + (bad < 0 ? "" : ", and so is " + first) + rate +
                    suspects(*lastFields, options.check),
                here);
  if (bad >= 0)
    throw Error(first + " is not finite at " + place() + rate, here);
}

void AnyTrainer::Run::requireGoal(const Outcome &outcome, Here here) const {
  if (outcome.measures.contains("loss"))
    throw Error("expected no measure called 'loss', the name of the loss itself", here);
  if (training.goal.measure == "loss" || outcome.measures.contains(training.goal.measure))
    return;
  std::string known = "loss";
  for (const auto &[name, value] : outcome.measures)
    known += ", " + name;
  throw Error("unknown measure '" + training.goal.measure + "', expected one of " + known, here);
}

static std::string typesOf(const Fields &fields) {
  std::string types;
  for (const auto &[name, tensor] : fields)
    types += tensor.type() + "\n";
  return types;
}

/// The value of the field "progress": the completed fraction of the training.
double AnyTrainer::Run::progress() const {
  return training.progress.value_or(double(done()) /
                                    double(std::max<int64_t>(1, training.epochs * batches)));
}

/// The next batch, if there is one.
std::optional<Batch> AnyTrainer::Run::take(Loader &loader) {
  std::optional<Batch> batch = loader.next();
  if (batch)
    damaged += batch->damaged;
  return batch;
}

/// A step on all parts of a batch, the first of which is lastFields.
StepResult AnyTrainer::Run::inParts(Loader &loader, int64_t &samples, Here here) {
  lastParts.assign(1, *lastFields);
  while (int64_t(lastParts.size()) < training.microBatches) {
    std::optional<Batch> next = take(loader);
    if (!next)
      break;
    lastParts.push_back(ranks.fieldsOf(*next, progress(), here));
    samples += next->samples;
  }
  return (*stepInParts)(state, lastParts, schedule(done()), here);
}

void nn::add(Means &sums, const Outcome &outcome, int64_t samples) {
  auto addOne = [&](const std::string &name, const Tensor &value) {
    auto count = outcome.counts.find(name);
    sums[name].add(value.item(),
                   count == outcome.counts.end() ? double(samples) : count->second.item());
  };
  addOne("loss", outcome.loss);
  for (const auto &[name, value] : outcome.measures)
    addOne(name, value);
}

static Values stepValues(const Outcome &outcome) {
  Values values{{"loss", shortest(outcome.loss.item())}};
  for (const auto &[name, value] : outcome.measures)
    values[name] = shortest(value.item());
  return values;
}

/// Accumulates gradients over the parts of a batch, the first of which is `batch`, and updates.
/// Adds the samples of further parts to `samples`.
StepResult AnyTrainer::Run::accumulated(Loader &loader, Batch batch, int64_t &samples, Here here) {
  Means sums;
  for (int64_t i = 1;; ++i) {
    lastFields = ranks.fieldsOf(batch, progress(), here);
    Outcome outcome = (*accumulate)(state, sum, *lastFields, here);
    add(sums, outcome, batch.samples);
    std::optional<Batch> next;
    if (i == training.microBatches || !(next = take(loader)))
      break;
    batch = std::move(*next);
    samples += batch.samples;
  }
  StepResult result{{}, (*update)(state, sum, schedule(done()), here)};
  for (const auto &[name, mean] : sums) {
    (name == "loss" ? result.outcome.loss : result.outcome.measures[name]) =
        Tensor::of<float>({float(mean.value())}, {});
    result.outcome.counts[name] = Tensor::of<float>({float(mean.weight)}, {});
  }
  return result;
}

/// The number of steps in a timeline.
static constexpr int64_t recordedSteps = 10;

/// Runs one step; returns false at the end of the epoch.
bool AnyTrainer::Run::oneStep(Loader &loader, Here here) {
  samples.resume(); // the time includes waiting for data
  std::optional<Batch> batch = take(loader);
  if (!batch) {
    samples.pause();
    return false;
  }
  lastFields = ranks.fieldsOf(*batch, progress(), here);
  // A step that compiles a program is not timed.
  bool timed = !compiled.insert(typesOf(*lastFields)).second;
  if (!timed)
    samples.pause();
  int64_t count = batch->samples;
  StepResult result = step          ? (*step)(state, *lastFields, schedule(done()), here)
                      : stepInParts ? inParts(loader, count, here)
                                    : accumulated(loader, std::move(*batch), count, here);
  double loss = result.outcome.loss.item();
  samples.pause();
  requireGoal(result.outcome, here);
  requireFinite(result, loss, here);
  add(position.sums, result.outcome, count);
  latest = {done() + 1, position.epoch + 1, stepValues(result.outcome), schedule(done())};
  ++position.step;
  if (timed)
    samples.add(count);
  if (timeline && ++recorded == recordedSteps)
    endTimeline(here);
  if (options.logEvery && done() % options.logEvery == 0)
    logStep(*latest, here);
  if (options.onStep)
    options.onStep(*latest);
  return true;
}
