//===- Scalar.h - the scalar code of kernels --------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Scalar of heddle/Kernel.h is a tree without types. `ScalarEmitter` turns trees into scalar ops
// once the element types of what they read are known:
//
//     at(x) * 2 + row          x: f64         arith.mulf %x, 2.0 : f64
//                                             nest.index row, converted to f64; arith.addf
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_SCALAR_H
#define HEDDLE_LIB_BUILDER_SCALAR_H

#include "dialects/nd/Combiner.h"
#include "heddle/Kernel.h"
#include "heddle/Ops.h"
#include "lib/builder/Graph.h"

#include <exception>
#include <map>
#include <unordered_map>

namespace heddle {

struct Scalar::Node {
  enum class Kind {
    Number,   ///< `number`
    Index,    ///< `index`
    Read,     ///< of `tensor` at `coordinates`
    Argument, ///< `position` of a combiner
    Apply     ///< `op` to `operands`
  } kind;
  Here here;
  double number = 0;
  Expr index;
  Tensor tensor;
  std::map<std::string, Index> coordinates;
  std::optional<double> otherwise;
  size_t position = 0;
  std::string op;
  ElementType to = ElementType::F32; ///< of the op "cast"
  std::vector<std::shared_ptr<const Node>> operands;
};

namespace detail {

using ScalarRef = std::shared_ptr<const Scalar::Node>;

struct ScalarEmitter {
  OpBuilder &builder;
  Location loc;
  /// The value of a leaf, a read or an argument.
  std::function<Value(const Scalar::Node &)> leaf;
  /// Its element type, with signedness.
  std::function<Type(const Scalar::Node &)> leafType;
  bool isCombiner = false; ///< it may not use coordinates
  /// Scalars are shared: each is visited once, and emitted once for each type with which it is
  /// used.
  std::map<std::pair<const Scalar::Node *, const void *>, Value> done = {};
  mutable std::unordered_map<const Scalar::Node *, Type> types = {}; ///< found by `ownType`
  std::unordered_map<const Scalar::Node *, bool> indexed = {};       ///< by `hasIndex`

  /// Emits `node`; numbers and coordinates without a type of their own get the type `wanted`.
  /// Throws Error if an operation is not defined for the types of its operands.
  Value emit(const ScalarRef &node, Type wanted);
  /// The element type inferred from the leaves; null for numbers and coordinates.
  Type ownType(const ScalarRef &node) const;

private:
  /// True if the node depends on coordinates.
  bool hasIndex(const Scalar::Node &node);
  Value apply(const Scalar::Node &node, Type wanted);
  Type typeOf(const ScalarRef &a, const ScalarRef &b, Type otherwise) const;
};

/// A combiner of tuples of `types` (element types with signedness), as trees over its arguments.
struct ScalarCombiner {
  Scalars results;
  Here here;

  ScalarCombiner(Scalars results, Here here) : results(std::move(results)), here(here) {}
  /// Throws Error unless `combine` returns `count` scalars.
  ScalarCombiner(const Combine &combine, size_t count, Here here);
  /// `scalars`: accumulators, then elements. Throws Error for results of other types and for reads.
  SmallVector<Value> emit(OpBuilder &builder, Location loc, ValueRange scalars,
                          ArrayRef<Type> types) const;
};

/// Defers an exception of a callback, because its caller is not exception-safe.
class Deferred {
public:
  /// The result of `emit`; zeros of `types` if it throws.
  SmallVector<Value> run(OpBuilder &builder, Location loc, ArrayRef<Type> types,
                         function_ref<SmallVector<Value>()> emit);
  /// The code of a combiner of `types`, to be given to a builder.
  auto codeOf(const ScalarCombiner &combiner, Location loc, ArrayRef<Type> types) {
    return [=, this, &combiner](OpBuilder &b, ValueRange scalars) {
      return run(b, loc, types, [&] { return combiner.emit(b, loc, scalars, types); });
    };
  }
  /// Throws the exception that `emit` threw, if any.
  void rethrow() const {
    if (failure)
      std::rethrow_exception(failure);
  }

private:
  std::exception_ptr failure;
};

/// The type in which elements are combined: `asked`, or the default. Throws Error if it cannot
/// represent them.
Type accumulatorFor(Type element, std::optional<ElementType> asked, Here here);
/// A number as an attribute of the signless `type`; throws Error if it is not representable.
TypedAttr numberAttr(Type type, double value, Here here);
nd::CombinerKind kindOf(Combiner combiner);

} // namespace detail
} // namespace heddle

#endif // HEDDLE_LIB_BUILDER_SCALAR_H
