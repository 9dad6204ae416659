//===- Communication.cpp - a step that communicates -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/Communication.h"

#include <limits>

using namespace heddle;
using Kind = CommunicationSpec::Kind;

std::optional<int64_t> CommunicationSpec::sentBytes(const MeshSpec &mesh) const {
  int64_t members = mesh.sizeOf(axes), total = 0;
  for (const Expr &count : counts) {
    if (!count.constant())
      return std::nullopt;
    total += *count.constant();
  }
  if (members < 2 || counts.empty())
    return 0;
  int64_t bytes = total * byteSize(element);
  switch (kind) {
  case Kind::AllReduce:
    return 2 * bytes * (members - 1) / members;
  case Kind::ReduceScatter: // counts of parts: one, or one for each member
  case Kind::AllGather:
  case Kind::AllToAll:
    return bytes / int64_t(counts.size()) * (members - 1);
  case Kind::Broadcast:
    return bytes * (members - 1) / members;
  case Kind::Permute:
  case Kind::Send:
    return bytes;
  case Kind::Barrier:
  case Kind::Receive:
    return 0;
  }
  return std::nullopt;
}

/// Empty if there are `expected` counts and the constant ones fit into `bytes`.
static std::string verifyCounts(const std::vector<Expr> &counts, size_t expected,
                                std::optional<int64_t> bytes, int64_t elementBytes,
                                const char *what) {
  int64_t alike = counts.size() == 1 && expected > 1 ? int64_t(expected) : 1;
  if (counts.size() != expected && alike == 1)
    return std::string("has ") + std::to_string(counts.size()) + " counts of its " + what +
           ", expected " + std::to_string(expected);
  int64_t total = 0;
  for (const Expr &count : counts)
    if (auto number = count.constant(); number && *number < 0)
      return std::string("has a negative count of its ") + what;
    else if (number && (__builtin_add_overflow(total, *number, &total) ||
                        total > std::numeric_limits<int64_t>::max() / alike))
      return std::string("has too large counts of its ") + what;
  total *= alike;
  if (bytes && total > *bytes / elementBytes)
    return std::string("has ") + std::to_string(total) + " elements of its " + what +
           ", whose memory has " + std::to_string(*bytes) + " bytes";
  return "";
}

std::string heddle::verifyCommunication(const MeshSpec &mesh, const CommunicationSpec &spec,
                                        const std::vector<std::optional<int64_t>> &bytes) {
  if (std::string message = verifyAxes(mesh, spec.axes); !message.empty())
    return "has " + message;
  if (spec.axes.empty())
    return "has no axis of the mesh";
  size_t values = size_t(spec.hasInput()) + size_t(spec.hasOutput());
  bool isBucket = spec.kind == Kind::AllReduce && spec.counts.size() > 1;
  if (isBucket)
    values *= spec.counts.size();
  if (bytes.size() != values)
    return "has " + std::to_string(bytes.size()) + " values, expected " + std::to_string(values);
  if (isBucket) {
    CommunicationSpec one = spec;
    for (size_t i = 0; i < spec.counts.size(); ++i) {
      one.counts = {spec.counts[i]};
      if (auto message = verifyCommunication(mesh, one, {bytes[i], bytes[i + spec.counts.size()]});
          !message.empty())
        return message;
    }
    return "";
  }
  int64_t members = mesh.sizeOf(spec.axes), width = byteSize(spec.element);
  bool oneEach = spec.kind == Kind::ReduceScatter || spec.kind == Kind::AllGather ||
                 spec.kind == Kind::AllToAll;
  bool hasOther = spec.kind == Kind::AllToAll || spec.kind == Kind::Permute;
  size_t parts = oneEach ? size_t(members) : spec.kind == Kind::Barrier ? 0 : 1;
  // The counts of a gather are those of the parts of its output.
  bool ofOutput = spec.kind == Kind::AllGather || spec.kind == Kind::Receive;
  auto sized = values == 0 ? std::nullopt : ofOutput ? bytes.back() : bytes.front();
  std::string message =
      verifyCounts(spec.counts, parts, sized, width, ofOutput ? "output" : "input");
  if (message.empty())
    message = verifyCounts(spec.outputCounts, hasOther ? parts : 0,
                           hasOther ? bytes.back() : std::nullopt, width, "output");
  if (!message.empty())
    return message;
  bool needsSource = spec.kind == Kind::Broadcast || spec.kind == Kind::Receive;
  bool needsTarget = spec.kind == Kind::Send;
  for (auto [member, needed] : {std::pair(&spec.source, needsSource), {&spec.target, needsTarget}})
    if (auto number = member->constant();
        number && (*number < (needed ? 0 : -1) || *number >= members))
      return "has the member " + std::to_string(*number) + " of a group of " +
             std::to_string(members);
  return "";
}
