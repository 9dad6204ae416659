//===- ServerRendezvous.h - how ranks find their server ---------*- C++ -*-===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two forms of HEDDLE_CONTROL (FindRank.h): an address that all ranks know, or a file to which
// rank 0 writes the address. Such a file contains the job's key; it is read only if it belongs to
// this user and no other user can read it.
//
//===----------------------------------------------------------------------===//

#ifndef HEDDLE_RUNTIME_CONTROL_SERVERRENDEZVOUS_H
#define HEDDLE_RUNTIME_CONTROL_SERVERRENDEZVOUS_H

#include "runtime/base/Rendezvous.h"
#include "runtime/control/Connection.h"
#include "runtime/control/FindRank.h"

namespace heddle {

class ServerRendezvous {
public:
  explicit ServerRendezvous(const RankInfo &info);
  /// Removes the file that `publish` wrote.
  ~ServerRendezvous() { withdraw(); }
  ServerRendezvous(const ServerRendezvous &) = delete;
  ServerRendezvous &operator=(const ServerRendezvous &) = delete;

  struct Address {
    Endpoint endpoint;
    JobKey key;
  };
  /// The address at which the server should listen, and the job's key.
  Address forServer() const;
  /// Writes the server's address for the other ranks. Throws Error if the file can't be written.
  void publish(const Address &address);
  void withdraw();
  /// The server's address; none if it is not known yet. Throws Error for a file of another user.
  std::optional<Address> find() const;
  /// True if an address that does not answer may be left over from an earlier job.
  bool mayBeOld() const { return !path.empty(); }
  /// The value of HEDDLE_CONTROL, for messages.
  const std::string &describe() const { return text; }

private:
  std::string text, path;
  Address known;
  bool severalHosts;
  Rendezvous meeting; ///< at `path`
};

/// The name of this host.
std::string hostName();

} // namespace heddle

#endif // HEDDLE_RUNTIME_CONTROL_SERVERRENDEZVOUS_H
