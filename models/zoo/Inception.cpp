//===- Inception.cpp - Inception-v3 ---------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Szegedy et al.: Rethinking the Inception architecture for computer vision, CVPR'16
// (Inception-v3), with an auxiliary head that only training uses. Blocks A to E are named as in
// torchvision.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Images.h"

namespace heddle::zoo {
namespace {
/// A convolution with batch normalisation and ReLU; padded so that stride 1 keeps the size.
struct Step {
  int64_t rows, columns, outs, stride = 1;
  bool pads = true;
};
enum class Pool { None, Average, Largest };

/// A chain of steps, optionally after a pool and followed by a fork of parallel steps.
struct Branch {
  std::vector<ConvNorm> chain, fork;
  HEDDLE_FIELDS(chain, fork)
  Pool pool;
  int64_t outs;

  Tensor operator()(Tensor x, nn::Mode &mode) const {
    if (pool == Pool::Average)
      x = nn::averagePool(x, place, {.size = 3, .padding = nn::padded(1)});
    if (pool == Pool::Largest)
      x = nn::maxPool(x, place, {.size = 3, .stride = 2});
    for (const ConvNorm &conv : chain)
      x = relu(conv(x, mode));
    std::vector<Tensor> sides;
    for (const ConvNorm &conv : fork)
      sides.push_back(relu(conv(x, mode)));
    return sides.empty() ? x : concat(sides, channel);
  }
};
using Block = std::vector<Branch>; ///< parallel branches

/// Makes layers whose widths are the published ones divided by `divisor`.
struct Builder {
  int64_t divisor, channels, keys = 0; ///< `channels`: output of the last block
  std::vector<Block> blocks = {};

  ConvNorm conv(const Step &step, int64_t &in) {
    auto along = [&](int64_t size) -> WindowOptions {
      return {.size = size, .stride = step.stride, .padding = nn::padded(step.pads ? size / 2 : 0)};
    };
    int64_t outs = std::max<int64_t>(2, step.outs / divisor), from = std::exchange(in, outs);
    nn::Windows windows{{row, along(step.rows)}, {column, along(step.columns)}};
    return ConvNorm::make(windows, from, outs, key(++keys), 1e-3);
  }
  Branch branch(const std::vector<Step> &chain, Pool pool = Pool::None,
                const std::vector<Step> &fork = {}) {
    Branch result{.pool = pool, .outs = channels};
    for (const Step &step : chain)
      result.chain.push_back(conv(step, result.outs));
    int64_t in = fork.empty() ? 0 : std::exchange(result.outs, 0);
    for (const Step &step : fork) {
      int64_t outs = in;
      result.fork.push_back(conv(step, outs));
      result.outs += outs;
    }
    return result;
  }
  void add(const Block &block) {
    channels = 0;
    for (const Branch &branch : block)
      channels += branch.outs;
    blocks.push_back(block);
  }
};

struct Inception {
  std::vector<Block> blocks;
  Block side; ///< the auxiliary head
  nn::Linear sideLast, last;
  HEDDLE_FIELDS(blocks, side, sideLast, last)
  size_t beforeSide;
  WindowOptions sidePool;
  double rate; ///< of dropout

  static Inception make(const Images &images, int64_t divisor, int64_t sideWindow,
                        const WindowOptions &sidePool, double rate) {
    Builder b{divisor, images.channels};
    b.add({b.branch({{3, 3, 32, 2, false}, {3, 3, 32, 1, false}, {3, 3, 64}})});
    b.add({b.branch({{1, 1, 80}, {3, 3, 192, 1, false}}, Pool::Largest)});
    b.add({b.branch({}, Pool::Largest)});
    for (int64_t pooled : {32, 64, 64}) // A
      b.add({b.branch({{1, 1, 64}}), b.branch({{1, 1, 48}, {5, 5, 64}}),
             b.branch({{1, 1, 64}, {3, 3, 96}, {3, 3, 96}}),
             b.branch({{1, 1, pooled}}, Pool::Average)});
    b.add({b.branch({{3, 3, 384, 2, false}}), // B
           b.branch({{1, 1, 64}, {3, 3, 96}, {3, 3, 96, 2, false}}), b.branch({}, Pool::Largest)});
    for (int64_t in : {128, 160, 160, 192}) // C
      b.add({b.branch({{1, 1, 192}}), b.branch({{1, 1, in}, {1, 7, in}, {7, 1, 192}}),
             b.branch({{1, 1, in}, {7, 1, in}, {1, 7, in}, {7, 1, in}, {1, 7, 192}}),
             b.branch({{1, 1, 192}}, Pool::Average)});
    Inception net{.beforeSide = b.blocks.size() - 1, .sidePool = sidePool, .rate = rate};
    net.side = {b.branch({{1, 1, 128}, {sideWindow, sideWindow, 768, 1, false}})};
    b.add({b.branch({{1, 1, 192}, {3, 3, 320, 2, false}}), // D
           b.branch({{1, 1, 192}, {1, 7, 192}, {7, 1, 192}, {3, 3, 192, 2, false}}),
           b.branch({}, Pool::Largest)});
    for (int i = 0; i < 2; ++i) // E
      b.add({b.branch({{1, 1, 320}}),
             b.branch({{1, 1, 384}}, Pool::None, {{1, 3, 384}, {3, 1, 384}}),
             b.branch({{1, 1, 448}, {3, 3, 384}}, Pool::None, {{1, 3, 384}, {3, 1, 384}}),
             b.branch({{1, 1, 192}}, Pool::Average)});
    Extent outs{classes, images.classes};
    net.blocks = b.blocks;
    net.sideLast = nn::Linear::make({{channel, net.side[0].outs}}, outs, key(1000));
    net.last = nn::Linear::make({{channel, b.channels}}, outs, key(1001));
    return net;
  }

  /// Logits, and in training those of the auxiliary head.
  std::pair<Tensor, Tensor> operator()(Tensor x, nn::Mode &mode) const {
    Tensor other;
    for (size_t i = 0; i < blocks.size(); ++i) {
      std::vector<Tensor> parts;
      for (const Branch &branch : blocks[i])
        parts.push_back(branch(x, mode));
      x = mode.seen("blocks." + std::to_string(i), concat(parts, channel));
      if (i == beforeSide && mode.isTraining()) {
        other = mean(side[0](nn::averagePool(x, place, sidePool), mode), place);
        other = mode.seen("sideLast", sideLast(other, channel));
      }
    }
    x = nn::dropout(mean(x, place), rate, channel, mode);
    return {mode.seen("last", last(x, channel)), other};
  }

  nn::Outcome loss(const nn::Fields &fields, nn::Mode &mode) const {
    auto [logits, other] = (*this)(fields.at("image"), mode);
    nn::Outcome outcome = classified(logits, fields);
    if (!other.empty())
      outcome.loss = outcome.loss + classified(other, fields).loss * 0.4;
    return outcome;
  }
};
} // namespace

static Registered inception("inception", "Szegedy et al., 2016 (v3)", [](Size size) {
  Images images = pick<Images>(size, {.side = 107}, {.side = 75}, imageNet(299));
  WindowOptions pool{.size = pick(size, 1, 1, 5), .stride = pick(size, 1, 1, 3)};
  Inception net = Inception::make(images, pick(size, 100, 4, 1), pick(size, 3, 3, 5), pool,
                                  pick(size, 0.0, 0.2, 0.5));
  return Setting<Inception>{net, &Inception::loss, dataOf(images), trained(6, 2e-3, 0.9)};
});

} // namespace heddle::zoo
