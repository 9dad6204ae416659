// Sizes whose blocks, or what blocks are padded to, exceed 64 bits are refused at the value that has them.
// RUN: rm -rf %t && split-file %s %t
// RUN: not heddlec %t/argument.mlir --mesh d=2 --shard a:d -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: argument.mlir:1:{{[0-9]+}}: error: expected sizes of at most 9223372036854775805 on a mesh of 2 devices, got 9223372036854775807 for 'a'
// RUN: not heddlec %t/value.mlir --mesh d=2 --shard b:d -o %t/o.heddle 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: value.mlir:2:{{[0-9]+}}: error: expected sizes of at most 9223372036854775805 on a mesh of 2 devices, got 9223372036854775807 for 'a'
// RUN: not heddle-run %t/value.mlir --simulate --mesh d=2 --shard b:d 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: heddle-opt %t/most.mlir --mesh-plan="mesh=d=2 shard=a:d" --nd-pipeline --mesh-pipeline | FileCheck %s --check-prefix=MOST
// MOST: n000: 4611686018427387903> {mesh.global = !nd.tensor<i8, n000: 9223372036854775805>

//--- argument.mlir
func.func @f(%x: !nd.tensor<i8, a: 9223372036854775807> {nd.name = "x"}) -> !nd.tensor<i8> {
  %y = nd.reduce %x over [a] neutral [0 : i8] : (!nd.tensor<i8, a: 9223372036854775807>) -> !nd.tensor<i8> {
  ^bb0(%p: i8, %q: i8):
    %r = arith.addi %p, %q : i8
    nd.yield %r : i8
  }
  return %y : !nd.tensor<i8>
}
//--- value.mlir
func.func @f(%x: !nd.tensor<i8> {nd.name = "x"}, %k: !nd.tensor<i8, b: 4> {nd.name = "k"}) -> !nd.tensor<i8> {
  %y = nd.broadcast %x : !nd.tensor<i8> -> !nd.tensor<i8, a: 9223372036854775807>
  %c = mesh.constrain %y to <{a: [d]}> : !nd.tensor<i8, a: 9223372036854775807>
  %r = nd.reduce %c over [a] neutral [0 : i8] : (!nd.tensor<i8, a: 9223372036854775807>) -> !nd.tensor<i8> {
  ^bb0(%p: i8, %q: i8):
    %r = arith.addi %p, %q : i8
    nd.yield %r : i8
  }
  return %r : !nd.tensor<i8>
}
//--- most.mlir
func.func @f(%x: !nd.tensor<i8, a: 9223372036854775805> {nd.name = "x"}) -> !nd.tensor<i8> {
  %y = nd.reduce %x over [a] neutral [0 : i8] : (!nd.tensor<i8, a: 9223372036854775805>) -> !nd.tensor<i8> {
  ^bb0(%p: i8, %q: i8):
    %r = arith.addi %p, %q : i8
    nd.yield %r : i8
  }
  return %y : !nd.tensor<i8>
}
