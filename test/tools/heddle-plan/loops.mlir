// A recurrence that communicates is a loop. Its transfers count in each turn, as in the table of the compiled program.
// REQUIRES: heddle-translate
// RUN: printf 'row:d\n' > %t.plan
// RUN: heddle-plan simulate %S/../../exec/mesh/recurrences.mlir --entry backwards --topology %S/Inputs/two.json --plan %t.plan > %t.log
// RUN: grep -o 'sends [0-9]* bytes' %t.log > %t.a
// RUN: FileCheck %s < %t.a
// CHECK: sends {{[1-9][0-9]*}} bytes
// RUN: heddlec %S/../../exec/mesh/recurrences.mlir --mesh d=2 --shard row:d -o %t.heddle
// RUN: heddle-translate --program-to-text %t.heddle | sed -n '/^collectives of @backwards/,/in all/s/.*in all \([0-9]*\) bytes.*/sends \1 bytes/p' | diff - %t.a

// Each of the four turns waits for its links: two rounds of an all-reduce, of which one takes 1 us or 1 ms.
// Other work hides a few microseconds.
// RUN: heddle-plan simulate %S/../../exec/mesh/recurrences.mlir --entry backwards --topology %S/Inputs/two.json --plan %t.plan --json > %t.fast
// RUN: sed 's/"latency_seconds": 1e-6/"latency_seconds": 1e-3/' %S/Inputs/two.json > %t.slow.json
// RUN: heddle-plan simulate %S/../../exec/mesh/recurrences.mlir --entry backwards --topology %t.slow.json --plan %t.plan --json > %t.slow
// RUN: python3 -c "import json, sys; a, b = [json.load(open(p)) for p in sys.argv[1:]]; print((b['picoseconds'] - a['picoseconds']) / 999000000)" %t.fast %t.slow | FileCheck %s --check-prefix=TURNS
// TURNS: {{^(7\.9[0-9]|8\.0)}}
