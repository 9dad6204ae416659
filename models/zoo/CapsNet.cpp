//===- CapsNet.cpp - capsules with dynamic routing ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sabour, Frosst, Hinton: Dynamic routing between capsules, NIPS'17. A capsule is a vector: its
// length is the probability that an entity is present, its direction describes its properties.
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Images.h"

namespace heddle::zoo {
namespace {
const Name capsule("capsule"), atom("atom"), pose("pose");

Tensor lengths(const Tensor &x, const Name &along) { return sqrt(sum(x * x, along) + 1e-9); }
/// Scales vectors to a length below 1: long ones to nearly 1, short ones to nearly 0 (equation 1).
Tensor squash(const Tensor &x, const Name &along) {
  Tensor squares = sum(x * x, along);
  return x * (sqrt(squares + 1e-9) / (squares + 1.0));
}

struct CapsNet {
  nn::Conv first, primary;
  Tensor weight; ///< of the votes: maps each primary capsule to a pose of each class
  std::vector<nn::Linear> decoder; ///< reconstructs the image from the label's capsule
  HEDDLE_FIELDS(first, primary, weight, decoder)
  int64_t atoms; ///< elements of a primary capsule

  /// The capsules of the classes.
  Tensor operator()(const Tensor &image, nn::Mode &mode) const {
    Tensor x = mode.seen("first", relu(first(image, place, channel, out)));
    x = primary(x, place, channel, out);
    x = squash(x.split(channel, {{capsule, x.size(channel) / atoms}, {atom, atoms}}), atom);
    Tensor votes = sum(mode.seen("primary", x) * weight, atom), agreement, result;
    for (int iteration = 0; iteration < 3; ++iteration) {
      Tensor share = iteration == 0 ? constant(1 / double(weight.size(classes)))
                                    : nn::softmax(agreement, classes);
      result = squash(sum(votes * share, over(row, column, capsule)), pose);
      Tensor more = sum(votes * result, pose);
      agreement = iteration == 0 ? more : agreement + more;
    }
    return mode.seen("classes", result);
  }

  nn::Outcome loss(const nn::Fields &fields, nn::Mode &mode) const {
    const Tensor &image = fields.at("image"), &label = fields.at("label");
    Tensor poses = (*this)(image, mode), length = lengths(poses, pose);
    Tensor drawn = poses * oneHot(label, {classes, poses.size(classes)});
    drawn = relu(decoder[0](drawn, over(classes, pose)));
    drawn = relu(decoder[1](drawn, hidden));
    drawn = mode.seen("decoder", sigmoid(decoder[2](drawn, out)));
    Tensor error = sum(nn::squaredError(drawn, image), over(row, column, channel));
    Tensor each = nn::margin(length, label, classes) + error * 0.0005;
    return {nn::sampleMean(each, fields),
            {{"accuracy", nn::sampleMean(nn::isRight(length, label, classes), fields)}}};
  }
};
} // namespace

static Registered capsNet("capsnet", "Sabour et al., 2017", [](Size size) {
  Images images{.side = pick(size, 13, 32, 28), .mean = 0, .deviation = 1};
  int64_t window = pick(size, 3, 9, 9), grid = (images.side - 2 * window + 1) / 2 + 1;
  int64_t filters = pick(size, 3, 32, 256), kinds = pick(size, 2, 8, 32);
  Extent atoms{atom, pick(size, 2, 8, 8)}, of{classes, images.classes};
  Extent poses{pose, pick(size, 3, 16, 16)}, wide{hidden, pick(size, 7, 128, 512)};
  Extent wider{out, pick(size, 3, 256, 1024)}, rows{row, images.side}, columns{column, images.side};
  CapsNet net{
      convolution({place, {.size = window}}, images.channels, filters, key(1)),
      convolution({place, {.size = window, .stride = 2}}, filters, kinds * atoms.size, key(2)),
      nn::normal(key(3), {{row, grid}, {column, grid}, {capsule, kinds}, atoms, of, poses}, 0, 0.1),
      {nn::Linear::make({of, poses}, wide, key(4)), nn::Linear::make({wide}, wider, key(5)),
       nn::Linear::make({wider}, {rows, columns, {channel, images.channels}}, key(6))},
      atoms.size};
  return Setting<CapsNet>{net, &CapsNet::loss, dataOf(images), trained(7, 1e-3, 0.9)};
});

} // namespace heddle::zoo
