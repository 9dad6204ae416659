// Prefix combination along one name, in order.
// RUN: heddle-run %s --compare
// RUN: heddle-run %s --compare --products bf16

!i32_n = !nd.tensor<i32, n: 4>

func.func @prefixes() {
  %x = nd.constant dense<[1, 2, 3, 4]> : tensor<4xi32> by [n] : !i32_n
  %a = nd.scan %x along n neutral [0 : i32] : (!i32_n) -> !i32_n {
  ^bb0(%p: i32, %e: i32):
    %r = arith.addi %p, %e : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %a is dense<[1, 3, 6, 10]> : tensor<4xi32> by [n] : !i32_n
  %b = nd.scan %x along n exclusive neutral [0 : i32] : (!i32_n) -> !i32_n {
  ^bb0(%p: i32, %e: i32):
    %r = arith.addi %p, %e : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %b is dense<[0, 1, 3, 6]> : tensor<4xi32> by [n] : !i32_n
  %c = nd.scan %x along n reverse neutral [0 : i32] : (!i32_n) -> !i32_n {
  ^bb0(%p: i32, %e: i32):
    %r = arith.addi %p, %e : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %c is dense<[10, 9, 7, 4]> : tensor<4xi32> by [n] : !i32_n
  %d = nd.scan %x along n exclusive reverse neutral [1 : i32] : (!i32_n) -> !i32_n {
  ^bb0(%p: i32, %e: i32):
    %r = arith.muli %p, %e : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %d is dense<[24, 12, 4, 1]> : tensor<4xi32> by [n] : !i32_n
  return
}

// Other names are independent of one another, wherever they stand.
func.func @columns() {
  %x = nd.constant dense<[[1, 10], [2, 20], [3, 30]]> : tensor<3x2xi32> by [n, z] : !nd.tensor<i32, n: 3, z: 2>
  %a = nd.scan %x along n neutral [-2147483648 : i32] : (!nd.tensor<i32, n: 3, z: 2>) -> !nd.tensor<i32, n: 3, z: 2> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.maxsi %p, %e : i32
    nd.yield %r : i32
  }
  check.expect_eq %a, %x : !nd.tensor<i32, n: 3, z: 2>
  %b = nd.scan %x along z neutral [0 : i32] : (!nd.tensor<i32, n: 3, z: 2>) -> !nd.tensor<i32, n: 3, z: 2> {
  ^bb0(%p: i32, %e: i32):
    %r = arith.addi %p, %e : i32
    nd.yield %r : i32
  }
  check.expect_eq_const %b is dense<[[1, 11], [2, 22], [3, 33]]> : tensor<3x2xi32> by [n, z] : !nd.tensor<i32, n: 3, z: 2>
  return
}

// Two inputs are combined together: running maximum and where it stood.
func.func @running_argmax() {
  %x = nd.constant dense<[3.0, 1.0, 4.0, 4.0, 5.0]> : tensor<5xf32> by [n] : !nd.tensor<f32, n: 5>
  %i = nd.iota n : !nd.tensor<i32, n: 5>
  %0:2 = nd.scan %x, %i along n neutral [0xFF800000 : f32, -1 : i32] : (!nd.tensor<f32, n: 5>, !nd.tensor<i32, n: 5>) -> (!nd.tensor<f32, n: 5>, !nd.tensor<i32, n: 5>) {
  ^bb0(%a: f32, %ai: i32, %e: f32, %ei: i32):
    %take = arith.cmpf ogt, %e, %a : f32
    %r = arith.select %take, %e, %a : f32
    %ri = arith.select %take, %ei, %ai : i32
    nd.yield %r, %ri : f32, i32
  }
  check.expect_eq_const %0#0 is dense<[3.0, 3.0, 4.0, 4.0, 5.0]> : tensor<5xf32> by [n] : !nd.tensor<f32, n: 5>
  check.expect_eq_const %0#1 is dense<[0, 0, 2, 2, 4]> : tensor<5xi32> by [n] : !nd.tensor<i32, n: 5>
  return
}

func.func @types(%x0: !nd.tensor<f32, n: 23, m: 3>, %x1: !nd.tensor<f64, n: 23>, %x2: !nd.tensor<bf16, a: 5, n: 11>, %x3: !nd.tensor<f16, n: 11, z: 2>, %x4: !nd.tensor<i8, n: 31>, %x5: !nd.tensor<ui8, n: 31, z: 3>, %x6: !nd.tensor<i1, n: 31>, %x7: !nd.tensor<i64, n: 1, z: 5>, %x8: !nd.tensor<f32, n: 0, z: 5>, %x9: !nd.tensor<f32, n: 4, z: 0>)
    -> (!nd.tensor<f32, n: 23, m: 3>, !nd.tensor<f64, n: 23>, !nd.tensor<bf16, a: 5, n: 11>, !nd.tensor<f32, n: 11, z: 2>, !nd.tensor<i8, n: 31>, !nd.tensor<ui8, n: 31, z: 3>, !nd.tensor<i1, n: 31>, !nd.tensor<i64, n: 1, z: 5>, !nd.tensor<f32, n: 0, z: 5>, !nd.tensor<f32, n: 4, z: 0>) {
  %0 = nd.scan %x0 along n neutral [0.0 : f32] : (!nd.tensor<f32, n: 23, m: 3>) -> !nd.tensor<f32, n: 23, m: 3> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %1 = nd.scan %x1 along n reverse neutral [0.0 : f64] : (!nd.tensor<f64, n: 23>) -> !nd.tensor<f64, n: 23> {
  ^bb0(%p: f64, %e: f64):
    %r = arith.addf %p, %e : f64
    nd.yield %r : f64
  }
  %2 = nd.scan %x2 along n exclusive neutral [0.0 : f32] : (!nd.tensor<bf16, a: 5, n: 11>) -> !nd.tensor<bf16, a: 5, n: 11> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %3 = nd.scan %x3 along n exclusive reverse neutral [0.0 : f32] : (!nd.tensor<f16, n: 11, z: 2>) -> !nd.tensor<f32, n: 11, z: 2> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %4 = nd.scan %x4 along n neutral [0 : i8] : (!nd.tensor<i8, n: 31>) -> !nd.tensor<i8, n: 31> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.addi %p, %e : i8
    nd.yield %r : i8
  }
  %5 = nd.scan %x5 along n neutral [0 : i8] : (!nd.tensor<ui8, n: 31, z: 3>) -> !nd.tensor<ui8, n: 31, z: 3> {
  ^bb0(%p: i8, %e: i8):
    %r = arith.maxui %p, %e : i8
    nd.yield %r : i8
  }
  %6 = nd.scan %x6 along n neutral [false] : (!nd.tensor<i1, n: 31>) -> !nd.tensor<i1, n: 31> {
  ^bb0(%p: i1, %e: i1):
    %r = arith.ori %p, %e : i1
    nd.yield %r : i1
  }
  %7 = nd.scan %x7 along n exclusive neutral [0 : i64] : (!nd.tensor<i64, n: 1, z: 5>) -> !nd.tensor<i64, n: 1, z: 5> {
  ^bb0(%p: i64, %e: i64):
    %r = arith.addi %p, %e : i64
    nd.yield %r : i64
  }
  %8 = nd.scan %x8 along n neutral [0.0 : f32] : (!nd.tensor<f32, n: 0, z: 5>) -> !nd.tensor<f32, n: 0, z: 5> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  %9 = nd.scan %x9 along n neutral [0.0 : f32] : (!nd.tensor<f32, n: 4, z: 0>) -> !nd.tensor<f32, n: 4, z: 0> {
  ^bb0(%p: f32, %e: f32):
    %r = arith.addf %p, %e : f32
    nd.yield %r : f32
  }
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : !nd.tensor<f32, n: 23, m: 3>, !nd.tensor<f64, n: 23>, !nd.tensor<bf16, a: 5, n: 11>, !nd.tensor<f32, n: 11, z: 2>, !nd.tensor<i8, n: 31>, !nd.tensor<ui8, n: 31, z: 3>, !nd.tensor<i1, n: 31>, !nd.tensor<i64, n: 1, z: 5>, !nd.tensor<f32, n: 0, z: 5>, !nd.tensor<f32, n: 4, z: 0>
}
