//! Handles: the application's references to objects, and the registry of live objects.
//!
//! A handle points to a header whose first word is the table of functions, where the loader finds it (cl_khr_icd). A
//! header is never freed but reused later, so a released handle still points to a table, and the registry rejects it.
//! An object lives while the application holds references or other objects use it.

use std::any::Any;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};

use opencl_sys::cl_icd::cl_icd_dispatch;
use opencl_sys::{cl_int, cl_uint};
use rustc_hash::FxHashMap;

use crate::error::{Code, Result};
use crate::table::dispatch;

/// The start of every object, as cl_khr_icd 2.0 lays it out.
#[repr(C)]
struct Header {
    dispatch: *const cl_icd_dispatch,
    /// Belongs to the loader: the value that it set for the platform.
    data: AtomicPtr<c_void>,
}

/// The loader's value of the platform, which each new object gets.
static DATA: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// The number of released headers to keep before one is reused, so that stale handles are detected.
const RESERVE: usize = 4096;

/// The handle of a live object, which unregisters the object when it is dropped.
pub(crate) struct Handle(NonNull<Header>);

// SAFETY: the header is immutable except for an atomic.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

/// A kind of object.
pub(crate) trait Object: Any + Send + Sync {
    /// The error for a handle that is not of this kind.
    const INVALID: cl_int;

    /// The object's handle.
    fn handle(&self) -> &Handle;
}

type Shared = Arc<dyn Any + Send + Sync>;

struct Entry {
    object: Weak<dyn Any + Send + Sync>,
    /// Present while the application holds references.
    held: Option<Shared>,
    count: cl_uint,
}

#[derive(Default)]
struct Registry {
    live: FxHashMap<usize, Entry>,
    free: VecDeque<usize>,
}

static REGISTRY: LazyLock<RwLock<Registry>> = LazyLock::new(RwLock::default);

fn read() -> RwLockReadGuard<'static, Registry> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Registry> {
    REGISTRY.write().unwrap_or_else(PoisonError::into_inner)
}

impl Handle {
    fn new() -> Self {
        let mut registry = write();
        let reused = (registry.free.len() > RESERVE).then(|| registry.free.pop_front()).flatten();
        drop(registry);
        let data = DATA.load(Ordering::Acquire);
        let header = reused.and_then(|address| NonNull::new(std::ptr::with_exposed_provenance_mut(address)));
        let header = header.unwrap_or_else(|| {
            let header = Header { dispatch: dispatch(), data: AtomicPtr::new(null_mut()) };
            let header = NonNull::from(Box::leak(Box::new(header)));
            header.as_ptr().expose_provenance();
            header
        });
        // SAFETY: headers are never freed.
        unsafe { header.as_ref() }.data.store(data, Ordering::Release);
        Self(header)
    }

    /// The handle as the application sees it.
    pub(crate) fn raw(&self) -> *mut c_void {
        self.0.as_ptr().cast()
    }

    fn key(&self) -> usize {
        self.0.as_ptr().addr()
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let key = self.key();
        let mut registry = write();
        let entry = registry.live.remove(&key);
        registry.free.push_back(key);
        drop(registry);
        drop(entry);
    }
}

/// Sets the loader's value of the platform in all objects: the platform's devices, which exist already, and those
/// that are created later.
pub(crate) fn set_loader_data(data: *mut c_void) {
    DATA.store(data, Ordering::Release);
    for address in read().live.keys() {
        let header = NonNull::new(std::ptr::with_exposed_provenance_mut::<Header>(*address));
        let Some(header) = header else { continue };
        // SAFETY: the registry has the addresses of headers, which are never freed.
        unsafe { header.as_ref() }.data.store(data, Ordering::Release);
    }
}

/// Creates an object to which the application holds one reference.
pub(crate) fn create<T: Object>(build: impl FnOnce(Handle) -> Result<T>) -> Result<Arc<T>> {
    let object = Arc::new(build(Handle::new())?);
    let shared: Shared = object.clone();
    let entry = Entry { object: Arc::downgrade(&shared), held: Some(shared), count: 1 };
    write().live.insert(object.handle().key(), entry);
    Ok(object)
}

/// The object of a handle.
pub(crate) fn get<T: Object>(raw: *mut c_void) -> Result<Arc<T>> {
    let found = read().live.get(&raw.addr()).and_then(|entry| entry.object.upgrade());
    found.and_then(|object| object.downcast().ok()).ok_or(Code(T::INVALID))
}

/// Adds a reference of the application.
pub(crate) fn retain<T: Object>(raw: *mut c_void) -> Result {
    let object: Shared = get::<T>(raw)?;
    let mut registry = write();
    let entry = registry.live.get_mut(&raw.addr()).ok_or(Code(T::INVALID))?;
    entry.count += 1;
    entry.held = Some(object);
    Ok(())
}

/// Removes a reference of the application, and returns the number that is left. The object is dropped if nothing else
/// uses it.
pub(crate) fn release<T: Object>(raw: *mut c_void) -> Result<cl_uint> {
    // Keeps the object until the lock is released: dropping it takes the lock.
    let object = get::<T>(raw)?;
    let mut registry = write();
    let entry = registry.live.get_mut(&raw.addr()).filter(|entry| entry.count > 0);
    let entry = entry.ok_or(Code(T::INVALID))?;
    entry.count -= 1;
    let left = entry.count;
    let last = if left == 0 { entry.held.take() } else { None };
    drop(registry);
    drop(last);
    drop(object);
    Ok(left)
}

/// The number of references that the application holds; at least 1, because another object may hold the last.
pub(crate) fn count(handle: &Handle) -> cl_uint {
    read().live.get(&handle.key()).map_or(1, |entry| entry.count.max(1))
}

/// Whether a handle is that of an object.
#[cfg(test)]
pub(crate) fn is_live(raw: *mut c_void) -> bool {
    read().live.contains_key(&raw.addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing(Handle);

    impl Object for Thing {
        const INVALID: cl_int = -5;

        fn handle(&self) -> &Handle {
            &self.0
        }
    }

    fn thing() -> *mut c_void {
        create(|handle| Ok(Thing(handle))).expect("it is created").handle().raw()
    }

    #[test]
    fn a_released_handle_is_rejected() {
        let raw = thing();
        assert!(get::<Thing>(raw).is_ok());
        assert_eq!(retain::<Thing>(raw), Ok(()));
        assert_eq!(release::<Thing>(raw), Ok(1));
        assert_eq!(release::<Thing>(raw), Ok(0));
        assert_eq!(release::<Thing>(raw), Err(Code(-5)));
        assert_eq!(get::<Thing>(raw).err(), Some(Code(-5)));
        assert_eq!(get::<Thing>(null_mut()).err(), Some(Code(-5)));
    }

    #[test]
    fn objects_get_the_value_of_the_loader() {
        let value = |raw: *mut c_void| {
            // SAFETY: a handle points to a header.
            unsafe { &*raw.cast::<Header>() }.data.load(Ordering::Acquire)
        };
        let (mut first, mut second) = (0u8, 0u8);
        for expected in [&raw mut first, &raw mut second].map(<*mut u8>::cast) {
            let before = thing();
            set_loader_data(expected);
            assert_eq!([value(before), value(thing())], [expected; 2]);
        }
        set_loader_data(null_mut());
    }

    #[test]
    fn an_object_lives_while_another_uses_it() {
        let raw = thing();
        let user = get::<Thing>(raw).expect("it lives");
        assert_eq!(release::<Thing>(raw), Ok(0));
        assert_eq!(release::<Thing>(raw), Err(Code(-5)), "the application holds no reference");
        assert_eq!(retain::<Thing>(raw), Ok(()));
        drop(user);
        assert_eq!(count(get::<Thing>(raw).expect("it lives").handle()), 1);
        assert_eq!(release::<Thing>(raw), Ok(0));
        assert!(get::<Thing>(raw).is_err());
    }
}
