// A scalar function at every point of the union of the operands' names, in every element type.
// RUN: heddle-run %s --compare

!i32_column_row = !nd.tensor<i32, column: 3, row: 2>
!n5 = !nd.tensor<f32, n: 5>
!n19 = !nd.tensor<f32, n: 19>

func.func @union() {
  %a = nd.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32> by [row, column] : !i32_column_row
  %b = nd.constant dense<[10, 20]> : tensor<2xi32> by [row] : !nd.tensor<i32, row: 2>
  %s = nd.constant dense<100> : tensor<i32> by [] : !nd.tensor<i32>
  %0 = nd.pointwise %b, %a, %s : (!nd.tensor<i32, row: 2>, !i32_column_row, !nd.tensor<i32>) -> !i32_column_row {
  ^bb0(%x: i32, %y: i32, %z: i32):
    %p = arith.addi %x, %y : i32
    %q = arith.addi %p, %z : i32
    nd.yield %q : i32
  }
  check.expect_eq_const %0 is dense<[[111, 112, 113], [124, 125, 126]]> : tensor<2x3xi32> by [row, column] : !i32_column_row
  %c = nd.constant dense<[1, 2, 3]> : tensor<3xi32> by [column] : !nd.tensor<i32, column: 3>
  %1 = nd.pointwise %b, %c crossed : (!nd.tensor<i32, row: 2>, !nd.tensor<i32, column: 3>) -> !i32_column_row {
  ^bb0(%x: i32, %y: i32):
    %p = arith.muli %x, %y : i32
    nd.yield %p : i32
  }
  check.expect_eq_const %1 is dense<[[10, 20, 30], [20, 40, 60]]> : tensor<2x3xi32> by [row, column] : !i32_column_row
  %2 = nd.pointwise : () -> !nd.tensor<i32> {
    %seven = arith.constant 7 : i32
    nd.yield %seven : i32
  }
  check.expect_eq_const %2 is dense<7> : tensor<i32> by [] : !nd.tensor<i32>
  return
}

// Integers wrap around; signs are those of the element type.
func.func @wrap() {
  %a = nd.constant dense<[127, -128, 100]> : tensor<3xi8> by [n] : !nd.tensor<i8, n: 3>
  %0 = nd.pointwise %a, %a : (!nd.tensor<i8, n: 3>, !nd.tensor<i8, n: 3>) -> !nd.tensor<i8, n: 3> {
  ^bb0(%x: i8, %y: i8):
    %p = arith.addi %x, %y : i8
    nd.yield %p : i8
  }
  check.expect_eq_const %0 is dense<[-2, 0, -56]> : tensor<3xi8> by [n] : !nd.tensor<i8, n: 3>
  %u = nd.constant dense<[200, 255, 3]> : tensor<3xi8> by [n] : !nd.tensor<ui8, n: 3>
  %1 = nd.pointwise %u : (!nd.tensor<ui8, n: 3>) -> !nd.tensor<f32, n: 3> {
  ^bb0(%x: i8):
    %p = arith.uitofp %x : i8 to f32
    nd.yield %p : f32
  }
  check.expect_eq_const %1 is dense<[200.0, 255.0, 3.0]> : tensor<3xf32> by [n] : !nd.tensor<f32, n: 3>
  return
}

// NaN, infinities and signed zeros.
func.func @special() {
  %a = nd.constant dense<[0x7FC00000, 1.0, -0.0, -0.0, 0x7F800000]> : tensor<5xf32> by [n] : !n5
  %b = nd.constant dense<[1.0, 0x7FC00000, -0.0, 0.0, 0xFF800000]> : tensor<5xf32> by [n] : !n5
  %0 = nd.pointwise %a, %b : (!n5, !n5) -> !n5 {
  ^bb0(%x: f32, %y: f32):
    %p = arith.maximumf %x, %y : f32
    %q = arith.addf %p, %p : f32
    nd.yield %q : f32
  }
  check.expect_close_const %0 is dense<[0x7FC00000, 0x7FC00000, 0.0, 0.0, 0x7F800000]> : tensor<5xf32> by [n] : !n5
  %1 = nd.pointwise %a, %b : (!n5, !n5) -> !nd.tensor<i1, n: 5> {
  ^bb0(%x: f32, %y: f32):
    %p = arith.cmpf ogt, %x, %y : f32
    nd.yield %p : i1
  }
  check.expect_eq_const %1 is dense<[false, false, false, false, true]> : tensor<5xi1> by [n] : !nd.tensor<i1, n: 5>
  %2 = nd.pointwise %a, %b : (!n5, !n5) -> !n5 {
  ^bb0(%x: f32, %y: f32):
    %p = arith.addf %x, %y : f32
    nd.yield %p : f32
  }
  check.expect_eq_const %2 is dense<[0x7FC00000, 0x7FC00000, -0.0, 0.0, 0x7FC00000]> : tensor<5xf32> by [n] : !n5
  return
}

func.func @f64(%a: !nd.tensor<f64, m: 13, k: 3>, %b: !nd.tensor<f64, k: 3>) -> !nd.tensor<f64, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<f64, m: 13, k: 3>, !nd.tensor<f64, k: 3>) -> !nd.tensor<f64, m: 13, k: 3> {
  ^bb0(%x: f64, %y: f64):
    %p = arith.mulf %x, %y : f64
    %q = arith.subf %p, %x : f64
    %c = arith.cmpf olt, %x, %y : f64
    %r = arith.select %c, %q, %p : f64
    %s = arith.negf %r : f64
    nd.yield %s : f64
  }
  return %0 : !nd.tensor<f64, m: 13, k: 3>
}
func.func @f32(%a: !nd.tensor<f32, m: 13, k: 3>, %b: !nd.tensor<f32, k: 3>) -> !nd.tensor<f32, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<f32, m: 13, k: 3>, !nd.tensor<f32, k: 3>) -> !nd.tensor<f32, m: 13, k: 3> {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.subf %p, %x : f32
    %c = arith.cmpf olt, %x, %y : f32
    %r = arith.select %c, %q, %p : f32
    %s = arith.negf %r : f32
    nd.yield %s : f32
  }
  return %0 : !nd.tensor<f32, m: 13, k: 3>
}
func.func @bf16(%a: !nd.tensor<bf16, m: 13, k: 3>, %b: !nd.tensor<bf16, k: 3>) -> !nd.tensor<bf16, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<bf16, m: 13, k: 3>, !nd.tensor<bf16, k: 3>) -> !nd.tensor<bf16, m: 13, k: 3> {
  ^bb0(%x: bf16, %y: bf16):
    %p = arith.mulf %x, %y : bf16
    %q = arith.subf %p, %x : bf16
    %c = arith.cmpf olt, %x, %y : bf16
    %r = arith.select %c, %q, %p : bf16
    %s = arith.negf %r : bf16
    nd.yield %s : bf16
  }
  return %0 : !nd.tensor<bf16, m: 13, k: 3>
}
func.func @f16(%a: !nd.tensor<f16, m: 13, k: 3>, %b: !nd.tensor<f16, k: 3>) -> !nd.tensor<f16, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<f16, m: 13, k: 3>, !nd.tensor<f16, k: 3>) -> !nd.tensor<f16, m: 13, k: 3> {
  ^bb0(%x: f16, %y: f16):
    %p = arith.mulf %x, %y : f16
    %q = arith.subf %p, %x : f16
    %c = arith.cmpf olt, %x, %y : f16
    %r = arith.select %c, %q, %p : f16
    %s = arith.negf %r : f16
    nd.yield %s : f16
  }
  return %0 : !nd.tensor<f16, m: 13, k: 3>
}
func.func @i64(%a: !nd.tensor<i64, m: 13, k: 3>, %b: !nd.tensor<i64, k: 3>) -> !nd.tensor<i64, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<i64, m: 13, k: 3>, !nd.tensor<i64, k: 3>) -> !nd.tensor<i64, m: 13, k: 3> {
  ^bb0(%x: i64, %y: i64):
    %p = arith.muli %x, %y : i64
    %q = arith.subi %p, %x : i64
    %one = arith.constant 1 : i64
    %t = arith.ori %y, %one : i64
    %d = arith.divsi %q, %t : i64
    %c = arith.cmpi slt, %x, %y : i64
    %r = arith.select %c, %d, %p : i64
    %m = arith.maxsi %r, %y : i64
    %h = arith.shrsi %m, %one : i64
    nd.yield %h : i64
  }
  return %0 : !nd.tensor<i64, m: 13, k: 3>
}
func.func @i32(%a: !nd.tensor<i32, m: 13, k: 3>, %b: !nd.tensor<i32, k: 3>) -> !nd.tensor<i32, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<i32, m: 13, k: 3>, !nd.tensor<i32, k: 3>) -> !nd.tensor<i32, m: 13, k: 3> {
  ^bb0(%x: i32, %y: i32):
    %p = arith.muli %x, %y : i32
    %q = arith.subi %p, %x : i32
    %one = arith.constant 1 : i32
    %t = arith.ori %y, %one : i32
    %d = arith.divsi %q, %t : i32
    %c = arith.cmpi slt, %x, %y : i32
    %r = arith.select %c, %d, %p : i32
    %m = arith.maxsi %r, %y : i32
    %h = arith.shrsi %m, %one : i32
    nd.yield %h : i32
  }
  return %0 : !nd.tensor<i32, m: 13, k: 3>
}
func.func @i16(%a: !nd.tensor<i16, m: 13, k: 3>, %b: !nd.tensor<i16, k: 3>) -> !nd.tensor<i16, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<i16, m: 13, k: 3>, !nd.tensor<i16, k: 3>) -> !nd.tensor<i16, m: 13, k: 3> {
  ^bb0(%x: i16, %y: i16):
    %p = arith.muli %x, %y : i16
    %q = arith.subi %p, %x : i16
    %one = arith.constant 1 : i16
    %t = arith.ori %y, %one : i16
    %d = arith.divsi %q, %t : i16
    %c = arith.cmpi slt, %x, %y : i16
    %r = arith.select %c, %d, %p : i16
    %m = arith.maxsi %r, %y : i16
    %h = arith.shrsi %m, %one : i16
    nd.yield %h : i16
  }
  return %0 : !nd.tensor<i16, m: 13, k: 3>
}
func.func @i8(%a: !nd.tensor<i8, m: 13, k: 3>, %b: !nd.tensor<i8, k: 3>) -> !nd.tensor<i8, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<i8, m: 13, k: 3>, !nd.tensor<i8, k: 3>) -> !nd.tensor<i8, m: 13, k: 3> {
  ^bb0(%x: i8, %y: i8):
    %p = arith.muli %x, %y : i8
    %q = arith.subi %p, %x : i8
    %one = arith.constant 1 : i8
    %t = arith.ori %y, %one : i8
    %d = arith.divsi %q, %t : i8
    %c = arith.cmpi slt, %x, %y : i8
    %r = arith.select %c, %d, %p : i8
    %m = arith.maxsi %r, %y : i8
    %h = arith.shrsi %m, %one : i8
    nd.yield %h : i8
  }
  return %0 : !nd.tensor<i8, m: 13, k: 3>
}
func.func @ui64(%a: !nd.tensor<ui64, m: 13, k: 3>, %b: !nd.tensor<ui64, k: 3>) -> !nd.tensor<ui64, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<ui64, m: 13, k: 3>, !nd.tensor<ui64, k: 3>) -> !nd.tensor<ui64, m: 13, k: 3> {
  ^bb0(%x: i64, %y: i64):
    %p = arith.muli %x, %y : i64
    %q = arith.subi %p, %x : i64
    %one = arith.constant 1 : i64
    %t = arith.ori %y, %one : i64
    %d = arith.divui %q, %t : i64
    %c = arith.cmpi ult, %x, %y : i64
    %r = arith.select %c, %d, %p : i64
    %m = arith.maxui %r, %y : i64
    %h = arith.shrui %m, %one : i64
    nd.yield %h : i64
  }
  return %0 : !nd.tensor<ui64, m: 13, k: 3>
}
func.func @ui32(%a: !nd.tensor<ui32, m: 13, k: 3>, %b: !nd.tensor<ui32, k: 3>) -> !nd.tensor<ui32, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<ui32, m: 13, k: 3>, !nd.tensor<ui32, k: 3>) -> !nd.tensor<ui32, m: 13, k: 3> {
  ^bb0(%x: i32, %y: i32):
    %p = arith.muli %x, %y : i32
    %q = arith.subi %p, %x : i32
    %one = arith.constant 1 : i32
    %t = arith.ori %y, %one : i32
    %d = arith.divui %q, %t : i32
    %c = arith.cmpi ult, %x, %y : i32
    %r = arith.select %c, %d, %p : i32
    %m = arith.maxui %r, %y : i32
    %h = arith.shrui %m, %one : i32
    nd.yield %h : i32
  }
  return %0 : !nd.tensor<ui32, m: 13, k: 3>
}
func.func @ui8(%a: !nd.tensor<ui8, m: 13, k: 3>, %b: !nd.tensor<ui8, k: 3>) -> !nd.tensor<ui8, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<ui8, m: 13, k: 3>, !nd.tensor<ui8, k: 3>) -> !nd.tensor<ui8, m: 13, k: 3> {
  ^bb0(%x: i8, %y: i8):
    %p = arith.muli %x, %y : i8
    %q = arith.subi %p, %x : i8
    %one = arith.constant 1 : i8
    %t = arith.ori %y, %one : i8
    %d = arith.divui %q, %t : i8
    %c = arith.cmpi ult, %x, %y : i8
    %r = arith.select %c, %d, %p : i8
    %m = arith.maxui %r, %y : i8
    %h = arith.shrui %m, %one : i8
    nd.yield %h : i8
  }
  return %0 : !nd.tensor<ui8, m: 13, k: 3>
}
func.func @i1(%a: !nd.tensor<i1, m: 13, k: 3>, %b: !nd.tensor<i1, k: 3>) -> !nd.tensor<i1, m: 13, k: 3> {
  %0 = nd.pointwise %a, %b : (!nd.tensor<i1, m: 13, k: 3>, !nd.tensor<i1, k: 3>) -> !nd.tensor<i1, m: 13, k: 3> {
  ^bb0(%x: i1, %y: i1):
    %p = arith.xori %x, %y : i1
    %q = arith.andi %p, %x : i1
    nd.yield %q : i1
  }
  return %0 : !nd.tensor<i1, m: 13, k: 3>
}

// From every type to others.
func.func @conversions(%f: !n19, %d: !nd.tensor<f64, n: 19>, %h: !nd.tensor<bf16, n: 19>, %g: !nd.tensor<f16, n: 19>, %i: !nd.tensor<i32, n: 19>, %b: !nd.tensor<i8, n: 19>, %u: !nd.tensor<ui8, n: 19>, %l: !nd.tensor<i64, n: 19>, %o: !nd.tensor<i1, n: 19>)
    -> (!nd.tensor<f64, n: 19>, !nd.tensor<bf16, n: 19>, !nd.tensor<f16, n: 19>, !nd.tensor<i8, n: 19>, !nd.tensor<ui32, n: 19>, !nd.tensor<i64, n: 19>, !n19, !nd.tensor<i1, n: 19>, !nd.tensor<f16, n: 19>, !n19) {
  %0 = nd.pointwise %f : (!n19) -> !nd.tensor<f64, n: 19> {
  ^bb0(%x: f32):
    %y = arith.extf %x : f32 to f64
    nd.yield %y : f64
  }
  %1 = nd.pointwise %d : (!nd.tensor<f64, n: 19>) -> !nd.tensor<bf16, n: 19> {
  ^bb0(%x: f64):
    %y = arith.truncf %x : f64 to bf16
    nd.yield %y : bf16
  }
  %2 = nd.pointwise %f : (!n19) -> !nd.tensor<f16, n: 19> {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f16
    nd.yield %y : f16
  }
  %3 = nd.pointwise %f : (!n19) -> !nd.tensor<i8, n: 19> {
  ^bb0(%x: f32):
    %y = arith.fptosi %x : f32 to i8
    nd.yield %y : i8
  }
  %4 = nd.pointwise %u : (!nd.tensor<ui8, n: 19>) -> !nd.tensor<ui32, n: 19> {
  ^bb0(%x: i8):
    %y = arith.extui %x : i8 to i32
    nd.yield %y : i32
  }
  %5 = nd.pointwise %b : (!nd.tensor<i8, n: 19>) -> !nd.tensor<i64, n: 19> {
  ^bb0(%x: i8):
    %y = arith.extsi %x : i8 to i64
    nd.yield %y : i64
  }
  %6 = nd.pointwise %l : (!nd.tensor<i64, n: 19>) -> !n19 {
  ^bb0(%x: i64):
    %y = arith.sitofp %x : i64 to f32
    nd.yield %y : f32
  }
  %7 = nd.pointwise %i : (!nd.tensor<i32, n: 19>) -> !nd.tensor<i1, n: 19> {
  ^bb0(%x: i32):
    %y = arith.trunci %x : i32 to i1
    nd.yield %y : i1
  }
  %8 = nd.pointwise %b : (!nd.tensor<i8, n: 19>) -> !nd.tensor<f16, n: 19> {
  ^bb0(%x: i8):
    %y = arith.sitofp %x : i8 to f16
    nd.yield %y : f16
  }
  %9 = nd.pointwise %o : (!nd.tensor<i1, n: 19>) -> !n19 {
  ^bb0(%x: i1):
    %y = arith.uitofp %x : i1 to f32
    nd.yield %y : f32
  }
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : !nd.tensor<f64, n: 19>, !nd.tensor<bf16, n: 19>, !nd.tensor<f16, n: 19>, !nd.tensor<i8, n: 19>, !nd.tensor<ui32, n: 19>, !nd.tensor<i64, n: 19>, !n19, !nd.tensor<i1, n: 19>, !nd.tensor<f16, n: 19>, !n19
}

// Narrow elements meet wide ones in one function.
func.func @mixed(%h: !nd.tensor<bf16, k: 5, m: 17>, %f: !nd.tensor<f32, m: 17>, %i: !nd.tensor<i8, k: 5>) -> !nd.tensor<bf16, k: 5, m: 17> {
  %0 = nd.pointwise %h, %f, %i : (!nd.tensor<bf16, k: 5, m: 17>, !nd.tensor<f32, m: 17>, !nd.tensor<i8, k: 5>) -> !nd.tensor<bf16, k: 5, m: 17> {
  ^bb0(%x: bf16, %y: f32, %z: i8):
    %a = arith.extf %x : bf16 to f32
    %b = arith.sitofp %z : i8 to f32
    %c = arith.mulf %a, %y : f32
    %d = arith.addf %c, %b : f32
    %e = arith.truncf %d : f32 to bf16
    nd.yield %e : bf16
  }
  return %0 : !nd.tensor<bf16, k: 5, m: 17>
}

func.func @sizes(%a: !nd.tensor<f32, m: 1, n: 0>, %b: !nd.tensor<f32, m: 1>, %c: !nd.tensor<f32>) -> (!nd.tensor<f32, m: 1, n: 0>, !nd.tensor<f32, m: 1>, !nd.tensor<f32>) {
  %0 = nd.pointwise %a, %b : (!nd.tensor<f32, m: 1, n: 0>, !nd.tensor<f32, m: 1>) -> !nd.tensor<f32, m: 1, n: 0> {
  ^bb0(%x: f32, %y: f32):
    %p = arith.addf %x, %y : f32
    nd.yield %p : f32
  }
  %1 = nd.pointwise %b, %c : (!nd.tensor<f32, m: 1>, !nd.tensor<f32>) -> !nd.tensor<f32, m: 1> {
  ^bb0(%x: f32, %y: f32):
    %p = arith.addf %x, %y : f32
    nd.yield %p : f32
  }
  %2 = nd.pointwise %c, %c : (!nd.tensor<f32>, !nd.tensor<f32>) -> !nd.tensor<f32> {
  ^bb0(%x: f32, %y: f32):
    %p = arith.divf %x, %y : f32
    nd.yield %p : f32
  }
  return %0, %1, %2 : !nd.tensor<f32, m: 1, n: 0>, !nd.tensor<f32, m: 1>, !nd.tensor<f32>
}
