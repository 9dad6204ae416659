// Updates of so many points that several blocks of lanes share them: each has elements of its own for a part of the points,
// which are combined at last.
// RUN: heddle-run %s --compare --size N=300 --size M=41
// RUN: heddle-run %s --compare --size N=0,1,257 --size M=0,1,3
// Also on a CPU, with parts of a few points.
// RUN: sed 's/^module/module attributes {heddle.machine = #nest.machine<{points_per_block = 8}>}/' %s >%t.mlir && heddle-run %t.mlir --compare --size N=300 --size M=41

module {
// Sums, whose size is no multiple of the parts; counts by a number that the code computes from the coordinate.
func.func @sums(%t: !nd.tensor<f32, v: 70> {nd.name = "t"}, %c: !nd.tensor<i32, v: 7> {nd.name = "c"}, %at: !nd.tensor<i32, n: 5003> {nd.name = "at"}, %x: !nd.tensor<f32, n: 5003> {nd.name = "x"})
    -> (!nd.tensor<f32, v: 70>, !nd.tensor<i32, v: 7>, !nd.tensor<f32, v: 70>) {
  %a = nest.update (n: 5003) %t[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, v: 70>, !nd.tensor<i32, n: 5003>, !nd.tensor<f32, n: 5003>) -> !nd.tensor<f32, v: 70>
  %b = nest.update (n: 4096) %c[v = (3 * n) mod 7] reads %at[n = n + 5] {
  ^bb0(%i: i32):
    %n = nest.index n
    %w = arith.index_cast %n : index to i32
    %s = arith.addi %w, %i : i32
    nest.yield %s : i32
  } combine {
  ^bb0(%old: i32, %new: i32):
    %r = arith.addi %old, %new : i32
    nest.yield %r : i32
  } : (!nd.tensor<i32, v: 7>, !nd.tensor<i32, n: 5003>) -> !nd.tensor<i32, v: 7>
  return %a, %b, %t : !nd.tensor<f32, v: 70>, !nd.tensor<i32, v: 7>, !nd.tensor<f32, v: 70>
}

// Sizes that nobody knows; a guard that excludes points; the largest and the smallest value; a narrow element; few points
// of a name that alone gives a coordinate.
func.func @others(%t: !nd.tensor<f32, d: 3, v: 11> {nd.name = "t"}, %s: !nd.tensor<bf16, v: 5> {nd.name = "s"}, %p: !nd.tensor<f64> {nd.name = "p"}, %at: !nd.tensor<i32, m: M, n: N> {nd.name = "at"}, %x: !nd.tensor<f32, d: 3, m: M, n: N> {nd.name = "x"}, %y: !nd.tensor<f64, n: 3001> {nd.name = "y"})
    -> (!nd.tensor<f32, d: 3, v: 11>, !nd.tensor<bf16, v: 5>, !nd.tensor<f64>) {
  %a = nest.update (d: 3, m: M, n: N) %t[d = d, v = read(0)] reads %at[], %x[] if [2 * n - m - 3 >= 0] {
  ^bb0(%i: i32, %v: f32):
    nest.yield %v : f32
  } combine {
  ^bb0(%old: f32, %new: f32):
    %r = arith.addf %old, %new : f32
    nest.yield %r : f32
  } : (!nd.tensor<f32, d: 3, v: 11>, !nd.tensor<i32, m: M, n: N>, !nd.tensor<f32, d: 3, m: M, n: N>) -> !nd.tensor<f32, d: 3, v: 11>
  %b = nest.update (d: 3, m: M, n: N) %s[v = read(0)] reads %at[], %x[] {
  ^bb0(%i: i32, %v: f32):
    %w = arith.truncf %v : f32 to bf16
    nest.yield %w : bf16
  } combine {
  ^bb0(%old: bf16, %new: bf16):
    %r = arith.maximumf %old, %new : bf16
    nest.yield %r : bf16
  } : (!nd.tensor<bf16, v: 5>, !nd.tensor<i32, m: M, n: N>, !nd.tensor<f32, d: 3, m: M, n: N>) -> !nd.tensor<bf16, v: 5>
  %c = nest.update (n: 3001) %p[] reads %y[] {
  ^bb0(%v: f64):
    nest.yield %v : f64
  } combine {
  ^bb0(%old: f64, %new: f64):
    %r = arith.minimumf %old, %new : f64
    nest.yield %r : f64
  } : (!nd.tensor<f64>, !nd.tensor<f64, n: 3001>) -> !nd.tensor<f64>
  return %a, %b, %c : !nd.tensor<f32, d: 3, v: 11>, !nd.tensor<bf16, v: 5>, !nd.tensor<f64>
}
}
