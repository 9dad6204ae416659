//===- Laws.cpp - holding random programs against the oracle --------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"

#include "runtime/program/LocalRanks.h"

#include "dialects/mesh/MeshDialect.h"
#include "lib/transforms/nd/ReduceProgram.h"

#include "test/unit/laws/Dice.h"

#include "lib/interp/HostTensor.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <cstdlib>
#include <unistd.h>

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

static int64_t numberFrom(const char *variable, int64_t otherwise) {
  const char *text = std::getenv(variable);
  return text && *text ? std::strtoll(text, nullptr, 10) : otherwise;
}

int laws::programsInAll() { return int(numberFrom("HEDDLE_LAWS_PROGRAMS", 2000)); }

Seeds laws::seedsFor(Share share) {
  uint64_t seed = uint64_t(numberFrom("HEDDLE_LAWS_SEED", 1));
  return {seed, int(std::ceil(programsInAll() * share.part / 2)),
          seed + (uint64_t(share.half) << 40)};
}

std::unique_ptr<MLIRContext> laws::makeContext() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

OwningOpRef<ModuleOp> laws::makeProgram(MLIRContext &context, uint64_t seed,
                                        const GeneratorOptions &options) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
  generateProgram(*module, "main", seed, options);
  return module;
}

func::FuncOp laws::mainOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// `size` where the symbols have these values.
static Expr concrete(const Expr &size, int64_t n, int64_t m) {
  return size.substitute(ExprMap{{"N", Expr(n)}, {"M", Expr(m)}});
}
static nd::NdTensorType concrete(nd::NdTensorType type, int64_t n, int64_t m) {
  SmallVector<nd::Dim> dims;
  for (const nd::Dim &dim : type.getDims())
    dims.emplace_back(type.getContext(), dim.name, concrete(dim.size().getExpr(), n, m));
  return type.withDims(dims);
}

Values laws::drawArguments(func::FuncOp function, uint64_t seed, bool ties) {
  int64_t scale = scaleOf(seed);
  return drawArguments(function, seed, ties, sizeOfN * scale, sizeOfM * scale);
}

Values laws::drawArguments(func::FuncOp function, uint64_t seed, bool ties, int64_t n, int64_t m) {
  Values values;
  for (Type type : function.getArgumentTypes())
    for (const nd::Dim &dim : cast<nd::NdTensorType>(type).getDims())
      if (*concrete(dim.size().getExpr(), n, m).constant() < 0)
        return {};
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = concrete(cast<nd::NdTensorType>(function.getArgumentTypes()[i]), n, m);
    auto name = function.getArgAttrOfType<StringAttr>(i, nd::nameAttrName);
    Dice dice(seed ^ llvm::xxh3_64bits(name ? name.getValue() : StringRef("?")));
    TensorValue value(type);
    Type element = type.getElementType();
    bool coarse = dice.chance(25) && ties;
    for (interp::Scalar &scalar : value.elements) {
      if (auto real = dyn_cast<FloatType>(element)) {
        double drawn = coarse ? double(dice.between(-4, 4)) / 2 : dice.fraction() * 4 - 2;
        scalar = interp::exactly(interp::roundTo(real, drawn));
        continue;
      }
      unsigned width = element.getIntOrFloatBitWidth();
      int64_t drawn = element.isUnsignedInteger() ? dice.between(0, 9) : dice.between(-4, 9);
      if (dice.chance(10) || (width == 64 && element.isUnsignedInteger()))
        drawn = int64_t(dice.bits());
      scalar = interp::integer(uint64_t(drawn), width);
    }
    values.push_back(std::move(value));
  }
  return values;
}

double laws::mostDiscarded(double rate, double count) {
  return rate * count + 4 * std::sqrt(rate * (1 - rate) * count) + 1;
}

std::string Tally::compare(ArrayRef<TensorValue> expected, ArrayRef<TensorValue> got) {
  if (expected.size() != got.size())
    return "expected " + std::to_string(expected.size()) + " results, got " +
           std::to_string(got.size());
  for (auto [i, a, b] : llvm::enumerate(expected, got)) {
    interp::Comparison comparison = interp::compare(a, b);
    ++comparisons;
    elements += comparison.compared;
    undecided += comparison.undecided;
    if (comparison.compared)
      undecidedTensors += double(comparison.undecided) / double(comparison.compared);
    if (!comparison.equal())
      return "result " + std::to_string(i) + ": " + comparison.mismatch;
  }
  return {};
}

std::string laws::printed(Operation *op) {
  std::string text;
  llvm::raw_string_ostream(text) << *op;
  return text;
}

namespace {
/// Collects what is reported while it lives.
class Messages {
public:
  explicit Messages(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            text += (text.empty() ? "" : "\n") + diagnostic.str();
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

Values laws::renamed(ArrayRef<TensorValue> values,
                     const std::map<std::string, std::string> &names) {
  auto spelled = [&](const std::string &name) {
    auto found = names.find(name);
    return found == names.end() ? name : found->second;
  };
  Values result;
  for (const TensorValue &value : values) {
    SmallVector<interp::SizedName> extents(value.dims());
    for (auto &[name, size] : extents)
      name = spelled(name);
    if (ArrayRef(extents) == value.dims()) {
      result.push_back(value);
      continue;
    }
    SmallVector<nd::Dim> dims;
    for (const auto &[name, size] : extents)
      dims.emplace_back(value.type.getContext(), name, Expr(size));
    TensorValue copy(value.type.withDims(dims));
    SmallVector<int64_t> strides = copy.strides(extents);
    for (interp::Walk walk(value.dims()); walk; ++walk) {
      int64_t place = 0;
      for (auto [coordinate, stride] : llvm::zip_equal(walk.coordinates(), strides))
        place += coordinate * stride;
      copy.elements[size_t(place)] = value.elements[size_t(walk.count())];
    }
    result.push_back(std::move(copy));
  }
  return result;
}

namespace {
/// Evaluates @main after each pass that changed something.
class Onlooker : public PassInstrumentation {
public:
  Onlooker(ModuleOp module, uint64_t seed, Tally &tally, Violation &violation)
      : module(module), arguments(drawArguments(mainOf(module), seed)), tally(tally),
        violation(violation), state(module) {
    look("the generated program", module);
  }

  void runAfterPass(Pass *pass, Operation *op) override {
    // A pass over functions also comes by as the adaptor that runs it.
    if (violation || pass->getName().contains("Adaptor"))
      return;
    OperationFingerPrint now(module);
    if (now == state)
      return;
    state = now;
    look(pass->getArgument().empty() ? pass->getName() : pass->getArgument(), op);
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (!violation)
      violation = {("'" + pass->getName() + "' fails").str(), printed(module)};
  }

private:
  ModuleOp module;
  Values arguments;
  Tally &tally;
  Violation &violation;
  OperationFingerPrint state;
  std::optional<Values> expected;

  bool asksForGradients(Operation *op) {
    return op
        ->walk([](Operation *each) {
          return isa<nd::VjpOp, nd::JvpOp>(each) ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }
  void look(StringRef pass, Operation *op) {
    func::FuncOp function = mainOf(module);
    // The program of one device of a mesh, or of one role, is evaluated as part of that of all.
    if (!function || asksForGradients(module) || function->hasAttr(mesh::meshAttrName))
      return;
    Messages messages(module.getContext());
    // While passes choose, names may have neutral spellings.
    std::map<std::string, std::string> neutral, own;
    if (auto dictionary = function->getAttrOfType<DictionaryAttr>("heddle.names"))
      for (NamedAttribute entry : dictionary) {
        std::string name = cast<StringAttr>(entry.getValue()).getValue().str();
        neutral[name] = entry.getName().str();
        own[entry.getName().str()] = name;
      }
    FailureOr<Values> got = interp::interpret(function, renamed(arguments, neutral));
    if (succeeded(got))
      got = renamed(*got, own);
    if (failed(got)) {
      violation = {"after '" + pass.str() + "' the interpreter refuses it: " + messages.text,
                   printed(module)};
      return;
    }
    if (!expected) {
      expected = std::move(*got);
      return;
    }
    std::string difference = tally.compare(*expected, *got);
    if (!difference.empty())
      violation = {"'" + pass.str() + "' changes values: " + difference, printed(module)};
  }
};
} // namespace

Violation laws::checkPasses(ModuleOp module, uint64_t seed,
                            llvm::function_ref<void(OpPassManager &)> passes, Tally &tally) {
  Violation violation;
  OwningOpRef<ModuleOp> copy(module.clone());
  Messages messages(module.getContext());
  if (failed(verify(*copy)))
    return {"the generated program does not verify: " + messages.text, printed(module)};
  PassManager manager(module.getContext());
  passes(manager);
  auto onlooker = std::make_unique<Onlooker>(*copy, seed, tally, violation);
  if (violation)
    return violation;
  manager.addInstrumentation(std::move(onlooker));
  LogicalResult done = manager.run(*copy);
  if (failed(done)) {
    if (!violation)
      violation = {"a pass fails", printed(*copy)};
    violation.what += ": " + messages.text;
  }
  return violation;
}

//===----------------------------------------------------------------------===//
// Compiled programs
//===----------------------------------------------------------------------===//

/// Sorted names, the order in which a TensorValue's elements lie.
static std::vector<std::string> orderOf(const TensorValue &value) {
  std::vector<std::string> order;
  for (const interp::SizedName &extent : value.dims())
    order.push_back(extent.first);
  return order;
}

static int64_t bytesOf(Type element) { return std::max(1u, element.getIntOrFloatBitWidth() / 8); }

static std::vector<char> toBytes(const TensorValue &value) {
  Type element = value.elementType();
  int64_t size = bytesOf(element);
  std::vector<char> bytes(value.elements.size() * size_t(size) + 1);
  for (auto [i, scalar] : llvm::enumerate(value.elements)) {
    uint64_t bits = scalar.bits;
    if (auto real = dyn_cast<FloatType>(element)) {
      llvm::APFloat number(scalar.value);
      bool loses;
      number.convert(real.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
      bits = number.bitcastToAPInt().getZExtValue();
    }
    std::memcpy(bytes.data() + i * size_t(size), &bits, size_t(size));
  }
  return bytes;
}

static void fromBytes(TensorValue &value, const std::vector<char> &bytes) {
  Type element = value.elementType();
  int64_t size = bytesOf(element);
  for (auto [i, scalar] : llvm::enumerate(value.elements)) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size_t(size), size_t(size));
    unsigned width = element.getIntOrFloatBitWidth();
    if (auto real = dyn_cast<FloatType>(element)) {
      llvm::APFloat number(real.getFloatSemantics(), llvm::APInt(width, bits));
      bool loses;
      number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
      scalar = interp::exactly(number.convertToDouble());
    } else {
      scalar = interp::integer(bits, width);
    }
  }
}

static TensorSpec specOf(nd::NdTensorType type) {
  TensorSpec spec;
  std::string element;
  llvm::raw_string_ostream(element) << type.getElementType();
  spec.element = *parseElementType(element);
  for (const nd::Dim &dim : type.getDims())
    spec.dims[dim.name.str()] = dim.size().getExpr();
  return spec;
}

static nd::NdTensorType typeOf(const TensorSpec &spec, MLIRContext *context) {
  SmallVector<nd::Dim> dims;
  for (const auto &[name, size] : spec.dims)
    dims.emplace_back(context, name, size);
  return nd::NdTensorType::get(nd::mlirType(context, spec.element), dims);
}

Values laws::runProgram(Program &program, StringRef entry, ArrayRef<TensorValue> arguments,
                        MLIRContext *context, const CallOptions &options,
                        const std::vector<bool> &donate) {
  std::vector<TensorRef> tensors;
  for (const TensorValue &argument : arguments) {
    std::vector<std::string> order = orderOf(argument);
    auto tensor = std::make_shared<RuntimeTensor>(specOf(argument.type), Layout::rowMajor(order));
    tensor->copyFrom(toBytes(argument).data(), order);
    tensors.push_back(std::move(tensor));
  }
  const EntrySpec &chosen = program.entry(entry.str());
  auto run = [&](const EntrySpec &own, std::vector<TensorRef> given, const CallOptions &how) {
    return program.run(own, std::move(given), how, donate);
  };
  std::vector<TensorRef> results =
      program.manifest().mesh.axes.empty()
          ? run(chosen, std::move(tensors), options)
          : callOnLocalRanks(program, chosen, tensors, options.team->threads(), "shm", run);
  Values values;
  for (const TensorRef &result : results) {
    TensorValue value(typeOf(result->spec(), context));
    std::vector<char> bytes(value.elements.size() * 8 + 1);
    result->copyTo(bytes.data(), orderOf(value));
    fromBytes(value, bytes);
    values.push_back(std::move(value));
  }
  return values;
}

bool laws::haveSameBits(ArrayRef<TensorValue> a, ArrayRef<TensorValue> b) {
  return llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
    return toBytes(std::get<0>(pair)) == toBytes(std::get<1>(pair));
  });
}

SmallVector<Violation> laws::checkCompiled(ModuleOp module, ArrayRef<std::string> functions,
                                           ArrayRef<Values> arguments, ArrayRef<Values> expected,
                                           Tally &tally, CompileOptions options,
                                           SmallVector<Values> *results) {
  SmallVector<Violation> violations(functions.size());
  options.useCache = false;
  options.progress = false;
  options.compileThreads = 1; // other laws have the other processors
  OwningOpRef<ModuleOp> copy(module.clone());
  Messages messages(module.getContext());
  FailureOr<ProgramImage> image = compileProgram(*copy, options);
  if (failed(image)) {
    for (Violation &violation : violations)
      violation = {"the compiler refuses it: " + messages.text, printed(*copy)};
    return violations;
  }
  Program program(std::move(*image));
  for (auto [violation, name, values, wanted] :
       llvm::zip_equal(violations, functions, arguments, expected)) {
    std::string difference;
    try {
      MLIRContext *context = module.getContext();
      std::vector<bool> donate;
      auto function = module.lookupSymbol<func::FuncOp>(name);
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        donate.push_back(bool(function.getArgAttr(i, "heddle.donate")));
      CallOptions one, three;
      one.team = sharedThreadTeam(1);
      three.team = sharedThreadTeam(3);
      three.managed = true; // each temporary in a buffer of its own
      Values got = runProgram(program, name, values, context, one, donate);
      difference = tally.compare(wanted, got);
      if (difference.empty() &&
          !haveSameBits(got, runProgram(program, name, values, context, three, donate)))
        difference = "one thread and three threads give different bits";
      if (results)
        results->push_back(std::move(got));
    } catch (const std::exception &error) {
      difference = error.what();
    }
    if (!difference.empty())
      violation = {"compiled values differ: " + difference, printed(*copy)};
  }
  return violations;
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

std::string laws::report(uint64_t seed, StringRef law, ModuleOp module,
                         llvm::function_ref<Violation(ModuleOp)> check) {
  // The same kind of wrong: a candidate that does not run at all is another matter.
  std::string kind = check(module).what.substr(0, 60);
  OwningOpRef<ModuleOp> smaller = nd::reduceProgram(module, [&](ModuleOp candidate) {
    std::string what = mainOf(candidate) ? check(candidate).what : "";
    return !what.empty() && what.substr(0, 60) == kind;
  });
  Violation violation = check(*smaller);
  if (!violation)
    violation = check(module);
  return law.str() + ", seed " + std::to_string(seed) + ": " + violation.what + "\n" +
         printed(*smaller) + "\n// which became\n" + violation.ir + "\n";
}

//===----------------------------------------------------------------------===//
// Deaths
//===----------------------------------------------------------------------===//

static char atWork[256];

Announce::Announce(StringRef law, uint64_t seed) {
  static bool registered = (llvm::sys::AddSignalHandler(
                                [](void *) { (void)!write(2, atWork, strlen(atWork)); }, nullptr),
                            true);
  (void)registered;
  std::snprintf(atWork, sizeof atWork, "died in %s, HEDDLE_LAWS_SEED=%llu HEDDLE_LAWS_PROGRAMS=1\n",
                law.str().c_str(), static_cast<unsigned long long>(seed));
}
Announce::~Announce() { atWork[0] = 0; }
