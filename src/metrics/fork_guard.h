// ForkGuard: makes registries safe across fork(). Internal to this room.
//
// Before a fork it locks every watched object, the youngest first, so that no list is copied half changed; the parent
// lets go of them, the child resets them and lets go. Installed with the first object.
#ifndef WF_METRICS_FORK_GUARD_H_
#define WF_METRICS_FORK_GUARD_H_

namespace wf::metrics {

// REQUIRES of an implementation: whoever holds its lock takes only locks of objects that are older.
class ForkAware {
 public:
  virtual void LockBeforeFork() = 0;
  virtual void UnlockAfterFork() = 0;
  // In the child, with the lock held and no other thread alive.
  virtual void ResetInChild() = 0;

 protected:
  ~ForkAware() = default;
};

class ForkGuard {
 public:
  static void Watch(ForkAware* object);
  static void Forget(ForkAware* object);
};

}  // namespace wf::metrics

#endif  // WF_METRICS_FORK_GUARD_H_
