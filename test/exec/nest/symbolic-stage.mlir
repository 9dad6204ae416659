// Copies of blocks of operands whose sizes are symbols: sizes that blocks divide or do not divide, small and zero sizes.
// RUN: heddle-run %s --compare --size N=5,8,16,17,33,1,0 --size M=4,1,9,32,7,0,70 --size K=3,1,16,17,40,0
// RUN: heddle-run %s --compare --threads 2 --target-cpu haswell --size N=41 --size M=33 --size K=35

!column_row = !nd.tensor<f32, column: M, row: N>

func.func @product(%a: !nd.tensor<f32, inner: K, row: N>, %b: !nd.tensor<f32, column: M, inner: K>) -> !column_row {
  %c = nest.compute (column: M, row: N) reduce (inner: K) reads %a[], %b[] {
  ^bb0(%x: f32, %y: f32):
    %p = arith.mulf %x, %y : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[thread row by 32, loop inner by 16, cache column by 4, cache row by 16, loop inner by 1, register column by 1, register row by 8, vector row by 1], [stage 0 at 1 in #nest.layout<[row floordiv 16, inner, row mod 16]>, stage 1 at 2 in #nest.layout<[column, inner pad(0, 16)]> buffers 2]>} : (!nd.tensor<f32, inner: K, row: N>, !nd.tensor<f32, column: M, inner: K>) -> !column_row
  return %c : !column_row
}

// Narrow floats, from the end backwards and two apart.
func.func @backwards(%a: !nd.tensor<bf16, inner: K + 1, row: 2 * N + 1>, %b: !nd.tensor<bf16, column: M, inner: K>) -> !column_row {
  %c = nest.compute (column: M, row: N) reduce (inner: K) reads %a[inner = K - inner, row = 2 * row + 1], %b[] {
  ^bb0(%x: bf16, %y: bf16):
    %u = arith.extf %x : bf16 to f32
    %v = arith.extf %y : bf16 to f32
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] {schedule = #nest.schedule<[loop column by 12, loop row by 16, loop inner by 16, cache column by 4, cache row by 8, loop inner by 1, register column by 1, vector row by 1], [stage 0 at 2 in #nest.layout<[row, inner]>, stage 1 at 3 in #nest.layout<[column, inner]>]>} : (!nd.tensor<bf16, inner: K + 1, row: 2 * N + 1>, !nd.tensor<bf16, column: M, inner: K>) -> !column_row
  return %c : !column_row
}

// Integers of 32 bits with a number outside: such a copy holds no pairs of floats.
func.func @integers(%a: !nd.tensor<i32, inner: K, row: N>, %b: !nd.tensor<i32, column: M, inner: K>) -> !nd.tensor<i32, column: M, row: N> {
  %c = nest.compute (column: M, row: N) reduce (inner: K) reads %a[row = row - 1] if [row - 1 >= 0] else 3 : i32, %b[] {
  ^bb0(%x: i32, %y: i32):
    %p = arith.muli %x, %y : i32
    nest.yield %p : i32
  } combine add [0 : i32] {schedule = #nest.schedule<[thread row by 32, loop inner by 16, cache column by 4, cache row by 16, loop inner by 1, register column by 1, register row by 8, vector row by 1], [stage 0 at 1 in #nest.layout<[row floordiv 16, inner, row mod 16]>, stage 1 at 2 in #nest.layout<[column, inner pad(0, 16)]>]>} : (!nd.tensor<i32, inner: K, row: N>, !nd.tensor<i32, column: M, inner: K>) -> !nd.tensor<i32, column: M, row: N>
  return %c : !nd.tensor<i32, column: M, row: N>
}
