//===- Passes.td - passes on named tensors -----------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_PASSES_TD
#define HEDDLE_TRANSFORMS_ND_PASSES_TD

include "mlir/Pass/PassBase.td"

class NdPass<string argument, string op = ""> : Pass<argument, op> {
  let dependentDialects = ["::heddle::nest::NestDialect"]; // loads all others
}

def NdInlineCallsPass : NdPass<"nd-inline-calls", "::mlir::ModuleOp"> {
  let summary = "inlines calls, lifting the callee's ops over names that operands have and formals lack";
  let description = [{
    Each op of the callee gets the lifted names of its operands. A reduction lists the names that it reduces, so that
    lifted names remain. A name of the callee that equals a lifted name is renamed (`k` becomes `k$1`). Random bits
    repeat along a lifted name that their key lacks.

    A branch whose condition is lifted becomes both of its sides and a selection. If derivatives are requested, a side
    reads `select(taken, x, stop_gradient(x))` instead of each float tensor `x`: no gradient comes from points where it
    is not taken.

    Emits an error for recursion, and for lifting a function that contains `nd.vjp` or `nd.jvp`.
  }];
}

def NdExpandPass : NdPass<"nd-expand", "::mlir::ModuleOp"> {
  let summary = "expands ops of other dialects into nd and nest ops";
  let description = [{
    Expands all ops that implement `ExpandInterface` (lib/transforms/nd/Expand.h), until none is left.

    Emits an error for an op that expands to values of other types, or to itself.
  }];
}

def NdDifferentiatePass : NdPass<"nd-differentiate", "::mlir::ModuleOp"> {
  let summary = "replaces nd.vjp and nd.jvp by the ops that compute values, gradients and tangents";
  let description = [{
    Requests inside a callee are expanded first, so that gradients of gradients work; calls inside a callee are inlined.
    The callee's ops are emitted once, for values and gradients. The pass then visits them in reverse order: each op
    builds the gradients of its operands from those of its results (`DifferentiableInterface`). Cotangents of a value
    with several uses are added. Gradients that are not requested are not computed; a zero gradient is materialised only
    as a result.

    For `nd.jvp` ops are visited in order: gradients are linear in the cotangents, so that the tangent of an op is the
    transpose of its gradient. A call with `gradient` calls that function. A call with `checkpoint` is computed again in
    the backward pass, from operands behind `nd.after`. A loop with a constant trip count becomes a scan, which saves
    the carried values of each step. Each side of a branch is differentiated by itself. An `scf.while`, and an `scf.for`
    whose bounds are values, have tangents; their gradients are an error. At the end the pass removes
    `nd.stop_gradient`.
  }];
  let dependentDialects = ["::heddle::nest::NestDialect", "::mlir::scf::SCFDialect"];
}

def NdHoistPass : NdPass<"nd-hoist"> {
  let summary = "moves loop-invariant ops out of loops and recurrences";
  let description = [{
    A loop-invariant op of an `scf.for`, `scf.while` or `nest.scan` is moved before the loop, together with the ops that
    it depends on, if reading its results is cheaper than computing them in each step: reductions, scans, sorts,
    scatters, random bits, branches, and pointwise ops whose results are no larger than their operands. Index maps alone
    are not moved, because a reader evaluates them at no cost. Loops that may not terminate are not moved. Neither is
    `nd.after`, which requests recomputation.
  }];
}

def NdSumAfterScansPass : NdPass<"nd-sum-after-scans"> {
  let summary = "moves sums over the steps out of recurrences";
  let description = [{
    If each step of a `nest.scan` only adds a product, or a sum of products over some names, to a carried tensor, the
    scan no longer carries it. One product over all steps, after the scan, is summed over the names of the steps as
    well. The gradient of a weight that all steps read is such a tensor: adding to it in each step reads and writes a
    tensor of the weight's size each time. The factors are read for all steps where the scan reads or yields them.
    Otherwise the scan yields them, if that takes no more memory than the carried tensor. The pass changes only sums
    in `f32` and `f64`.
  }];
}

def NdExpandControlFlowPass : NdPass<"nd-expand-control-flow"> {
  let summary = "converts cheap loops to scans and cheap branches to selects";
  let description = [{
    - An `scf.for` with a constant trip count becomes a `nest.scan` along a new name. If its steps are expensive, or
      contain an `scf.while`, it becomes an `scf.while`, and so does a `nest.scan` with such steps.
    - An `scf.for` whose bounds are values becomes an `scf.while`.
    - An expensive loop whose steps do nothing once the condition in its body fails ends at that step.
    - An `scf.if` becomes the ops of both sides and an `nd.pointwise` that selects, unless they are expensive or contain
      an `scf.while`.

    All other `scf.if` and `scf.while` are left to `nd-outline-control`.
  }];
  let dependentDialects = ["::heddle::nest::NestDialect", "::mlir::scf::SCFDialect"];
}

def NdOutlineControlPass : NdPass<"nd-outline-control", "::mlir::ModuleOp"> {
  let summary = "outlines branches and loops into functions that nest.control calls";
  let description = [{
    Each side of an `scf.if` becomes a function whose arguments are the values that the sides capture. The condition of
    an `scf.while` is computed once before the loop; the body becomes a function that computes the next state and the
    next condition.
  }];
}

def NdCsePass : NdPass<"nd-cse"> {
  let summary = "merges ops that are equal up to renaming and the order of names";
  let description = [{
    Two ops are equal if some renaming of the dimensions maps one to the other: the users of `x y^T` and of `y x^T`
    share one product. The second op is replaced by the first, followed by an `nd.rename` if names differ. The order of
    operands of commutative scalar ops does not matter. The op that comes first in the program is kept, whatever its
    spelling is.

    An op in a branch or loop is merged with one before the branch or loop if reading its results is cheaper than
    computing them again. Branches, loops and recurrences are merged like ops. They are equal if they yield equal
    values, whatever names they use, in whichever order their ops are, and whatever else they compute. Loops that
    contain loops that contain loops are compared textually.
  }];
}

def NdCheckPass : NdPass<"nd-check", "::mlir::func::FuncOp"> {
  let summary = "adds checks of coordinates and NaN, whose first failure a function returns";
  let description = [{
    A public function gets two more results, scalars of i64: the number of the first check that failed, or -1, and the
    coordinate that failed it. The attribute `heddle.checks` lists the message of each check; if a message ends in a
    space, the coordinate follows it.

    The checks: coordinates of `nd.gather` and `nd.scatter` are in bounds; the start of an `nd.dynamic_slice` or
    `nd.update_slice` needs no clamping; an op on floats gives no NaN unless an operand has one. Loops, branches and
    recurrences carry the first failure as another value; of a branch, only the side that is taken is checked. Of a
    kernel (`nest.compute`) only the results are checked, not its coordinates and intermediate values, because its
    conditions may discard these.
  }];
}

def NdMergeFunctionsPass : NdPass<"nd-merge-functions", "::mlir::ModuleOp"> {
  let summary = "merges functions that are equal up to renaming";
  let description = [{
    Two functions are equal if they compute the same results up to a renaming that also maps their formals and results
    to each other: `f(x: {m, k})` and `g(y: {p, q})` are merged, and a call of `g` becomes a call of `f` with renamed
    operands and results. Callees are visited before callers, so that functions that call equal functions are equal. The
    first of equal functions is kept; another one is erased unless it is public. Calls that lift over a name of the
    function that is kept, and calls with `gradient`, are not changed.
  }];
}

def NdSimplifyPass : NdPass<"nd-simplify"> {
  let summary = "simplifies ops by a list of rewrite rules";
  let description = [{
    The [table of rules](rules.md) describes them. By default a rewrite keeps every value bit for bit, except that a
    reduction has no order and may have more precision than its type. Rules that change floats in other ways need a flag
    of `fast-math`.

    ```
    heddle-opt program.mlir --nd-simplify="fast-math=reassociate,no-nans without=slice-to-operands"
    ```

    With `verify-rules` the pass verifies all ops after each rule, and names the rule that makes an illegal one.
  }];
  let options = [
    ListOption<"fastMath", "fast-math", "std::string", "fast-math flags: reassociate, no-nans, no-signed-zeros, reciprocal, excess-precision">,
    ListOption<"only", "only", "std::string", "the names of the rules to use (default: all)">,
    ListOption<"without", "without", "std::string", "the names of rules to leave out">,
    Option<"verifyRules", "verify-rules", "bool", "false", "verify all ops after each rule">,
    Option<"mostRounds", "most-rounds", "int64_t", "0", "fail after this many rounds (0: 10 plus the number of ops)">
  ];
}

def NdFoldPadIntoWindowPass : NdPass<"nd-fold-pad-into-window"> {
  let summary = "folds a pad into the padding of the window that reads it";
  let description = [{
    This is legal if the window does not extend past its operand, or if its padding value is that of the pad. There may
    be pads and windows of other names between the two.
  }];
  let options = [
    Option<"mostRounds", "most-rounds", "int64_t", "0", "fail after this many rounds (0: 10 plus the number of ops)">
  ];
}

def NdRequireSizesPass : NdPass<"nd-require-sizes", "::mlir::func::FuncOp"> {
  let summary = "attaches requirements on symbolic sizes to functions";
  let description = [{
    Sizes must not be negative, and an op that reads a part of a tensor must stay in bounds. A condition that has
    symbols and does not follow from their declared ranges becomes an entry of the function's attribute
    `heddle.requires`. A compiled program checks these when it is called.
  }];
}

def NdNeutralNamesPass : NdPass<"nd-neutral-names", "::mlir::ModuleOp"> {
  let summary = "renames dimensions to n000, n001, ... in their canonical order";
  let description = [{
    Fusion, layouts and schedules choose among names, and their choices must not depend on spelling. The original names
    are kept in the function's attribute `heddle.names`, from which `nd-restore-names` restores them. Size symbols are
    renamed likewise. Functions that call others, or are called (`nd.call`, `nest.control`), keep their names: operands
    and arguments have the same.
  }];
}

def NdRestoreNamesPass : NdPass<"nd-restore-names", "::mlir::ModuleOp"> {
  let summary = "restores the names that nd-neutral-names replaced";
  let description = [{
    Names that passes have derived from neutral names since are renamed with these: `n001$1` becomes `k$1`.
  }];
}

#endif // HEDDLE_TRANSFORMS_ND_PASSES_TD
