//===- Passes.h - passes on meshes ------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From a program to that of one device of a mesh: a plan states shardings of arguments, propagation
// chooses those of all values, and partition builds nests over blocks, with collectives between
// them. Simulation turns the program of one device into one of all devices, which the interpreter
// runs.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TRANSFORMS_MESH_PASSES_H
#define HEDDLE_TRANSFORMS_MESH_PASSES_H

#include "dialects/mesh/MeshDialect.h"

#include "mlir/Pass/Pass.h"

namespace heddle::mesh {

#define GEN_PASS_DECL
#include "lib/transforms/mesh/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/transforms/mesh/Passes.h.inc"

} // namespace heddle::mesh

#endif // HEDDLE_TRANSFORMS_MESH_PASSES_H
