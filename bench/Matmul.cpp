//===- Matmul.cpp - matrix products ---------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/peers/Peers.h"

using namespace heddle;
using namespace heddle::bench;

static void one(const Request &request, Report &report, const MatmulShape &s) {
  std::string dtype = request.dtype.empty() ? "f32" : request.dtype;
  Name row("row"), column("column"), inner("inner");
  Tensor a = randomTensor({{row, s.m}, {inner, s.k}}, dtype),
         b = randomTensor({{inner, s.k}, {column, s.n}}, dtype);
  Case work{.bench = "matmul/" + std::to_string(s.m) + "x" + std::to_string(s.n) + "x" +
                     std::to_string(s.k),
            .dtype = dtype,
            .threads = request.threads,
            .work = 2.0 * double(s.m) * double(s.n) * double(s.k)};
  auto product = [=](Tensor a, Tensor b) { return sum(a * b, over(Name("inner"))); };
  work.systems.push_back(heddleSystem(request, product, a, b));
  work.systems.push_back(
      symbolicSystem(request, "heddle-any-size", {row, column, inner}, product, a, b));
  if (request.peers) {
    for (System &peer : oneDnnMatmul(s, dtype, request.threads))
      work.systems.push_back(std::move(peer));
    for (System &peer : torchPeer("matmul",
                                  {{"m", std::to_string(s.m)},
                                   {"n", std::to_string(s.n)},
                                   {"k", std::to_string(s.k)},
                                   {"dtype", dtype}},
                                  request.threads))
      work.systems.push_back(std::move(peer));
  }
  report.measure(work);
}

void bench::matmul(const Request &request, Report &report) {
  if (!request.shape.empty())
    return one(request, report,
               {request.size("M", 512), request.size("N", 512), request.size("K", 512)});
  for (int64_t size : {512, 1024, 2048})
    one(request, report, {size, size, size});
}
