// What an epilogue reads is read once for each point of the reduction, so it does not decide which name lanes walk: three
// tensors that are contiguous along j, which fills a quarter of a vector, against the sum's own factors.
// RUN: heddle-opt %s --nest-choose-schedules | FileCheck %s
// CHECK: schedule = #nest.schedule<[{{.*}}vector o by 1]

!j_o = !nd.tensor<f32, j: 4, o: 64>

module attributes {heddle.machine = #nest.machine<{vector_bytes = 64, vector_registers = 32}>} {
func.func @step(%x: !nd.tensor<f32, b: 512, o: 64> {nd.layout = #nest.layout<[b, o]>}, %p: !nd.tensor<f32, b: 512, j: 4> {nd.layout = #nest.layout<[j, b]>},
                %u: !j_o {nd.layout = #nest.layout<[o, j]>}, %v: !j_o {nd.layout = #nest.layout<[o, j]>},
                %w: !j_o {nd.layout = #nest.layout<[o, j]>}) -> (!j_o {nd.layout = #nest.layout<[o, j]>}) {
  %0 = nest.compute (j: 4, o: 64) reduce (b: 512) reads %x[], %p[] {
  ^bb0(%a: f32, %c: f32):
    %d = arith.mulf %a, %c : f32
    nest.yield %d : f32
  } combine add [0.0 : f32] finish reads %u[], %v[], %w[] {
  ^bb0(%s: f32, %a: f32, %c: f32, %e: f32):
    %d = arith.addf %s, %a : f32
    %f = arith.mulf %d, %c : f32
    %g = arith.subf %f, %e : f32
    nest.yield %g : f32
  } {layouts = [#nest.layout<[o, j]>]}
    : (!nd.tensor<f32, b: 512, o: 64>, !nd.tensor<f32, b: 512, j: 4>, !j_o, !j_o, !j_o) -> !j_o
  return %0 : !j_o
}
}
