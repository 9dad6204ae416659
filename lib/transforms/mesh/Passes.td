//===- Passes.td - passes on meshes ------------------------*- tablegen -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_MESH_PASSES_TD
#define HEDDLE_TRANSFORMS_MESH_PASSES_TD

include "mlir/Pass/PassBase.td"

class MeshPass<string argument, string op = "::mlir::ModuleOp"> : Pass<argument, op> {
  let dependentDialects = ["::heddle::mesh::MeshDialect"]; // loads all others
}

def MeshPlanPass : MeshPass<"mesh-plan"> {
  let summary = "state a mesh, and the shardings of arguments by rules";
  let description = [{
    Writes `mesh.mesh` to the module and `mesh.sharding` to the arguments of public functions. A rule
    `PATTERN/NAME:AXES` shards the name of the arguments whose `nd.name` matches the pattern; see `ApplyPlan.h`. An
    unknown axis or name, and a rule without a match, are errors; an axis that shards nothing is a warning.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"\"", "the axes, `data=2,model=2`">,
    Option<"plan", "plan", "std::string", "\"\"", "a file with the mesh and rules">,
    ListOption<"shard", "shard", "std::string", "rules, `batch:data` or `net.wide/hidden:model`">
  ];
}

def MeshListOperatorsPass : Pass<"mesh-list-operators", "::mlir::func::FuncOp"> {
  let summary = "report the operators of a program with their names and iteration names";
  let description = [{
    Rules `op PATTERN/NAME:AXES` of a plan match these names; see `lib/analysis/Operators.h`. Runs on nests, before
    `mesh-propagate`; the option `--operator-pipeline` of `heddle-opt` has the passes before it.
  }];
}

def MeshPropagatePass : MeshPass<"mesh-propagate"> {
  let summary = "choose the sharding of every value from those that are stated";
  let description = [{
    Runs on nests, before fusion. If a nest reads a name of a tensor at one of its iteration names, both get the same
    sharding, in both directions, to a fixed point; likewise the name of a recurrence. First, the rules of a plan that
    name operators become shardings of nests; a rule that matches none is an error. An axis shards only one name of a
    value; among several the pass chooses the one for which devices send the shortest time (lib/cost). Writes
    `mesh.sharding` to nests, arguments and results.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "explain the sharding of values in remarks">,
                 Option<"record", "record", "bool", "false", "record the same for the table in a program file">];
}

def MeshPartitionPass : MeshPass<"mesh-partition"> {
  let summary = "rewrite a program as that of one device";
  let description = [{
    Each nest becomes one over the device's blocks of its sharded names, with collectives where it reads other elements.
    The device's coordinates are size symbols: `mesh.data * 3 + i` is a coordinate of the whole tensor. Recurrences over
    split names become pipelines (`ScanPipeline.h`), and large operands are passed around a ring (`RingOperands.h`).
  }];
  // Below, a device copies an operand faster than it starts the turns.
  let options = [Option<"ring", "ring", "int64_t", "1 << 28",
                        "the minimum size in bytes of an operand that is passed around a ring">];
}

def MeshRolesPass : MeshPass<"mesh-roles"> {
  let summary = "split a program whose arguments have places into one per role";
  let description = [{
    Arguments with `at (stage = 1)` are only on the devices with that coordinate, and so are ops with
    `mesh.place = {stage = 1}`. Several axes, and parts of axes such as `data(1)2`, may have places (`RoleAxes.h`). Other
    ops are placed according to their operands, and the function becomes one per coordinate, connected by `mesh.send` and
    `mesh.receive`; see `Roles.h`. If the module has a `mesh.schedule`, roles run
    their parts of a batch in that order (`PipelineSchedules.h`). Rejects roles, including
    hand-written ones, whose transfers are not in one common order.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "report in remarks what roles send">];
}

def MeshFormTransfersPass : MeshPass<"mesh-form-transfers", "::mlir::func::FuncOp"> {
  let summary = "rewrite collectives as transfers of contiguous buffers";
  let description = [{
    Engines move contiguous memory. A collective along a name becomes one along an additional name, whose points are the
    parts of the devices, with nests around it; custom combiners become a gather and a reduction.
  }];
  let options = [Option<"explain", "explain", "bool", "false", "report in remarks what each collective moves">,
                 Option<"record", "record", "bool", "false", "record the same for the table in a program file">];
}

def MeshScanLoopsPass : MeshPass<"mesh-scan-loops"> {
  let summary = "lower recurrences that communicate, or are expensive, to loops of steps";
}

def MeshBucketPass : MeshPass<"mesh-bucket", "::mlir::func::FuncOp"> {
  let summary = "group collectives that can share a transfer";
  let description = [{
    Independent collectives of one kind over the same axes, with the same combiner and element type, get the same number
    in `mesh.bucket`, and are made adjacent.
  }];
  let options = [Option<"bytes", "bytes", "int64_t", "4194304", "the maximum bytes of a bucket">];
}

def MeshStartEarlyPass : MeshPass<"mesh-start-early", "::mlir::func::FuncOp"> {
  let summary = "compute operands of transfers as early as possible";
  let description = [{
    Moves each transfer up, together with the nests that only it uses, to the first place where the operands of these
    nests are available, so that more steps run while the data moves. The order of transfers does not change.
  }];
}

def MeshSimulatePass : MeshPass<"mesh-simulate"> {
  let summary = "rewrite the program of one device as one that simulates all devices";
  let description = [{
    Each axis of the mesh becomes a name of every value, and collectives become nests over these names. Arguments and
    results are whole tensors again, so that the interpreter (or the compiler) runs the result like any program.
  }];
}

#endif // HEDDLE_TRANSFORMS_MESH_PASSES_TD
