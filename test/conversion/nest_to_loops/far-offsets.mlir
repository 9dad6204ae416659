// A constant offset may exceed the 29 bits of a constant index in LLVM's dialect.
// RUN: heddlec %s --emit=loops --no-cache -o - | FileCheck %s

// CHECK-LABEL: // slice
// CHECK: %[[NEAR:.*]] = llvm.getelementptr %{{.*}}[268435455] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK: llvm.load %[[NEAR]]
func.func @near(%x: !nd.tensor<i8, n: N>) -> !nd.tensor<i8, n: 4> {
  %0 = nd.slice %x n from 268435455 size 4 : !nd.tensor<i8, n: N> -> !nd.tensor<i8, n: 4>
  return %0 : !nd.tensor<i8, n: 4>
}
// CHECK-LABEL: // slice
// CHECK: %[[PLACE:.*]] = arith.constant 268435456 : i64
// CHECK: %[[FAR:.*]] = llvm.getelementptr %{{.*}}[%[[PLACE]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.load %[[FAR]]
func.func @far(%x: !nd.tensor<i8, n: N>) -> !nd.tensor<i8, n: 4> {
  %0 = nd.slice %x n from 268435456 size 4 : !nd.tensor<i8, n: N> -> !nd.tensor<i8, n: 4>
  return %0 : !nd.tensor<i8, n: 4>
}
