//===- Zoo.cpp - models by their names ------------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "models/zoo/Zoo.h"

#include <filesystem>

using namespace heddle;
using namespace heddle::zoo;

static const std::map<std::string, zoo::Size> sizes = {{"tiny", zoo::Size::Tiny},
                                                       {"small", zoo::Size::Small},
                                                       {"full", zoo::Size::Full},
                                                       {"flexflow", zoo::Size::FlexFlow}};

std::string zoo::toText(zoo::Size size) {
  for (const auto &[text, each] : sizes)
    if (each == size)
      return text;
  return "";
}

zoo::Size zoo::sizeCalled(const std::string &text, Here here) {
  if (auto found = sizes.find(text); found != sizes.end())
    return found->second;
  throw Error("unknown size '" + text + "', expected tiny, small, full or flexflow", here);
}

/// A static of a function, so that it exists when the first model is registered.
static std::map<std::string, Entry> &registry() {
  static std::map<std::string, Entry> all;
  return all;
}

const std::map<std::string, Entry> &zoo::models() { return registry(); }

const Entry &zoo::modelCalled(const std::string &name, Here here) {
  if (auto found = registry().find(name); found != registry().end())
    return found->second;
  std::string known;
  for (const auto &[each, entry] : registry())
    known += (known.empty() ? "" : ", ") + each;
  throw Error("unknown model '" + name + "', expected one of " + known, here);
}

std::string Entry::twin() const {
  return std::filesystem::path(file).parent_path() / "twins" / (name + ".py");
}

void Registered::add(Entry entry) {
  std::string name = entry.name;
  registry().emplace(name, std::move(entry));
}

void Model::trainAsFlexFlow(int64_t batch) {
  training.batch = batch;
  training.optimizer = nn::optimizer<nn::Sgd>();
  training.clip = 0;
}

nn::Fields Model::example(int64_t batch) const {
  nn::Fields fields = data.example(batch);
  fields.emplace("weight", constant(1, ElementType::F32, {{Name(data.batch), batch}}));
  fields.emplace("progress", constant(1));
  return fields;
}
