// Each refusal names the rule, its file and line, and the nearest operator or name.
// RUN: printf 'mesh d=2\nop a:d\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=PATTERN
// PATTERN: plan '{{.*}}.plan', line 2: expected a rule op PATTERN/NAME:[AXIS[+AXIS...]], got 'op a:d'
// RUN: not heddle-opt %s --mesh-plan="mesh=d=2 shard='op net.w/a@d=1'" 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not heddle-opt %s --mesh-plan="mesh=d=2 shard='op net.w@d(1)=1'" 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not heddle-opt %s --mesh-plan="mesh=d=2 shard='op net.w@d=-1'" 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not heddle-opt %s --mesh-plan="mesh=d=2 shard='op net.w@file'" 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not heddle-opt %s --mesh-plan="mesh=d=2 shard='op @d=1'" 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: expected a rule op PATTERN@AXIS=COORDINATE, got 'op {{.+}}'
// RUN: printf 'mesh d=2\nop net.w@d=2\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=COORDINATE
// COORDINATE: the rule 'op net.w@d=2' (plan '{{.*}}.plan', line 2) has the coordinate 2, expected one of 'd' below 2
// RUN: printf 'mesh d=12\nx@d(1)2=1\nop net.w@d(1)3=1\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=AXES
// AXES: the rule 'op net.w@d(1)3=1' (plan '{{.*}}.plan', line 3) has places along 'd(1)2' and 'd(1)3', which divide 'd' into 2 and 3 parts; expected numbers of which one divides the other
// RUN: printf 'mesh d=2\nop net.v@d=1\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate 2>&1 | FileCheck %s --check-prefix=NOPLACE
// NOPLACE: the rule 'op net.v@d=1' (plan '{{.*}}.plan', line 2) matches no operator; the nearest one is 'net.w'
// RUN: printf 'mesh d=2\nop net.w/a:e\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: the rule 'op net.w/a:e' (plan '{{.*}}.plan', line 2) uses the axis 'e', expected one of 'd'
// RUN: printf 'mesh d=2\n\nop net.v/a:d\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: the rule 'op net.v/a:d' (plan '{{.*}}.plan', line 3) matches no operator; the nearest one is 'net.w'
// A dot at either end stands for an end of the name.
// RUN: printf 'mesh d=2\nop .w/a:d\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate 2>&1 | FileCheck %s --check-prefix=BEGIN
// BEGIN: the rule 'op .w/a:d' (plan '{{.*}}.plan', line 2) matches no operator; the nearest one is 'net.w'
// RUN: printf 'mesh d=2\nop net./a:d\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate 2>&1 | FileCheck %s --check-prefix=END
// END: the rule 'op net./a:d' (plan '{{.*}}.plan', line 2) matches no operator
// RUN: printf 'mesh d=2\nop *.net.w/a:d\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate 2>&1 | FileCheck %s --check-prefix=STAR
// STAR: the rule 'op *.net.w/a:d' (plan '{{.*}}.plan', line 2) matches no operator
// RUN: printf 'mesh d=2\nop net.w/kk:d\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate 2>&1 | FileCheck %s --check-prefix=LETTERS
// LETTERS: the rule 'op net.w/kk:d' (plan '{{.*}}.plan', line 2) matches no operator of the pattern that has the name 'kk'; the nearest name is 'k'
// RUN: printf 'mesh d=2\nop net.w/a:d\nop net.w/k:d\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: operator-rules-invalid.mlir:[[#]]:8: error: the operator 'net.w': an axis would split both 'a' by the rule 'op net.w/a:d' (plan '[[F:.*]].plan', line 2) and 'k' by the rule 'op net.w/k:d' (plan '[[F]].plan', line 3)
// RUN: printf 'mesh d=6\nop net.w/a:d(1)4\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate 2>&1 | FileCheck %s --check-prefix=PART
// PART: the operator 'net.w': expected a part of the axis 'd' of 6 devices, got 'd(1)4', which does not divide it
// RUN: printf 'mesh d=2\nx@d=1\nop net.w/a:d\n' > %t.plan
// RUN: not heddle-opt %s --mesh-plan="plan=%t.plan" --mesh-propagate 2>&1 | FileCheck %s --check-prefix=ROLES
// ROLES: the rule 'op net.w/a:d' (plan '{{.*}}.plan', line 3) splits a name over 'd', whose coordinates are places for the rule 'x@d=1'
// A hand-written module may state any text.
// RUN: sed 's/^func/module attributes {mesh.mesh = #mesh.mesh<d: 2>, mesh.rules = ["op a"]} { func/; s/^}$/}}/' %s > %t.mlir
// RUN: not heddle-opt %t.mlir --mesh-propagate 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: 'mesh.rules': expected a rule op PATTERN/NAME:[AXIS[+AXIS...]], got 'op a'

func.func @f(%x: !nd.tensor<f32, a: 8, k: 6> {nd.name = "x"}, %w: !nd.tensor<f32, b: 5, k: 6> {nd.name = "net.w"}) -> !nd.tensor<f32, a: 8, b: 5> {
  %r = nest.compute (a: 8, b: 5) reduce (k: 6) reads %x[], %w[] {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    nest.yield %p : f32
  } combine add [0.0 : f32] : (!nd.tensor<f32, a: 8, k: 6>, !nd.tensor<f32, b: 5, k: 6>) -> !nd.tensor<f32, a: 8, b: 5>
  return %r : !nd.tensor<f32, a: 8, b: 5>
}
