//===- Sort.cpp - sorting lines of tensors --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every line along the sorted name is sorted by itself, by merging from the bottom up in scratch.
// Keys become integers that rise as the order does, and travel with the coordinates that they came
// from; equal keys are taken from the left, so that they keep their order. Where k elements are
// asked for, no run grows longer than that (n log k steps):
//
//     k = 3      | 5 | 2 | 9 | 1 | 7 | 4 |      runs of 1
//                | 2 5 | 1 9 | 4 7 |            of 2
//                | 1 2 5 . | 4 7 |              of 3
//                | 1 2 4 . . . |
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Loops.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

using arith::CmpIPredicate;

namespace {
class SortEmitter {
public:
  SortEmitter(Emitter &emitter, SortOp op)
      : e(emitter), op(op), along(*op.getAlong().begin()), name(along.name.str()) {}

  LogicalResult emit(Value chunk);

private:
  Emitter &e;
  SortOp op;
  nd::Dim along;
  std::string name;
  /// Keys and where they came from; one element may be read beyond the end.
  struct Run {
    Value keys, from;
  };

  Value i64(int64_t value) { return e.constant(value); }
  Value add(Value a, Value b) { return arith::AddIOp::create(e.b, e.loc, a, b); }
  Value sub(Value a, Value b) { return arith::SubIOp::create(e.b, e.loc, a, b); }
  Value smaller(Value a, Value b) { return arith::MinSIOp::create(e.b, e.loc, a, b); }
  Value is(CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(e.b, e.loc, predicate, a, b);
  }
  Value choose(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(e.b, e.loc, condition, yes, no);
  }
  Value at(Value base, Value place) {
    return LLVM::GEPOp::create(e.b, e.loc, base.getType(), e.b.getI64Type(), base,
                               ArrayRef<LLVM::GEPArg>{place});
  }
  Value load(Value base, Value place) {
    return LLVM::LoadOp::create(e.b, e.loc, e.b.getI64Type(), at(base, place));
  }
  void store(Value base, Value place, Value value) {
    LLVM::StoreOp::create(e.b, e.loc, value, at(base, place));
  }
  /// The offset of the element of the line at `place`.
  Expr offset(const Memory &memory, const Expr &place) {
    Replacement coordinates;
    for (const nd::Dim &dim : tensorTypeOf(op.getInputs()[0]).getDims())
      coordinates[dim.name.str()] =
          dim.name == along.name ? place : e.resolve(Expr::name(dim.name.str()), {});
    return e.address(memory, coordinates);
  }
  Value rising(Value key);
  Values merge(ValueRange state, Value count, Value kept);
  void line();
};
} // namespace

/// A key as an integer: signed order of these is the order asked for.
Value SortEmitter::rising(Value key) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type wide = b.getI64Type(), element = tensorTypeOf(op.getInputs()[0]).getElementType();
  Value nan;
  if (auto real = dyn_cast<FloatType>(key.getType())) {
    nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, key, key);
    // 0.0 for -0.0; below zero larger bits mean smaller numbers.
    unsigned width = real.getWidth();
    Type bits = b.getIntegerType(width);
    auto number = [&](const APInt &n) -> Value {
      return arith::ConstantOp::create(b, loc, b.getIntegerAttr(bits, n));
    };
    key =
        arith::AddFOp::create(b, loc, key, arith::ConstantOp::create(b, loc, b.getZeroAttr(real)));
    key = arith::BitcastOp::create(b, loc, bits, key);
    Value sign = arith::ShRSIOp::create(b, loc, key, number(APInt(width, width - 1)));
    Value flip = arith::AndIOp::create(b, loc, sign, number(APInt::getSignedMaxValue(width)));
    key = arith::XOrIOp::create(b, loc, key, flip);
  }
  unsigned width = key.getType().getIntOrFloatBitWidth();
  bool isUnsigned = width == 1 || element.isUnsignedInteger();
  if (width < 64)
    key = isUnsigned ? Value(arith::ExtUIOp::create(b, loc, wide, key))
                     : Value(arith::ExtSIOp::create(b, loc, wide, key));
  else if (isUnsigned)
    key = arith::XOrIOp::create(b, loc, key, i64(INT64_MIN));
  if (op.getDescending())
    key = arith::XOrIOp::create(b, loc, key, i64(-1));
  return nan ? choose(nan, i64(INT64_MAX), key) : key;
}

/// Merges pairs of runs; the state is the width of a run, the runs, and room for them.
Values SortEmitter::merge(ValueRange state, Value count, Value kept) {
  Value width = state[0], two = add(width, width);
  Run from{state[1], state[2]}, to{state[3], state[4]};
  Value pairs = arith::DivUIOp::create(e.b, e.loc, add(count, sub(two, i64(1))), two);
  std::string pair = e.freshVariable(), step = e.freshVariable();
  int64_t most = INT32_MAX;
  (void)forLoop(e, pair, pairs, most, {}, [&](ValueRange) -> FailureOr<Values> {
    Value left = arith::MulIOp::create(e.b, e.loc, e.vars[pair], two);
    Value right = smaller(add(left, width), count), run = smaller(width, kept);
    Value lefts = smaller(run, sub(right, left)), rights = smaller(run, sub(count, right));
    (void)forLoop(
        e, step, smaller(add(lefts, rights), kept), most, {i64(0), i64(0)},
        [&](ValueRange taken) -> FailureOr<Values> {
          Value i = add(left, taken[0]), j = add(right, taken[1]);
          Value a = load(from.keys, i), c = load(from.keys, j);
          Value wins = arith::OrIOp::create(e.b, e.loc, is(CmpIPredicate::sge, taken[0], lefts),
                                            is(CmpIPredicate::slt, c, a));
          wins = arith::AndIOp::create(e.b, e.loc, wins, is(CmpIPredicate::slt, taken[1], rights));
          Value place = add(left, e.vars[step]);
          store(to.keys, place, choose(wins, c, a));
          store(to.from, place, load(from.from, choose(wins, j, i)));
          Value one = arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), wins);
          return Values{add(taken[0], sub(i64(1), one)), add(taken[1], one)};
        });
    return Values();
  });
  return {two, to.keys, to.from, from.keys, from.from};
}

void SortEmitter::line() {
  Expr size = along.size().getExpr();
  Expr first = tensorTypeOf(op.getResult(0)).size(name).getExpr();
  int64_t most = *size.constant();
  Value count = e.emit(size), kept = e.emit(first);
  auto top = e.scratchTop;
  Values state{i64(1)};
  for (int i = 0; i < 4; ++i)
    state.push_back(e.allocateScratch(8 * (most + 1)));
  std::string variable = e.freshVariable();
  const Memory &keys = e.memory.find(op.getInputs()[0])->second;
  (void)forLoop(e, variable, count, most, {}, [&](ValueRange) -> FailureOr<Values> {
    Section section;
    Value key = e.load(keys, offset(keys, Expr::name(variable)), {}, Value(), section);
    store(state[1], e.vars[variable], rising(key));
    store(state[2], e.vars[variable], e.vars[variable]);
    return Values();
  });
  int64_t levels = llvm::Log2_64_Ceil(uint64_t(std::max<int64_t>(most, 1)));
  FailureOr<Values> sorted =
      forLoop(e, e.freshVariable(), i64(levels), levels, state,
              [&](ValueRange values) -> FailureOr<Values> { return merge(values, count, kept); });
  variable = e.freshVariable();
  (void)forLoop(e, variable, kept, most, {}, [&](ValueRange) -> FailureOr<Values> {
    std::string source = e.freshVariable();
    e.define(source, load((*sorted)[2], e.vars[variable]), {0, most - 1});
    for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults())) {
      Section section;
      const Memory &from = e.memory.find(input)->second, &to = e.memory.find(result)->second;
      Value value = e.load(from, offset(from, Expr::name(source)), {}, Value(), section);
      e.store(to, offset(to, Expr::name(variable)), value, {}, Value(), section);
    }
    e.forget(source);
    return Values();
  });
  e.scratchTop = top;
}

LogicalResult SortEmitter::emit(Value chunk) {
  if (!along.size().constant())
    return op.emitOpError() << "expected a number as the size of '" << name << "', got "
                            << along.size().getExpr().str();
  SmallVector<nd::Dim> dims;
  for (const nd::Dim &dim : tensorTypeOf(op.getInputs()[0]).getDims())
    if (dim.name != along.name)
      dims.push_back(dim);
  auto lines = nd::DimsAttr::getSorted(op.getContext(), dims);
  if (isEmpty(lines) || isEmpty(tensorTypeOf(op.getResult(0)).getDims()))
    return success();
  // Threads share the lines.
  Schedule schedule;
  Sizes sizes = sizesOf(lines);
  int64_t chunks = 1;
  for (const auto &[each, size] : sizes) {
    int64_t step = chunks < 64 ? std::max<int64_t>(1, size / 256) : 0;
    if (step) {
      schedule.loops.push_back({"thread", {each}, step, 1});
      chunks *= (size + step - 1) / step;
    }
  }
  for (const auto &[each, size] : sizes)
    if (llvm::none_of(schedule.loops,
                      [&](const Loop &loop) { return loop.names[0] == each && loop.step == 1; }))
      schedule.loops.push_back({"loop", {each}, 1, 1});
  Plan plan = planLoops(e, lines, nd::DimsAttr::get(op.getContext(), {}), schedule, /*bits=*/64);
  LoopWalker loops(e, plan, chunk);
  std::function<LogicalResult(size_t)> walk = [&](size_t position) -> LogicalResult {
    if (position < plan.loops.size())
      return success(succeeded(loops.walk(position, {}, [&](ValueRange) -> FailureOr<Values> {
        if (failed(walk(position + 1)))
          return failure();
        return Values();
      })));
    LoopWalker::Saved saved = loops.bindTile();
    line();
    loops.unbind(std::move(saved));
    return success();
  };
  return walk(0);
}

LogicalResult Emitter::emitSort(SortOp op, Value chunk) {
  return SortEmitter(*this, op).emit(chunk);
}
