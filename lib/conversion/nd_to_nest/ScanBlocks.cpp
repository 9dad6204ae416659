//===- ScanBlocks.cpp - long scans in blocks ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a machine whose blocks have many lanes (`points_per_block`) a long scan is not a recurrence. A
// group of nests computes the prefixes within each block of a line, in few steps, each of which
// combines four windows of elements:
//
//     elements       a  b   c    d     e      f        blocks of 8 elements
//     windows of 4   a  ab  abc  abcd  bcde   cdef     e combines b, c, d and e
//     windows of 16  a  ab  abc  abcd  abcde  abcdef   e combines a window of 1 and one of 4
//
// The totals of blocks, which are the prefixes of their last elements, are a line that is scanned
// in the same way. At last each prefix is combined with the total of all blocks before its own:
//
//     (n: 5000)    (block: 5, 1024)    (block: 1, 1024)    (n: 5000)
//     line      -> prefixes         -> of totals        -> result
//
// The order of combination depends on sizes and `points_per_block` alone.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestRequests.h"
#include "lib/conversion/nd_to_nest/Lowering.h"
#include "lib/cost/Machine.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
/// Windows that one step combines.
constexpr int64_t windows = 4;
/// The most bytes of an accumulator of which a whole block is in shared memory; blocks of larger
/// ones have fewer elements.
constexpr int64_t fewBytes = 4;

/// A line: an element for each coordinate of its name, and of the other names.
struct Line {
  ValueRange values;
  ExprMap at; ///< coordinates of an element
  Expr size;
};

class BlockScan {
public:
  BlockScan(Lowering lowering, nd::ScanOp op, int64_t length)
      : lowering(lowering), b(lowering.b), loc(lowering.loc), op(op), along(op.getName().str()),
        length(length) {
    for (const nd::Dim &dim : tensorType(op.getInputs()[0]).getDims())
      if (dim.name != op.getNameAttr())
        others.push_back(dim);
    for (Attribute value : op.getNeutral())
      elements.push_back(cast<TypedAttr>(value).getType());
  }

  SmallVector<Value> build() {
    Expr size = Lowering::sizeOf(op.getInputs()[0], along), position = Expr::name(along);
    // The coordinate of the element at this position.
    auto elementAt = [&](const Expr &at) { return op.getReverse() ? size - Expr(1) - at : at; };
    Line line{op.getInputs(), {{along, elementAt(blockStart() + Expr::name(lane()))}}, size};
    SmallVector<SmallVector<Value>> levels;
    for (;;) {
      levels.push_back(prefixes(line));
      Expr blocks = line.size.ceildiv(length);
      if (nd::SizeAttr::get(b.getContext(), blocks).most() <= 1)
        break;
      Expr last = blockStart() + Expr::name(lane());
      line = {levels.back(), {{block(), last}, {lane(), Expr(length - 1)}}, blocks};
    }
    Expr at = elementAt(position);
    return results(levels, op.getExclusive() ? at - Expr(1) : at);
  }

private:
  Lowering lowering;
  OpBuilder &b;
  Location loc;
  nd::ScanOp op;
  std::string along;
  int64_t length; ///< of a block
  SmallVector<nd::Dim> others;
  SmallVector<Type> elements; ///< of the accumulators
  int64_t group = 0;          ///< a number that no other group of the block has

  /// The names of a block, and of an element within it.
  std::string block() const { return along + "$block"; }
  std::string lane() const { return along + "$lane"; }
  Expr blockStart() const { return Expr::name(block()) * Expr(length); }

  TypedAttr neutral(size_t i) { return cast<TypedAttr>(op.getNeutral()[i]); }
  MapAttr mapOf(Value value, const ExprMap &at) { return lowering.mapOf(tensorType(value), at); }
  SmallVector<Value> combine(OpBuilder &builder, ValueRange before, ValueRange after) {
    SmallVector<Value> both(before);
    llvm::append_range(both, after);
    return nd::inlineBlock(builder, op.getCombiner().front(), both);
  }
  /// Combines groups of as many values as the scan has, in their order.
  SmallVector<Value> combineAll(OpBuilder &builder, ValueRange values) {
    size_t count = elements.size();
    SmallVector<Value> all(values.take_front(count));
    for (values = values.drop_front(count); !values.empty(); values = values.drop_front(count))
      all = combine(builder, all, values.take_front(count));
    return all;
  }

  /// A nest over the elements of all blocks, which a group runs for each block.
  NestBuilder inBlocks(const Expr &size) {
    NestBuilder nest(b, loc);
    SmallVector<nd::Dim> dims(others);
    dims.emplace_back(b.getContext(), block(), size.ceildiv(length));
    dims.emplace_back(b.getContext(), lane(), Expr(length));
    nest.produced = nd::DimsAttr::getSorted(b.getContext(), dims);
    return nest;
  }
  SmallVector<Value> inGroup(ComputeOp made) {
    SmallVector<Attribute> names{b.getStringAttr(block())};
    for (const nd::Dim &dim : others)
      names.push_back(dim.name);
    names.push_back(b.getI64IntegerAttr(group));
    made->setAttr(groupAttr, b.getArrayAttr(names));
    made->setAttr(materializeAttr, b.getUnitAttr());
    made->setAttr("heddle.name", b.getStringAttr("prefixes"));
    return SmallVector<Value>(made->getResults());
  }

  /// The prefixes of each block of a line. What follows the end of the line is not used.
  SmallVector<Value> prefixes(const Line &line) {
    group =
        llvm::count_if(*op->getBlock(), [](Operation &other) { return other.hasAttr(groupAttr); });
    NestBuilder nest = inBlocks(line.size);
    Expr inside = line.size - Expr(1) - blockStart() - Expr::name(lane());
    for (Value value : line.values)
      nest.read(value, mapOf(value, line.at),
                guardOf(b.getContext(), {inside}, zeroOf(tensorType(value))));
    ComputeOp made =
        nest.create(elements, [&](OpBuilder &builder, Location where, ValueRange read) {
          SmallVector<Value> converted;
          for (auto [value, type] : llvm::zip_equal(read, elements))
            converted.push_back(nd::convertFloat(builder, where, value, type));
          return converted;
        });
    SmallVector<Value> values = inGroup(made);
    for (int64_t window = 1; window < length; window *= windows)
      values = wider(values, line.size, window);
    return values;
  }

  /// Combines windows of `window` elements to windows of four times as many.
  SmallVector<Value> wider(ArrayRef<Value> values, const Expr &size, int64_t window) {
    NestBuilder nest = inBlocks(size);
    for (int64_t back = std::min(windows, int64_t(llvm::divideCeil(length, window))) - 1; back >= 0;
         --back)
      for (auto [i, value] : llvm::enumerate(values)) {
        Expr at = Expr::name(lane()) - Expr(back * window);
        nest.read(value, mapOf(value, {{lane(), at}}),
                  back ? guardOf(b.getContext(), {at}, neutral(i)) : GuardAttr());
      }
    return inGroup(nest.create(elements, [&](OpBuilder &builder, Location, ValueRange read) {
      return combineAll(builder, read);
    }));
  }

  /// The prefixes up to position `at`, which is -1 before the first element.
  SmallVector<Value> results(ArrayRef<SmallVector<Value>> levels, Expr at) {
    NestBuilder nest(b, loc);
    nest.produced = tensorType(op.getInputs()[0]).getDims();
    SmallVector<Expr> positions;
    for (size_t i = 0; i < levels.size(); ++i, at = at.floordiv(length) - Expr(1))
      positions.push_back(at);
    for (size_t level = levels.size(); level-- > 0;) {
      const Expr &position = positions[level];
      bool isInside = level == 0 && !op.getExclusive();
      for (auto [i, value] : llvm::enumerate(levels[level]))
        nest.read(
            value,
            mapOf(value, {{block(), position.floordiv(length)}, {lane(), position.mod(length)}}),
            isInside ? GuardAttr() : guardOf(b.getContext(), {position}, neutral(i)));
    }
    ComputeOp made = nest.create(
        elementTypesOf(op.getResults()), [&](OpBuilder &builder, Location where, ValueRange read) {
          SmallVector<Value> all = combineAll(builder, read);
          for (auto [value, result] : llvm::zip_equal(all, op.getResults()))
            value = nd::convertFloat(builder, where, value, tensorType(result).scalarType());
          return all;
        });
    return SmallVector<Value>(made->getResults());
  }
};
} // namespace

/// The number of elements that a block scans; none if the scan is a recurrence, as the short ones
/// are whose other names have points for lanes.
static std::optional<int64_t> lengthFor(nd::ScanOp op) {
  if (isa<HoldsNestsInterface>(op->getParentOp()) || isDivided(op))
    return std::nullopt;
  nest::MachineAttr facts = cost::Machine::at(op).facts;
  int64_t length = facts ? facts.integer("points_per_block", 0) : 0, bytes = 0, others = 1;
  for (Attribute value : op.getNeutral())
    bytes += llvm::divideCeil(cast<TypedAttr>(value).getType().getIntOrFloatBitWidth(), 8);
  if (bytes > fewBytes)
    length = llvm::divideCeil(length * fewBytes, bytes);
  for (const nd::Dim &dim : tensorType(op.getInputs()[0]).getDims())
    others = std::max(others, dim.name == op.getNameAttr() ? 1 : dim.size().typical());
  nd::SizeAttr size = tensorType(op.getInputs()[0]).size(op.getName());
  if (length <= 1 || size.typical() <= 1 || (others > 1 && size.typical() < length / 8))
    return std::nullopt;
  return std::min<int64_t>(length, llvm::PowerOf2Ceil(uint64_t(size.most())));
}

bool nest::scanInBlocks(Lowering lowering, Operation *scan, Lowering::Results results) {
  auto op = cast<nd::ScanOp>(scan);
  std::optional<int64_t> length = lengthFor(op);
  if (!length)
    return false;
  llvm::append_range(results, BlockScan(lowering, op, *length).build());
  return true;
}
