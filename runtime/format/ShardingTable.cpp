//===- ShardingTable.cpp - reports how a program is sharded ---------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/format/ShardingTable.h"

#include <nlohmann/json.hpp>

#include <map>

using namespace heddle;
using Json = nlohmann::json;

namespace {
/// The strings of a table in the order in which they occur.
struct Texts {
  Json list = Json::array();
  std::map<std::string, size_t> numbers;

  size_t operator()(const std::string &text) {
    auto [found, isNew] = numbers.try_emplace(text, list.size());
    if (isNew)
      list.push_back(text);
    return found->second;
  }
};
} // namespace

std::string ShardingTable::toJson() const {
  Texts texts;
  Json all = Json::array();
  for (const Entry &entry : entries) {
    Json values = Json::array(), collectives = Json::array();
    // The strings of a row are numbered from left to right.
    for (const Value &value : entry.values) {
      Json row = Json::array();
      for (const std::string *text :
           {&value.name, &value.location, &value.type, &value.sharding, &value.reason})
        row.push_back(texts(*text));
      values.push_back(row);
    }
    for (const Collective &each : entry.collectives) {
      Json row = Json::array();
      for (const std::string *text : {&each.kind, &each.axes, &each.location})
        row.push_back(texts(*text));
      row.push_back(each.bytes);
      row.push_back(each.padding);
      collectives.push_back(row);
    }
    all.push_back({{"name", entry.name},
                   {"role", entry.role},
                   {"values", values},
                   {"collectives", collectives}});
  }
  return Json{{"texts", texts.list}, {"entries", all}}.dump(-1, ' ', false,
                                                            Json::error_handler_t::replace);
}

static int64_t countFrom(const Json &json) {
  if (!json.is_number_unsigned() || json.get<uint64_t>() > uint64_t(INT64_MAX))
    throw std::runtime_error("expected a number of bytes, got " + json.dump());
  return json.get<int64_t>();
}

std::optional<ShardingTable> ShardingTable::fromJson(std::string_view text, std::string &error) {
  // A table nests five levels; deeper JSON would overflow the stack of a printer.
  auto shallow = [](int depth, Json::parse_event_t, Json &) {
    if (depth > 8)
      throw std::runtime_error("it nests more than 8 levels");
    return true;
  };
  try {
    Json json = Json::parse(text, shallow);
    const Json &texts = json.at("texts");
    auto row = [&](const Json &row, size_t size, std::initializer_list<std::string *> to) {
      if (!row.is_array() || row.size() != size)
        throw std::runtime_error("expected a row of " + std::to_string(size) + ", got " +
                                 row.dump());
      size_t i = 0;
      for (std::string *each : to)
        *each = texts.at(size_t(countFrom(row[i++]))).get<std::string>();
    };
    ShardingTable table;
    for (const Json &from : json.at("entries")) {
      Entry &entry = table.entries.emplace_back(Entry{from.at("name"), from.at("role"), {}, {}});
      for (const Json &each : from.at("values")) {
        Value &value = entry.values.emplace_back();
        row(each, 5, {&value.name, &value.location, &value.type, &value.sharding, &value.reason});
      }
      for (const Json &each : from.at("collectives")) {
        Collective &made = entry.collectives.emplace_back();
        row(each, 5, {&made.kind, &made.axes, &made.location});
        made.bytes = countFrom(each[3]);
        made.padding = countFrom(each[4]);
        if (made.padding > made.bytes)
          throw std::runtime_error("expected at most " + std::to_string(made.bytes) +
                                   " bytes of padding, got " + std::to_string(made.padding));
      }
    }
    return table;
  } catch (const std::exception &failure) {
    error = std::string("malformed table of shardings: ") + failure.what();
    return std::nullopt;
  }
}
