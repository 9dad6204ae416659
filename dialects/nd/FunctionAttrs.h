//===- FunctionAttrs.h - attributes of functions ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `nd.ranges` declares the ranges of size symbols (`symbolRange`).
//
// A function keeps the attributes of its arguments in one list, and a context never frees a list:
// setting the attributes of n arguments one by one takes n * n space. These functions build the
// list once, from a callback that returns the attribute of each argument, or null to keep it:
//
//     setArgAttrs(function, "nd.layout", [&](unsigned i) { return layouts[i]; });
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_FUNCTIONATTRS_H
#define HEDDLE_DIALECTS_ND_FUNCTIONATTRS_H

#include "lib/support/Mlir.h"

#include "runtime/expr/Layout.h"
#include "llvm/ADT/StringSet.h"

namespace heddle::nd {

inline constexpr const char *rangesAttrName = "nd.ranges";
/// The messages of a function's run-time checks, by number (`nd-check`).
inline constexpr const char *checksAttrName = "heddle.checks";

/// The attribute of a function that lists size symbols which no argument determines.
inline constexpr StringLiteral symbolsAttrName = "heddle.symbols";

/// The size symbols in the argument types of the enclosing function (or of `op` itself), and those
/// in its attribute `symbolsAttrName`.
llvm::StringSet<> sizeSymbols(Operation *op);
/// The symbols of that attribute.
inline ArrayRef<Attribute> listedSymbols(func::FuncOp function) {
  auto list = function->getAttrOfType<ArrayAttr>(symbolsAttrName);
  return list ? list.getValue() : ArrayRef<Attribute>();
}
/// Sets the attribute; removes it if no symbol remains.
inline void listSymbols(func::FuncOp function, ArrayRef<Attribute> symbols) {
  function->removeAttr(symbolsAttrName);
  if (!symbols.empty())
    function->setAttr(symbolsAttrName, ArrayAttr::get(function.getContext(), symbols));
}

/// An attribute of a function with lists of texts and types about its values: reports of passes for
/// users. nd-restore-names restores the users' names in it.
inline constexpr StringLiteral notesAttrName = "heddle.notes";

/// The possible values of a function's size symbol.
inline Range symbolRange(func::FuncOp function, StringRef symbol) {
  auto declared = function->getAttrOfType<DictionaryAttr>(rangesAttrName);
  auto range = declared ? declared.getAs<ArrayAttr>(symbol) : ArrayAttr();
  auto number = [&](unsigned i) { return llvm::cast<IntegerAttr>(range[i]).getInt(); };
  return range ? Range{number(0), number(1)} : Range{0, largestSymbol};
}
/// The ranges of all symbols in `expr`.
inline Ranges symbolRanges(func::FuncOp function, const Expr &expr) {
  Ranges ranges;
  for (const std::string &symbol : expr.names())
    ranges[symbol] = symbolRange(function, symbol);
  return ranges;
}

inline SmallVector<DictionaryAttr> withEach(SmallVector<DictionaryAttr> all, StringRef name,
                                            function_ref<Attribute(unsigned)> value) {
  for (auto [i, own] : llvm::enumerate(all))
    if (Attribute attribute = value(unsigned(i))) {
      mlir::NamedAttrList list(own);
      list.set(name, attribute);
      own = list.getDictionary(attribute.getContext());
    }
  return all;
}

inline void setArgAttrs(func::FuncOp function, StringRef name,
                        function_ref<Attribute(unsigned)> value) {
  SmallVector<DictionaryAttr> all;
  function.getAllArgAttrs(all);
  function.setAllArgAttrs(withEach(std::move(all), name, value));
}

inline void setResultAttrs(func::FuncOp function, StringRef name,
                           function_ref<Attribute(unsigned)> value) {
  SmallVector<DictionaryAttr> all;
  function.getAllResultAttrs(all);
  function.setAllResultAttrs(withEach(std::move(all), name, value));
}

/// Updates a function's type after arguments or results of its body were changed.
inline void retype(func::FuncOp function) {
  Block &body = function.front();
  function.setFunctionType(mlir::FunctionType::get(function.getContext(), body.getArgumentTypes(),
                                                   body.getTerminator()->getOperandTypes()));
}

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_FUNCTIONATTRS_H
