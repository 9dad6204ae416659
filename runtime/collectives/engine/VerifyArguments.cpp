//===- VerifyArguments.cpp - the arguments of operations ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/engine/CollectivePhases.h"
#include "runtime/format/Communication.h"

#include <numeric>
#include <tuple>

using namespace heddle;
using namespace heddle::collectives;

/// Throws Failure, with the concatenated parts as its message, unless the condition holds.
template <typename... Parts>
static void require(bool holds, const HeddleOperation &call, const Parts &...parts) {
  if (!holds)
    throw Failure(HEDDLE_INVALID, communicationKinds[call.kind], ": ", parts...);
}

/// The sum of `length` counts.
static int64_t verifyCounts(const HeddleOperation &call, const int64_t *counts, int32_t length) {
  require(counts, call, "expected counts, got null");
  constexpr int64_t most = int64_t(1) << 50;
  int64_t sum = 0;
  for (int32_t i = 0; i < length; ++i)
    require(counts[i] >= 0 && counts[i] <= most && (sum += counts[i]) <= most, call,
            "expected counts of 0 to 2^50 elements, got ", counts[i]);
  return sum;
}

void collectives::verify(const HeddleOperation &call, int32_t members, int32_t self) {
  if (call.kind < HEDDLE_BARRIER || call.kind > HEDDLE_RECEIVE)
    throw Failure(HEDDLE_INVALID, "there is no operation ", call.kind);
  bool isHost = !call.space || std::strcmp(call.space, "host") == 0;
  require(isHost && !call.stream, call,
          "this engine knows only memory of the host, got the space '",
          call.space ? call.space : "host", call.stream ? "' and a stream" : "'");
  if (call.kind == HEDDLE_BARRIER)
    return;
  bool permutes = call.kind == HEDDLE_PERMUTE, byMember = isByMember(call.kind),
       receives = call.kind == HEDDLE_RECEIVE, sends = call.kind == HEDDLE_SEND,
       broadcasts = call.kind == HEDDLE_BROADCAST;
  require(call.element >= 0 && size_t(call.element) < std::size(heddle::detail::elementTypes), call,
          "there is no element type ", call.element);
  require(!reduces(call.kind) || (call.combiner >= HEDDLE_SUM && call.combiner <= HEDDLE_MIN), call,
          "there is no combiner ", call.combiner);
  int64_t in = verifyCounts(call, call.counts, byMember ? members : 1), out = in;
  if (hasOutputCounts(call.kind))
    out = verifyCounts(call, call.outputCounts, byMember ? members : 1);
  for (auto [isUsed, what, member] : {std::tuple(permutes || sends, "target", call.target),
                                      {permutes || receives || broadcasts, "source", call.source}})
    require(!isUsed || (member >= -permutes && member < members), call, "expected a ", what, " of ",
            -permutes, " to ", members - 1, ", got ", member);
  require(!(sends && call.target == self) && !(receives && call.source == self), call, "member ",
          self, " can't exchange messages with itself");
  require(!permutes || (call.target == self) == (call.source == self), call, "member ", self,
          " is its own target or source, not both");
  bool keeps = call.kind == HEDDLE_ALL_TO_ALL || (permutes && call.target == self);
  int32_t own = byMember ? self : 0;
  require(!keeps || call.counts[own] == call.outputCounts[own], call, "member ", self,
          " sends itself another count than it receives");
  if (call.kind == HEDDLE_ALL_GATHER)
    in = call.counts[self];
  if (call.kind == HEDDLE_REDUCE_SCATTER)
    out = call.counts[self];
  if (receives || (broadcasts && call.source != self) || (permutes && call.target < 0))
    in = 0;
  if (sends || (permutes && call.source < 0) || (broadcasts && call.source == self))
    out = 0;
  require((in == 0 || call.input) && (out == 0 || call.output), call, "expected memory, got null");
  // Input and output may be equal, or one may be this member's part of the other.
  int64_t bytes = byteSize(ElementType(call.element));
  auto *input = static_cast<const char *>(call.input);
  auto *output = static_cast<const char *>(call.output);
  int64_t before = byMember ? std::accumulate(call.counts, call.counts + self, int64_t(0)) : 0;
  bool isPart = call.kind == HEDDLE_ALL_GATHER       ? input == output + before * bytes
                : call.kind == HEDDLE_REDUCE_SCATTER ? output == input + before * bytes
                : call.kind == HEDDLE_ALL_REDUCE     ? input == output
                                                     : false;
  bool overlaps = input < output + out * bytes && output < input + in * bytes;
  require(in == 0 || out == 0 || isPart || !overlaps, call, "input and output overlap");
}
