//===- JitSizes.cpp - symbolic sizes of a compiled function ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/builder/JitSizes.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdBuild.h"

using namespace heddle;
using namespace heddle::detail;

static std::string symbolOf(const Name &name) { return name.str() + "_size"; }

/// The range of the symbol whose product with the divisor is the size.
static Range rangeOfSymbol(const SymbolicSize &size) {
  return {(size.low + size.divisor - 1) / size.divisor, size.high / size.divisor};
}

JitSizes::JitSizes(const JitOptions &options, Here here) : options(options), here(here) {
  for (const SymbolicSize &size : options.symbolic) {
    if (auto [low, high] = rangeOfSymbol(size); low > high)
      fail(here, "no multiple of " + std::to_string(size.divisor) + " is a size of '" +
                     size.name.str() + "' from " + std::to_string(size.low) + " to " +
                     std::to_string(size.high));
    sizeOf(size, {}); // throws for contradictory relations
  }
}

const SymbolicSize *JitSizes::findSymbolic(StringRef name) const {
  for (const SymbolicSize &size : options.symbolic)
    if (name == size.name.str())
      return &size;
  return nullptr;
}

std::vector<nd::NdTensorType> JitSizes::programTypes(const std::vector<Leaf> &leaves,
                                                     Here here) const {
  std::vector<nd::NdTensorType> types;
  for (const Leaf &leaf : leaves)
    types.push_back(nodeOf(*leaf.tensor, here)->type());
  if (options.symbolic.empty())
    return types;
  Sizes special = specialSizes(types);
  for (nd::NdTensorType &type : types) {
    SmallVector<nd::Dim> dims;
    for (const nd::Dim &dim : type.getDims()) {
      const SymbolicSize *symbolic = findSymbolic(dim.name.getValue());
      dims.push_back(
          symbolic ? nd::Dim(type.getContext(), dim.name.getValue(), sizeOf(*symbolic, special))
                   : dim);
    }
    type = type.withDims(dims);
  }
  return types;
}

void JitSizes::requireNames(ArrayRef<nd::NdTensorType> types, Here here) const {
  for (const SymbolicSize &size : options.symbolic) {
    bool isKnown = llvm::any_of(types, [&](nd::NdTensorType t) { return t.has(size.name.str()); });
    for (const SymbolicSize &other : options.symbolic)
      isKnown |= other.relation && other.relation->mentions(size.name.str());
    if (isKnown)
      continue;
    std::string text;
    for (nd::NdTensorType type : types)
      text += (text.empty() ? "" : ", ") + nd::namesText(type.getDims());
    fail(here, "expected an argument of '" + options.name + "' that has the name '" +
                   size.name.str() + "' (JitOptions::symbolic), got " +
                   (text.empty() ? "no arguments" : text));
  }
}

void JitSizes::declareRanges(func::FuncOp function) const {
  mlir::Builder builder(function.getContext());
  mlir::NamedAttrList ranges;
  for (const SymbolicSize &size : options.symbolic) {
    auto has = [&](Type type) {
      auto extent = llvm::cast<nd::NdTensorType>(type).size(size.name.str());
      return extent && extent.getExpr().mentions(symbolOf(size.name));
    };
    auto [low, high] = rangeOfSymbol(size);
    if (llvm::any_of(function.getArgumentTypes(), has) && (low > 0 || high < largestSymbol))
      ranges.set(symbolOf(size.name), builder.getI64ArrayAttr({low, high}));
  }
  if (!ranges.empty())
    function->setAttr(nd::rangesAttrName, ranges.getDictionary(function.getContext()));
}

Sizes JitSizes::specialSizes(ArrayRef<nd::NdTensorType> types) const {
  Sizes chosen;
  for (const Extent &extent : options.specialised) {
    bool isSaid = false, isDenied = false;
    for (nd::NdTensorType type : types)
      for (const nd::Dim &dim : type.getDims()) {
        const SymbolicSize *symbolic = findSymbolic(dim.name.getValue());
        if (!symbolic)
          continue;
        Expr general = sizeOf(*symbolic, {}),
             own = sizeOf(*symbolic, {{extent.name.str(), extent.size}});
        if (general == own || !own.constant())
          continue;
        (own == dim.size().getExpr() ? isSaid : isDenied) = true;
      }
    if (isSaid && !isDenied)
      chosen[extent.name.str()] = extent.size;
  }
  return chosen;
}

Expr JitSizes::sizeOf(const SymbolicSize &size, const Sizes &special, size_t depth) const {
  auto refuse = [&](const std::string &problem) {
    fail(here, "the size of '" + size.name.str() + "' is declared as " + size.relation->str() +
                   ", " + problem);
  };
  if (auto found = special.find(size.name.str()); found != special.end())
    return Expr(found->second);
  if (!size.relation)
    return Expr::name(symbolOf(size.name)) * Expr(size.divisor);
  if (depth > options.symbolic.size())
    refuse("which depends on itself");
  if (size.low != 0 || size.high != largestSymbol || size.divisor != 1)
    refuse("expected no other condition on it");
  Expr related = size.relation->substitute([&](const std::string &name) -> std::optional<Expr> {
    for (const SymbolicSize &other : options.symbolic)
      if (other.name.str() == name)
        return sizeOf(other, special, depth + 1);
    refuse("expected '" + name + "' among the symbolic names");
    return std::nullopt;
  });
  if (related.isTooLarge())
    refuse("expected " + Expr::limits() + " over the sizes of names without a relation");
  return related;
}
