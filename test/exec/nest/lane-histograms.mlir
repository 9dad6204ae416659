// Updates whose points may write the same element, which the lanes of a block run together on a device that has lanes.
// RUN: heddle-run %s --compare --size N=601 --size M=5
// RUN: heddle-run %s --threads 2 --compare --size N=0,1,3,255,257 --size M=0,1,7

// Sums and counts. Elements beyond the bins are dropped. The destination is still used, so it is copied.
func.func @histograms(%t: !nd.tensor<f32, v: 7> {nd.name = "t"}, %c: !nd.tensor<i32, v: 7> {nd.name = "c"}, %at: !nd.tensor<i32, n: N> {nd.name = "at"}, %x: !nd.tensor<f32, n: N> {nd.name = "x"})
    -> (!nd.tensor<f32, v: 7>, !nd.tensor<i32, v: 7>, !nd.tensor<f32, v: 7>) {
  %a = nest.update (n: N) %t[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, v: 7>, !nd.tensor<i32, n: N>, !nd.tensor<f32, n: N>) -> !nd.tensor<f32, v: 7>
  %b = nest.update (n: N) %c[v = read(0) + 2] reads %at[] {
  ^bb0(%i: i32):
    %one = arith.constant 1 : i32
    nest.yield %one : i32
  } combine {
  ^bb0(%old: i32, %new: i32):
    %r = arith.addi %old, %new : i32
    nest.yield %r : i32
  } : (!nd.tensor<i32, v: 7>, !nd.tensor<i32, n: N>) -> !nd.tensor<i32, v: 7>
  return %a, %b, %t : !nd.tensor<f32, v: 7>, !nd.tensor<i32, v: 7>, !nd.tensor<f32, v: 7>
}

// Points of several names, the largest value of each element, narrow elements. The ranges allow for few parts of the points.
func.func @planes(%t: !nd.tensor<f32, u: 3, v: 5> {nd.name = "t"}, %s: !nd.tensor<bf16> {nd.name = "s"}, %at: !nd.tensor<i32, m: M, n: N> {nd.name = "at"}, %x: !nd.tensor<f32, m: M, n: N> {nd.name = "x"})
    -> (!nd.tensor<f32, u: 3, v: 5>, !nd.tensor<bf16>) attributes {nd.ranges = {M = [0, 8], N = [0, 700]}} {
  %a = nest.update (m: M, n: N) %t[u = read(0) mod 3, v = (m + n) mod 5] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.maximumf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, u: 3, v: 5>, !nd.tensor<i32, m: M, n: N>, !nd.tensor<f32, m: M, n: N>) -> !nd.tensor<f32, u: 3, v: 5>
  %b = nest.update (m: M, n: N) %s[] reads %x[] {
  ^bb0(%v: f32):
    %l = arith.constant 3.0 : f32
    %r = arith.divf %v, %l : f32
    %w = arith.truncf %r : f32 to bf16
    nest.yield %w : bf16
  } combine {
  ^bb0(%old: bf16, %new: bf16):
    %r = arith.maximumf %old, %new : bf16
    nest.yield %r : bf16
  } : (!nd.tensor<bf16>, !nd.tensor<f32, m: M, n: N>) -> !nd.tensor<bf16>
  return %a, %b : !nd.tensor<f32, u: 3, v: 5>, !nd.tensor<bf16>
}

// Lanes over a name that is a coordinate, and over one that is not: some meet. Blocks own parts of the rows.
func.func @rows(%t: !nd.tensor<f32, d: 45, v: 11> {nd.name = "t"}, %at: !nd.tensor<i32, n: N> {nd.name = "at"}, %x: !nd.tensor<f32, d: 45, n: N> {nd.name = "x"})
    -> !nd.tensor<f32, d: 45, v: 11> {
  %a = nest.update (d: 45, n: N) %t[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } {schedule = #nest.schedule<[block d by 8, loop n by 6, lane n by 1, lane d by 1]>} : (!nd.tensor<f32, d: 45, v: 11>, !nd.tensor<i32, n: N>, !nd.tensor<f32, d: 45, n: N>) -> !nd.tensor<f32, d: 45, v: 11>
  return %a : !nd.tensor<f32, d: 45, v: 11>
}
