//===- OpTableTest.cpp - every op with every element type -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table: each op, for each element type, with symbolic, constant and zero sizes; its gradient,
// its tangent and the op lifted over a name. Compiled, each gives the oracle's values. A row is the
// text of a function; in it
//
//     E    an element type            S    its scalar type, as regions see it
//     ADD, MAX, LESS  scalar ops      ZERO, ONE  numbers with their type
//     N, M  sizes: symbols, or numbers in their place
//
// A test fails for an op of the dialects without a row.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"

#include "test/unit/laws/Dice.h"

#include "lib/transforms/nd/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include "gtest/gtest.h"

#include <regex>
#include <set>

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
struct Row {
  const char *name, *text;
  enum Types { All, Floats } types = All;
};

const Row rows[] = {
    {"pointwise",
     R"((%x: !nd.tensor<E, a: N, b: M>, %y: !nd.tensor<E, b: M>) -> !nd.tensor<E, a: N, b: M> {
  %r = nd.pointwise %x, %y : (!nd.tensor<E, a: N, b: M>, !nd.tensor<E, b: M>) -> !nd.tensor<E, a: N, b: M> {
  ^bb0(%s: S, %t: S):
    %m = ADD %s, %t : S
    %n = MAX %m, %t : S
    nd.yield %n : S
  }
  return %r : !nd.tensor<E, a: N, b: M>
})"},
    {"select", R"((%x: !nd.tensor<E, a: N>, %y: !nd.tensor<E, a: N>) -> !nd.tensor<E, a: N> {
  %r = nd.pointwise %x, %y : (!nd.tensor<E, a: N>, !nd.tensor<E, a: N>) -> !nd.tensor<E, a: N> {
  ^bb0(%s: S, %t: S):
    %c = LESS %s, %t : S
    %n = arith.select %c, %s, %t : S
    nd.yield %n : S
  }
  return %r : !nd.tensor<E, a: N>
})"},
    {"reduce", R"((%x: !nd.tensor<E, a: N, b: M>) -> (!nd.tensor<E, b: M>, !nd.tensor<E, a: N>) {
  %r = nd.reduce %x over [a] neutral [ZERO] : (!nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, b: M> {
  ^bb0(%s: S, %t: S):
    %m = ADD %s, %t : S
    nd.yield %m : S
  }
  %m = nd.reduce %x over [b] neutral [LEAST] : (!nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, a: N> {
  ^bb0(%s: S, %t: S):
    %m = MAX %s, %t : S
    nd.yield %m : S
  }
  return %r, %m : !nd.tensor<E, b: M>, !nd.tensor<E, a: N>
})"},
    {"reduce", R"((%x: !nd.tensor<E, a: N, b: M>) -> (!nd.tensor<E, b: M>, !nd.tensor<i64, b: M>) {
  %i = nd.iota a : !nd.tensor<i64, a: N>
  %j = nd.broadcast %i : !nd.tensor<i64, a: N> -> !nd.tensor<i64, a: N, b: M>
  %r:2 = nd.reduce %x, %j over [a] neutral [LEAST, -1 : i64] : (!nd.tensor<E, a: N, b: M>, !nd.tensor<i64, a: N, b: M>) -> (!nd.tensor<E, b: M>, !nd.tensor<i64, b: M>) {
  ^bb0(%s: S, %p: i64, %t: S, %q: i64):
    %less = LESS %s, %t : S
    %more = LESS %t, %s : S
    %true = arith.constant true
    %other = arith.xori %more, %true : i1
    %later = arith.cmpi ugt, %p, %q : i64
    %equal = arith.andi %other, %later : i1
    %c = arith.ori %less, %equal : i1
    %u = arith.select %c, %t, %s : S
    %v = arith.select %c, %q, %p : i64
    nd.yield %u, %v : S, i64
  }
  return %r#0, %r#1 : !nd.tensor<E, b: M>, !nd.tensor<i64, b: M>
})"},
    {"wide accumulators",
     R"((%x: !nd.tensor<E, a: N, b: M>) -> (!nd.tensor<E, b: M>, !nd.tensor<E, a: N>, !nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: N>) {
  %r = nd.reduce %x over [a] neutral [0.0 : f64] : (!nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, b: M> {
  ^bb0(%s: f64, %t: f64):
    %m = arith.addf %s, %t : f64
    nd.yield %m : f64
  }
  %q = nd.reduce %x over [b] neutral [1.0 : f64] : (!nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, a: N> {
  ^bb0(%s: f64, %t: f64):
    %m = arith.mulf %s, %t : f64
    nd.yield %m : f64
  }
  %c = nd.scan %x along a neutral [0.0 : f64] : (!nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, a: N, b: M> {
  ^bb0(%s: f64, %t: f64):
    %m = arith.addf %s, %t : f64
    nd.yield %m : f64
  }
  %k = nest.compute (a: N) reduce (b: M) reads %x[] {
  ^bb0(%s: S):
    nest.yield %s : S
  } combine [0xFFEFFFFFFFFFFFFF : f64] {
  ^bb0(%s: f64, %t: f64):
    %m = arith.maximumf %s, %t : f64
    nest.yield %m : f64
  } : (!nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, a: N>
  return %r, %q, %c, %k : !nd.tensor<E, b: M>, !nd.tensor<E, a: N>, !nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: N>
})",
     Row::Floats},
    {"scan",
     R"((%x: !nd.tensor<E, a: N, b: M>) -> (!nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: N, b: M>) {
  %r = nd.scan %x along a neutral [ZERO] : (!nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, a: N, b: M> {
  ^bb0(%s: S, %t: S):
    %m = ADD %s, %t : S
    nd.yield %m : S
  }
  %e = nd.scan %x along a exclusive reverse neutral [LEAST] : (!nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, a: N, b: M> {
  ^bb0(%s: S, %t: S):
    %m = MAX %s, %t : S
    nd.yield %m : S
  }
  return %r, %e : !nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: N, b: M>
})"},
    {"round", R"((%x: !nd.tensor<E, a: N>) -> !nd.tensor<E, a: N> {
  %r = nd.round %x to f8E5M2 : !nd.tensor<E, a: N> -> !nd.tensor<E, a: N>
  return %r : !nd.tensor<E, a: N>
})",
     Row::Floats},
    {"window",
     R"((%x: !nd.tensor<E, a: N + 2, b: M>) -> (!nd.tensor<E, a: N, b: M, k: 3>, !nd.tensor<E, a: (N + 1) floordiv 2 + 1, b: M>) {
  %r = nd.window %x a -> k size 3 : !nd.tensor<E, a: N + 2, b: M> -> !nd.tensor<E, a: N, b: M, k: 3>
  %w = nd.window %x a -> k size 2 stride 2 pad 0, 1 value ONE : !nd.tensor<E, a: N + 2, b: M> -> !nd.tensor<E, a: (N + 1) floordiv 2 + 1, b: M, k: 2>
  %m = nd.reduce %w over [k] neutral [LEAST] : (!nd.tensor<E, a: (N + 1) floordiv 2 + 1, b: M, k: 2>) -> !nd.tensor<E, a: (N + 1) floordiv 2 + 1, b: M> {
  ^bb0(%s: S, %t: S):
    %m = MAX %s, %t : S
    nd.yield %m : S
  }
  return %r, %m : !nd.tensor<E, a: N, b: M, k: 3>, !nd.tensor<E, a: (N + 1) floordiv 2 + 1, b: M>
})"},
    {"unwindow", R"((%x: !nd.tensor<E, a: N, k: 3>) -> !nd.tensor<E, a: N + 2> {
  %r = nd.unwindow %x a -> k size 3 : !nd.tensor<E, a: N, k: 3> -> !nd.tensor<E, a: N + 2>
  return %r : !nd.tensor<E, a: N + 2>
})"},
    {"slice",
     R"((%x: !nd.tensor<E, a: N + 3>) -> (!nd.tensor<E, a: N>, !nd.tensor<E, a: N + 3>, !nd.tensor<E, a: 2>, !nd.tensor<E, a: N floordiv 2>) {
  %r = nd.slice %x a from 2 size N : !nd.tensor<E, a: N + 3> -> !nd.tensor<E, a: N>
  %s = nd.slice %x a from N + 2 size N + 3 stride -1 : !nd.tensor<E, a: N + 3> -> !nd.tensor<E, a: N + 3>
  %t = nd.slice %x a from N size 2 : !nd.tensor<E, a: N + 3> -> !nd.tensor<E, a: 2>
  %u = nd.slice %x a from 1 size N floordiv 2 stride 2 : !nd.tensor<E, a: N + 3> -> !nd.tensor<E, a: N floordiv 2>
  return %r, %s, %t, %u : !nd.tensor<E, a: N>, !nd.tensor<E, a: N + 3>, !nd.tensor<E, a: 2>, !nd.tensor<E, a: N floordiv 2>
})"},
    {"pad",
     R"((%x: !nd.tensor<E, a: N, b: M>) -> (!nd.tensor<E, a: N + M + 1, b: M>, !nd.tensor<E, a: max(N - 1, 0) + N, b: M>) {
  %r = nd.pad %x a low M high 1 value ONE : !nd.tensor<E, a: N, b: M> -> !nd.tensor<E, a: N + M + 1, b: M>
  %s = nd.pad %x a low 0 high 0 interior 1 value ZERO : !nd.tensor<E, a: N, b: M> -> !nd.tensor<E, a: max(N - 1, 0) + N, b: M>
  return %r, %s : !nd.tensor<E, a: N + M + 1, b: M>, !nd.tensor<E, a: max(N - 1, 0) + N, b: M>
})"},
    {"concat",
     R"((%x: !nd.tensor<E, a: N>, %y: !nd.tensor<E, a: M>) -> !nd.tensor<E, a: 2 * N + M> {
  %r = nd.concat %x, %y, %x along a : (!nd.tensor<E, a: N>, !nd.tensor<E, a: M>, !nd.tensor<E, a: N>) -> !nd.tensor<E, a: 2 * N + M>
  return %r : !nd.tensor<E, a: 2 * N + M>
})"},
    {"split",
     R"((%x: !nd.tensor<E, a: N * M>, %y: !nd.tensor<E, c: N, d: M>) -> (!nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: 1, b: N * M>) {
  %r = nd.split %x a into [a, b] : !nd.tensor<E, a: N * M> -> !nd.tensor<E, a: N, b: M>
  %s = nd.split %x a into [b, a] : !nd.tensor<E, a: N * M> -> !nd.tensor<E, a: 1, b: N * M>
  return %r, %s : !nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: 1, b: N * M>
})"},
    {"merge",
     R"((%x: !nd.tensor<E, a: N, b: M, c: 2>) -> (!nd.tensor<E, d: N * M, c: 2>, !nd.tensor<E, d: 2 * N, b: M>) {
  %r = nd.merge %x [a, b] into d : !nd.tensor<E, a: N, b: M, c: 2> -> !nd.tensor<E, d: N * M, c: 2>
  %s = nd.merge %x [c, a] into d : !nd.tensor<E, a: N, b: M, c: 2> -> !nd.tensor<E, d: 2 * N, b: M>
  return %r, %s : !nd.tensor<E, d: N * M, c: 2>, !nd.tensor<E, d: 2 * N, b: M>
})"},
    {"rename", R"((%x: !nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, a: M, b: N> {
  %r = nd.rename %x [a, b] to [b, a] : !nd.tensor<E, a: N, b: M> -> !nd.tensor<E, a: M, b: N>
  return %r : !nd.tensor<E, a: M, b: N>
})"},
    {"broadcast", R"((%x: !nd.tensor<E, a: N>) -> !nd.tensor<E, a: N, b: N, c: 2> {
  %r = nd.broadcast %x : !nd.tensor<E, a: N> -> !nd.tensor<E, a: N, b: N, c: 2>
  return %r : !nd.tensor<E, a: N, b: N, c: 2>
})"},
    {"constant", R"((%x: !nd.tensor<E, a: N>) -> (!nd.tensor<E, a: N>, !nd.tensor<E, b: 2>) {
  %c = nd.constant dense<ONEVALUE> : tensor<S> by [a] : !nd.tensor<E, a: N>
  %d = nd.constant dense<[ZEROVALUE, ONEVALUE]> : tensor<2xS> by [b] : !nd.tensor<E, b: 2>
  return %c, %d : !nd.tensor<E, a: N>, !nd.tensor<E, b: 2>
})"},
    {"iota", R"((%x: !nd.tensor<E, a: N>) -> !nd.tensor<E, a: N> {
  %r = nd.iota a : !nd.tensor<E, a: N>
  return %r : !nd.tensor<E, a: N>
})"},
    {"random",
     R"((%k: !nd.tensor<ui64, b: M>, %x: !nd.tensor<E, a: N>) -> !nd.tensor<ui32, a: N, b: M> {
  %r = nd.random %k by [a] : !nd.tensor<ui64, b: M> -> !nd.tensor<ui32, a: N, b: M>
  return %r : !nd.tensor<ui32, a: N, b: M>
})"},
    {"gather",
     R"((%x: !nd.tensor<E, a: N + 1, b: M>, %i: !nd.tensor<i32, b: M, c: N>) -> !nd.tensor<E, b: M, c: N> {
  %r = nd.gather %x [a] at %i : (!nd.tensor<E, a: N + 1, b: M>, !nd.tensor<i32, b: M, c: N>) -> !nd.tensor<E, b: M, c: N>
  return %r : !nd.tensor<E, b: M, c: N>
})"},
    {"scatter",
     R"((%x: !nd.tensor<E, a: N, b: M>, %i: !nd.tensor<i32, c: N>, %u: !nd.tensor<E, b: M, c: N>) -> (!nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: N, b: M>) {
  %r = nd.scatter %u into %x [a] at %i : (!nd.tensor<E, a: N, b: M>, !nd.tensor<E, b: M, c: N>, !nd.tensor<i32, c: N>) -> !nd.tensor<E, a: N, b: M> {
  ^bb0(%s: S, %t: S):
    %m = MAX %s, %t : S
    nd.yield %m : S
  }
  %j = nd.iota c : !nd.tensor<i32, c: N>
  %q = nd.scatter %u into %x [a] at %j unique : (!nd.tensor<E, a: N, b: M>, !nd.tensor<E, b: M, c: N>, !nd.tensor<i32, c: N>) -> !nd.tensor<E, a: N, b: M> {
  ^bb0(%s: S, %t: S):
    %m = ADD %s, %t : S
    nd.yield %m : S
  }
  return %r, %q : !nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: N, b: M>
})"},
    {"dynamic_slice",
     R"((%x: !nd.tensor<E, a: N + 2, b: M>, %i: !nd.tensor<i32, b: M>) -> !nd.tensor<E, a: N, b: M> {
  %r = nd.dynamic_slice %x a from %i size N : (!nd.tensor<E, a: N + 2, b: M>, !nd.tensor<i32, b: M>) -> !nd.tensor<E, a: N, b: M>
  return %r : !nd.tensor<E, a: N, b: M>
})"},
    {"update_slice",
     R"((%x: !nd.tensor<E, a: N + 2, b: M>, %p: !nd.tensor<E, a: N, b: M>, %i: !nd.tensor<i32, b: M>) -> !nd.tensor<E, a: N + 2, b: M> {
  %r = nd.update_slice %p into %x a from %i : (!nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: N + 2, b: M>, !nd.tensor<i32, b: M>) -> !nd.tensor<E, a: N + 2, b: M>
  return %r : !nd.tensor<E, a: N + 2, b: M>
})"},
    {"sort",
     R"((%x: !nd.tensor<E, a: N + 1, b: M>, %y: !nd.tensor<E, a: N + 1, b: M>) -> (!nd.tensor<E, a: N + 1, b: M>, !nd.tensor<E, a: N + 1, b: M>, !nd.tensor<E, a: 1, b: M>) {
  %r:2 = nd.sort %x, %y along a : (!nd.tensor<E, a: N + 1, b: M>, !nd.tensor<E, a: N + 1, b: M>) -> (!nd.tensor<E, a: N + 1, b: M>, !nd.tensor<E, a: N + 1, b: M>)
  %t = nd.sort %x along a descending : (!nd.tensor<E, a: N + 1, b: M>) -> !nd.tensor<E, a: 1, b: M>
  return %r#0, %r#1, %t : !nd.tensor<E, a: N + 1, b: M>, !nd.tensor<E, a: N + 1, b: M>, !nd.tensor<E, a: 1, b: M>
})"},
    {"stop_gradient", R"((%x: !nd.tensor<E, a: N>) -> !nd.tensor<E, a: N> {
  %r = nd.stop_gradient %x : !nd.tensor<E, a: N>
  %a = nd.after %x, %r : !nd.tensor<E, a: N>, !nd.tensor<E, a: N>
  return %a : !nd.tensor<E, a: N>
})"},
    {"item",
     R"((%x: !nd.tensor<E, a: N>, %c: !nd.tensor<i1>, %n: !nd.tensor<i64>) -> (!nd.tensor<E, a: N>, !nd.tensor<E, a: N>) {
  %t = nd.item %c : !nd.tensor<i1> -> i1
  %d = nd.from_item %t : i1 -> !nd.tensor<i1>
  %u = nd.item %d : !nd.tensor<i1> -> i1
  %r = scf.if %u -> !nd.tensor<E, a: N> {
    scf.yield %x : !nd.tensor<E, a: N>
  } else {
    %z = nd.constant dense<ONEVALUE> : tensor<S> by [a] : !nd.tensor<E, a: N>
    scf.yield %z : !nd.tensor<E, a: N>
  }
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %l = scf.for %i = %zero to %three step %one iter_args(%s = %x) -> (!nd.tensor<E, a: N>) {
    %y = nd.pointwise %s, %x : (!nd.tensor<E, a: N>, !nd.tensor<E, a: N>) -> !nd.tensor<E, a: N> {
    ^bb0(%p: S, %q: S):
      %m = MAX %p, %q : S
      nd.yield %m : S
    }
    scf.yield %y : !nd.tensor<E, a: N>
  }
  return %r, %l : !nd.tensor<E, a: N>, !nd.tensor<E, a: N>
})"},
    {"compute",
     R"((%x: !nd.tensor<E, a: N + 2, b: M>, %i: !nd.tensor<i32, c: M>) -> (!nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: N, b: M>) {
  %r = nest.compute (a: N, b: M) reads %x[a = a + 2], %i[c = b], %x[a = read(1)] {
  ^bb0(%s: S, %p: i32, %t: S):
    %m = ADD %s, %t : S
    nest.yield %m : S
  } : (!nd.tensor<E, a: N + 2, b: M>, !nd.tensor<i32, c: M>, !nd.tensor<E, a: N + 2, b: M>) -> !nd.tensor<E, a: N, b: M>
  %q = nest.compute (a: N, b: M) reduce (k: 3) reads %x[a = a + k] {
  ^bb0(%s: S):
    nest.yield %s : S
  } combine [LEAST] {
  ^bb0(%s: S, %t: S):
    %m = MAX %s, %t : S
    nest.yield %m : S
  } : (!nd.tensor<E, a: N + 2, b: M>) -> !nd.tensor<E, a: N, b: M>
  return %r, %q : !nd.tensor<E, a: N, b: M>, !nd.tensor<E, a: N, b: M>
})"},
    {"nest.update",
     R"((%x: !nd.tensor<E, a: N, b: M>, %u: !nd.tensor<E, b: M, c: N>, %i: !nd.tensor<i32, c: N>) -> !nd.tensor<E, a: N, b: M> {
  %r = nest.update (b: M, c: N) %x[a = read(0)] reads %i[], %u[] {
  ^bb0(%p: i32, %s: S):
    nest.yield %s : S
  } combine {
  ^bb0(%s: S, %t: S):
    %m = MAX %s, %t : S
    nest.yield %m : S
  } : (!nd.tensor<E, a: N, b: M>, !nd.tensor<i32, c: N>, !nd.tensor<E, b: M, c: N>) -> !nd.tensor<E, a: N, b: M>
  return %r : !nd.tensor<E, a: N, b: M>
})"},
    {"nest.group", R"((%x: !nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, a: N, b: M> {
  %r = nest.group (a: N) {
    %v = nest.compute (b: M) reads %x[a = a] {
    ^bb0(%s: S):
      %i = nest.index b
      %j = arith.index_cast %i : index to i64
      %zero = arith.constant 0 : i64
      %c = arith.cmpi eq, %j, %zero : i64
      %one = arith.constant ONE
      %m = arith.select %c, %one, %s : S
      nest.yield %m : S
    } : (!nd.tensor<E, a: N, b: M>) -> !nd.tensor<E, b: M>
    nest.yield %v : !nd.tensor<E, b: M>
  } : !nd.tensor<E, a: N, b: M>
  return %r : !nd.tensor<E, a: N, b: M>
})"},
    {"nest.sort", R"((%x: !nd.tensor<E, a: N>) -> !nd.tensor<E, a: N> {
  %r = nest.sort %x along <a: N> : (!nd.tensor<E, a: N>) -> !nd.tensor<E, a: N>
  return %r : !nd.tensor<E, a: N>
})"},
    {"nest.scan",
     R"((%x: !nd.tensor<E, a: N, b: M>, %h: !nd.tensor<E, b: M>) -> (!nd.tensor<E, b: M>, !nd.tensor<E, a: N, b: M>) {
  %r:2 = nest.scan along <a: N> init (%h) reads (%x) : (!nd.tensor<E, b: M>, !nd.tensor<E, a: N, b: M>) -> (!nd.tensor<E, b: M>, !nd.tensor<E, a: N, b: M>) {
  ^bb0(%s: !nd.tensor<E, b: M>, %t: !nd.tensor<E, b: M>):
    %n = nd.pointwise %s, %t : (!nd.tensor<E, b: M>, !nd.tensor<E, b: M>) -> !nd.tensor<E, b: M> {
    ^bb0(%p: S, %q: S):
      %m = MAX %p, %q : S
      nd.yield %m : S
    }
    nest.yield %n, %s : !nd.tensor<E, b: M>, !nd.tensor<E, b: M>
  }
  return %r#0, %r#1 : !nd.tensor<E, b: M>, !nd.tensor<E, a: N, b: M>
})"},
};

const char *const floats[] = {"f64", "f32", "bf16", "f16", "f8E4M3FN", "f8E5M2"};
const char *const integers[] = {"i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"};

std::string replaced(std::string text, const std::map<std::string, std::string> &words) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && (std::isalnum(text[end]) || text[end] == '_'))
      ++end;
    if (end == i) {
      result += text[i++];
      continue;
    }
    std::string word = text.substr(i, end - i);
    bool isValue = i > 0 && (text[i - 1] == '%' || text[i - 1] == '@');
    auto found = words.find(word);
    // tensor<2xS>
    if (size_t x = word.find('x'); found == words.end() && x != std::string::npos &&
                                   word.substr(x + 1) == "S" && std::isdigit(word[0]))
      result += word.substr(0, x + 1) + words.at("S");
    else
      result += isValue || found == words.end() ? word : found->second;
    i = end;
  }
  return result;
}

/// The function of a row, called @main.
std::string textOf(const Row &row, const std::string &element, const std::string &n,
                   const std::string &m) {
  bool isFloat = element[0] == 'f' || element[0] == 'b', isUnsigned = element[0] == 'u';
  std::string scalar = isUnsigned ? element.substr(1) : element;
  std::string least = isFloat ? (element == "f8E4M3FN" ? "-448.0" : "-5.7344e+04")
                      : isUnsigned || element == "i1"
                          ? "0"
                          : std::to_string(INT64_MIN >> (64 - std::stoi(scalar.substr(1))));
  std::map<std::string, std::string> words = {
      {"E", element},
      {"S", scalar},
      {"N", n},
      {"M", m},
      {"ADD", isFloat           ? "arith.addf"
              : element == "i1" ? "arith.ori"
                                : "arith.addi"},
      {"MAX", isFloat                         ? "arith.maximumf"
              : isUnsigned || element == "i1" ? "arith.maxui"
                                              : "arith.maxsi"},
      {"LESS", isFloat                         ? "arith.cmpf olt,"
               : isUnsigned || element == "i1" ? "arith.cmpi ult,"
                                               : "arith.cmpi slt,"},
      {"LEAST", (element == "i1" ? "false" : least + " : " + scalar)},
      {"ZERO", isFloat           ? "0.0 : " + scalar
               : element == "i1" ? "false"
                                 : "0 : " + scalar},
      {"ONE", isFloat           ? "1.0 : " + scalar
              : element == "i1" ? "true"
                                : "1 : " + scalar},
      {"ZEROVALUE", isFloat           ? "0.0"
                    : element == "i1" ? "false"
                                      : "0"},
      {"ONEVALUE", isFloat           ? "1.0"
                   : element == "i1" ? "true"
                                     : "1"}};
  return "func.func @main" + replaced(row.text, words);
}

/// @`name`, which calls or differentiates @`of` on its own arguments, of which it has more, and
/// returns the values of `build`.
func::FuncOp addCaller(ModuleOp module, func::FuncOp of, StringRef name, ArrayRef<Type> arguments,
                       llvm::function_ref<SmallVector<Value>(OpBuilder &, ValueRange)> build) {
  OpBuilder b(module.getContext());
  auto function = func::FuncOp::create(of.getLoc(), name, b.getFunctionType(arguments, {}));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  SmallVector<Value> results = build(b, block->getArguments());
  func::ReturnOp::create(b, of.getLoc(), results);
  function.setFunctionType(b.getFunctionType(arguments, TypeRange(ValueRange(results))));
  for (unsigned i = 0; i < arguments.size(); ++i)
    function.setArgAttr(i, nd::nameAttrName, b.getStringAttr("x" + std::to_string(i)));
  module.push_back(function);
  return function;
}

bool isFloat(Type type) { return isa<FloatType>(cast<nd::NdTensorType>(type).getElementType()); }

/// Arguments for sizes N and M.
Values drawn(func::FuncOp function, int64_t n, int64_t m) {
  Values values;
  Dice dice(uint64_t(n * 7 + m + function.getNumArguments()));
  for (Type each : function.getArgumentTypes()) {
    auto type = cast<nd::NdTensorType>(each);
    SmallVector<nd::Dim> dims;
    for (const nd::Dim &dim : type.getDims())
      dims.emplace_back(type.getContext(), dim.name,
                        dim.size().getExpr().substitute(ExprMap{{"N", Expr(n)}, {"M", Expr(m)}}));
    TensorValue value(type.withDims(dims));
    for (interp::Scalar &scalar : value.elements)
      if (auto real = dyn_cast<FloatType>(type.getElementType()))
        scalar = interp::exactly(interp::roundTo(real, double(dice.between(-8, 8)) / 4));
      else
        scalar = interp::integer(uint64_t(dice.between(-3, 9)),
                                 type.getElementType().getIntOrFloatBitWidth());
    values.push_back(std::move(value));
  }
  return values;
}

struct Table {
  std::unique_ptr<MLIRContext> context = makeContext();
  Tally tally;
  int entries = 0;
  std::string messages;

  /// Tests one row with one element type: the op, and if `whole` its derivatives and the lifted op.
  void hold(const Row &row, const std::string &element, const std::string &n, const std::string &m,
            bool whole) {
    std::string where = std::string(row.name) + " of " + element + ", sizes " + n + " and " + m;
    ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
      messages += "\n  " + diagnostic.str();
      return success();
    });
    messages.clear();
    std::string text = textOf(row, element, n, m);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context.get());
    if (!module) {
      ADD_FAILURE() << where << " does not verify: " << messages << "\n" << text;
      return;
    }
    SmallVector<std::string> functions{"main"};
    if (whole)
      addDerived(*module, functions);
    bool isSymbolic = !std::isdigit(n[0]);
    SmallVector<std::string> names;
    SmallVector<Values> arguments, expected;
    OwningOpRef<ModuleOp> expanded(module->clone());
    PassManager manager(context.get());
    manager.addPass(nd::createNdDifferentiatePass());
    if (failed(manager.run(*expanded))) {
      ADD_FAILURE() << where << " cannot be differentiated: " << messages;
      return;
    }
    for (const std::string &name : functions)
      for (int64_t size : {5, 0}) {
        if (!isSymbolic && size == 0)
          continue;
        auto function = expanded->lookupSymbol<func::FuncOp>(name);
        names.push_back(name);
        arguments.push_back(drawn(function, size, isSymbolic ? 3 : 0));
        FailureOr<Values> values = interp::interpret(function, arguments.back());
        if (failed(values)) {
          ADD_FAILURE() << where << ", @" << name << ": the interpreter refuses it" << messages;
          return;
        }
        expected.push_back(std::move(*values));
      }
    for (auto [name, violation] :
         llvm::zip_equal(names, checkCompiled(*module, names, arguments, expected, tally)))
      EXPECT_TRUE(!violation) << where << ", @" << name << ": " << violation.what << messages;
    entries += int(functions.size());
  }

  void addDerived(ModuleOp module, SmallVectorImpl<std::string> &functions) {
    func::FuncOp main = mainOf(module);
    SmallVector<Type> inputs(main.getArgumentTypes()), lifted;
    unsigned count = main.getNumArguments();
    for (Type type : inputs) {
      auto tensor = cast<nd::NdTensorType>(type);
      SmallVector<nd::Dim> dims(tensor.getDims().begin(), tensor.getDims().end());
      if (!tensor.getElementType().isInteger(1) || !dims.empty())
        dims.emplace_back(context.get(), "lane", Expr(2));
      lifted.push_back(tensor.withDims(dims));
    }
    functions.push_back("lifted");
    addCaller(module, main, "lifted", lifted, [&](OpBuilder &b, ValueRange values) {
      return nd::buildCall(b, main.getLoc(), main, values);
    });
    SmallVector<int64_t> wrt;
    for (unsigned i = 0; i < count; ++i)
      if (isFloat(inputs[i]))
        wrt.push_back(i);
    if (wrt.empty())
      return;
    SmallVector<Type> backward(inputs), forward(inputs);
    llvm::append_range(backward, main.getResultTypes());
    llvm::append_range(forward, nd::floatTypes(inputs));
    functions.push_back("gradient");
    addCaller(module, main, "gradient", backward, [&](OpBuilder &b, ValueRange values) {
      auto results = nd::buildVjp(b, main.getLoc(), main, values.take_front(count),
                                  values.drop_front(count), wrt);
      return SmallVector<Value>(ValueRange(results).drop_front(main.getNumResults()));
    });
    functions.push_back("tangent");
    addCaller(module, main, "tangent", forward, [&](OpBuilder &b, ValueRange values) {
      return nd::buildJvp(b, main.getLoc(), main, values.take_front(count),
                          values.drop_front(count), wrt);
    });
  }
};
} // namespace

class OpTable : public ::testing::TestWithParam<size_t> {};
TEST_P(OpTable, CompilesDifferentiatesAndLifts) {
  const Row &row = rows[GetParam()];
  Table table;
  // By default tests derivatives of a few types in each row, other ones in the next; of all types
  // if many programs are requested.
  size_t number = GetParam();
  bool all = programsInAll() > 2000;
  for (const char *element : floats)
    table.hold(row, element, "N", "M", all || ++number % std::size(floats) < 2);
  if (row.types == Row::All)
    for (const char *element : integers)
      table.hold(row, element, "N", "M", all || ++number % std::size(integers) == 0);
  // Numbers, zero among them.
  for (const char *size : {"5", "0", "1"})
    table.hold(row, "f32", size, "3", true);
  std::printf("%d functions, %lld tensors compared\n", table.entries,
              (long long)table.tally.comparisons);
}
INSTANTIATE_TEST_SUITE_P(Rows, OpTable, ::testing::Range(size_t(0), std::size(rows)),
                         [](const auto &info) {
                           std::string name = rows[info.param].name;
                           return std::regex_replace(name, std::regex("[^a-z]"), "_") + "_" +
                                  std::to_string(info.param);
                         });

TEST(OpTable, EveryOpHasARow) {
  auto context = makeContext();
  std::string all;
  for (const Row &row : rows)
    all += row.text;
  // Every row is tested with calls and requests; scf makes branches and loops.
  std::set<StringRef> without{"nd.yield", "nest.yield", "nd.call",
                              "nd.vjp",   "nd.jvp",     "nest.control"};
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (StringRef name = op.getStringRef();
        (name.starts_with("nd.") || name.starts_with("nest.")) && !without.count(name))
      EXPECT_NE(all.find(name.str() + " "), std::string::npos) << name.str() << " has no row";
}
