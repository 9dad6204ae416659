//===- KernelIteration.cpp - reads and iteration space of a kernel --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/KernelIteration.h"

#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestBuild.h"

using namespace heddle;
using namespace heddle::detail;
using namespace mlir;

using Kind = Scalar::Node::Kind;

void KernelReads::collect(const ScalarRef &node) {
  if (!seen.insert(node.get()).second)
    return;
  for (const ScalarRef &operand : node->operands)
    collect(operand);
  if (node->kind == Kind::Argument)
    fail(node->here, "an argument of a combiner is used outside of it");
  if (node->kind != Kind::Read)
    return;
  (void)nodeOf(node->tensor, node->here);
  for (const auto &[name, index] : node->coordinates)
    if (index.value) {
      ScalarRef value = lookUp(index.value);
      collect(value);
      if (!affine(*value))
        computed.push_back(value);
    }
  position[node.get()] = list.size();
  list.push_back(node);
}

ScalarRef KernelReads::lookUp(const ScalarRef &value) const {
  auto found = stored.find(value.get());
  return found == stored.end() ? value : found->second;
}

std::optional<Expr> KernelReads::affine(const Scalar::Node &node) const {
  if (node.kind == Kind::Index)
    return node.index;
  if (node.kind == Kind::Number)
    return node.number == std::floor(node.number) && std::abs(node.number) < 1e15
               ? std::optional(Expr(int64_t(node.number)))
               : std::nullopt;
  if (node.kind == Kind::Read && !node.otherwise &&
      node.tensor.node->type().getElementType().isInteger())
    return Expr::name(nest::readName(position.lookup(&node)));
  if (node.kind != Kind::Apply || node.operands.size() != 2)
    return std::nullopt;
  // Scalars are shared: each is visited once.
  auto [known, isNew] = indices.try_emplace(&node);
  if (!isNew)
    return known->second;
  auto a = affine(*node.operands[0]), b = affine(*node.operands[1]);
  if (!a || !b)
    return std::nullopt;
  if (node.op == "add")
    return known->second = *a + *b;
  if (node.op == "sub")
    return known->second = *a - *b;
  if (node.op == "mul" && (a->isConstant() || b->isConstant()))
    return known->second = *a * *b;
  return std::nullopt;
}

std::optional<Expr> KernelReads::indexAlong(const Scalar::Node &read, StringRef name) const {
  auto found = read.coordinates.find(name.str());
  if (found == read.coordinates.end())
    return Expr::name(name.str());
  return found->second.value ? affine(*lookUp(found->second.value)) : found->second.expr;
}

static bool isIteration(const std::string &name) { return !nest::readIndex(name); }

/// The iteration names that a scalar and its reads depend on.
static void addNames(const KernelReads &reads, const Scalar::Node &node,
                     std::set<std::string> &names, std::set<const Scalar::Node *> &seen) {
  if (!seen.insert(&node).second)
    return;
  auto add = [&](const Expr &index) {
    for (const std::string &name : index.names())
      if (isIteration(name))
        names.insert(name);
  };
  if (node.kind == Kind::Index)
    add(node.index);
  for (const ScalarRef &operand : node.operands)
    addNames(reads, *operand, names, seen);
  if (node.kind != Kind::Read)
    return;
  for (const std::string &name : node.tensor.names()) {
    auto found = node.coordinates.find(name);
    if (found != node.coordinates.end() && found->second.value)
      addNames(reads, *reads.lookUp(found->second.value), names, seen);
    else
      add(*reads.indexAlong(node, name));
  }
}

std::set<std::string> heddle::detail::namesOf(const KernelReads &reads, ArrayRef<Scalar> scalars) {
  std::set<std::string> names;
  std::set<const Scalar::Node *> seen;
  for (const Scalar &scalar : scalars)
    addNames(reads, *scalar.node, names, seen);
  return names;
}

IterationSpace heddle::detail::findSizes(const KernelReads &reads, const ExprMap &stated,
                                         const std::set<std::string> &names, Here here) {
  IterationSpace space;
  space.sizes = {stated.begin(), stated.end()};
  /// Calls `use` with each index that must be in bounds, and with its bound.
  auto forEachIndex = [&](auto &&use) {
    for (const ScalarRef &read : reads.list)
      for (const nd::Dim &dim : read->tensor.node->type().getDims())
        if (auto index = reads.indexAlong(*read, dim.name.getValue());
            index && !(read->otherwise && read->coordinates.count(dim.name.str())) &&
            llvm::all_of(index->names(), isIteration))
          use(*read, *index, dim);
  };
  forEachIndex([&](const Scalar::Node &read, const Expr &index, const nd::Dim &dim) {
    const Expr &size = dim.size().getExpr();
    auto name = index.asName();
    if (!name)
      return;
    auto [known, isNew] = space.sizes.emplace(*name, size);
    if (isNew)
      space.from[*name] = read.tensor.type();
    else if (!nd::mayEqual(known->second, size) && !stated.count(*name))
      fail(read.here, "the name '" + *name + "' has size " + known->second.str() + " in " +
                          space.from[*name] + " and size " + size.str() + " in " +
                          read.tensor.type());
  });
  // The size of a single unknown name, as of a window's output: (N - 1 - the largest value of the
  // rest) floordiv coefficient + 1.
  for (bool changed = true; changed;) {
    changed = false;
    ExprMap found;
    forEachIndex([&](const Scalar::Node &read, const Expr &index, const nd::Dim &dim) {
      const Expr &extent = dim.size().getExpr();
      std::vector<std::string> unknown;
      Ranges ranges;
      for (const std::string &name : index.names())
        if (auto known = space.sizes.find(name); known == space.sizes.end())
          unknown.push_back(name);
        else if (auto size = known->second.constant())
          ranges[name] = {0, *size - 1};
      if (unknown.size() != 1 || !index.isLinearIn(unknown[0]) ||
          index.coefficient(unknown[0]) <= 0)
        return;
      Expr rest = index - index.coefficient(unknown[0]) * Expr::name(unknown[0]);
      auto bounds = rest.bounds(ranges);
      if (!bounds)
        return;
      Expr room = extent - Expr(1 + bounds->high);
      Expr size = room.floordiv(index.coefficient(unknown[0])) + Expr(1);
      bool isEmpty = extent == Expr(0) || llvm::any_of(ranges, [](const auto &range) {
                       return range.second.high < range.second.low;
                     });
      if (!isEmpty && size.constant().value_or(1) < 1)
        fail(read.here, "expected an index '" + unknown[0] + "' at which '" + index.str() +
                            "' lies within '" + dim.name.str() + "' of " +
                            typeAndOrigin(read.tensor) + ", got none");
      if (size.isConstant())
        size = Expr::max(size, Expr(0));
      auto [entry, isNew] = found.emplace(unknown[0], size);
      entry->second = Expr::min(entry->second, size);
    });
    for (const auto &[name, size] : found)
      changed |= space.sizes.emplace(name, size).second;
  }
  for (const std::string &name : names)
    if (!space.sizes.count(name))
      fail(here,
           "the size of '" + name + "' does not follow from the operands; state it with size()");
  return space;
}
