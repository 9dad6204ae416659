// Extends one name by a value on both sides and between neighbours.
// RUN: heddle-run %s --compare

func.func @sides() {
  %x = nd.constant dense<[1, 2, 3]> : tensor<3xi32> by [n] : !nd.tensor<i32, n: 3>
  %a = nd.pad %x n low 1 high 2 value 9 : i32 : !nd.tensor<i32, n: 3> -> !nd.tensor<i32, n: 6>
  check.expect_eq_const %a is dense<[9, 1, 2, 3, 9, 9]> : tensor<6xi32> by [n] : !nd.tensor<i32, n: 6>
  %b = nd.pad %x n low 0 high 1 interior 2 value 0 : i32 : !nd.tensor<i32, n: 3> -> !nd.tensor<i32, n: 8>
  check.expect_eq_const %b is dense<[1, 0, 0, 2, 0, 0, 3, 0]> : tensor<8xi32> by [n] : !nd.tensor<i32, n: 8>
  return
}

// Without elements there are no neighbours: only the sides remain.
func.func @empty(%x: !nd.tensor<f32, n: 0>, %y: !nd.tensor<f32, n: 1>) -> (!nd.tensor<f32, n: 5>, !nd.tensor<f32, n: 2>) {
  %0 = nd.pad %x n low 2 high 3 interior 4 value 1.5 : f32 : !nd.tensor<f32, n: 0> -> !nd.tensor<f32, n: 5>
  %1 = nd.pad %y n low 1 high 0 interior 4 value 1.5 : f32 : !nd.tensor<f32, n: 1> -> !nd.tensor<f32, n: 2>
  return %0, %1 : !nd.tensor<f32, n: 5>, !nd.tensor<f32, n: 2>
}

func.func @types(%f: !nd.tensor<f32, a: 13, n: 7>, %h: !nd.tensor<f16, n: 7>, %b: !nd.tensor<ui8, n: 7, z: 3>, %o: !nd.tensor<i1, n: 7>, %d: !nd.tensor<f64, n: 7, z: 1>,
                 %e: !nd.tensor<i64, n: 7, z: 0>)
    -> (!nd.tensor<f32, a: 13, n: 12>, !nd.tensor<f16, n: 13>, !nd.tensor<ui8, n: 8, z: 3>, !nd.tensor<i1, n: 9>, !nd.tensor<f64, n: 21, z: 1>, !nd.tensor<i64, n: 8, z: 0>) {
  %0 = nd.pad %f n low 2 high 3 value 0xFF800000 : f32 : !nd.tensor<f32, a: 13, n: 7> -> !nd.tensor<f32, a: 13, n: 12>
  %1 = nd.pad %h n low 0 high 0 interior 1 value 0.5 : f16 : !nd.tensor<f16, n: 7> -> !nd.tensor<f16, n: 13>
  %2 = nd.pad %b n low 1 high 0 value 200 : i8 : !nd.tensor<ui8, n: 7, z: 3> -> !nd.tensor<ui8, n: 8, z: 3>
  %3 = nd.pad %o n low 1 high 1 value true : !nd.tensor<i1, n: 7> -> !nd.tensor<i1, n: 9>
  %4 = nd.pad %d n low 1 high 1 interior 2 value -1.0 : f64 : !nd.tensor<f64, n: 7, z: 1> -> !nd.tensor<f64, n: 21, z: 1>
  %5 = nd.pad %e n low 1 high 0 value 3 : i64 : !nd.tensor<i64, n: 7, z: 0> -> !nd.tensor<i64, n: 8, z: 0>
  return %0, %1, %2, %3, %4, %5 : !nd.tensor<f32, a: 13, n: 12>, !nd.tensor<f16, n: 13>, !nd.tensor<ui8, n: 8, z: 3>, !nd.tensor<i1, n: 9>,
    !nd.tensor<f64, n: 21, z: 1>, !nd.tensor<i64, n: 8, z: 0>
}
