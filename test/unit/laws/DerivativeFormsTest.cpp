//===- DerivativeFormsTest.cpp - every rule in every form -----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table: the programs of GradientPrograms.h, one for each rule, by the forms in which a function
// may be used: called, as a checkpoint, in a branch, a loop, a loop with a bound, a while loop, a
// recurrence; each of these also lifted over a further name. In each cell of the table
//
// - // - the gradient is compared with differences in a direction,
// - tangents against the gradient: <w, Jv> = <J'w, v>,
// - Hessians times vectors, forward over reverse against reverse over forward,
// - rows of the Jacobian, which are the gradient lifted over cotangents, against gradients,
// - some compiled values against the interpreter's.
//
//===----------------------------------------------------------------------===//

#include "test/unit/laws/Derivatives.h"
#include "test/unit/transforms/nd/GradientPrograms.h"

#include "dialects/nest/Nest.h"
#include "lib/transforms/nd/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <random>

using namespace heddle;
using namespace heddle::laws;
using namespace heddle::nd;
using namespace mlir;

namespace {
enum class Form { Call, Checkpoint, Branch, Loop, Bounded, While, Recurrence };
constexpr std::pair<Form, const char *> forms[] = {{Form::Call, "call"},
                                                   {Form::Checkpoint, "checkpoint"},
                                                   {Form::Branch, "branch"},
                                                   {Form::Loop, "loop"},
                                                   {Form::Bounded, "bounded"},
                                                   {Form::While, "while"},
                                                   {Form::Recurrence, "recurrence"}};

/// Writes functions that use @f in a form.
struct FormWriter {
  ModuleOp module;
  func::FuncOp f;
  OpBuilder b;
  Location loc;
  unsigned n, m; ///< arguments and results

  explicit FormWriter(ModuleOp module)
      : module(module), f(module.lookupSymbol<func::FuncOp>("f")), b(module.getContext()),
        loc(f.getLoc()), n(f.getNumArguments()), m(f.getNumResults()) {}

  func::FuncOp write(StringRef name, TypeRange arguments,
                     function_ref<SmallVector<Value>(ValueRange)> body) {
    auto function = func::FuncOp::create(loc, name, b.getFunctionType(arguments, {}));
    b.setInsertionPointToEnd(function.addEntryBlock());
    SmallVector<Value> results = body(function.getArguments());
    func::ReturnOp::create(b, loc, results);
    function.setFunctionType(b.getFunctionType(arguments, ValueRange(results).getTypes()));
    module.push_back(function);
    return function;
  }
  SmallVector<Value> call(ValueRange arguments) { return buildCall(b, loc, f, arguments); }
  Value times(Value x, double factor) {
    return mul(b, loc, x, buildConstant(b, loc, tensorType(x), factor));
  }
  Value item(Value condition) { return ItemOp::create(b, loc, b.getI1Type(), condition); }
  /// Whether the sum of the elements is below a bound.
  Value isBelow(Value x, double bound) {
    SmallVector<StringRef> names;
    for (const Dim &dim : tensorType(x).getDims())
      names.push_back(dim.name);
    Value sum = names.empty() ? x : buildReduce(b, loc, x, names, CombinerKind::Add);
    return buildPointwise(b, loc, sum, b.getI1Type(), [&](OpBuilder &at, ValueRange s) -> Value {
      return arith::CmpFOp::create(at, loc, arith::CmpFPredicate::OLT, s[0],
                                   buildNumber(at, loc, s[0].getType(), bound));
    });
  }
  /// `yes` or `no` in a branch.
  SmallVector<Value> branch(Value condition, TypeRange types,
                            function_ref<SmallVector<Value>()> yes,
                            function_ref<SmallVector<Value>()> no) {
    auto op = scf::IfOp::create(b, loc, types, item(condition), true);
    OpBuilder::InsertionGuard guard(b);
    for (auto [block, body] : {std::pair(op.thenBlock(), yes), std::pair(op.elseBlock(), no)}) {
      b.setInsertionPointToEnd(block);
      scf::YieldOp::create(b, loc, body());
    }
    return SmallVector<Value>(op.getResults());
  }
  /// A step of a loop carries the arguments, made smaller, and sums of the results.
  SmallVector<Value> step(ValueRange state) {
    SmallVector<Value> next, results = call(state.take_front(n));
    for (Value x : state.take_front(n))
      next.push_back(times(x, 0.9));
    for (auto [sum, result] : llvm::zip_equal(state.drop_front(n), results))
      next.push_back(add(b, loc, times(sum, 0.5), result));
    return next;
  }

  SmallVector<Value> body(Form form, ValueRange x) {
    TypeRange results = f.getResultTypes();
    SmallVector<Value> state(x);
    for (Type type : results)
      state.push_back(buildZero(b, loc, cast<NdTensorType>(type)));
    SmallVector<Type> types(ValueRange(state).getTypes());
    auto index = [&](int64_t i) { return arith::ConstantIndexOp::create(b, loc, i).getResult(); };
    switch (form) {
    case Form::Call:
    case Form::Checkpoint: {
      SmallVector<Value> values = call(x);
      values[0].getDefiningOp<nd::CallOp>().setCheckpoint(form == Form::Checkpoint);
      return values;
    }
    case Form::Branch:
      return branch(
          isBelow(x[0], 0.1), results, [&] { return call(x); },
          [&] {
            SmallVector<Value> smaller;
            for (Value value : x)
              smaller.push_back(times(value, 0.7));
            return call(smaller);
          });
    case Form::Loop:
    case Form::Bounded: {
      auto loop = scf::ForOp::create(b, loc, index(0), index(3), index(1), state);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(loop.getBody());
      ValueRange inner = loop.getRegionIterArgs();
      scf::YieldOp::create(b, loc,
                           form == Form::Loop
                               ? step(inner)
                               : branch(
                                     isBelow(inner[0], 0.5), types, [&] { return step(inner); },
                                     [&] { return SmallVector<Value>(inner); }));
      return SmallVector<Value>(loop.getResults().drop_front(n));
    }
    case Form::While: {
      auto counter = NdTensorType::get(b.getI64Type(), ArrayRef<Dim>());
      state.insert(state.begin(), buildConstant(b, loc, counter, 0.0));
      types.insert(types.begin(), counter);
      SmallVector<Location> locations(types.size(), loc);
      auto loop = scf::WhileOp::create(b, loc, types, state);
      OpBuilder::InsertionGuard guard(b);
      Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
      SmallVector<Value> asked{before->getArgument(0), isBelow(before->getArgument(1), 100)};
      Value goesOn =
          buildPointwise(b, loc, asked, b.getI1Type(), [&](OpBuilder &at, ValueRange s) -> Value {
            Value few = arith::CmpIOp::create(at, loc, arith::CmpIPredicate::slt, s[0],
                                              buildNumber(at, loc, s[0].getType(), 2));
            return arith::AndIOp::create(at, loc, few, s[1]);
          });
      scf::ConditionOp::create(b, loc, item(goesOn), before->getArguments());
      Block *after = b.createBlock(&loop.getAfter(), {}, types, locations);
      ValueRange inner = after->getArguments();
      SmallVector<Value> next{
          buildPointwise(b, loc, inner[0], b.getI64Type(), [&](OpBuilder &at, ValueRange s) {
            return arith::AddIOp::create(at, loc, s[0], buildNumber(at, loc, s[0].getType(), 1))
                .getResult();
          })};
      llvm::append_range(next, step(inner.drop_front()));
      scf::YieldOp::create(b, loc, next);
      return SmallVector<Value>(loop.getResults().drop_front(1 + n));
    }
    case Form::Recurrence: { // gives what it carries at each step as well
      Dim time(b.getContext(), "time", Expr(3));
      SmallVector<Type> all(types);
      for (Type type : results) {
        SmallVector<Dim> dims(cast<NdTensorType>(type).getDims().getDims());
        dims.push_back(time);
        all.push_back(cast<NdTensorType>(type).withDims(dims));
      }
      auto scan = nest::ScanOp::create(b, loc, all, state, ValueRange(),
                                       DimsAttr::get(b.getContext(), time), false);
      OpBuilder::InsertionGuard guard(b);
      Block *block =
          b.createBlock(&scan.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
      SmallVector<Value> next = step(block->getArguments());
      SmallVector<Value> yielded(next);
      yielded.append(next.begin() + n, next.end());
      nest::YieldOp::create(b, loc, yielded);
      return SmallVector<Value>(scan.getResults().drop_front(n));
    }
    }
    llvm_unreachable("all forms are above");
  }
};

struct DerivativeForms : testing::TestWithParam<GradientProgram> {
  std::unique_ptr<MLIRContext> context = makeContext();
  std::mt19937 random{7};
  std::string messages;

  Values draw(TypeRange types, bool positive) {
    std::uniform_real_distribution<double> any(-2, 2), above(0.5, 2);
    Values values;
    for (Type type : types) {
      TensorValue value(cast<NdTensorType>(type));
      for (interp::Scalar &element : value.elements)
        element = interp::exactly(positive ? above(random) : any(random));
      values.push_back(std::move(value));
    }
    return values;
  }
  static NdTensorType withName(Type type, StringRef name) {
    SmallVector<Dim> dims(cast<NdTensorType>(type).getDims().getDims());
    dims.emplace_back(type.getContext(), name, Expr(2));
    return cast<NdTensorType>(type).withDims(dims);
  }
  /// Stacks two values of one type along a name that sorts before all others.
  static TensorValue stack(const TensorValue &one, const TensorValue &two, StringRef name) {
    TensorValue both(withName(one.type, name));
    both.elements = one.elements;
    both.elements.insert(both.elements.end(), two.elements.begin(), two.elements.end());
    return both;
  }
  /// Expects |a - b| <= `scale`.
  static void expectEqual(double a, double b, double scale, const char *what) {
    EXPECT_TRUE(std::fabs(a - b) <= scale) << what << ": " << a << " and " << b;
  }

  /// Adds the functions to compare to the module; returns the function under test, and sets the
  /// types of its arguments.
  func::FuncOp write(ModuleOp module, Form form, bool lifted, SmallVectorImpl<Type> &arguments);
  void hold(Form form, bool lifted, int number);
};
} // namespace

func::FuncOp DerivativeForms::write(ModuleOp module, Form form, bool lifted,
                                    SmallVectorImpl<Type> &arguments) {
  FormWriter writer(module);
  llvm::append_range(arguments, writer.f.getArgumentTypes());
  writer.f.setPrivate();
  func::FuncOp used =
      writer.write("used", arguments, [&](ValueRange x) { return writer.body(form, x); });
  if (lifted) { // over a name of the first argument
    arguments[0] = withName(arguments[0], "extra");
    used.setPrivate();
    used = writer.write("lifted", arguments,
                        [&](ValueRange x) { return buildCall(writer.b, writer.loc, used, x); });
  }
  func::FuncOp forward = addTangent(module, used, "forward");
  if (form == Form::While)
    return used;
  func::FuncOp reverse = addGradient(module, used, "reverse");
  SmallVector<Type> rows = llvm::to_vector(arguments);
  for (Type type : used.getResultTypes())
    rows.push_back(withName(type, "A"));
  writer.write("rows", rows,
               [&](ValueRange x) { return buildCall(writer.b, writer.loc, reverse, x); });
  if (GetParam().twice) {
    addTangent(module, reverse, "forward_over_reverse");
    addGradient(module, forward, "reverse_over_forward");
  }
  return used;
}

void DerivativeForms::hold(Form form, bool lifted, int number) {
  const GradientProgram &program = GetParam();
  bool reverses = form != Form::While;
  bool twice = reverses && program.twice;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program.text, context.get());
  ASSERT_TRUE(module);
  SmallVector<Type> arguments;
  func::FuncOp used = write(*module, form, lifted, arguments);
  OwningOpRef<ModuleOp> asked(module->clone());
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  PassManager passes(context.get());
  passes.addPass(createNdDifferentiatePass());
  passes.addPass(createNdInlineCallsPass());
  if (number % 2)
    passes.addPass(createNdSimplifyPass({.verifyRules = true}));
  ASSERT_TRUE(succeeded(passes.run(*module))) << messages;
  used = asked->lookupSymbol<func::FuncOp>(used.getName());

  Values x = draw(arguments, program.positive), v = draw(arguments, false);
  Values w = draw(used.getResultTypes(), false), u = draw(arguments, false),
         other = draw(used.getResultTypes(), false);
  SmallVector<std::string> names;
  SmallVector<Values> inputs, outputs;
  auto values = [&](StringRef name, Values of) -> Values {
    std::optional<Values> results = valuesOf(*module, name, of);
    EXPECT_TRUE(results) << "the interpreter refuses @" << name.str() << ": " << messages;
    if (!results)
      return {};
    names.push_back(name.str());
    inputs.push_back(of);
    outputs.push_back(*results);
    return *results;
  };
  Values tangents = values("forward", joined(x, v));
  if (tangents.empty())
    return;
  auto [slope, scale] = innerOfAll(w, tangents);
  auto difference = [&](double h) {
    return (loss(used, x, v, h, w) - loss(used, x, v, -h, w)) / (2 * h);
  };
  double one = difference(1e-5), two = difference(1e-7);
  if (std::fabs(one - two) < 1e-5 * (scale + std::fabs(one))) // else a kink is near
    expectEqual(slope, two, 1e-4 * (scale + std::fabs(two)), "tangent and difference");
  if (reverses) {
    Values gradients = values("reverse", joined(x, w)),
           others = values("reverse", joined(x, other));
    if (gradients.empty())
      return;
    auto [back, most] = innerOfAll(gradients, v);
    expectEqual(slope, back, 1e-9 * (scale + most), "tangent and gradient");
    Values stacked;
    for (auto [a, b] : llvm::zip_equal(w, other))
      stacked.push_back(stack(a, b, "A"));
    Values rows = values("rows", joined(x, stacked));
    for (auto [i, row] : llvm::enumerate(rows)) {
      if (row.type == gradients[i].type)
        continue; // the gradient is the same for all cotangents
      TensorValue expected = stack(gradients[i], others[i], "A");
      ASSERT_EQ(row.elements.size(), expected.elements.size());
      for (auto [a, b] : llvm::zip_equal(row.elements, expected.elements))
        EXPECT_NEAR(a.value, b.value, 1e-10 * (1 + std::fabs(b.value))) << "rows of the Jacobian";
    }
  }
  if (twice) {
    Values still = w;
    for (TensorValue &value : still)
      for (auto &element : value.elements)
        element = interp::exactly(0);
    Values hv = values("forward_over_reverse", joined(joined(joined(x, w), v), still)),
           hu = values("reverse_over_forward", joined(joined(x, u), w));
    if (hv.empty() || hu.empty())
      return;
    hu.resize(v.size());
    auto [first, sizeOfFirst] = innerOfAll(hv, u);
    auto [second, sizeOfSecond] = innerOfAll(hu, v);
    expectEqual(first, second, 1e-8 * (sizeOfFirst + sizeOfSecond), "second derivatives");
  }
  // Compiles only some cells, by their number.
  if (number % 19)
    return;
  Tally tally;
  messages.clear();
  for (auto [violation, name] :
       llvm::zip_equal(checkCompiled(*asked, names, inputs, outputs, tally), names))
    EXPECT_FALSE(violation) << "@" << name << ": " << violation.what << messages;
}

TEST_P(DerivativeForms, Agree) {
  int number = 0;
  for (char letter : std::string(GetParam().name))
    number += letter;
  for (auto [form, name] : forms)
    for (bool lifted : {false, true}) {
      SCOPED_TRACE(std::string(name) + (lifted ? ", lifted" : ""));
      hold(form, lifted, number++);
    }
}

INSTANTIATE_TEST_SUITE_P(Programs, DerivativeForms, testing::ValuesIn(gradientPrograms),
                         [](const auto &info) { return std::string(info.param.name); });
