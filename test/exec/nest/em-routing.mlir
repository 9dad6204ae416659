// Capsules routed by expectation maximisation (Hinton, Sabour, Frosst: Matrix capsules with EM routing, ICLR 2018),
// as one group over batch, row and column: votes, means, variances and assignments stay local to one point of the output.
// RUN: heddle-run %s --compare
// RUN: heddle-run %s --compare --products bf16

!co_i_j = !nd.tensor<f32, co: 4, i: 2, j: 2>
!ci_co_kx_ky = !nd.tensor<f32, ci: 3, co: 4, kx: 3, ky: 3>
!ci_kx_ky = !nd.tensor<f32, ci: 3, kx: 3, ky: 3>
!ci_co_i_j_kx_ky = !nd.tensor<f32, ci: 3, co: 4, i: 2, j: 2, kx: 3, ky: 3>
!ci_column_n_row = !nd.tensor<f32, ci: 3, column: 5, n: 2, row: 5>
!co = !nd.tensor<f32, co: 4>

module {
  func.func @em_routing(%arg0: !nd.tensor<f32, ci: 3, column: 5, i: 2, k: 2, n: 2, row: 5> {nd.name = "pose"}, %arg1: !ci_column_n_row {nd.name = "activation"}, %arg2: !nd.tensor<f32, ci: 3, co: 4, j: 2, k: 2, kx: 3, ky: 3> {nd.name = "weight"}, %arg3: !co {nd.name = "beta_u"}, %arg4: !co {nd.name = "beta_a"}) -> (!nd.tensor<f32, co: 4, column: 2, i: 2, j: 2, n: 2, row: 2> {nd.name = "pose"}, !nd.tensor<f32, co: 4, column: 2, n: 2, row: 2> {nd.name = "activation"}) {
    %0 = nest.compute (ci: 3, column: 5, n: 2, row: 5) reads %arg1[] {
    ^bb0(%arg5: f32):
      %2 = arith.mulf %arg5, %arg5 : f32
      %cst = arith.constant 1.250000e-01 : f32
      %3 = arith.addf %2, %cst : f32
      nest.yield %3 : f32
    } {heddle.materialize} : (!ci_column_n_row) -> !ci_column_n_row
    %1:2 = nest.group (column: 2, n: 2, row: 2) {
      %2 = nest.compute (ci: 3, co: 4, i: 2, j: 2, kx: 3, ky: 3) reduce (k: 2) reads %arg0[column = 2 * column + kx, row = ky + 2 * row], %arg2[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.mulf %arg5, %arg6 : f32
        nest.yield %23 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "votes"} : (!nd.tensor<f32, ci: 3, column: 5, i: 2, k: 2, n: 2, row: 5>, !nd.tensor<f32, ci: 3, co: 4, j: 2, k: 2, kx: 3, ky: 3>) -> !ci_co_i_j_kx_ky
      %3 = nest.compute (co: 4) reduce (ci: 3, kx: 3, ky: 3) reads %0[column = 2 * column + kx, row = ky + 2 * row] {
      ^bb0(%arg5: f32):
        %cst = arith.constant 2.500000e-01 : f32
        %23 = arith.mulf %arg5, %cst : f32
        nest.yield %23 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "sum"} : (!ci_column_n_row) -> !co
      %4 = nest.compute (co: 4, i: 2, j: 2) reduce (ci: 3, kx: 3, ky: 3) reads %0[column = 2 * column + kx, row = ky + 2 * row], %2[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %cst = arith.constant 2.500000e-01 : f32
        %23 = arith.mulf %arg5, %cst : f32
        %24 = arith.mulf %23, %arg6 : f32
        nest.yield %24 : f32
      } combine add [0.000000e+00 : f32] finish reads %3[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.divf %arg5, %arg6 : f32
        nest.yield %23 : f32
      } {heddle.name = "mean"} : (!ci_column_n_row, !ci_co_i_j_kx_ky, !co) -> !co_i_j
      %5 = nest.compute (co: 4, i: 2, j: 2) reduce (ci: 3, kx: 3, ky: 3) reads %0[column = 2 * column + kx, row = ky + 2 * row], %2[], %4[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %cst = arith.constant 2.500000e-01 : f32
        %23 = arith.mulf %arg5, %cst : f32
        %24 = arith.subf %arg6, %arg7 : f32
        %25 = arith.mulf %24, %24 : f32
        %26 = arith.mulf %23, %25 : f32
        nest.yield %26 : f32
      } combine add [0.000000e+00 : f32] finish reads %3[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.divf %arg5, %arg6 : f32
        %cst = arith.constant 9.99999974E-5 : f32
        %24 = arith.addf %23, %cst : f32
        nest.yield %24 : f32
      } {heddle.name = "variance"} : (!ci_column_n_row, !ci_co_i_j_kx_ky, !co_i_j, !co) -> !co_i_j
      %6 = nest.compute (co: 4) reduce (i: 2, j: 2) reads %5[] {
      ^bb0(%arg5: f32):
        %23 = math.log %arg5 : f32
        %cst = arith.constant 5.000000e-01 : f32
        %24 = arith.mulf %23, %cst : f32
        nest.yield %24 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "logsigma"} : (!co_i_j) -> !co
      %7 = nest.compute (ci: 3, co: 4, kx: 3, ky: 3) reduce (i: 2, j: 2) reads %2[], %4[], %5[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %cst = arith.constant 5.000000e-01 : f32
        %23 = arith.divf %cst, %arg7 : f32
        %24 = arith.subf %arg5, %arg6 : f32
        %25 = arith.mulf %24, %24 : f32
        %26 = arith.mulf %25, %23 : f32
        nest.yield %26 : f32
      } combine add [0.000000e+00 : f32] finish reads %6[], %3[], %arg3[], %arg4[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32):
        %cst = arith.constant 4.000000e+00 : f32
        %23 = arith.mulf %arg8, %cst : f32
        %24 = arith.addf %23, %arg6 : f32
        %25 = arith.mulf %24, %arg7 : f32
        %26 = arith.subf %arg9, %25 : f32
        %cst_0 = arith.constant 5.000000e-04 : f32
        %27 = arith.mulf %26, %cst_0 : f32
        %28 = arith.negf %27 : f32
        %29 = math.exp %28 : f32
        %cst_1 = arith.constant 1.000000e+00 : f32
        %30 = arith.addf %cst_1, %29 : f32
        %31 = arith.divf %cst_1, %30 : f32
        %32 = math.log %31 : f32
        %33 = arith.subf %32, %arg6 : f32
        %34 = arith.subf %33, %arg5 : f32
        nest.yield %34 : f32
      } {heddle.name = "distance"} : (!ci_co_i_j_kx_ky, !co_i_j, !co_i_j, !co, !co, !co, !co) -> !ci_co_kx_ky
      %8 = nest.compute (ci: 3, kx: 3, ky: 3) reduce (co: 4) reads %7[] {
      ^bb0(%arg5: f32):
        nest.yield %arg5 : f32
      } combine max [0xFF800000 : f32] {heddle.name = "maximum"} : (!ci_co_kx_ky) -> !ci_kx_ky
      %9 = nest.compute (ci: 3, kx: 3, ky: 3) reduce (co: 4) reads %7[], %8[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.subf %arg5, %arg6 : f32
        %24 = math.exp %23 : f32
        nest.yield %24 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "normaliser"} : (!ci_co_kx_ky, !ci_kx_ky) -> !ci_kx_ky
      %10 = nest.compute (ci: 3, co: 4, kx: 3, ky: 3) reads %7[], %8[], %9[], %0[column = 2 * column + kx, row = ky + 2 * row] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32):
        %23 = arith.subf %arg5, %arg6 : f32
        %24 = math.exp %23 : f32
        %25 = arith.divf %24, %arg7 : f32
        %26 = arith.mulf %arg8, %25 : f32
        nest.yield %26 : f32
      } {heddle.name = "routing"} : (!ci_co_kx_ky, !ci_kx_ky, !ci_kx_ky, !ci_column_n_row) -> !ci_co_kx_ky
      %11 = nest.compute (co: 4) reduce (ci: 3, kx: 3, ky: 3) reads %10[] {
      ^bb0(%arg5: f32):
        nest.yield %arg5 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "sum"} : (!ci_co_kx_ky) -> !co
      %12 = nest.compute (co: 4, i: 2, j: 2) reduce (ci: 3, kx: 3, ky: 3) reads %10[], %2[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.mulf %arg5, %arg6 : f32
        nest.yield %23 : f32
      } combine add [0.000000e+00 : f32] finish reads %11[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.divf %arg5, %arg6 : f32
        nest.yield %23 : f32
      } {heddle.name = "mean"} : (!ci_co_kx_ky, !ci_co_i_j_kx_ky, !co) -> !co_i_j
      %13 = nest.compute (co: 4, i: 2, j: 2) reduce (ci: 3, kx: 3, ky: 3) reads %10[], %2[], %12[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %23 = arith.subf %arg6, %arg7 : f32
        %24 = arith.mulf %23, %23 : f32
        %25 = arith.mulf %arg5, %24 : f32
        nest.yield %25 : f32
      } combine add [0.000000e+00 : f32] finish reads %11[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.divf %arg5, %arg6 : f32
        %cst = arith.constant 9.99999974E-5 : f32
        %24 = arith.addf %23, %cst : f32
        nest.yield %24 : f32
      } {heddle.name = "variance"} : (!ci_co_kx_ky, !ci_co_i_j_kx_ky, !co_i_j, !co) -> !co_i_j
      %14 = nest.compute (co: 4) reduce (i: 2, j: 2) reads %13[] {
      ^bb0(%arg5: f32):
        %23 = math.log %arg5 : f32
        %cst = arith.constant 5.000000e-01 : f32
        %24 = arith.mulf %23, %cst : f32
        nest.yield %24 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "logsigma"} : (!co_i_j) -> !co
      %15 = nest.compute (ci: 3, co: 4, kx: 3, ky: 3) reduce (i: 2, j: 2) reads %2[], %12[], %13[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %cst = arith.constant 5.000000e-01 : f32
        %23 = arith.divf %cst, %arg7 : f32
        %24 = arith.subf %arg5, %arg6 : f32
        %25 = arith.mulf %24, %24 : f32
        %26 = arith.mulf %25, %23 : f32
        nest.yield %26 : f32
      } combine add [0.000000e+00 : f32] finish reads %14[], %11[], %arg3[], %arg4[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32, %arg9: f32):
        %cst = arith.constant 4.000000e+00 : f32
        %23 = arith.mulf %arg8, %cst : f32
        %24 = arith.addf %23, %arg6 : f32
        %25 = arith.mulf %24, %arg7 : f32
        %26 = arith.subf %arg9, %25 : f32
        %cst_0 = arith.constant 9.74999973E-4 : f32
        %27 = arith.mulf %26, %cst_0 : f32
        %28 = arith.negf %27 : f32
        %29 = math.exp %28 : f32
        %cst_1 = arith.constant 1.000000e+00 : f32
        %30 = arith.addf %cst_1, %29 : f32
        %31 = arith.divf %cst_1, %30 : f32
        %32 = math.log %31 : f32
        %33 = arith.subf %32, %arg6 : f32
        %34 = arith.subf %33, %arg5 : f32
        nest.yield %34 : f32
      } {heddle.name = "distance"} : (!ci_co_i_j_kx_ky, !co_i_j, !co_i_j, !co, !co, !co, !co) -> !ci_co_kx_ky
      %16 = nest.compute (ci: 3, kx: 3, ky: 3) reduce (co: 4) reads %15[] {
      ^bb0(%arg5: f32):
        nest.yield %arg5 : f32
      } combine max [0xFF800000 : f32] {heddle.name = "maximum"} : (!ci_co_kx_ky) -> !ci_kx_ky
      %17 = nest.compute (ci: 3, kx: 3, ky: 3) reduce (co: 4) reads %15[], %16[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.subf %arg5, %arg6 : f32
        %24 = math.exp %23 : f32
        nest.yield %24 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "normaliser"} : (!ci_co_kx_ky, !ci_kx_ky) -> !ci_kx_ky
      %18 = nest.compute (ci: 3, co: 4, kx: 3, ky: 3) reads %15[], %16[], %17[], %0[column = 2 * column + kx, row = ky + 2 * row] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32):
        %23 = arith.subf %arg5, %arg6 : f32
        %24 = math.exp %23 : f32
        %25 = arith.divf %24, %arg7 : f32
        %26 = arith.mulf %arg8, %25 : f32
        nest.yield %26 : f32
      } {heddle.name = "routing"} : (!ci_co_kx_ky, !ci_kx_ky, !ci_kx_ky, !ci_column_n_row) -> !ci_co_kx_ky
      %19 = nest.compute (co: 4) reduce (ci: 3, kx: 3, ky: 3) reads %18[] {
      ^bb0(%arg5: f32):
        nest.yield %arg5 : f32
      } combine add [0.000000e+00 : f32] {heddle.name = "sum"} : (!ci_co_kx_ky) -> !co
      %20 = nest.compute (co: 4, i: 2, j: 2) reduce (ci: 3, kx: 3, ky: 3) reads %18[], %2[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.mulf %arg5, %arg6 : f32
        nest.yield %23 : f32
      } combine add [0.000000e+00 : f32] finish reads %19[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.divf %arg5, %arg6 : f32
        nest.yield %23 : f32
      } {heddle.name = "mean"} : (!ci_co_kx_ky, !ci_co_i_j_kx_ky, !co) -> !co_i_j
      %21 = nest.compute (co: 4, i: 2, j: 2) reduce (ci: 3, kx: 3, ky: 3) reads %18[], %2[], %20[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
        %23 = arith.subf %arg6, %arg7 : f32
        %24 = arith.mulf %23, %23 : f32
        %25 = arith.mulf %arg5, %24 : f32
        nest.yield %25 : f32
      } combine add [0.000000e+00 : f32] finish reads %19[] {
      ^bb0(%arg5: f32, %arg6: f32):
        %23 = arith.divf %arg5, %arg6 : f32
        %cst = arith.constant 9.99999974E-5 : f32
        %24 = arith.addf %23, %cst : f32
        nest.yield %24 : f32
      } {heddle.name = "variance"} : (!ci_co_kx_ky, !ci_co_i_j_kx_ky, !co_i_j, !co) -> !co_i_j
      %22 = nest.compute (co: 4) reduce (i: 2, j: 2) reads %21[] {
      ^bb0(%arg5: f32):
        %23 = math.log %arg5 : f32
        %cst = arith.constant 5.000000e-01 : f32
        %24 = arith.mulf %23, %cst : f32
        nest.yield %24 : f32
      } combine add [0.000000e+00 : f32] finish reads %19[], %arg3[], %arg4[] {
      ^bb0(%arg5: f32, %arg6: f32, %arg7: f32, %arg8: f32):
        %cst = arith.constant 4.000000e+00 : f32
        %23 = arith.mulf %arg7, %cst : f32
        %24 = arith.addf %23, %arg5 : f32
        %25 = arith.mulf %24, %arg6 : f32
        %26 = arith.subf %arg8, %25 : f32
        %cst_0 = arith.constant 1.426250e-03 : f32
        %27 = arith.mulf %26, %cst_0 : f32
        %28 = arith.negf %27 : f32
        %29 = math.exp %28 : f32
        %cst_1 = arith.constant 1.000000e+00 : f32
        %30 = arith.addf %cst_1, %29 : f32
        %31 = arith.divf %cst_1, %30 : f32
        nest.yield %31 : f32
      } {heddle.name = "logsigma"} : (!co_i_j, !co, !co, !co) -> !co
      nest.yield %20, %22 : !co_i_j, !co
    } {heddle.name = "group"} : !nd.tensor<f32, co: 4, column: 2, i: 2, j: 2, n: 2, row: 2>, !nd.tensor<f32, co: 4, column: 2, n: 2, row: 2>
    return %1#0, %1#1 : !nd.tensor<f32, co: 4, column: 2, i: 2, j: 2, n: 2, row: 2>, !nd.tensor<f32, co: 4, column: 2, n: 2, row: 2>
  }
}

