// The difference of a value and itself if it is computed twice: one of the two products may be fused into the difference (FMA).
// RUN: heddle-run %s --compare --seed 1
// RUN: heddle-run %s --compare --seed 2 --target-cpu haswell

!n = !nd.tensor<f32, n: 64>

func.func @belowLargest(%x: !n) -> !n {
  %y = nest.compute (n: 64) reads %x[] {
  ^bb0(%a: f32):
    %b = arith.mulf %a, %a : f32
    nest.yield %b : f32
  } : (!n) -> !n
  %m = nest.compute () reduce (n: 64) reads %y[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine max [0xFF800000 : f32] : (!n) -> !nd.tensor<f32>
  %e = nest.compute (n: 64) reads %y[], %m[] {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    nest.yield %c : f32
  } : (!n, !nd.tensor<f32>) -> !n
  return %e : !n
}
