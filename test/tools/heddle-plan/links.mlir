// A plan file has the links by which its transfers were predicted, so that the compiler decides as heddle-plan did. Where
// links are fast, parameters are gathered again for the backward pass (test/exec/mesh/bytes.mlir has the formulas).
// REQUIRES: heddle-translate
// RUN: echo 's=0; while read -r a n b; do s=$((s + n)); done; echo it sends $s bytes' > %t.sum
// RUN: sed 's/ attributes {heddle.machine = #nest.machine<{links = 1}>}//' %S/../../exec/mesh/bytes.mlir > %t.mlir
// RUN: printf '{"heddle_topology": 1, "axes": [{"axis": "d", "devices": 4, "bytes_per_second": 1e18, "latency_seconds": 0}]}' > %t.fast.json
// RUN: printf '{"heddle_topology": 1, "axes": [{"axis": "d", "devices": 4, "bytes_per_second": 1, "latency_seconds": 0.125}]}' > %t.slow.json
// RUN: printf 'mesh d=4\nbatch:d\nfirst/mid:d\nmiddle/more:d\nlast/more:d\n' > %t.plan

// RUN: heddle-plan search %t.mlir --topology %t.fast.json --plan %t.plan --proposals 0 -o %t.fast.plan | FileCheck %s --check-prefix=FAST
// FAST: sends 3846 bytes
// RUN: FileCheck %s --check-prefix=LINES < %t.fast.plan
// LINES: mesh d=4
// LINES-NEXT: graph {{[0-9a-f]+$}}
// LINES-NEXT: {{^}}links d 1e+18 bytes/s 0 s{{$}}
// LINES-NEXT: batch:d
// RUN: heddlec %t.mlir --plan %t.fast.plan -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | grep -o "sends [0-9]* bytes" | sh %t.sum | FileCheck %s --check-prefix=FAST
// RUN: heddle-plan search %t.mlir --topology %t.slow.json --plan %t.plan --proposals 0 -o %t.slow.plan | FileCheck %s --check-prefix=SLOW
// SLOW: sends 3078 bytes
// RUN: grep '^links d 1 bytes/s 0.125 s$' %t.slow.plan
// RUN: heddlec %t.mlir --plan %t.slow.plan -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | grep -o "sends [0-9]* bytes" | sh %t.sum | FileCheck %s --check-prefix=SLOW
// The same for lines of the command line, and the cache knows both programs.
// RUN: heddlec %t.mlir --plan %t.plan --shard 'links d 1e18 bytes/s 0 s' -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | grep -o "sends [0-9]* bytes" | sh %t.sum | FileCheck %s --check-prefix=FAST
// On another topology the plan is that of the other links.
// RUN: heddle-plan simulate %t.mlir --topology %t.slow.json --plan %t.fast.plan | FileCheck %s --check-prefix=SLOW

// RUN: not heddlec %t.mlir --plan %t.fast.plan --shard 'links d 1e17 bytes/s 0 s' -o %t.heddle 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'links d 1e+17 bytes/s 0 s' contradicts 'links d 1e+18 bytes/s 0 s' (plan '{{.*}}.fast.plan', line 4)
// RUN: sed -i 's/^links d/links e/' %t.fast.plan
// RUN: not heddlec %t.mlir --plan %t.fast.plan -o %t.heddle 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: 'links e 1e+18 bytes/s 0 s' (plan '{{.*}}.fast.plan', line 4) uses the axis 'e', expected one of 'd'
// RUN: not heddlec %t.mlir --plan %t.plan --shard 'links d 0 bytes/s 0 s' -o %t.heddle 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not heddlec %t.mlir --plan %t.plan --shard 'links d 1e400 bytes/s 0 s' -o %t.heddle 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not heddlec %t.mlir --plan %t.plan --shard 'links d 1e9 bytes/s -1 s' -o %t.heddle 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not heddlec %t.mlir --plan %t.plan --shard 'links d nan bytes/s 0 s' -o %t.heddle 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not heddlec %t.mlir --plan %t.plan --shard 'links d 1e9 B/s 0 s' -o %t.heddle 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: not heddlec %t.mlir --plan %t.plan --shard 'links 1e9 bytes/s 0 s' -o %t.heddle 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: expected links AXIS RATE bytes/s LATENCY s, such as 'links data 1e9 bytes/s 5e-06 s', got 'links
