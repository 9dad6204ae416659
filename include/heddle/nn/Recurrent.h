//===- Recurrent.h - recurrent networks -------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     nn::Recurrent lstm = nn::Recurrent::make({feature, 40}, {hidden, 256}, key(1),
//                                              {.cell = nn::Cell::Lstm, .layers = 2});
//     auto [all, last] = lstm(x, time, feature, hidden, mode, {.lengths = length});
//     Tensor score = classify(last.back().h, hidden);           // of the uppermost layer
//
// One step of a generator, whose state is a tree:
//
//     nn::RecurrentState next = nn::recurrentStep(nn::Cell::Gru, input, state, weights, hidden);
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NN_RECURRENT_H
#define HEDDLE_NN_RECURRENT_H

#include "heddle/nn/Mode.h"

namespace heddle::nn {

enum class Cell { Tanh, Relu, Gru, Lstm };

struct RecurrentState {
  Tensor h;
  std::optional<Tensor> c; ///< of an LSTM
  HEDDLE_FIELDS(h, c)
};

/// The weights of one layer in one direction. `gate` counts the gates as PyTorch orders them: one
/// for Tanh and Relu; reset, update, new; input, forget, cell, output.
struct RecurrentWeights {
  Tensor input, recurrent; ///< gate, in, hidden; gate, from (the hidden units before), hidden
  std::optional<Tensor> inputBias, recurrentBias; ///< gate, hidden
  /// Of an LSTM: what it puts out, along `hidden`, of its hidden units, which it has along `unit`.
  /// Then h, and so `from`, has fewer units along `hidden` than c, the gates and the biases.
  std::optional<Tensor> projection = {}; ///< unit, hidden
  HEDDLE_FIELDS(input, recurrent, inputBias, recurrentBias, projection)
};

/// The next state; `input` is what the weights `input` and `inputBias` make of a step's input: gate,
/// hidden and other names.
RecurrentState recurrentStep(Cell cell, const Tensor &input, const RecurrentState &state,
                             const RecurrentWeights &weights, const Name &hidden,
                             Here here = Here::current());

struct RecurrentOptions {
  Cell cell = Cell::Lstm;
  int64_t layers = 1;
  bool bidirectional = false; ///< a second run from the end; its units come behind the first's
  double dropout = 0;         ///< of what enters the layers but the first
  bool bias = true;
  int64_t projection = 0; ///< of an LSTM: the units that it puts out (proj_size); 0: all
};

/// Options of a call of a recurrent layer.
struct RecurrentRun {
  /// Of sequences: the state stops there, and outputs behind it are zero. A length below 0 or above
  /// the number of steps makes outputs and states NaN; JitOptions::check tells it.
  Tensor lengths = {};
  std::vector<RecurrentState> initial = {}; ///< by default zeros
};

/// Layers of recurrent cells (torch.nn.RNN, GRU, LSTM).
struct Recurrent {
  std::vector<RecurrentWeights> cells; ///< layer by layer, of both directions the forward one first
  HEDDLE_FIELDS(cells)
  RecurrentOptions options = {};
  /// Weights and biases uniform in +-1/sqrt(hidden units). Throws Error for a projection of other
  /// cells than an LSTM, and for one to as many units as it has.
  static Recurrent make(const Extent &in, const Extent &hidden, const Tensor &key,
                        const RecurrentOptions &options = {}, Here here = Here::current());
  struct Result {
    Tensor all;                       ///< h of the uppermost layer at each step
    std::vector<RecurrentState> last; ///< of each of `cells`
    HEDDLE_FIELDS(all, last)
  };
  /// x has `time` and `in`, the result `time` and `hidden`. Throws Error for lengths of floats and
  /// for another number of initial states than of cells.
  Result operator()(const Tensor &x, const Name &time, const Name &in, const Name &hidden,
                    Mode &mode, const RecurrentRun &run = {}, Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_RECURRENT_H
