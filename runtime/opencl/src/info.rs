//! Answers to queries (`clGet…Info`): the bytes of a value, of a list or of a text.

use std::ffi::c_void;

use bytemuck::NoUninit;
use opencl_sys::*;

use crate::error::Result;
use crate::ffi;

/// The bytes of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer(Vec<u8>);

impl Answer {
    /// A plain value.
    pub(crate) fn from_value<T: NoUninit>(value: T) -> Self {
        Self(bytemuck::bytes_of(&value).to_vec())
    }

    /// `cl_bool`
    pub(crate) fn flag(value: bool) -> Self {
        Self::from_value(cl_bool::from(value))
    }

    /// A list of plain values.
    pub(crate) fn list<T: NoUninit>(values: &[T]) -> Self {
        Self(bytemuck::cast_slice(values).to_vec())
    }

    /// A text, which ends with a zero.
    pub(crate) fn text(value: &str) -> Self {
        Self([value.as_bytes(), &[0]].concat())
    }

    /// A handle or another pointer.
    pub(crate) fn pointer(value: *mut c_void) -> Self {
        Self::from_value(value.expose_provenance())
    }

    /// A list of handles.
    pub(crate) fn pointers(values: impl IntoIterator<Item = *mut c_void>) -> Self {
        let addresses: Vec<usize> = values.into_iter().map(|value| value.expose_provenance()).collect();
        Self::list(&addresses)
    }

    /// A list of names with versions.
    pub(crate) fn versions<'a>(names: impl IntoIterator<Item = (&'a str, cl_version)>) -> Self {
        let mut bytes = Vec::new();
        for (name, version) in names {
            let mut field = [0; CL_NAME_VERSION_MAX_NAME_SIZE];
            // The last byte stays zero.
            let length = name.len().min(field.len() - 1);
            field[..length].copy_from_slice(&name.as_bytes()[..length]);
            bytes.extend_from_slice(&version.to_ne_bytes());
            bytes.extend_from_slice(&field);
        }
        Self(bytes)
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Answers a query.
pub(crate) fn answer(
    size: usize,
    value: *mut c_void,
    size_ret: *mut usize,
    find: impl FnOnce() -> Result<Answer>,
) -> cl_int {
    ffi::call(|| ffi::answer(find()?.bytes(), size, value, size_ret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_fixed_fields() {
        let answer = Answer::versions([("cl_khr_icd", 1), ("x", 2)]);
        assert_eq!(answer.bytes().len(), 2 * size_of::<cl_name_version>());
        assert_eq!(&answer.bytes()[4..14], b"cl_khr_icd");
        assert_eq!(Answer::text("ab").bytes(), b"ab\0");
    }
}
