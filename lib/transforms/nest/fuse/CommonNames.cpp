//===- CommonNames.cpp - one space for two nests --------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/fuse/CommonNames.h"

#include "lib/analysis/NestAnalysis.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// Returns true if `a` (of the first nest) and `b` (of the second) can become one name.
static bool isAlike(ComputeOp first, StringRef a, ComputeOp second, StringRef b) {
  auto find = [](nd::DimsAttr dims, StringRef name) { return dims.lookup(name); };
  auto p = find(first.getProduced(), a), q = find(second.getProduced(), b);
  if (p || q)
    return p == q;
  auto r = find(first.getReduced(), a);
  return r && r == find(second.getReduced(), b);
}

std::optional<Renaming> nest::commonNames(ComputeOp first, unsigned k, ComputeOp second,
                                          unsigned i) {
  Renaming names;
  std::set<std::string> used;
  auto match = [&](const std::string &b, const std::string &a) {
    if (!isAlike(first, a, second, b) || !used.insert(a).second)
      return false;
    names[b] = a;
    return true;
  };
  for (auto [entryA, entryB] :
       llvm::zip_equal(first.readMap(k).getEntries(), second.readMap(i).getEntries())) {
    auto a = entryA.expr().asName(), b = entryB.expr().asName();
    if (!a || !b || readIndex(*a) || readIndex(*b))
      continue; // compared under the names that are found
    auto known = names.find(*b);
    if (known != names.end() ? known->second != *a : !match(*b, *a))
      return std::nullopt;
  }
  nd::DimsAttr space = iterationSpace(second), target = iterationSpace(first);
  if (space.size() != target.size())
    return std::nullopt;
  // Matches the remaining names: by equal spelling, then if there is only one candidate.
  for (const nd::Dim &dim : space)
    if (std::string name = dim.name.str(); !names.count(name) && !used.count(name))
      match(name, name);
  for (const nd::Dim &dim : space) {
    std::string name = dim.name.str();
    if (names.count(name))
      continue;
    SmallVector<std::string> candidates;
    for (const nd::Dim &other : target)
      if (!used.count(other.name.str()) && isAlike(first, other.name.getValue(), second, name))
        candidates.push_back(other.name.str());
    if (candidates.size() != 1 || !match(name, candidates[0]))
      return std::nullopt;
  }
  return names;
}
