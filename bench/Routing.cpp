//===- Routing.cpp - capsules routed by expectation maximisation ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hinton, Sabour, Frosst: Matrix capsules with EM routing (ICLR 2018), section 4: every capsule of
// a window votes for the pose of every output capsule, which is a Gaussian over the votes assigned
// to it; three iterations. Votes are large and poses small, so the layer is compiled as one group
// over pixels: `group` keeps intermediate values in a cache.
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/peers/Peers.h"

using namespace heddle;
using namespace heddle::bench;

namespace {
const Name batch("batch"), row("row"), column("column"), ky("ky"), kx("kx"), in("in"), out("out"),
    i("i"), j("j"), k("k");

Tensor route(const Tensor &pose, const Tensor &weight) {
  std::vector<Coordinate> place{{row, 2 * row + ky}, {column, 2 * column + kx}};
  Tensor votes =
      kernel(batch, row, column, ky, kx, in, out, i, j).sum(k).of(at(pose, place) * at(weight));
  double inputs = double(weight.size(in) * weight.size(ky) * weight.size(kx)),
         outputs = double(weight.size(out));
  Names sources = over(ky, kx, in);
  Tensor mean = sum(votes, sources) * (1 / inputs), mass, share;
  for (int iteration = 0; iteration < 3; ++iteration) {
    Tensor apart = votes - mean, variance;
    if (iteration == 0) {
      variance = sum(apart * apart, sources) * (1 / inputs) + 1e-4;
      mass = constant(inputs / outputs);
    } else {
      mass = sum(share, sources) + 1e-8;
      mean = sum(share * votes, sources) / mass;
      apart = votes - mean;
      variance = sum(share * apart * apart, sources) / mass + 1e-4;
    }
    if (iteration == 2)
      break;
    Tensor halfLog = log(variance) * 0.5;
    Tensor active =
        sigmoid((1 - sum(halfLog, over(i, j)) * mass * (1 / inputs)) * double(iteration + 1));
    Tensor logits = log(active + 1e-8) - sum(apart * apart / (variance * 2) + halfLog, over(i, j));
    Tensor weights = exp(logits - max(logits, over(out)));
    share = weights / sum(weights, over(out));
  }
  return mean;
}
} // namespace

void bench::routing(const Request &request, Report &report) {
  int64_t n = request.size("n", 8), inputs = request.size("in", 32),
          outputs = request.size("out", 32);
  Tensor pose = randomTensor({{batch, n}, {row, 15}, {column, 15}, {in, inputs}, {i, 4}, {k, 4}});
  Tensor weight = randomTensor({{ky, 3}, {kx, 3}, {in, inputs}, {out, outputs}, {k, 4}, {j, 4}});
  Case work{.bench = "em-routing/" + std::to_string(n) + "x" + std::to_string(inputs) + "x" +
                     std::to_string(outputs),
            .threads = request.threads,
            .work = double(n),
            .unit = Unit::ExamplesPerSecond};
  System grouped = heddleSystem(
      request,
      [](Tensor pose, Tensor weight) {
        return group(over(batch, row, column), [&] { return route(pose, weight); });
      },
      pose, weight);
  System plain = heddleSystem(
      request, [](Tensor pose, Tensor weight) { return route(pose, weight); }, pose, weight);
  plain.name = "heddle-no-group";
  work.systems = {std::move(grouped), std::move(plain)};
  std::map<std::string, std::string> sizes{
      {"n", std::to_string(n)}, {"in", std::to_string(inputs)}, {"out", std::to_string(outputs)}};
  for (bool compiled : {false, true}) {
    if (compiled)
      sizes["way"] = "compiled";
    if (request.peers)
      for (System &peer : torchPeer("routing", sizes, request.threads))
        work.systems.push_back(std::move(peer));
  }
  report.measure(work);
}
