// Random elements of an argument that has too many: the message names it.
// RUN: not heddle-run %s 2>&1 | FileCheck %s
// CHECK: error: argument 'x': expected at most 2^60 elements, got a shape with more
func.func @huge(%x: !nd.tensor<i8, n: 9223372036854775807> {nd.name = "x"}) -> !nd.tensor<i8, n: 9223372036854775807> {
  return %x : !nd.tensor<i8, n: 9223372036854775807>
}
