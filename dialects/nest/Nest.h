//===- Nest.h - the nest dialect: how values are computed -------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loop nests over named iteration spaces, and layouts and schedules as attributes. Other folders
// include this header; NestOps.td describes the ops.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_DIALECTS_NEST_NEST_H
#define HEDDLE_DIALECTS_NEST_NEST_H

#include "dialects/nd/Combiner.h"
#include "dialects/nd/Nd.h"
#include "dialects/nest/Schedule.h"

namespace heddle {
llvm::hash_code hash_value(const Layout &layout);

namespace nest {
/// `row = 2 * row + ky`
struct MapEntry {
  StringAttr name;
  Attribute exprAttr; ///< always an nd::SizeAttr

  MapEntry() = default;
  MapEntry(MLIRContext *context, StringRef name, const Expr &expr);
  const Expr &expr() const; ///< lives as long as the context
  bool operator==(const MapEntry &other) const = default;
};
inline llvm::hash_code hash_value(const MapEntry &entry) {
  return llvm::hash_combine(entry.name, entry.exprAttr);
}

/// `expr >= 0`, or `expr == 0`
struct Condition {
  Attribute exprAttr; ///< always an nd::SizeAttr
  bool equality = false;

  Condition() = default;
  Condition(MLIRContext *context, const Expr &expr, bool equality = false);
  const Expr &expr() const; ///< lives as long as the context
  bool operator==(const Condition &other) const = default;
};
inline llvm::hash_code hash_value(const Condition &condition) {
  return llvm::hash_combine(condition.exprAttr, condition.equality);
}

using nd::tensorType;

// Directives of the assembly formats.
using nd::parseName;
using nd::printName;
mlir::ParseResult parseParenDims(mlir::OpAsmParser &parser, nd::DimsAttr &dims);
void printParenDims(mlir::OpAsmPrinter &printer, Operation *, nd::DimsAttr dims);

inline llvm::hash_code hash_value(const Schedule &schedule) { return schedule.hash(); }

/// The attribute of a recurrence whose steps take longer than starting a step of the program.
inline constexpr StringLiteral heavyAttrName = "nest.heavy";

/// Another dialect implements this to declare that the steps of recurrences will be divided, for
/// example over devices: passes then keep a recurrence as one op, and only mark it if it is heavy.
struct DividesStepsInterface : mlir::DialectInterface::Base<DividesStepsInterface> {
  explicit DividesStepsInterface(mlir::Dialect *dialect) : Base(dialect) {}
  virtual bool divides(Operation *scan) const = 0;
};
/// True if any dialect divides the steps of the recurrence.
bool isDivided(Operation *scan);

namespace detail {
LogicalResult verifyLayouts(Operation *op);
LogicalResult verifyCopies(Operation *op);
} // namespace detail
} // namespace nest
} // namespace heddle

#include "dialects/nest/NestDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/nest/NestAttrs.h.inc"
#include "dialects/nest/NestInterfaces.h.inc"
#define GET_OP_CLASSES
#include "dialects/nest/NestOps.h.inc"

#endif // HEDDLE_DIALECTS_NEST_NEST_H
