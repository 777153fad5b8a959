//! Plain text: paragraphs between blank lines.

use super::{Block, BlockKind, Content, Parsed};

pub(super) fn parse(text: &str) -> Parsed {
    let mut blocks = Vec::new();
    let mut paragraph = String::new();
    // Only U+000A ends a line: U+2028 inside a text is the writer's.
    for line in text.split('\n').chain([""]) {
        if line.trim().is_empty() {
            if !paragraph.is_empty() {
                let content = Content::Text(std::mem::take(&mut paragraph));
                blocks.push(Block { kind: BlockKind::Paragraph, heading_path: Vec::new(), content });
            }
        } else {
            if !paragraph.is_empty() {
                paragraph.push('\n');
            }
            paragraph.push_str(line.trim_end());
        }
    }
    Parsed { blocks, ..Parsed::default() }
}
