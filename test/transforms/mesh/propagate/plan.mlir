// RUN: heddle-opt %s --mesh-plan="mesh=data=2,model=4 shard=batch:data,net.wide/hidden:model,state/hidden:model+data,w*/in:data(1)2,bias/hidden:" | FileCheck %s
// RUN: printf 'mesh data=2,model=4  # devices\n\nbatch:data\nnet.wide/hidden:model\nstate/hidden:model+data\nw*/in:data(1)2\nbias/hidden:\n' > %t.plan
// RUN: heddle-opt %s --mesh-plan=plan=%t.plan | FileCheck %s

// RUN: heddle-opt %s --mesh-plan="mesh=data=2,stage=4 shard=batch:data,net.wide@stage=1,weight@stage=2,state/hidden:data,state@stage=3" | FileCheck %s --check-prefix=PLACES
// Of two places the last counts.
// PLACES: #mesh.sharding<{}, at (stage = 2)>, nd.name = "net.wide.weight"
// PLACES-SAME: #mesh.sharding<{}, at (stage = 1)>, nd.name = "net.wide.bias"
// PLACES-SAME: #mesh.sharding<{hidden: [data] priority 4}, at (stage = 3)>, nd.name = "state.net.wide.moment"
// PLACES-NOT: at (

// A memory beside a sharding and a place; without a mesh there are memories only, which leave the module as it is.
// RUN: heddle-opt %s --mesh-plan="mesh=data=2 shard=batch:data,state@file,net@host,net.wide@file,x@device" | FileCheck %s --check-prefix=MEMORY
// RUN: heddle-opt %s --mesh-plan="shard=state@file,net@host,net.wide@file,x@device" | FileCheck %s --check-prefixes=MEMORY,NOMESH
// NOMESH: module {
// MEMORY: @step
// MEMORY-SAME: #mesh.sharding<{{{.*}}}, memory device>, nd.name = "x"
// MEMORY-SAME: #mesh.sharding<{}, memory file>, nd.name = "net.wide.weight"
// MEMORY-SAME: #mesh.sharding<{}, memory file>, nd.name = "state.net.wide.moment"
// MEMORY-NOT: memory

// What trainers follow is read here too; the mesh may be stated again, as the same. A comment says where a rule is from.
// RUN: printf 'zero 3\nmesh data=2, model=4\nmicro-batches 4\nbatch:data\n' > %t.trainer.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.trainer.plan mesh=data=2,model=4" 2>&1 | FileCheck %s --check-prefix=TRAINER
// TRAINER-DAG: warning: plan '{{.*}}.trainer.plan', line 1: 'zero 3' applies to trainers only, and is ignored here
// TRAINER-DAG: warning: plan '{{.*}}.trainer.plan', line 3: 'micro-batches 4' applies to trainers only, and is ignored here
// TRAINER-DAG: warning: no rule uses the axis 'model' (plan '{{.*}}.trainer.plan', line 2): its 4 devices compute the same values
// TRAINER-DAG: module attributes {mesh.mesh = #mesh.mesh<data: 2, model: 4>, mesh.rules = ["batch:data"]}
// Rules of the command line follow those of the file, and so count.
// RUN: printf 'mesh data=2\nhidden:data\n' > %t.last.plan
// RUN: heddle-opt %s --mesh-plan="plan=%t.last.plan shard=net/hidden:" | FileCheck %s --check-prefix=LAST
// LAST: #mesh.sharding<{hidden: [] priority 2}>, nd.name = "net.wide.weight"

// CHECK: module attributes {mesh.mesh = #mesh.mesh<data: 2, model: 4>, mesh.rules = ["batch:data", "net.wide/hidden:model",
// CHECK: @step
func.func @step(
    // CHECK-SAME: mesh.sharding = #mesh.sharding<{batch: [data] priority 1}>, nd.name = "x"
    %x: !nd.tensor<f32, batch: 5, in: 6> {nd.name = "x"},
    // Rules match words between dots, anywhere in a row; the place of a rule is its priority, from 1.
    // CHECK-SAME: #mesh.sharding<{hidden: [model] priority 2, in: [data(1)2] priority 4}>, nd.name = "net.wide.weight"
    %w: !nd.tensor<f32, in: 6, hidden: 8> {nd.name = "net.wide.weight"},
    // CHECK-SAME: #mesh.sharding<{hidden: [] priority 5}>, nd.name = "net.wide.bias"
    %b: !nd.tensor<f32, hidden: 8> {nd.name = "net.wide.bias"},
    // The last rule counts.
    // CHECK-SAME: #mesh.sharding<{hidden: [model, data] priority 3}>, nd.name = "state.net.wide.moment"
    %m: !nd.tensor<f32, hidden: 8> {nd.name = "state.net.wide.moment"},
    // CHECK-SAME: %{{[a-z0-9]+}}: !nd.tensor<f32, hidden: 8> {nd.name = "network.wide"}
    %n: !nd.tensor<f32, hidden: 8> {nd.name = "network.wide"}) {
  return
}
// A private function has what its callers give.
// CHECK: func.func private @inner(!nd.tensor<f32, batch: 5>)
func.func private @inner(!nd.tensor<f32, batch: 5>)
