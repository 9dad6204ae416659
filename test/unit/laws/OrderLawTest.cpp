//===- OrderLawTest.cpp - results do not depend on names and order --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program is rewritten with its names renamed (which changes how they sort), and with operands of
// commutative code in another order. Every byte of code must be the same, and so must values after
// every pass, also with ops in another order (which changes the order of kernels).
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"
#include "test/unit/laws/Plans.h"

#include "test/unit/laws/Dice.h"

#include "lib/transforms/nd/Lift.h"
#include "lib/transforms/nd/Passes.h"

#include "dialects/mesh/MeshDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "gtest/gtest.h"

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
/// New spellings for all names of a module.
NameRewriter drawNames(ModuleOp module, Dice &dice) {
  std::vector<std::string> names, spellings;
  llvm::StringSet<> seen = collectNames(module);
  for (const auto &entry : seen)
    names.push_back(entry.first().str());
  llvm::sort(names);
  spellings = names;
  for (std::string &spelling : spellings)
    if (dice.chance(30))
      spelling = std::string(1, "AqzZ"[dice.below(4)]) + spelling;
  dice.shuffle(spellings);
  NameRewriter rewriter;
  llvm::StringSet<> taken;
  for (auto [name, spelling] : llvm::zip_equal(names, spellings)) {
    while (!taken.insert(spelling).second)
      spelling += "x";
    rewriter.names[name] = spelling;
  }
  return rewriter;
}

/// Permutes operands of commutative scalar ops, and of pointwise ops.
void commute(ModuleOp module, Dice &dice) {
  module.walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::IsCommutative>() && op->getNumOperands() == 2 && dice.chance(50))
      op->setOperands({op->getOperand(1), op->getOperand(0)});
    auto pointwise = dyn_cast<nd::PointwiseOp>(op);
    if (!pointwise || pointwise.getInputs().size() < 2 || !dice.chance(50))
      return;
    Block &block = pointwise.getBody().front();
    Value first = block.getArgument(0), second = block.getArgument(1);
    Value a = pointwise.getInputs()[0], b = pointwise.getInputs()[1];
    if (first.getType() != second.getType())
      return;
    pointwise->setOperand(0, b);
    pointwise->setOperand(1, a);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : first.getUses())
      uses.push_back(&use);
    second.replaceAllUsesWith(first);
    for (OpOperand *use : uses)
      use->set(second);
  });
}

/// Permutes ops, each after its operands.
void reorder(ModuleOp module, Dice &dice) {
  for (auto function : module.getOps<func::FuncOp>()) {
    Block &block = function.front();
    std::vector<Operation *> left;
    for (Operation &op : block.without_terminator())
      left.push_back(&op);
    llvm::DenseSet<Operation *> waiting(left.begin(), left.end());
    while (!left.empty()) {
      std::vector<size_t> ready;
      for (auto [i, op] : llvm::enumerate(left)) {
        bool waits = op->walk([&](Operation *inner) {
                         for (Value operand : inner->getOperands())
                           if (waiting.contains(operand.getDefiningOp()))
                             return WalkResult::interrupt();
                         return WalkResult::advance();
                       }).wasInterrupted();
        if (!waits)
          ready.push_back(i);
      }
      size_t next = dice.pick(ready);
      left[next]->moveBefore(block.getTerminator());
      waiting.erase(left[next]);
      left.erase(left.begin() + int64_t(next));
    }
  }
}

GeneratorOptions optionsFor(uint64_t seed) {
  GeneratorOptions options;
  options.steps = 3 + int(seed % 7);
  options.control = seed % 4 == 1;
  return options;
}

/// Sets layouts of arguments and results, since the default follows the spelling of names.
void writeLayouts(func::FuncOp function) {
  auto layout = [&](Type type) {
    std::vector<std::string> order;
    for (const auto &[name, size] : cast<nd::NdTensorType>(type).sizes())
      order.push_back(name);
    return nest::LayoutAttr::get(function.getContext(), Layout::rowMajor(order));
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.setArgAttr(i, "nd.layout", layout(function.getArgumentTypes()[i]));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.setResultAttr(i, "nd.layout", layout(function.getResultTypes()[i]));
}

/// A rewritten copy of `module`.
OwningOpRef<ModuleOp> writtenOtherwise(ModuleOp module, uint64_t seed,
                                       std::map<std::string, std::string> &names) {
  OwningOpRef<ModuleOp> other(module.clone());
  Dice dice(seed);
  NameRewriter rewriter = drawNames(*other, dice);
  for (auto function : other->getOps<func::FuncOp>())
    rewriter.rewrite(function);
  commute(*other, dice);
  names.insert(rewriter.names.begin(), rewriter.names.end());
  return other;
}
} // namespace

class OrderLaw : public InHalves {};
INSTANTIATE_TEST_SUITE_P(Half, OrderLaw, ::testing::Range(0, 2));

TEST_P(OrderLaw, ValuesAreTheSame) {
  auto check = [](ModuleOp module, uint64_t seed, Tally &tally) -> Violation {
    std::map<std::string, std::string> names;
    OwningOpRef<ModuleOp> other = writtenOtherwise(module, seed, names);
    Dice dice(seed);
    reorder(*other, dice);
    Values arguments = drawArguments(mainOf(module), seed);
    FailureOr<Values> expected = interp::interpret(mainOf(module), arguments);
    FailureOr<Values> got = interp::interpret(mainOf(*other), renamed(arguments, names));
    if (failed(expected) || failed(got))
      return {"the interpreter refuses it", ""};
    if (std::string difference = tally.compare(renamed(*expected, names), *got);
        !difference.empty())
      return {"other names change values: " + difference, printed(*other)};
    auto passes = [](OpPassManager &manager) {
      buildNdPipeline(manager, {});
      buildNestPipeline(manager, {});
    };
    return checkPasses(*other, seed, passes, tally);
  };
  holdEach({"the order law", optionsFor, check}, {0.5, GetParam()});
}

/// The code that a law compares: the text of all kernels, or all bytes.
struct Code {
  std::string code, constants;
};
static FailureOr<Code> codeOf(ModuleOp module, bool isText) {
  CompileOptions options;
  options.useCache = options.progress = false;
  options.compileThreads = 1;
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  if (isText) {
    FailureOr<std::string> text = printProgram(module, options, ProgramForm::Kernels);
    return failed(text) ? FailureOr<Code>() : Code{*text, ""};
  }
  FailureOr<ProgramImage> image = compileProgram(module, options);
  return failed(image) ? FailureOr<Code>() : Code{image->code, image->constants};
}

static void holdCode(const char *law, Share share, bool isText) {
  auto check = [=](ModuleOp module, uint64_t seed, Tally &) -> Violation {
    std::map<std::string, std::string> names;
    OwningOpRef<ModuleOp> one(module.clone());
    keepPrivate(*one, {"main"});
    writeLayouts(mainOf(*one));
    OwningOpRef<ModuleOp> other = writtenOtherwise(*one, seed, names);
    std::string text = printed(*one) + "// and\n" + printed(*other);
    FailureOr<Code> a = codeOf(*one, isText), b = codeOf(*other, isText);
    if (failed(a) || failed(b))
      return {"not both compile", text};
    if (a->code != b->code)
      return {"code differs by names alone", text};
    if (a->constants != b->constants)
      return {"constants differ by names alone", text};
    return {};
  };
  holdEach({law, optionsFor, check}, share);
}

TEST_P(OrderLaw, KernelsAreTheSame) {
  holdCode("the order law on kernels", {0.5, GetParam()}, /*isText=*/true);
}
TEST_P(OrderLaw, BytesOfCodeAreTheSame) {
  holdCode("the order law on code", {0.1, GetParam()}, /*isText=*/false);
}

/// The collectives of a program that is split, with what they move, in sorted order.
static FailureOr<std::vector<std::string>> collectivesOf(ModuleOp module) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  PassManager manager(module.getContext());
  buildNdPipeline(manager, {});
  buildMeshPipeline(manager, {});
  if (failed(manager.run(module)))
    return failure();
  std::vector<std::string> found;
  module.walk([&](mesh::CollectiveInterface op) {
    std::string text = op->getName().getStringRef().str() + " over " + op.getAxes().str();
    for (Type type : op->getResultTypes())
      text += " of " + std::to_string(cast<nd::NdTensorType>(type).elements());
    found.push_back(std::move(text));
  });
  llvm::sort(found);
  return found;
}

TEST_P(OrderLaw, CollectivesAreTheSame) {
  auto check = [](ModuleOp module, uint64_t seed, Tally &) -> Violation {
    std::map<std::string, std::string> names;
    OwningOpRef<ModuleOp> one(module.clone());
    keepPrivate(*one, {"main"});
    Dice dice(seed);
    drawPlan(*one, dice);
    OwningOpRef<ModuleOp> other = writtenOtherwise(*one, seed, names);
    reorder(*other, dice);
    std::string text = printed(*one) + "// and\n" + printed(*other);
    auto a = collectivesOf(*one), b = collectivesOf(*other);
    if (failed(a) || failed(b))
      return {"not both are split", text};
    if (*a != *b)
      return {"collectives differ by names and order alone: " + llvm::join(*a, "; ") + " and " +
                  llvm::join(*b, "; "),
              text};
    return {};
  };
  holdEach({"the order law on collectives", optionsFor, check}, {0.2, GetParam()});
}
