//===- ShardDirectory.cpp - arrays that several processes write -----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/io/ShardDirectory.h"

#include "ShallowJson.h"
#include "heddle/io/AtomicFile.h"

#include <filesystem>

using namespace heddle;
using namespace heddle::io;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

static constexpr const char *manifestName = "manifest.json", *formatName = "heddle-shards-1";

static std::string inDirectory(const std::string &directory, const std::string &file) {
  return (fs::path(directory) / file).string();
}

std::string ShardRange::str() const {
  std::string text;
  for (size_t i = 0; i < std::min(begin.size(), counts.size()); ++i) {
    // A damaged file may have numbers whose sum overflows.
    auto end = int64_t(uint64_t(begin[i]) + uint64_t(counts[i]));
    text += (i ? ", " : "") + std::to_string(begin[i]) + ":" + std::to_string(end);
  }
  return "[" + text + "]";
}

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

static ShardRange wholeOf(const HostArray &array) {
  return {std::vector<int64_t>(array.shape.size(), 0), array.shape};
}

/// The intersection of two ranges; none if it is empty.
static std::optional<ShardRange> common(const ShardRange &a, const ShardRange &b) {
  ShardRange result;
  for (size_t i = 0; i < a.begin.size(); ++i) {
    int64_t begin = std::max(a.begin[i], b.begin[i]);
    int64_t end = std::min(a.begin[i] + a.counts[i], b.begin[i] + b.counts[i]);
    if (begin >= end)
      return std::nullopt;
    result.begin.push_back(begin);
    result.counts.push_back(end - begin);
  }
  return result;
}

/// An error message for a shard of an array; empty if the shard is valid.
static std::string faultOf(const Shard &shard, const HostArray &array) {
  const auto &[begin, counts] = shard.range;
  if (begin.size() != counts.size())
    return "expected as many numbers in 'begin' as in 'shape', got " +
           std::to_string(begin.size()) + " and " + std::to_string(counts.size());
  bool isInside = counts.size() == array.shape.size();
  for (size_t axis = 0; isInside && axis < counts.size(); ++axis)
    isInside = begin[axis] >= 0 && counts[axis] >= 0 && counts[axis] <= array.shape[axis] &&
               begin[axis] <= array.shape[axis] - counts[axis];
  if (!isInside)
    return "expected a range of " + array.describe() + ", got " + shard.range.str();
  if (shard.file.find('/') != std::string::npos)
    return "expected a file in the same directory, got '" + shard.file + "'";
  return "";
}

void ShardManifest::verify(const std::string &path) const {
  for (const auto &[name, array] : whole.arrays) {
    auto bad = [&](const std::string &what) { fail(path, "array '" + name + "': " + what); };
    if (!array.names.empty() && array.names.size() != array.shape.size())
      bad("expected a name for each of " + std::to_string(array.shape.size()) + " axes, got " +
          std::to_string(array.names.size()));
    int64_t count = 0, filled = 0;
    try {
      count = elementCount(array.shape, {});
    } catch (const Error &error) {
      bad(error.what());
    }
    auto found = shards.find(name);
    for (size_t i = 0; found != shards.end() && i < found->second.size(); ++i) {
      const Shard &shard = found->second[i];
      if (std::string fault = faultOf(shard, array); !fault.empty())
        bad(fault);
      filled += elementCount(shard.range.counts, {});
      for (size_t k = 0; k < i; ++k)
        if (common(shard.range, found->second[k].range))
          bad("its shards " + found->second[k].range.str() + " and " + shard.range.str() +
              " overlap");
    }
    if (filled != count)
      bad("expected shards with all of its " + std::to_string(count) + " elements, got " +
          std::to_string(filled));
  }
  for (const auto &[name, list] : shards)
    if (!whole.arrays.contains(name))
      fail(path, "shards of the array '" + name + "', which is not there");
}

static Json jsonOf(const std::vector<Shard> &shards) {
  Json list = Json::array();
  for (const Shard &shard : shards)
    list.push_back({{"file", shard.file},
                    {"begin", shard.range.begin},
                    {"shape", shard.range.counts},
                    {"crc32", shard.checksum}});
  return list;
}

static std::vector<Shard> shardsFrom(const Json &list) {
  std::vector<Shard> shards;
  for (const Json &each : list)
    shards.push_back({{each.at("begin").get<std::vector<int64_t>>(),
                       each.at("shape").get<std::vector<int64_t>>()},
                      each.at("file"),
                      each.at("crc32")});
  return shards;
}

std::string ShardManifest::shardsText() const {
  Json json = Json::object();
  for (const auto &[name, list] : shards)
    json[name] = jsonOf(list);
  return json.dump();
}

void ShardManifest::addShards(const std::string &text) {
  const Json json = Json::parse(text);
  for (const auto &[name, list] : json.items())
    for (Shard &shard : shardsFrom(list))
      shards[name].push_back(std::move(shard));
}

/// The checksum of the manifest without its checksum.
static std::string seal(const Json &json) {
  std::string text = json.dump();
  return std::to_string(checksumOf(text.data(), text.size()));
}

void ShardManifest::write(const std::string &directory, Here here) const {
  std::string path = inDirectory(directory, manifestName);
  located(here, [&] {
    verify(path);
    Json arrays = Json::object(), json;
    for (const auto &[name, array] : whole.arrays) {
      auto found = shards.find(name);
      arrays[name] = {
          {"type", std::string(spelling(array.element))},
          {"shape", array.shape},
          {"names", array.names},
          {"shards", jsonOf(found == shards.end() ? std::vector<Shard>() : found->second)}};
    }
    json["format"] = formatName;
    json["metadata"] = Json(whole.metadata);
    json["arrays"] = std::move(arrays);
    try {
      json["checksum"] = seal(json);
    } catch (const Json::exception &error) { // not UTF-8
      fail(path, error.what());
    }
    std::string text = json.dump(1) + "\n";
    writeFileAtomically(path, [&](FileSink &sink) { sink.write(text); }, {});
  });
}

ShardManifest ShardManifest::read(const std::string &directory, Here here) {
  std::string path = inDirectory(directory, manifestName);
  return located(here, [&] {
    InputFile file(path);
    std::string text(size_t(file.size()), 0);
    file.read(0, text.data(), file.size(), "manifest");
    ShardManifest manifest;
    try {
      Json json = parseShallow(path, text);
      std::string expected = json.at("checksum");
      json.erase("checksum");
      if (std::string got = seal(json); got != expected)
        fail(path, "damaged: expected the checksum " + expected + ", got " + got);
      if (json.at("format") != formatName)
        fail(path, "expected the format '" + std::string(formatName) + "', got " +
                       json.at("format").dump().substr(0, 40));
      for (const auto &[key, value] : json.at("metadata").items())
        manifest.whole.metadata.emplace(key, value.get<std::string>());
      for (const auto &[name, each] : json.at("arrays").items()) {
        auto element = parseElementType(each.at("type").get<std::string>());
        if (!element)
          fail(path, "array '" + name + "': unknown type " + each.at("type").dump());
        manifest.whole.arrays.emplace(name,
                                      HostArray{*element, each.at("shape"), each.at("names"), {}});
        manifest.shards.emplace(name, shardsFrom(each.at("shards")));
      }
    } catch (const Json::exception &error) {
      fail(path, "no manifest of shards: " + std::string(error.what()));
    }
    manifest.verify(path);
    return manifest;
  });
}

//===----------------------------------------------------------------------===//
// Files of saves
//===----------------------------------------------------------------------===//

bool io::isShardDirectory(const std::string &path) {
  return fs::exists(inDirectory(path, manifestName));
}

std::string io::shardFile(int64_t save, int rank) {
  char name[80];
  snprintf(name, sizeof name, "save-%08lld-rank-%05d.safetensors", (long long)save, rank);
  return name;
}

/// The name that a temporary file gets when it is complete (runtime/base/AtomicFile.h); the name
/// itself for other files.
static std::string finalName(const std::string &file) {
  size_t part = file.rfind(".part-");
  bool isDraft = part != std::string::npos && part + 6 < file.size() &&
                 file.find_first_not_of("0123456789-", part + 6) == std::string::npos;
  return isDraft ? file.substr(0, part) : file;
}

/// The number of the save to which a file, also a temporary one, belongs; -1 for all other names,
/// however similar.
static int64_t saveOf(const std::string &file) {
  std::string name = finalName(file);
  long long save = -1;
  int rank = -1; // numbers of this many digits don't overflow
  bool isOurs = sscanf(name.c_str(), "save-%17lld-rank-%9d", &save, &rank) == 2 && save >= 0 &&
                rank >= 0 && name == io::shardFile(save, rank);
  return isOurs ? save : -1;
}

/// Calls `visit` for each file of a save.
template <typename Visit>
static void forEachFile(const std::string &directory, Visit &&visit) {
  std::error_code ignored;
  std::vector<std::string> files;
  for (const auto &entry : fs::directory_iterator(directory, ignored))
    files.push_back(entry.path().filename().string());
  for (const std::string &file : files)
    if (int64_t save = saveOf(file); save >= 0)
      visit(save, file);
    else if (file != manifestName && finalName(file) == manifestName)
      visit(-1, file);
}

int64_t io::nextSave(const std::string &directory) {
  int64_t next = 1;
  forEachFile(directory,
              [&](int64_t save, const std::string &) { next = std::max(next, save + 1); });
  return next;
}

void io::removeLeftovers(const std::string &directory) {
  std::map<std::string, bool> listed;
  if (isShardDirectory(directory)) {
    const ShardManifest manifest = ShardManifest::read(directory);
    for (const auto &[name, shards] : manifest.shards)
      for (const Shard &shard : shards)
        listed[shard.file] = true;
  }
  forEachFile(directory, [&](int64_t, const std::string &file) {
    if (std::error_code ignored; !listed.contains(file))
      fs::remove(inDirectory(directory, file), ignored);
  });
}

void io::writeShards(const std::string &directory, const std::string &file, ShardManifest &manifest,
                     const std::map<std::string, ShardRange> &ranges, const ShardSource &source,
                     Here here) {
  Safetensors header;
  for (const auto &[name, range] : ranges) {
    HostArray part = manifest.whole.at(name, here);
    // The metadata of each file also state its ranges.
    std::string whole;
    for (int64_t size : part.shape)
      whole += (whole.empty() ? "" : ",") + std::to_string(size);
    header.metadata["range:" + name] = range.str() + " of " + whole;
    part.shape = range.counts;
    header.arrays.emplace(name, std::move(part));
  }
  if (header.arrays.empty())
    return;
  std::map<std::string, uint32_t> checksums;
  writeSafetensors(
      inDirectory(directory, file), header,
      [&](const std::string &name) {
        HostArray array = source(name, ranges.at(name));
        checksums[name] = checksumOf(array.bytes.data(), array.bytes.size());
        return array;
      },
      here);
  for (const auto &[name, range] : ranges)
    manifest.shards[name].push_back({range, file, checksums.at(name)});
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

struct ShardDirectory::State {
  std::string path;
  ShardManifest manifest;
  std::map<std::string, std::unique_ptr<SafetensorsFile>> files;

  const SafetensorsFile &open(const std::string &file) {
    auto &opened = files[file];
    if (!opened)
      opened = std::make_unique<SafetensorsFile>(inDirectory(path, file), Here());
    return *opened;
  }
  HostArray readShard(const std::string &name, const HostArray &whole, const Shard &shard);
};

HostArray ShardDirectory::State::readShard(const std::string &name, const HostArray &whole,
                                           const Shard &shard) {
  std::string file = inDirectory(path, shard.file), what = "array '" + name + "': ";
  if (std::error_code ignored; !fs::exists(file, ignored))
    fail(file, what + "expected its range " + shard.range.str() + ": No such file or directory");
  const SafetensorsFile &opened = open(shard.file);
  auto found = opened.header().arrays.find(name);
  if (found == opened.header().arrays.end() || found->second.element != whole.element ||
      found->second.shape != shard.range.counts)
    fail(file, what + "expected its range " + shard.range.str() + ", got " +
                   (found == opened.header().arrays.end() ? "none" : found->second.describe()));
  HostArray array = opened.read(name, Here());
  if (uint32_t got = checksumOf(array.bytes.data(), array.bytes.size()); got != shard.checksum)
    fail(file, what + "its range " + shard.range.str() + " is damaged: expected the checksum " +
                   std::to_string(shard.checksum) + ", got " + std::to_string(got));
  return array;
}

/// Copies the intersection of two ranges of an array.
static void copyCommon(const HostArray &from, const ShardRange &source, HostArray &to,
                       const ShardRange &target) {
  auto both = common(source, target);
  if (!both)
    return;
  size_t rank = source.begin.size();
  int64_t width = byteSize(from.element), line = rank ? both->counts[rank - 1] : 1;
  std::vector<int64_t> at = both->begin;
  auto offset = [&](const ShardRange &range) {
    int64_t index = 0;
    for (size_t i = 0; i < rank; ++i)
      index = index * range.counts[i] + at[i] - range.begin[i];
    return index * width;
  };
  for (;;) {
    std::memcpy(to.bytes.data() + offset(target), from.bytes.data() + offset(source),
                size_t(line * width));
    size_t i = rank ? rank - 1 : 0; // a line is a range of the last axis
    while (i-- > 0 && ++at[i] == both->begin[i] + both->counts[i])
      at[i] = both->begin[i];
    if (i == size_t(-1))
      return;
  }
}

ShardDirectory::ShardDirectory(const std::string &path, Here here)
    : state(std::make_unique<State>(State{path, ShardManifest::read(path, here), {}})) {}
ShardDirectory::~ShardDirectory() = default;
const Safetensors &ShardDirectory::header() const { return state->manifest.whole; }

HostArray ShardDirectory::read(const std::string &name, Here here) const {
  return read(name, wholeOf(header().at(name, here)), here);
}

HostArray ShardDirectory::read(const std::string &name, const ShardRange &range, Here here) const {
  const HostArray &whole = header().at(name, here);
  HostArray result = HostArray::zeros(whole.element, range.counts, whole.names, here);
  located(here, [&] {
    for (const Shard &shard : state->manifest.shards.at(name))
      if (range == shard.range)
        result = state->readShard(name, whole, shard);
      else if (common(range, shard.range))
        copyCommon(state->readShard(name, whole, shard), shard.range, result, range);
  });
  result.names = whole.names;
  return result;
}

void io::exportShards(const std::string &directory, const std::string &path, Here here) {
  ShardDirectory reader(directory, here);
  Safetensors header = reader.header();
  header.checksums = true;
  writeSafetensors(
      path, header, [&](const std::string &name) { return reader.read(name, here); }, here);
}
