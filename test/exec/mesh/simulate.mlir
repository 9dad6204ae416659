// The program of all devices of a mesh gives the values of the whole program, whatever sizes divide.
// RUN: heddle-run %s --interpret --seed 5 --print-limit 200 > %t.whole
// 9 and 5 over 8 and 4, 1 over 2, sizes of 0, two axes on a name, part of an axis.
// RUN: heddle-run %s --simulate --mesh d=4 --shard row:d --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh d=8 --shard row:d --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh d=2 --shard one:d --shard column:d --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh d=2 --shard none:d --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh d=2,m=3 --shard row:d+m --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh d=3,m=2 --shard row:m --shard column:d --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh d=4,m=2 --shard 'row:d(2)2' --shard 'column:m+d(1)2' --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh d=2,m=2,n=2 --shard row:d --shard column:m --shard word:n --seed 5 --print-limit 200 | diff - %t.whole
// Axes may have the words of names that passes make.
// RUN: heddle-run %s --simulate --mesh part=4 --shard row:part --seed 5 --print-limit 200 | diff - %t.whole
// RUN: heddle-run %s --simulate --mesh member=2,source=2 --shard row:member --shard column:source --seed 5 --print-limit 200 | diff - %t.whole
// Compiled, the ranks are threads of a process, and their blocks are compared with the interpreter's whole.
// RUN: heddle-run %s --compare --mesh d=4 --shard row:d --seed 5 | FileCheck %s --check-prefix=COMPARE
// RUN: heddle-run %s --compare --mesh d=2,m=2 --shard row:d --shard column:m --seed 5 --engine net | FileCheck %s --check-prefix=COMPARE
// RUN: heddle-run %s --compare --mesh d=4 --shard 'row:d(2)2' --shard 'column:d(1)2' --seed 5 | FileCheck %s --check-prefix=COMPARE
// RUN: heddle-run %s --compare --mesh d=2 --shard none:d --seed 5 | FileCheck %s --check-prefix=COMPARE
// COMPARE: @windows: 420 elements agree
// COMPARE: @kernel: 5 elements agree

// Windows: with a stride, with a dilation, wider than a block.
!i32_column_row = !nd.tensor<i32, column: 5, row: 9>
!i32_column_word = !nd.tensor<i32, column: 5, word: 6>
!i64_row = !nd.tensor<i64, row: 9>
!i32_column = !nd.tensor<i32, column: 5>
!i32_row = !nd.tensor<i32, row: 9>

func.func @windows(%x: !i32_column_row {nd.name = "x"})
    -> (!nd.tensor<i32, column: 5, k: 3, row: 9>, !nd.tensor<i32, column: 5, k: 3, row: 5>,
        !nd.tensor<i32, column: 5, k: 2, row: 6>, !nd.tensor<i32, column: 5, k: 7, row: 3>, !i32_column_row) {
  %same = nd.window %x row -> k size 3 pad 1, 1 value 7 : i32 : !i32_column_row -> !nd.tensor<i32, column: 5, k: 3, row: 9>
  %stride = nd.window %x row -> k size 3 stride 2 pad 1, 1 value 7 : i32 : !i32_column_row -> !nd.tensor<i32, column: 5, k: 3, row: 5>
  %dilated = nd.window %x row -> k size 2 dilation 3 : !i32_column_row -> !nd.tensor<i32, column: 5, k: 2, row: 6>
  %wide = nd.window %x row -> k size 7 : !i32_column_row -> !nd.tensor<i32, column: 5, k: 7, row: 3>
  %back = nd.unwindow %stride row -> k size 3 stride 2 pad 1, 1 : !nd.tensor<i32, column: 5, k: 3, row: 5> -> !i32_column_row
  return %same, %stride, %dilated, %wide, %back : !nd.tensor<i32, column: 5, k: 3, row: 9>, !nd.tensor<i32, column: 5, k: 3, row: 5>, !nd.tensor<i32, column: 5, k: 2, row: 6>, !nd.tensor<i32, column: 5, k: 7, row: 3>, !i32_column_row
}

// Coordinates and random bits need no rule.
func.func @sources(%key: !nd.tensor<ui64> {nd.name = "key"}, %x: !i64_row {nd.name = "x"}) -> (!i64_row, !nd.tensor<ui32, column: 5, row: 9>) {
  %i = nd.iota row : !i64_row
  %sum = nd.pointwise %i, %x : (!i64_row, !i64_row) -> !i64_row {
  ^bb0(%a: i64, %b: i64):
    %c = arith.addi %a, %b : i64
    nd.yield %c : i64
  }
  %low = nd.pointwise %sum : (!i64_row) -> !nd.tensor<ui32, row: 9> {
  ^bb0(%a: i64):
    %c = arith.trunci %a : i64 to i32
    nd.yield %c : i32
  }
  %bits = nd.random %key by [row, column] : !nd.tensor<ui64> -> !nd.tensor<ui32, column: 5, row: 9>
  %mixed = nd.pointwise %bits, %low : (!nd.tensor<ui32, column: 5, row: 9>, !nd.tensor<ui32, row: 9>) -> !nd.tensor<ui32, column: 5, row: 9> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.xori %a, %b : i32
    nd.yield %c : i32
  }
  return %sum, %mixed : !i64_row, !nd.tensor<ui32, column: 5, row: 9>
}

// Sums, one that wraps around, and a maximum with its coordinate; over names of size 1 and 0, too.
func.func @reductions(%x: !i32_column_row {nd.name = "x"}, %y: !nd.tensor<i32, none: 0, one: 1, row: 9> {nd.name = "y"})
    -> (!i32_column, !i32_row, !nd.tensor<i32>, !nd.tensor<i32, one: 1>) {
  %rows = nd.reduce %x over [row] neutral [0 : i32] : (!i32_column_row) -> !i32_column {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    nd.yield %c : i32
  }
  %columns = nd.reduce %x over [column] neutral [1 : i32] : (!i32_column_row) -> !i32_row {
  ^bb0(%a: i32, %b: i32):
    %c = arith.muli %a, %b : i32
    nd.yield %c : i32
  }
  %most = nd.reduce %x over [row, column] neutral [-2147483648 : i32] : (!i32_column_row) -> !nd.tensor<i32> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.maxsi %a, %b : i32
    nd.yield %c : i32
  }
  %empty = nd.reduce %y over [row, none] neutral [0 : i32] : (!nd.tensor<i32, none: 0, one: 1, row: 9>) -> !nd.tensor<i32, one: 1> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    nd.yield %c : i32
  }
  return %rows, %columns, %most, %empty : !i32_column, !i32_row, !nd.tensor<i32>, !nd.tensor<i32, one: 1>
}

// Reads and writes at computed places, of which some are out of bounds.
func.func @places(%table: !i32_column_word {nd.name = "table"}, %at: !i32_row {nd.name = "at"},
    %x: !i32_column_row {nd.name = "x"})
    -> (!i32_column_row, !i32_column_word) {
  %read = nd.gather %table [word] at %at : (!i32_column_word, !i32_row) -> !i32_column_row
  %written = nd.scatter %x into %table [word] at %at : (!i32_column_word, !i32_column_row, !i32_row) -> !i32_column_word {
  ^bb0(%old: i32, %new: i32):
    %c = arith.addi %old, %new : i32
    nd.yield %c : i32
  }
  return %read, %written : !i32_column_row, !i32_column_word
}

// Order along a name.
func.func @orders(%x: !i32_column_row {nd.name = "x"}) -> (!i32_column_row, !i32_column_row, !nd.tensor<i32, n: 45>) {
  %sums = nd.scan %x along row neutral [0 : i32] : (!i32_column_row) -> !i32_column_row {
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    nd.yield %c : i32
  }
  %sorted = nd.sort %x along row : (!i32_column_row) -> !i32_column_row
  %flat = nd.merge %x [row, column] into n : !i32_column_row -> !nd.tensor<i32, n: 45>
  return %sums, %sorted, %flat : !i32_column_row, !i32_column_row, !nd.tensor<i32, n: 45>
}

// A kernel of the user, with coordinates and an epilogue.
func.func @kernel(%x: !i32_row {nd.name = "x"}, %y: !i32_column {nd.name = "y"}) -> !i32_column {
  %r = nest.compute (column: 5) reduce (row: 9) reads %x[row = 8 - row], %y[] {
  ^bb0(%a: i32, %b: i32):
    %i = nest.index row
    %n = arith.index_cast %i : index to i32
    %c = arith.muli %a, %n : i32
    %d = arith.addi %c, %b : i32
    nest.yield %d : i32
  } combine add [0 : i32] finish reads %y[] {
  ^bb0(%sum: i32, %b: i32):
    %i = nest.index column
    %n = arith.index_cast %i : index to i32
    %d = arith.subi %sum, %n : i32
    %e = arith.addi %d, %b : i32
    nest.yield %e : i32
  } : (!i32_row, !i32_column, !i32_column) -> !i32_column
  return %r : !i32_column
}
