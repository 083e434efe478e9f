//! Pages as files that any editor can open: the explanation of a diagnostic, and the overloads of a built-in
//! function, which has no definition. Pages are written to the user's cache on first use.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

use kiln_session::diag::Code;
use lsp_types::Uri;

/// The page of a diagnostic; `None` if there is no cache directory.
pub(crate) fn diagnostic(code: Code) -> Option<Uri> {
    page(&format!("diagnostics/{}.md", code.name()), || code.page().to_owned())
}

/// The page of a built-in function with this text.
pub(crate) fn builtin(name: &str, text: impl FnOnce() -> String) -> Option<Uri> {
    page(&format!("builtins/{name}.cl"), text)
}

/// Writes a page once per process.
fn page(path: &str, text: impl FnOnce() -> String) -> Option<Uri> {
    static WRITTEN: OnceLock<Mutex<HashMap<String, Option<Uri>>>> = OnceLock::new();
    let mut written = WRITTEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    written.entry(path.to_owned()).or_insert_with(|| write(&folder()?.join(path), &text())).clone()
}

fn write(path: &Path, text: &str) -> Option<Uri> {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::create_dir_all(path.parent()?).ok()?;
        fs::write(path, text).ok()?;
    }
    crate::uri::uri(&crate::uri::name_of_path(path))
}

/// The cache directory: `KILN_CACHE`, which may be `off`, or else the system's cache directory.
fn folder() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = match variable("KILN_CACHE") {
        // Tests must not write to the user's directories.
        None if cfg!(test) => None,
        Some(cache) if cache == Path::new("off") => None,
        Some(cache) => Some(cache),
        None if cfg!(windows) => variable("LOCALAPPDATA").map(|folder| folder.join("kiln")),
        None if cfg!(target_os = "macos") => variable("HOME").map(|home| home.join("Library/Caches/kiln")),
        None => variable("XDG_CACHE_HOME")
            .or_else(|| variable("HOME").map(|home| home.join(".cache")))
            .map(|folder| folder.join("kiln")),
    };
    cache.filter(|folder| folder.is_absolute())
}
