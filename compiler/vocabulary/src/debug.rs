//! The variables of a program and their types, for a debugger.
//!
//! The front end extracts them from a source; a debugger finds the variables in the module by their names. This module
//! depends on neither.

/// The variables of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// The types of the variables. Types refer to each other by index.
    pub types: Vec<Type>,
    /// The functions with a body.
    pub functions: Vec<Function>,
    /// The variables at program scope.
    pub globals: Vec<Variable>,
    /// The enumerators and their values.
    pub enumerators: Vec<(String, i64)>,
}

/// A function of the source, with its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The file that contains it.
    pub file: String,
    /// The line of its name.
    pub line: u32,
    /// The line of its first statement.
    pub first_line: u32,
    /// Its parameters and variables. Private or local ones with the same name are in the order of their objects in the
    /// module.
    pub variables: Vec<Variable>,
}

/// A parameter or variable of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The index of its type.
    pub ty: usize,
    /// Its storage.
    pub storage: Storage,
    /// The lines from its declaration to the end of its scope.
    pub lines: (u32, u32),
}

/// The storage of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A private object of the function, with the variable's name.
    Private,
    /// The object that the function's parameter with this index in the module points to.
    Pointee(u32),
    /// The value of the function's parameter with this index in the module.
    Parameter(u32),
    /// An object in local memory, with the variable's name.
    Local,
    /// An object in global or constant memory, with the variable's name.
    Global,
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Its name in OpenCL C.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its kind.
    pub kind: Kind,
}

/// The kind of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number.
    Number(Number),
    /// An enum, with its enumerators and their values.
    Enum(Number, Vec<(String, i64)>),
    /// A vector of numbers.
    Vector(Number, u8),
    /// A pointer, with its pointee.
    Pointer(usize),
    /// An array, with its element type and length.
    Array(usize, u64),
    /// A struct or a union.
    Record(Vec<Member>),
    /// A type without a visible value, such as an image.
    Opaque,
}

/// A kind of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// `bool`
    Bool,
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A floating-point number.
    Float,
}

/// A member of a struct or a union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name. Empty for an anonymous struct or union.
    pub name: String,
    /// The index of its type.
    pub ty: usize,
    /// Its offset in bytes.
    pub offset: u64,
}
