//! Expressions of the user: names, members, elements and arithmetic, without effects and without calls of the program.
//!
//! Owns their grammar and their values. Must not depend on the protocol.

use crate::value::{Reader, Value, ValueType};

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    Name(String),
    Int(i128),
    Float(f64),
    /// A query of the work-item, such as `get_global_id(0)`.
    Query(String, usize),
    Member(Box<Expr>, String),
    Element(Box<Expr>, Box<Expr>),
    Deref(Box<Expr>),
    AddressOf(Box<Expr>),
    Unary(char, Box<Expr>),
    Binary(String, Box<Expr>, Box<Expr>),
}

/// Binary operators by precedence, loosest first.
const BINARY: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];
/// The maximum nesting.
const MAX_DEPTH: u32 = 64;

/// Parses an expression.
pub(crate) fn parse(text: &str) -> Result<Expr, String> {
    let mut parser = Parser { rest: text, depth: 0 };
    let expr = parser.binary(0)?;
    match parser.rest.trim_start() {
        "" => Ok(expr),
        rest => Err(format!("`{rest}` is not expected here")),
    }
}

struct Parser<'t> {
    rest: &'t str,
    depth: u32,
}

impl<'t> Parser<'t> {
    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(token);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.eat(token) { Ok(()) } else { Err(format!("`{token}` is missing")) }
    }

    fn binary(&mut self, level: usize) -> Result<Expr, String> {
        let Some(operators) = BINARY.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.binary(level + 1)?;
            left = Expr::Binary(operator.to_owned(), Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operator(&mut self, operators: &[&'static str]) -> Option<&'static str> {
        let rest = self.rest.trim_start();
        // Takes the longest operator at this position, so that `<<` is not parsed as `<`.
        let longest =
            BINARY.iter().copied().flatten().filter(|it| rest.starts_with(**it)).max_by_key(|it| it.len())?;
        let operator = operators.iter().copied().find(|it| it == longest)?;
        self.rest = &rest[operator.len()..];
        Some(operator)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the expression nests too deeply".to_owned());
        }
        let result = match () {
            () if self.eat("*") => self.unary().map(|it| Expr::Deref(Box::new(it))),
            () if self.eat("&") => self.unary().map(|it| Expr::AddressOf(Box::new(it))),
            () if self.eat("-") => self.unary().map(|it| Expr::Unary('-', Box::new(it))),
            () if self.eat("!") => self.unary().map(|it| Expr::Unary('!', Box::new(it))),
            () if self.eat("~") => self.unary().map(|it| Expr::Unary('~', Box::new(it))),
            () => self.postfix(),
        };
        self.depth -= 1;
        result
    }

    fn postfix(&mut self) -> Result<Expr, String> {
        let mut expr = self.primary()?;
        loop {
            if self.eat("[") {
                let index = self.binary(0)?;
                self.expect("]")?;
                expr = Expr::Element(Box::new(expr), Box::new(index));
            } else if self.eat("->") {
                expr = Expr::Member(Box::new(Expr::Deref(Box::new(expr))), self.parse_name()?.to_owned());
            } else if self.eat(".") {
                expr = Expr::Member(Box::new(expr), self.parse_name()?.to_owned());
            } else {
                return Ok(expr);
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, String> {
        if self.eat("(") {
            let expr = self.binary(0)?;
            self.expect(")")?;
            return Ok(expr);
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.parse_number();
        }
        let name = self.parse_name()?;
        if name.starts_with("get_") && self.eat("(") {
            let dimension = if self.eat(")") { 0 } else { self.dimension()? };
            return Ok(Expr::Query(name.to_owned(), dimension));
        }
        Ok(match name {
            "true" => Expr::Int(1),
            "false" | "NULL" => Expr::Int(0),
            _ => Expr::Name(name.to_owned()),
        })
    }

    fn dimension(&mut self) -> Result<usize, String> {
        let dimension = match self.parse_number()? {
            Expr::Int(dimension @ 0..=2) => dimension as usize,
            _ => return Err("a dimension is 0, 1 or 2".to_owned()),
        };
        self.expect(")")?;
        Ok(dimension)
    }

    fn parse_name(&mut self) -> Result<&'t str, String> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        self.rest = after;
        match name {
            "" => Err(if rest.is_empty() {
                "an operand is missing".to_owned()
            } else {
                format!("`{rest}` is not an operand")
            }),
            name => Ok(name),
        }
    }

    fn parse_number(&mut self) -> Result<Expr, String> {
        let rest = self.rest.trim_start();
        let mut end = rest.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(rest.len());
        let is_hex = rest.starts_with("0x") || rest.starts_with("0X");
        // The sign of an exponent.
        if !is_hex && rest[..end].ends_with(['e', 'E']) && rest[end..].starts_with(['+', '-']) {
            let tail = &rest[end + 1..];
            end += 1 + tail.find(|c: char| !c.is_alphanumeric()).unwrap_or(tail.len());
        }
        let (text, after) = rest.split_at(end);
        self.rest = after;
        let wrong = || format!("`{text}` is not a number");
        if is_hex {
            let digits = text[2..].trim_end_matches(['u', 'U', 'l', 'L']);
            return i128::from_str_radix(digits, 16).map(Expr::Int).map_err(|_| wrong());
        }
        let plain = text.trim_end_matches(['u', 'U', 'l', 'L']);
        match plain.parse() {
            Ok(number) => Ok(Expr::Int(number)),
            Err(_) => {
                text.trim_end_matches(['f', 'F', 'h', 'H']).parse().map(Expr::Float).map_err(|_| wrong())
            }
        }
    }
}

/// Looks up a variable by its name.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// The value of an expression for a work-item.
pub(crate) fn evaluate(expr: &Expr, reader: &Reader<'_>, lookup: Lookup<'_>) -> Result<Value, String> {
    let object = |expr: &Expr| evaluate(expr, reader, lookup);
    let loaded = |expr: &Expr| object(expr).and_then(|value| reader.loaded(value));
    match expr {
        Expr::Int(value) => Ok(Value::Int(*value)),
        Expr::Float(value) => Ok(Value::Float(*value)),
        Expr::Name(name) => lookup(name).ok_or_else(|| format!("`{name}` is not visible here")),
        Expr::Query(name, dimension) => query(reader, name, *dimension),
        Expr::Member(base, name) => {
            let base = object(base)?;
            reader
                .member(&base, name)
                .ok_or_else(|| format!("`{}` has no member `{name}`", reader.type_of(&base)))
        }
        Expr::Element(base, index) => match (object(base)?, loaded(index)?) {
            (base, Value::Int(index)) => element(reader, base, index),
            _ => Err("an index is an integer".to_owned()),
        },
        Expr::Deref(pointer) => match loaded(pointer)? {
            Value::Pointer(ty, address) => Ok(Value::Object(ty, address)),
            other => Err(format!("`{}` is not a pointer", reader.type_of(&other))),
        },
        Expr::AddressOf(of) => match object(of)? {
            Value::Object(ty, address) => Ok(Value::Pointer(ty, address)),
            _ => Err("this has no address".to_owned()),
        },
        Expr::Unary(operator, operand) => match (operator, loaded(operand)?) {
            ('-', Value::Int(value)) => Ok(Value::Int(value.wrapping_neg())),
            ('-', Value::Float(value)) => Ok(Value::Float(-value)),
            ('~', Value::Int(value)) => Ok(Value::Int(!value)),
            ('!', value) => Ok(Value::Int((!is_true(&value)?).into())),
            (operator, _) => Err(format!("`{operator}` has an operand of a different type")),
        },
        Expr::Binary(operator, left, right) => {
            let left = loaded(left)?;
            match operator.as_str() {
                "&&" => Ok(Value::Int((is_true(&left)? && is_true(&loaded(right)?)?).into())),
                "||" => Ok(Value::Int((is_true(&left)? || is_true(&loaded(right)?)?).into())),
                operator => binary(reader, operator, left, loaded(right)?),
            }
        }
    }
}

/// An element of an array, of the objects that a pointer points to, or of a vector.
fn element(reader: &Reader<'_>, base: Value, index: i128) -> Result<Value, String> {
    match reader.loaded(base)? {
        Value::Pointer(ty, address) => {
            let offset = (reader.size(ty) as i128).wrapping_mul(index);
            Ok(Value::Object(ty, address.wrapping_add(offset as u64)))
        }
        vector @ Value::Object(..)
            if u64::try_from(index).is_ok_and(|index| index < reader.count(&vector)) =>
        {
            let slice = crate::value::Slice { start: index as u64, count: 1 };
            reader
                .parts(&vector, slice)
                .pop()
                .map(|(_, part)| part)
                .ok_or_else(|| "it has no elements".to_owned())
        }
        other => Err(format!("`{}` has no element {index}", reader.type_of(&other))),
    }
}

/// Whether a condition holds.
pub(crate) fn is_true(value: &Value) -> Result<bool, String> {
    match value {
        Value::Int(value) => Ok(*value != 0),
        Value::Float(value) => Ok(*value != 0.0),
        Value::Pointer(_, address) => Ok(*address != 0),
        Value::Object(..) | Value::Opaque(_) => Err("a condition is a number".to_owned()),
    }
}

fn query(reader: &Reader<'_>, name: &str, dimension: usize) -> Result<Value, String> {
    let [local, global, groups] = reader.item.sizes();
    let value = match name {
        "get_global_id" => reader.item.global_id()[dimension].into(),
        "get_local_id" => reader.item.local_id()[dimension].into(),
        "get_group_id" => reader.item.group_id()[dimension].into(),
        "get_local_size" => local[dimension].into(),
        "get_global_size" => global[dimension].into(),
        "get_num_groups" => groups[dimension].into(),
        _ => return Err(format!("`{name}` cannot be called here")),
    };
    Ok(Value::Int(value))
}

fn binary(reader: &Reader<'_>, operator: &str, left: Value, right: Value) -> Result<Value, String> {
    let float = |value: &Value| match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    };
    match (&left, &right) {
        (Value::Int(left), Value::Int(right)) => integers(operator, *left, *right),
        (Value::Pointer(ty, address), Value::Int(by)) if matches!(operator, "+" | "-") => {
            let bytes = (reader.size(*ty) as i128).wrapping_mul(*by) as u64;
            let address =
                if operator == "+" { address.wrapping_add(bytes) } else { address.wrapping_sub(bytes) };
            Ok(Value::Pointer(*ty, address))
        }
        (Value::Pointer(_, left), Value::Pointer(_, right)) => {
            integers(operator, i128::from(*left), i128::from(*right))
        }
        (Value::Pointer(_, left), Value::Int(right)) | (Value::Int(right), Value::Pointer(_, left)) => {
            integers(operator, i128::from(*left), *right)
        }
        _ => match (float(&left), float(&right)) {
            (Some(left), Some(right)) => floats(operator, left, right),
            _ => Err(format!("`{operator}` has operands of other types")),
        },
    }
}

fn integers(operator: &str, left: i128, right: i128) -> Result<Value, String> {
    let shift = || u32::try_from(right).ok().filter(|by| *by < 64).ok_or("the shift is too large");
    let value = match operator {
        "+" => left.wrapping_add(right),
        "-" => left.wrapping_sub(right),
        "*" => left.wrapping_mul(right),
        "/" => left.checked_div(right).ok_or("division by zero")?,
        "%" => left.checked_rem(right).ok_or("division by zero")?,
        "&" => left & right,
        "|" => left | right,
        "^" => left ^ right,
        "<<" => left.wrapping_shl(shift()?),
        ">>" => left.wrapping_shr(shift()?),
        "==" => (left == right).into(),
        "!=" => (left != right).into(),
        "<" => (left < right).into(),
        "<=" => (left <= right).into(),
        ">" => (left > right).into(),
        ">=" => (left >= right).into(),
        _ => return Err(format!("`{operator}` is not an operator")),
    };
    Ok(Value::Int(value))
}

fn floats(operator: &str, left: f64, right: f64) -> Result<Value, String> {
    let truth = |holds: bool| Value::Int(holds.into());
    Ok(match operator {
        "+" => Value::Float(left + right),
        "-" => Value::Float(left - right),
        "*" => Value::Float(left * right),
        "/" => Value::Float(left / right),
        "==" => truth(left == right),
        "!=" => truth(left != right),
        "<" => truth(left < right),
        "<=" => truth(left <= right),
        ">" => truth(left > right),
        ">=" => truth(left >= right),
        _ => return Err(format!("`{operator}` is for integers")),
    })
}

/// Whether the expression is a number, for tests without a work-item.
#[cfg(test)]
fn constant(expr: &Expr) -> Result<Value, String> {
    match expr {
        Expr::Int(value) => Ok(Value::Int(*value)),
        Expr::Float(value) => Ok(Value::Float(*value)),
        Expr::Binary(operator, left, right) => match (constant(left)?, constant(right)?) {
            (Value::Int(left), Value::Int(right)) => integers(operator, left, right),
            (Value::Float(left), Value::Float(right)) => floats(operator, left, right),
            _ => Err("mixed".to_owned()),
        },
        _ => Err("not constant".to_owned()),
    }
}

/// The type of an object that this value can be assigned to.
pub(crate) fn target(value: &Value) -> Option<(ValueType, u64)> {
    match value {
        Value::Object(ty, address) => Some((*ty, *address)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_have_the_precedence_of_c() {
        let value = |text: &str| parse(text).and_then(|expr| constant(&expr));
        assert_eq!(value("1 + 2 * 3"), Ok(Value::Int(7)));
        assert_eq!(value("(1 + 2) * 3 % 4"), Ok(Value::Int(1)));
        assert_eq!(value("6 & 3 == 3"), Ok(Value::Int(0)));
        assert_eq!(value("1.5 + 1e-1f"), Ok(Value::Float(1.6)));
        assert_eq!(value("0xffu - 1"), Ok(Value::Int(254)));
        assert_eq!(value("1 / 0"), Err("division by zero".to_owned()));
    }

    #[test]
    fn mistakes_are_described() {
        assert_eq!(parse("a +"), Err("an operand is missing".to_owned()));
        assert_eq!(parse("a b"), Err("`b` is not expected here".to_owned()));
        assert_eq!(parse("p[1"), Err("`]` is missing".to_owned()));
        assert_eq!(parse("1x"), Err("`1x` is not a number".to_owned()));
        assert!(parse(&"(".repeat(1000)).is_err());
    }

    #[test]
    fn members_and_elements_nest() {
        let name = |name: &str| Box::new(Expr::Name(name.to_owned()));
        let element = Expr::Element(name("s"), Box::new(Expr::Int(1)));
        let member = Expr::Member(Box::new(Expr::Deref(Box::new(element))), "x".to_owned());
        assert_eq!(parse("s[1]->x"), Ok(member));
        assert_eq!(parse("get_local_id(1)"), Ok(Expr::Query("get_local_id".to_owned(), 1)));
    }
}
