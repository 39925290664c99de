// SPDX-License-Identifier: Apache-2.0
//
// afxdp-bench-traffic: offers packets from one end of a switch (gen) and counts them at the other
// (sink).  Both print one JSON object per line on standard output.  Times are CLOCK_MONOTONIC
// seconds, so that samples of both can be put on one scale.
#include <bpf/libbpf.h>
#include <sched.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "generator.h"
#include "packet.h"
#include "sink.h"
#include "stop_signals.h"

namespace afxdp {
namespace {

struct GeneratorOptions {
  std::string device;
  std::string dst_mac;
  std::string src_mac;
  std::string src_ip = "10.0.0.1";
  std::string dst_ip = "10.0.0.2";
  uint16_t dst_port = 9;  // "discard" (RFC 863).
  uint32_t size = 64;
  uint32_t flows = 1;
  double duration = 0;
  int cpu = -1;
};

struct SinkOptions {
  std::string device;
  double interval = 0.1;
  double duration = 0;
};

double MonotonicSeconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

absl::Time DeadlineAfter(double seconds) {
  return seconds > 0 ? absl::Now() + absl::Seconds(seconds) : absl::InfiniteFuture();
}

absl::Status PinToCpu(int cpu) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(static_cast<size_t>(cpu), &cpus);
  if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("pinning to CPU ", cpu));
  }
  return absl::OkStatus();
}

absl::StatusOr<PacketSpec> ToPacketSpec(const GeneratorOptions& options) {
  PacketSpec spec;
  spec.size = options.size;
  spec.dst_port = options.dst_port;
  auto dst_mac = ParseMac(options.dst_mac);
  auto src_mac = ParseMac(options.src_mac);
  auto dst_ip = ParseIpv4(options.dst_ip);
  auto src_ip = ParseIpv4(options.src_ip);
  for (const absl::Status& status :
       {dst_mac.status(), src_mac.status(), dst_ip.status(), src_ip.status()}) {
    if (!status.ok()) {
      return status;
    }
  }
  spec.dst_mac = *dst_mac;
  spec.src_mac = *src_mac;
  spec.dst_ip = *dst_ip;
  spec.src_ip = *src_ip;
  return spec;
}

absl::Status RunGenerator(const GeneratorOptions& options) {
  if (options.cpu >= 0) {
    if (absl::Status status = PinToCpu(options.cpu); !status.ok()) {
      return status;
    }
  }
  auto spec = ToPacketSpec(options);
  if (!spec.ok()) {
    return spec.status();
  }
  auto generator = Generator::Create(options.device, *spec, options.flows);
  if (!generator.ok()) {
    return generator.status();
  }
  (*generator)->Start();
  const double start = MonotonicSeconds();
  std::printf("{\"event\": \"start\", \"time\": %.6f}\n", start);
  WaitForStop(DeadlineAfter(options.duration));
  absl::Status status = (*generator)->Stop();
  const double seconds = MonotonicSeconds() - start;
  const uint64_t offered = (*generator)->offered();
  std::printf("{\"event\": \"end\", \"time\": %.6f, \"offered\": %llu, \"pps\": %.0f}\n",
              start + seconds, static_cast<unsigned long long>(offered),
              static_cast<double>(offered) / seconds);
  return status;
}

absl::Status RunSink(const SinkOptions& options) {
  auto sink = Sink::Attach(options.device);
  if (!sink.ok()) {
    return sink.status();
  }
  const absl::Time end = DeadlineAfter(options.duration);
  absl::Time next = absl::Now();
  bool stop = false;
  while (!stop) {
    auto count = (*sink)->Read();
    if (!count.ok()) {
      return count.status();
    }
    std::printf("{\"time\": %.6f, \"packets\": %llu, \"bytes\": %llu}\n", MonotonicSeconds(),
                static_cast<unsigned long long>(count->packets),
                static_cast<unsigned long long>(count->bytes));
    next += absl::Seconds(options.interval);
    stop = absl::Now() >= end || WaitForStop(std::min(next, end));
  }
  return absl::OkStatus();
}

[[gnu::format(printf, 2, 0)]] int PrintLibbpfWarnings(libbpf_print_level level, const char* format,
                                                      va_list arguments) {
  return level == LIBBPF_WARN ? std::vfprintf(stderr, format, arguments) : 0;
}

void AddGenerator(CLI::App& app, GeneratorOptions& options) {
  CLI::App* gen = app.add_subcommand("gen", "Offer UDP packets to the far end of a veth");
  gen->add_option("--dev", options.device, "The near end")->required();
  gen->add_option("--dst-mac", options.dst_mac)->required();
  gen->add_option("--src-mac", options.src_mac)->required();
  gen->add_option("--src-ip", options.src_ip, "Of the first flow")->capture_default_str();
  gen->add_option("--dst-ip", options.dst_ip)->capture_default_str();
  gen->add_option("--dst-port", options.dst_port)->capture_default_str();
  gen->add_option("--size", options.size, "Bytes of the Ethernet frame, without FCS")
      ->check(CLI::Range(kMinPacketSize, kMaxPacketSize))
      ->capture_default_str();
  gen->add_option("--flows", options.flows, "Flows, taken in turn; differ in source port, address")
      ->check(CLI::Range(1u, 1u << 24))
      ->capture_default_str();
  gen->add_option("--duration", options.duration, "Seconds; 0: until SIGINT or SIGTERM")
      ->capture_default_str();
  gen->add_option("--cpu", options.cpu, "CPU to run on; -1: any")->capture_default_str();
}

void AddSink(CLI::App& app, SinkOptions& options) {
  CLI::App* sink = app.add_subcommand("sink", "Count and drop IPv4 packets at tc ingress");
  sink->add_option("--dev", options.device)->required();
  sink->add_option("--interval", options.interval, "Seconds between samples")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sink->add_option("--duration", options.duration, "Seconds; 0: until SIGINT or SIGTERM")
      ->capture_default_str();
}

int Main(int argc, char** argv) {
  BlockStopSignals();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // A reader waits for the first line.
  libbpf_set_print(PrintLibbpfWarnings);

  CLI::App app("Traffic for measuring an AF_XDP switch");
  app.require_subcommand(1);
  GeneratorOptions generator;
  SinkOptions sink;
  AddGenerator(app, generator);
  AddSink(app, sink);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }

  const absl::Status status = app.got_subcommand("gen") ? RunGenerator(generator) : RunSink(sink);
  if (!status.ok()) {
    std::fputs(absl::StrCat("afxdp-bench-traffic: ", status.message(), "\n").c_str(), stderr);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace afxdp

int main(int argc, char** argv) {
  try {
    return afxdp::Main(argc, argv);
  } catch (...) {  // The standard library and CLI11 throw; nothing here does.
    std::fputs("afxdp-bench-traffic: out of memory, or a fault of its own\n", stderr);
    return 1;
  }
}
