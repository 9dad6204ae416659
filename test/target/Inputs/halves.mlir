// Halves that are loaded, chosen, compared, converted and carried by loops.
// RUN: heddle-run %s --compare --size N=5
module {
func.func @halves(%x: !nd.tensor<f16, n: N> {nd.name = "x"}, %y: !nd.tensor<f16, n: N> {nd.name = "y"}, %i: !nd.tensor<i64, n: N> {nd.name = "i"}) -> (!nd.tensor<f16, n: N>, !nd.tensor<f16, n: N>, !nd.tensor<i32, n: N>, !nd.tensor<f64, n: N>, !nd.tensor<f16>) {
  %a = nest.compute (n: N) reads %x[], %y[], %i[] {
  ^bb0(%p: f16, %q: f16, %k: i64):
    %zero = arith.constant -0.0 : f16
    %less = arith.cmpf olt, %p, %q : f16
    %s = arith.select %less, %p, %q : f16
    %t = arith.negf %s : f16
    %u = arith.addf %t, %p : f16
    %v = arith.divf %u, %q : f16
    %w = arith.sitofp %k : i64 to f16
    %m = arith.maximumf %v, %w : f16
    %r = arith.select %less, %m, %zero : f16
    nest.yield %r : f16
  } : (!nd.tensor<f16, n: N>, !nd.tensor<f16, n: N>, !nd.tensor<i64, n: N>) -> !nd.tensor<f16, n: N>
  %b = nest.compute (n: N) reads %x[] {
  ^bb0(%p: f16):
    %w = arith.extf %p : f16 to f64
    %s = arith.constant 0.3333333333333333 : f64
    %r = arith.mulf %w, %s : f64
    %h = arith.truncf %r : f64 to f16
    nest.yield %h : f16
  } : (!nd.tensor<f16, n: N>) -> !nd.tensor<f16, n: N>
  %c = nest.compute (n: N) reads %y[] {
  ^bb0(%p: f16):
    %zero = arith.constant 0.0 : f16
    %q = arith.mulf %p, %zero : f16
    %n = arith.divf %q, %q : f16 // NaN, which is 0 as an integer
    %k = arith.fptosi %n : f16 to i32
    %j = arith.fptosi %p : f16 to i32
    %r = arith.addi %j, %k : i32
    nest.yield %r : i32
  } : (!nd.tensor<f16, n: N>) -> !nd.tensor<i32, n: N>
  %d = nest.compute (n: N) reads %y[] {
  ^bb0(%p: f16):
    %q = math.absf %p : f16
    %s = math.sqrt %q : f16
    %r = arith.extf %s : f16 to f64
    nest.yield %r : f64
  } : (!nd.tensor<f16, n: N>) -> !nd.tensor<f64, n: N>
  %e = nest.compute () reduce (n: N) reads %x[] {
  ^bb0(%p: f16):
    nest.yield %p : f16
  } combine max [0xFC00 : f16] : (!nd.tensor<f16, n: N>) -> !nd.tensor<f16>
  return %a, %b, %c, %d, %e : !nd.tensor<f16, n: N>, !nd.tensor<f16, n: N>, !nd.tensor<i32, n: N>, !nd.tensor<f64, n: N>, !nd.tensor<f16>
}
}
