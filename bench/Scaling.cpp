//===- Scaling.cpp - compile time by size of the program ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles programs of growing size: a chain in which nothing fuses (every second op is a scan), a
// chain in which everything fuses, chains of loops, gradients of chains (of products, of functions,
// of checkpoints), sums of many arguments, in sequence and pairwise, and one result for each of
// many arguments. The time per op stays constant if compile time is near-linear. Printing the IR
// runs only the builder, which traces the ops, so its time is the builder's. `--shape
// from=100000,ops=100000` measures one size only.
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
  int64_t largest = request.size("ops", 2000), smallest = request.size("from", 1000);
  enum class Kind { Trace, Deep, Steps, Loops, Gradient, Functions, Checkpoints, Wide, Tree, Each };
  for (auto [kind, name] :
       {std::pair(Kind::Trace, "trace"), std::pair(Kind::Deep, "deep"),
        std::pair(Kind::Steps, "steps"), std::pair(Kind::Loops, "loops"),
        std::pair(Kind::Gradient, "gradient"), std::pair(Kind::Functions, "functions"),
        std::pair(Kind::Checkpoints, "checkpoints"), std::pair(Kind::Wide, "wide"),
        std::pair(Kind::Tree, "tree"), std::pair(Kind::Each, "each")})
    for (int64_t ops = smallest; ops <= largest; ops *= 2) {
      std::vector<Tensor> inputs;
      for (int64_t i = 0; i < (kind >= Kind::Wide ? ops : 1); ++i)
        inputs.push_back(Tensor::of<float>(std::vector<float>(16, 1.0f), {{row, 16}}));
      Case work{.bench = std::string("compile-ops/") + name + "-" + std::to_string(ops),
                .threads = request.threads,
                .unit = Unit::Milliseconds};
      work.systems.push_back(
          {.name = "heddle", .once = [=, kind = kind] {
             auto step = [=](Tensor y, int64_t i) -> Tensor {
               switch (kind) {
               case Kind::Gradient:
                 return y * y + y;
               case Kind::Functions:
                 return sin(y);
               case Kind::Checkpoints:
                 return checkpoint([=](Tensor z) { return cumulativeSum(sin(z), row); })(y);
               case Kind::Loops:
                 return forLoop(3, y, [](Tensor, Tensor z) { return 1.0f - z * z; });
               default: // unlike negations subtractions do not cancel
                 return kind == Kind::Steps && i % 2 ? cumulativeSum(y, row) : 1.0f - y;
               }
             };
             auto f = jit(
                 [=](std::vector<Tensor> x) {
                   if (kind == Kind::Each) {
                     for (Tensor &each : x)
                       each = 1.0f - each;
                     return x;
                   }
                   if (kind == Kind::Wide)
                     for (size_t i = 1; i < x.size(); ++i)
                       x[0] = x[0] + x[i];
                   if (kind == Kind::Tree)
                     for (size_t i = 0; i + 1 < x.size(); i += 2)
                       x.push_back(x[i] + x[i + 1]);
                   if (kind == Kind::Wide || kind == Kind::Tree)
                     return std::vector{kind == Kind::Wide ? x[0] : x.back()};
                   auto chain = [=](Tensor y) {
                     for (int64_t i = 1; i < ops; ++i)
                       y = step(y, i);
                     return y;
                   };
                   bool isGradient = kind >= Kind::Gradient && kind <= Kind::Checkpoints;
                   return std::vector{
                       isGradient ? grad([=](Tensor y) { return sum(chain(y), over(row)); }, x[0])
                                  : chain(x[0])};
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
