//===- RandomTest.cpp - any layout and any schedule gives the same values -===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/conversion/nest_to_loops/Harness.h"
#include "test/unit/conversion/nest_to_loops/Texts.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <random>

using namespace heddle::test;

namespace {
class Dice {
public:
  Dice(unsigned seed) : engine(seed) {}
  int below(int n) { return int(engine() % unsigned(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  T pick(std::vector<T> list) {
    return list[below(int(list.size()))];
  }

  /// A layout over the names: any order, some names blocked, merged, padded.
  std::string layout(std::vector<std::string> names) {
    std::shuffle(names.begin(), names.end(), engine);
    std::vector<std::string> factors;
    for (size_t i = 0; i < names.size(); ++i) {
      std::string name = names[i];
      if (i + 1 < names.size() && chance(15))
        name = "(" + name + ", " + names[++i] + ")";
      if (chance(35)) {
        std::string block = std::to_string(pick<int>({2, 3, 4, 8, 16, 32}));
        std::string border = chance(10) ? " pad(1, 2)" : "";
        factors.push_back(name + border + " floordiv " + block);
        factors.insert(factors.begin() + below(int(factors.size()) + 1), "");
        auto inner = name + border + " mod " + block;
        factors.erase(std::find(factors.begin(), factors.end(), ""));
        factors.insert(
            chance(70) ? factors.end() : factors.begin() + below(int(factors.size()) + 1), inner);
      } else {
        factors.push_back(name + (chance(10) ? " pad(2, 1)" : ""));
      }
    }
    std::string text = "[";
    for (size_t i = 0; i < factors.size(); ++i)
      text += (i ? ", " : "") + factors[i];
    return text + "]" + (chance(5) ? ", swizzle(2, 1, 3)" : "");
  }

  /// A legal schedule of names with sizes, of which some are reduced.
  std::string schedule(const std::map<std::string, int> &produced,
                       const std::map<std::string, int> &reduced) {
    std::vector<std::vector<std::string>> chains; // of each name, in order
    std::vector<std::string> vectors;
    auto add = [&](const std::string &name, bool isReduced) {
      if (chance(15))
        return;
      std::vector<std::string> chain;
      int step = pick<int>({1, 1, 2, 3, 4, 8, 16});
      bool inTile = false; // loops of the register tile come last
      auto level = [&]() -> std::string {
        inTile |= chance(isReduced ? 20 : 40);
        if (inTile)
          return "register";
        return isReduced ? pick<std::string>({"loop", "loop", "cache"})
                         : pick<std::string>({"thread", "cache", "loop"});
      };
      while (step > 1) {
        chain.push_back(level() + " " + name + " by " + std::to_string(step));
        int next = 1;
        for (int divisor : {2, 3, 4})
          if (step % divisor == 0 && chance(40))
            next = step / divisor;
        step = next;
      }
      std::string last = vectors.empty() && chance(50) ? "vector"
                         : isReduced && chance(20)     ? "unit"
                                                       : level();
      chain.push_back(last + " " + name + " by 1");
      if (chain.back().rfind("vector", 0) == 0)
        vectors.push_back(name);
      chains.push_back(chain);
    };
    for (auto &[name, size] : produced)
      add(name, false);
    for (auto &[name, size] : reduced)
      add(name, true);
    std::shuffle(chains.begin(), chains.end(), engine);
    std::string text = "[";
    while (!chains.empty()) {
      size_t i = below(int(chains.size()));
      text += (text.size() > 1 ? ", " : "") + chains[i].front();
      chains[i].erase(chains[i].begin());
      if (chains[i].empty())
        chains.erase(chains.begin() + i);
    }
    return text + "]";
  }

  std::mt19937 engine;
};
} // namespace

class RandomNests : public testing::TestWithParam<int> {};

TEST_P(RandomNests, Agree) {
  for (int i = 0; i < 12; ++i) {
    Dice dice(unsigned(GetParam() * 1000 + i));
    std::string text;
    if (dice.chance(40)) {
      int m = 1 + dice.below(20), n = 1 + dice.below(40), k = 1 + dice.below(12);
      text =
          matmul(m, n, k, dice.layout({"m", "k"}), dice.layout({"k", "n"}), dice.layout({"m", "n"}),
                 dice.chance(20) ? "" : dice.schedule({{"m", m}, {"n", n}}, {{"k", k}}),
                 dice.pick<std::string>({"f32", "f32", "bf16"}));
    } else {
      Window w;
      w.batch = 1 + dice.below(2), w.in = 1 + dice.below(5), w.out = 1 + dice.below(18),
      w.rows = 3 + dice.below(5);
      w.columns = 3 + dice.below(9), w.window = 1 + dice.below(3), w.stride = 1 + dice.below(2),
      w.padding = dice.below(w.window);
      w.excludes = dice.chance(40);
      w.layoutIn = dice.layout({"batch", "channel", "row", "column"});
      w.layoutWeight = dice.layout({"channel", "ky", "kx", "out"});
      w.layoutOut = dice.layout({"batch", "out", "row", "column"});
      if (dice.chance(85))
        w.schedule = dice.schedule({{"batch", 1}, {"out", 1}, {"row", 1}, {"column", 1}},
                                   {{"channel", 1}, {"ky", 1}, {"kx", 1}});
      w.type = dice.pick<std::string>({"f32", "f32", "bf16"});
      text = convolution(w);
    }
    Options options;
    options.machine512 = dice.chance(70);
    options.hot = dice.chance(30);
    auto context = makeContext();
    Kernel kernel(*context, text, options);
    if (kernel.error.find("the layout") != std::string::npos)
      continue; // a block of a merged group that can't be
    ASSERT_EQ(kernel.check(unsigned(i)), "") << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomNests, testing::Range(0, 10));
