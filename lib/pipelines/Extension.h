//===- Extension.h - the interface of plugins -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An extension adds dialects and passes to the compiler, adjusts its cost model, or provides
// kernels. It is a class that overrides hooks, in a shared object built against an installed
// Heddle:
//
//     struct Saturate : heddle::Extension {
//       void addNdPasses(mlir::OpPassManager &passes) const override {
//         passes.addNestedPass<mlir::func::FuncOp>(std::make_unique<SaturatePass>());
//       }
//     };
//     HEDDLE_EXTENSION(Saturate)
//
// Load it by `heddlec --plugin saturate.so`, `heddle-run --plugin saturate.so`, or `jit(f,
// {.plugins = {"saturate.so"}})`; a program that links the class adds an instance to
// `CompileOptions::extensions` instead. Several threads may call hooks concurrently. Hooks must be
// deterministic, because kernels are cached under the extension's key.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PIPELINES_EXTENSION_H
#define HEDDLE_LIB_PIPELINES_EXTENSION_H

#include "lib/cost/Adjustment.h"
#include "lib/target/Target.h"
#include "lib/transforms/nd/Expand.h"
#include "lib/transforms/nest/layout/LayoutProblem.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

namespace heddle {

/// A plugin: overrides the hooks that it needs, among them those of cost::Adjustment.
class Extension : public cost::Adjustment {
public:
  ~Extension() override;
  /// Registers dialects and interfaces of their ops, before IR is read.
  virtual void registerDialects(mlir::DialectRegistry &registry) const {}
  /// Adds passes at the end of the nd pipeline, after gradients and calls have been expanded.
  virtual void addNdPasses(mlir::OpPassManager &passes) const {}
  /// Adds passes on fused nests that have no layouts yet. Names are neutral there: n000, n001, ...
  virtual void addNestPasses(mlir::OpPassManager &passes) const {}
  /// Changes the costs of layouts before these are chosen.
  virtual void adjustLayouts(nest::LayoutProblem &problem) const {}
  /// Returns a kernel for a nest, or none. The first extension that returns one provides it; if
  /// none does, the compiler generates the kernel.
  virtual std::optional<CustomKernel> makeKernel(const nest::KernelRequest &request,
                                                 const Target &target) const {
    return std::nullopt;
  }

  /// Identifies this extension and its version in cache keys. Empty: nothing is cached.
  std::string key;
  /// For remarks: for a shared object, its file name without ".so".
  std::string name;
};

using Extensions = std::vector<std::shared_ptr<const Extension>>;

/// Loads a shared object that uses HEDDLE_EXTENSION. The hash of the file's contents is its key.
/// Fails with the reason if it can't be loaded, has no extension, or was built for another Heddle.
llvm::Expected<std::shared_ptr<const Extension>> loadExtension(const std::string &path);

/// Loads several extensions and appends them to `extensions`; fails at the first that can't be
/// loaded.
llvm::Error loadExtensions(ArrayRef<std::string> paths, Extensions &extensions);

/// The version of the interface, which must be the same in the compiler and in an extension.
#define HEDDLE_EXTENSION_INTERFACE "heddle-extension-4"

/// Exports the extension `Class` from a shared object.
#define HEDDLE_EXTENSION(Class)                                                                    \
  extern "C" const char *heddleExtensionInterface() { return HEDDLE_EXTENSION_INTERFACE; }         \
  extern "C" heddle::Extension *heddleMakeExtension() { return new Class(); }

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_EXTENSION_H
