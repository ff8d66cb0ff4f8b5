#include "metrics/fork_guard.h"

#include <pthread.h>

#include <mutex>
#include <vector>

namespace wf::metrics {
namespace {

struct Watched {
  std::mutex mutex;
  std::vector<ForkAware*> objects;  // oldest first; guarded by mutex
};

Watched& TheWatched() {
  static Watched* const watched = new Watched();  // never destroyed: a fork may come during exit
  return *watched;
}

void Prepare() {
  Watched& watched = TheWatched();
  watched.mutex.lock();
  for (auto it = watched.objects.rbegin(); it != watched.objects.rend(); ++it) (*it)->LockBeforeFork();
}

void Parent() {
  Watched& watched = TheWatched();
  for (ForkAware* object : watched.objects) object->UnlockAfterFork();
  watched.mutex.unlock();
}

void Child() {
  for (ForkAware* object : TheWatched().objects) object->ResetInChild();
  Parent();
}

}  // namespace

void ForkGuard::Watch(ForkAware* object) {
  static const int kInstalled = pthread_atfork(Prepare, Parent, Child);
  static_cast<void>(kInstalled);
  const std::lock_guard guard(TheWatched().mutex);
  TheWatched().objects.push_back(object);
}

void ForkGuard::Forget(ForkAware* object) {
  const std::lock_guard guard(TheWatched().mutex);
  std::erase(TheWatched().objects, object);
}

}  // namespace wf::metrics
