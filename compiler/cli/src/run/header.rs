//! Launches in a source's leading comment: lines that begin with `kiln run`, and the more deeply indented lines that
//! follow.

use crate::{
    arguments::{LaunchArguments, parse_launch},
    exit::{Failure, failure},
};

/// The launches of each `kiln run` in the leading comment.
pub(super) fn launches(text: &str) -> Result<Vec<Vec<LaunchArguments>>, Failure> {
    commands(text).iter().map(|command| parse(command)).collect()
}

fn parse(command: &str) -> Result<Vec<LaunchArguments>, Failure> {
    let words = words(command)?;
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    // A command that was copied from a terminal names the source.
    if words.first().is_some_and(|word| word.ends_with(".cl")) {
        words.remove(0);
    }
    words
        .split(|word| *word == "then")
        .map(|words| {
            parse_launch(words).map_err(|error| Failure(format!("in the source's comment: {error}")))
        })
        .collect::<Result<Vec<_>, _>>()
        .and_then(|launches| if launches.is_empty() { failure("the launch is empty") } else { Ok(launches) })
}

/// The words of a command, as a shell splits it: words with blanks are in quotes.
fn words(command: &str) -> Result<Vec<String>, Failure> {
    shlex::split(command).ok_or_else(|| Failure("in the source's comment: a quote is not closed".to_owned()))
}

/// The text after each `kiln run`.
fn commands(text: &str) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut depth = None;
    for line in comment_lines(text) {
        let indent = line.len() - line.trim_start().len();
        let words = line.trim();
        let rest = words.strip_prefix("kiln run").filter(|rest| rest.is_empty() || rest.starts_with(' '));
        if let Some(rest) = rest {
            commands.push(rest.trim_start().to_owned());
            depth = Some(indent);
        } else if depth.is_some_and(|depth| indent > depth) && !words.is_empty() {
            if let Some(command) = commands.last_mut() {
                command.push(' ');
                command.push_str(words);
            }
        } else {
            depth = None;
        }
    }
    commands
}

/// The lines of the comments at the start of the source, without comment markers.
fn comment_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text.trim_start();
    loop {
        if let Some(after) = rest.strip_prefix("//") {
            let (line, after) = after.split_once('\n').unwrap_or((after, ""));
            lines.push(line);
            rest = after.trim_start();
        } else if let Some(after) = rest.strip_prefix("/*") {
            let (inside, after) = after.split_once("*/").unwrap_or((after, ""));
            lines.extend(inside.lines().map(without_star));
            rest = after.trim_start();
        } else {
            return lines;
        }
    }
}

/// A line of a block comment without its leading star.
fn without_star(line: &str) -> &str {
    line.trim_start().strip_prefix('*').unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indented_lines_continue_a_command() {
        let text = "/* Words.\n *\n * kiln run --kernel a\n *     --global 4\n * More words.\n */\n// kiln run --kernel b\nint x; // kiln run --kernel c\n";
        assert_eq!(commands(text), ["--kernel a --global 4", "--kernel b"]);
        assert_eq!(
            commands("/* kiln run\n *   --kernel a\n *   --global 4\n */"),
            [" --kernel a --global 4"]
        );
    }

    #[test]
    fn a_sequence_has_one_launch_for_each_then() {
        let found = launches("// kiln run --kernel a --global 4 then --kernel b --global 1\n");
        let found = found.unwrap_or_else(|e| panic!("{}", e.0));
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].iter().map(|it| it.kernel.as_deref()).collect::<Vec<_>>(),
            [Some("a"), Some("b")]
        );
    }

    #[test]
    fn quotes_group_words_as_in_a_shell() {
        let found = words(r#"--arg 'struct:{1, 2}' --print "out[0..4]"  --check out"[0]"='1' """#);
        let found = found.unwrap_or_else(|e| panic!("{}", e.0));
        assert_eq!(found, ["--arg", "struct:{1, 2}", "--print", "out[0..4]", "--check", "out[0]=1", ""]);
        assert!(words("--print \"out").is_err());
    }

    #[test]
    fn unknown_options_are_rejected() {
        assert!(launches("// kiln run --kernl a\n").is_err());
        assert!(launches("// kiln run kernel a\n").is_err());
        assert!(launches("// kiln run a.cl --kernel a --global 1\n").is_ok());
    }
}
