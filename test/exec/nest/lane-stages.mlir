// Stages with two buffers, which the lanes of a block fill in turns at a loop of the reduction: sizes that steps do and do
// not divide, one step, none, copies that a lane holds in registers and larger ones, stages of one buffer beside them.
// RUN: heddle-run %s --compare --size K=37 --size N=21
// RUN: heddle-run %s --compare --size K=0,1,16,33 --size N=1,16,40
func.func @product(%a: !nd.tensor<f32, k: K, m: 40> {nd.name = "a"}, %b: !nd.tensor<f32, k: K, n: N> {nd.name = "b"}) -> !nd.tensor<f32, m: 40, n: N> {
  %c = nest.compute (m: 40, n: N) reduce (k: K) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 16, block n by 16, loop k by 8, lane m by 4, lane n by 4, loop k by 1, register m by 1, vector n by 1],
      [stage 0 at 2 level "shared" in #nest.layout<[k, m]> copy [loop k by 4, lane k by 1, lane m by 4, vector m by 1] buffers 2, stage 1 at 2 level "shared" in #nest.layout<[k, n]> copy [loop k by 4, lane k by 1, lane n by 4, vector n by 1] buffers 2]>}
      : (!nd.tensor<f32, k: K, m: 40>, !nd.tensor<f32, k: K, n: N>) -> !nd.tensor<f32, m: 40, n: N>
  return %c : !nd.tensor<f32, m: 40, n: N>
}

// Sizes are numbers. The copy of one operand is in one buffer, and lanes without an element take part in that of the other.
func.func @known(%a: !nd.tensor<bf16, k: 64, m: 24> {nd.name = "a"}, %b: !nd.tensor<f32, k: 64, n: 32> {nd.name = "b"}) -> !nd.tensor<f32, m: 24, n: 32> {
  %c = nest.compute (m: 24, n: 32) reduce (k: 64) reads %a[], %b[] {
  ^bb0(%x: bf16, %y: f32):
    %w = arith.extf %x : bf16 to f32
    %p = arith.mulf %w, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 12, block n by 32, loop k by 16, lane m by 3, lane n by 2, loop k by 1, register m by 1, register n by 1],
      [stage 0 at 2 level "shared" in #nest.layout<[k, m]> copy [loop m by 3, lane m by 1, lane k by 1] buffers 2, stage 1 at 2 level "shared" in #nest.layout<[k, n]> copy [loop k by 2, lane k by 1, lane n by 1]]>}
      : (!nd.tensor<bf16, k: 64, m: 24>, !nd.tensor<f32, k: 64, n: 32>) -> !nd.tensor<f32, m: 24, n: 32>
  return %c : !nd.tensor<f32, m: 24, n: 32>
}

// A lane has more elements of a copy than it holds in registers. Lanes share sums.
func.func @large(%a: !nd.tensor<f32, k: 200, m: 8> {nd.name = "a"}) -> !nd.tensor<f32, m: 8> {
  %c = nest.compute (m: 8) reduce (k: 200) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.mulf %x, %x : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 8, loop k by 64, lane m by 1, lane k by 32, loop k by 1],
      [stage 0 at 1 level "shared" in #nest.layout<[m, k]> copy [loop m by 1, loop k by 8, lane k by 1] buffers 2]>} : (!nd.tensor<f32, k: 200, m: 8>) -> !nd.tensor<f32, m: 8>
  return %c : !nd.tensor<f32, m: 8>
}

// A window with a border; the loop of the stage is inside of another one, and starts again in each of its steps.
func.func @window(%a: !nd.tensor<f32, ch: 12, r: 18, c: N> {nd.name = "c"}, %w: !nd.tensor<f32, ch: 12, i: 3, j: 3> {nd.name = "w"}) -> !nd.tensor<f32, r: 18, c: N> {
  %b = nest.compute (r: 18, c: N) reduce (ch: 12, i: 3, j: 3) reads %a[r = r + i - 1, c = c + j - 1] if [r + i - 1 >= 0, 18 - r - i >= 0, c + j - 1 >= 0, N - c - j >= 0] else 0.0 : f32, %w[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block r by 4, block c by 16, loop i by 1, loop ch by 4, lane r by 2, lane c by 1, loop ch by 1, loop j by 1, register r by 1],
      [stage 1 at 3 level "shared" in #nest.layout<[ch, j, i]> copy [lane ch by 1, lane j by 1] buffers 2, stage 0 at 3 level "shared" in #nest.layout<[ch, r, c]> copy [loop ch by 1, loop r by 1, lane c by 1] buffers 2]>}
      : (!nd.tensor<f32, ch: 12, r: 18, c: N>, !nd.tensor<f32, ch: 12, i: 3, j: 3>) -> !nd.tensor<f32, r: 18, c: N>
  return %b : !nd.tensor<f32, r: 18, c: N>
}
