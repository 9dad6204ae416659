//===- CpuTarget.cpp - describes CPUs -------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/target/cpu/CpuTarget.h"
#include "lib/cost/Rates.h"
#include "lib/target/Target.h"
#include "runtime/device/CpuFeatures.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

#include <map>
#include <mutex>

using namespace heddle;
using namespace heddle::cpu;

static void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
  });
}

std::string heddle::targetWith(const std::vector<std::string> &features) {
  return "x86-64+" + llvm::join(features, "+");
}

bool CpuTarget::has(llvm::StringRef feature) const {
  return llvm::binary_search(features, feature.str());
}

std::string CpuTarget::key() const { return triple + "|" + cpu + "|" + llvm::join(features, ","); }

bool cpu::isCpuName(llvm::StringRef name) {
  initialize();
  std::string error;
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::MCSubtargetInfo> any(found ? found->createMCSubtargetInfo(triple, "", "")
                                                   : nullptr);
  return name.empty() || name == "native" || (any && any->isCPUStringValid(name.split('+').first));
}

llvm::Expected<CpuTarget> cpu::targetFor(llvm::StringRef name) {
  initialize();
  CpuTarget target;
  target.triple = llvm::sys::getDefaultTargetTriple();
  target.native = name == "native" || name.empty();
  if (target.native && hidesCpuFeatures())
    return targetFor(targetWith(cpuFeatures()));
  auto [cpu, added] = name.split('+'); // "x86-64+avx2+fma"
  target.cpu = target.native ? llvm::sys::getHostCPUName().str() : cpu.str();
  std::string error;
  llvm::Triple triple(target.triple);
  const llvm::Target *found = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!found)
    return llvm::createStringError(error);
  std::unique_ptr<llvm::MCSubtargetInfo> any(found->createMCSubtargetInfo(triple, "", ""));
  if (!any->isCPUStringValid(target.cpu))
    return llvm::createStringError("unknown target CPU '" + target.cpu +
                                   "'; expected 'native' or a name such as 'x86-64', 'haswell', "
                                   "'skylake-avx512', 'sapphirerapids', 'znver4'");
  std::map<std::string, bool> enabled;
  std::string features;
  for (llvm::StringRef feature : llvm::split(added, '+')) {
    if (feature.empty())
      continue;
    if (llvm::none_of(any->getAllProcessorFeatures(),
                      [&](const auto &known) { return feature == known.Key; }))
      return llvm::createStringError("unknown feature '" + feature + "' of the target CPU '" +
                                     name + "'; expected names such as 'avx2', 'fma'");
    features += (features.empty() ? "+" : ",+") + feature.str();
  }
  std::unique_ptr<llvm::MCSubtargetInfo> chosen(
      found->createMCSubtargetInfo(triple, target.cpu, features));
  for (const llvm::SubtargetFeatureKV &feature : chosen->getEnabledProcessorFeatures())
    enabled[feature.Key] = true;
  if (target.native)
    for (const auto &feature : llvm::sys::getHostCPUFeatures())
      enabled[feature.getKey().str()] = feature.getValue();
  if (triple.getArch() == llvm::Triple::x86_64 && !enabled["64bit"])
    return llvm::createStringError("the target CPU '" + name +
                                   "' has no 64-bit mode; expected one such as 'x86-64'");
  for (const auto &[feature, on] : enabled)
    if (on)
      target.features.push_back(feature);
  return target;
}

/// `vdpbf16ps` computes two products per lane. It runs at the rate of FMA on Zen, at half of it on
/// other CPUs.
static nest::MatrixUnitAttr bf16Dot(mlir::Builder &builder, const CpuTarget &target, int64_t lanes,
                                    bool hasDot) {
  auto dim = [&](llvm::StringRef name, int64_t size) {
    return nd::Dim(builder.getContext(), name, size);
  };
  double rate = !hasDot ? 0 : llvm::StringRef(target.cpu).starts_with("znver") ? 2 : 1;
  return nest::MatrixUnitAttr::get(
      builder.getContext(), "bf16_dot",
      nd::DimsAttr::getSorted(builder.getContext(), {dim("k", 2), dim("m", 1), dim("n", lanes)}),
      builder.getBF16Type(), Layout::rowMajor({"m", "k"}), builder.getBF16Type(),
      Layout::rowMajor({"n", "k"}), builder.getF32Type(), Layout::rowMajor({"m", "n"}),
      builder.getF64FloatAttr(rate));
}

nest::MachineAttr cpu::machineAttr(mlir::MLIRContext *context, const CpuTarget &target,
                                   int threads) {
  mlir::Builder builder(context);
  llvm::SmallVector<mlir::NamedAttribute> values;
  auto set = [&](llvm::StringRef key, int64_t value) {
    values.push_back(builder.getNamedAttr(key, builder.getI64IntegerAttr(value)));
  };
  bool wide = target.has("avx512f") && target.has("avx512vl") && target.has("avx512bw") &&
              target.has("avx512dq");
  values.push_back(builder.getNamedAttr("kind", builder.getStringAttr("cpu")));
  int64_t vectorBytes = wide ? 64 : target.has("avx") ? 32 : 16;
  bool hasDot = wide && target.has("avx512bf16");
  set("vector_bytes", vectorBytes);
  set("vector_registers", wide ? 32 : 16);
  set("has_fma", target.has("fma"));
  set("has_bf16_dot", hasDot);
  mlir::Attribute dot = bf16Dot(builder, target, vectorBytes / 4, hasDot);
  values.push_back(builder.getNamedAttr("units", builder.getArrayAttr(dot)));
  set("l1_bytes", target.native ? cacheBytes(1, 32 << 10) : 32 << 10);
  set("l2_bytes", target.native ? cacheBytes(2, 1 << 20) : 1 << 20);
  set("l3_bytes", target.native ? cacheBytes(3, 16 << 20) : 16 << 20);
  set("threads", threads);
  return nest::MachineAttr::get(context, builder.getDictionaryAttr(values));
}

nest::MachineAttr cpu::withMeasured(nest::MachineAttr machine, const MachineFacts &measured) {
  mlir::Builder builder(machine.getContext());
  mlir::NamedAttrList facts(machine.getValues());
  for (const auto &[key, value] : measured.values)
    if (cost::Rates::isRate(key))
      facts.set(key, builder.getF64FloatAttr(value));
    else // a number of bytes
      facts.set(key, builder.getI64IntegerAttr(int64_t(value)));
  return nest::MachineAttr::get(machine.getContext(), facts.getDictionary(machine.getContext()));
}
