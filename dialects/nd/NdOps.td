//===- NdOps.td - operations on named tensors --------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Families: sources (constant, iota, random), arithmetic (pointwise, reduce, scan, round),
// index maps (window, unwindow, slice, pad, concat, split, merge, rename, broadcast),
// access by value (gather, scatter, dynamic_slice, update_slice, sort), functions (call, vjp, jvp),
// differentiation (stop_gradient, after), scalars of control flow (item, from_item).
// The constraints of each op are numbered. Verifiers and negative tests cite the numbers.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_ND_OPS_TD
#define HEDDLE_ND_OPS_TD

include "dialects/nd/NdTypes.td"
include "dialects/nd/NdInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Nd_Op<string mnemonic, list<Trait> traits = []>
    : Op<Nd_Dialect, mnemonic, traits # [Nd_KnownSymbols]> {
  let hasVerifier = 1;
}
/// Most have one result.
class Nd_PureOp<string mnemonic, list<Trait> traits = []>
    : Nd_Op<mnemonic, traits # [Pure, DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let results = (outs Nd_Tensor:$result);
}

/// An op whose operands have no gradient.
class Nd_ConstantLikeOp<string mnemonic, list<Trait> traits = []> : Nd_PureOp<mnemonic, traits> {
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::buildGradient(::mlir::OpBuilder &, ::mlir::ValueRange, ::llvm::ArrayRef<bool>,
                                                   ::llvm::SmallVectorImpl<::mlir::Value> &) {
      return ::mlir::success();
    }
  }];
}
/// An op of one operand that reads it by an index map.
class Nd_IndexMapOp<string mnemonic, list<Trait> traits = []> : Nd_PureOp<mnemonic, traits # [
    DeclareOpInterfaceMethods<Nd_MovesElementsInterface>, DeclareOpInterfaceMethods<Nd_IndexMapInterface>]>;

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

def Nd_ConstantOp : Nd_ConstantLikeOp<"constant", [Nd_LiteralInterface]> {
  let summary = "a literal, with the order of its names";
  let description = [{
    Constraints:
    - (c1) `order` is a permutation of the names of the result.
    - (c2) the shape of `value` is the sizes in that order (a splat may have any shape); its element type is
      the scalar type of the result.
    - (c3) `layouts`, if present, has one layout, as those of `nest.compute`.

    ```mlir
    %0 = nd.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32> by [row, column] : !nd.tensor<f32, column: 2, row: 2>
    ```
  }];
  let arguments = (ins ElementsAttr:$value, StrArrayAttr:$order, OptionalAttr<ArrayAttr>:$layouts);
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::ElementsAttr":$value, "::mlir::ArrayAttr":$order), [{
    build($_builder, $_state, type, value, order, ::mlir::ArrayAttr());
  }]>];
  let assemblyFormat = "$value `by` custom<Names>($order) attr-dict `:` type($result)";
}

def Nd_IotaOp : Nd_ConstantLikeOp<"iota"> {
  let summary = "the coordinates of a name";
  let description = [{
    Constraints:
    - (c1) the result has exactly the name `name`.

    ```mlir
    %0 = nd.iota row : !nd.tensor<i64, row: 3>
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "custom<Name>($name) attr-dict `:` type($result)";
}

def Nd_RandomOp : Nd_ConstantLikeOp<"random", [Nd_Expensive]> {
  let summary = "counter-based random bits (Philox 4x32-10)";
  let description = [{
    `order` lists the names that the result has beyond those of the key. The element whose row-major
    index in that order is p is word p mod 4 of Philox4x32-10 (Salmon et al., SC'11)
    with the 64-bit key `key` and the counter p floordiv 4. The bits depend only on the key and this order.

    Constraints:
    - (c1) the key is of element type ui64; the result of ui32.
    - (c2) the result has the names of the key and those of `order`, which are disjoint.
  }];
  let arguments = (ins Nd_Tensor:$key, StrArrayAttr:$order);
  let assemblyFormat = "$key `by` custom<Names>($order) attr-dict `:` type($key) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

def Nd_PointwiseOp : Nd_PureOp<"pointwise", [SingleBlock, IsolatedFromAbove, Nd_Elementwise, Nd_ScalarCodeInterface]> {
  let summary = "applies a scalar function at each point of the union of the operands' names";
  let description = [{
    The region is scalar code of `arith` and `math`. Its arguments are the operands' elements
    (signless); it yields the result's element.

    Constraints:
    - (c1) a name that several operands have has one size.
    - (c2) the result has the union of the operands' names.
    - (c3) the region has one argument for each operand, of the operand's scalar type, and
      yields one value of the result's scalar type.
    - (c4) the region holds only ops that the language lists as scalar (`nd::isScalarOp`).
    - (c5) unless `crossed` is set, shared names connect the operands that have names, directly or through other operands:
      an outer product must be explicit.
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$inputs, UnitAttr:$crossed);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    ($inputs^)? (`crossed` $crossed^)? attr-dict `:` functional-type($inputs, $result) $body
  }];
  let hasCanonicalizer = 1;
  let hasFolder = 1;
}

def Nd_ReduceOp : Nd_PureOp<"reduce", [SingleBlock, IsolatedFromAbove, Nd_Expensive, Nd_ReductionInterface, DeclareOpInterfaceMethods<Nd_AlignedOperandsInterface>]> {
  let summary = "combines all elements along names, of several operands together";
  let description = [{
    With n inputs the region takes n accumulators and n elements and yields n accumulators.
    The combiner must be associative and commutative (the results of all orders are equally
    valid); `neutral` holds its neutral elements. Inputs are converted to the accumulator types (those of `neutral`),
    and the results from them; this may only widen or narrow floats. To find the index of an
    element, make the indices a second input; the combiner decides which of equal elements to take.

    Constraints:
    - (c1) all inputs have the same names and sizes.
    - (c2) `names` is a non-empty list of distinct names of the inputs.
    - (c3) each result has the names of its input without `names`, and elements of the neutral element's type (up to
      signedness) or, if that is a float, of another float type.
    - (c4) one neutral element for each input, of its scalar type or a wider float.
    - (c5) the region takes and yields the values described, of the neutral elements' types, and holds scalar ops only.
    - (c6) a neutral element, combined with a value from either side, gives that value. This is checked on samples; it is an
      error only if it holds for none of them, as for an addition with 1, or a subtraction.

    ```mlir
    %s = nd.reduce %x over [row, column] neutral [0.0 : f32] : (!nd.tensor<f32, batch: 2, column: 3, row: 3>) -> !nd.tensor<f32, batch: 2> {
    ^bb0(%a: f32, %e: f32):
      %r = arith.addf %a, %e : f32
      nd.yield %r : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$inputs, StrArrayAttr:$names, ArrayAttr:$neutral);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $inputs `over` custom<Names>($names) `neutral` $neutral attr-dict `:`
    functional-type($inputs, $results) $combiner
  }];
  let extraClassDeclaration = [{
    ::mlir::ArrayAttr getReducedNames() { return getNames(); }
  }];
}

def Nd_ScanOp : Nd_PureOp<"scan", [SingleBlock, IsolatedFromAbove, Nd_Expensive, Nd_ReductionInterface, DeclareOpInterfaceMethods<Nd_AlignedOperandsInterface>]> {
  let summary = "combines the elements of each prefix along a name";
  let description = [{
    Like `nd.reduce` over one name, for each prefix: element p of the result combines the
    elements 0..p (0..p-1 when `exclusive`), or p..n-1 (p+1..n-1) when `reverse`, in that order.

    Constraints:
    - (c1) all inputs have the same names and sizes, `name` among them.
    - (c2) each result has the names of its input.
    - (c3) neutral elements, region and element types as for `nd.reduce` (c3, c4, c5).
    - (c4) a neutral element, combined with a value that follows it, gives that value; checked as for `nd.reduce` (c6).
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$inputs, StrAttr:$name, ArrayAttr:$neutral,
                   UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $inputs `along` custom<Name>($name) (`exclusive` $exclusive^)? (`reverse` $reverse^)?
    `neutral` $neutral attr-dict `:` functional-type($inputs, $results) $combiner
  }];
}

def Nd_RoundOp : Nd_PureOp<"round", [Nd_Elementwise]> {
  let summary = "rounds to an element type";
  let description = [{
    The compiler may compute a value with more precision than its type has. This op rounds to `to` and converts back.

    Constraints:
    - (c1) `to` is a float type no wider than the element type of the operand, which is that of the result.
  }];
  let arguments = (ins Nd_Tensor:$input, TypeAttr:$to);
  let assemblyFormat = "$input `to` $to attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Index maps
//===----------------------------------------------------------------------===//

def Nd_WindowOp : Nd_IndexMapOp<"window"> {
  let summary = "the elements under a sliding window, with a new name for the taps";
  let description = [{
    result[name = o, tap = k] = input[name = o * stride + k * dilation - low], for k in [0, size). Elements outside
    of the input are `padding`. Without `padding` they are excluded: a reduction over `tap` must follow, which ignores
    them (as in max-pooling).
    The size of `name` becomes (N + low + high - (size - 1) * dilation - 1) floordiv stride + 1.

    Constraints:
    - (c1) the input has `name` and not `tap`.
    - (c2) size, stride and dilation are positive; low and high are not negative.
    - (c3) the result has `name` with the size above (not negative) and `tap` with `size`.
    - (c4) `padding` has the scalar type of the input.
  }];
  let arguments = (ins Nd_Tensor:$input, StrAttr:$name, StrAttr:$tap, I64Attr:$size,
                   DefaultValuedAttr<I64Attr, "1">:$stride, DefaultValuedAttr<I64Attr, "1">:$dilation,
                   DefaultValuedAttr<I64Attr, "0">:$low, DefaultValuedAttr<I64Attr, "0">:$high,
                   OptionalAttr<TypedAttrInterface>:$padding);
  let assemblyFormat = [{
    $input custom<Name>($name) `->` custom<Name>($tap) `size` $size (`stride` $stride^)? (`dilation` $dilation^)?
    (`pad` custom<Padding>($low, $high, $padding)^)? attr-dict `:` type($input) `->` type($result)
  }];
  let extraClassDeclaration = [{
    void setOutside(::mlir::TypedAttr value) { setPaddingAttr(value); }
  }];
}

def Nd_UnwindowOp : Nd_PureOp<"unwindow"> {
  let summary = "the adjoint of nd.window: sums the taps that it reads from each element";
  let description = [{
    result[name = r] = sum of input[name = o, tap = k] over all o, k with o * stride + k * dilation - low = r.

    Constraints:
    - (c1) the input has `name` and `tap`; the result has `name`.
    - (c2) `nd.window` with the same attributes, of the result, has the type of the input.
  }];
  let arguments = (ins Nd_Tensor:$input, StrAttr:$name, StrAttr:$tap, I64Attr:$size,
                   DefaultValuedAttr<I64Attr, "1">:$stride, DefaultValuedAttr<I64Attr, "1">:$dilation,
                   DefaultValuedAttr<I64Attr, "0">:$low, DefaultValuedAttr<I64Attr, "0">:$high);
  let assemblyFormat = [{
    $input custom<Name>($name) `->` custom<Name>($tap) `size` $size (`stride` $stride^)? (`dilation` $dilation^)?
    (`pad` custom<Pads>($low, $high)^)? attr-dict `:` type($input) `->` type($result)
  }];
}

def Nd_SliceOp : Nd_IndexMapOp<"slice", [DeclareOpInterfaceMethods<Nd_SizeConditionsInterface>]> {
  let summary = "every stride-th element of a range along a name";
  let description = [{
    result[name = i] = input[name = start + i * stride], i in [0, size). The stride may be negative.

    Constraints:
    - (c1) the input has `name`; stride is not 0, start and size are not negative.
    - (c2) the first and the last element read are in bounds (a condition on symbols is checked on entry).
    - (c3) the result's `name` has the size `size`.

    ```mlir
    %back = nd.slice %x row from N - 1 size N stride -1 : !nd.tensor<f32, row: N> -> !nd.tensor<f32, row: N>
    ```
  }];
  let arguments = (ins Nd_Tensor:$input, StrAttr:$name, Nd_SizeAttr:$start, Nd_SizeAttr:$size,
                   DefaultValuedAttr<I64Attr, "1">:$stride);
  let assemblyFormat = [{
    $input custom<Name>($name) `from` custom<Size>($start) `size` custom<Size>($size) (`stride` $stride^)? attr-dict `:`
    type($input) `->` type($result)
  }];
}

def Nd_PadOp : Nd_IndexMapOp<"pad", [DeclareOpInterfaceMethods<Nd_SizeConditionsInterface>]> {
  let summary = "adds elements of one value at both ends of a name";
  let description = [{
    `interior` is the number of elements added between each two neighbours (as in the adjoint of a strided slice).

    Constraints:
    - (c1) the input has `name`; low, high and interior are not negative.
    - (c2) `value` has the scalar type of the input.
    - (c3) the size of `name` becomes low + high + N + max(N - 1, 0) * interior.
  }];
  let arguments = (ins Nd_Tensor:$input, StrAttr:$name, Nd_SizeAttr:$low, Nd_SizeAttr:$high, TypedAttrInterface:$value,
                   DefaultValuedAttr<I64Attr, "0">:$interior);
  let assemblyFormat = [{
    $input custom<Name>($name) `low` custom<Size>($low) `high` custom<Size>($high) (`interior` $interior^)? `value` $value attr-dict `:`
    type($input) `->` type($result)
  }];
  let extraClassDeclaration = [{
    void setOutside(::mlir::TypedAttr value) { setValueAttr(value); }
  }];
}

def Nd_ConcatOp : Nd_PureOp<"concat", [DeclareOpInterfaceMethods<Nd_AlignedOperandsInterface>, DeclareOpInterfaceMethods<Nd_MovesElementsInterface>]> {
  let summary = "joins tensors along a name, in the order of the operands";
  let description = [{
    Constraints:
    - (c1) every input has `name`; their other names, sizes and element types agree.
    - (c2) the size of `name` in the result is the sum.
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$inputs, StrAttr:$name);
  let assemblyFormat = "$inputs `along` custom<Name>($name) attr-dict `:` functional-type($inputs, $result)";
  let hasFolder = 1;
  let extraClassDeclaration = [{
    unsigned getNumSources() { return getNumOperands(); }
  }];
}

def Nd_SplitOp : Nd_IndexMapOp<"split", [DeclareOpInterfaceMethods<Nd_SizeConditionsInterface>]> {
  let summary = "splits a name into several, of which the last varies fastest";
  let description = [{
    Constraints:
    - (c1) the input has `name`; `into` lists distinct names, none of which the rest of the input has.
    - (c2) the product of the sizes of `into` in the result is the size of `name` (a condition on symbols is checked on entry).
    - (c3) the result has the names `into` instead of `name`.

    With a single name in `into` it asserts that two expressions are the same size; a call for which they differ is an error.

    ```mlir
    %y = nd.split %x row into [row] : !nd.tensor<f32, row: N * M> -> !nd.tensor<f32, row: K>
    ```
  }];
  let arguments = (ins Nd_Tensor:$input, StrAttr:$name, StrArrayAttr:$into);
  let assemblyFormat = [{
    $input custom<Name>($name) `into` custom<Names>($into) attr-dict `:` type($input) `->` type($result)
  }];
}

def Nd_MergeOp : Nd_IndexMapOp<"merge"> {
  let summary = "merges several names into one, the last varying fastest";
  let description = [{
    Constraints:
    - (c1) `names` lists distinct names of the input; the rest of the input lacks `into`.
    - (c2) the size of `into` is the product.
  }];
  let arguments = (ins Nd_Tensor:$input, StrArrayAttr:$names, StrAttr:$into);
  let assemblyFormat = [{
    $input custom<Names>($names) `into` custom<Name>($into) attr-dict `:` type($input) `->` type($result)
  }];
}

def Nd_RenameOp : Nd_IndexMapOp<"rename"> {
  let summary = "renames dimensions, at no cost";
  let description = [{
    All names are renamed at once, so that two names can be swapped.

    Constraints:
    - (c1) `from` lists distinct names of the input; `to` as many.
    - (c2) the result has the names `to` instead of `from`, each at most once.
  }];
  let arguments = (ins Nd_Tensor:$input, StrArrayAttr:$from, StrArrayAttr:$to);
  let assemblyFormat = [{
    $input custom<Names>($from) `to` custom<Names>($to) attr-dict `:` type($input) `->` type($result)
  }];
  let extraClassDeclaration = [{
    std::optional<Renaming> getRenaming() { return Renaming{getFrom(), getTo()}; }
  }];
  let hasCanonicalizer = 1;
}

def Nd_BroadcastOp : Nd_IndexMapOp<"broadcast"> {
  let summary = "repeats a tensor along new names";
  let description = [{
    Constraints:
    - (c1) the result has all names of the input with their sizes, and more.
  }];
  let arguments = (ins Nd_Tensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasCanonicalizer = 1;
}

//===----------------------------------------------------------------------===//
// Access by value
//===----------------------------------------------------------------------===//

def Nd_GatherOp : Nd_PureOp<"gather", [DeclareOpInterfaceMethods<Nd_MovesElementsInterface>, DeclareOpInterfaceMethods<Nd_IndexedAccessInterface>, DeclareOpInterfaceMethods<Nd_SizeConditionsInterface>]> {
  let summary = "reads elements at computed coordinates";
  let description = [{
    result[shared, rest, index names] = input[names_i = indices_i[..], rest]. Coordinates that are out of bounds are clamped.
    Names that an index shares with the rest of the input, or with another index, are zipped; all others are crossed.

    Constraints:
    - (c1) `names` lists distinct names of the input, one for each index tensor.
    - (c2) index tensors have integer elements; a name shared by two of them, or with the rest of the input, has one size.
    - (c3) the result has the names of the input without `names`, and those of the index tensors.
  }];
  let arguments = (ins Nd_Tensor:$input, Variadic<Nd_Tensor>:$indices, StrArrayAttr:$names);
  let assemblyFormat = [{
    $input custom<Names>($names) `at` $indices attr-dict `:` functional-type(operands, $result)
  }];
}

def Nd_ScatterOp : Nd_PureOp<"scatter", [SingleBlock, IsolatedFromAbove, Nd_Expensive, DeclareOpInterfaceMethods<Nd_AlignedOperandsInterface>, DeclareOpInterfaceMethods<Nd_IndexedAccessInterface>]> {
  let summary = "combines updates into a tensor at computed coordinates";
  let description = [{
    For each point of the updates: result[names_i = indices_i[..], rest] = combiner(old, update). Updates at coordinates that
    are out of bounds are dropped. `unique` declares that no element is updated twice; otherwise the updates of an element are
    combined in an unspecified order.

    Constraints:
    - (c1) `names` lists distinct names of the destination, one for each index tensor, whose elements are integers.
    - (c2) the updates have the names of the destination without `names`, and those of the index tensors, with one size each.
    - (c3) the result has the type of the destination.
    - (c4) the region takes (old, update) of the scalar type and yields one such value.
  }];
  let arguments = (ins Nd_Tensor:$destination, Nd_Tensor:$updates, Variadic<Nd_Tensor>:$indices, StrArrayAttr:$names,
                   UnitAttr:$unique);
  let regions = (region SizedRegion<1>:$combiner);
  let assemblyFormat = [{
    $updates `into` $destination custom<Names>($names) `at` $indices (`unique` $unique^)? attr-dict `:`
    functional-type(operands, $result) $combiner
  }];
  let extraClassDeclaration = [{
    unsigned getNumAligned() { return 2; }
  }];
}

def Nd_DynamicSliceOp : Nd_PureOp<"dynamic_slice", [DeclareOpInterfaceMethods<Nd_MovesElementsInterface>, DeclareOpInterfaceMethods<Nd_IndexedAccessInterface>, DeclareOpInterfaceMethods<Nd_SizeConditionsInterface>]> {
  let summary = "a range along a name that begins at a computed coordinate";
  let description = [{
    result[name = i, rest, names of start] = input[name = first + i, rest], i in [0, size), where first is
    start[..] clamped to [0, N - size], so that the whole range is in bounds. Names that start shares with the rest of
    the input are zipped; its other names are crossed.

    Constraints:
    - (c1) the input has `name`; start has integer elements and lacks `name`.
    - (c2) a name that start shares with the input has one size.
    - (c3) size is not negative and at most that of the input's `name` (checked where sizes are constant).
    - (c4) the result has the names of the input and of start, `name` with the size `size`.

    ```mlir
    %r = nd.dynamic_slice %x row from %start size 3 : (!nd.tensor<f32, row: 8>, !nd.tensor<i64>) -> !nd.tensor<f32, row: 3>
    ```
  }];
  let arguments = (ins Nd_Tensor:$input, Nd_Tensor:$start, StrAttr:$name, Nd_SizeAttr:$size);
  let assemblyFormat = [{
    $input custom<Name>($name) `from` $start `size` custom<Size>($size) attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasFolder = 1;
}

def Nd_UpdateSliceOp : Nd_PureOp<"update_slice", [DeclareOpInterfaceMethods<Nd_AlignedOperandsInterface>, DeclareOpInterfaceMethods<Nd_IndexedAccessInterface>, DeclareOpInterfaceMethods<Nd_SizeConditionsInterface>]> {
  let summary = "overwrites a range along a name that begins at a computed coordinate";
  let description = [{
    The result is the destination except that result[name = first + i, rest] = part[name = i, rest], where first is start[..]
    clamped to [0, N - n] for the sizes N and n of `name` in destination and part. The update is in place if it is the last
    use of the destination, as for key/value caches.

    Constraints:
    - (c1) the destination has `name`; start has integer elements; its names are others of the destination, with their sizes.
    - (c2) the part has the type of the destination except for the size of `name`, which is at most the
      destination's (checked where sizes are constant).
    - (c3) the result has the type of the destination.

    ```mlir
    %r = nd.update_slice %part into %cache row from %start : (!nd.tensor<f32, row: 1>, !nd.tensor<f32, row: 8>, !nd.tensor<i64>) -> !nd.tensor<f32, row: 8>
    ```
  }];
  let arguments = (ins Nd_Tensor:$part, Nd_Tensor:$destination, Nd_Tensor:$start, StrAttr:$name);
  let assemblyFormat = [{
    $part `into` $destination custom<Name>($name) `from` $start attr-dict `:` functional-type(operands, $result)
  }];
  let hasFolder = 1;
  let extraClassDeclaration = [{
    unsigned getNumAligned() { return 2; }
  }];
}

def Nd_SortOp : Nd_PureOp<"sort", [Nd_Expensive, DeclareOpInterfaceMethods<Nd_AlignedOperandsInterface>, DeclareOpInterfaceMethods<Nd_SizeConditionsInterface>]> {
  let summary = "sorts along a name by the first operand, and permutes the others alike";
  let description = [{
    The first operand holds the keys, which are sorted along `name` in ascending order, or in descending order if
    `descending`. NaN comes last in both, -0.0 equals 0.0, and false is less than true. The sort is stable. The other
    operands are permuted as the keys are: if the second operand is the coordinate along `name`, the second result is the
    coordinate that each key had (argsort). Results may be shorter along `name` than the operands: they hold the first
    elements of the order. This is top-k, and costs less than a complete sort.

    Constraints:
    - (c1) there is an operand; all operands have the same names and sizes, `name` among them.
    - (c2) as many results as operands, each with the names and elements of its operand.
    - (c3) all results have one size of `name`, at most that of the operands (checked where sizes are constant); their other
      names have the sizes that the operands have.

    ```mlir
    %top, %where = nd.sort %x, %index along class descending
        : (!nd.tensor<f32, class: 10>, !nd.tensor<i64, class: 10>) -> (!nd.tensor<f32, class: 3>, !nd.tensor<i64, class: 3>)
    ```
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$inputs, StrAttr:$name, UnitAttr:$descending);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let assemblyFormat = [{
    $inputs `along` custom<Name>($name) (`descending` $descending^)? attr-dict `:` functional-type($inputs, $results)
  }];
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

def Nd_CallOp : Nd_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, Nd_CalleeInterface,
    DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let summary = "calls a function, and lifts it over names that operands have and formals lack";
  let description = [{
    Operands bind to formals in order. An operand may have names that its formal lacks: the callee is then lifted
    over them, and every result that depends on the operand has them too. Local names of the callee that equal a
    lifted name are renamed.

    Constraints:
    - (c1) the callee is a function on tensors, with as many formals and results as the call.
    - (c2) each operand has the names of its formal with sizes that match (symbols of the callee
      bind to one size each) and the formal's element type.
    - (c3) a lifted name has one size.
    - (c4) each result has the names of the callee's result (symbols substituted) and the lifted names of the operands
      on which it depends, which the callee's result lacks; it may repeat over lifted names of other operands.
    - (c5) `gradient` is a function of the callee's arguments, then the cotangents of its results, that
      returns the gradients of the callee's arguments with float elements, in order. It replaces the derivative of the callee.
    - (c6) `checkpoint` and `gradient` exclude each other. With `checkpoint` the backward pass recomputes the callee's inner values
      instead of saving them.

    ```mlir
    %y = nd.call @clip(%x) gradient @straight_through : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
    %z = nd.call @block(%y) checkpoint : (!nd.tensor<f32, a: 4>) -> !nd.tensor<f32, a: 4>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Nd_Tensor>:$inputs,
                   OptionalAttr<FlatSymbolRefAttr>:$gradient, UnitAttr:$checkpoint);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` (`gradient` $gradient^)? (`checkpoint` $checkpoint^)? attr-dict `:`
    functional-type($inputs, $results)
  }];
  let extraClassDeclaration = [{
    bool lifts() { return true; }
  }];
}

def Nd_VjpOp : Nd_Op<"vjp", [AttrSizedOperandSegments, Nd_CalleeInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a function and the gradients of some of its arguments";
  let description = [{
    The results are those of the callee, then the gradient of each argument in `wrt` (positions), pulled back
    from the cotangents of the results.

    Constraints:
    - (c1) the callee's formals have the types of `inputs`, its results those of `cotangents`.
    - (c2) `wrt` lists distinct positions of arguments with float elements.
    - (c3) the results are the callee's, then the types of the arguments in `wrt`.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Nd_Tensor>:$inputs,
                   Variadic<Nd_Tensor>:$cotangents, DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `cotangents` `(` $cotangents `)` `wrt` $wrt attr-dict `:`
    functional-type(operands, $results)
  }];
  let hasVerifier = 0;
}

def Nd_JvpOp : Nd_Op<"jvp", [AttrSizedOperandSegments, Nd_CalleeInterface, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a function and its directional derivative";
  let description = [{
    The results are those of the callee, then a tangent for each of them that has float elements: its derivative in the direction
    `tangents` of the arguments in `wrt` (positions); the other arguments are constant.

    Constraints:
    - (c1) the callee's formals have the types of `inputs`; `wrt` lists distinct positions of arguments with float
      elements; each tangent has the type of its argument.
    - (c2) the results are the callee's, then the types of those with float elements.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Nd_Tensor>:$inputs,
                   Variadic<Nd_Tensor>:$tangents, DenseI64ArrayAttr:$wrt);
  let results = (outs Variadic<Nd_Tensor>:$results);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `tangents` `(` $tangents `)` `wrt` $wrt attr-dict `:`
    functional-type(operands, $results)
  }];
  let hasVerifier = 0;
}

def Nd_StopGradientOp : Nd_ConstantLikeOp<"stop_gradient", [AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<Nd_MovesElementsInterface>, Nd_Opaque]> {
  let summary = "returns its operand, as a constant in differentiation";
  let description = [{
    This holds in both modes. `nd-differentiate` removes the op after all requests are expanded.

    Constraints:
    - (c1) the result has the type of the operand.
  }];
  let arguments = (ins Nd_Tensor:$input);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 0;
}

def Nd_AfterOp : Nd_PureOp<"after", [AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<Nd_MovesElementsInterface>, Nd_Opaque]> {
  let summary = "returns its first operand after the second is computed";
  let description = [{
    Passes do not look through it: code that uses the result is not merged with code that uses the first operand, and
    runs after the second operand is computed. This preserves the recomputation of a checkpoint in the backward pass.
    `nest-drop-after` removes the op before layouts are chosen, so it costs nothing.

    Constraints:
    - (c1) the result has the type of the first operand.
  }];
  let arguments = (ins Nd_Tensor:$input, Nd_Tensor:$before);
  let assemblyFormat = "$input `,` $before attr-dict `:` type($input) `,` type($before)";
  let hasVerifier = 0;
}

def Nd_ItemOp : Nd_Op<"item", [Pure]> {
  let summary = "the only element of a tensor without names, as a scalar for control flow";
  let description = [{
    The conditions and bounds of `scf` ops are such scalars.

    Constraints:
    - (c1) the operand has no names and integer elements; the result has its scalar type, or `index` for elements of i64.

    ```mlir
    %c = nd.item %small : !nd.tensor<i1> -> i1
    %y = scf.if %c -> !nd.tensor<f32, a: 4> { ... } else { ... }
    ```
  }];
  let arguments = (ins Nd_Tensor:$input);
  let results = (outs AnySignlessIntegerOrIndex:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Nd_FromItemOp : Nd_Op<"from_item", [Pure]> {
  let summary = "a scalar of control flow, such as the counter of a loop, as a tensor without names";
  let description = [{
    The inverse of `nd.item`.

    Constraints: (c1) operand and result have the types of the result and the operand of an `nd.item`.
  }];
  let arguments = (ins AnySignlessIntegerOrIndex:$input);
  let results = (outs Nd_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Nd_YieldOp : Nd_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["PointwiseOp", "ReduceOp", "ScanOp", "ScatterOp"]>]> {
  let summary = "ends a scalar region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let hasVerifier = 0;
}

#endif // HEDDLE_ND_OPS_TD
