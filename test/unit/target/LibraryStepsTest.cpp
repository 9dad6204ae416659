//===- LibraryStepsTest.cpp - steps that call libraries, on targets -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/Target.h"
#include "test/unit/runtime/LibraryEntry.h"

#include "heddle/Error.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

using namespace heddle;

namespace {
/// The program that a target creates from the entry's steps.
class LibrarySteps : public testing::TestWithParam<const char *> {
protected:
  EntrySpec entry = libraryEntry();

  std::shared_ptr<Program> program() {
    auto target = llvm::cantFail(findTarget(GetParam()));
    mlir::DialectRegistry registry;
    mlir::registerBuiltinDialectTranslation(registry);
    mlir::registerLLVMDialectTranslation(registry);
    mlir::MLIRContext context(registry);
    Object object = llvm::cantFail(
        target->makeCompiler(context)->compileEntry("entry." + entry.name, entry.steps));
    ProgramCode code = llvm::cantFail(target->link({object}));
    ProgramImage image;
    target->describe(image.manifest);
    entry.codeOffset = code.symbols.at("entry." + entry.name);
    image.manifest.entries = {entry};
    image.code = code.bytes;
    return std::make_shared<Program>(ProgramImage::parse(image.bytes(), "f.heddle"));
  }
  static std::vector<float> run(Program &program, const CallOptions &options) {
    return valuesOf(program.run("f", {{"x", tensorOf({1, 2, 3, 4})}}, options)[0]);
  }
};
} // namespace

TEST_P(LibrarySteps, AreCalledStartedAndAwaited) {
  auto made = program();
  for (int threads : {1, 2})
    for (bool managed : {false, true})
      for (int64_t rank : {5, 0}) {
        CallOptions options;
        options.team = makeThreadTeam(threads);
        options.managed = managed;
        options.supplied = {{"rank", rank}};
        float r = float(rank);
        EXPECT_EQ(run(*made, options), (std::vector<float>{2 + r, 4 + r, 6 + r, 8 + r}));
      }
}

TEST_P(LibrarySteps, AStatusOfALibraryIsAnError) {
  entry.steps[2].kernel = "heddle_test_fail";
  auto made = program();
  TensorRef x = tensorOf({1, 2, 3, 4});
  expectIn(
      "'f' failed at 'step 2' (model.cpp:3:1): 'heddle_test_fail' of the library '" +
          std::string(HEDDLE_TEST_LIBRARY) + "' returned the status 7",
      errorOf<ExecutionError>([&] { made->run("f", {{"x", x}}, {.supplied = {{"rank", 1}}}); }));
  EXPECT_EQ(valuesOf(x)[0], -1) << "the call returned before the function that it had started";
}

TEST_P(LibrarySteps, TheStepThatStartedAFunctionIsToldItsStatus) {
  entry.steps[2].kernel = "heddle_test_cancel";
  expectIn("'f' failed at 'step 1' (model.cpp:2:1): 'heddle_test_double_when_set' of the library",
           errorOf<ExecutionError>([&] { run(*program(), {.supplied = {{"rank", 1}}}); }));
}

INSTANTIATE_TEST_SUITE_P(Targets, LibrarySteps, testing::Values("native", "null"));
