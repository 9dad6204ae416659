// docs/pictures/names-to-code.svg, which README shows, says what the compiler does: this is README's function `attend` for 32 x 32
// pixels, 4 heads and 16 features. If this test fails because the compiler chooses otherwise, change scripts/draw-names-to-code.

// RUN: %{source}/scripts/draw-names-to-code | diff %{source}/docs/pictures/names-to-code.svg -
// RUN: heddlec %s --target-cpu skylake-avx512 --emit=nest | FileCheck %s
// RUN: heddlec %s --target-cpu skylake-avx512 --emit=asm | FileCheck %s --check-prefix=CODE

// The scores: what they read, their layout, and the loops.
// CHECK:      nest.compute (column: 32, dx: 7, dy: 7, head: 4, row: 32) reduce (feature: 16)
// CHECK-SAME: reads %arg0[], %arg1[column = column + dx - 3, row = dy + row - 3]
// CHECK:      layouts = [#nest.layout<[head, column, dy, dx, row]>]
// CHECK-SAME: [thread head by 2, thread dx by 2, cache column by 1, cache head by 1, loop feature by 1,
// CHECK-SAME: register dx by 1, register dy by 1, register row by 16, vector row by 1]>

// One of the seven dx is left: 14 sums.
// CODE-COUNT-14:  vfmadd231ps
// CODE-NOT:       vfmadd231ps
// CODE:           vaddps

// Two vectors of the query and 28 sums; the bias is added when they are stored.
// CODE:           vmovaps {{[0-9]*}}({{.*}}), %zmm
// CODE:           vmovaps {{[0-9]*}}({{.*}}), %zmm
// CODE-COUNT-28:  vfmadd231ps
// CODE-NOT:       vfmadd231ps
// CODE:           vaddps
// CODE:           vmovaps %zmm{{[0-9]+}}, (

!image = !nd.tensor<f32, column: 32, feature: 16, head: 4, row: 32>
!rows = !nd.tensor<f32, column: 32, dy: 7, feature: 16, head: 4, row: 32>
!around = !nd.tensor<f32, column: 32, dx: 7, dy: 7, feature: 16, head: 4, row: 32>
!score = !nd.tensor<f32, column: 32, dx: 7, dy: 7, head: 4, row: 32>
!bias = !nd.tensor<f32, dx: 7, dy: 7, head: 4>
!pixel = !nd.tensor<f32, column: 32, head: 4, row: 32>

func.func @attend(%query: !image {nd.name = "argument0"}, %keys: !image {nd.name = "argument1"}, %values: !image {nd.name = "argument2"}, %bias: !bias {nd.name = "argument3"}) -> (!image {nd.name = "result"}) {
  %0 = nd.window %keys row -> dy size 7 pad 3, 3 value 0.000000e+00 : f32 : !image -> !rows
  %1 = nd.window %0 column -> dx size 7 pad 3, 3 value 0.000000e+00 : f32 : !rows -> !around
  %2 = nd.pointwise %query, %1 : (!image, !around) -> !around {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %3 = nd.reduce %2 over [feature] neutral [0.000000e+00 : f32] : (!around) -> !score {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %4 = nd.pointwise %3, %bias : (!score, !bias) -> !score {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %5 = nd.reduce %4 over [dy, dx] neutral [0xFF800000 : f32] : (!score) -> !pixel {
  ^bb0(%a: f32, %b: f32):
    %c = arith.maximumf %a, %b : f32
    nd.yield %c : f32
  }
  %6 = nd.stop_gradient %5 : !pixel
  %7 = nd.pointwise %4, %6 : (!score, !pixel) -> !score {
  ^bb0(%a: f32, %b: f32):
    %c = arith.subf %a, %b : f32
    nd.yield %c : f32
  }
  %8 = nd.pointwise %7 : (!score) -> !score {
  ^bb0(%a: f32):
    %c = math.exp %a : f32
    nd.yield %c : f32
  }
  %9 = nd.reduce %8 over [dy, dx] neutral [0.000000e+00 : f32] : (!score) -> !pixel {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  %10 = nd.pointwise %8, %9 : (!score, !pixel) -> !score {
  ^bb0(%a: f32, %b: f32):
    %c = arith.divf %a, %b : f32
    nd.yield %c : f32
  }
  %11 = nd.window %values row -> dy size 7 pad 3, 3 value 0.000000e+00 : f32 : !image -> !rows
  %12 = nd.window %11 column -> dx size 7 pad 3, 3 value 0.000000e+00 : f32 : !rows -> !around
  %13 = nd.pointwise %10, %12 : (!score, !around) -> !around {
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    nd.yield %c : f32
  }
  %14 = nd.reduce %13 over [dy, dx] neutral [0.000000e+00 : f32] : (!around) -> !image {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    nd.yield %c : f32
  }
  return %14 : !image
}
