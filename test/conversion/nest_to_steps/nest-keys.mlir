// The key of a nest with its layouts is the same for all names, machines and programs.
// RUN: heddlec %s --emit=kernels | grep '^// ' > %t.keys
// RUN: FileCheck %s --input-file %t.keys
// CHECK: // compute {{[0-9a-f]+}}{{$}}
// CHECK-NEXT: // compute {{[0-9a-f]+}}{{$}}
// CHECK-NOT: {{.}}
// RUN: sort -u %t.keys | count 2
// RUN: sed -e 's/row/zebra/g; s/column/b/g' %s > %t.names.mlir
// RUN: heddlec %t.names.mlir --emit=kernels | grep '^// ' | diff %t.keys -
// RUN: sed -e 's/^module {/module attributes {heddle.machine = #nest.machine<{l1_bytes = 4096, vector_registers = 8}>} {/' %s > %t.facts.mlir
// RUN: heddlec %t.facts.mlir --emit=kernels --target-cpu x86-64 | grep '^// ' | diff %t.keys -
// The facts of the user are those of code.
// RUN: heddlec %t.facts.mlir --emit=kernels --target-cpu x86-64 | grep 'heddle.machine = .*l1_bytes = 4096' | count 2

// Another size is another nest, and so is one whose schedule the user has written.
// RUN: sed -e 's/64/65/g' %s > %t.size.mlir
// RUN: heddlec %t.size.mlir --emit=kernels | grep '^// ' > %t.size
// RUN: sed -e 's/{here/{schedule = #nest.schedule<[loop row by 1]>/' %s > %t.schedule.mlir
// RUN: heddlec %t.schedule.mlir --emit=kernels | grep '^// ' > %t.schedule
// RUN: cat %t.keys %t.size %t.schedule | sort -u | count 6
!row_column = !nd.tensor<f32, row: 64, column: 48>

module {
  func.func @f(%x: !row_column {nd.layout = #nest.layout<[row, column]>})
      -> (!row_column {nd.layout = #nest.layout<[row, column]>}) {
    %y = nest.compute (row: 64, column: 48) reads %x[] {
    ^bb0(%v: f32):
      %r = arith.negf %v : f32
      nest.yield %r : f32
    } {here} : (!row_column) -> !row_column
    return %y : !row_column
  }
  func.func @other_layout(%x: !row_column {nd.layout = #nest.layout<[row, column]>})
      -> (!row_column {nd.layout = #nest.layout<[column, row]>}) {
    %y = nest.compute (row: 64, column: 48) reads %x[] {
    ^bb0(%v: f32):
      %r = arith.negf %v : f32
      nest.yield %r : f32
    } {here} : (!row_column) -> !row_column
    return %y : !row_column
  }
}
