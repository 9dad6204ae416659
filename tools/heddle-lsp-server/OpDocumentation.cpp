//===- OpDocumentation.cpp - documentation of ops, for editors ------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpDocumentation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace heddle;

static const unsigned char pages[] = {
#include "reference.inc" // written by the build: the pages of docs/reference
};

OpDocumentation::OpDocumentation() {
  addPage({reinterpret_cast<const char *>(pages), sizeof pages});
}

/// The text of an op is between its heading, "### `nd.window` (::heddle::nd::WindowOp)", and its
/// traits, which users don't need.
void OpDocumentation::addPage(llvm::StringRef page) {
  constexpr llvm::StringLiteral heading = "\n### `";
  for (size_t at = page.find(heading); at != llvm::StringRef::npos;) {
    llvm::StringRef rest = page.drop_front(at + heading.size());
    llvm::StringRef name = rest.take_until([](char c) { return c == '`'; });
    size_t next = rest.find("\n##");
    llvm::StringRef text = rest.take_front(next).split('\n').second;
    for (llvm::StringRef end : {"\nTraits: ", "\nInterfaces: ", "\nEffects: ", "\n#### "})
      text = text.take_front(text.find(end));
    if (name.contains('.'))
      texts.try_emplace(name, text.trim());
    at = page.find(heading, at + 1);
  }
}

/// A hover begins with the op's name in quotes.
static llvm::StringRef hoveredOp(llvm::StringRef text) {
  llvm::StringRef after = text.split('"').second;
  return after.take_until([](char c) { return c == '"'; });
}

/// Inserts the documentation after the first paragraph, which names the op.
static bool completeHover(llvm::json::Object &result, const OpDocumentation &documentation) {
  llvm::json::Object *contents = result.getObject("contents");
  auto text = contents ? contents->getString("value") : std::nullopt;
  if (!text)
    return false;
  llvm::StringRef documented = documentation.of(hoveredOp(*text));
  if (documented.empty())
    return false;
  auto [first, rest] = text->split("\n\n");
  (*contents)["value"] = (first + "\n\n" + documented + "\n\n" + rest).str();
  return true;
}

/// The labels of the items that are ops.
static llvm::SmallVector<std::pair<llvm::StringRef, llvm::json::Object *>>
opsIn(llvm::json::Array &items) {
  llvm::SmallVector<std::pair<llvm::StringRef, llvm::json::Object *>> ops;
  for (llvm::json::Value &value : items)
    if (llvm::json::Object *item = value.getAsObject(); item && item->getString("label"))
      if (item->getString("detail") == "operation")
        ops.emplace_back(*item->getString("label"), item);
  return ops;
}

/// After "nd." ops of nd are offered without this prefix: the dialect is the one that has all of
/// them.
static bool completeItems(llvm::json::Array &items, const OpDocumentation &documentation) {
  auto ops = opsIn(items);
  for (llvm::StringRef dialect : {"nd", "nest", "mesh", "check"}) {
    auto textOf = [&](llvm::StringRef op) { return documentation.of((dialect + "." + op).str()); };
    if (ops.empty() || llvm::any_of(ops, [&](auto &op) { return textOf(op.first).empty(); }))
      continue;
    for (auto [op, item] : ops)
      (*item)["documentation"] =
          llvm::json::Object{{"kind", "markdown"}, {"value", textOf(op).str()}};
    return true;
  }
  return false;
}

std::string OpDocumentation::complete(llvm::StringRef message) const {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(message);
  if (!parsed)
    return llvm::consumeError(parsed.takeError()), message.str();
  llvm::json::Object *whole = parsed->getAsObject();
  llvm::json::Object *result = whole ? whole->getObject("result") : nullptr;
  if (!result)
    return message.str();
  llvm::json::Array *items = result->getArray("items");
  if (!(items ? completeItems(*items, *this) : completeHover(*result, *this)))
    return message.str();
  bool isPretty = message.trim().contains('\n'); // as the server prints in tests
  return isPretty ? llvm::formatv("{0:2}\n", *parsed).str() : llvm::formatv("{0}", *parsed).str();
}
