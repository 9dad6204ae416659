//===- NestModel.h - the model of a nest for cost models --------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model of a nest from which layouts, lanes, register tiles and loops are chosen: a space of
// iteration names by number, and accesses whose coordinates are quasi-affine in them.
//
//     %c = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] { product } combine add
//
//     NestModel nest(op, machine);
//     nest.names     m, n, k           firstProduced = 0, firstReduced = 2
//     nest.accesses  %a[m, k], %b[k, n], %c[m, n] (a write)
//
// The model computes a few addresses of an access in a layout: the addresses of neighbouring lanes
// show whether a vector is loaded, a scalar is broadcast, or lanes are gathered. For merged names
// it simplifies the address like emission does: lanes that it can't prove contiguous are gathered.
//
//     SizedLayout layout(Layout::rowMajor({"k", "n"}), typeOfB, nest.sizesOf(typeOfB));
//     nest.laneKind(b, layout, {n})    Contiguous: lanes of n are neighbours in memory
//     nest.laneKind(b, layout, {m})    Same: %b does not vary with m
//     nest.laneKind(b, layout, {k})    Apart: neighbours have a stride of 32 elements
//     nest.step(b, layout, k)          32
//
// Register tiles depend only on the lanes: lanes n, with vectors of 16, give two vectors times rows
// of m, and every row uses each loaded vector of %b.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ANALYSIS_NESTMODEL_H
#define HEDDLE_ANALYSIS_NESTMODEL_H

#include "dialects/nest/Nest.h"

#include "llvm/ADT/SmallBitVector.h"

namespace heddle::nest {

/// A layout over the dimensions of a tensor by position, which computes offsets in elements.
class SizedLayout {
public:
  SizedLayout(const Layout &layout, nd::NdTensorType type, const Sizes &sizes);
  int64_t offset(const std::vector<int64_t> &position) const;
  int64_t elements() const { return count; }

private:
  struct Factor {
    std::vector<unsigned> dims;
    std::vector<int64_t> sizes;
    int64_t divisor, modulus, low, extent;
  };
  friend struct NestModel;
  Layout layout;
  Sizes sizes;
  std::vector<Factor> factors;
  int64_t count = 1;
};

struct NestAccess;

/// A coordinate: quasi-affine over iteration names by number, or gathered.
struct Coordinate {
  bool linear = true;
  bool gathered = false; ///< depends on values of reads
  int64_t constant = 0;
  std::vector<int64_t> steps; ///< the coefficient of each iteration name
  Expr expr;
  std::vector<int> mentioned; ///< iteration names, including `movers`
  std::vector<int> movers;    ///< iteration names on which its reads depend
  int plain = -1;             ///< the coordinate is this name alone

  void mention(int name);
  /// The coordinate depends on the value of a read.
  void gather(const NestAccess &read);
  /// True for a coordinate over several names, as in a window.
  bool isSum() const { return !gathered && mentioned.size() > 1; }

  int64_t at(const std::vector<int64_t> &point, const std::vector<std::string> &names) const;
  /// Returns the size of the part of a dimension that it walks while names have these sizes: that
  /// of its name; of a window, at most `most`; of a gather, `most`.
  int64_t extent(ArrayRef<int64_t> sizes, int64_t most) const;
};

struct NestAccess {
  Value tensor; ///< for a value that a group yields, the group's result
  nd::NdTensorType type;
  MapAttr map;                   ///< the map of the op, over symbols
  double elements = 1;           ///< of the tensor as the nest sees it, without a group's names
  std::vector<std::string> dims; ///< names of the tensor
  std::vector<int64_t> sizes;    ///< of each of them
  std::vector<Coordinate> coordinates; ///< of each of them
  bool isWrite = false;
  bool inFinish = false; ///< executed once for each produced point
  bool gathered = false; ///< depends on values of reads
  /// A part of it may be copied: its coordinates are affine. Points that a guard excludes need
  /// tests with or without a copy, so then a copy pays only if it widens elements.
  bool stageable = false;
  /// The iteration names that each condition of its guard mentions.
  SmallVector<llvm::SmallBitVector, 2> conditions;
  /// Whether some coordinate mentions, or some gathered one is moved by, each iteration name.
  llvm::SmallBitVector mentioned, moved;

  void add(Coordinate coordinate, size_t names);
  bool mentions(unsigned name) const { return name < mentioned.size() && mentioned[name]; }
  bool mentionsAny(ArrayRef<unsigned> names) const {
    return llvm::any_of(names, [&](unsigned name) { return mentions(name); });
  }
  /// Returns true if a gathered coordinate depends on `name` through its reads. For x[row = row +
  /// read(0)], `row` changes it by one unless read(0) differs between rows.
  bool gatheredBy(unsigned name) const { return name < moved.size() && moved[name]; }
  /// Returns the dimension whose coordinate is the iteration name alone; -1 if there is none, or if
  /// several dimensions mention the name.
  int dimOf(unsigned name) const;
  int64_t bytes() const;         ///< of an element
  double storedElements() const; ///< of the tensor, with a group's names
};

/// How neighbouring lanes access a tensor: all the same element, contiguous ones, or others.
enum class LaneKind { Same, Contiguous, Apart };

/// Points of a reduction that are computed together in registers.
struct RegisterTile {
  int64_t vectors = 1;                            ///< adjacent vectors
  std::vector<std::pair<unsigned, int64_t>> rows; ///< unrolled names, with their points
  double cycles = 1;                              ///< of one step of the reduction
  double score = 0;                               ///< more is better
  double used = 1;                                ///< the fraction of its points in the space
};

/// The space and the accesses of a nest, and facts of the machine.
struct NestModel {
  Operation *op = nullptr;
  std::vector<std::string> names; ///< of enclosing groups, produced, reduced
  std::vector<int64_t> sizes;     ///< typical ones of symbolic sizes
  std::vector<bool> symbolic;
  std::vector<int64_t> divisors; ///< a divisor of each size, for all values of symbols
  size_t firstProduced = 0, firstReduced = 0;
  std::vector<NestAccess> accesses; ///< reads in the order of the operands, then writes
  double bodyCost = 0;              ///< simple operations at each point, including the combiner
  double finishCost = 0;            ///< at each produced point
  int64_t operations = 1;           ///< of the body and the combiner; a multiply-add is one
  bool reduction = false;
  int64_t accumulators = 1;           ///< for each produced point
  int64_t lanes = 16, registers = 32; ///< of a vector; vector registers
  unsigned bitsOfLane = 32;
  int64_t l1 = 32 << 10, l2 = 1 << 20, l3 = 16 << 20; ///< bytes of caches
  int64_t line = 64;                                  ///< bytes of a cache line

  /// `shrink`: assumes smaller values if there are several symbols, since they are rarely large
  /// together. `steps`: recurrences around the nest are seen like groups: they walk their slices.
  NestModel(Operation *op, MachineAttr machine, bool shrink = false, bool steps = false);
  /// The model of a copy of a tensor to another layout.
  static NestModel ofCopy(Value tensor, MachineAttr machine);
  double points(size_t begin, size_t end) const;
  bool isProduced(size_t name) const { return name >= firstProduced && name < firstReduced; }
  bool isReduced(size_t name) const { return name >= firstReduced; }
  int indexOf(StringRef name) const;
  std::vector<std::string> namesOf(ArrayRef<unsigned> merged) const;
  /// Returns the lanes in the nest's schedule, complete or partial, if it has one.
  std::optional<std::vector<unsigned>> writtenLanes() const;
  /// The number of points of merged names, and the number of vectors that they fill.
  int64_t sizeOf(ArrayRef<unsigned> merged) const;
  int64_t vectorsOf(ArrayRef<unsigned> merged) const;
  /// Returns true if a read is reused so often that blocks of it should stay in a cache.
  bool reusesReads() const;
  /// Returns the sizes of a tensor, typical ones for symbolic sizes.
  Sizes sizesOf(nd::NdTensorType type) const;
  Sizes sizesOf(const NestAccess &access) const;
  /// Replaces the sizes of the names, and so those of tensors: of a part of a nest, for example.
  void resize(ArrayRef<int64_t> sizes);

  LaneKind laneKind(const NestAccess &access, const SizedLayout &layout,
                    ArrayRef<unsigned> merged) const;
  /// Returns the stride in elements of one step along a name.
  int64_t step(const NestAccess &access, const SizedLayout &layout, unsigned name) const;

  /// Returns the register tiles of a reduction with the lanes `merged`, in descending order.
  /// `onLanes`: for each access, whether it is read as vectors.
  std::vector<RegisterTile> registerTiles(ArrayRef<unsigned> merged, ArrayRef<bool> onLanes) const;

private:
  NestModel();
  void addMachine(MachineAttr machine, unsigned bits);
  int64_t symbol; ///< the largest value that is assumed for a size symbol
  int64_t typicalOf(nd::SizeAttr size) const;
  void addNames(nd::DimsAttr dims);
  void addGuard(NestAccess &access, GuardAttr guard) const;
  void addAccess(Value tensor, MapAttr map, bool isWrite, bool inFinish, bool steps);
  LaneKind derivedKind(const NestAccess &access, const SizedLayout &layout,
                       ArrayRef<unsigned> merged, int64_t width) const;
};

} // namespace heddle::nest

#endif // HEDDLE_ANALYSIS_NESTMODEL_H
