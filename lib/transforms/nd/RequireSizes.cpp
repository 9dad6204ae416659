//===- RequireSizes.cpp - conditions on sizes that calls check ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/RequireSizes.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdInference.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nd/Passes.h"

#include <set>

namespace heddle::nd {
#define GEN_PASS_DEF_NDREQUIRESIZESPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace mlir;

static constexpr const char *attributeName = "heddle.requires";

/// The first and the last coordinate of names, over symbols.
using Spans = std::map<std::string, std::pair<Expr, Expr>>;

/// The exact minimum and maximum over the points of `spans`, as expressions of symbols. None if
/// they are not exact, since wider bounds would reject valid calls. `met`: the sign of the slope by
/// each name so far. An expression with both signs for one name may not attain its bounds.
static std::optional<std::pair<Expr, Expr>>
extremes(const Expr &expr, const Spans &spans, std::map<std::string, int> &met, int direction = 1) {
  using Kind = Expr::Atom::Kind;
  constexpr int sawtooth = 2;
  auto meets = [&](const std::string &name, int now) {
    auto [way, isNew] = met.emplace(name, now);
    return isNew || (way->second == now && now != sawtooth);
  };
  std::pair<Expr, Expr> sum(expr.offset(), expr.offset());
  for (const Expr::Term &term : expr.terms()) {
    std::pair<Expr, Expr> product(1, 1);
    bool isKnown = true; // independent of the point; symbols are not negative
    int way = term.coefficient < 0 ? -direction : direction;
    for (const Expr::AtomRef &atom : term.factors) {
      std::pair<Expr, Expr> factor(0, 0);
      auto span = spans.find(atom->name);
      if (atom->kind == Kind::Name && span == spans.end()) {
        factor.first = factor.second = Expr::name(atom->name);
      } else if (atom->kind == Kind::Name) {
        if (!meets(atom->name, way))
          return std::nullopt;
        factor = span->second;
      } else if (atom->kind == Kind::Mod) {
        // A name that starts at 0.
        auto name = atom->operands[0].asName();
        auto of = name ? spans.find(*name) : spans.end();
        if (of == spans.end() || of->second.first != Expr(0) || !meets(*name, sawtooth))
          return std::nullopt;
        factor.second = Expr::min(of->second.second, Expr(atom->divisor - 1));
      } else {
        auto a = extremes(atom->operands[0], spans, met, way), b = a;
        if (atom->operands.size() > 1)
          b = extremes(atom->operands[1], spans, met, way);
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

/// Restricts `spans` to the points where `condition` holds; false if it depends on several names.
static bool narrow(Spans &spans, const nest::Condition &condition) {
  Expr expr = condition.expr();
  if (nest::isGathered(expr))
    return false;
  for (auto &[name, span] : spans) {
    int64_t times = expr.mentions(name) ? expr.coefficient(name) : 0;
    Expr rest = expr - Expr::name(name) * Expr(times);
    if ((times != 1 && times != -1) || rest.mentions(name) ||
        llvm::any_of(rest.names(), [&](const std::string &other) { return spans.count(other); }))
      continue;
    Expr bound = times > 0 ? -rest : rest; // name >= bound, or name <= bound
    if (times > 0 || condition.equality)
      span.first = Expr::max(span.first, bound);
    if (times < 0 || condition.equality)
      span.second = Expr::min(span.second, bound);
    return true;
  }
  return false;
}

namespace {
struct NdRequireSizesPass : nd::impl::NdRequireSizesPassBase<NdRequireSizesPass> {
  SmallVector<Attribute> found;
  std::set<Expr> known; ///< expressions known to be >= 0

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
      requireOf(op);
    });
    if (found.empty())
      getOperation()->removeAttr(attributeName);
    else
      getOperation()->setAttr(attributeName, ArrayAttr::get(&getContext(), found));
  }

  /// Adds the op's own conditions on sizes.
  void requireOf(Operation *op) {
    if (auto conditions = dyn_cast<nd::SizeConditionsInterface>(op))
      for (const nd::SizeCondition &each : conditions.getSizeConditions())
        require(op, each.name, each.got, each.most, each.elements, each.part);
    if (auto nest = dyn_cast<nest::LoopNestInterface>(op))
      requireInside(nest);
  }

  /// Requires reads to be in bounds where their guards hold.
  void requireInside(nest::LoopNestInterface op) {
    Spans whole;
    auto walks = [&](nd::DimsAttr names) {
      for (const nd::Dim &dim : names)
        whole.try_emplace(dim.name.str(), Expr(0), dim.size().getExpr() - Expr(1));
    };
    llvm::for_each(op.getIterationNames(), walks);
    for (auto group = op->getParentOfType<nest::GroupOp>(); group;
         group = group->getParentOfType<nest::GroupOp>())
      walks(group.getNames());
    if (llvm::any_of(whole, [](const auto &each) { return each.second.second == Expr(-1); }))
      return;
    for (const NestRead &read : readsOf(op)) {
      nd::NdTensorType type = nd::tensorType(read.value);
      ArrayRef<nest::Condition> conditions = read.guard.getConditions();
      Spans spans = whole;
      bool isKnown = llvm::all_of(conditions,
                                  [&](const nest::Condition &each) { return narrow(spans, each); });
      for (const nest::MapEntry &entry : read.map.getEntries()) {
        Expr coordinate = entry.expr(), count(1), size = type.size(entry.name).getExpr();
        if (nest::isGathered(coordinate)) { // clamped
          for (const auto &[name, span] : whole)
            count = count * (span.second + Expr(1));
          if (conditions.empty())
            require(op, entry.name, 1, size, count);
          continue;
        }
        std::map<std::string, int> met;
        auto range = isKnown ? extremes(coordinate, spans, met) : std::nullopt;
        if (!range)
          continue;
        for (const auto &[name, span] : spans) { // an empty space reads nothing
          Expr extent = span.second - span.first + Expr(1);
          if (!extent.isConstant() && coordinate != Expr::name(name))
            count = count * (conditions.empty() ? extent : Expr::max(extent, 0));
          else if (extent.constant().value_or(1) <= 0)
            count = Expr(0);
        }
        if (count == Expr(0))
          continue;
        require(op, entry.name, 0, range->first, count, "the first coordinate read along");
        require(op, entry.name, range->second + Expr(1), size, count);
      }
    }
  }

  /// Requires `got` <= `most`, unless the number of elements is 0.
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
    if (got.isTooLarge() || most.isTooLarge()) {
      op->emitOpError() << "expected " << Expr::limits() << " in the requirement on " << what
                        << ", got more";
      return signalPassFailure();
    }
    Builder b(op->getContext());
    found.push_back(b.getDictionaryAttr({b.getNamedAttr("got", b.getStringAttr(got.str())),
                                         b.getNamedAttr("most", b.getStringAttr(most.str())),
                                         b.getNamedAttr("location", op->getLoc()),
                                         b.getNamedAttr("what", b.getStringAttr(what))}));
  }
};
} // namespace

void heddle::renameRequirements(func::FuncOp function, const ExprMap &symbols) {
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
                       llvm::function_ref<std::string(Location)> locationText) {
  std::vector<SizeRequirement> result;
  auto list = function->getAttrOfType<ArrayAttr>(attributeName);
  for (Attribute attribute : list ? list.getValue() : ArrayRef<Attribute>()) {
    auto each = dyn_cast<DictionaryAttr>(attribute);
    auto text = [&](StringRef name) {
      auto string = each ? each.getAs<StringAttr>(name) : StringAttr();
      return string ? string.str() : std::string();
    };
    auto got = Expr::parse(text("got")), most = Expr::parse(text("most"));
    auto location = each ? each.getAs<LocationAttr>("location") : LocationAttr();
    if (got && most && llvm::all_of((*most - *got).names(), [&](const std::string &symbol) {
          return llvm::is_contained(symbols, symbol);
        }))
      result.push_back(
          {*got, *most, text("what"), location ? locationText(Location(location)) : ""});
  }
  return result;
}
