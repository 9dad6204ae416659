//===- ExtensionTest.cpp - what remarks say of plugins --------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include "lib/pipelines/Extension.h"

#include <gtest/gtest.h>

using namespace heddle;
using namespace heddle::test;

namespace {
/// Makes a kernel for reductions, or none.
struct Reductions : Extension {
  bool makes;
  Reductions(const std::string &called, bool makes) : makes(makes) {
    name = called;
    key = called;
  }
  std::optional<CustomKernel> makeKernel(const nest::KernelRequest &request,
                                         const Target &) const override {
    auto nest = llvm::dyn_cast<nest::ComputeOp>(request.nest);
    if (!makes || !nest || !nest.isReduction())
      return std::nullopt;
    CustomKernel kernel;
    kernel.function = "sum_of_rows";
    return kernel; // without code, so that the program can't be linked
  }
};

/// What the compiler says of a sum of rows with these extensions, plus exponentials beside it.
std::string said(const Extensions &extensions, const std::string &rows = "64",
                 const std::string &target = plainOptions().targetCpu) {
  CompileOptions options = plainOptions();
  options.targetCpu = target;
  options.explainLayouts = true;
  options.extensions = extensions;
  return compile(R"(
func.func @f(%x: !nd.tensor<f32, row: )" +
                     rows + R"(, column: 100> {nd.name = "x"})
    -> (!nd.tensor<f32, column: 100> {nd.name = "y"}, !nd.tensor<f32, row: )" +
                     rows +
                     R"(, column: 100> {nd.name = "z"}) {
  %y = nd.reduce %x over [row] neutral [0.0 : f32]
      : (!nd.tensor<f32, row: )" +
                     rows + R"(, column: 100>) -> !nd.tensor<f32, column: 100> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    nd.yield %s : f32
  }
  %z = nd.pointwise %x : (!nd.tensor<f32, row: )" +
                     rows + R"(, column: 100>)
      -> !nd.tensor<f32, row: )" +
                     rows + R"(, column: 100> {
  ^bb0(%a: f32):
    %s = math.exp %a : f32
    nd.yield %s : f32
  }
  return %y, %z : !nd.tensor<f32, column: 100>, !nd.tensor<f32, row: )" +
                     rows + R"(, column: 100>
})",
                 options)
      .errors;
}

bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}
} // namespace

TEST(Extensions, RemarksNameThePluginThatMakesAKernelAndThoseThatDeclineIt) {
  auto none = std::make_shared<const Reductions>("none", false),
       sums = std::make_shared<const Reductions>("sums", true),
       others = std::make_shared<const Reductions>("others", true);
  std::string text = said({none, sums, others});
  EXPECT_TRUE(contains(text, "the kernel of 'reduce' is made by the plugin 'sums', as "
                             "'sum_of_rows'\n"))
      << text;
  EXPECT_TRUE(contains(text, "the kernel of 'pointwise' is declined by the plugins 'none', "
                             "'sums', 'others'\n"))
      << text;
  text = said({none});
  EXPECT_TRUE(contains(text, "the kernel of 'reduce' is declined by the plugin 'none'\n")) << text;
  EXPECT_TRUE(contains(text, "the kernel of 'pointwise' is declined by the plugin 'none'\n"));
  EXPECT_FALSE(contains(said({}), "the kernel of"));
}

TEST(Extensions, MachineCodeIsRefusedForGpus) {
  for (const char *target : {"opencl", "sm_90", "gfx942"}) {
    std::string text = said({std::make_shared<const Reductions>("sums", true)}, "64", target);
    EXPECT_TRUE(contains(text, "the target '" + std::string(target) +
                                   "' can't call the machine code of 'sum_of_rows'"))
        << text;
  }
}

TEST(Extensions, RemarksSayThatNoneMakesKernelsOfSymbolicSizes) {
  std::string text = said({std::make_shared<const Reductions>("sums", true)}, "N");
  EXPECT_TRUE(contains(text, "the kernel of 'reduce' has symbolic sizes, for which plugins make "
                             "no kernels\n"))
      << text;
  EXPECT_FALSE(contains(text, "is made by"));
}
