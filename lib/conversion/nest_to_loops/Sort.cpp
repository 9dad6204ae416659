//===- Sort.cpp - sorting lines of tensors --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each line along the sorted name is sorted by a bottom-up merge sort in scratch. Keys are mapped
// to integers whose signed order is the requested order, and are moved together with their original
// coordinates: key and coordinate share one 64-bit number, or, if keys are wider than 32 bits, are
// in two arrays. 64-bit numbers are first sorted in blocks of eight by a sorting network (Batcher,
// AFIPS 1968). Among equal keys the left one is taken first, so the sort is stable. If only the
// first k elements are requested, runs have at most k elements (n log k steps):
//
//     k = 3      | 5 | 2 | 9 | 1 | 7 | 4 |      runs of 1
//                | 2 5 | 1 9 | 4 7 |            of 2
//                | 1 2 5 . | 4 7 |              of 3
//                | 1 2 4 . . . |
//
// If k is small, only the first k elements of the line are merge-sorted; any other element is
// inserted if it comes before the last of them, which is rare.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Sort.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

using arith::CmpIPredicate;

/// Maps a key to an integer whose signed order is the requested order.
Value SortEmitter::rising(Value key) {
  OpBuilder &b = e.b;
  Location loc = e.loc;
  Type wide = b.getI64Type(), element = tensorType(op.getInputs()[0]).getElementType();
  Value nan;
  if (auto real = dyn_cast<FloatType>(key.getType())) {
    nan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, key, key);
    // Replace -0.0 by 0.0. For negative numbers, larger bits are smaller numbers.
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
  if (isUnsigned)
    key = sub(key, i64(int64_t(uint64_t(1) << (width - 1))));
  if (op.getDescending())
    key = arith::XOrIOp::create(b, loc, key, i64(-1));
  return nan ? choose(nan, i64(packed ? INT32_MAX : INT64_MAX), key) : key;
}

/// Loads the key at coordinate `index` of the line and makes its sort element.
SortEmitter::Element SortEmitter::element(const std::string &index) {
  Section section;
  const Memory &keys = e.memory.find(op.getInputs()[0])->second;
  Value key = rising(e.load(keys, offset(keys, Expr::name(index)), {}, Value(), section));
  Value from = e.vars[index];
  if (!packed)
    return {key, from};
  key = arith::ShLIOp::create(e.b, e.loc, key, i64(32));
  return {arith::OrIOp::create(e.b, e.loc, key, from)};
}

/// Sorts the first `blocks` blocks of an array, all of which are full.
void SortEmitter::sortBlocks(Value array, const Expr &blocks, int64_t atMost) {
  std::string variable = e.freshVariable();
  (void)forLoop(e, variable, e.emit(blocks), atMost, {}, [&](ValueRange) -> FailureOr<Values> {
    Value first = arith::MulIOp::create(e.b, e.loc, e.vars[variable], i64(block));
    SmallVector<Value> x;
    for (int64_t i = 0; i < block; ++i)
      x.push_back(load(array, add(first, i64(i))));
    for (int64_t p = 1; p < block; p *= 2)
      for (int64_t k = p; k >= 1; k /= 2)
        for (int64_t j = k % p; j + k < block; j += 2 * k)
          for (int64_t i = j; i < std::min(j + k, block - k); ++i)
            if (i / (2 * p) == (i + k) / (2 * p)) {
              Value low = smaller(x[i], x[i + k]);
              x[i + k] = arith::MaxSIOp::create(e.b, e.loc, x[i], x[i + k]);
              x[i] = low;
            }
    for (int64_t i = 0; i < block; ++i)
      store(array, add(first, i64(i)), x[i]);
    return Values();
  });
}

/// The number of merge levels until one run remains: the bit width of `runs` - 1.
Value SortEmitter::levelsOf(const Expr &runs) {
  if (auto number = runs.constant())
    return i64(llvm::Log2_64_Ceil(uint64_t(std::max<int64_t>(*number, 1))));
  Value less = sub(arith::MaxSIOp::create(e.b, e.loc, e.emit(runs), i64(1)), i64(1));
  return sub(i64(64), LLVM::CountLeadingZerosOp::create(e.b, e.loc, less.getType(), less,
                                                        /*is_zero_poison=*/false));
}

/// Merges pairs of runs. The state is the width of a run, the arrays, and the destination arrays.
/// The element behind a run that has ended is loaded and ignored. On a device it is the first one
/// instead, since checkers of unwritten memory follow what is loaded.
Values SortEmitter::merge(ValueRange state, Value count, Value kept) {
  Value width = state[0], two = add(width, width);
  size_t each = (state.size() - 1) / 2;
  ValueRange from = state.slice(1, each), to = state.take_back(each);
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
          auto next = [&](Value first, Value taken, Value number) {
            Value index = add(first, taken);
            return load(from, e.target.mostLanes()
                                  ? choose(is(CmpIPredicate::slt, taken, number), index, left)
                                  : index);
          };
          Element a = next(left, taken[0], lefts), c = next(right, taken[1], rights);
          Value wins = arith::OrIOp::create(e.b, e.loc, is(CmpIPredicate::sge, taken[0], lefts),
                                            isBefore(c, a));
          wins = arith::AndIOp::create(e.b, e.loc, wins, is(CmpIPredicate::slt, taken[1], rights));
          store(to, add(left, e.vars[step]), choose(wins, c, a));
          Value one = arith::ExtUIOp::create(e.b, e.loc, e.b.getI64Type(), wins);
          return Values{add(taken[0], sub(i64(1), one)), add(taken[1], one)};
        });
    return Values();
  });
  Values next{two};
  next.append(to.begin(), to.end());
  next.append(from.begin(), from.end());
  return next;
}

/// Inserts an element into `kept` sorted ones and drops the last; an element that belongs after
/// them has no effect.
void SortEmitter::insert(ValueRange arrays, ArrayRef<Value> element, int64_t kept) {
  Value isKept = isBefore(element, load(arrays, i64(kept - 1)));
  (void)branch(e, isKept, {}, [&](ValueRange) -> FailureOr<Values> {
    for (int64_t index = kept - 1; index >= 0; --index) {
      Element here = load(arrays, i64(index)), moved(element);
      if (index > 0) {
        Element below = load(arrays, i64(index - 1));
        moved = choose(isBefore(element, below), below, element);
      }
      store(arrays, i64(index), choose(isBefore(element, here), moved, here));
    }
    return Values();
  });
}

void SortEmitter::write(const std::string &index, Value from) {
  if (packed)
    from = arith::AndIOp::create(e.b, e.loc, from, i64(UINT32_MAX));
  std::string source = e.freshVariable();
  e.define(source, from, {0, along.size().most() - 1});
  for (auto [input, result] : llvm::zip_equal(op.getInputs(), op.getResults())) {
    Section section;
    const Memory &read = e.memory.find(input)->second, &written = e.memory.find(result)->second;
    Value value = e.load(read, offset(read, Expr::name(source)), {}, Value(), section);
    e.store(written, offset(written, Expr::name(index)), value, {}, Value(), section);
  }
  e.forget(source);
}

void SortEmitter::line() {
  Expr size = along.size().getExpr(), kept = tensorType(op.getResult(0)).size(name).getExpr();
  // The first `merged` elements are merge-sorted; the others are inserted one by one.
  std::optional<int64_t> few = kept.constant();
  few = few && *few <= mostInserted ? few : std::nullopt;
  Expr merged = few ? *few : size;
  int64_t mostMerged = few ? *few : along.size().most(), most = along.size().most();
  auto top = e.scratchTop;
  bool inBlocks = packed && mostMerged >= block;
  int64_t width = inBlocks ? block : 1;
  Expr runs = merged.ceildiv(width), padded = runs * Expr(width);
  Values state{i64(width)};
  for (int i = packed ? 2 : 4; i > 0; --i)
    state.push_back(e.allocateScratch(Expr(8) * (padded + Expr(1)))); // one more may be read
  auto each = [&](const Expr &from, const Expr &to,
                  llvm::function_ref<void(const std::string &)> body) {
    std::string variable = e.freshVariable();
    (void)forLoop(e, variable, e.emit(from), e.emit(to), most, {},
                  [&](ValueRange) -> FailureOr<Values> {
                    body(variable);
                    return Values();
                  });
  };
  auto arrays = [&](ValueRange all) { return all.slice(1, (all.size() - 1) / 2); };
  each(0, merged,
       [&](const std::string &index) { store(arrays(state), e.vars[index], element(index)); });
  if (inBlocks) {
    if (padded != merged)
      each(merged, padded,
           [&](const std::string &index) { store(state[1], e.vars[index], i64(INT64_MAX)); });
    sortBlocks(state[1], runs, mostMerged);
  }
  FailureOr<Values> sorted = forLoop(e, e.freshVariable(), levelsOf(runs), 64, state,
                                     [&](ValueRange values) -> FailureOr<Values> {
                                       return merge(values, e.emit(merged), e.emit(kept));
                                     });
  Values order(arrays(*sorted));
  if (few && *few != size.constant())
    each(merged, size, [&](const std::string &index) { insert(order, element(index), *few); });
  each(0, kept, [&](const std::string &index) { write(index, load(order.back(), e.vars[index])); });
  e.scratchTop = top;
}

LogicalResult SortEmitter::emit(const Schedule &schedule, Value chunk) {
  packed &= along.size().most() <= UINT32_MAX;
  nd::DimsAttr lines = op.getLines();
  if (isEmpty(lines) || isEmpty(tensorType(op.getResult(0)).getDims()))
    return success();
  // Loops over the sorted name say only that lanes share its elements.
  Schedule ofLines = schedule;
  llvm::erase_if(ofLines.loops, [&](const Loop &loop) { return loop.names[0] == name; });
  ScheduledLoops scheduled =
      e.loopsOf(lines, nd::DimsAttr::get(op.getContext(), {}), ofLines, /*bits=*/64);
  LoopWalker loops(e, scheduled, chunk);
  return loops.walkAll([&] {
    e.lanes ? lineOnLanes() : line();
    return success();
  });
}

LogicalResult Emitter::emitSort(SortOp op, const Schedule &schedule, Value chunk) {
  return SortEmitter(*this, op).emit(schedule, chunk);
}
