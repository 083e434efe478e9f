//! The options of a style, and the predefined styles. Independent of the syntax of `.clang-format`.

/// Where tabs are used (`UseTab`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tabs {
    /// Nowhere.
    Never,
    /// For all white space at the start of a line.
    Always,
    /// For the indentation of statements only.
    ForIndentation,
}

/// The position of `*` in declarations (`PointerAlignment`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// `int* p`
    Left,
    /// `int *p`
    Right,
    /// `int * p`
    Middle,
}

/// Where a space precedes a parenthesis (`SpaceBeforeParens`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parens {
    /// Nowhere.
    Never,
    /// After `if`, `for`, `while` and `switch`.
    ControlStatements,
    /// After names of functions, too.
    Always,
}

/// On which side of binary operators lines are broken (`BreakBeforeBinaryOperators`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operators {
    /// After them.
    After,
    /// Before them, but after assignments.
    BeforeNonAssignment,
    /// Before them.
    Before,
}

/// Which functions are on one line (`AllowShortFunctionsOnASingleLine`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortFunctions {
    /// None.
    None,
    /// Empty functions.
    Empty,
    /// All that fit.
    All,
}

/// Which `if` statements are on one line (`AllowShortIfStatementsOnASingleLine`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortIfs {
    /// None.
    Never,
    /// Those without `else`.
    WithoutElse,
    /// All that fit, with their `else`.
    All,
}

/// Which blocks are on one line (`AllowShortBlocksOnASingleLine`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortBlocks {
    /// None.
    Never,
    /// Empty blocks.
    Empty,
    /// All that fit.
    Always,
}

/// Where braces are on a separate line (`BraceWrapping`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Braces {
    /// The brace of a function.
    pub after_function: bool,
    /// The brace of a control statement.
    pub after_control: bool,
    /// The brace of a structure.
    pub after_struct: bool,
    /// The brace of a union.
    pub after_union: bool,
    /// The brace of an enumeration.
    pub after_enum: bool,
    /// The brace after a case label.
    pub after_case: bool,
    /// `else` after a brace.
    pub before_else: bool,
    /// `while` after the brace of `do`.
    pub before_while: bool,
}

impl Braces {
    /// The braces of a predefined style (`BreakBeforeBraces`). `None` if there is no such style.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let none = Self::default();
        let function = Self { after_function: true, ..none };
        let records = Self { after_struct: true, after_union: true, after_enum: true, ..function };
        let all = Self { after_control: true, after_case: true, before_else: true, ..records };
        Some(match name {
            "Attach" => none,
            "Linux" | "WebKit" => function,
            "Mozilla" => records,
            "Stroustrup" => Self { before_else: true, ..function },
            "Allman" => all,
            "Whitesmiths" | "GNU" => Self { before_while: true, ..all },
            _ => return None,
        })
    }
}

/// A style. Each field corresponds to an option of clang-format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// `DisableFormat`
    pub disabled: bool,
    /// `IndentWidth`
    pub indent_width: usize,
    /// `ContinuationIndentWidth`
    pub continuation_width: usize,
    /// `ColumnLimit`; 0 is no limit, and keeps the line breaks of the source.
    pub column_limit: usize,
    /// `TabWidth`
    pub tab_width: usize,
    /// `UseTab`
    pub tabs: Tabs,
    /// `MaxEmptyLinesToKeep`
    pub empty_lines: usize,
    /// `KeepEmptyLinesAtTheStartOfBlocks`
    pub empty_lines_in_blocks: bool,
    /// `IndentCaseLabels`
    pub indent_case_labels: bool,
    /// `IndentGotoLabels`
    pub indent_goto_labels: bool,
    /// `BraceWrapping` and `BreakBeforeBraces`
    pub braces: Braces,
    /// `PointerAlignment`
    pub pointer: Pointer,
    /// `SpaceBeforeParens`
    pub parens: Parens,
    /// `SpaceAfterCStyleCast`
    pub space_after_cast: bool,
    /// `SpaceAfterLogicalNot`
    pub space_after_not: bool,
    /// `SpaceBeforeAssignmentOperators`
    pub space_before_assignment: bool,
    /// `SpacesInParentheses`
    pub spaces_in_parens: bool,
    /// `SpacesInSquareBrackets`
    pub spaces_in_squares: bool,
    /// `Cpp11BracedListStyle`, reversed: spaces inside the braces of initializers.
    pub spaces_in_braces: bool,
    /// `SpacesBeforeTrailingComments`
    pub before_comment: usize,
    /// `AlignTrailingComments`
    pub align_comments: bool,
    /// `AlignAfterOpenBracket`: whether arguments are aligned.
    pub align_brackets: bool,
    /// `AlignOperands`: whether operands are aligned.
    pub align_operands: bool,
    /// `BreakBeforeBinaryOperators`
    pub operators: Operators,
    /// `BreakBeforeTernaryOperators`
    pub before_ternary: bool,
    /// `AllowShortFunctionsOnASingleLine`
    pub short_functions: ShortFunctions,
    /// `AllowShortIfStatementsOnASingleLine`
    pub short_ifs: ShortIfs,
    /// `AllowShortLoopsOnASingleLine`
    pub short_loops: bool,
    /// `AllowShortCaseLabelsOnASingleLine`
    pub short_cases: bool,
    /// `AllowShortBlocksOnASingleLine`
    pub short_blocks: ShortBlocks,
    /// `AllowShortEnumsOnASingleLine`
    pub short_enums: bool,
}

impl Default for Style {
    /// The style without a `.clang-format`: LLVM's, with an indentation of 4 and lines of 100 columns. Only empty
    /// functions are on one line.
    fn default() -> Self {
        Self { indent_width: 4, column_limit: 100, short_functions: ShortFunctions::Empty, ..Self::llvm() }
    }
}

impl Style {
    /// LLVM's style.
    fn llvm() -> Self {
        Self {
            disabled: false,
            indent_width: 2,
            continuation_width: 4,
            column_limit: 80,
            tab_width: 8,
            tabs: Tabs::Never,
            empty_lines: 1,
            empty_lines_in_blocks: true,
            indent_case_labels: false,
            indent_goto_labels: true,
            braces: Braces::default(),
            pointer: Pointer::Right,
            parens: Parens::ControlStatements,
            space_after_cast: false,
            space_after_not: false,
            space_before_assignment: true,
            spaces_in_parens: false,
            spaces_in_squares: false,
            spaces_in_braces: false,
            before_comment: 1,
            align_comments: true,
            align_brackets: true,
            align_operands: true,
            operators: Operators::After,
            before_ternary: true,
            short_functions: ShortFunctions::All,
            short_ifs: ShortIfs::Never,
            short_loops: false,
            short_cases: false,
            short_blocks: ShortBlocks::Never,
            short_enums: true,
        }
    }

    /// A predefined style (`BasedOnStyle`), in any case. `None` if there is no such style.
    pub fn named(name: &str) -> Option<Self> {
        let llvm = Self::llvm();
        let braces = |name: &str| Braces::named(name).unwrap_or_default();
        let google = Self {
            indent_case_labels: true,
            empty_lines_in_blocks: false,
            pointer: Pointer::Left,
            before_comment: 2,
            short_ifs: ShortIfs::WithoutElse,
            short_loops: true,
            ..Self::llvm()
        };
        Some(match name.to_ascii_lowercase().as_str() {
            "llvm" => llvm,
            "google" => google,
            "chromium" => Self { short_ifs: ShortIfs::Never, short_loops: false, ..google },
            "mozilla" => Self {
                braces: braces("Mozilla"),
                indent_case_labels: true,
                pointer: Pointer::Left,
                spaces_in_braces: true,
                continuation_width: 2,
                short_functions: ShortFunctions::Empty,
                ..llvm
            },
            "webkit" => Self {
                braces: braces("WebKit"),
                indent_width: 4,
                column_limit: 0,
                pointer: Pointer::Left,
                spaces_in_braces: true,
                align_comments: false,
                align_brackets: false,
                align_operands: false,
                operators: Operators::Before,
                short_blocks: ShortBlocks::Empty,
                ..llvm
            },
            "gnu" => Self {
                braces: braces("GNU"),
                column_limit: 79,
                parens: Parens::Always,
                operators: Operators::Before,
                spaces_in_braces: true,
                short_functions: ShortFunctions::None,
                ..llvm
            },
            "microsoft" => Self {
                braces: braces("Allman"),
                indent_width: 4,
                column_limit: 120,
                tab_width: 4,
                short_functions: ShortFunctions::None,
                short_enums: false,
                ..llvm
            },
            "none" => Self { disabled: true, ..llvm },
            _ => return None,
        })
    }
}
