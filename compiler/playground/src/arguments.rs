//! The options of one launch, a subset of those of `kiln run`.

/// One launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct LaunchArguments {
    pub(crate) kernel: Option<String>,
    pub(crate) global: Option<String>,
    pub(crate) local: Option<String>,
    pub(crate) arg: Vec<String>,
    pub(crate) print: Vec<String>,
    pub(crate) check: Vec<String>,
}

/// Parses the options of one launch.
pub(crate) fn parse_launch(words: &[&str]) -> Result<LaunchArguments, String> {
    let mut launch = LaunchArguments::default();
    let mut words = words.iter();
    while let Some(&word) = words.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, value),
            _ => (word, words.next().copied().ok_or_else(|| format!("`{word}` has no value"))?),
        };
        match name {
            "--kernel" => launch.kernel = Some(value.to_owned()),
            "--global" => launch.global = Some(value.to_owned()),
            "--local" => launch.local = Some(value.to_owned()),
            "--arg" => launch.arg.push(value.to_owned()),
            "--print" => launch.print.push(value.to_owned()),
            "--check" => launch.check.push(value.to_owned()),
            // The page has one device.
            "--device" => {}
            _ => return Err(format!("the page does not support `{name}`")),
        }
    }
    Ok(launch)
}
