//===- CollectivePhases.h - an operation that was started -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operation is a sequence of phases. In a phase a member sends at most one message to each other
// member and receives at most one from each; some phases combine the received messages:
//
//     all-reduce     send everything to all, combine; if it is large:
//                    send block i to member i, combine; send the own block to all
//     broadcast      the root sends to all; if it is large:
//                    the root sends block i to member i; all send their block to all
//     others         one phase
//
// In the first phase of a collective every pair of members exchanges messages, empty if need be. So
// each member hears from every other, and detects members that are missing or make different calls.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_COLLECTIVES_ENGINE_COLLECTIVEPHASES_H
#define HEDDLE_RUNTIME_COLLECTIVES_ENGINE_COLLECTIVEPHASES_H

#include "heddle/ElementType.h"
#include "runtime/collectives/engine/Transport.h"

#include <deque>
#include <set>

namespace heddle::collectives {

/// The operation has one count per member.
inline bool isByMember(int32_t kind) {
  return kind == HEDDLE_REDUCE_SCATTER || kind == HEDDLE_ALL_GATHER || kind == HEDDLE_ALL_TO_ALL;
}
/// The operation has counts of the output too.
inline bool hasOutputCounts(int32_t kind) {
  return kind == HEDDLE_ALL_TO_ALL || kind == HEDDLE_PERMUTE;
}
inline bool reduces(int32_t kind) {
  return kind == HEDDLE_ALL_REDUCE || kind == HEDDLE_REDUCE_SCATTER;
}

/// Operations that a member runs in sequence, in the order in which they were started.
struct Lane {
  Channel *channel = nullptr;
  std::deque<HeddlePending *> operations = {};
  int64_t count = 0; ///< operations started so far
};

/// output[i] = ((inputs[0][i] . inputs[1][i]) . inputs[2][i]) ..., where . is the combiner
/// (HEDDLE_SUM, ...), as Collectives.h says. `output` may be one of the inputs. An element's value
/// depends neither on its position nor on `count`.
void combine(ElementType type, int32_t combiner, const void *const *inputs, int members,
             void *output, int64_t count);

/// Throws Failure unless the arguments are valid in a group of `members`, in which this one is
/// `self`.
void verify(const HeddleOperation &call, int32_t members, int32_t self);

} // namespace heddle::collectives

struct HeddleGroup {
  HeddleContext *context;
  std::string name;
  std::vector<int32_t> ranks;
  int32_t self;
  std::unique_ptr<heddle::collectives::Channel> channels[2] = {};
  heddle::collectives::Lane collective = {};
  std::vector<heddle::collectives::Lane> sends = {}, receives = {}; ///< by the other member

  int32_t members() const { return int32_t(ranks.size()); }
};

struct HeddlePending {
  using Message = heddle::collectives::Message;

  HeddleGroup *group = nullptr;
  HeddleOperation call{};
  int64_t number = 0; ///< in its lane, from 1
  std::string title;  ///< for messages; empty: derived from the other fields
  heddle::collectives::Lane *lane = nullptr;
  bool done = false;
  heddle::collectives::Clock::time_point moved{}; ///< approximate time of the last progress

  /// Prepares the first phase; the fields above have to be set. Copies the counts.
  void prepare(const heddle::collectives::Transport &transport);
  /// Makes progress, and sets `done` when complete. True if anything moved. Throws Failure.
  bool advance();
  /// "all-reduce #12 of group data"
  std::string describe() const;
  /// Describes the ranks that it waits for: "rank 1 did not arrive".
  std::string late() const;
  /// The ranks that it waits for.
  std::set<int32_t> awaited() const;
  /// Throws the failure for a member that made a different call.
  [[noreturn]] void refuse(const Message &message,
                           const heddle::collectives::Signature &arrived) const;

private:
  struct Part {
    const char *data = nullptr;
    int64_t bytes = 0;
  };

  heddle::ElementType element{};
  int64_t elementBytes = 1, elements = 0;
  const heddle::collectives::Transport *transport = nullptr;
  std::vector<int64_t> counts, outputCounts; ///< of elements, as in `call`
  heddle::collectives::Signature signature{};
  bool isSplit = false; ///< into one block per member

  int phase = 0, phases = 1;
  bool begun = false; ///< the current phase:
  std::vector<Message> sends, receives;
  bool combines = false;
  const char *own = nullptr; ///< this member's input of the combination
  char *output = nullptr;
  int64_t combined = 0, combinedBytes = 0, pieceBytes = 0;
  std::vector<const void *> inputs; ///< the members' next pieces, null if they have not arrived

  Part block(const void *memory, int32_t member) const;
  Part part(const void *memory, const std::vector<int64_t> &sizes, int32_t member) const;
  Part outgoing(int32_t member) const;
  Part incoming(int32_t member) const;
  void beginPhase();
  void add(std::vector<Message> &list, int32_t member, Part part);
  bool combinePieces();
  std::set<int32_t> awaited(const std::vector<Message> &list, bool unheard = false) const;
};

#endif // HEDDLE_RUNTIME_COLLECTIVES_ENGINE_COLLECTIVEPHASES_H
