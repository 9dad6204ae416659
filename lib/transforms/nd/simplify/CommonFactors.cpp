//===- CommonFactors.cpp - common factors of two products -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// a w + b w is (a + b) w, for tensors, for sums over them, and in scalar code. Reduced names are
// local to their sum, and the other names may be renamed between a sum and its use:
//
//     sum_k a_ik w_jk + sum_l b_il w_jl        sum_k (a_ik + b_ik) w_jk
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/simplify/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <set>

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// True if the scalar code is one op on two arguments.
static bool isBinary(ScalarCodeInterface op) {
  Block &code = op.getBody().front();
  return code.getNumArguments() == 2 && code.getOperations().size() == 2 &&
         code.front().getNumOperands() == 2 &&
         code.front().getOperand(0) != code.front().getOperand(1) &&
         code.front().getResult(0) == op.yielded();
}

namespace {
/// a w + b w in scalar code becomes (a + b) w.
LogicalResult commonFactorInCode(Operation *op, PatternRewriter &rewriter,
                                 const RuleContext &context) {
  if (!isa<arith::AddIOp, arith::SubIOp, arith::AddFOp, arith::SubFOp>(op))
    return failure();
  Operation *a = op->getOperand(0).getDefiningOp(), *b = op->getOperand(1).getDefiningOp();
  if (a && b && a != b && a->getName() == b->getName() && a->hasOneUse() && b->hasOneUse() &&
      isSemiring(CombinerKind::Add, true, a, context.granted))
    for (unsigned i : {0, 1})
      for (unsigned j : {0, 1})
        if (a->getOperand(i) == b->getOperand(j)) {
          Operation *sum = rewriter.clone(*op), *product = rewriter.clone(*a);
          sum->setOperands({a->getOperand(1 - i), b->getOperand(1 - j)});
          product->setOperands({sum->getResult(0), a->getOperand(i)});
          rewriter.replaceOp(op, product);
          return success();
        }
  return rewriter.notifyMatchFailure(op, "expected two products with a common factor");
}

/// Maps the names of a value to those of one of its operands.
using NewNames = std::map<std::string, std::string>;

/// A product, or a sum of one, whose only use is as a term.
struct Term {
  ReductionInterface sum; ///< null: no sum
  ScalarCodeInterface product;
  NewNames names; ///< from names of the term, or reduced names, to the product's

  static std::optional<Term> of(Value value);
  bool reduces(StringRef name) {
    return sum && llvm::is_contained(stringsOf(sum.getReducedNames()), name);
  }
};

/// An operand of a product, looking through renames.
struct Below {
  Value value;
  NewNames names;

  Below(Value operand, const NewNames &ofProduct) : value(operand) {
    for (const Dim &dim : tensorType(operand).getDims())
      names[dim.name.str()] = ofProduct.at(dim.name.str());
    while (passBelow(value, names))
      ;
  }
  /// False if `value` is not the result of a rename.
  static bool passBelow(Value &value, NewNames &names) {
    auto renaming = renamingOf(value.getDefiningOp());
    if (!renaming)
      return false;
    NewNames below;
    for (const auto &[name, end] : names)
      below[renaming->before(name).str()] = end;
    names = std::move(below);
    value = value.getDefiningOp()->getOperand(0);
    return true;
  }
};
} // namespace

std::optional<Term> Term::of(Value value) {
  Term term;
  for (const Dim &dim : tensorType(value).getDims())
    term.names[dim.name.str()] = dim.name.str();
  NewNames ofTerm = term.names;
  auto below = [&](Value v) {
    while (v.hasOneUse() && Below::passBelow(v, term.names))
      ;
    return v;
  };
  value = below(value);
  if (auto sum = value.getDefiningOp<ReductionInterface>();
      sum && sum.getReducedNames() && sum->getNumOperands() == 1 && value.hasOneUse()) {
    term.sum = sum;
    for (StringRef name : stringsOf(sum.getReducedNames())) {
      if (ofTerm.count(name.str()))
        return std::nullopt; // would collide with another name
      term.names[name.str()] = name.str();
    }
    value = below(sum->getOperand(0));
  }
  term.product = value.getDefiningOp<ScalarCodeInterface>();
  if (!term.product || !value.hasOneUse() || !isBinary(term.product))
    return std::nullopt;
  return term;
}

/// Matches the reduced names of `from` with those of `to`, so that the common operand has the same
/// names in both. Names that it lacks are matched by size; several of one size must have equal
/// spelling.
static bool matchReduced(Term &from, const Below &fromCommon, Term &to, const Below &toCommon,
                         NewNames &renaming) {
  std::set<std::string> taken;
  for (const auto &[name, end] : fromCommon.names) {
    const std::string &target = toCommon.names.at(name);
    if (from.reduces(end) != to.reduces(target) || (!from.reduces(end) && end != target))
      return false;
    if (from.reduces(end)) {
      renaming[end] = target;
      taken.insert(target);
    }
  }
  if (!from.sum)
    return true;
  if (from.sum.getReducedNames().size() != to.sum.getReducedNames().size())
    return false;
  NdTensorType type = tensorType(from.sum->getOperand(0)),
               other = tensorType(to.sum->getOperand(0));
  for (StringRef name : stringsOf(from.sum.getReducedNames())) {
    if (renaming.count(name.str()))
      continue;
    SmallVector<StringRef> fitting;
    for (StringRef target : stringsOf(to.sum.getReducedNames()))
      if (!taken.count(target.str()) && other.size(target) == type.size(name))
        fitting.push_back(target);
    if (fitting.size() != 1 && !llvm::is_contained(fitting, name))
      return false;
    std::string target = (fitting.size() == 1 ? fitting[0] : name).str();
    renaming[name.str()] = target;
    taken.insert(target);
  }
  return true;
}

/// Code for a pointwise op that is one scalar op.
static auto copyOf(Operation *code) {
  return [=](OpBuilder &builder, ValueRange scalars) -> Value {
    Operation *copy = builder.clone(*code);
    copy->setOperands(scalars);
    return copy->getResult(0);
  };
}

static Value renamed(OpBuilder &builder, Value value, const NewNames &names) {
  SmallVector<StringRef> from, to;
  for (const auto &[name, end] : names)
    if (name != end) {
      from.push_back(name);
      to.push_back(end);
    }
  return buildRename(builder, value.getLoc(), value, from, to);
}

/// For tensors, or for their sums over the same names, a w + b w becomes one product, and one sum,
/// with a + b.
static LogicalResult commonFactor(ScalarCodeInterface op, PatternRewriter &rewriter,
                                  const RuleContext &context) {
  auto refuse = [&](const char *reason) { return rewriter.notifyMatchFailure(op, reason); };
  if (!isBinary(op))
    return refuse("expected two terms");
  Operation &plusOp = op.getBody().front().front();
  bool isSigned = true;
  CombinerKind plus = isa<arith::SubFOp, arith::SubIOp>(plusOp)
                          ? CombinerKind::Add
                          : combinerKind(op.getBody(), &isSigned);
  Type element = tensorType(op->getResult(0)).getElementType();
  SmallVector<Term, 2> terms;
  for (Value input : op.getInputs()) {
    auto term = Term::of(input);
    if (!term || tensorType(term->product->getResult(0)).getElementType() != element ||
        !isSemiring(plus, isSigned, term->product.yielded().getDefiningOp(), context.granted))
      return refuse("expected terms that are products");
    terms.push_back(std::move(*term));
  }
  ScalarCodeInterface products[2] = {terms[0].product, terms[1].product};
  ReductionInterface sums[2] = {terms[0].sum, terms[1].sum};
  if (products[0].yielded().getDefiningOp()->getName() !=
          products[1].yielded().getDefiningOp()->getName() ||
      bool(sums[0]) != bool(sums[1]))
    return refuse("expected two products of one kind");
  if (sums[0]) {
    bool signs[2];
    for (unsigned i : {0, 1})
      if (combinerKind(sums[i].getCombiner(), &signs[i]) != plus || signs[i] != isSigned)
        return refuse("expected sums with the same combiner");
    if (sums[0].getNeutral() != sums[1].getNeutral() ||
        op.getInputs()[0].getType() != op.getInputs()[1].getType())
      return refuse("expected sums of one type");
  }
  for (unsigned i : {0, 1})
    for (unsigned j : {0, 1}) {
      Below common(products[0].getInputs()[i], terms[0].names),
          other(products[1].getInputs()[j], terms[1].names);
      NewNames renaming;
      if (common.value != other.value || !matchReduced(terms[1], other, terms[0], common, renaming))
        continue;
      Value operands[2] = {products[0].getInputs()[1 - i], products[1].getInputs()[1 - j]};
      std::set<std::string> names[2];
      NewNames ends[2];
      for (unsigned k : {0, 1})
        for (const Dim &dim : tensorType(operands[k]).getDims()) {
          std::string end = terms[k].names.at(dim.name.str());
          if (auto to = renaming.find(end); k == 1 && to != renaming.end())
            end = to->second;
          ends[k][dim.name.str()] = end;
          names[k].insert(end);
        }
      auto covers = [&](unsigned wide, unsigned narrow) {
        return llvm::all_of(names[narrow],
                            [&](const auto &name) { return names[wide].count(name); });
      };
      unsigned wide = covers(0, 1) ? 0 : 1;
      if (!covers(wide, 1 - wide) ||
          elementsOf(operands[wide]) >=
              elementsOf(products[1 - wide]->getResult(0)) + elementsOf(op->getResult(0)) ||
          llvm::any_of(ValueRange{common.value, operands[0], operands[1]}, [&](Value value) {
            return tensorType(value).getElementType() != element || context.mayBeExcluded(value);
          }))
        continue;
      Location loc = op.getLoc();
      Value a = renamed(rewriter, operands[0], ends[0]),
            b = renamed(rewriter, operands[1], ends[1]);
      bool isSwapped = plusOp.getOperand(0) != op.getBody().getArgument(0);
      Value both = buildPointwise(rewriter, loc, isSwapped ? ValueRange{b, a} : ValueRange{a, b},
                                  element, copyOf(&plusOp));
      Value value =
          buildPointwise(rewriter, loc, {both, renamed(rewriter, common.value, common.names)},
                         element, copyOf(products[0].yielded().getDefiningOp()));
      if (sums[0])
        value = reduceLike(rewriter, loc, sums[0], value, stringsOf(sums[0].getReducedNames()),
                           element);
      rewriter.replaceOp(op, value);
      return success();
    }
  return refuse("expected a common factor");
}

void nd::addCommonFactorRules(Rules &rules) {
  rules.add(
      "common-factor",
      "a w + b w becomes (a + b) w, and sum(a w) + sum(b w) becomes sum((a + b) w), over any "
      "names, where that is less work. Always for integers, minima and maxima; for floats with "
      "reassociate.",
      commonFactor);
  rules.add("common-factor-in-code", "The same in scalar regions.", commonFactorInCode);
}
