//! How deep the tree may become, judged from the tokens before any of it is built: trees are dropped, printed
//! and compiled by recursion, and no input may overflow a stack.

use super::expression::precedence;
use crate::{
    ast::BinaryOp,
    token::{Keyword, Punct, TokenKind},
};

/// The deepest that brackets nest, as in clang.
pub const MAX_BRACKETS: usize = 256;

/// The deepest that the tree nests where nothing else is asked for: no path from the root passes more statements and
/// expressions than this, brackets included. Stages that recurse over the tree may rely on it: on the 2 MiB stack of a
/// test they have 4 KiB for a level, on the main thread's 8 MiB 16 KiB. Real programs were seen to need 120. Who asks for
/// more sees to the stack, and gets it for expressions: what passes do to loops in loops is not linear in their number.
pub const MAX_DEPTH: u16 = 500;

/// The input nests too deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooDeep;

/// An upper bound of the depth of the tree at the current token, by the precedence of operators: a term of a sum is
/// no deeper for what it multiplies, and what stands beside another is not below it.
#[derive(Default)]
pub(crate) struct Nesting {
    /// The deepest that is taken.
    max_depth: u16,
    level: Level,
    /// What stands around the open brackets, outermost first.
    open: Vec<Level>,
    /// Operators to the left whose right operands are not finished. Those of a level begin where the level says, and
    /// bind ever more tightly.
    operators: Vec<Operator>,
    before: Before,
}

/// A binary operator and what stands on its left.
#[derive(Clone, Copy)]
struct Operator {
    /// How tightly it binds.
    strength: u8,
    /// The height of its left operand.
    left: u16,
    /// The height that the left operands of this and the level's operators before it give the outermost of them.
    all: u16,
}

/// What stands between two brackets. Heights are of trees of which a part is still to come. The numbers are small, as what
/// grows beyond the greatest depth is refused, and so is this, which is put away at each bracket.
#[derive(Clone, Copy, Default)]
struct Level {
    /// The depth of what holds the brackets.
    base: u16,
    /// Statements around the brackets.
    around: u16,
    /// Statements around the current one that have begun on this level.
    statements: u16,
    /// Unfinished `do`s since the last statement ended.
    dos: u16,
    /// How deep what stands behind assignments and `?` is for them.
    right: u16,
    /// `?`s whose `:` is to come.
    questions: u16,
    /// Where the level's operators begin.
    operators: u16,
    /// Prefix operators and casts before the current operand.
    prefix: u16,
    /// The height of the current operand.
    operand: u16,
    /// The greatest height of what stands finished before assignments and `?`.
    finished: u16,
    /// The height of what stands before the last comma operator.
    left: Option<u16>,
    /// The greatest height of the statements and elements before.
    beside: u16,
    /// Whether what stands between these brackets could be a type, and whether that has a name.
    could_be_type: bool,
    has_name: bool,
}

/// What the next token follows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    /// An operator, a word, or nothing.
    #[default]
    Operator,
    /// The end of an operand.
    Operand,
    /// `)` behind what may be a type: an operand, or a cast.
    Cast,
    /// A comma, which is an operator too.
    Comma,
}

impl Nesting {
    pub(crate) fn new(max_depth: u16) -> Self {
        Self { max_depth, ..Self::default() }
    }

    /// Back to where nothing is open.
    pub(crate) fn begin(&mut self) {
        *self = Self::new(self.max_depth);
    }

    /// Takes the next token; `next` is the one behind it.
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
                self.before = Before::Operand;
                self.level.could_be_type &= matches!(token, TokenKind::Name(_)) && !self.level.has_name;
                self.level.has_name = true;
                // Beside an operator it makes nothing higher.
                if before != Before::Cast {
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

    /// An element of a list has ended, and the next token is taken already: after a comma another element begins,
    /// beside the last and not below it.
    pub(crate) fn end_element(&mut self) {
        if self.before == Before::Comma {
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
        before: Before,
        next: impl FnOnce() -> Option<TokenKind>,
    ) -> Result<(), TooDeep> {
        use Punct as P;
        // What stands in brackets inside, as in `(T (*)[3])` and `(typeof(x))`, belongs to them.
        let is_bracket = matches!(
            punct,
            P::OpenParen | P::OpenBracket | P::OpenBrace | P::CloseParen | P::CloseBracket | P::CloseBrace
        );
        if !is_bracket && punct != P::Star {
            self.level.could_be_type = false;
        }
        match punct {
            P::OpenParen | P::OpenBracket | P::OpenBrace => {
                // What a cast is made of is the operand; arguments stand below the function.
                if before == Before::Cast {
                    self.begin_cast();
                }
                return self.open();
            }
            P::CloseParen => {
                let could_be_type = self.close();
                self.before = if could_be_type { Before::Cast } else { Before::Operand };
            }
            P::CloseBracket => {
                self.close();
                self.before = Before::Operand;
            }
            P::CloseBrace => {
                self.close();
                self.before = Before::Operand;
                let next = next();
                if self.ends_statement(next) && begins_statement(next) {
                    self.end_statement();
                }
            }
            P::Semicolon if self.ends_statement(next()) => self.end_statement(),
            P::Semicolon => self.end_expression(),
            P::Comma => {
                self.before = Before::Comma;
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
            P::PlusPlus | P::MinusMinus if before == Before::Operand => {
                self.level.operand += 1;
                self.before = Before::Operand;
            }
            _ => match binary(punct) {
                Some(operator) if matches!(before, Before::Operand | Before::Cast) => {
                    // `(a) - b` is a difference, or what is cast is `-b`.
                    if before == Before::Cast {
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

    /// Whether what stood between the brackets could be a type.
    fn close(&mut self) -> bool {
        let inner = self.height().max(self.level.beside);
        let could_be_type = self.level.could_be_type;
        self.end_operators();
        self.level = self.open.pop().unwrap_or_default();
        self.level.operand = self.level.operand.max(inner) + 1;
        could_be_type
    }

    /// An operand begins behind parentheses: what stood in them was a type.
    fn begin_cast(&mut self) {
        self.level.prefix += 1;
        self.level.operand = 0;
    }

    /// An operator that associates to the left takes what stands before it and binds as tightly.
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

    /// How many operators of the level wait for their right operands.
    fn pending(&self) -> u16 {
        self.operators.len() as u16 - self.level.operators
    }

    fn last_operator(&self) -> Option<Operator> {
        if self.pending() == 0 { None } else { self.operators.last().copied() }
    }

    /// What stands before an assignment, `?` or `:` is finished and hangs so much lower.
    fn finish(&mut self, lower: u16) {
        self.level.finished = self.level.finished.max(self.level.right + self.height_of_operators() + lower);
        self.end_operators();
    }

    fn end_operators(&mut self) {
        self.operators.truncate(self.level.operators.into());
        (self.level.operand, self.level.prefix) = (0, 0);
    }

    fn height_of_operators(&self) -> u16 {
        // Each of them puts what stands on its right one level lower.
        let operand = self.level.operand + self.level.prefix + self.pending();
        self.last_operator().map_or(operand, |before| before.all.max(operand))
    }

    /// The height of the current statement or element.
    fn height(&self) -> u16 {
        let height = (self.level.right + self.height_of_operators()).max(self.level.finished);
        self.level.left.map_or(height, |left| left.max(height) + 1)
    }

    /// `else` and the `while` of a `do` go on with the statement before them.
    fn ends_statement(&self, next: Option<TokenKind>) -> bool {
        match next {
            Some(TokenKind::Keyword(Keyword::Else)) => false,
            Some(TokenKind::Keyword(Keyword::While)) => self.level.dos == 0,
            _ => true,
        }
    }

    fn end_expression(&mut self) {
        self.level.beside = self.level.beside.max(self.level.statements + self.height());
        self.end_operators();
        self.level = Level { right: 0, questions: 0, finished: 0, left: None, ..self.level };
    }

    fn end_statement(&mut self) {
        self.end_expression();
        (self.level.statements, self.level.dos) = (0, 0);
    }
}

/// The operator that this is between two operands (C99 6.5.5 to 6.5.14).
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

/// Whether this token surely stands at the beginning of a statement if it stands behind `}`: otherwise the brace
/// may have closed a part of an expression.
fn begins_statement(token: Option<TokenKind>) -> bool {
    match token {
        None | Some(TokenKind::Keyword(_) | TokenKind::Name(_) | TokenKind::Pragma(_)) => true,
        Some(TokenKind::Punct(punct)) => matches!(punct, Punct::OpenBrace | Punct::CloseBrace),
        Some(_) => false,
    }
}
