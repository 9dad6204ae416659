// Nests whose lanes run together on a device that has lanes, and one after another on a CPU: sizes that blocks do and do not
// divide, copies that all lanes fill, sums whose parts are in several lanes.
// RUN: heddle-run %s --threads 2 --compare --size M=70 --size N=33
// RUN: heddle-run %s --compare --size M=1,5,64 --size N=1,4,64

!m_n = !nd.tensor<f32, m: M, n: N>

// Sums stay in registers while all lanes run the loop over k and fill the copies.
func.func @product(%a: !nd.tensor<f32, m: M, k: 50> {nd.name = "a"}, %b: !nd.tensor<f32, k: 50, n: N> {nd.name = "b"}) -> !m_n {
  %c = nest.compute (m: M, n: N) reduce (k: 50) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 32, block n by 32, loop k by 16, lane m by 4, lane n by 4, loop k by 1, register m by 1, vector n by 1],
      [stage 0 at 2 level "shared" in #nest.layout<[k, m pad(0, 4)]> copy [loop m by 4, lane m by 1, lane k by 1], stage 1 at 2 level "shared" in #nest.layout<[k, n]> copy [loop k by 8, lane k by 1, lane n by 4, vector n by 1]]>}
      : (!nd.tensor<f32, m: M, k: 50>, !nd.tensor<f32, k: 50, n: N>) -> !m_n
  return %c : !m_n
}

// Sizes are numbers, and a part of the sums is in each warp. A copy has fewer elements than there are lanes.
func.func @known(%a: !nd.tensor<f32, m: 45, k: 19> {nd.name = "a"}, %b: !nd.tensor<f32, k: 19, n: 21> {nd.name = "b"}, %bias: !nd.tensor<f32, n: 21> {nd.name = "bias"}) -> !nd.tensor<f32, m: 45, n: 21> {
  %c = nest.compute (m: 45, n: 21) reduce (k: 19) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] finish reads %bias[] {
  ^bb0(%sum: f32, %x: f32):
    %p = arith.addf %sum, %x : f32
    nest.yield %p : f32
  } {schedule = #nest.schedule<[grid m by 20, block n by 8, loop k by 8, warp k by 2, lane m by 5, lane n by 2, loop k by 1, register m by 1, register n by 1],
      [stage 1 at 2 level "shared" in #nest.layout<[n, k]> copy [lane k by 1, lane n by 4, loop n by 1]]>}
      : (!nd.tensor<f32, m: 45, k: 19>, !nd.tensor<f32, k: 19, n: 21>, !nd.tensor<f32, n: 21>) -> !nd.tensor<f32, m: 45, n: 21>
  return %c : !nd.tensor<f32, m: 45, n: 21>
}

// A window with a border, of which the copy holds a part.
func.func @window(%a: !nd.tensor<f32, r: 30, c: N> {nd.name = "a"}, %w: !nd.tensor<f32, i: 3, j: 3, o: 5> {nd.name = "w"}) -> !nd.tensor<f32, r: 30, c: N, o: 5> {
  %b = nest.compute (r: 30, c: N, o: 5) reduce (i: 3, j: 3) reads %a[r = r + i - 1, c = c + j - 1] if [r + i - 1 >= 0, 30 - r - i >= 0, c + j - 1 >= 0, N - c - j >= 0] else 0.0 : f32, %w[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block r by 4, block c by 16, loop i by 1, lane r by 2, lane c by 1, loop j by 1, register r by 1, register o by 1],
      [stage 0 at 1 level "shared" in #nest.layout<[r, c]> copy [loop r by 1, lane c by 1]]>}
      : (!nd.tensor<f32, r: 30, c: N>, !nd.tensor<f32, i: 3, j: 3, o: 5>) -> !nd.tensor<f32, r: 30, c: N, o: 5>
  return %b : !nd.tensor<f32, r: 30, c: N, o: 5>
}

// Each lane adds vectors of a row; the number of lanes is no power of two, and few have a last vector.
func.func @rows(%a: !nd.tensor<f32, m: M, k: 204> {nd.name = "a"}) -> !nd.tensor<f32, m: M> {
  %b = nest.compute (m: M) reduce (k: 204) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.mulf %x, %x : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[block m by 2, lane m by 1, loop k by 48, lane k by 4, vector k by 1]>} : (!nd.tensor<f32, m: M, k: 204>) -> !nd.tensor<f32, m: M>
  return %b : !nd.tensor<f32, m: M>
}

// The least element of each row and its place, over rows that a block holds apart.
func.func @least(%a: !nd.tensor<f32, m: 7, k: N> {nd.name = "a"}) -> (!nd.tensor<f32, m: 7>, !nd.tensor<i64, m: 7>) {
  %b:2 = nest.compute (m: 7) reduce (k: N) reads %a[] {
  ^bb0(%x: f32):
    %at = nest.index k
    %i = arith.index_cast %at : index to i64
    nest.yield %x, %i : f32, i64
  } combine [0x7F800000 : f32, 9223372036854775807 : i64] {
  ^bb0(%x: f32, %i: i64, %y: f32, %j: i64):
    %less = arith.cmpf olt, %y, %x : f32
    %same = arith.cmpf oeq, %y, %x : f32
    %first = arith.cmpi slt, %j, %i : i64
    %tie = arith.andi %same, %first : i1
    %take = arith.ori %less, %tie : i1
    %v = arith.select %take, %y, %x : f32
    %at = arith.select %take, %j, %i : i64
    nest.yield %v, %at : f32, i64
  } {schedule = #nest.schedule<[block m by 4, loop k by 8, lane m by 2, lane k by 1, register m by 1]>} : (!nd.tensor<f32, m: 7, k: N>) -> (!nd.tensor<f32, m: 7>, !nd.tensor<i64, m: 7>)
  return %b#0, %b#1 : !nd.tensor<f32, m: 7>, !nd.tensor<i64, m: 7>
}

// Points without a sum, in merged names and in vectors.
func.func @points(%a: !nd.tensor<f32, m: M, n: 6> {nd.name = "a"}, %b: !nd.tensor<f32, n: N> {nd.name = "b"}) -> (!nd.tensor<f32, m: M, n: 6>, !nd.tensor<f32, n: N>) {
  %c = nest.compute (m: M, n: 6) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.negf %x : f32
    nest.yield %p : f32
  } {schedule = #nest.schedule<[block (m, n) by 64, lane (m, n) by 4, vector (m, n) by 1]>} : (!nd.tensor<f32, m: M, n: 6>) -> !nd.tensor<f32, m: M, n: 6>
  %d = nest.compute (n: N) reads %b[] {
  ^bb0(%x: f32):
    %p = arith.addf %x, %x : f32
    nest.yield %p : f32
  } {schedule = #nest.schedule<[block n by 32, lane n by 4, vector n by 1]>} : (!nd.tensor<f32, n: N>) -> !nd.tensor<f32, n: N>
  return %c, %d : !nd.tensor<f32, m: M, n: 6>, !nd.tensor<f32, n: N>
}

// The last vector of a name without lanes is not full, in a block whose lanes are not all needed.
func.func @ragged(%a: !m_n {nd.name = "a"}) -> !m_n {
  %c = nest.compute (m: M, n: N) reads %a[] {
  ^bb0(%x: f32):
    %p = arith.negf %x : f32
    nest.yield %p : f32
  } {schedule = #nest.schedule<[block n by 4, block m by 6, lane m by 2, register m by 1, vector n by 1]>} : (!m_n) -> !m_n
  return %c : !m_n
}

// Two neutral values have no sum here, so lanes without a term take no part.
func.func @scaled(%a: !nd.tensor<f32, m: 3, k: N> {nd.name = "a"}) -> (!nd.tensor<f32, m: 3>, !nd.tensor<f32, m: 3>) {
  %b:2 = nest.compute (m: 3) reduce (k: N) reads %a[] {
  ^bb0(%x: f32):
    %one = arith.constant 1.0 : f32
    nest.yield %x, %one : f32, f32
  } combine [0xFF800000 : f32, 0.0 : f32] {
  ^bb0(%x: f32, %s: f32, %y: f32, %t: f32):
    %m = arith.maximumf %x, %y : f32
    %dx = arith.subf %x, %m : f32
    %dy = arith.subf %y, %m : f32
    %ex = math.exp %dx : f32
    %ey = math.exp %dy : f32
    %u = arith.mulf %s, %ex : f32
    %v = arith.mulf %t, %ey : f32
    %sum = arith.addf %u, %v : f32
    nest.yield %m, %sum : f32, f32
  } {schedule = #nest.schedule<[block m by 1, loop k by 16, lane k by 1]>} : (!nd.tensor<f32, m: 3, k: N>) -> (!nd.tensor<f32, m: 3>, !nd.tensor<f32, m: 3>)
  return %b#0, %b#1 : !nd.tensor<f32, m: 3>, !nd.tensor<f32, m: 3>
}
