// SPDX-License-Identifier: Apache-2.0
//
// DPDK's environment layer is started as little as it can be: in memory, one core, no devices. Its own memory without
// hugetlbfs would be 4 KiB pages, which slows a table of hundreds of megabytes down; so the tables lie in a heap that we
// give it, in huge pages as our own structures are. A table's name may be used once at a time, hence one table of each kind.
#include "bench/peers/dpdk.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_fib6.h>
#include <rte_lpm6.h>
#include <rte_malloc.h>

#include "bench/bits.hpp"
#include "bench/huge_array.hpp"
#include "bench/machine.hpp"

namespace sidestep::bench {
namespace {

constexpr const char* kHeap = "sidestep";
constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr std::size_t kEntry = 4;
constexpr std::size_t kTbl24Bytes = (std::size_t{1} << 24) * kEntry;
constexpr std::size_t kTbl8Bytes = 256 * kEntry;

/// How many tables of 256 entries `rte_fib6` asks for: it sets aside one per byte beyond the third for each prefix by itself,
/// even where prefixes share them.
std::size_t count_reserved(std::span<const net::Prefix> prefixes) {
  std::size_t sum = 256;
  for (const auto& prefix : prefixes) {
    if (prefix.length() > 24) sum += (prefix.length() - 24U + 7) / 8;
  }
  return sum;
}

/// How many a set of prefixes needs: one for each distinct run of whole bytes, from the third on, that some prefix goes
/// beyond.
std::size_t count_tbl8(std::span<const net::Prefix> prefixes) {
  std::vector<Number> runs;
  for (const auto& prefix : prefixes) {
    for (unsigned bits = 24; bits < prefix.length(); bits += 8) {
      const Number run = to_number(prefix.address()) & ~host_mask(bits);
      runs.push_back(run | bits);  // the low bits are free: bits < 128
    }
  }
  std::sort(runs.begin(), runs.end());
  return static_cast<std::size_t>(std::unique(runs.begin(), runs.end()) - runs.begin()) + 256;
}

/// The environment layer and the heap of the tables; lives until the program ends, as DPDK wants it.
class Environment {
 public:
  /// @return what went wrong; empty: nothing
  static std::string start(std::size_t heap_bytes) {
    static Environment environment;
    return environment.start_once(heap_bytes);
  }
  static int socket() { return rte_malloc_heap_get_socket(kHeap); }

 private:
  std::string start_once(std::size_t heap_bytes) {
    if (!started_) {
      std::array<std::string, 8> words{
          "sidestep-bench", "--no-huge",         "--no-shconf", "--no-pci",
          "--no-telemetry", "--log-level=error", "-l0",         "-m64"};
      std::array<char*, 10> arguments{};
      for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
      if (has_avx512()) {
        // AVX-512 is not used unless it is asked for.
        static std::string wide = "--force-max-simd-bitwidth=512";
        arguments[words.size()] = wide.data();
      }
      const int count = static_cast<int>(words.size()) + (has_avx512() ? 1 : 0);
      if (rte_eal_init(count, arguments.data()) < 0) return "rte_eal_init failed";
      if (rte_malloc_heap_create(kHeap) != 0) return "rte_malloc_heap_create failed";
      started_ = true;
    }
    memory_.emplace_back(heap_bytes);
    auto& memory = memory_.back();
    const auto pages = static_cast<unsigned>((heap_bytes + kPage - 1) / kPage);
    if (rte_malloc_heap_memory_add(kHeap, memory.data(), pages * kPage, nullptr, pages, kPage) !=
        0) {
      return "rte_malloc_heap_memory_add failed";
    }
    return "";
  }
  bool started_ = false;
  std::vector<HugeArray<char>> memory_;
};

/// DPDK's headers take the keys as if they would write to them.
auto raw(Keys keys) {
  return reinterpret_cast<std::uint8_t(*)[16]>(const_cast<net::Ipv6Address*>(keys.data()));
}

class Fib6 : public Contender {
 public:
  Fib6(std::shared_ptr<rte_fib6> fib, rte_fib6_lookup_type type, const char* name,
       std::size_t bytes, std::size_t burst)
      : fib_(std::move(fib)), type_(type), name_(name), bytes_(bytes), buffer_(burst) {}
  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

  void batched(Keys keys, std::span<Found> answers) override {
    select();
    batched_pass(
        keys, answers, std::span(buffer_),
        [this](Keys burst, std::span<std::uint64_t> found) { bulk(burst, found.data()); },
        [](std::uint64_t found) { return static_cast<Found>(found); });
  }
  void one_by_one(Keys keys, std::span<Found> answers) override {
    select();
    single_pass(
        keys, answers, [this](const net::Ipv6Address& key) { return single(key); },
        [](std::uint64_t found) { return static_cast<Found>(found); });
  }
  void chain(Keys keys) override {
    select();
    chain_pass(keys, [this](const net::Ipv6Address& key) { return single(key); });
  }

 private:
  // The two ways to look up share one table.
  void select() { static_cast<void>(rte_fib6_select_lookup(fib_.get(), type_)); }
  void bulk(Keys keys, std::uint64_t* found) {
    static_cast<void>(
        rte_fib6_lookup_bulk(fib_.get(), raw(keys), found, static_cast<int>(keys.size())));
  }
  std::uint64_t single(const net::Ipv6Address& key) {
    std::uint64_t found = 0;
    bulk(Keys(&key, 1), &found);
    return found;
  }
  std::shared_ptr<rte_fib6> fib_;
  rte_fib6_lookup_type type_;
  const char* name_;
  std::size_t bytes_;
  std::vector<std::uint64_t> buffer_;
};

class Lpm6 : public Contender {
 public:
  Lpm6(std::shared_ptr<rte_lpm6> lpm, std::size_t bytes, std::size_t burst)
      : lpm_(std::move(lpm)), bytes_(bytes), buffer_(burst) {}
  [[nodiscard]] std::string name() const override { return kLpm6; }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }

  void batched(Keys keys, std::span<Found> answers) override {
    batched_pass(
        keys, answers, std::span(buffer_),
        [this](Keys burst, std::span<std::int32_t> found) {
          rte_lpm6_lookup_bulk_func(lpm_.get(), raw(burst), found.data(),
                                    static_cast<unsigned>(burst.size()));
        },
        found_of);
  }
  void one_by_one(Keys keys, std::span<Found> answers) override {
    single_pass(
        keys, answers, [this](const net::Ipv6Address& key) { return single(key); }, found_of);
  }
  void chain(Keys keys) override {
    chain_pass(keys, [this](const net::Ipv6Address& key) { return single(key); });
  }

 private:
  static Found found_of(std::int32_t found) {
    return found < 0 ? kNothing : static_cast<Found>(found);
  }
  std::int32_t single(const net::Ipv6Address& key) {
    std::uint32_t found = 0;
    return rte_lpm6_lookup(lpm_.get(), key.bytes.data(), &found) == 0
               ? static_cast<std::int32_t>(found)
               : 0;
  }
  std::shared_ptr<rte_lpm6> lpm_;
  std::size_t bytes_;
  std::vector<std::int32_t> buffer_;
};

std::string add_fib6(std::span<const net::Prefix> prefixes, std::size_t tbl8, std::size_t burst,
                     DpdkPeers& peers) {
  rte_fib6_conf conf{};
  conf.type = RTE_FIB6_TRIE;
  conf.default_nh = kNothing;
  conf.max_routes = static_cast<int>(prefixes.size() * 2 + 1024);
  conf.trie.nh_sz = RTE_FIB6_TRIE_4B;
  conf.trie.num_tbl8 = static_cast<std::uint32_t>(tbl8);
  const std::shared_ptr<rte_fib6> fib(rte_fib6_create("fib6", Environment::socket(), &conf),
                                      rte_fib6_free);
  if (!fib) return fmt::format("rte_fib6_create failed: {}", rte_strerror(rte_errno));
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    const auto& prefix = prefixes[i];
    const int error =
        rte_fib6_add(fib.get(), prefix.address().bytes.data(), prefix.length(), i + 1);
    if (error != 0) {
      return fmt::format("rte_fib6_add refused {}: {}", prefix.to_string(), rte_strerror(-error));
    }
  }
  const std::size_t bytes = kTbl24Bytes + tbl8 * kTbl8Bytes;
  peers.present.push_back(
      std::make_unique<Fib6>(fib, RTE_FIB6_LOOKUP_TRIE_SCALAR, kFib6Scalar, bytes, burst));
  if (rte_fib6_select_lookup(fib.get(), RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512) == 0) {
    peers.present.push_back(
        std::make_unique<Fib6>(fib, RTE_FIB6_LOOKUP_TRIE_VECTOR_AVX512, kFib6Avx512, bytes, burst));
  } else {
    peers.absent.push_back({kFib6Avx512, has_avx512() ? "AVX-512 was refused" : "no AVX-512 here"});
  }
  return "";
}

std::string add_lpm6(std::span<const net::Prefix> prefixes, std::size_t tbl8, std::size_t burst,
                     DpdkPeers& peers) {
  rte_lpm6_config config{};
  config.max_rules = static_cast<std::uint32_t>(prefixes.size() * 2 + 1024);
  config.number_tbl8s = static_cast<std::uint32_t>(tbl8);
  const std::shared_ptr<rte_lpm6> lpm(rte_lpm6_create("lpm6", Environment::socket(), &config),
                                      rte_lpm6_free);
  if (!lpm) return fmt::format("rte_lpm6_create failed: {}", rte_strerror(rte_errno));
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    const auto& prefix = prefixes[i];
    const int error = rte_lpm6_add(lpm.get(), prefix.address().bytes.data(), prefix.length(),
                                   static_cast<std::uint32_t>(i + 1));
    if (error != 0) {
      return fmt::format("rte_lpm6_add refused {}: {}", prefix.to_string(), rte_strerror(-error));
    }
  }
  peers.present.push_back(std::make_unique<Lpm6>(lpm, kTbl24Bytes + tbl8 * kTbl8Bytes, burst));
  return "";
}

}  // namespace

DpdkPeers make_dpdk_peers(std::span<const net::Prefix> prefixes, std::size_t burst) {
  DpdkPeers peers;
  const std::size_t fib_tbl8 = count_reserved(prefixes);
  const std::size_t lpm_tbl8 = count_tbl8(prefixes);
  // Two tables, their rules, and room for what DPDK keeps beside.
  const std::size_t heap = 2 * kTbl24Bytes + (fib_tbl8 + lpm_tbl8) * kTbl8Bytes +
                           prefixes.size() * 1024 + (std::size_t{256} << 20);
  if (const auto wrong = Environment::start(heap); !wrong.empty()) {
    for (const char* name : {kFib6Scalar, kFib6Avx512, kLpm6})
      peers.absent.push_back({name, wrong});
    return peers;
  }
  if (const auto wrong = add_fib6(prefixes, fib_tbl8, burst, peers); !wrong.empty()) {
    for (const char* name : {kFib6Scalar, kFib6Avx512}) peers.absent.push_back({name, wrong});
  }
  if (const auto wrong = add_lpm6(prefixes, lpm_tbl8, burst, peers); !wrong.empty()) {
    peers.absent.push_back({kLpm6, wrong});
  }
  return peers;
}

}  // namespace sidestep::bench
