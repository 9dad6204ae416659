//===- Records.cpp - samples in one file ----------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/data/Records.h"

#include "Collate.h"
#include "heddle/io/AtomicFile.h"
#include "lib/support/io/ShallowJson.h"

#include <zlib.h>

using namespace heddle;
using namespace heddle::nn;
using Json = nlohmann::ordered_json;

static constexpr std::string_view magic = "HDLREC01";

namespace {
struct Entry {
  uint64_t begin, checksum;
};
struct Trailer {
  uint64_t count, table, json;
  char word[8];
};
} // namespace

static uint64_t checksumOf(std::string_view bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size());
}

template <typename T>
static std::string_view bytesOf(const T &value) {
  return {reinterpret_cast<const char *>(&value), sizeof value};
}

/// Serialises a sample.
static std::string packed(const std::vector<Field> &fields, const Sample &sample, int64_t index) {
  requireFields(fields, sample, index);
  std::string bytes;
  for (size_t i = 0; i < fields.size(); ++i) {
    for (size_t axis = 0; axis < fields[i].shape.size(); ++axis)
      if (fields[i].shape[axis] == anySize)
        bytes += bytesOf(sample[i].shape[axis]);
    bytes.append(reinterpret_cast<const char *>(sample[i].bytes.data()), sample[i].bytes.size());
  }
  return bytes;
}

int64_t nn::writeRecords(const std::string &path, const Dataset &data, bool skipDamaged,
                         Here here) {
  std::vector<Field> fields = data.fields();
  std::vector<Entry> table;
  io::writeFileAtomically(
      path,
      [&](io::FileSink &sink) {
        uint64_t at = magic.size();
        sink.write(magic);
        for (int64_t i = 0; i < data.count(); ++i)
          try {
            std::string bytes = packed(fields, data.read(i), i);
            table.push_back({at, checksumOf(bytes)});
            at += bytes.size();
            sink.write(bytes);
          } catch (const DamagedSample &) {
            if (!skipDamaged)
              throw;
          }
        Json json = Json::array();
        for (const Field &field : fields)
          json.push_back({{"name", field.name},
                          {"element", std::string(spelling(field.element))},
                          {"shape", field.shape},
                          {"names", field.names}});
        std::string text = json.dump();
        sink.write(table.data(), table.size() * sizeof(Entry));
        sink.write(text);
        Trailer trailer{table.size(), at, text.size(), {}};
        magic.copy(trailer.word, sizeof trailer.word);
        sink.write(bytesOf(trailer));
      },
      here);
  return int64_t(table.size());
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

struct Records::State {
  io::InputFile file;
  std::vector<Field> fields;
  std::vector<Entry> table; ///< one entry more than samples: the end of the last one

  explicit State(const std::string &path) : file(path) {
    Trailer trailer{};
    int64_t rest = file.size() - int64_t(sizeof trailer);
    if (rest >= 0)
      file.read(rest, &trailer, sizeof trailer, "the end");
    uint64_t most = uint64_t(std::max<int64_t>(rest, 0)); // so the products below can't overflow
    if (std::string_view(trailer.word, sizeof trailer.word) != magic || trailer.table > most ||
        trailer.json > most || trailer.count > most / sizeof(Entry) ||
        trailer.table + trailer.count * sizeof(Entry) + trailer.json != most)
      io::fail(path, "not a file of records, or truncated");
    table.resize(size_t(trailer.count) + 1);
    file.read(int64_t(trailer.table), table.data(), int64_t(trailer.count * sizeof(Entry)),
              "the table");
    table.back().begin = trailer.table;
    for (size_t i = 0; i + 1 < table.size(); ++i)
      if (table[i].begin < magic.size() || table[i].begin > table[i + 1].begin)
        io::fail(path, "sample " + std::to_string(i) + " does not begin before the next one");
    std::string text(size_t(trailer.json), 0);
    file.read(rest - int64_t(trailer.json), text.data(), int64_t(trailer.json), "the fields");
    try {
      for (const Json &json : io::parseShallow(path, text)) {
        std::string element = json.at("element");
        auto type = parseElementType(element);
        if (!type)
          io::fail(path, "unknown element type '" + element + "'");
        fields.push_back({json.at("name"), *type, json.at("shape"), json.at("names")});
      }
    } catch (const nlohmann::json::exception &error) {
      io::fail(path, "expected fields: " + std::string(error.what()));
    }
  }
};

Records::Records(const std::string &path, Here here)
    : state(io::located(here, [&] { return std::make_unique<State>(path); })) {}
Records::~Records() = default;
int64_t Records::count() const { return int64_t(state->table.size()) - 1; }
std::vector<Field> Records::fields() const { return state->fields; }
int64_t Records::length(int64_t index) const {
  requireIndex(index);
  return int64_t(state->table[size_t(index) + 1].begin - state->table[size_t(index)].begin);
}

Sample Records::read(int64_t index) const {
  std::string bytes(size_t(length(index)), 0);
  const Entry &entry = state->table[size_t(index)];
  std::string what = "sample " + std::to_string(index);
  state->file.read(int64_t(entry.begin), bytes.data(), int64_t(bytes.size()), what);
  auto damaged = [&] {
    return DamagedSample("'" + state->file.path() + "': " + what + " is damaged");
  };
  if (checksumOf(bytes) != entry.checksum)
    throw damaged();
  Sample sample;
  std::string_view rest = bytes;
  auto take = [&](void *to, size_t size) {
    if (size > rest.size())
      throw damaged();
    rest.copy(static_cast<char *>(to), size);
    rest.remove_prefix(size);
  };
  for (const Field &field : state->fields) {
    std::vector<int64_t> shape = field.shape;
    for (int64_t &size : shape)
      if (size == anySize)
        take(&size, sizeof size);
    if (io::elementCount(shape, Here()) * byteSize(field.element) > int64_t(rest.size()))
      throw damaged();
    sample.push_back(io::HostArray::zeros(field.element, shape, field.names, Here()));
    take(sample.back().bytes.data(), sample.back().bytes.size());
  }
  return sample;
}
