//===- Experts.cpp - a mixture of experts ---------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each sample sends its tokens to slots of experts: `send` has a 1 where a token has a slot. Each
// sample has its own slots, so that samples do not depend on each other. Experts compute on the
// slots of all samples. If one axis splits both samples and experts, the compiler moves slots by an
// all-to-all before and after the experts.
//
//===----------------------------------------------------------------------===//

#include "models/split/Split.h"

#include "heddle/nn/Activations.h"
#include "heddle/nn/Initializers.h"
#include "heddle/nn/Linear.h"

#include <cmath>

namespace heddle::split {
namespace {
const Name batch("batch"), time("time"), word("word"), feature("feature"), hidden("hidden"),
    expert("expert"), slot("slot");

constexpr int64_t expertCount = 4, slots = 6, features = 16, hiddenUnits = 256;

/// The weights of all experts.
struct Weights {
  Tensor in, out;
  HEDDLE_FIELDS(in, out)
};

struct Experts {
  nn::Embedding words;
  nn::Linear router;
  Weights experts;
  nn::Linear out;
  HEDDLE_FIELDS(words, router, experts, out)

  Tensor operator()(const Tensor &token) const {
    Tensor x = words(token, word);
    Tensor chances = nn::softmax(router(x, feature), expert);
    Tensor chosen = oneHot(argmax(chances, expert), {expert, expertCount});
    // The position of a token among those of its expert; tokens beyond the slots are dropped.
    Tensor number = sum(scan(chosen, time, Combiner::Add, /*exclusive=*/true) * chosen, expert);
    Tensor send = chosen * oneHot(number.cast(ElementType::I32), {slot, slots});
    Tensor sent = sum(send * x, time);
    Tensor inner = relu(sum(sent * experts.in, feature));
    Tensor answers = sum(inner * experts.out, hidden);
    Tensor y = sum(send * chances * answers, over(expert, slot));
    return out(x + y, feature);
  }
};
} // namespace

nn::Network experts() {
  auto table = [](uint64_t seed, const Name &from, int64_t inputs, const Name &to,
                  int64_t outputs) {
    return nn::normal(key(seed), {{expert, expertCount}, {from, inputs}, {to, outputs}}, 0,
                      1 / std::sqrt(double(inputs)));
  };
  Experts net{nn::Embedding::make({word, words}, {feature, features}, key(1)),
              nn::Linear::make({{feature, features}}, {expert, expertCount}, key(2)),
              {table(3, feature, features, hidden, hiddenUnits),
               table(4, hidden, hiddenUnits, feature, features)},
              nn::Linear::make({{feature, features}}, {word, words}, key(5))};
  auto loss = [](const Experts &net, const nn::Fields &fields, nn::Mode &) {
    return nextToken(net(fields.at("token")), fields);
  };
  return nn::networkOf(net, loss, key(6), batch);
}

} // namespace heddle::split
