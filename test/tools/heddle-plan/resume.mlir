// A search that goes on from a found plan begins there: it ends no worse, and without proposals it finds the same.
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 40 --beta 5 -o %t.plan > %t.log
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 0 --resume %t.plan -o %t.again.plan > %t.again
// RUN: diff %t.plan %t.again.plan
// RUN: grep '^found' %t.log > %t.a && grep '^found' %t.again | diff - %t.a
// Without the file the search begins anew, so that the same command starts and goes on.
// RUN: rm -f %t.new.plan
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 40 --beta 5 --resume %t.new.plan -o %t.new.plan > %t.new
// RUN: diff %t.plan %t.new.plan
// A plan of another program, or of another search.
// RUN: sed 's/^graph .*/graph 0123456789abcdef/' %t.plan > %t.other.plan
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --resume %t.other.plan 2>&1 | FileCheck %s --check-prefix=GRAPH
// GRAPH: expected a plan for the graph {{[0-9a-f]+}}, got 0123456789abcdef (plan '{{.*}}.other.plan', line 3)
// RUN: sed 's/^batch:d/in:d/' %t.plan > %t.rules.plan
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --resume %t.rules.plan 2>&1 | FileCheck %s --check-prefix=RULES
// RULES: expected the rule 'batch:d' of this search in '{{.*}}.rules.plan', got none
// RUN: cp %t.plan %t.operator.plan && echo 'op .net.v./in:d' >> %t.operator.plan
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --resume %t.operator.plan 2>&1 | FileCheck %s --check-prefix=OPERATOR
// OPERATOR: no plan of this search has the rule 'op .net.v./in:d' of '{{.*}}.operator.plan'

// Operators that rules of --plan split are pinned: all plans have these rules and no others for them.
// RUN: printf 'batch:d\nop .net.w./in:d\n' > %t.pin.plan
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 60 --beta 0.01 --plan %t.pin.plan -o - | FileCheck %s --check-prefix=PIN
// PIN: tried {{[0-9]+}} of 10^1.1 plans
// PIN: op .net.w./in:d
// PIN-NOT: op .net.w./
// A ban holds for all plans, also for those in which the operator would follow its neighbours.
// RUN: heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 60 --ban 'op .net.w./batch:d' -o - | FileCheck %s --check-prefix=BAN
// BAN: op .net.w./batch:{{$}}
// Pins that contradict each other, or a ban.
// RUN: printf 'op .net.w./in:d\nop .net.w./in:\n' > %t.twice.plan
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --plan %t.twice.plan 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: the rule 'op .net.w./in:' (plan '{{.*}}.twice.plan', line 2) contradicts the rule 'op .net.w./in:d' (plan '{{.*}}.twice.plan', line 1)
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --plan %t.pin.plan --ban 'op .net.w./in:d' 2>&1 | FileCheck %s --check-prefix=BANNED
// BANNED: the rule 'op .net.w./in:d' (plan '{{.*}}.pin.plan', line 2) is banned by 'op .net.w./in:d'
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --ban 'batch:d' 2>&1 | FileCheck %s --check-prefix=NOBAN
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --ban 'op w/batch:' 2>&1 | FileCheck %s --check-prefix=NOBAN
// NOBAN: --ban: expected op PATTERN/NAME:AXIS[+AXIS...], got '

// A full disk loses nothing: neither a file that was there, nor the plan, nor the device.
// RUN: not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 5 -o /dev/full > %t.full 2> %t.error
// RUN: FileCheck %s --check-prefix=FULL < %t.error
// FULL: can't write '/dev/full': No space left on device
// RUN: test -c /dev/full
// RUN: FileCheck %s --check-prefix=KEPT < %t.full
// KEPT: graph {{[0-9a-f]+}}
// RUN: bash -c "not heddle-plan search %S/Inputs/step.mlir --topology %S/Inputs/two.json --proposals 5 -o - > /dev/full" 2>&1 | FileCheck %s --check-prefix=STDOUT
// STDOUT: can't write the output: No space left on device
