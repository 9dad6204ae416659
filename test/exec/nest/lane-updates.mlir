// Updates and recurrences that the lanes of a block run together on a device that has lanes: elements that several points
// write, elements that one point writes, copies of destinations, sizes that nobody knows.
// RUN: heddle-run %s --threads 2 --compare --size N=37 --size M=601
// RUN: heddle-run %s --compare --size N=0,1,3 --size M=0,1,7

// The gradient of a table: rows are added up in order, each element by one lane. The destination is still used, so it is copied.
!b_i_t = !nd.tensor<f32, b: 3, i: N, t: 6>

func.func @adds(%t: !nd.tensor<f32, d: M, v: 11> {nd.name = "t"}, %at: !nd.tensor<i32, n: N> {nd.name = "at"}, %x: !nd.tensor<f32, d: M, n: N> {nd.name = "x"})
    -> (!nd.tensor<f32, d: M, v: 11>, !nd.tensor<f32, d: M, v: 11>) {
  %a = nest.update (d: M, n: N) %t[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, d: M, v: 11>, !nd.tensor<i32, n: N>, !nd.tensor<f32, d: M, n: N>) -> !nd.tensor<f32, d: M, v: 11>
  %b = nest.update (d: M, n: N) %t[v = n mod 11] reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.mulf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[block d by 12, lane d by 1, loop n by 1]>} : (!nd.tensor<f32, d: M, v: 11>, !nd.tensor<f32, d: M, n: N>) -> !nd.tensor<f32, d: M, v: 11>
  return %a, %b : !nd.tensor<f32, d: M, v: 11>, !nd.tensor<f32, d: M, v: 11>
}

// No element is written twice: lanes walk any names. Rows beyond the destination are dropped.
func.func @writes(%t: !nd.tensor<f32, d: 45, v: 1000> {nd.name = "t"}, %x: !nd.tensor<f32, d: 45, n: N> {nd.name = "x"}, %l: !nd.tensor<i64, v: 900> {nd.name = "l"}, %y: !nd.tensor<i64, p: 500> {nd.name = "y"})
    -> (!nd.tensor<f32, d: 45, v: 1000>, !nd.tensor<i64, v: 900>, !nd.tensor<f32, d: 45, v: 1000>) {
  %a = nest.update (d: 45, n: N) %t[v = 1003 - 7 * n] unique reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    nest.yield %new : f32
  } : (!nd.tensor<f32, d: 45, v: 1000>, !nd.tensor<f32, d: 45, n: N>) -> !nd.tensor<f32, d: 45, v: 1000>
  %b = nest.update (p: 500) %l[v = 5 * p mod 1001] unique reads %y[] {
  ^bb0(%v: i64):
    nest.yield %v : i64
  } combine {
  ^bb0(%old: i64, %new: i64):
    %r = arith.addi %old, %new : i64
    nest.yield %r : i64
  } : (!nd.tensor<i64, v: 900>, !nd.tensor<i64, p: 500>) -> !nd.tensor<i64, v: 900>
  %c = nest.update (d: 45, n: N) %t[v = n + 5] unique reads %x[] {
  ^bb0(%v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.subf %new, %old : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[block d by 4, loop n by 8, lane n by 1, lane d by 1]>} : (!nd.tensor<f32, d: 45, v: 1000>, !nd.tensor<f32, d: 45, n: N>) -> !nd.tensor<f32, d: 45, v: 1000>
  return %a, %b, %c : !nd.tensor<f32, d: 45, v: 1000>, !nd.tensor<i64, v: 900>, !nd.tensor<f32, d: 45, v: 1000>
}

// A recurrence whose states and steps lanes share, and one in a group, whose state starts in the memory of the group.
func.func @recurrence(%h: !nd.tensor<f32, b: 3, i: N> {nd.name = "h"}, %x: !b_i_t {nd.name = "x"}, %w: !nd.tensor<f32, i: N, j: N> {nd.name = "w"})
    -> (!nd.tensor<f32, b: 3, i: N>, !b_i_t, !nd.tensor<f32, b: 3, i: N>) {
  %a:2 = nest.scan along #nd.dims<t: 6> reverse init(%h) reads(%x) : (!nd.tensor<f32, b: 3, i: N>, !b_i_t) -> (!nd.tensor<f32, b: 3, i: N>, !b_i_t) {
  ^bb0(%state: !nd.tensor<f32, b: 3, i: N>, %slice: !nd.tensor<f32, b: 3, i: N>):
    %next = nest.compute (b: 3, i: N) reduce (j: N) reads %state[i = j], %w[] {
    ^bb0(%u: f32, %v: f32):
      %p = arith.mulf %u, %v : f32
      nest.yield %p : f32
    } combine add [0.0 : f32] finish reads %slice[] {
    ^bb0(%s: f32, %v: f32):
      %p = arith.addf %s, %v : f32
      %r = math.tanh %p : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, b: 3, i: N>, !nd.tensor<f32, i: N, j: N>, !nd.tensor<f32, b: 3, i: N>) -> !nd.tensor<f32, b: 3, i: N>
    nest.yield %next, %next : !nd.tensor<f32, b: 3, i: N>, !nd.tensor<f32, b: 3, i: N>
  }
  %g = nest.group (b: 3) {
    %start = nest.compute (i: N) reads %h[] {
    ^bb0(%v: f32):
      %r = arith.negf %v : f32
      nest.yield %r : f32
    } : (!nd.tensor<f32, b: 3, i: N>) -> !nd.tensor<f32, i: N>
    %slices = nest.compute (i: N, t: 6) reads %x[] {
    ^bb0(%v: f32):
      nest.yield %v : f32
    } : (!b_i_t) -> !nd.tensor<f32, i: N, t: 6>
    %last = nest.scan along #nd.dims<t: 6> init(%start) reads(%slices) : (!nd.tensor<f32, i: N>, !nd.tensor<f32, i: N, t: 6>) -> !nd.tensor<f32, i: N> {
    ^bb0(%state: !nd.tensor<f32, i: N>, %slice: !nd.tensor<f32, i: N>):
      %next = nest.compute (i: N) reads %state[i = N - i - 1], %slice[] {
      ^bb0(%u: f32, %v: f32):
        %p = arith.subf %v, %u : f32
        nest.yield %p : f32
      } : (!nd.tensor<f32, i: N>, !nd.tensor<f32, i: N>) -> !nd.tensor<f32, i: N>
      nest.yield %next : !nd.tensor<f32, i: N>
    }
    nest.yield %last : !nd.tensor<f32, i: N>
  } : !nd.tensor<f32, b: 3, i: N>
  return %a#0, %a#1, %g : !nd.tensor<f32, b: 3, i: N>, !b_i_t, !nd.tensor<f32, b: 3, i: N>
}
