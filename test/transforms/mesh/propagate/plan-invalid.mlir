// Each refusal names the axis, the name or the rule, and what is there instead.
// RUN: not heddle-opt %s --mesh-plan="mesh=data=0 shard=batch:data" 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: expected axes with sizes, such as data=2,model=4, got 'data=0'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2,data=2 shard=batch:data" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: expected each axis of a mesh once, got 'data' twice
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=batch" 2>&1 | FileCheck %s --check-prefix=RULE
// RULE: expected a rule [PATTERN/]NAME:[AXIS[+AXIS...]], PATTERN@AXIS=COORDINATE or PATTERN@MEMORY, got 'batch'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=batch:data+" 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: expected a rule [PATTERN/]NAME:[AXIS[+AXIS...]], PATTERN@AXIS=COORDINATE or PATTERN@MEMORY, got 'batch:data+'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=batch:dat" 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: the rule 'batch:dat' uses the axis 'dat', expected one of 'data'
// RUN: not heddle-opt %s --mesh-plan="shard=batch:data" 2>&1 | FileCheck %s --check-prefix=NOMESH
// NOMESH: the rule 'batch:data' uses the axis 'data', expected one of none
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=bach:data" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: the rule 'bach:data' matches no argument that has the name 'bach'; names are 'batch', 'hidden', 'in'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=net.x/in:data" 2>&1 | FileCheck %s --check-prefix=PATTERN
// PATTERN: the rule 'net.x/in:data' matches no argument of the pattern that has the name 'in'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=batch:data,in:data" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: plan-invalid.mlir:[[#]]:17: error: the axis 'data' would shard both 'batch' and 'in' of 'x'; expected it to shard one name of a value
// RUN: not heddle-opt %s --mesh-plan="mesh=data=6 shard=batch:data(1)4" 2>&1 | FileCheck %s --check-prefix=PART
// PART: 'x': expected a part of the axis 'data' of 6 devices, got 'data(1)4', which does not divide it
// RUN: not heddle-opt %s --mesh-plan="mesh=data=8 shard=batch:data(4611686018427387904)4" 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: expected a rule [PATTERN/]NAME:[AXIS[+AXIS...]], PATTERN@AXIS=COORDINATE or PATTERN@MEMORY, got 'batch:data(4611686018427387904)4'
// RUN: heddle-opt %s --mesh-plan="mesh=data=2,model=2 shard=batch:data" 2>&1 | FileCheck %s --check-prefix=IDLE
// IDLE: warning: no rule uses the axis 'model': its 2 devices compute the same values
// RUN: not heddle-opt %s --mesh-plan="plan=%t.none" 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: can't read the plan '{{.*}}.none': No such file or directory
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=net.w@data" 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=net.w@data(1=0" 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=net.w@data=-1" 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=@data=1" 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not heddle-opt %s --mesh-plan="shard=net.w@disk" 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not heddle-opt %s --mesh-plan="shard=@file" 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: expected a rule PATTERN@AXIS=COORDINATE or PATTERN@MEMORY (device, host or file), got '{{.+}}'
// RUN: not heddle-opt %s --mesh-plan="shard=net.v@file" 2>&1 | FileCheck %s --check-prefix=NOMEMORY
// NOMEMORY: the rule 'net.v@file' matches no argument; arguments are 'x'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=net.w@stage=1" 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: the rule 'net.w@stage=1' uses the axis 'stage', expected one of 'data'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=net.w@data=2" 2>&1 | FileCheck %s --check-prefix=COORDINATE
// COORDINATE: the rule 'net.w@data=2' has the coordinate 2, expected one of 'data' below 2
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=net.v@data=1" 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: the rule 'net.v@data=1' matches no argument; arguments are 'x' with {batch: 5, in: 6}, 'net.w'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2,stage=2 shard=net.w@data(1)2=2" 2>&1 | FileCheck %s --check-prefix=PARTCOORDINATE
// PARTCOORDINATE: the rule 'net.w@data(1)2=2' has the coordinate 2, expected one of 'data(1)2' below 2
// RUN: not heddle-opt %s --mesh-plan="mesh=data=6 shard=net.w@data(1)4=1" 2>&1 | FileCheck %s --check-prefix=PLACEPART
// PLACEPART: the rule 'net.w@data(1)4=1': expected a part of the axis 'data' of 6 devices, got 'data(1)4', which does not divide it
// RUN: not heddle-opt %s --mesh-plan="mesh=data=12 shard=net.w@data(1)2=1,x@data(1)3=2" 2>&1 | FileCheck %s --check-prefix=BOUNDS
// BOUNDS: the rule 'x@data(1)3=2' has places along 'data(1)2' and 'data(1)3', which divide 'data' into 2 and 3 parts; expected numbers of which one divides the other
// RUN: not heddle-opt %s --mesh-plan="mesh=data=2 shard=batch:data,net.w@data=1" 2>&1 | FileCheck %s --check-prefix=SPLIT
// SPLIT: the rule 'batch:data' splits a name over 'data', whose coordinates are places for the rule 'net.w@data=1'
// RUN: not heddle-opt %s --mesh-plan="mesh=data=4 shard=batch:data(1)2,net.w@data(1)2=1" 2>&1 | FileCheck %s --check-prefix=SPLITPART
// SPLITPART: the rule 'batch:data(1)2' splits a name over 'data(1)2', whose coordinates are places for the rule 'net.w@data(1)2=1'
// RUN: heddle-opt %s --mesh-plan="mesh=stage=6 shard=net.w@stage(1)3=1" 2>&1 | FileCheck %s --check-prefix=NOPART
// NOPART: warning: no rule has a place at stage(1)3=2: its devices compute nothing
// RUN: heddle-opt %s --mesh-plan="mesh=stage=3 shard=net.w@stage=1" 2>&1 | FileCheck %s --check-prefix=NOBODY
// NOBODY: warning: no rule has a place at stage=2: its devices compute nothing
// RUN: printf 'mesh data=2\nbatch=data\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=LINE
// LINE: plan '{{.*}}.plan', line 2: expected a rule [PATTERN/]NAME:[AXIS[+AXIS...]], PATTERN@AXIS=COORDINATE or PATTERN@MEMORY, got 'batch=data'
// What is stated once may not differ, in a file and beside it; rules name their lines.
// RUN: printf '# plan\nmesh data=2\n\nmesh data=4\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=MESHES
// MESHES: plan '[[F:.*]].plan', line 4: 'mesh data=4' contradicts 'mesh data=2' (plan '[[F]].plan', line 2)
// RUN: printf 'zero 1\nmesh data=2\nbatch:data\nzero 2\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=ZEROS
// ZEROS: plan '[[F:.*]].plan', line 4: 'zero 2' contradicts 'zero 1' (plan '[[F]].plan', line 1)
// RUN: printf 'mesh data=2\nbatch:data\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan mesh=data=4" 2>&1 | FileCheck %s --check-prefix=BESIDE
// BESIDE: error: 'mesh data=4' contradicts 'mesh data=2' (plan '{{.*}}.plan', line 1)
// RUN: printf 'mesh data=2\nmicro-batches many\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: plan '{{.*}}.plan', line 2: expected a number after 'micro-batches', got 'many'
// RUN: printf 'mesh data=2\nbatch:data\n\nnet.v/in:data\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: the rule 'net.v/in:data' (plan '{{.*}}.plan', line 4) matches no argument of the pattern that has the name 'in'
// RUN: printf 'mesh data=2\n\nbatch:date\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=AXISLINE
// AXISLINE: the rule 'batch:date' (plan '{{.*}}.plan', line 3) uses the axis 'date', expected one of 'data'
// Coordinates of devices are symbols as well.
// RUN: sed 's/batch: 5/batch: mesh.data/' %s | not heddle-opt - --mesh-plan="mesh=data=2 shard=in:data" 2>&1 | FileCheck %s --check-prefix=SYMBOL
// SYMBOL: <stdin>:[[#]]:17: error: 'x': expected a size without 'mesh.', as coordinates of devices begin, got 'mesh.data'

func.func @step(%x: !nd.tensor<f32, batch: 5, in: 6> {nd.name = "x"}, %w: !nd.tensor<f32, in: 6, hidden: 8> {nd.name = "net.w"}) {
  return
}
