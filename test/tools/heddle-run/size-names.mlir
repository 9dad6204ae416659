// Sizes go by the names of dimensions as well as by symbols.

// RUN: heddle-run %s --entry f --interpret --size N=3 --seed 1 > %t.symbol
// RUN: heddle-run %s --entry f --interpret --size batch=3 --seed 1 | diff - %t.symbol
// RUN: heddle-run %s --entry f --interpret --size pair=6 --seed 1 | diff - %t.symbol
// RUN: heddle-run %s --entry f --interpret --size batch=3 --size pair=6 --seed 1 | diff - %t.symbol
// RUN: heddle-run %s --entry f --compare --size batch=1,2,5
func.func @f(%x: !nd.tensor<f32, batch: N, row: 2> {nd.name = "x"}, %y: !nd.tensor<f32, pair: 2 * N> {nd.name = "y"})
    -> !nd.tensor<f32, batch: N, row: 2> {
  return %x : !nd.tensor<f32, batch: N, row: 2>
}

// A symbol is not taken for the dimension of the same name.
// RUN: heddle-run %s --entry g --compare --size M=4 --size N=5
// RUN: heddle-run %s --entry g --interpret --size M=4 --size N=5 | FileCheck %s --check-prefix=G
// G: N: 4, b: 5
func.func @g(%x: !nd.tensor<f32, N: M, b: N>) -> !nd.tensor<f32, N: M, b: N> {
  return %x : !nd.tensor<f32, N: M, b: N>
}

// RUN: not heddle-run %s --entry f --size pair=3 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: heddle-run: error: --size: the size of 'pair' in 'y' is 2 * N, which is not 3{{$}}
// RUN: not heddle-run %s --entry f --size batch=3 --size pair=8 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: heddle-run: error: --size: the size of 'pair' in 'y' is 2 * N, which is not 8 for N = 3
// RUN: not heddle-run %s --entry f --size N=3 --size batch=4 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: heddle-run: error: --size: the size of 'batch' in 'x' is N, which is not 4 for N = 3
// RUN: not heddle-run %s --entry f --size row=3 2>&1 | FileCheck %s --check-prefix=FIXED
// FIXED: heddle-run: error: --size: no argument has a size with the symbol 'row', or the name 'row' with a symbolic size; there are the symbols: 'M', 'N', and the names: 'N', 'b', 'batch', 'pair'
