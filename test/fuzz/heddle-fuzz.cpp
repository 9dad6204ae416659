//===- heddle-fuzz.cpp - the parser and the verifiers on any text ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A libFuzzer target (`./check --fuzz SECONDS`). Any text is either refused with a diagnostic or a
// program; a program is printed, and the printed text parses to the same program.
//
//===----------------------------------------------------------------------===//

#include "dialects/check/Check.h"
#include "dialects/nd/Nd.h"
#include "dialects/nest/Nest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <cstdlib>
#include <iostream>

using namespace mlir;

static OwningOpRef<ModuleOp> parse(StringRef text, MLIRContext &context, std::string *error) {
  ScopedDiagnosticHandler quiet(&context, [&](Diagnostic &diagnostic) {
    if (error)
      *error += diagnostic.str() + "\n";
  });
  return parseSourceString<ModuleOp>(text, &context);
}

static std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

static std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<heddle::nd::NdDialect, heddle::nest::NestDialect, heddle::check::CheckDialect,
                  arith::ArithDialect, func::FuncDialect, math::MathDialect, scf::SCFDialect>();
  return std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  // Types and attributes accumulate in a context, so it is replaced now and then.
  static std::unique_ptr<MLIRContext> context;
  static int served = 0;
  if (served++ % 1000 == 0)
    context = makeContext();
  std::string input(reinterpret_cast<const char *>(data),
                    size); // MLIR's lexer looks one byte further
  auto module = parse(input, *context, nullptr);
  if (!module)
    return 0;
  std::string text = print(*module), error;
  auto again = parse(text, *context, &error);
  if (!again || print(*again) != text) {
    std::cerr << "a program is not what is printed of it\n" << text << "\n" << error;
    if (again)
      std::cerr << print(*again) << "\n";
    std::abort();
  }
  return 0;
}
