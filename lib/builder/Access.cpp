//===- Access.cpp - gather, scatter, slices at computed starts ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "heddle/Ops.h"
#include "lib/builder/Scalar.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

namespace heddle {

Tensor Tensor::gather(const Name &name, const Tensor &index, Here here) const {
  return gather({{name, index}}, here);
}

/// The nodes of indices after `nodes`, and the names along which they read.
static SmallVector<StringRef>
addIndices(std::vector<NodeRef> &nodes, const std::vector<std::pair<Name, Tensor>> &at, Here here) {
  SmallVector<StringRef> names;
  for (const auto &[name, index] : at) {
    names.push_back(name.str());
    nodes.push_back(nodeOf(index, here));
  }
  return names;
}

Tensor Tensor::gather(const std::vector<std::pair<Name, Tensor>> &at, Here here) const {
  std::vector<NodeRef> nodes{nodeOf(*this, here)};
  SmallVector<StringRef> names = addIndices(nodes, at, here);
  return make(here, nodes, [&](OpBuilder &builder, Location loc) {
    return nd::buildGather(builder, loc, nodes[0]->value, names,
                           valuesOf(ArrayRef(nodes).drop_front()));
  });
}

static Tensor scatterBy(
    const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
    const Tensor &updates, Here here,
    function_ref<Value(OpBuilder &, Location, ArrayRef<NodeRef>, ArrayRef<StringRef>, ValueRange)>
        build) {
  std::vector<NodeRef> nodes{nodeOf(destination, here), nodeOf(updates, here)};
  SmallVector<StringRef> names = addIndices(nodes, at, here);
  return make(here, nodes, [&](OpBuilder &builder, Location loc) {
    return build(builder, loc, nodes, names, valuesOf(ArrayRef(nodes).drop_front(2)));
  });
}

Tensor scatter(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
               const Tensor &updates, Combiner combiner, Here here) {
  return scatterBy(destination, at, updates, here,
                   [&](OpBuilder &builder, Location loc, ArrayRef<NodeRef> nodes,
                       ArrayRef<StringRef> names, ValueRange indices) {
                     return nd::buildScatter(builder, loc, nodes[0]->value, nodes[1]->value, names,
                                             indices, kindOf(combiner));
                   });
}

Tensor scatter(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
               const Tensor &updates, const std::function<Scalar(Scalar, Scalar)> &combiner,
               Here here) {
  ScalarCombiner traced(
      [&](const Scalars &a, const Scalars &b) { return Scalars{combiner(a[0], b[0])}; }, 1, here);
  Type element = nodeOf(destination, here)->type().getElementType();
  Deferred deferred;
  return scatterBy(destination, at, updates, here,
                   [&](OpBuilder &builder, Location loc, ArrayRef<NodeRef> nodes,
                       ArrayRef<StringRef> names, ValueRange indices) {
                     auto code = deferred.codeOf(traced, loc, element);
                     Value made = nd::buildScatter(
                         builder, loc, nodes[0]->value, nodes[1]->value, names, indices,
                         [&](OpBuilder &b, ValueRange scalars) { return code(b, scalars)[0]; });
                     deferred.rethrow();
                     return made;
                   });
}

Tensor scatterUnique(const Tensor &destination, const std::vector<std::pair<Name, Tensor>> &at,
                     const Tensor &updates, Here here) {
  return scatterBy(destination, at, updates, here,
                   [&](OpBuilder &builder, Location loc, ArrayRef<NodeRef> nodes,
                       ArrayRef<StringRef> names, ValueRange indices) {
                     return nd::buildScatter(
                         builder, loc, nodes[0]->value, nodes[1]->value, names, indices,
                         [](OpBuilder &, ValueRange s) { return s[1]; }, /*unique=*/true);
                   });
}

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

} // namespace heddle
