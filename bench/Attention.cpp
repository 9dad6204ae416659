//===- Attention.cpp - attention to all positions and to near ones --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/peers/Peers.h"

#include "heddle/nn/Activations.h"
#include "heddle/nn/Attention.h"

#include <cmath>

using namespace heddle;
using namespace heddle::bench;

namespace {
const Name batch("batch"), head("head"), feature("feature"), now("now"), past("past"), row("row"),
    column("column"), ky("ky"), kx("kx");

/// Each pixel attends to the 7x7 pixels around it, with a learned bias for each of these places;
/// what lies outside of the image is hidden.
Tensor attendNear(const Tensor &q, const Tensor &k, const Tensor &v, const Tensor &bias) {
  auto around = [](const Tensor &x, double outside) {
    WindowOptions seven{.size = 7, .padding = Padding::explicitly(3, 3, outside)};
    return x.window(row, ky, seven).window(column, kx, seven);
  };
  Tensor image = zeros({{row, q.size(row)}, {column, q.size(column)}});
  Tensor scores = sum(q * around(k, 0), over(feature)) * (1 / std::sqrt(double(q.size(feature))));
  Tensor share = nn::softmax(scores + bias + around(image, -INFINITY), over(ky, kx));
  return sum(share * around(v, 0), over(ky, kx));
}

/// Measures a function of `operands`, and its gradients by all of them, beside PyTorch's. `flops`:
/// of the function; its gradients take twice as many. `ways`: to write it in PyTorch, each a peer;
/// an empty one is the fastest without torch.compile.
template <typename F, typename... T>
void bothWays(const Request &request, Report &report, const std::string &bench,
              const std::string &workload, const std::map<std::string, std::string> &sizes,
              const std::vector<std::string> &ways, double flops, F function, const Tensor &result,
              T... operands) {
  for (bool backward : {false, true}) {
    Case work{.bench = bench + (backward ? "/forward-backward" : "/forward"),
              .threads = request.threads,
              .work = backward ? 3 * flops : flops};
    if (backward) {
      auto gradients = [=](Tensor dy, T... x) {
        auto scalar = [&](const std::tuple<T...> &x) {
          return sum(std::apply(function, x) * dy, dy.names());
        };
        return grad(scalar, std::tuple(x...));
      };
      work.systems.push_back(heddleSystem(request, gradients, result, operands...));
    } else {
      work.systems.push_back(heddleSystem(request, function, operands...));
    }
    for (const std::string &way : request.peers ? ways : std::vector<std::string>{}) {
      auto settings = sizes;
      settings["backward"] = backward ? "1" : "0";
      if (!way.empty())
        settings["way"] = way;
      for (System &peer : torchPeer(workload, settings, request.threads, /*tuned=*/true))
        work.systems.push_back(std::move(peer));
    }
    report.measure(work);
  }
}
} // namespace

void bench::attention(const Request &request, Report &report) {
  int64_t n = request.size("batch", 8), heads = request.size("heads", 8),
          length = request.size("length", 512), features = request.size("features", 64);
  auto positions = [&](const Name &name) {
    return randomTensor({{batch, n}, {head, heads}, {name, length}, {feature, features}});
  };
  auto text = [](int64_t size) { return std::to_string(size); };
  bothWays(
      request, report,
      "attention/" + text(n) + "x" + text(heads) + "x" + text(length) + "x" + text(features),
      "attention",
      {{"batch", text(n)},
       {"heads", text(heads)},
       {"length", text(length)},
       {"features", text(features)}},
      {""}, 4.0 * double(n * heads * length * length * features),
      [](Tensor q, Tensor k, Tensor v) { return nn::attention(q, k, v, past, over(feature)); },
      positions(now), positions(now), positions(past), positions(past));
}

void bench::localAttention(const Request &request, Report &report) {
  int64_t n = request.size("batch", 8), heads = request.size("heads", 2),
          side = request.size("side", 56), features = request.size("features", 32);
  Tensor image =
      randomTensor({{batch, n}, {head, heads}, {row, side}, {column, side}, {feature, features}});
  auto text = [](int64_t size) { return std::to_string(size); };
  bothWays(request, report,
           "local-attention/" + text(n) + "x" + text(heads) + "x" + text(side) + "x" + text(side) +
               "x" + text(features) + "k7",
           "local_attention",
           {{"batch", text(n)},
            {"heads", text(heads)},
            {"side", text(side)},
            {"features", text(features)}},
           {"", "compiled", "unfold"}, 4.0 * 49 * double(n * heads * side * side * features),
           attendNear, image, image, image, image, randomTensor({{head, heads}, {ky, 7}, {kx, 7}}));
}
