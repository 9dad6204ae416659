//===- LayerScope.cpp - which layer operations belong to ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/LayerScope.h"

#include "dialects/nd/NdGradient.h"
#include "lib/builder/Graph.h"

using namespace heddle;
using namespace heddle::detail;

static thread_local std::string innermost;

LayerScope::LayerScope(std::string path) : outer(innermost) {
  if (!path.empty())
    innermost = std::move(path);
}

LayerScope::~LayerScope() { innermost = std::move(outer); }

const std::string &LayerScope::current() { return innermost; }

std::string heddle::detail::pathAround(const Tensor &tensor, const std::string &member) {
  const Node *node = tensor.node.get();
  while (node && !node->formal)
    node = node->fragment && node->fragment->operands.size() == 1
               ? node->fragment->operands.front().get()
               : nullptr;
  StringRef path = node ? StringRef(node->name) : "";
  return path.consume_back(member) && path.consume_back(".") ? path.str() : "";
}

void heddle::detail::nameSeen(const Tensor &tensor, const std::string &name) {
  if (!tensor.node || tensor.node->formal || !tensor.node->fragment)
    return;
  GraphLock lock;
  if (Operation *op = tensor.node->value.getDefiningOp())
    op->setLoc(nd::seenLoc(op->getLoc(), name));
}
