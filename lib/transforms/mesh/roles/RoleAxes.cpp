//===- RoleAxes.cpp - the axes whose coordinates are roles ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/roles/RoleAxes.h"

#include <map>

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

/// Each role is a function.
static constexpr int64_t mostRoles = 1024;

/// The parts of an axis up to the end of this one.
static int64_t endOf(MeshAttr mesh, const Axis &axis) { return axis.before * partsOf(mesh, axis); }

static bool isWithin(MeshAttr mesh, const Axis &inner, const Axis &outer) {
  return inner.name == outer.name && outer.before <= inner.before &&
         endOf(mesh, inner) <= endOf(mesh, outer);
}

/// Divides an axis of the mesh where places along it, or parts of it, begin and end.
static LogicalResult divide(MeshAttr mesh, StringRef name, ArrayRef<Axis> places, AxisList &axes,
                            function_ref<InFlightDiagnostic()> emitError) {
  std::map<int64_t, Axis> bounds; // with a place that begins or ends there
  for (const Axis &place : places)
    if (place.name == name)
      for (int64_t bound : {place.before, endOf(mesh, place)})
        bounds.try_emplace(bound, place);
  for (auto low = bounds.begin(), high = std::next(low); high != bounds.end(); low = high++) {
    if (high->first % low->first != 0)
      return emitError() << "has places along '" << low->second.str() << "' and '"
                         << high->second.str() << "', which divide '" << name << "' into "
                         << low->first << " and " << high->first
                         << " parts; expected numbers of which one divides the other";
    Axis part(name.str(), low->first, high->first / low->first);
    if (llvm::none_of(places, [&](const Axis &each) { return isWithin(mesh, part, each); }))
      continue;
    if (part.count == *mesh.size(name))
      part = name;
    axes.push_back(part);
  }
  if (bounds.size() == 1) // one device, or one part
    axes.push_back(bounds.begin()->second);
  return success();
}

FailureOr<RoleAxes> RoleAxes::of(MeshAttr mesh, ArrayRef<Axis> places,
                                 function_ref<InFlightDiagnostic()> emitError) {
  RoleAxes roles{mesh, {}};
  for (const auto &[name, size] : mesh.getSpec().axes)
    if (llvm::any_of(places, [&, &name = name](const Axis &each) { return each.name == name; }) &&
        failed(divide(mesh, name, places, roles.axes, emitError)))
      return failure();
  if (roles.count() > mostRoles)
    return LogicalResult(emitError()
                         << "has places along " << str(roles.axes) << " of " << roles.count()
                         << " parts, each a role of its own; expected at most " << mostRoles);
  return roles;
}

RoleAxes RoleAxes::read(MeshAttr mesh, StringRef text) {
  RoleAxes roles{mesh, {}};
  SmallVector<StringRef> words;
  text.split(words, '+');
  for (StringRef word : words)
    roles.axes.emplace_back(word);
  return roles;
}

int64_t RoleAxes::coordinate(int64_t role, size_t axis) const {
  ArrayRef<Axis> list = axes;
  return role / partsOf(mesh, list.drop_front(axis + 1)) % partsOf(mesh, list[axis]);
}

std::optional<int64_t> RoleAxes::coordinate(ArrayRef<AxisCoordinate> place, size_t axis) const {
  for (const AxisCoordinate &each : place)
    if (Axis stated = each.axis.getValue(); isWithin(mesh, axes[axis], stated))
      return each.coordinate / (endOf(mesh, stated) / endOf(mesh, axes[axis])) %
             partsOf(mesh, axes[axis]);
  return std::nullopt;
}

int64_t RoleAxes::at(ArrayRef<int64_t> place, int64_t reader) const {
  int64_t role = 0;
  for (auto [i, coordinate] : llvm::enumerate(place))
    role =
        role * partsOf(mesh, axes[i]) + (coordinate < 0 ? this->coordinate(reader, i) : coordinate);
  return role;
}

std::string RoleAxes::text() const {
  std::string text;
  for (const Axis &axis : axes)
    text += (text.empty() ? "" : "+") + axis.str();
  return text;
}

std::string RoleAxes::name(int64_t role) const {
  std::string text;
  for (size_t i = 0; i < axes.size(); ++i)
    text += (i ? "," : "") + axes[i].str() + "=" + std::to_string(coordinate(role, i));
  return text;
}

SmallVector<AxisCoordinate> mesh::placeOf(Operation *op) {
  SmallVector<AxisCoordinate> place;
  if (auto stated = op->getAttrOfType<DictionaryAttr>(placeAttrName))
    for (NamedAttribute each : stated)
      place.push_back({each.getName(), cast<IntegerAttr>(each.getValue()).getInt()});
  return place;
}

void mesh::addPlace(SmallVectorImpl<AxisCoordinate> &place, AxisCoordinate at, MeshAttr mesh) {
  llvm::erase_if(place, [&](const AxisCoordinate &other) {
    return overlap(mesh, Axis(other.axis.getValue()), Axis(at.axis.getValue()));
  });
  place.push_back(at);
}
