//===- Scaling.cpp - how compile time grows with the program --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A chain in which nothing fuses (every second op is a scan), one in which all does, sums of many
// arguments, one after the other and by pairs, and the gradient of a chain, each with more and more
// ops. A compiler in near-linear time keeps the time for an op. That of the builder alone, which
// traces the ops, is that of asking for the IR.
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"

#include <filesystem>

using namespace heddle;
using namespace heddle::bench;

void bench::scaling(const Request &request, Report &report) {
  if (request.threads != 1)
    return; // passes run on one thread
  Name row("row");
  int64_t largest = request.size("ops", 2000);
  enum class Kind { Trace, Deep, Steps, Gradient, Wide, Tree };
  for (auto [kind, name] : {std::pair(Kind::Trace, "trace"), std::pair(Kind::Deep, "deep"),
                            std::pair(Kind::Steps, "steps"), std::pair(Kind::Gradient, "gradient"),
                            std::pair(Kind::Wide, "wide"), std::pair(Kind::Tree, "tree")})
    for (int64_t ops = 1000; ops <= largest; ops *= 2) {
      std::vector<Tensor> inputs;
      for (int64_t i = 0; i < (kind >= Kind::Wide ? ops : 1); ++i)
        inputs.push_back(Tensor::of<float>(std::vector<float>(16, 1.0f), {{row, 16}}));
      Case work{.bench = std::string("compile-ops/") + name + "-" + std::to_string(ops),
                .threads = request.threads,
                .unit = Unit::Milliseconds};
      work.systems.push_back(
          {.name = "heddle", .once = [=, kind = kind] {
             auto f = jit(
                 [=](std::vector<Tensor> x) {
                   if (kind == Kind::Tree) {
                     for (size_t i = 0; i + 1 < x.size(); i += 2)
                       x.push_back(x[i] + x[i + 1]);
                     return x.back();
                   }
                   auto chain = [=](Tensor y) {
                     for (int64_t i = 1; i < ops; ++i)
                       y = kind == Kind::Wide       ? y + x[size_t(i)]
                           : kind == Kind::Gradient ? y * y + y
                           : kind == Kind::Steps && i % 2
                               ? cumulativeSum(y, row)
                               : 1.0f - y; // unlike negations these do not cancel
                     return y;
                   };
                   return kind == Kind::Gradient
                              ? grad([=](Tensor y) { return sum(chain(y), over(row)); }, x[0])
                              : chain(x[0]);
                 },
                 JitOptions{.threads = request.threads, .cache = false});
             if (kind == Kind::Trace) {
               f.ir(inputs);
               return;
             }
             std::string path = detail::temporaryFile();
             f.save(path, inputs);
             std::filesystem::remove(path);
           }});
      report.measure(work);
    }
}
