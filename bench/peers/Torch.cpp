//===- Torch.cpp - PyTorch in another process -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "bench/peers/Peers.h"
#include "bench/peers/Process.h"

using namespace heddle;
using namespace heddle::bench;

std::vector<System> bench::torchPeer(const std::string &workload,
                                     const std::map<std::string, std::string> &settings,
                                     int threads, bool tuned) {
  std::vector<std::string> command{peerPython(), HEDDLE_BENCH_PEERS "/torch_peer.py", workload,
                                   "threads=" + std::to_string(threads)};
  if (tuned)
    command = tunedAllocation(command);
  for (const auto &[name, value] : settings)
    command.push_back(name + "=" + value);
  auto process = std::make_shared<Process>(command);
  std::string name = process->line(); // "torch-2.9.0" once it is ready
  if (name.rfind("torch", 0) != 0 || tuned != name.ends_with("+tuned"))
    return {};
  return {systemOf(process, name, /*peer=*/true)};
}
