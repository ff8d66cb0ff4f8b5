// The store's folder: what lies where, and whether the file system under it can hold a store.
#ifndef WF_STORE_FOLDER_H_
#define WF_STORE_FOLDER_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/run_id.h"
#include "wf/status.h"

namespace wf::store {

inline std::filesystem::path RunsDbPath(const std::filesystem::path& folder) { return folder / "runs.db"; }
inline std::filesystem::path RunFilePath(const std::filesystem::path& folder, const base::RunId& id) {
  return folder / "runs" / (id.ToString() + ".db");
}

// kFailedPrecondition when `folder` (or where it would be made) lies on a network file system, with the way out:
// SQLite's WAL needs memory that all its processes share, and locks that hold.
Status CheckFileSystem(const std::filesystem::path& folder);

// The name of a network file system by statfs' magic number and, for FUSE, the type in /proc/self/mountinfo
// ("fuse.sshfs"); nullopt for a local one.
std::optional<std::string> NetworkName(uint64_t magic, std::string_view mount_type);

}  // namespace wf::store

#endif  // WF_STORE_FOLDER_H_
