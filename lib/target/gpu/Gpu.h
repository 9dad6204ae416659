//===- Gpu.h - what all GPUs share ------------------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All GPUs get the same kernels: loops in a `gpu.func` (GpuLoops.h). A vendor's folder says how its
// chips differ, by a class derived from `Chip`, and registers its names:
//
//     nest -> emitKernel -> gpu.func -> Chip::addConversion -> LLVM dialect -> LLVM IR
//          -> scalars, mathematics (CodeGenerator.h) -> LLVM's back end -> Chip::finish -> image
//
// The code of a program is a list of images, one for each kernel (runtime/device/KernelImages.h).
// The device that `Chip::device` names loads them, and runs the steps of the manifest
// (runtime/device/StreamDevice.h).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_GPU_GPU_H
#define HEDDLE_LIB_TARGET_GPU_GPU_H

#include "lib/target/Target.h"

#include "llvm/Support/CodeGen.h"

namespace llvm {
class Module;
} // namespace llvm

namespace heddle::gpu {

/// A kind of GPU.
class Chip {
public:
  virtual ~Chip() = default;
  /// The name by which a user selects it: "opencl", "sm_90".
  virtual std::string name() const = 0;
  /// Identifies the generated code (`Target::key`).
  virtual std::string key() const { return name(); }
  /// The device of the runtime that runs the code (`Manifest::target`).
  virtual std::string device() const = 0;
  /// Facts for the chooser of schedules, beside those of all GPUs (`#nest.machine`).
  virtual std::vector<std::pair<llvm::StringRef, int64_t>> facts() const { return {}; }

  /// Adds the pass that converts the ops of the `gpu` dialect, in a `gpu.module`.
  virtual void addConversion(mlir::OpPassManager &passes) const = 0;
  /// Registers the translations to LLVM IR of dialects that the conversion creates.
  virtual void registerTranslations(mlir::MLIRContext &context) const {}

  /// What LLVM needs to know.
  struct BackEnd {
    std::string triple, cpu, features;
    llvm::CodeGenFileType file; ///< the kind of file that `finish` takes
    void (*initialize)();       ///< registers LLVM's back end
    llvm::StringRef builtins;   ///< LLVM bitcode of Builtins.c for this triple
    llvm::CodeGenOptLevel effort = llvm::CodeGenOptLevel::Default;
    bool inOwnProcess = false; ///< run by `llc`: it keeps state of earlier modules
  };
  virtual BackEnd backEnd() const = 0;
  /// Replaces instructions, before builtins are linked and the LLVM IR is optimised.
  virtual void expand(llvm::Module &module) const {}
  /// Changes the LLVM IR, after optimisation, to what the back end can handle.
  virtual void legalize(llvm::Module &module) const {}
  /// Makes an image that the device loads from the back end's output.
  virtual llvm::Expected<std::string> finish(std::string code) const { return code; }
  /// Makes machine code of an image that the device would compile when it loads it; empty: none.
  virtual llvm::Expected<std::string> assemble(llvm::StringRef image) const { return ""; }
};

/// The target that compiles for a chip.
std::shared_ptr<const Target> makeTarget(std::unique_ptr<const Chip> chip);

} // namespace heddle::gpu

#endif // HEDDLE_LIB_TARGET_GPU_GPU_H
