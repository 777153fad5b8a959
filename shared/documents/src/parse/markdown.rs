//! Markdown: headings, paragraphs, lists, tables, code.

use super::{Block, BlockKind, Content, Outline, Parsed, Row, Table, is_unseen, push_block};
use crate::{Limits, ParseError};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

#[derive(Default)]
struct Walk {
    outline: Outline,
    blocks: Vec<Block>,
    title: Option<String>,
    text: String,
    table: Option<(Vec<String>, Vec<Row>, Vec<String>)>,
    depth: usize,
    /// List items open around the text.
    items: usize,
    html: Tags,
}

impl Walk {
    fn push(&mut self, kind: BlockKind, content: Content, limits: &Limits) -> Result<(), ParseError> {
        push_block(&mut self.blocks, Block { kind, heading_path: self.outline.path(), content }, limits)
    }

    fn flush(&mut self, kind: BlockKind, limits: &Limits) -> Result<(), ParseError> {
        let text = std::mem::take(&mut self.text);
        let text = text.trim_matches('\n').trim_end();
        if text.trim().is_empty() {
            return Ok(());
        }
        self.push(kind, Content::Text(text.to_owned()), limits)
    }

    /// What a block has interrupted is a block of its own.
    fn interrupt(&mut self, limits: &Limits) -> Result<(), ParseError> {
        self.flush(if self.items > 0 { BlockKind::ListItem } else { BlockKind::Paragraph }, limits)
    }

    fn heading(&mut self, level: u8, limits: &Limits) -> Result<(), ParseError> {
        let text = std::mem::take(&mut self.text).trim().to_owned();
        if text.is_empty() {
            return Ok(());
        }
        self.title.get_or_insert_with(|| text.clone());
        self.outline.enter(level, &text);
        self.push(BlockKind::Heading, Content::Text(text), limits)
    }
}

/// Reads the text between the tags of HTML that comes in pieces.
#[derive(Default)]
struct Tags {
    inside: bool,
}

impl Tags {
    fn strip(&mut self, html: &str, into: &mut String) {
        for c in html.chars() {
            match c {
                '<' => self.inside = true,
                '>' if self.inside => {
                    self.inside = false;
                    // Cells and lines stay apart where only a tag stood between them.
                    if !into.is_empty() && !into.ends_with(char::is_whitespace) {
                        into.push(' ');
                    }
                }
                _ if self.inside => {}
                _ => into.push(c),
            }
        }
    }
}

pub(super) fn parse(text: &str, limits: &Limits) -> Result<Parsed, ParseError> {
    let mut walk = Walk::default();
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(tag) => {
                walk.depth += 1;
                if walk.depth > limits.max_depth {
                    let problem = format!("the Markdown is nested deeper than {} levels", limits.max_depth);
                    return Err(ParseError::failed(problem));
                }
                start(&mut walk, &tag, limits)?;
            }
            Event::End(tag) => {
                walk.depth = walk.depth.saturating_sub(1);
                end(&mut walk, tag, limits)?;
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
            Event::Html(html) => walk.html.strip(&html, &mut walk.text),
            // The text between inline tags comes as text; a tag alone says nothing but that a line ends.
            Event::InlineHtml(tag) if tag.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("<br")) => {
                walk.text.push('\n');
            }
            Event::InlineHtml(_) | Event::Rule | Event::TaskListMarker(_) => {}
        }
    }
    walk.flush(BlockKind::Paragraph, limits)?;
    Ok(Parsed { title: walk.title, blocks: walk.blocks, ..Parsed::default() })
}

fn start(walk: &mut Walk, tag: &Tag<'_>, limits: &Limits) -> Result<(), ParseError> {
    match tag {
        Tag::Heading { .. } | Tag::List(_) | Tag::BlockQuote(_) | Tag::CodeBlock(_) => walk.interrupt(limits)?,
        Tag::HtmlBlock => {
            walk.interrupt(limits)?;
            walk.html = Tags::default();
        }
        Tag::Table(_) => {
            walk.interrupt(limits)?;
            walk.table = Some((Vec::new(), Vec::new(), Vec::new()));
        }
        Tag::Item => {
            walk.interrupt(limits)?;
            walk.items += 1;
        }
        _ => {}
    }
    Ok(())
}

fn end(walk: &mut Walk, tag: TagEnd, limits: &Limits) -> Result<(), ParseError> {
    match tag {
        TagEnd::Heading(level) => walk.heading(level as u8, limits)?,
        TagEnd::Paragraph => {
            // A paragraph inside a list item ends with the item.
            walk.text.push('\n');
            if walk.depth == 0 {
                walk.flush(BlockKind::Paragraph, limits)?;
            }
        }
        TagEnd::Item => {
            walk.flush(BlockKind::ListItem, limits)?;
            walk.items = walk.items.saturating_sub(1);
        }
        TagEnd::CodeBlock => walk.flush(BlockKind::Code, limits)?,
        TagEnd::FootnoteDefinition => walk.flush(BlockKind::Footnote, limits)?,
        TagEnd::BlockQuote(_) | TagEnd::HtmlBlock | TagEnd::MetadataBlock(_) => walk.interrupt(limits)?,
        TagEnd::TableCell => {
            let cell = std::mem::take(&mut walk.text).trim_matches(is_unseen).to_owned();
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
                let table = Table { sheet: None, context: Vec::new(), header, first_row: 1, rows };
                walk.push(BlockKind::Table, Content::Table(table), limits)?;
            }
        }
        _ => {}
    }
    Ok(())
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
    fn markdown_loses_no_text_to_html_front_matter_or_quotes() {
        let text = "---\nowner: Sara\n---\n\n# Guide\n\n<details>\nfolded away\n</details>\n\n<table><tr><td>one</td><td>two</td></tr>\n\
            </table>\n\nA<br>B\n\n> quoted\n> ## Inner\n> said\n\nLead\n- item\n\n  ```\n  code\n  ```\n";
        let parsed = parse(text, &Limits::default()).unwrap();
        assert_eq!(parsed.title.as_deref(), Some("Guide"));
        let shown: Vec<_> = parsed
            .blocks
            .iter()
            .map(|block| match &block.content {
                Content::Text(text) => (block.kind, text.split_whitespace().collect::<Vec<_>>().join(" ")),
                Content::Table(_) => (block.kind, String::new()),
            })
            .collect();
        let expected = [
            (BlockKind::Paragraph, "owner: Sara"),
            (BlockKind::Heading, "Guide"),
            (BlockKind::Paragraph, "folded away"),
            (BlockKind::Paragraph, "one two"),
            (BlockKind::Paragraph, "A B"),
            (BlockKind::Paragraph, "quoted"),
            (BlockKind::Heading, "Inner"),
            (BlockKind::Paragraph, "said"),
            (BlockKind::Paragraph, "Lead"),
            (BlockKind::ListItem, "item"),
            (BlockKind::Code, "code"),
        ];
        assert_eq!(shown, expected.map(|(kind, text)| (kind, text.to_owned())));
    }

    #[test]
    fn markdown_nested_beyond_the_limit_is_a_typed_error() {
        let text = format!("{}x", "> ".repeat(5_000));
        assert!(matches!(parse(&text, &Limits::default()), Err(ParseError::ParseFailed { .. })));
    }
}
