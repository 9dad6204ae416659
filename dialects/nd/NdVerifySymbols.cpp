//===- NdVerifySymbols.cpp - verifies size symbols and argument names -----===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comments give the number of the constraint in NdOps.td that a check belongs to.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdInference.h"

#include "llvm/ADT/StringSet.h"

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// Verifies that `nd.name` is a string that no earlier argument (or result) of the function has.
static LogicalResult verifyBinding(Operation *op, unsigned index, NamedAttribute attribute,
                                   StringRef what, ArrayAttr all) {
  if (attribute.getName() != nameAttrName)
    return success();
  auto name = dyn_cast<StringAttr>(attribute.getValue());
  if (!name || name.empty())
    return op->emitOpError() << "expected '" << nameAttrName << "' of " << what << " " << index
                             << " to be a non-empty string, got " << attribute.getValue();
  // Check all names when visiting the first argument (or result) that has one.
  llvm::DenseMap<Attribute, unsigned> first;
  for (auto [i, own] : llvm::enumerate(all ? all.getValue() : ArrayRef<Attribute>())) {
    auto other = cast<DictionaryAttr>(own).getAs<StringAttr>(nameAttrName);
    if (!other)
      continue;
    if (i < index)
      return success();
    if (auto [known, isNew] = first.try_emplace(other, unsigned(i)); !isNew)
      return op->emitOpError() << "expected distinct names, " << what << " " << known->second
                               << " and " << i << " are called '" << other.getValue() << "'";
  }
  return success();
}

llvm::StringSet<> nd::sizeSymbols(Operation *op) {
  llvm::StringSet<> symbols;
  auto function = dyn_cast<func::FuncOp>(op);
  if (!function)
    function = op->getParentOfType<func::FuncOp>();
  llvm::SmallPtrSet<const void *, 8> seen; // many arguments have few distinct types
  // An op that is being built may not be in a function yet.
  SmallVector<Type> types(op->getOperandTypes());
  if (function)
    types.assign(function.getArgumentTypes().begin(), function.getArgumentTypes().end());
  for (Type type : types)
    if (auto tensor = dyn_cast<NdTensorType>(type);
        tensor && seen.insert(type.getAsOpaquePointer()).second)
      for (const Dim &dim : tensor.getDims())
        for (const std::string &name : dim.size().getExpr().names())
          symbols.insert(name);
  auto list = function ? function->getAttrOfType<ArrayAttr>(symbolsAttrName) : ArrayAttr();
  for (Attribute name : list ? list.getValue() : ArrayRef<Attribute>())
    if (auto string = dyn_cast<StringAttr>(name))
      symbols.insert(string.getValue());
  return symbols;
}

/// Calls `visit` for the sizes in the types of `types`, and for those in `attributes`, with the
/// name of the dimension or of the attribute.
static void forEachSize(TypeRange types, ArrayRef<NamedAttribute> attributes,
                        function_ref<void(StringRef, const Expr &)> visit) {
  auto visitAll = [&](DimsAttr dims) {
    for (const Dim &dim : dims)
      visit(dim.name, dim.size().getExpr());
  };
  for (Type type : types)
    if (auto tensor = dyn_cast<NdTensorType>(type))
      visitAll(tensor.getDims());
  for (NamedAttribute attribute : attributes) {
    if (auto size = dyn_cast<SizeAttr>(attribute.getValue()))
      visit(attribute.getName(), size.getExpr());
    else if (auto dims = dyn_cast<DimsAttr>(attribute.getValue()))
      visitAll(dims);
  }
}

LogicalResult nd::verifyKnownSymbols(Operation *op) {
  SmallVector<std::string> symbols;
  LogicalResult fits = success();
  forEachSize(op->getResultTypes(), op->getAttrs(), [&](StringRef name, const Expr &size) {
    // Passes and builders may compute such sizes; the parser rejects written ones.
    if (succeeded(fits))
      fits = requireTerms(name, size, [&] { return operandError(op); });
    if (!size.isConstant())
      llvm::append_range(symbols, size.names());
  });
  if (failed(fits))
    return failure();
  if (symbols.empty())
    return success();
  llvm::StringSet<> known; // operands are checked at their defining ops
  forEachSize(op->getOperandTypes(), {}, [&](StringRef, const Expr &size) {
    for (const std::string &symbol : size.names())
      known.insert(symbol);
  });
  llvm::erase_if(symbols, [&](const std::string &symbol) { return known.contains(symbol); });
  // A symbol of a private function may be defined by its callers, under the same name.
  auto function = op->getParentOfType<func::FuncOp>();
  if (symbols.empty() || !function || !function.isPublic())
    return success();
  llvm::StringSet<> declared = sizeSymbols(function);
  for (const std::string &symbol : symbols)
    if (!declared.contains(symbol)) // S11
      return operandError(op) << "has a size with the symbol '" << symbol
                              << "', which is in no size of an argument of '@" << function.getName()
                              << "'";
  return success();
}

LogicalResult NdDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != rangesAttrName)
    return success();
  auto function = dyn_cast<func::FuncOp>(op);
  auto declared = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!function || !declared)
    return op->emitOpError() << "expected '" << rangesAttrName
                             << "' to be a dictionary on a function, got " << attribute.getValue();
  llvm::StringSet<> symbols = sizeSymbols(function);
  for (NamedAttribute entry : declared) {
    auto range = dyn_cast<ArrayAttr>(entry.getValue());
    auto number = [&](unsigned i) {
      auto bound = dyn_cast<IntegerAttr>(range[i]);
      return bound && bound.getType().isInteger(64) ? bound.getInt() : -1;
    };
    // S11
    if (!range || range.size() != 2 || number(0) < 0 || number(1) < number(0) ||
        number(1) > largestSymbol)
      return op->emitOpError() << "expected the least and the largest value of '"
                               << entry.getName().getValue() << "', from 0 to " << largestSymbol
                               << ", got " << entry.getValue();
    if (!symbols.contains(entry.getName()))
      return op->emitOpError() << "declares a range for '" << entry.getName().getValue()
                               << "', which is in no size of an argument";
  }
  return success();
}

LogicalResult NdDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,
                                                  NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyBinding(op, index, attribute, "argument",
                       function ? function.getArgAttrsAttr() : nullptr);
}

LogicalResult NdDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,
                                                     NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  return verifyBinding(op, index, attribute, "result",
                       function ? function.getResAttrsAttr() : nullptr);
}
