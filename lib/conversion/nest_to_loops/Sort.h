//===- Sort.h - emitting one nest.sort --------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `SortEmitter` sorts each line alone (Sort.cpp), or by all lanes of a block (SortLanes.cpp). Both
// move the same elements: keys as integers in the requested order, with their coordinates.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_SORT_H
#define HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_SORT_H

#include "lib/conversion/nest_to_loops/Loops.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace heddle::nest {

class SortEmitter {
public:
  SortEmitter(Emitter &emitter, SortOp op)
      : e(emitter), op(op), along(*op.getAlong().begin()), name(along.name.str()) {
    Type key = e.computeType(tensorType(op.getInputs()[0]).getElementType());
    packed = key.getIntOrFloatBitWidth() <= 32;
  }

  LogicalResult emit(const Schedule &schedule, Value chunk);

private:
  Emitter &e;
  SortOp op;
  nd::Dim along;
  std::string name;
  bool packed; ///< key and coordinate are packed into one number
  /// An element of the arrays: one number (key and coordinate packed), or two.
  using Element = SmallVector<Value, 2>;
  /// The largest k for which elements are inserted; for larger k, all elements are merged.
  static constexpr int64_t mostInserted = 16;
  static constexpr int64_t block = 8;

  Value i64(int64_t value) { return e.constant(value); }
  Value add(Value a, Value b) { return mlir::arith::AddIOp::create(e.b, e.loc, a, b); }
  Value sub(Value a, Value b) { return mlir::arith::SubIOp::create(e.b, e.loc, a, b); }
  Value smaller(Value a, Value b) { return mlir::arith::MinSIOp::create(e.b, e.loc, a, b); }
  Value is(mlir::arith::CmpIPredicate predicate, Value a, Value b) {
    return mlir::arith::CmpIOp::create(e.b, e.loc, predicate, a, b);
  }
  Value choose(Value condition, Value yes, Value no) {
    return mlir::arith::SelectOp::create(e.b, e.loc, condition, yes, no);
  }
  Value at(Value base, Value index) {
    return mlir::LLVM::GEPOp::create(e.b, e.loc, base.getType(), e.b.getI64Type(), base,
                                     ArrayRef<mlir::LLVM::GEPArg>{index});
  }
  Value load(Value base, Value index) {
    return mlir::LLVM::LoadOp::create(e.b, e.loc, e.b.getI64Type(), at(base, index));
  }
  void store(Value base, Value index, Value value) {
    mlir::LLVM::StoreOp::create(e.b, e.loc, value, at(base, index));
  }
  /// The offset of the element of the line at `index`.
  Expr offset(const Memory &memory, const Expr &index) {
    Replacement coordinates;
    for (const nd::Dim &dim : tensorType(op.getInputs()[0]).getDims())
      coordinates[dim.name.str()] =
          dim.name == along.name ? index : e.resolve(Expr::name(dim.name.str()), {});
    return e.address(memory, coordinates);
  }
  Element load(ValueRange arrays, Value index) {
    Element result;
    for (Value array : arrays)
      result.push_back(load(array, index));
    return result;
  }
  void store(ValueRange arrays, Value index, ArrayRef<Value> element) {
    for (auto [array, value] : llvm::zip_equal(arrays, element))
      store(array, index, value);
  }
  Element choose(Value condition, ArrayRef<Value> yes, ArrayRef<Value> no) {
    Element result;
    for (auto [one, other] : llvm::zip_equal(yes, no))
      result.push_back(choose(condition, one, other));
    return result;
  }
  /// Compares elements. The sort is stable because the caller prefers the left one on ties.
  Value isBefore(ArrayRef<Value> a, ArrayRef<Value> b) {
    return is(mlir::arith::CmpIPredicate::slt, a[0], b[0]);
  }

  Value rising(Value key);
  Element element(const std::string &index);
  void sortBlocks(Value array, const Expr &blocks, int64_t atMost);
  Value levelsOf(const Expr &runs);
  Values merge(ValueRange state, Value count, Value kept);
  void insert(ValueRange arrays, ArrayRef<Value> element, int64_t kept);
  void line();
  /// Writes the results of a line: element `index` of them has this element of the arrays.
  void write(const std::string &index, Value element);

  // SortLanes.cpp
  void eachOnLanes(Value count, function_ref<void(const std::string &)> body);
  Value rankIn(ValueRange arrays, Value start, Value length, Value width, Value levels,
               ArrayRef<Value> element, Value countsEqual);
  void mergeOnLanes(ValueRange state, Value levels, Value count, Value kept);
  void lineOnLanes();
};

} // namespace heddle::nest

#endif // HEDDLE_LIB_CONVERSION_NEST_TO_LOOPS_SORT_H
