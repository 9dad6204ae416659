//===- Network.cpp - an emulated network, as a file describes it ----------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/collectives/net/Network.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <random>

using namespace heddle;
using namespace heddle::collectives;
using nlohmann::json;

namespace {
/// Reads the fields of an object, and rejects unknown ones.
class Reader {
public:
  Reader(const std::string &file, int32_t size) : file(file), size(size) {}

  template <typename... Parts>
  [[noreturn]] void refuse(const Parts &...parts) const {
    throw Failure(HEDDLE_INVALID, "network '", file, "': ", parts...);
  }

  void knows(const json &object, const std::string &what, std::vector<std::string> fields) const {
    if (!object.is_object())
      refuse("expected ", what, " to be an object, got ", object.dump());
    for (const auto &[name, value] : object.items())
      if (std::find(fields.begin(), fields.end(), name) == fields.end())
        refuse("unknown field '", name, "' of ", what);
  }

  double number(const json &object, const char *name, double otherwise) const {
    auto found = object.find(name);
    if (found == object.end())
      return otherwise;
    if (!found->is_number() || found->get<double>() < 0)
      refuse("expected '", name, "' to be a number, got ", found->dump());
    return found->get<double>();
  }

  int64_t integer(const json &object, const char *name, int64_t least, int64_t most) const {
    double value = number(object, name, -1);
    if (value < double(least) || value > double(most) || value != double(int64_t(value)))
      refuse("expected '", name, "' to be ", least, " to ", most,
             object.contains(name) ? ", got " + object[name].dump() : "");
    return int64_t(value);
  }

  FaultKind kind(const json &value) const {
    for (int i = -1; const char *name : {"delay", "hang", "death"})
      if (++i; value == name)
        return FaultKind(i);
    refuse("expected a fault of the kind delay, hang or death, got ", value.dump());
  }

  Link link(const json &object, Link otherwise) const {
    return {.latency = number(object, "latency_us", otherwise.latency / 1e3) * 1e3,
            .rate = number(object, "gigabytes_per_second", otherwise.rate)};
  }

  void readLinks(const json &object, Network &network) const {
    network.links.assign(size_t(size) * size_t(size), link(object, {}));
    for (const json &each : object.value("links", json::array())) {
      knows(each, "a link", {"from", "to", "latency_us", "gigabytes_per_second"});
      int64_t from = integer(each, "from", 0, size - 1), to = integer(each, "to", 0, size - 1);
      Link &changed = network.links[size_t(from * size + to)];
      changed = link(each, changed);
    }
  }

  void readFaults(const json &object, Network &network, std::optional<uint64_t> seed) const {
    for (const json &each : object.value("faults", json::array())) {
      knows(each, "a fault", {"kind", "rank", "operation"});
      network.faults.push_back({.kind = kind(each.value("kind", json())),
                                .rank = int32_t(integer(each, "rank", 0, size - 1)),
                                .operation = integer(each, "operation", 1, int64_t(1) << 50)});
    }
    auto draw = object.find("draw");
    if (draw == object.end())
      return;
    knows(*draw, "'draw'", {"seed", "count", "within", "kinds"});
    std::mt19937_64 random(seed ? *seed : uint64_t(number(*draw, "seed", 1)));
    auto count = int64_t(number(*draw, "count", 1)), within = int64_t(number(*draw, "within", 20));
    json kinds = draw->value("kinds", json({"delay", "hang", "death"}));
    if (kinds.empty() || within < 1)
      refuse("expected 'draw' with kinds, within at least one operation");
    for (int64_t i = 0; i < count; ++i) {
      FaultKind drawn = kind(kinds[random() % kinds.size()]);
      auto rank = int32_t(random() % uint64_t(size));
      network.faults.push_back({drawn, rank, int64_t(1 + random() % uint64_t(within))});
    }
  }

private:
  const std::string &file;
  const int32_t size;
};
} // namespace

Network Network::read(const std::string &file, int32_t size, std::optional<uint64_t> seed) {
  Network network;
  Reader reader(file, size);
  json object = json::object();
  if (!file.empty()) {
    std::ifstream stream(file);
    if (!stream)
      reader.refuse("can't open: ", std::strerror(errno));
    object = json::parse(stream, nullptr, /*allow_exceptions=*/false);
    if (object.is_discarded())
      reader.refuse("expected JSON");
  }
  reader.knows(object, "the file",
               {"latency_us", "gigabytes_per_second", "links", "faults", "draw", "delay_ms"});
  network.delay = reader.number(object, "delay_ms", network.delay * 1e3) / 1e3;
  reader.readLinks(object, network);
  reader.readFaults(object, network, seed);
  return network;
}
