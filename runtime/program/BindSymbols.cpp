//===- BindSymbols.cpp - size symbols from the arguments of a call --------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/SizedEntry.h"

#include "heddle/Error.h"
#include "runtime/program/SymbolText.h"

using namespace heddle;

static const ValueSpec &formalOf(const EntrySpec &entry, size_t argument) {
  return entry.values[size_t(entry.arguments[argument])];
}

/// Describes how the type of an argument differs from the expected one; empty if it may fit.
static std::string differenceOf(const TensorSpec &given, const TensorSpec &formal) {
  if (given.element != formal.element)
    return "expected elements of type " + std::string(spelling(formal.element)) + ", got " +
           std::string(spelling(given.element));
  for (const auto &[name, size] : formal.dims)
    if (!given.dims.count(name))
      return "it lacks the name '" + name + "'";
  for (const auto &[name, size] : given.dims) {
    auto expected = formal.dims.find(name);
    if (expected == formal.dims.end())
      return "it has the name '" + name + "', which is not expected";
    if (!size.isConstant() || (expected->second.isConstant() && size != expected->second))
      return "expected the size " + expected->second.str() + " for '" + name + "', got " +
             size.str();
  }
  return "";
}

void heddle::requireArgumentType(const EntrySpec &entry, size_t argument, const TensorSpec &given) {
  const ValueSpec &formal = formalOf(entry, argument);
  if (std::string difference = differenceOf(given, formal.type); !difference.empty())
    throw Error("the argument '" + formal.name + "' of '" + entry.name + "' should be " +
                describe(formal.type) + ", got " + describe(given) + ": " + difference);
}

std::vector<int64_t> heddle::bindSymbols(const EntrySpec &entry,
                                         const std::vector<const TensorSpec *> &arguments,
                                         const SuppliedNumbers &supplied) {
  ExprMap known;
  for (const std::string &name : entry.supplied) {
    auto found = supplied.find(name);
    if (found == supplied.end())
      throw Error("'" + entry.name + "' lacks the number '" + name +
                  "', which its caller supplies");
    known[name] = Expr(found->second);
  }
  for (size_t i = 0; i < arguments.size(); ++i)
    requireArgumentType(entry, i, *arguments[i]);
  // Solve sizes that are linear in one unknown symbol, until there are none left.
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = 0; i < arguments.size(); ++i)
      for (const auto &[name, size] : formalOf(entry, i).type.dims) {
        Expr left = size.substitute(known);
        std::vector<std::string> unknown = left.names();
        if (unknown.size() != 1 || !left.isAffine())
          continue;
        // 128 bits: a manifest may contain any offset and coefficient.
        __int128 extent = *arguments[i]->dims.find(name)->second.constant();
        extent -= left.offset();
        int64_t factor = left.coefficient(unknown[0]);
        if (extent % factor != 0 || extent / factor != int64_t(extent / factor))
          throw Error("the argument '" + formalOf(entry, i).name + "' of '" + entry.name +
                      "' has the size " +
                      std::to_string(*arguments[i]->dims.find(name)->second.constant()) + " for '" +
                      name + "', expected a number of the form " + size.str());
        known[unknown[0]] = Expr(int64_t(extent / factor));
        progress = true;
      }
  }
  std::vector<int64_t> values;
  for (const std::string &symbol : entry.symbols) {
    auto found = known.find(symbol);
    if (found == known.end())
      throw Error("the arguments of '" + entry.name + "' do not determine the size '" + symbol +
                  "'");
    values.push_back(*found->second.constant());
    if (values.back() < 0 || values.back() > largestSymbol)
      throw Error((entry.isSupplied(symbol) ? "the caller of '" : "the arguments of '") +
                  entry.name + "' make the size '" + symbol + "' " + std::to_string(values.back()) +
                  ", expected a number from 0 to " + std::to_string(largestSymbol));
  }
  for (size_t i = 0; i < arguments.size(); ++i)
    for (const auto &[name, size] : formalOf(entry, i).type.dims) {
      Expr expected = size.substitute(known), got = arguments[i]->dims.find(name)->second;
      if (expected != got)
        throw Error("the argument '" + formalOf(entry, i).name + "' of '" + entry.name +
                    "' has the size " + got.str() + " for '" + name + "', expected " +
                    expected.str() + (size.isConstant() ? "" : ", which is " + size.str()) +
                    symbolText(entry, values, {size}));
    }
  return values;
}
