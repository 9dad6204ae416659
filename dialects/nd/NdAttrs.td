//===- NdAttrs.td - sizes and dimensions -------------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ND_ATTRS_TD
#define HEDDLE_ND_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "dialects/nd/NdDialect.td"

class Nd_Attr<string name, string attrMnemonic> : AttrDef<Nd_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

// An integer expression in canonical form (runtime/expr/Expr.h).
def Nd_ExprParameter : AttrParameter<"::heddle::Expr", "canonical integer expression", "const ::heddle::Expr &"> {
  let comparator = "$_lhs == $_rhs";
}

def Nd_SizeAttr : Nd_Attr<"Size", "size"> {
  let summary = "the size of a dimension: an integer expression over symbols";
  let description = [{
    ```mlir
    #nd.size<64>   #nd.size<(N - 3) floordiv 2 + 1>
    ```
  }];
  let parameters = (ins Nd_ExprParameter:$expr);
  let extraClassDeclaration = [{
    /// The size as a number, if it has no symbols.
    std::optional<int64_t> constant() const { return getExpr().constant(); }
    /// The size with a typical value for each symbol. The compiler optimises for it; code must be
    /// correct for all other values.
    int64_t typical() const;
    /// An upper bound; a symbol is at most `largestSymbol`.
    int64_t most() const;
  }];
}

def Nd_DimsAttr : Nd_Attr<"Dims", "dims"> {
  let summary = "a set of names with sizes, sorted by name";
  let description = [{
    ```mlir
    #nd.dims<batch: 64, row: N floordiv 2>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::heddle::nd::Dim">:$dims);
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Sorts `dims` by name.
    static DimsAttr getSorted(::mlir::MLIRContext *context, ::llvm::ArrayRef<Dim> dims);
    /// The size of `name`, null if there is no such name.
    SizeAttr lookup(::llvm::StringRef name) const;
    bool contains(::llvm::StringRef name) const { return bool(lookup(name)); }
    /// The dimensions for which `keeps` holds.
    DimsAttr where(::llvm::function_ref<bool(const Dim &)> keeps) const;
    /// Adds the dimensions of `more` whose names are not present yet.
    DimsAttr with(::llvm::ArrayRef<Dim> more) const;
    /// Replaces the dimensions with the names of `dims`.
    DimsAttr replacing(::llvm::ArrayRef<Dim> dims) const { return getSorted(getContext(), dims).with(getDims()); }
    size_t size() const { return getDims().size(); }
    auto begin() const { return getDims().begin(); }
    auto end() const { return getDims().end(); }
  }];
}

#endif // HEDDLE_ND_ATTRS_TD
