//===- SumAfterScans.cpp - sums over steps, after the scan ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a value that all steps of a recurrence read is a carried tensor to which each
// step adds a part. For a weight, each step then reads and writes a tensor of the weight's size,
// although one product over all steps computes the same:
//
//     scan along time: dw' = dw + sum over batch of h[batch, from] * dg[batch, to]
//     =>  scan along time, which yields dg;
//         dw = dw + sum over batch and time of h[batch, from, time] * dg[batch, time, to]
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "dialects/nest/NestBuild.h"
#include "lib/analysis/NestAnalysis.h"
#include "lib/transforms/nd/Passes.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDSUMAFTERSCANSPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

/// Returns true if `op` adds its two operands elementwise.
static bool isSumOfTwo(Operation *op) {
  Region *body = nullptr;
  if (auto pointwise = dyn_cast<ScalarCodeInterface>(op)) {
    body = &pointwise.getBody();
  } else if (auto compute = dyn_cast<nest::ComputeOp>(op);
             compute && !compute.isReduction() && compute.getFinish().empty()) {
    body = &compute.getBody();
    for (const NestRead &read : readsOf(compute))
      if (read.map != nest::MapAttr::identity(tensorType(read.value)) || !read.guard.isTrivial())
        return false;
  }
  return body && combinerKind(*body) == CombinerKind::Add &&
         llvm::all_of(op->getOperandTypes(),
                      [&](Type type) { return type == op->getResult(0).getType(); });
}

namespace {
/// Describes a carried tensor to which each step only adds the product of `factors`, summed over
/// `names`.
struct Added {
  unsigned number; ///< index of the carried tensor
  Operation *sum;
  ScalarCodeInterface product; ///< null: a single factor
  SmallVector<Value> factors;
  SmallVector<StringRef> names;
  Type element; ///< type of the sum
};

class Recurrence {
public:
  explicit Recurrence(nest::ScanOp scan)
      : scan(scan), body(scan.getBody().front()), end(body.getTerminator()),
        carried(unsigned(scan.getInits().size())) {}

  void run() {
    SmallVector<Added> all;
    for (unsigned i = 0; i < carried; ++i)
      if (auto added = addedTo(i); added && pays(*added))
        all.push_back(std::move(*added));
    if (!all.empty())
      rewrite(all);
  }

private:
  nest::ScanOp scan;
  Block &body;
  Operation *end;
  unsigned carried;

  bool isInside(Value value) const { return value.getParentBlock() == &body; }
  bool hasNamesOfSteps(Value value) {
    return llvm::any_of(tensorType(value).getDims(),
                        [&](const Dim &dim) { return scan.getAlong().contains(dim.name); });
  }

  std::optional<Added> addedTo(unsigned i) {
    Value before = body.getArgument(i), next = end->getOperand(i);
    Operation *sum = next.getDefiningOp();
    if (!sum || !isInside(next) || !before.hasOneUse() || !next.hasOneUse() ||
        *before.user_begin() != sum || !isSumOfTwo(sum))
      return std::nullopt;
    Value term = sum->getOperand(sum->getOperand(0) == before ? 1 : 0);
    Added added{i, sum, {}, {}, {}, tensorType(term).getElementType()};
    if (auto reduction = term.getDefiningOp<ReductionInterface>();
        reduction && reduction.getReducedNames() && isInside(term)) {
      if (reduction->getNumOperands() != 1 ||
          combinerKind(reduction.getCombiner()) != CombinerKind::Add ||
          cast<TypedAttr>(reduction.getNeutral()[0]).getType() != added.element)
        return std::nullopt;
      for (auto name : reduction.getReducedNames().getAsValueRange<StringAttr>())
        added.names.push_back(name);
      term = reduction->getOperand(0);
    }
    if (auto product = term.getDefiningOp<ScalarCodeInterface>(); product && isInside(term))
      added.product = product;
    added.factors =
        added.product ? SmallVector<Value>(added.product.getInputs()) : SmallVector<Value>{term};
    // Sums of integers and of narrow floats must wrap or round in every step.
    bool isWide = added.element.isF32() || added.element.isF64();
    if (!isWide || llvm::any_of(added.factors, [&](Value factor) {
          return hasNamesOfSteps(factor) || (isInside(rootOf(factor)) && renamesSteps(factor));
        }))
      return std::nullopt;
    // At least one factor must vary over the steps.
    return llvm::any_of(added.factors, [&](Value factor) { return isInside(rootOf(factor)); })
               ? std::optional(added)
               : std::nullopt;
  }

  /// A factor as a value of the body, looking through renamings. Reads and outputs of the scan
  /// exist for all steps already.
  static Value rootOf(Value factor) {
    while (auto rename = factor.getDefiningOp<RenameOp>())
      factor = rename.getInput();
    return factor;
  }
  /// True if a value that a factor renames has a name of the steps, and so can't be stacked over
  /// them.
  bool renamesSteps(Value factor) {
    auto rename = factor.getDefiningOp<RenameOp>();
    return rename && (hasNamesOfSteps(rename.getInput()) || renamesSteps(rename.getInput()));
  }
  bool isKept(Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    return !isInside(root) || (argument && argument.getArgNumber() >= carried) ||
           llvm::is_contained(end->getOperands().drop_front(carried), root);
  }

  /// True if stacking the required values over all steps takes no more memory than the tensor that
  /// is no longer carried. Then each step also writes less.
  bool pays(const Added &added) {
    double bytes = 0, steps = pointsOf(scan.getAlong());
    for (Value factor : added.factors)
      if (Value root = rootOf(factor); !isKept(root))
        bytes += tensorBytes(root) * steps;
    return bytes <= tensorBytes(scan.getInits()[added.number]);
  }

  /// The type of a value stacked over all steps.
  Type ofSteps(Value value) {
    NdTensorType type = tensorType(value);
    SmallVector<Dim> dims(type.getDims().begin(), type.getDims().end());
    llvm::append_range(dims, scan.getAlong());
    return type.withDims(dims);
  }

  /// A factor stacked over all steps, after the rewritten scan.
  Value ofSteps(OpBuilder &b, Value factor, nest::ScanOp made, unsigned kept) {
    if (!isInside(factor))
      return factor;
    if (auto rename = factor.getDefiningOp<RenameOp>()) {
      SmallVector<StringRef> from(rename.getFrom().getAsValueRange<StringAttr>());
      SmallVector<StringRef> to(rename.getTo().getAsValueRange<StringAttr>());
      return buildRename(b, rename.getLoc(), ofSteps(b, rename.getInput(), made, kept), from, to);
    }
    if (auto argument = dyn_cast<BlockArgument>(factor);
        argument && argument.getArgNumber() >= kept)
      return made.getReads()[argument.getArgNumber() - kept];
    ValueRange yielded = end->getOperands().drop_front(kept);
    return made->getResult(kept + unsigned(llvm::find(yielded, factor) - yielded.begin()));
  }

  void rewrite(ArrayRef<Added> all) {
    OpBuilder b(scan);
    Location loc = scan.getLoc();
    SmallVector<Value> inits(scan.getInits()), yielded(end->getOperands());
    SmallVector<Type> types(scan->getResultTypes());
    for (const Added &added : all)
      for (Value factor : added.factors)
        if (Value root = rootOf(factor);
            !isKept(root) && !llvm::is_contained(ArrayRef(yielded).drop_front(carried), root)) {
          yielded.push_back(root);
          types.push_back(ofSteps(root));
        }
    for (const Added &added : llvm::reverse(all)) {
      inits.erase(inits.begin() + added.number);
      yielded.erase(yielded.begin() + added.number);
      types.erase(types.begin() + added.number);
    }
    auto made = nest::ScanOp::create(b, loc, types, inits, scan.getReads(), scan.getAlong(),
                                     scan.getReverse());
    made->setDiscardableAttrs(scan->getDiscardableAttrDictionary());
    unsigned kept = unsigned(inits.size());
    made.getBody().takeBody(scan.getBody());
    end->setOperands(yielded);
    for (const Added &added : llvm::reverse(all)) {
      added.sum->erase();
      body.eraseArgument(added.number);
    }
    unsigned next = 0;
    auto removed = all.begin();
    for (unsigned i = 0; i < scan->getNumResults(); ++i) {
      if (removed == all.end() || removed->number != i) {
        scan->getResult(i).replaceAllUsesWith(made->getResult(next++));
        continue;
      }
      Value total = totalOf(b, *removed, made, kept);
      scan->getResult(i).replaceAllUsesWith(add(b, loc, scan.getInits()[i], total));
      ++removed;
    }
    scan.erase();
  }

  Value totalOf(OpBuilder &b, const Added &added, nest::ScanOp made, unsigned kept) {
    ScalarCodeInterface of = added.product;
    Location loc = of ? of->getLoc() : made.getLoc();
    SmallVector<Value> factors = llvm::map_to_vector(
        added.factors, [&](Value factor) { return ofSteps(b, factor, made, kept); });
    Value product = factors[0];
    if (of)
      product = buildPointwise(b, loc, factors, tensorType(of->getResult(0)).getElementType(),
                               [&](OpBuilder &b, ValueRange scalars) {
                                 return inlineBlock(b, of.getBody().front(), scalars)[0];
                               });
    SmallVector<StringRef> names(added.names);
    SmallVector<std::string> steps;
    for (const Dim &dim : made.getAlong())
      steps.push_back(dim.name.str());
    names.append(steps.begin(), steps.end());
    return buildReduce(b, loc, product, names, CombinerKind::Add, added.element);
  }
};

struct NdSumAfterScansPass : nd::impl::NdSumAfterScansPassBase<NdSumAfterScansPass> {
  void runOnOperation() override {
    SmallVector<nest::ScanOp> scans;
    getOperation()->walk([&](nest::ScanOp scan) { scans.push_back(scan); });
    for (nest::ScanOp scan : scans)
      if (!scan.getLayoutsAttr() && !scan.getCopiesAttr())
        Recurrence(scan).run();
  }
};
} // namespace
