// SPDX-License-Identifier: Apache-2.0
// What a benchmark found: rows of figures with ratios and targets, as a table and as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "bench/rounds.hpp"

namespace sidestep::bench {

/// What a row must reach.
struct Target {
  enum class Sense : bool { kAtLeast, kAtMost };
  Sense sense = Sense::kAtLeast;
  double bound = 0;
  bool of_ratio = true;  ///< false: of the row's own figure
};
[[nodiscard]] constexpr Target at_least(double bound) {
  return {Target::Sense::kAtLeast, bound, true};
}
[[nodiscard]] constexpr Target at_most(double bound) {
  return {Target::Sense::kAtMost, bound, true};
}
[[nodiscard]] constexpr Target figure_at_least(double bound) {
  return {Target::Sense::kAtLeast, bound, false};
}
[[nodiscard]] constexpr Target figure_at_most(double bound) {
  return {Target::Sense::kAtMost, bound, false};
}

/// One line of the table.
struct Row {
  std::string what;
  std::string contender;
  std::optional<Timing> figure{};  ///< empty: not measured, and the note says why
  std::string unit = "ns";
  std::optional<double> ratio{};
  std::optional<Target> target{};
  std::size_t checked = 0;     ///< answers that were compared before anything was timed
  std::size_t mismatches = 0;  ///< of these
  bool must_be_exact = false;  ///< that no answer is wrong is what this row is about
  std::string note{};

  /// Empty without a target or without what it is about.
  [[nodiscard]] std::optional<bool> passes() const;
};

class Report {
 public:
  void section(std::string title);
  void add(Row row);
  [[nodiscard]] std::size_t mismatches() const;
  [[nodiscard]] std::vector<Row> rows() const;
  /// The rows as a table, and how many targets were reached.
  [[nodiscard]] std::string to_table() const;
  [[nodiscard]] nlohmann::json to_json() const;

 private:
  struct Section {
    std::string title;
    std::vector<Row> rows;
  };
  std::vector<Section> sections_;
};

}  // namespace sidestep::bench
