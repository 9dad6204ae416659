//===- SplitUpdates.cpp - splits large accumulating updates ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/prepare/SplitUpdates.h"

#include "dialects/nd/Combiner.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nest/Rewrite.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

/// The most parts, if sizes are numbers and if they are not: all bins are filled and combined, also
/// for few points; the most elements of the bins of all parts, for each point of the update and in
/// all; and how many points there are in parallel if no name has to be split.
static constexpr int64_t mostParts = 256, mostPartsOfUnknown = 64;
static constexpr double mostBinsOfPoint = 4, fewBins = 1 << 18, manyFree = 4096;

namespace {
class UpdateSplitter {
public:
  explicit UpdateSplitter(UpdateOp op)
      : op(op), b(op), loc(op.getLoc()), dest(tensorType(op.getDest())) {}

  /// Chooses the name and the number of its parts. Returns false if no split is worth it.
  bool choose(double fewestPoints) {
    // One that has layouts is chosen by the user, or is of parts already.
    kind = nd::combinerKind(op.getCombine(), &isSigned);
    if (op.getUnique() || isFixed(op) || op.getLayouts() || kind == nd::CombinerKind::General)
      return false;
    auto free = freeNames(op);
    double points = 1, parallel = 1;
    for (const nd::Dim &dim : op.getSpace()) {
      auto size = double(std::max<int64_t>(dim.size().typical(), 1));
      points *= size;
      if (free.count(dim.name.str()))
        parallel *= size;
      else if (!name.name || dim.size().typical() > name.size().typical())
        name = dim;
    }
    if (!name.name || parallel >= manyFree)
      return false;
    double bins = 1;
    for (const nd::Dim &dim : dest.getDims())
      bins *= double(std::max<int64_t>(dim.size().typical(), 1));
    bool isKnown = llvm::all_of(
        op.getSpace(), [](const nd::Dim &dim) { return dim.size().constant().has_value(); });
    for (parts = isKnown ? mostParts : mostPartsOfUnknown; parts > 1; parts /= 2)
      if (points / double(parts) >= fewestPoints && name.size().typical() >= parts &&
          bins * double(parts) <= std::max(mostBinsOfPoint * points, fewBins))
        break;
    part = name.name.str() + "$part";
    while (op.getSpace().contains(part) || dest.has(part)) // from an earlier split
      part += "$";
    return parts > 1 && mayExclude();
  }

  void split() {
    UpdateOp partial = updateParts();
    Value whole = combineParts(partial.getResult());
    if (auto label = op->getAttr("heddle.name"))
      whole.getDefiningOp()->setAttr("heddle.name", label);
    op.getResult().replaceAllUsesWith(whole);
    op->erase();
  }

private:
  UpdateOp op;
  OpBuilder b;
  Location loc;
  nd::NdTensorType dest;
  nd::CombinerKind kind{};
  bool isSigned = true;
  nd::Dim name;     ///< the name that is split
  std::string part; ///< the name of its parts
  int64_t parts = 1;

  Expr size() const { return name.size().getExpr(); }
  bool divides() const { return size().mod(parts) == Expr(0); }
  /// Whether a guard may exclude the points beyond the end of the last part: one that states no
  /// other value.
  bool mayExclude() {
    return divides() || llvm::any_of(op.getGuards().getAsRange<GuardAttr>(),
                                     [](GuardAttr guard) { return guard.excludes(); });
  }
  nd::Dim partDim() const { return {b.getContext(), part, Expr(parts)}; }
  nd::NdTensorType withPart() const {
    SmallVector<nd::Dim> dims(dest.getDims().getDims());
    dims.push_back(partDim());
    return nd::NdTensorType::get(b.getContext(), dest.getElementType(),
                                 nd::DimsAttr::getSorted(b.getContext(), dims));
  }

  /// A part's bins lie together, and in them those that neighbouring points write.
  Layout layoutOfParts() const {
    std::vector<std::string> names{part}, ofNeighbours;
    std::set<std::string> free;
    for (const auto &[name, coordinate] : freeNames(op))
      free.insert(coordinate);
    for (const nd::Dim &dim : dest.getDims())
      (free.count(dim.name.str()) ? ofNeighbours : names).push_back(dim.name.str());
    llvm::append_range(names, ofNeighbours);
    return Layout::rowMajor(names);
  }
  /// The update of neutral elements by the points of each part.
  UpdateOp updateParts() {
    MLIRContext *context = b.getContext();
    Expr length = size().ceildiv(parts);
    Expr at = Expr::name(part) * length + Expr::name(name.name.str());
    ExprMap moved{{name.name.str(), at}};
    SmallVector<nd::Dim> dims{partDim()};
    for (const nd::Dim &dim : op.getSpace())
      dims.push_back(dim.name == name.name ? nd::Dim(context, name.name.getValue(), length) : dim);
    SmallVector<MapEntry> target{MapEntry(context, part, Expr::name(part))};
    for (const MapEntry &entry : op.getDestMap().substitute(moved).getEntries())
      target.push_back(entry);
    SmallVector<Attribute> maps, guards;
    for (auto [map, guard] : llvm::zip_equal(op.getMaps().getAsRange<MapAttr>(),
                                             op.getGuards().getAsRange<GuardAttr>())) {
      maps.push_back(map.substitute(moved));
      SmallVector<Condition> conditions(guard.substitute(moved).getConditions());
      if (!divides())
        conditions.push_back(Condition(context, size() - Expr(1) - at));
      guards.push_back(GuardAttr::get(context, conditions, guard.getOtherwise()));
    }
    nd::NdTensorType type = withPart();
    Value bins = filled(b, loc, type, neutralOf(type.scalarType()));
    ArrayAttr layouts = b.getArrayAttr({LayoutAttr::get(context, layoutOfParts())});
    bins.getDefiningOp()->setAttr("layouts", layouts);
    auto made = UpdateOp::create(
        b, loc, type, bins, op.getReads(), nd::DimsAttr::getSorted(context, dims),
        MapAttr::getSorted(context, target), b.getArrayAttr(maps), b.getArrayAttr(guards),
        /*unique=*/false, layouts, ScheduleAttr(), ArrayAttr());
    made.getBody().takeBody(op.getBody());
    IRMapping mapping;
    op.getCombine().cloneInto(&made.getCombine(), mapping);
    made.getBody().walk([&](IndexOp index) {
      if (index.getNameAttr() != name.name)
        return;
      OpBuilder before(index);
      index.replaceAllUsesWith(emitIndex(before, index.getLoc(), at));
    });
    made->setAttr("heddle.name", b.getStringAttr("partial"));
    return made;
  }

  TypedAttr neutralOf(Type type) const { return nd::neutralElement(kind, type, isSigned); }

  /// The destination combined with the bins of all parts, in their order.
  Value combineParts(Value partial) {
    NestBuilder nest(b, loc);
    nest.produced = dest.getDims();
    nest.reduced = nd::DimsAttr::getSorted(b.getContext(), {partDim()});
    nest.read(partial, MapAttr::identity(tensorType(partial)));
    nest.finishRead(op.getDest(), MapAttr::identity(dest));
    ComputeOp made = nest.create(
        {dest.getElementType()},
        [](OpBuilder &, Location, ValueRange read) { return SmallVector<Value>(read); }, kind,
        isSigned,
        [&](OpBuilder &builder, Location where, ValueRange all) -> SmallVector<Value> {
          Value sum = nd::convertFloat(builder, where, all[0], dest.scalarType());
          return nd::inlineBlock(builder, op.getCombine().front(), {all[1], sum});
        });
    return made.getResult(0);
  }
};
} // namespace

void nest::splitUpdates(func::FuncOp function, int64_t points) {
  for (auto op : llvm::make_early_inc_range(function.getOps<UpdateOp>()))
    if (UpdateSplitter splitter(op); splitter.choose(double(points)))
      splitter.split();
}
