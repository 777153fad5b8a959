//! Plain text: paragraphs between blank lines.

use super::{Block, BlockKind, Content, Outline, Parsed, push_block};
use crate::{Limits, ParseError};

pub(super) fn parse(text: &str, limits: &Limits) -> Result<Parsed, ParseError> {
    let mut blocks = Vec::new();
    let mut paragraph = String::new();
    let outline = Outline::default();
    // Only U+000A ends a line: U+2028 inside a text is the writer's.
    for line in text.split('\n').chain([""]) {
        if line.trim().is_empty() {
            if !paragraph.is_empty() {
                let content = Content::Text(std::mem::take(&mut paragraph));
                let block = Block { kind: BlockKind::Paragraph, heading_path: outline.path(), content };
                push_block(&mut blocks, block, limits)?;
            }
        } else {
            if !paragraph.is_empty() {
                paragraph.push('\n');
            }
            paragraph.push_str(line.trim_end());
        }
    }
    Ok(Parsed { blocks, ..Parsed::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_bounded_at_the_limit_and_past_it() {
        let limits = Limits { max_blocks: 3, ..Limits::default() };
        assert_eq!(parse("a\n\nb\n\nc", &limits).unwrap().blocks.len(), 3);
        assert_eq!(parse("a\n\nb\n\nc\n\nd", &limits).unwrap_err(), ParseError::TooLarge { limit: 3 });
    }
}
