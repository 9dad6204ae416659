//===- Generator.h - builds one random program ------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generator has the values so far and an insertion point. A step adds an op on some of them, and
// drops it if it is invalid (an op that does not verify, a result that is too large). Steps also
// run inside regions of loops, branches and scans.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_TEST_UNIT_LAWS_GENERATOR_H
#define HEDDLE_TEST_UNIT_LAWS_GENERATOR_H

#include "test/unit/laws/Dice.h"
#include "test/unit/laws/Generate.h"

#include "dialects/nest/NestBuild.h"

#include "llvm/ADT/StringSet.h"

#include <map>

namespace heddle::laws {

using Strings = llvm::SmallVector<llvm::StringRef>;
using nd::CombinerKind, nd::Dim, nd::NdTensorType, nd::tensorType, nd::numberAttr;

/// Above this number of elements the interpreter is slow; large programs are few and short.
inline constexpr int64_t mostElements = 600, mostOfLarge = 6000;
inline constexpr size_t mostNames = 5;

/// The dimensions of `type` but `name`.
inline llvm::SmallVector<Dim> dimsWithout(NdTensorType type, llvm::StringRef name) {
  llvm::SmallVector<Dim> dims;
  for (const Dim &each : type.getDims())
    if (each.name != name)
      dims.push_back(each);
  return dims;
}

/// The value of a size when the program runs.
inline int64_t numberOf(const Expr &size) {
  return *size.evaluate([](const std::string &symbol) -> std::optional<int64_t> {
    return symbol == "N" ? sizeOfN : sizeOfM;
  });
}

inline int64_t elementsOf(NdTensorType type) {
  int64_t count = 1;
  for (const Dim &dim : type.getDims())
    count *= numberOf(dim.size().getExpr());
  return count;
}

/// The number of points of a space if symbols are `scale` times as large.
inline int64_t pointsOf(llvm::ArrayRef<Dim> dims, int64_t scale) {
  int64_t count = 1;
  for (const Dim &dim : dims) {
    Expr size = dim.size().getExpr();
    count *= numberOf(size) * (size.isConstant() ? 1 : scale);
  }
  return count;
}

class Generator {
public:
  Generator(mlir::ModuleOp module, llvm::StringRef name, uint64_t seed,
            const GeneratorOptions &options)
      : module(module), context(module.getContext()), b(context), loc(b.getUnknownLoc()),
        dice(seed), options(options), prefix(name.str()) {
    if (!this->options.scale)
      this->options.scale = scaleOf(seed);
    function = mlir::func::FuncOp::create(loc, name, b.getFunctionType({}, {}));
    body = function.addEntryBlock();
    b.setInsertionPointToEnd(body);
    for (llvm::StringRef each : {"a", "b", "c", "d", "k", "row", "ky"})
      sizes[each.str()] = drawSize();
    if (isLarge())
      sizes[dice.pick({"a", "c", "row"})] = drawLargeSize();
  }

  mlir::func::FuncOp run();

private:
  mlir::ModuleOp module;
  mlir::MLIRContext *context;
  mlir::OpBuilder b;
  mlir::Location loc;
  Dice dice;
  GeneratorOptions options;
  std::string prefix;
  mlir::func::FuncOp function;
  mlir::Block *body;
  llvm::SmallVector<mlir::Value> values;
  ExprMap sizes;
  int freshNames = 0, callees = 0, depth = 0;
  bool inScan = false; ///< loops are not allowed in scans

  // Choices.
  Expr drawSize() {
    if (options.symbols && dice.chance(45)) {
      Expr n = Expr::name("N"), m = Expr::name("M");
      return dice.pick({n, n, n, n, m, m, n + 1, n - 1, 2 * n, 2 * m, 3 * n, 3 * n});
    }
    if (isLarge() && dice.chance(15))
      return drawLargeSize();
    return Expr(dice.pick({0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 11, 13}));
  }
  Expr drawLargeSize() {
    return Expr(dice.chance(50) ? dice.between(17, 300)
                                : dice.pick({32, 64, 128, 256}) + dice.between(-1, 1));
  }
  bool isLarge() const { return isLargeScale(options.scale); }
  mlir::Type drawType();
  llvm::StringRef anyName() {
    auto entry = sizes.begin();
    std::advance(entry, dice.below(int64_t(sizes.size())));
    return entry->first;
  }
  Dim dim(llvm::StringRef name, const Expr &size) { return Dim(context, name, size); }
  llvm::StringRef freshName() {
    // Spelled so that new names sort before, between and after the others. A callee's names may
    // come back as such.
    while (true) {
      auto name =
          b.getStringAttr(std::string(1, "abkrz"[dice.below(5)]) + std::to_string(++freshNames));
      if (llvm::none_of(values, [&](mlir::Value value) { return tensorType(value).has(name); }))
        return name.getValue();
    }
  }
  /// A name that `used` lacks: a usual one, or a new one.
  llvm::StringRef newName(NdTensorType used) {
    if (dice.chance(60))
      for (int tries = 0; tries < 4; ++tries)
        if (llvm::StringRef name = anyName(); !used.has(name))
          return name;
    return freshName();
  }
  NdTensorType drawTensorType(mlir::Type element, size_t most = 3) {
    llvm::SmallVector<Dim> dims;
    llvm::StringSet<> seen;
    for (size_t i = dice.below(int64_t(most) + 1); i > 0; --i)
      if (llvm::StringRef name = anyName(); seen.insert(name).second)
        dims.push_back(dim(name, dice.chance(90) ? sizes[name.str()] : drawSize()));
    auto type = NdTensorType::get(element, dims);
    return hasFewElements(type) ? type : NdTensorType::get(element, llvm::ArrayRef<Dim>());
  }

  // Values.
  mlir::Value argument(NdTensorType type) {
    mlir::Value value = body->addArgument(type, loc);
    values.push_back(value);
    return value;
  }
  mlir::Value argument() { return argument(drawTensorType(drawType())); }
  mlir::Value constant(NdTensorType type);
  /// One of the values for which `fits` holds; a null value if none does.
  mlir::Value any(llvm::function_ref<bool(NdTensorType)> fits = nullptr) {
    llvm::SmallVector<mlir::Value> fitting;
    for (mlir::Value value : values)
      if (!fits || fits(tensorType(value)))
        fitting.push_back(value);
    if (fitting.empty())
      return {};
    return dice.chance(40) ? fitting.back() : dice.pick(fitting);
  }
  /// Integers for the coordinates of reads or writes: a value, or an argument. In smooth programs
  /// it is an argument that nothing else uses.
  mlir::Value places() {
    if (options.smooth)
      return body->addArgument(drawTensorType(b.getI32Type(), 2), loc);
    return ofElement(
        [](mlir::Type type) { return llvm::isa<mlir::IntegerType>(type) && !type.isInteger(1); });
  }
  /// A value of an element type that satisfies `fits`, or an argument.
  mlir::Value ofElement(llvm::function_ref<bool(mlir::Type)> fits) {
    if (mlir::Value value = any([&](NdTensorType type) { return fits(type.getElementType()); }))
      return value;
    mlir::Type element = drawType();
    for (int i = 0; i < 50 && !fits(element); ++i)
      element = drawType();
    return fits(element) ? argument(drawTensorType(element)) : mlir::Value();
  }
  /// Symbols are at most three times as large, so the limit may be exceeded a little.
  bool hasFewElements(NdTensorType type) const {
    return isLarge() ? pointsOf(type.getDims().getDims(), options.scale) <= mostOfLarge
                     : elementsOf(type) <= mostElements;
  }
  bool fitsLimits(NdTensorType type) {
    return hasFewElements(type) && type.getDims().size() <= mostNames;
  }
  void keep(mlir::Value value) {
    if (!value)
      return;
    if (fitsLimits(tensorType(value)))
      values.push_back(value);
    else if (value.use_empty())
      value.getDefiningOp()->erase();
  }
  void keep(llvm::ArrayRef<mlir::Value> list) {
    if (list.empty() ||
        !llvm::all_of(list, [&](mlir::Value v) { return fitsLimits(tensorType(v)); })) {
      if (!list.empty())
        list[0].getDefiningOp()->erase();
      return;
    }
    values.append(list.begin(), list.end());
  }
  /// A name of the value, empty if it has none.
  llvm::StringRef nameOf(mlir::Value value, llvm::function_ref<bool(int64_t)> fits = nullptr) {
    Strings names;
    for (const Dim &dim : tensorType(value).getDims())
      if (!fits || fits(numberOf(dim.size().getExpr())))
        names.push_back(dim.name);
    return names.empty() ? llvm::StringRef() : dice.pick(names);
  }
  Expr sizeOf(mlir::Value value, llvm::StringRef name) {
    return tensorType(value).size(name).getExpr();
  }
  mlir::TypedAttr drawNumber(NdTensorType type) {
    return numberAttr(type.scalarType(),
                      double(dice.between(-6, 6)) /
                          (llvm::isa<mlir::FloatType>(type.getElementType()) ? 4 : 1));
  }
  /// `value`, with names renamed that collide with those of `others`.
  mlir::Value compatible(mlir::Value value, llvm::ArrayRef<mlir::Value> others);
  CombinerKind drawCombiner(mlir::Type element);
  /// An accumulator type: mostly the builder's choice, sometimes wider floats.
  mlir::Type drawAccumulator(mlir::Type element);
  /// A combiner of one or several values.
  struct Combination {
    llvm::SmallVector<mlir::TypedAttr> neutral;
    std::function<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::ValueRange)> combine;
  };
  /// A combiner without a name: a + b + a b, a product of complex numbers, or (`ordered`, if it
  /// need not commute) of affine maps.
  Combination drawCombination(mlir::Type element, bool ordered);
  /// Independent named combiners, one for each element.
  Combination drawCombiners(llvm::ArrayRef<mlir::Type> elements);
  /// The largest float and its smallest position, an i64.
  Combination largest(mlir::Type element);
  /// A value of type `type` from some of `inputs`, whose names it may lack.
  mlir::Value combined(llvm::ArrayRef<mlir::Value> inputs, NdTensorType type);
  /// A value of type `type` that a few steps in the current block compute from `inputs`.
  mlir::Value inside(llvm::ArrayRef<mlir::Value> inputs, NdTensorType type);
  mlir::Value largestOf(mlir::Value x);
  mlir::Value isLarge(mlir::Value x);
  mlir::Value withPole(mlir::Value x, bool whereSmall);
  mlir::Value loop(mlir::Value x);
  mlir::Value whileLoop(mlir::Value x);
  mlir::Value branch(mlir::Value x);

  /// The names of a nest under construction, for reads that are in bounds or guarded.
  struct Space {
    std::map<std::string, std::pair<Expr, bool>> names; ///< size, whether it is reduced
    llvm::SmallVector<mlir::Value> reads;
    llvm::SmallVector<nest::MapAttr> maps;
    llvm::SmallVector<nest::GuardAttr> guards;
    llvm::SmallVector<Dim> dims(mlir::MLIRContext *context, bool reduced) const;
  };
  /// The index for a coordinate of size `size`: an expression in names of the space (existing or
  /// added), and the conditions that keep it in bounds.
  Expr drawPlace(Space &space, const Expr &size, llvm::SmallVectorImpl<nest::Condition> &conditions,
                 bool mayReduce);
  bool hasFewPoints(const Space &space) const;
  bool drawReads(Space &space, bool mayReduce);
  /// A condition that excludes some points of the names.
  nest::Condition drawExclusion(llvm::ArrayRef<Dim> names);
  /// A read of an epilogue: `value` at produced names.
  void finishRead(nest::NestBuilder &nest, mlir::Value value);
  Combination drawBody(llvm::ArrayRef<mlir::Type> from, bool reduces,
                       llvm::SmallVectorImpl<mlir::Type> &elements, bool &isLargest);
  mlir::Value drawFinishing(llvm::ArrayRef<Dim> produced);

  // Steps.
  void pointwise();
  void reduce();
  void reduceWithIndex();
  void scan();
  void round();
  void quantize();
  void window();
  void unwindow();
  void slice();
  void pad();
  void concat();
  void split();
  void merge();
  void rename();
  void broadcast();
  void gather();
  void scatter();
  void dynamicSlice();
  void sort();
  void source();
  void random();
  void call();
  void kernel();
  void group();
  void ordered();
  void update();
  void marks();
  void twins();
  void variant();
  void change(mlir::Operation *op);
  void request();
  void control();
  void step();
  mlir::Value operandFor(NdTensorType type);
};

} // namespace heddle::laws

#endif // HEDDLE_TEST_UNIT_LAWS_GENERATOR_H
