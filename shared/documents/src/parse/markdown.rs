//! Markdown: headings, paragraphs, lists, tables, code.

use super::{Block, BlockKind, Content, Outline, Parsed, Row, Table};
use crate::{Limits, ParseError};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

#[derive(Default)]
struct Walk {
    outline: Outline,
    blocks: Vec<Block>,
    title: Option<String>,
    text: String,
    table: Option<(Vec<String>, Vec<Row>, Vec<String>)>,
    depth: usize,
}

impl Walk {
    fn flush(&mut self, kind: BlockKind) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim_matches('\n').trim_end();
        if !text.trim().is_empty() {
            let content = Content::Text(text.to_owned());
            self.blocks.push(Block { kind, heading_path: self.outline.path(), content });
        }
    }

    fn heading(&mut self, level: u8) {
        let text = std::mem::take(&mut self.text).trim().to_owned();
        if text.is_empty() {
            return;
        }
        self.title.get_or_insert_with(|| text.clone());
        self.outline.enter(level, &text);
        self.blocks.push(Block {
            kind: BlockKind::Heading,
            heading_path: self.outline.path(),
            content: Content::Text(text),
        });
    }
}

pub(super) fn parse(text: &str, limits: &Limits) -> Result<Parsed, ParseError> {
    let mut walk = Walk::default();
    for event in
        Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH)
    {
        match event {
            Event::Start(tag) => {
                walk.depth += 1;
                if walk.depth > limits.max_depth {
                    return Err(ParseError::failed(format!(
                        "the Markdown is nested deeper than {} levels",
                        limits.max_depth
                    )));
                }
                match tag {
                    Tag::Item if !walk.text.trim().is_empty() => walk.flush(BlockKind::ListItem),
                    Tag::Table(_) => walk.table = Some((Vec::new(), Vec::new(), Vec::new())),
                    Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                        walk.flush(BlockKind::Paragraph);
                    }
                    _ => {}
                }
            }
            Event::End(tag) => {
                walk.depth = walk.depth.saturating_sub(1);
                end(&mut walk, tag);
            }
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                walk.text.push_str(&text);
            }
            Event::SoftBreak | Event::HardBreak => walk.text.push('\n'),
            Event::FootnoteReference(name) => {
                walk.text.push('[');
                walk.text.push_str(&name);
                walk.text.push(']');
            }
            Event::Html(_) | Event::InlineHtml(_) | Event::Rule | Event::TaskListMarker(_) => {}
        }
    }
    walk.flush(BlockKind::Paragraph);
    Ok(Parsed { title: walk.title, blocks: walk.blocks, ..Parsed::default() })
}

fn end(walk: &mut Walk, tag: TagEnd) {
    match tag {
        TagEnd::Heading(level) => walk.heading(level as u8),
        TagEnd::Paragraph => {
            // A paragraph inside a list item ends with the item.
            walk.text.push('\n');
            if walk.depth == 0 {
                walk.flush(BlockKind::Paragraph);
            }
        }
        TagEnd::Item => walk.flush(BlockKind::ListItem),
        TagEnd::CodeBlock => walk.flush(BlockKind::Code),
        TagEnd::FootnoteDefinition => walk.flush(BlockKind::Footnote),
        TagEnd::BlockQuote(_) => walk.flush(BlockKind::Paragraph),
        TagEnd::TableCell => {
            let cell = std::mem::take(&mut walk.text).trim().to_owned();
            if let Some((_, _, current)) = &mut walk.table {
                current.push(cell);
            }
        }
        TagEnd::TableHead => {
            if let Some((header, _, current)) = &mut walk.table {
                *header = std::mem::take(current);
            }
        }
        TagEnd::TableRow => {
            if let Some((_, rows, current)) = &mut walk.table {
                let number = u32::try_from(rows.len()).unwrap_or(u32::MAX).saturating_add(1);
                rows.push(Row { number, cells: std::mem::take(current) });
            }
        }
        TagEnd::Table => {
            if let Some((header, rows, _)) = walk.table.take() {
                let table = Table { sheet: None, context: Vec::new(), header, rows };
                let heading_path = walk.outline.path();
                walk.blocks.push(Block { kind: BlockKind::Table, heading_path, content: Content::Table(table) });
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_gives_blocks_in_order_under_their_headings() {
        let text = "# Guide\n\nIntro *text*.\n\n## Steps\n\n- one\n- two\n  - inner\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```rust\nfn x() {}\n```\n";
        let parsed = parse(text, &Limits::default()).unwrap();
        assert_eq!(parsed.title.as_deref(), Some("Guide"));
        let shown: Vec<_> = parsed
            .blocks
            .iter()
            .map(|block| match &block.content {
                Content::Text(text) => format!("{:?} {} {text}", block.kind, block.heading_path.join("/")),
                Content::Table(table) => {
                    format!("Table {} {:?} {:?}", block.heading_path.join("/"), table.header, table.rows[0].cells)
                }
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Heading Guide Guide",
                "Paragraph Guide Intro text.",
                "Heading Guide/Steps Steps",
                "ListItem Guide/Steps one",
                "ListItem Guide/Steps two",
                "ListItem Guide/Steps inner",
                "Table Guide/Steps [\"a\", \"b\"] [\"1\", \"2\"]",
                "Code Guide/Steps fn x() {}",
            ]
        );
    }

    #[test]
    fn markdown_nested_beyond_the_limit_is_a_typed_error() {
        let text = format!("{}x", "> ".repeat(5_000));
        assert!(matches!(parse(&text, &Limits::default()), Err(ParseError::ParseFailed { .. })));
    }
}
