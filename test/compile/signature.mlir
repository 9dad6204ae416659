// Attributes of arguments and results are checked, and kept.
// RUN: rm -rf %t && split-file %s %t
// RUN: not heddlec %t/argument.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: argument.mlir:1:14: error: the layout of argument 'x' does not fit '!nd.tensor<f32, column: 5, row: 4>': the factors of 'row' do not continue one another
// RUN: not heddlec %t/result.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: result.mlir:1:1: error: the layout of result 1 does not fit '!nd.tensor<f32, column: 5, row: 4>': the layout lacks 'column'
// RESULT: result.mlir:1:14: note: the value with this layout is defined here, with the names {column: 5, row: 4}
// RUN: not heddlec %t/word.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: word.mlir:1:1: error: expected nd.layout of result 0 to be a #nest.layout or "any", got "row-major"
// RUN: not heddlec %t/number.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: number.mlir:1:14: error: expected heddle.donate of argument 0 to be the number of one of the 1 results, got 1 : i64
// RUN: not heddlec %t/type.mlir -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: type.mlir:1:14: error: argument 'x' is donated to result 0, expected both to be '!nd.tensor<f32, row: 4>', got '!nd.tensor<i64, row: 4>'
// TYPE: type.mlir:2:8: note: the result is defined here
// RUN: heddlec %t/kept.mlir -o %t/kept.heddle --dump-dir %t/dump && FileCheck %s --check-prefix=KEPT < %t/dump/3-scheduled.mlir
// KEPT: nd.layout = #nest.layout<[column, row]>{{.*}} -> ({{.*}}#nest.layout<[column, row]>}, {{.*}}#nest.layout<[row, column]>}, {{.*}}#nest.layout<[column, row]>})

//--- argument.mlir
func.func @f(%x: !nd.tensor<f32, row: 4, column: 5> {nd.name = "x", nd.layout = #nest.layout<[row floordiv 2, row mod 4, column]>}) -> !nd.tensor<f32, row: 4, column: 5> {
  return %x : !nd.tensor<f32, row: 4, column: 5>
}
//--- result.mlir
func.func @f(%x: !nd.tensor<f32, row: 4, column: 5>) -> (!nd.tensor<f32, row: 4, column: 5>, !nd.tensor<f32, row: 4, column: 5> {nd.layout = #nest.layout<[row]>}) {
  return %x, %x : !nd.tensor<f32, row: 4, column: 5>, !nd.tensor<f32, row: 4, column: 5>
}
//--- word.mlir
func.func @f(%x: !nd.tensor<f32, row: 4>) -> (!nd.tensor<f32, row: 4> {nd.layout = "row-major"}) {
  return %x : !nd.tensor<f32, row: 4>
}
//--- number.mlir
func.func @f(%x: !nd.tensor<f32, row: 4> {heddle.donate = 1 : i64}) -> !nd.tensor<f32, row: 4> {
  return %x : !nd.tensor<f32, row: 4>
}
//--- type.mlir
func.func @f(%x: !nd.tensor<f32, row: 4> {nd.name = "x", heddle.donate = 0 : i64}) -> !nd.tensor<i64, row: 4> {
  %y = nd.pointwise %x : (!nd.tensor<f32, row: 4>) -> !nd.tensor<i64, row: 4> {
  ^bb0(%a: f32):
    %b = arith.fptosi %a : f32 to i64
    nd.yield %b : i64
  }
  return %y : !nd.tensor<i64, row: 4>
}
//--- kept.mlir
!row_column = !nd.tensor<f32, row: 4, column: 5>

// An argument as a result, and one value as two results.
func.func @f(%x: !row_column {nd.name = "x"}) -> (!row_column {nd.layout = #nest.layout<[column, row]>}, !row_column {nd.layout = #nest.layout<[row, column]>}, !row_column {nd.layout = #nest.layout<[column, row]>}) {
  %y = nd.pointwise %x : (!row_column) -> !row_column {
  ^bb0(%a: f32):
    %b = arith.addf %a, %a : f32
    nd.yield %b : f32
  }
  return %x, %y, %y : !row_column, !row_column, !row_column
}
