//===- UpdateLanes.cpp - lanes of an update that meet at an element -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes whose points may write the same element of the destination, as in a histogram, tell each
// other in shared memory what they write. The first of those that meet combines the values of all,
// in the order of the lanes:
//
//     lane       0  1  2  3  4
//     element    7  2  7  7  -        -: no point, or none that writes
//     value      a  b  c  d
//
//     lane 0     dest[7] = combine(combine(combine(dest[7], a), c), d)
//     lane 1     dest[2] = combine(dest[2], b)
//
// No float is added atomically, so bits depend on sizes and schedules alone.
//
//===----------------------------------------------------------------------===//

#include "lib/conversion/nest_to_loops/Emitter.h"

using namespace heddle;
using namespace heddle::nest;
using namespace mlir;
using arith::CmpIPredicate;

LogicalResult Emitter::combineMeeting(const Memory &to, Region &combine, Value offset,
                                      Value value) {
  int64_t sharedBefore = sharedTop;
  Expr scratchBefore = scratchTop;
  auto ofLanes = [&](Type type) {
    Expr bytes = Expr(lanes * std::max(8u, type.getIntOrFloatBitWidth()) / 8);
    auto nothing = nd::DimsAttr::get(b.getContext(), {});
    return Memory{allocateScratch(bytes, memoryFor(bytes, /*share=*/1)),
                  Layout(),
                  nd::NdTensorType::get(b.getContext(), type, nothing),
                  {},
                  {}};
  };
  Memory offsets = ofLanes(offset.getType()), values = ofLanes(value.getType());
  std::string own = freshVariable(), at = freshVariable(), other = freshVariable();
  define(own, lane, {0, lanes - 1});
  Point point;
  Section section;
  store(offsets, Expr::name(own), offset, point, Value(), section);
  store(values, Expr::name(own), value, point, Value(), section);
  barrier("shared");
  auto is = [&](CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  auto load = [&](const Memory &from) {
    Section here;
    return this->load(from, Expr::name(other), point, Value(), here);
  };
  auto first =
      forLoop(*this, other, lane, lanes - 1, {is(CmpIPredicate::sge, offset, constant(0))},
              [&](ValueRange state) -> FailureOr<Values> {
                return Values{both(state[0], is(CmpIPredicate::ne, load(offsets), offset))};
              });
  auto addTheirs = [&](ValueRange total) -> FailureOr<Values> {
    return branch(*this, is(CmpIPredicate::eq, load(offsets), offset), total, [&](ValueRange mine) {
      Section here;
      return run(combine, {mine[0], load(values)}, point, here);
    });
  };
  auto combined = branch(*this, (*first)[0], {}, [&](ValueRange) -> FailureOr<Values> {
    Section here;
    define(at, offset, {0, std::numeric_limits<int64_t>::max()});
    Value old = convert(this->load(to, Expr::name(at), point, Value(), here), value.getType());
    FailureOr<Values> total = run(combine, {old, value}, point, here);
    Value next = arith::AddIOp::create(b, loc, lane, constant(1));
    if (succeeded(total))
      total = forLoop(*this, other, next, constant(lanes), lanes, *total, addTheirs);
    if (succeeded(total))
      store(to, Expr::name(at), (*total)[0], point, Value(), here);
    forget(at);
    return noValues(success(succeeded(total)));
  });
  barrier("shared");
  forget(own);
  sharedTop = sharedBefore;
  scratchTop = scratchBefore;
  return success(succeeded(combined));
}
