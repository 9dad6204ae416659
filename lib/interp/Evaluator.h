//===- Evaluator.h - the state of an interpretation -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to lib/interp. An `Evaluator` runs functions; a `Frame` is one call: the values so far,
// the size symbols, and the coordinates of the enclosing groups. Each family of ops has a file:
// NdArithmetic, NdIndex, NdAccess, Control, Nest, Check.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_INTERP_EVALUATOR_H
#define HEDDLE_LIB_INTERP_EVALUATOR_H

#include "lib/interp/Fold.h"
#include "lib/interp/Interpreter.h"

#include <set>

namespace heddle::interp {

using TensorRef = std::shared_ptr<const TensorValue>;

/// The index of an element, from its coordinates and the strides of their names.
inline size_t dot(ArrayRef<int64_t> coordinates, ArrayRef<int64_t> strides) {
  int64_t sum = 0;
  for (auto [coordinate, stride] : llvm::zip_equal(coordinates, strides))
    sum += coordinate * stride;
  return size_t(sum);
}

/// The maximum depth of nested calls.
static constexpr int mostCalls = 500;

struct Frame {
  DenseMap<Value, TensorRef> values;
  ExprMap symbols;
  Sizes group; ///< coordinates of the names of enclosing groups

  const TensorValue &operator[](Value value) const { return *values.find(value)->second; }
  TensorRef ref(Value value) const { return values.find(value)->second; }
  SmallVector<TensorRef> refs(ValueRange range) const {
    return llvm::map_to_vector(range, [&](Value value) { return ref(value); });
  }
  SmallVector<const TensorValue *> operator[](ValueRange range) const;
};

class Evaluator {
public:
  explicit Evaluator(Arithmetic arithmetic = {}) : arithmetic(std::move(arithmetic)) {}

  /// Calls a public function; its results must not have excluded elements.
  FailureOr<SmallVector<TensorValue>> runEntry(func::FuncOp func, ArrayRef<TensorRef> arguments,
                                               const ExprMap &known);
  /// Calls a function on arguments that match its formals. Symbols that its formals do not bind get
  /// their values from `caller`, if that is given.
  FailureOr<SmallVector<TensorRef>> call(func::FuncOp func, ArrayRef<TensorRef> arguments,
                                         Operation *site, const Frame *caller = nullptr);
  /// Runs the ops of a block up to its terminator.
  LogicalResult run(Block &block, Frame &frame);
  /// Sets the values of the op's results.
  LogicalResult evaluate(Operation *op, Frame &frame);

  /// The sizes as numbers; rejects negative and too large ones.
  FailureOr<SmallVector<SizedName>> extents(Operation *op, nd::DimsAttr dims, const Frame &frame);
  /// An empty result for the op; rejects too large ones.
  FailureOr<TensorValue> resultOf(Value value, const Frame &frame);
  FailureOr<SmallVector<TensorValue>> resultsOf(Operation *op, const Frame &frame);

  FailureOr<ScalarRegion *> code(mlir::Region &region);
  FailureOr<Combiner *> combiner(mlir::Region &region, ArrayRef<Type> types);

  Arithmetic arithmetic;
  bool checksFailed = false;

private:
  /// Rejects a function if the verifier rejects it after its symbols are replaced by numbers; also
  /// checks its callees, even those that do not run.
  LogicalResult verifySizes(func::FuncOp function, const ExprMap &symbols, int within = 0);

  /// Each evaluates the ops of one family and sets their results in the frame; none for other ops.
  std::optional<LogicalResult> evaluateArithmetic(Operation *op, Frame &frame);
  std::optional<LogicalResult> evaluateIndexMap(Operation *op, Frame &frame);
  std::optional<LogicalResult> evaluateAccess(Operation *op, Frame &frame);
  std::optional<LogicalResult> evaluateNest(Operation *op, Frame &frame);
  std::optional<LogicalResult> evaluateCheck(Operation *op, Frame &frame);
  std::optional<LogicalResult> evaluateCall(Operation *op, Frame &frame);
  std::optional<LogicalResult> evaluateControl(Operation *op, Frame &frame);

  using Deaths = std::map<Operation *, SmallVector<Value>>;
  const Deaths &deathsIn(Block &block);

  int depth = 0;
  int64_t calls = 0;
  std::map<Block *, Deaths> deaths;                       ///< never iterated over
  std::set<std::pair<Operation *, std::string>> verified; ///< by their sizes
  std::map<mlir::Region *, ScalarRegion> codes;           ///< never iterated over
  std::map<mlir::Region *, Combiner> combiners;
};

SmallVector<TensorRef> refsTo(ArrayRef<TensorValue> values);
/// Sorts along `name` by the first input; results hold as many elements as their size.
void sort(ArrayRef<const TensorValue *> inputs, const std::string &name, bool descending,
          MutableArrayRef<TensorValue> results);
/// Sets the results of an op.
inline LogicalResult setResults(Operation *op, Frame &frame, MutableArrayRef<TensorValue> values) {
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    frame.values[result] = std::make_shared<const TensorValue>(std::move(value));
  return mlir::success();
}
inline LogicalResult setResult(Operation *op, Frame &frame, TensorValue value) {
  return setResults(op, frame, value);
}
/// The elements of a literal with an explicit order of names.
FailureOr<TensorValue> literal(Operation *op, nd::NdTensorType type, mlir::ElementsAttr value,
                               ArrayAttr order);
/// Coordinates as numbers of any element type.
void iota(TensorValue &result, Arithmetic &arithmetic);
/// Random bits of the key and the position of each element.
void random(nd::RandomOp op, const TensorValue &key, TensorValue &result);

} // namespace heddle::interp

#endif // HEDDLE_LIB_INTERP_EVALUATOR_H
