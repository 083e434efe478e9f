//! The pages that explain diagnostics, as files that any editor can open. The binary carries them; a page is written to the user's
//! cache when a diagnostic first names it.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

use kiln_compiler::diag::Code;
use lsp_types::Uri;

/// The page of a code; none if there is no place for it.
pub(super) fn uri(code: Code) -> Option<Uri> {
    static WRITTEN: OnceLock<Mutex<HashMap<Code, Option<Uri>>>> = OnceLock::new();
    let mut written = WRITTEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    written.entry(code).or_insert_with(|| write(&folder()?, code)).clone()
}

fn write(folder: &Path, code: Code) -> Option<Uri> {
    let path = folder.join(format!("{}.md", code.name()));
    if fs::read_to_string(&path).ok().as_deref() != Some(code.page()) {
        fs::create_dir_all(folder).ok()?;
        fs::write(&path, code.page()).ok()?;
    }
    crate::uri::uri(&crate::uri::of_path(&path))
}

/// Where the user's programs keep what they can make again: `KILN_CACHE`, which may be `off`, or the system's folder for such things.
fn folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = match variable("KILN_CACHE") {
        Some(cache) if cache == Path::new("off") => None,
        Some(cache) => Some(cache),
        None if cfg!(windows) => variable("LOCALAPPDATA").map(|folder| folder.join("kiln")),
        None if cfg!(target_os = "macos") => variable("HOME").map(|home| home.join("Library/Caches/kiln")),
        None => variable("XDG_CACHE_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".cache")))
            .map(|folder| folder.join("kiln")),
    };
    Some(cache.filter(|folder| folder.is_absolute())?.join("diagnostics"))
}
