//! The conditions of a litmus test on its outcomes: `exists (P1:r0 == 1 /\ x == 0)`, `~exists …`, `forall …`, and the filter
//! `filter …` before it.

/// The quantifier of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// At least one outcome satisfies the condition.
    Exists,
    /// No outcome satisfies it.
    Never,
    /// All outcomes satisfy it.
    Always,
}

impl Quantifier {
    /// The verdict, given for each outcome whether it satisfies the expression.
    pub fn verdict(self, mut satisfied: impl Iterator<Item = bool>) -> bool {
        match self {
            Self::Exists => satisfied.any(|it| it),
            Self::Never => !satisfied.any(|it| it),
            Self::Always => satisfied.all(|it| it),
        }
    }
}

/// The condition of a litmus test: a quantifier, and an expression on outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The quantifier.
    pub quantifier: Quantifier,
    expression: String,
}

/// The filter and the condition after a test's program.
pub(super) type Conditions = (Option<Condition>, Option<Condition>);

/// Splits a test into the part before its conditions, and the filter and the condition.
pub(super) fn split(text: &str) -> (&str, Option<Conditions>) {
    let find = |word: &'static str| text.rfind(word).map(|at| (at, word));
    let filter = find("filter");
    let condition = ["exists", "forall"].into_iter().filter_map(find).max();
    let condition = condition.filter(|(at, _)| filter.is_none_or(|(other, _)| other < *at));
    let mut end = text.len();
    let mut conditions = (None, None);
    if let Some((at, word)) = condition {
        let before = text[..at].trim_end();
        let quantifier = match word {
            "forall" => Quantifier::Always,
            _ if before.ends_with(['~', '!']) => Quantifier::Never,
            _ => Quantifier::Exists,
        };
        conditions.1 = Some(Condition { quantifier, expression: text[at + word.len()..].to_owned() });
        end = before.trim_end_matches(['~', '!']).len();
    }
    if let Some((at, word)) = filter {
        let expression = text[at + word.len()..end].to_owned();
        conditions.0 = Some(Condition { quantifier: Quantifier::Exists, expression });
        end = at;
    }
    (&text[..end], Some(conditions))
}

impl Condition {
    /// The condition that outcomes satisfy this expression.
    pub(crate) fn new(quantifier: Quantifier, expression: String) -> Self {
        Self { quantifier, expression }
    }

    /// Reads the condition at the end of a test.
    pub fn parse(text: &str) -> Option<Self> {
        split(text).1?.1
    }

    /// Whether an outcome satisfies the expression; `value` is the value of a part. `None` if it is not understood.
    pub fn is_satisfied(&self, value: &dyn Fn(&str) -> Option<i64>) -> Option<bool> {
        let expression = self.expression.split("(* ").next()?;
        let mut parser = Parser { rest: expression.trim(), value };
        let result = parser.any()?;
        parser.rest.trim().trim_end_matches(';').is_empty().then_some(result)
    }

    /// The numbers that it compares values with.
    pub fn numbers(&self) -> Vec<i64> {
        let is_part = |c: char| c.is_alphanumeric() || "_:[]-".contains(c);
        let words = self.expression.split("(* ").next().unwrap_or_default().split(|c| !is_part(c));
        words.filter_map(|word| word.parse().ok()).collect()
    }

    /// Whether an outcome decides the verdict, given whether it satisfies the expression.
    pub fn is_decided(&self, is_satisfied: bool) -> bool {
        is_satisfied != (self.quantifier == Quantifier::Always)
    }

    /// The verdict, given for each outcome whether it satisfies the expression.
    pub fn verdict(&self, satisfied: impl Iterator<Item = bool>) -> bool {
        self.quantifier.verdict(satisfied)
    }
}

/// Evaluates an expression in an outcome.
struct Parser<'t> {
    rest: &'t str,
    value: &'t dyn Fn(&str) -> Option<i64>,
}

impl<'t> Parser<'t> {
    fn eat(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn any(&mut self) -> Option<bool> {
        let mut value = self.parse_terms()?;
        while self.eat("\\/") {
            value |= self.parse_terms()?;
        }
        Some(value)
    }

    fn parse_terms(&mut self) -> Option<bool> {
        let mut value = self.parse_term()?;
        while self.eat("/\\") {
            value &= self.parse_term()?;
        }
        Some(value)
    }

    fn parse_term(&mut self) -> Option<bool> {
        if self.eat("~") || self.eat("not ") {
            return Some(!self.parse_term()?);
        }
        if self.eat("(") {
            let value = self.any()?;
            return self.eat(")").then_some(value);
        }
        let first = self.operand()?;
        let compare: &dyn Fn(i64, i64) -> bool = match () {
            () if self.eat("!=") => &|a, b| a != b,
            () if self.eat("==") || self.eat("=") => &|a, b| a == b,
            () if self.eat(">=") => &|a, b| a >= b,
            () if self.eat("<=") => &|a, b| a <= b,
            () if self.eat(">") => &|a, b| a > b,
            () if self.eat("<") => &|a, b| a < b,
            () => return None,
        };
        Some(compare(first, self.operand()?))
    }

    fn operand(&mut self) -> Option<i64> {
        let rest = self.rest.trim_start();
        let is_part = |c: char| c.is_alphanumeric() || "_:[]-".contains(c);
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.rest = &rest[end..];
        let word = &rest[..end];
        let word = word.strip_prefix('[').map_or(word, |it| it.trim_end_matches(']'));
        word.parse().ok().or_else(|| (self.value)(word))
    }
}
