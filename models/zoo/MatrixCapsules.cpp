//===- MatrixCapsules.cpp - capsules routed by expectation maximisation ---===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hinton, Sabour, Frosst: Matrix capsules with EM routing, ICLR'18. A capsule is a 4 x 4 pose and
// an activation. Each votes for the poses of the capsules of the next layer, which are Gaussians
// over the votes assigned to them. A vote is distributed over the types of capsules at one
// position.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Images.h"

#include <cmath>

namespace heddle::zoo {
namespace {
const Name capsule("capsule"), i("i"), j("j"), k("k"), rowTap("row_k"), columnTap("column_k");

struct Capsules {
  Tensor pose, activation; ///< pose: i, k
};

struct CapsuleLayer {
  Tensor weight; ///< maps poses to votes, from `capsule` to `out`
  Tensor costs,
      active; ///< cost of a vote that is used, and of an inactive capsule (beta_u, beta_a)
  HEDDLE_FIELDS(weight, costs, active)
  std::optional<WindowOptions> window; ///< none: all positions vote for the same capsules
  int steps;                           ///< iterations of routing

  static CapsuleLayer make(int64_t in, int64_t outs, const std::optional<WindowOptions> &window,
                           int steps, const Tensor &key) {
    std::vector<Extent> extents{{capsule, in}, {out, outs}, {k, 4}, {j, 4}};
    for (const Name &tap : window ? over(rowTap, columnTap) : Names())
      extents.push_back({tap, window->size});
    return {nn::normal(key, extents, 0, 0.5), nn::filled(0, {{out, outs}}),
            nn::filled(0, {{out, outs}}), window, steps};
  }

  Capsules operator()(Capsules x) const {
    Names sources = over(row, column, capsule);
    if (window) {
      sources = over(rowTap, columnTap, capsule);
      for (Tensor *part : {&x.pose, &x.activation})
        *part = part->window(row, rowTap, *window).window(column, columnTap, *window);
    }
    Tensor votes = sum(x.pose * weight, k);
    if (!window)
      votes = votes + places(votes.size(row), votes.size(column));
    auto [pose, activation] = route(votes, x.activation, sources);
    return {pose.rename({{out, capsule}, {j, k}}), activation.rename({{out, capsule}})};
  }

  /// Coordinate addition (section 4): the position of a vote is added to the first two elements of
  /// the last column of its pose.
  static Tensor places(int64_t rows, int64_t columns) {
    Tensor down = (iota({row, rows}, ElementType::F32) + 0.5) * (1 / double(rows));
    Tensor along = (iota({column, columns}, ElementType::F32) + 0.5) * (1 / double(columns));
    Tensor last = oneHot(constant(3, ElementType::I64), {j, 4});
    auto at = [&](int64_t element) {
      return oneHot(constant(double(element), ElementType::I64), {i, 4}).broadcast({{j, 4}}) * last;
    };
    Tensor both = at(0).broadcast({{row, rows}}) * down;
    return both.broadcast({{column, columns}}) + at(1).broadcast({{column, columns}}) * along;
  }

  /// EM routing (procedure 1).
  Capsules route(const Tensor &votes, const Tensor &activation, const Names &sources) const {
    Tensor share = constant(1 / double(weight.size(out)));
    for (int step = 1;; ++step) {
      Tensor used = activation * share, mass = sum(used, sources) + 1e-6;
      Tensor mean = sum(used * votes, sources) / mass, squares = square(votes - mean);
      Tensor variance = sum(used * squares, sources) / mass + 1e-4;
      Tensor halfLog = log(variance) * 0.5;
      Tensor cost = sum(halfLog + costs, over(i, j)) * mass;
      Tensor logit = (active - cost) * (0.01 * (1 - std::pow(0.95, step)));
      if (step == steps)
        return {mean, sigmoid(logit)};
      Tensor fit = sum(squares / (variance * 2.0) + halfLog, over(i, j));
      share = nn::softmax(log(sigmoid(logit) + 1e-6) - fit, out);
    }
  }
};

struct MatrixCapsules {
  nn::Conv first;
  nn::Linear poses, activations; ///< of the primary capsules
  std::vector<CapsuleLayer> layers;
  HEDDLE_FIELDS(first, poses, activations, layers)

  Tensor operator()(const Tensor &image, nn::Mode &mode) const {
    Tensor x = mode.seen("first", relu(first(image, place, channel, out)));
    Capsules all{poses(x, channel), sigmoid(activations(x, channel))};
    for (size_t n = 0; n < layers.size(); ++n) {
      all = layers[n](all);
      mode.seen("layers." + std::to_string(n) + ".pose", all.pose);
      mode.seen("layers." + std::to_string(n) + ".activation", all.activation);
    }
    return all.activation.rename({{capsule, classes}});
  }

  /// The spread loss, whose margin grows during training.
  nn::Outcome loss(const nn::Fields &fields, nn::Mode &mode) const {
    const Tensor &label = fields.at("label");
    Tensor activation = (*this)(fields.at("image"), mode);
    Tensor margin = fields.at("progress") * 0.7 + 0.2;
    return {nn::sampleMean(nn::spread(activation, label, classes, margin), fields),
            {{"accuracy", nn::sampleMean(nn::isRight(activation, label, classes), fields)}}};
  }
};
} // namespace

static Registered matrixCapsules("matrix-capsules", "Hinton et al., 2018", [](Size size) {
  Images images = pick<Images>(size, {.side = 21}, {.side = 32}, {.side = 32, .classes = 5});
  int64_t a = pick(size, 3, 64, 32), b = pick(size, 2, 8, 32), c = pick(size, 3, 16, 32);
  int steps = pick(size, 3, 2, 3);
  WindowOptions window{.size = 3}, apart{.size = 3, .stride = 2};
  MatrixCapsules net{convolution({place, {.size = 5, .stride = 2}}, images.channels, a, key(1)),
                     nn::Linear::make({{channel, a}}, {{capsule, b}, {i, 4}, {k, 4}}, key(2)),
                     nn::Linear::make({{channel, a}}, {capsule, b}, key(3)),
                     {CapsuleLayer::make(b, c, apart, steps, key(4)),
                      CapsuleLayer::make(c, c, window, steps, key(5)),
                      CapsuleLayer::make(c, images.classes, {}, steps, key(6))}};
  nn::Training training = trained(3, 3e-3, 0.86);
  training.batch = 32;
  return Setting<MatrixCapsules>{net, &MatrixCapsules::loss, dataOf(images), training};
});

} // namespace heddle::zoo
