//===- Mesh.cpp - tensors that are split over ranks -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/Mesh.h"
#include "dialects/mesh/MeshDialect.h"
#include "heddle/Ranks.h"
#include "lib/builder/Graph.h"
#include "lib/support/PlanFile.h"
#include "runtime/collectives/Communicator.h"
#include "runtime/control/EngineTransport.h"
#include "runtime/program/Shards.h"

#include <mutex>

using namespace heddle;
using namespace heddle::detail;

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

MeshAxis::MeshAxis(std::string_view given, Here here) : text(given) {
  auto part = AxisPart::parse(given);
  if (!part || !isValidName(part->name))
    fail(here, "expected an axis such as data or data(2)4, got '" + text + "'");
}

Mesh::Mesh(std::initializer_list<AxisSize> axes, Here here) : list(axes) { require(here); }

Mesh Mesh::parse(std::string_view text, Here here) {
  mesh::Plan plan;
  if (std::string problem = plan.parse(StringRef(text), {}); !problem.empty())
    fail(here, problem);
  Mesh result;
  for (const auto &[axis, size] : plan.mesh.axes)
    result.list.emplace_back(axis, size);
  result.require(here);
  return result;
}

static MeshSpec specOf(const Mesh &mesh) {
  MeshSpec spec;
  for (const auto &[axis, size] : mesh.axes())
    spec.axes.emplace_back(axis, size);
  return spec;
}

void Mesh::require(Here here) const {
  for (const AxisSize &each : list)
    if (!isValidName(each.axis) || each.axis.find('.') != std::string::npos)
      fail(here, "expected the name of an axis, got '" + each.axis + "'");
  if (std::string problem = verifyMesh(specOf(*this), {}); !problem.empty())
    fail(here, problem);
}

int64_t Mesh::ranks() const { return specOf(*this).ranks(); }
std::string Mesh::str() const { return specOf(*this).str(); }

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

MeshPlan MeshPlan::of(const Mesh &mesh, const std::vector<std::string> &rules,
                      const std::string &path, Here here) {
  mesh::Plan plan;
  std::string problem = path.empty() ? "" : plan.readFile(path);
  if (problem.empty())
    problem = plan.parse(mesh.str(), rules);
  if (!problem.empty())
    fail(here, problem);
  std::string text = plan.mesh.str();
  MeshPlan result{text.empty() ? Mesh() : Mesh::parse(text, here), plan.rules};
  result.statements = plan.statements();
  for (const auto &[word, setting] : plan.settings)
    result.settings[word] = {setting.text, plan.whereIs(word)};
  for (const MeshRule &rule : plan.rules)
    for (const AxisPart axis : rule.axes)
      if (plan.mesh.sizeOf(axis.name) == 0)
        fail(here, rule.str() + " uses the axis '" + axis.name + "', which " +
                       (text.empty() ? "needs a mesh (JitOptions::mesh)"
                                     : "the mesh " + text + " lacks"));
  return result;
}

std::optional<int64_t> MeshPlan::number(const std::string &setting, std::optional<int64_t> stated,
                                        Here here) const {
  auto found = settings.find(setting);
  if (found == settings.end())
    return stated;
  int64_t number = std::stoll(found->second.first);
  if (stated && *stated != number)
    fail(here, "'" + setting + " " + std::to_string(*stated) + "' contradicts '" + setting + " " +
                   found->second.first + "'" + found->second.second);
  return number;
}

std::vector<std::string> MeshPlan::idleAxes() const {
  std::vector<std::string> idle;
  for (const AxisSize &axis : mesh.axes())
    if (axis.size > 1 && llvm::none_of(rules, [&](const MeshRule &rule) {
          return llvm::any_of(
              rule.axes, [&](const std::string &each) { return AxisPart(each).name == axis.axis; });
        }))
      idle.push_back(axis.axis);
  return idle;
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

Tensor heddle::shard(const Tensor &x, const std::vector<NameAxes> &names, Here here) {
  GraphLock lock;
  NodeRef node = nodeOf(x, here);
  MLIRContext *context = graphContext();
  std::map<std::string, mesh::NamedAxes> entries;
  for (const NameAxes &each : names) {
    if (!node->type().has(each.name.str()))
      fail(here, "unknown name '" + each.name.str() + "'; the tensor is " + x.type());
    AxisList axes;
    for (const MeshAxis &axis : each.axes)
      axes.push_back(axis.str());
    mesh::NamedAxes entry{StringAttr::get(context, each.name.str()),
                          mesh::AxesAttr::get(context, axes)};
    if (!entries.emplace(each.name.str(), entry).second)
      fail(here, "the name '" + each.name.str() + "' occurs twice");
  }
  SmallVector<mesh::NamedAxes> list;
  for (const auto &[name, entry] : entries)
    list.push_back(entry);
  return make(here, {node}, [&](OpBuilder &builder, Location loc) -> Value {
    auto sharding = mesh::ShardingAttr::getChecked(
        [&] { return mlir::emitError(loc); }, context, ArrayRef<mesh::NamedAxes>(list),
        /*closed=*/false, mesh::AxesAttr::get(context, {}), StringAttr(),
        ArrayRef<mesh::AxisCoordinate>(), StringAttr());
    if (!sharding)
      return {};
    return mesh::ConstrainOp::create(builder, loc, node->type(), node->value, sharding);
  });
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

Ranks Ranks::join(std::string_view engine, Here here) {
  static std::mutex mutex;
  static std::shared_ptr<Job> job; // destroyed, and so left, at exit
  static std::string chosen;
  std::lock_guard lock(mutex);
  if (!job) {
    job = located(here, [&] {
      auto joined = Job::join();
      if (joined->ranks() > 1)
        useEngine(*joined, std::string(engine));
      else if (!engine.empty()) // a single rank uses no engine, but an unknown one is an error
        openEngine(std::string(engine));
      return joined;
    });
    chosen = engine;
  } else if (!engine.empty() && engine != chosen) {
    heddle::detail::fail(here, "expected the engine '" + chosen +
                                   "', with which this process joined its job, got '" +
                                   std::string(engine) + "'");
  }
  return Ranks(job);
}

int Ranks::rank() const { return of ? of->rank() : 0; }
int Ranks::size() const { return of ? of->ranks() : 1; }

void Ranks::fail(const std::string &reason) const {
  if (of && of->channel())
    of->channel()->fail(reason);
}
