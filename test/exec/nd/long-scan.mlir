// Lines that a device with lanes scans in blocks: longer than a block, of several tensors, in both directions, of elements
// that are narrower and wider than 4 bytes, of sizes that nobody knows.
// RUN: heddle-run %s --compare --size N=1300 --size M=3
// RUN: heddle-run %s --compare --size N=0,1,70 --size M=0,1,70
// Small blocks, of which a line is longer than the square: totals of totals of totals.
// RUN: sed 's/^module/module attributes {heddle.machine = #nest.machine<{points_per_block = 8}>}/' %s >%t.mlir && heddle-run %t.mlir --compare --size N=600 --size M=3

!f64_m_n = !nd.tensor<f64, m: M, n: N>
!i8_n = !nd.tensor<i8, n: 1100>

module {
  func.func @sums(%x: !nd.tensor<f32, n: 1500> {nd.name = "x"}, %y: !nd.tensor<i32, m: 3, n: 600> {nd.name = "y"}, %z: !nd.tensor<bf16, n: N> {nd.name = "z"}, %w: !f64_m_n {nd.name = "w"})
      -> (!nd.tensor<f32, n: 1500>, !nd.tensor<i32, m: 3, n: 600>, !nd.tensor<bf16, n: N>, !f64_m_n, !f64_m_n) {
    %a = nd.scan %x along n neutral [0.0 : f32] : (!nd.tensor<f32, n: 1500>) -> !nd.tensor<f32, n: 1500> {
    ^bb0(%p: f32, %e: f32):
      %r = arith.addf %p, %e : f32
      nd.yield %r : f32
    }
    %b = nd.scan %y along n exclusive reverse neutral [0 : i32] : (!nd.tensor<i32, m: 3, n: 600>) -> !nd.tensor<i32, m: 3, n: 600> {
    ^bb0(%p: i32, %e: i32):
      %r = arith.addi %p, %e : i32
      nd.yield %r : i32
    }
    %c = nd.scan %z along n exclusive neutral [0.0 : f32] : (!nd.tensor<bf16, n: N>) -> !nd.tensor<bf16, n: N> {
    ^bb0(%p: f32, %e: f32):
      %r = arith.addf %p, %e : f32
      nd.yield %r : f32
    }
    %d = nd.scan %w along n reverse neutral [0.0 : f64] : (!f64_m_n) -> !f64_m_n {
    ^bb0(%p: f64, %e: f64):
      %r = arith.addf %p, %e : f64
      nd.yield %r : f64
    }
    %e = nd.scan %w along m neutral [1.0 : f64] : (!f64_m_n) -> !f64_m_n {
    ^bb0(%p: f64, %e: f64):
      %r = arith.mulf %p, %e : f64
      nd.yield %r : f64
    }
    return %a, %b, %c, %d, %e : !nd.tensor<f32, n: 1500>, !nd.tensor<i32, m: 3, n: 600>, !nd.tensor<bf16, n: N>, !f64_m_n, !f64_m_n
  }

  // The largest element so far and where it is: the first of equal ones. A combiner that does not commute: the last element
  // that is not 0, from both sides. Booleans.
  func.func @others(%x: !nd.tensor<f32, n: N> {nd.name = "x"}, %y: !i8_n {nd.name = "y"}, %z: !nd.tensor<i1, n: 1100> {nd.name = "z"})
      -> (!nd.tensor<f32, n: N>, !nd.tensor<i32, n: N>, !i8_n, !i8_n, !nd.tensor<i1, n: 1100>) {
    %i = nd.iota n : !nd.tensor<i32, n: N>
    %0:2 = nd.scan %x, %i along n neutral [0xFF800000 : f32, -1 : i32] : (!nd.tensor<f32, n: N>, !nd.tensor<i32, n: N>) -> (!nd.tensor<f32, n: N>, !nd.tensor<i32, n: N>) {
    ^bb0(%a: f32, %ai: i32, %e: f32, %ei: i32):
      %take = arith.cmpf ogt, %e, %a : f32
      %r = arith.select %take, %e, %a : f32
      %ri = arith.select %take, %ei, %ai : i32
      nd.yield %r, %ri : f32, i32
    }
    %1 = nd.scan %y along n neutral [0 : i8] : (!i8_n) -> !i8_n {
    ^bb0(%p: i8, %e: i8):
      %zero = arith.constant 0 : i8
      %none = arith.cmpi eq, %e, %zero : i8
      %r = arith.select %none, %p, %e : i8
      nd.yield %r : i8
    }
    %2 = nd.scan %y along n exclusive reverse neutral [0 : i8] : (!i8_n) -> !i8_n {
    ^bb0(%p: i8, %e: i8):
      %zero = arith.constant 0 : i8
      %none = arith.cmpi eq, %e, %zero : i8
      %r = arith.select %none, %p, %e : i8
      nd.yield %r : i8
    }
    %3 = nd.scan %z along n neutral [false] : (!nd.tensor<i1, n: 1100>) -> !nd.tensor<i1, n: 1100> {
    ^bb0(%p: i1, %e: i1):
      %r = arith.xori %p, %e : i1
      nd.yield %r : i1
    }
    return %0#0, %0#1, %1, %2, %3 : !nd.tensor<f32, n: N>, !nd.tensor<i32, n: N>, !i8_n, !i8_n, !nd.tensor<i1, n: 1100>
  }
}
