//===- SharedTransport.cpp - messages through shared memory ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/shm/SharedTransport.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>

using namespace heddle;
using namespace heddle::collectives;

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

namespace {
class SharedChannel : public Channel {
public:
  SharedChannel(SharedTransport &transport, char *rings, const std::vector<int32_t> &ranks,
                int32_t self)
      : transport(transport) {
    auto ringOf = [&](int64_t from, int64_t to) {
      return reinterpret_cast<Ring *>(rings + (from * int64_t(ranks.size()) + to) * Ring::bytes);
    };
    for (int32_t member = 0; member < int32_t(ranks.size()); ++member)
      peers.push_back({ranks[size_t(member)], ringOf(self, member), ringOf(member, self)});
  }

  void send(Message &message) override {
    Peer &peer = peers[size_t(message.member)];
    if (peer.whole) { // the receiver consumes the slot after reading all of it
      peer.consumed = peer.out->consumed.load(std::memory_order_acquire);
      if (peer.consumed >= peer.whole) {
        peer.whole = 0;
        message.done = message.bytes;
      }
      return;
    }
    bool sent = false, whole = message.done == 0 && isWhole(message, peer.rank);
    while (!message.finished()) {
      if (peer.sent - peer.consumed == Ring::slots) {
        peer.consumed = peer.out->consumed.load(std::memory_order_acquire);
        if (peer.sent - peer.consumed == Ring::slots)
          break;
      }
      Slot &slot = peer.out->slot(peer.sent);
      std::memcpy(slot.signature, &message.signature, sizeof message.signature);
      message.begun = true;
      int64_t bytes = std::min(Ring::slotBytes, message.bytes - message.done);
      slot.address = whole ? reinterpret_cast<uint64_t>(message.data) : 0;
      slot.arrival = transport.arrival(peer.rank, whole ? message.bytes : bytes);
      if (whole) {
        slot.ready.store(peer.whole = ++peer.sent, std::memory_order_release);
        transport.ring(peer.rank);
        return;
      }
      std::copy_n(message.data + message.done, bytes, slot.data); // data may be null
      message.done += bytes;
      slot.ready.store(++peer.sent, std::memory_order_release);
      sent = true;
    }
    if (sent)
      transport.ring(peer.rank);
  }

  void receive(Message &message) override {
    Peer &peer = peers[size_t(message.member)];
    while (!message.finished()) {
      int64_t at = message.done, bytes = std::min(Ring::slotBytes, message.bytes - at);
      Slot *slot = arrived(message, peer, 0);
      if (!slot)
        return;
      if (slot->address) {
        bytes = std::min(copyBytes, message.bytes - at);
        if (!arrived(message, peer, bytes) ||
            !transport.read(peer.rank, slot->address + uint64_t(at), message.data + at, bytes))
          return;
      } else {
        std::copy_n(slot->data, bytes, message.data + at);
      }
      drop(message, bytes);
    }
  }

  const char *peek(Message &message, int64_t bytes) override {
    Peer &peer = peers[size_t(message.member)];
    Slot *slot = arrived(message, peer, 0);
    if (!slot || !slot->address)
      return slot ? slot->data : nullptr;
    // Read a few pieces at a time, which stay in the cache.
    int64_t at = message.done;
    if (at < peer.copied.first || at + bytes > peer.copied.second) {
      int64_t length = std::min(copyBytes, message.bytes - at);
      peer.copy.resize(size_t(copyBytes));
      peer.copied = {at, at + length};
      if (!arrived(message, peer, length) ||
          !transport.read(peer.rank, slot->address + uint64_t(at), peer.copy.data(), length)) {
        peer.copied = {};
        return nullptr;
      }
    }
    return peer.copy.data() + (at - peer.copied.first);
  }

  void drop(Message &message, int64_t bytes) override {
    Peer &peer = peers[size_t(message.member)];
    message.done += bytes;
    if (peer.in->slot(peer.received).address && message.done < message.bytes)
      return;
    peer.copied = {};
    peer.in->consumed.store(++peer.received, std::memory_order_release);
    transport.ring(peer.rank);
  }

private:
  static constexpr int64_t wholeBytes = splitBytes, copyBytes = 512 << 10;
  struct Peer {
    int32_t rank;
    Ring *out, *in;
    uint64_t sent = 0, consumed = 0, received = 0; ///< numbers of pieces; `consumed`: last seen
    uint64_t whole = 0;                            ///< the slot that holds an address
    std::vector<char> copy = {};
    std::pair<int64_t, int64_t> copied = {}; ///< the range of the message in `copy`
  };
  SharedTransport &transport;
  std::vector<Peer> peers;

  bool isWhole(const Message &message, int32_t to) const {
    return message.bytes >= wholeBytes && transport.isReadBy(to);
  }

  /// The slot of the next `bytes` of a message, or null if they have not arrived.
  Slot *arrived(Message &message, Peer &peer, int64_t bytes) {
    Slot &slot = peer.in->slot(peer.received);
    if (slot.ready.load(std::memory_order_acquire) != peer.received + 1)
      return nullptr;
    int64_t time =
        slot.address ? slot.arrival.of(message.done + bytes, message.bytes) : slot.arrival.last;
    if (time > 0 && time > Clock::now().time_since_epoch().count()) {
      transport.expect(time);
      return nullptr;
    }
    if (message.done == 0) {
      Signature signature;
      std::memcpy(&signature, slot.signature, sizeof signature);
      message.hear(signature);
    }
    return &slot;
  }
};
} // namespace

std::unique_ptr<Channel> SharedTransport::channel(int64_t group, const std::vector<int32_t> &ranks,
                                                  int32_t self, int kind) {
  int64_t bytes = groupBytes(int32_t(ranks.size()));
  char *rings = arena->at(group ? group : arena->header().base, bytes);
  return std::make_unique<SharedChannel>(*this, rings + kind * bytes / 2, ranks, self);
}

//===----------------------------------------------------------------------===//
// Other ranks
//===----------------------------------------------------------------------===//

SharedTransport::SharedTransport(World &world) : arena(Arena::join(world)) {
  rank = world.rank;
  size = world.size;
  sched_getaffinity(0, sizeof(cpu_set_t), &block(rank).cores);
  static const uint64_t probe = 0x6865646c;
  block(rank).probe = reinterpret_cast<uint64_t>(&probe);
  block(rank).process = getpid();
  auto end = Clock::now() + std::chrono::duration<double>(world.timeout);
  for (int32_t other = 0; other < size; ++other)
    while (block(other).process == 0) {
      if (Clock::now() > end)
        throw Failure(HEDDLE_TIMEOUT, "rank ", other, " did not join within ",
                      seconds(world.timeout), " s");
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int32_t other = 0; other < size; ++other) {
    CPU_OR(&cores, &cores, &block(other).cores);
    int32_t process = block(other).process;
    processes.push_back(process == getpid() ? -1 : int(syscall(SYS_pidfd_open, process, 0)));
  }
  crowded = CPU_COUNT(&cores) < size;
  // Containers may forbid it.
  bool all = true;
  for (int32_t other = 0; other < size; ++other) {
    uint64_t found = 0;
    all &= read(other, block(other).probe, reinterpret_cast<char *>(&found), sizeof found) &&
           found == probe;
  }
  block(rank).reads = all;
}

bool SharedTransport::read(int32_t other, uint64_t address, char *to, int64_t bytes) {
  while (bytes > 0) { // the system limits how much it copies at a time
    iovec local{.iov_base = to, .iov_len = size_t(bytes)};
    iovec remote{.iov_base = reinterpret_cast<void *>(address), .iov_len = size_t(bytes)};
    ssize_t got = process_vm_readv(block(other).process, &local, 1, &remote, 1, 0);
    if (got <= 0)
      return false;
    to += got;
    address += uint64_t(got);
    bytes -= got;
  }
  return true;
}

SharedTransport::~SharedTransport() {
  block(rank).left = 1;
  for (int32_t other = 0; other < size; ++other) {
    ring(other);
    if (processes[size_t(other)] >= 0)
      close(processes[size_t(other)]);
  }
}

void SharedTransport::report(const Failure &failure) {
  Header &header = arena->header();
  if (silent || header.claimed.exchange(1))
    return;
  header.reporter = rank;
  header.status = failure.status;
  std::strncpy(header.text, failure.text.c_str(), sizeof header.text - 1);
  header.complete.store(1, std::memory_order_release);
  for (int32_t other = 0; other < size; ++other)
    ring(other);
}

std::optional<Failure> SharedTransport::reported() {
  Header &header = arena->header();
  if (header.complete.load(std::memory_order_acquire) == 0 || header.reporter == rank)
    return std::nullopt;
  return Failure(header.status, "rank ", header.reporter, " reports: ", header.text);
}

std::optional<std::string> SharedTransport::gone(int32_t other) {
  if (block(other).left)
    return "it left";
  std::string name = "its process " + std::to_string(block(other).process) + " ended";
  pollfd entry{.fd = processes[size_t(other)], .events = POLLIN, .revents = 0};
  if (entry.fd >= 0)
    return poll(&entry, 1, 0) == 1 ? std::optional(name) : std::nullopt;
  // No process descriptors (Linux before 5.3): a zombie appears alive.
  return kill(block(other).process, 0) != 0 && errno == ESRCH ? std::optional(name) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sleep
//===----------------------------------------------------------------------===//

void SharedTransport::ring(int32_t other) {
  // A rank either sees the data that was stored before, or is seen here as sleeping.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  RankBlock &theirs = block(other);
  if (theirs.sleepers.load(std::memory_order_relaxed) == 0)
    return;
  theirs.doorbell.fetch_add(1);
  syscall(SYS_futex, &theirs.doorbell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

uint32_t SharedTransport::ticket() {
  block(rank).sleepers.fetch_add(1);
  uint32_t current = block(rank).doorbell.load();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return current;
}

void SharedTransport::cancel() { block(rank).sleepers.fetch_sub(1); }

void SharedTransport::sleep(uint32_t ticket, std::chrono::nanoseconds limit) {
  timespec time{.tv_sec = limit.count() / 1000000000, .tv_nsec = limit.count() % 1000000000};
  syscall(SYS_futex, &block(rank).doorbell, FUTEX_WAIT, ticket, &time, nullptr, 0);
  block(rank).sleepers.fetch_sub(1);
}
