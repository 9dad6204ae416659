//===- LinkTest.cpp - programs import nothing -----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For all element types and scalar functions, and for all CPUs: code links, and no symbol is left
// undefined.
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/Link.h"
#include "lib/compile/Compile.h"
#include "lib/target/cpu/Builtins.h"
#include "lib/target/cpu/Emit.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace heddle;

namespace {

/// One function that adds up the results of all scalar ops on elements of one type, and one that
/// sums over a name.
class Operations {
public:
  explicit Operations(const std::string &type) : type(type), isFloat(type[0] != 'i') {
    body = isFloat ? "    %s0 = arith.addf %a, %b : " : "    %s0 = arith.xori %a, %b : ";
    body += type + "\n";
  }
  /// Adds `op operands : type` to the sum.
  void add(const std::string &op, const std::string &operands = "%a, %b") {
    define(op + " " + operands + " : " + type);
    accumulate();
  }
  /// To another type, and back.
  void thereAndBack(const std::string &there, const std::string &back, const std::string &other) {
    define(there + " %a : " + type + " to " + other);
    std::string wide = value();
    define(back + " " + wide + " : " + other + " to " + type);
    accumulate();
  }
  void compare(const std::string &comparison) {
    define(comparison + ", %a, %b : " + type);
    std::string which = value();
    define("arith.select " + which + ", %a, %b : " + type);
    accumulate();
  }
  std::string text() const {
    std::string x = "!nd.tensor<" + type + ", i: 37>", m = "!nd.tensor<" + type + ", i: 37, k: 70>";
    return "func.func @all(%x: " + x + " {nd.name = \"x\"}, %y: " + x + " {nd.name = \"y\"}) -> (" +
           x + " {nd.name = \"z\"}) {\n  %0 = nd.pointwise %x, %y : (" + x + ", " + x + ") -> " +
           x + " {\n  ^bb0(%a: " + type + ", %b: " + type + "):\n" + body + "    nd.yield %s" +
           std::to_string(sums) + " : " + type + "\n  }\n  return %0 : " + x +
           "\n}\nfunc.func @sum(%x: " + m + " {nd.name = \"x\"}) -> (" + x +
           " {nd.name = \"z\"}) {\n  %0 = nd.reduce %x over [k] neutral [" +
           (isFloat ? "0.0" : "0") + " : " + type + "] : (" + m + ") -> " + x +
           " {\n  ^bb0(%a: " + type + ", %b: " + type + "):\n    %r = arith." +
           (isFloat ? "addf" : "addi") + " %a, %b : " + type + "\n    nd.yield %r : " + type +
           "\n  }\n  return %0 : " + x + "\n}\n";
  }

private:
  std::string type, body;
  bool isFloat;
  int values = 0, sums = 0;

  std::string value() const { return "%v" + std::to_string(values); }
  void define(const std::string &right) {
    ++values;
    body += "    " + value() + " = " + right + "\n";
  }
  void accumulate() {
    body += "    %s" + std::to_string(sums + 1) + " = arith." + (isFloat ? "addf" : "xori") +
            " %s" + std::to_string(sums) + ", " + value() + " : " + type + "\n";
    ++sums;
  }
};

int bitsOf(const std::string &type) { return type == "bf16" ? 16 : atoi(type.c_str() + 1); }

std::string floats(const std::string &type) {
  Operations all(type);
  for (const char *op :
       {"addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"})
    all.add(std::string("arith.") + op);
  for (const char *op :
       {"absf",      "acosh", "asinh", "atan",  "atanh", "ceil", "cos",   "cosh",  "erf",
        "erfc",      "exp",   "exp2",  "expm1", "floor", "log",  "log10", "log1p", "log2",
        "roundeven", "rsqrt", "sin",   "sinh",  "sqrt",  "tanh", "trunc"})
    all.add(std::string("math.") + op, "%a");
  all.add("math.powf");
  all.add("math.fma", "%a, %b, %a");
  all.add("arith.negf", "%a");
  all.compare("arith.cmpf olt");
  for (const char *other : {"i8", "i16", "i32", "i64"}) {
    all.thereAndBack("arith.fptosi", "arith.sitofp", other);
    all.thereAndBack("arith.fptoui", "arith.uitofp", other);
  }
  for (const char *other : {"f64", "f32", "f16", "bf16"})
    if (bitsOf(other) > bitsOf(type))
      all.thereAndBack("arith.extf", "arith.truncf", other);
    else if (bitsOf(other) < bitsOf(type))
      all.thereAndBack("arith.truncf", "arith.extf", other);
  return all.text();
}

std::string integers(const std::string &type) {
  Operations all(type);
  for (const char *op : {"addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "andi", "ori",
                         "xori", "shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui"})
    all.add(std::string("arith.") + op);
  all.add("math.absi", "%a");
  all.compare("arith.cmpi slt");
  for (const char *other : {"f64", "f32", "f16", "bf16"}) {
    all.thereAndBack("arith.sitofp", "arith.fptosi", other);
    all.thereAndBack("arith.uitofp", "arith.fptoui", other);
  }
  for (const char *other : {"i1", "i8", "i16", "i32", "i64"})
    if (bitsOf(other) > bitsOf(type)) {
      all.thereAndBack("arith.extsi", "arith.trunci", other);
      all.thereAndBack("arith.extui", "arith.trunci", other);
    } else if (bitsOf(other) < bitsOf(type)) {
      all.thereAndBack("arith.trunci", "arith.extsi", other);
      all.thereAndBack("arith.trunci", "arith.extui", other);
    }
  return all.text();
}

struct Case {
  const char *cpu, *type;
};
void PrintTo(const Case &each, std::ostream *os) { *os << each.type << " on " << each.cpu; }

class Links : public testing::TestWithParam<Case> {};

TEST_P(Links, WithoutUndefinedSymbols) {
  std::string type = GetParam().type;
  std::string text = type[0] == 'i' ? integers(type) : floats(type);
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  std::string errors;
  context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module) << errors;
  CompileOptions options;
  options.targetCpu = GetParam().cpu;
  options.programThreads = 1;
  options.useCache = options.progress = false;
  // Linking refuses an undefined symbol, and names it.
  auto image = compileProgram(*module, options);
  EXPECT_TRUE(succeeded(image)) << errors;
  if (succeeded(image)) {
    EXPECT_FALSE(image->code.empty());
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char *cpu : {"x86-64", "haswell", "skylake-avx512", "sapphirerapids"})
    for (const char *type : {"f64", "f32", "f16", "bf16", "i8", "i16", "i32", "i64"})
      all.push_back({cpu, type});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Targets, Links, testing::ValuesIn(cases()), [](const auto &info) {
  std::string name = std::string(info.param.cpu) + "_" + info.param.type;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Link, RefusesWhatNothingDefines) {
  mlir::DialectRegistry registry;
  registerCompilerDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "llvm.func @elsewhere(f32) -> f32\n"
      "llvm.func @f(%x: f32) -> f32 {\n  %0 = llvm.call @elsewhere(%x) : (f32) -> f32\n  "
      "llvm.return %0 : f32\n}",
      &context);
  ASSERT_TRUE(module);
  auto target = cpu::targetFor("haswell");
  ASSERT_TRUE(bool(target));
  auto object = cpu::emitObject(*module, *target);
  ASSERT_TRUE(bool(object));
  auto lacking = cpu::undefinedSymbols(*object);
  ASSERT_TRUE(bool(lacking));
  EXPECT_EQ(*lacking, std::vector<std::string>{"elsewhere"});
  auto block = cpu::link({{"my kernel", *object}});
  ASSERT_FALSE(bool(block));
  EXPECT_EQ(llvm::toString(block.takeError()),
            "the code of 'my kernel' can't be linked: it refers to 'elsewhere', "
            "which nothing defines, and programs import nothing");
}

TEST(Link, RefusesDamagedObjects) {
  auto block = cpu::link({{"rubbish", "this is no object"}});
  ASSERT_FALSE(bool(block));
  std::string error = llvm::toString(block.takeError());
  EXPECT_NE(error.find("'rubbish' can't be linked"), std::string::npos) << error;
}

TEST(Target, UnknownCpuIsNamed) {
  auto target = cpu::targetFor("pdp11");
  ASSERT_FALSE(bool(target));
  EXPECT_NE(llvm::toString(target.takeError()).find("unknown target CPU 'pdp11'"),
            std::string::npos);
}

TEST(Target, KeysTellTargetsApart) {
  auto one = cpu::targetFor("haswell"), same = cpu::targetFor("haswell"),
       other = cpu::targetFor("x86-64");
  ASSERT_TRUE(one && same && other);
  EXPECT_EQ(one->key(), same->key());
  EXPECT_NE(one->key(), other->key());
  EXPECT_TRUE(one->has("avx2"));
  EXPECT_FALSE(other->has("avx2"));
}

} // namespace
