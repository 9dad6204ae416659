//===- Convolution.cpp - convolutions and their gradients -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/Cases.h"
#include "bench/peers/Peers.h"

using namespace heddle;
using namespace heddle::bench;

static Tensor convolve(const Tensor &x, const Tensor &w, int64_t window, int64_t stride) {
  Name row("row"), column("column"), ky("ky"), kx("kx");
  WindowOptions options{.size = window, .stride = stride, .padding = Same};
  return sum(x.window(row, ky, options).window(column, kx, options) * w, over(Name("in"), ky, kx));
}

static void one(const Request &request, Report &report, const ConvolutionShape &s,
                Direction direction) {
  std::string dtype = request.dtype.empty() ? "f32" : request.dtype;
  Name batch("batch"), row("row"), column("column"), in("in"), out("out"), ky("ky"), kx("kx");
  Tensor x = randomTensor({{batch, s.batch}, {row, s.row}, {column, s.column}, {in, s.in}}, dtype);
  Tensor w = randomTensor({{ky, s.window}, {kx, s.window}, {in, s.in}, {out, s.out}}, dtype);
  Tensor dy =
      randomTensor({{batch, s.batch}, {row, s.rows()}, {column, s.columns()}, {out, s.out}}, dtype);
  const char *directions[] = {"forward", "data", "weight"};
  auto text = [](int64_t size) { return std::to_string(size); };
  Case work{.bench = "conv/" + text(s.in) + "x" + text(s.out) + "x" + text(s.row) + "x" +
                     text(s.column) + "k" + text(s.window) +
                     (s.stride == 1 ? "" : "s" + text(s.stride)) + "b" + text(s.batch) + "/" +
                     directions[int(direction)],
            .dtype = dtype,
            .threads = request.threads,
            .work = s.flops()};
  int64_t window = s.window, stride = s.stride;
  Names all = over(batch, row, column, out);
  auto scalar = [=](const Tensor &x, const Tensor &w, const Tensor &dy) {
    return sum(convolve(x, w, window, stride) * dy, all);
  };
  auto add = [&](auto function, auto... arguments) {
    work.systems.push_back(heddleSystem(request, function, arguments...));
    work.systems.push_back(
        symbolicSystem(request, "heddle-any-batch", {batch}, function, arguments...));
    if (stride == 1)
      work.systems.push_back(symbolicSystem(request, "heddle-any-size",
                                            {batch, row, column, in, out}, function, arguments...));
  };
  if (direction == Direction::Forward)
    add([=](Tensor x, Tensor w) { return convolve(x, w, window, stride); }, x, w);
  else if (direction == Direction::Data) // the gradient by x doesn't read x; only its type matters
    add([=](Tensor x, Tensor w,
            Tensor dy) { return grad([&](Tensor x) { return scalar(x, w, dy); }, x); },
        x, w, dy);
  else
    add([=](Tensor x, Tensor w,
            Tensor dy) { return grad([&](Tensor w) { return scalar(x, w, dy); }, w); },
        x, w, dy);
  if (request.peers)
    for (System &peer : oneDnnConvolution(s, direction, dtype, request.threads))
      work.systems.push_back(std::move(peer));
  report.measure(work);
}

void bench::convolution(const Request &request, Report &report) {
  std::vector<ConvolutionShape> shapes{{16, 64, 64, 56, 56, 3, 1}, {16, 256, 256, 14, 14, 3, 1}};
  if (!request.shape.empty())
    shapes = {{request.size("batch", 16), request.size("in", 64), request.size("out", 64),
               request.size("row", 56), request.size("column", 56), request.size("window", 3),
               request.size("stride", 1)}};
  for (const ConvolutionShape &shape : shapes)
    for (Direction direction : {Direction::Forward, Direction::Data, Direction::Weight})
      one(request, report, shape, direction);
}
