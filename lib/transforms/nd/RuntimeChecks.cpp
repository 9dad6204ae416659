//===- RuntimeChecks.cpp - run-time checks of coordinates and NaNs --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function returns, in addition to its results, the number of the first failed check (or -1) and
// the offending coordinate. Loops carry both.
//
//     %y = nd.gather %x at [row] (%i)     %bad = min(%i) < 0 or max(%i) >= size of row
//                                         %found = %found < 0 and %bad ? 7 : %found
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdBuild.h"
#include "dialects/nest/Nest.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDCHECKPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace heddle::nd;
using namespace mlir;

namespace {
/// Tensors of i64 without names.
struct Found {
  Value check, coordinate;
};

class Checks {
public:
  explicit Checks(func::FuncOp function)
      : function(function), i1(IntegerType::get(function.getContext(), 1)),
        i64(IntegerType::get(function.getContext(), 64)),
        number(NdTensorType::get(i64, ArrayRef<Dim>())) {}

  void run() {
    Block &body = function.getBody().front();
    auto b = OpBuilder::atBlockBegin(&body);
    Location loc = function.getLoc();
    SmallVector<Type> results(function.getResultTypes());
    size_t own = results.size();
    results.append(2, number);
    SmallVector<DictionaryAttr> attributes;
    function.getAllResultAttrs(attributes);
    attributes.append(2, b.getDictionaryAttr({}));
    extend(body, {buildConstant(b, loc, number, -1.0), buildConstant(b, loc, number, 0.0)}, own);
    function.setFunctionType(b.getFunctionType(function.getArgumentTypes(), results));
    function.setAllResultAttrs(attributes);
    setResultAttrs(function, nameAttrName, [&](unsigned i) -> Attribute {
      return i < own ? nullptr : b.getStringAttr(i == own ? "heddle.check" : "heddle.coordinate");
    });
    function->setAttr(checksAttrName, b.getStrArrayAttr(llvm::to_vector_of<StringRef>(messages)));
  }

private:
  func::FuncOp function;
  Type i1, i64;
  NdTensorType number;
  std::vector<std::string> messages;
  DenseMap<Value, Value> nans; ///< whether a tensor has a NaN, an i1 tensor

  /// Checks the ops of a block; `found` is the result of earlier checks. Adds the result of all
  /// checks to the operands of its terminator.
  void extend(Block &block, Found found, size_t operand) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      found = isa<scf::IfOp, scf::ForOp, scf::WhileOp, nest::ScanOp>(op) ? carry(op, found)
                                                                         : check(op, found);
    block.getTerminator()->insertOperands(unsigned(operand), {found.check, found.coordinate});
  }

  Found check(Operation &op, Found found) {
    OpBuilder b(op.getContext());
    b.setInsertionPointAfter(&op);
    if (auto indexed = dyn_cast<IndexedAccessInterface>(op))
      for (const IndexedAccess &access : indexed.getAccesses())
        found = checkRange(b, op, access.index, access.size - access.count,
                           (access.isRange ? "a start along '" : "coordinates of '") +
                               access.name.str() + "'",
                           found);
    // Ops that only move elements create no NaN.
    bool computes = op.getNumRegions() > 0 || op.hasTrait<Elementwise>() || isa<UnwindowOp>(op);
    if (!computes || op.getNumOperands() == 0)
      return found;
    Value before;
    for (Value operand : op.getOperands())
      before = either(b, op.getLoc(), before, nanOf(operand));
    for (Value result : op.getResults())
      if (Value now = nanOf(result)) {
        if (before)
          now = truth(b, op.getLoc(), {now, before}, [&](OpBuilder &s, ValueRange v) -> Value {
            return arith::CmpIOp::create(s, op.getLoc(), arith::CmpIPredicate::ugt, v[0], v[1]);
          });
        std::string text;
        llvm::raw_string_ostream(text)
            << "makes a NaN of operands without one, in " << result.getType();
        found = note(b, op, found, now, {}, text);
      }
    return found;
  }

  //===--------------------------------------------------------------------===//
  // The checks
  //===--------------------------------------------------------------------===//

  /// Checks that the elements of `index` are from 0 to `most`, which is at least -1.
  Found checkRange(OpBuilder &b, Operation &op, Value index, const Expr &most,
                   const std::string &what, Found found) {
    Location loc = op.getLoc();
    Value coordinate = buildCast(b, loc, index, i64),
          low = over(b, loc, coordinate, CombinerKind::Min),
          high = over(b, loc, coordinate, CombinerKind::Max);
    Dim counted(b.getContext(), "n", most + 1); // evaluated for the sizes of each call
    Value size = over(b, loc, buildConstant(b, loc, NdTensorType::get(i64, counted), 1.0),
                      CombinerKind::Add);
    Value below = truth(b, loc, low, [&](OpBuilder &s, ValueRange v) -> Value {
      return arith::CmpIOp::create(s, loc, arith::CmpIPredicate::slt, v[0],
                                   buildNumber(s, loc, i64, 0));
    });
    Value above = truth(b, loc, {high, size}, [&](OpBuilder &s, ValueRange v) -> Value {
      return arith::CmpIOp::create(s, loc, arith::CmpIPredicate::sge, v[0], v[1]);
    });
    return note(b, op, found, either(b, loc, below, above), select(b, loc, below, low, high),
                "expected " + what + " from 0 to " + most.str() + ", got ");
  }

  /// Whether `tensor` has a NaN; null for integers. Computed where the tensor is.
  Value nanOf(Value tensor) {
    auto type = dyn_cast<NdTensorType>(tensor.getType());
    if (!type || !isa<FloatType>(type.getElementType()))
      return {};
    Value &known = nans[tensor];
    if (known)
      return known;
    OpBuilder b(tensor.getContext());
    b.setInsertionPointAfterValue(tensor);
    Location loc = tensor.getLoc();
    Value each = truth(b, loc, tensor, [&](OpBuilder &s, ValueRange v) -> Value {
      return arith::CmpFOp::create(s, loc, arith::CmpFPredicate::UNO, v[0], v[0]);
    });
    return known = over(b, loc, each, CombinerKind::Or);
  }

  /// Records a failed check unless an earlier one failed. `coordinate` is appended to a message
  /// that ends in a space.
  Found note(OpBuilder &b, Operation &op, Found found, Value failed, Value coordinate,
             const std::string &message) {
    Location loc = op.getLoc();
    std::string location;
    if (auto file = loc->findInstanceOf<FileLineColLoc>())
      location = file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
                 std::to_string(file.getColumn()) + ": ";
    Value own = buildConstant(b, loc, number, double(messages.size()));
    messages.push_back(location + "'" + op.getName().getStringRef().str() + "' " + message);
    Value isFirst = truth(b, loc, {found.check, failed}, [&](OpBuilder &s, ValueRange v) -> Value {
      Value none = arith::CmpIOp::create(s, loc, arith::CmpIPredicate::slt, v[0],
                                         buildNumber(s, loc, i64, 0));
      return arith::AndIOp::create(s, loc, none, v[1]);
    });
    return {select(b, loc, isFirst, own, found.check),
            coordinate ? select(b, loc, isFirst, coordinate, found.coordinate) : found.coordinate};
  }

  Value truth(OpBuilder &b, Location loc, ValueRange inputs, ScalarBody body) {
    return buildPointwise(b, loc, inputs, i1, body);
  }
  /// The disjunction of scalar tensors of i1, the first of which may be null.
  Value either(OpBuilder &b, Location loc, Value a, Value other) {
    if (!a || !other)
      return a ? a : other;
    return truth(b, loc, {a, other}, [&](OpBuilder &s, ValueRange v) -> Value {
      return arith::OrIOp::create(s, loc, v[0], v[1]);
    });
  }
  /// Reduces a tensor over all its names.
  Value over(OpBuilder &b, Location loc, Value tensor, CombinerKind kind) {
    SmallVector<StringRef> names;
    for (const Dim &dim : tensorType(tensor).getDims())
      names.push_back(dim.name.getValue());
    return names.empty() ? tensor : buildReduce(b, loc, tensor, names, kind);
  }

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//

  /// Replaces the op by one with two more results: those of earlier checks and of the checks in its
  /// regions.
  Found carry(Operation &op, Found found) {
    if (op.getNumResults() == 0) // it has no results to check
      return found;
    auto scan = dyn_cast<nest::ScanOp>(op);
    size_t at = scan ? scan.getInits().size() : op.getNumResults();
    SmallVector<Type> types(op.getResultTypes());
    types.insert(types.begin() + at, 2, number);
    Operation *made = Operation::create(op.getLoc(), op.getName(), types, op.getOperands(),
                                        op.getDiscardableAttrDictionary(),
                                        op.getPropertiesStorage(), {}, op.getNumRegions());
    OpBuilder(&op).insert(made);
    std::array<Value, 2> both{found.check, found.coordinate};
    if (auto loop = dyn_cast<scf::ForOp>(made))
      loop.getInitArgsMutable().append(both);
    else if (auto loop = dyn_cast<scf::WhileOp>(made))
      loop.getInitsMutable().append(both);
    else if (auto loop = dyn_cast<nest::ScanOp>(made))
      loop.getInitsMutable().append(both);
    for (auto [from, to] : llvm::zip_equal(op.getRegions(), made->getRegions())) {
      to.takeBody(from);
      Block &block = to.front();
      Found inner = found;
      if (!isa<scf::IfOp>(op)) {
        unsigned next = scan ? unsigned(at) : block.getNumArguments();
        inner.check = block.insertArgument(next, number, op.getLoc());
        inner.coordinate = block.insertArgument(next + 1, number, op.getLoc());
      }
      extend(block, inner, scan ? at : block.getTerminator()->getNumOperands());
    }
    for (auto [i, result] : llvm::enumerate(op.getResults()))
      result.replaceAllUsesWith(made->getResult(unsigned(i < at ? i : i + 2)));
    op.erase();
    return {made->getResult(unsigned(at)), made->getResult(unsigned(at + 1))};
  }
};

struct NdCheckPass : nd::impl::NdCheckPassBase<NdCheckPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isPublic() && !function.isExternal())
      Checks(function).run();
  }
};
} // namespace
