//===- Mode.cpp - training or evaluation ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Mode.h"

#include "heddle/LayerScope.h"
#include "lib/nn/LayerUtils.h"

#include <atomic>

using namespace heddle;
using namespace heddle::nn;

uint64_t MomentsSlot::next() {
  static std::atomic<uint64_t> count = 0;
  return ++count;
}

Mode &Mode::operator=(const Mode &other) {
  random = other.random;
  std::erase_if(moments, [&](const auto &each) { return !other.moments.count(each.first); });
  for (const auto &[path, tensors] : other.moments)
    moments[path] = tensors;
  outputs = other.outputs;
  outputPaths = other.outputPaths;
  paths = other.paths;
  samples = other.samples;
  keepsOutputs = other.keepsOutputs;
  dropping = other.dropping;
  body = Body();
  return *this;
}

Mode Mode::training(const Tensor &key, const Names &samples, Here here) {
  CallScope scope(here);
  Mode mode;
  for (const Name &name : samples)
    mode.samples.push_back(name.str());
  mode.random = RandomState{key, constant(0, ElementType::I64)};
  return mode;
}

Mode Mode::evaluation() const {
  Mode mode = *this;
  mode.random.reset();
  return mode;
}

Mode Mode::withoutDropout() const {
  Mode mode = *this;
  mode.dropping = false;
  return mode;
}

Mode Mode::observing() const {
  Mode mode = *this;
  mode.outputs.clear();
  mode.outputPaths.clear();
  mode.keepsOutputs = true;
  return mode;
}

Tensor Mode::seen(const std::string &path, const Tensor &x, Here here) {
  heddle::detail::nameSeen(x, path);
  if (!keepsOutputs)
    return x;
  requireOwnBody(here);
  if (!outputs.emplace(path, x).second)
    refuse("expected each output to be recorded once, got '" + path + "' twice", here);
  outputPaths.push_back(path);
  return x;
}

void Mode::add(const std::string &path, const MomentsSlot &slot, Here here) {
  if (auto [known, isNew] = paths.emplace(slot.layer, path); !isNew)
    refuse("expected layers that were made one by one, got copies of one at '" + known->second +
               "' and '" + path + "'; they would share their running moments",
           here);
  std::vector<Extent> extents;
  for (const auto &[name, size] : slot.extents)
    extents.push_back({Name(name), size});
  moments[path] = {filled(0, extents, ElementType::F32, here),
                   filled(1, extents, ElementType::F32, here)};
}

void Mode::requireOwnBody(Here here) const {
  if (body.number != heddle::detail::BodyScope::current())
    refuse("a body that is traced on its own (of a scan, loop, branch, checkpoint or gradient) "
           "uses a mode for training that it captures: expected the mode among the arguments of "
           "the body and among its results (for gradients: nn::valueAndGrad)",
           here);
}

Names Mode::samplesOf(const Tensor &x) const {
  Names names;
  for (const std::string &name : samples)
    if (x.has(Name(name)))
      names.push_back(Name(name));
  return names;
}

Tensor Mode::draw(Here here) {
  CallScope scope(here);
  if (!random)
    refuse("expected a mode for training, got one for evaluation, which has no random key", here);
  requireOwnBody(here);
  Tensor mine = fold(random->key, random->drawn);
  random->drawn = random->drawn + 1.0;
  return mine;
}

/// Folds the coordinate along a name that `key` lacks into the key: one key for each coordinate.
static Tensor foldEach(const Tensor &key, const Extent &extent,
                       const std::optional<Tensor> &first = {}) {
  Tensor number = iota(extent, ElementType::I64);
  if (first)
    number = number + *first;
  std::vector<Extent> others = key.extents();
  return fold(others.empty() ? key : key.broadcast({extent}),
              others.empty() ? number : number.broadcast(others));
}

Tensor Mode::drawEach(const Tensor &x, Here here) {
  CallScope scope(here);
  Tensor key = draw(here);
  for (const Name &name : samplesOf(x))
    key = foldEach(key, {name, x.size(name)}, random->first);
  return key;
}

const std::string &Mode::pathOf(const MomentsSlot &slot, Here here) const {
  auto path = paths.find(slot.layer);
  if (path == paths.end())
    refuse("expected a mode that keeps the running moments of this layer, got one with those of " +
               std::to_string(paths.size()) +
               " others; make it by nn::Mode::training(net, key, samples)",
           here);
  return path->second;
}

const RunningMoments &Mode::running(const MomentsSlot &slot, Here here) const {
  return moments.at(pathOf(slot, here));
}

void Mode::track(const MomentsSlot &slot, const Tensor &mean, const Tensor &variance, double rate,
                 Here here) {
  CallScope scope(here);
  RunningMoments &kept = moments.at(pathOf(slot, here));
  requireOwnBody(here);
  auto move = [&](Tensor &old, const Tensor &now) {
    old = old * (1 - rate) + stopGradient(now.cast(old.elementType())) * rate;
  };
  move(kept.mean, mean);
  move(kept.variance, variance);
}

void nn::requireDropout(double rate, Here here) {
  if (!(rate >= 0 && rate < 1))
    refuse("expected a rate of dropout from 0 to below 1, got " + std::to_string(rate), here);
}

Tensor nn::dropout(const Tensor &x, double rate, const Names &by, Mode &mode, Here here) {
  CallScope scope(here);
  requireDropout(rate, here);
  if (!mode.drops() || rate == 0)
    return x;
  Tensor key = mode.drawEach(x, here);
  // The last name numbers the bits of one key; the coordinates of the others are folded into the
  // key.
  std::vector<Extent> row;
  for (const Name &name : by) {
    if (key.has(name)) // samples
      continue;
    if (!row.empty()) {
      key = foldEach(key, row.back());
      row.clear();
    }
    row.push_back({name, x.size(name)});
  }
  Tensor kept = randomUniform(key, row) >= rate;
  return select(kept, x * (1 / (1 - rate)), 0.0);
}
