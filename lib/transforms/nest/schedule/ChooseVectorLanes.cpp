//===- ChooseVectorLanes.cpp - the names of vector lanes ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/schedule/ChooseVectorLanes.h"

#include "dialects/nest/NestBuild.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

LaidNestModel::LaidNestModel(const NestModel &nest, std::vector<Layout> given,
                             const cost::Machine &machine)
    : nest(nest), layouts(std::move(given)), facts(nest.op, machine.facts, /*shrink=*/true),
      machine(machine) {
  facts.setLayouts(layouts);
  for (auto [access, layout] : llvm::zip_equal(nest.accesses, layouts))
    sized.emplace_back(layout, access.type, nest.sizesOf(access.type));
}

LaneKind LaidNestModel::kindOf(size_t access, ArrayRef<unsigned> group) const {
  return nest.laneKind(nest.accesses[access], sized[access], group);
}

int LaidNestModel::turnOf(size_t access, ArrayRef<unsigned> group) const {
  for (unsigned name = unsigned(nest.firstProduced); name < nest.firstReduced; ++name)
    if (!llvm::is_contained(group, name) && nest.sizes[name] >= 4 &&
        kindOf(access, name) == LaneKind::Contiguous)
      return int(name);
  return -1;
}

/// Adds the groups of produced names along which an access is contiguous: those that its layout
/// merges, and its last names, merged until they fill two vectors.
static void addGroups(const NestModel &nest, const NestAccess &access, const Layout &layout,
                      std::set<Lanes> &groups) {
  auto iterationName = [&](const std::string &name) {
    size_t dim = size_t(llvm::find(access.dims, name) - access.dims.begin());
    int plain = access.coordinates[dim].plain;
    return plain >= 0 && nest.isProduced(size_t(plain)) && access.dimOf(unsigned(plain)) >= 0
               ? plain
               : -1;
  };
  auto add = [&](ArrayRef<int> group) {
    // The sizes of all names but the first are needed to decompose a merged index.
    if (group.size() > 1 && !llvm::is_contained(group, -1) &&
        llvm::none_of(group.drop_front(), [&](int name) { return nest.symbolic[size_t(name)]; }))
      groups.insert(Lanes(group.begin(), group.end()));
  };
  for (const Layout::Factor &factor : layout.factors)
    add(llvm::map_to_vector(factor.names, iterationName));
  std::vector<int> last;
  int64_t size = 1;
  for (const Layout::Factor &factor : llvm::reverse(layout.factors)) {
    if (factor.divisor != 1 || factor.modulus || factor.low || factor.high)
      break;
    for (const std::string &name : llvm::reverse(factor.names)) {
      int iteration = iterationName(name);
      if (iteration < 0 || size >= 2 * nest.lanes)
        return add(last);
      if (nest.sizes[size_t(iteration)] > 1)
        last.insert(last.begin(), iteration);
      size *= nest.sizes[size_t(iteration)];
    }
  }
  add(last);
}

double LaidNestModel::costOf(const Lanes &lanes) const {
  // Merging names has a small cost, so that they are merged only to fill vectors.
  double merged = 1 + 0.05 * double(lanes.size() - 1);
  return cost::NestLayoutCost(facts, lanes, /*tile=*/0, machine.rates).seconds() * merged;
}

Lanes LaidNestModel::chooseLanes() const {
  if (auto written = nest.writtenLanes())
    return *written;
  std::set<Lanes> groups;
  for (auto [access, layout] : llvm::zip_equal(nest.accesses, layouts))
    addGroups(nest, access, layout, groups);
  std::vector<Lanes> considered(groups.begin(), groups.end());
  for (size_t name = nest.firstProduced; name < nest.names.size(); ++name)
    considered.push_back({unsigned(name)});
  Lanes chosen;
  double best = std::numeric_limits<double>::infinity();
  for (const Lanes &lanes : considered)
    if (nest.sizeOf(lanes) >= 2)
      if (double cost = costOf(lanes); cost < best) {
        best = cost;
        chosen = lanes;
      }
  return chosen;
}
