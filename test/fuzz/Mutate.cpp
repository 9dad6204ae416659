//===- Mutate.cpp - mutates the programs of tests -------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Mutate.h"

#include "dialects/nd/NdBuild.h"
#include "dialects/nd/NdInference.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace heddle;
using namespace heddle::fuzz;
using namespace mlir;

//===----------------------------------------------------------------------===//
// As text
//===----------------------------------------------------------------------===//

static bool isWordChar(char c) { return std::isalnum((unsigned char)c) || c == '_'; }

/// Words (with a sigil) as (offset, length).
static std::vector<std::pair<size_t, size_t>> wordsOf(StringRef text) {
  std::vector<std::pair<size_t, size_t>> words;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    if (StringRef("%@#!^").contains(text[i]))
      ++end;
    while (end < text.size() && (isWordChar(text[end]) || (text[end] == '.' && end > i)))
      ++end;
    if (end > i)
      words.emplace_back(i, end - i);
    i = end > i ? end : i + 1;
  }
  return words;
}

/// The kind of a word; words of one kind may replace each other.
static int kindOf(StringRef word) {
  static constexpr StringRef types[] = {"f32",    "f64", "f16",  "bf16", "f8E4M3FN",
                                        "f8E5M2", "i1",  "i8",   "i16",  "i32",
                                        "i64",    "ui8", "ui16", "ui32", "ui64"};
  if (llvm::is_contained(types, word))
    return 0;
  if (std::isdigit((unsigned char)word[0]))
    return 1;
  if (StringRef("%@#!^").contains(word[0]))
    return 2 + word[0];
  return word.contains('.') ? 200 : std::isupper((unsigned char)word[0]) ? 201 : 202;
}

static std::string otherWord(StringRef word, StringRef text, Random &random) {
  static constexpr const char *types[] = {"f32", "f64", "bf16", "f16", "f8E5M2", "i1",
                                          "i8",  "i32", "i64",  "ui8", "ui32",   "f8E4M3FN"};
  static constexpr const char *numbers[] = {"0",          "1",
                                            "2",          "3",
                                            "4",          "5",
                                            "7",          "8",
                                            "9",          "16",
                                            "17",         "31",
                                            "64",         "100",
                                            "N",          "-1",
                                            "M",          "-2",
                                            "300",        "2147483648",
                                            "4294967296", "4611686018427387904"};
  int kind = kindOf(word);
  if (kind == 0)
    return types[below(random, std::size(types))];
  // Mostly small numbers: large ones make programs too large to run.
  if (kind == 1 && below(random, 3))
    return numbers[below(random, below(random, 8) ? 12 : std::size(numbers))];
  auto words = wordsOf(text);
  for (int tries = 0; tries < 50; ++tries) {
    auto [at, length] = words[below(random, words.size())];
    StringRef other = text.substr(at, length);
    if (kindOf(other) == kind && other != word)
      return other.str();
  }
  return word.str() + "x";
}

std::string fuzz::mutateText(std::string text, const std::vector<std::string> &others,
                             Random &random) {
  auto words = wordsOf(text);
  if (words.empty())
    return text;
  auto [at, length] = words[below(random, words.size())];
  std::string word = text.substr(at, length);
  bool isForeign = below(random, 8) == 0;
  const std::string &from = isForeign ? others[below(random, others.size())] : text;
  if (wordsOf(from).empty())
    return text;
  size_t choice = below(random, 10);
  if (choice < 3) // in one place
    return text.replace(at, length, otherWord(word, from, random));
  if (choice < 8) { // everywhere
    std::string other = otherWord(word, from, random), result;
    size_t end = 0;
    for (auto [place, count] : words) {
      result += text.substr(end, place - end);
      std::string each = text.substr(place, count);
      result += each == word ? other : each;
      end = place + count;
    }
    return result + text.substr(end);
  }
  size_t begin = text.rfind('\n', at), end = text.find('\n', at);
  begin = begin == std::string::npos ? 0 : begin + 1;
  end = end == std::string::npos ? text.size() : end + 1;
  if (choice == 8) // without a line
    return text.erase(begin, end - begin);
  return text + "\n" + others[below(random, others.size())]; // other functions beside it
}

//===----------------------------------------------------------------------===//
// As IR
//===----------------------------------------------------------------------===//

template <typename Range>
static auto anyOf(Range &range, Random &random) {
  return range[below(random, range.size())];
}

/// Values that dominate `op`, in its block and the enclosing ones.
static SmallVector<Value> valuesBefore(Operation *op, Type type) {
  SmallVector<Value> values;
  for (Operation *place = op; place && place->getBlock(); place = place->getParentOp()) {
    for (BlockArgument argument : place->getBlock()->getArguments())
      if (argument.getType() == type)
        values.push_back(argument);
    for (Operation &other : llvm::make_range(place->getBlock()->begin(), place->getIterator()))
      for (Value result : other.getResults())
        if (result.getType() == type)
          values.push_back(result);
    if (Operation *around = place->getParentOp();
        around && around->hasTrait<OpTrait::IsIsolatedFromAbove>())
      break;
  }
  return values;
}

/// Adds a function that requests gradients or tangents of `callee`, or calls it lifted over more
/// names.
static void askFor(func::FuncOp callee, Random &random) {
  static int next = 0;
  OpBuilder builder(callee->getContext());
  builder.setInsertionPointAfter(callee);
  Location loc = callee.getLoc();
  SmallVector<Type> inputs(callee.getArgumentTypes());
  SmallVector<int64_t> wrt;
  bool isLifted = below(random, 3) == 0;
  for (auto [i, type] : llvm::enumerate(inputs)) {
    auto tensor = dyn_cast<nd::NdTensorType>(type);
    if (!tensor)
      return;
    if (isa<FloatType>(tensor.getElementType()))
      wrt.push_back(int64_t(i));
    if (isLifted && below(random, 2)) {
      static constexpr const char *names[] = {"lifted", "row", "batch", "ky", "channel"};
      StringRef name = names[below(random, std::size(names))];
      SmallVector<nd::Dim> dims(tensor.getDims().begin(), tensor.getDims().end());
      if (!tensor.has(name))
        dims.emplace_back(builder.getContext(), name, Expr(int64_t(below(random, 4))));
      inputs[i] = tensor.withDims(dims);
    }
  }
  if (inputs.empty())
    return;
  if (wrt.size() > 1 && below(random, 2))
    wrt.erase(wrt.begin() + below(random, wrt.size()));
  SmallVector<nd::NdTensorType> tensors;
  for (Type type : inputs)
    tensors.push_back(cast<nd::NdTensorType>(type));
  auto function = func::FuncOp::create(builder, loc, "asked" + std::to_string(next++),
                                       builder.getFunctionType(inputs, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  SmallVector<Value> results;
  if (isLifted) {
    if (failed(nd::inferCall(callee, tensors, [&] { return mlir::emitError(loc); })))
      return function.erase();
    results = nd::buildCall(builder, loc, callee, body->getArguments());
  } else {
    SmallVector<Type> made(callee.getResultTypes()), directions;
    bool isForward = below(random, 3) == 0;
    for (int64_t i : wrt)
      (isForward ? directions : made).push_back(inputs[size_t(i)]);
    llvm::append_range(isForward ? made : directions, nd::floatTypes(callee.getResultTypes()));
    body->addArguments(directions, SmallVector<Location>(directions.size(), loc));
    size_t count = inputs.size();
    ValueRange all(body->getArguments());
    auto positions = builder.getDenseI64ArrayAttr(wrt);
    auto name = FlatSymbolRefAttr::get(callee);
    results = isForward ? nd::JvpOp::create(builder, loc, made, name, all.take_front(count),
                                            all.drop_front(count), positions)
                              ->getResults()
                        : nd::VjpOp::create(builder, loc, made, name, all.take_front(count),
                                            all.drop_front(count), positions)
                              ->getResults();
  }
  func::ReturnOp::create(builder, loc, results);
  function.setFunctionType(builder.getFunctionType(TypeRange(body->getArgumentTypes()),
                                                   TypeRange(ValueRange(results).getTypes())));
  if (callee.isPublic() && below(random, 2))
    callee.setPrivate();
}

/// Changes a number in an attribute, or gives an op another op's attribute.
static void changeAttribute(Operation *op, ArrayRef<Operation *> ops, Random &random) {
  SmallVector<NamedAttribute> attributes(op->getAttrs());
  // Text cannot express an op whose inherent attributes are missing or have another kind.
  auto isOwn = [&](StringAttr name) {
    return llvm::is_contained(op->getName().getAttributeNames(), name);
  };
  if (below(random, 4) == 0) { // another op's attribute
    SmallVector<NamedAttribute> foreign(anyOf(ops, random)->getAttrs());
    if (!foreign.empty()) {
      NamedAttribute one = anyOf(foreign, random);
      if (!isOwn(one.getName()))
        op->setAttr(one.getName(), one.getValue());
    }
    return;
  }
  if (attributes.empty())
    return;
  NamedAttribute own = anyOf(attributes, random);
  for (int tries = 0; tries < 30; ++tries) {
    Operation *other = anyOf(ops, random);
    Attribute value = other->getAttr(own.getName());
    if (value && value != own.getValue() && value.getTypeID() == own.getValue().getTypeID() &&
        below(random, 2))
      return op->setAttr(own.getName(), value);
  }
  if (auto number = dyn_cast<IntegerAttr>(own.getValue())) {
    static constexpr int64_t values[] = {0, 1, -1, 2, 3, 7, INT32_MAX, INT64_MAX, INT64_MIN};
    op->setAttr(
        own.getName(),
        IntegerAttr::get(number.getType(), APInt(number.getValue().getBitWidth(),
                                                 uint64_t(values[below(random, std::size(values))]),
                                                 /*isSigned=*/true, /*implicitTrunc=*/true)));
  } else if (auto list = dyn_cast<ArrayAttr>(own.getValue()); list && list.size() > 0) {
    SmallVector<Attribute> values(list.getValue());
    size_t a = below(random, values.size()), b = below(random, values.size());
    if (below(random, 3) == 0)
      values.erase(values.begin() + long(a));
    else
      std::swap(values[a], values[b]);
    op->setAttr(own.getName(), ArrayAttr::get(op->getContext(), values));
  } else if (!isOwn(own.getName())) {
    op->removeAttr(own.getName());
  }
}

void fuzz::mutateModule(ModuleOp module, Random &random) {
  SmallVector<Operation *> ops;
  SmallVector<func::FuncOp> functions;
  module.walk([&](Operation *op) {
    if (auto function = dyn_cast<func::FuncOp>(op); function && !function.isDeclaration())
      functions.push_back(function);
    else if (op != module)
      ops.push_back(op);
  });
  if (ops.empty() || functions.empty())
    return;
  Operation *op = anyOf(ops, random);
  switch (below(random, 6)) {
  case 0:
    return askFor(anyOf(functions, random), random);
  case 1: // without the op
    for (Value result : op->getResults()) {
      SmallVector<Value> others = valuesBefore(op, result.getType());
      if (others.empty())
        return;
      result.replaceAllUsesWith(anyOf(others, random));
    }
    if (!op->hasTrait<OpTrait::IsTerminator>())
      op->erase();
    return;
  case 2:
    return changeAttribute(below(random, 4) ? op : anyOf(functions, random), ops, random);
  case 3: // one more of it, for some of its uses
    if (op->getNumResults() == 0 || op->hasTrait<OpTrait::IsTerminator>())
      return;
    {
      Operation *copy = op->clone();
      op->getBlock()->getOperations().insertAfter(op->getIterator(), copy);
      for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults()))
        from.replaceUsesWithIf(
            to, [&](OpOperand &use) { return use.getOwner() != copy && below(random, 2) == 0; });
      if (below(random, 2))
        changeAttribute(copy, ops, random);
    }
    return;
  default: // another operand
    if (op->getNumOperands() == 0)
      return;
    unsigned i = unsigned(below(random, op->getNumOperands()));
    SmallVector<Value> others = valuesBefore(op, op->getOperand(i).getType());
    if (!others.empty())
      op->setOperand(i, anyOf(others, random));
  }
}
