//===- Safetensors.cpp - named arrays in files ----------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/Safetensors.h"

#include "File.h"
#include "SafetensorsIndex.h"
#include "heddle/Error.h"
#include "heddle/Expr.h"
#include "heddle/io/AtomicFile.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using namespace heddle;
using namespace heddle::io;
using Json = nlohmann::ordered_json;

static constexpr const char *metadataKey = "__metadata__", *checksumsKey = "heddle.crc32",
                            *metadataChecksumKey = "heddle.crc32.metadata";
static constexpr std::string_view namesPrefix = "names:";
static constexpr int64_t maxHeader = 100'000'000; // bytes; the limit of other readers

static constexpr std::pair<ElementType, const char *> dtypes[] = {
    {ElementType::I1, "BOOL"},       {ElementType::I8, "I8"},
    {ElementType::I16, "I16"},       {ElementType::I32, "I32"},
    {ElementType::I64, "I64"},       {ElementType::UI8, "U8"},
    {ElementType::UI16, "U16"},      {ElementType::UI32, "U32"},
    {ElementType::UI64, "U64"},      {ElementType::F16, "F16"},
    {ElementType::BF16, "BF16"},     {ElementType::F32, "F32"},
    {ElementType::F64, "F64"},       {ElementType::F8E4M3FN, "F8_E4M3"},
    {ElementType::F8E5M2, "F8_E5M2"}};

const HostArray &Safetensors::at(std::string_view name, Here here) const {
  if (auto found = arrays.find(name); found != arrays.end())
    return found->second;
  std::string names;
  for (const auto &[each, array] : arrays)
    names += (names.empty() ? "" : ", ") + each;
  throw Error("no array '" + std::string(name) + "'; there are: " + names, here);
}

/// Parses the header. Throws Error for a duplicate key in an object.
static Json parseHeader(const std::string &path, const std::string &text) {
  std::vector<std::set<std::string>> keys;
  auto watch = [&](int depth, Json::parse_event_t event, Json &value) {
    if (depth > 16) // printing it in a message would overflow the stack
      fail(path, "header: expected at most 16 levels of brackets");
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key && !keys.back().insert(value).second)
      fail(path, "header: expected '" + value.get<std::string>() + "' once, got it twice");
    return true;
  };
  Json header;
  try {
    header = Json::parse(text, watch);
  } catch (const Json::exception &error) {
    fail(path, "header: " + std::string(error.what()));
  }
  if (!header.is_object())
    fail(path, "header: expected an object");
  return header;
}

namespace {
struct Entry {
  std::string name;
  HostArray array; ///< without its bytes
  uint64_t begin, end;
};
/// One file.
struct Part {
  InputFile file;
  Safetensors header;
  std::map<std::string, int64_t, std::less<>> offsets;
  std::map<std::string, std::string, std::less<>> checksums;
  explicit Part(const std::string &path);
  HostArray read(const std::string &name) const;

private:
  std::vector<Entry> parse(const Json &json);
  void takeChecksums(const std::vector<Entry> &entries);
};
} // namespace

static Entry parseEntry(const std::string &path, const std::string &name, const Json &json) {
  auto bad = [&](const std::string &message) { fail(path, "array '" + name + "': " + message); };
  auto isSizes = [](const Json &value) {
    return value.is_array() && std::ranges::all_of(value, [](const Json &each) {
             return each.is_number_unsigned() && each.get<uint64_t>() <= uint64_t(INT64_MAX);
           });
  };
  if (!json.is_object() || !json.contains("dtype") || !json["dtype"].is_string() ||
      !json.contains("shape") || !isSizes(json["shape"]) || !json.contains("data_offsets") ||
      !isSizes(json["data_offsets"]) || json["data_offsets"].size() != 2)
    bad("expected a \"dtype\", a \"shape\" of sizes and two \"data_offsets\", got " +
        json.dump().substr(0, 200));
  std::string dtype = json["dtype"];
  auto found =
      std::ranges::find(dtypes, dtype, [](auto &each) { return std::string(each.second); });
  if (found == std::end(dtypes))
    bad("unsupported dtype '" + dtype + "'");
  Entry entry{name,
              {found->first, json["shape"].get<std::vector<int64_t>>(), {}, {}},
              json["data_offsets"][0],
              json["data_offsets"][1]};
  uint64_t expected = 0;
  try {
    expected = uint64_t(entry.array.count() * byteSize(entry.array.element));
  } catch (const Error &error) {
    bad(error.what());
  }
  if (entry.begin > entry.end || entry.end - entry.begin != expected)
    bad("expected " + std::to_string(expected) + " bytes for " + entry.array.describe() +
        ", got offsets " + std::to_string(entry.begin) + " to " + std::to_string(entry.end));
  return entry;
}

/// Moves "names:w" from the metadata to the array w.
static void takeNames(const std::string &path, Safetensors &contents) {
  for (auto &[name, array] : contents.arrays) {
    auto found = contents.metadata.find(std::string(namesPrefix) + name);
    if (found == contents.metadata.end())
      continue;
    std::string_view text = found->second;
    while (!text.empty()) {
      size_t comma = std::min(text.find(','), text.size());
      array.names.emplace_back(text.substr(0, comma));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    std::set<std::string> different(array.names.begin(), array.names.end());
    if (array.names.size() != array.shape.size() || different.size() != array.names.size() ||
        !std::ranges::all_of(array.names, isValidName))
      fail(path, "array '" + name + "': expected " + std::to_string(array.shape.size()) +
                     " different names of axes, got '" + found->second + "'");
    contents.metadata.erase(found);
  }
  for (const auto &[key, value] : contents.metadata)
    if (key.starts_with(namesPrefix))
      fail(path, "metadata '" + key + "': names the axes of an array that is missing");
}

/// A checksum in the format of the files: eight hexadecimal digits.
static std::string digitsOf(uint32_t checksum) {
  char text[16];
  snprintf(text, sizeof text, "%08x", checksum);
  return text;
}

/// The checksum of all keys and values of a file's metadata.
static std::string
checksumOfTexts(const std::map<std::string, std::string, std::less<>> &metadata) {
  uint32_t checksum = 0;
  for (const auto &[key, value] : metadata)
    for (const std::string *text : {&key, &value}) // with the terminating zero as separator
      checksum = checksumOf(text->c_str(), text->size() + 1, checksum);
  return digitsOf(checksum);
}

/// Verifies the checksum of the metadata, if there is one, and removes it.
static void requireTexts(const std::string &path, Safetensors &header) {
  auto found = header.metadata.find(metadataChecksumKey);
  if (found == header.metadata.end())
    return;
  std::string expected = found->second;
  header.metadata.erase(found);
  if (std::string got = checksumOfTexts(header.metadata); got != expected)
    fail(path,
         "metadata: expected the checksum " + expected + ", got " + got + "; the file is damaged");
}

/// Moves the checksums from the metadata to the arrays. Blanks mean that no checksums were written.
void Part::takeChecksums(const std::vector<Entry> &entries) {
  auto found = header.metadata.find(checksumsKey);
  if (found == header.metadata.end())
    return;
  std::istringstream stream(found->second);
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (!words.empty() && words.size() != entries.size())
    fail(file.path(), "metadata '" + found->first + "': expected " +
                          std::to_string(entries.size()) + " checksums, one for each array, got " +
                          std::to_string(words.size()));
  for (size_t i = 0; i < words.size(); ++i)
    checksums.emplace(entries[i].name, words[i]);
  header.checksums = !words.empty();
  header.metadata.erase(found);
}

/// Returns the header's arrays in the order of their data, and stores its metadata.
std::vector<Entry> Part::parse(const Json &json) {
  const std::string &path = file.path();
  std::vector<Entry> entries;
  for (const auto &[name, each] : json.items()) {
    if (name != metadataKey) {
      entries.push_back(parseEntry(path, name, each));
      continue;
    }
    if (!each.is_object())
      fail(path, "header: expected an object of texts as __metadata__");
    for (const auto &[key, value] : each.items()) {
      if (!value.is_string())
        fail(path, "header: expected a text as metadata '" + key + "', got " +
                       value.dump().substr(0, 200));
      header.metadata.emplace(key, value.get<std::string>());
    }
  }
  std::ranges::sort(entries, {}, [](const Entry &e) { return std::tuple(e.begin, e.end); });
  return entries;
}

Part::Part(const std::string &path) : file(path) {
  uint8_t head[8];
  file.read(0, head, 8, "header length");
  uint64_t length = 0;
  for (int i = 7; i >= 0; --i)
    length = length << 8 | head[i];
  if (length > uint64_t(file.size() - 8))
    fail(path, "not a safetensors file, or truncated: expected a header of " +
                   std::to_string(length) + " bytes, got " + std::to_string(file.size() - 8));
  if (length > uint64_t(maxHeader))
    fail(path, "expected a header of at most " + std::to_string(maxHeader) + " bytes, got " +
                   std::to_string(length));
  std::string text(length, 0);
  file.read(8, text.data(), int64_t(length), "header");
  int64_t dataBegin = 8 + int64_t(length);
  uint64_t dataBytes = uint64_t(file.size() - dataBegin), next = 0;
  std::vector<Entry> entries = parse(parseHeader(path, text));
  takeChecksums(entries);
  for (Entry &entry : entries) {
    if (entry.begin != next)
      fail(path, "array '" + entry.name + "': expected its data at offset " + std::to_string(next) +
                     ", after those of the array before, got " + std::to_string(entry.begin) +
                     (entry.begin < next ? " (an overlap)" : " (a gap)"));
    next = entry.end;
    offsets.emplace(entry.name, dataBegin + int64_t(entry.begin));
    header.arrays.emplace(std::move(entry.name), std::move(entry.array));
  }
  if (next != dataBytes)
    fail(path, (next > dataBytes ? "truncated: expected " : "has bytes after its data: expected ") +
                   std::to_string(next) + " bytes of data, got " + std::to_string(dataBytes));
  takeNames(path, header);
  requireTexts(path, header);
}

HostArray Part::read(const std::string &name) const {
  HostArray array = header.at(name);
  std::string what = "array '" + name + "'";
  auto expected = checksums.find(name);
  uint32_t got = 0;
  file.read(offsets.at(name), array.bytes, array.count() * byteSize(array.element), what,
            expected == checksums.end() ? nullptr : &got);
  if (expected != checksums.end() && digitsOf(got) != expected->second)
    fail(file.path(), what + " is damaged: expected the checksum " + expected->second + ", got " +
                          digitsOf(got));
  checkBooleans(file.path(), what, array);
  return array;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

struct SafetensorsFile::State {
  std::vector<std::unique_ptr<Part>> parts;
  Safetensors header;
  std::map<std::string, const Part *, std::less<>> partOf;
};

/// Opens the files of an index; the lock makes a process that replaces them wait until all are
/// open.
static void openIndex(const std::string &path, auto &state) {
  FolderLock lock(path, /*exclusive=*/false);
  Index index = readIndex(path);
  std::map<std::string, const Part *> opened;
  state.header.metadata = std::move(index.metadata);
  for (const auto &[name, file] : index.files) {
    const Part *&part = opened[file];
    if (!part)
      part = state.parts.emplace_back(std::make_unique<Part>(beside(path, file))).get();
    auto found = part->header.arrays.find(name);
    state.header.checksums |= part->header.checksums;
    if (found == part->header.arrays.end())
      fail(path, "expected the array '" + name + "' in '" + file + "', which lacks it");
    state.header.arrays.emplace(name, found->second);
    state.partOf.emplace(name, part);
  }
}

SafetensorsFile::SafetensorsFile(const std::string &path, Here here)
    : state(std::make_unique<State>()) {
  located(here, [&] {
    if (path.ends_with(".json"))
      return openIndex(path, *state);
    const Part *part = state->parts.emplace_back(std::make_unique<Part>(path)).get();
    state->header = part->header;
    for (const auto &[name, array] : part->header.arrays)
      state->partOf.emplace(name, part);
  });
}

SafetensorsFile::~SafetensorsFile() = default;
const Safetensors &SafetensorsFile::header() const { return state->header; }

HostArray SafetensorsFile::read(const std::string &name, Here here) const {
  (void)state->header.at(name, here);
  return located(here, [&] { return state->partOf.at(name)->read(name); });
}

Safetensors io::readSafetensors(const std::string &path, Here here) {
  SafetensorsFile file(path, here);
  Safetensors contents = file.header();
  for (auto &[name, array] : contents.arrays)
    array = file.read(name, here);
  return contents;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

using HeaderArrays = std::vector<std::pair<std::string, const HostArray *>>;

/// Writes the data; if `checksums` is not empty, replaces its blanks by the checksums of the
/// arrays.
static void writeArrays(FileSink &sink, const HeaderArrays &arrays, const ArraySource &source,
                        std::string &checksums) {
  for (size_t i = 0; const auto &[name, array] : arrays) {
    HostArray own = source(name);
    assert(own.element == array->element && own.shape == array->shape);
    if (checksums.empty()) {
      sink.write(own.bytes.data(), own.bytes.size());
      continue;
    }
    uint32_t checksum = 0;
    for (size_t done = 0; done < own.bytes.size(); done += pieceBytes) {
      size_t count = std::min(pieceBytes, own.bytes.size() - done);
      checksum = checksumOf(own.bytes.data() + done, count, checksum);
      sink.write(own.bytes.data() + done, count);
    }
    checksums.replace(9 * i++, 8, digitsOf(checksum));
  }
}

static void write(const std::string &path, const Safetensors &contents, const ArraySource &source) {
  Json header = Json::object(), metadata = Json::object();
  std::string checksums(contents.checksums ? 9 * contents.arrays.size() : 0, ' ');
  if (!checksums.empty())
    metadata[checksumsKey] =
        checksums; // blanks at first: checksums are known when the data is written
  for (const auto &[key, value] : contents.metadata) {
    if (key.starts_with(namesPrefix) || key.starts_with(checksumsKey))
      fail(path, "metadata '" + key + "': keys that begin with '" + checksumsKey +
                     "' or 'names:' are reserved");
    metadata[key] = value;
  }
  if (!checksums.empty() && !contents.metadata.empty())
    metadata[metadataChecksumKey] = checksumOfTexts(contents.metadata);
  // Arrays of wider elements come first, so that each array is aligned to its element size.
  HeaderArrays arrays;
  for (const auto &[name, array] : contents.arrays)
    arrays.emplace_back(name, &array);
  std::ranges::sort(arrays, {}, [](auto &each) {
    return std::pair(-byteSize(each.second->element), std::string_view(each.first));
  });
  for (const auto &[name, array] : arrays) {
    std::string names;
    for (const std::string &each : array->names) {
      if (!isValidName(each))
        fail(path, "array '" + name + "': expected a name of an axis, got '" + each + "'");
      names += (names.empty() ? "" : ",") + each;
    }
    if (!names.empty())
      metadata[std::string(namesPrefix) + name] = names;
  }
  if (!metadata.empty())
    header[metadataKey] = std::move(metadata);
  int64_t offset = 0;
  for (const auto &[name, array] : arrays) {
    if (name == metadataKey)
      fail(path, "the name '__metadata__' is reserved: expected another for an array");
    auto dtype = std::ranges::find(dtypes, array->element, [](auto &each) { return each.first; });
    int64_t end = offset + array->count() * byteSize(array->element);
    header[name] = {
        {"dtype", dtype->second}, {"shape", array->shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const Json::exception &error) { // not UTF-8
    fail(path, error.what());
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  auto fill = [&](FileSink &sink) {
    for (int i = 0; i < 8; ++i) {
      char byte = char(uint64_t(text.size()) >> (8 * i));
      sink.write(&byte, 1);
    }
    sink.write(text);
    writeArrays(sink, arrays, source, checksums);
    std::string before = std::string("{\"") + metadataKey + "\":{\"" + checksumsKey + "\":\"";
    if (!checksums.empty())
      sink.rewrite(8 + int64_t(before.size()), checksums);
  };
  writeFileAtomically(path, fill, {});
}

void io::writeSafetensors(const std::string &path, const Safetensors &header,
                          const ArraySource &source, Here here) {
  located(here, [&] { write(path, header, source); });
}

void io::writeSafetensors(const std::string &path, const Safetensors &contents, Here here) {
  writeSafetensors(
      path, contents, [&](const std::string &name) { return contents.at(name); }, here);
}

static void writeFiles(const std::string &path, const Safetensors &header,
                       const ArraySource &source, int64_t bytesPerFile) {
  FolderLock lock(path, /*exclusive=*/true);
  std::vector<Safetensors> parts(1);
  int64_t bytes = 0;
  for (const auto &[name, array] : header.arrays) {
    int64_t own = array.count() * byteSize(array.element);
    if (bytes > 0 && bytes + own > bytesPerFile) {
      parts.emplace_back();
      bytes = 0;
    }
    parts.back().arrays.emplace(name, array);
    bytes += own;
  }
  Index index{{}, header.metadata};
  std::vector<std::string> old = filesOf(path);
  std::vector<std::string> files = freeNames(path, parts.size());
  try {
    for (size_t i = 0; i < parts.size(); ++i) {
      for (const auto &[name, array] : parts[i].arrays)
        index.files.emplace(name, files[i]);
      parts[i].checksums = header.checksums;
      write(beside(path, files[i]), parts[i], source);
    }
    writeIndex(path, index);
  } catch (...) {
    remove(path, files);
    throw;
  }
  remove(path, old);
}

void io::writeSafetensorsFiles(const std::string &path, const Safetensors &header,
                               const ArraySource &source, int64_t bytesPerFile, Here here) {
  located(here, [&] { writeFiles(path, header, source, bytesPerFile); });
}
