//===- ScansToLoops.cpp - loops of recurrences that communicate -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/mesh/transfers/ScansToLoops.h"

#include "dialects/nd/FunctionAttrs.h"
#include "lib/cost/BlockTimes.h"
#include "lib/transforms/mesh/partition/ScanPipeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace mlir;

using nd::tensorType;
using nest::ComputeOp;
using nest::MapAttr;
using nest::NestBuilder;
using nest::ScanOp;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
class LoopMaker {
public:
  LoopMaker(ScanOp scan, MeshAttr mesh)
      : scan(scan), mesh(mesh), b(scan), loc(scan.getLoc()),
        along(scan.getAlong().begin()->name.str()),
        size(scan.getAlong().begin()->size().getExpr()) {}

  func::FuncOp run() {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(scan.getBody(), captured);
    SmallVector<Value> operands = start();
    size_t carried = operands.size();
    llvm::append_range(operands, scan.getReads());
    SmallVector<Value> literals;
    for (Value value : captured)
      (isa_and_nonnull<nd::LiteralInterface>(value.getDefiningOp()) ? literals : operands)
          .push_back(value);
    SmallVector<Type> types = llvm::map_to_vector(operands, [](Value v) { return v.getType(); });
    func::FuncOp function = makeFunction(types, ArrayRef(types).take_front(carried));
    {
      OpBuilder::InsertionGuard restore(b);
      b.setInsertionPointToEnd(&function.front());
      IRMapping mapping;
      for (Value value : literals)
        mapping.map(value, b.clone(*value.getDefiningOp())->getResult(0));
      auto rest = ArrayRef(operands).drop_front(carried + scan.getReads().size());
      mapping.map(rest, function.getArguments().take_back(rest.size()));
      fill(function, mapping);
    }
    auto loop = nest::ControlOp::create(b, loc, ArrayRef(types).take_front(carried),
                                        b.getArrayAttr(FlatSymbolRefAttr::get(function)), operands,
                                        ArrayAttr());
    loop->setAttr(cost::turnsAttrName,
                  b.getI64IntegerAttr(scan.getAlong().begin()->size().typical()));
    scan->replaceAllUsesWith(loop.getResults().drop_front(2));
    scan->erase();
    return function;
  }

private:
  ScanOp scan;
  MeshAttr mesh;
  OpBuilder b;
  Location loc;
  std::string along;
  Expr size;

  size_t inits() { return scan.getInits().size(); }
  nd::DimsAttr none() { return nd::DimsAttr::getSorted(b.getContext(), {}); }

  Value index(OpBuilder &builder, const Expr &expr) {
    return arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                      nest::emitIndex(builder, loc, expr));
  }
  Value scalar(Type type, ValueRange reads, nest::RegionBody body) {
    NestBuilder nest(b, loc);
    nest.produced = none();
    for (Value value : reads)
      nest.read(value);
    return nest.create({type}, body).getResult(0);
  }
  Value isBefore(OpBuilder &builder, Value at) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, at, index(builder, size));
  }

  /// The carried tensors before the loop, which runs if there is a step that is not skipped.
  SmallVector<Value> start() {
    Value zero = numbersOf(b, loc, none(), Expr(0));
    Value first = scan->hasAttr(skippedAttrName) ? scan.getReads()[0] : zero;
    NestBuilder nest(b, loc);
    nest.read(first, MapAttr::identity(tensorType(first)).substitute({{along, Expr(0)}}),
              nest::guardOf(b.getContext(), {size - 1}, b.getI64IntegerAttr(-1)));
    auto runs = [&](OpBuilder &builder, Location, ValueRange read) -> SmallVector<Value> {
      Value none = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
      return {arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, read[0], none)};
    };
    SmallVector<Value> carried{nest.create({b.getI1Type()}, runs).getResult(0), zero};
    llvm::append_range(carried, scan.getInits());
    for (Value output : scan.getResults().drop_front(inits()))
      carried.push_back(nest::zeros(b, loc, tensorType(output)));
    return carried;
  }

  func::FuncOp makeFunction(ArrayRef<Type> arguments, ArrayRef<Type> results) {
    auto parent = scan->getParentOfType<func::FuncOp>();
    auto function = func::FuncOp::create(loc, (parent.getName() + ".scan").str(),
                                         b.getFunctionType(arguments, results));
    function.setPrivate();
    for (StringRef name :
         {StringRef("heddle.names"), StringRef(nd::symbolsAttrName), StringRef(nd::rangesAttrName)})
      if (Attribute attribute = parent->getAttr(name))
        function->setAttr(name, attribute);
    function->setAttr(meshAttrName, mesh);
    SymbolTable(parent->getParentOp()).insert(function, std::next(parent->getIterator()));
    function.addEntryBlock();
    nd::setArgAttrs(function, "nd.layout", [&](unsigned) { return b.getStringAttr("any"); });
    nd::setArgAttrs(function, "heddle.donate", [&](unsigned i) {
      return i < results.size() ? b.getI64IntegerAttr(i) : Attribute();
    });
    return function;
  }

  /// The coordinate of this turn, whose number is the first read of a nest.
  ExprMap coordinate() {
    Expr at = Expr::max(Expr::min(Expr::name(nest::readName(0)), size - 1), Expr(0));
    return {{along, scan.getReverse() ? size - 1 - at : at}};
  }

  void fill(func::FuncOp function, IRMapping &mapping) {
    Value at = function.getArgument(1);
    Block &body = scan.getBody().front();
    auto carried = function.getArguments().drop_front(2);
    mapping.map(body.getArguments().take_front(inits()), carried.take_front(inits()));
    size_t outputs = scan.getNumResults() - inits();
    for (auto [slice, whole] :
         llvm::zip(body.getArguments().drop_front(inits()),
                   carried.drop_front(inits() + outputs).take_front(scan.getReads().size())))
      mapping.map(slice,
                  nest::copyAt(b, loc, whole, tensorType(slice).getDims(), coordinate(), {}, at));
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    Value next = scalar(b.getI64Type(), at,
                        [&](OpBuilder &builder, Location, ValueRange read) -> SmallVector<Value> {
                          Value one =
                              arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
                          return {arith::AddIOp::create(builder, loc, read[0], one)};
                        });
    Value goesOn = scalar(b.getI1Type(), next,
                          [&](OpBuilder &builder, Location, ValueRange read) -> SmallVector<Value> {
                            return {isBefore(builder, read[0])};
                          });
    SmallVector<Value> returned{goesOn, next};
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      Value made = mapping.lookupOrDefault(value);
      returned.push_back(i < inits() ? made
                                     : nest::writeAt(b, loc, carried[i], made, coordinate(), at));
    }
    func::ReturnOp::create(b, loc, returned);
  }
};
} // namespace

bool mesh::becomesLoop(ScanOp scan) {
  auto communicates = [](CollectiveInterface) { return WalkResult::interrupt(); };
  return scan->hasAttr(nest::heavyAttrName) || scan.walk(communicates).wasInterrupted();
}

void mesh::lowerScansToLoops(func::FuncOp function, MeshAttr mesh) {
  for (auto scan : llvm::make_early_inc_range(function.getOps<ScanOp>()))
    if (becomesLoop(scan)) // nested recurrences are at the top level of the new function
      lowerScansToLoops(LoopMaker(scan, mesh).run(), mesh);
}
