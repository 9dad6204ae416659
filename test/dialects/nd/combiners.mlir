// Combiners that have their declared properties on the values that occur are accepted.
// RUN: heddle-opt %s -o /dev/null

!row = !nd.tensor<f32, row: 3>

// Of numbers from 0 on.
func.func @maximum_of_positive(%x0: !row) {
  %r = nd.reduce %x0 over [row] neutral [0.0 : f32] : (!row) -> (!nd.tensor<f32>) {
  ^bb0(%a0: f32, %b0: f32):
    %m = arith.maximumf %a0, %b0 : f32
    nd.yield %m : f32
  }
  return
}

// Of numbers up to 10.
func.func @minimum_below_ten(%x0: !nd.tensor<i8, row: 3>) {
  %r = nd.reduce %x0 over [row] neutral [10 : i8] : (!nd.tensor<i8, row: 3>) -> (!nd.tensor<i8>) {
  ^bb0(%a0: i8, %b0: i8):
    %m = arith.minsi %a0, %b0 : i8
    nd.yield %m : i8
  }
  return
}

// NaN is neutral for maxnum.
func.func @number_not_nan(%x0: !row) {
  %r = nd.reduce %x0 over [row] neutral [0x7FC00000 : f32] : (!row) -> (!nd.tensor<f32>) {
  ^bb0(%a0: f32, %b0: f32):
    %m = arith.maxnumf %a0, %b0 : f32
    nd.yield %m : f32
  }
  return
}

// sqrt(a^2 + b^2), of what is not negative.
func.func @length(%x0: !row) {
  %r = nd.reduce %x0 over [row] neutral [0.0 : f32] : (!row) -> (!nd.tensor<f32>) {
  ^bb0(%a0: f32, %b0: f32):
    %p = arith.mulf %a0, %a0 : f32
    %q = arith.mulf %b0, %b0 : f32
    %s = arith.addf %p, %q : f32
    %r = math.sqrt %s : f32
    nd.yield %r : f32
  }
  return
}

// 1 / (1 / a + 1 / b), and no resistance at infinity.
func.func @parallel(%x0: !row) {
  %r = nd.reduce %x0 over [row] neutral [0x7F800000 : f32] : (!row) -> (!nd.tensor<f32>) {
  ^bb0(%a0: f32, %b0: f32):
    %one = arith.constant 1.0 : f32
    %p = arith.divf %one, %a0 : f32
    %q = arith.divf %one, %b0 : f32
    %s = arith.addf %p, %q : f32
    %r = arith.divf %one, %s : f32
    nd.yield %r : f32
  }
  return
}

// log(exp(a) + exp(b)), up to rounding.
func.func @log_add_exp(%x0: !nd.tensor<bf16, row: 3>) {
  %r = nd.reduce %x0 over [row] neutral [0xFF80 : bf16] : (!nd.tensor<bf16, row: 3>) -> (!nd.tensor<bf16>) {
  ^bb0(%a0: bf16, %b0: bf16):
    %p = math.exp %a0 : bf16
    %q = math.exp %b0 : bf16
    %s = arith.addf %p, %q : bf16
    %r = math.log %s : bf16
    nd.yield %r : bf16
  }
  return
}

// a + b - a b.
func.func @probabilistic_or(%x0: !row) {
  %r = nd.reduce %x0 over [row] neutral [0.0 : f32] : (!row) -> (!nd.tensor<f32>) {
  ^bb0(%a0: f32, %b0: f32):
    %s = arith.addf %a0, %b0 : f32
    %p = arith.mulf %a0, %b0 : f32
    %r = arith.subf %s, %p : f32
    nd.yield %r : f32
  }
  return
}

// Of remainders.
func.func @product_modulo_seven(%x0: !nd.tensor<i32, row: 3>) {
  %r = nd.reduce %x0 over [row] neutral [1 : i32] : (!nd.tensor<i32, row: 3>) -> (!nd.tensor<i32>) {
  ^bb0(%a0: i32, %b0: i32):
    %c7 = arith.constant 7 : i32
    %p = arith.muli %a0, %b0 : i32
    %r = arith.remui %p, %c7 : i32
    nd.yield %r : i32
  }
  return
}

// Of truth values, an even number of them false.
func.func @equality(%x0: !nd.tensor<i1, row: 3>) {
  %r = nd.reduce %x0 over [row] neutral [true] : (!nd.tensor<i1, row: 3>) -> (!nd.tensor<i1>) {
  ^bb0(%a0: i1, %b0: i1):
    %e = arith.cmpi eq, %a0, %b0 : i1
    nd.yield %e : i1
  }
  return
}

// The largest exponent, and the sum beside it.
func.func @sum_of_exponentials(%x0: !row, %x1: !row) {
  %r:2 = nd.reduce %x0, %x1 over [row] neutral [0xFF800000 : f32, 0.0 : f32] : (!row, !row) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  ^bb0(%a0: f32, %a1: f32, %b0: f32, %b1: f32):
    %m = arith.maximumf %a0, %b0 : f32
    %u = arith.subf %a0, %m : f32
    %v = arith.subf %b0, %m : f32
    %eu = math.exp %u : f32
    %ev = math.exp %v : f32
    %p = arith.mulf %a1, %eu : f32
    %q = arith.mulf %b1, %ev : f32
    %s = arith.addf %p, %q : f32
    nd.yield %m, %s : f32, f32
  }
  return
}

// A mean of none is 0 / 0.
func.func @mean_and_count(%x0: !row, %x1: !row) {
  %r:2 = nd.reduce %x0, %x1 over [row] neutral [0.0 : f32, 0.0 : f32] : (!row, !row) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  ^bb0(%a0: f32, %a1: f32, %b0: f32, %b1: f32):
    %n = arith.addf %a1, %b1 : f32
    %p = arith.mulf %a0, %a1 : f32
    %q = arith.mulf %b0, %b1 : f32
    %s = arith.addf %p, %q : f32
    %m = arith.divf %s, %n : f32
    nd.yield %m, %n : f32, f32
  }
  return
}

// Sums of which the error is kept, of pairs that are normalised.
func.func @two_parts(%x0: !row, %x1: !row) {
  %r:2 = nd.reduce %x0, %x1 over [row] neutral [0.0 : f32, 0.0 : f32] : (!row, !row) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  ^bb0(%a0: f32, %a1: f32, %b0: f32, %b1: f32):
    %s = arith.addf %a0, %b0 : f32
    %bb = arith.subf %s, %a0 : f32
    %aa = arith.subf %s, %bb : f32
    %da = arith.subf %a0, %aa : f32
    %db = arith.subf %b0, %bb : f32
    %e0 = arith.addf %da, %db : f32
    %e1 = arith.addf %a1, %b1 : f32
    %e = arith.addf %e0, %e1 : f32
    %hi = arith.addf %s, %e : f32
    %d = arith.subf %hi, %s : f32
    %lo = arith.subf %e, %d : f32
    nd.yield %hi, %lo : f32, f32
  }
  return
}

// Of pairs that are in order.
func.func @largest_two(%x0: !row, %x1: !row) {
  %r:2 = nd.reduce %x0, %x1 over [row] neutral [0xFF800000 : f32, 0xFF800000 : f32] : (!row, !row) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  ^bb0(%a0: f32, %a1: f32, %b0: f32, %b1: f32):
    %m = arith.maximumf %a0, %b0 : f32
    %l = arith.minimumf %a0, %b0 : f32
    %k = arith.maximumf %a1, %b1 : f32
    %s = arith.maximumf %l, %k : f32
    nd.yield %m, %s : f32, f32
  }
  return
}

// Of unit vectors, normalised.
func.func @rotation(%x0: !row, %x1: !row) {
  %r:2 = nd.reduce %x0, %x1 over [row] neutral [1.0 : f32, 0.0 : f32] : (!row, !row) -> (!nd.tensor<f32>, !nd.tensor<f32>) {
  ^bb0(%a0: f32, %a1: f32, %b0: f32, %b1: f32):
    %p = arith.mulf %a0, %b0 : f32
    %q = arith.mulf %a1, %b1 : f32
    %x = arith.subf %p, %q : f32
    %u = arith.mulf %a0, %b1 : f32
    %v = arith.mulf %a1, %b0 : f32
    %y = arith.addf %u, %v : f32
    %xx = arith.mulf %x, %x : f32
    %yy = arith.mulf %y, %y : f32
    %n2 = arith.addf %xx, %yy : f32
    %n = math.rsqrt %n2 : f32
    %c = arith.mulf %x, %n : f32
    %s = arith.mulf %y, %n : f32
    nd.yield %c, %s : f32, f32
  }
  return
}

// Any number beats NaN, the smaller index wins a tie.
func.func @place_of_largest(%x0: !row, %x1: !nd.tensor<i64, row: 3>) {
  %r:2 = nd.reduce %x0, %x1 over [row] neutral [0x7FC00000 : f32, 9223372036854775807 : i64] : (!row, !nd.tensor<i64, row: 3>) -> (!nd.tensor<f32>, !nd.tensor<i64>) {
  ^bb0(%a0: f32, %a1: i64, %b0: f32, %b1: i64):
    %more = arith.cmpf ogt, %b0, %a0 : f32
    %none = arith.cmpf uno, %a0, %a0 : f32
    %take = arith.ori %more, %none : i1
    %m = arith.select %take, %b0, %a0 : f32
    %i = arith.select %take, %b1, %a1 : i64
    nd.yield %m, %i : f32, i64
  }
  return
}

// At most one has its flag set.
func.func @the_one_that_is_set(%x0: !nd.tensor<i1, row: 3>, %x1: !row) {
  %r:2 = nd.reduce %x0, %x1 over [row] neutral [false, 0.0 : f32] : (!nd.tensor<i1, row: 3>, !row) -> (!nd.tensor<i1>, !nd.tensor<f32>) {
  ^bb0(%a0: i1, %a1: f32, %b0: i1, %b1: f32):
    %any = arith.ori %a0, %b0 : i1
    %v = arith.select %a0, %a1, %b1 : f32
    nd.yield %any, %v : i1, f32
  }
  return
}

// Maps one after the other: they need not commute.
func.func @affine(%x0: !row, %x1: !row) {
  %r:2 = nd.scan %x0, %x1 along row neutral [1.0 : f32, 0.0 : f32] : (!row, !row) -> (!row, !row) {
  ^bb0(%a0: f32, %a1: f32, %b0: f32, %b1: f32):
    %s = arith.mulf %a0, %b0 : f32
    %p = arith.mulf %a1, %b0 : f32
    %t = arith.addf %p, %b1 : f32
    nd.yield %s, %t : f32, f32
  }
  return
}

// In a scan the neutral element only comes first.
func.func @last_valid(%x0: !row) {
  %r = nd.scan %x0 along row neutral [0.0 : f32] : (!row) -> (!row) {
  ^bb0(%a0: f32, %b0: f32):
    %nan = arith.cmpf uno, %b0, %b0 : f32
    %v = arith.select %nan, %a0, %b0 : f32
    nd.yield %v : f32
  }
  return
}
