//===- Peers.h - other systems on the same work -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function returns those systems that are installed, possibly none. Peers run under favourable
// conditions: oneDNN chooses its layouts, and the conversion of operands is not timed.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_BENCH_PEERS_PEERS_H
#define HEDDLE_BENCH_PEERS_PEERS_H

#include "bench/Bench.h"

namespace heddle::bench {

struct MatmulShape {
  int64_t m, n, k;
};
struct ConvolutionShape {
  int64_t batch, in, out, row, column, window, stride;
  int64_t rows() const { return (row + stride - 1) / stride; }
  int64_t columns() const { return (column + stride - 1) / stride; }
  double flops() const {
    return 2.0 * double(batch * out * rows() * columns() * in * window * window);
  }
};
enum class Direction { Forward, Data, Weight };

std::vector<System> oneDnnMatmul(const MatmulShape &shape, const std::string &dtype, int threads);
std::vector<System> oneDnnConvolution(const ConvolutionShape &shape, Direction direction,
                                      const std::string &dtype, int threads);

/// PyTorch, eager, in a separate process (`bench/peers/torch_peer.py`), if `python3` (or
/// $HEDDLE_PEER_PYTHON) has it. `workload` is one that the script supports. `tuned`: with an
/// allocator that keeps freed memory and uses huge pages (jemalloc); none if that isn't installed.
std::vector<System> torchPeer(const std::string &workload,
                              const std::map<std::string, std::string> &settings, int threads,
                              bool tuned = false);

} // namespace heddle::bench

#endif // HEDDLE_BENCH_PEERS_PEERS_H
