//! Built-in functions as a table (OpenCL C 6.15): names, overloads, and how each is expressed.

use crate::id_type;

id_type! {
    /// A built-in function of the table.
    BuiltinId
}
