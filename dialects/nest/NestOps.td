//===- NestOps.td - loop nests -----------------------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_NEST_OPS_TD
#define HEDDLE_NEST_OPS_TD

include "dialects/nest/NestAttrs.td"
include "dialects/nest/NestInterfaces.td"
include "dialects/nd/NdTypes.td"
include "dialects/nd/NdInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Nest_Op<string mnemonic, list<Trait> traits = []>
    : Op<Nest_Dialect, mnemonic, traits # [Nd_ToldSymbols]> {
  let hasVerifier = 1;
}

def Nest_ComputeOp : Nest_Op<"compute", [Pure, IsolatedFromAbove, AttrSizedOperandSegments, Nest_LoopNestInterface,
    Nest_LaidOutInterface, Nest_ScheduledInterface, DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let summary = "a loop nest: reads by maps, a scalar body, a combiner over reduced names, an epilogue";
  let description = [{
    For every point of the produced names: combine the values of `body` over all points of the reduced names,
    then apply `finish`. Without reduced names the body's value is what `finish` gets; without `finish` it is the result.

    - `body` has one argument for each read (its element, signless), and yields the n elements to combine.
    - `combine` has 2n arguments (accumulators, elements) and yields n accumulators; it is promised to be
      associative and commutative with `neutral` (whose types are the accumulators' types) as neutral elements. Elements are converted to
      the accumulator types first (float widening or narrowing). Empty where nothing is reduced.
    - `finish` has one argument for each accumulator (or element of the body), then one for each of its own reads `finishReads`, whose maps use
      produced names only; it yields the elements of the results. Empty: results are the accumulators.
    - maps: one for each read, then one for each finish read. guards: likewise. An excluded point contributes nothing.
    - `nest.index` gives the coordinate of an iteration name.
    - a coordinate of a read that depends on `read(i)` is clamped to the tensor.

    Names of an enclosing `nest.group` may be mentioned in maps and guards like iteration names.

    Constraints:
    - (c1) produced and reduced names are distinct.
    - (c2) one map and one guard for each read and finish read; a map has exactly the names of the tensor that it reads.
    - (c3) maps and guards mention iteration names, names of enclosing groups, and `read(i)` of an earlier read with integer elements; those of finish reads no reduced name and no `read(i)`.
    - (c4) an unguarded affine read stays inside its tensor (where sizes are constant).
    - (c5) `body`, `combine`, `finish` have the arguments and yields described; they hold scalar ops only, `combine` no `nest.index`.
    - (c6) `neutral` is empty exactly if `reduced` is; `combine` likewise. A guard may exclude only where something is reduced.
    - (c7) every result has the produced names with their sizes.
    - (c8) `layouts`, if present, has one layout (or unit) for each result, legal for its sizes.
    - (c9) `schedule`, if present, is legal for the iteration names and their sizes (Schedule.h says which is), and a
      stage is of a read whose map is not gathered, and has a layout that is legal for it.
    - (c10) `order`, if present, lists the reduced names once each: where the gradient of a selecting combiner meets equal
      elements, it goes to the first one in that order.
    - (c11) the neutral elements, combined with a value from either side, give that value; tried as for `nd.reduce` (c6).

    ```mlir
    %c = nest.compute (m: 64, n: 32) reduce (k: 16) reads %a[], %b[] {
    ^bb0(%x: f32, %y: f32):
      %p = arith.mulf %x, %y : f32
      nest.yield %p : f32
    } combine add [0.0 : f32] : (!nd.tensor<f32, k: 16, m: 64>, !nd.tensor<f32, k: 16, n: 32>) -> !nd.tensor<f32, m: 64, n: 32>
    ```
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$reads, Variadic<Nd_Tensor>:$finishReads,
                   Nd_DimsAttr:$produced, Nd_DimsAttr:$reduced,
                   TypedArrayAttrBase<Nest_MapAttr, "maps">:$maps,
                   TypedArrayAttrBase<Nest_GuardAttr, "guards">:$guards,
                   ArrayAttr:$neutral,
                   OptionalAttr<ArrayAttr>:$layouts, OptionalAttr<Nest_ScheduleAttr>:$schedule);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body, AnyRegion:$combine, AnyRegion:$finish);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The map or guard of body read `i`; of finish read `i`.
    MapAttr readMap(unsigned i) { return ::llvm::cast<MapAttr>(getMaps()[i]); }
    GuardAttr readGuard(unsigned i) { return ::llvm::cast<GuardAttr>(getGuards()[i]); }
    MapAttr finishMap(unsigned i) { return ::llvm::cast<MapAttr>(getMaps()[getReads().size() + i]); }
    GuardAttr finishGuard(unsigned i) { return ::llvm::cast<GuardAttr>(getGuards()[getReads().size() + i]); }
    bool isReduction() { return getReduced().size() != 0; }
    ::llvm::SmallVector<nd::DimsAttr, 2> getIterationNames() { return {getProduced(), getReduced()}; }
    nd::DimsAttr getSharedNames() { return getProduced(); }
    unsigned getFirstRead() { return 0; }
  }];
}

def Nest_UpdateOp : Nest_Op<"update", [Pure, IsolatedFromAbove, Nest_LoopNestInterface, Nest_LaidOutInterface,
    Nest_ScheduledInterface, Nest_CopyingInterface, DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let summary = "writes through affine or gathered maps into a value that it consumes";
  let description = [{
    For every point of `space`: dest[map] = combine(dest[map], body(reads)). In place when this is the last use of the
    destination. A point whose target lies outside the destination, or whose guard (without `else`) fails, writes nothing.
    `unique` declares that no place is met twice; otherwise the combiner accumulates, in no particular order (the
    compiled order is fixed).

    Maps and guards: one for each read; `destMap` for the destination, which may mention `read(i)`.

    Constraints: (c2) to (c5) as for `nest.compute`; (c6) `combine` takes (old, new) of the destination's accumulator type and yields one;
    (c7) the result has the type of the destination; (c8) the layout as for `nest.compute`; (c9) the schedule as for
    `nest.compute`, without stages, and so that neither parallel steps nor lanes meet a place together: parallel loops come
    first and walk, in steps that divide its size, a name that is a coordinate of the destination over its whole size; a
    vector walks a name that alone gives a coordinate; (c10) `copies`, if present, has the schedule of the copy of the
    destination, or of the part of it that a parallel step writes, which is made where the update does not work in place.
  }];
  let arguments = (ins Nd_Tensor:$dest, Variadic<Nd_Tensor>:$reads, Nd_DimsAttr:$space, Nest_MapAttr:$destMap,
                   TypedArrayAttrBase<Nest_MapAttr, "maps">:$maps,
                   TypedArrayAttrBase<Nest_GuardAttr, "guards">:$guards, UnitAttr:$unique,
                   OptionalAttr<ArrayAttr>:$layouts, OptionalAttr<Nest_ScheduleAttr>:$schedule,
                   OptionalAttr<ArrayAttr>:$copies);
  let results = (outs Nd_Tensor:$result);
  let regions = (region SizedRegion<1>:$body, SizedRegion<1>:$combine);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<nd::DimsAttr, 2> getIterationNames() { return {getSpace()}; }
    nd::DimsAttr getSharedNames() { return getSpace(); }
    unsigned getFirstRead() { return 1; }
    ::llvm::SmallVector<nd::NdTensorType> getCopiedTypes() { return {::llvm::cast<nd::NdTensorType>(getDest().getType())}; }
    ::mlir::Value getUpdated() { return getDest(); }
  }];
}

def Nest_ScanOp : Nest_Op<"scan", [Pure, AttrSizedOperandSegments, SingleBlock, Nd_Expensive, Nest_HoldsNestsInterface,
    Nest_LaidOutInterface, Nest_CopyingInterface,
    DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let summary = "one ordered name, carried state";
  let description = [{
    Runs its region for each coordinate of `along` in order (backwards when `reverse`). The region's arguments are the
    carried tensors, then the slices of `reads` at that coordinate (without the name `along`); it holds nest ops, and constants (nd ops and branches
    as well, until these are lowered) and yields the next carried tensors, then this coordinate's slices of the outputs. Results: the final carried tensors, then the outputs, which have `along` again.

    Constraints:
    - (c1) every read has `along` with its size.
    - (c2) the region's arguments and yields have the types described.
    - (c3) results are the types of `inits`, then the outputs with `along`.
    - (c4) `layouts` as for `nest.compute`.
    - (c5) `copies`, if present, has the schedules of the copies of the initial carried tensors, which are made where these have
      another layout, then those of the copies of the final ones to the results.
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$inits, Variadic<Nd_Tensor>:$reads, Nd_DimsAttr:$along, UnitAttr:$reverse,
                   OptionalAttr<ArrayAttr>:$layouts,
                   OptionalAttr<ArrayAttr>:$copies);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `along` $along (`reverse` $reverse^)? `init` `(` $inits `)` `reads` `(` $reads `)` attr-dict `:`
    functional-type(operands, $results) $body
  }];
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::ValueRange":$inits, "::mlir::ValueRange":$reads,
      "nd::DimsAttr":$along, "bool":$reverse), [{
    build($_builder, $_state, results, inits, reads, along, reverse, ::mlir::ArrayAttr(), ::mlir::ArrayAttr());
  }]>];
  let extraClassDeclaration = [{
    nd::DimsAttr getOuterNames() { return getAlong(); }
    ::llvm::SmallVector<nd::NdTensorType> getCopiedTypes();
  }];
}

def Nest_SortOp : Nest_Op<"sort", [Pure, Nd_Expensive, Nest_LaidOutInterface, Nest_ScheduledInterface,
    DeclareOpInterfaceMethods<Nd_AlignedOperandsInterface>, DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let summary = "sorts along one name by the first operand, which carries the others along";
  let description = [{
    What `nd.sort` means: keys rise (or fall) along `along`, NaN comes last, equal keys keep their order, results may hold
    the first elements only. Nothing is fused into it.

    Constraints: (c1) to (c3) as for `nd.sort`, with `along` the name and size in the operands; (c4) `layouts` as for
    `nest.compute`, `schedule` as for `nest.group`, over the other names: a point of them is a line, which is sorted.
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$inputs, Nd_DimsAttr:$along, UnitAttr:$descending,
                   OptionalAttr<ArrayAttr>:$layouts, OptionalAttr<Nest_ScheduleAttr>:$schedule);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let assemblyFormat = [{
    $inputs `along` $along (`descending` $descending^)? attr-dict `:` functional-type($inputs, $results)
  }];
  let extraClassDeclaration = [{
    /// The names of the lines that are sorted, each by itself: all but the one sorted along.
    nd::DimsAttr getLines();
    nd::DimsAttr getSharedNames() { return getLines(); }
  }];
}

def Nest_GroupOp : Nest_Op<"group", [Pure, SingleBlock, Nest_LaidOutInterface, Nest_ScheduledInterface, Nest_HoldsNestsInterface,
    DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let summary = "nests that run together, point by point of the group's names";
  let description = [{
    The region is run for every point of `names`. Inside, maps and guards may mention these names; inner values lack them and are
    tile-local, with layouts and schedules of their own. `nest.yield` gives, for this point, the slice of each result; the results have the group's
    names as well. Groups nest. Values from outside are captured.

    Constraints:
    - (c1) the names are distinct from those of enclosing groups and of the nests inside.
    - (c2) the region has no arguments, holds nest ops and ends in `nest.yield`.
    - (c3) each result is the yielded type with the group's names added.
    - (c4) `layouts` and `schedule` as for `nest.compute`, the latter of parallel and sequential loops, without stages.

    ```mlir
    %r = nest.group (n: 8) {
      %v = nest.compute (co: 32) reduce (k: 4) reads %p[n = n, k = k], %w[] {...} combine add [0.0 : f32] : (...) -> !nd.tensor<f32, co: 32>
      nest.yield %v : !nd.tensor<f32, co: 32>
    } : !nd.tensor<f32, co: 32, n: 8>
    ```
  }];
  let arguments = (ins Nd_DimsAttr:$names, OptionalAttr<ArrayAttr>:$layouts, OptionalAttr<Nest_ScheduleAttr>:$schedule);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "custom<ParenDims>($names) $body attr-dict `:` type($results)";
  let extraClassDeclaration = [{
    nd::DimsAttr getOuterNames() { return getNames(); }
    nd::DimsAttr getSharedNames() { return getNames(); }
  }];
}

def Nest_ControlOp : Nest_Op<"control", [Pure, Nest_LaidOutInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a branch or a loop whose parts are functions, steered by a value";
  let description = [{
    The first operand is the condition, a truth value without names.

    - Two functions: a branch. The first is called with the other operands where the condition holds, else the second; the
      results are what it returns. The other one is not run.
    - One function: a loop. The first operands, one for each result, are carried, the condition among them. While it holds,
      the function is called with all operands and returns the next carried tensors. The results are the last ones.

    A compiled program jumps among its steps; each function is a list of nests like the entry's own, so that it is fused, laid out and
    scheduled by the same passes. It stands at the top level of a function.

    Constraints:
    - (c1) one or two functions, which take the operands described and return the results.
    - (c2) the condition is of type `!nd.tensor<i1>`.
    - (c3) the results of a loop have the types of the carried operands.
    - (c4) `layouts` as for `nest.compute`.

    ```mlir
    %r:2 = nest.control [@f.loop] %c, %x, %w : (!nd.tensor<i1>, !nd.tensor<f32, n: 8>, !nd.tensor<f32>) -> (!nd.tensor<i1>, !nd.tensor<f32, n: 8>)
    ```
  }];
  let arguments = (ins TypedArrayAttrBase<FlatSymbolRefAttr, "functions">:$functions, Variadic<Nd_Tensor>:$operands,
                   OptionalAttr<ArrayAttr>:$layouts);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let assemblyFormat = "$functions $operands attr-dict `:` functional-type($operands, $results)";
  let extraClassDeclaration = [{
    bool isLoop() { return getFunctions().size() == 1; }
    /// What the functions are given: all operands of a loop, all but the condition of a branch.
    ::mlir::OperandRange given() { return getOperands().drop_front(isLoop() ? 0 : 1); }
  }];
}

def Nest_IndexOp : Nest_Op<"index", [Pure]> {
  let summary = "the coordinate of an iteration name, inside a scalar region";
  let description = [{
    Constraints: (c1) an enclosing nest or group has the name.
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Index:$result);
  let assemblyFormat = "custom<Name>($name) attr-dict";
}

def Nest_YieldOp : Nest_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["ComputeOp", "UpdateOp", "ScanOp", "GroupOp"]>]> {
  let summary = "ends a region of a nest";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 0;
}

#endif // HEDDLE_NEST_OPS_TD
