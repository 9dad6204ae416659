// Nests that the lanes of a block run one after another on a device that has lanes: groups, updates and recurrences. A block
// has more and fewer lanes than points; sizes that nobody knows; values between nests in shared memory and beyond it.
// RUN: heddle-run %s --threads 2 --compare --size N=37 --size M=601
// RUN: heddle-run %s --compare --size N=1,3 --size M=0,1,7

!b_c = !nd.tensor<f32, b: N, c: M>
!c = !nd.tensor<f32, c: M>
!i = !nd.tensor<f32, i: 0>

// Values of 37 and of 13000 elements for each point; the latter do not fit half of the memory that a block shares.
func.func @softmax(%x: !nd.tensor<f32, b: N, c: 37> {nd.name = "x"}, %y: !nd.tensor<f32, b: 2, c: 13000> {nd.name = "y"}, %z: !b_c {nd.name = "z"})
    -> (!nd.tensor<f32, b: N, c: 37>, !nd.tensor<f32, b: 2, c: 13000>, !b_c) {
  %a = nest.group (b: N) {
    %m = nest.compute () reduce (c: 37) reads %x[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine max [0xFF800000 : f32] : (!nd.tensor<f32, b: N, c: 37>) -> !nd.tensor<f32>
    %e = nest.compute (c: 37) reads %x[], %m[] {
    ^bb0(%v: f32, %w: f32):
      %d = arith.subf %v, %w : f32
      %r = math.exp %d : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, b: N, c: 37>, !nd.tensor<f32>) -> !nd.tensor<f32, c: 37>
    %s = nest.compute () reduce (c: 37) reads %e[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, c: 37>) -> !nd.tensor<f32>
    %p = nest.compute (c: 37) reads %e[], %s[] {
    ^bb0(%v: f32, %w: f32):
      %r = arith.divf %v, %w : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, c: 37>, !nd.tensor<f32>) -> !nd.tensor<f32, c: 37>
    nest.yield %p : !nd.tensor<f32, c: 37>
  } : !nd.tensor<f32, b: N, c: 37>
  // Each point reads its neighbour's value.
  %b = nest.group (b: 2) {
    %e = nest.compute (c: 13000) reads %y[] {
    ^bb0(%v: f32):
      %r = arith.mulf %v, %v : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, b: 2, c: 13000>) -> !nd.tensor<f32, c: 13000>
    %s = nest.compute () reduce (c: 13000) reads %e[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, c: 13000>) -> !nd.tensor<f32>
    %p = nest.compute (c: 13000) reads %e[c = 12999 - c], %s[] {
    ^bb0(%v: f32, %w: f32):
      %r = arith.divf %v, %w : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, c: 13000>, !nd.tensor<f32>) -> !nd.tensor<f32, c: 13000>
    nest.yield %p : !nd.tensor<f32, c: 13000>
  } : !nd.tensor<f32, b: 2, c: 13000>
  %c = nest.group (b: N) {
    %m = nest.compute () reduce (c: M) reads %z[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine max [0xFF800000 : f32] : (!b_c) -> !nd.tensor<f32>
    %e = nest.compute (c: M) reads %z[], %m[] {
    ^bb0(%v: f32, %w: f32):
      %d = arith.subf %v, %w : f32
      %r = math.exp %d : f32
      nest.yield %r : f32
    } : (!b_c, !nd.tensor<f32>) -> !c
    %s = nest.compute () reduce (c: M) reads %e[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } combine add [0.0 : f32] : (!c) -> !nd.tensor<f32>
    %p = nest.compute (c: M) reads %e[c = M - c - 1], %s[] {
    ^bb0(%v: f32, %w: f32):
      %r = arith.divf %v, %w : f32
      nest.yield %r : f32
    } : (!c, !nd.tensor<f32>) -> !c
    nest.yield %p : !c
  } : !b_c
  return %a, %b, %c : !nd.tensor<f32, b: N, c: 37>, !nd.tensor<f32, b: 2, c: 13000>, !b_c
}

// Scores, their softmax and the sum of values of one query; keys of a known and of an unknown number.
func.func @attention(%q: !nd.tensor<f32, b: 3, d: 20, h: 2> {nd.name = "q"}, %k: !nd.tensor<f32, d: 20, h: 2, t: M> {nd.name = "k"}, %v: !nd.tensor<f32, d: 20, h: 2, t: M> {nd.name = "v"})
    -> !nd.tensor<f32, b: 3, d: 20, h: 2> {
  %a = nest.group (b: 3, h: 2) {
    %s = nest.compute (t: M) reduce (d: 20) reads %q[], %k[] {
    ^bb0(%x: f32, %y: f32):
      %r = arith.mulf %x, %y : f32
      nest.yield %r : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, b: 3, d: 20, h: 2>, !nd.tensor<f32, d: 20, h: 2, t: M>) -> !nd.tensor<f32, t: M>
    %m = nest.compute () reduce (t: M) reads %s[] {
    ^bb0(%x: f32):
      nest.yield %x : f32
    } combine max [0xFF800000 : f32] : (!nd.tensor<f32, t: M>) -> !nd.tensor<f32>
    %e = nest.compute (t: M) reads %s[], %m[] {
    ^bb0(%x: f32, %y: f32):
      %d = arith.subf %x, %y : f32
      %r = math.exp %d : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, t: M>, !nd.tensor<f32>) -> !nd.tensor<f32, t: M>
    %o = nest.compute (d: 20) reduce (t: M) reads %e[], %v[] {
    ^bb0(%x: f32, %y: f32):
      %r = arith.mulf %x, %y : f32
      nest.yield %r : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, t: M>, !nd.tensor<f32, d: 20, h: 2, t: M>) -> !nd.tensor<f32, d: 20>
    nest.yield %o : !nd.tensor<f32, d: 20>
  } : !nd.tensor<f32, b: 3, d: 20, h: 2>
  return %a : !nd.tensor<f32, b: 3, d: 20, h: 2>
}

// A nest with fewer lanes than others, which shares a sum; a sort, which one lane runs; a loop of the group in a block.
func.func @mixed(%x: !nd.tensor<f32, b: 5, c: 90> {nd.name = "x"}, %w: !nd.tensor<f32, c: 90, d: 6> {nd.name = "w"}) -> (!nd.tensor<f32, b: 5, d: 6>, !nd.tensor<f32, b: 5, c: 90>) {
  %a:2 = nest.group (b: 5) {
    %p = nest.compute (c: 90) reads %x[] {
    ^bb0(%v: f32):
      %r = arith.addf %v, %v : f32
      nest.yield %r : f32
    } {schedule = #nest.schedule<[loop c by 48, lane c by 1]>} : (!nd.tensor<f32, b: 5, c: 90>) -> !nd.tensor<f32, c: 90>
    %s = nest.compute (d: 6) reduce (c: 90) reads %p[], %w[] {
    ^bb0(%v: f32, %u: f32):
      %r = arith.mulf %v, %u : f32
      nest.yield %r : f32
    } combine add [0.0 : f32] {schedule = #nest.schedule<[loop c by 5, lane d by 1, lane c by 1]>} : (!nd.tensor<f32, c: 90>, !nd.tensor<f32, c: 90, d: 6>) -> !nd.tensor<f32, d: 6>
    %o = nest.sort %p along <c: 90> : (!nd.tensor<f32, c: 90>) -> !nd.tensor<f32, c: 90>
    %t = nest.compute (c: 90) reads %o[], %s[d = c mod 6] {
    ^bb0(%v: f32, %u: f32):
      %r = arith.addf %v, %u : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, c: 90>, !nd.tensor<f32, d: 6>) -> !nd.tensor<f32, c: 90>
    nest.yield %s, %t : !nd.tensor<f32, d: 6>, !nd.tensor<f32, c: 90>
  } {schedule = #nest.schedule<[block b by 2, loop b by 1]>} : !nd.tensor<f32, b: 5, d: 6>, !nd.tensor<f32, b: 5, c: 90>
  return %a#0, %a#1 : !nd.tensor<f32, b: 5, d: 6>, !nd.tensor<f32, b: 5, c: 90>
}

// A state without elements, and indices into values of which there may be none.
func.func @no_state(%h: !i {nd.name = "h"}, %x: !nd.tensor<f32, j: 50, t: 6> {nd.name = "x"}) -> (!i, !nd.tensor<f32, j: 50, t: 6>) {
  %a:2 = nest.scan along #nd.dims<t: 6> init(%h) reads(%x) : (!i, !nd.tensor<f32, j: 50, t: 6>) -> (!i, !nd.tensor<f32, j: 50, t: 6>) {
  ^bb0(%state: !i, %slice: !nd.tensor<f32, j: 50>):
    %s = nest.compute (j: 50) reduce (i: 0) reads %state[], %slice[] {
    ^bb0(%u: f32, %v: f32):
      %p = arith.addf %u, %v : f32
      nest.yield %p : f32
    } combine add [0.0 : f32] : (!i, !nd.tensor<f32, j: 50>) -> !nd.tensor<f32, j: 50>
    %next = nest.compute (i: 0) reads %state[] {
    ^bb0(%u: f32):
      %r = math.tanh %u : f32
      nest.yield %r : f32
    } : (!i) -> !i
    nest.yield %next, %s : !i, !nd.tensor<f32, j: 50>
  }
  return %a#0, %a#1 : !i, !nd.tensor<f32, j: 50, t: 6>
}
func.func @may_be_empty(%x: !b_c {nd.name = "u"}, %at: !nd.tensor<i32, b: N, d: 40> {nd.name = "at"}) -> !nd.tensor<f32, b: N, d: 40> {
  %a = nest.group (b: N) {
    %e = nest.compute (c: M) reads %x[] {
    ^bb0(%v: f32):
      %r = math.exp %v : f32
      nest.yield %r : f32
    } : (!b_c) -> !c
    %o = nest.sort %e along <c: M> : (!c) -> !c
    %p = nest.compute (d: 40) reads %at[], %o[c = read(0)] if [read(0) >= 0, M - 1 - read(0) >= 0] else -1.0 : f32 {
    ^bb0(%v: i32, %w: f32):
      nest.yield %w : f32
    } : (!nd.tensor<i32, b: N, d: 40>, !c) -> !nd.tensor<f32, d: 40>
    nest.yield %p : !nd.tensor<f32, d: 40>
  } : !nd.tensor<f32, b: N, d: 40>
  return %a : !nd.tensor<f32, b: N, d: 40>
}
