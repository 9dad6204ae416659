// Undefined divisions and shifts give 0: by zero, of the smallest number by -1, by at least the number of bits.
// RUN: heddle-run %s --compare
// RUN: heddle-run %s --compare --seed 5 --threads 2

!i8_a = !nd.tensor<i8, a: 19>
!i32_a = !nd.tensor<i32, a: 19>
!i64_a = !nd.tensor<i64, a: 19>
!ui8_a = !nd.tensor<ui8, a: 19>
!ui32_a = !nd.tensor<ui32, a: 19>
!ui64_a = !nd.tensor<ui64, a: 19>

func.func @i8(%x: !i8_a, %y: !i8_a) -> (!i8_a, !i8_a, !i8_a, !i8_a) {
  // Few divisors, the least number now and then.
  %d = nd.pointwise %y : (!i8_a) -> !i8_a {
  ^bb0(%v: i8):
    %three = arith.constant 3 : i8
    %one = arith.constant 1 : i8
    %r = arith.remui %v, %three : i8
    %s = arith.subi %r, %one : i8
    nd.yield %s : i8
  }
  %b = nd.pointwise %y : (!i8_a) -> !i8_a {
  ^bb0(%v: i8):
    %m = arith.constant 16 : i8
    %r = arith.andi %v, %m : i8
    nd.yield %r : i8
  }
  %l = nd.pointwise %x, %y : (!i8_a, !i8_a) -> !i8_a {
  ^bb0(%v: i8, %z: i8):
    %one = arith.constant 1 : i8
    %zero = arith.constant 0 : i8
    %least = arith.constant -128 : i8
    %k = arith.andi %v, %one : i8
    %c = arith.cmpi eq, %k, %zero : i8
    %r = arith.select %c, %least, %v : i8
    nd.yield %r : i8
  }
  %0 = nd.pointwise %l, %d : (!i8_a, !i8_a) -> !i8_a {
  ^bb0(%v: i8, %z: i8):
    %r = arith.divsi %v, %z : i8
    nd.yield %r : i8
  }
  %1 = nd.pointwise %l, %d : (!i8_a, !i8_a) -> !i8_a {
  ^bb0(%v: i8, %z: i8):
    %r = arith.remsi %v, %z : i8
    nd.yield %r : i8
  }
  %2 = nd.pointwise %l, %b : (!i8_a, !i8_a) -> !i8_a {
  ^bb0(%v: i8, %z: i8):
    %r = arith.shli %v, %z : i8
    nd.yield %r : i8
  }
  %3 = nd.pointwise %l, %b : (!i8_a, !i8_a) -> !i8_a {
  ^bb0(%v: i8, %z: i8):
    %r = arith.shrsi %v, %z : i8
    nd.yield %r : i8
  }
  return %0, %1, %2, %3 : !i8_a, !i8_a, !i8_a, !i8_a
}
func.func @i32(%x: !i32_a, %y: !i32_a) -> (!i32_a, !i32_a, !i32_a, !i32_a) {
  // Few divisors, the least number now and then.
  %d = nd.pointwise %y : (!i32_a) -> !i32_a {
  ^bb0(%v: i32):
    %three = arith.constant 3 : i32
    %one = arith.constant 1 : i32
    %r = arith.remui %v, %three : i32
    %s = arith.subi %r, %one : i32
    nd.yield %s : i32
  }
  %b = nd.pointwise %y : (!i32_a) -> !i32_a {
  ^bb0(%v: i32):
    %m = arith.constant 64 : i32
    %r = arith.andi %v, %m : i32
    nd.yield %r : i32
  }
  %l = nd.pointwise %x, %y : (!i32_a, !i32_a) -> !i32_a {
  ^bb0(%v: i32, %z: i32):
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %least = arith.constant -2147483648 : i32
    %k = arith.andi %v, %one : i32
    %c = arith.cmpi eq, %k, %zero : i32
    %r = arith.select %c, %least, %v : i32
    nd.yield %r : i32
  }
  %0 = nd.pointwise %l, %d : (!i32_a, !i32_a) -> !i32_a {
  ^bb0(%v: i32, %z: i32):
    %r = arith.divsi %v, %z : i32
    nd.yield %r : i32
  }
  %1 = nd.pointwise %l, %d : (!i32_a, !i32_a) -> !i32_a {
  ^bb0(%v: i32, %z: i32):
    %r = arith.remsi %v, %z : i32
    nd.yield %r : i32
  }
  %2 = nd.pointwise %l, %b : (!i32_a, !i32_a) -> !i32_a {
  ^bb0(%v: i32, %z: i32):
    %r = arith.shli %v, %z : i32
    nd.yield %r : i32
  }
  %3 = nd.pointwise %l, %b : (!i32_a, !i32_a) -> !i32_a {
  ^bb0(%v: i32, %z: i32):
    %r = arith.shrsi %v, %z : i32
    nd.yield %r : i32
  }
  return %0, %1, %2, %3 : !i32_a, !i32_a, !i32_a, !i32_a
}
func.func @i64(%x: !i64_a, %y: !i64_a) -> (!i64_a, !i64_a, !i64_a, !i64_a) {
  // Few divisors, the least number now and then.
  %d = nd.pointwise %y : (!i64_a) -> !i64_a {
  ^bb0(%v: i64):
    %three = arith.constant 3 : i64
    %one = arith.constant 1 : i64
    %r = arith.remui %v, %three : i64
    %s = arith.subi %r, %one : i64
    nd.yield %s : i64
  }
  %b = nd.pointwise %y : (!i64_a) -> !i64_a {
  ^bb0(%v: i64):
    %m = arith.constant 127 : i64
    %r = arith.andi %v, %m : i64
    nd.yield %r : i64
  }
  %l = nd.pointwise %x, %y : (!i64_a, !i64_a) -> !i64_a {
  ^bb0(%v: i64, %z: i64):
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i64
    %least = arith.constant -9223372036854775808 : i64
    %k = arith.andi %v, %one : i64
    %c = arith.cmpi eq, %k, %zero : i64
    %r = arith.select %c, %least, %v : i64
    nd.yield %r : i64
  }
  %0 = nd.pointwise %l, %d : (!i64_a, !i64_a) -> !i64_a {
  ^bb0(%v: i64, %z: i64):
    %r = arith.divsi %v, %z : i64
    nd.yield %r : i64
  }
  %1 = nd.pointwise %l, %d : (!i64_a, !i64_a) -> !i64_a {
  ^bb0(%v: i64, %z: i64):
    %r = arith.remsi %v, %z : i64
    nd.yield %r : i64
  }
  %2 = nd.pointwise %l, %b : (!i64_a, !i64_a) -> !i64_a {
  ^bb0(%v: i64, %z: i64):
    %r = arith.shli %v, %z : i64
    nd.yield %r : i64
  }
  %3 = nd.pointwise %l, %b : (!i64_a, !i64_a) -> !i64_a {
  ^bb0(%v: i64, %z: i64):
    %r = arith.shrsi %v, %z : i64
    nd.yield %r : i64
  }
  return %0, %1, %2, %3 : !i64_a, !i64_a, !i64_a, !i64_a
}
func.func @ui8(%x: !ui8_a, %y: !ui8_a) -> (!ui8_a, !ui8_a, !ui8_a, !ui8_a) {
  // Few divisors, the least number now and then.
  %d = nd.pointwise %y : (!ui8_a) -> !ui8_a {
  ^bb0(%v: i8):
    %three = arith.constant 3 : i8
    %one = arith.constant 1 : i8
    %r = arith.remui %v, %three : i8
    %s = arith.subi %r, %one : i8
    nd.yield %s : i8
  }
  %b = nd.pointwise %y : (!ui8_a) -> !ui8_a {
  ^bb0(%v: i8):
    %m = arith.constant 16 : i8
    %r = arith.andi %v, %m : i8
    nd.yield %r : i8
  }
  %l = nd.pointwise %x, %y : (!ui8_a, !ui8_a) -> !ui8_a {
  ^bb0(%v: i8, %z: i8):
    %one = arith.constant 1 : i8
    %zero = arith.constant 0 : i8
    %least = arith.constant -128 : i8
    %k = arith.andi %v, %one : i8
    %c = arith.cmpi eq, %k, %zero : i8
    %r = arith.select %c, %least, %v : i8
    nd.yield %r : i8
  }
  %0 = nd.pointwise %l, %d : (!ui8_a, !ui8_a) -> !ui8_a {
  ^bb0(%v: i8, %z: i8):
    %r = arith.divui %v, %z : i8
    nd.yield %r : i8
  }
  %1 = nd.pointwise %l, %d : (!ui8_a, !ui8_a) -> !ui8_a {
  ^bb0(%v: i8, %z: i8):
    %r = arith.remui %v, %z : i8
    nd.yield %r : i8
  }
  %2 = nd.pointwise %l, %b : (!ui8_a, !ui8_a) -> !ui8_a {
  ^bb0(%v: i8, %z: i8):
    %r = arith.shli %v, %z : i8
    nd.yield %r : i8
  }
  %3 = nd.pointwise %l, %b : (!ui8_a, !ui8_a) -> !ui8_a {
  ^bb0(%v: i8, %z: i8):
    %r = arith.shrui %v, %z : i8
    nd.yield %r : i8
  }
  return %0, %1, %2, %3 : !ui8_a, !ui8_a, !ui8_a, !ui8_a
}
func.func @ui32(%x: !ui32_a, %y: !ui32_a) -> (!ui32_a, !ui32_a, !ui32_a, !ui32_a) {
  // Few divisors, the least number now and then.
  %d = nd.pointwise %y : (!ui32_a) -> !ui32_a {
  ^bb0(%v: i32):
    %three = arith.constant 3 : i32
    %one = arith.constant 1 : i32
    %r = arith.remui %v, %three : i32
    %s = arith.subi %r, %one : i32
    nd.yield %s : i32
  }
  %b = nd.pointwise %y : (!ui32_a) -> !ui32_a {
  ^bb0(%v: i32):
    %m = arith.constant 64 : i32
    %r = arith.andi %v, %m : i32
    nd.yield %r : i32
  }
  %l = nd.pointwise %x, %y : (!ui32_a, !ui32_a) -> !ui32_a {
  ^bb0(%v: i32, %z: i32):
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %least = arith.constant -2147483648 : i32
    %k = arith.andi %v, %one : i32
    %c = arith.cmpi eq, %k, %zero : i32
    %r = arith.select %c, %least, %v : i32
    nd.yield %r : i32
  }
  %0 = nd.pointwise %l, %d : (!ui32_a, !ui32_a) -> !ui32_a {
  ^bb0(%v: i32, %z: i32):
    %r = arith.divui %v, %z : i32
    nd.yield %r : i32
  }
  %1 = nd.pointwise %l, %d : (!ui32_a, !ui32_a) -> !ui32_a {
  ^bb0(%v: i32, %z: i32):
    %r = arith.remui %v, %z : i32
    nd.yield %r : i32
  }
  %2 = nd.pointwise %l, %b : (!ui32_a, !ui32_a) -> !ui32_a {
  ^bb0(%v: i32, %z: i32):
    %r = arith.shli %v, %z : i32
    nd.yield %r : i32
  }
  %3 = nd.pointwise %l, %b : (!ui32_a, !ui32_a) -> !ui32_a {
  ^bb0(%v: i32, %z: i32):
    %r = arith.shrui %v, %z : i32
    nd.yield %r : i32
  }
  return %0, %1, %2, %3 : !ui32_a, !ui32_a, !ui32_a, !ui32_a
}
func.func @ui64(%x: !ui64_a, %y: !ui64_a) -> (!ui64_a, !ui64_a, !ui64_a, !ui64_a) {
  // Few divisors, the least number now and then.
  %d = nd.pointwise %y : (!ui64_a) -> !ui64_a {
  ^bb0(%v: i64):
    %three = arith.constant 3 : i64
    %one = arith.constant 1 : i64
    %r = arith.remui %v, %three : i64
    %s = arith.subi %r, %one : i64
    nd.yield %s : i64
  }
  %b = nd.pointwise %y : (!ui64_a) -> !ui64_a {
  ^bb0(%v: i64):
    %m = arith.constant 127 : i64
    %r = arith.andi %v, %m : i64
    nd.yield %r : i64
  }
  %l = nd.pointwise %x, %y : (!ui64_a, !ui64_a) -> !ui64_a {
  ^bb0(%v: i64, %z: i64):
    %one = arith.constant 1 : i64
    %zero = arith.constant 0 : i64
    %least = arith.constant -9223372036854775808 : i64
    %k = arith.andi %v, %one : i64
    %c = arith.cmpi eq, %k, %zero : i64
    %r = arith.select %c, %least, %v : i64
    nd.yield %r : i64
  }
  %0 = nd.pointwise %l, %d : (!ui64_a, !ui64_a) -> !ui64_a {
  ^bb0(%v: i64, %z: i64):
    %r = arith.divui %v, %z : i64
    nd.yield %r : i64
  }
  %1 = nd.pointwise %l, %d : (!ui64_a, !ui64_a) -> !ui64_a {
  ^bb0(%v: i64, %z: i64):
    %r = arith.remui %v, %z : i64
    nd.yield %r : i64
  }
  %2 = nd.pointwise %l, %b : (!ui64_a, !ui64_a) -> !ui64_a {
  ^bb0(%v: i64, %z: i64):
    %r = arith.shli %v, %z : i64
    nd.yield %r : i64
  }
  %3 = nd.pointwise %l, %b : (!ui64_a, !ui64_a) -> !ui64_a {
  ^bb0(%v: i64, %z: i64):
    %r = arith.shrui %v, %z : i64
    nd.yield %r : i64
  }
  return %0, %1, %2, %3 : !ui64_a, !ui64_a, !ui64_a, !ui64_a
}
