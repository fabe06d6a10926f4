// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sidestep::bench {
namespace {

constexpr std::size_t kColumns = 8;
using Cells = std::array<std::string, kColumns>;

/// Three significant digits, without an exponent.
std::string number(double value) {
  if (value >= 1000) return fmt::format("{:.0f}", value);
  if (value >= 100) return fmt::format("{:.1f}", value);
  return fmt::format("{:.{}f}", value, value >= 1 ? 2 : 3);
}

std::string text_of(const std::optional<Target>& target) {
  if (!target) return "";
  const char* sign = target->sense == Target::Sense::kAtLeast ? ">=" : "<=";
  return fmt::format("{} {}{}", sign, number(target->bound), target->of_ratio ? " x" : "");
}

std::string verdict(const Row& row) {
  if (row.mismatches != 0) return fmt::format("WRONG: {}", row.mismatches);
  const auto passes = row.passes();
  if (!passes) return row.target ? "not measured" : "";
  return *passes ? "pass" : "falls short";
}

Cells cells_of(const Row& row) {
  return {row.what,
          row.contender,
          row.figure ? number(row.figure->median) : "-",
          row.figure ? number(row.figure->minimum) : "-",
          row.unit,
          row.ratio ? number(*row.ratio) + " x" : "",
          row.must_be_exact ? "exact" : text_of(row.target),
          verdict(row)};
}

std::string line_of(const Cells& cells, const std::array<std::size_t, kColumns>& widths,
                    const std::string& note) {
  std::string line;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const bool is_number = i == 2 || i == 3 || i == 5;
    line += is_number ? fmt::format("{:>{}}  ", cells[i], widths[i])
                      : fmt::format("{:<{}}  ", cells[i], widths[i]);
  }
  line += note;
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

nlohmann::json json_of(const Row& row) {
  nlohmann::json json{{"what", row.what},
                      {"contender", row.contender},
                      {"unit", row.unit},
                      {"checked", row.checked},
                      {"mismatches", row.mismatches}};
  if (row.figure) {
    json["median"] = row.figure->median;
    json["min"] = row.figure->minimum;
  }
  if (row.ratio) json["ratio"] = *row.ratio;
  if (row.target) json["target"] = text_of(row.target);
  if (const auto passes = row.passes()) json["pass"] = *passes;
  if (!row.note.empty()) json["note"] = row.note;
  return json;
}

}  // namespace

std::optional<bool> Row::passes() const {
  if (must_be_exact) return checked != 0 && mismatches == 0;
  if (!target || !figure || (target->of_ratio && !ratio)) return std::nullopt;
  if (mismatches != 0) return false;
  const double value = target->of_ratio ? *ratio : figure->median;
  return target->sense == Target::Sense::kAtLeast ? value >= target->bound : value <= target->bound;
}

void Report::section(std::string title) { sections_.push_back({std::move(title), {}}); }

void Report::add(Row row) {
  if (sections_.empty()) section("");
  sections_.back().rows.push_back(std::move(row));
}

std::size_t Report::mismatches() const {
  std::size_t sum = 0;
  for (const auto& section : sections_) {
    for (const auto& row : section.rows) sum += row.mismatches;
  }
  return sum;
}

std::vector<Row> Report::rows() const {
  std::vector<Row> all;
  for (const auto& section : sections_) {
    all.insert(all.end(), section.rows.begin(), section.rows.end());
  }
  return all;
}

std::string Report::to_table() const {
  const Cells head{"what", "contender", "median", "min", "unit", "ratio", "target", "verdict"};
  std::array<std::size_t, kColumns> widths{};
  const auto widen = [&widths](const Cells& cells) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], cells[i].size());
  };
  widen(head);
  std::size_t passed = 0;
  std::size_t judged = 0;
  for (const auto& section : sections_) {
    for (const auto& row : section.rows) {
      widen(cells_of(row));
      const auto passes = row.passes();
      judged += passes.has_value() ? std::size_t{1} : 0;
      passed += passes.value_or(false) ? std::size_t{1} : 0;
    }
  }
  std::string text;
  for (const auto& section : sections_) {
    text += fmt::format("\n{}\n", section.title) + line_of(head, widths, "");
    for (const auto& row : section.rows) text += line_of(cells_of(row), widths, row.note);
  }
  return text + fmt::format("\n{} of {} targets reached\n", passed, judged);
}

nlohmann::json Report::to_json() const {
  auto json = nlohmann::json::array();
  for (const auto& section : sections_) {
    auto rows = nlohmann::json::array();
    for (const auto& row : section.rows) rows.push_back(json_of(row));
    json.push_back({{"title", section.title}, {"rows", std::move(rows)}});
  }
  return json;
}

}  // namespace sidestep::bench
