//===- RequireSizes.cpp - what sizes must be like on entry ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/pipelines/RequireSizes.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestBuild.h"

#include "llvm/ADT/TypeSwitch.h"

#include <set>

using namespace heddle;
using namespace mlir;

static constexpr const char *attributeName = "heddle.requires";

/// The least and the largest value at the points of names with `sizes`, over symbols; none where
/// that can't be said exactly: bounds that are too wide would refuse calls for nothing. `met`:
/// names that stand in the expression elsewhere; what depends on one twice need not reach both
/// ends.
static std::optional<std::pair<Expr, Expr>>
extremes(const Expr &expr, const std::map<std::string, Expr> &sizes, std::set<std::string> &met) {
  using Kind = Expr::Atom::Kind;
  std::pair<Expr, Expr> sum(expr.offset(), expr.offset());
  for (const Expr::Term &term : expr.terms()) {
    std::pair<Expr, Expr> product(1, 1);
    bool isKnown = true; // a number, whatever the point; symbols are not negative
    for (const Expr::AtomRef &atom : term.factors) {
      std::pair<Expr, Expr> factor(0, 0);
      auto size = sizes.find(atom->name);
      if (atom->kind == Kind::Name && size == sizes.end()) {
        factor.first = factor.second = Expr::name(atom->name);
      } else if (atom->kind == Kind::Name) {
        if (!met.insert(atom->name).second)
          return std::nullopt;
        factor.second = size->second - Expr(1);
      } else if (atom->kind == Kind::Mod) {
        return std::nullopt;
      } else {
        auto a = extremes(atom->operands[0], sizes, met), b = a;
        if (atom->operands.size() > 1)
          b = extremes(atom->operands[1], sizes, met);
        if (!a || !b)
          return std::nullopt;
        auto of = [&](const Expr &x, const Expr &y) {
          return atom->kind == Kind::FloorDiv ? x.floordiv(atom->divisor)
                 : atom->kind == Kind::Min    ? Expr::min(x, y)
                                              : Expr::max(x, y);
        };
        factor = {of(a->first, b->first), of(a->second, b->second)};
      }
      bool varies = factor.first != factor.second;
      if (varies && !isKnown)
        return std::nullopt;
      isKnown &= !varies;
      product = {product.first * factor.first, product.second * factor.second};
    }
    if (term.coefficient < 0)
      std::swap(product.first, product.second);
    sum = {sum.first + product.first * Expr(term.coefficient),
           sum.second + product.second * Expr(term.coefficient)};
  }
  return sum;
}

namespace {
struct RequireSizesPass : PassWrapper<RequireSizesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RequireSizesPass)
  StringRef getArgument() const override { return "require-sizes"; }
  StringRef getDescription() const override {
    return "writes on functions what symbols must be like: parts fit, nothing is negative";
  }

  SmallVector<Attribute> found;
  std::set<Expr> known; ///< at least 0

  void runOnOperation() override {
    found.clear();
    known.clear();
    func::FuncOp function = getOperation();
    for (Type type : function.getArgumentTypes())
      if (auto tensor = dyn_cast<nd::NdTensorType>(type))
        for (const nd::Dim &dim : tensor.getDims())
          known.insert(dim.size().getExpr());
    if (auto declared = function->getAttrOfType<DictionaryAttr>(nd::rangesAttrName))
      for (NamedAttribute entry : declared) {
        StringRef symbol = entry.getName();
        auto [low, high] = nd::symbolRange(function, symbol);
        std::string what = ("'" + symbol + "', whose range is declared").str();
        if (low > 0)
          add(function, low, Expr::name(symbol), what);
        if (high < largestSymbol)
          add(function, Expr::name(symbol), high, what);
      }
    function.walk([&](Operation *op) {
      for (Type type : op->getResultTypes())
        if (auto tensor = dyn_cast<nd::NdTensorType>(type))
          for (const nd::Dim &dim : tensor.getDims())
            if (Expr size = dim.size().getExpr(); !size.isConstant() && known.insert(size).second)
              require(op, dim.name, 0, size);
      auto sizeOf = [](Value value, StringRef name) {
        return cast<nd::NdTensorType>(value.getType()).size(name).getExpr();
      };
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](nd::SortOp sort) {
            require(op, sort.getName(), sizeOf(sort.getResult(0), sort.getName()),
                    sizeOf(sort.getInputs()[0], sort.getName()));
          })
          .Case([&](nd::DynamicSliceOp slice) {
            require(op, slice.getName(), sizeOf(slice.getResult(), slice.getName()),
                    sizeOf(slice.getInput(), slice.getName()));
          })
          .Case([&](nd::UpdateSliceOp update) {
            require(op, update.getName(), sizeOf(update.getPart(), update.getName()),
                    sizeOf(update.getDestination(), update.getName()));
          })
          .Case([&](nd::GatherOp gather) { // there is something to clamp to
            Expr count(1);
            for (const nd::Dim &dim :
                 cast<nd::NdTensorType>(gather.getResult().getType()).getDims())
              count = count * dim.size().getExpr();
            for (StringRef name : nd::stringsOf(gather.getNames()))
              require(op, name, 1, sizeOf(gather.getInput(), name), count);
          })
          .Case([&](nd::SliceOp slice) {
            // The highest element read is the first or the last, if any is; the last is not below
            // 0.
            Expr size = sizeOf(slice.getResult(), slice.getName());
            Expr start = slice.getStart().getExpr();
            int64_t stride = slice.getStride();
            Expr last = start + (size - Expr(1)) * Expr(stride);
            bool rises = stride > 0;
            require(op, slice.getName(), (rises ? last : start) + Expr(1),
                    sizeOf(slice.getInput(), slice.getName()), size);
            if (!rises)
              require(op, slice.getName(), size, start.floordiv(-stride) + Expr(1), 1,
                      "the elements up to the first along");
            else
              require(op, slice.getName(), 0, start, size, "the first element along");
          })
          .Case([&](nd::PadOp pad) {
            for (nd::SizeAttr size : {pad.getLow(), pad.getHigh()})
              require(op, pad.getName(), 0, size.getExpr(), 1, "the elements beyond");
          })
          .Case([&](nd::SplitOp split) {
            Expr product(1), size = sizeOf(split.getInput(), split.getName());
            for (StringRef name : nd::stringsOf(split.getInto()))
              product = product * sizeOf(split.getResult(), name);
            require(op, split.getName(), product, size);
            require(op, split.getName(), size, product);
          })
          .Case([&](nest::ComputeOp nest) {
            requireInside(op, nest.getOperands(), nest.getMaps(), nest.getGuards(),
                          nest::iterationSpace(nest));
          })
          .Case([&](nest::UpdateOp nest) {
            requireInside(op, nest.getReads(), nest.getMaps(), nest.getGuards(), nest.getSpace());
          });
    });
    if (found.empty())
      getOperation()->removeAttr(attributeName);
    else
      getOperation()->setAttr(attributeName, ArrayAttr::get(&getContext(), found));
  }

  /// Reads without a guard stay inside of their tensors.
  void requireInside(Operation *op, ValueRange reads, ArrayAttr maps, ArrayAttr guards,
                     nd::DimsAttr space) {
    std::map<std::string, Expr> sizes;
    for (Operation *around = op; around; around = around->getParentOp()) {
      auto group = dyn_cast<nest::GroupOp>(around);
      if (around == op || group)
        for (const nd::Dim &dim : around == op ? space : group.getNames())
          sizes.emplace(dim.name.str(), dim.size().getExpr());
    }
    if (llvm::any_of(sizes, [](const auto &each) { return each.second == Expr(0); }))
      return;
    for (auto [i, read] : llvm::enumerate(reads)) {
      auto type = cast<nd::NdTensorType>(read.getType());
      if (!cast<nest::GuardAttr>(guards[i]).getConditions().empty())
        continue;
      for (const nest::MapEntry &entry : cast<nest::MapAttr>(maps[i]).getEntries()) {
        Expr place = entry.expr(), count(1);
        std::set<std::string> met;
        bool isGathered = nest::isGathered(place);
        auto range = isGathered ? std::nullopt : extremes(place, sizes, met);
        if (!range && !isGathered)
          continue;
        for (const auto &[name, size] : sizes) // nothing is read where another name has no place
          if (!size.isConstant() && !place.mentions(name))
            count = count * size;
        if (isGathered) { // clamped
          require(op, entry.name, 1, type.size(entry.name).getExpr(), count);
          continue;
        }
        require(op, entry.name, 0, range->first, count, "the first place read along");
        require(op, entry.name, range->second + Expr(1), type.size(entry.name).getExpr(), count);
      }
    }
  }

  /// `got` is at most `most`, unless the number of elements is 0.
  void require(Operation *op, StringRef name, Expr got, const Expr &most, const Expr &count = 1,
               StringRef part = "the size of") {
    auto bounds = (most - got).bounds(nd::symbolRanges(getOperation(), most - got));
    if (bounds && bounds->low >= 0)
      return;
    if (count.constant().value_or(0) <= 0)
      got = Expr::min(count, 1) * got;
    if (auto left = (most - got).constant(); left && *left >= 0)
      return;
    add(op, got, most, (part + " '" + name + "' in '" + op->getName().getStringRef() + "'").str());
  }

  void add(Operation *op, const Expr &got, const Expr &most, const std::string &what) {
    Builder b(op->getContext());
    found.push_back(b.getDictionaryAttr({b.getNamedAttr("got", b.getStringAttr(got.str())),
                                         b.getNamedAttr("most", b.getStringAttr(most.str())),
                                         b.getNamedAttr("place", op->getLoc()),
                                         b.getNamedAttr("what", b.getStringAttr(what))}));
  }
};
} // namespace

std::unique_ptr<Pass> heddle::createRequireSizesPass() {
  return std::make_unique<RequireSizesPass>();
}

void heddle::renameRequirements(func::FuncOp function,
                                const std::map<std::string, Expr, std::less<>> &symbols) {
  Builder b(function.getContext());
  auto named = [&](StringRef symbol) {
    auto found = symbols.find(symbol.str());
    return found == symbols.end() ? symbol.str() : found->second.str();
  };
  if (auto declared = function->getAttrOfType<DictionaryAttr>(nd::rangesAttrName)) {
    NamedAttrList renamed;
    for (NamedAttribute entry : declared)
      renamed.set(named(entry.getName()), entry.getValue());
    function->setAttr(nd::rangesAttrName, renamed.getDictionary(b.getContext()));
  }
  auto list = function->getAttrOfType<ArrayAttr>(attributeName);
  SmallVector<Attribute> renamed;
  for (Attribute each : list ? list.getValue() : ArrayRef<Attribute>()) {
    NamedAttrList fields(dyn_cast<DictionaryAttr>(each));
    for (StringRef field : {"got", "most"})
      if (auto text = dyn_cast_or_null<StringAttr>(fields.get(field)))
        if (auto expr = Expr::parse(text.getValue()))
          fields.set(field, b.getStringAttr(expr->substitute(symbols).str()));
    renamed.push_back(fields.getDictionary(b.getContext()));
  }
  if (!renamed.empty())
    function->setAttr(attributeName, b.getArrayAttr(renamed));
}

std::vector<SizeRequirement>
heddle::requirementsOf(func::FuncOp function, ArrayRef<std::string> symbols,
                       llvm::function_ref<std::string(Location)> placeOf) {
  std::vector<SizeRequirement> result;
  auto list = function->getAttrOfType<ArrayAttr>(attributeName);
  for (Attribute attribute : list ? list.getValue() : ArrayRef<Attribute>()) {
    auto each = dyn_cast<DictionaryAttr>(attribute);
    auto text = [&](StringRef name) {
      auto string = each ? each.getAs<StringAttr>(name) : StringAttr();
      return string ? string.str() : std::string();
    };
    auto got = Expr::parse(text("got")), most = Expr::parse(text("most"));
    auto place = each ? each.getAs<LocationAttr>("place") : LocationAttr();
    if (got && most && llvm::all_of((*most - *got).names(), [&](const std::string &symbol) {
          return llvm::is_contained(symbols, symbol);
        }))
      result.push_back({*got, *most, text("what"), place ? placeOf(Location(place)) : ""});
  }
  return result;
}
