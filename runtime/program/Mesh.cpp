//===- Mesh.cpp - the ranks of a program ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/Mesh.h"

#include <set>

using namespace heddle;
using Kind = CommunicationSpec::Kind;

static constexpr int64_t mostRanks = 1 << 20;

int64_t MeshSpec::ranks() const {
  int64_t product = 1;
  for (const auto &[axis, size] : axes)
    product *= size;
  return product;
}

int64_t MeshSpec::sizeOf(std::string_view wanted) const {
  for (const auto &[axis, size] : axes)
    if (axis == wanted)
      return size;
  return 0;
}

int64_t MeshSpec::sizeOf(const std::vector<std::string> &names) const {
  int64_t product = 1;
  for (const std::string &axis : names)
    product *= sizeOf(axis);
  return product;
}

/// The distance of neighbours on an axis.
static int64_t strideOf(const MeshSpec &mesh, std::string_view wanted) {
  int64_t stride = 1;
  for (size_t i = mesh.axes.size(); i-- > 0 && mesh.axes[i].first != wanted;)
    stride *= mesh.axes[i].second;
  return stride;
}

int64_t MeshSpec::coordinate(int64_t rank, std::string_view axis) const {
  return rank / strideOf(*this, axis) % sizeOf(axis);
}

std::vector<int32_t> MeshSpec::group(int64_t rank, const std::vector<std::string> &names) const {
  for (const std::string &axis : names)
    rank -= coordinate(rank, axis) * strideOf(*this, axis);
  std::vector<int32_t> members = {int32_t(rank)};
  for (const std::string &axis : names) {
    std::vector<int32_t> more;
    for (int32_t member : members)
      for (int64_t i = 0; i < sizeOf(axis); ++i)
        more.push_back(int32_t(member + i * strideOf(*this, axis)));
    members.swap(more);
  }
  return members;
}

std::string MeshSpec::describe() const {
  std::string text;
  for (const auto &[axis, size] : axes)
    text += (text.empty() ? "" : ", ") + axis + "=" + std::to_string(size);
  return text;
}

std::string heddle::verifyAxes(const MeshSpec &mesh, const std::vector<std::string> &axes) {
  std::set<std::string> seen;
  for (const std::string &axis : axes)
    if (mesh.sizeOf(axis) == 0)
      return "the axis '" + axis + "', which the mesh " + mesh.describe() + " lacks";
    else if (!seen.insert(axis).second)
      return "the axis '" + axis + "' twice";
  return "";
}

std::string heddle::verifyMesh(const MeshSpec &mesh, const std::vector<RoleSpec> &roles) {
  std::set<std::string> names;
  int64_t ranks = 1;
  for (const auto &[axis, size] : mesh.axes) {
    if (axis.empty() || !names.insert(axis).second)
      return "the mesh has the axis '" + axis + "' twice, or without a name";
    if (size < 1 || size > mostRanks || (ranks *= size) > mostRanks)
      return "the mesh has the size " + std::to_string(size) + " on '" + axis +
             "', expected 1 to " + std::to_string(mostRanks) + " ranks in all";
  }
  std::vector<const RoleSpec *> roleOf(static_cast<size_t>(ranks));
  names.clear();
  for (const RoleSpec &role : roles) {
    if (role.name.empty() || !names.insert(role.name).second)
      return "the role '" + role.name + "' occurs twice, or has no name";
    for (int32_t rank : role.ranks)
      if (rank < 0 || rank >= ranks)
        return "the role '" + role.name + "' has the rank " + std::to_string(rank) +
               ", the mesh has " + std::to_string(ranks) + " ranks";
      else if (std::exchange(roleOf[size_t(rank)], &role))
        return "the rank " + std::to_string(rank) + " has two roles";
  }
  for (size_t rank = 0; rank < roleOf.size() && !roles.empty(); ++rank)
    if (!roleOf[rank])
      return "the rank " + std::to_string(rank) + " has no role";
  return "";
}

/// Empty if the counts are `expected` many and, as far as they are constant, fit into `bytes`.
static std::string verifyCounts(const std::vector<Expr> &counts, size_t expected,
                                std::optional<int64_t> bytes, int64_t elementBytes,
                                const char *what) {
  if (counts.size() != expected)
    return std::string("has ") + std::to_string(counts.size()) + " counts of its " + what +
           ", expected " + std::to_string(expected);
  int64_t total = 0;
  for (const Expr &count : counts)
    if (auto number = count.constant(); number && *number < 0)
      return std::string("has a negative count of its ") + what;
    else if (number && __builtin_add_overflow(total, *number, &total))
      return std::string("has too large counts of its ") + what;
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
  if (bytes.size() != values)
    return "has " + std::to_string(bytes.size()) + " values, expected " + std::to_string(values);
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
