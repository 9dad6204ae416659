//===- MeshSpec.h - the ranks of a program ----------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program for several ranks has a mesh: axes with names and sizes. Ranks are numbered in
// row-major order, the last axis fastest. A group of axes is the set of ranks that differ only in
// their coordinates on these axes:
//
//     MeshSpec mesh{{{"data", 2}, {"model", 3}}};      // ranks 0 to 5
//     mesh.coordinate(4, "model")                      // 1
//     mesh.group(4, {"data"})                          // {1, 4}
//     mesh.group(4, {"model"})                         // {3, 4, 5}
//
// "data(2)4" is a part of an axis: 4 parts after a division into 2 (dialects/mesh). On 8 ranks,
// rank 5 has the coordinate 5 floordiv 1 mod 4 = 1 on it.
//
// These types are those of manifests, of tensors in memory (program/Shards.h), and of the
// attributes of the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_FORMAT_MESHSPEC_H
#define HEDDLE_RUNTIME_FORMAT_MESHSPEC_H

#include "heddle/Expr.h"

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle {

/// An axis of a mesh, or a part of one: `count` parts after `before` others. Count 0: the rest.
struct AxisPart {
  std::string name;
  int64_t before = 1, count = 0;

  AxisPart() = default;
  AxisPart(std::string name, int64_t before, int64_t count)
      : name(std::move(name)), before(before), count(count) {}
  /// Reads "data" or "data(2)4". Other text becomes the name of an axis that no mesh has.
  template <std::convertible_to<std::string_view> Text>
  AxisPart(const Text &text) {
    std::string_view given = text;
    if (auto part = parse(given))
      *this = *part;
    else
      name = given;
  }
  /// None for text other than "data" or "data(2)4".
  static std::optional<AxisPart> parse(std::string_view text);
  std::string str() const;
  bool operator==(const AxisPart &) const = default;
};

/// Axes of which the first one is outermost.
using AxisList = std::vector<AxisPart>;
/// The axes that split each name. Names that are not split need no entry.
using Sharding = std::map<std::string, AxisList, std::less<>>;

/// A name of this size is split into blocks of ceil(size / parts), of which the last ones may be
/// short or empty.
inline int64_t blockSize(int64_t size, int64_t parts) { return size / parts + (size % parts > 0); }
Expr blockSize(const Expr &size, int64_t parts);

struct MeshSpec {
  std::vector<std::pair<std::string, int64_t>> axes;
  bool operator==(const MeshSpec &) const = default;

  /// The number of ranks; 1 without axes.
  int64_t ranks() const;
  /// A rank's coordinate on an axis, or on a part of one, is `rank / stride % parts`.
  struct Digit {
    int64_t stride, parts;
  };
  /// None if the mesh lacks the axis, or if the part does not divide it.
  std::optional<Digit> digitOf(const AxisPart &axis) const;
  /// The size of an axis, or of a part of one; 0 if there is none.
  int64_t sizeOf(const AxisPart &axis) const;
  /// The number of ranks in a group of these axes.
  int64_t sizeOf(const AxisList &axes) const;
  int64_t coordinate(int64_t rank, const AxisPart &axis) const;
  /// The group of a rank, including itself; the last of `axes` is the fastest.
  std::vector<int32_t> group(int64_t rank, const AxisList &axes) const;
  /// "data=2, model=3"
  std::string describe() const { return str(", "); }
  /// "data=2,model=3", as it is written in options and files.
  std::string str(const char *separator = ",") const;
};

/// (axis, coordinate) pairs: ranks with one of these coordinates on each axis, or part of an axis,
/// hold a tensor. Empty: all ranks do.
using Place = std::vector<std::pair<std::string, int64_t>>;
/// A tensor on ranks that do not hold it has this name, of size 0, instead of its own names.
inline constexpr const char *absentName = "mesh$absent";

/// Ranks that run the same entries.
struct RoleSpec {
  std::string name;
  std::vector<int32_t> ranks;
};

/// Empty if the axes are axes of the mesh, their parts divide them, and none occurs twice;
/// otherwise a message, such as "the axis 'data' twice, on 'batch' and 'row'".
std::string verifyShards(const MeshSpec &mesh, const Sharding &sharding);
/// Empty if the place is coordinates on axes of the mesh or their parts; otherwise a message.
std::string verifyPlace(const MeshSpec &mesh, const Place &place);
/// "{batch: data, hidden: data+model}"
std::string describe(const Sharding &sharding);
/// Empty if the axes are a group of the mesh; otherwise a message.
std::string verifyAxes(const MeshSpec &mesh, const AxisList &axes);
/// Empty if the mesh and its roles are consistent: each rank has one role, if there are any.
std::string verifyMesh(const MeshSpec &mesh, const std::vector<RoleSpec> &roles);

} // namespace heddle

#endif // HEDDLE_RUNTIME_FORMAT_MESHSPEC_H
