// Capsules routed by expectation maximisation (Hinton, Sabour, Frosst: Matrix capsules with EM routing, ICLR 2018):
// 8 images, 15x15 places of 32 capsules to 7x7 of 32 by 3x3 windows, 4x4 poses, three iterations. One group over batch, row and
// column: only poses and activations are stored in memory as a whole. Nests within were fused by nest-fuse, the group by nest-form-groups.

module {
  func.func @em_routing(%arg0: !nd.tensor<f32, ci: 32, column: 15, i: 4, k: 4, n: 8, row: 15> {nd.name = "pose"}, %arg1: !nd.tensor<f32, ci: 32, column: 15, n: 8, row: 15> {nd.name = "activation"}, %arg2: !nd.tensor<f32, ci: 32, co: 32, j: 4, k: 4, kx: 3, ky: 3> {nd.name = "weight"}, %arg3: !nd.tensor<f32, co: 32> {nd.name = "beta_u"}, %arg4: !nd.tensor<f32, co: 32> {nd.name = "beta_a"}) -> (!nd.tensor<f32, co: 32, column: 7, i: 4, j: 4, n: 8, row: 7> {nd.name = "pose"}, !nd.tensor<f32, co: 32, column: 7, n: 8, row: 7> {nd.name = "activation"}) {
    %0:2 = nest.group (column: 7, n: 8, row: 7) {
      %1 = nest.compute (ci: 32, co: 32, i: 4, j: 4, kx: 3, ky: 3) reduce (k: 4) reads %arg0[column = 2 * column + kx, row = ky + 2 * row], %arg2[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.mulf %arg5, %arg6 : f32
        nest.yield %24 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "votes"} : (!nd.tensor<f32, ci: 32, column: 15, i: 4, k: 4, n: 8, row: 15>, !nd.tensor<f32, ci: 32, co: 32, j: 4, k: 4, kx: 3, ky: 3>) -> !nd.tensor<f32, ci: 32, co: 32, i: 4, j: 4, kx: 3, ky: 3>
      %2 = nest.compute (co: 32) reduce (ci: 32, kx: 3, ky: 3) reads %arg1[column = 2 * column + kx, row = ky + 2 * row] {
      ^bb0(%arg5: f32):
        %cst = arith.constant 3.125000e-02 : f32
        %24 = arith.mulf %arg5, %cst : f32
        nest.yield %24 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "sum"} : (!nd.tensor<f32, ci: 32, column: 15, n: 8, row: 15>) -> !nd.tensor<f32, co: 32>
      %3 = nest.compute (co: 32, i: 4, j: 4) reduce (ci: 32, kx: 3, ky: 3) reads %arg1[column = 2 * column + kx, row = ky + 2 * row], %1[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %cst = arith.constant 3.125000e-02 : f32
        %24 = arith.mulf %arg5, %cst : f32
        %25 = arith.mulf %24, %arg6 : f32
        nest.yield %25 : f32
      } combine add [0.000000e+00 : f32] finish reads %2[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.divf %arg5, %arg6 : f32
        nest.yield %24 : f32
      } {heddle.name = "mean"} : (!nd.tensor<f32, ci: 32, column: 15, n: 8, row: 15>, !nd.tensor<f32, ci: 32, co: 32, i: 4, j: 4, kx: 3, ky: 3>, !nd.tensor<f32, co: 32>) -> !nd.tensor<f32, co: 32, i: 4, j: 4>
      %4:2 = nest.compute (co: 32, i: 4, j: 4) reduce (ci: 32, kx: 3, ky: 3) reads %arg1[column = 2 * column + kx, row = ky + 2 * row], %1[], %3[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %cst = arith.constant 3.125000e-02 : f32
        %24 = arith.mulf %arg5, %cst : f32
        %25 = arith.subf %arg6, %arg7 : f32
        %26 = arith.mulf %25, %25 : f32
        %27 = arith.mulf %24, %26 : f32
        nest.yield %27 : f32
      } combine add [0.000000e+00 : f32] finish reads %2[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.divf %arg5, %arg6 : f32
        %cst = arith.constant 9.99999974E-5 : f32
        %25 = arith.addf %24, %cst : f32
        %cst_0 = arith.constant 5.000000e-01 : f32
        %26 = arith.divf %cst_0, %25 : f32
        nest.yield %25, %26 : f32, f32
      } {heddle.name = "variance"} : (!nd.tensor<f32, ci: 32, column: 15, n: 8, row: 15>, !nd.tensor<f32, ci: 32, co: 32, i: 4, j: 4, kx: 3, ky: 3>, !nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32>) -> (!nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32, i: 4, j: 4>)
      %5 = nest.compute (co: 32) reduce (i: 4, j: 4) reads %4#0[] {
      ^bb0(%arg5: f32):
        %24 = math.log %arg5 : f32
        %cst = arith.constant 5.000000e-01 : f32
        %25 = arith.mulf %24, %cst : f32
        nest.yield %25 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "logsigma"} : (!nd.tensor<f32, co: 32, i: 4, j: 4>) -> !nd.tensor<f32, co: 32>
      %6 = nest.compute (ci: 32, co: 32, kx: 3, ky: 3) reduce (i: 4, j: 4) reads %1[], %3[], %4#1[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %24 = arith.subf %arg5, %arg6 : f32
        %25 = arith.mulf %24, %24 : f32
        %26 = arith.mulf %25, %arg7 : f32
        nest.yield %26 : f32
      } combine add [0.000000e+00 : f32] finish reads %5[], %2[], %arg3[], %arg4[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32):
        %cst = arith.constant 1.600000e+01 : f32
        %24 = arith.mulf %arg8, %cst : f32
        %25 = arith.addf %24, %arg6 : f32
        %26 = arith.mulf %25, %arg7 : f32
        %27 = arith.subf %arg9, %26 : f32
        %cst_0 = arith.constant 5.000000e-04 : f32
        %28 = arith.mulf %27, %cst_0 : f32
        %29 = arith.negf %28 : f32
        %30 = math.exp %29 : f32
        %cst_1 = arith.constant 1.000000e+00 : f32
        %31 = arith.addf %cst_1, %30 : f32
        %32 = arith.divf %cst_1, %31 : f32
        %33 = math.log %32 : f32
        %34 = arith.subf %33, %arg6 : f32
        %35 = arith.subf %34, %arg5 : f32
        nest.yield %35 : f32
      } {heddle.name = "distance"} : (!nd.tensor<f32, ci: 32, co: 32, i: 4, j: 4, kx: 3, ky: 3>, !nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32>, !nd.tensor<f32, co: 32>, !nd.tensor<f32, co: 32>, !nd.tensor<f32, co: 32>) -> !nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>
      %7 = nest.compute (ci: 32, kx: 3, ky: 3) reduce (co: 32) reads %6[] {
      ^bb0(%arg5: f32):
        nest.yield %arg5 : f32
      } combine max [0xFF800000 : f32] {heddle.name = "maximum"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>) -> !nd.tensor<f32, ci: 32, kx: 3, ky: 3>
      %8 = nest.compute (ci: 32, co: 32, kx: 3, ky: 3) reads %6[], %7[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.subf %arg5, %arg6 : f32
        %25 = math.exp %24 : f32
        nest.yield %25 : f32
      } {heddle.name = "exponentials"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>, !nd.tensor<f32, ci: 32, kx: 3, ky: 3>) -> !nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>
      %9 = nest.compute (ci: 32, kx: 3, ky: 3) reduce (co: 32) reads %8[] {
      ^bb0(%arg5: f32):
        nest.yield %arg5 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "normaliser"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>) -> !nd.tensor<f32, ci: 32, kx: 3, ky: 3>
      %10 = nest.compute (ci: 32, co: 32, kx: 3, ky: 3) reads %8[], %9[], %arg1[column = 2 * column + kx, row = ky + 2 * row] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %24 = arith.divf %arg5, %arg6 : f32
        %25 = arith.mulf %arg7, %24 : f32
        nest.yield %25 : f32
      } {heddle.name = "routing"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>, !nd.tensor<f32, ci: 32, kx: 3, ky: 3>, !nd.tensor<f32, ci: 32, column: 15, n: 8, row: 15>) -> !nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>
      %11 = nest.compute (co: 32) reduce (ci: 32, kx: 3, ky: 3) reads %10[] {
      ^bb0(%arg5: f32):
        nest.yield %arg5 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "sum"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>) -> !nd.tensor<f32, co: 32>
      %12 = nest.compute (co: 32, i: 4, j: 4) reduce (ci: 32, kx: 3, ky: 3) reads %10[], %1[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.mulf %arg5, %arg6 : f32
        nest.yield %24 : f32
      } combine add [0.000000e+00 : f32] finish reads %11[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.divf %arg5, %arg6 : f32
        nest.yield %24 : f32
      } {heddle.name = "mean"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>, !nd.tensor<f32, ci: 32, co: 32, i: 4, j: 4, kx: 3, ky: 3>, !nd.tensor<f32, co: 32>) -> !nd.tensor<f32, co: 32, i: 4, j: 4>
      %13:2 = nest.compute (co: 32, i: 4, j: 4) reduce (ci: 32, kx: 3, ky: 3) reads %10[], %1[], %12[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %24 = arith.subf %arg6, %arg7 : f32
        %25 = arith.mulf %24, %24 : f32
        %26 = arith.mulf %arg5, %25 : f32
        nest.yield %26 : f32
      } combine add [0.000000e+00 : f32] finish reads %11[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.divf %arg5, %arg6 : f32
        %cst = arith.constant 9.99999974E-5 : f32
        %25 = arith.addf %24, %cst : f32
        %cst_0 = arith.constant 5.000000e-01 : f32
        %26 = arith.divf %cst_0, %25 : f32
        nest.yield %25, %26 : f32, f32
      } {heddle.name = "variance"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>, !nd.tensor<f32, ci: 32, co: 32, i: 4, j: 4, kx: 3, ky: 3>, !nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32>) -> (!nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32, i: 4, j: 4>)
      %14 = nest.compute (co: 32) reduce (i: 4, j: 4) reads %13#0[] {
      ^bb0(%arg5: f32):
        %24 = math.log %arg5 : f32
        %cst = arith.constant 5.000000e-01 : f32
        %25 = arith.mulf %24, %cst : f32
        nest.yield %25 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "logsigma"} : (!nd.tensor<f32, co: 32, i: 4, j: 4>) -> !nd.tensor<f32, co: 32>
      %15 = nest.compute (ci: 32, co: 32, kx: 3, ky: 3) reduce (i: 4, j: 4) reads %1[], %12[], %13#1[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %24 = arith.subf %arg5, %arg6 : f32
        %25 = arith.mulf %24, %24 : f32
        %26 = arith.mulf %25, %arg7 : f32
        nest.yield %26 : f32
      } combine add [0.000000e+00 : f32] finish reads %14[], %11[], %arg3[], %arg4[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32):
        %cst = arith.constant 1.600000e+01 : f32
        %24 = arith.mulf %arg8, %cst : f32
        %25 = arith.addf %24, %arg6 : f32
        %26 = arith.mulf %25, %arg7 : f32
        %27 = arith.subf %arg9, %26 : f32
        %cst_0 = arith.constant 9.74999973E-4 : f32
        %28 = arith.mulf %27, %cst_0 : f32
        %29 = arith.negf %28 : f32
        %30 = math.exp %29 : f32
        %cst_1 = arith.constant 1.000000e+00 : f32
        %31 = arith.addf %cst_1, %30 : f32
        %32 = arith.divf %cst_1, %31 : f32
        %33 = math.log %32 : f32
        %34 = arith.subf %33, %arg6 : f32
        %35 = arith.subf %34, %arg5 : f32
        nest.yield %35 : f32
      } {heddle.name = "distance"} : (!nd.tensor<f32, ci: 32, co: 32, i: 4, j: 4, kx: 3, ky: 3>, !nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32>, !nd.tensor<f32, co: 32>, !nd.tensor<f32, co: 32>, !nd.tensor<f32, co: 32>) -> !nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>
      %16 = nest.compute (ci: 32, kx: 3, ky: 3) reduce (co: 32) reads %15[] {
      ^bb0(%arg5: f32):
        nest.yield %arg5 : f32
      } combine max [0xFF800000 : f32] {heddle.name = "maximum"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>) -> !nd.tensor<f32, ci: 32, kx: 3, ky: 3>
      %17 = nest.compute (ci: 32, co: 32, kx: 3, ky: 3) reads %15[], %16[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.subf %arg5, %arg6 : f32
        %25 = math.exp %24 : f32
        nest.yield %25 : f32
      } {heddle.name = "exponentials"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>, !nd.tensor<f32, ci: 32, kx: 3, ky: 3>) -> !nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>
      %18 = nest.compute (ci: 32, kx: 3, ky: 3) reduce (co: 32) reads %17[] {
      ^bb0(%arg5: f32):
        nest.yield %arg5 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "normaliser"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>) -> !nd.tensor<f32, ci: 32, kx: 3, ky: 3>
      %19 = nest.compute (ci: 32, co: 32, kx: 3, ky: 3) reads %17[], %18[], %arg1[column = 2 * column + kx, row = ky + 2 * row] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %24 = arith.divf %arg5, %arg6 : f32
        %25 = arith.mulf %arg7, %24 : f32
        nest.yield %25 : f32
      } {heddle.name = "routing"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>, !nd.tensor<f32, ci: 32, kx: 3, ky: 3>, !nd.tensor<f32, ci: 32, column: 15, n: 8, row: 15>) -> !nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>
      %20 = nest.compute (co: 32) reduce (ci: 32, kx: 3, ky: 3) reads %19[] {
      ^bb0(%arg5: f32):
        nest.yield %arg5 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "sum"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>) -> !nd.tensor<f32, co: 32>
      %21 = nest.compute (co: 32, i: 4, j: 4) reduce (ci: 32, kx: 3, ky: 3) reads %19[], %1[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.mulf %arg5, %arg6 : f32
        nest.yield %24 : f32
      } combine add [0.000000e+00 : f32] finish reads %20[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.divf %arg5, %arg6 : f32
        nest.yield %24 : f32
      } {heddle.name = "mean"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>, !nd.tensor<f32, ci: 32, co: 32, i: 4, j: 4, kx: 3, ky: 3>, !nd.tensor<f32, co: 32>) -> !nd.tensor<f32, co: 32, i: 4, j: 4>
      %22 = nest.compute (co: 32, i: 4, j: 4) reduce (ci: 32, kx: 3, ky: 3) reads %19[], %1[], %21[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %24 = arith.subf %arg6, %arg7 : f32
        %25 = arith.mulf %24, %24 : f32
        %26 = arith.mulf %arg5, %25 : f32
        nest.yield %26 : f32
      } combine add [0.000000e+00 : f32] finish reads %20[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %24 = arith.divf %arg5, %arg6 : f32
        %cst = arith.constant 9.99999974E-5 : f32
        %25 = arith.addf %24, %cst : f32
        nest.yield %25 : f32
      } {heddle.name = "variance"} : (!nd.tensor<f32, ci: 32, co: 32, kx: 3, ky: 3>, !nd.tensor<f32, ci: 32, co: 32, i: 4, j: 4, kx: 3, ky: 3>, !nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32>) -> !nd.tensor<f32, co: 32, i: 4, j: 4>
      %23 = nest.compute (co: 32) reduce (i: 4, j: 4) reads %22[] {
      ^bb0(%arg5: f32):
        %24 = math.log %arg5 : f32
        %cst = arith.constant 5.000000e-01 : f32
        %25 = arith.mulf %24, %cst : f32
        nest.yield %25 : f32
      } combine add [0.000000e+00 : f32] finish reads %20[], %arg3[], %arg4[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32):
        %cst = arith.constant 1.600000e+01 : f32
        %24 = arith.mulf %arg7, %cst : f32
        %25 = arith.addf %24, %arg5 : f32
        %26 = arith.mulf %25, %arg6 : f32
        %27 = arith.subf %arg8, %26 : f32
        %cst_0 = arith.constant 1.426250e-03 : f32
        %28 = arith.mulf %27, %cst_0 : f32
        %29 = arith.negf %28 : f32
        %30 = math.exp %29 : f32
        %cst_1 = arith.constant 1.000000e+00 : f32
        %31 = arith.addf %cst_1, %30 : f32
        %32 = arith.divf %cst_1, %31 : f32
        nest.yield %32 : f32
      } {heddle.name = "logsigma"} : (!nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32>, !nd.tensor<f32, co: 32>, !nd.tensor<f32, co: 32>) -> !nd.tensor<f32, co: 32>
      nest.yield %21, %23 : !nd.tensor<f32, co: 32, i: 4, j: 4>, !nd.tensor<f32, co: 32>
    } {heddle.name = "group"} : !nd.tensor<f32, co: 32, column: 7, i: 4, j: 4, n: 8, row: 7>, !nd.tensor<f32, co: 32, column: 7, n: 8, row: 7>
    return %0#0, %0#1 : !nd.tensor<f32, co: 32, column: 7, i: 4, j: 4, n: 8, row: 7>, !nd.tensor<f32, co: 32, column: 7, n: 8, row: 7>
  }
}

