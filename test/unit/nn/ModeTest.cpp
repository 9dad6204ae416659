//===- ModeTest.cpp - training or evaluation ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Checkpoint.h"
#include "heddle/nn/Layers.h"
#include "heddle/nn/Optimizers.h"
#include "runtime/program/Program.h"
#include "test/unit/Refused.h"
#include "test/unit/nn/Compare.h"
#include "test/unit/support/io/Files.h"

#include <set>

using namespace heddle;
using namespace heddle::test;

namespace {
struct Scale {
  Tensor weight;
  HEDDLE_FIELDS(weight)
};
const Name batch("batch"), feature("feature"), hidden("hidden"), step("step");

struct Block {
  nn::Linear map;
  nn::BatchNorm norm;
  HEDDLE_FIELDS(map, norm)
  Tensor operator()(const Tensor &x, nn::Mode &mode) const {
    Tensor y = norm(map(x, feature).rename({{hidden, feature}}), batch, mode);
    return nn::dropout(y, 0.5, feature, mode);
  }
};
struct Net {
  std::vector<Block> blocks;
  HEDDLE_FIELDS(blocks)
  Tensor operator()(Tensor x, nn::Mode &mode) const {
    for (const Block &block : blocks)
      x = block(x, mode);
    return x;
  }
};
struct State {
  Net net;
  nn::Mode mode;
  nn::Sgd sgd;
  HEDDLE_FIELDS(net, mode, sgd)
};

constexpr int64_t count = 8, width = 4;

Block blockOf(uint64_t seed) {
  return {nn::Linear::make({{feature, width}}, {hidden, width}, key(seed)),
          nn::BatchNorm::make({feature, width})};
}
State initial() {
  Net net{{blockOf(1), blockOf(2)}};
  return {net, nn::Mode::training(net, key(7), batch), nn::Sgd::make(net)};
}
Tensor input(uint64_t seed = 3) { return random({{batch, count}, {feature, width}}, seed); }

Tensor trainStep(State &state, Tensor x) {
  auto [loss, gradient] = nn::valueAndGrad(
      [&](Net net, nn::Mode &mode) {
        Tensor y = net(x, mode);
        return mean(y * y * x, over(batch, feature));
      },
      state.net, state.mode);
  state.sgd.update(state.net, gradient, 0.1);
  return loss;
}
} // namespace

TEST(Mode, KeepsMomentsByPathAndDrawsAnewAtEachStep) {
  State state = initial();
  std::vector<std::string> paths;
  forEachTensor(state.mode, [&](const std::string &path, Tensor &) { paths.push_back(path); });
  EXPECT_EQ(paths, (std::vector<std::string>{
                       "random.key", "random.drawn", "moments.blocks.0.norm.mean",
                       "moments.blocks.0.norm.variance", "moments.blocks.1.norm.mean",
                       "moments.blocks.1.norm.variance"}));
  Tensor x = input();
  Tensor before = state.net.blocks[0].map(x, feature);
  auto average = mean(before, batch).to<float>({hidden});
  auto run = jit(trainStep);
  run(state, x);
  EXPECT_EQ(state.mode.random->drawn.item(), 2);
  auto kept = state.mode.moments.at("blocks.0.norm").mean.to<float>({feature});
  for (size_t i = 0; i < kept.size(); ++i)
    EXPECT_NEAR(kept[i], 0.1 * average[i], 1e-6);
  run(state, x);
  EXPECT_EQ(state.mode.random->drawn.item(), 4);
}

TEST(Mode, EachLayerSampleAndStepHasItsOwnNumbers) {
  nn::Mode mode = nn::Mode::training(key(1), batch);
  Tensor ones = zeros({{batch, 3}, {feature, 64}}) + 1.0;
  std::vector<std::vector<float>> masks;
  for (int i = 0; i < 2; ++i) {
    Tensor y = nn::dropout(ones, 0.5, feature, mode);
    for (int64_t sample = 0; sample < 3; ++sample)
      masks.push_back(y.at(batch, sample).to<float>({feature}));
  }
  for (size_t i = 0; i < masks.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(masks[i], masks[j]) << i << " and " << j;
}

/// A mode whose next draws are for samples from this number on.
static nn::Mode modeFrom(int64_t first) {
  nn::Mode mode = nn::Mode::training(key(1), batch);
  mode.random->first = constant(double(first), ElementType::I64);
  return mode;
}

TEST(Mode, AnElementDrawsByItsCoordinates) {
  auto drops = [](nn::Mode mode, int64_t samples, int64_t steps, const Names &by) {
    Tensor ones = zeros({{batch, samples}, {step, steps}, {feature, 16}}) + 1.0;
    return nn::dropout(ones, 0.5, by, mode);
  };
  Names order = over(batch, step, feature);
  for (const Names &by : {over(step, feature), over(feature, step), over(feature, batch, step)}) {
    Tensor whole = drops(nn::Mode::training(key(1), batch), 5, 4, by);
    auto part = drops(modeFrom(2), 3, 4, by), shorter = drops(modeFrom(2), 3, 2, by);
    EXPECT_EQ(part.to<float>(order), whole.slice(batch, 2, 3).to<float>(order));
    EXPECT_EQ(shorter.to<float>(order), part.slice(step, 0, 2).to<float>(order));
    // All draws are independent: no two rows of 16 along any name are equal.
    std::set<std::vector<float>> rows;
    for (int64_t b = 0; b < 5; ++b)
      for (int64_t s = 0; s < 4; ++s)
        rows.insert(whole.at(batch, b).at(step, s).to<float>({feature}));
    EXPECT_EQ(rows.size(), 20u);
  }
}

TEST(Mode, DropsByKeyAndKeepsTheMean) {
  Tensor x = random({{batch, 100}, {feature, 100}}, 15) + 2.0;
  auto drop = jit([](Tensor x, Tensor key) {
    nn::Mode mode = nn::Mode::training(key, {});
    return nn::dropout(x, 0.25, over(batch, feature), mode);
  });
  auto values = x.to<float>({batch, feature}), got = drop(x, key(1)).to<float>({batch, feature});
  int kept = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    kept += got[i] != 0;
    if (got[i] != 0)
      EXPECT_FLOAT_EQ(got[i], values[i] / 0.75f);
  }
  EXPECT_NEAR(kept, 7500, 150); // 3.5 deviations
  EXPECT_EQ(got, drop(x, key(1)).to<float>({batch, feature}));
  EXPECT_NE(got, drop(x, key(2)).to<float>({batch, feature}));
  // The gradient passes through the elements that were kept.
  auto slopes =
      grad(
          [](Tensor x) {
            nn::Mode mode = nn::Mode::training(key(1), {});
            return sum(nn::dropout(x, 0.25, over(batch, feature), mode), over(batch, feature));
          },
          x)
          .to<float>({batch, feature});
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_FLOAT_EQ(slopes[i], got[i] != 0 ? 1 / 0.75f : 0);
  // Along other names all elements share one draw.
  nn::Mode mode = nn::Mode::training(key(1), {});
  auto whole = nn::dropout(x * 0.0 + 1.0, 0.5, feature, mode).to<float>({batch, feature});
  for (size_t i = 100; i < whole.size(); ++i)
    ASSERT_EQ(whole[i], whole[i % 100]);
}

TEST(Mode, EvaluationDropsNothingAndUsesWhatTrainingKept) {
  State state = initial();
  auto run = jit(trainStep);
  for (uint64_t i = 0; i < 3; ++i)
    run(state, input(i));
  auto evaluate = jit([](const Net &net, nn::Mode mode, Tensor x) { return net(x, mode); });
  auto got = evaluate(state.net, state.mode.evaluation(), input()).to<float>({batch, feature});
  // By plain loops in double.
  auto x = input().to<float>({batch, feature});
  std::vector<double> values(x.begin(), x.end());
  for (size_t b = 0; b < 2; ++b) {
    const Block &block = state.net.blocks[b];
    const nn::RunningMoments &kept = state.mode.moments.at("blocks." + std::to_string(b) + ".norm");
    auto weight = block.map.weight.to<float>({feature, hidden});
    auto bias = block.map.bias->to<float>({hidden}), scale = block.norm.scale.to<float>({feature});
    auto shift = block.norm.shift.to<float>({feature}), mean = kept.mean.to<float>({feature});
    auto variance = kept.variance.to<float>({feature});
    std::vector<double> next;
    for (size_t n = 0; n < size_t(count); ++n)
      for (size_t o = 0; o < size_t(width); ++o) {
        double sum = bias[o];
        for (size_t i = 0; i < size_t(width); ++i)
          sum += values[n * width + i] * weight[i * width + o];
        next.push_back((sum - mean[o]) / std::sqrt(variance[o] + 1e-5) * scale[o] + shift[o]);
      }
    values = next;
  }
  expectNear(got, values, 1e-4);
}

TEST(Mode, ACheckpointResumesToTheBit) {
  TemporaryDirectory directory;
  std::string path = directory / "state.safetensors";
  auto run = jit(trainStep);
  State whole = initial();
  for (uint64_t i = 0; i < 4; ++i)
    run(whole, input(i));
  State first = initial(), second = initial();
  run(first, input(0)), run(first, input(1));
  nn::saveTree(path, first);
  nn::loadTree(path, second);
  run(second, input(2)), run(second, input(3));
  std::map<std::string, std::vector<float>> values;
  forEachTensor(whole, [&](const std::string &at, Tensor &tensor) {
    if (tensor.elementType() == ElementType::F32)
      values[at] = valuesOf(tensor);
  });
  forEachTensor(second, [&](const std::string &at, Tensor &tensor) {
    if (tensor.elementType() == ElementType::F32)
      EXPECT_EQ(valuesOf(tensor), values.at(at)) << at;
  });
  EXPECT_EQ(second.mode.random->drawn.item(), 8);
}

TEST(Mode, AProgramFileEvaluates) {
  TemporaryDirectory directory;
  std::string path = directory / "net.heddle";
  State state = initial();
  jit(trainStep)(state, input());
  auto evaluate = jit([](const Net &net, nn::Mode mode, Tensor x) { return net(x, mode); },
                      {.name = "evaluate"});
  nn::Mode mode = state.mode.evaluation();
  auto wanted = evaluate(state.net, mode, input()).to<float>({batch, feature});
  evaluate.save(path, state.net, mode, input());
  auto call = Program::load(path)->prepare("evaluate", {});
  std::map<std::string, Tensor> all;
  forEachTensor(state.net, [&](const std::string &at, Tensor &tensor) { all[at] = tensor; });
  forEachTensor(mode, [&](const std::string &at, Tensor &tensor) { all[at] = tensor; });
  all["argument2"] = input();
  size_t bound = 0;
  for (int32_t index : call->entry().arguments) {
    std::string name = call->entry().values[size_t(index)].name;
    ASSERT_TRUE(all.count(name)) << name;
    call->bind(name, all.at(name).data());
    ++bound;
  }
  EXPECT_EQ(bound, all.size());
  call->run();
  EXPECT_EQ(Tensor::fromData(call->result("result")).to<float>({batch, feature}), wanted);
}

TEST(Mode, ACheckpointedBlockGetsAndGivesTheMode) {
  auto loss = [](Net net, nn::Mode &mode, const Tensor &x, bool again) {
    Tensor y = x;
    for (const Block &block : net.blocks)
      if (again)
        std::tie(y, mode) = checkpoint([](Block block, Tensor y, nn::Mode mode) {
          y = block(y, mode);
          return std::pair(y, mode);
        })(block, y, mode);
      else
        y = block(y, mode);
    return sum(y * y * x, over(batch, feature));
  };
  auto step = jit([&](State &s, Tensor x, Tensor again) {
    auto [value, gradient] = nn::valueAndGrad(
        [&](Net net, nn::Mode &mode) {
          return loss(net, mode, x, again.has(feature)); // a choice while tracing
        },
        s.net, s.mode);
    return std::pair(value, gradient);
  });
  State a = initial(), b = initial();
  auto [plain, plainGradient] = step(a, input(), constant(1));
  auto [value, gradient] = step(b, input(), zeros({{feature, 1}}));
  // They are different programs, whose sums may have other orders. The loss is a sum of values of
  // up to 30 that cancel.
  auto expectAlike = [](const Tensor &some, const Tensor &other, double magnitude) {
    auto wanted = valuesOf(some), got = valuesOf(other);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], wanted[i], 2e-6 * magnitude);
  };
  EXPECT_NEAR(plain.item(), value.item(), 2e-6 * 30);
  expectAlike(plainGradient.blocks[0].map.weight, gradient.blocks[0].map.weight, 30);
  EXPECT_EQ(b.mode.random->drawn.item(), 2);
  expectAlike(a.mode.moments.at("blocks.1.norm").mean, b.mode.moments.at("blocks.1.norm").mean, 1);
}

TEST(Mode, AScanCarriesTheMode) {
  Tensor x = zeros({{step, 3}, {feature, 64}}) + 1.0;
  auto run = jit([](Tensor x, Tensor key) {
    nn::Mode mode = nn::Mode::training(key, {});
    auto [last, all] = scan(step, mode, x, [](nn::Mode mode, Tensor now) {
      Tensor y = nn::dropout(now, 0.5, feature, mode);
      return std::pair(mode, y);
    });
    return std::pair(all, last.random->drawn);
  });
  auto [all, drawn] = run(x, key(1));
  EXPECT_EQ(drawn.item(), 3);
  EXPECT_NE(all.at(step, 0).to<float>({feature}), all.at(step, 1).to<float>({feature}));
  EXPECT_NE(all.at(step, 1).to<float>({feature}), all.at(step, 2).to<float>({feature}));
  auto loop = jit([](Tensor x, Tensor key) {
    nn::Mode mode = nn::Mode::training(key, {});
    auto [y, last] = forLoop(4, std::pair(x, mode), [](Tensor, std::pair<Tensor, nn::Mode> s) {
      s.first = nn::dropout(s.first, 0.5, feature, s.second);
      return s;
    });
    return std::pair(y, last.random->drawn);
  });
  auto [y, times] = loop(x, key(1));
  EXPECT_EQ(times.item(), 4);
  for (float value : valuesOf(y)) // each step halves what is left and doubles it
    EXPECT_TRUE(value == 0 || value == 16) << value;
}

TEST(Mode, ABodyThatCapturesTheModeIsRefused) {
  Tensor x = zeros({{step, 3}, {feature, 4}});
  nn::Mode mode = nn::Mode::training(key(1), {});
  auto drop = [&](const Tensor &now) { return nn::dropout(now, 0.5, feature, mode); };
  refused(
      [&] {
        scan(step, x.at(step, 0), x, [&](Tensor h, Tensor now) {
          Tensor y = drop(now);
          return std::pair(y + h, y);
        });
      },
      {"captures", "expected the mode among the arguments of the body"});
  refused([&] { forLoop(2, x, [&](Tensor, Tensor y) { return drop(y); }); }, {"captures"});
  refused(
      [&] {
        whileLoop(x, [](Tensor) { return constant(1) > 0.0; }, [&](Tensor y) { return drop(y); });
      },
      {"captures"});
  refused([&] { checkpoint(drop)(x); }, {"captures"});
  refused([&] { lift(drop, step)(x); }, {"captures"});
  refused([&] { cond(constant(1) > 0.0, [&] { return drop(x); }, [&] { return x; }); },
          {"captures"});
  refused([&] { grad([&](Tensor x) { return sum(drop(x), over(step, feature)); }, x); },
          {"nn::valueAndGrad"});
  nn::BatchNorm norm = nn::BatchNorm::make({feature, 4});
  nn::Mode kept = nn::Mode::training(norm, key(1), {});
  refused([&] { checkpoint([&](Tensor x) { return norm(x, step, kept); })(x); }, {"captures"});
  // Outside of bodies, and in evaluation, it may be captured.
  EXPECT_EQ(drop(x).type(), x.type());
  nn::Mode evaluation = kept.evaluation();
  EXPECT_EQ(checkpoint([&](Tensor x) { return norm(x, step, evaluation); })(x).type(), x.type());
}

TEST(Mode, LayersThatItDoesNotKnowAreRefused) {
  Block block = blockOf(1);
  nn::Mode mode = nn::Mode::training(block, key(1), batch);
  Block other = blockOf(2);
  refused([&] { other(input(), mode); },
          {"keeps the running moments of this layer", "1 others", "nn::Mode::training(net"});
  nn::Mode none;
  refused([&] { block(input(), none); }, {"keeps the running moments of this layer", "0 others"});
  Net copies{{block, block}};
  refused([&] { nn::Mode::training(copies, key(1), batch); },
          {"made one by one", "'blocks.0.norm' and 'blocks.1.norm'"});
  refused([&] { nn::dropout(input(), 1, feature, mode); }, {"from 0 to below 1, got 1"});
  refused([&] { nn::dropout(input(), 0.5, hidden, mode); }, {"hidden"});
  refused([&] { none.draw(); }, {"a mode for training"});
  // Copies made at any time are the same layer.
  Block copy = block;
  EXPECT_EQ(copy(input(), mode).type(), input().type());
}

TEST(Mode, RenamingChangesNoBit) {
  Name a("zz"), b("aa");
  auto run = [](const Tensor &x, const Name &batch, const Name &feature) {
    nn::Mode mode = nn::Mode::training(key(5), batch);
    return nn::dropout(x, 0.5, feature, mode).to<float>({batch, feature});
  };
  Tensor x = input();
  EXPECT_EQ(run(x, batch, feature), run(x.rename({{batch, a}, {feature, b}}), a, b));
}

TEST(Mode, PlansFindOperatorsByWhatWasSeen) {
  auto step = [](Scale &state, Tensor x) {
    nn::Mode mode;
    Tensor y = sum(x * state.weight, over(feature));
    state.weight = state.weight * 0.5;
    return mode.seen("pooled", sum(y * y, over(batch)));
  };
  auto run = [&](const std::string &rule) {
    Scale state{Tensor::of<float>({1, 2}, {{feature, 2}})};
    auto compiled = jit(step, {.mesh = {{"data", 1}}, .rules = {rule}, .ranks = Ranks()});
    return compiled(state, Tensor::of<float>({1, 2, 3, 4}, {{batch, 2}, {feature, 2}})).item();
  };
  EXPECT_EQ(run("op .pooled./batch:data"), 25 + 121);
  refused([&] { run("op .poled./batch:data"); }, {"the nearest one is 'pooled'"});
}
