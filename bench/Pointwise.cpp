//===- Pointwise.cpp - memory-bound work ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/peers/Peers.h"

using namespace heddle;
using namespace heddle::bench;

void bench::pointwise(const Request &request, Report &report) {
  int64_t n = request.size("n", 16 << 20);
  Name x("x");
  std::string dtype = request.dtype.empty() ? "f32" : request.dtype;
  Tensor a = randomTensor({{x, n}}, dtype), b = randomTensor({{x, n}}, dtype);
  double bytes = double(byteSize(a.elementType())) * double(n);
  Case work{.bench = "add/" + std::to_string(n),
            .dtype = dtype,
            .threads = request.threads,
            .work = 3 * bytes,
            .unit = Unit::GigabytesPerSecond};
  auto add = [](Tensor a, Tensor b) { return a + b; };
  work.systems.push_back(heddleSystem(request, add, a, b));
  work.systems.push_back(symbolicSystem(request, "heddle-any-size", {x}, add, a, b));
  if (request.peers && dtype == "f32")
    for (System &peer : torchPeer("pointwise", {{"n", std::to_string(n)}}, request.threads))
      work.systems.push_back(std::move(peer));
  report.measure(work);

  int64_t side = 4096;
  Name row("row"), column("column"), height("zrow"), width("acolumn");
  Tensor m = randomTensor({{row, side}, {column, side}}, dtype);
  Case transpose{.bench = "transpose/4096",
                 .dtype = dtype,
                 .threads = request.threads,
                 .work = 2 * double(byteSize(m.elementType())) * double(side * side),
                 .unit = Unit::GigabytesPerSecond};
  // In sorted order these names are swapped, so the result is transposed in memory.
  auto turn = [=](Tensor t) { return t.rename({{row, width}, {column, height}}) * 2; };
  transpose.systems.push_back(heddleSystem(request, turn, m));
  transpose.systems.push_back(symbolicSystem(request, "heddle-any-size", {row, column}, turn, m));
  report.measure(transpose);
}

void bench::normalisation(const Request &request, Report &report) {
  int64_t rows = request.size("rows", 4096), columns = request.size("columns", 1024);
  std::string dtype = request.dtype.empty() ? "f32" : request.dtype;
  Name row("row"), wide("wide");
  Tensor x = randomTensor({{row, rows}, {wide, columns}}, dtype);
  double bytes = 2 * double(byteSize(x.elementType())) * double(rows * columns);
  auto run = [&](const char *name, auto function) {
    Case work{.bench =
                  std::string(name) + "/" + std::to_string(rows) + "x" + std::to_string(columns),
              .dtype = dtype,
              .threads = request.threads,
              .work = bytes,
              .unit = Unit::GigabytesPerSecond};
    work.systems.push_back(heddleSystem(request, function, x));
    work.systems.push_back(symbolicSystem(request, "heddle-any-size", {row, wide}, function, x));
    report.measure(work);
  };
  run("softmax", [=](Tensor x) {
    Tensor e = exp(x - max(x, over(wide)));
    return e / sum(e, over(wide));
  });
  run("layer-norm", [=](Tensor x) {
    Tensor centred = x - mean(x, over(wide));
    return centred * rsqrt(mean(centred * centred, over(wide)) + 1e-5);
  });
}
