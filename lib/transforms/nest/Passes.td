//===- Passes.td - passes on nests -------------------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_PASSES_TD
#define HEDDLE_TRANSFORMS_NEST_PASSES_TD

include "mlir/Pass/PassBase.td"

class NestPass<string argument> : Pass<argument, "::mlir::func::FuncOp"> {
  let dependentDialects = ["::heddle::nest::NestDialect", "::heddle::nd::NdDialect", "::mlir::arith::ArithDialect"];
}

def NestFusePass : NestPass<"nest-fuse"> {
  let summary = "runs all rewrites that fuse nests until nothing changes";
  let description = [{
    `nest-fuse-producers`, `nest-fuse-epilogues`, `nest-fuse-siblings`, `nest-flatten-reductions` and `nest-cse` in turn, in the
    function and in the groups and scans in it. Nests whose results nobody reads are removed.

    Each rewrite asks whether it is legal, then one cost model (`secondsOf`, lib/analysis/NestAnalysis.h) whether it is faster: a nest
    runs at the rate of its arithmetic or of its memory, whichever is slower. A user decides with an attribute on the nest:
    `heddle.materialize` keeps its result in memory, `heddle.recompute` has it computed again at each use where that is legal. A
    nest with a schedule of its own is left as it is.
  }];
}

def NestFuseProducersPass : NestPass<"nest-fuse-producers"> {
  let summary = "computes a value again where it is read, if that is faster than keeping it";
  let description = [{
    A nest that reduces nothing is taken into the nests that read it: its reads go through their maps. Nests that only move
    elements always are. A guard of the reader passes to the producer's reads; an `else` value that the producer's code does not
    yield by itself is selected.

    Never taken in: what has `heddle.materialize`, layouts or a schedule, and pinned values: where a value and something derived from
    it meet in a comparison of floats, two copies might be rounded differently.
  }];
}

def NestFuseEpiloguesPass : NestPass<"nest-fuse-epilogues"> {
  let summary = "appends nests that read another one point by point to it";
  let description = [{
    Behind a reduction the reader becomes its `finish` region, behind another nest part of its body. A value with further readers
    stays a result: an optimiser's two updates become one nest with two results.
  }];
}

def NestFuseSiblingsPass : NestPass<"nest-fuse-siblings"> {
  let summary = "makes one nest of several that walk the same elements";
  let description = [{
    Nests over the same iteration space (under some renaming) that read the same elements and do not depend on each other, where
    that is faster: sums and sums of squares, a maximum and its index. Accumulators that turn out to be equal are merged.
  }];
}

def NestFlattenReductionsPass : NestPass<"nest-flatten-reductions"> {
  let summary = "a reduction of another reduction's results becomes one reduction over both sets of names";
  let description = [{
    For equal combiners, where that is faster: the gradient of a convolution sums over taps and channels at once instead of
    writing every tap.
  }];
}

def NestCsePass : NestPass<"nest-cse"> {
  let summary = "merges nests that compute the same up to renaming and the order of names";
  let description = [{
    The second of two equal nests is replaced by a renaming of the first one's results, which readers take in.
  }];
}

def NestChooseGroupsPass : NestPass<"nest-choose-groups"> {
  let summary = "asks for groups of nests that pass large values to each other";
  let description = [{
    Nests that all produce some common names at the same point of them, where carrying each point through all of them while it lies in a
    cache is clearly faster by the cost model: normalisations, softmax. Sums of products stay outside.
  }];
}

def NestFormGroupsPass : NestPass<"nest-form-groups"> {
  let summary = "makes a nest.group of the nests that were asked to run together";
  let description = [{
    `group = ["batch", "row", 0]` on nests (or the nd ops that become them; `group` in the builder writes it) asks for one group
    over these names. What the nests of a group hand to each other stays local to a tile. A nest that does not produce the
    names, or reads a neighbour's result, stays outside.
  }];
}

def NestMaterializeGuardsPass : NestPass<"nest-materialize-guards"> {
  let summary = "reads padded copies where a reduction would test a guard too often";
  let description = [{
    A read with an `else` value whose conditions are bounds of single coordinates reads a copy with a border of that value
    instead, where points outnumber elements eight to one. The copy is called `pad`.
  }];
}

def NestSplitReductionsPass : NestPass<"nest-split-reductions"> {
  let summary = "splits large reductions to few results into parts fixed by sizes";
  let description = [{
    The largest reduced name is cut into up to 16 parts that threads share; a second nest combines them. The parts depend on sizes
    alone, so the result has the same bits on any number of threads. With `always` reductions are split however small they are.
  }];
  let options = [Option<"always", "always", "bool", "false", "split reductions that are not worth it, too">];
}

def NestDropAfterPass : NestPass<"nest-drop-after"> {
  let summary = "what nd.after holds apart is in its place: the op becomes its operand";
  let description = [{
    Behind fusion and the merging of equal nests, which would undo the recomputation of a checkpoint.
  }];
}

def NestOrderReadsPass : NestPass<"nest-order-reads"> {
  let summary = "sorts the reads and scalar ops of nests";
  let description = [{
    Reads are sorted by what they read and where, operands of commutative scalar ops by what they compute, and scalar ops in the order
    in which the yielded values need them; equal reads are merged. So costs, rewrites and kernels do not depend on how a nest was
    written: `x * y + z` and `z + y * x` become one kernel.
  }];
}

def NestAssignLayoutsPass : NestPass<"nest-assign-layouts"> {
  let summary = "chooses a layout for every value";
  let description = [{
    All values of a function together, and for each nest the names that its lanes walk, by the cycles that arithmetic, accesses and
    copies cost (LayoutProblem.h). What is cheaper to copy than to read as it lies is copied by a nest called `pack`. The
    lanes are written on the nests as partial schedules, which `nest-choose-schedules` completes. Layouts that are written stay. An argument without `nd.layout` lies row-major over its sorted names unless it is donated or says
    `nd.layout = "any"`. The machine is the module's attribute `heddle.machine`, if there is one.

    With `explain`, remarks say for each value why it lies as it does, what the next best layouts would cost, and how
    far the whole may be from the best choice.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "say as remarks why each value lies as it does">];
}

def NestPrepareStepsPass : Pass<"nest-prepare-steps", "::mlir::ModuleOp"> {
  let summary = "rewrites functions until each op is a step and each result a buffer of its own";
  let description = [{
    Copies results that are arguments, constants, results of branches and loops, or returned twice, also those of groups and scans; fills large constants of one value
    by a nest; lays out constants that only branches and loops are given; moves what overwrites a donated argument behind all
    other readers of it; gives each branch and loop functions of its own.

    Refuses recursion through branches and loops.
  }];
  let dependentDialects = ["::heddle::nest::NestDialect", "::mlir::arith::ArithDialect"];
}

def NestChooseSchedulesPass : NestPass<"nest-choose-schedules"> {
  let summary = "chooses the loops of every nest";
  let description = [{
    Writes a `schedule` on each nest that has none, also on those in groups and scans: which loops visit the points, in which tiles,
    which of them threads share, what runs in registers and in lanes, and what is copied first. It follows from the nest, the
    layouts of all that the nest touches (`nd.layout`, `layouts`) and the machine, which is the module's attribute `heddle.machine`.
    A schedule that is written stays. The copies of stages (`copy`), and those that updates and scans make (`copies`), are
    scheduled in the same way. `heddle.chunks` says how many chunks threads will share of a nest that is in no other.

    The compiler runs this on each distinct kernel; `heddlec --emit=nest` shows the result.
  }];
}

#endif // HEDDLE_TRANSFORMS_NEST_PASSES_TD
