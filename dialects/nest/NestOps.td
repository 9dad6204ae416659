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
    : Op<Nest_Dialect, mnemonic, traits # [Nd_KnownSymbols]> {
  let hasVerifier = 1;
}

def Nest_ComputeOp : Nest_Op<"compute", [Pure, IsolatedFromAbove, AttrSizedOperandSegments, Nest_LoopNestInterface,
    Nest_LaidOutInterface, Nest_ScheduledInterface, DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let summary = "a loop nest with index maps, a scalar body, a combiner over reduced names and an epilogue";
  let description = [{
    For each point of the produced names, combines the values of `body` over all points of the reduced names and applies
    `finish` to the result. Without reduced names `finish` is applied to the value of the body; without `finish` that value is
    the result.

    - `body` has one argument for each read (its element, signless), and yields the n elements to combine.
    - `combine` has 2n arguments (accumulators, elements) and yields n accumulators. It must be associative and commutative, with
      `neutral` as neutral elements, whose types are those of the accumulators. Elements are converted to the accumulator types
      first (floats are widened or narrowed). Empty if there are no reduced names.
    - `finish` has one argument for each accumulator (or element of the body), then one for each of its own reads `finishReads`, whose maps use
      produced names only; it yields the elements of the results. If it is empty, the results are the accumulators.
    - `maps` and `guards` have one entry for each read, then one for each finish read. An excluded point contributes nothing.
    - `nest.index` is the coordinate of an iteration name.
    - A coordinate of a read that depends on `read(i)` is clamped to the bounds of the tensor.

    Maps and guards may also use the names of enclosing `nest.group`s.

    Constraints:
    - (c1) produced and reduced names are distinct.
    - (c2) one map and one guard for each read and finish read; a map has exactly the names of the tensor that it reads.
    - (c3) maps and guards mention iteration names, names of enclosing groups, and `read(i)` of an earlier read with integer elements; those of finish reads no reduced name and no `read(i)`.
    - (c4) an unguarded affine read stays inside its tensor (where sizes are constant).
    - (c5) `body`, `combine`, `finish` have the arguments and yields described; they hold scalar ops only, `combine` no `nest.index`.
    - (c6) `neutral` is empty exactly if `reduced` is; `combine` likewise. A guard may exclude only where something is reduced.
    - (c7) every result has the produced names with their sizes.
    - (c8) `layouts`, if present, has one layout (or unit) for each result, legal for its sizes.
    - (c9) `schedule`, if present, is legal for the iteration names and their sizes (see Schedule.h); a stage is of a read
      whose map is not gathered, and has a layout that is legal for it.
    - (c10) `order`, if present, lists each reduced name once: of equal elements, the first in that order gets the gradient of a
      combiner that selects (a maximum, say).
    - (c11) a neutral element, combined with a value from either side, gives that value; checked on samples as for `nd.reduce` (c6).

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
    /// The map or guard of read `i` of the body; of read `i` of the epilogue.
    MapAttr readMap(unsigned i) { return ::llvm::cast<MapAttr>(getMaps()[i]); }
    GuardAttr readGuard(unsigned i) { return ::llvm::cast<GuardAttr>(getGuards()[i]); }
    MapAttr finishMap(unsigned i) { return ::llvm::cast<MapAttr>(getMaps()[getReads().size() + i]); }
    GuardAttr finishGuard(unsigned i) { return ::llvm::cast<GuardAttr>(getGuards()[getReads().size() + i]); }
    bool isReduction() { return getReduced().size() != 0; }
    /// The types in which a reduction combines.
    ::mlir::TypeRange getAccumulatorTypes() {
      return ::mlir::TypeRange(getCombine().getArgumentTypes()).take_front(getNeutral().size());
    }
    ::llvm::SmallVector<nd::DimsAttr, 2> getIterationNames() { return {getProduced(), getReduced()}; }
    nd::DimsAttr getSharedNames() { return getProduced(); }
    unsigned getFirstRead() { return 0; }
  }];
}

def Nest_UpdateOp : Nest_Op<"update", [Pure, IsolatedFromAbove, Nest_LoopNestInterface, Nest_LaidOutInterface,
    Nest_ScheduledInterface, Nest_CopyingInterface, DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let summary = "a loop nest that combines values into the elements of a tensor";
  let description = [{
    For each point of `space`: dest[destMap] = combine(dest[destMap], body(reads)). The update is in place if it is the last use of
    the destination. A point whose target is out of bounds, or whose guard (without `else`) fails, writes nothing.
    `unique` declares that no two points have the same target. Otherwise the combiner accumulates, in an unspecified order
    (which is fixed in compiled code).

    `maps` and `guards` have one entry for each read. `destMap` may use `read(i)`.

    Constraints: (c2) to (c5) as for `nest.compute`; (c6) `combine` takes (old, new) of the destination's accumulator type and yields one;
    (c7) the result has the type of the destination; (c8) the layout as for `nest.compute`; (c9) the schedule as for
    `nest.compute`, without stages, and so that neither parallel steps nor the elements of a vector meet a place
    together: parallel loops come first and walk, in steps that divide its size, a name that is a coordinate of the
    destination over its whole size; a vector walks a name that alone gives a coordinate; (c10) `copies`, if present, has
    the schedule of the copy of the destination, or of the part of it that a parallel step writes, which is made where
    the update does not work in place.
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
  let summary = "a recurrence: runs nests for each coordinate of a name, in order, with carried tensors";
  let description = [{
    Runs its region for each coordinate of `along` in order (in reverse order if `reverse`). The arguments of the region are the
    carried tensors, then the slices of `reads` at that coordinate (without the name `along`). The region contains nest
    ops and constants, and before lowering also nd ops and branches. It yields the next carried tensors, then the slices
    of the outputs at this coordinate. The results are the last carried tensors, then the outputs, which have the name
    `along`.

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
  let summary = "sorts along a name by the first operand, and permutes the others alike";
  let description = [{
    Has the semantics of `nd.sort`: a stable sort with ascending or descending keys, NaN last. Results may hold only the
    first elements. No nests are fused with it.

    Constraints: (c1) to (c3) as for `nd.sort`, where `along` is the name with its size in the operands; (c4) `layouts` as for
    `nest.compute`, `schedule` as for `nest.group`, over the other names. A point of these is a line, which is sorted by itself.
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$inputs, Nd_DimsAttr:$along, UnitAttr:$descending,
                   OptionalAttr<ArrayAttr>:$layouts, OptionalAttr<Nest_ScheduleAttr>:$schedule);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let assemblyFormat = [{
    $inputs `along` $along (`descending` $descending^)? attr-dict `:` functional-type($inputs, $results)
  }];
  let extraClassDeclaration = [{
    /// The names of the lines: all but the one sorted along.
    nd::DimsAttr getLines();
    nd::DimsAttr getSharedNames() { return getLines(); }
  }];
}

def Nest_GroupOp : Nest_Op<"group", [Pure, SingleBlock, Nest_LaidOutInterface, Nest_ScheduledInterface, Nest_HoldsNestsInterface,
    DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let summary = "nests that run together at each point of common names";
  let description = [{
    The region runs for each point of `names`. Its maps and guards may use these names. Values in the region lack these
    names and exist for one point, with separate layouts and schedules. `nest.yield` yields the slice of each result at
    this point; the results also have the group's names. Groups can be nested. The region uses values from outside
    directly.

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
  let summary = "a branch or a loop that calls functions";
  let description = [{
    The first operand is the condition, a boolean without names.

    - With two functions it is a branch: it calls the first with the other operands if the condition holds, else the second, and
      returns the results of the call.
    - With one function it is a loop. The first operands, one for each result, are carried, among them the condition. While it
      holds, the function is called with all operands and returns the next carried tensors. The results are the last ones.

    In a compiled program it becomes jumps between steps. Each function is a list of nests, which the same passes fuse,
    lay out and schedule as those of an entry. The op is at the top level of a function.

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
    /// The arguments of the calls: all operands of a loop, all but the condition of a branch.
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
