// Passes see neutral names and kernels have labels; their messages name dimensions as the user does.
// RUN: rm -rf %t && split-file %s %t
// RUN: not heddlec %t/place.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: place.mlir:2:8: error: 'x' is updated in place, so its layout can't be [row, column] before and [column, row] after
// RUN: not heddlec %t/window.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=WINDOW
// WINDOW: window.mlir:10:8: error: {{.*}}excludes taps along 'row': expected that only a reduction over 'tap' reads it
// RUN: not heddlec %t/schedule.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: schedule.mlir:2:8: error: 'nest.compute' op the names 'row' and 'column' are merged, of which one is produced and one reduced

//--- place.mlir
func.func @f(%x: !nd.tensor<f32, row: 4, column: 5> {nd.name = "x", heddle.donate = 0 : i64, nd.layout = #nest.layout<[row, column]>}) -> (!nd.tensor<f32, row: 4, column: 5> {nd.layout = #nest.layout<[column, row]>}) {
  %y = nd.pointwise %x : (!nd.tensor<f32, row: 4, column: 5>) -> !nd.tensor<f32, row: 4, column: 5> {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    nd.yield %b : f32
  }
  return %y : !nd.tensor<f32, row: 4, column: 5>
}
//--- window.mlir
// Of two functions, each has names of its own.
func.func @good(%a: !nd.tensor<f32, a: 4> {nd.name = "a"}) -> !nd.tensor<f32, a: 4> {
  %y = nd.pointwise %a : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4> {
  ^bb0(%b: f32):
    nd.yield %b : f32
  }
  return %y : !nd.tensor<f32, a: 4>
}
func.func @f(%x: !nd.tensor<f32, row: 4, column: 5> {nd.name = "x"}) -> !nd.tensor<f32, row: 4, column: 5, tap: 3> {
  %y = nd.window %x row -> tap size 3 stride 1 pad 1, 1 exclude : !nd.tensor<f32, row: 4, column: 5> -> !nd.tensor<f32, row: 4, column: 5, tap: 3>
  return %y : !nd.tensor<f32, row: 4, column: 5, tap: 3>
}
//--- schedule.mlir
func.func @f(%x: !nd.tensor<f32, row: 4, column: 5> {nd.name = "x"}) -> !nd.tensor<f32, row: 4> {
  %y = nest.compute (row: 4) reduce (column: 5) reads %x[] {
  ^bb0(%a: f32):
    nest.yield %a : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[register (row, column) by 4, vector (row, column) by 1]>} : (!nd.tensor<f32, row: 4, column: 5>) -> !nd.tensor<f32, row: 4>
  return %y : !nd.tensor<f32, row: 4>
}

