//===- SafetensorsIndex.cpp - which file holds which array ----------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SafetensorsIndex.h"

#include "ShallowJson.h"
#include "heddle/io/AtomicFile.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/file.h>
#include <unistd.h>

using namespace heddle;
using namespace heddle::io;
using Json = nlohmann::ordered_json;

std::string io::beside(const std::string &index, const std::string &file) {
  return (std::filesystem::path(index).parent_path() / file).string();
}

/// "net" of "folder/net.index.json" and of "folder/net.safetensors.index.json".
static std::string stemOf(const std::string &path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (std::string ending : {".json", ".index", ".safetensors"})
    if (name.ends_with(ending))
      name.resize(name.size() - ending.size());
  return name;
}

Index io::readIndex(const std::string &path) {
  InputFile file(path);
  std::string text(size_t(file.size()), 0);
  file.read(0, text.data(), file.size(), "index");
  Json json;
  try {
    json = parseShallow(path, text);
  } catch (const Json::exception &) { // reported below as a missing object
  }
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    fail(path, "no index of safetensors files: expected an object with a \"weight_map\"");
  Index index;
  for (const auto &[name, each] : json["weight_map"].items()) {
    if (!each.is_string() || each.get<std::string>().find('/') != std::string::npos)
      fail(path, "expected a file in the same folder for the array '" + name + "', got " +
                     each.dump().substr(0, 200));
    index.files.emplace(name, each.get<std::string>());
  }
  if (json.contains("metadata") && json["metadata"].is_object())
    for (const auto &[key, value] : json["metadata"].items())
      if (value.is_string()) // other programs also write numbers, such as the total size
        index.metadata.emplace(key, value.get<std::string>());
  return index;
}

void io::writeIndex(const std::string &path, const Index &index) {
  Json json;
  json["metadata"] = Json(index.metadata);
  json["weight_map"] = Json(index.files);
  std::string text;
  try {
    text = json.dump(1) + "\n";
  } catch (const Json::exception &error) { // not UTF-8
    fail(path, error.what());
  }
  writeFileAtomically(path, [&](FileSink &sink) { sink.write(text); }, {});
}

std::vector<std::string> io::filesOf(const std::string &path) {
  std::set<std::string> files;
  try {
    for (const auto &[name, file] : readIndex(path).files)
      files.insert(file);
  } catch (const Error &) {
    return {};
  }
  return {files.begin(), files.end()};
}

std::vector<std::string> io::freeNames(const std::string &path, size_t count) {
  std::set<std::string> taken;
  std::error_code ignored;
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  for (const auto &entry :
       std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored))
    taken.insert(entry.path().filename().string());
  std::string start;
  for (int number = 1; start.empty(); ++number) {
    std::string stem = stemOf(path) + "-" + std::to_string(number) + "-";
    auto next = taken.lower_bound(stem);
    if (next == taken.end() || !next->starts_with(stem))
      start = stem;
  }
  std::vector<std::string> names;
  for (size_t i = 1; i <= count; ++i) {
    char ending[48];
    snprintf(ending, sizeof ending, "%05zu-of-%05zu.safetensors", i, count);
    names.push_back(start + ending);
  }
  return names;
}

void io::remove(const std::string &path, const std::vector<std::string> &files) {
  for (const std::string &file : files)
    if (std::error_code ignored; file.starts_with(stemOf(path) + "-"))
      std::filesystem::remove(beside(path, file), ignored);
}

FolderLock::FolderLock(const std::string &path, bool exclusive) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (descriptor >= 0 && flock(descriptor, exclusive ? LOCK_EX : LOCK_SH) != 0 && errno == EINTR)
    ;
}

FolderLock::~FolderLock() {
  if (descriptor >= 0)
    close(descriptor);
}
