//===- Rendezvous.h - processes meet by files -------------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks find each other by files in folders where other users may write too, such as /tmp. A rank
// reads such a file only if it belongs to its own user and others have no access. Who wrote a file
// removes it when all have met.
//
//     Rendezvous meeting;
//     meeting.publish(folder + "/17", "127.0.0.1:4711 ...");
//     if (auto text = Rendezvous::find(folder + "/18"))       // none: it does not exist yet
//       ...
//     meeting.withdraw();                                     // or the destructor
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_BASE_RENDEZVOUS_H
#define HEDDLE_RUNTIME_BASE_RENDEZVOUS_H

#include <optional>
#include <string>
#include <vector>

namespace heddle {

class Rendezvous {
public:
  Rendezvous() = default;
  ~Rendezvous() { withdraw(); }
  Rendezvous(const Rendezvous &) = delete;
  Rendezvous &operator=(const Rendezvous &) = delete;

  /// Creates or replaces a file; others see it when it is complete. Throws Error.
  void publish(const std::string &path, const std::string &bytes);
  bool hasPublished() const { return !files.empty(); }
  /// Removes the files of `publish`.
  void withdraw();

  /// At most 64 KiB of a file; none if there is none. Throws Error unless it is a file that only
  /// this user may open.
  static std::optional<std::string> find(const std::string &path);

private:
  std::vector<std::string> files;
};

} // namespace heddle

#endif // HEDDLE_RUNTIME_BASE_RENDEZVOUS_H
