//===- NullDevice.cpp - runs steps by the interpreter ---------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/FunctionAttrs.h"
#include "lib/analysis/Layouts.h"
#include "lib/interp/HostTensor.h"
#include "lib/interp/Interpreter.h"
#include "lib/target/null/Null.h"
#include "runtime/device/StepRunner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"

#include <cstring>
#include <mutex>

using namespace heddle;
using namespace mlir;
using interp::TensorValue;

namespace {
/// The module of a program. Only one thread at a time uses the context, to run one kernel.
class NullProgram : public DeviceProgram {
public:
  NullProgram(const ProgramImage &image, std::string &error)
      : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<nd::NdDialect, nest::NestDialect, func::FuncDialect, arith::ArithDialect,
                        math::MathDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        said += (said.empty() ? "" : "; ") + diagnostic.str();
      return success();
    });
    module = parseSourceString<ModuleOp>(image.code, &context);
    if (!module) {
      error = "its kernels can't be read: " + said;
      return;
    }
    symbols.emplace(*module);
    for (const EntrySpec &entry : image.manifest.entries)
      for (const StepSpec &step : entry.steps)
        if (step.kind == StepKind::Kernel && !symbols->lookup<func::FuncOp>(step.kernel))
          error = "it has no kernel '" + step.kernel + "'";
  }

  Entry entry(const EntrySpec &spec) override {
    auto &made = entries.emplace_back(new Runner(*this, spec));
    return {[](HeddleCall *call, int32_t thread, int32_t) -> int32_t {
              return thread == 0 ? static_cast<Runner *>(call->device)->run(call) : 0;
            },
            made.get()};
  }

private:
  struct Runner : StepRunner {
    Runner(NullProgram &program, const EntrySpec &spec) : StepRunner(spec), program(program) {}
    NullProgram &program;
    std::string runKernel(const StepSpec &step, HeddleCall *call) override {
      return program.runKernel(spec, step, call);
    }
    std::string runCopy(const StepSpec &, HeddleCall *) override {
      return "the device 'null' has one memory space";
    }
  };
  std::vector<std::unique_ptr<Runner>> entries;
  std::mutex mutex;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<SymbolTable> symbols;
  std::string said;

  /// Runs a kernel. Returns the error, or an empty string.
  std::string runKernel(const EntrySpec &spec, const StepSpec &step, HeddleCall *call) {
    std::lock_guard lock(mutex);
    said.clear();
    auto kernel = symbols->lookup<func::FuncOp>(step.kernel);
    auto address = [&](size_t i) {
      return static_cast<std::byte *>(call->addresses[step.values[i]]);
    };
    if (auto bytes = kernel->getAttrOfType<IntegerAttr>(nullClearAttrName)) {
      int64_t count = bytes.getInt() >= 0 ? bytes.getInt() : call->symbols[step.numbers[0]];
      std::memset(address(0), 0, size_t(count));
      return "";
    }
    ExprMap known;
    if (auto names = kernel->getAttrOfType<ArrayAttr>(nd::symbolsAttrName))
      for (auto [name, number] : llvm::zip(names.getAsRange<StringAttr>(), step.numbers))
        known[name.str()] = Expr(call->symbols[number]);
    Memory memory{spec, step, known, kernel};
    std::vector<TensorValue> arguments;
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      arguments.push_back(memory.load(i, address(i)));
    auto results = interp::interpret(kernel, arguments, known);
    if (failed(results))
      return said.empty() ? "the interpreter refuses it" : said;
    for (auto [i, result] : llvm::enumerate(*results))
      memory.store(result, unsigned(i), address(arguments.size() + i));
    return "";
  }

  /// Copies between tensors of a kernel and the memory of a step's values.
  struct Memory {
    const EntrySpec &spec;
    const StepSpec &step;
    const ExprMap &known;
    mutable func::FuncOp kernel;

    TensorValue load(unsigned argument, const std::byte *from) const {
      TensorValue tensor(staticType(kernel.getArgumentTypes()[argument]));
      visit(nest::layoutOf(kernel.getArgument(argument)), step.values[argument], tensor,
            [&](interp::Scalar &element, ElementType type, int64_t offset) {
              element = interp::loadElement(type, from + offset);
            });
      return tensor;
    }
    void store(const TensorValue &result, unsigned number, std::byte *to) const {
      TensorValue tensor = result;
      Value made = kernel.front().getTerminator()->getOperand(number);
      visit(nest::layoutOf(made), step.values[kernel.getNumArguments() + number], tensor,
            [&](const interp::Scalar &element, ElementType type, int64_t offset) {
              interp::storeElement(type, element, to + offset);
            });
    }

  private:
    nd::NdTensorType staticType(Type type) const {
      auto tensor = cast<nd::NdTensorType>(type);
      SmallVector<nd::Dim> dims;
      for (const nd::Dim &dim : tensor.getDims())
        dims.emplace_back(type.getContext(), dim.name.getValue(),
                          dim.size().getExpr().substitute(known));
      return nd::NdTensorType::get(tensor.getElementType(), dims);
    }

    /// Calls `act` with each element and its offset in bytes.
    template <typename Act>
    void visit(const Layout &layout, int32_t value, TensorValue &tensor, Act act) const {
      ElementType type = spec.values[size_t(value)].type.element;
      Sizes sizes;
      for (const auto &[name, size] : tensor.dims())
        sizes[name] = size;
      if (!tensor.elements.empty())
        for (interp::Walk walk(tensor.dims()); walk; ++walk)
          act(tensor.elements[size_t(walk.count())], type,
              layout.offset(sizes, walk.position()) * byteSize(type));
    }
  };
};

class NullDevice : public Device {
public:
  std::string name() const override { return "null"; }
  std::shared_ptr<DeviceProgram> load(const ProgramImage &image, std::string &error) override {
    auto program = std::make_shared<NullProgram>(image, error);
    return error.empty() ? program : nullptr;
  }
};
} // namespace

std::unique_ptr<Device> heddle::makeNullDevice() { return std::make_unique<NullDevice>(); }

static DeviceRegistration registered(makeNullDevice());
