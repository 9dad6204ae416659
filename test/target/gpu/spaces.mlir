// For a device with a memory of its own a pass assigns memory spaces and adds copies (AssignSpaces.h). All values of
// kernels lie on the device, with arguments, results and constants. The host reads the condition of a loop, before the
// loop and at its end; engines move values of the host.
// RUN: heddlec %s --target opencl -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | FileCheck %s

!i = !nd.tensor<f32, i: 8>

// CHECK-LABEL: @counted(x, limit) -> (y, same, again)
// CHECK-NEXT: arena 64 bytes
// CHECK: values
// CHECK-NEXT: argument x: {{.*}} 32 bytes, in 'opencl'
// CHECK-NEXT: argument limit: {{.*}} 4 bytes, in 'opencl'
// CHECK-NEXT: constant constant: {{.*}} at 0 of the constants, in 'opencl'
// CHECK-NEXT: temporary pointwise: i1 {{.*}} in the memory of 4, in 'opencl'
// CHECK-NEXT: temporary copy: i1 {{.*}}, in steps 0 to 8, in 'opencl'
// CHECK-COUNT-5: temporary {{.*}}, in 'opencl'
// CHECK-COUNT-3: result {{.*}}, in 'opencl'
// CHECK-NEXT: temporary copy: i1 {{.*}}, in steps 3 to 8, at 0 of the arena at
// CHECK: steps
// CHECK-NEXT: 0 pointwise: k_
// CHECK-NEXT: 1 copy: k_
// CHECK-NEXT: 2 copy: k_
// CHECK-NEXT: 3 copy: from 'opencl' to 'host'
// CHECK-NEXT: 4 while:
// CHECK-NEXT: 5 pointwise: k_
// CHECK-NEXT: 6 pointwise: k_
// CHECK-NEXT: 7 copy: from 'opencl' to 'host'
// CHECK-NEXT: 8 while:
func.func @counted(%x: !i {nd.name = "x"}, %limit: !nd.tensor<i32> {nd.name = "limit"})
    -> (!i {nd.name = "y"}, !nd.tensor<i32> {nd.name = "same"}, !i {nd.name = "again"}) {
  %zero = nd.constant dense<0> : tensor<i32> by [] : !nd.tensor<i32>
  %y:2 = scf.while (%s = %x, %n = %zero) : (!i, !nd.tensor<i32>) -> (!i, !nd.tensor<i32>) {
    %more = nd.pointwise %n, %limit : (!nd.tensor<i32>, !nd.tensor<i32>) -> !nd.tensor<i1> {
    ^bb0(%v: i32, %u: i32):
      %c = arith.cmpi slt, %v, %u : i32
      nd.yield %c : i1
    }
    %c = nd.item %more : !nd.tensor<i1> -> i1
    scf.condition(%c) %s, %n : !i, !nd.tensor<i32>
  } do {
  ^bb0(%s: !i, %n: !nd.tensor<i32>):
    %t = nd.pointwise %s : (!i) -> !i {
    ^bb0(%a: f32):
      %b = arith.addf %a, %a : f32
      nd.yield %b : f32
    }
    %m = nd.pointwise %n : (!nd.tensor<i32>) -> !nd.tensor<i32> {
    ^bb0(%a: i32):
      %one = arith.constant 1 : i32
      %b = arith.addi %a, %one : i32
      nd.yield %b : i32
    }
    scf.yield %t, %m : !i, !nd.tensor<i32>
  }
  return %y#0, %limit, %y#0 : !i, !nd.tensor<i32>, !i
}
