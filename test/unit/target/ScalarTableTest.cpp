//===- ScalarTableTest.cpp - tests every scalar function by a table -------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each scalar function in each float type, compiled for each level of the instruction set that this
// machine runs, and run by the oracle, against the C library in long double: at zeros, infinities,
// NaN, subnormal numbers, the largest ones, integers, and random ones of all magnitudes. The errors
// in the manual are compared with the measured ones.
//
//===----------------------------------------------------------------------===//

#include "dialects/nd/NdBuild.h"
#include "lib/builder/Pointwise.h"
#include "lib/compile/Compile.h"
#include "lib/interp/HostTensor.h"
#include "lib/interp/Interpreter.h"
#include "lib/target/cpu/CpuTarget.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <set>

using namespace heddle;
using namespace mlir;

namespace {
using Real = long double;
using Reference = Real (*)(const Real *x);

/// A function by its name in the public API, or a legal op that has none there.
struct Row {
  std::string name;
  unsigned operands;
  Reference reference;
  /// Errors are in units of this number if it is larger than the value.
  Reference scale = [](const Real *) { return Real(0); };
};

constexpr Real notANumber = std::numeric_limits<Real>::quiet_NaN();

/// The larger one, +0 above -0, NaN if there is one; of the negated numbers the smaller one.
Real largerOf(Real x, Real y) {
  if (std::isnan(x) || std::isnan(y))
    return notANumber;
  return x > y || (x == y && !std::signbit(x)) ? x : y;
}
/// By Newton's method on erf, or erfc, which is precise near 1.
Real inverseOfErf(Real x) {
  Real size = std::fabs(x);
  if (!(size < 1))
    return size == 1 ? x * INFINITY : notANumber;
  if (size < 1e-10L)
    return x * std::sqrt(std::acos(Real(-1))) / 2;
  Real root = 2 / std::sqrt(std::acos(Real(-1))), y = size / root;
  for (int i = 0; i < 80; ++i) { // rises to the solution, by at least 1 / (2 y) before it is near
    Real error = size < 0.5L ? std::erf(y) - size : (1 - size) - std::erfc(y);
    y -= error / (root * std::exp(-y * y));
  }
  return std::copysign(y, x);
}

/// By the asymptotic series at a number of at least 25.
Real gammaSlope(Real x) {
  const Real pi = std::acos(Real(-1));
  if (x == 0)
    return std::copysign(Real(INFINITY), -x);
  if (x < 0)
    return x == std::trunc(x) ? notANumber
                              : gammaSlope(1 - x) - pi / std::tan(pi * (x - std::nearbyint(x)));
  Real lower = 0, term = 1;
  for (; x < 25; ++x)
    lower += 1 / x;
  Real sum = std::log(x) - 1 / (2 * x);
  for (Real coefficient : {1.0L / 12, -1.0L / 120, 1.0L / 252, -1.0L / 240, 1.0L / 132,
                           -691.0L / 32760, 1.0L / 12, -3617.0L / 8160})
    sum -= coefficient * (term /= x * x);
  return sum - lower;
}

Real logGamma(Real x) { return std::lgamma(x); }

/// The scale of a function that is computed at 1 - x for a negative x.
template <Real (*function)(Real)>
Real reflected(const Real *x) {
  if (!(x[0] < 0))
    return 0;
  return 2 * std::max({Real(1), std::fabs(function(x[0])), std::fabs(function(1 - x[0]))});
}

Real numberOr(Real x, Real y, Real both) { return std::isnan(x) ? y : std::isnan(y) ? x : both; }

const Row rows[] = {
    {"neg", 1, [](const Real *x) { return -x[0]; }},
    {"abs", 1, [](const Real *x) { return std::fabs(x[0]); }},
    {"sign", 1,
     [](const Real *x) { return std::isnan(x[0]) ? x[0] : Real((x[0] > 0) - (x[0] < 0)); }},
    {"exp", 1, [](const Real *x) { return std::exp(x[0]); }},
    {"exp2", 1, [](const Real *x) { return std::exp2(x[0]); }},
    {"expm1", 1, [](const Real *x) { return std::expm1(x[0]); }},
    {"log", 1, [](const Real *x) { return std::log(x[0]); }},
    {"log2", 1, [](const Real *x) { return std::log2(x[0]); }},
    {"log10", 1, [](const Real *x) { return std::log10(x[0]); }},
    {"log1p", 1, [](const Real *x) { return std::log1p(x[0]); }},
    {"sqrt", 1, [](const Real *x) { return std::sqrt(x[0]); }},
    {"rsqrt", 1, [](const Real *x) { return 1 / std::sqrt(x[0]); }},
    {"sinh", 1, [](const Real *x) { return std::sinh(x[0]); }},
    {"cosh", 1, [](const Real *x) { return std::cosh(x[0]); }},
    {"tanh", 1, [](const Real *x) { return std::tanh(x[0]); }},
    {"asinh", 1, [](const Real *x) { return std::asinh(x[0]); }},
    {"acosh", 1, [](const Real *x) { return std::acosh(x[0]); }},
    {"atanh", 1, [](const Real *x) { return std::atanh(x[0]); }},
    {"erf", 1, [](const Real *x) { return std::erf(x[0]); }},
    {"erfc", 1, [](const Real *x) { return std::erfc(x[0]); }},
    {"erfinv", 1, [](const Real *x) { return inverseOfErf(x[0]); }},
    {"lgamma", 1, [](const Real *x) { return logGamma(x[0]); }, reflected<logGamma>},
    {"digamma", 1, [](const Real *x) { return gammaSlope(x[0]); }, reflected<gammaSlope>},
    {"sigmoid", 1, [](const Real *x) { return 1 / (1 + std::exp(-x[0])); }},
    {"sin", 1, [](const Real *x) { return std::sin(x[0]); }},
    {"cos", 1, [](const Real *x) { return std::cos(x[0]); }},
    {"tan", 1, [](const Real *x) { return std::tan(x[0]); }},
    {"asin", 1, [](const Real *x) { return std::asin(x[0]); }},
    {"acos", 1, [](const Real *x) { return std::acos(x[0]); }},
    {"atan", 1, [](const Real *x) { return std::atan(x[0]); }},
    {"floor", 1, [](const Real *x) { return std::floor(x[0]); }},
    {"ceil", 1, [](const Real *x) { return std::ceil(x[0]); }},
    {"trunc", 1, [](const Real *x) { return std::trunc(x[0]); }},
    {"roundEven", 1, [](const Real *x) { return std::nearbyint(x[0]); }},
    {"add", 2, [](const Real *x) { return x[0] + x[1]; }},
    {"sub", 2, [](const Real *x) { return x[0] - x[1]; }},
    {"mul", 2, [](const Real *x) { return x[0] * x[1]; }},
    {"div", 2, [](const Real *x) { return x[0] / x[1]; }},
    {"rem", 2, [](const Real *x) { return std::fmod(x[0], x[1]); }},
    {"max", 2, [](const Real *x) { return largerOf(x[0], x[1]); }},
    {"min", 2, [](const Real *x) { return -largerOf(-x[0], -x[1]); }},
    {"pow", 2, [](const Real *x) { return std::pow(x[0], x[1]); }},
    {"atan2", 2, [](const Real *x) { return std::atan2(x[0], x[1]); }},
    {"hypot", 2, [](const Real *x) { return std::hypot(x[0], x[1]); }},
    {"copysign", 2,
     [](const Real *x) {
       return std::isnan(x[1]) ? std::fabs(x[0]) : std::copysign(x[0], x[1]); // no sign of a NaN
     }},
    {"lt", 2, [](const Real *x) { return Real(x[0] < x[1]); }},
    {"le", 2, [](const Real *x) { return Real(x[0] <= x[1]); }},
    {"eq", 2, [](const Real *x) { return Real(x[0] == x[1]); }},
    {"ne", 2, [](const Real *x) { return Real(x[0] != x[1]); }},
    {"arith.maxnumf", 2, [](const Real *x) { return numberOr(x[0], x[1], largerOf(x[0], x[1])); }},
    {"arith.minnumf", 2,
     [](const Real *x) { return numberOr(x[0], x[1], -largerOf(-x[0], -x[1])); }},
    {"math.fma", 3, [](const Real *x) { return std::fma(x[0], x[1], x[2]); }},
};

constexpr int64_t count = 4099; // not a multiple of any tile
const char *const levels[] = {"x86-64", "haswell", "skylake-avx512", "native"};

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// Corner cases of functions, rounded to the type.
std::vector<double> edges(FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int precision = int(llvm::APFloat::semanticsPrecision(semantics)),
      least = llvm::APFloat::semanticsMinExponent(semantics),
      most = llvm::APFloat::semanticsMaxExponent(semantics);
  double unit = std::ldexp(1.0, 1 - precision), normal = std::ldexp(1.0, least),
         tiny = normal * unit;
  double largest = interp::largestFinite(type), top = std::ldexp(1.0, most),
         whole = std::ldexp(1.0, precision);
  // The first ones and their negatives are tested in all pairs.
  std::vector<double> numbers = {
      0, 1, double(INFINITY), double(NAN), 0.5, 2, 3, 4, tiny, normal, largest, 1 + unit, 7,
      1 - unit / 2, 0.1, 2.5, 5, 10, 1.0 / 3, 0.25, 1.5, 3.5, 8.5, 100, 300, 3 * tiny,
      normal - tiny, normal + tiny, std::sqrt(normal), top, std::sqrt(top),
      // Above these, numbers have no fractions, or are never odd.
      whole / 2 + 1, whole / 2 - 0.5, whole, whole - 1, 2 * whole + 2,
      // Multiples of pi, and limits of exponentials.
      M_PI / 4, M_PI / 2, M_PI, 22, 355, 1e6, 1e19, 87.3, 88.7, 103.9, 127.9, 150, 709.7, 745.1,
      1023.9, 1075, 1e-5, 1e-9, 1e300,
      // Borders between polynomials.
      M_SQRT2, M_SQRT1_2, 0.3465, 0.4142135, 2.4142135, 3.93, 9.5, 1e-300};
  std::vector<double> all;
  std::set<uint64_t> known;
  for (double number : numbers)
    for (double each : {number, -number})
      if (double rounded = interp::roundTo(type, each);
          known.insert(llvm::bit_cast<uint64_t>(rounded)).second)
        all.push_back(rounded);
  return all;
}

/// Operand `operand` of all samples: every pair of the first corners, every corner with some of the
/// others, then random numbers: any bits, and such as functions like.
std::vector<double> arguments(FloatType type, unsigned operand) {
  constexpr size_t first = 26;
  std::vector<double> corners = edges(type), all;
  std::mt19937_64 random(operand);
  auto uniform = [&](double low, double high) {
    return low + (high - low) * std::ldexp(double(random() >> 11), -53);
  };
  for (size_t i = 0; i < size_t(count); ++i) {
    if (operand < 2 && i < first * first) {
      all.push_back(corners[std::min(corners.size() - 1, operand == 0 ? i / first : i % first)]);
    } else if (i < 2000) {
      all.push_back(corners[operand == 0 ? i % corners.size() : random() % corners.size()]);
    } else if (i % 4 == 0) {
      llvm::APInt bits(type.getWidth(),
                       random() & llvm::maskTrailingOnes<uint64_t>(type.getWidth()));
      llvm::APFloat any(type.getFloatSemantics(), bits);
      bool loses;
      any.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
      all.push_back(any.convertToDouble());
    } else {
      double number = i % 4 == 1   ? uniform(-20, 20)
                      : i % 4 == 2 ? uniform(-2, 2)
                                   : std::exp(uniform(-12, 5)) * (random() % 2 ? 1 : -1);
      all.push_back(
          interp::roundTo(type, operand == 1 && i % 3 == 0 ? std::nearbyint(number) : number));
    }
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

/// Whether subnormal results may be flushed to zero.
bool flushes(FloatType type) { return type.getWidth() >= 32 || type.isBF16(); }

/// The distance of `got` from `exact`, in units in the last place (ulp) of `exact` in the type;
/// or of `scale` if it is larger; infinite if only one is NaN or infinite.
double unitsApart(FloatType type, double got, Real exact, Real scale) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int precision = int(llvm::APFloat::semanticsPrecision(semantics)),
      least = llvm::APFloat::semanticsMinExponent(semantics);
  if (std::isnan(exact))
    return std::isnan(got) ? 0 : INFINITY;
  auto unit = [&](Real x) {
    return std::ldexp(Real(1), std::max(x == 0 || std::isinf(x) ? least : std::ilogb(x), least) -
                                   precision + 1);
  };
  Real largest = interp::largestFinite(type), beyond = largest + unit(largest) / 2;
  bool hasInfinity = llvm::APFloat::semanticsHasInf(semantics);
  bool isOver = std::isinf(got) || (!hasInfinity && std::isnan(got));
  if (std::fabs(exact) >= beyond)
    return isOver && (std::isnan(got) || std::signbit(got) == std::signbit(exact)) ? 0
           : std::isinf(exact) || isOver || std::isnan(got)
               ? INFINITY
               : double((std::fabs(exact) - std::fabs(Real(got))) / unit(largest));
  if (isOver)
    return double((beyond - std::fabs(exact)) / unit(largest) + 0.5);
  if (got == 0 && std::signbit(got) != std::signbit(exact))
    return INFINITY;
  if (got == 0 && flushes(type) && std::fabs(exact) < std::ldexp(Real(1), least))
    return 0;
  return std::isnan(got) ? INFINITY
                         : double(std::fabs(got - exact) / unit(std::max(std::fabs(exact), scale)));
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

const char *const types[] = {"f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"};

class ScalarTable : public ::testing::Test {
protected:
  ScalarTable() : context(registry(), MLIRContext::Threading::DISABLED), builder(&context) {
    context.loadAllAvailableDialects();
    module = ModuleOp::create(UnknownLoc::get(&context));
    for (const char *name : types)
      addFunction(name);
  }
  static DialectRegistry registry() {
    DialectRegistry result;
    registerCompilerDialects(result);
    return result;
  }

  FloatType typeNamed(StringRef name) { return cast<FloatType>(mlir::parseType(name, &context)); }

  /// Builds the function of a row, on scalars.
  Value build(OpBuilder &b, const Row &row, ValueRange x) {
    Location loc = b.getUnknownLoc();
    if (StringRef(row.name).contains('.')) {
      OperationState state(loc, row.name);
      state.addOperands(x);
      state.addTypes(x[0].getType());
      return b.create(state)->getResult(0);
    }
    return row.operands == 1 ? heddle::detail::unary(b, loc, row.name, x[0], false)
                             : heddle::detail::binary(b, loc, row.name, x[0], x[1], false);
  }

  /// Adds a function of three vectors that returns the values of all rows.
  void addFunction(StringRef name) {
    Location loc = builder.getUnknownLoc();
    FloatType element = typeNamed(name);
    auto vector = nd::NdTensorType::get(element, {nd::Dim(&context, "n", Expr(count))});
    SmallVector<Type> inputs(3, vector);
    builder.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(builder, loc, name, builder.getFunctionType(inputs, {}));
    for (unsigned i = 0; i < 3; ++i)
      function.setArgAttr(i, nd::nameAttrName, builder.getStringAttr("x" + std::to_string(i)));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    SmallVector<Value> results;
    for (const Row &row : rows) {
      bool isTruth = false;
      Value result = nd::buildPointwise(
          builder, loc, block->getArguments().take_front(row.operands), element,
          [&](OpBuilder &b, ValueRange x) -> Value {
            Value value = build(b, row, x);
            note(row, value.getParentBlock());
            isTruth = value.getType().isInteger(1);
            return isTruth ? heddle::nd::convertScalar(b, loc, value, value.getType(), element)
                           : value;
          });
      results.push_back(result);
    }
    func::ReturnOp::create(builder, loc, results);
    function.setFunctionType(builder.getFunctionType(inputs, TypeRange(ValueRange(results))));
  }

  void note(const Row &row, Block *block) {
    for (Operation &op : *block)
      made.insert(op.getName().getStringRef().str());
    if (!llvm::hasSingleElement(*block))
      composed.insert(row.name);
  }

  /// Whether scalar code may contain this op, from `operands` floats to one. (A bitcast does no
  /// arithmetic.)
  bool isFunction(StringRef name, unsigned operands) {
    OwningOpRef<ModuleOp> holder = ModuleOp::create(builder.getUnknownLoc());
    OpBuilder b = OpBuilder::atBlockEnd(holder->getBody());
    Value x = arith::ConstantOp::create(b, b.getUnknownLoc(), b.getF32FloatAttr(1));
    OperationState state(b.getUnknownLoc(), name);
    state.addOperands(SmallVector<Value>(operands, x));
    state.addTypes(b.getF32Type());
    ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) { return success(); });
    Operation *op = b.create(state);
    return succeeded(op->getName().verifyInvariants(op)) && nd::isScalarOp(op) &&
           !isa<arith::BitcastOp>(op);
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  std::set<std::string> made;     ///< ops that rows are made of
  std::set<std::string> composed; ///< rows that are made of several ops
};

std::string place(const Row &row, const Real *x, double got, Real exact) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << row.name << "(";
  for (unsigned i = 0; i < row.operands; ++i)
    stream << (i ? ", " : "") << llvm::format("%a", double(x[i]));
  stream << ") = " << llvm::format("%a", got) << ", expected " << llvm::format("%a", double(exact));
  return text;
}

TensorRef tensorOf(ElementType element, ArrayRef<double> values) {
  auto tensor = std::make_shared<RuntimeTensor>(TensorSpec{element, {{"n", Expr(count)}}},
                                                Layout::rowMajor({"n"}));
  size_t size = size_t(byteSize(element));
  std::vector<std::byte> bytes(values.size() * size);
  for (auto [i, value] : llvm::enumerate(values))
    interp::storeElement(element, interp::exactly(value), bytes.data() + i * size);
  tensor->copyFrom(bytes.data(), {"n"});
  return tensor;
}

std::vector<double> valuesOf(const RuntimeTensor &tensor, ElementType element) {
  size_t size = size_t(byteSize(element));
  std::vector<std::byte> bytes(count * size);
  tensor.copyTo(bytes.data(), {"n"});
  std::vector<double> values;
  for (size_t i = 0; i < size_t(count); ++i)
    values.push_back(interp::loadElement(element, bytes.data() + i * size).value);
  return values;
}

/// The samples of a type, and each row's values of them. Shared by the tests, since long doubles
/// are slow.
struct Samples {
  std::vector<double> x[3];
  std::vector<std::vector<Real>> exact, scale;

  explicit Samples(FloatType type) {
    for (unsigned i = 0; i < 3; ++i)
      x[i] = arguments(type, i);
    for (const Row &row : rows) {
      std::vector<Real> &results = exact.emplace_back(), &scales = scale.emplace_back();
      for (size_t i = 0; i < size_t(count); ++i) {
        results.push_back(row.reference(at(i).data()));
        scales.push_back(row.scale(at(i).data()));
      }
    }
  }
  std::array<Real, 3> at(size_t i) const { return {x[0][i], x[1][i], x[2][i]}; }
};

const Samples &samplesOf(FloatType type, StringRef name) {
  static std::map<std::string, Samples> all;
  return all.try_emplace(name.str(), type).first->second;
}

/// Whether this machine has the vector instructions of a level.
bool runs(StringRef level) {
  auto target = cpu::targetFor(level), host = cpu::targetFor("native");
  return target && host && llvm::all_of(target->features, [&](StringRef feature) {
           return !(feature.starts_with("avx") || feature == "fma" || feature == "f16c") ||
                  host->has(feature);
         });
}

/// The manual's error bound of each function: ulp for f32 and for f64.
std::map<std::string, std::pair<double, double>> promised() {
  std::ifstream page(HEDDLE_FUNCTIONS_PAGE);
  std::map<std::string, std::pair<double, double>> all;
  for (std::string line; std::getline(page, line);) {
    SmallVector<StringRef> cells;
    StringRef(line).split(cells, '|');
    double f32, f64;
    if (cells.size() < 5 || cells[2].trim().getAsDouble(f32) || cells[3].trim().getAsDouble(f64))
      continue;
    SmallVector<StringRef> names;
    cells[1].split(names, ',');
    for (StringRef name : names)
      all[name.trim(" `").str()] = {f32, f64};
  }
  return all;
}

TEST_F(ScalarTable, CompiledCodeIsWithinThePromisedUnits) {
  auto promises = promised();
  std::map<std::string, std::pair<double, double>> worst;
  for (const char *level : levels) {
    if (!runs(level))
      continue;
    CompileOptions options;
    options.targetCpu = level;
    options.programThreads = options.compileThreads = 1;
    options.useCache = options.progress = false;
    OwningOpRef<ModuleOp> copy(module->clone());
    auto image = compileProgram(*copy, options);
    ASSERT_TRUE(succeeded(image)) << level;
    Program program(std::move(*image));
    for (const char *name : types) {
      FloatType type = typeNamed(name);
      ElementType element = *parseElementType(name);
      const Samples &samples = samplesOf(type, name);
      std::vector<TensorRef> given;
      for (const std::vector<double> &x : samples.x)
        given.push_back(tensorOf(element, x));
      std::vector<TensorRef> results = program.run(program.entry(name), std::move(given), {}, {});
      for (auto [r, row] : llvm::enumerate(rows)) {
        // Narrow types are computed in f32 and rounded: half a ulp, plus the error of f32.
        double most = type.isF32()   ? promises[row.name].first
                      : type.isF64() ? promises[row.name].second
                                     : 0.5 + std::ldexp(4.0, int(llvm::APFloat::semanticsPrecision(
                                                                 type.getFloatSemantics())) -
                                                                 24);
        double error = 0;
        std::string where;
        std::vector<double> got = valuesOf(*results[r], element);
        for (size_t i = 0; i < got.size(); ++i)
          if (double units = unitsApart(type, got[i], samples.exact[r][i], samples.scale[r][i]);
              units > error) {
            error = units;
            where = place(row, samples.at(i).data(), got[i], samples.exact[r][i]);
          }
        EXPECT_LE(error, most) << where << " of " << name << " on " << level;
        if (type.isF32())
          worst[row.name].first = std::max(worst[row.name].first, error);
        if (type.isF64())
          worst[row.name].second = std::max(worst[row.name].second, error);
      }
    }
  }
  // No bound is much larger than the measured error.
  for (const Row &row : rows) {
    auto [f32, f64] = worst[row.name];
    EXPECT_TRUE(promises.count(row.name)) << row.name << " has no line in docs/functions.md";
    EXPECT_LE(promises[row.name].first, 2 * f32 + 1) << row.name;
    EXPECT_LE(promises[row.name].second, 2 * f64 + 1) << row.name;
    EXPECT_LE(std::max(promises[row.name].first, promises[row.name].second), 4) << row.name;
  }
}

/// Whether the oracle's value, with its bound, is the exact one, if that has to be rounded.
bool covers(FloatType type, const interp::Scalar &got, Real exact) {
  Real beyond = Real(interp::largestFinite(type)) * (1 - 9 * Real(interp::unitRoundoff(type)));
  if (std::isnan(exact) || std::isnan(got.value)) // where there is no infinity, for it too
    return std::isnan(got.value) &&
           (std::isnan(exact) || (std::fabs(exact) >= beyond &&
                                  !llvm::APFloat::semanticsHasInf(type.getFloatSemantics())));
  if (std::isinf(got.value))
    return std::signbit(got.value) == std::signbit(exact) && std::fabs(exact) >= beyond;
  if (exact == 0 && got.error == 0 && std::signbit(got.value) != std::signbit(exact))
    return false;
  // A cast at the end of a narrow type's code has rounded the value already.
  Real rounding =
      type.getWidth() < 32 ? Real(interp::unitRoundoff(type)) : std::ldexp(Real(1), -52);
  return std::fabs(got.value - exact) <=
         got.error + std::fabs(exact) * rounding + Real(interp::smallestError(type));
}

TEST_F(ScalarTable, TheOracleCoversTheExactValue) {
  for (const char *name : types) {
    FloatType type = typeNamed(name);
    const Samples &samples = samplesOf(type, name);
    auto function = module->lookupSymbol<func::FuncOp>(name);
    SmallVector<interp::TensorValue> given;
    for (const std::vector<double> &x : samples.x) {
      auto &value = given.emplace_back(cast<nd::NdTensorType>(function.getArgumentTypes()[0]));
      for (auto [element, number] : llvm::zip_equal(value.elements, x))
        element = interp::exactly(number);
    }
    auto results = interp::interpret(function, given);
    ASSERT_TRUE(succeeded(results)) << name;
    for (auto [r, row] : llvm::enumerate(rows)) {
      std::string wrong;
      bool isComposed = composed.count(row.name);
      int64_t open = 0;
      for (size_t i = 0; i < size_t(count) && wrong.empty(); ++i) {
        const interp::Scalar &got = (*results)[r].elements[i];
        Real exact = samples.exact[r][i], size = std::fabs(exact);
        Real unit = interp::unitRoundoff(type), least = interp::smallestError(type);
        // Allowed near overflow, for factors of bf16 that may be flushed to zero, and in rows of
        // several ops, where a choice may depend on an intermediate error.
        bool isLarge = !(size < interp::largestFinite(type) * (1 - 9 * unit));
        bool flushes = type.isBF16() && llvm::any_of(samples.x, [&](const auto &x) {
                         return std::fabs(x[i]) < least;
                       });
        if (got.undecided && (isLarge || flushes || isComposed)) {
          open += isComposed && !isLarge;
          continue;
        }
        // The error of one op on exact numbers is that of the op.
        bool isTight = isComposed || flushes || got.error == 0 ||
                       got.error <= 1.01 * interp::functionUnits * unit * size + 2 * least;
        if (got.undecided || !covers(type, got, exact) || !isTight)
          wrong = place(row, samples.at(i).data(), got.value, exact) +
                  (got.undecided ? ", undecided" : ", +- " + std::to_string(got.error));
      }
      if (type.getWidth() >= 32)
        EXPECT_LE(open, count / 100) << row.name << " of " << name;
      EXPECT_EQ(wrong, "") << name;
    }
  }
}

/// Folded constants equal computed values.
TEST_F(ScalarTable, FoldedConstantsAreWithinFourUnits) {
  int64_t folds = 0;
  for (const char *name : types) {
    FloatType type = typeNamed(name);
    const Samples &samples = samplesOf(type, name);
    for (auto [r, row] : llvm::enumerate(rows)) {
      // In narrow types each op of several rounds.
      if (type.getWidth() < 32 && composed.count(row.name))
        continue;
      for (size_t i = 0; i < 2000; i += 7) {
        OwningOpRef<ModuleOp> holder = ModuleOp::create(builder.getUnknownLoc());
        OpBuilder b = OpBuilder::atBlockEnd(holder->getBody());
        SmallVector<Value> operands;
        for (unsigned k = 0; k < row.operands; ++k)
          operands.push_back(heddle::nd::buildNumber(b, b.getUnknownLoc(), type, samples.x[k][i]));
        Value result = build(b, row, operands);
        for (Operation &op : llvm::make_early_inc_range(*holder->getBody())) {
          SmallVector<Value> folded;
          b.setInsertionPoint(&op);
          if (op.hasTrait<OpTrait::ConstantLike>() || failed(b.tryFold(&op, folded)) ||
              folded.empty())
            continue;
          if (result == op.getResult(0))
            result = folded[0];
          op.replaceAllUsesWith(folded);
        }
        FloatAttr value;
        if (!matchPattern(result, m_Constant(&value)))
          continue;
        ++folds;
        double got = value.getValueAsDouble();
        double error = unitsApart(type, got, samples.exact[r][i], samples.scale[r][i]);
        EXPECT_LE(error, 4) << name << " "
                            << place(row, samples.at(i).data(), got, samples.exact[r][i]);
      }
    }
  }
  EXPECT_GT(folds, 10000);
}

/// All names of the API, and all ops that scalar code may contain.
TEST_F(ScalarTable, EveryFunctionHasARow) {
  for (unsigned operands : {1, 2})
    for (StringRef name : heddle::detail::floatFunctions(operands))
      EXPECT_TRUE(llvm::any_of(
          rows, [&](const Row &row) { return row.name == name && row.operands == operands; }))
          << name.str() << " has no row";
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    StringRef name = op.getStringRef();
    if (!name.starts_with("math.") && !name.starts_with("arith."))
      continue;
    for (unsigned operands : {1, 2, 3})
      if (isFunction(name, operands))
        EXPECT_TRUE(made.count(name.str())) << name.str() << " has no row";
  }
}
} // namespace
