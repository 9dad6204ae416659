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

MeshCall::MeshCall(const Manifest &manifest, const EntrySpec &entry, std::shared_ptr<Job> given,
                   const std::vector<Tensor> &arguments, Here here)
    : entry(entry), job(std::move(given)) {
  requireRanks(manifest.mesh, job ? job->ranks() : 1);
  std::vector<TensorSpec> specs;
  for (const Tensor &tensor : arguments) {
    TensorSpec &spec = specs.emplace_back(TensorSpec{tensor.elementType(here), {}});
    for (const auto &[name, size] : tensor.sizes(here))
      spec.dims[name] = size;
  }
  std::vector<const TensorSpec *> whole;
  for (const TensorSpec &spec : specs)
    whole.push_back(&spec);
  placed.emplace(manifest, entry, whole);
}

TensorRef MeshCall::argument(size_t i, const Tensor &tensor, bool keeps, Here here) const {
  Node &node = *nodeOf(tensor, here);
  const ValueSpec &value = entry.values[size_t(entry.arguments[i])];
  const Shards &shards = placed->arguments[i];
  if (shards.isWhole())
    return wholeOf(node, here);
  for (const auto &known : {node.split, node.resplit})
    if (known && known->shards == shards)
      return known->block;
    else if (known && known->shards == shards.withoutPlace()) // more ranks than necessary hold it
      return shards.holds(job->rank()) ? known->block
                                       : Shards::absent(known->block->spec().element);
  // A whole tensor that is gathered to change the sharding is not stored in the node.
  TensorRef whole =
      node.data || !node.split ? node.data : located(here, [&] { return node.split->gather(); });
  TensorRef block =
      located(here, [&] { return shards.cut(*whole, job ? job->rank() : 0, value.layout); });
  if (keeps) {
    GraphLock lock;
    (node.split ? node.resplit : node.split) =
        std::make_shared<SplitTensor>(SplitTensor{shards, block, job, value.name});
  }
  return block;
}

Tensor MeshCall::result(size_t i, TensorRef given, Here here) const {
  const ValueSpec &value = entry.values[size_t(entry.results[i])];
  const Shards &shards = placed->results[i];
  if (shards.isWhole())
    return Tensor::fromData(std::move(given), here);
  return Tensor::fromSplit(
      std::make_shared<SplitTensor>(SplitTensor{shards, std::move(given), job,
                                                "'" + value.name + "' of '" + entry.name + "'"}),
      here);
}
