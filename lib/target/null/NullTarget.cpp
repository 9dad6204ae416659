//===- NullTarget.cpp - kernels as text -----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/null/Null.h"

using namespace heddle;
using namespace mlir;

namespace {
class NullCompiler : public KernelCompiler {
public:
  llvm::Expected<KernelCode> compile(const nest::KernelRequest &request) override {
    return codeOf(request.symbol, textOf(request));
  }

  llvm::Expected<KernelCode> compileClear(const std::string &symbol, const Expr &bytes) override {
    return codeOf(symbol, "func.func private @" + symbol + "() attributes {" +
                              nullClearAttrName.str() + " = " +
                              std::to_string(bytes.constant().value_or(-1)) + " : i64}\n");
  }

  llvm::Expected<KernelCode> compileCustom(const std::string &symbol,
                                           const CustomKernel &kernel) override {
    return refuseCustom("null", kernel);
  }

  llvm::Expected<std::string> print(const nest::KernelRequest &request, const CustomKernel *custom,
                                    KernelForm form) override {
    if (custom)
      return compileCustom(request.symbol, *custom).takeError();
    if (form != KernelForm::Loops)
      return llvm::createStringError("the target 'null' makes neither LLVM IR nor assembly");
    return textOf(request);
  }

private:
  static llvm::Expected<KernelCode> codeOf(const std::string &symbol, std::string text) {
    return KernelCode{{{symbol, std::move(text)}}};
  }

  static std::string textOf(const nest::KernelRequest &request) {
    OwningOpRef<func::FuncOp> kernel = request.nest->getParentOfType<func::FuncOp>().clone();
    kernel->setName(request.symbol);
    std::string text;
    llvm::raw_string_ostream(text) << **kernel << "\n";
    return text;
  }
};

class NullTarget : public Target {
public:
  std::string key() const override { return "null"; }

  /// Layouts and groups are chosen as for a small CPU with one thread.
  nest::MachineAttr machine(MLIRContext *context, int) const override {
    Builder b(context);
    SmallVector<NamedAttribute> facts{b.getNamedAttr("kind", b.getStringAttr("null"))};
    for (auto [name, value] :
         std::initializer_list<std::pair<StringRef, int64_t>>{{"vector_bytes", 16},
                                                              {"vector_registers", 16},
                                                              {"l1_bytes", 32 << 10},
                                                              {"l2_bytes", 1 << 20},
                                                              {"l3_bytes", 16 << 20},
                                                              {"threads", 1}})
      facts.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
    return nest::MachineAttr::get(context, b.getDictionaryAttr(facts));
  }

  std::unique_ptr<KernelCompiler> makeCompiler(MLIRContext &) const override {
    return std::make_unique<NullCompiler>();
  }

  llvm::Expected<ProgramCode> link(std::vector<Object> objects) const override {
    ProgramCode code{"module {\n", {}, {}};
    for (Object &object : objects) {
      code.symbols[object.name] = 0;
      code.bytes += object.bytes;
    }
    code.bytes += "}\n";
    return code;
  }

  void describe(Manifest &manifest) const override { manifest.target = "null"; }
};
} // namespace

static const TargetRegistration registered(
    {"null"}, [](llvm::StringRef name) { return name == "null"; },
    [](llvm::StringRef) { return std::make_shared<NullTarget>(); });
