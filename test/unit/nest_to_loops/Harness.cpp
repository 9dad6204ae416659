//===- Harness.cpp - compile, run, compare --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/nest_to_loops/Harness.h"

#include "dialects/nest/NestBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <cmath>
#include <ctime>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::nest;
using namespace heddle::test;
using namespace mlir;

Guarded::Guarded(size_t bytes) {
  size_t page = sysconf(_SC_PAGESIZE);
  size_t whole = (std::max<size_t>(bytes, 1) + page - 1) / page * page;
  pageBytes = whole + 2 * page;
  pages = mmap(nullptr, pageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *start = static_cast<char *>(pages) + page;
  mprotect(start, whole, PROT_READ | PROT_WRITE);
  data = start + whole - bytes;
}

Guarded::~Guarded() { munmap(pages, pageBytes); }

std::unique_ptr<MLIRContext> test::makeContext() {
  auto context = std::make_unique<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<nd::NdDialect, NestDialect, func::FuncDialect, arith::ArithDialect,
                       math::MathDialect, DLTIDialect>();
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  return context;
}

static Layout defaultLayout(nd::NdTensorType type) {
  std::vector<std::string> names;
  for (const nd::Dim &dim : type.getDims())
    names.push_back(dim.name.str());
  return Layout::rowMajor(names);
}

static int64_t storedBytes(Type element) {
  return std::max(1u, element.getIntOrFloatBitWidth() / 8);
}

Kernel::Kernel(MLIRContext &context, const std::string &text, Options options) : options(options) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return success();
  });
  source = parseSourceString<ModuleOp>(text, &context);
  if (!source)
    return;
  source->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isa<ComputeOp, UpdateOp, GroupOp, ScanOp, SortOp>(op))
      return WalkResult::advance();
    nest = op;
    return WalkResult::interrupt();
  });
  KernelRequest request;
  request.nest = nest;
  operands = kernelOperands(nest);
  for (Value operand : operands) {
    auto argument = cast<BlockArgument>(operand);
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    auto layout = function.getArgAttrOfType<LayoutAttr>(argument.getArgNumber(), "nest.layout");
    operandLayouts.push_back(layout ? layout.getLayout() : defaultLayout(tensorTypeOf(operand)));
  }
  auto layouts = nest->getAttrOfType<ArrayAttr>("layouts");
  for (OpResult result : nest->getResults()) {
    auto layout = layouts ? dyn_cast<LayoutAttr>(layouts[result.getResultNumber()]) : LayoutAttr();
    resultLayouts.push_back(layout ? layout.getLayout() : defaultLayout(tensorTypeOf(result)));
  }
  request.operandLayouts = operandLayouts;
  request.resultLayouts = resultLayouts;
  bool wide = options.machine512 && llvm::sys::getHostCPUFeatures().lookup("avx512f");
  Builder builder(&context);
  SmallVector<NamedAttribute> machine;
  auto set = [&](StringRef key, int64_t value) {
    machine.push_back(builder.getNamedAttr(key, builder.getI64IntegerAttr(value)));
  };
  set("vector_bytes", wide ? 64 : 32);
  set("vector_registers", wide ? 32 : 16);
  set("has_fma", 1);
  if (options.l1)
    set("l1_bytes", options.l1);
  if (options.l2)
    set("l2_bytes", options.l2);
  request.machine = MachineAttr::get(&context, builder.getDictionaryAttr(machine));
  request.symbol = "kernel";
  if (auto schedule = nest->getAttrOfType<ScheduleAttr>("schedule"))
    request.schedule = schedule.getSchedule();
  else
    request.schedule = chooseSchedule(nest, operandLayouts, resultLayouts, request.machine);
  llvm::raw_string_ostream(schedule) << ScheduleAttr::get(&context, request.schedule);
  FailureOr<KernelInfo> info = emitKernel(request);
  if (failed(info))
    return;
  chunks = *info->chunks.constant();
  scratchBytes = *info->scratchBytes.constant();
  llvm::raw_string_ostream(loops) << *info->module;
  if (failed(::mlir::verify(*info->module))) {
    error += loops;
    return;
  }
  PassManager passes(&context);
  buildKernelLowering(passes);
  if (failed(passes.run(*info->module)))
    return;
  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(*info->module, *llvmContext);
  if (!module)
    return;

  static bool initialised = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)initialised;
  auto target = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  target.setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto machineOf = llvm::cantFail(target.createTargetMachine());
  module->setDataLayout(machineOf->createDataLayout());
  module->setTargetTriple(machineOf->getTargetTriple());
  for (llvm::Function &each : *module) {
    if (each.isDeclaration()) {
      if (!each.isIntrinsic())
        error += "the kernel calls " + each.getName().str() + "\n";
      continue;
    }
    if (wide)
      each.addFnAttr("prefer-vector-width", "512");
    each.addFnAttr("target-cpu", target.getCPU());
    each.addFnAttr("target-features", target.getFeatures().getString());
  }
  if (!error.empty())
    return;
  if (options.optimise) {
    llvm::LoopAnalysisManager loopAnalyses;
    llvm::FunctionAnalysisManager functionAnalyses;
    llvm::CGSCCAnalysisManager sccAnalyses;
    llvm::ModuleAnalysisManager moduleAnalyses;
    // As lib/target/cpu does.
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = tuning.SLPVectorization = false;
    tuning.LoopInterleaving = tuning.LoopUnrolling = false;
    llvm::PassBuilder builder(machineOf.get(), tuning);
    builder.registerModuleAnalyses(moduleAnalyses);
    builder.registerCGSCCAnalyses(sccAnalyses);
    builder.registerFunctionAnalyses(functionAnalyses);
    builder.registerLoopAnalyses(loopAnalyses);
    builder.crossRegisterProxies(loopAnalyses, functionAnalyses, sccAnalyses, moduleAnalyses);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(*module, moduleAnalyses);
  }
  auto copy = llvm::CloneModule(*module);
  llvm::SmallString<0> buffer;
  {
    llvm::raw_svector_ostream stream(buffer);
    llvm::legacy::PassManager codegen;
    machineOf->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
    codegen.run(*copy);
  }
  copy.reset();
  assemblyText = buffer.str().str();
  jit = llvm::cantFail(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(target).create());
  llvm::cantFail(
      jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(llvmContext))));
  auto address = jit->lookup("kernel");
  if (!address) {
    error += llvm::toString(address.takeError());
    return;
  }
  function = address->toPtr<void (*)(void *const *, int64_t, void *)>();
}

std::string Kernel::assembly() { return assemblyText; }

std::vector<Plain> Kernel::inputs(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Plain> result;
  for (Value operand : operands) {
    nd::NdTensorType type = tensorTypeOf(operand);
    Plain plain{type, {}};
    int64_t count = points(type.getDims());
    Type scalar = type.scalarType();
    for (int64_t i = 0; i < count; ++i) {
      if (auto real = dyn_cast<FloatType>(scalar))
        plain.elements.push_back(FloatAttr::get(real, double(int(random() % 2001) - 1000) / 500));
      else if (scalar.isInteger(1))
        plain.elements.push_back(IntegerAttr::get(scalar, random() % 2));
      else
        plain.elements.push_back(IntegerAttr::get(
            scalar, APInt(scalar.getIntOrFloatBitWidth(),
                          type.getElementType().isUnsignedInteger() ? random() % 20
                                                                    : int64_t(random() % 23) - 3,
                          !type.getElementType().isUnsignedInteger(), true)));
    }
    result.push_back(std::move(plain));
  }
  return result;
}

static APInt bitsOf(Attribute value) {
  if (auto real = dyn_cast<FloatAttr>(value))
    return real.getValue().bitcastToAPInt();
  return cast<IntegerAttr>(value).getValue();
}

static Sizes positionOf(nd::NdTensorType type, size_t index) {
  Sizes position;
  for (const nd::Dim &dim : llvm::reverse(type.getDims())) {
    int64_t size = *dim.size().constant();
    position[dim.name.str()] = index % size;
    index /= size;
  }
  return position;
}

std::string Kernel::check(unsigned seed, double tolerance) {
  if (!function)
    return error.empty() ? "not compiled" : error;
  std::vector<Plain> values = inputs(seed);
  std::map<void *, Plain> known;
  for (auto [operand, plain] : llvm::zip_equal(operands, values))
    known[operand.getAsOpaquePointer()] = plain;
  std::vector<Plain> expected = evaluate(nest, known);
  for (bool backwards : {false, true}) {
    std::vector<std::unique_ptr<Guarded>> memory;
    std::vector<void *> addresses;
    auto place = [&](nd::NdTensorType type, const Layout &layout) {
      size_t bytes = layout.elements(type.sizes()) * storedBytes(type.getElementType());
      memory.push_back(std::make_unique<Guarded>(bytes));
      memset(memory.back()->data, layout.zeroPadded ? 0 : 0xff, bytes);
      addresses.push_back(memory.back()->data);
    };
    for (auto [i, plain] : llvm::enumerate(values)) {
      place(plain.type, operandLayouts[i]);
      int64_t width = storedBytes(plain.type.getElementType());
      for (size_t at = 0; at < plain.elements.size(); ++at) {
        uint64_t bits = bitsOf(plain.elements[at]).getZExtValue();
        memcpy(static_cast<char *>(addresses[i]) +
                   width * operandLayouts[i].offset(plain.type.sizes(), positionOf(plain.type, at)),
               &bits, width);
      }
    }
    for (auto [i, result] : llvm::enumerate(nest->getResults())) {
      if (i == 0 && options.alias >= 0)
        addresses.push_back(addresses[options.alias]);
      else
        place(tensorTypeOf(result), resultLayouts[i]);
    }
    Guarded scratch((scratchBytes + 63) / 64 * 64);
    memset(scratch.data, 0xff, scratchBytes);
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      function(addresses.data(), backwards ? chunks - 1 - chunk : chunk, scratch.data);
    for (auto [i, plain] : llvm::enumerate(expected)) {
      Type element = plain.type.getElementType(), scalar = plain.type.scalarType();
      int64_t width = storedBytes(element);
      for (size_t at = 0; at < plain.elements.size(); ++at) {
        uint64_t bits = 0;
        memcpy(&bits,
               static_cast<char *>(addresses[operands.size() + i]) +
                   width * resultLayouts[i].offset(plain.type.sizes(), positionOf(plain.type, at)),
               width);
        auto where = [&] {
          std::string text = " at";
          for (auto &[name, value] : positionOf(plain.type, at))
            text += " " + name + " = " + std::to_string(value);
          return text + " of result " + std::to_string(i) +
                 (backwards ? " (chunks backwards)" : "");
        };
        if (auto real = dyn_cast<FloatType>(scalar)) {
          APFloat got(real.getFloatSemantics(), APInt(real.getWidth(), bits, false, true));
          bool inexact;
          got.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
          double want = cast<FloatAttr>(plain.elements[at]).getValueAsDouble(),
                 have = got.convertToDouble();
          double allowed = tolerance * (1 + std::abs(want));
          if (real.getWidth() == 16)
            allowed += (1 + std::abs(want)) *
                       (real.isBF16() ? 0.03 : 0.004); // the evaluation rounds each op
          if (!(std::abs(want - have) <= allowed) && !(std::isnan(want) && std::isnan(have)) &&
              want != have)
            return "expected " + std::to_string(want) + ", got " + std::to_string(have) + where();
        } else {
          APInt want = bitsOf(plain.elements[at]);
          if (want.getZExtValue() != bits)
            return "expected " + std::to_string(want.getSExtValue()) + ", got bits " +
                   std::to_string(bits) + where();
        }
      }
    }
  }
  return "";
}

/// Time that this thread ran: others wait for the processor too.
static double threadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double Kernel::seconds(int repetitions) {
  if (!function)
    return 0;
  // Large pages, as the runtime's arena has.
  std::vector<std::unique_ptr<Guarded>> memory;
  std::vector<void *> addresses;
  auto allocate = [&](size_t bytes) {
    constexpr size_t page = size_t(2) << 20;
    memory.push_back(std::make_unique<Guarded>((bytes + page - 1) / page * page + page));
    char *start = static_cast<char *>(memory.back()->data);
    start += (page - reinterpret_cast<uintptr_t>(start) % page) % page;
    madvise(start, (bytes + page - 1) / page * page, MADV_HUGEPAGE);
    return start;
  };
  auto place = [&](nd::NdTensorType type, const Layout &layout) {
    size_t bytes = layout.elements(type.sizes()) * storedBytes(type.getElementType());
    float *data = reinterpret_cast<float *>(allocate(bytes));
    for (size_t i = 0; i < bytes / 4; ++i)
      data[i] = type.getElementType().isF32() ? 1.0f / float(1 + i % 7) : 0;
    addresses.push_back(data);
  };
  for (auto [operand, layout] : llvm::zip_equal(operands, operandLayouts))
    place(tensorTypeOf(operand), layout);
  for (auto [result, layout] : llvm::zip_equal(nest->getResults(), resultLayouts))
    place(tensorTypeOf(result), layout);
  char *scratch = allocate(scratchBytes);
  memset(scratch, 0, scratchBytes);
  double best = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    double start = threadSeconds();
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      function(addresses.data(), chunk, scratch);
    best = std::min(best, threadSeconds() - start);
  }
  return best;
}

double Kernel::flops() const {
  auto op = dyn_cast<ComputeOp>(nest);
  return op ? 2.0 * double(points(op.getProduced())) * double(points(op.getReduced())) : 0;
}

__attribute__((target("avx512f"))) static double probe512() {
  typedef float Vector __attribute__((vector_size(64)));
  Vector x[24], a, b;
  for (int lane = 0; lane < 16; ++lane) {
    a[lane] = 0.999f;
    b[lane] = 1e-3f;
  }
  for (Vector &each : x)
    each = b;
  double best = 0;
  for (int repetition = 0; repetition < 20; ++repetition) {
    double start = threadSeconds();
    for (int i = 0; i < 200000; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j < 24; ++j)
        x[j] = __builtin_elementwise_fma(x[j], a, b);
    double time = threadSeconds() - start;
    best = std::max(best, 200000.0 * 24 * 16 * 2 / time * 1e-9);
  }
  Vector sum = x[0];
  for (int j = 1; j < 24; ++j)
    sum += x[j];
  volatile float sink = sum[0];
  (void)sink;
  return best;
}

double test::probePeak() {
  return llvm::sys::getHostCPUFeatures().lookup("avx512f") ? probe512() : 0;
}
