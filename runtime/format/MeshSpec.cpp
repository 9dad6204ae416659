//===- MeshSpec.cpp - the ranks of a program ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/MeshSpec.h"

#include <algorithm>
#include <charconv>
#include <set>

using namespace heddle;

static constexpr int64_t mostRanks = 1 << 20;

int64_t MeshSpec::ranks() const {
  int64_t product = 1;
  for (const auto &[axis, size] : axes)
    product *= size;
  return product;
}

/// Parses a number of at least 1 at the front of `text`.
static bool takeNumber(std::string_view &text, int64_t &number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(size_t(end - text.data()));
  return error == std::errc() && number >= 1;
}

std::optional<AxisPart> AxisPart::parse(std::string_view text) {
  size_t bracket = std::min(text.find('('), text.size());
  AxisPart part(std::string(text.substr(0, bracket)), 1, 0);
  if (part.name.empty())
    return std::nullopt;
  if (bracket == text.size())
    return part;
  text.remove_prefix(bracket + 1);
  if (!takeNumber(text, part.before) || text.empty() || text[0] != ')')
    return std::nullopt;
  text.remove_prefix(1);
  if (!takeNumber(text, part.count) || !text.empty())
    return std::nullopt;
  return part;
}

std::string AxisPart::str() const {
  bool isWhole = count == 0 && before == 1;
  return name + (isWhole ? "" : "(" + std::to_string(before) + ")" + std::to_string(count));
}

Expr heddle::blockSize(const Expr &size, int64_t parts) {
  if (auto known = size.constant()) // adding parts - 1 may overflow
    return Expr(blockSize(*known, parts));
  return size.ceildiv(parts);
}

/// The stride between neighbours on an axis, and its size: 0 if there is no such axis.
static MeshSpec::Digit wholeAxis(const MeshSpec &mesh, std::string_view wanted) {
  int64_t stride = 1;
  for (size_t i = mesh.axes.size(); i-- > 0; stride *= mesh.axes[i].second)
    if (mesh.axes[i].first == wanted)
      return {stride, mesh.axes[i].second};
  return {1, 0};
}

namespace {
/// The parts of an axis that `text` names: `before` to `end` of `size`.
struct Placed {
  std::string name; ///< of the tensor
  int64_t before, end, size;
};
} // namespace

/// Finds a part in the mesh; `problem` describes a mistake.
static Placed placeOf(const MeshSpec &mesh, const std::string &name, const AxisPart &part,
                      std::string &problem) {
  Placed placed{name, 1, 1, wholeAxis(mesh, part.name).parts};
  int64_t size = placed.size, count = std::max<int64_t>(part.count, 1);
  if (part.name.empty() || part.name.find('(') != std::string::npos) {
    problem = "the axis '" + part.str() + "', expected one such as data or data(2)4";
  } else if (size == 0) {
    problem = "the axis '" + part.name + "', which the mesh " + mesh.describe() + " lacks";
  } else if (part.before < 1 || part.before > size || count > size ||
             size % (part.before * count) != 0) {
    problem = "'" + part.str() + "', which does not divide the " + std::to_string(size) +
              " ranks of the axis '" + part.name + "'";
  } else {
    placed.before = part.before;
    placed.end = part.count ? part.before * part.count : size;
  }
  return placed;
}

std::optional<MeshSpec::Digit> MeshSpec::digitOf(const AxisPart &axis) const {
  std::string problem;
  Placed placed = placeOf(*this, "", axis, problem);
  if (!problem.empty())
    return std::nullopt;
  return Digit{wholeAxis(*this, axis.name).stride * (placed.size / placed.end),
               placed.end / placed.before};
}

int64_t MeshSpec::sizeOf(const AxisPart &axis) const {
  auto digit = digitOf(axis);
  return digit ? digit->parts : 0;
}

int64_t MeshSpec::sizeOf(const AxisList &axes) const {
  int64_t product = 1;
  for (const AxisPart &axis : axes)
    product *= sizeOf(axis);
  return product;
}

int64_t MeshSpec::coordinate(int64_t rank, const AxisPart &axis) const {
  Digit digit = *digitOf(axis);
  return rank / digit.stride % digit.parts;
}

std::vector<int32_t> MeshSpec::group(int64_t rank, const AxisList &list) const {
  for (const AxisPart &axis : list)
    rank -= coordinate(rank, axis) * digitOf(axis)->stride;
  std::vector<int32_t> members = {int32_t(rank)};
  for (const AxisPart &axis : list) {
    Digit digit = *digitOf(axis);
    std::vector<int32_t> more;
    for (int32_t member : members)
      for (int64_t i = 0; i < digit.parts; ++i)
        more.push_back(int32_t(member + i * digit.stride));
    members.swap(more);
  }
  return members;
}

std::string MeshSpec::str(const char *separator) const {
  std::string text;
  for (const auto &[axis, size] : axes)
    text += (text.empty() ? "" : separator) + axis + "=" + std::to_string(size);
  return text;
}

std::string heddle::verifyShards(const MeshSpec &mesh, const Sharding &sharding) {
  std::map<std::string, std::vector<Placed>> taken; // by axis
  std::string problem;
  for (const auto &[name, list] : sharding)
    for (const AxisPart &part : list) {
      Placed placed = placeOf(mesh, name, part, problem);
      if (!problem.empty())
        return problem;
      // Parts of one axis are consecutive: the end of one divides the beginning of the next.
      for (const Placed &other : taken[part.name]) {
        const Placed &first = other.before < placed.before ? other : placed;
        const Placed &second = &first == &placed ? other : placed;
        if (first.before == second.before || second.before % first.end != 0)
          return "the axis '" + part.name + "' twice" +
                 (name.empty() ? "" : ", on '" + other.name + "' and '" + name + "'");
      }
      taken[part.name].push_back(placed);
    }
  return "";
}

std::string heddle::describe(const Sharding &sharding) {
  std::string text;
  for (const auto &[name, list] : sharding) {
    text += (text.empty() ? "" : ", ") + name + ": ";
    for (size_t i = 0; i < list.size(); ++i)
      text += (i ? "+" : "") + list[i].str();
  }
  return "{" + text + "}";
}

std::string heddle::verifyAxes(const MeshSpec &mesh, const AxisList &axes) {
  return verifyShards(mesh, {{"", axes}});
}

std::string heddle::verifyPlace(const MeshSpec &mesh, const Place &place) {
  std::set<std::string> axes;
  for (const auto &[axis, coordinate] : place) {
    axes.insert(axis);
    auto digit = mesh.digitOf(axis);
    if (!digit || coordinate < 0 || coordinate >= digit->parts)
      return axis + "=" + std::to_string(coordinate) +
             ", expected coordinates of axes of the mesh " + mesh.describe();
  }
  std::string problem = verifyAxes(mesh, AxisList(axes.begin(), axes.end()));
  return problem.empty() ? "" : "coordinates of " + problem;
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
