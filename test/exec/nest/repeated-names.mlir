// A coordinate that depends on one name twice is in bounds though its bounds term by term are not: the program
// is entered.
// RUN: heddle-run %s --compare

func.func @main(%x: !nd.tensor<ui8, b: 7, k: 3>) -> !nd.tensor<ui8, k2: 20> {
  %0 = nest.compute (k2: 20) reduce (row: 7) reads %x[b = -row + (2 * row + 2) floordiv 3 + 6, k = (2 * row + 2) mod 3], %x[b = k2 floordiv 3, k = k2 mod 3] {
  ^bb0(%a: i8, %b: i8):
    %p = arith.addi %a, %b : i8
    nest.yield %p : i8
  } combine add [0 : i8] : (!nd.tensor<ui8, b: 7, k: 3>, !nd.tensor<ui8, b: 7, k: 3>) -> !nd.tensor<ui8, k2: 20>
  return %0 : !nd.tensor<ui8, k2: 20>
}
