//===- NeutralNames.cpp - hides the spelling of names from passes ---------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/transforms/nd/NeutralNames.h"

#include "dialects/nd/FunctionAttrs.h"
#include "dialects/nd/NdTypical.h"
#include "lib/analysis/CanonicalNames.h"
#include "lib/transforms/nd/Lift.h"
#include "lib/transforms/nd/Passes.h"
#include "lib/transforms/nd/RequireSizes.h"

#include "llvm/ADT/StringExtras.h"

namespace heddle::nd {
#define GEN_PASS_DEF_NDNEUTRALNAMESPASS
#define GEN_PASS_DEF_NDRESTORENAMESPASS
#include "lib/transforms/nd/Passes.h.inc"
} // namespace heddle::nd

using namespace heddle;
using namespace mlir;

namespace {
/// A function and the functions that its nest.control ops call share names. Functions that were
/// outlined from one function are renamed with it; if the user wrote them, names are kept.
struct NdNeutralNamesPass : nd::impl::NdNeutralNamesPassBase<NdNeutralNamesPass> {
  void runOnOperation() override {
    llvm::DenseSet<Operation *> kept;
    if (auto uses = SymbolTable::getSymbolUses(&getOperation().getBodyRegion()))
      for (const SymbolTable::SymbolUse &use : *uses) {
        kept.insert(use.getUser()->getParentOfType<func::FuncOp>());
        kept.insert(SymbolTable::lookupNearestSymbolFrom(use.getUser(), use.getSymbolRef()));
      }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && !kept.contains(function))
        rename(function);
  }

  void rename(func::FuncOp function) {
    NameRewriter rewriter;
    SmallVector<NamedAttribute> dictionary;
    Builder builder(function.getContext());
    // Size symbols first, so that none is spelled like a dimension.
    NameRewriter sizes;
    for (Type type : function.getArgumentTypes())
      if (auto tensor = dyn_cast<nd::NdTensorType>(type))
        for (const nd::Dim &dim : tensor.getDims())
          for (const std::string &symbol : dim.size().getExpr().names()) {
            std::string neutral =
                nd::neutralSymbol(sizes.symbols.size(), nd::symbolRange(function, symbol));
            if (sizes.symbols.try_emplace(symbol, Expr::name(neutral)).second)
              dictionary.push_back(builder.getNamedAttr(neutral, builder.getStringAttr(symbol)));
          }
    if (!sizes.symbols.empty()) {
      sizes.rewrite(function);
      renameRequirements(function, sizes.symbols);
    }
    for (auto [i, name] : llvm::enumerate(canonicalNames(function))) {
      std::string digits = std::to_string(i);
      std::string neutral =
          "n" + std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
      rewriter.names[name] = neutral;
      dictionary.push_back(builder.getNamedAttr(neutral, builder.getStringAttr(name)));
    }
    rewriter.rewrite(function);
    function->setAttr(spellingsAttrName, builder.getDictionaryAttr(dictionary));
  }
};

struct NdRestoreNamesPass : nd::impl::NdRestoreNamesPassBase<NdRestoreNamesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      restore(function);
  }

  /// The attribute that nd-neutral-names wrote; null if another pass or user wrote it.
  static DictionaryAttr spellingsOf(func::FuncOp function) {
    auto dictionary = function->getAttrOfType<DictionaryAttr>(spellingsAttrName);
    llvm::StringSet<> names;
    bool isOurs =
        dictionary && llvm::all_of(dictionary, [&](NamedAttribute entry) {
          auto name = dyn_cast<StringAttr>(entry.getValue());
          return name && !name.empty() && (isSymbol(entry) || names.insert(name.getValue()).second);
        });
    return isOurs ? dictionary : DictionaryAttr();
  }
  /// Notes (`nd::notesAttrName`) with the names of the user.
  static Attribute spelled(Attribute note, const NameRewriter &names) {
    MLIRContext *context = note.getContext();
    if (auto list = dyn_cast<ArrayAttr>(note))
      return ArrayAttr::get(
          context, llvm::map_to_vector(list, [&](Attribute each) { return spelled(each, names); }));
    if (auto type = dyn_cast<TypeAttr>(note))
      return TypeAttr::get(names.rewrite(type.getValue()));
    if (auto text = dyn_cast<StringAttr>(note))
      return StringAttr::get(context, respell(text, names.names));
    return names.rewrite(note);
  }
  static bool isSymbol(NamedAttribute entry) { return entry.getName().getValue().ends_with("_"); }

  void restore(func::FuncOp function) {
    DictionaryAttr dictionary = spellingsOf(function);
    if (!dictionary)
      return;
    NameRewriter rewriter;
    llvm::StringSet<> taken;
    for (NamedAttribute entry : dictionary) {
      StringRef name = cast<StringAttr>(entry.getValue()).getValue();
      if (isSymbol(entry))
        continue;
      rewriter.names[entry.getName().str()] = name.str();
      taken.insert(name);
    }
    for (NamedAttribute entry : dictionary) {
      std::string name = cast<StringAttr>(entry.getValue()).str();
      if (!isSymbol(entry))
        continue;
      if (!taken.insert(name).second)
        name = freshName(name, taken);
      rewriter.names[entry.getName().str()] = name;
      rewriter.symbols[entry.getName().str()] = Expr::name(name);
    }
    std::vector<std::string> made;
    for (const auto &entry : collectNames(function))
      if (!rewriter.names.contains(entry.first().str()))
        made.push_back(entry.first().str());
    llvm::sort(made);
    for (const std::string &name : made) {
      StringRef base = StringRef(name).take_until([](char c) { return c == '$'; });
      auto spelled = rewriter.names.find(base.str());
      if (spelled != rewriter.names.end() || taken.contains(name))
        rewriter.names[name] =
            freshName(spelled != rewriter.names.end() ? spelled->second : name, taken);
    }
    rewriter.rewrite(function);
    renameRequirements(function, rewriter.symbols);
    if (Attribute notes = function->getAttr(nd::notesAttrName))
      function->setAttr(nd::notesAttrName, spelled(notes, rewriter));
    if (auto symbols = function->getAttrOfType<ArrayAttr>(nd::symbolsAttrName)) {
      SmallVector<std::string> spelled;
      for (Attribute each : symbols) {
        auto symbol = dyn_cast<StringAttr>(each);
        if (!symbol)
          continue;
        auto found = rewriter.symbols.find(symbol.str());
        spelled.push_back(found == rewriter.symbols.end() ? symbol.str() : *found->second.asName());
      }
      SmallVector<StringRef> list(spelled.begin(), spelled.end());
      function->setAttr(nd::symbolsAttrName, Builder(function.getContext()).getStrArrayAttr(list));
    }
    function->removeAttr(spellingsAttrName);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

std::string heddle::respell(StringRef text, const Labels &names) {
  auto isStart = [](char c) { return llvm::isAlpha(c) || c == '_'; };
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  std::string result;
  while (!text.empty()) {
    StringRef word = isPart(text[0]) ? text.take_while(isPart) : text.take_front();
    auto found = isStart(word[0]) ? names.find(std::string_view(word)) : names.end();
    result += found == names.end() ? word.str() : found->second;
    text = text.drop_front(word.size());
  }
  return result;
}

SpelledDiagnostics::SpelledDiagnostics(ModuleOp module)
    : ScopedDiagnosticHandler(module.getContext()), module(module) {
  setHandler([this](Diagnostic &diagnostic) { return handle(diagnostic); });
}

/// The names of the function that is being compiled; if several failed in parallel, those of the
/// one at `loc`.
Labels SpelledDiagnostics::namesFor(Location loc) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(spellingsAttrName))
      functions.push_back(function);
  auto isThere = [&](func::FuncOp function) {
    bool found = llvm::any_of(function.getArguments(), [&](Value v) { return v.getLoc() == loc; });
    function.walk([&](Operation *op) { found |= op->getLoc() == loc; });
    return found;
  };
  if (functions.empty())
    return {};
  auto chosen = functions.size() == 1 ? functions.begin() : llvm::find_if(functions, isThere);
  return chosen == functions.end() ? Labels() : spellings(*chosen);
}

LogicalResult SpelledDiagnostics::handle(Diagnostic &diagnostic) {
  if (emitting)
    return failure();
  Labels names = namesFor(diagnostic.getLocation());
  if (names.empty())
    return failure();
  Diagnostic spelled(diagnostic.getLocation(), diagnostic.getSeverity());
  spelled << respell(diagnostic.str(), names);
  for (Diagnostic &note : diagnostic.getNotes())
    spelled.attachNote(note.getLocation()) << respell(note.str(), names);
  emitting = true;
  module.getContext()->getDiagEngine().emit(std::move(spelled));
  emitting = false;
  return success();
}
