//===- Capsule.cpp - convolutional capsules -------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// votes[n, r, c, co, i, j] = sum over kr, kc, ci, k of
//     P[n, 2r + kr, 2c + kc, ci, i, k] * W[kr, kc, ci, co, k, j]:
// Barham and Isard, "Machine learning systems are stuck in a rut" (HotOS 2019), section 2.
//
//===----------------------------------------------------------------------===//

#include "bench/CapsuleLoops.h"
#include "bench/Cases.h"
#include "bench/peers/Peers.h"

using namespace heddle;
using namespace heddle::bench;

void bench::capsule(const Request &request, Report &report) {
  std::string dtype = request.dtype.empty() ? "f32" : request.dtype;
  Name n("n"), r("r"), c("c"), ci("ci"), co("co"), i("i"), j("j"), k("k"), kr("kr"), kc("kc");
  int64_t batch = request.size("n", 64), in = request.size("in", 32), out = request.size("out", 32),
          size = 15;
  Tensor poses = randomTensor({{n, batch}, {r, size}, {c, size}, {ci, in}, {i, 4}, {k, 4}}, dtype);
  Tensor weights = randomTensor({{kr, 3}, {kc, 3}, {ci, in}, {co, out}, {k, 4}, {j, 4}}, dtype);
  Case work{.bench = "capsule/" + std::to_string(batch) + "x" + std::to_string(in) + "x" +
                     std::to_string(out),
            .dtype = dtype,
            .threads = request.threads,
            .work = 2.0 * double(batch * 7 * 7 * out * 16 * 9 * in * 4)};
  work.systems.push_back(heddleSystem(
      request,
      [=](Tensor p, Tensor w) {
        return kernel(n, r, c, co, i, j)
            .sum(kr, kc, ci, k)
            .of(at(p, {{r, 2 * r + kr}, {c, 2 * c + kc}}) * at(w));
      },
      poses, weights));
  if (request.peers && dtype == "f32" && request.threads == 1) {
    auto p = poses.to<float>({n, r, c, ci, i, k}), w = weights.to<float>({kr, kc, ci, co, k, j});
    std::vector<float> v(size_t(batch * 49 * out * 16));
    work.systems.push_back(
        {.name = "clang-O3-native",
         .once = [=]() mutable { capsuleLoops(batch, in, out, p.data(), w.data(), v.data()); },
         .peer = true});
  }
  if (request.peers && dtype == "f32")
    for (System &peer : torchPeer("capsule",
                                  {{"n", std::to_string(batch)},
                                   {"in", std::to_string(in)},
                                   {"out", std::to_string(out)}},
                                  request.threads))
      work.systems.push_back(std::move(peer));
  report.measure(work);
}
