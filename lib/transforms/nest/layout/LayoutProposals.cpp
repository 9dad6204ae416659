//===- LayoutProposals.cpp - layouts that nests propose -------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/LayoutProposals.h"

#include "lib/analysis/Layouts.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

static constexpr size_t mostCandidates = 10;

static size_t hashOf(const Layout &layout) {
  llvm::hash_code hash = layout.factors.size();
  for (const Layout::Factor &factor : layout.factors)
    hash = llvm::hash_combine(hash, llvm::hash_combine_range(factor.names), factor.divisor,
                              factor.modulus);
  return hash;
}

/// Merges blocks that are adjacent in memory.
static Layout simplified(Layout layout, const Sizes &sizes) {
  for (size_t i = 0; i + 1 < layout.factors.size(); ++i) {
    const Layout::Factor &outer = layout.factors[i], &inner = layout.factors[i + 1];
    int64_t size = 1;
    for (const std::string &name : outer.names)
      size *= sizes.find(name)->second;
    if (outer.names != inner.names || outer.modulus || inner.divisor != 1 ||
        inner.modulus != outer.divisor || size % outer.divisor || outer.low || outer.high ||
        inner.low || inner.high)
      continue;
    std::vector<std::string> names = outer.names;
    layout.factors.erase(layout.factors.begin() + long(i), layout.factors.begin() + long(i) + 2);
    for (const std::string &name : llvm::reverse(names))
      layout.factors.insert(layout.factors.begin() + long(i), {{name}, 1, 0, 0, 0});
  }
  return layout;
}

void LayoutProposals::add(Value value, Layout layout, double weight) {
  auto found = values.index.find(value);
  if (found == values.index.end())
    return;
  if (llvm::any_of(layout.factors, [](const Layout::Factor &factor) { return factor.modulus; }))
    layout = simplified(std::move(layout), tensorType(value).sizes());
  if (!putOutermost(layout, values.outermost.lookup(found->second)))
    return;
  size_t hash = hashOf(layout);
  for (Proposal &known : proposals[found->second])
    if (known.hash == hash && known.layout == layout) {
      if (weight > known.weight) {
        known.weight = weight;
        known.changed = ++changes;
      }
      return;
    }
  if (!layout.verifyAll(tensorType(value).sizeExprs()).empty())
    return;
  proposals[found->second].push_back({layout, weight, ++changes, hash});
}

std::vector<Proposal> LayoutProposals::takeNew(const NestAccess &access) {
  auto found = values.index.find(access.tensor);
  if (found == values.index.end())
    return {};
  int64_t last = std::exchange(taken[&access], changes);
  std::vector<Proposal> news;
  if (const LaidValue &value = values.values[found->second]; value.fixed) {
    if (last < 1)
      news = {{value.candidates[0], 1, 1, 0}};
  } else {
    llvm::copy_if(proposals[found->second], std::back_inserter(news),
                  [&](const Proposal &proposal) { return proposal.changed > last; });
  }
  return news;
}

std::vector<Layout> LayoutProposals::candidates(unsigned value) const {
  const LaidValue &laid = values.values[value];
  std::vector<const Proposal *> heaviest;
  for (const Proposal &proposal : proposals[value])
    heaviest.push_back(&proposal);
  llvm::stable_sort(heaviest,
                    [](const Proposal *a, const Proposal *b) { return a->weight > b->weight; });
  std::vector<Layout> candidates = laid.candidates;
  for (const Proposal *proposal : heaviest)
    if (candidates.size() < mostCandidates && !llvm::is_contained(candidates, proposal->layout))
      candidates.push_back(proposal->layout);
  // Row-major by canonical names, so that no choice depends on spelling.
  std::vector<std::string> names;
  for (const nd::Dim &dim : tensorType(laid.values[0]).getDims())
    names.push_back(dim.name.str());
  Layout plain = Layout::rowMajor(names);
  putOutermost(plain, values.outermost.lookup(value));
  if (!laid.fixed && !llvm::is_contained(candidates, plain))
    candidates.push_back(plain);
  return candidates;
}
