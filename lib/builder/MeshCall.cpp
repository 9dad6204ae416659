//===- MeshCall.cpp - calls of programs for several ranks -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/MeshCall.h"

#include "lib/builder/Graph.h"

using namespace heddle;
using namespace heddle::detail;

static ExprMap wholeDims(const ValueSpec &value) {
  ExprMap dims = value.type.dims;
  for (const auto &[name, size] : value.wholeDims)
    dims[name] = size;
  return dims;
}

/// Binds the symbols of the entry as if its arguments were whole.
static SuppliedNumbers bindWhole(const EntrySpec &entry, const MeshSpec &mesh, int rank,
                                 const std::vector<Tensor> &arguments, Here here) {
  EntrySpec whole{.name = entry.name, .symbols = entry.symbols, .coordinates = entry.coordinates};
  SuppliedNumbers coordinates;
  for (const auto &[symbol, axis] : entry.coordinates) {
    whole.supplied.push_back(symbol);
    coordinates[symbol] = mesh.coordinate(rank, axis);
  }
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ValueSpec &value = entry.values[size_t(entry.arguments[i])];
    whole.arguments.push_back(int32_t(i));
    whole.values.push_back(
        {.kind = value.kind, .name = value.name, .type = {value.type.element, wholeDims(value)}});
    TensorSpec &spec = specs.emplace_back(TensorSpec{value.type.element, {}});
    for (const auto &[name, size] : arguments[i].sizes(here))
      spec.dims[name] = size;
  }
  std::vector<const TensorSpec *> given;
  for (const TensorSpec &spec : specs)
    given.push_back(&spec);
  std::vector<int64_t> values = bindSymbols(whole, given, coordinates);
  for (size_t i = 0; i < entry.symbols.size(); ++i)
    coordinates[entry.symbols[i]] = values[i];
  return coordinates;
}

MeshCall::MeshCall(const Manifest &manifest, const EntrySpec &entry, std::shared_ptr<Job> given,
                   const std::vector<Tensor> &arguments, Here here)
    : manifest(manifest), entry(entry), job(std::move(given)) {
  requireRanks(manifest.mesh, job ? job->ranks() : 1);
  symbols = bindWhole(entry, manifest.mesh, job ? job->rank() : 0, arguments, here);
}

Shards MeshCall::shardsOf(const ValueSpec &value) const {
  Sizes sizes;
  for (const auto &[name, size] : wholeDims(value))
    sizes[name] = *size.evaluate([&](const std::string &symbol) -> std::optional<int64_t> {
      auto found = symbols.find(symbol);
      return found == symbols.end() ? 0 : found->second;
    });
  return Shards(manifest.mesh, value.shards, sizes);
}

TensorRef MeshCall::argument(size_t i, const Tensor &tensor, bool keeps, Here here) const {
  Node &node = *nodeOf(tensor, here);
  const ValueSpec &value = entry.values[size_t(entry.arguments[i])];
  Shards shards = shardsOf(value);
  if (shards.axes().empty())
    return wholeOf(node, here);
  if (node.split && node.split->shards == shards)
    return node.split->block;
  TensorRef whole = wholeOf(node, here);
  TensorRef block =
      located(here, [&] { return shards.cut(*whole, job ? job->rank() : 0, value.layout); });
  if (keeps) {
    GraphLock lock;
    node.split = std::make_shared<SplitTensor>(SplitTensor{shards, block, job, value.name});
  }
  return block;
}

Tensor MeshCall::result(size_t i, TensorRef given, Here here) const {
  const ValueSpec &value = entry.values[size_t(entry.results[i])];
  Shards shards = shardsOf(value);
  if (shards.axes().empty())
    return Tensor::fromData(std::move(given), here);
  return Tensor::fromSplit(
      std::make_shared<SplitTensor>(SplitTensor{shards, std::move(given), job,
                                                "'" + value.name + "' of '" + entry.name + "'"}),
      here);
}

SuppliedNumbers MeshCall::supplied() const {
  SuppliedNumbers numbers;
  for (const std::string &symbol : entry.supplied)
    if (auto found = symbols.find(symbol); found != symbols.end())
      numbers[symbol] = found->second;
  return numbers;
}
