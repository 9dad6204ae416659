//===- Net.cpp - the engine net -------------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The engine shm, in which each message (or piece of one) carries an arrival time: a link sends one
// message after another at its rate, and each message is delayed by the latency. Reports of
// failures are not delayed.
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/engine/CollectivePhases.h"
#include "runtime/collectives/net/Network.h"
#include "runtime/collectives/shm/SharedTransport.h"

#include <csignal>
#include <unistd.h>

using namespace heddle;
using namespace heddle::collectives;

const char heddle::collectives::engineName[] = "net";

static int64_t now() { return Clock::now().time_since_epoch().count(); }

namespace {
class NetTransport : public SharedTransport {
public:
  NetTransport(World &world, Network given)
      : SharedTransport(world), network(std::move(given)), timeout(world.timeout),
        free(size_t(size)) {}

  Arrival arrival(int32_t to, int64_t bytes) override {
    const Link &link = network.links[size_t(rank * size + to)];
    int64_t &until = free[size_t(to)], begin = std::max(until, now());
    until = begin + (link.rate > 0 ? int64_t(double(bytes) / link.rate) : 0);
    return {begin + int64_t(link.latency), until + int64_t(link.latency)};
  }

  void expect(int64_t arrival) override {
    if (arrival < next || next <= now())
      next = arrival;
  }

  void sleep(uint32_t ticket, std::chrono::nanoseconds limit) override {
    using std::chrono::nanoseconds;
    // Do not wake for each piece: a ring holds several, and compute threads need the cores.
    constexpr nanoseconds least = std::chrono::microseconds(50);
    nanoseconds until(next - now());
    SharedTransport::sleep(ticket,
                           until.count() > 0 ? std::min(limit, std::max(until, least)) : limit);
  }

  std::optional<std::string> gone(int32_t other) override {
    return next > now() ? std::nullopt : SharedTransport::gone(other); // data is in flight
  }

  void starting(const HeddlePending &operation) override {
    if (!operation.title.empty())
      return; // an internal operation that creates a group
    ++started;
    for (const Fault &fault : network.faults)
      if (fault.rank == rank && fault.operation == started)
        suffer(fault.kind, operation);
  }

private:
  const Network network;
  const double timeout;
  std::vector<int64_t> free;    ///< until when the link to each rank is busy
  std::atomic<int64_t> next{0}; ///< the next known arrival
  int64_t started = 0;

  void suffer(FaultKind kind, const HeddlePending &operation) {
    double pause = kind == FaultKind::Delay ? network.delay : 4 * timeout;
    if (kind != FaultKind::Death) {
      pausedUntil = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(pause));
      return;
    }
    bool hasOwnProcess = true; // no other rank in this process
    for (int32_t other = 0; other < size; ++other)
      hasOwnProcess &= other == rank || block(other).process != getpid();
    if (hasOwnProcess && size > 1)
      kill(getpid(), SIGKILL);
    silent = true;
    block(rank).left = 1;
    throw Failure(HEDDLE_DEAD, operation.describe(), ": rank ", rank,
                  " died, as the emulated network says");
  }
};
} // namespace

std::unique_ptr<Transport> heddle::collectives::openTransport(World &world) {
  std::string file = world.option("network");
  std::optional<uint64_t> seed;
  if (!world.option("seed").empty())
    seed = uint64_t(world.number("seed", 0));
  world.refuseOtherOptions();
  return std::make_unique<NetTransport>(world, Network::read(file, world.size, seed));
}
