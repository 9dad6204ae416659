//===- Recurrent.cpp - recurrent networks ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Recurrent.h"

#include "lib/nn/LayerUtils.h"

#include <cmath>

using namespace heddle;
using namespace heddle::nn;

namespace {
const Name gate("gate"), from("from"), unit("unit");

/// The names of a layer's weights that the user does not choose.
struct Inner {
  Name gate, from, unit;
};
} // namespace

static int64_t gatesOf(Cell cell) { return cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1; }

Recurrent Recurrent::make(const Extent &in, const Extent &hidden, const Tensor &key,
                          const RecurrentOptions &options, Here here) {
  CallScope scope(here);
  if (options.layers < 1)
    refuse("expected at least one layer, got " + std::to_string(options.layers), here);
  requireDropout(options.dropout, here);
  if (options.projection != 0 && options.cell != Cell::Lstm)
    refuse("expected a projection of an LSTM only, got one to " +
               std::to_string(options.projection) + " units",
           here);
  if (options.projection < 0 || options.projection >= int64_t(hidden.size))
    refuse("expected a projection to fewer units than '" + hidden.name.str() + "' has, " +
               std::to_string(int64_t(hidden.size)) + ", got " + std::to_string(options.projection),
           here);
  Recurrent net{{}, options};
  int64_t directions = 1 + options.bidirectional;
  int64_t outs = options.projection ? options.projection : int64_t(hidden.size);
  double bound = 1 / std::sqrt(double(hidden.size));
  Extent gates{gate, gatesOf(options.cell)};
  for (int64_t i = 0; i < options.layers * directions; ++i) {
    Extent below{in.name, i < directions ? in.size : Size(outs * directions)};
    auto part = [&](double number, const std::vector<Extent> &extents) {
      return uniform(fold(key, double(4 * i) + number), extents, -bound, bound, here);
    };
    RecurrentWeights cell{
        part(0, {gates, below, hidden}), part(1, {gates, {from, outs}, hidden}), {}, {}};
    if (options.bias) {
      cell.inputBias = part(2, {gates, hidden});
      cell.recurrentBias = part(3, {gates, hidden});
    }
    if (options.projection)
      cell.projection = uniform(biasKey(fold(key, double(4 * i))),
                                {{unit, hidden.size}, {hidden.name, outs}}, -bound, bound, here);
    net.cells.push_back(cell);
  }
  return net;
}

/// One step, with these inner names in weights and input.
static RecurrentState stepAlong(const Inner &inner, Cell cell, const Tensor &input,
                                const RecurrentState &state, const RecurrentWeights &weights,
                                const Name &hidden) {
  Tensor past = sum(state.h.rename({{hidden, inner.from}}) * weights.recurrent, inner.from);
  if (weights.recurrentBias)
    past = past + *weights.recurrentBias;
  auto of = [&](const Tensor &tensor, int64_t i) { return tensor.at(inner.gate, i); };
  if (cell == Cell::Gru) {
    Tensor reset = sigmoid(of(input, 0) + of(past, 0)), keep = sigmoid(of(input, 1) + of(past, 1));
    Tensor fresh = tanh(of(input, 2) + reset * of(past, 2));
    return {(1.0 - keep) * fresh + keep * state.h, {}};
  }
  Tensor both = input + past;
  if (cell != Cell::Lstm)
    return {cell == Cell::Tanh ? tanh(of(both, 0)) : relu(of(both, 0)), {}};
  Tensor c = sigmoid(of(both, 1)) * *state.c + sigmoid(of(both, 0)) * tanh(of(both, 2));
  Tensor h = sigmoid(of(both, 3)) * tanh(c);
  if (weights.projection)
    h = sum(h.rename({{hidden, inner.unit}}) * *weights.projection, inner.unit);
  return {h, c};
}

RecurrentState nn::recurrentStep(Cell cell, const Tensor &input, const RecurrentState &state,
                                 const RecurrentWeights &weights, const Name &hidden, Here here) {
  CallScope scope(here);
  return stepAlong({gate, from, unit}, cell, input, state, weights, hidden);
}

namespace {
/// Truth values that follow from the lengths of sequences; empty without lengths.
struct Inside {
  Tensor steps;    ///< the step is within the sequence
  Tensor isLength; ///< the length is valid; if not, all steps are within it, and the state is NaN
};
} // namespace

/// Runs one layer in one direction. Returns h of each step and the last state.
static std::pair<Tensor, RecurrentState> runCell(Cell cell, const RecurrentWeights &given,
                                                 const Tensor &x, const Name &time, const Name &in,
                                                 const Name &hidden, const Inside &inside,
                                                 std::optional<RecurrentState> state,
                                                 bool reverse) {
  // The user's samples may have names that are equal to inner names.
  auto own = [&](const Name &name) { return x.has(name) ? fresh(name.str()) : name; };
  Inner inner{own(gate), own(from), own(unit)};
  RecurrentWeights weights{given.input.rename({{gate, inner.gate}}),
                           given.recurrent.rename({{gate, inner.gate}, {from, inner.from}}),
                           {},
                           {}};
  if (given.inputBias)
    weights.inputBias = given.inputBias->rename({{gate, inner.gate}});
  if (given.recurrentBias)
    weights.recurrentBias = given.recurrentBias->rename({{gate, inner.gate}});
  if (given.projection)
    weights.projection = given.projection->rename({{unit, inner.unit}});
  Tensor input = sum(x * weights.input, in);
  if (weights.inputBias)
    input = input + *weights.inputBias;
  if (!state) {
    std::vector<Extent> ofH, ofC;
    for (const Extent &extent : input.extents())
      if (extent.name != time && extent.name != inner.gate) {
        ofC.push_back(extent);
        ofH.push_back(extent.name == hidden && weights.projection
                          ? Extent{hidden, weights.projection->size(hidden)}
                          : extent);
      }
    state = RecurrentState{zeros(ofH, input.elementType()), {}};
    if (cell == Cell::Lstm)
      state->c = zeros(ofC, input.elementType());
  }
  std::vector<Tensor> inputs{input};
  if (!inside.steps.empty()) {
    inputs.push_back(inside.steps);
    state->h = select(inside.isLength, state->h, NAN);
    if (state->c)
      state->c = select(inside.isLength, *state->c, NAN);
  }
  auto [last, all] = scan(
      time, *state, inputs,
      [&](RecurrentState last, std::vector<Tensor> now) {
        RecurrentState next = stepAlong(inner, cell, now[0], last, weights, hidden);
        Tensor output = next.h;
        if (now.size() > 1) {
          next.h = select(now[1], next.h, last.h);
          if (next.c)
            next.c = select(now[1], *next.c, *last.c);
          output = select(now[1], output, 0.0);
        }
        return std::pair(next, output);
      },
      reverse);
  return {all, last};
}

Recurrent::Result Recurrent::operator()(const Tensor &x, const Name &time, const Name &in,
                                        const Name &hidden, Mode &mode, const RecurrentRun &run,
                                        Here here) const {
  CallScope scope(here);
  LayerScope layerScope(*this);
  if (!run.initial.empty() && run.initial.size() != cells.size())
    refuse("expected " + std::to_string(cells.size()) +
               " initial states, one for each layer and "
               "direction, got " +
               std::to_string(run.initial.size()),
           here);
  for (const RecurrentState &state : run.initial)
    if (state.h.empty() || state.c.has_value() != (options.cell == Cell::Lstm))
      refuse(std::string("expected initial states with ") +
                 (options.cell == Cell::Lstm ? "h and c, the state of an LSTM's cell"
                                             : "h and without c, which only an LSTM has"),
             here);
  requireHas(x, over(time, in), here);
  if (x.has(hidden))
    refuse("expected an x without '" + hidden.str() + "', which the layer produces, got " +
               x.type(),
           here);
  Inside inside;
  if (!run.lengths.empty()) {
    inside.isLength = areLengths(run.lengths, time, x.size(time), here);
    Tensor step = iota({time, x.size(time)}).broadcast(run.lengths.extents());
    inside.steps =
        logicalOr(step < run.lengths.cast(ElementType::I64), logicalNot(inside.isLength));
  }
  // The product with the weights covers all steps, so the inputs after the end are replaced before
  // it.
  Tensor input = inside.steps.empty() ? x : select(inside.steps, x, 0.0);
  Result result{input, {}};
  size_t directions = 1 + size_t(options.bidirectional);
  for (size_t layer = 0; layer < cells.size(); layer += directions) {
    Tensor below =
        layer ? dropout(result.all.rename({{hidden, in}}), options.dropout, over(time, in), mode)
              : input;
    std::vector<Tensor> parts;
    for (size_t i = layer; i < layer + directions; ++i) {
      auto [all, last] =
          runCell(options.cell, cells[i], below, time, in, hidden, inside,
                  run.initial.empty() ? std::nullopt : std::optional(run.initial[i]), i > layer);
      parts.push_back(all);
      result.last.push_back(last);
    }
    result.all = concat(parts, hidden);
  }
  return result;
}
