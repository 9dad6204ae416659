// Operands are copied in long contiguous pieces: if rows are pages apart, and to find a page takes long, a block of many
// columns is copied at once, not the few of each tile; columns whose distance is not a multiple of a vector are copied too.
// RUN: heddlec %s --emit=nest --row-major --target-cpu skylake-avx512 | FileCheck %s
// RUN: sed 's/page_search_cycles = 30.0/page_search_cycles = 0.0/' %s | heddlec - --emit=nest --row-major --target-cpu skylake-avx512 | FileCheck %s --check-prefix=FREE

module attributes {heddle.machine = #nest.machine<{page_search_cycles = 30.0, stage_cycles = 10.0}>} {
// CHECK-LABEL: @few_rows
// CHECK: schedule = #nest.schedule<[thread column by {{[0-9][0-9][0-9]+}}, loop inner by {{[0-9]+}},
// CHECK-SAME: in #nest.layout<[column floordiv [[W:32|64]], inner, column mod [[W]]]>
// FREE-LABEL: @few_rows
// FREE-NOT: column floordiv
// FREE: func.func @odd
func.func @few_rows(%a: !nd.tensor<f32, inner: 4096, row: 37> {nd.name = "a", nd.layout = #nest.layout<[row, inner]>}, %b: !nd.tensor<f32, column: 4096, inner: 4096> {nd.name = "b", nd.layout = #nest.layout<[inner, column]>}) -> (!nd.tensor<f32, column: 4096, row: 37> {nd.layout = #nest.layout<[row, column]>}) {
  %c = nest.compute (row: 37, column: 4096) reduce (inner: 4096) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, inner: 4096, row: 37>, !nd.tensor<f32, column: 4096, inner: 4096>) -> !nd.tensor<f32, column: 4096, row: 37>
  return %c : !nd.tensor<f32, column: 4096, row: 37>
}

// CHECK-LABEL: @odd
// CHECK: schedule = #nest.schedule<[thread column by
// CHECK-SAME: in #nest.layout<[column floordiv [[P:[0-9]+]], inner, column mod [[P]]]>
func.func @odd(%a: !nd.tensor<f32, inner: 509, row: 513> {nd.name = "a", nd.layout = #nest.layout<[row, inner]>}, %b: !nd.tensor<f32, column: 511, inner: 509> {nd.name = "b", nd.layout = #nest.layout<[inner, column]>}) -> (!nd.tensor<f32, column: 511, row: 513> {nd.layout = #nest.layout<[row, column]>}) {
  %c = nest.compute (row: 513, column: 511) reduce (inner: 509) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, inner: 509, row: 513>, !nd.tensor<f32, column: 511, inner: 509>) -> !nd.tensor<f32, column: 511, row: 513>
  return %c : !nd.tensor<f32, column: 511, row: 513>
}
}
