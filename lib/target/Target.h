//===- Target.h - the interface of a target ---------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target compiles kernels and links them into a program. Each target is a folder next to this
// file; no other folder mentions it:
//
//     Expected<std::shared_ptr<const Target>> target = findTarget("haswell");
//     nest::MachineAttr machine = (*target)->machine(context, threads);   // facts for passes
//     auto compiler = (*target)->makeCompiler(context);                   // one per thread
//     Expected<KernelCode> code = compiler->compile(request);             // a scheduled nest
//     Expected<Object> entry = compiler->compileEntry("entry.f", steps);  // runs the steps
//     Expected<ProgramCode> program = (*target)->link({code->objects[0], *entry});
//
// A target receives a kernel as the scheduled nest (`nest::KernelRequest`), the level at which tile
// compilers and libraries work. A target that needs loops calls `nest::emitKernel`; one that needs
// the LLVM dialect lowers these by `nest::buildKernelLowering`.
//
// `cpu` generates machine code. `null` keeps the nests, and a device of the runtime
// (runtime/device/Device.h) runs them by the interpreter; it is the template for a new target
// (docs/targets.md). `gpu` is what the targets `opencl`, `nvidia` and `amd` share (docs/gpu.md).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_TARGET_TARGET_H
#define HEDDLE_LIB_TARGET_TARGET_H

#include "lib/conversion/nest_to_loops/Kernel.h"
#include "lib/target/MachineFile.h"
#include "runtime/format/Manifest.h"

#include "llvm/Support/Error.h"

#include <functional>

namespace heddle {

/// Code for `Target::link`, in a format of the target (an ELF file on a CPU).
struct Object {
  std::string name; ///< for messages
  std::string bytes;
};

/// A kernel's code.
struct KernelCode {
  std::vector<Object> objects;   ///< the first defines it, the others define its callees
  Expr chunks = 1, scratchBytes; ///< over the size symbols
};

/// A kernel in machine code that an extension provides:
///
///     void function(void *const *addresses, int64_t chunk, void *scratch, const int64_t *numbers)
///
/// addresses[i] is operand i of the nest (`nest::kernelOperands`); its results follow. The request
/// states their layouts. Any thread may call the function, once for each chunk, with its own
/// scratch.
struct CustomKernel {
  std::string function;
  std::vector<Object> objects;  ///< one of them defines it; they refer to no other symbols
  std::vector<int64_t> numbers; ///< passed to each call
  int64_t chunks = 1, scratchBytes = 0;
};

/// All code of a program: one position-independent block.
struct ProgramCode {
  std::string bytes;
  std::map<std::string, int64_t> symbols; ///< offset of each global function
  struct Function {
    std::string name;
    int64_t offset, bytes;
    /// The source line of each range of code, which is given by its first offset in the function in
    /// bytes; 0: no line. Empty if the object has no line table.
    std::vector<std::pair<int64_t, uint32_t>> lines = {};
  };
  std::vector<Function> functions; ///< sorted by offset
};

/// The stages at which a kernel can be printed, for tools.
enum class KernelForm { Loops, LlvmIr, Assembly };

/// Compiles kernels of one target in the MLIRContext of one thread.
class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;
  /// Compiles the kernel `request.symbol`. Errors of the nest are also reported to the context's
  /// diagnostic handler.
  virtual llvm::Expected<KernelCode> compile(const nest::KernelRequest &request) = 0;
  /// Compiles a kernel that zeroes the first `bytes` bytes of its only value. If `bytes` is not
  /// constant, the kernel's only number holds it.
  virtual llvm::Expected<KernelCode> compileClear(const std::string &symbol, const Expr &bytes) = 0;
  /// Compiles a kernel that calls a custom one.
  virtual llvm::Expected<KernelCode> compileCustom(const std::string &symbol,
                                                   const CustomKernel &kernel) = 0;
  /// Compiles the function that runs the steps (runtime/format/Abi.h). The default suits a device
  /// that reads the steps from the manifest (runtime/device/StepRunner.h).
  virtual llvm::Expected<Object> compileEntry(const std::string &symbol,
                                              const std::vector<StepSpec> &steps);
  /// Prints the kernel; `custom` is the kernel that replaces it, or null.
  virtual llvm::Expected<std::string> print(const nest::KernelRequest &request,
                                            const CustomKernel *custom, KernelForm form) = 0;
};

/// The error of a target that can't compile custom kernels.
llvm::Error refuseCustom(StringRef target, const CustomKernel &kernel);

/// The interface of a target.
class Target {
public:
  virtual ~Target() = default;
  /// Identifies the generated code: targets with equal keys generate equal bytes.
  virtual std::string key() const = 0;
  /// Returns the facts that passes may use. `threads`: the number of threads that run the program.
  virtual nest::MachineAttr machine(MLIRContext *context, int threads) const = 0;
  /// Returns the facts for predicted times, on which no code depends: those of `machine`, where the
  /// target is the machine that was measured with its `measured` facts in their place.
  virtual nest::MachineAttr machineForTimes(MLIRContext *context, const MachineFacts &) const {
    return machine(context, /*threads=*/1);
  }
  virtual std::unique_ptr<KernelCompiler> makeCompiler(MLIRContext &context) const = 0;
  /// Fails with a message that names the symbol that is missing or can't be linked.
  virtual llvm::Expected<ProgramCode> link(std::vector<Object> objects) const = 0;
  /// True if the host's memory is the device's: tensors in the memories `host` and `file`
  /// (dialects/mesh) then need no copies. Else values lie in a memory space with the name that
  /// `describe` gives the target (lib/conversion/nest_to_steps/AssignSpaces.h).
  virtual bool sharesHostMemory() const { return true; }
  /// Writes the machine that the code is for into the manifest.
  virtual void describe(Manifest &manifest) const = 0;
};

/// The name of the target for any x86-64 CPU with these features, in the spelling of `cpuFeatures`.
std::string targetWith(const std::vector<std::string> &features);

/// Registers a kind of targets, which one folder provides:
///
///     const TargetRegistration registered(
///         {"null"}, [](llvm::StringRef name) { return name == "null"; },
///         [](llvm::StringRef) { return makeNullTarget(); });
///
/// Each name belongs to one kind at most.
class TargetRegistration {
public:
  using Made = llvm::Expected<std::shared_ptr<const Target>>;
  /// `examples`: some of its names, for messages. `knows`: true for a name of this kind.
  TargetRegistration(std::vector<std::string> examples, std::function<bool(StringRef)> knows,
                     std::function<Made(StringRef)> make);
};

/// Finds a target by name: "native", a CPU that LLVM knows, optionally with more features
/// ("x86-64+avx2+fma"), or a name of another kind. The error for an unknown name gives examples.
llvm::Expected<std::shared_ptr<const Target>> findTarget(StringRef name);
/// Some names of each kind: "native, haswell, null".
std::string exampleTargets();

} // namespace heddle

#endif // HEDDLE_LIB_TARGET_TARGET_H
