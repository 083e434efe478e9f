//! Expected diagnostics in comments: `// error: [code] "text"` and `// warning: [code]` at the end of the line, or
//! above it with a `v` for each line down: `// v error: [code]`. Every diagnostic must be expected, and every
//! expectation must be met.

use crate::kiln::Diagnostic;

/// An expectation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Expectation {
    /// The name of the file in the test.
    file: String,
    line: usize,
    severity: &'static str,
    code: String,
    /// A substring of the message.
    text: String,
}

/// Parses the comments of a source.
pub(crate) fn parse(file: &str, source: &str) -> Result<Vec<Expectation>, String> {
    let mut found = Vec::new();
    for (line, number) in source.lines().zip(1..) {
        for comment in line.split("//").skip(1) {
            let comment = comment.trim();
            let body = comment.trim_start_matches('v');
            let down = comment.len() - body.len();
            let body = body.trim_start();
            let severities = ["error", "warning"].into_iter();
            let Some((severity, rest)) = severities
                .filter_map(|word| Some((word, body.strip_prefix(word)?.strip_prefix(':')?)))
                .next()
            else {
                continue;
            };
            let (code, text) = code_and_text(rest.trim()).ok_or_else(|| {
                format!("{file}:{number}: `{comment}` is not `{severity}: [code] \"text\"`")
            })?;
            found.push(Expectation {
                file: file.to_owned(),
                line: number + down,
                severity,
                code: code.to_owned(),
                text: text.to_owned(),
            });
        }
    }
    Ok(found)
}

fn code_and_text(text: &str) -> Option<(&str, &str)> {
    let (code, rest) = text.strip_prefix('[')?.split_once(']')?;
    let text = match rest.trim() {
        "" => "",
        quoted => quoted.strip_prefix('"')?.strip_suffix('"')?,
    };
    Some((code, text))
}

impl Expectation {
    /// The code in brackets.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    fn is_met_by(&self, diagnostic: &Diagnostic) -> bool {
        let location = diagnostic.location.as_ref();
        location.is_some_and(|location| {
            location.file.trim_start_matches("./") == self.file && location.line == self.line
        }) && diagnostic.severity == self.severity
            && diagnostic.code == self.code
            && diagnostic.message.contains(&self.text)
    }
}

/// The mismatches, one per line; empty if there are none. Each diagnostic meets one expectation.
pub(crate) fn compare(expectations: &[Expectation], diagnostics: &[Diagnostic]) -> Vec<String> {
    let mut open: Vec<&Expectation> = expectations.iter().collect();
    let mut complaints = Vec::new();
    for diagnostic in diagnostics {
        // Longest text first, so that an expectation without text does not match another's diagnostic.
        let met = (0..open.len())
            .filter(|index| open[*index].is_met_by(diagnostic))
            .max_by_key(|index| open[*index].text.len());
        match met {
            Some(index) => drop(open.remove(index)),
            None => complaints.push(format!("not expected: {}", shown(diagnostic))),
        }
    }
    complaints.extend(open.iter().map(|it| {
        format!("not reported: {}:{}: {}: [{}] \"{}\"", it.file, it.line, it.severity, it.code, it.text)
    }));
    complaints
}

fn shown(diagnostic: &Diagnostic) -> String {
    let location =
        diagnostic.location.as_ref().map(|location| format!("{}:{}: ", location.file, location.line));
    format!(
        "{}{}: [{}] \"{}\"",
        location.unwrap_or_default(),
        diagnostic.severity,
        diagnostic.code,
        diagnostic.message
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kiln::Location;

    fn diagnostic(line: usize, code: &str, message: &str) -> Diagnostic {
        Diagnostic {
            severity: "error".to_owned(),
            code: code.to_owned(),
            message: message.to_owned(),
            location: Some(Location { file: "test.cl".to_owned(), line }),
            fix: None,
        }
    }

    const SOURCE: &str = "\
int a // error: [syntax] \"`;` is missing\"
// vv error: [one] // v error: [two]
int b;
int c;
";

    #[test]
    fn expectations_are_parsed_from_comments() {
        let found = parse("test.cl", SOURCE).unwrap();
        let actual: Vec<_> = found.iter().map(|it| (it.line, it.code.as_str(), it.text.as_str())).collect();
        assert_eq!(actual, [(1, "syntax", "`;` is missing"), (4, "one", ""), (3, "two", "")]);
        assert!(parse("test.cl", "x; // error: syntax").is_err());
        assert_eq!(parse("test.cl", "x; // errors are bad; http://a").unwrap(), []);
    }

    #[test]
    fn missing_and_unexpected_diagnostics_are_reported() {
        let expected = parse("test.cl", SOURCE).unwrap();
        let all = [
            diagnostic(1, "syntax", "a `;` is missing"),
            diagnostic(4, "one", "x"),
            diagnostic(3, "two", "y"),
        ];
        assert_eq!(compare(&expected, &all), [""; 0]);
        assert_eq!(
            compare(&expected, &all[1..]),
            ["not reported: test.cl:1: error: [syntax] \"`;` is missing\""]
        );
        assert_eq!(compare(&expected[..2], &all), ["not expected: test.cl:3: error: [two] \"y\""]);
        assert_eq!(compare(&expected[..1], &[diagnostic(1, "syntax", "other")]).len(), 2);
    }
}
