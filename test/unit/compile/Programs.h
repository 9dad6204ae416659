//===- Programs.h - programs as text, for tests -----------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text in which `$0`, `$1`, ... stand for names can be spelled in many ways:
//
//     spell("!nd.tensor<f32, $0: 4, $1: 5>", {"row", "column"})
//         // !nd.tensor<f32, row: 4, column: 5>
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_COMPILE_PROGRAMS_H
#define HEDDLE_TEST_UNIT_COMPILE_PROGRAMS_H

#include "lib/compile/Compile.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <cctype>

namespace heddle::test {

inline std::string spell(const std::string &text, const std::vector<std::string> &names) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '$' && i + 1 < text.size() && isdigit(text[i + 1]))
      result += names[size_t(text[++i] - '0')];
    else
      result += text[i];
  return result;
}

// The compiler chooses the layouts of the arguments below: by default they would be row-major over
// their sorted names, which depends on spelling.

struct Compiled {
  std::optional<ProgramImage> image;
  CompileStatistics statistics;
  std::string errors;
};

/// Options without the cache, with the same code on every machine.
inline CompileOptions plainOptions() {
  CompileOptions options;
  options.targetCpu = "haswell";
  options.programThreads = 2;
  options.useCache = false;
  options.progress = false;
  return options;
}

inline Compiled compile(const std::string &text, const CompileOptions &options = plainOptions()) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  Compiled result;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    result.errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (!module)
    return result;
  auto image = compileProgram(*module, options, &result.statistics);
  if (succeeded(image))
    result.image = std::move(*image);
  return result;
}

/// A matrix product with a bias, clipped at zero: names $0 (rows), $1 (columns), $2 (summed).
inline const char *product = R"(
func.func @product(%x: !nd.tensor<f32, $0: 40, $2: 50> {nd.name = "x", nd.layout = "any"}, %y: !nd.tensor<f32, $2: 50, $1: 30> {nd.name = "y", nd.layout = "any"},
                   %b: !nd.tensor<f32, $1: 30> {nd.name = "b", nd.layout = "any"}) -> (!nd.tensor<f32, $0: 40, $1: 30> {nd.name = "z", nd.layout = "any"}) {
  %p = nd.pointwise %x, %y : (!nd.tensor<f32, $0: 40, $2: 50>, !nd.tensor<f32, $2: 50, $1: 30>) -> !nd.tensor<f32, $0: 40, $1: 30, $2: 50> {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.mulf %a, %c : f32
    nd.yield %0 : f32
  }
  %r = nd.reduce %p over [$2] neutral [0.0 : f32] : (!nd.tensor<f32, $0: 40, $1: 30, $2: 50>) -> !nd.tensor<f32, $0: 40, $1: 30> {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %a, %c : f32
    nd.yield %0 : f32
  }
  %z = nd.pointwise %r, %b : (!nd.tensor<f32, $0: 40, $1: 30>, !nd.tensor<f32, $1: 30>) -> !nd.tensor<f32, $0: 40, $1: 30> {
  ^bb0(%a: f32, %c: f32):
    %zero = arith.constant 0.0 : f32
    %0 = arith.addf %a, %c : f32
    %1 = arith.maximumf %0, %zero : f32
    nd.yield %1 : f32
  }
  return %z : !nd.tensor<f32, $0: 40, $1: 30>
})";

/// The same, with all unordered parts in the opposite order.
inline const char *productReversed = R"(
func.func @product(%x: !nd.tensor<f32, $2: 50, $0: 40> {nd.name = "x", nd.layout = "any"}, %y: !nd.tensor<f32, $1: 30, $2: 50> {nd.name = "y", nd.layout = "any"},
                   %b: !nd.tensor<f32, $1: 30> {nd.name = "b", nd.layout = "any"}) -> (!nd.tensor<f32, $1: 30, $0: 40> {nd.name = "z", nd.layout = "any"}) {
  %p = nd.pointwise %y, %x : (!nd.tensor<f32, $2: 50, $1: 30>, !nd.tensor<f32, $0: 40, $2: 50>) -> !nd.tensor<f32, $2: 50, $0: 40, $1: 30> {
  ^bb0(%c: f32, %a: f32):
    %0 = arith.mulf %c, %a : f32
    nd.yield %0 : f32
  }
  %r = nd.reduce %p over [$2] neutral [0.0 : f32] : (!nd.tensor<f32, $0: 40, $1: 30, $2: 50>) -> !nd.tensor<f32, $0: 40, $1: 30> {
  ^bb0(%a: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    nd.yield %0 : f32
  }
  %z = nd.pointwise %b, %r : (!nd.tensor<f32, $1: 30>, !nd.tensor<f32, $1: 30, $0: 40>) -> !nd.tensor<f32, $0: 40, $1: 30> {
  ^bb0(%c: f32, %a: f32):
    %0 = arith.addf %c, %a : f32
    %zero = arith.constant 0.0 : f32
    %1 = arith.maximumf %zero, %0 : f32
    nd.yield %1 : f32
  }
  return %z : !nd.tensor<f32, $0: 40, $1: 30>
})";

/// A convolution ($0 batch, $1 row, $2 channel, $3 tap, $4 output) with its gradients, and a
/// max-pool.
inline const char *network = R"(
func.func private @convolve(%x: !nd.tensor<f32, $0: 4, $1: 18, $2: 6>, %w: !nd.tensor<f32, $3: 3, $2: 6, $4: 20>) -> !nd.tensor<f32, $0: 4, $1: 18, $4: 20> {
  %xw = nd.window %x $1 -> $3 size 3 stride 1 pad 1, 1 value 0.0 : f32 : !nd.tensor<f32, $0: 4, $1: 18, $2: 6> -> !nd.tensor<f32, $0: 4, $1: 18, $3: 3, $2: 6>
  %p = nd.pointwise %xw, %w : (!nd.tensor<f32, $0: 4, $1: 18, $3: 3, $2: 6>, !nd.tensor<f32, $3: 3, $2: 6, $4: 20>) -> !nd.tensor<f32, $0: 4, $1: 18, $3: 3, $2: 6, $4: 20> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.mulf %a, %b : f32
    nd.yield %m : f32
  }
  %y = nd.reduce %p over [$3, $2] neutral [0.0 : f32] : (!nd.tensor<f32, $0: 4, $1: 18, $3: 3, $2: 6, $4: 20>) -> !nd.tensor<f32, $0: 4, $1: 18, $4: 20> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    nd.yield %m : f32
  }
  return %y : !nd.tensor<f32, $0: 4, $1: 18, $4: 20>
}
func.func @gradients(%x: !nd.tensor<f32, $0: 4, $1: 18, $2: 6> {nd.name = "x", nd.layout = "any"}, %w: !nd.tensor<f32, $3: 3, $2: 6, $4: 20> {nd.name = "w", nd.layout = "any"},
                     %dy: !nd.tensor<f32, $0: 4, $1: 18, $4: 20> {nd.name = "dy", nd.layout = "any"})
    -> (!nd.tensor<f32, $0: 4, $1: 9, $4: 20> {nd.name = "y", nd.layout = "any"}, !nd.tensor<f32, $0: 4, $1: 18, $2: 6> {nd.name = "dx", nd.layout = "any"}, !nd.tensor<f32, $3: 3, $2: 6, $4: 20> {nd.name = "dw", nd.layout = "any"}) {
  %y, %dx, %dw = nd.vjp @convolve(%x, %w) cotangents(%dy) wrt [0, 1] : (!nd.tensor<f32, $0: 4, $1: 18, $2: 6>, !nd.tensor<f32, $3: 3, $2: 6, $4: 20>, !nd.tensor<f32, $0: 4, $1: 18, $4: 20>) -> (!nd.tensor<f32, $0: 4, $1: 18, $4: 20>, !nd.tensor<f32, $0: 4, $1: 18, $2: 6>, !nd.tensor<f32, $3: 3, $2: 6, $4: 20>)
  %yw = nd.window %y $1 -> $3 size 2 stride 2 : !nd.tensor<f32, $0: 4, $1: 18, $4: 20> -> !nd.tensor<f32, $0: 4, $1: 9, $3: 2, $4: 20>
  %z = nd.reduce %yw over [$3] neutral [0xFF800000 : f32] : (!nd.tensor<f32, $0: 4, $1: 9, $3: 2, $4: 20>) -> !nd.tensor<f32, $0: 4, $1: 9, $4: 20> {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    nd.yield %m : f32
  }
  return %z, %dx, %dw : !nd.tensor<f32, $0: 4, $1: 9, $4: 20>, !nd.tensor<f32, $0: 4, $1: 18, $2: 6>, !nd.tensor<f32, $3: 3, $2: 6, $4: 20>
})";

} // namespace heddle::test

#endif // HEDDLE_TEST_UNIT_COMPILE_PROGRAMS_H
