//===- MeetingPlace.h - how ranks find their server -------------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two forms of HEDDLE_CONTROL (FindRank.h): an address that all ranks know, or a file into
// which rank 0 writes it. Such a file has the job's key, and is read only if it belongs to this
// user and nobody else may read it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_MEETINGPLACE_H
#define HEDDLE_RUNTIME_CONTROL_MEETINGPLACE_H

#include "runtime/control/Connection.h"
#include "runtime/control/FindRank.h"

namespace heddle {

class MeetingPlace {
public:
  explicit MeetingPlace(const RankInfo &info);
  /// Removes the file that `publish` wrote.
  ~MeetingPlace() { withdraw(); }
  MeetingPlace(const MeetingPlace &) = delete;
  MeetingPlace &operator=(const MeetingPlace &) = delete;

  struct Address {
    Endpoint endpoint;
    JobKey key;
  };
  /// Where the server listens, with the key that it takes.
  Address forServer() const;
  /// Makes the server's address known to the other ranks. Throws Error if the file can't be written.
  void publish(const Address &address);
  void withdraw();
  /// Where the server is; none if that is not known yet. Throws Error for a file of another user.
  std::optional<Address> find() const;
  /// True if an address that leads nowhere may be that of an earlier job.
  bool mayBeOld() const { return !path.empty(); }
  /// What HEDDLE_CONTROL says, for messages.
  const std::string &describe() const { return text; }

private:
  std::string text, path;
  Address known;
  bool severalHosts, published = false;
};

/// The name of this host.
std::string hostName();

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_MEETINGPLACE_H
