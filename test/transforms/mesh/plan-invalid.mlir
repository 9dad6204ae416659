// Each refusal names the axis, the name or the rule, and what is there instead.
// RUN: not heddle-opt %s --mesh-plan="mesh=data=0 shard=batch:data" 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: expected axes with sizes, such as data=2,model=4, got 'data=0'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2,data=2 shard=batch:data" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: expected each axis of a mesh once, got 'data' twice
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=batch" 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: expected a rule [PATTERN/]NAME:[AXIS[+AXIS...]], got 'batch'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=batch:data+" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: expected a rule [PATTERN/]NAME:[AXIS[+AXIS...]], got 'batch:data+'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=batch:dat" 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: the rule 'batch:dat' uses the axis 'dat', expected one of 'data'
// RUN: not heddle-opt %s --mesh-plan="shard=batch:data" 2>&1 | FileCheck %s --check-prefix=NOMESH
// NOMESH: the rule 'batch:data' uses the axis 'data', expected one of none
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=bach:data" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: the rule 'bach:data' matches no argument that has the name 'bach'; arguments are 'x' with {batch: 5, in: 6}, 'net.w' with {hidden: 8, in: 6}
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=net.x/in:data" 2>&1 | FileCheck %s --check-prefix=PATTERN
// PATTERN: the rule 'net.x/in:data' matches no argument of the pattern that has the name 'in'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=batch:data,in:data" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: plan-invalid.mlir:[[#]]:17: error: the axis 'data' would shard both 'batch' and 'in' of 'x'; expected it to shard one name of a value
// RUN: not heddle-opt %s --mesh-plan="mesh=data=6 shard=batch:data(1)4" 2>&1 | FileCheck %s --check-prefix=PART
// PART: 'x': expected a part of the axis 'data' of 6 devices, got 'data(1)4', which does not divide it
// RUN: heddle-opt %s --mesh-plan="mesh=data=2,model=2 shard=batch:data" 2>&1 | FileCheck %s --check-prefix=IDLE
// IDLE: warning: no rule uses the axis 'model': its 2 devices compute the same values
// RUN: not heddle-opt %s --mesh-plan="plan=%t.none" 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: can't read the plan '{{.*}}.none': No such file or directory
// RUN: printf 'mesh data=2\nbatch=data\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=LINE
// LINE: plan '{{.*}}.plan', line 2: expected a rule [PATTERN/]NAME:[AXIS[+AXIS...]], got 'batch=data'

func.func @step(%x: !nd.tensor<f32, batch: 5, in: 6> {nd.name = "x"}, %w: !nd.tensor<f32, in: 6, hidden: 8> {nd.name = "net.w"}) {
  return
}
