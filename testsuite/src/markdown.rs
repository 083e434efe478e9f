//! Parses the subset of Markdown that tests use: headings, and fenced code blocks with their locations. Must not
//! depend on the meaning of blocks.

use std::ops::Range;

/// A fenced code block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The first word after the fence.
    pub(crate) language: String,
    /// The other words, as `key=value`, or as flags with an empty value.
    pub(crate) attributes: Vec<(String, String)>,
    /// The text between the fences.
    pub(crate) text: String,
    /// The range of the text in the file.
    pub(crate) range: Range<usize>,
    /// The line of the opening fence, from 1.
    pub(crate) line: usize,
}

impl Block {
    /// The value of an attribute.
    pub(crate) fn attribute(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

/// The contents under one heading, up to the next heading of any level.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Section {
    /// The headings, outermost first; empty before the first heading.
    pub(crate) path: Vec<String>,
    pub(crate) blocks: Vec<Block>,
}

/// The texts of the blocks in a language, in order.
pub fn fenced(text: &str, language: &str) -> Vec<String> {
    let blocks = parse(text)
        .unwrap_or_else(|reason| panic!("{reason}"))
        .into_iter()
        .flat_map(|section| section.blocks);
    blocks.filter(|block| block.language == language).map(|block| block.text).collect()
}

/// The blocks that represent files, with their names.
pub fn files(text: &str) -> Vec<(String, String)> {
    let blocks = parse(text)
        .unwrap_or_else(|reason| panic!("{reason}"))
        .into_iter()
        .flat_map(|section| section.blocks);
    blocks.filter_map(|block| Some((block.attribute("file")?.to_owned(), block.text))).collect()
}

/// Parses a file. The error is an unclosed fence.
pub(crate) fn parse(text: &str) -> Result<Vec<Section>, String> {
    let mut sections = vec![Section::default()];
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut offset = 0;
    let mut lines = text.split_inclusive('\n').zip(1..);
    while let Some((line, number)) = lines.next() {
        offset += line.len();
        let line = line.trim_end();
        if let Some((level, title)) = heading(line) {
            headings.retain(|(outer, _)| *outer < level);
            headings.push((level, title.to_owned()));
            let path = headings.iter().map(|(_, title)| title.clone()).collect();
            sections.push(Section { path, blocks: Vec::new() });
        } else if line.starts_with("```") {
            let (fence, info) = line.split_at(line.len() - line.trim_start_matches('`').len());
            let start = offset;
            let end = loop {
                let Some((inside, _)) = lines.next() else {
                    return Err(format!("line {number}: the block is not closed"));
                };
                let end = offset;
                offset += inside.len();
                if inside.trim_end() == fence {
                    break end;
                }
            };
            let mut words = info.split_whitespace();
            let language = words.next().unwrap_or_default().to_owned();
            let attribute = |word: &str| {
                let (key, value) = word.split_once('=').unwrap_or((word, ""));
                (key.to_owned(), value.to_owned())
            };
            let block = Block {
                language,
                attributes: words.map(attribute).collect(),
                text: text[start..end].to_owned(),
                range: start..end,
                line: number,
            };
            sections.last_mut().expect("there is a first section").blocks.push(block);
        }
    }
    Ok(sections)
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (level > 0 && title.starts_with(' ')).then(|| (level, title.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_and_blocks() {
        let text =
            "# A\n\nwords\n\n## B\n```cl file=x.h flag\nint x;\n```\n### C\n# D\n````toml\n```\n````\n";
        let sections = parse(text).unwrap();
        let paths: Vec<_> = sections.iter().map(|section| section.path.join("/")).collect();
        assert_eq!(paths, ["", "A", "A/B", "A/B/C", "D"]);
        let block = &sections[2].blocks[0];
        assert_eq!(
            (block.language.as_str(), block.attribute("file"), block.attribute("flag")),
            ("cl", Some("x.h"), Some(""))
        );
        assert_eq!(
            (block.text.as_str(), &text[block.range.clone()], block.line),
            ("int x;\n", "int x;\n", 6)
        );
        assert_eq!(sections[4].blocks[0].text, "```\n");
    }

    #[test]
    fn a_hash_in_a_block_is_not_a_heading() {
        let sections = parse("# A\n```cl\n# define X\n```\n").unwrap();
        assert_eq!(sections.len(), 2);
    }

    #[test]
    fn open_blocks_are_errors() {
        assert_eq!(parse("\n```cl\nint x;\n"), Err("line 2: the block is not closed".to_owned()));
    }
}
