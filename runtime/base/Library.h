//===- Library.h - a shared library that is opened by name ------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps may call functions of vendors' libraries, which are loaded with the program:
//
//     Library library("libkernels.so.1");                 // searched by dlopen
//     if (void *function = library.find("multiply")) ...
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_BASE_LIBRARY_H
#define HEDDLE_RUNTIME_BASE_LIBRARY_H

#include <string>

namespace heddle {

class Library {
public:
  /// Throws Error with the system's reason if it can't be loaded.
  explicit Library(const std::string &name);
  ~Library();
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;

  const std::string name;
  /// The address of a symbol, or null.
  void *find(const std::string &symbol) const;

private:
  void *handle;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_BASE_LIBRARY_H
