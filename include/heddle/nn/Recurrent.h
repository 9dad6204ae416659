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

/// The weights of one layer in one direction. `gate` numbers the gates in PyTorch's order: a single
/// one (Tanh, Relu); reset, update, new (Gru); input, forget, cell, output (Lstm).
struct RecurrentWeights {
  Tensor input, recurrent; ///< gate, in, hidden; gate, from (the hidden units before), hidden
  std::optional<Tensor> inputBias, recurrentBias; ///< gate, hidden
  /// Of an LSTM: the linear map from its hidden units, along `unit`, to its output h, along
  /// `hidden`. With it h, and so `from`, has fewer units than c, the gates and the biases.
  std::optional<Tensor> projection = {}; ///< unit, hidden
  HEDDLE_FIELDS(input, recurrent, inputBias, recurrentBias, projection)
};

/// The next state; `input` is the product of a step's input with the weight `input`, plus
/// `inputBias`: gate, hidden and other names.
RecurrentState recurrentStep(Cell cell, const Tensor &input, const RecurrentState &state,
                             const RecurrentWeights &weights, const Name &hidden,
                             Here here = Here::current());

struct RecurrentOptions {
  Cell cell = Cell::Lstm;
  int64_t layers = 1;
  bool bidirectional = false; ///< a second direction, from the end; its units are concatenated
  double dropout = 0;         ///< of the inputs of all layers but the first
  bool bias = true;
  int64_t projection = 0; ///< of an LSTM: the size of its output (proj_size); 0: all units
};

/// Options of a call of a recurrent layer.
struct RecurrentRun {
  /// The lengths of sequences: later steps keep the state and have zero outputs. A length below 0
  /// or above the number of steps gives NaN outputs and states; JitOptions::check reports it.
  Tensor lengths = {};
  std::vector<RecurrentState> initial = {}; ///< by default zeros
};

/// Layers of recurrent cells (torch.nn.RNN, GRU, LSTM).
struct Recurrent {
  std::vector<RecurrentWeights> cells; ///< layer by layer, the forward direction first
  HEDDLE_FIELDS(cells)
  RecurrentOptions options = {};
  /// Draws weights and biases from [-b, b) with b = 1/sqrt(hidden units), as PyTorch. Throws Error
  /// for a projection of a cell other than Lstm, and for one that is not smaller than `hidden`.
  static Recurrent make(const Extent &in, const Extent &hidden, const Tensor &key,
                        const RecurrentOptions &options = {}, Here here = Here::current());
  struct Result {
    Tensor all;                       ///< h of the uppermost layer at each step
    std::vector<RecurrentState> last; ///< of each of `cells`
    HEDDLE_FIELDS(all, last)
  };
  /// x has `time` and `in`, the result `time` and `hidden`. Throws Error for float lengths, and
  /// unless there is one initial state for each of `cells`.
  Result operator()(const Tensor &x, const Name &time, const Name &in, const Name &hidden,
                    Mode &mode, const RecurrentRun &run = {}, Here here = Here::current()) const;
};

} // namespace heddle::nn

#endif // HEDDLE_NN_RECURRENT_H
