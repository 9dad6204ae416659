// Branches and loops in the form of a program: nests in functions.
// RUN: heddle-run %s --compare

!a = !nd.tensor<f32, a: 3>

func.func private @grow(%c: !nd.tensor<i1>, %s: !a, %w: !nd.tensor<f32>) -> (!nd.tensor<i1>, !a) {
  %t = nest.compute (a: 3) reads %s[], %w[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } : (!a, !nd.tensor<f32>) -> !a
  %m = nest.compute () reduce (a: 3) reads %t[] {
  ^bb0(%x: f32):
    nest.yield %x : f32
  } combine add [0.0 : f32] finish {
  ^bb0(%x: f32):
    %l = arith.constant 100.0 : f32
    %r = arith.cmpf olt, %x, %l : f32
    nest.yield %r : i1
  } : (!a) -> !nd.tensor<i1>
  return %m, %t : !nd.tensor<i1>, !a
}
func.func private @keep(%s: !a) -> !a {
  return %s : !a
}
func.func private @negate(%s: !a) -> !a {
  %t = nest.compute (a: 3) reads %s[] {
  ^bb0(%x: f32):
    %p = arith.negf %x : f32
    nest.yield %p : f32
  } : (!a) -> !a
  return %t : !a
}
// Several ops may call one function.
func.func @main() {
  %yes = nd.constant dense<true> : tensor<i1> by [] : !nd.tensor<i1>
  %no = nd.constant dense<false> : tensor<i1> by [] : !nd.tensor<i1>
  %two = nd.constant dense<2.0> : tensor<f32> by [] : !nd.tensor<f32>
  %x = nd.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32> by [a] : !a
  %0:2 = nest.control [@grow] %yes, %x, %two : (!nd.tensor<i1>, !a, !nd.tensor<f32>) -> (!nd.tensor<i1>, !a)
  check.expect_eq_const %0#1 is dense<[16.0, 32.0, 64.0]> : tensor<3xf32> by [a] : !a
  %1:2 = nest.control [@grow] %no, %0#1, %two : (!nd.tensor<i1>, !a, !nd.tensor<f32>) -> (!nd.tensor<i1>, !a)
  check.expect_eq_const %1#1 is dense<[16.0, 32.0, 64.0]> : tensor<3xf32> by [a] : !a
  %2 = nest.control [@keep, @negate] %1#0, %x : (!nd.tensor<i1>, !a) -> !a
  check.expect_eq_const %2 is dense<[-1.0, -2.0, -4.0]> : tensor<3xf32> by [a] : !a
  %3 = nest.control [@negate, @keep] %no, %2 : (!nd.tensor<i1>, !a) -> !a
  check.expect_eq_const %3 is dense<[-1.0, -2.0, -4.0]> : tensor<3xf32> by [a] : !a
  return
}
