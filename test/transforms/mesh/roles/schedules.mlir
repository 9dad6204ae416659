// The order in which roles run the parts of a batch, as plans state it. The script computes when passes of equal length
// run in this order, and how many of a role's forward passes await their backward pass. The program alternates.
// RUN: %S/Inputs/pipeline write 3 5 1 > %t.mlir
// RUN: printf 'mesh stage=3\n.w0.@stage=0\n.w1.@stage=1\n.w2.@stage=2\nschedule gpipe\n' > %t.plan
// RUN: heddle-opt %t.mlir --mesh-plan="plan=%t.plan" --mesh-partition --mesh-roles | %S/Inputs/pipeline check 3 5 1 gpipe | FileCheck %s --check-prefix=GPIPE
// GPIPE: stage=0: F0.0 F0.1 F0.2 F0.3 F0.4 B0.0 B0.1 B0.2 B0.3 B0.4
// GPIPE: stage=1: F1.0 F1.1 F1.2 F1.3 F1.4 B1.0 B1.1 B1.2 B1.3 B1.4
// GPIPE: stage=2: F2.0 F2.1 F2.2 F2.3 F2.4 B2.0 B2.1 B2.2 B2.3 B2.4
// GPIPE: waits 4 of 10, holds 5 5 5
// RUN: printf 'mesh stage=3\n.w0.@stage=0\n.w1.@stage=1\n.w2.@stage=2\nschedule 1f1b\n' > %t.plan
// RUN: heddle-opt %t.mlir --mesh-plan="plan=%t.plan" --mesh-partition --mesh-roles | %S/Inputs/pipeline check 3 5 1 1f1b | FileCheck %s --check-prefix=ONE
// ONE: stage=0: F0.0 F0.1 F0.2 B0.0 F0.3 B0.1 F0.4 B0.2 B0.3 B0.4
// ONE: stage=1: F1.0 F1.1 B1.0 F1.2 B1.1 F1.3 B1.2 F1.4 B1.3 B1.4
// ONE: stage=2: F2.0 B2.0 F2.1 B2.1 F2.2 B2.2 F2.3 B2.3 F2.4 B2.4
// ONE: waits 4 of 10, holds 3 2 1

// Values pass each role twice, since operators have places.
// RUN: %S/Inputs/pipeline write 2 4 2 > %t.twice.mlir
// RUN: printf 'mesh stage=2\n.w0.@stage=0\n.w1.@stage=1\nschedule interleaved\n' > %t.plan
// RUN: heddle-opt %t.twice.mlir --mesh-plan="plan=%t.plan" --mesh-partition --mesh-roles | %S/Inputs/pipeline check 2 4 2 interleaved | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: stage=0: F0.0 F0.1 F2.0 F2.1 F0.2 B2.0 F0.3 B2.1 F2.2 B0.0 F2.3 B0.1 B2.2 B2.3 B0.2 B0.3
// CHUNKS: stage=1: F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 F1.2 B1.0 F1.3 B1.1 F3.2 B3.2 F3.3 B3.3 B1.2 B1.3
// CHUNKS: waits 2 of 16

// Refusals.
// RUN: not heddle-opt %t.mlir --mesh-plan="mesh=stage=3 shard='schedule 1f1b'" 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error: 'schedule 1f1b' orders what places compute; expected a rule with a place, such as PATTERN@AXIS=COORDINATE
// RUN: not heddle-opt %t.mlir --mesh-plan="shard='schedule 2f2b'" 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: expected greedy, gpipe, 1f1b or interleaved after 'schedule', got '2f2b'
// RUN: printf 'mesh stage=2\nschedule gpipe\n' > %t.plan
// RUN: not heddle-opt %t.mlir --mesh-plan="plan=%t.plan shard='schedule 1f1b'" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: 'schedule 1f1b' contradicts 'schedule gpipe' (plan '{{.*}}.plan', line 2)
// RUN: printf 'mesh stage=3\n.w1.@stage=1\n.w2.@stage=2\nschedule interleaved\n' > %t.plan
// RUN: not heddle-opt %t.mlir --mesh-plan="plan=%t.plan" --mesh-partition --mesh-roles 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: {{.*}}:4:1: error: values pass each role along 'stage' once; expected several times for the schedule 'interleaved', or the schedule '1f1b'
// RUN: printf 'mesh stage=2\n.w1.@stage=1\nschedule 1f1b\n' > %t.plan
// RUN: not heddle-opt %t.twice.mlir --mesh-plan="plan=%t.plan" --mesh-partition --mesh-roles 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: {{.*}}:4:1: error: values pass some roles along 'stage' 2 times; expected once for the schedule '1f1b', or the schedule 'interleaved'
// RUN: %S/Inputs/pipeline write 2 3 2 > %t.odd.mlir
// RUN: printf 'mesh stage=2\n.w1.@stage=1\nschedule interleaved\n' > %t.plan
// RUN: not heddle-opt %t.odd.mlir --mesh-plan="plan=%t.plan" --mesh-partition --mesh-roles 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: {{.*}}:4:1: error: expected a number of parts of a batch that 2 roles along 'stage' divide for the schedule 'interleaved', got 3
// RUN: %S/Inputs/pipeline write 2 1 1 > %t.one.mlir
// RUN: printf 'mesh stage=2\n.w1.@stage=1\nschedule gpipe\n' > %t.plan
// RUN: heddle-opt %t.one.mlir --mesh-plan="plan=%t.plan" --mesh-partition --mesh-roles 2>&1 | FileCheck %s --check-prefix=PART
// PART: {{.*}}:4:1: warning: the schedule 'gpipe' has one part of a batch to order; expected several, as micro-batches
