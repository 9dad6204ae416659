//===- Inputs.cpp - arguments from files and from a seed ------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "heddle/io/Npy.h"
#include "lib/interp/HostTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <random>

using namespace heddle;
using namespace heddle::run;
using llvm::StringRef;

static std::pair<StringRef, StringRef> binding(StringRef text, const char *what) {
  auto [name, value] = text.split('=');
  if (name.empty() || value.empty())
    throw Error(std::string("expected ") + what + ", got '" + text.str() + "'");
  return {name, value};
}

size_t Inputs::runs(const Options &options) {
  size_t most = 1;
  for (const std::string &text : options.sizes)
    most = std::max(most, size_t(std::count(text.begin(), text.end(), ',')) + 1);
  return most;
}

static std::set<std::string> symbolsIn(const Signature &entry) {
  std::set<std::string> symbols;
  for (const Formal &formal : entry.arguments)
    for (const auto &[name, size] : formal.type.dims)
      for (const std::string &symbol : size.names())
        symbols.insert(symbol);
  return symbols;
}

Inputs::Inputs(const Options &options, size_t run, const std::vector<Signature> &entries)
    : seed(options.seed) {
  for (const Signature &entry : entries)
    symbols.merge(symbolsIn(entry));
  for (const std::string &text : options.inputs) {
    if (!StringRef(text).contains('=')) {
      addAll(text);
      continue;
    }
    auto [name, source] = binding(text, "--input NAME=FILE or NAME=FILE:AXIS,AXIS,...");
    if (llvm::any_of(files, [&](const File &file) { return file.name == name; }))
      throw Error("'" + name.str() + "' has two files");
    File file{name.str(), source.str(), {}};
    // A colon within a folder's name does not begin a list of axes.
    auto [path, axes] = source.rsplit(':');
    if (!axes.empty() && !axes.contains('/')) {
      file.path = path.str();
      llvm::SmallVector<StringRef> names;
      axes.split(names, ',');
      for (StringRef axis : names)
        file.axes.push_back(axis.trim().str());
    }
    files.push_back(std::move(file));
  }
  for (const std::string &text : options.sizes) {
    auto [name, list] = binding(text, "--size NAME=NUMBER or NAME=NUMBER,NUMBER,...");
    llvm::SmallVector<StringRef> values;
    list.split(values, ',');
    StringRef value = values[std::min(run, values.size() - 1)];
    int64_t size;
    if (value.getAsInteger(10, size) || size < 0)
      throw Error("expected a size of at least 0 for '" + name.str() + "', got '" + value.str() +
                  "'");
    if (!sizes.try_emplace(name.str(), size).second)
      throw Error("'" + name.str() + "' has two sizes");
  }
}

void Inputs::addAll(const std::string &path) {
  if (!StringRef(path).ends_with(".safetensors"))
    throw Error("expected --input NAME=FILE or the name of a .safetensors file, got '" + path +
                "'");
  files.push_back({"", path, {}, std::make_shared<io::SafetensorsFile>(path, Here())});
}

/// A file given for this argument takes precedence over files of several arguments.
const Inputs::File *Inputs::find(const std::string &name) const {
  const File *among = nullptr;
  for (const File &file : files)
    if (!file.all && file.name == name)
      return &file;
    else if (file.all && file.all->header().arrays.contains(name)) {
      if (among)
        throw Error("'" + name + "' is in two files, '" + among->path + "' and '" + file.path +
                    "': choose one by --input " + name + "=FILE");
      among = &file;
    }
  return among;
}

static std::string listOf(const std::vector<Formal> &formals) {
  std::string names;
  for (const Formal &formal : formals)
    names += (names.empty() ? "'" : ", '") + formal.name + "'";
  return names.empty() ? "none" : names;
}

void Inputs::expectUsed(const Signature &entry) const {
  for (const File &file : files)
    if (llvm::none_of(entry.arguments, [&](const Formal &formal) {
          return file.all ? file.all->header().arrays.contains(formal.name)
                          : formal.name == file.name;
        }))
      throw Error("'" + entry.name + "' has no argument " +
                  (file.all ? "that is in '" + file.path : "'" + file.name) + "'; it takes " +
                  listOf(entry.arguments));
}

/// The symbol that the size of a dimension determines, if any: for 8 * N + 1 it is N.
static std::optional<std::string> symbolOf(const Expr &size) {
  std::vector<std::string> symbols = size.names();
  return symbols.size() == 1 && size.isLinearIn(symbols[0]) ? std::optional(symbols[0])
                                                            : std::nullopt;
}

void Inputs::expectKnown(const std::vector<Signature> &all) const {
  std::set<std::string> symbols, names;
  for (const Signature &signature : all) {
    symbols.merge(symbolsIn(signature));
    for (const Formal &formal : signature.arguments)
      for (const auto &[name, size] : formal.type.dims)
        if (symbolOf(size))
          names.insert(name);
  }
  auto listOf = [](const std::set<std::string> &words) {
    std::string list;
    for (const std::string &word : words)
      list += (list.empty() ? "'" : ", '") + word + "'";
    return list.empty() ? "none" : list;
  };
  for (const auto &[name, size] : sizes)
    if (!symbols.contains(name) && !names.contains(name))
      throw Error("--size: no argument has a size with the symbol '" + name + "', or the name '" +
                  name + "' with a symbolic size; there are the symbols: " + listOf(symbols) +
                  ", and the names: " + listOf(names));
}

/// A word that is a symbol of one of the entries is not looked up as the name of a dimension.
Sizes Inputs::symbolsOf(const Signature &entry) const {
  Sizes result = sizes;
  for (const Formal &formal : entry.arguments)
    for (const auto &[name, size] : formal.type.dims) {
      auto given = sizes.find(name);
      std::optional<std::string> symbol = symbolOf(size);
      if (given == sizes.end() || symbols.contains(name) || !symbol)
        continue;
      int64_t factor = size.coefficient(*symbol),
              rest = given->second - *size.substitute({{*symbol, Expr(0)}}).constant();
      auto [found, isNew] = result.try_emplace(*symbol, rest / factor);
      if (rest % factor || found->second != rest / factor)
        throw Error("--size: the size of '" + name + "' in '" + formal.name + "' is " + size.str() +
                    ", which is not " + std::to_string(given->second) +
                    (isNew ? "" : " for " + *symbol + " = " + std::to_string(found->second)));
    }
  return result;
}

static io::HostArray readFile(const std::string &name, const std::string &path) {
  StringRef ending =
      StringRef(path).substr(path.rfind('.') == std::string::npos ? path.size() : path.rfind('.'));
  if (ending == ".npy")
    return io::readNpy(path, {});
  if (ending != ".safetensors")
    throw Error("'" + path + "': expected a file that ends in .npy or .safetensors");
  io::SafetensorsFile file(path, Here());
  const auto &arrays = file.header().arrays;
  bool only = !arrays.contains(name) && arrays.size() == 1;
  try {
    return file.read(only ? arrays.begin()->first : name, {});
  } catch (const Error &error) {
    throw Error("'" + path + "': " + error.what());
  }
}

/// Names the array's axes, and checks their names and the element type against the formal.
static io::HostArray fit(io::HostArray array, const Formal &formal, const std::string &path,
                         const std::vector<std::string> &axes) {
  std::string expected = describe(formal.type);
  auto refuse = [&](const std::string &what) {
    throw Error("argument '" + formal.name + "': expected " + expected + ", got " +
                array.describe() + " in '" + path + "'" + what);
  };
  if (!axes.empty() && axes.size() != array.shape.size())
    refuse(", whose number of axes differs from that of the given names");
  if (!axes.empty())
    array.names = axes;
  if (array.names.empty() && array.shape.size() == formal.type.dims.size())
    for (const auto &[name, size] : formal.type.dims)
      array.names.push_back(name);
  if (array.names.size() != array.shape.size())
    refuse("");
  std::set<std::string, std::less<>> names(array.names.begin(), array.names.end());
  if (names.size() != array.names.size())
    refuse(", where a name occurs twice");
  bool sameNames =
      names.size() == formal.type.dims.size() &&
      llvm::all_of(formal.type.dims, [&](auto &dim) { return names.contains(dim.first); });
  if (!sameNames)
    refuse(", whose names differ");
  // .npy files store element types without a code as bit patterns.
  int64_t bytes = byteSize(formal.type.element);
  if (isFloat(formal.type.element) && ((bytes == 2 && array.element == ElementType::UI16) ||
                                       (bytes == 1 && array.element == ElementType::UI8)))
    array.element = formal.type.element;
  if (array.element != formal.type.element)
    refuse(", whose element type differs");
  return array;
}

/// Small integers, and floats in [-2, 2), so that sums do not overflow in any order.
static io::HostArray generate(ElementType element, const Sizes &sizes, uint64_t seed) {
  std::vector<int64_t> shape;
  std::vector<std::string> names;
  for (const auto &[name, size] : sizes) {
    names.push_back(name);
    shape.push_back(size);
  }
  io::HostArray array = io::HostArray::zeros(element, shape, names, Here());
  std::mt19937_64 random(seed);
  std::byte *to = array.bytes.data();
  int64_t width = byteSize(element);
  for (int64_t i = 0, count = array.count(); i < count; ++i, to += width) {
    uint64_t bits = random();
    interp::Scalar scalar;
    if (isFloat(element))
      scalar = interp::exactly(double(bits >> 11) * 0x1p-51 - 2);
    else if (element == ElementType::I1)
      scalar = interp::integer(bits >> 63, 1);
    else if (spelling(element)[0] == 'u')
      scalar = interp::integer(bits >> 60, 64);
    else
      scalar = interp::integer((bits >> 60) - 8, 64);
    interp::storeElement(element, scalar, to);
  }
  return array;
}

/// Binds symbols that are themselves the size of a dimension.
static void learnSymbols(Sizes &symbols, const Formal &formal, const io::HostArray &array) {
  for (auto [name, size] : llvm::zip_equal(array.names, array.shape))
    if (auto symbol = formal.type.dims.find(name)->second.asName())
      symbols.try_emplace(*symbol, size);
}

Arrays Inputs::collect(const Signature &entry) const {
  std::vector<std::optional<io::HostArray>> read;
  Sizes symbols = symbolsOf(entry);
  for (const Formal &formal : entry.arguments) {
    read.emplace_back();
    if (const File *file = find(formal.name)) {
      io::HostArray array =
          file->all ? file->all->read(formal.name, {}) : readFile(formal.name, file->path);
      read.back() = fit(std::move(array), formal, file->path, file->axes);
      learnSymbols(symbols, formal, *read.back());
    }
  }
  Arrays arrays;
  for (auto [i, formal] : llvm::enumerate(entry.arguments)) {
    Sizes wanted;
    for (const auto &[name, size] : formal.type.dims) {
      auto value = size.evaluate([&](const std::string &symbol) -> std::optional<int64_t> {
        auto found = symbols.find(symbol);
        return found == symbols.end() ? std::nullopt : std::optional(found->second);
      });
      if (!value)
        throw Error("argument '" + formal.name + "': the size of '" + name + "' is " + size.str() +
                    "; give it by --size or a file");
      if (*value < 0)
        throw Error("argument '" + formal.name + "': the size of '" + name + "', " + size.str() +
                    ", is " + std::to_string(*value));
      wanted[name] = *value;
    }
    if (!read[i]) {
      try {
        arrays.push_back(generate(formal.type.element, wanted, seed * 1000003 + i));
      } catch (const Error &error) { // too large
        throw Error("argument '" + formal.name + "': " + error.what());
      }
      continue;
    }
    for (auto [name, size] : llvm::zip_equal(read[i]->names, read[i]->shape))
      if (size != wanted[name])
        throw Error("argument '" + formal.name + "': expected " + describe(formal.type) + ", got " +
                    read[i]->describe() + " in '" + find(formal.name)->path + "'");
    arrays.push_back(std::move(*read[i]));
  }
  return arrays;
}
