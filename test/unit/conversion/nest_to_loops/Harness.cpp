//===- Harness.cpp - compile, run, compare --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/conversion/nest_to_loops/Harness.h"

#include "dialects/nest/NestBuild.h"
#include "lib/interp/HostTensor.h"
#include "lib/interp/Interpreter.h"
#include "lib/target/cpu/CpuLoops.h"
#include "lib/target/cpu/Emit.h"
#include "lib/target/cpu/Link.h"
#include "lib/transforms/nest/prepare/PrepareSteps.h"
#include "lib/transforms/nest/schedule/ChooseSchedule.h"
#include "lib/transforms/nest/schedule/ChooseSchedules.h"

#include "mlir/AsmParser/AsmParser.h"
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

#include <numeric>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::nest;
using namespace heddle::interp;
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

static size_t sizeInMemory(const Layout &layout, nd::NdTensorType type) {
  return size_t(layout.elements(type.sizes())) * storedBytes(type.getElementType());
}

/// Memory ends where none follows, so that its start is aligned as its length is.
static Layout aligned(Layout layout, Value value) {
  layout.alignment = std::gcd(layout.alignment, int64_t(sizeInMemory(layout, tensorType(value))));
  return layout;
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
    operandLayouts.push_back(
        aligned(layout ? layout.getLayout() : defaultLayout(tensorType(operand)), operand));
  }
  for (OpResult result : nest->getResults()) {
    LayoutAttr layout = cast<LaidOutInterface>(nest).layout(result.getResultNumber());
    resultLayouts.push_back(
        aligned(layout ? layout.getLayout() : defaultLayout(tensorType(result)), result));
  }
  request.operandLayouts = operandLayouts;
  request.resultLayouts = resultLayouts;
  cpu::CpuTarget target = llvm::cantFail(cpu::targetFor("native"));
  bool wide = options.machine512 && target.has("avx512f");
  Builder builder(&context);
  SmallVector<NamedAttribute> machine;
  auto set = [&](StringRef key, int64_t value) {
    machine.push_back(builder.getNamedAttr(key, builder.getI64IntegerAttr(value)));
  };
  set("vector_bytes", wide ? 64 : 32);
  set("vector_registers", wide ? 32 : 16);
  set("has_fma", 1);
  Attribute unit = parseAttribute("#nest.unit<\"bf16_dot\", (k: 2, m: 1, n: 16), bf16 in [m, k] * "
                                  "bf16 in [n, k] + f32 in [m, n], rate " +
                                      std::string(options.pairs ? "2.0>" : "0.0>"),
                                  &context);
  machine.push_back(builder.getNamedAttr("units", builder.getArrayAttr(unit)));
  if (wide && options.dot && target.has("avx512bf16"))
    set("has_bf16_dot", 1);
  if (options.l1)
    set("l1_bytes", options.l1);
  if (options.l2)
    set("l2_bytes", options.l2);
  request.machine = MachineAttr::get(&context, builder.getDictionaryAttr(machine));
  request.symbol = "kernel";
  auto parent = nest->getParentOfType<func::FuncOp>();
  for (auto [operand, layout] : llvm::zip_equal(operands, operandLayouts))
    parent.setArgAttr(cast<BlockArgument>(operand).getArgNumber(), "nd.layout",
                      LayoutAttr::get(&context, layout));
  copyYielded(nest);
  chooseSchedules(nest, cost::Machine::of(request.machine));
  llvm::raw_string_ostream(schedule) << ScheduleAttr::get(&context, scheduleOf(nest));
  cpu::CpuLoops loops(request.machine);
  FailureOr<KernelInfo> info = emitKernel(request, options.target ? *options.target : loops);
  if (failed(info))
    return;
  chunks = *info->chunks.constant();
  scratchBytes = *info->scratchBytes.constant();
  if (failed(::mlir::verify(*info->module))) {
    llvm::raw_string_ostream(error) << *info->module;
    return;
  }
  PassManager passes(&context);
  buildKernelLowering(passes);
  if (failed(passes.run(*info->module)))
    return;
  auto object =
      cpu::emitObject(*info->module, target, options.hot ? cpu::Effort::Most : cpu::Effort::Some);
  if (!object) {
    error += llvm::toString(object.takeError());
    return;
  }
  auto block = cpu::link({{"kernel", std::move(*object)}}); // refuses calls of other functions
  if (!block) {
    error += llvm::toString(block.takeError());
    return;
  }
  code = Mapping(block->bytes, Mapping::Use::Code);
  function = reinterpret_cast<Function *>(code.data() + block->symbols.at("kernel"));
}

std::vector<TensorValue> Kernel::inputs(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<TensorValue> result;
  for (Value operand : operands) {
    TensorValue &tensor = result.emplace_back(tensorType(operand));
    Type type = tensor.elementType();
    for (Scalar &scalar : tensor.elements)
      if (auto real = dyn_cast<FloatType>(type))
        scalar = exactly(roundTo(real, double(int(random() % 2001) - 1000) / 500));
      else if (type.isInteger(1))
        scalar = integer(random() % 2, 1);
      else
        scalar = integer(type.isUnsignedInteger() ? random() % 20 : uint64_t(random() % 23) - 3,
                         widthOf(type));
  }
  return result;
}

/// Visits the elements of `tensor` with their offsets in memory.
static void forEach(TensorValue &tensor, const Layout &layout, void *data,
                    llvm::function_ref<void(Scalar &, std::byte *)> visit) {
  Sizes sizes = tensor.type.sizes();
  for (Walk walk(tensor.dims()); walk; ++walk)
    visit(tensor.elements[size_t(walk.count())],
          static_cast<std::byte *>(data) +
              layout.offset(sizes, walk.position()) * storedBytes(tensor.elementType()));
}

std::string Kernel::check(unsigned seed) {
  if (!function)
    return error.empty() ? "not compiled" : error;
  std::vector<TensorValue> values = inputs(seed);
  auto parent = nest->getParentOfType<func::FuncOp>();
  SmallVector<TensorValue> arguments;
  for (Type type : parent.getArgumentTypes())
    arguments.emplace_back(cast<nd::NdTensorType>(type));
  for (auto [operand, value] : llvm::zip_equal(operands, values))
    arguments[cast<BlockArgument>(operand).getArgNumber()] = value;
  auto expected = interpret(parent, arguments);
  if (failed(expected))
    return "the oracle refuses it";
  for (bool backwards : {false, true}) {
    std::vector<std::unique_ptr<Guarded>> memory;
    std::vector<void *> addresses;
    auto place = [&](nd::NdTensorType type, const Layout &layout) {
      size_t bytes = sizeInMemory(layout, type);
      memory.push_back(std::make_unique<Guarded>(bytes));
      memset(memory.back()->data, layout.zeroPadded ? 0 : 0xff, bytes);
      addresses.push_back(memory.back()->data);
    };
    for (auto [i, value] : llvm::enumerate(values)) {
      place(value.type, operandLayouts[i]);
      ElementType element = *nd::elementTypeOf(value.elementType());
      forEach(value, operandLayouts[i], addresses[i],
              [&](Scalar &scalar, std::byte *to) { storeElement(element, scalar, to); });
    }
    for (auto [i, result] : llvm::enumerate(nest->getResults())) {
      if (i == 0 && options.alias >= 0)
        addresses.push_back(addresses[options.alias]);
      else
        place(tensorType(result), resultLayouts[i]);
    }
    Guarded scratch((scratchBytes + 63) / 64 * 64);
    memset(scratch.data, 0xff, scratchBytes);
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      function(addresses.data(), backwards ? chunks - 1 - chunk : chunk, scratch.data);
    for (auto [i, result] : llvm::enumerate(nest->getResults())) {
      TensorValue got(tensorType(result));
      ElementType element = *nd::elementTypeOf(got.elementType());
      forEach(got, resultLayouts[i], addresses[operands.size() + i],
              [&](Scalar &scalar, std::byte *from) { scalar = loadElement(element, from); });
      Comparison comparison = compare((*expected)[i], got);
      if (!comparison.equal())
        return comparison.mismatch + ", result " + std::to_string(i) +
               (backwards ? " (chunks backwards)" : "");
    }
  }
  return "";
}

std::string test::checkText(const std::string &text, Options options) {
  auto context = makeContext();
  Kernel kernel(*context, text, options);
  std::string result = kernel.check();
  return result.empty() ? result : result + "\n" + kernel.schedule + "\n" + text;
}
