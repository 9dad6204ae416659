//===- Extension.h - what others add to the compiler ------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An extension adds dialects and passes to the compiler, adjusts the costs of layouts, or makes
// kernels itself. It is a class with the hooks that it needs, in a shared object built against an
// installed Heddle:
//
//     struct Saturate : heddle::Extension {
//       void addNdPasses(mlir::OpPassManager &passes) const override {
//         passes.addNestedPass<mlir::func::FuncOp>(std::make_unique<SaturatePass>());
//       }
//     };
//     HEDDLE_EXTENSION(Saturate)
//
// It is loaded by `heddlec --plugin saturate.so`, `heddle-run --plugin saturate.so`, or
// `jit(f, {.plugins = {"saturate.so"}})`; a program that has the class at hand puts one into
// `CompileOptions::extensions` instead. Hooks are called by several threads at once and must give
// the same for the same program: kernels are cached under the extension's key.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_PIPELINES_EXTENSION_H
#define HEDDLE_LIB_PIPELINES_EXTENSION_H

#include "lib/target/Target.h"
#include "lib/transforms/nd/Expand.h"
#include "lib/transforms/nest/LayoutProblem.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <memory>

namespace heddle {

class Extension {
public:
  virtual ~Extension();
  /// Dialects, and interfaces of their ops.
  virtual void registerDialects(mlir::DialectRegistry &registry) const {}
  /// Passes at the end of the nd pipeline: gradients and calls have been expanded.
  virtual void addNdPasses(mlir::OpPassManager &passes) const {}
  /// Passes on fused nests, before they are laid out. Names are spelled n000, n001, ... there.
  virtual void addNestPasses(mlir::OpPassManager &passes) const {}
  /// May change the costs of layouts before they are chosen.
  virtual void adjustLayouts(nest::LayoutProblem &problem) const {}
  /// A kernel for a nest, or none: then the next extension is asked, and last Heddle makes it.
  virtual std::optional<CustomKernel> makeKernel(const nest::KernelRequest &request,
                                                 const Target &target) const {
    return std::nullopt;
  }

  /// Identifies this extension and its version.
  std::string key;
};

using Extensions = std::vector<std::shared_ptr<const Extension>>;

/// Loads a shared object that uses HEDDLE_EXTENSION. The hash of the file's contents is its key.
/// Fails with the reason if it can't be loaded, has no extension, or was built for another Heddle.
llvm::Expected<std::shared_ptr<const Extension>> loadExtension(const std::string &path);

/// Loads several and appends them; fails at the first that can't be loaded.
llvm::Error loadExtensions(llvm::ArrayRef<std::string> paths, Extensions &extensions);

/// The version of the interface, which must be the same in the compiler and in an extension.
#define HEDDLE_EXTENSION_INTERFACE "heddle-extension-2"

#define HEDDLE_EXTENSION(Class)                                                                    \
  extern "C" const char *heddleExtensionInterface() { return HEDDLE_EXTENSION_INTERFACE; }         \
  extern "C" heddle::Extension *heddleMakeExtension() { return new Class(); }

} // namespace heddle

#endif // HEDDLE_LIB_PIPELINES_EXTENSION_H
