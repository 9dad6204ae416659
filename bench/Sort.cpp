//===- Sort.cpp - sorting lines, and their largest elements ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sorts values with their indices, compared with the standard library sorting pairs of both.
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"

#include <algorithm>
#include <memory>

using namespace heddle;
using namespace heddle::bench;

void bench::sorting(const Request &request, Report &report) {
  Name line("line"), n("n");
  int64_t lines = request.size("lines", 64), size = request.size("n", 8192);
  Tensor x = randomTensor({{line, lines}, {n, size}});
  std::vector<float> values = x.to<float>({line, n});
  for (int64_t kept : {size, std::min<int64_t>(size, 8)}) {
    std::string shape = std::to_string(lines) + "x" + std::to_string(size);
    Case work{.bench = (kept == size ? "sort/" : "top8/") + shape,
              .threads = request.threads,
              .work = 1,
              .unit = Unit::Milliseconds};
    work.systems.push_back(heddleSystem(
        request,
        [=](Tensor t) {
          Sorted sorted = kept == size ? sort(t, n) : topK(t, n, kept);
          return std::make_tuple(sorted.values, sorted.indices);
        },
        x));
    using Pair = std::pair<float, int64_t>;
    auto pairs = std::make_shared<std::vector<Pair>>(size_t(size));
    work.systems.push_back({.name = kept == size ? "std::stable_sort" : "std::partial_sort",
                            .once =
                                [=] {
                                  for (int64_t l = 0; l < lines; ++l) {
                                    for (int64_t i = 0; i < size; ++i)
                                      (*pairs)[size_t(i)] = {values[size_t(l * size + i)], i};
                                    if (kept == size)
                                      std::stable_sort(pairs->begin(), pairs->end());
                                    else
                                      std::partial_sort(pairs->begin(), pairs->begin() + kept,
                                                        pairs->end(), std::greater<Pair>());
                                  }
                                },
                            .peer = true});
    report.measure(work);
  }
}
