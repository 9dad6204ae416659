//===- GenerateVariants.cpp - ops that differ in one thing ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Clones an op and changes one thing of the clone: any attribute that it has (a guard, the
// direction of a sort) or its combiner. Both ops stay. A pass that compares ops and overlooks this
// attribute gives one of them the other's values.
//
// The code knows of single ops only their promises (such as unique indices), which it does not add.
// It drops clones that do not verify, and those with elements that a window excludes, since no
// reduction follows.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Generator.h"

#include "dialects/nest/NestGradient.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace heddle;
using namespace heddle::laws;
using namespace heddle::nd;
using namespace mlir;

namespace {
/// Changes of attributes.
class Changes {
public:
  Changes(Dice &dice, Operation *op, const GeneratorOptions &options)
      : dice(dice), context(op->getContext()), smooth(options.smooth), isStatic(!options.symbols) {
    op->walk([&](Operation *inner) {
      for (Type type : inner->getOperandTypes())
        if (auto tensor = dyn_cast<NdTensorType>(type))
          for (const Dim &dim : tensor.getDims())
            names.push_back(dim.name);
    });
  }
  /// Whether `attr` may change: with symbols, the verifier does not find elements out of
  /// bounds.
  bool mayChange(StringRef name, Attribute attr) const {
    return isStatic || name == "value" || name == "padding" ||
           !isa_and_nonnull<IntegerAttr, SizeAttr, StringAttr, ArrayAttr, nest::MapAttr>(attr) ||
           name == "guards";
  }
  /// Whether `op` has guarded reads, whose bounds the verifier does not check.
  static bool hasGuards(Operation *op) {
    auto guards = op->getAttrOfType<ArrayAttr>("guards");
    return guards && llvm::any_of(guards.getAsRange<nest::GuardAttr>(),
                                  [](nest::GuardAttr guard) { return !guard.isTrivial(); });
  }
  /// Another value for `attr`; null to keep it.
  Attribute of(Attribute attr);
  /// Another comparison predicate.
  Attribute ofPredicate(Operation *compare);

private:
  Dice &dice;
  MLIRContext *context;
  bool smooth, isStatic;
  SmallVector<StringAttr> names; ///< of operands

  int64_t step() { return dice.pick({-1, 1}); }
  TypedAttr number(Type type) {
    return numberAttr(type, double(dice.between(-6, 6)) / (isa<FloatType>(type) ? 4 : 1));
  }
  Attribute ofList(ArrayAttr list);
  Attribute ofMap(nest::MapAttr map);
  Attribute ofGuard(nest::GuardAttr guard);
  Attribute ofLiteral(DenseElementsAttr literal);
};
} // namespace

/// A number, or a size, that is larger by `by`.
static Attribute moved(Attribute attr, int64_t by) {
  if (auto size = dyn_cast<SizeAttr>(attr))
    return SizeAttr::get(attr.getContext(), size.getExpr() + by);
  auto number = cast<IntegerAttr>(attr);
  return IntegerAttr::get(number.getType(), number.getValue() + by);
}

Attribute Changes::of(Attribute attr) {
  using Case = Attribute;
  return llvm::TypeSwitch<Attribute, Attribute>(attr)
      .Case([&](BoolAttr flag) -> Case { return BoolAttr::get(context, !flag.getValue()); })
      .Case<IntegerAttr, SizeAttr>([&](auto number) { return moved(number, step()); })
      .Case([&](FloatAttr real) -> Case { return number(real.getType()); })
      .Case([&](DenseElementsAttr literal) { return ofLiteral(literal); })
      .Case([&](StringAttr) -> Case { return names.empty() ? Case() : dice.pick(names); })
      .Case([&](ArrayAttr list) { return ofList(list); })
      .Case([&](nest::MapAttr map) { return ofMap(map); })
      .Case([&](nest::GuardAttr guard) { return ofGuard(guard); })
      .Case([&](TypeAttr) -> Case {
        Builder b(context);
        return TypeAttr::get(
            dice.pick<Type>({b.getBF16Type(), b.getF16Type(), b.getType<Float8E4M3FNType>(),
                             b.getType<Float8E5M2Type>()}));
      })
      .Default(Attribute());
}

/// Changes an element, or swaps two names.
Attribute Changes::ofList(ArrayAttr list) {
  if (list.empty())
    return {};
  SmallVector<Attribute> elements(list.getValue());
  Attribute &one = dice.pick(elements), &two = dice.pick(elements);
  if (&one != &two && isa<StringAttr>(one) && isa<StringAttr>(two))
    std::swap(one, two);
  else
    one = of(one);
  return one ? ArrayAttr::get(context, elements) : Attribute();
}

/// Shifts a coordinate by one, or swaps two: affine ones, which are verified.
Attribute Changes::ofMap(nest::MapAttr map) {
  SmallVector<nest::MapEntry> entries(map.getEntries());
  if (entries.empty() || !llvm::all_of(entries, [](const nest::MapEntry &entry) {
        return entry.expr().isAffine() && !nest::isGathered(entry.expr());
      }))
    return {};
  nest::MapEntry &one = dice.pick(entries), &two = dice.pick(entries);
  if (&one != &two)
    std::swap(one.exprAttr, two.exprAttr);
  else
    one = nest::MapEntry(context, one.name, one.expr() + step());
  return nest::MapAttr::getSorted(context, entries);
}

/// Changes or drops the replacement value, or tightens a condition.
Attribute Changes::ofGuard(nest::GuardAttr guard) {
  SmallVector<nest::Condition> conditions(guard.getConditions());
  TypedAttr otherwise = guard.getOtherwise();
  if (conditions.empty())
    return {};
  nest::Condition &one = dice.pick(conditions);
  if (otherwise && dice.chance(60))
    otherwise = dice.chance(30) ? TypedAttr() : number(otherwise.getType());
  else if (!one.equality)
    one = dice.chance(50) ? nest::Condition(context, one.expr() - 1)
                          : nest::Condition(context, one.expr(), /*equality=*/true);
  return nest::GuardAttr::get(context, conditions, otherwise);
}

Attribute Changes::ofLiteral(DenseElementsAttr literal) {
  if (literal.isSplat()) {
    auto other = cast<TypedAttr>(of(literal.getSplatValue<Attribute>()));
    return DenseElementsAttr::get(literal.getType(), ArrayRef<Attribute>(other));
  }
  SmallVector<Attribute> elements(literal.getValues<Attribute>());
  if (elements.empty())
    return {};
  Attribute &one = dice.pick(elements);
  one = of(one);
  return DenseElementsAttr::get(literal.getType(), elements);
}

Attribute Changes::ofPredicate(Operation *compare) {
  if (auto reals = dyn_cast<arith::CmpFOp>(compare)) {
    using enum arith::CmpFPredicate;
    // In smooth code no single point may have a slope of its own.
    auto other = smooth ? dice.pick({OLT, OGE, UGT, OLE})
                        : dice.pick({OLT, OGE, UGT, OLE, OEQ, ONE, UNO, OGT, ULE});
    return arith::CmpFPredicateAttr::get(context, other);
  }
  using enum arith::CmpIPredicate;
  auto integers = cast<arith::CmpIOp>(compare);
  return arith::CmpIPredicateAttr::get(
      context, dice.pick({eq, ne, integers.getPredicate(), slt, sge, ult, uge}));
}

/// The region in which `op` combines values; null if it does not.
static Region *combinerOf(Operation *op) {
  Region *region =
      llvm::TypeSwitch<Operation *, Region *>(op)
          .Case<nd::ReduceOp, nd::ScanOp, nd::ScatterOp>(
              [](Operation *each) { return &each->getRegion(0); })
          .Case<nest::ComputeOp, nest::UpdateOp>([](auto each) { return &each.getCombine(); })
          .Default(nullptr);
  return region && !region->empty() ? region : nullptr;
}

/// Combines in floats of another width.
static void changeAccumulators(Operation *op, Region &combiner, Type to) {
  auto neutral = op->getAttrOfType<ArrayAttr>("neutral");
  auto first = neutral ? dyn_cast<FloatAttr>(neutral[0]) : FloatAttr();
  if (!first)
    return;
  Type from = first.getType();
  // A number that the other type cannot represent stays, so that the op does not verify.
  auto changed = [&](Attribute attr) -> Attribute {
    auto real = dyn_cast<FloatAttr>(attr);
    if (!real || real.getType() != from)
      return attr;
    TypedAttr other = numberAttr(to, real.getValueAsDouble());
    return other ? Attribute(other) : attr;
  };
  op->setAttr("neutral", ArrayAttr::get(op->getContext(), llvm::map_to_vector(neutral, changed)));
  for (Block &block : combiner) {
    auto retype = [&](ValueRange values) {
      for (Value value : values)
        if (value.getType() == from)
          value.setType(to);
    };
    retype(block.getArguments());
    for (Operation &inner : block) {
      retype(inner.getResults());
      if (auto constant = dyn_cast<arith::ConstantOp>(inner))
        constant.setValueAttr(cast<TypedAttr>(changed(constant.getValue())));
    }
  }
}

/// Replaces `region` by another combiner of one value.
static void changeCombiner(Operation *op, Region &region, CombinerKind kind, Type element) {
  auto neutral = op->getAttrOfType<ArrayAttr>("neutral");
  if (region.getNumArguments() != 2 || (neutral && neutral.size() != 1))
    return;
  Type type = region.getArgument(0).getType();
  StringRef yield = region.front().getTerminator()->getName().getStringRef();
  region.dropAllReferences();
  region.getBlocks().clear();
  OpBuilder b(op->getContext());
  TypedAttr own =
      buildCombiner(b, op->getLoc(), region, kind, type, yield, isSignedElement(element));
  if (neutral)
    // In a type without infinities a maximum has no neutral element, and is refused.
    op->setAttr("neutral", own ? b.getArrayAttr({own}) : b.getArrayAttr({}));
}

/// Changes something of `op` or in its regions; the result need not verify.
void Generator::change(Operation *op) {
  Changes changes(dice, op, options);
  Region *combiner = combinerOf(op);
  Type element = tensorType(op->getResult(0)).getElementType();
  if (combiner && dice.chance(35)) {
    if (dice.chance(50) && isa<FloatType>(element))
      changeAccumulators(op, *combiner, dice.pick<Type>({b.getF64Type(), b.getF32Type(), element}));
    else if (!options.smooth || isa<nd::ReduceOp, nest::ComputeOp>(op))
      changeCombiner(op, *combiner, drawCombiner(element), element);
    return;
  }
  SmallVector<std::pair<Operation *, StringAttr>> places;
  op->walk([&](Operation *inner) {
    bool isScalar = !isa_and_nonnull<NdDialect, nest::NestDialect>(inner->getDialect());
    if (Region *held = combinerOf(inner->getParentOp());
        inner != op && held && held == inner->getParentRegion())
      return; // a promise is kept
    if (isScalar) {
      if (isa<arith::CmpFOp, arith::CmpIOp>(inner))
        places.emplace_back(inner, b.getStringAttr("predicate"));
      return;
    }
    for (StringAttr name : inner->getName().getAttributeNames())
      if (!llvm::is_contained({"neutral", "crossed", "callee", "gradient", "layouts", "schedule",
                               "copies", "produced", "space", "operandSegmentSizes",
                               "resultSegmentSizes"},
                              name.getValue()) &&
          changes.mayChange(name, inner->getAttr(name)) &&
          !(name == "maps" && Changes::hasGuards(inner)))
        places.emplace_back(inner, name);
  });
  if (places.empty())
    return;
  auto [inner, name] = dice.pick(places);
  Attribute attr = inner->getAttr(name);
  if (name == "predicate")
    inner->setAttr(name, changes.ofPredicate(inner));
  else if (isa_and_nonnull<UnitAttr>(attr))
    inner->removeAttr(name);
  else if (!attr && name != "unique")
    inner->setAttr(name, b.getUnitAttr());
  else if (Attribute high = inner->getAttr("high"); high && name == "low") {
    // Moves padding from one end to the other, so that the size stays.
    int64_t by = dice.pick({-1, 1});
    inner->setAttr("low", moved(attr, by));
    inner->setAttr("high", moved(high, -by));
  } else if (Attribute other = attr ? changes.of(attr) : Attribute())
    inner->setAttr(name, other);
}

void Generator::variant() {
  SmallVector<Operation *> ops;
  for (Value value : values)
    if (Operation *op = value.getDefiningOp();
        op && isa<NdDialect, nest::NestDialect>(op->getDialect()) &&
        !isa<nd::VjpOp, nd::JvpOp, nd::RenameOp, nd::BroadcastOp>(op))
      ops.push_back(op);
  if (ops.empty())
    return;
  Operation *op = dice.chance(40) ? ops.back() : dice.pick(ops);
  for (int tries = 0; tries < 8; ++tries) {
    Operation *other = b.clone(*op);
    change(other);
    if (succeeded(verify(other)) &&
        llvm::none_of(other->getResults(), [](Value v) { return Exclusions().reach(v); }) &&
        !OperationEquivalence::isEquivalentTo(op, other, OperationEquivalence::IgnoreLocations)) {
      keep(SmallVector<Value>(other->getResults()));
      return;
    }
    other->erase();
  }
}
