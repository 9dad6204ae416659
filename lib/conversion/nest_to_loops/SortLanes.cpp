//===- SortLanes.cpp - sorting a line by all lanes of a block -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All lanes of a block merge the runs of a line. Each lane finds the places of its elements: the
// place of an element in the merged run is its place in its own run, plus the number of elements of
// the other run that come before it, which a binary search finds:
//
//     left run   2 5 9        5: at 1 in its own run, after 1 and 4 of the other: place 3
//     right run  1 4 5 7      5: at 2 in its own run, after 2 and 5 of the other: place 4
//
// An element of the right run comes after equal ones of the left run: the sort is stable. If only
// the first k elements are requested, those at place k and beyond are not merged again.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Sort.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;

using arith::CmpIPredicate;

/// Calls `body` for each index below `count`, of which every lane has its own.
void SortEmitter::eachOnLanes(Value count, llvm::function_ref<void(const std::string &)> body) {
  int64_t most = along.size().most();
  std::string step = e.freshVariable(), index = e.freshVariable();
  Value left = sub(add(count, i64(e.lanes - 1)), e.lane);
  Value steps = arith::DivUIOp::create(e.b, e.loc, left, i64(e.lanes));
  (void)forLoop(e, step, steps, most, {}, [&](ValueRange) -> FailureOr<Values> {
    Value first = arith::MulIOp::create(e.b, e.loc, e.vars[step], i64(e.lanes));
    e.define(index, add(first, e.lane), {0, std::max<int64_t>(most - 1, 0)});
    body(index);
    e.forget(index);
    return Values();
  });
}

/// The number of elements of a run that come before an element; equal ones only if `countsEqual`.
Value SortEmitter::rankIn(ValueRange arrays, Value start, Value length, Value width, Value levels,
                          ArrayRef<Value> element, Value countsEqual) {
  auto found =
      forLoop(e, e.freshVariable(), add(levels, i64(1)), 64, {i64(0), width},
              [&](ValueRange state) -> FailureOr<Values> {
                Value next = add(state[0], state[1]);
                auto moved = branch(e, is(CmpIPredicate::sle, next, length), {state[0]},
                                    [&](ValueRange) -> FailureOr<Values> {
                                      Element other = load(arrays, add(start, sub(next, i64(1))));
                                      Value before = choose(
                                          countsEqual, is(CmpIPredicate::sle, other[0], element[0]),
                                          isBefore(other, element));
                                      return Values{choose(before, next, state[0])};
                                    });
                return Values{(*moved)[0], arith::ShRUIOp::create(e.b, e.loc, state[1], i64(1))};
              });
  return (*found)[0];
}

/// Merges pairs of runs of `state[0]` elements, 2 to the power of `levels`.
void SortEmitter::mergeOnLanes(ValueRange state, Value levels, Value count, Value kept) {
  Value width = state[0], two = add(width, width), run = smaller(width, kept);
  size_t each = (state.size() - 1) / 2;
  ValueRange from = state.slice(1, each), to = state.take_back(each);
  eachOnLanes(count, [&](const std::string &index) {
    Value at = e.vars[index];
    Value left = sub(at, arith::RemUIOp::create(e.b, e.loc, at, two));
    Value right = smaller(add(left, width), count);
    Value isRight = is(CmpIPredicate::sge, at, right);
    Value own = sub(at, choose(isRight, right, left));
    Value length = smaller(run, choose(isRight, width, sub(count, right)));
    (void)branch(e, is(CmpIPredicate::slt, own, run), {}, [&](ValueRange) -> FailureOr<Values> {
      Element mine = load(from, at);
      Value rank = rankIn(from, choose(isRight, left, right), length, width, levels, mine, isRight);
      store(to, add(left, add(own, rank)), mine);
      return Values();
    });
  });
  e.barrier("shared");
}

void SortEmitter::lineOnLanes() {
  Expr size = along.size().getExpr(), kept = tensorType(op.getResult(0)).size(name).getExpr();
  Expr top = e.scratchTop;
  int64_t sharedTop = e.sharedTop;
  unsigned arrays = packed ? 1 : 2;
  Expr bytes = size * Expr(8);
  StringRef memory = e.memoryFor(bytes * Expr(2 * arrays), /*share=*/2);
  Values state{i64(1)};
  for (unsigned i = 0; i < 2 * arrays; ++i)
    state.push_back(e.allocateScratch(bytes, memory));
  Value count = e.emit(size), keeps = e.emit(kept);
  e.barrier("shared"); // until all lanes have written the line before
  eachOnLanes(count, [&](const std::string &index) {
    store(ValueRange(state).slice(1, arrays), e.vars[index], element(index));
  });
  e.barrier("shared");
  std::string level = e.freshVariable();
  auto sorted =
      forLoop(e, level, levelsOf(size), 64, state, [&](ValueRange values) -> FailureOr<Values> {
        mergeOnLanes(values, e.vars[level], count, keeps);
        Values next{add(values[0], values[0])};
        llvm::append_range(next, values.take_back(arrays));
        llvm::append_range(next, values.slice(1, arrays));
        return next;
      });
  eachOnLanes(keeps, [&](const std::string &index) {
    write(index, load((*sorted)[arrays], e.vars[index]));
  });
  e.scratchTop = top;
  e.sharedTop = sharedTop;
}
