//! Source code: cut at the borders of items, each under the path of names that leads to it (module, class, function).
//!
//! Every byte of the text goes into a block, in order; syntax only says where one ends and the next begins. What does not
//! parse, or takes too long to, is cut at lines.

mod grammars;

use super::{Block, BlockKind, Content, HeadingPath, Parsed, label, push_block};
use crate::{
    Limits, ParseError,
    limits::{MAX_CODE_PATH, MAX_SYNTAX_BYTES, MAX_SYNTAX_STEPS_PER_KIB},
};
pub(super) use grammars::CodeLanguage;
use grammars::Grammar;
use std::{
    ops::{ControlFlow, Range},
    sync::Arc,
};
use tree_sitter::{Node, ParseOptions, Parser, Tree};

/// An item with items in it is kept whole up to this size: its parts say little without each other.
const WHOLE_BYTES: usize = 1_024;

pub(super) fn parse(text: &str, language: CodeLanguage, limits: &Limits) -> Result<Parsed, ParseError> {
    let most_steps = (text.len() / 1024 + 1) * MAX_SYNTAX_STEPS_PER_KIB;
    let borders =
        language.grammar().and_then(|grammar| Some(borders(&tree(text, &grammar, most_steps)?, &grammar, text)));
    let mut blocks = Vec::new();
    for (text, heading_path) in pieces(text, &borders.unwrap_or_default()) {
        let content = Content::Text(text.to_owned());
        push_block(&mut blocks, Block { kind: BlockKind::Code, heading_path, content }, limits)?;
    }
    Ok(Parsed { blocks, ..Parsed::default() })
}

/// Nothing where the text is too large, or takes more steps than text of its size should.
fn tree(text: &str, grammar: &Grammar, most_steps: usize) -> Option<Tree> {
    if text.len() > MAX_SYNTAX_BYTES {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&(grammar.language)()).ok()?;
    let mut left = most_steps;
    let mut count = |_: &tree_sitter::ParseState| {
        left = left.saturating_sub(1);
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut count);
    let tree =
        parser.parse_with_options(&mut |at, _| text.as_bytes().get(at..).unwrap_or_default(), None, Some(options))?;
    (!tree.root_node().is_error()).then_some(tree)
}

/// From here on the text belongs to this path.
struct Border {
    at: usize,
    path: HeadingPath,
}

/// A node whose children are being looked at.
struct Scope {
    path: HeadingPath,
    /// The container ends, and what follows belongs to the path above it.
    closes: bool,
}

/// Where items begin and end, in order. Walks without recursion: code nests as deep as its writer likes.
fn borders(tree: &Tree, grammar: &Grammar, text: &str) -> Vec<Border> {
    let mut borders = Vec::new();
    let mut cursor = tree.walk();
    let root: HeadingPath = Arc::from([]);
    let mut scopes = vec![Scope { path: root, closes: false }];
    // Where the comments and attributes before the next node begin.
    let mut attached = None;
    if !cursor.goto_first_child() {
        return borders;
    }
    while let Some(path) = scopes.last().map(|scope| Arc::clone(&scope.path)) {
        let node = cursor.node();
        let kind = node.kind();
        let is = |kinds: &[&str]| kinds.contains(&kind);
        let start = attached.unwrap_or(node.start_byte());
        let mut descend = None;
        if is(grammar.attached) {
            attached = Some(start);
        } else if is(grammar.items) && is_item(node) || is(grammar.containers) {
            let own: HeadingPath = path.iter().cloned().chain([name(node, text)]).collect();
            borders.push(Border { at: start, path: Arc::clone(&own) });
            let large = node.end_byte() - node.start_byte() > WHOLE_BYTES && scopes.len() < MAX_CODE_PATH;
            if is(grammar.containers) && large {
                descend = Some(Scope { path: own, closes: true });
            } else {
                borders.push(Border { at: line_end(text, node.end_byte()), path });
            }
            attached = None;
        } else if is(grammar.transparent) {
            // What surrounds an item begins with it.
            attached =
                (!kind.ends_with("body") && !kind.ends_with("block") && !kind.ends_with("list")).then_some(start);
            descend = Some(Scope { path, closes: false });
        } else if node.is_named() && !node.is_extra() {
            attached = None;
        }
        if let Some(scope) = descend
            && cursor.goto_first_child()
        {
            scopes.push(scope);
            continue;
        }
        while !cursor.goto_next_sibling() {
            let Some(scope) = scopes.pop() else { return borders };
            if !cursor.goto_parent() {
                return borders;
            }
            if scope.closes
                && let Some(outer) = scopes.last()
            {
                let at = line_end(text, cursor.node().end_byte());
                borders.push(Border { at, path: Arc::clone(&outer.path) });
            }
            attached = None;
        }
    }
    borders
}

/// A variable is an item where it holds a function.
fn is_item(node: Node<'_>) -> bool {
    node.kind() != "variable_declarator"
        || node.child_by_field_name("value").is_some_and(|value| {
            matches!(value.kind(), "arrow_function" | "function_expression" | "generator_function")
        })
}

/// What an item is called: its name, a method's receiver before it, or all that stands before its body.
fn name(node: Node<'_>, text: &str) -> String {
    let of = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let field = |name: &str| node.child_by_field_name(name);
    match (field("name"), field("receiver")) {
        (Some(name), Some(receiver)) => label(&format!("{} {}", of(receiver), of(name))),
        (Some(name), None) => label(of(name)),
        (None, _) => {
            let end = field("body").map_or(node.end_byte(), |body| body.start_byte());
            label(text.get(node.start_byte()..end).unwrap_or_default())
        }
    }
}

/// The text between borders, each with its path. What holds nothing but brackets stays with what stands before it.
fn pieces<'a>(text: &'a str, borders: &[Border]) -> Vec<(&'a str, HeadingPath)> {
    let mut pieces: Vec<(Range<usize>, HeadingPath)> = Vec::new();
    let (mut from, mut path): (usize, HeadingPath) = (0, Arc::from([]));
    let end = Border { at: text.len(), path: Arc::from([]) };
    for border in borders.iter().chain([&end]) {
        let at = line_start(text, border.at).max(from);
        let says = text.get(from..at).is_some_and(|piece| piece.contains(char::is_alphanumeric));
        match pieces.last_mut() {
            Some((last, _)) if !says => last.end = at,
            _ => pieces.push((from..at, path)),
        }
        (from, path) = (at, Arc::clone(&border.path));
    }
    let pieces = pieces.into_iter().filter_map(|(range, path)| Some((text.get(range)?, path)));
    let pieces = pieces.map(|(piece, path)| (piece.trim_start_matches('\n').trim_end(), path));
    pieces.filter(|(piece, _)| !piece.is_empty()).collect()
}

/// The start of the line, where nothing but its indentation stands before a place.
fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    let indented = before.trim_end_matches([' ', '\t']);
    if indented.is_empty() || indented.ends_with('\n') { indented.len() } else { at }
}

/// The end of the line, where only brackets and marks follow a place.
fn line_end(text: &str, at: usize) -> usize {
    let after = text.get(at..).unwrap_or_default();
    let line = after.split('\n').next().unwrap_or_default();
    if line.contains(char::is_alphanumeric) { at } else { at + line.len() }
}

#[cfg(test)]
mod tests;
