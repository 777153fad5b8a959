use super::*;
use crate::parse::MediaHint;
use crate::{ParsedDocument, parse_and_chunk};
use proptest::prelude::*;

fn policy(max: u32, overlap: u32) -> ChunkingPolicy {
    ChunkingPolicy::new(max, overlap).unwrap()
}

fn parse(text: &str, name: &str, policy: ChunkingPolicy) -> ParsedDocument {
    let hint = MediaHint { filename: Some(name.into()), content_type: None };
    parse_and_chunk(text.as_bytes(), &hint, policy, &Limits::default()).unwrap()
}

fn assert_sound(document: &ParsedDocument, policy: ChunkingPolicy) {
    for (chunk, index) in document.chunks.iter().zip(0..) {
        assert_eq!(chunk.index, index);
        assert_eq!(document.source_text.get(chunk.byte_start..chunk.byte_end), Some(chunk.text.as_str()));
        assert!(!chunk.text.trim().is_empty());
        assert!(chunk.tokens <= policy.max_tokens(), "{} tokens", chunk.tokens);
        assert!(estimate_tokens(&chunk.text) <= policy.max_tokens(), "{}", estimate_tokens(&chunk.text));
        assert_eq!(chunk.content_sha256, Sha256::of(chunk.text.as_bytes()));
    }
}

/// What the chunks cover together, overlaps counted once.
fn covered(document: &ParsedDocument) -> String {
    let (mut text, mut end) = (String::new(), 0);
    for chunk in &document.chunks {
        assert!(chunk.byte_end > end, "every chunk makes progress");
        text.push_str(&document.source_text[chunk.byte_start.max(end)..chunk.byte_end]);
        end = chunk.byte_end;
    }
    text
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Cases C40 and P18: what has no spaces is cut all the same, and nothing is lost.
#[test]
fn text_without_spaces_stays_within_the_bound_and_whole() {
    let policy = policy(100, 10);
    for text in ["ACGT".repeat(5_000), "7".repeat(3_000), "漢字".repeat(2_000), "😀".repeat(500), "…".repeat(2_000)]
    {
        let document = parse(&text, "a.txt", policy);
        assert_sound(&document, policy);
        assert_eq!(covered(&document), text);
    }
}

/// Case P11: an embedder refuses a request that holds a blank text, and with it all the others.
#[test]
fn pieces_that_show_nothing_become_no_chunk() {
    let unseen = ["\u{200b}\u{200b}", "\u{a0}\u{3000}", "\u{feff}", "\u{2800}", "\u{200e}\u{200f}", "\u{ad}"];
    let text = format!("{}\n\nseen", unseen.join("\n\n"));
    let document = parse(&text, "a.txt", policy(64, 0));
    assert_eq!(document.chunks.len(), 1);
    assert!(document.chunks[0].text.ends_with("seen"));
    let rows = unseen.map(|cell| format!("{cell},{cell}\n")).concat();
    for (text, name) in [(unseen.join("\n\n"), "a.txt"), (unseen.join("\n\n# "), "a.md"), (rows, "a.csv")] {
        let hint = MediaHint { filename: Some(name.into()), content_type: None };
        let read = parse_and_chunk(text.as_bytes(), &hint, policy(64, 0), &Limits::default());
        assert_eq!(read.err(), Some(ParseError::NoText), "{name}");
    }
}

/// Case C39.
#[test]
fn joiners_and_long_graphemes_at_the_border_break_nothing() {
    let policy = policy(64, 10);
    for text in [format!("{}\u{200C}{}", "a".repeat(63), "ب".repeat(10)), format!("e{}", "\u{301}".repeat(5_000))] {
        let document = parse(&text, "a.txt", policy);
        assert_sound(&document, policy);
        assert_eq!(covered(&document), text);
    }
}

#[test]
fn sentences_are_kept_whole_and_overlap_as_configured() {
    let policy = policy(64, 20);
    let text = "این جمله نخست است. آیا این جمله دوم است؟ بله! ".repeat(20);
    let document = parse(&text, "a.txt", policy);
    assert_sound(&document, policy);
    assert!(document.chunks.len() > 3);
    for pair in document.chunks.windows(2) {
        assert!(pair[0].text.ends_with(['.', '؟', '!']), "{}", pair[0].text);
        assert!(pair[1].byte_start < pair[0].byte_end, "neighbours overlap");
    }
}

/// Cases C31 and C30: every chunk of a table can be read alone.
#[test]
fn table_repeats_its_header_and_loses_no_row() {
    let policy = policy(120, 0);
    let rows: Vec<_> = (0..300).map(|n| format!("{n},name{n}")).collect();
    let document = parse(&format!("id,name\n{}\n", rows.join("\n")), "a.csv", policy);
    assert_sound(&document, policy);
    let mut lines = Vec::new();
    for chunk in &document.chunks {
        let (header, body) = chunk.text.split_once('\n').unwrap();
        assert_eq!(header, "id | name");
        lines.extend(body.lines().map(str::to_owned));
    }
    let expected: Vec<_> = (0..300).map(|n| format!("id: {n} / name: name{n}")).collect();
    assert_eq!(lines, expected);
}

/// A word that is one token after a space is more of them inside a piece: sentences without spaces between them add up.
#[test]
fn sentences_without_spaces_between_them_stay_within_the_bound() {
    let policy = policy(64, 10);
    for text in ["house?time!".repeat(200), "\u{1D6A8}\"A?house\u{1F300}?".repeat(60), "a?house time?water ".repeat(80)]
    {
        let document = parse(&text, "a.txt", policy);
        assert_sound(&document, policy);
        assert_eq!(squeezed(&covered(&document)), squeezed(&text));
    }
}

/// What is added up for a row is what its text counts.
#[test]
fn row_tokens_are_those_of_its_text() {
    let row = |cells: &[&str]| Row { number: 1, cells: cells.iter().map(|cell| (*cell).to_owned()).collect() };
    let names = ["Full name", "", "قیمت (تومان)"].map(ColumnName::of);
    for cells in [&["Anna B", "", "12,5 €"][..], &["", "x  y", "", "past the names"], &["", "", ""], &[]] {
        for names in [&names[..], &[]] {
            let (text, tokens) = row_text(names, &row(cells));
            assert_eq!(tokens, estimate_tokens(&text), "{text}");
        }
    }
    assert_eq!(row_text(&names, &row(&["Anna", "b", "3"])).0, "Full name: Anna / b / قیمت (تومان): 3");
}

#[test]
fn row_larger_than_a_chunk_is_cut_under_its_header() {
    let policy = policy(64, 0);
    let document = parse(&format!("id,note\n1,{}\n2,short\n", "long words here ".repeat(60)), "a.csv", policy);
    assert_sound(&document, policy);
    assert!(document.chunks.iter().all(|chunk| chunk.text.starts_with("id | note")));
    assert!(document.chunks.last().unwrap().text.ends_with("id: 2 / note: short"));
}

/// Sentences of every language with an analyzer end where their readers end them, and nowhere inside a number or a name.
#[test]
fn sentences_end_where_fa_vi_and_en_end_them() {
    for (text, expected) in [
        ("این یک است. آیا این دو است؟ بله! پایان…", vec!["این یک است. ", "آیا این دو است؟ ", "بله! ", "پایان…"]),
        ("Giá là 3.5 triệu. Còn gì nữa? Hết!", vec!["Giá là 3.5 triệu. ", "Còn gì nữa? ", "Hết!"]),
        (
            "It costs 3.5 euros. Why? \"Because.\" So be it.",
            vec!["It costs 3.5 euros. ", "Why? ", "\"Because.\" ", "So be it."],
        ),
        ("نسخه ۲.۵ آمد. تمام.", vec!["نسخه ۲.۵ آمد. ", "تمام."]),
        ("one line\nanother line", vec!["one line\n", "another line"]),
    ] {
        let found: Vec<_> = sentences(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, expected);
    }
}

/// Case P17, without a clock: twice the text is twice the work, whatever the text.
#[test]
fn chunking_looks_at_twice_the_bytes_for_twice_the_text() {
    for pattern in
        ["A sentence of words. ", "abcdefghij", "漢字", "e\u{301}\u{302}", "\n", "word ", "é. ", "1\u{200C}2 ب"]
    {
        let work = |count: usize| {
            let text = format!("x{}", pattern.repeat(count));
            let hint = MediaHint { filename: Some("a.txt".into()), content_type: None };
            crate::tokens::work::of(|| {
                parse_and_chunk(text.as_bytes(), &hint, policy(200, 40), &Limits::default()).is_ok()
            })
        };
        let (once, twice) = (work(4_000), work(8_000));
        assert!(twice * 10 < once * 26, "{pattern:?}: {once} and {twice}");
        assert!(once < (pattern.len() * 4_000 + 1) * 8, "{pattern:?}: {once}");
    }
}

/// An item is one chunk as long as it fits; past that it is cut at its lines, and nowhere else.
#[test]
fn code_is_cut_at_items_and_then_at_lines() {
    let policy = policy(100, 30);
    let body = "    let total = first. second(1) + third;\n".repeat(40);
    let text = format!("fn small() {{}}\n\n/// Long.\nfn long() {{\n{body}}}\n");
    let document = parse(&text, "a.rs", policy);
    assert_sound(&document, policy);
    assert_eq!(document.chunks[0].text, "fn small() {}");
    assert_eq!(document.chunks[0].heading_path, ["small"]);
    assert!(document.chunks.len() > 4);
    for chunk in &document.chunks[1..] {
        assert_eq!((chunk.kind, chunk.heading_path.as_slice()), (BlockKind::Code, ["long".to_owned()].as_slice()));
        assert!(chunk.text.ends_with(['{', ';', '}']), "{}", chunk.text);
    }
    assert_eq!(squeezed(&covered(&document)), squeezed(&text));
}

#[test]
fn chunk_limit_is_exact() {
    let text = "One sentence here. ".repeat(200);
    let hint = MediaHint::default();
    let count = parse(&text, "a.txt", policy(64, 0)).chunks.len();
    let limited = |max_chunks| {
        let limits = Limits { max_chunks, ..Limits::default() };
        parse_and_chunk(text.as_bytes(), &hint, policy(64, 0), &limits)
    };
    assert!(limited(count).is_ok());
    assert_eq!(limited(count - 1), Err(ParseError::ChunkLimitExceeded { limit: count - 1 }));
}

proptest! {
    #[test]
    fn chunks_of_any_text_are_sound_and_cover_it(text in "(\\PC|[ \n.!؟]){1,400}", max in 64_u32..200, overlap in 0_u32..31) {
        let policy = policy(max, overlap);
        let hint = MediaHint { filename: Some("a.txt".into()), content_type: None };
        if let Ok(document) = parse_and_chunk(text.as_bytes(), &hint, policy, &Limits::default()) {
            assert_sound(&document, policy);
            prop_assert_eq!(squeezed(&covered(&document)), squeezed(&document.source_text));
        }
    }
}
