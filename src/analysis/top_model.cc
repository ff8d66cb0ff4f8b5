#include "analysis/top_model.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace wf::analysis {
namespace {

using profile::StackDelta;
using profile::StackSample;

// Threads of which nothing was read yet.
constexpr size_t kMostUnseen = 1'000;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool Contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return Lower(a) == Lower(b); }) != text.end();
}

// The column first, then what tells most of the others.
std::array<int64_t, 4> Key(const TopRow& row, TopColumn column) {
  const auto& [place, window, all] = row;
  switch (column) {
    case TopColumn::kOwnShare: return {window.own_ns, window.total_ns, all.own_ns, all.total_ns};
    case TopColumn::kTotalShare: return {window.total_ns, window.own_ns, all.total_ns, all.own_ns};
    case TopColumn::kOwnTime: return {all.own_ns, all.total_ns, window.own_ns, window.total_ns};
    case TopColumn::kTotalTime: break;
  }
  return {all.total_ns, all.own_ns, window.total_ns, window.own_ns};
}

double Rounds(const profile::StackMeta& meta) {
  return meta.achieved_rate_hz * static_cast<double>(meta.duration_ns) / 1e9;
}

}  // namespace

void TopModel::Begin(const profile::StackMeta& meta) {
  has_begun_ = true;
  meta_ = meta;
}

void TopModel::PutProcess(const profile::Process& process) { processes_[process.id] = process; }

bool TopModel::Counts(const StackSample& sample) const {
  if (options_.gil) return (sample.state & profile::kHoldsGil) != 0;
  return options_.idle || (sample.state & profile::kIdle) == 0;
}

void TopModel::BeginWindow(const StackDelta& piece) {
  ++windows_;
  window_ns_ = std::max<int64_t>(0, piece.meta.duration_ns - meta_.duration_ns);
  meta_ = piece.meta;
  all_.window_ns = 0;
  window_activity_ = {};
  for (auto& [number, thread] : threads_) {
    thread.sheet.window_ns = 0;
    thread.figures.window = {};
  }
  for (const StackDelta::Thread& each : piece.threads) {
    Thread& thread = threads_[each.index];
    thread.figures.number = each.index;
    thread.figures.tid = each.thread.tid;
    thread.figures.name = each.thread.name;
    thread.process = each.thread.process;
    const auto process = processes_.find(each.thread.process);
    if (process != processes_.end()) thread.figures.pid = process->second.pid;
  }
}

void TopModel::Put(const StackDelta& piece) {
  places_.Add(piece);
  BeginWindow(piece);
  std::map<uint32_t, std::vector<std::pair<uint32_t, int64_t>>> weights;  // by thread: those that count
  for (const StackSample& sample : piece.samples) {
    const auto at = threads_.find(sample.thread);
    if (at == threads_.end() || sample.weight_ns < 0) continue;
    AddActivity(at->second, sample);
    if (!Counts(sample)) continue;
    weights[sample.thread].emplace_back(sample.stack, sample.weight_ns);
    samples_ += sample.count;
  }
  for (const auto& [number, stacks] : weights) Charge(threads_.at(number), stacks);
  ForgetEnded();
  ForgetQuiet();
}

void TopModel::AddActivity(Thread& thread, const StackSample& sample) {
  if (sample.time_ns + sample.span_ns >= thread.last_ns) {
    thread.last_ns = sample.time_ns + sample.span_ns;
    thread.figures.state = sample.state;
  }
  for (TopActivity* activity : {&thread.figures.window, &window_activity_, &activity_}) {
    if ((sample.state & profile::kIdle) == 0) activity->active_ns += sample.weight_ns;
    if ((sample.state & profile::kHoldsGil) != 0) activity->gil_ns += sample.weight_ns;
  }
}

void TopModel::Charge(Thread& thread, const std::vector<std::pair<uint32_t, int64_t>>& weights) {
  for (const auto& [node, weight_ns] : weights) {
    for (Sheet* sheet : {&thread.sheet, &all_}) {
      sheet->window_ns += weight_ns;
      sheet->all_ns += weight_ns;
    }
  }
  for (const TopPlaces::Visit& visit : places_.Charge(weights)) {
    Add(visit, thread.sheet);
    Add(visit, all_);
  }
}

void TopModel::Add(const TopPlaces::Visit& visit, Sheet& sheet) const {
  Figures& figures = sheet.places[visit.place];
  if (figures.in_window != windows_) figures.window = {};
  figures.in_window = windows_;
  for (TopTimes* times : {&figures.window, &figures.all}) {
    times->own_ns += visit.own_ns;
    times->total_ns += visit.total_ns;
  }
}

// A living thread was seen up to the end of the window, in whatever state; unless none of its readings could be trusted
// so far, which is as good as never for the many that end before.
void TopModel::ForgetEnded() {
  const int64_t end_ns = meta_.start_ns + meta_.duration_ns;
  auto unseen = static_cast<size_t>(
      std::count_if(threads_.begin(), threads_.end(), [](const auto& each) { return each.second.last_ns == 0; }));
  std::set<uint32_t> living;
  for (auto at = threads_.begin(); at != threads_.end();) {
    const bool was_seen = at->second.last_ns != 0;
    const bool is_kept = was_seen ? at->second.last_ns >= end_ns : unseen <= kMostUnseen;
    if (!was_seen && !is_kept) --unseen;
    if (is_kept) living.insert(at->second.process);
    at = is_kept ? std::next(at) : threads_.erase(at);
  }
  std::erase_if(processes_, [&living](const auto& each) { return !living.contains(each.first); });
}

// A quarter at a time, so that it is rare. What the window is about stays, however much that is.
void TopModel::ForgetQuiet() {
  if (places_.size() <= options_.most_places) return;
  std::vector<std::pair<uint64_t, TopPlaces::Id>> by_quiet;
  for (const auto& [place, figures] : all_.places) by_quiet.emplace_back(figures.in_window, place);
  std::sort(by_quiet.begin(), by_quiet.end());
  const size_t kept = options_.most_places - options_.most_places / 4;
  std::set<TopPlaces::Id> gone;
  for (const auto& [in_window, place] : by_quiet) {
    if (in_window == windows_ || by_quiet.size() - gone.size() <= kept) break;
    gone.insert(place);
  }
  Forget(gone);
  forgotten_ += gone.size();
}

void TopModel::Forget(const std::set<TopPlaces::Id>& gone) {
  const auto is_gone = [&gone](const auto& each) { return gone.contains(each.first); };
  std::erase_if(all_.places, is_gone);
  for (auto& [number, thread] : threads_) std::erase_if(thread.sheet.places, is_gone);
  places_.Forget(gone);
}

void TopModel::Reset() {
  reset_ = meta_;
  samples_ = 0;
  activity_ = {};
  forgotten_ = 0;
  std::set<TopPlaces::Id> quiet;
  for (const auto& [place, figures] : all_.places) {
    if (figures.in_window != windows_) quiet.insert(place);
  }
  Forget(quiet);
  const auto start_over = [](Sheet& sheet) {
    sheet.all_ns = 0;
    for (auto& [place, figures] : sheet.places) figures.all = {};
  };
  start_over(all_);
  for (auto& [number, thread] : threads_) start_over(thread.sheet);
}

const TopModel::Sheet* TopModel::SheetOf(std::optional<uint32_t> thread) const {
  if (!thread) return &all_;
  const auto at = threads_.find(*thread);
  return at == threads_.end() ? nullptr : &at->second.sheet;
}

TopTimes TopModel::WindowOf(const Figures& figures) const {
  return figures.in_window == windows_ ? figures.window : TopTimes{};
}

bool TopModel::Matches(TopPlaces::Id place, const TopQuery& query) const {
  const TopPlace& is = places_.at(place);
  if (is.unit != query.unit) return false;
  return query.filter.empty() || Contains(is.name, query.filter) || Contains(is.file, query.filter);
}

size_t TopModel::CountRows(const TopQuery& query) const {
  const Sheet* sheet = SheetOf(query.thread);
  if (sheet == nullptr) return 0;
  return static_cast<size_t>(std::count_if(sheet->places.begin(), sheet->places.end(),
                                           [&](const auto& each) { return Matches(each.first, query); }));
}

std::vector<TopRow> TopModel::Rows(const TopQuery& query) const {
  std::vector<TopRow> rows;
  const Sheet* sheet = SheetOf(query.thread);
  if (sheet == nullptr) return rows;
  for (const auto& [id, figures] : sheet->places) {
    if (Matches(id, query)) rows.push_back({&places_.at(id), WindowOf(figures), figures.all});
  }
  const size_t count = std::min(rows.size(), query.most_rows);
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(count);
  std::partial_sort(rows.begin(), end, rows.end(), [&query](const TopRow& a, const TopRow& b) {
    const auto key_a = Key(a, query.column);
    const auto key_b = Key(b, query.column);
    if (key_a != key_b) return query.reversed ? key_a < key_b : key_a > key_b;
    return *a.place < *b.place;
  });
  rows.resize(count);
  return rows;
}

std::vector<TopThread> TopModel::Threads() const {
  std::vector<TopThread> threads;
  for (const auto& [number, thread] : threads_) {
    if (thread.last_ns != 0) threads.push_back(thread.figures);
  }
  return threads;
}

int64_t TopModel::WindowBasisNs(std::optional<uint32_t> thread) const {
  const Sheet* sheet = SheetOf(thread);
  return std::max(window_ns_, sheet == nullptr ? 0 : sheet->window_ns);
}

int64_t TopModel::BasisNs(std::optional<uint32_t> thread) const {
  const Sheet* sheet = SheetOf(thread);
  return std::max(elapsed_ns(), sheet == nullptr ? 0 : sheet->all_ns);
}

profile::StackMeta TopModel::Meta() const {
  profile::StackMeta meta = meta_;
  meta.mode = options_.gil ? profile::SampleMode::kGil : profile::SampleMode::kWall;
  meta.idle_included = options_.idle;
  meta.samples = samples_;
  meta.missed -= reset_.missed;
  for (const auto& [reason, count] : reset_.rejected) meta.rejected[reason] -= count;
  std::erase_if(meta.rejected, [](const auto& each) { return each.second == 0; });
  meta.start_ns += reset_.duration_ns;
  meta.start_wall_ns += reset_.duration_ns;
  meta.duration_ns = elapsed_ns();
  if (elapsed_ns() > 0) {
    meta.achieved_rate_hz = (Rounds(meta_) - Rounds(reset_)) * 1e9 / static_cast<double>(elapsed_ns());
  }
  return meta;
}

}  // namespace wf::analysis
