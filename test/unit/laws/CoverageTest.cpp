//===- CoverageTest.cpp - coverage of the program generator ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Laws are checked on random programs only. This test counts, in the programs of a fixed seed, ops
// with each kind of element, and constructs that the compiler handles separately. It fails for a
// construct that is drawn too seldom, and for a new op that is never drawn.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Laws.h"

#include "dialects/nd/NdGradient.h"
#include "dialects/nest/NestBuild.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gtest/gtest.h"

#include <set>

using namespace heddle;
using namespace heddle::laws;
using namespace mlir;

namespace {
/// Counts the programs that contain a construct.
struct Coverage {
  std::map<std::string, int> programs;
  std::set<std::string> seen; ///< in this program

  void see(const Twine &what) { seen.insert(what.str()); }
  void see(bool holds, const Twine &what) {
    if (holds)
      see(what);
  }
  void look(ModuleOp module);

private:
  void look(Operation *op);
  void lookAtSizes(nd::NdTensorType type);
  void lookAtFold(StringRef name, ArrayAttr neutral, TypeRange elements, Block &combiner);
  void lookAt(nest::ComputeOp op);
  void lookAt(nest::UpdateOp op);
  void lookAt(nest::ScanOp op);
  void lookAt(nd::CallOp op);
  void lookAtPair(Operation *one, Operation *two);
};

std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

std::string kindOf(Type element) {
  if (isa<FloatType>(element))
    return element.getIntOrFloatBitWidth() >= 32   ? "float"
           : element.getIntOrFloatBitWidth() == 16 ? "half"
                                                   : "f8";
  return element.isInteger(1) ? "truth" : element.isUnsignedInteger() ? "unsigned" : "signed";
}
Type elementOf(Value value) { return nd::tensorType(value).getElementType(); }
} // namespace

void Coverage::lookAtSizes(nd::NdTensorType type) {
  for (const nd::Dim &dim : type.getDims()) {
    Expr size = dim.size().getExpr();
    if (!size.isConstant()) {
      Expr n = Expr::name("N"), m = Expr::name("M");
      see(size == n || size == m, "size that is a symbol");
      see(size == 2 * n || size == 2 * m || size == 3 * n, "size that is a multiple");
      see(size == n + 1 || size == n - 1, "size that hangs together with another");
      see(size.names().size() > 1, "size of two symbols");
      continue;
    }
    int64_t number = *dim.size().constant();
    see(number <= 1, "size " + Twine(number));
    see(number > 16, "size of 17 or more");
    see(number > 2 && (number % 2 && (number == 3 || number % 3)), "size that is a prime");
  }
}

void Coverage::lookAtFold(StringRef name, ArrayAttr neutral, TypeRange elements, Block &combiner) {
  see(neutral.size() > 1, name + " of several values");
  for (auto [i, value, element] : llvm::enumerate(neutral, elements)) {
    Type type = cast<TypedAttr>(value).getType();
    bool isFloat = isa<FloatType>(element);
    unsigned most = isFloat ? std::max(32u, element.getIntOrFloatBitWidth()) : 64;
    see(isFloat && type.getIntOrFloatBitWidth() > most, name + " of " + text(element) + " in f64");
    see(isFloat && type == element && element.getIntOrFloatBitWidth() == 16,
        name + " of halves in halves");
    nd::CombinerKind kind = nd::accumulatorKind(combiner, unsigned(i));
    see(name + " by " + (nd::isSelecting(combiner, unsigned(i)) ? "a choice" : nd::spelling(kind)));
  }
}

void Coverage::lookAt(nest::ComputeOp op) {
  unsigned reads = op.getReads().size();
  see(reads > 1, "compute of several reads");
  see(op.getNumResults() > 1, "compute of several results");
  see(op->getNumResults() > 1 && op->getResult(0).getType() != op->getResult(1).getType(),
      "compute of results of several types");
  for (auto [i, attribute] : llvm::enumerate(op.getGuards())) {
    auto guard = cast<nest::GuardAttr>(attribute);
    see(!guard.isTrivial() && guard.excludes(), "compute with a guard that excludes");
    see(!guard.isTrivial() && !guard.excludes(), "compute with a guard that reads something else");
    see(!guard.isTrivial() && i >= reads, "compute with a guard on what follows");
    see(nest::isGathered(cast<nest::MapAttr>(op.getMaps()[i])), "compute with a gathered read");
    see(i < reads && !guard.isTrivial() && !guard.excludes() &&
            op.readMap(unsigned(i)) ==
                nest::MapAttr::identity(nd::tensorType(op->getOperand(unsigned(i)))) &&
            isa_and_nonnull<nest::ComputeOp, nd::ReduceOp, nd::PointwiseOp>(
                op->getOperand(unsigned(i)).getDefiningOp()),
        "compute with a guard on what was just made");
    for (const nest::MapEntry &entry : cast<nest::MapAttr>(op.getMaps()[i]).getEntries()) {
      see(!entry.expr().isAffine(), "compute with a map that divides");
      see(entry.expr().names().size() > 1, "compute with a map of two names");
    }
  }
  Block &body = op.getBody().front();
  see(!body.getOps<nest::IndexOp>().empty(), "compute with a coordinate");
  see(op->hasAttr("heddle.materialize"), "compute that is kept");
  see(op->hasAttr("heddle.recompute"), "compute that is made again");
  if (!op.getFinish().empty()) {
    see("compute with something that follows");
    see(!op.getFinishReads().empty(), "compute with reads of what follows");
    see(op.isReduction() && op.getNumResults() != op.getNeutral().size(),
        "compute with other results than accumulators");
  }
  if (!op.isReduction())
    return;
  ValueRange yielded = body.getTerminator()->getOperands();
  lookAtFold("compute", op.getNeutral(), yielded.getTypes(), op.getCombine().front());
  for (Value value : yielded) {
    auto choice = value.getDefiningOp<arith::SelectOp>();
    see(choice && choice.getFalseValue().getDefiningOp<arith::ConstantOp>(),
        "compute with a predicate");
    for (Value read : op.getReads())
      see(value.getType().isInteger(64) && isa<IntegerType>(elementOf(read)) &&
              elementOf(read).getIntOrFloatBitWidth() < 64,
          "compute that collects integers in more bits");
  }
}

void Coverage::lookAt(nest::UpdateOp op) {
  see(op.getUnique(), "update that meets places once");
  see(!op.getUnique(), "update that meets places several times");
  see(nest::isGathered(op.getDestMap()), "update at gathered places");
  see(op.getReads().size() > 1, "update of several reads");
}

void Coverage::lookAt(nest::ScanOp op) {
  see(op.getReverse(), "recurrence backwards");
  see(op.getInits().size() > 1, "recurrence of several tensors");
  see(op.getReads().size() > 1, "recurrence with several reads");
  see(op.getNumResults() > op.getInits().size(), "recurrence that keeps its steps");
  see(!op.getOps<scf::IfOp>().empty(), "recurrence with a branch");
}

void Coverage::lookAt(nd::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, op.getCalleeAttr());
  for (auto [operand, formal] : llvm::zip_equal(op.getInputs(), callee.getArgumentTypes()))
    for (const nd::Dim &dim : nd::tensorType(operand).getDims()) {
      if (cast<nd::NdTensorType>(formal).has(dim.name))
        continue;
      see("lifted call");
      see(callee
              .walk([&](Operation *inner) {
                return llvm::any_of(inner->getResultTypes(),
                                    [&](Type type) {
                                      auto tensor = dyn_cast<nd::NdTensorType>(type);
                                      return tensor && tensor.has(dim.name);
                                    })
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted(),
          "lifted call over a name that is used inside");
    }
  see(op.getCheckpoint(), "checkpoint");
  see(bool(op.getGradientAttr()), "call with a gradient of its own");
}

void Coverage::look(Operation *op) {
  StringRef name = op->getName().getStringRef();
  see(name);
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<nd::NdTensorType>(type)) {
      see("element " + text(tensor.getElementType()));
      see(name + " of " + kindOf(tensor.getElementType()));
      lookAtSizes(tensor);
    }
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    see(isa<scf::IfOp, scf::ForOp, scf::WhileOp>(op) &&
            isa<scf::IfOp, scf::ForOp, scf::WhileOp>(parent),
        name + " in " + parent->getName().getStringRef());
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](nest::ComputeOp each) { lookAt(each); })
      .Case([&](nest::UpdateOp each) { lookAt(each); })
      .Case([&](nest::ScanOp each) { lookAt(each); })
      .Case([&](nest::GroupOp each) {
        see(each.getNumResults() > 1, "group of several results");
        see(llvm::range_size(each.getBody().front()) > 2, "group of several nests");
      })
      .Case([&](nd::CallOp each) { lookAt(each); })
      .Case([&](nd::ReduceOp each) {
        SmallVector<Type> elements;
        for (Value input : each.getInputs())
          elements.push_back(nd::signless(elementOf(input)));
        lookAtFold("reduce", each.getNeutral(), elements, each.getCombiner().front());
      })
      .Case([&](nd::ScanOp each) {
        SmallVector<Type> elements;
        for (Value input : each.getInputs())
          elements.push_back(nd::signless(elementOf(input)));
        lookAtFold("scan", each.getNeutral(), elements, each.getCombiner().front());
        see(each.getExclusive(), "scan that excludes");
        see(each.getReverse(), "scan backwards");
      })
      .Case([&](nd::WindowOp each) { see(!each.getPadding(), "window without padding"); })
      .Case([&](nd::ScatterOp each) { see(each.getIndices().size() == 1, "scatter at places"); })
      .Case([&](nd::SortOp each) {
        see(each.getInputs().size() > 1, "sort that carries others along");
        see(each.getDescending(), "sort that falls");
      })
      .Case([&](nd::SplitOp each) {
        auto parts = nd::stringsOf(each.getInto());
        see(parts.size() == 1 && !nd::tensorType(each.getInput()).isStatic(),
            "size in other words");
      });
  for (StringRef request : {"nd.vjp", "nd.jvp"})
    if (name == request) {
      auto callee =
          SymbolTable::lookupNearestSymbolFrom(op, op->getAttrOfType<FlatSymbolRefAttr>("callee"));
      callee->walk([&](Operation *inner) {
        see(isa<nd::VjpOp, nd::JvpOp>(inner), "derivative of a derivative");
      });
    }
}

/// Two ops on the same operands that differ in one thing.
void Coverage::lookAtPair(Operation *one, Operation *two) {
  using Equal = OperationEquivalence;
  if (one->getName() != two->getName() || one->getOperands() != two->getOperands() ||
      one->getResultTypes() != two->getResultTypes() ||
      Equal::isEquivalentTo(one, two, Equal::IgnoreLocations))
    return;
  SmallVector<StringRef> differing;
  for (StringAttr name : one->getName().getAttributeNames())
    if (one->getAttr(name) != two->getAttr(name))
      differing.push_back(name);
  StringRef op = one->getName().getStringRef();
  bool combines = llvm::is_contained(differing, "neutral");
  see(combines && cast<TypedAttr>(one->getAttrOfType<ArrayAttr>("neutral")[0]).getType() !=
                      cast<TypedAttr>(two->getAttrOfType<ArrayAttr>("neutral")[0]).getType(),
      "two " + op + " that differ in what they collect in");
  see(differing.empty() || combines, "two " + op + " that differ in their code");
  for (StringRef name : differing)
    see(differing.size() == 1, "two " + op + " that differ in " + name);
}

void Coverage::look(ModuleOp module) {
  seen.clear();
  module.walk([&](Operation *op) { look(op); });
  module.walk([&](Block *block) {
    for (Operation &one : *block)
      for (Operation &two : llvm::make_range(std::next(one.getIterator()), block->end()))
        lookAtPair(&one, &two);
  });
  for (const std::string &what : seen)
    ++programs[what];
}

/// Programs of `count` seeds from `first` on, drawn as the laws draw them.
static Coverage coverageOf(uint64_t first, int count, bool smooth = false) {
  auto context = makeContext();
  Coverage coverage;
  for (int i = 0; i < count; ++i) {
    uint64_t seed = first + uint64_t(i);
    GeneratorOptions options;
    options.steps = 4 + int(seed % 9);
    options.requests = !smooth && seed % 3 == 0;
    options.control = seed % 3 != 0;
    options.gradients = !smooth;
    options.smooth = smooth;
    options.symbols = seed % 2;
    coverage.look(*makeProgram(*context, seed, options));
  }
  if (std::getenv("HEDDLE_LAWS_PRINT"))
    for (const auto &[what, count] : coverage.programs)
      std::printf("%5d %s\n", count, what.c_str());
  return coverage;
}

/// Programs whose derivatives are compared with differences.
TEST(Coverage, WhatIsSmooth) {
  Coverage coverage = coverageOf(200000, 1000, /*smooth=*/true);
  for (const char *construct :
       {"arith.maximumf", "arith.remf", "arith.select", "compute by a choice",
        "compute with a gathered read", "compute with a guard on what was just made",
        "compute with a predicate", "math.absf", "math.powf", "nd.dynamic_slice", "nd.gather",
        "nd.scatter", "nd.sort", "nd.update_slice", "nest.sort", "reduce by a choice",
        "size of 17 or more", "update at gathered places"})
    EXPECT_GE(coverage.programs[construct], 6) << construct << " is drawn too seldom";
}

static constexpr const char *constructs[] = {"arith.minnumf",
                                             "arith.remf",
                                             "call with a gradient of its own",
                                             "checkpoint",
                                             "compute of results of several types",
                                             "compute of several reads",
                                             "compute of several results",
                                             "compute that collects integers in more bits",
                                             "compute with a coordinate",
                                             "compute with a gathered read",
                                             "compute with a guard on what follows",
                                             "compute with a guard that excludes",
                                             "compute with a guard that reads something else",
                                             "compute with a map of two names",
                                             "compute with a map that divides",
                                             "compute with a predicate",
                                             "compute with other results than accumulators",
                                             "compute with reads of what follows",
                                             "compute with something that follows",
                                             "derivative of a derivative",
                                             "group of several nests",
                                             "group of several results",
                                             "compute that is kept",
                                             "compute that is made again",
                                             "lifted call",
                                             "math.absi",
                                             "math.atan",
                                             "math.expm1",
                                             "math.fma",
                                             "math.log2",
                                             "math.powf",
                                             "math.roundeven",
                                             "math.tanh",
                                             "math.trunc",
                                             "nd.item",
                                             "nest.index",
                                             "recurrence backwards",
                                             "recurrence of several tensors",
                                             "recurrence that keeps its steps",
                                             "recurrence with a branch",
                                             "recurrence with several reads",
                                             "scan backwards",
                                             "scan that excludes",
                                             "scatter at places",
                                             "scf.for in scf.for",
                                             "scf.if in scf.for",
                                             "scf.if in scf.while",
                                             "size 0",
                                             "size 1",
                                             "size in other words",
                                             "size of 17 or more",
                                             "size of two symbols",
                                             "size that hangs together with another",
                                             "size that is a multiple",
                                             "size that is a prime",
                                             "size that is a symbol",
                                             "sort that carries others along",
                                             "compute with a guard on what was just made",
                                             "sort that falls",
                                             "two nd.pad that differ in value",
                                             "two nd.reduce that differ in neutral",
                                             "two nd.reduce that differ in what they collect in",
                                             "two nd.scan that differ in exclusive",
                                             "two nd.scan that differ in reverse",
                                             "two nd.scatter that differ in their code",
                                             "two nd.sort that differ in descending",
                                             "two nd.window that differ in padding",
                                             "two nest.compute that differ in guards",
                                             "two nest.compute that differ in their code",
                                             "update at gathered places",
                                             "update of several reads",
                                             "update that meets places once",
                                             "update that meets places several times",
                                             "window without padding"};

TEST(Coverage, OpsElementsAndConstructs) {
  Coverage coverage = coverageOf(100000, 2000);
  auto context = makeContext();
  std::string missing;
  auto expect = [&](const std::string &what, int least) {
    if (int count = coverage.programs[what]; count < least)
      missing +=
          "\n" + what + ": " + std::to_string(count) + " of at least " + std::to_string(least);
  };
  std::map<std::string, std::set<std::string>> others{
      // These ops have elements of one kind, or never truth values.
      {"nd.round", {"half", "f8", "signed", "unsigned", "truth"}},
      {"nd.random", {"float", "half", "f8", "signed", "truth"}},
      {"nd.from_item", {"float", "half", "f8", "unsigned", "truth"}},
      {"nd.vjp", {"half", "f8", "signed", "unsigned", "truth"}},
      {"nd.jvp", {"half", "f8", "signed", "unsigned", "truth"}},
      {"nd.iota", {"truth"}},
      {"nd.unwindow", {"truth"}},
      {"nd.scatter", {"truth"}},
      {"nest.update", {"truth"}},
      {"scf.if", {}},
      {"scf.for", {}},
      {"scf.while", {}}};
  // Ops that only passes create, or that have no tensors.
  std::set<StringRef> without{"nd.yield", "nest.yield", "nest.control", "nest.index", "nd.item"};
  for (RegisteredOperationName op : context->getRegisteredOperations()) {
    StringRef name = op.getStringRef();
    if ((!name.starts_with("nd.") && !name.starts_with("nest.") && !others.count(name.str())) ||
        without.count(name))
      continue;
    expect(name.str(), 25);
    for (const char *kind : {"float", "half", "f8", "signed", "unsigned", "truth"})
      if (!others[name.str()].count(kind))
        expect(name.str() + " of " + kind, 2);
  }
  for (const char *element : {"f64", "f32", "bf16", "f16", "f8E4M3FN", "f8E5M2", "i1", "i8", "i16",
                              "i32", "i64", "ui8", "ui16", "ui32", "ui64"})
    expect(std::string("element ") + element, 60);
  for (const char *fold : {"compute", "reduce", "scan"}) {
    for (const char *element : {"f32", "bf16", "f16", "f8E4M3FN", "f8E5M2"})
      expect(fold + std::string(" of ") + element + " in f64", 3);
    for (const char *by : {"add", "mul", "a choice", "general"})
      expect(fold + std::string(" by ") + by, 20);
    expect(fold + std::string(" of halves in halves"), 4);
    expect(fold + std::string(" of several values"), 20);
  }
  for (const char *construct : constructs)
    expect(construct, 6);
  EXPECT_TRUE(missing.empty()) << "drawn too seldom:" << missing;
}
