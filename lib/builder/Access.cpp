//===- Access.cpp - order, computed ranges, padding -----------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "heddle/Ops.h"
#include "lib/builder/Graph.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

namespace heddle {

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

static std::vector<Tensor> sortTo(const std::vector<Tensor> &tensors, const Name &along,
                                  bool descending, const Size &size, Here here) {
  std::vector<NodeRef> nodes;
  for (const Tensor &tensor : tensors)
    nodes.push_back(nodeOf(tensor, here));
  return makeAll(here, nodes, [&](OpBuilder &builder, Location loc) {
    SmallVector<Value> values =
        llvm::map_to_vector(nodes, [](const NodeRef &node) { return node->value; });
    return nd::buildSort(builder, loc, values, along.str(), descending, size.expr());
  });
}

static Sorted sortWithIndices(const Operand &x, const Name &along, bool descending,
                              const Size &size) {
  Tensor index = iota({along, x.tensor.size(along, x.here)}, ElementType::I64, x.here);
  std::vector<Tensor> sorted = sortTo({x.tensor, index.broadcast(x.tensor.extents(), x.here)},
                                      along, descending, size, x.here);
  return {sorted[0], sorted[1]};
}

Sorted sort(Operand x, const Name &along, bool descending) {
  return sortWithIndices(x, along, descending, x.tensor.size(along, x.here));
}

Sorted topK(Operand x, const Name &along, const Size &count) {
  return sortWithIndices(x, along, /*descending=*/true, count);
}

Tensor argsort(Operand x, const Name &along, bool descending) {
  return sort(x, along, descending).indices;
}

std::vector<Tensor> sortTogether(const std::vector<Tensor> &tensors, const Name &along,
                                 bool descending, Here here) {
  if (tensors.empty())
    fail(here, "expected tensors to sort along '" + along.str() + "'");
  return sortTo(tensors, along, descending, tensors[0].size(along, here), here);
}

//===----------------------------------------------------------------------===//
// Slices at computed starts
//===----------------------------------------------------------------------===//

Tensor Tensor::slice(const Name &name, const Tensor &start, const Size &size, Here here) const {
  NodeRef input = nodeOf(*this, here), first = nodeOf(start, here);
  return make(here, {input, first}, [&](OpBuilder &builder, Location loc) {
    return nd::buildDynamicSlice(builder, loc, input->value, name.str(), first->value, size.expr());
  });
}

Tensor Tensor::update(const Name &name, const Tensor &start, const Tensor &part, Here here) const {
  NodeRef input = nodeOf(*this, here), first = nodeOf(start, here), inner = nodeOf(part, here);
  return make(here, {inner, input, first}, [&](OpBuilder &builder, Location loc) {
    return nd::buildUpdateSlice(builder, loc, inner->value, input->value, name.str(), first->value);
  });
}

//===----------------------------------------------------------------------===//
// Padding by elements of the tensor
//===----------------------------------------------------------------------===//

Tensor Tensor::reverse(const Name &name, Here here) const {
  Size count = size(name, here);
  return count.expr() == Expr(0) ? *this : slice(name, count - 1, count, -1, here);
}

Tensor Tensor::pad(const Name &name, const Size &low, const Size &high, PadMode mode,
                   Here here) const {
  Size count = size(name, here);
  // The padding may not exceed the elements that it copies. If that depends on symbols, each call
  // checks it.
  Expr most = mode == PadMode::Reflect ? count.expr() - Expr(1)
              : mode == PadMode::Wrap  ? count.expr()
                                       : Expr(INT64_MAX);
  if (count.expr() == Expr(0))
    most = 0;
  for (const Size &beyond : {low, high})
    if (beyond.expr().constant().value_or(0) < 0 ||
        (mode != PadMode::Edge || most == Expr(0) ? (most - beyond.expr()).constant().value_or(0)
                                                  : 0) < 0)
      fail(here, "expected 0 to " + most.str() + " elements beyond either end of '" + name.str() +
                     "' of " + type() + ", got " + low.expr().str() + " and " + high.expr().str());
  auto repeated = [&](const Size &first, const Size &times) {
    return slice(name, first, 1, 1, here).split(name, {}, here).broadcast({{name, times}}, here);
  };
  std::vector<Tensor> parts{*this};
  if (low.expr() != Expr(0))
    parts.insert(parts.begin(), mode == PadMode::Edge ? repeated(0, low)
                                : mode == PadMode::Reflect
                                    ? slice(name, low, low, -1, here)
                                    : slice(name, count - low, low, 1, here));
  if (high.expr() != Expr(0))
    parts.push_back(mode == PadMode::Edge      ? repeated(count - 1, high)
                    : mode == PadMode::Reflect ? slice(name, count - 2, high, -1, here)
                                               : slice(name, 0, high, 1, here));
  return concat(parts, name, here);
}

} // namespace heddle
