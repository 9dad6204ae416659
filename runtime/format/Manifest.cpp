//===- Manifest.cpp - the manifest as JSON --------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/format/Manifest.h"

#include "heddle/Error.h"

#include <nlohmann/json.hpp>

#include <sstream>

using namespace heddle;
using Json = nlohmann::json;

const RoleSpec *Manifest::roleOf(const EntrySpec &entry) const {
  for (const RoleSpec &role : roles)
    if (role.name == entry.role)
      return &role;
  return nullptr;
}

const EntrySpec *Manifest::find(std::string_view entry, int64_t rank) const {
  for (const EntrySpec &each : entries)
    if (const RoleSpec *role = roleOf(each);
        each.name == entry && (!role || std::ranges::find(role->ranks, rank) != role->ranks.end()))
      return &each;
  return nullptr;
}

size_t EntrySpec::positionOf(std::string_view wanted, const std::vector<int32_t> &indices) const {
  std::string known;
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::string &each = values[size_t(indices[i])].name;
    if (each == wanted)
      return i;
    known += (known.empty() ? "'" : ", '") + each + "'";
  }
  bool isArgument = &indices == &arguments;
  throw Error("'" + name + "' has no " + (isArgument ? "argument" : "result") + " '" +
              std::string(wanted) + "'; it " + (isArgument ? "takes " : "gives ") +
              (known.empty() ? "none" : known));
}

static constexpr const char *kinds[] = {"argument", "result", "temporary", "constant"};
static constexpr const char *stepKinds[] = {"kernel",  "if",     "else",  "endif", "loop",
                                            "endloop", "invoke", "start", "await", "copy"};

static constexpr const char *combiners[] = {"sum", "product", "max", "min"};

namespace heddle {
static void to_json(Json &json, const AxisPart &axis) { json = axis.str(); }
static void from_json(const Json &json, AxisPart &axis) { axis = json.get<std::string>(); }
} // namespace heddle

static Json toJson(const ExprMap &sizes) {
  Json dims = Json::object();
  for (const auto &[name, size] : sizes)
    dims[name] = size.str();
  return dims;
}

static Json toJson(const std::vector<Expr> &numbers) {
  Json list = Json::array();
  for (const Expr &each : numbers)
    list.push_back(each.str());
  return list;
}

static Json toJson(const CommunicationSpec &communication) {
  return {{"kind", spelling(communication.kind)},
          {"axes", communication.axes},
          {"element", spelling(communication.element)},
          {"combiner", combiners[int(communication.combiner)]},
          {"counts", toJson(communication.counts)},
          {"outputCounts", toJson(communication.outputCounts)},
          {"source", communication.source.str()},
          {"target", communication.target.str()}};
}

static Json toJson(const ValueSpec &value) {
  Json json = {{"kind", kinds[int(value.kind)]},  {"name", value.name},
               {"location", value.location},      {"element", spelling(value.type.element)},
               {"dims", toJson(value.type.dims)}, {"layout", value.layout.str()},
               {"bytes", value.bytes.str()},      {"first", value.firstStep},
               {"last", value.lastStep},          {"offset", value.offset},
               {"alias", value.aliasOf},          {"space", value.space}};
  // Only programs for several ranks have these.
  if (!value.shards.empty())
    json["shards"] = value.shards;
  if (!value.wholeDims.empty())
    json["whole"] = toJson(value.wholeDims);
  if (!value.place.empty())
    json["place"] = value.place;
  if (!value.memory.empty())
    json["memory"] = value.memory;
  return json;
}

/// A number in range; nlohmann's conversion would accept 1e300 for any type.
template <typename Integer>
static Integer whole(const Json &json) {
  bool large = json.is_number_unsigned() && json.get<uint64_t>() > uint64_t(INT64_MAX);
  if (!json.is_number_integer() || large || Integer(json.get<int64_t>()) != json.get<int64_t>())
    throw std::runtime_error("expected a whole number of " + std::to_string(8 * sizeof(Integer)) +
                             " bits, got " + json.dump());
  return Integer(json.get<int64_t>());
}

static std::vector<int32_t> indices(const Json &json) {
  std::vector<int32_t> result;
  for (const Json &each : json)
    result.push_back(whole<int32_t>(each));
  return result;
}

static Expr parseSize(const Json &json) {
  std::string error;
  auto expr = Expr::parse(json.get<std::string>(), &error);
  if (!expr)
    throw std::runtime_error(error);
  return *expr;
}

template <size_t count>
static int indexOf(const char *const (&words)[count], const std::string &word, const char *what) {
  for (size_t i = 0; i < count; ++i)
    if (word == words[i])
      return int(i);
  throw std::runtime_error("unknown kind of " + std::string(what) + " '" + word + "'");
}

static ElementType elementFrom(const Json &json) {
  std::string element = json;
  if (auto type = parseElementType(element))
    return *type;
  throw std::runtime_error("unknown element type '" + element + "'");
}

static ExprMap sizesFrom(const Json &json) {
  ExprMap dims;
  for (const auto &[name, size] : json.items())
    dims[name] = parseSize(size);
  return dims;
}

static std::vector<Expr> numbersFrom(const Json &json) {
  std::vector<Expr> numbers;
  for (const Json &each : json)
    numbers.push_back(parseSize(each));
  return numbers;
}

static CommunicationSpec communicationFrom(const Json &json) {
  CommunicationSpec result;
  result.kind =
      CommunicationSpec::Kind(indexOf(communicationKinds, json.at("kind"), "communication"));
  result.axes = json.at("axes").get<AxisList>();
  result.element = elementFrom(json.at("element"));
  result.combiner =
      CommunicationSpec::Combiner(indexOf(combiners, json.at("combiner"), "combiner"));
  result.counts = numbersFrom(json.at("counts"));
  result.outputCounts = numbersFrom(json.at("outputCounts"));
  result.source = parseSize(json.at("source"));
  result.target = parseSize(json.at("target"));
  return result;
}

static ValueSpec valueFrom(const Json &json) {
  ValueSpec value;
  value.kind = ValueSpec::Kind(indexOf(kinds, json.at("kind"), "value"));
  value.name = json.at("name");
  value.location = json.at("location");
  value.type.element = elementFrom(json.at("element"));
  value.type.dims = sizesFrom(json.at("dims"));
  std::string error;
  auto layout = Layout::parse(json.at("layout").get<std::string>(), &error);
  if (!layout)
    throw std::runtime_error(error);
  value.layout = *layout;
  value.bytes = parseSize(json.at("bytes"));
  value.firstStep = whole<int32_t>(json.at("first"));
  value.lastStep = whole<int32_t>(json.at("last"));
  value.offset = whole<int64_t>(json.at("offset"));
  value.aliasOf = whole<int32_t>(json.at("alias"));
  value.space = json.at("space");
  value.shards = json.value("shards", value.shards);
  value.wholeDims = sizesFrom(json.value("whole", Json::object()));
  value.place = json.value("place", value.place);
  value.memory = json.value("memory", "");
  return value;
}

static Json toJson(const StepSpec &step) {
  Json json = {{"name", step.name},       {"location", step.location},
               {"chunks", step.chunks},   {"kernel", step.kernel},
               {"flops", step.flops},     {"bytes", step.bytesMoved},
               {"serial", step.serial},   {"kind", stepKinds[int(step.kind)]},
               {"waits", step.waits},     {"values", step.values},
               {"numbers", step.numbers}, {"chunksAt", step.chunksAt},
               {"library", step.library}, {"awaits", step.awaits}};
  if (step.communication)
    json["communication"] = toJson(*step.communication);
  if (step.predicted > 0)
    json["predicted"] = {{"seconds", step.predicted}, {"bound", step.bound}, {"limit", step.limit}};
  return json;
}

static StepSpec stepFrom(const Json &json) {
  StepSpec step;
  step.name = json.at("name");
  step.location = json.at("location");
  step.chunks = whole<int64_t>(json.at("chunks"));
  step.kernel = json.at("kernel");
  step.flops = json.at("flops");
  step.bytesMoved = json.at("bytes");
  step.kind = StepKind(indexOf(stepKinds, json.at("kind"), "step"));
  step.serial = json.at("serial");
  step.waits = json.at("waits");
  step.values = indices(json.at("values"));
  step.numbers = indices(json.at("numbers"));
  step.chunksAt = whole<int32_t>(json.at("chunksAt"));
  step.library = json.at("library");
  step.awaits = whole<int32_t>(json.at("awaits"));
  if (auto found = json.find("communication"); found != json.end())
    step.communication = communicationFrom(*found);
  if (auto found = json.find("predicted"); found != json.end()) {
    step.predicted = found->at("seconds");
    step.bound = found->at("bound");
    step.limit = found->at("limit");
  }
  return step;
}

static Json toJson(const EntrySpec &entry) {
  Json values = Json::array(), steps = Json::array(), required = Json::array();
  for (const auto &[got, most, what, location] : entry.requirements)
    required.push_back(
        {{"got", got.str()}, {"most", most.str()}, {"what", what}, {"location", location}});
  for (const ValueSpec &value : entry.values)
    values.push_back(toJson(value));
  for (const StepSpec &step : entry.steps)
    steps.push_back(toJson(step));
  Json json = {{"name", entry.name},
               {"code", entry.codeOffset},
               {"symbols", entry.symbols},
               {"supplied", entry.supplied},
               {"derived", toJson(entry.derived)},
               {"requirements", required},
               {"values", values},
               {"arguments", entry.arguments},
               {"results", entry.results},
               {"donations", entry.donations},
               {"steps", steps},
               {"arena", entry.arenaBytes},
               {"scratch", entry.scratchBytes.str()}};
  if (!entry.coordinates.empty())
    json["coordinates"] = entry.coordinates;
  if (!entry.role.empty())
    json["role"] = entry.role;
  return json;
}

static EntrySpec entryFrom(const Json &json) {
  EntrySpec entry;
  entry.name = json.at("name");
  entry.codeOffset = whole<int64_t>(json.at("code"));
  entry.symbols = json.at("symbols").get<std::vector<std::string>>();
  entry.supplied = json.at("supplied").get<std::vector<std::string>>();
  entry.derived = numbersFrom(json.at("derived"));
  entry.coordinates = json.value("coordinates", entry.coordinates);
  entry.role = json.value("role", "");
  for (const Json &each : json.value("requirements", Json::array()))
    entry.requirements.push_back({parseSize(each.at("got")), parseSize(each.at("most")),
                                  each.at("what"), each.at("location")});
  for (const Json &value : json.at("values"))
    entry.values.push_back(valueFrom(value));
  entry.arguments = indices(json.at("arguments"));
  entry.results = indices(json.at("results"));
  for (const Json &pair : json.at("donations"))
    entry.donations.emplace_back(whole<int32_t>(pair.at(0)), whole<int32_t>(pair.at(1)));
  for (const Json &step : json.at("steps"))
    entry.steps.push_back(stepFrom(step));
  entry.arenaBytes = whole<int64_t>(json.at("arena"));
  entry.scratchBytes = parseSize(json.at("scratch"));
  return entry;
}

std::string Manifest::toJson() const {
  Json list = Json::array(), code = Json::array();
  for (const EntrySpec &entry : entries)
    list.push_back(::toJson(entry));
  for (const FunctionSpec &function : functions) {
    code.push_back({{"name", function.name},
                    {"location", function.location},
                    {"offset", function.offset},
                    {"bytes", function.bytes}});
    if (function.lines.empty())
      continue;
    code.back()["places"] = function.locations;
    std::string lines; // one string instead of thousands of numbers
    for (auto [offset, number] : function.lines)
      lines += std::to_string(offset) + " " + std::to_string(number) + " ";
    code.back()["lines"] = lines;
  }
  Json json{{"abi", abiVersion},    {"compiler", compilerVersion},
            {"target", target},     {"cpu", cpu},
            {"features", features}, {"entries", list},
            {"functions", code},    {"sums", sums}};
  if (!mesh.axes.empty())
    json["mesh"] = mesh.axes;
  for (const RoleSpec &role : roles)
    json["roles"].push_back({{"name", role.name}, {"ranks", role.ranks}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Manifest> Manifest::fromJson(std::string_view text, std::string &error) {
  // A manifest nests six levels; deeper JSON would overflow the stack of a printer.
  auto shallow = [](int depth, Json::parse_event_t, Json &) {
    if (depth > 16)
      throw std::runtime_error("it nests more than 16 levels");
    return true;
  };
  try {
    Json json = Json::parse(text, shallow);
    Manifest manifest;
    manifest.abiVersion = whole<int32_t>(json.at("abi"));
    manifest.compilerVersion = json.at("compiler");
    manifest.target = json.at("target");
    manifest.cpu = json.at("cpu");
    manifest.features = json.at("features").get<std::vector<std::string>>();
    for (const Json &axis : json.value("mesh", Json::array()))
      manifest.mesh.axes.emplace_back(axis.at(0), whole<int64_t>(axis.at(1)));
    for (const Json &role : json.value("roles", Json::array()))
      manifest.roles.push_back({role.at("name"), indices(role.at("ranks"))});
    for (const Json &entry : json.at("entries"))
      manifest.entries.push_back(entryFrom(entry));
    manifest.sums = json.value("sums", manifest.sums);
    for (const Json &function : json.value("functions", Json::array())) {
      FunctionSpec &spec = manifest.functions.emplace_back(FunctionSpec{
          function.at("name"), function.at("location"), whole<int64_t>(function.at("offset")),
          whole<int64_t>(function.at("bytes"))});
      spec.locations = function.value("places", spec.locations);
      std::istringstream lines(function.value("lines", ""));
      for (std::pair<int64_t, int32_t> line; lines >> line.first >> line.second;)
        spec.lines.push_back(line);
    }
    return manifest;
  } catch (const std::exception &failure) {
    error = std::string("malformed manifest: ") + failure.what();
    return std::nullopt;
  }
}
