!row_column = !nd.tensor<f32, row: 5, column: 3>

func.func @main(%x: !row_column {nd.name = "x"}) -> (!row_column {nd.name = "y"}) {
  %y = mine.softsign %x : !row_column
  return %y : !row_column
}

func.func @gradient(%x: !row_column {nd.name = "x"}, %dy: !row_column {nd.name = "dy"})
    -> (!row_column {nd.name = "y"}, !row_column {nd.name = "dx"}) {
  %y, %dx = nd.vjp @main(%x) cotangents(%dy) wrt [0] : (!row_column, !row_column) -> (!row_column, !row_column)
  return %y, %dx : !row_column, !row_column
}
