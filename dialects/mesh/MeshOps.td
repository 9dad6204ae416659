//===- MeshOps.td - constraints and collectives ------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_MESH_OPS_TD
#define HEDDLE_MESH_OPS_TD

include "dialects/mesh/MeshAttrs.td"
include "dialects/mesh/MeshInterfaces.td"
include "dialects/nd/NdTypes.td"
include "dialects/nd/NdInterfaces.td"
include "dialects/nest/NestInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Mesh_Op<string mnemonic, list<Trait> traits = []> : Op<Mesh_Dialect, mnemonic, traits # [Nd_KnownSymbols]>;

def Mesh_ConstrainOp : Mesh_Op<"constrain", [Pure, AllTypesMatch<["input", "result"]>, Nd_Opaque,
    DeclareOpInterfaceMethods<Nd_MovesElementsInterface>, DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let hasVerifier = 1;
  let summary = "returns its operand, with a required sharding";
  let description = [{
    `mesh-propagate` uses the sharding as given, and `mesh-partition` removes the op. The gradient has the same
    sharding.

    Constraints: (c1) the sharding is valid for the tensor's type and the function's mesh, if there is one.

    ```mlir
    %y = mesh.constrain %x to <{batch: [data]}> : !nd.tensor<f32, batch: 64>
    ```
  }];
  let arguments = (ins Nd_Tensor:$input, Mesh_ShardingAttr:$sharding);
  let results = (outs Nd_Tensor:$result);
  let assemblyFormat = "$input `to` $sharding attr-dict `:` type($input)";
}

/// A collective computes on the blocks of the devices of a group, on the mesh of the enclosing
/// function. `sent` is the number of blocks that a device sends in a group of `parts`, in `rounds`;
/// `names` are the names along which the blocks are parts.
class Mesh_CollectiveOp<string mnemonic, string sent, int rounds, string names, list<Trait> traits>
    : Mesh_Op<mnemonic, traits # [Pure, Nest_LaidOutInterface, DeclareOpInterfaceMethods<Mesh_CollectiveInterface>,
        DeclareOpInterfaceMethods<Nest_TransferInterface>, DeclareOpInterfaceMethods<Nd_DifferentiableInterface>]> {
  let hasVerifier = 1;
  let extraClassDefinition = [{
    double $cppClass::getSentBlocks() { double parts = double(getParts()); return }] # sent # [{; }
    int64_t $cppClass::getRounds() { return }] # rounds # [{; }
    ::llvm::SmallVector<::mlir::StringAttr> $cppClass::getOutermostNames() { return {}] # names # [{}; }
  }];
}

/// A collective that moves elements of one value.
class Mesh_MovingOp<string mnemonic, string sent, int rounds, string names, list<Trait> traits = []>
    : Mesh_CollectiveOp<mnemonic, sent, rounds, names, traits> {
  let results = (outs Nd_Tensor:$result);
}

/// A collective that combines values.
class Mesh_CombiningOp<string mnemonic, string sent, int rounds, string names>
    : Mesh_CollectiveOp<mnemonic, sent, rounds, names, [SingleBlock, IsolatedFromAbove]> {
  let results = (outs Variadic<Nd_Tensor>:$results);
  let regions = (region SizedRegion<1>:$combine);
}

def Mesh_AllReduceOp : Mesh_CombiningOp<"all_reduce", "2 * (parts - 1) / parts", 2, ""> {
  let summary = "combines the values of the devices of a group; each gets the result";
  let description = [{
    `combine` is a combiner like that of `nest.compute`; several inputs are combined together.

    Constraints: (c1) the axes are in the mesh and do not overlap; (c2) the results have the types of the inputs; (c3)
    the combiner takes accumulators and elements of the inputs' types, and `neutral` has its neutral elements.

    ```mlir
    %s = mesh.all_reduce %x over [data] combine add [0.0 : f32] : (!nd.tensor<f32, k: 4>) -> !nd.tensor<f32, k: 4>
    ```
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$inputs, Mesh_AxesAttr:$axes, ArrayAttr:$neutral,
                   OptionalAttr<ArrayAttr>:$layouts);
  let assemblyFormat = [{
    $inputs `over` custom<AxisList>($axes) custom<Combiner>($combine, $neutral) attr-dict `:`
    functional-type($inputs, $results)
  }];
}

def Mesh_ReduceScatterOp : Mesh_CombiningOp<"reduce_scatter", "parts - 1", 1, "getNameAttr()"> {
  let summary = "combines the values of the devices of a group; each gets its block of the result along a name";
  let description = [{
    Constraints: (c1), (c3) as for `mesh.all_reduce`; (c2) the results have the types of the inputs, except that the size of
    `name` is that of a block.

    ```mlir
    %s = mesh.reduce_scatter %x name k over [data] combine add [0.0 : f32] : (!nd.tensor<f32, k: 4>) -> !nd.tensor<f32, k: 2>
    ```
  }];
  let arguments = (ins Variadic<Nd_Tensor>:$inputs, StrAttr:$name, Mesh_AxesAttr:$axes, ArrayAttr:$neutral,
                   OptionalAttr<ArrayAttr>:$layouts);
  let assemblyFormat = [{
    $inputs `name` custom<Name>($name) `over` custom<AxisList>($axes) custom<Combiner>($combine, $neutral)
    attr-dict `:` functional-type($inputs, $results)
  }];
}

def Mesh_AllGatherOp : Mesh_MovingOp<"all_gather", "parts - 1", 1, "getNameAttr()"> {
  let summary = "joins the blocks of the devices of a group along a name; each gets the whole";
  let description = [{
    Constraints: (c1) as for `mesh.all_reduce`; (c2) the result has the operand's type, except that the operand has the
    size of a block along `name`.

    ```mlir
    %w = mesh.all_gather %x name k over [data] : (!nd.tensor<f32, k: 2>) -> !nd.tensor<f32, k: 3>
    ```
  }];
  let arguments = (ins Nd_Tensor:$input, StrAttr:$name, Mesh_AxesAttr:$axes,
                   OptionalAttr<ArrayAttr>:$layouts);
  let assemblyFormat = [{
    $input `name` custom<Name>($name) `over` custom<AxisList>($axes) attr-dict `:` functional-type($input, $result)
  }];
}

def Mesh_AllToAllOp : Mesh_MovingOp<"all_to_all", "parts - 1", 1, "getJoinedAttr(), getSplitAttr()"> {
  let summary = "joins blocks along one name and splits along another";
  let description = [{
    Before, the devices of a group hold blocks along `joined`; afterwards blocks along `split`.

    Constraints: (c1) as for `mesh.all_reduce`; (c2) the two names differ; the operand has a block of `joined` and all of
    `split`, the result the reverse, and the types are equal otherwise.

    ```mlir
    %y = mesh.all_to_all %x join a split b over [data] : (!nd.tensor<f32, a: 2, b: 8>) -> !nd.tensor<f32, a: 4, b: 4>
    ```
  }];
  let arguments = (ins Nd_Tensor:$input, StrAttr:$joined, StrAttr:$split, Mesh_AxesAttr:$axes,
                   OptionalAttr<ArrayAttr>:$layouts);
  let assemblyFormat = [{
    $input `join` custom<Name>($joined) `split` custom<Name>($split) `over` custom<AxisList>($axes) attr-dict `:`
    functional-type($input, $result)
  }];
}

def Mesh_PermuteOp : Mesh_MovingOp<"permute", "parts > 1", 1, "", [AllTypesMatch<["input", "result"]>]> {
  let summary = "each device of a group gets the value of the device `shift` parts further on";
  let description = [{
    A device without such a neighbour gets zeros, or with `wrap` the value of the next device in a ring.

    Constraints: (c1) as for `mesh.all_reduce`.

    ```mlir
    %y = mesh.permute %x over [data] shift -1 wrap : !nd.tensor<f32, k: 2>
    ```
  }];
  let arguments = (ins Nd_Tensor:$input, Mesh_AxesAttr:$axes, I64Attr:$shift, UnitAttr:$wrap,
                   OptionalAttr<ArrayAttr>:$layouts);
  let assemblyFormat = "$input `over` custom<AxisList>($axes) `shift` $shift (`wrap` $wrap^)? attr-dict `:` type($input)";
  let hasVerifier = 0;
}

def Mesh_BroadcastOp : Mesh_MovingOp<"broadcast", "(parts - 1) / parts", 2, "", [AllTypesMatch<["input", "result"]>]> {
  let summary = "each device of a group gets the value of one of them";
  let description = [{
    Constraints: (c1) as for `mesh.all_reduce`; (c2) `root` is the number of a part.

    ```mlir
    %y = mesh.broadcast %x over [data] from 0 : !nd.tensor<f32, k: 2>
    ```
  }];
  let arguments = (ins Nd_Tensor:$input, Mesh_AxesAttr:$axes, I64Attr:$root,
                   OptionalAttr<ArrayAttr>:$layouts);
  let assemblyFormat = "$input `over` custom<AxisList>($axes) `from` $root attr-dict `:` type($input)";
}

def Mesh_SendOp : Mesh_Op<"send", [MemoryEffects<[MemWrite]>, Mesh_MessageInterface]> {
  let summary = "sends a value to the devices of another role";
  let description = [{
    Roles are the programs of parts of a mesh (`at` of a sharding). A device sends to the device that differs from it
    only along the given axes, or parts of axes, whose coordinates number the roles (the last one fastest). Each
    `mesh.send` has one `mesh.receive` with the same channel in the other role; in every role the channels ascend, so
    that roles can't deadlock. The elements are sent in the order of `layouts`, which has one entry (default: sorted
    names).

    Constraints: (c1) axes that are in the mesh and have the coordinate; (c2) a channel of at least 0.

    ```mlir
    mesh.send %x to [stage] = 1 channel 0 : !nd.tensor<f32, k: 2>
    ```
  }];
  let arguments = (ins Nd_Tensor:$input, Mesh_AxesAttr:$axis, I64Attr:$coordinate, I64Attr:$channel,
                   OptionalAttr<ArrayAttr>:$layouts);
  let assemblyFormat = [{
    $input `to` custom<AxisList>($axis) `=` $coordinate `channel` $channel attr-dict `:` type($input)
  }];
}

def Mesh_ReceiveOp : Mesh_Op<"receive", [MemoryEffects<[MemRead, MemWrite]>, Nest_LaidOutInterface, Mesh_MessageInterface]> {
  let summary = "receives a value from the devices of another role";
  let description = [{
    Constraints: as for `mesh.send`.

    ```mlir
    %x = mesh.receive from [stage] = 0 channel 0 : !nd.tensor<f32, k: 2>
    ```
  }];
  let arguments = (ins Mesh_AxesAttr:$axis, I64Attr:$coordinate, I64Attr:$channel,
                   OptionalAttr<ArrayAttr>:$layouts);
  let results = (outs Nd_Tensor:$result);
  let assemblyFormat = [{
    `from` custom<AxisList>($axis) `=` $coordinate `channel` $channel attr-dict `:` type($result)
  }];
}

def Mesh_YieldOp : Mesh_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["AllReduceOp", "ReduceScatterOp"]>]> {
  let summary = "ends a combiner";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // HEDDLE_MESH_OPS_TD
