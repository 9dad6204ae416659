//===- JitImpl.h - the parts of a compiled function -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A call finds the program of its signature (JitPrograms.h), or traces the function (JitTrace.h) on
// symbolic sizes (JitSizes.h) and compiles the module (Jit.cpp). It then runs the program on the
// tensors of its arguments (JitCall.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_LIB_BUILDER_JITIMPL_H
#define HEDDLE_LIB_BUILDER_JITIMPL_H

#include "lib/builder/Execute.h"
#include "lib/builder/JitPrograms.h"
#include "lib/pipelines/Extension.h"

namespace heddle::detail {

struct JitCore::Impl {
  JitOptions options;
  JitSizes sizes;
  MeshPlan plan; ///< from the mesh, the rules and the file
  Extensions extensions;
  JitPrograms programs;

  /// Throws Error for invalid options.
  Impl(JitOptions given, Here here);

  /// The ranks that run the function together; they join at the first call.
  Ranks ranks(Here here) const { return options.ranks ? *options.ranks : Ranks::join("", here); }

  std::string signatureOf(const std::vector<Leaf> &leaves, Here here) const;
  std::string signatureOf(const Inputs &inputs, Here here) const;
  CompileOptions compileOptions(const std::vector<Leaf> &leaves, Here here) const;
  TracedModule trace(std::vector<Leaf> &leaves, const Trace &function, Here here) const {
    return traceFunction(options, sizes, !plan.mesh.empty(), leaves, function, here);
  }
  /// Traces and compiles for a new signature. No lock is held during compilation, so a thread that
  /// waits for it within a trace of its own cannot cause a deadlock.
  std::shared_ptr<const Compiled> make(const std::string &signature, Inputs &inputs,
                                       const Trace &function, Here here);

private:
  /// Compiles together with the ranks that run a function with a mesh.
  ProgramImage compileFor(std::unique_ptr<PrivateModule> module, const CompileOptions &asked,
                          CompileStatistics &found, Here here) const;
};

} // namespace heddle::detail

#endif // HEDDLE_LIB_BUILDER_JITIMPL_H
