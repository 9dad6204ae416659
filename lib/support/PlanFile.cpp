//===- PlanFile.cpp - meshes and shardings as text ------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "lib/support/PlanFile.h"

#include "heddle/Expr.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace heddle;
using namespace heddle::mesh;
using namespace llvm;

bool mesh::isMemory(StringRef word) { return is_contained({"device", "host", "file"}, word); }

static std::string inBrackets(const std::string &where) {
  return where.empty() ? "" : " (" + where + ")";
}
std::string MeshRule::str() const { return "the rule '" + text + "'" + inBrackets(where); }

std::string Plan::whereIs(StringRef setting) const {
  auto found = settings.find(setting);
  return found == settings.end() ? "" : inBrackets(found->second.where);
}

std::string Plan::parseMesh(StringRef text) {
  SmallVector<StringRef> axes;
  text.split(axes, ',');
  for (StringRef each : axes) {
    auto [name, number] = each.trim().split('=');
    int64_t size;
    if (!isValidName(std::string_view(name)) || name.contains('.') ||
        number.getAsInteger(10, size) || size < 1)
      return "expected axes with sizes, such as data=2,model=4, got '" + text.str() + "'";
    mesh.axes.emplace_back(name.str(), size);
  }
  return "";
}

std::string Plan::set(StringRef word, StringRef value, std::string where) {
  std::string text = value.str();
  llvm::erase(text, ' ');
  auto [known, isNew] = settings.try_emplace(word.str(), Setting{text, where});
  if (!isNew)
    return known->second.text == text ? ""
                                      : formatv("'{0} {1}' contradicts '{0} {2}'{3}", word, text,
                                                known->second.text, inBrackets(known->second.where))
                                            .str();
  int64_t number;
  if (word != "mesh" && (value.trim().getAsInteger(10, number) || number < 0))
    return formatv("expected a number after '{0}', got '{1}'", word, value.trim()).str();
  return word == "mesh" ? parseMesh(value.trim()) : "";
}

/// The largest number of parts of an axis; products of two such numbers don't overflow.
static constexpr int64_t mostParts = int64_t(1) << 20;

/// `data`, or `data(2)4`
static bool parseAxis(StringRef text, std::string &axis) {
  AxisPart part = text.trim();
  axis = part.str();
  return isValidName(part.name) && part.before <= mostParts && part.count <= mostParts;
}

/// `net.last@stage=1`, or `adam@file`
static bool parsePlace(MeshRule &rule) {
  auto [pattern, place] = StringRef(rule.text).rsplit('@');
  auto [axis, coordinate] = place.split('=');
  rule.pattern = pattern.trim().str();
  if (!place.contains('='))
    rule.memory = place.trim().str();
  return !rule.pattern.empty() &&
         (isMemory(rule.memory) ||
          (parseAxis(axis, rule.axes.emplace_back()) && !axis.contains('(') &&
           !coordinate.trim().getAsInteger(10, rule.coordinate) && rule.coordinate >= 0));
}

std::string Plan::parseRule(StringRef text, std::string where) {
  auto [before, comment] = text.split('#');
  MeshRule rule{before.trim().str(), where.empty() ? comment.trim().str() : where};
  StringRef rest = rule.text;
  rule.mayMatchNothing = rest.consume_front("op? ");
  rule.isOfOperators = rule.mayMatchNothing || rest.consume_front("op ");
  if (rest.contains('@') && !rule.isOfOperators) {
    if (!parsePlace(rule))
      return "expected a rule PATTERN@AXIS=COORDINATE or PATTERN@MEMORY (device, host or file), "
             "got '" +
             rule.text + "'";
    rules.push_back(std::move(rule));
    return "";
  }
  if (rest.contains('/')) {
    auto [pattern, name] = rest.rsplit('/');
    rule.pattern = pattern.trim().str();
    rest = name;
  }
  auto [name, axes] = rest.split(':');
  rule.name = name.trim().str();
  SmallVector<StringRef> words;
  bool good =
      isValidName(rule.name) && rest.contains(':') && !(rule.isOfOperators && rule.pattern.empty());
  if (!axes.trim().empty())
    axes.split(words, '+');
  for (StringRef word : words)
    good &= parseAxis(word, rule.axes.emplace_back());
  if (!good && rule.isOfOperators)
    return "expected a rule op PATTERN/NAME:[AXIS[+AXIS...]], got '" + rule.text + "'";
  if (!good)
    return "expected a rule [PATTERN/]NAME:[AXIS[+AXIS...]], PATTERN@AXIS=COORDINATE or "
           "PATTERN@MEMORY, got '" +
           rule.text + "'";
  rules.push_back(std::move(rule));
  return "";
}

std::string Plan::parse(StringRef axes, ArrayRef<std::string> shard) {
  std::string problem = axes.empty() ? "" : set("mesh", axes, "");
  for (const std::string &rule : shard)
    if (problem.empty())
      problem = parseRule(rule);
  return problem;
}

std::string Plan::parseFile(StringRef text, StringRef path) {
  for (unsigned number = 1; !text.empty(); ++number) {
    auto [line, rest] = text.split('\n');
    text = rest;
    line = line.split('#').first.trim();
    std::string where = formatv("plan '{0}', line {1}", path, number), problem;
    auto [word, value] = line.split(' ');
    if (is_contained({"mesh", "zero", "micro-batches"}, word))
      problem = set(word, value, where);
    else if (!line.empty())
      problem = parseRule(line, where);
    if (!problem.empty())
      return where + ": " + problem;
  }
  return "";
}

std::string Plan::readFile(StringRef path) {
  auto file = MemoryBuffer::getFile(path);
  return file ? parseFile((*file)->getBuffer(), path)
              : "can't read the plan '" + path.str() + "': " + file.getError().message();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// True if the pattern's words match consecutive words of `name`. Without a word before it, a dot
/// of the pattern matches an end of the name.
static bool matches(StringRef pattern, StringRef name) {
  if (pattern.empty())
    return true;
  SmallVector<StringRef> wanted, words{""};
  pattern.split(wanted, '.');
  name.split(words, '.');
  words.push_back("");
  SmallVector<GlobPattern> globs;
  for (StringRef word : wanted) {
    auto glob = GlobPattern::create(word);
    if (!glob) {
      consumeError(glob.takeError());
      return false;
    }
    globs.push_back(std::move(*glob));
  }
  for (size_t first = 0; first + globs.size() <= words.size(); ++first)
    if (all_of(enumerate(globs), [&](auto glob) {
          StringRef word = words[first + glob.index()];
          return glob.value().match(word) && word.empty() == wanted[glob.index()].empty();
        }))
      return true;
  return false;
}

bool MeshRule::fits(const std::string &path) const { return matches(pattern, path); }
