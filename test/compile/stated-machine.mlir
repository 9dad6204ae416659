// While passes run, the module states the machine of the target with the facts of the user, and not how many threads there
// are. The result states what the user has written.
// RUN: heddlec %s --emit=nest --target-cpu haswell --threads 3 --print-after-change -o %t.nest 2>&1 | FileCheck %s
// CHECK: module attributes {heddle.machine = #nest.machine<{{{.*}}l2_bytes = 524288{{.*}}threads = 1 : i64{{.*}}vector_bytes = 32
// RUN: FileCheck %s --check-prefix=RESULT --input-file %t.nest
// RESULT: module attributes {heddle.machine = #nest.machine<{l2_bytes = 524288 : i64}>}
// RUN: sed -e 's/^module attributes .*/module {/' %s | heddlec - --emit=nest | not grep heddle.machine
module attributes {heddle.machine = #nest.machine<{l2_bytes = 524288}>} {
  func.func @f(%x: !nd.tensor<f32, n: 100>) -> !nd.tensor<f32, n: 100> {
    %y = nd.pointwise %x : (!nd.tensor<f32, n: 100>) -> !nd.tensor<f32, n: 100> {
    ^bb0(%a: f32):
      %r = arith.negf %a : f32
      nd.yield %r : f32
    }
    return %y : !nd.tensor<f32, n: 100>
  }
}
