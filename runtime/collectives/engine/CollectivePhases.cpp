//===- CollectivePhases.cpp - an operation that was started ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/engine/CollectivePhases.h"

#include "runtime/format/Communication.h"

#include <algorithm>
#include <numeric>

using namespace heddle;
using namespace heddle::collectives;

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

void HeddlePending::prepare(const Transport &of) {
  transport = &of;
  size_t members = size_t(group->members());
  int32_t kind = call.kind;
  bool byMember = isByMember(kind);
  counts.clear();
  outputCounts.clear();
  if (kind != HEDDLE_BARRIER)
    counts.assign(call.counts, call.counts + (byMember ? members : 1));
  if (hasOutputCounts(kind))
    outputCounts.assign(call.outputCounts, call.outputCounts + (byMember ? members : 1));
  element = kind == HEDDLE_BARRIER ? ElementType::UI8 : ElementType(call.element);
  elementBytes = byteSize(element);
  elements = std::accumulate(counts.begin(), counts.end(), int64_t(0));
  isSplit = elements * elementBytes >= splitBytes &&
            (kind == HEDDLE_ALL_REDUCE || (kind == HEDDLE_BROADCAST && members > 2));
  phases = isSplit ? 2 : 1;
  uint32_t hash = 0;
  if (byMember && kind != HEDDLE_ALL_TO_ALL)
    for (int64_t count : counts)
      hash = (hash ^ uint32_t(count) ^ uint32_t(count >> 32)) * 16777619u;
  signature = {.number = number,
               .elements = elements,
               .counts = hash,
               .root = kind == HEDDLE_BROADCAST ? call.source : -1,
               .kind = uint8_t(kind == HEDDLE_RECEIVE ? HEDDLE_SEND : kind),
               .element = uint8_t(element),
               .combiner = uint8_t(reduces(kind) ? call.combiner : 0)};
  if (kind == HEDDLE_BROADCAST && call.source == group->self && call.output && elements > 0)
    std::memmove(call.output, call.input, size_t(elements * elementBytes));
  sends.clear();
  receives.clear();
  done = begun = false;
  phase = 0;
}

/// A member's block of a buffer that is split evenly.
HeddlePending::Part HeddlePending::block(const void *memory, int32_t member) const {
  int64_t size = (elements + group->members() - 1) / group->members();
  int64_t begin = std::min(member * size, elements), end = std::min(begin + size, elements);
  return {static_cast<const char *>(memory) + begin * elementBytes, (end - begin) * elementBytes};
}

/// A member's part of a buffer that has one part per member.
HeddlePending::Part HeddlePending::part(const void *memory, const std::vector<int64_t> &sizes,
                                        int32_t member) const {
  int64_t begin = std::accumulate(sizes.begin(), sizes.begin() + member, int64_t(0));
  return {static_cast<const char *>(memory) + begin * elementBytes,
          sizes[size_t(member)] * elementBytes};
}

/// The bytes that this rank sends to a member in this phase. It copies or combines its own part.
HeddlePending::Part HeddlePending::outgoing(int32_t member) const {
  int32_t self = group->self;
  Part all{static_cast<const char *>(call.input), elements * elementBytes};
  switch (call.kind) {
  case HEDDLE_ALL_REDUCE:
    return !isSplit ? all : phase == 0 ? block(call.input, member) : block(call.output, self);
  case HEDDLE_REDUCE_SCATTER:
  case HEDDLE_ALL_TO_ALL:
    return part(call.input, counts, member);
  case HEDDLE_ALL_GATHER:
    return {all.data, counts[size_t(self)] * elementBytes};
  case HEDDLE_BROADCAST:
    if (member == self || (phase == 0 && self != call.source) ||
        (phase == 1 && member == call.source))
      return {};
    return !isSplit
               ? all
               : block(self == call.source ? call.input : call.output, phase == 0 ? member : self);
  case HEDDLE_PERMUTE:
  case HEDDLE_SEND:
    return member == call.target ? all : Part{};
  default:
    return {};
  }
}

/// The buffer for a member's bytes in this phase. For a reduction only its size is used.
HeddlePending::Part HeddlePending::incoming(int32_t member) const {
  int32_t self = group->self;
  Part all{static_cast<char *>(call.output), elements * elementBytes};
  switch (call.kind) {
  case HEDDLE_ALL_REDUCE:
    return !isSplit ? all : block(call.output, phase == 0 ? self : member);
  case HEDDLE_REDUCE_SCATTER:
    return {all.data, counts[size_t(self)] * elementBytes};
  case HEDDLE_ALL_TO_ALL:
    return part(call.output, outputCounts, member);
  case HEDDLE_ALL_GATHER:
    return part(call.output, counts, member);
  case HEDDLE_BROADCAST:
    if (member == self || self == call.source || (phase == 0 && member != call.source))
      return {};
    return !isSplit ? all : block(call.output, phase == 0 ? self : member);
  case HEDDLE_PERMUTE:
    return member == call.source ? Part{all.data, outputCounts[0] * elementBytes} : Part{};
  case HEDDLE_RECEIVE:
    return member == call.source ? all : Part{};
  default:
    return {};
  }
}

void HeddlePending::add(std::vector<Message> &list, int32_t member, Part part) {
  bool isFirst = phase == 0;
  if (!isFirst && part.bytes == 0)
    return;
  bool isReceived = &list == &receives;
  Message message{.operation = this,
                  .member = member,
                  .data = isReceived && combines ? nullptr : const_cast<char *>(part.data),
                  .bytes = part.bytes,
                  .signature = signature,
                  .isSigned = isFirst,
                  .pieceBytes = combines ? transport->pieceBytes(part.bytes) : 0,
                  .begun = !isFirst};
  if (hasOutputCounts(call.kind))
    message.signature.elements = part.bytes / elementBytes;
  list.push_back(message);
}

void HeddlePending::beginPhase() {
  int32_t self = group->self;
  sends.clear();
  receives.clear();
  combines = reduces(call.kind) && phase == 0;
  for (int32_t i = 1; i < group->members(); ++i) {
    // Rotate, so that members send to different members at the same time.
    int32_t to = (self + i) % group->members();
    if (call.kind != HEDDLE_RECEIVE && (call.kind != HEDDLE_SEND || to == call.target))
      add(sends, to, outgoing(to));
    int32_t from = (self - i + group->members()) % group->members();
    if (call.kind != HEDDLE_SEND && (call.kind != HEDDLE_RECEIVE || from == call.source))
      add(receives, from, incoming(from));
  }
  Part from = outgoing(self), to = incoming(self);
  own = from.data;
  output = const_cast<char *>(to.data);
  combined = 0;
  combinedBytes = combines ? to.bytes : 0;
  pieceBytes = transport->pieceBytes(combinedBytes);
  inputs.assign(size_t(group->members()), nullptr);
  if (!combines && to.bytes > 0 && output != own)
    std::memmove(output, own, size_t(to.bytes));
  begun = true;
}

/// Combines the pieces that have arrived from all members.
bool HeddlePending::combinePieces() {
  bool moved = false;
  while (combined < combinedBytes) {
    int64_t bytes = std::min(pieceBytes, combinedBytes - combined);
    bool ready = true;
    for (Message &message : receives) {
      const char *piece = lane->channel->peek(message, bytes);
      inputs[size_t(message.member)] = piece;
      ready &= piece != nullptr;
    }
    // Before the input is overwritten in place, it must have been sent to all others.
    if (call.kind == HEDDLE_ALL_REDUCE && !isSplit && own == output)
      for (const Message &message : sends)
        ready &= message.done >= combined + bytes;
    if (!ready)
      break;
    inputs[size_t(group->self)] = own + combined;
    combine(element, call.combiner, inputs.data(), group->members(), output + combined,
            bytes / elementBytes);
    for (Message &message : receives)
      lane->channel->drop(message, bytes);
    combined += bytes;
    moved = true;
  }
  return moved;
}

bool HeddlePending::advance() {
  bool moved = false;
  while (!done) {
    if (!begun)
      beginPhase();
    bool finished = true;
    auto move = [&](Message &message, auto step) {
      if (message.finished())
        return;
      int64_t before = message.done + message.begun;
      (lane->channel->*step)(message);
      moved |= message.done + message.begun != before;
      finished &= message.finished();
    };
    for (Message &message : sends)
      move(message, &Channel::send);
    if (combinedBytes > 0)
      moved |= combinePieces();
    finished &= combined == combinedBytes;
    for (Message &message : receives)
      if (combinedBytes == 0)
        move(message, &Channel::receive);
    if (!finished)
      break;
    moved = true;
    begun = false;
    done = ++phase == phases;
  }
  return moved;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static constexpr const char *combiners[] = {"sum", "product", "max", "min"};

std::string HeddlePending::describe() const {
  if (!title.empty())
    return title;
  std::string text = communicationKinds[call.kind] + (" #" + std::to_string(number));
  if (call.kind == HEDDLE_SEND)
    text += " to rank " + std::to_string(group->ranks[size_t(call.target)]);
  if (call.kind == HEDDLE_RECEIVE)
    text += " from rank " + std::to_string(group->ranks[size_t(call.source)]);
  return text + " of group " + group->name;
}

/// The ranks whose messages are incomplete; `unheard`: only those from which nothing has arrived. A
/// piece to combine may have arrived from one rank before it has from others.
std::set<int32_t> HeddlePending::awaited(const std::vector<Message> &list, bool unheard) const {
  std::set<int32_t> ranks;
  for (const Message &message : list)
    if (bool arrived = !message.data && combined < combinedBytes && inputs[size_t(message.member)];
        !message.finished() && !arrived && !(unheard && message.begun))
      ranks.insert(group->ranks[size_t(message.member)]);
  return ranks;
}

std::set<int32_t> HeddlePending::awaited() const {
  std::set<int32_t> ranks = awaited(receives);
  ranks.merge(awaited(sends));
  return ranks;
}

std::string HeddlePending::late() const {
  for (auto [list, unheard, what] : {std::tuple(&receives, true, " did not arrive"),
                                     {&receives, false, " stopped sending"},
                                     {&sends, false, " stopped receiving"}}) {
    std::string text;
    std::set<int32_t> ranks = awaited(*list, unheard);
    for (int32_t rank : ranks)
      text += (text.empty() ? "" : ", ") + std::to_string(rank);
    if (!ranks.empty())
      return (ranks.size() == 1 ? "rank " : "ranks ") + text + what;
  }
  return "it did not begin";
}

/// Describes the call of a member in words.
static std::string describe(const Signature &signature) {
  if (signature.kind >= std::size(communicationKinds) ||
      signature.element >= std::size(heddle::detail::elementTypes) ||
      signature.combiner >= std::size(combiners))
    return "something of another version of Heddle";
  std::string text = communicationKinds[signature.kind];
  text += " #" + std::to_string(signature.number);
  if (signature.kind == HEDDLE_BARRIER)
    return text;
  text += " of " + std::to_string(signature.elements) + " " +
          std::string(spelling(ElementType(signature.element)));
  if (signature.kind == HEDDLE_ALL_REDUCE || signature.kind == HEDDLE_REDUCE_SCATTER)
    text += std::string(" by ") + combiners[signature.combiner];
  if (signature.kind == HEDDLE_BROADCAST)
    text += " from member " + std::to_string(signature.root);
  return text;
}

void HeddlePending::refuse(const Message &message, const Signature &arrived) const {
  std::string theirs = ::describe(arrived), ours = ::describe(message.signature);
  throw Failure(HEDDLE_MISMATCH, describe(), ": rank ", group->ranks[size_t(message.member)],
                " called ", theirs, ", rank ", group->ranks[size_t(group->self)], " called ",
                theirs == ours ? std::string("it with other counts") : ours);
}

void Message::hear(const Signature &arrived) {
  if (arrived != signature)
    operation->refuse(*this, arrived);
  begun = true;
}
