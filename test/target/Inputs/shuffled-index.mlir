// The largest element and its index, in 64 bits, by shuffles. Each lane has two elements.
module attributes {heddle.machine = #nest.machine<{shuffle_lanes = 32}>} {
  func.func @main(%arg0: !nd.tensor<f32, row: 128> {nd.layout = #nest.layout<[row]>, nd.name = "x"}) -> (!nd.tensor<f32> {nd.name = "largest"}, !nd.tensor<i64> {nd.name = "index"}) {
    %0:2 = nest.compute () reduce (row: 128) reads %arg0[] {
    ^bb0(%arg3: f32):
      %3 = nest.index row
      %4 = arith.index_cast %3 : index to i64
      nest.yield %arg3, %4 : f32, i64
    } combine [0xFFF0000000000000 : f64, 1048576] {
    ^bb0(%arg3: f64, %arg4: i64, %arg5: f64, %arg6: i64):
      %3 = arith.cmpi slt, %arg6, %arg4 : i64
      %4 = arith.cmpf oeq, %arg5, %arg3 : f64
      %5 = arith.andi %3, %4 : i1
      %6 = arith.cmpf ogt, %arg5, %arg3 : f64
      %7 = arith.ori %5, %6 : i1
      %8 = arith.select %7, %arg5, %arg3 : f64
      %9 = arith.select %7, %arg6, %arg4 : i64
      nest.yield %8, %9 : f64, i64
    } {heddle.name = "reduce", layouts = [#nest.layout<[]>, #nest.layout<[]>], schedule = #nest.schedule<[vector row by 1], partial>} : (!nd.tensor<f32, row: 128>) -> (!nd.tensor<f32>, !nd.tensor<i64>)
    return %0#0, %0#1 : !nd.tensor<f32>, !nd.tensor<i64>
  }
}
