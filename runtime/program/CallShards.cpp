//===- CallShards.cpp - a call on blocks of whole tensors -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/CallShards.h"

using namespace heddle;

static bool isCoordinate(const EntrySpec &entry, const std::string &symbol) {
  for (const auto &[name, axis] : entry.coordinates)
    if (name == symbol)
      return true;
  return false;
}

EntrySpec heddle::wholeSignature(const EntrySpec &entry) {
  EntrySpec seen;
  seen.name = entry.name;
  for (const std::string &symbol : entry.symbols)
    if (!isCoordinate(entry, symbol))
      seen.symbols.push_back(symbol);
  auto add = [&](const std::vector<int32_t> &values, std::vector<int32_t> &to) {
    for (int32_t value : values) {
      ValueSpec spec = entry.values[size_t(value)];
      if (!spec.shards.empty() || !spec.place.empty())
        spec.type.dims = spec.wholeDims;
      to.push_back(int32_t(seen.values.size()));
      seen.values.push_back(std::move(spec));
    }
  };
  add(entry.arguments, seen.arguments);
  add(entry.results, seen.results);
  return seen;
}

CallShards::CallShards(const Manifest &manifest, const EntrySpec &entry,
                       const std::vector<const TensorSpec *> &whole) {
  EntrySpec seen = wholeSignature(entry);
  std::vector<int64_t> numbers = bindSymbols(seen, whole);
  ExprMap known;
  for (size_t i = 0; i < numbers.size(); ++i) {
    known[seen.symbols[i]] = Expr(numbers[i]);
    if (entry.isSupplied(seen.symbols[i]))
      supplied[seen.symbols[i]] = numbers[i];
  }
  auto place = [&](const std::vector<int32_t> &values, std::vector<Shards> &to) {
    for (int32_t value : values) {
      const ValueSpec &spec = seen.values[size_t(value)];
      Sizes sizes;
      for (const auto &[name, size] : spec.type.dims)
        sizes[name] = size.substitute(known).constant().value();
      to.emplace_back(manifest.mesh, spec.shards, sizes, spec.place);
    }
  };
  place(seen.arguments, arguments);
  place(seen.results, results);
}
