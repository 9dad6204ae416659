//===- Passes.td - passes on named tensors -----------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_ND_PASSES_TD
#define HEDDLE_TRANSFORMS_ND_PASSES_TD

include "mlir/Pass/PassBase.td"

def NdInlineCallsPass : Pass<"nd-inline-calls", "::mlir::ModuleOp"> {
  let summary = "replaces calls by the callee's ops, lifted over the names that operands have beyond their formals";
  let description = [{
    Lifting is a transformation of the callee's ops: each gets the lifted names of its operands. Reductions list the names that
    they reduce, so a lifted name passes through. A name of the callee that a lifted name would meet is renamed apart (`k` becomes `k$1`).
    Random bits repeat along a lifted name that their key lacks.

    Refuses recursion, and lifting a function that still has gradient requests.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect", "::heddle::nest::NestDialect"];
}

def NdExpandPass : Pass<"nd-expand", "::mlir::ModuleOp"> {
  let summary = "replaces ops of other dialects by the nd and nest ops that they stand for";
  let description = [{
    Ops that implement `ExpandInterface` (lib/transforms/nd/Expand.h) are asked for them, until none is left.

    Refuses ops that expand to values of other types, and ops that expand to themselves.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect", "::heddle::nest::NestDialect"];
}

def NdDifferentiatePass : Pass<"nd-differentiate", "::mlir::ModuleOp"> {
  let summary = "replaces nd.vjp and nd.jvp by the ops that compute values, gradients and tangents";
  let description = [{
    Requests inside a callee are expanded first, so that gradients of gradients work; calls inside a callee
    are inlined. The callee's ops are written once (values and gradients share them), then walked backwards: each op gives the
    gradients of its operands from those of its results (`DifferentiableInterface`). Cotangents of a value with several uses are added up.
    What is not asked for is not computed; a gradient that is zero becomes a constant only where it is a result.

    `nd.jvp` walks forwards: gradients are linear in the cotangents, and the tangent of an op is the transpose of its gradient.
    A call with `gradient` calls that function. A call with `checkpoint` is computed again in the backward pass, from operands behind `nd.after`.
    Loops with a known number of steps become scans, which save what they carry at each step; branches are differentiated side by side.
    An `scf.while`, and an `scf.for` whose bounds are values, have tangents but are refused backwards. Last, `nd.stop_gradient` disappears.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect", "::heddle::nest::NestDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::scf::SCFDialect"];
}

def NdHoistPass : Pass<"nd-hoist"> {
  let summary = "takes work that is the same in all steps out of loops and recurrences";
  let description = [{
    An op of an `scf.for`, `scf.while` or `nest.scan` that depends on nothing that changes from step to step is moved before the loop, with what
    it needs, if reading its results takes less than computing them again: reductions, scans, sorts, scatters, random bits, branches, and pointwise ops
    whose results are no larger than what they read. Index maps alone stay, since they cost nothing where they are read. Loops that may have no
    end stay where they are; `nd.after` stays, as it asks for being computed again.
  }];
}

def NdExpandControlFlowPass : Pass<"nd-expand-control-flow"> {
  let summary = "small loops become scans that carry their tensors, small branches become selections";
  let description = [{
    `scf.for` with a known number of steps becomes `nest.scan` along a name of its own, and `scf.for` whose bounds are values
    `scf.while`; so do a loop and a `nest.scan` whose steps are much work, or hold an `scf.while`. A loop that does nothing once the condition of its body fails ends there
    (if it is much work in all). `scf.if` becomes both of its
    sides and `nd.pointwise` that selects, unless they are much work or hold an `scf.while`. Other `scf.if` and `scf.while` stay, for `nd-outline-control`.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect", "::heddle::nest::NestDialect",
                           "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def NdOutlineControlPass : Pass<"nd-outline-control", "::mlir::ModuleOp"> {
  let summary = "branches and loops become nest.control over functions";
  let description = [{
    The sides of an `scf.if` become functions of what they capture. Of an `scf.while` the condition is computed once before it, and
    its body becomes a function that computes the next state and the next condition.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect", "::heddle::nest::NestDialect"];
}

def NdCsePass : Pass<"nd-cse"> {
  let summary = "merges ops that compute the same up to renaming and the order of names";
  let description = [{
    Two ops are equal if some renaming of the dimensions takes one to the other: two users of `x y^T` and of `y x^T` share one product.
    The second is replaced by the first, behind an `nd.rename` where the names differ. Operands
    of commutative scalar ops may be written in any order. The order of the program, not spelling, decides which of the two stays.
    In a branch or loop an op is merged with one before it, too, if reading its results takes less than computing them again.
    Branches, loops and recurrences are merged like ops: they are equal if what they yield is, whatever names they use, in whichever order
    their ops stand and whatever else they compute. Those that hold loops within loops are compared as they are written.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect"];
}

def NdCheckPass : Pass<"nd-check", "::mlir::func::FuncOp"> {
  let summary = "functions tell the first place or NaN that is a mistake";
  let description = [{
    A public function gets two more results, scalars of i64: the number of the first check that failed, or -1, and the coordinate that it saw.
    The attribute `heddle.checks` lists what each check says; a text that ends in a space is followed by the coordinate.
    Checked are the coordinates of `nd.gather` and `nd.scatter`, and each op that computes floats: that it gives no NaN, or that an operand has
    one. Checked, too, is that the ranges of `nd.dynamic_slice` and `nd.update_slice` begin where they need not be clamped.
    Loops, branches and recurrences carry what was found; of a branch, the side that is taken is looked at. A kernel (`nest.compute`) is looked at as a
    whole: neither its places nor what it computes on the way, as its conditions discard what it computes elsewhere.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect", "::mlir::arith::ArithDialect"];
}

def NdMergeFunctionsPass : Pass<"nd-merge-functions", "::mlir::ModuleOp"> {
  let summary = "calls of functions that compute the same, up to names, call one of them";
  let description = [{
    Two functions are equal if what they return is computed alike up to renaming, and their formals and results match under that renaming:
    `f(x: {m, k})` and `g(y: {p, q})` are one, and a call of `g` renames its operands and results. The one that is met first stays, callees before callers; the other
    goes away unless it is public. Callees come before callers, so that functions are equal that call equal functions. Leaves calls alone that lift over a
    name of the function that stays, or have a gradient of their own.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect"];
}

def NdSimplifyPass : Pass<"nd-simplify"> {
  let summary = "removes what changes nothing, and computes what is left with less work";
  let description = [{
    A list of rules with names, described in [the table of rules](rules.md). By default every rewrite gives values that the program as written
    may give: bit for bit, except that a reduction has no order and may be taken in any greater precision. Rules that change floats
    beyond that need words of `fast-math`.

    ```
    heddle-opt program.mlir --nd-simplify="fast-math=reassociate,no-nans without=slice-to-operands"
    ```
  }];
  let dependentDialects = ["::heddle::nd::NdDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [
    ListOption<"fastMath", "fast-math", "std::string", "what may be done to floats: reassociate, no-nans, no-signed-zeros, reciprocal, excess-precision">,
    ListOption<"only", "only", "std::string", "the names of the rules to use (default: all)">,
    ListOption<"without", "without", "std::string", "the names of rules to leave out">,
    Option<"mostRounds", "most-rounds", "int64_t", "0", "refuse what takes more rounds (0: 10, and one more for each op)">
  ];
}

def NdFoldPadIntoWindowPass : Pass<"nd-fold-pad-into-window"> {
  let summary = "a window over a padded tensor becomes a window with padding";
  let description = [{
    Legal where the window reads no place outside, or reads the value that was padded. Pads and windows of other names may stand between.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect"];
  let options = [
    Option<"mostRounds", "most-rounds", "int64_t", "0", "refuse what takes more rounds (0: 10, and one more for each op)">
  ];
}

def NdRequireSizesPass : Pass<"nd-require-sizes", "::mlir::func::FuncOp"> {
  let summary = "writes on functions what sizes must be like";
  let description = [{
    An op that takes a part of a tensor may not take more than there is, and no size is negative. Where sizes have symbols and this
    does not follow from their declared ranges, the function gets an entry in `heddle.requires`, which a compiled program checks when
    it is called.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect", "::heddle::nest::NestDialect"];
}

def NdNeutralNamesPass : Pass<"nd-neutral-names", "::mlir::ModuleOp"> {
  let summary = "renames dimensions to n000, n001, ... in their canonical order";
  let description = [{
    Fusion, layouts and schedules choose among names, and the choice must not depend on their spelling. `nd-restore-names` gives names
    their spelling back, which is kept in the function's attribute `heddle.names`. Size symbols are renamed likewise. Functions that
    branches and loops of nests run keep their names.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect", "::heddle::nest::NestDialect"];
}

def NdRestoreNamesPass : Pass<"nd-restore-names", "::mlir::ModuleOp"> {
  let summary = "undoes nd-neutral-names";
  let description = [{
    Names that passes have derived in the meantime are renamed with the name that they derive from: `n001$1` becomes `k$1`.
  }];
  let dependentDialects = ["::heddle::nd::NdDialect", "::heddle::nest::NestDialect"];
}

#endif // HEDDLE_TRANSFORMS_ND_PASSES_TD
