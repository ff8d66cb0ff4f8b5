// RowList: rows in blocks. Growing never moves a row, and a list that was cleared fills again without allocating: the
// two things that a vector of large rows spends its time on.
#ifndef WF_STORE_ROW_LIST_H_
#define WF_STORE_ROW_LIST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace wf::store {

template <typename T>
class RowList {
 public:
  void push_back(T row) {
    if (size_ == blocks_.size() * kBlockRows) {
      blocks_.emplace_back();
      blocks_.back().reserve(kBlockRows);
    }
    blocks_[size_ / kBlockRows].push_back(std::move(row));
    ++size_;
  }
  // Moves the rows of `later` behind ours.
  void Append(RowList&& later) {
    if (size_ == 0) {
      std::swap(*this, later);
    } else {
      for (size_t i = 0; i < later.size(); ++i) push_back(std::move(later[i]));
    }
    later.clear();
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return blocks_[i / kBlockRows][i % kBlockRows]; }
  const T& operator[](size_t i) const { return blocks_[i / kBlockRows][i % kBlockRows]; }

  // Keeps the memory, unless it is large.
  void clear() {
    if (blocks_.size() > kKeptBlocks) blocks_.resize(kKeptBlocks);
    for (std::vector<T>& block : blocks_) block.clear();
    size_ = 0;
  }

 private:
  static constexpr size_t kBlockRows = 256;
  static constexpr size_t kKeptBlocks = 128;

  std::vector<std::vector<T>> blocks_;
  size_t size_ = 0;
};

// Indices of the rows to write: of those with the same id the one put last, by ascending id.
template <typename T>
std::vector<size_t> LastOfEach(const RowList<T>& rows) {
  std::vector<std::pair<uint64_t, size_t>> order(rows.size());
  bool is_ascending = true;
  for (size_t i = 0; i < rows.size(); ++i) {
    order[i] = {rows[i].id, i};
    is_ascending = is_ascending && (i == 0 || order[i - 1].first < order[i].first);
  }
  if (!is_ascending) std::sort(order.begin(), order.end());
  std::vector<size_t> last;
  last.reserve(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i + 1 == order.size() || order[i + 1].first != order[i].first) last.push_back(order[i].second);
  }
  return last;
}

}  // namespace wf::store

#endif  // WF_STORE_ROW_LIST_H_
