//===- Gather.cpp - gathers a sharded tensor ------------------------------===//
//
// Part of Heddle, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/program/Gather.h"

#include "runtime/control/JobTransport.h"

#include <cstring>

using namespace heddle;

void heddle::requireRanks(const MeshSpec &mesh, int ranks) {
  if (mesh.ranks() != ranks)
    throw Error("the mesh " + (mesh.axes.empty() ? "without axes" : mesh.describe()) + " has " +
                std::to_string(mesh.ranks()) + (mesh.ranks() == 1 ? " rank" : " ranks") +
                ", expected " + std::to_string(ranks) + ", as the job has");
}

TensorRef heddle::wholeTensor(const Shards &shards, ElementType element) {
  return denseTensor(element, shards.wholeSizes());
}

/// Runs the operation; its failure fails the job.
static void run(Job &job, const JobTransport::Operation &operation, const std::string &what) {
  try {
    job.transport()->start(operation)->wait();
  } catch (const Error &error) {
    // The engine may notice that a rank has died before the channel reports the cause.
    if (auto failure = job.channel()->failure(std::chrono::seconds(2)))
      throw JobError(*failure);
    job.channel()->fail(error.what(), "", "gathering " + what);
    throw;
  }
}

TensorRef heddle::gather(Job &job, const Shards &shards, const RuntimeTensor &block,
                         const std::string &what) {
  const MeshSpec &mesh = shards.mesh();
  requireRanks(mesh, job.ranks());
  TensorRef whole = wholeTensor(shards, block.spec().element);
  if (ControlChannel *channel = job.channel())
    channel->agree({{"entry", "gathering " + what}, // like a call of a program
                    {"type", describe(whole->spec())},
                    {"mesh", mesh.describe()},
                    {"sharding", describe(shards.axes())}});
  AxisList axes = shards.splittingAxes();
  TensorRef mine = shards.holds(job.rank())
                       ? block.inLayout(denseLayout(shards.blockSizes()))
                       : denseTensor(block.spec().element, shards.blockSizes());
  if (axes.empty() || mine->bytes() == 0) {
    shards.put(block, job.rank(), *whole);
    return whole;
  }
  if (!job.transport())
    throw Error("can't gather " + what + ": the job has no engine");
  // Blocks are sent as contiguous bytes. Ranks without a block send bytes that nobody reads.
  CommunicationSpec gathering{
      .kind = CommunicationSpec::Kind::AllGather, .axes = axes, .element = ElementType::UI8};
  JobTransport::Operation operation{.spec = &gathering, .group = mesh.group(job.rank(), axes)};
  operation.counts.assign(operation.group.size(), mine->bytes());
  operation.input = mine->address();
  size_t bytes = size_t(mine->bytes());
  std::vector<char> all(bytes * operation.group.size());
  operation.output = all.data();
  run(job, operation, what);
  for (size_t i = 0; i < operation.group.size(); ++i) {
    std::memcpy(mine->address(), all.data() + i * bytes, bytes);
    shards.put(*mine, operation.group[i], *whole);
  }
  return whole;
}

TensorRef SplitTensor::gather() const {
  return heddle::gather(job ? *job : *Job::join(RankInfo{}), shards, *block, name);
}
