//===- Passes.td - passes on nests -------------------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_NEST_PASSES_TD
#define HEDDLE_TRANSFORMS_NEST_PASSES_TD

include "mlir/Pass/PassBase.td"

class NestPass<string argument, string op = "::mlir::func::FuncOp"> : Pass<argument, op> {
  let dependentDialects = ["::heddle::nest::NestDialect"]; // loads all others
}

def NestFusePass : NestPass<"nest-fuse"> {
  let summary = "runs all rewrites that fuse nests until nothing changes";
  let description = [{
    Runs `nest-fuse-producers`, `nest-fuse-epilogues`, `nest-fuse-siblings`, `nest-flatten-reductions` and `nest-cse` in
    turn, in the function and in its groups and scans. Nests whose results have no uses are removed.

    Each rewrite is applied where it is legal and faster by the cost model (`secondsBySizes`, lib/cost/Cost.h), which
    assumes good layouts and loops, and is the same for all CPUs. An attribute on a nest overrides the model:
    `heddle.materialize` stores its result, `heddle.recompute` recomputes it at each use where that is legal. A nest
    that has a schedule is not changed.

    With `explain`, a remark at each nest gives what was chosen by the model and what the other choice would take. A
    remark at each function gives the sum of the estimates of its nests (lib/cost), and a bound: the bytes of its
    arguments and results and the operations of its nests take that long, however nests are fused.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "report the other choices, what each function takes, and a bound">];
}

def NestFuseProducersPass : NestPass<"nest-fuse-producers"> {
  let summary = "fuses producers into their consumers where recomputing is faster than storing";
  let description = [{
    A nest without a reduction is fused into the nests that read it: its maps are composed with theirs. A nest that only
    moves elements is fused always. A guard of the consumer's read becomes a guard of the producer's reads. The consumer
    selects its `else` value where the producer's body does not yield it.

    Nests with `heddle.materialize`, layouts or a schedule are not fused. Neither are pinned values: if a comparison of
    floats has a value and another value derived from it as operands, two copies of the first might be rounded
    differently.
  }];
}

def NestFuseEpiloguesPass : NestPass<"nest-fuse-epilogues"> {
  let summary = "fuses pointwise consumers into the nests that they read, as epilogues";
  let description = [{
    The consumer of a reduction becomes its `finish` region, that of another nest part of its body. A value with other
    uses remains a result: the two updates of an optimiser become one nest with two results.
  }];
}

def NestFuseSiblingsPass : NestPass<"nest-fuse-siblings"> {
  let summary = "fuses independent nests that read the same elements";
  let description = [{
    Nests over the same iteration space (under some renaming) that read the same elements and do not depend on each
    other become one nest where that is faster: a sum and a sum of squares, a maximum and its index. Equal accumulators
    are merged.
  }];
}

def NestFlattenReductionsPass : NestPass<"nest-flatten-reductions"> {
  let summary = "merges a reduction of a reduction's results into one reduction over both sets of names";
  let description = [{
    Both reductions must have the same combiner, and one reduction must be faster: the gradient of a convolution sums
    over taps and channels at once instead of storing a result for each tap.
  }];
}

def NestCsePass : NestPass<"nest-cse"> {
  let summary = "merges nests that are equal up to renaming and the order of names";
  let description = [{
    The results of the second of two equal nests are replaced by renamed results of the first; fusion then removes the
    renaming.
  }];
}

def NestChooseGroupsPass : NestPass<"nest-choose-groups"> {
  let summary = "requests groups of nests that pass large values to each other";
  let description = [{
    Nests that produce common names, and read each other at the same point of these, are requested as a group where the
    cost model finds it clearly faster to run all of them for one point while its values are in a cache: normalisations,
    softmax. Sums of products stay outside.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "report in remarks what the other choice of each decision costs">];
}

def NestFormGroupsPass : NestPass<"nest-form-groups"> {
  let summary = "moves nests that are requested as a group into a nest.group";
  let description = [{
    The attribute `group = ["batch", "row", 0]` on nests (or on the nd ops that become them; `group` in the builder
    writes it) requests one group over these names; the number distinguishes groups over equal names. Values that the
    nests of a group pass to each other are local to a tile. A nest that does not produce the names, or that reads
    elements of another point, stays outside.
  }];
}

def NestMaterializeGuardsPass : NestPass<"nest-materialize-guards"> {
  let summary = "replaces guarded reads of reductions by reads of padded copies";
  let description = [{
    A read with an `else` value, whose conditions are bounds of single coordinates, reads a copy with a border of that
    value instead if the nest has at least eight times as many points as the tensor has elements. The nest that copies
    is called `pad`.
  }];
}

def NestSplitReductionsPass : NestPass<"nest-split-reductions"> {
  let summary = "splits large reductions with few results into parts that threads share";
  let description = [{
    The largest reduced name is split into up to 16 parts; a second nest combines their results. The parts depend on
    sizes alone, so that a result has the same bits on any number of threads.
  }];
  let options = [Option<"always", "always", "bool", "false", "split also reductions for which this is slower">];
}

def NestSplitUpdatesPass : NestPass<"nest-split-updates"> {
  let summary = "splits large accumulating updates into parts that blocks of lanes share";
  let description = [{
    On a machine that states `points_per_block`, a name of an update whose points may write the same element, as in a
    histogram, is split into up to 256 parts with elements of their own, which a second nest combines. The combiner has
    to be a named one. The parts depend on sizes alone.
  }];
}

def NestDropAfterPass : NestPass<"nest-drop-after"> {
  let summary = "replaces nd.after by its first operand";
  let description = [{
    Runs after fusion and `nest-cse`. These would otherwise merge the recomputation of a checkpoint with the forward
    pass.
  }];
}

def NestNarrowProductsPass : NestPass<"nest-narrow-products"> {
  let summary = "rounds the factors of products that are summed to a narrow type";
  let description = [{
    Where products of f32 are summed, and each factor lacks a name of the iteration space, the factors are rounded to
    `type`; products and sums stay f32. So matrix products, convolutions, and their gradients read narrow operands,
    while elementwise products, sums of squares, weighted means and normalisations stay as they are. Factors without
    names are not rounded.

    The compiler runs it before fusion if `products` is among its options.
  }];
  let options = [Option<"type", "type", "std::string", "\"bf16\"", "a float type narrower than f32">];
}

def NestGatherAgainPass : NestPass<"nest-gather-again"> {
  let summary = "keeps gathered values between uses, or gathers them again";
  let description = [{
    Compares the time of repeating the transfer with the memory that is held from one use to the next. A gather then
    starts shortly before its first use; see `GatherAgain.h`. The module's attribute `heddle.machine` may state the rate
    of the links. No pass that merges equal ops may follow.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "report in remarks what each decision costs">];
}

def NestOrderReadsPass : NestPass<"nest-order-reads"> {
  let summary = "sorts the reads and scalar ops of nests";
  let description = [{
    Reads are sorted by tensor and index map, operands of commutative scalar ops by the expressions that they compute,
    and scalar ops in the order in which the yielded values use them; equal reads are merged. Costs, rewrites and
    kernels then do not depend on how a nest is written: `x * y + z` and `z + y * x` become one kernel.
  }];
}

def NestAssignLayoutsPass : NestPass<"nest-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "chooses a layout for every value";
  let description = [{
    Chooses the layouts of all values of a function together, and for each nest the names that its vector lanes run
    over, by the cycles that arithmetic, accesses and copies take (LayoutProblem.h). If copying a value into another
    layout is cheaper than reading it in its own, a nest called `pack` copies it. The lanes become partial schedules of
    the nests, which `nest-choose-schedules` completes. Written layouts are kept. An argument without `nd.layout` is
    row-major over its sorted names unless it is donated or has `nd.layout = "any"`. The module's attribute
    `heddle.machine`, if present, describes the machine.

    The functions of branches and loops come after their callers. An argument of which such a function reads at most
    half gets the caller's layout, since converting all of it would cost more than the function saves.

    With `explain`, a remark for each value gives the reason for its layout and the costs of the next best ones; another
    gives a bound of the distance from the optimum.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "emit remarks that explain the layout of each value">];
}

def NestPrepareStepsPass : NestPass<"nest-prepare-steps", "::mlir::ModuleOp"> {
  let summary = "rewrites functions so that each op is a step and each result has its own buffer";
  let description = [{
    - Copies results that are arguments, constants or results of branches and loops, or that are returned twice, also
      those of groups and scans.
    - Replaces large splat constants by nests that fill them.
    - Gives a layout to constants that only branches and loops use.
    - Moves an op that overwrites a donated argument after all other reads of the argument.
    - Clones functions that several branches and loops call.

    Emits an error for recursion through branches and loops.
  }];
}

def NestChooseSchedulesPass : NestPass<"nest-choose-schedules"> {
  let summary = "chooses a schedule for every nest";
  let description = [{
    Adds a `schedule` to each nest that has none, including those in groups and scans: the loops and their order, tile
    sizes, which loops threads share, which are unrolled into registers or vector lanes, and which operands are packed.
    The schedule depends on the nest, the layouts of its operands and results (`nd.layout`, `layouts`) and the machine,
    which is the module's attribute `heddle.machine`. A schedule that is already given is kept. The copies of stages
    (`copy`), and those that updates and scans make (`copies`), are scheduled in the same way. On an outermost nest the
    attribute `heddle.chunks` becomes the number of chunks that threads share.

    The compiler runs this pass on each distinct kernel; `heddlec --emit=nest` shows the result.
  }];
}

def NestCostPass : NestPass<"nest-cost"> {
  let summary = "prints what each nest costs";
  let description = [{
    Emits a remark at each outermost nest: the seconds that the cost model (lib/cost) estimates from what the nest
    states (its schedule, its layouts, or its sizes alone) and from less than that, a lower bound, what limits the nest,
    and the amounts from which the estimate follows. The machine is the module's attribute `heddle.machine`. With `warm`
    the nest runs alone, again and again, so that what fits into a cache stays in it. With `formula` a remark at each
    function states how amounts and rates make up the seconds of an estimate, as an expression of Python, and the rates.
  }];
  let options = [Option<"warm", "warm", "bool", "false", "no other kernels run between two calls">,
                 Option<"threads", "threads", "unsigned", "1", "threads that share each nest">,
                 Option<"formula", "formula", "bool", "false", "print the formula of the estimates">];
}

#endif // HEDDLE_TRANSFORMS_NEST_PASSES_TD
