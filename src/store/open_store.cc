// Store::Open: the folder, its schema, and reading where one may not write.
#include <fmt/format.h>

#include <fstream>

#include "store/folder.h"
#include "store/migrations.h"
#include "store/sqlite_store.h"

namespace wf::store {
namespace {

// Whose fault it is that a folder cannot be made: the disk's, the rights', or the name's (a file lies there).
Code CodeOf(std::error_code error) {
  if (error == std::errc::permission_denied || error == std::errc::operation_not_permitted) {
    return Code::kPermissionDenied;
  }
  const bool is_name = error == std::errc::not_a_directory || error == std::errc::file_exists ||
                       error == std::errc::filename_too_long || error == std::errc::too_many_symbolic_link_levels;
  return is_name ? Code::kFailedPrecondition : Code::kIo;
}

Status MakeFolder(const std::filesystem::path& folder) {
  std::error_code error;
  const bool is_new = std::filesystem::create_directories(folder, error);
  if (!error) std::filesystem::create_directories(folder / "runs", error);
  if (error) {
    return {CodeOf(error), fmt::format("cannot make the store {}: {}; choose another folder with --store or WF_STORE",
                                       folder.string(), error.message())};
  }
  // A store is nobody's source code. Failing to say so costs nothing.
  if (is_new) std::ofstream(folder / ".gitignore") << "*\n";
  return {};
}

Result<Database> OpenForWriting(const std::filesystem::path& folder) {
  WF_RETURN_IF_ERROR(MakeFolder(folder));
  Result<Database> database = Database::Open(RunsDbPath(folder), Database::Mode::kCreate);
  if (!database.ok()) return database.status();
  WF_RETURN_IF_ERROR(Migrate(*database, RunsSchema()));
  return database;
}

Status NoStore(const std::filesystem::path& folder) {
  return {Code::kNotFound,
          fmt::format("no store in {}: make one with `wf run pipeline.py`, or name another folder with "
                      "--store or WF_STORE",
                      folder.string())};
}

// True when a first read works: SQLite opens files lazily.
Status TryRead(Database& database) { return database.QueryInt("PRAGMA user_version").status(); }

Result<Database> OpenReadOnly(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(RunsDbPath(folder), error)) return NoStore(folder);
  Result<Database> database = OpenForReading(RunsDbPath(folder));
  if (!database.ok()) return database.status();
  const Result<int32_t> version = CheckVersion(*database, RunsSchema());
  if (!version.ok()) return version.status();
  if (*version == RunsSchema().newest()) return database;
  if (*version == 0) return NoStore(folder);  // somebody is just making it
  // An older store is brought forward once, if we may.
  Result<Database> writable = OpenForWriting(folder);
  if (writable.ok()) return writable;
  return Status(
      Code::kFailedPrecondition,
      fmt::format("{} has the older schema {} and cannot be brought to {} from here ({}); run `wf runs` once as a user "
                  "who may write to it",
                  folder.string(), *version, RunsSchema().newest(), writable.status().message()));
}

}  // namespace

Result<Database> OpenForReading(const std::filesystem::path& path) {
  Result<Database> database = Database::Open(path, Database::Mode::kRead);
  if (!database.ok()) return database.status();
  const Status status = TryRead(*database);
  if (status.ok()) return database;
  if (status.code() != Code::kPermissionDenied) return status;
  // WAL needs its two side files. Without the right to make them a database at rest can still be read as it lies; but
  // not one whose last rows are in a WAL that nobody has open.
  std::error_code error;
  const uintmax_t wal = std::filesystem::file_size(path.string() + "-wal", error);
  if (!error && wal > 0) {
    return Status(
        Code::kPermissionDenied,
        fmt::format("{} was not closed properly and {} is not writable for you, so its last rows cannot be read: "
                    "read it as its owner, or copy the folder and read the copy (--store)",
                    path.string(), path.parent_path().string()));
  }
  Result<Database> immutable = Database::Open(path, Database::Mode::kImmutable);
  if (!immutable.ok()) return immutable.status();
  WF_RETURN_IF_ERROR(TryRead(*immutable));
  return immutable;
}

Result<std::unique_ptr<Store>> Store::Open(const std::filesystem::path& folder, Access access) {
  WF_RETURN_IF_ERROR(CheckFileSystem(folder));
  Result<Database> database = access == Access::kRead ? OpenReadOnly(folder) : OpenForWriting(folder);
  if (!database.ok()) return database.status();
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(folder, access, *std::move(database)));
}

}  // namespace wf::store
