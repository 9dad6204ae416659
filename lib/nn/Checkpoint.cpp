//===- Checkpoint.cpp - checkpoints in the safetensors format -------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "heddle/nn/Layers.h"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace heddle;
using Json = nlohmann::ordered_json;

static constexpr std::pair<ElementType, const char *> types[] = {
    {ElementType::I1, "BOOL"},  {ElementType::I8, "I8"},    {ElementType::I16, "I16"},  {ElementType::I32, "I32"},
    {ElementType::I64, "I64"},  {ElementType::UI8, "U8"},   {ElementType::UI16, "U16"}, {ElementType::UI32, "U32"},
    {ElementType::UI64, "U64"}, {ElementType::F16, "F16"},  {ElementType::BF16, "BF16"}, {ElementType::F32, "F32"},
    {ElementType::F64, "F64"}};

static void writeAtomically(const std::string &path, const std::string &bytes) {
  std::string temporary = path + ".part" + std::to_string(getpid());
  auto fail = [&](int descriptor) {
    std::string reason = std::strerror(errno);
    if (descriptor >= 0)
      close(descriptor);
    unlink(temporary.c_str());
    throw Error("can't write '" + path + "': " + reason);
  };
  int descriptor = open(temporary.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (descriptor < 0)
    fail(-1);
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = ::write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      fail(descriptor);
    done += size_t(count);
  }
  if (fsync(descriptor) != 0)
    fail(descriptor);
  close(descriptor);
  if (rename(temporary.c_str(), path.c_str()) != 0)
    fail(-1);
}

void nn::saveTensors(const std::string &path, const std::vector<std::pair<std::string, Tensor>> &tensors,
                     const std::map<std::string, std::string> &metadata) {
  Json header = Json::object(), notes = Json::object();
  for (const auto &[key, value] : metadata)
    notes[key] = value;
  std::string data;
  for (const auto &[name, tensor] : tensors) {
    Names order;
    Json shape = Json::array();
    std::string names;
    for (const auto &[dim, size] : tensor.sizes()) {
      order.push_back(Name(dim));
      shape.push_back(size);
      names += (names.empty() ? "" : ",") + dim;
    }
    ElementType type = tensor.elementType();
    size_t begin = data.size(), bytes = tensor.count() * size_t(byteSize(type));
    data.resize(begin + bytes);
    tensor.toBytes(data.data() + begin, type, order);
    for (auto [each, text] : types)
      if (each == type)
        header[name] = {{"dtype", text}, {"shape", shape}, {"data_offsets", {begin, begin + bytes}}};
    notes["names:" + name] = names; // the order in which the names lie
  }
  header["__metadata__"] = notes;
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string file;
  for (int i = 0; i < 8; ++i)
    file.push_back(char(uint64_t(text.size()) >> (8 * i)));
  writeAtomically(path, file + text + data);
}

std::map<std::string, Tensor> nn::loadTensors(const std::string &path, std::map<std::string, std::string> *metadata) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw Error("can't open '" + path + "': " + std::strerror(errno));
  std::ostringstream buffer;
  buffer << stream.rdbuf();
  std::string file = buffer.str();
  auto damaged = [&](const std::string &what) { return Error("'" + path + "' is no valid safetensors file: " + what); };
  if (file.size() < 8)
    throw damaged("it has " + std::to_string(file.size()) + " bytes");
  uint64_t length = 0;
  for (int i = 0; i < 8; ++i)
    length |= uint64_t(uint8_t(file[size_t(i)])) << (8 * i);
  if (length > file.size() - 8)
    throw damaged("its header should have " + std::to_string(length) + " bytes, got " +
                  std::to_string(file.size() - 8));
  std::map<std::string, Tensor> result;
  try {
    Json header = Json::parse(file.substr(8, length));
    Json notes = header.value("__metadata__", Json::object());
    size_t dataBytes = file.size() - 8 - length;
    for (const auto &[name, entry] : header.items()) {
      if (name == "__metadata__")
        continue;
      std::string spelled = entry.at("dtype"), names = notes.value("names:" + name, std::string());
      const auto *type = std::find_if(std::begin(types), std::end(types), [&](auto &each) { return spelled == each.second; });
      if (type == std::end(types))
        throw damaged("the tensor '" + name + "' has the unsupported dtype '" + spelled + "'");
      std::vector<Extent> extents;
      std::istringstream split(names);
      size_t count = 1;
      for (int64_t size : entry.at("shape").get<std::vector<int64_t>>()) {
        std::string dim;
        if (!std::getline(split, dim, ','))
          throw damaged("the tensor '" + name + "' has no name for a dimension");
        extents.push_back({Name(dim), size});
        count *= size_t(size);
      }
      auto offsets = entry.at("data_offsets").get<std::vector<size_t>>();
      if (offsets.size() != 2 || offsets[1] > dataBytes || offsets[0] > offsets[1] ||
          offsets[1] - offsets[0] != count * size_t(byteSize(type->first)))
        throw damaged("the data of '" + name + "' should have " + std::to_string(count * size_t(byteSize(type->first))) +
                      " bytes inside of the file");
      result.emplace(name, Tensor::ofBytes(file.data() + 8 + length + offsets[0], count, type->first, extents));
    }
    if (metadata)
      for (const auto &[key, value] : notes.items())
        if (!key.starts_with("names:"))
          (*metadata)[key] = value;
  } catch (const nlohmann::json::exception &error) {
    throw damaged(error.what());
  }
  return result;
}
