//===- Nd.h - the nd dialect: tensors with names ----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tensors with named dimensions and no order, and the few ops on them. Other folders include this
// header; NdOps.td describes the ops.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_ND_ND_H
#define HEDDLE_DIALECTS_ND_ND_H

#include "dialects/nd/NdIndexMap.h"
#include "heddle/Expr.h"
#include "runtime/expr/Layout.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace heddle {
inline llvm::hash_code hash_value(const Expr &expr) { return expr.hash(); }

namespace nd {
class SizeAttr;

/// One dimension of a tensor: `row: 28`.
struct Dim {
  StringAttr name;
  Attribute sizeAttr; ///< always a SizeAttr

  Dim() = default;
  Dim(StringAttr name, SizeAttr size);
  Dim(MLIRContext *context, StringRef name, const Expr &size);
  SizeAttr size() const;
  bool operator==(const Dim &other) const = default;
};
inline llvm::hash_code hash_value(const Dim &dim) {
  return llvm::hash_combine(dim.name, dim.sizeAttr);
}

/// Verifies that every size symbol of the op is a symbol of an operand or of the enclosing public
/// function (S11).
LogicalResult verifyKnownSymbols(Operation *op);
template <typename Op>
struct KnownSymbols : mlir::OpTrait::TraitBase<Op, KnownSymbols> {
  static LogicalResult verifyTrait(Operation *op) { return verifyKnownSymbols(op); }
};
template <typename Op>
struct Elementwise : mlir::OpTrait::TraitBase<Op, Elementwise> {};
template <typename Op>
struct Expensive : mlir::OpTrait::TraitBase<Op, Expensive> {};
template <typename Op>
struct Opaque : mlir::OpTrait::TraitBase<Op, Opaque> {};

/// Folds an index map that is the identity to its operand.
mlir::OpFoldResult foldIndexMap(Operation *op);
} // namespace nd
} // namespace heddle

#include "dialects/nd/NdDialect.h.inc"
#include "dialects/nd/NdInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/nd/NdAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/nd/NdTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/nd/NdOps.h.inc"
#include "lib/support/Mlir.h"

namespace heddle::nd {

/// The map by which `op` reads its operand; none if `op` is null or there is no such expression.
std::optional<IndexMap> indexMapOf(Operation *op);

/// The attribute with the name of an argument or result, by which programs and tools bind it.
inline constexpr StringLiteral nameAttrName = "nd.name";

/// True for ops that are allowed in scalar regions: the listed ops of `arith` and `math`, on
/// scalars.
bool isScalarOp(Operation *op);
/// The signless form of an integer type; other types are unchanged.
Type signless(Type elementType);
/// True for floats of 8 and 16 bits: compiled code computes and accumulates them in f32.
bool isNarrowFloat(Type elementType);

/// Casts of floats (`arith.extf`, `arith.truncf`) round their operand and their result to the types
/// that they name, fused or not. Conversions that the compiler inserts, for example between an
/// element and an accumulator, need not round: they are marked `fastmath<contract>`, as are all
/// casts if `excess-precision` is permitted.
bool keepsPrecision(Operation *cast);
void keepPrecision(Operation *cast);

/// The type of a value that is a tensor.
inline NdTensorType tensorType(Value value) { return llvm::cast<NdTensorType>(value.getType()); }

/// Parses and prints an expression in an attribute or a type.
FailureOr<Expr> parseExpr(mlir::AsmParser &parser);
/// Parses `a: 3, b: N`, up to a token that is not a name. Emits an error for a name that occurs
/// twice.
mlir::ParseResult parseDims(mlir::AsmParser &parser, SmallVectorImpl<Dim> &dims);
void printDims(mlir::AsmPrinter &printer, ArrayRef<Dim> dims);

/// Custom directives of the assembly formats, also used by nest: `row`, `[row, column]`, `N + 1`.
mlir::ParseResult parseName(mlir::OpAsmParser &parser, StringAttr &name);
void printName(mlir::OpAsmPrinter &printer, Operation *, StringAttr name);
mlir::ParseResult parseNames(mlir::OpAsmParser &parser, ArrayAttr &names);
void printNames(mlir::OpAsmPrinter &printer, Operation *, ArrayAttr names);
mlir::ParseResult parseSize(mlir::OpAsmParser &parser, SizeAttr &size);
void printSize(mlir::OpAsmPrinter &printer, Operation *, SizeAttr size);
mlir::ParseResult parsePads(mlir::OpAsmParser &parser, IntegerAttr &low, IntegerAttr &high);
void printPads(mlir::OpAsmPrinter &printer, Operation *, IntegerAttr low, IntegerAttr high);
mlir::ParseResult parsePadding(mlir::OpAsmParser &parser, IntegerAttr &low, IntegerAttr &high,
                               TypedAttr &value);
void printPadding(mlir::OpAsmPrinter &printer, Operation *, IntegerAttr low, IntegerAttr high,
                  TypedAttr value);

} // namespace heddle::nd

#endif // HEDDLE_DIALECTS_ND_ND_H
