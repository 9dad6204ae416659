//===- Mesh.h - tensors that are split over ranks ---------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Several processes, the ranks, may run a function together. They form a mesh, whose axes have
// names; a tensor is split by stating for some of its names the axes that split them:
//
//     MeshAxis data("data"), model("model");
//     JitOptions options{.mesh = {{data, 2}, {model, 2}}, .rules = {"batch:data"}};
//     auto step = jit([&](Tensor x, Tensor weight) {
//       Tensor hidden = shard(sum(x * weight, over(in)), {{batch, data}, {out, model}});
//       ...
//     }, options);
//     Tensor y = step(x, weight);   // takes this rank's blocks of x and weight, if whole
//     y.to<float>({batch, out});      // on all ranks: gathers the blocks
//
// A name of size n that is split into p parts has blocks of ceil(n / p); the last ones may be short
// or empty, so that sizes need not divide. Rules (JitOptions::rules) split arguments, `shard`
// splits values, and the compiler chooses the cheapest split of all others; results do not depend
// on it. Where no mesh is stated, `shard` changes nothing.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MESH_H
#define HEDDLE_MESH_H

#include "heddle/MeshRule.h"
#include "heddle/Tensor.h"

#include <initializer_list>
#include <map>
#include <optional>
#include <utility>

namespace heddle {

/// An axis of a mesh, or a sub-axis: "data(2)4" has size 4 and lies within an outer part of size 2.
class MeshAxis {
public:
  /// Throws Error for any other text.
  explicit MeshAxis(std::string_view text, Here here = Here::current());
  MeshAxis(const MeshAxis &) = default;
  MeshAxis &operator=(const MeshAxis &) = delete;
  const std::string &str() const { return text; }

private:
  std::string text;
};

/// `{data, 2}` or `{"data", 2}`
struct AxisSize {
  std::string axis;
  int64_t size;
  AxisSize(const MeshAxis &axis, int64_t size) : axis(axis.str()), size(size) {}
  AxisSize(std::string_view axis, int64_t size) : axis(axis), size(size) {}
};

/// Axes with the number of ranks along them; the last one varies fastest over the ranks.
class Mesh {
public:
  Mesh() = default;
  /// Throws Error for an axis that is invalid or listed twice, a size below 1, and over 2^20 ranks.
  Mesh(std::initializer_list<AxisSize> axes, Here here = Here::current());
  /// "data=2,model=2"; an empty text is a mesh without axes.
  static Mesh parse(std::string_view text, Here here = Here::current());

  const std::vector<AxisSize> &axes() const { return list; }
  /// True if no mesh is stated.
  bool empty() const { return list.empty(); }
  int64_t ranks() const;
  /// "data=2,model=2"
  std::string str() const;

private:
  std::vector<AxisSize> list;
  void require(Here here) const;
};

/// A name and the axes that split it, the first one outermost; without axes it is not split.
struct NameAxes {
  Name name;
  std::vector<MeshAxis> axes;
  NameAxes(const Name &name, const MeshAxis &axis) : name(name), axes(1, axis) {}
  NameAxes(const Name &name, std::vector<MeshAxis> axes) : name(name), axes(std::move(axes)) {}
};

/// `x`, split as stated; the compiler may split other names as well. Throws Error for a name that x
/// lacks, and for an axis that is listed twice. An axis that the mesh lacks is an error when the
/// function is compiled.
Tensor shard(const Tensor &x, const std::vector<NameAxes> &names, Here here = Here::current());

/// A mesh, and rules that split the arguments of functions.
struct MeshPlan {
  Mesh mesh;
  std::vector<MeshRule> rules;
  /// The settings of a file (`mesh`, `graph`, `zero`, `micro-batches`, `schedule`): the text, and
  /// " (plan 'FILE', line 1)".
  std::map<std::string, std::pair<std::string, std::string>> settings = {};
  /// The lines `graph`, `schedule` and `links` of a file.
  std::vector<std::string> statements = {};

  /// Combines a mesh, rules and a file of both; any of them may be empty. Rules of the file come
  /// first; of two rules that shard a name the later one wins. Throws Error for an invalid rule,
  /// for another mesh in the file, and for an axis that the mesh lacks.
  static MeshPlan of(const Mesh &mesh, const std::vector<std::string> &rules,
                     const std::string &file = "", Here here = Here::current());
  /// The axes of more than one rank that no rule mentions: all ranks along them compute the same.
  std::vector<std::string> idleAxes() const;
  /// The number that the file sets, else `stated`; none if neither is. Throws Error if they differ.
  std::optional<int64_t> number(const std::string &setting, std::optional<int64_t> stated,
                                Here here = Here::current()) const;
  /// " (plan 'FILE', line 1)" for a setting of a file.
  std::string whereIs(const std::string &setting) const {
    auto found = settings.find(setting);
    return found == settings.end() ? "" : found->second.second;
  }
};

} // namespace heddle

#endif // HEDDLE_MESH_H
