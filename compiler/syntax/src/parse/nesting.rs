//! Bounds the depth of the tree, computed from the tokens before the tree is built. Trees are traversed recursively,
//! so unbounded input could overflow the stack.

use super::expression::precedence;
use crate::{
    ast::BinaryOp,
    token::{Keyword, Punct, TokenKind},
};

/// The maximum nesting of brackets, as in clang.
pub const MAX_BRACKETS: usize = 256;

/// The default maximum depth of the tree. Each path from the root contains at most this number of statements and
/// expressions, including brackets. Recursive stages may rely on it: a test's stack of 2 MiB has 4 KiB per level, the
/// main thread's 8 MiB have 16 KiB. Real programs need up to 120. A caller that requests more must provide the stack.
/// The larger limit applies to expressions only, because the time of some passes is not linear in the depth of loops.
pub const MAX_DEPTH: u16 = 500;

/// The input nests too deeply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// An upper bound for the depth of the tree at the current token, using operator precedence: factors do not deepen a
/// sum, and siblings are not nested.
#[derive(Default)]
pub(crate) struct Nesting {
    /// The maximum depth.
    max_depth: u16,
    level: Level,
    /// The enclosing brackets, outermost first.
    open: Vec<Level>,
    /// Operators whose right operands are incomplete. Those of a level start at its `operators` index and bind ever
    /// more tightly.
    operators: Vec<Operator>,
    before: PrecedingToken,
}

/// A binary operator with its left operand.
#[derive(Clone, Copy)]
struct Operator {
    /// Its precedence.
    strength: u8,
    /// The height of its left operand.
    left: u16,
    /// The height of the outermost operator of the level, counting left operands only.
    all: u16,
}

/// The contents of a pair of brackets. Heights are of incomplete trees. The numbers are small, because depths above
/// the maximum are rejected. The struct is small too, because each bracket saves one.
#[derive(Clone, Copy, Default)]
struct Level {
    /// The depth of the construct with the brackets.
    base: u16,
    /// The number of statements around the brackets.
    around: u16,
    /// The number of open statements on this level around the current one.
    statements: u16,
    /// The number of incomplete `do` statements since the end of the last statement.
    dos: u16,
    /// The extra depth of right operands of assignments and `?`.
    right: u16,
    /// The number of `?` without their `:`.
    questions: u16,
    /// The start of the level's operators.
    operators: u16,
    /// The number of prefix operators and casts before the current operand.
    prefix: u16,
    /// The height of the current operand.
    operand: u16,
    /// The maximum height of complete operands of assignments and `?`.
    finished: u16,
    /// The height of the left operand of the last comma operator.
    left: Option<u16>,
    /// The maximum height of preceding statements and elements in the same brackets.
    siblings: u16,
    /// Whether the brackets may contain a type, and whether that has a name.
    could_be_type: bool,
    has_name: bool,
}

/// The preceding token.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum PrecedingToken {
    /// An operator, a keyword, or nothing.
    #[default]
    Operator,
    /// The end of an operand.
    Operand,
    /// `)` after a possible type: the end of an operand, or of a cast.
    Cast,
    /// A comma, which is an operator too.
    Comma,
}

impl Nesting {
    pub(crate) fn new(max_depth: u16) -> Self {
        Self { max_depth, ..Self::default() }
    }

    /// Resets the state to no open brackets.
    pub(crate) fn begin(&mut self) {
        *self = Self::new(self.max_depth);
    }

    /// Processes the next token. `next` is the one after it.
    pub(crate) fn take(
        &mut self,
        token: TokenKind,
        next: impl FnOnce() -> Option<TokenKind>,
    ) -> Result<(), TooDeep> {
        let before = std::mem::take(&mut self.before);
        match token {
            TokenKind::Punct(punct) => self.punct(punct, before, next)?,
            TokenKind::Keyword(keyword) => self.keyword(keyword),
            _ => {
                self.before = PrecedingToken::Operand;
                self.level.could_be_type &= matches!(token, TokenKind::Name(_)) && !self.level.has_name;
                self.level.has_name = true;
                // Nested brackets do not increase the height of the other operands.
                if before != PrecedingToken::Cast {
                    return Ok(());
                }
                self.begin_cast();
            }
        }
        let Level { base, around, statements, .. } = self.level;
        if base + statements + self.height() > self.max_depth || around + statements > MAX_DEPTH {
            Err(TooDeep)
        } else {
            Ok(())
        }
    }

    /// Ends an element of a list, after its token has been processed: the element after a comma is a sibling, not
    /// nested.
    pub(crate) fn end_element(&mut self) {
        if self.before == PrecedingToken::Comma {
            self.end_statement();
        }
    }

    fn keyword(&mut self, keyword: Keyword) {
        match keyword {
            Keyword::If | Keyword::For | Keyword::While | Keyword::Switch => self.level.statements += 1,
            Keyword::Do => {
                self.level.dos += 1;
                self.level.statements += 1;
            }
            Keyword::Sizeof | Keyword::Alignof | Keyword::VecStep => self.level.prefix += 1,
            _ => {}
        }
    }

    fn punct(
        &mut self,
        punct: Punct,
        before: PrecedingToken,
        next: impl FnOnce() -> Option<TokenKind>,
    ) -> Result<(), TooDeep> {
        use Punct as P;
        // Brackets inside, as in `(T (*)[3])` and `(typeof(x))`, are part of the type.
        let is_bracket = matches!(
            punct,
            P::OpenParen | P::OpenBracket | P::OpenBrace | P::CloseParen | P::CloseBracket | P::CloseBrace
        );
        if !is_bracket && punct != P::Star {
            self.level.could_be_type = false;
        }
        match punct {
            P::OpenParen | P::OpenBracket | P::OpenBrace => {
                // The operand of a cast is at its level; arguments are below the function.
                if before == PrecedingToken::Cast {
                    self.begin_cast();
                }
                return self.open();
            }
            P::CloseParen => {
                let could_be_type = self.close();
                self.before = if could_be_type { PrecedingToken::Cast } else { PrecedingToken::Operand };
            }
            P::CloseBracket => {
                self.close();
                self.before = PrecedingToken::Operand;
            }
            P::CloseBrace => {
                self.close();
                self.before = PrecedingToken::Operand;
                let next = next();
                if self.ends_statement(next) && begins_statement(next) {
                    self.end_statement();
                }
            }
            P::Semicolon if self.ends_statement(next()) => self.end_statement(),
            P::Semicolon => self.end_expression(),
            P::Comma => {
                self.before = PrecedingToken::Comma;
                let left = self.height();
                self.end_operators();
                self.level = Level { left: Some(left), right: 0, finished: 0, ..self.level };
            }
            P::Question => {
                self.finish(1);
                self.level.right += 1;
                self.level.questions += 1;
            }
            P::Colon if self.level.questions > 0 => {
                self.finish(0);
                self.level.questions -= 1;
            }
            P::Colon => {
                self.end_expression();
                self.level.statements += 1;
            }
            P::Dot | P::Arrow => self.level.operand += 1,
            P::PlusPlus | P::MinusMinus if before == PrecedingToken::Operand => {
                self.level.operand += 1;
                self.before = PrecedingToken::Operand;
            }
            _ => match binary(punct) {
                Some(operator) if matches!(before, PrecedingToken::Operand | PrecedingToken::Cast) => {
                    // `(a) - b` is a difference, or `-b` is the operand of a cast.
                    if before == PrecedingToken::Cast {
                        self.level.right += 1;
                    }
                    self.operator(precedence(operator));
                }
                None if is_assignment(punct) => {
                    self.finish(1);
                    self.level.right += 1;
                }
                _ => self.level.prefix += 1,
            },
        }
        Ok(())
    }

    fn open(&mut self) -> Result<(), TooDeep> {
        let level = &self.level;
        let depth = level.base + level.statements + level.right + level.prefix + self.pending() + 1;
        self.open.push(self.level);
        self.level = Level {
            base: depth,
            around: level.around + level.statements,
            operators: self.operators.len() as u16,
            could_be_type: true,
            ..Level::default()
        };
        if self.open.len() > MAX_BRACKETS { Err(TooDeep) } else { Ok(()) }
    }

    /// Whether the brackets may contain a type.
    fn close(&mut self) -> bool {
        let inner = self.height().max(self.level.siblings);
        let could_be_type = self.level.could_be_type;
        self.end_operators();
        self.level = self.open.pop().unwrap_or_default();
        self.level.operand = self.level.operand.max(inner) + 1;
        could_be_type
    }

    /// An operand follows the parentheses, so they contained a type.
    fn begin_cast(&mut self) {
        self.level.prefix += 1;
        self.level.operand = 0;
    }

    /// A left-associative operator: takes the preceding operands that bind at least as tightly.
    fn operator(&mut self, strength: u8) {
        let mut height = self.level.operand + self.level.prefix;
        while let Some(before) = self.last_operator()
            && before.strength >= strength
        {
            height = height.max(before.left) + 1;
            self.operators.pop();
        }
        let all = self.last_operator().map_or(0, |before| before.all).max(height + self.pending() + 1);
        self.operators.push(Operator { strength, left: height, all });
        (self.level.operand, self.level.prefix) = (0, 0);
    }

    /// The number of the level's operators with incomplete right operands.
    fn pending(&self) -> u16 {
        self.operators.len() as u16 - self.level.operators
    }

    fn last_operator(&self) -> Option<Operator> {
        if self.pending() == 0 { None } else { self.operators.last().copied() }
    }

    /// Completes the operand before an assignment, `?` or `:`, `lower` levels deeper.
    fn finish(&mut self, lower: u16) {
        self.level.finished = self.level.finished.max(self.level.right + self.height_of_operators() + lower);
        self.end_operators();
    }

    fn end_operators(&mut self) {
        self.operators.truncate(self.level.operators.into());
        (self.level.operand, self.level.prefix) = (0, 0);
    }

    fn height_of_operators(&self) -> u16 {
        // Each operator puts its right operand one level deeper.
        let operand = self.level.operand + self.level.prefix + self.pending();
        self.last_operator().map_or(operand, |before| before.all.max(operand))
    }

    /// The height of the current statement or element.
    fn height(&self) -> u16 {
        let height = (self.level.right + self.height_of_operators()).max(self.level.finished);
        self.level.left.map_or(height, |left| left.max(height) + 1)
    }

    /// `else`, and the `while` of a `do`, continue the previous statement.
    fn ends_statement(&self, next: Option<TokenKind>) -> bool {
        match next {
            Some(TokenKind::Keyword(Keyword::Else)) => false,
            Some(TokenKind::Keyword(Keyword::While)) => self.level.dos == 0,
            _ => true,
        }
    }

    fn end_expression(&mut self) {
        self.level.siblings = self.level.siblings.max(self.level.statements + self.height());
        self.end_operators();
        self.level = Level { right: 0, questions: 0, finished: 0, left: None, ..self.level };
    }

    fn end_statement(&mut self) {
        self.end_expression();
        (self.level.statements, self.level.dos) = (0, 0);
    }
}

/// The binary operator for a punctuator (C99 6.5.5 to 6.5.14).
fn binary(punct: Punct) -> Option<BinaryOp> {
    use Punct as P;
    Some(match punct {
        P::OrOr => BinaryOp::LogicalOr,
        P::CaretCaret => BinaryOp::LogicalXor,
        P::AndAnd => BinaryOp::LogicalAnd,
        P::Or => BinaryOp::BitOr,
        P::Caret => BinaryOp::BitXor,
        P::And => BinaryOp::BitAnd,
        P::EqualEqual => BinaryOp::Equal,
        P::NotEqual => BinaryOp::NotEqual,
        P::Less => BinaryOp::Less,
        P::Greater => BinaryOp::Greater,
        P::LessEqual => BinaryOp::LessEqual,
        P::GreaterEqual => BinaryOp::GreaterEqual,
        P::ShiftLeft => BinaryOp::ShiftLeft,
        P::ShiftRight => BinaryOp::ShiftRight,
        P::Plus => BinaryOp::Add,
        P::Minus => BinaryOp::Subtract,
        P::Star => BinaryOp::Multiply,
        P::Slash => BinaryOp::Divide,
        P::Percent => BinaryOp::Remainder,
        _ => return None,
    })
}

fn is_assignment(punct: Punct) -> bool {
    use Punct as P;
    matches!(
        punct,
        P::Equal
            | P::StarEqual
            | P::SlashEqual
            | P::PercentEqual
            | P::PlusEqual
            | P::MinusEqual
            | P::ShiftLeftEqual
            | P::ShiftRightEqual
            | P::AndEqual
            | P::CaretEqual
            | P::OrEqual
    )
}

/// Whether this token definitely starts a statement after `}`. Otherwise the brace may be part of an expression.
fn begins_statement(token: Option<TokenKind>) -> bool {
    match token {
        None | Some(TokenKind::Keyword(_) | TokenKind::Name(_) | TokenKind::Pragma(_)) => true,
        Some(TokenKind::Punct(punct)) => matches!(punct, Punct::OpenBrace | Punct::CloseBrace),
        Some(_) => false,
    }
}
