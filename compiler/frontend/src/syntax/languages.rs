//! Messages for syntax of C++, CUDA, GLSL, HLSL and Metal, and for names that cannot be names.

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{parse::Construct, token::Keyword};

use super::{
    common_mistakes::ErrorContext,
    words::{self, identifier_end, last_word},
};
use crate::foreign;

/// Keywords that are types by themselves.
const SCALARS: [&str; 8] = ["bool", "char", "double", "float", "half", "int", "long", "short"];

impl ErrorContext<'_> {
    /// `k<<<1, 64>>>(out)`. The error is at the third `<`.
    pub(super) fn launch(&self) -> Option<Diagnostic> {
        if !self.before().ends_with("<<") || !self.text[self.at.clone()].starts_with('<') {
            return None;
        }
        let span = self.span_of(self.at.start - 2..self.at.end);
        let diagnostic = Diagnostic::new(Code::Syntax, span, "`<<<` is CUDA; OpenCL C has no launches");
        Some(diagnostic.help(
            "the host launches kernels with `clEnqueueNDRangeKernel`, and a kernel with `enqueue_kernel`",
        ))
    }

    /// `int &a`
    pub(super) fn reference(&self) -> Option<Diagnostic> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let behind = self.text[self.at.end..].trim_start();
        let rest = behind[identifier_end(behind)..].trim_start();
        let is_declared = self.before().ends_with(is_word) && behind.starts_with(is_word);
        (is_declared && rest.starts_with([',', ')', '=', ';', ':'])).then(|| {
            self.report("OpenCL C has no references")
                .help("declare a pointer with `*`, and write `*` before it at each use")
        })
    }

    /// `int(x)`, `new int[4]`
    pub(super) fn conversion(&self, keyword: Keyword) -> Option<Diagnostic> {
        if last_word(self.before()) == "new" {
            return Some(self.no_new());
        }
        let word = keyword.spelling();
        let behind = &self.text[self.at.end..];
        let is_operand = behind.trim_start().starts_with(char::is_alphanumeric)
            && self.before().ends_with(['=', '+', '-', '/', '<', '>', '?', ':']);
        if !SCALARS.contains(&word) || !(behind.starts_with('(') || is_operand) {
            return None;
        }
        let meant = format!("({word})");
        let message = format!("expected an expression, but `{word}` is a type");
        Some(self.report(message).help(format!("a conversion is written `{meant}(…)`")).fix(
            self.span,
            format!("write `{meant}`"),
            meant,
        ))
    }

    fn no_new(&self) -> Diagnostic {
        self.report("OpenCL C has no `new`").help("kernels cannot allocate memory; declare an array")
    }

    /// `static_cast<float>(n)`. The error is at the type.
    pub(super) fn cast_of_cpp(&self) -> Option<Diagnostic> {
        let before = self.before().strip_suffix('<')?;
        let word = last_word(before);
        let casts = ["bit_cast", "const_cast", "dynamic_cast", "reinterpret_cast", "static_cast"];
        let is_cast = casts.contains(&word);
        let line = self.rest_of_line();
        let ty = line[..line.find('>').filter(|_| is_cast)?].trim_end();
        let start = before.len() - word.len();
        let end = self.at.start + line.find('>')? + 1;
        let meant = if word == "bit_cast" { format!("as_{ty}") } else { format!("({ty})") };
        Some(self.replace(start..end, format!("`{word}` is C++"), &meant))
    }

    /// `delete[] p`
    pub(super) fn delete(&self) -> Option<Diagnostic> {
        let before = self.before().strip_suffix('[')?.trim_end();
        (last_word(before) == "delete").then(|| self.no_delete())
    }

    fn no_delete(&self) -> Diagnostic {
        self.report("OpenCL C has no `delete`").help("remove it: kernels cannot allocate memory")
    }

    /// The last word before a missing `;` is C++: `throw 1`, `try {`, `new S()`, `not n`.
    pub(super) fn word_of_cpp(&self, after: Construct) -> Option<Diagnostic> {
        let before = self.before();
        let word = last_word(before);
        let start = before.len() - word.len();
        Some(match word {
            "not" => self.replace(start..before.len(), "`not` is not an operator of OpenCL C", "!"),
            "throw" | "try" => self
                .report("OpenCL C has no exceptions")
                .help("store an error code in a buffer, and end the kernel with `return`"),
            "new" => self.no_new(),
            "delete" => self.no_delete(),
            _ if after == Construct::Expression && kiln_builtins::is_name(word) && self.is_before_word() => {
                self.report(format!("the arguments of `{word}` are not in parentheses"))
            }
            _ => {
                let note = foreign::explain_word(word)?;
                let span = self.span_of(start..before.len());
                Diagnostic::new(Code::Syntax, span, format!("there is no type `{word}`")).note(note)
            }
        })
    }

    /// Whether a word or a number follows.
    fn is_before_word(&self) -> bool {
        self.text[self.at.start..].trim_start().starts_with(char::is_alphanumeric)
    }

    /// `using namespace std;`
    pub(super) fn using(&self) -> Option<Diagnostic> {
        (last_word(self.before()) == "using").then(|| {
            self.report("`using` is C++; OpenCL C has no namespaces")
                .help("remove it, and the `std::` of names")
        })
    }

    /// `int my-var = 1`, `int 2x = 1`, `void f int a`
    pub(super) fn name_of_declaration(&self, after: Construct) -> Option<Diagnostic> {
        if after != Construct::Declaration {
            return None;
        }
        let (before, rest) = (self.before(), self.rest_of_line());
        let name = last_word(before);
        let is_adjacent = before.len() == self.at.start;
        if let Some(behind) = rest.strip_prefix('-')
            && is_adjacent
            && behind.starts_with(char::is_alphabetic)
        {
            let written = format!("{name}-{}", &behind[..identifier_end(behind)]);
            let span = self.span_of(before.len() - name.len()..self.at.start + written.len() - name.len());
            let message = format!("a name cannot contain `-`, so `{written}` is a difference");
            return Some(Diagnostic::new(Code::Syntax, span, message).help("use `_` in names"));
        }
        let rest = self.text[self.at.start..].trim_start();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 && identifier_end(rest) > digits {
            return Some(self.report("a name cannot begin with a digit"));
        }
        let ahead = before.strip_suffix(name)?.trim_end();
        (last_word(ahead) == "void" && rest.starts_with(char::is_alphabetic)).then(|| {
            self.report(format!("expected `(` after `{name}`"))
                .help("the parameters of a function are in parentheses")
        })
    }

    /// `int local = 3`
    pub(super) fn keyword_as_name(&self) -> Option<Diagnostic> {
        let before = self.before();
        let word = last_word(before);
        let ahead = last_word(before[..before.len() - word.len()].trim_end());
        let is_keyword = |text: &str| Keyword::ALL.iter().any(|(keyword, _)| *keyword == text);
        let is_type = SCALARS.contains(&ahead) && !matches!(ahead, "long" | "short");
        if !is_keyword(word) || !is_type {
            return None;
        }
        let span = self.span_of(before.len() - word.len()..before.len());
        let message = format!("`{word}` is a keyword and cannot be a name");
        Some(Diagnostic::new(Code::Syntax, span, message).help("choose another name"))
    }

    /// `enum class Color { … }`
    pub(super) fn enum_class(&self) -> Option<Diagnostic> {
        let before = self.before();
        let ahead = before[..before.len() - last_word(before).len()].trim_end();
        let word = last_word(ahead);
        let is_enum = last_word(ahead[..ahead.len() - word.len()].trim_end()) == "enum";
        if !is_enum || !matches!(word, "class" | "struct") {
            return None;
        }
        let span = self.span_of(ahead.len() - word.len()..ahead.len());
        let diagnostic = Diagnostic::new(Code::Syntax, span, format!("`enum {word}` is C++"));
        let help = format!("remove `{word}`, and write the enumerators without `::`");
        Some(diagnostic.help(help).remove(span, format!("remove `{word}`")))
    }

    /// `struct S { float f() { … } };`
    pub(super) fn member_function(&self) -> Option<Diagnostic> {
        let before = self.before().strip_suffix(')')?;
        let open = words::enclosing(before)?;
        let brace = words::enclosing(&before[..open])?;
        let ahead = before[..brace].trim_end();
        let tag = ahead[..ahead.len() - last_word(ahead).len()].trim_end();
        let is_record = [last_word(ahead), last_word(tag)].iter().any(|it| matches!(*it, "struct" | "union"));
        if !is_record || !before[brace..].starts_with('{') {
            return None;
        }
        let name = last_word(before[..open].trim_end());
        let end = before[..open].trim_end().len();
        let span = self.span_of(end - name.len()..end);
        let message = format!("`{name}` cannot be a member: a struct of OpenCL C has no functions");
        let help = "declare the function at program scope, with a pointer to the struct as a parameter";
        Some(Diagnostic::new(Code::Syntax, span, message).help(help))
    }

    /// `enum Color : uchar { … }`
    pub(super) fn type_of_enum(&self) -> Option<Diagnostic> {
        let before = self.before();
        let ahead = before[..before.len() - last_word(before).len()].trim_end();
        let line = self.rest_of_line();
        let written = line[..line.find('{')?].trim_end();
        if last_word(ahead) != "enum" {
            return None;
        }
        let span = self.span_of(self.at.start..self.at.start + written.len());
        let diagnostic = Diagnostic::new(Code::Syntax, span, "an `enum` of OpenCL C has no type of its own");
        Some(
            diagnostic
                .help(format!("remove `{written}`, and store the values in objects of that type"))
                .note("C99 6.7.2.2: the compiler chooses the type")
                .remove(span, format!("remove `{written}`")),
        )
    }

    /// A macro of one token where a name is declared: the error is in its definition.
    pub(super) fn macro_as_name(&self, name: &str) -> Option<Diagnostic> {
        let line = self.before().rfind('\n').map_or(0, |end| end + 1);
        let ahead = words::definition(&self.text[line..self.at.start], name)?;
        let behind = self.text[self.at.end..].lines().next().unwrap_or_default();
        let written = &self.text[self.at.clone()];
        (ahead.trim().is_empty() && behind.trim().is_empty() && written.starts_with(char::is_alphanumeric))
            .then(|| {
                self.report(format!("`{name}` is a macro that expands to `{written}` here"))
                    .help("choose another name, or write `#undef` before it")
            })
    }

    /// `int a, int b;`
    pub(super) fn repeated_type(&self) -> Option<Diagnostic> {
        let found = &self.text[self.at.clone()];
        if !SCALARS.contains(&found) && !matches!(found, "const" | "signed" | "struct" | "unsigned") {
            return None;
        }
        let before = self.before().strip_suffix(',')?;
        let open = words::enclosing(before).map(|open| &before[open..=open]);
        let diagnostic = self.report("a declaration has one type, which is written once");
        if open == Some("(") {
            return Some(diagnostic.help("leave the second type out"));
        }
        let comma = self.span_of(before.len()..before.len() + 1);
        Some(diagnostic.help("write `;` instead of the `,`").fix(comma, "write `;`", ";"))
    }

    /// `kernel void (global int *a)`
    pub(super) fn function_without_name(&self) -> Option<Diagnostic> {
        let before = self.before().strip_suffix('(')?.trim_end();
        let word = last_word(before);
        let is_type = word == "void" || SCALARS.contains(&word);
        let span = self.span_of(before.len()..before.len() + 1);
        is_type.then(|| Diagnostic::new(Code::Syntax, span, "this function has no name"))
    }

    /// `if (a) || (b)`
    pub(super) fn condition_that_ends(&self, operator: &str) -> Option<Diagnostic> {
        let before = self.before();
        let open = words::opening(before)?;
        let word = last_word(before[..open].trim_end());
        matches!(word, "if" | "while").then(|| {
            self.report(format!("the condition of `{word}` ends before this `{operator}`"))
                .help("put parentheses around the whole condition")
        })
    }

    /// `a > 1 && < 5`, `case > 5:`
    pub(super) fn lonely_comparison(&self, operator: &str) -> Option<Diagnostic> {
        if !matches!(operator, "<" | ">" | "<=" | ">=" | "==" | "!=") {
            return None;
        }
        let diagnostic = self.report(format!("expected an expression before `{operator}`"));
        if last_word(self.before()) == "case" {
            return Some(diagnostic.help("a label is a value; use `if` for a comparison"));
        }
        self.before()
            .ends_with(['&', '|'])
            .then(|| diagnostic.help("each comparison has two operands: write the left one again"))
    }

    /// `case 1, 2:`
    pub(super) fn label_list(&self) -> Option<Diagnostic> {
        let before = self.before();
        let start = before.rfind([';', '{', '}', ':']).map_or(0, |at| at + 1);
        before[start..]
            .trim_start()
            .starts_with("case")
            .then(|| self.replace(self.at.clone(), "a label has one value", ": case"))
    }

    /// `struct S { int a = 1; }`
    pub(super) fn member_value(&self) -> Option<Diagnostic> {
        let before = self.before();
        let head = &before[..words::enclosing(before).filter(|open| before[*open..].starts_with('{'))?];
        let head = &head[head.rfind([';', '{', '}', ')']).map_or(0, |at| at + 1)..];
        head.split_whitespace().any(|word| matches!(word, "struct" | "union")).then(|| {
            self.report("a member cannot have a value in its declaration")
                .help("initialize the objects: `struct S s = {1};`")
        })
    }

    /// `layout(local_size_x = 64) in;`
    pub(super) fn layout(&self) -> Option<Diagnostic> {
        let before = self.before();
        let open = words::enclosing(before)?;
        (last_word(before[..open].trim_end()) == "layout").then(|| {
            self.report("`layout` is GLSL").help(
                "a kernel has `__attribute__((reqd_work_group_size(64, 1, 1)))` before it, and its arguments \
                 have no layout",
            )
        })
    }

    /// `[numthreads(64, 1, 1)]`
    pub(super) fn thread_group_size(&self) -> Option<Diagnostic> {
        let line = self.rest_of_line();
        let size = line.strip_prefix("[numthreads(")?;
        let size = &size[..size.find(")]")?];
        let range = self.at.start..self.at.start + "[numthreads(".len() + size.len() + ")]".len();
        let meant = format!("__attribute__((reqd_work_group_size({size}))) kernel");
        Some(self.replace(range, "`numthreads` is HLSL", &meant))
    }

    /// `uint i [[thread_position_in_grid]]`
    pub(super) fn position_in_brackets(&self) -> Option<Diagnostic> {
        let line = self.rest_of_line();
        let inner = match line.strip_prefix("[[") {
            Some(inner) => inner,
            None => line.strip_prefix('[').filter(|_| self.before().ends_with('['))?,
        };
        let function = match &inner[..identifier_end(inner)] {
            "thread_position_in_grid" => "get_global_id(0)",
            "thread_position_in_threadgroup" => "get_local_id(0)",
            "threadgroup_position_in_grid" => "get_group_id(0)",
            "buffer" | "texture" | "sampler" => {
                return Some(
                    self.report("OpenCL C has no attributes in brackets")
                        .help("remove it: arguments are numbered in their order"),
                );
            }
            _ => return None,
        };
        let diagnostic = self.report("OpenCL C has no attributes in brackets");
        Some(diagnostic.help(format!("remove the parameter, and call `{function}`")))
    }

    /// `kernel void k(void) x = 1;`
    pub(super) fn bare_body(&self) -> Option<Diagnostic> {
        let before = self.before();
        let is_outside = words::enclosing(before).is_none();
        (before.ends_with(')') && is_outside).then(|| {
            self.report("expected `{` after the declaration").help("the body of a function is in braces")
        })
    }

    /// `enqueue_kernel(queue, flags, range, { … })`
    pub(super) fn block_without_caret(&self) -> Option<Diagnostic> {
        let rest = &self.text[self.at.start..];
        let brace = self.at.start + (rest.len() - rest.trim_start().len());
        if !self.text[brace..].starts_with('{') || !self.before().ends_with([',', '(']) {
            return None;
        }
        let span = self.span_of(brace..brace + 1);
        let diagnostic = Diagnostic::new(Code::Syntax, span, "a block begins with `^`");
        Some(diagnostic.help("write `^{`").fix(span, "write `^{`", "^{"))
    }
}
