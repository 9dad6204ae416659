// Copies of copies: a part of an operand is copied, and inside of more loops a part of that copy. Sizes that steps do and
// do not divide, a border, narrow floats.
// RUN: heddle-run %s --compare --row-major --size N=33
// RUN: heddle-run %s --compare --row-major --threads 2 --target-cpu haswell --size N=1,16,40

func.func @product(%a: !nd.tensor<f32, k: 37, m: 12> {nd.name = "a"}, %b: !nd.tensor<f32, k: 37, n: 64> {nd.name = "b"}) -> !nd.tensor<f32, m: 12, n: 64> {
  %c = nest.compute (m: 12, n: 64) reduce (k: 37) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[cache n by 32, loop k by 8, loop k by 4, loop k by 1, register m by 1, register n by 16, vector n by 1],
      [stage 1 at 0 in #nest.layout<[n, k]>, stage 1 at 1 in #nest.layout<[k, n]>, stage 1 at 2 in #nest.layout<[k, n]>]>}
      : (!nd.tensor<f32, k: 37, m: 12>, !nd.tensor<f32, k: 37, n: 64>) -> !nd.tensor<f32, m: 12, n: 64>
  return %c : !nd.tensor<f32, m: 12, n: 64>
}

func.func @symbolic(%a: !nd.tensor<bf16, k: N + 3, m: N> {nd.name = "a"}, %b: !nd.tensor<bf16, k: N + 3, n: 64> {nd.name = "b"}) -> !nd.tensor<f32, m: N, n: 64> {
  %c = nest.compute (m: N, n: 64) reduce (k: N + 3) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: bf16):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop m by 16, cache n by 32, loop k by 16, loop k by 4, loop k by 1, register m by 1, register n by 16, vector n by 1],
      [stage 1 at 2 in #nest.layout<[n, k]>, stage 0 at 2 in #nest.layout<[m, k]>, stage 1 at 3 in #nest.layout<[k, n]>, stage 0 at 3 in #nest.layout<[k, m]>]>}
      : (!nd.tensor<bf16, k: N + 3, m: N>, !nd.tensor<bf16, k: N + 3, n: 64>) -> !nd.tensor<f32, m: N, n: 64>
  return %c : !nd.tensor<f32, m: N, n: 64>
}

// The first copy has the border; the second one reads it there.
func.func @window(%a: !nd.tensor<f32, ch: 12, r: 18, c: 40> {nd.name = "a"}, %w: !nd.tensor<f32, ch: 12, i: 3, j: 3> {nd.name = "w"}) -> !nd.tensor<f32, r: 18, c: 40> {
  %b = nest.compute (r: 18, c: 40) reduce (ch: 12, i: 3, j: 3) reads %a[r = r + i - 1, c = c + j - 1] if [r + i - 1 >= 0, 18 - r - i >= 0, c + j - 1 >= 0, 40 - c - j >= 0] else 1.0 : f32, %w[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop r by 6, loop ch by 4, loop r by 2, loop ch by 1, loop i by 1, loop j by 1, register r by 1, register c by 8, vector c by 1],
      [stage 0 at 1 in #nest.layout<[ch, r, c]>, stage 0 at 3 in #nest.layout<[ch, c, r]>]>}
      : (!nd.tensor<f32, ch: 12, r: 18, c: 40>, !nd.tensor<f32, ch: 12, i: 3, j: 3>) -> !nd.tensor<f32, r: 18, c: 40>
  return %b : !nd.tensor<f32, r: 18, c: 40>
}

// The lanes of a block fill both copies, where blocks have lanes.
func.func @lanes(%a: !nd.tensor<f32, k: 37, m: 16> {nd.name = "a"}, %b: !nd.tensor<f32, k: 37, n: 64> {nd.name = "b"}) -> !nd.tensor<f32, m: 16, n: 64> {
  %c = nest.compute (m: 16, n: 64) reduce (k: 37) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 16, block n by 32, loop k by 16, loop k by 4, lane m by 4, lane n by 2, loop k by 1, register m by 1, register n by 1],
      [stage 1 at 2 level "shared" in #nest.layout<[k, n]> copy [loop k by 4, loop n by 16, lane k by 1, lane n by 1], stage 1 at 3 level "shared" in #nest.layout<[n, k]> copy [loop n by 16, lane k by 1, lane n by 1]]>}
      : (!nd.tensor<f32, k: 37, m: 16>, !nd.tensor<f32, k: 37, n: 64>) -> !nd.tensor<f32, m: 16, n: 64>
  return %c : !nd.tensor<f32, m: 16, n: 64>
}
