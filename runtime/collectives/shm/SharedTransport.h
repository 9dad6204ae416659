//===- SharedTransport.h - messages through shared memory -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages are cut into pieces, which pass through a ring of slots. The sender copies a piece into
// a slot and sets the slot's number, for which the receiver waits; the receiver copies or combines
// the piece and counts it as consumed. The number shares a cache line with the first bytes, so a
// small message costs one transfer between two caches. An idle rank spins for a while and then
// sleeps on its doorbell (a futex); others ring it only if a thread sleeps.
//
// A long message occupies a single slot, which holds its address: the receiver copies it from the
// sender's memory (process_vm_readv) if the system allows that. That is one copy instead of two,
// and the sender does not take part.
//
// The emulated network derives its own transport: `arrival` delays messages.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_SHM_SHAREDTRANSPORT_H
#define HEDDLE_RUNTIME_COLLECTIVES_SHM_SHAREDTRANSPORT_H

#include "runtime/collectives/engine/Transport.h"
#include "runtime/collectives/shm/SharedArena.h"

namespace heddle::collectives {

class SharedTransport : public Transport {
  const std::shared_ptr<Arena> arena;

public:
  /// Joins the other ranks. Throws Failure.
  explicit SharedTransport(World &world);
  ~SharedTransport() override;

  int64_t pieceBytes(int64_t) const override { return Ring::slotBytes; }
  int64_t newGroup(int32_t members) override { return arena->allocate(groupBytes(members)); }
  std::unique_ptr<Channel> channel(int64_t group, const std::vector<int32_t> &ranks, int32_t self,
                                   int kind) override;
  void report(const Failure &failure) override;
  std::optional<Failure> reported() override;
  std::optional<std::string> gone(int32_t rank) override;
  uint32_t ticket() override;
  void cancel() override;
  void sleep(uint32_t ticket, std::chrono::nanoseconds limit) override;
  void wake() override { ring(rank); }

  /// When bytes that are sent to a rank now arrive.
  virtual Arrival arrival(int32_t /*to*/, int64_t /*bytes*/) { return {}; }
  /// Called when the receiver finds bytes that arrive at this time.
  virtual void expect(int64_t /*arrival*/) {}
  /// Copies memory of another rank; false if it can't be read (any more).
  bool read(int32_t other, uint64_t address, char *to, int64_t bytes);
  /// True if a rank can read the memory of this one.
  bool isReadBy(int32_t other) { return block(other).reads; }
  /// Wakes a rank if it sleeps.
  void ring(int32_t other);

protected:
  RankBlock &block(int32_t of) { return arena->header().ranks[of]; }
  /// Emulates a death: reports nothing to the others.
  bool silent = false;

private:
  std::vector<int> processes; ///< a descriptor of each rank's process; -1: none
};

} // namespace heddle::collectives

#endif // HEDDLE_RUNTIME_COLLECTIVES_SHM_SHAREDTRANSPORT_H
