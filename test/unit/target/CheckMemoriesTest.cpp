//===- CheckMemoriesTest.cpp - memories that targets share ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/CheckMemories.h"
#include "lib/compile/Compile.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace mlir;

namespace {
/// A device whose memory is its own.
struct Distant : Target {
  bool shares;
  explicit Distant(bool shares) : shares(shares) {}
  bool sharesHostMemory() const override { return shares; }
  std::string key() const override { return ""; }
  nest::MachineAttr machine(MLIRContext *, int) const override { return {}; }
  std::unique_ptr<KernelCompiler> makeCompiler(MLIRContext &) const override { return nullptr; }
  llvm::Expected<ProgramCode> link(std::vector<Object>) const override { return ProgramCode(); }
  void describe(Manifest &) const override {}
};

/// What is said of an argument with this memory.
std::string saidOf(const std::string &sharding, bool shares, bool explain) {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  std::string text =
      "func.func @f(%x: !nd.tensor<f32, k: 4> {nd.name = \"state.x\"" +
      (sharding.empty() ? "" : ", mesh.sharding = #mesh.sharding<" + sharding + ">") +
      "}) { return }";
  std::string said;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
    said += (isError ? "error: " : "remark: ") + diagnostic.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(text, &context);
  LogicalResult result = checkMemories(*module, Distant(shares), explain);
  EXPECT_EQ(failed(result), said.starts_with("error")) << said;
  return said;
}
} // namespace

TEST(Memories, TargetsShareThatOfTheHostOrRefuseIt) {
  EXPECT_EQ(saidOf("{}, memory host", true, false), "");
  EXPECT_EQ(saidOf("{}, memory host", true, true),
            "remark: 'state.x' is in the memory of the host, which is the device's");
  EXPECT_EQ(saidOf("{}, memory file", true, true),
            "remark: 'state.x' is in a file, which callers map into memory");
  for (const char *memory : {"host", "file"})
    EXPECT_EQ(saidOf("{}, memory " + std::string(memory), false, true),
              "error: 'state.x' states the memory '" + std::string(memory) +
                  "', which the device of the target does not share; expected device");
  for (const char *own : {"", "{}", "{}, memory device"})
    for (bool shares : {true, false})
      EXPECT_EQ(saidOf(own, shares, true), "");
}
