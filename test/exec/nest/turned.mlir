// Tiles that are transposed in registers: lanes lie apart in the operands of a finish, or in a result, which are
// contiguous along another loop of the tile. Sizes are no multiples of the tile.
// RUN: heddle-run %s --compare --seed 5
// RUN: env HEDDLE_CPU_WITHOUT=avx512,amx heddle-run %s --compare --seed 5

// A finish reads, and stores, in the order [m, n]; the lanes are m.
!i_j_m = !nd.tensor<f32, i: 5, j: 19, m: 23>

func.func @finish(%a: !nd.tensor<f32, m: 37, k: 9> {nd.layout = #nest.layout<[k, m]>},
                  %b: !nd.tensor<f32, k: 9, n: 21> {nd.layout = #nest.layout<[n, k]>},
                  %c: !nd.tensor<f32, m: 37, n: 21> {nd.layout = #nest.layout<[m, n]>})
    -> (!nd.tensor<f32, m: 37, n: 21> {nd.layout = #nest.layout<[m, n]>}) {
  %r = nest.compute (m: 37, n: 21) reduce (k: 9) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.000000e+00 : f32] finish reads %c[] {
  ^bb0(%s: f32, %d: f32):
    %t = arith.addf %s, %d : f32
    nest.yield %t : f32
  } {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache n by 10, cache m by 32, loop k by 1, register n by 1, register m by 16, vector m by 1]>} : (!nd.tensor<f32, m: 37, k: 9>, !nd.tensor<f32, k: 9, n: 21>, !nd.tensor<f32, m: 37, n: 21>) -> !nd.tensor<f32, m: 37, n: 21>
  return %r : !nd.tensor<f32, m: 37, n: 21>
}

// Narrow elements, and a loop of the tile that is not transposed: a row of n has parts in two loops.
func.func @narrow(%a: !nd.tensor<bf16, m: 37, k: 9> {nd.layout = #nest.layout<[k, m]>},
                  %b: !nd.tensor<f32, k: 9, n: 21> {nd.layout = #nest.layout<[n, k]>})
    -> (!nd.tensor<bf16, m: 37, n: 21> {nd.layout = #nest.layout<[m, n]>}) {
  %r = nest.compute (m: 37, n: 21) reduce (k: 9) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: f32):
    %w = arith.extf %x : bf16 to f32
    %p = arith.mulf %w, %y : f32
    nest.yield %p : f32
  } combine add [0.000000e+00 : f32] finish {
  ^bb0(%s: f32):
    %t = arith.truncf %s : f32 to bf16
    nest.yield %t : bf16
  } {layouts = [#nest.layout<[m, n]>], schedule = #nest.schedule<[cache n by 8, cache m by 16, loop k by 1, register n by 4, register n by 1, register m by 16, vector m by 1]>} : (!nd.tensor<bf16, m: 37, k: 9>, !nd.tensor<f32, k: 9, n: 21>) -> !nd.tensor<bf16, m: 37, n: 21>
  return %r : !nd.tensor<bf16, m: 37, n: 21>
}

// Without a reduction: two tensors, transposed along different loops of the tile.
func.func @two(%a: !i_j_m {nd.layout = #nest.layout<[j, m, i]>},
               %b: !i_j_m {nd.layout = #nest.layout<[i, m, j]>})
    -> (!i_j_m {nd.layout = #nest.layout<[i, m, j]>}) {
  %r = nest.compute (i: 5, j: 19, m: 23) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.subf %x, %y : f32
    nest.yield %p : f32
  } {layouts = [#nest.layout<[i, m, j]>], schedule = #nest.schedule<[cache m by 16, cache i by 5, cache j by 7, register i by 1, register j by 1, register m by 16, vector m by 1]>} : (!i_j_m, !i_j_m) -> !i_j_m
  return %r : !i_j_m
}
