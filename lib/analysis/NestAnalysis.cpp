//===- NestAnalysis.cpp - sizes, costs and structure of nests -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/analysis/NestAnalysis.h"

#include "dialects/nest/NestBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

SmallVector<NestRead> heddle::readsOf(Operation *op) {
  SmallVector<NestRead> reads;
  if (auto nest = dyn_cast<LoopNestInterface>(op))
    for (auto [i, value] : llvm::enumerate(nest.getMappedReads()))
      reads.push_back({unsigned(i), value, cast<MapAttr>(nest.getMapsAttr()[i]),
                       cast<GuardAttr>(nest.getGuardsAttr()[i]), i >= nest.getNumBodyReads()});
  return reads;
}

SmallVector<Value> nest::kernelOperands(Operation *nest) {
  llvm::SetVector<Value> operands(nest->operand_begin(), nest->operand_end());
  nest->walk([&](Operation *inner) {
    if (inner == nest)
      return;
    for (Value operand : inner->getOperands())
      if (isa<nd::NdTensorType>(operand.getType()) &&
          !nest->isAncestor(operand.getParentBlock()->getParentOp()))
        operands.insert(operand);
  });
  return operands.takeVector();
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

std::string heddle::nameOf(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("heddle.name");
  return name ? name.str() : op->getName().stripDialect().str();
}

std::string heddle::inLayer(Location loc, StringRef name) {
  auto layer = loc->findInstanceOf<NameLoc>();
  return layer ? layer.getName().str() + ": " + name.str() : name.str();
}

//===----------------------------------------------------------------------===//
// Amounts
//===----------------------------------------------------------------------===//

double heddle::pointsOf(nd::DimsAttr dims) {
  double count = 1;
  for (const nd::Dim &dim : dims)
    count *= double(dim.size().typical());
  return count;
}

double heddle::iterationPoints(Operation *op) {
  auto nest = dyn_cast<LoopNestInterface>(op);
  double points = nest ? 1 : 0;
  for (nd::DimsAttr names : nest ? nest.getIterationNames() : SmallVector<nd::DimsAttr, 2>())
    points *= pointsOf(names);
  return points;
}

double heddle::elementBytes(Type element) {
  return element.isIntOrFloat() ? std::max(1u, element.getIntOrFloatBitWidth() / 8) : 8;
}

double heddle::tensorBytes(Value tensor) {
  nd::NdTensorType type = tensorType(tensor);
  return pointsOf(type.getDims()) * elementBytes(type.getElementType());
}

double heddle::tensorBytes(ValueRange tensors) {
  double bytes = 0;
  for (Value tensor : tensors)
    bytes += tensorBytes(tensor);
  return bytes;
}

double heddle::sharedBytes(Value from, Value to, bool isWhole) {
  double bytes = tensorBytes(from);
  for (const nd::Dim &dim : tensorType(from).getDims()) {
    double own = double(dim.size().typical()),
           other = double(tensorType(to).size(dim.name).typical());
    if (own > 0 && other > 0)
      bytes *= (isWhole ? std::max(own, other) : std::min(own, other)) / own;
  }
  return bytes;
}

double heddle::sentBytes(TransferInterface transfer) {
  double bytes = 0;
  for (auto [from, to] : llvm::zip_equal(transfer->getOperands(), transfer->getResults()))
    bytes += transfer.getSentBlocks() * sharedBytes(from, to);
  return bytes;
}

bool heddle::isFunction(Operation &op) {
  return isa_and_nonnull<math::MathDialect>(op.getDialect()) &&
         !isa<math::AbsFOp, math::AbsIOp, math::FmaOp, math::CopySignOp, math::FloorOp,
              math::CeilOp, math::RoundEvenOp, math::TruncOp, math::SqrtOp, math::RsqrtOp>(op);
}

static double costOf(Operation &op) {
  if (isa<arith::ConstantOp, IndexOp, arith::ExtFOp>(op))
    return 0;
  if (isa<arith::DivFOp, arith::RemFOp, math::SqrtOp, math::RsqrtOp, arith::DivSIOp, arith::DivUIOp,
          arith::RemSIOp, arith::RemUIOp>(op))
    return 6;
  if (isFunction(op))
    return 20;
  return 1;
}

void heddle::forEachVaryingOp(Region &region, llvm::function_ref<void(Operation &)> act) {
  if (region.empty())
    return;
  llvm::DenseSet<Value> ofCoordinates;
  for (Operation &op : region.front().without_terminator()) {
    bool isCoordinate = op.getNumResults() == 1 && !isa<FloatType>(op.getResult(0).getType()) &&
                        llvm::all_of(op.getOperands(), [&](Value operand) {
                          return ofCoordinates.contains(operand);
                        });
    if (isCoordinate)
      ofCoordinates.insert(op.getResult(0));
    else
      act(op);
  }
}

double heddle::costOf(Region &region) {
  double cost = 0;
  forEachVaryingOp(region, [&](Operation &op) { cost += ::costOf(op); });
  return cost;
}

double heddle::arithmeticOf(Operation *op) {
  if (auto nest = dyn_cast<LoopNestInterface>(op)) {
    double points = iterationPoints(op) * (costOf(nest.getBody()) + costOf(nest.getCombine()));
    auto compute = dyn_cast<ComputeOp>(op);
    return compute ? points + pointsOf(compute.getProduced()) * costOf(compute.getFinish())
                   : points;
  }
  if (auto sort = dyn_cast<SortOp>(op)) // a few instructions per comparison
    return 6 * pointsOf(tensorType(sort.getInputs()[0]).getDims()) *
           (1 + std::log2(std::max(pointsOf(sort.getAlong()), 1.0)));
  double inner = 0;
  for (Region &region : op->getRegions())
    for (Operation &each : region.getOps())
      inner += arithmeticOf(&each);
  auto holder = dyn_cast<HoldsNestsInterface>(op);
  return holder ? inner * pointsOf(holder.getOuterNames()) : inner;
}

void nest::addNames(ComputeOp nest, MapAttr map, std::set<std::string> &names) {
  for (const MapEntry &entry : map.getEntries())
    for (const std::string &name : entry.expr().names())
      if (auto index = readIndex(name))
        addNames(nest, nest.readMap(*index), names);
      else
        names.insert(name);
}

/// The footprint of a map all of whose coordinates are different names, as those of most reads are.
static std::optional<double> footprintOfNames(MapAttr map, nd::NdTensorType type,
                                              const Sizes &extents) {
  SmallVector<std::string> seen;
  double elements = 1;
  for (const MapEntry &entry : map.getEntries()) {
    std::optional<std::string> name = entry.expr().asName();
    if (!name || readIndex(*name) || llvm::is_contained(seen, *name))
      return {};
    auto found = extents.find(*name);
    double extent = found == extents.end() ? 1 : double(std::max<int64_t>(1, found->second));
    double size = double(type.size(entry.name.getValue()).typical());
    elements *= std::clamp(extent, 1.0, std::max(1.0, size));
    seen.push_back(std::move(*name));
  }
  return elements;
}

double heddle::footprint(MapAttr map, nd::NdTensorType type, const Sizes &extents) {
  if (auto elements = footprintOfNames(map, type, extents))
    return *elements;
  Ranges ranges;
  double points = 1;
  for (const MapEntry &entry : map.getEntries())
    for (const std::string &name : entry.expr().names())
      ranges.try_emplace(name);
  for (auto &[name, range] : ranges) {
    auto found = extents.find(name);
    int64_t extent = found == extents.end() ? 1 : std::max<int64_t>(1, found->second);
    range = {0, extent - 1};
    points *= double(extent);
  }
  double elements = 1;
  for (const MapEntry &entry : map.getEntries()) {
    double size = double(type.size(entry.name.getValue()).typical());
    Expr coordinate = entry.expr();
    double span = size;
    if (!isGathered(coordinate))
      if (auto bounds =
              (coordinate.asName() ? coordinate : coordinate.simplify(ranges)).bounds(ranges))
        span = double(bounds->high - bounds->low + 1);
    elements *= std::clamp(span, 1.0, std::max(1.0, size));
  }
  return std::min(elements, isGathered(map) ? elements : points);
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

/// Collects the factors of a product. Returns false if it contains anything else, or a factor twice
/// (a chain of squares would have too many).
static bool collectFactors(Value value, SmallVectorImpl<unsigned> &factors) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (llvm::is_contained(factors, argument.getArgNumber()))
      return false;
    factors.push_back(argument.getArgNumber());
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(op))
    return collectFactors(op->getOperand(0), factors);
  return isa<arith::MulFOp, arith::MulIOp>(op) && collectFactors(op->getOperand(0), factors) &&
         collectFactors(op->getOperand(1), factors);
}

std::optional<Contraction> heddle::contractionOf(ComputeOp op) {
  if (!op.isReduction() || op.getNeutral().size() != 1 ||
      nd::combinerKind(op.getCombine()) != nd::CombinerKind::Add)
    return std::nullopt;
  Contraction result;
  if (!collectFactors(op.getBody().front().getTerminator()->getOperand(0), result.factors) ||
      result.factors.size() < 2)
    return std::nullopt;
  return result;
}

bool heddle::onlyMoves(ComputeOp op) {
  Block &body = op.getBody().front();
  return !op.isReduction() && op.getFinish().empty() && op.getReads().size() == 1 &&
         op.getNumResults() == 1 && body.getTerminator()->getOperand(0) == body.getArgument(0) &&
         tensorType(op.getReads()[0]).getElementType() ==
             tensorType(op.getResult(0)).getElementType();
}

std::optional<Labels> heddle::renamingOf(MapAttr map) {
  Labels renaming;
  std::set<std::string> used;
  for (const MapEntry &entry : map.getEntries()) {
    auto name = entry.expr().asName();
    if (!name || readIndex(*name) || !used.insert(*name).second)
      return std::nullopt;
    renaming[entry.name.str()] = *name;
  }
  return renaming;
}

bool heddle::isRenaming(ComputeOp op) {
  if (!onlyMoves(op) || !op.readGuard(0).isTrivial())
    return false;
  auto names = renamingOf(op.readMap(0));
  nd::NdTensorType type = tensorType(op.getReads()[0]);
  return names && names->size() == op.getProduced().size() &&
         llvm::all_of(*names, [&](const auto &entry) {
           return op.getProduced().lookup(entry.second) == type.size(entry.first);
         });
}
