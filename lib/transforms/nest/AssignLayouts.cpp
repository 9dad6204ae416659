//===- AssignLayouts.cpp - an order in memory for every value -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nest/AssignLayouts.h"
#include "dialects/nest/NestBuild.h"

#include <cmath>
#include <set>

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

namespace {
/// Votes for the fastest name of a value. Ordered by name, so that ties are broken alike every time.
using Votes = std::map<std::string, double>;

class Assignment {
public:
  explicit Assignment(func::FuncOp function) : function(function) {}

  void run() {
    for (Operation &op : function.front())
      if (auto nest = dyn_cast<ComputeOp>(op))
        vote(nest);
    for (int round = 0; round < 4; ++round) {
      for (Operation &op : function.front())
        spread(op);
      for (Operation &op : llvm::reverse(function.front()))
        spread(op);
      spreadDonations();
    }
    write();
  }

private:
  func::FuncOp function;
  llvm::DenseMap<Value, Votes> votes;
  llvm::DenseMap<Value, std::set<std::string>> panels; ///< names along which a value is read as a panel
  static constexpr int64_t block = 32;

  static double points(nd::DimsAttr dims) {
    double count = 1;
    for (const nd::Dim &dim : dims)
      count *= double(*dim.size().constant());
    return count;
  }

  /// The name of a read tensor along which steps of `name` are steps of one; empty if there is none.
  static std::string alongOf(MapAttr map, const std::string &name) {
    std::string found;
    for (const MapEntry &entry : map.getEntries()) {
      Expr place = entry.expr();
      if (!place.mentions(name))
        continue;
      if (!found.empty() || !place.isLinearIn(name) || place.coefficient(name) != 1)
        return "";
      found = entry.name.str();
    }
    return found;
  }

  /// The lanes that a contraction would use: the produced name for which reads are contiguous or broadcast, weighted by how
  /// full the lanes are.
  static std::string lanesOf(ComputeOp nest) {
    std::string lanes;
    double best = 0;
    for (const nd::Dim &dim : nest.getProduced()) {
      std::string name = dim.name.str();
      double size = double(*dim.size().constant());
      double full = size / (16 * std::ceil(size / 16));
      unsigned along = 0, without = 0, awkward = 0;
      for (unsigned i = 0; i < nest.getReads().size(); ++i)
        if (!nest.readMap(i).mentions(name))
          ++without;
        else if (!alongOf(nest.readMap(i), name).empty())
          ++along;
        else
          ++awkward;
      double score = full * (without ? 2 : 1) * (awkward ? 0.2 : 1) * (1 + 0.1 * std::min(1.0, size / 4096));
      if (nest.getReads().size() == 1)
        score = full * (awkward ? 0.2 : 1);
      if (score > best) {
        best = score;
        lanes = name;
      }
    }
    return lanes;
  }

  void vote(ComputeOp nest) {
    double work = points(nest.getProduced()) * points(nest.getReduced());
    std::string lanes = nest.isReduction() ? lanesOf(nest) : "";
    if (lanes.empty())
      return;
    for (Value result : nest.getResults())
      votes[result][lanes] += 0.5 * work / std::sqrt(std::max(1.0, points(nest.getReduced())));
    for (auto [i, read] : llvm::enumerate(nest.getReads())) {
      std::string along = alongOf(nest.readMap(i), lanes);
      if (!along.empty()) {
        votes[read][along] += work;
        // A panel that every row of a tile walks lies in blocks as wide as the tile, so that its lines follow one another.
        bool isPanel = nest.getReads().size() > 1 && llvm::any_of(nest.getProduced(), [&](const nd::Dim &dim) {
          return !nest.readMap(i).mentions(dim.name.getValue()) && *dim.size().constant() > 1;
        });
        if (isPanel && *tensorTypeOf(read).size(along).constant() >= 2 * block)
          panels[read].insert(along);
        continue;
      }
      if (nest.readMap(i).mentions(lanes))
        continue;
      // Broadcast: neighbours along a name that the inner loops walk share a cache line.
      std::string inner;
      double largest = 1;
      for (nd::DimsAttr dims : {nest.getReduced(), nest.getProduced()})
        for (const nd::Dim &dim : dims) {
          std::string place = alongOf(nest.readMap(i), dim.name.str());
          double size = double(*dim.size().constant());
          if (!place.empty() && size > largest && nest.readMap(i).lookup(place)->asName()) {
            largest = size;
            inner = place;
          }
        }
      if (!inner.empty())
        votes[read][inner] += 0.1 * work;
    }
  }

  /// Point by point values want to lie alike: operands and results hear a part of each other's votes.
  void spread(Operation &op) {
    auto nest = dyn_cast<ComputeOp>(op);
    if (!nest)
      return;
    size_t first = nest.isReduction() ? nest.getReads().size() : 0;
    for (size_t i = first; i < nest->getNumOperands(); ++i) {
      Value operand = nest->getOperand(i);
      auto map = cast<MapAttr>(nest.getMaps()[i]);
      for (Value result : nest.getResults())
        for (const nd::Dim &dim : nest.getProduced()) {
          std::string name = dim.name.str(), along = alongOf(map, name);
          if (along.empty())
            continue;
          double up = votes[result][name], down = votes[operand][along];
          votes[operand][along] = std::max(down, 0.5 * up);
          votes[result][name] = std::max(up, 0.5 * down);
        }
    }
    if (auto update = dyn_cast<UpdateOp>(op))
      share(update.getDest(), update.getResult());
  }

  void share(Value a, Value b) {
    for (const nd::Dim &dim : tensorTypeOf(a).getDims()) {
      std::string name = dim.name.str();
      double most = std::max(votes[a][name], votes[b][name]);
      votes[a][name] = votes[b][name] = most;
    }
    panels[a].insert(panels[b].begin(), panels[b].end());
    panels[b] = panels[a];
  }

  void spreadDonations() {
    auto end = cast<func::ReturnOp>(function.front().getTerminator());
    for (BlockArgument argument : function.getArguments())
      if (auto donate = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "heddle.donate"))
        share(argument, end.getOperand(unsigned(donate.getInt())));
  }

  Layout layoutOf(Value value) {
    std::vector<std::pair<double, std::string>> order;
    for (const nd::Dim &dim : tensorTypeOf(value).getDims())
      order.emplace_back(votes[value][dim.name.str()], dim.name.str());
    // The most wanted name varies fastest; the others keep their sorted order.
    auto fastest = std::max_element(order.begin(), order.end(),
                                    [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<std::string> names;
    for (auto it = order.begin(); it != order.end(); ++it)
      if (it != fastest)
        names.push_back(it->second);
    if (fastest == order.end())
      return Layout::rowMajor(names);
    return panelLayout(names, fastest->second, panels[value].count(fastest->second) > 0);
  }

  /// Row-major over `names`, then `fastest`, in blocks if it is a panel's.
  static Layout panelLayout(std::vector<std::string> names, const std::string &fastest, bool blocked) {
    if (!blocked) {
      names.push_back(fastest);
      return Layout::rowMajor(names);
    }
    Layout layout = Layout::rowMajor(names);
    layout.factors.insert(layout.factors.begin(), {{fastest}, block, 0});
    layout.factors.push_back({{fastest}, 1, block});
    return layout;
  }

  /// Reads that lie otherwise than a contraction's lanes want are copied first, where every element is used often.
  void pack(ComputeOp nest) {
    std::string lanes = nest.isReduction() ? lanesOf(nest) : "";
    double work = points(nest.getProduced()) * points(nest.getReduced());
    if (lanes.empty() || nest.getReads().size() < 2)
      return;
    for (unsigned i = 0; i < nest.getReads().size(); ++i) {
      Value read = nest.getReads()[i];
      auto type = tensorTypeOf(read);
      std::string along = alongOf(nest.readMap(i), lanes);
      Layout layout = layoutOf(read);
      if (along.empty() || layout.factors.empty() || layout.factors.back().names.back() == along ||
          work < 256 * double(type.elements()))
        continue;
      std::vector<std::string> names;
      for (const nd::Dim &dim : type.getDims())
        if (dim.name.getValue() != along)
          names.push_back(dim.name.str());
      OpBuilder b(nest);
      NestBuilder copy(b, nest.getLoc());
      copy.produced = type.getDims();
      copy.read(read, MapAttr::identity(type));
      ComputeOp packed = copy.create({type.getElementType()},
                                     [](OpBuilder &, Location, ValueRange value) { return SmallVector<Value>(value); });
      packed->setAttr("heddle.name", b.getStringAttr("pack"));
      bool blocked = *type.size(along).constant() >= 2 * block;
      packed.setLayout(0, LayoutAttr::get(b.getContext(), panelLayout(names, along, blocked)));
      nest.getReadsMutable()[i].set(packed.getResult(0));
    }
  }

  void write() {
    MLIRContext *context = function.getContext();
    for (BlockArgument argument : function.getArguments())
      if (!function.getArgAttr(argument.getArgNumber(), "nd.layout") && isa<nd::NdTensorType>(argument.getType()))
        function.setArgAttr(argument.getArgNumber(), "nd.layout", LayoutAttr::get(context, layoutOf(argument)));
    for (Operation &op : function.front()) {
      auto nest = dyn_cast<ComputeOp>(op);
      if (!nest || nest.getLayouts())
        continue;
      for (unsigned i = 0; i < nest.getNumResults(); ++i)
        nest.setLayout(i, LayoutAttr::get(context, layoutOf(nest.getResult(i))));
    }
    for (Operation &op : llvm::make_early_inc_range(function.front()))
      if (auto nest = dyn_cast<ComputeOp>(op))
        pack(nest);
  }
};
} // namespace

void nest::assignLayouts(func::FuncOp function) {
  for (Operation &op : function.front())
    for (Type type : op.getResultTypes())
      if (auto tensor = dyn_cast<nd::NdTensorType>(type); tensor && !tensor.isStatic())
        return; // sizes are not known: row-major
  // An update's result lies as its destination does, and what a scan or group touches is read as it lies.
  for (Operation &op : function.front())
    if (isa<UpdateOp, ScanOp>(op))
      return;
  Assignment(function).run();
}
