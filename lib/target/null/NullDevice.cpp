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

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
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
    auto &made = entries.emplace_back(new Bound{*this, spec, partners(spec.steps)});
    return {[](HeddleCall *call, int32_t thread, int32_t) -> int32_t {
              auto *bound = static_cast<Bound *>(call->device);
              return thread == 0 ? bound->program.run(*bound, call) : 0;
            },
            made.get()};
  }

private:
  struct Bound {
    NullProgram &program;
    const EntrySpec &spec;
    std::vector<size_t> partners;
  };
  std::vector<std::unique_ptr<Bound>> entries;
  std::mutex mutex;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::optional<SymbolTable> symbols;
  std::string said;

  int32_t run(const Bound &bound, HeddleCall *call) {
    const std::vector<StepSpec> &steps = bound.spec.steps;
    for (size_t s = 0; s <= steps.size(); ++s) {
      auto number = int32_t(s);
      if (call->hooks)
        if (int32_t status = call->table->step(call, number))
          return status;
      if (s == steps.size())
        break;
      const StepSpec &step = steps[s];
      int32_t status = 0;
      switch (step.kind) {
      case StepKind::Kernel:
        if (std::string error = runKernel(bound.spec, step, call); !error.empty())
          status = call->table->fail(call, number, error.c_str());
        break;
      case StepKind::If:
      case StepKind::Loop:
        if (!*static_cast<const char *>(call->addresses[step.values[0]]))
          s = bound.partners[s];
        break;
      case StepKind::Else:
      case StepKind::EndLoop: // the loop reads its truth value again
        s = bound.partners[s] - 1;
        break;
      case StepKind::EndIf:
        break;
      case StepKind::Invoke:
        status = call->table->invoke(call, number);
        break;
      case StepKind::Start:
        status = call->table->start(call, number);
        break;
      case StepKind::Await:
        status = call->table->await(call, number);
        break;
      case StepKind::Copy:
        status = call->table->fail(call, number, "the device 'null' has one memory space");
        break;
      }
      if (status)
        return status;
    }
    return 0;
  }

  /// Returns the branch target of each control-flow step: from If to its Else, from Else to EndIf,
  /// from Loop to EndLoop and back.
  static std::vector<size_t> partners(const std::vector<StepSpec> &steps) {
    std::vector<size_t> result(steps.size()), open;
    for (size_t s = 0; s < steps.size(); ++s) {
      StepKind kind = steps[s].kind;
      if (kind == StepKind::Else || kind == StepKind::EndIf || kind == StepKind::EndLoop) {
        result[open.back()] = s;
        result[s] = open.back();
        open.pop_back();
      }
      if (kind == StepKind::If || kind == StepKind::Else || kind == StepKind::Loop)
        open.push_back(s);
    }
    return result;
  }

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
