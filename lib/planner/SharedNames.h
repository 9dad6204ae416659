//===- SharedNames.h - which names of nests are one -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of nests, and dimensions of values, that are divided together: a name that is the
// coordinate of a whole dimension is in one class with it.
//
//     %y = nest.compute (b: 4, o: 6) reduce (i: 8) reads %x[], %w[] ...
//     %z = nest.compute (c: 4, o: 6) reads %y[b = c] ...         `b` and `c` are in one class
//
//     %p = nest.compute (a: 4, b: 4) reads %x[row = a], %x[row = b]
//                                    a nest has each name once: `b` is not in the class of `row`
//
// A recurrence can be divided by the names of its nests along which steps do not exchange anything:
// all nests within it read carried values at these names, or sum over them into values that are
// only added to others. The name of its steps is that of what it reads and makes in each of them.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PLANNER_SHAREDNAMES_H
#define HEDDLE_LIB_PLANNER_SHAREDNAMES_H

#include "dialects/nest/Nest.h"

#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <set>

namespace heddle::planner {

/// Finds which names of nests and dimensions of values are one.
class SharedNames {
public:
  /// A name of a nest, or a dimension of a value.
  using Item = std::pair<void *, std::string>;
  static Item itemOf(mlir::Value value, llvm::StringRef dim) {
    return {value.getAsOpaquePointer(), dim.str()};
  }

  unsigned classOf(const Item &item) { return rootOf(numberOf(item)); }
  std::optional<unsigned> find(const Item &item) const;
  /// Adds the names of a nest, or of the nests in a recurrence, and joins what they share.
  void add(mlir::Operation *op);
  /// Does nothing if a nest would have two names in a class.
  void join(const Item &a, const Item &b);

private:
  std::map<Item, unsigned> numbers;
  std::vector<unsigned> parents;
  std::vector<llvm::SmallPtrSet<mlir::Operation *, 4>> ofNests; ///< by class

  unsigned numberOf(const Item &item);
  unsigned rootOf(unsigned number) const;
};

/// The names by which an op can be divided, and the results that are then partial sums.
struct DividedNames {
  std::set<unsigned> classes;
  std::map<void *, std::set<unsigned>> partial; ///< by result: classes
};
DividedNames dividedNamesOf(mlir::Operation *op, SharedNames &names);

/// Nests that iterate for an op: itself, or those in a recurrence. None for other ops.
llvm::SmallVector<mlir::Operation *> loopsOf(mlir::Operation *op);

/// An access of a nest to a value: its coordinate along each dimension. The map is null for ops
/// that are not nests.
struct Access {
  mlir::Value value;
  nest::MapAttr map;
};
/// The values that a nest reads, and the destination of an update.
llvm::SmallVector<Access> accessesOf(mlir::Operation *op);
/// The map from the iteration names of a nest to the dimensions of a result.
nest::MapAttr mapOfResult(mlir::Operation *nest, mlir::Value result);
/// The class of a dimension that an op reads or makes point by point.
std::optional<unsigned> classOfWhole(mlir::Operation *op, const Access &access, const nd::Dim &dim,
                                     SharedNames &names);

} // namespace heddle::planner

#endif // HEDDLE_LIB_PLANNER_SHAREDNAMES_H
