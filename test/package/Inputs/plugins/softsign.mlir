func.func @main(%x: !nd.tensor<f32, row: 5, column: 3> {nd.name = "x"}) -> (!nd.tensor<f32, row: 5, column: 3> {nd.name = "y"}) {
  %y = mine.softsign %x : !nd.tensor<f32, row: 5, column: 3>
  return %y : !nd.tensor<f32, row: 5, column: 3>
}

func.func @gradient(%x: !nd.tensor<f32, row: 5, column: 3> {nd.name = "x"}, %dy: !nd.tensor<f32, row: 5, column: 3> {nd.name = "dy"})
    -> (!nd.tensor<f32, row: 5, column: 3> {nd.name = "y"}, !nd.tensor<f32, row: 5, column: 3> {nd.name = "dx"}) {
  %y, %dx = nd.vjp @main(%x) cotangents(%dy) wrt [0] : (!nd.tensor<f32, row: 5, column: 3>, !nd.tensor<f32, row: 5, column: 3>) -> (!nd.tensor<f32, row: 5, column: 3>, !nd.tensor<f32, row: 5, column: 3>)
  return %y, %dx : !nd.tensor<f32, row: 5, column: 3>, !nd.tensor<f32, row: 5, column: 3>
}
