//===- Diffusion.cpp - images from noise ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ho, Jain, Abbeel: Denoising diffusion probabilistic models, NeurIPS'20. A U-Net predicts the
// noise that was added to an image; at the coarsest resolution attention connects all positions.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Images.h"

namespace heddle::zoo {
namespace {
const Name feature("feature"), position("position"), step("step");
const nn::NoiseSchedule schedule;

struct Options {
  std::vector<int64_t> widths;
  size_t depth, groups, attends; ///< `attends`: the level with attention
  double dropout;
};

/// Two convolutions with the embedding of the step, and a shortcut; then attention between
/// positions.
struct Block {
  nn::GroupNorm before, between;
  nn::Conv first, second;
  nn::Linear time;
  std::optional<nn::Conv> shortcut;
  std::optional<nn::GroupNorm> norm;
  std::optional<nn::Attention> attention;
  HEDDLE_FIELDS(before, between, first, second, time, shortcut, norm, attention)
  double dropout;

  static Block make(int64_t in, int64_t outs, bool attends, const Options &all, const Tensor &key) {
    Extent to{channel, outs};
    Block block{.before = nn::GroupNorm::make({channel, in}, all.groups),
                .between = nn::GroupNorm::make(to, all.groups),
                .first = convolution(windowsOf(3), in, outs, fold(key, 0.0)),
                .second = convolution(windowsOf(3), outs, outs, fold(key, 1.0)),
                .time = nn::Linear::make({{feature, 4 * all.widths[0]}}, to, fold(key, 2.0)),
                .dropout = all.dropout};
    if (in != outs)
      block.shortcut = convolution(windowsOf(1), in, outs, fold(key, 3.0));
    if (attends) {
      block.norm = nn::GroupNorm::make(to, all.groups);
      block.attention = nn::Attention::make(to, 1, fold(key, 4.0));
    }
    return block;
  }

  Tensor operator()(const Tensor &x, const Tensor &now, nn::Mode &mode) const {
    Tensor y = first(nn::silu(before(x, channel, place)), place, channel, out);
    y = nn::silu(between(y + time(now, feature), channel, place));
    y = second(nn::dropout(y, dropout, over(row, column, channel), mode), place, channel, out);
    y = y + (shortcut ? (*shortcut)(x, place, channel, out) : x);
    if (!attention)
      return y;
    Tensor z = (*norm)(y, channel, place).merge(place, position);
    z = (*attention)(z, position, channel, mode);
    return y + z.split(position, {{row, y.size(row)}, {column, y.size(column)}});
  }
};

struct UNet {
  nn::Perceptron time;
  nn::Conv first, last;
  nn::GroupNorm norm;
  std::vector<std::vector<Block>> down, up; ///< one list for each resolution
  std::vector<Block> middle;
  std::vector<nn::Conv> shrink, grow; ///< between resolutions
  HEDDLE_FIELDS(time, first, down, shrink, middle, up, grow, norm, last)

  static UNet make(int64_t channels, const Options &options) {
    int64_t width = options.widths[0], in = width, keys = 10;
    std::vector<int64_t> kept{width};
    UNet net{.time = nn::Perceptron::make({feature, width}, {4 * width, 4 * width}, key(1)),
             .first = convolution(windowsOf(3), channels, width, key(3)),
             .last = convolution(windowsOf(3), width, channels, key(4)),
             .norm = nn::GroupNorm::make({channel, width}, options.groups)};
    net.last.weight = nn::zerosLike(net.last.weight);
    net.time.activation = [](const Tensor &x) { return nn::silu(x); };
    auto add = [&](std::vector<Block> &level, int64_t more, int64_t outs, bool attends) {
      int64_t from = std::exchange(in, outs) + more;
      level.push_back(Block::make(from, outs, attends, options, key(++keys)));
    };
    for (size_t l = 0; l < options.widths.size(); ++l) {
      auto &level = net.down.emplace_back();
      for (size_t i = 0; i < options.depth; ++i, kept.push_back(in))
        add(level, 0, options.widths[l], l == options.attends);
      if (l + 1 < options.widths.size()) {
        net.shrink.push_back(convolution(windowsOf(3, 2), in, in, key(++keys)));
        kept.push_back(in);
      }
    }
    add(net.middle, 0, in, true);
    add(net.middle, 0, in, false);
    for (size_t l = options.widths.size(); l-- > 0;) {
      auto &level = net.up.emplace_back();
      for (size_t i = 0; i <= options.depth; ++i, kept.pop_back())
        add(level, kept.back(), options.widths[l], l == options.attends);
      if (l > 0)
        net.grow.push_back(convolution(windowsOf(3), in, in, key(++keys)));
    }
    return net;
  }

  /// Predicts the noise in images after step `now`.
  Tensor operator()(Tensor x, Tensor now, nn::Mode &mode) const {
    now = nn::sinusoids({step, 1}, {feature, first.weight.size(out)}, now).at(step, 0);
    now = nn::silu(time(now, feature));
    std::vector<Tensor> kept{x = first(x, place, channel, out)};
    for (size_t l = 0; l < down.size(); ++l) {
      for (const Block &block : down[l])
        kept.push_back(x = block(x, now, mode));
      mode.seen("down." + std::to_string(l), x);
      if (l < shrink.size())
        kept.push_back(x = shrink[l](x, place, channel, out));
    }
    x = mode.seen("middle", middle[1](middle[0](x, now, mode), now, mode));
    for (size_t l = 0; l < up.size(); ++l) {
      for (const Block &block : up[l]) {
        x = block(concat({x, kept.back()}, channel), now, mode);
        kept.pop_back();
      }
      mode.seen("up." + std::to_string(l), x);
      if (l < grow.size())
        x = grow[l](nn::repeated(x, place, 2), place, channel, out);
    }
    return mode.seen("last", last(nn::silu(norm(x, channel, place)), place, channel, out));
  }

  nn::Outcome loss(const nn::Fields &fields, nn::Mode &mode) const {
    const Tensor &noise = fields.at("noise"), &now = fields.at("step");
    Tensor noisy = schedule.noised(fields.at("image"), noise, now);
    return {nn::sampleMean(nn::squaredError((*this)(noisy, now, mode), noise), fields), {}};
  }
};
} // namespace

static Registered diffusion("diffusion", "Ho et al., 2020", [](Size size) {
  Images images{pick(size, 10, 32, 32), pick(size, 1, 1, 3), 10, 0.5f, 0.5f};
  UNet net = UNet::make(images.channels,
                        pick<Options>(size, {{2, 3}, 1, 1, 1, 0}, {{16, 32, 32}, 1, 8, 2, 0},
                                      {{128, 256, 256, 256}, 2, 32, 1, 0.1}));
  nn::Training training{.epochs = 2, .rate = 1e-3, .schedule = nn::triangle, .clip = 1};
  auto data = withNoise(dataOf(images), schedule.steps);
  return Setting<UNet>{net, &UNet::loss, data, training, {}, drawer<UNet>(images, schedule)};
});

} // namespace heddle::zoo
