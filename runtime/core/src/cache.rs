//! A cache on disk of the driver's compiled pipelines, shared between processes.
//!
//! Owns the cache directory: file names, the header of each file, eviction. Files are written under a unique
//! temporary name and then renamed, so processes may share the directory and may be killed at any time. Damaged files
//! are ignored. Must not depend on what the bytes mean. A failure here never makes anything else fail.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// A cache directory.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: PathBuf,
}

/// The key of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    device: u64,
    module: u64,
}

const MAGIC: &[u8; 8] = b"kilnpc02";
/// The size of a file header: magic word, length, checksum.
const FRAME: usize = 24;
/// The maximum size of the directory.
const MAX_BYTES: u64 = 256 << 20;
const MAX_FILES: usize = 4096;
/// The age at which temporary files of killed processes are removed.
const ABANDONED: Duration = Duration::from_secs(3600);

impl Key {
    /// Derives the key from the identity of device and driver, and the module. Entries with other magic words, of other versions of
    /// Kiln, have other keys.
    pub(crate) fn new(device: &[u8], module: &[u32]) -> Self {
        let words = module.iter().flat_map(|word| word.to_le_bytes());
        Self { device: fnv1a(MAGIC.iter().chain(device).copied()), module: fnv1a(words) }
    }

    fn file_name(self) -> String {
        format!("{:016x}-{:016x}.bin", self.device, self.module)
    }
}

/// The FNV-1a hash, which is stable across processes and versions.
fn fnv1a(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

impl Cache {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Returns the entry, if it exists and is intact.
    pub(crate) fn load(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.folder.join(key.file_name());
        let mut bytes = fs::read(&path).ok()?;
        let intact = intact_payload(&bytes).is_some();
        if !intact {
            tracing::warn!("`{}` is damaged and is ignored", path.display());
            return None;
        }
        Some(bytes.split_off(FRAME))
    }

    /// Stores an entry, replacing any with the same key.
    pub(crate) fn store(&self, key: Key, bytes: &[u8]) {
        if let Err(error) = self.write(key, bytes) {
            tracing::warn!("kernels are not cached in `{}`: {error}", self.folder.display());
        }
    }

    fn write(&self, key: Key, bytes: &[u8]) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        fs::create_dir_all(&self.folder)?;
        self.remove_old_files()?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let own = self.folder.join(format!("{}.{}.{number}.tmp", key.file_name(), std::process::id()));
        let written = fs::File::create_new(&own).and_then(|mut file| {
            file.write_all(MAGIC)?;
            file.write_all(&(bytes.len() as u64).to_le_bytes())?;
            file.write_all(&fnv1a(bytes.iter().copied()).to_le_bytes())?;
            file.write_all(bytes)?;
            drop(file);
            fs::rename(&own, self.folder.join(key.file_name()))
        });
        if written.is_err() {
            let _ = fs::remove_file(&own);
        }
        written
    }

    /// Removes the oldest files while the directory is too large, and abandoned temporary files.
    fn remove_old_files(&self) -> io::Result<()> {
        let now = SystemTime::now();
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            // Another process may have removed the file.
            let Ok(data) = entry.metadata() else { continue };
            let changed = data.modified().unwrap_or(now);
            let path = entry.path();
            match path.extension().and_then(|ending| ending.to_str()) {
                Some("tmp") if now.duration_since(changed).is_ok_and(|age| age > ABANDONED) => {
                    let _ = fs::remove_file(&path);
                }
                Some("bin") => files.push((changed, data.len(), path)),
                _ => {}
            }
        }
        let mut total: u64 = files.iter().map(|(_, size, _)| size).sum();
        let mut count = files.len();
        if total > MAX_BYTES || count > MAX_FILES {
            files.sort();
            for (_, size, path) in files {
                if total <= MAX_BYTES / 2 && count <= MAX_FILES / 2 {
                    break;
                }
                let _ = fs::remove_file(&path);
                total -= size;
                count -= 1;
            }
        }
        Ok(())
    }
}

/// The payload of a file, if it is intact.
fn intact_payload(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (check, rest) = rest.split_first_chunk::<8>()?;
    let whole = u64::from_le_bytes(*length) == rest.len() as u64;
    (whole && u64::from_le_bytes(*check) == fnv1a(rest.iter().copied())).then_some(rest)
}

/// The default cache directory: `KILN_CACHE`, which may be `off`, or else the user's cache directory.
pub(crate) fn usual_folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    match variable("KILN_CACHE") {
        Some(value) if value == "off" => None,
        Some(value) => Some(value.into()),
        None => variable("XDG_CACHE_HOME")
            .map(PathBuf::from)
            .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache")))
            .map(|folder| folder.join("kiln")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().expect("a folder");
        let cache = Cache::new(&folder.path().join("deeper"));
        (folder, cache)
    }

    #[test]
    fn entries_have_a_device_and_a_module_as_key() {
        let (_folder, cache) = cache();
        let [one, two, three] = [Key::new(b"a", &[1]), Key::new(b"b", &[1]), Key::new(b"a", &[2])];
        assert_eq!(cache.load(one), None);
        cache.store(one, b"first");
        cache.store(two, b"");
        assert_eq!(cache.load(one).as_deref(), Some(b"first".as_slice()));
        assert_eq!(cache.load(two).as_deref(), Some(b"".as_slice()));
        assert_eq!(cache.load(three), None);
        cache.store(one, b"second");
        assert_eq!(cache.load(one).as_deref(), Some(b"second".as_slice()));
    }

    /// A file with any single byte changed or missing is rejected.
    #[test]
    fn damaged_files_are_ignored() {
        let (_folder, cache) = cache();
        let key = Key::new(b"device", &[7]);
        cache.store(key, b"some bytes");
        let path = cache.folder.join(key.file_name());
        let good = fs::read(&path).expect("a file");
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            fs::write(&path, &bad).expect("a file can be written");
            assert_eq!(cache.load(key), None, "byte {at}");
            fs::write(&path, &good[..at]).expect("a file can be written");
            assert_eq!(cache.load(key), None, "the first {at} bytes");
        }
        // A process killed while writing leaves only its temporary file.
        fs::write(cache.folder.join(format!("{}.1.0.tmp", key.file_name())), &good[..9]).expect("a file");
        cache.store(key, b"again");
        assert_eq!(cache.load(key).as_deref(), Some(b"again".as_slice()));
    }

    #[test]
    fn concurrent_writers_leave_complete_files() {
        let (_folder, cache) = cache();
        let key = Key::new(b"device", &[7]);
        std::thread::scope(|scope| {
            for writer in 0..8u8 {
                let cache = &cache;
                scope.spawn(move || {
                    for _ in 0..50 {
                        cache.store(key, &vec![writer; 1000 + usize::from(writer)]);
                        let read = cache.load(key).expect("a whole file");
                        assert!(read.iter().all(|byte| *byte == read[0]));
                        assert_eq!(read.len(), 1000 + usize::from(read[0]));
                    }
                });
            }
        });
        let left = fs::read_dir(&cache.folder).expect("a folder").count();
        assert_eq!(left, 1);
    }

    #[test]
    fn the_folder_has_a_maximum_size() {
        let (_folder, cache) = cache();
        for number in 0..MAX_FILES as u32 + 10 {
            fs::create_dir_all(&cache.folder).expect("a folder");
            fs::write(cache.folder.join(Key::new(b"", &[number]).file_name()), b"x").expect("a file");
        }
        cache.store(Key::new(b"new", &[]), b"new");
        assert!(fs::read_dir(&cache.folder).expect("a folder").count() <= MAX_FILES / 2 + 1);
        assert!(cache.load(Key::new(b"new", &[])).is_some());
    }

    #[test]
    fn a_read_only_folder_is_not_an_error() {
        let (folder, _) = cache();
        let file = folder.path().join("file");
        fs::write(&file, b"").expect("a file");
        let cache = Cache::new(&file);
        cache.store(Key::new(b"", &[]), b"x");
        assert_eq!(cache.load(Key::new(b"", &[])), None);
    }
}
