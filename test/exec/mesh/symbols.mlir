// Two arguments that share symbols are both split: a block of N * M does not tell N, whatever M is.
// RUN: heddle-run %s --compare --size N=4 --size M=3 --mesh s=2 --shard n:s | FileCheck %s
// RUN: heddle-run %s --compare --size N=3 --size M=5 --mesh s=2 --shard n:s | FileCheck %s
// RUN: heddle-run %s --compare --size N=5 --size M=4 --mesh s=4 --shard n:s | FileCheck %s
// CHECK: @merged: {{[0-9]+}} elements agree

func.func @merged(%x: !nd.tensor<i8, n: N * M>, %y: !nd.tensor<f32, m: M, n: N>) -> !nd.tensor<i8, n: N * M> {
  %0 = nd.sort %x along n : (!nd.tensor<i8, n: N * M>) -> !nd.tensor<i8, n: N * M>
  return %0 : !nd.tensor<i8, n: N * M>
}
