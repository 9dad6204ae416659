//===- SharedArena.h - memory that the ranks of a host share ----*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An anonymous file (memfd) that rank 0 creates and the others open through /proc. It has no name,
// so nothing is left behind however the ranks end. It begins with a header; the rest are the rings
// of groups, of which only used pages occupy memory.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_SHM_SHAREDARENA_H
#define HEDDLE_RUNTIME_COLLECTIVES_SHM_SHAREDARENA_H

#include "runtime/collectives/engine/World.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <sched.h>

namespace heddle::collectives {

/// When the first and the last byte arrive over an emulated network, in nanoseconds of the steady
/// clock; bytes in between arrive at a constant rate. 0: immediately.
struct Arrival {
  int64_t first = 0, last = 0;

  /// When the first `bytes` of `total` have arrived.
  int64_t of(int64_t bytes, int64_t total) const {
    return bytes == total ? last
                          : first + int64_t(double(last - first) * double(bytes) / double(total));
  }
};

/// A piece of a message in flight.
struct Slot {
  std::atomic<uint64_t> ready; ///< the number of the piece, from 1, when it is complete
  Arrival arrival;             ///< of its bytes
  char signature[32];          ///< of the message, in its first piece
  /// Not 0: the slot stands for the whole message, which is at this address in the sender.
  uint64_t address;
  char data[];
};
static_assert(sizeof(Slot) == 64);

/// A queue of pieces from one rank to another.
struct Ring {
  static constexpr int64_t slots = 8, slotBytes = 32 << 10;
  static constexpr int64_t stride = slotBytes + 64;
  static constexpr int64_t bytes = 64 + slots * stride;

  std::atomic<uint64_t> consumed; ///< pieces consumed by the receiver

  Slot &slot(uint64_t number) {
    return *reinterpret_cast<Slot *>(reinterpret_cast<char *>(this) + 64 +
                                     int64_t(number % slots) * stride);
  }
};

/// The size of a group's rings: between any two members, of two kinds.
inline int64_t groupBytes(int32_t members) { return 2 * int64_t(members) * members * Ring::bytes; }

/// The state of a rank that the others read.
struct alignas(64) RankBlock {
  std::atomic<int32_t> process;   ///< 0: it has not joined
  std::atomic<int32_t> left;      ///< its context was destroyed
  std::atomic<int32_t> sleepers;  ///< threads that sleep, or are about to
  std::atomic<uint32_t> doorbell; ///< changes when data arrives for a sleeping rank
  uint64_t probe;                 ///< the address of a known number
  std::atomic<int32_t> reads;     ///< whether it can read the memory of the others
  cpu_set_t cores;                ///< its CPU affinity
};

struct Header {
  uint64_t nonce;                         ///< of this world; detects a wrong file
  int64_t base;                           ///< offset of the rings of group 0
  std::atomic<int64_t> end;               ///< end of the allocated memory
  std::atomic<int32_t> claimed, complete; ///< state of the report below
  int32_t reporter, status;
  char text[1000];
  RankBlock ranks[];
};

/// The mapped memory; ranks that are threads of one process share it.
class Arena {
public:
  /// Throws Failure.
  static std::shared_ptr<Arena> join(World &world);
  ~Arena();

  Header &header() { return *head; }
  /// Allocates zeroed memory.
  int64_t allocate(int64_t bytes);
  /// Maps memory and returns its address in this process.
  char *at(int64_t offset, int64_t bytes);

private:
  Arena(int file, int64_t headerBytes);
  char *map(int64_t offset, int64_t bytes) const;

  const int file;
  const int64_t headerBytes;
  Header *head;
  std::mutex mutex;
  std::map<int64_t, std::pair<char *, int64_t>> mapped; ///< by offset
};

} // namespace heddle::collectives

#endif // HEDDLE_RUNTIME_COLLECTIVES_SHM_SHAREDARENA_H
