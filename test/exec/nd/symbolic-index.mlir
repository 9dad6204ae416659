// Index maps, joins, scans, gathers and scatters where sizes are symbols.
// RUN: heddle-run %s --compare --size N=5,3,8,17,33,64,4 --size M=4,1,9,32,7,2,70 --size K=3,1,16
// RUN: heddle-run %s --compare --specialise --size N=6 --size M=3 --size K=2

// A convolution: same size along rows, every second column.
!b_row = !nd.tensor<f32, b: M, row: N - 1>
!c_i_j = !nd.tensor<f32, c: 3, i: N, j: 4>
!bM_rowN = !nd.tensor<f32, b: M, row: N>
!row = !nd.tensor<f32, row: N>

func.func @convolve(%x: !nd.tensor<f32, b: M, c: 3, col: 2 * N + 1, row: N>, %w: !nd.tensor<f32, c: 3, kx: 3, ky: 3, o: 5>) -> !nd.tensor<f32, b: M, col: N + 1, o: 5, row: N> {
  %0 = nd.window %x row -> ky size 3 pad 1, 1 value 0.0 : f32 : !nd.tensor<f32, b: M, c: 3, col: 2 * N + 1, row: N> -> !nd.tensor<f32, b: M, c: 3, col: 2 * N + 1, ky: 3, row: N>
  %1 = nd.window %0 col -> kx size 3 stride 2 pad 1, 1 value 0.0 : f32 : !nd.tensor<f32, b: M, c: 3, col: 2 * N + 1, ky: 3, row: N> -> !nd.tensor<f32, b: M, c: 3, col: N + 1, kx: 3, ky: 3, row: N>
  %2 = nd.pointwise %1, %w : (!nd.tensor<f32, b: M, c: 3, col: N + 1, kx: 3, ky: 3, row: N>, !nd.tensor<f32, c: 3, kx: 3, ky: 3, o: 5>) -> !nd.tensor<f32, b: M, c: 3, col: N + 1, kx: 3, ky: 3, o: 5, row: N> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nd.yield %r : f32
  }
  %3 = nd.reduce %2 over [c, kx, ky] neutral [0.0 : f32] : (!nd.tensor<f32, b: M, c: 3, col: N + 1, kx: 3, ky: 3, o: 5, row: N>) -> !nd.tensor<f32, b: M, col: N + 1, o: 5, row: N> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %3 : !nd.tensor<f32, b: M, col: N + 1, o: 5, row: N>
}

// Pooling with excluded taps, and a window without padding.
func.func @pool(%x: !bM_rowN) -> (!nd.tensor<f32, b: M, row: (N - 1) floordiv 2 + 1>, !nd.tensor<f32, b: M, row: N - 2>) {
  %0 = nd.window %x row -> ky size 3 stride 2 pad 1, 1 exclude : !bM_rowN -> !nd.tensor<f32, b: M, ky: 3, row: (N - 1) floordiv 2 + 1>
  %1 = nd.reduce %0 over [ky] neutral [0xFF800000 : f32] : (!nd.tensor<f32, b: M, ky: 3, row: (N - 1) floordiv 2 + 1>) -> !nd.tensor<f32, b: M, row: (N - 1) floordiv 2 + 1> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.maximumf %a, %b : f32
    nd.yield %r : f32
  }
  %2 = nd.window %x row -> ky size 3 : !bM_rowN -> !nd.tensor<f32, b: M, ky: 3, row: N - 2>
  %3 = nd.reduce %2 over [ky] neutral [0.0 : f32] : (!nd.tensor<f32, b: M, ky: 3, row: N - 2>) -> !nd.tensor<f32, b: M, row: N - 2> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %1, %3 : !nd.tensor<f32, b: M, row: (N - 1) floordiv 2 + 1>, !nd.tensor<f32, b: M, row: N - 2>
}

func.func @concat(%x: !nd.tensor<f32, c: 2, n: N>, %y: !nd.tensor<f32, c: 2, n: M>) -> (!nd.tensor<f32, c: 2, n: N + M>, !nd.tensor<f32, c: 2, n: 2 * N + M>) {
  %0 = nd.concat %x, %y along n : (!nd.tensor<f32, c: 2, n: N>, !nd.tensor<f32, c: 2, n: M>) -> !nd.tensor<f32, c: 2, n: N + M>
  %1 = nd.concat %x, %y, %x along n : (!nd.tensor<f32, c: 2, n: N>, !nd.tensor<f32, c: 2, n: M>, !nd.tensor<f32, c: 2, n: N>) -> !nd.tensor<f32, c: 2, n: 2 * N + M>
  return %0, %1 : !nd.tensor<f32, c: 2, n: N + M>, !nd.tensor<f32, c: 2, n: 2 * N + M>
}

// Merged the other way around the symbol would be divided by: elements are written instead of read.
func.func @split_merge(%x: !nd.tensor<f32, c: 3, n: 4 * N>) -> (!c_i_j, !nd.tensor<f32, c: 3, m: 4 * N>, !nd.tensor<f32, m: 12 * N>, !nd.tensor<f32, c: 3, m: 4 * N>) {
  %0 = nd.split %x n into [i, j] : !nd.tensor<f32, c: 3, n: 4 * N> -> !c_i_j
  %1 = nd.merge %0 [i, j] into m : !c_i_j -> !nd.tensor<f32, c: 3, m: 4 * N>
  %2 = nd.merge %0 [i, c, j] into m : !c_i_j -> !nd.tensor<f32, m: 12 * N>
  %3 = nd.merge %0 [j, i] into m : !c_i_j -> !nd.tensor<f32, c: 3, m: 4 * N>
  return %0, %1, %2, %3 : !c_i_j, !nd.tensor<f32, c: 3, m: 4 * N>, !nd.tensor<f32, m: 12 * N>, !nd.tensor<f32, c: 3, m: 4 * N>
}

func.func @slice_pad(%x: !bM_rowN) -> (!b_row, !nd.tensor<f32, b: M, row: N + 3>, !nd.tensor<f32, b: M, row: N + max(0, N - 1) + 1>) {
  %0 = nd.slice %x row from 1 size N - 1 : !bM_rowN -> !b_row
  %1 = nd.pad %x row low 1 high 2 value 9.0 : f32 : !bM_rowN -> !nd.tensor<f32, b: M, row: N + 3>
  %2 = nd.pad %x row low 0 high 1 interior 1 value 7.0 : f32 : !bM_rowN -> !nd.tensor<f32, b: M, row: N + max(0, N - 1) + 1>
  return %0, %1, %2 : !b_row, !nd.tensor<f32, b: M, row: N + 3>, !nd.tensor<f32, b: M, row: N + max(0, N - 1) + 1>
}

// Coordinates outside are clamped, or dropped.
func.func @gather_scatter(%table: !nd.tensor<f32, f: K, word: N>, %at: !nd.tensor<i32, p: M>, %u: !nd.tensor<f32, f: K, p: M>) -> (!nd.tensor<f32, f: K, p: M>, !nd.tensor<f32, f: K, word: N>) {
  %0 = nd.gather %table [word] at %at : (!nd.tensor<f32, f: K, word: N>, !nd.tensor<i32, p: M>) -> !nd.tensor<f32, f: K, p: M>
  %1 = nd.scatter %u into %table [word] at %at : (!nd.tensor<f32, f: K, word: N>, !nd.tensor<f32, f: K, p: M>, !nd.tensor<i32, p: M>) -> !nd.tensor<f32, f: K, word: N> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %0, %1 : !nd.tensor<f32, f: K, p: M>, !nd.tensor<f32, f: K, word: N>
}

func.func @scan(%x: !bM_rowN) -> (!bM_rowN, !bM_rowN) {
  %0 = nd.scan %x along row neutral [0.0 : f32] : (!bM_rowN) -> !bM_rowN {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  %1 = nd.scan %x along b exclusive reverse neutral [0.0 : f32] : (!bM_rowN) -> !bM_rowN {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %0, %1 : !bM_rowN, !bM_rowN
}

// Scratch whose size is a difference of products.
func.func @scan_part(%x: !bM_rowN) -> !b_row {
  %0 = nd.slice %x row from 1 size N - 1 : !bM_rowN -> !b_row
  %1 = nd.scan %0 along b neutral [0.0 : f32] : (!b_row) -> !b_row {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %1 : !b_row
}

func.func @ranges(%x: !bM_rowN, %y: !bM_rowN, %s: !nd.tensor<i32, b: M>) -> (!nd.tensor<f32, b: M, row: 3>, !bM_rowN) {
  %2 = nd.dynamic_slice %x row from %s size 3 : (!bM_rowN, !nd.tensor<i32, b: M>) -> !nd.tensor<f32, b: M, row: 3>
  %3 = nd.update_slice %2 into %y row from %s : (!nd.tensor<f32, b: M, row: 3>, !bM_rowN, !nd.tensor<i32, b: M>) -> !bM_rowN
  return %2, %3 : !nd.tensor<f32, b: M, row: 3>, !bM_rowN
}

// The bits of an element hang on the sizes of the names that run faster.
func.func @made(%x: !bM_rowN, %key: !nd.tensor<ui64>) -> (!nd.tensor<i32, row: N>, !nd.tensor<ui32, b: M, row: N>, !bM_rowN) {
  %0 = nd.iota row : !nd.tensor<i32, row: N>
  %1 = nd.random %key by [b, row] : !nd.tensor<ui64> -> !nd.tensor<ui32, b: M, row: N>
  %2 = nd.constant dense<2.5> : tensor<f32> by [] : !nd.tensor<f32>
  %3 = nd.pointwise %x, %2 : (!bM_rowN, !nd.tensor<f32>) -> !bM_rowN {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nd.yield %r : f32
  }
  return %0, %1, %3 : !nd.tensor<i32, row: N>, !nd.tensor<ui32, b: M, row: N>, !bM_rowN
}

func.func private @loss(%x: !row, %w: !nd.tensor<f32, ky: 3>) -> !nd.tensor<f32> {
  %0 = nd.window %x row -> ky size 3 pad 1, 1 value 0.0 : f32 : !row -> !nd.tensor<f32, ky: 3, row: N>
  %1 = nd.pointwise %0, %w : (!nd.tensor<f32, ky: 3, row: N>, !nd.tensor<f32, ky: 3>) -> !nd.tensor<f32, ky: 3, row: N> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nd.yield %r : f32
  }
  %2 = nd.reduce %1 over [ky] neutral [0.0 : f32] : (!nd.tensor<f32, ky: 3, row: N>) -> !row {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  %3 = nd.pointwise %2, %2 : (!row, !row) -> !row {
  ^bb0(%a: f32, %b: f32):
    %r = arith.mulf %a, %b : f32
    nd.yield %r : f32
  }
  %4 = nd.reduce %3 over [row] neutral [0.0 : f32] : (!row) -> !nd.tensor<f32> {
  ^bb0(%a: f32, %b: f32):
    %r = arith.addf %a, %b : f32
    nd.yield %r : f32
  }
  return %4 : !nd.tensor<f32>
}

func.func @gradient(%x: !row, %w: !nd.tensor<f32, ky: 3>, %c: !nd.tensor<f32>) -> (!row, !nd.tensor<f32, ky: 3>) {
  %0:3 = nd.vjp @loss(%x, %w) cotangents(%c) wrt [0, 1] : (!row, !nd.tensor<f32, ky: 3>, !nd.tensor<f32>) -> (!nd.tensor<f32>, !row, !nd.tensor<f32, ky: 3>)
  return %0#1, %0#2 : !row, !nd.tensor<f32, ky: 3>
}
