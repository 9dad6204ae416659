//===- RunIr.cpp - IR by the interpreter and the compiler -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "dialects/check/Check.h"
#include "dialects/mesh/MeshDialect.h"
#include "dialects/nd/FunctionAttrs.h"
#include "lib/analysis/Nesting.h"
#include "lib/builder/CompileOnRanks.h"
#include "lib/conversion/nd_to_nest/NdToNest.h"
#include "lib/conversion/nest_to_steps/ConstantBytes.h"
#include "lib/interp/Deviations.h"
#include "lib/interp/HostTensor.h"
#include "lib/transforms/nd/NeutralNames.h"
#include "lib/transforms/nd/Passes.h"
#include "lib/transforms/nest/Passes.h"
#include "tools/Tool.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"

using namespace heddle;
using namespace heddle::run;
using namespace mlir;

Signature run::signatureOf(func::FuncOp function) {
  Signature signature{function.getName().str(), {}, {}};
  auto formal = [&](Type type, StringAttr name, TypeAttr whole, const char *kind, unsigned i) {
    auto tensor = dyn_cast<nd::NdTensorType>(whole ? whole.getValue() : type);
    if (!tensor)
      throw Error("'@" + signature.name + "': expected tensors as arguments and results, but " +
                  kind + std::to_string(i) + " is not a tensor");
    return Formal{name ? name.str() : kind + std::to_string(i), specOf(tensor)};
  };
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    signature.arguments.push_back(formal(
        type, function.getArgAttrOfType<StringAttr>(i, nd::nameAttrName),
        function.getArgAttrOfType<TypeAttr>(i, mesh::globalAttrName), "argument", unsigned(i)));
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    signature.results.push_back(formal(
        type, function.getResultAttrOfType<StringAttr>(i, nd::nameAttrName),
        function.getResultAttrOfType<TypeAttr>(i, mesh::globalAttrName), "result", unsigned(i)));
  return signature;
}

static std::vector<func::FuncOp> chooseEntries(ModuleOp module, const std::string &wanted) {
  std::vector<func::FuncOp> entries;
  std::string known;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isDeclaration())
      continue;
    known += (known.empty() ? "'" : ", '") + function.getName().str() + "'";
    if (wanted.empty() || function.getName() == wanted)
      entries.push_back(function);
    else
      function.setPrivate();
  }
  if (entries.empty() && !wanted.empty())
    throw Error("no entry '" + wanted + "'; there are: " + (known.empty() ? "none" : known));
  return entries;
}

/// Replaces the symbols that this function's arguments determine by numbers, also in its body.
static LogicalResult specialise(func::FuncOp function, const Arrays &arguments) {
  SmallVector<nd::NdTensorType> types;
  for (const io::HostArray &array : arguments)
    types.push_back(nd::NdTensorType::get(
        nd::mlirType(function.getContext(), array.element),
        llvm::map_to_vector(llvm::zip_equal(array.names, array.shape), [&](auto dim) {
          return nd::Dim(function.getContext(), std::get<0>(dim), Expr(std::get<1>(dim)));
        })));
  auto symbols = interp::bindSymbols(function, types);
  if (failed(symbols))
    return failure();
  if (symbols->empty())
    return success();
  AttrTypeReplacer replacer;
  auto dims = [&](nd::DimsAttr old) {
    SmallVector<nd::Dim> result;
    for (const nd::Dim &dim : old)
      result.emplace_back(old.getContext(), dim.name.getValue(),
                          dim.size().getExpr().substitute(*symbols));
    return nd::DimsAttr::getSorted(old.getContext(), result);
  };
  replacer.addReplacement([&](nd::SizeAttr size) -> Attribute {
    return nd::SizeAttr::get(size.getContext(), size.getExpr().substitute(*symbols));
  });
  replacer.addReplacement([&](nd::DimsAttr old) -> Attribute { return dims(old); });
  replacer.addReplacement(
      [&](nd::NdTensorType type) -> Type { return type.withDims(dims(type.getDims()).getDims()); });
  function->removeAttr(nd::rangesAttrName); // bindSymbols has checked them
  replacer.recursivelyReplaceElementsIn(function, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return success();
}

/// Expands gradients into ops that the interpreter supports; other ops stay as written.
static LogicalResult expandGradients(ModuleOp module) {
  bool any =
      module
          .walk([](Operation *op) {
            return isa<nd::VjpOp, nd::JvpOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  if (!any)
    return success();
  PassManager passes(module.getContext());
  passes.addPass(nd::createNdDifferentiatePass());
  return passes.run(module);
}

/// Rounds the operands that the compiler rounds if it computes products in a narrow type.
static LogicalResult narrowProducts(ModuleOp module, const CompileOptions &options) {
  PassManager passes(module.getContext());
  buildNdPipeline(passes, options);
  passes.addNestedPass<func::FuncOp>(createConvertNdToNestPass());
  passes.addNestedPass<func::FuncOp>(
      nest::createNestNarrowProductsPass({std::string(spelling(*options.products))}));
  return passes.run(module);
}

/// Rewrites the program as one function of all devices of a mesh.
static LogicalResult simulate(ModuleOp module, const CompileOptions &options) {
  SpelledDiagnostics spelled(module);
  PassManager passes(module.getContext());
  buildSimulationPipeline(passes, options);
  return passes.run(module);
}

/// A copy of the program for the interpreter; `isSplit`: rewritten for all devices of a mesh. Null
/// after an error.
static OwningOpRef<ModuleOp> forInterpreter(ModuleOp module, const CompileOptions &options,
                                            bool isSplit) {
  OwningOpRef<ModuleOp> copy(module.clone());
  if (failed(expandGradients(*copy)) || (isSplit && failed(simulate(*copy, options))) ||
      (options.products && failed(narrowProducts(*copy, options))))
    return nullptr;
  if (llvm::is_contained(options.fastMath, "excess-precision"))
    copy->walk([](Operation *op) {
      if (isa<arith::ExtFOp, arith::TruncFOp>(op))
        nd::keepPrecision(op);
    });
  return copy;
}

namespace {
/// Runs a module by the interpreter or compiled.
class IrRunner {
public:
  IrRunner(ModuleOp module, const Options &options) : module(module), options(options) {}

  /// Compiles all entries for these arguments.
  LogicalResult compile(ArrayRef<func::FuncOp> entries, ArrayRef<Arrays> arguments) {
    // nd.vjp and nd.jvp need the types that its callee declares.
    if (options.specialise && failed(expandGradients(module)))
      return failure();
    for (auto [entry, given] : llvm::zip_equal(entries, arguments))
      if (options.specialise && failed(specialise(entry, given)))
        return failure();
    auto parts = splitChecks(module);
    if (failed(parts))
      return failure();
    split = std::move(*parts);
    auto image = compileForJob();
    if (failed(image))
      return failure();
    program = std::make_unique<Program>(std::move(*image));
    return success();
  }

  /// The ranks of a job compile together.
  FailureOr<ProgramImage> compileForJob() {
    std::shared_ptr<Job> job = jobOf(options);
    if (!job)
      return compileProgram(*split.program, options.compile);
    std::string errors;
    ScopedDiagnosticHandler heard(module.getContext(), [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors += (errors.empty() ? "" : "; ") + diagnostic.str();
      return failure(); // the other handler prints the error
    });
    auto compile = [&](const CompileOptions &agreed, CompileStatistics &statistics) {
      auto image = compileProgram(*split.program, agreed, &statistics);
      if (failed(image))
        throw Error(errors);
      return std::move(*image);
    };
    try {
      CompileStatistics counted;
      return heddle::detail::compileOnRanks(*job, options.input, *split.program, options.compile,
                                            counted, compile);
    } catch (const Error &) {
      if (errors.empty())
        throw;
      return failure(); // the error is printed already
    }
  }

  FailureOr<Arrays> runCompiled(func::FuncOp entry, const Arrays &arguments) {
    Arrays results = call(*program, entry.getName().str(), arguments, options);
    unsigned own = entry.getNumResults();
    if (auto checks = split.checks->lookupSymbol<func::FuncOp>(entry.getName())) {
      SmallVector<interp::TensorValue> values;
      for (size_t i = own; i < results.size(); ++i)
        values.push_back(interp::fromHost(module.getContext(), results[i]));
      if (failed(interp::interpret(checks, values)))
        return failure();
    }
    results.erase(results.begin() + own, results.end());
    return results;
  }

  /// `closely`: as for a comparison.
  FailureOr<SmallVector<interp::TensorValue>> interpret(func::FuncOp entry, const Arrays &arguments,
                                                        bool closely) {
    SmallVector<interp::TensorValue> values;
    for (const io::HostArray &array : arguments)
      values.push_back(interp::fromHost(module.getContext(), array));
    return closely ? interp::interpretClosely(entry, values) : interp::interpret(entry, values);
  }

private:
  ModuleOp module;
  const Options &options;
  SplitModule split;
  std::unique_ptr<Program> program;
};
} // namespace

static auto checksOf(func::FuncOp function) {
  return llvm::make_filter_range(function.front(), [](Operation &op) {
    return isa_and_nonnull<check::CheckDialect>(op.getDialect());
  });
}

static Arrays arraysOf(ArrayRef<interp::TensorValue> values) {
  Arrays arrays;
  for (const interp::TensorValue &value : values)
    arrays.push_back(interp::toHost(value));
  return arrays;
}

static SmallVector<int64_t> uncertainOf(ArrayRef<interp::TensorValue> values) {
  return llvm::map_to_vector(values, [](const interp::TensorValue &value) -> int64_t {
    return llvm::count_if(value.elements, [&](const interp::Scalar &scalar) {
      return interp::isUncertain(scalar, value.elementType());
    });
  });
}

/// Compares compiled or simulated values with the interpreter's. True if they agree.
static bool compare(func::FuncOp function, const Signature &entry,
                    ArrayRef<interp::TensorValue> expected, const Arrays &got) {
  MLIRContext *context = function.getContext();
  int64_t compared = 0, undecided = 0, uncertain = 0, notFinite = 0;
  std::string firstNotFinite, listed;
  bool agrees = true;
  for (auto [formal, value, array] : llvm::zip_equal(entry.results, expected, got)) {
    interp::Comparison comparison = interp::compare(value, interp::fromHost(context, array));
    compared += comparison.compared;
    undecided += comparison.undecided;
    uncertain += comparison.uncertain;
    if (comparison.uncertain)
      listed += "  " + formal.name + ": " + std::to_string(comparison.uncertain) + " of " +
                std::to_string(comparison.compared) + " uncertain\n";
    notFinite += comparison.notFinite;
    if (comparison.notFinite && firstNotFinite.empty())
      firstNotFinite = formal.name;
    if (comparison.equal())
      continue;
    agrees = false;
    llvm::errs() << "heddle-run: error: '@" << entry.name << "': '" << formal.name
                 << "' differs from the interpreter's: " << comparison.mismatch << "\n";
  }
  if (undecided * 20 > compared) {
    agrees = false;
    llvm::errs() << "heddle-run: error: '@" << entry.name << "': " << undecided << " of "
                 << compared << " elements can't be compared, expected at most one in 20";
    if (notFinite)
      llvm::errs() << "; " << notFinite << " are NaN or infinite in the interpreter's result, the "
                   << "first ones in '" << firstNotFinite << "': other inputs may help (--input)";
    if (undecided > notFinite)
      llvm::errs() << "; " << undecided - notFinite << " depend on choices within the error bounds";
    llvm::errs() << "\n";
  }
  if (!agrees)
    return false;
  llvm::outs() << "@" << entry.name << ":";
  if (auto checks = llvm::range_size(checksOf(function)))
    llvm::outs() << " " << checks << (checks == 1 ? " check holds" : " checks hold")
                 << (got.empty() ? "" : ",");
  if (!got.empty())
    llvm::outs() << " " << compared << " elements agree";
  if (uncertain)
    llvm::outs() << ", " << uncertain << " of them uncertain";
  llvm::outs() << "\n" << listed;
  return true;
}

bool run::runIr(const Options &options) {
  DialectRegistry registry;
  registerCompilerDialects(registry, options.compile.extensions);
  registry.insert<check::CheckDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.setDiagHandler(printDiagnostic);
  SourceMgrDiagnosticHandler handler(sources, &context);
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!file)
    throw Error("can't read '" + options.input + "': " + file.getError().message());
  sources.AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  if (failed(requireShallow(sources)))
    return false;
  auto module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module || failed(requireShallow(*module)))
    return false;
  std::vector<Signature> all;
  for (auto function : module->getOps<func::FuncOp>())
    all.push_back(signatureOf(function));
  Inputs(options).expectKnown(all);
  std::vector<func::FuncOp> entries = chooseEntries(*module, options.entry);
  // Functions that the chosen entries do not call are ignored.
  PassManager removal(&context);
  removal.addPass(createSymbolDCEPass());
  if (!options.entry.empty() && failed(removal.run(*module)))
    return false;
  std::vector<Signature> signatures;
  for (func::FuncOp entry : entries)
    signatures.push_back(signatureOf(entry));
  size_t runs = Inputs::runs(options);
  if (runs > 1 && options.specialise)
    throw Error("a program that is specialised has one size; expected one value for each --size");
  IrRunner runner(*module, options);
  // The programs that the interpreter runs: the original one, and that of all devices of a mesh.
  OwningOpRef<ModuleOp> right, split;
  if (options.compare || (options.interpret && !options.simulate))
    if (!(right = forInterpreter(*module, options.compile, /*isSplit=*/false)))
      return false;
  if (options.simulate && !(split = forInterpreter(*module, options.compile, /*isSplit=*/true)))
    return false;
  bool compiles = !options.simulate && (options.compare || !options.interpret), allFine = true;
  for (size_t run = 0; run < runs; ++run) {
    Inputs inputs(options, run, signatures);
    expectOne(signatures, inputs, options);
    std::vector<Arrays> arguments;
    for (const Signature &signature : signatures)
      arguments.push_back(inputs.collect(signature));
    std::vector<SmallVector<interp::TensorValue>> expected(entries.size());
    std::vector<bool> fine(entries.size(), true);
    auto interpret = [&](ModuleOp program, size_t i, bool closely) {
      auto results = runner.interpret(program.lookupSymbol<func::FuncOp>(signatures[i].name),
                                      arguments[i], closely);
      fine[i] = succeeded(results);
      return fine[i] ? std::move(*results) : SmallVector<interp::TensorValue>();
    };
    if (right)
      for (size_t i = 0; i < signatures.size(); ++i)
        expected[i] = interpret(*right, i, options.compare);
    if (compiles && run == 0 && failed(runner.compile(entries, arguments)))
      return false;
    for (auto [i, signature] : llvm::enumerate(signatures)) {
      if (!fine[i])
        continue;
      Arrays results;
      SmallVector<int64_t> uncertain;
      if (compiles) {
        auto got = runner.runCompiled(entries[i], arguments[i]);
        fine[i] = succeeded(got);
        if (fine[i])
          results = std::move(*got);
      } else {
        auto got = split ? interpret(*split, i, false) : std::move(expected[i]);
        results = arraysOf(got);
        uncertain = uncertainOf(got);
      }
      if (!fine[i])
        continue;
      if (options.compare)
        fine[i] = compare(entries[i], signature, expected[i], results);
      else
        report(signature, results, options, uncertain);
    }
    allFine &= llvm::all_of(fine, [](bool one) { return one; });
  }
  return allFine;
}
