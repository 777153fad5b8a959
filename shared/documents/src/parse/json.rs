//! JSON and JSON lines: every value beside the path of keys that leads to it, so that any piece can be read alone.
//!
//! A record (an element of the outermost array, a member of the outermost object, a line) is a block. Keys that come
//! twice are both kept, numbers stand as they were written.

use super::{Block, BlockKind, Content, Outline, Parsed, clean, push_block};
use crate::{
    Limits, ParseError,
    limits::{MAX_JSON_DEPTH, MAX_LABEL_CHARS},
};
use anchorage_domain::{SkipReason, Skipped};
use std::fmt::Write as _;
use struson::reader::{JsonReader as _, JsonStreamReader, ReaderError, ReaderSettings, ValueType};

/// Why a text is no JSON that can be read.
pub(super) enum JsonError {
    /// It is none, or is cut off.
    Syntax,
    /// It is, and breaks a bound.
    Bound(ParseError),
}

impl From<ReaderError> for JsonError {
    fn from(error: ReaderError) -> Self {
        match error {
            ReaderError::MaxNestingDepthExceeded { max_nesting_depth, .. } => {
                Self::Bound(ParseError::failed(format!("the JSON is nested deeper than {max_nesting_depth} levels")))
            }
            _ => Self::Syntax,
        }
    }
}

impl From<ParseError> for JsonError {
    fn from(error: ParseError) -> Self {
        Self::Bound(error)
    }
}

/// One document of JSON.
pub(super) fn parse(text: &str, limits: &Limits) -> Result<Parsed, JsonError> {
    let mut writer = Writer::new(limits);
    let mut reader = reader(text);
    match reader.peek()? {
        ValueType::Array => {
            reader.begin_array()?;
            while reader.has_next()? {
                writer.value(&mut reader)?;
                writer.end_record()?;
            }
            reader.end_array()?;
        }
        ValueType::Object => {
            reader.begin_object()?;
            while reader.has_next()? {
                writer.member(reader.next_name()?)?;
                writer.value(&mut reader)?;
                writer.leave();
                writer.end_record()?;
            }
            reader.end_object()?;
        }
        _ => {
            writer.value(&mut reader)?;
            writer.end_record()?;
        }
    }
    reader.consume_trailing_whitespace()?;
    Ok(writer.parsed)
}

/// One document of JSON a line; a line that is none is named and left out.
pub(super) fn parse_lines(text: &str, limits: &Limits) -> Result<Parsed, ParseError> {
    let mut writer = Writer::new(limits);
    for (line, number) in text.split('\n').zip(1_u32..) {
        if line.trim().is_empty() {
            continue;
        }
        let mut reader = reader(line);
        let read = writer.value(&mut reader).and_then(|()| Ok(reader.consume_trailing_whitespace()?));
        match read {
            Ok(()) => writer.end_record()?,
            Err(JsonError::Bound(error)) => return Err(error),
            Err(JsonError::Syntax) => {
                writer.forget_record();
                let skipped = Skipped { what: format!("line {number}"), reason: SkipReason::Unreadable };
                writer.parsed.coverage.skipped.push(skipped);
            }
        }
    }
    Ok(writer.parsed)
}

fn reader(text: &str) -> JsonStreamReader<&[u8]> {
    let settings = ReaderSettings {
        track_path: false,
        max_nesting_depth: Some(MAX_JSON_DEPTH),
        restrict_number_values: false,
        ..ReaderSettings::default()
    };
    JsonStreamReader::new_custom(text.as_bytes(), settings)
}

/// An array or object that is open.
struct Frame {
    array: bool,
    /// Elements of an array so far.
    index: usize,
    /// The path up to here, to go back to.
    path: usize,
    /// The last line is a list of this array's values, and takes more.
    listing: bool,
    empty: bool,
}

struct Writer<'a> {
    limits: &'a Limits,
    parsed: Parsed,
    outline: Outline,
    record: String,
    /// Bytes of all records.
    written: usize,
    /// Keys from the record down, shortened where it is longer than a label: it is repeated on every line.
    path: String,
    /// The lengths of `path` before each key that was entered by hand.
    entered: Vec<usize>,
    /// The last key whole, where the path had to shorten it.
    whole_key: Option<String>,
}

impl<'a> Writer<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            parsed: Parsed::default(),
            outline: Outline::default(),
            record: String::new(),
            written: 0,
            path: String::new(),
            entered: Vec::new(),
            whole_key: None,
        }
    }

    fn member(&mut self, key: &str) -> Result<(), ParseError> {
        self.entered.push(self.path.len());
        self.enter(key)
    }

    fn leave(&mut self) {
        self.path.truncate(self.entered.pop().unwrap_or(0));
    }

    fn enter(&mut self, key: &str) -> Result<(), ParseError> {
        let key = clean(key);
        let before = self.path.chars().count();
        if !self.path.is_empty() && before < MAX_LABEL_CHARS {
            self.path.push('.');
        }
        let room = MAX_LABEL_CHARS.saturating_sub(before);
        self.whole_key = None;
        match key.char_indices().nth(room) {
            None => self.path.push_str(&key),
            Some((end, _)) => {
                self.path.push_str(key.get(..end).unwrap_or_default());
                if room > 0 {
                    self.path.push('…');
                }
                self.whole_key = Some(key);
            }
        }
        if let Some(key) = self.whole_key.take() {
            // Nothing is lost where it is not repeated.
            self.line(&key)?;
        }
        Ok(())
    }

    /// Writes a value with everything in it, without recursion.
    fn value(&mut self, reader: &mut JsonStreamReader<&[u8]>) -> Result<(), JsonError> {
        let mut open: Vec<Frame> = Vec::new();
        loop {
            // Whatever is complete is closed; the last to close ends the value.
            while let Some(frame) = open.last() {
                if reader.has_next()? {
                    break;
                }
                let (array, empty, path) = (frame.array, frame.empty, frame.path);
                if array {
                    reader.end_array()?;
                } else {
                    reader.end_object()?;
                }
                open.pop();
                if empty {
                    if let Some(outer) = open.last_mut().filter(|outer| outer.array) {
                        // It is one of the values of the array, which counted it already.
                        outer.index -= 1;
                        self.path.truncate(path);
                    }
                    self.scalar(open.last_mut(), if array { "[]" } else { "{}" })?;
                }
                self.path.truncate(path);
                if open.is_empty() {
                    return Ok(());
                }
            }
            let path = self.path.len();
            if let Some(frame) = open.last_mut() {
                frame.empty = false;
                if !frame.array {
                    self.enter(reader.next_name()?)?;
                }
            }
            let kind = reader.peek()?;
            if matches!(kind, ValueType::Array | ValueType::Object) {
                let array = kind == ValueType::Array;
                if array {
                    reader.begin_array()?;
                } else {
                    reader.begin_object()?;
                }
                if let Some(frame) = open.last_mut().filter(|frame| frame.array) {
                    frame.listing = false;
                    if self.path.chars().count() < MAX_LABEL_CHARS {
                        let _ = write!(self.path, "[{}]", frame.index);
                    }
                    frame.index += 1;
                }
                open.push(Frame { array, index: 0, path, listing: false, empty: true });
                continue;
            }
            match kind {
                ValueType::String => {
                    let text = clean(reader.next_str()?);
                    self.scalar(open.last_mut(), &text)?;
                }
                ValueType::Number => {
                    let number = reader.next_number_as_string()?;
                    self.scalar(open.last_mut(), &number)?;
                }
                ValueType::Boolean => {
                    let truth = reader.next_bool()?;
                    self.scalar(open.last_mut(), if truth { "true" } else { "false" })?;
                }
                ValueType::Null | ValueType::Array | ValueType::Object => {
                    reader.next_null()?;
                    self.scalar(open.last_mut(), "null")?;
                }
            }
            self.path.truncate(path);
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    /// A value without parts: values of one array stand on one line, every other on its own after its path.
    fn scalar(&mut self, frame: Option<&mut Frame>, value: &str) -> Result<(), ParseError> {
        if let Some(frame) = frame.filter(|frame| frame.array) {
            frame.index += 1;
            if std::mem::replace(&mut frame.listing, true) {
                return self.write(&[", ", value]);
            }
        }
        self.line(value)
    }

    fn line(&mut self, value: &str) -> Result<(), ParseError> {
        if !self.record.is_empty() {
            self.write(&["\n"])?;
        }
        if self.path.is_empty() {
            return self.write(&[value]);
        }
        let path = std::mem::take(&mut self.path);
        let written = self.write(&[&path, ": ", value]);
        self.path = path;
        written
    }

    /// Every text passes here, so that paths count as often as they are written.
    fn write(&mut self, pieces: &[&str]) -> Result<(), ParseError> {
        for piece in pieces {
            self.written += piece.len();
            if self.written > self.limits.max_text_bytes {
                return Err(ParseError::TooLarge { limit: self.limits.max_text_bytes as u64 });
            }
            self.record.push_str(piece);
        }
        Ok(())
    }

    fn end_record(&mut self) -> Result<(), ParseError> {
        let text = std::mem::take(&mut self.record);
        let rows = &mut self.parsed.coverage.rows;
        *rows = Some(rows.unwrap_or(0).saturating_add(1));
        if text.trim().is_empty() {
            return Ok(());
        }
        let block =
            Block { kind: BlockKind::Paragraph, heading_path: self.outline.path(), content: Content::Text(text) };
        push_block(&mut self.parsed.blocks, block, self.limits)
    }

    fn forget_record(&mut self) {
        self.record.clear();
        self.path.clear();
        self.entered.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(parsed: Parsed) -> Vec<String> {
        let text = |block: Block| match block.content {
            Content::Text(text) => text,
            Content::Table(table) => panic!("{table:?}"),
        };
        parsed.blocks.into_iter().map(text).collect()
    }

    fn read(text: &str) -> Vec<String> {
        texts(parse(text, &Limits::default()).ok().unwrap())
    }

    #[test]
    fn json_values_stand_beside_their_paths_one_record_a_block() {
        assert_eq!(
            read(
                r#"[{"id": 1, "tags": ["a", "b", 3], "of": {"x": [{"y": null}, {"y": true}], "e": [], "o": {}}}, "alone", [1,[2]]]"#
            ),
            ["id: 1\ntags: a, b, 3\nof.x[0].y: null\nof.x[1].y: true\nof.e: []\nof.o: {}", "alone", "1\n[1]: 2",]
        );
        assert_eq!(read(r#"{"a": {"b": "x\ny"}, "c": [[], 5, {"d": {}}]}"#), ["a.b: x\ny", "c: [], 5\nc[2].d: {}"]);
        assert_eq!(read("7"), ["7"]);
    }

    /// Nothing is rounded, nothing that comes twice is lost.
    #[test]
    fn json_keeps_numbers_as_written_and_keys_that_come_twice() {
        assert_eq!(
            read(r#"{"n": 123456789012345678901234567890.10, "e": -1E+400, "n": 2}"#),
            ["n: 123456789012345678901234567890.10", "e: -1E+400", "n: 2"]
        );
    }

    #[test]
    fn json_lines_are_records_and_a_bad_one_is_named() {
        let parsed =
            parse_lines("{\"a\": {\"b\": 1}}\n\n{\"a\": {\"b\": \n{\"a\": 2} x\n{\"a\": 3}\n", &Limits::default())
                .unwrap();
        assert_eq!(parsed.coverage.rows, Some(2));
        let skipped: Vec<_> = parsed.coverage.skipped.iter().map(|skipped| skipped.what.clone()).collect();
        assert_eq!(skipped, ["line 3", "line 4"]);
        assert_eq!(texts(parsed), ["a.b: 1", "a: 3"]);
    }

    #[test]
    fn json_long_keys_are_repeated_short_and_said_once_whole() {
        let key = "k".repeat(MAX_LABEL_CHARS + 5);
        let lines = read(&format!(r#"[{{"{key}": {{"a": 1, "b": 2}}}}]"#));
        assert_eq!(lines[0].matches(&key).count(), 1);
        let path = format!("{}…", "k".repeat(MAX_LABEL_CHARS));
        let expected = [key.as_str(), "a", "1", "b", "2"].map(|text| format!("{path}: {text}"));
        assert_eq!(lines[0].lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn json_depth_and_size_are_bounded_at_the_limit_and_past_it() {
        let nested = |depth: u32| format!("{}1{}", "[".repeat(depth as usize), "]".repeat(depth as usize));
        assert!(parse(&nested(MAX_JSON_DEPTH), &Limits::default()).is_ok());
        let error = parse(&nested(MAX_JSON_DEPTH + 1), &Limits::default()).err().unwrap();
        assert!(matches!(error, JsonError::Bound(ParseError::ParseFailed { .. })));
        let limits = Limits { max_text_bytes: 4, ..Limits::default() };
        assert!(parse(r#"{"a": 1}"#, &limits).is_ok());
        assert!(matches!(parse(r#"{"a": 12}"#, &limits), Err(JsonError::Bound(ParseError::TooLarge { limit: 4 }))));
    }

    #[test]
    fn text_that_only_begins_like_json_is_none() {
        for text in ["[draft] hello", "{\"a\": 1", "{'a': 1}", "[1, 2] more", "", "{a: 1}", "\"\\ud800\""] {
            assert!(matches!(parse(text, &Limits::default()), Err(JsonError::Syntax)), "{text}");
        }
    }
}
