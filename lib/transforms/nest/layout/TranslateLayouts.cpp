//===- TranslateLayouts.cpp - layouts through the maps of a nest ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/layout/LayoutProposals.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The iteration name that represents each coordinate of an access, or -1.
static SmallVector<int> principalsOf(const NestModel &nest, const NestAccess &access) {
  return llvm::map_to_vector(access.coordinates, [&](const Coordinate &coordinate) {
    return principalOf(nest, coordinate);
  });
}

/// Maps the dimensions of one access to those of another with the same principals; -1: none.
static SmallVector<int> match(ArrayRef<int> from, ArrayRef<int> to) {
  SmallVector<int> matched(from.size(), -1);
  for (size_t d = 0; d < from.size(); ++d)
    for (size_t k = 0; k < to.size() && from[d] >= 0; ++k)
      if (from[d] == to[k] && !llvm::is_contained(matched, int(k))) {
        matched[d] = int(k);
        break;
      }
  return matched;
}

/// Translates a layout of `from` to the dimensions of `to`, using the nest's maps.
static std::optional<Layout> translate(ArrayRef<int> matched, const NestAccess &from,
                                       const NestAccess &to, const Layout &layout) {
  Layout result;
  result.alignment = layout.alignment;
  SmallVector<bool> placed(to.dims.size());
  for (const Layout::Factor &factor : layout.factors) {
    Layout::Factor changed{{}, factor.divisor, factor.modulus, factor.low, factor.high};
    for (const std::string &name : factor.names) {
      int dim = matched[size_t(llvm::find(from.dims, name) - from.dims.begin())];
      if (dim < 0)
        continue;
      changed.names.push_back(to.dims[size_t(dim)]);
      placed[size_t(dim)] = true;
    }
    if (changed.names.empty())
      continue;
    if (changed.names.size() != factor.names.size())
      return std::nullopt;
    result.factors.push_back(std::move(changed));
  }
  std::vector<Layout::Factor> outside;
  for (auto [name, isPlaced] : llvm::zip_equal(to.dims, placed))
    if (!isPlaced)
      outside.push_back({{name}, 1, 0, 0, 0});
  result.factors.insert(result.factors.begin(), outside.begin(), outside.end());
  return result;
}

/// Returns a key of the parts of an access that `match` depends on.
static std::string spelled(const NestAccess &access, ArrayRef<int> principals) {
  std::string text;
  for (auto [dim, principal] : llvm::zip_equal(access.dims, principals))
    text += dim + " " + std::to_string(principal) + " ";
  return text;
}

void nest::translateProposals(const NestModel &nest, LayoutProposals &proposals) {
  // Records the proposals already passed to accesses with equal keys, since a nest may have
  // thousands of reads.
  struct Passed {
    Value proposer;
    double toOthers, toIt; ///< weights
  };
  llvm::StringMap<Passed> known;
  std::vector<SmallVector<int>> principals; // of each access, once there is an offer
  for (const NestAccess &from : nest.accesses) {
    std::vector<Proposal> offers = proposals.takeNew(from);
    std::string read = offers.empty() ? "" : spelled(from, principalsOf(nest, from));
    llvm::erase_if(offers, [&](const Proposal &offer) {
      auto [found, isNew] =
          known.try_emplace(read + offer.layout.str(), Passed{from.tensor, offer.weight, -1});
      Passed &passed = found->second;
      if (isNew)
        return false;
      if (offer.weight > passed.toOthers) {
        if (from.tensor != passed.proposer)
          passed = {from.tensor, 0, passed.toOthers};
        passed.toOthers = offer.weight;
        return false;
      }
      if (from.tensor == passed.proposer || offer.weight <= passed.toIt)
        return true;
      passed.toIt = offer.weight;
      return false;
    });
    if (offers.empty())
      continue;
    if (principals.empty())
      for (const NestAccess &access : nest.accesses)
        principals.push_back(principalsOf(nest, access));
    ArrayRef<int> own = principals[size_t(&from - nest.accesses.data())];
    for (auto [to, others] : llvm::zip_equal(nest.accesses, principals)) {
      if (&to == &from || to.tensor == from.tensor)
        continue;
      SmallVector<int> matched = match(own, others);
      for (const Proposal &offer : offers)
        if (auto layout = translate(matched, from, to, offer.layout))
          proposals.add(to.tensor, *layout, offer.weight * 0.5);
    }
  }
}
