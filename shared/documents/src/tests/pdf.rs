use super::*;
use crate::{BlockKind, MediaType, words};
use anchorage_domain::{SkipReason, Source};

const PRINTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/pdf/");

fn folded(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.text).collect()
}

fn mean(common: usize, expected: &[String], found: &[String]) -> f64 {
    let count = |n: usize| f64::from(u32::try_from(n).unwrap());
    2.0 * count(common) / count(expected.len() + found.len())
}

/// Words in common, whatever their order: the harmonic mean of what was found of the expected and what of the found was
/// expected.
fn word_f1(expected: &[String], found: &[String]) -> f64 {
    let count = |words: &[String]| {
        let mut counts = std::collections::HashMap::new();
        for word in words {
            *counts.entry(word.clone()).or_insert(0_usize) += 1;
        }
        counts
    };
    let (a, b) = (count(expected), count(found));
    let common: usize = a.iter().map(|(word, count)| *count.min(b.get(word).unwrap_or(&0))).sum();
    mean(common, expected, found)
}

/// The same for the longest common subsequence: words in common and in order.
fn order_f1(expected: &[String], found: &[String]) -> f64 {
    let mut best = vec![0_usize; found.len() + 1];
    for word in expected {
        let mut diagonal = 0;
        for (at, other) in found.iter().enumerate() {
            let above = best[at + 1];
            best[at + 1] = if word == other { diagonal + 1 } else { best[at].max(above) };
            diagonal = above;
        }
    }
    mean(best[found.len()], expected, found)
}

fn printed(name: &str) -> ParsedDocument {
    let bytes = std::fs::read(format!("{PRINTS}{name}.pdf")).unwrap();
    read(&bytes, ChunkingPolicy::default()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Case P14 and the like: what was printed comes back, word for word and in order, whoever printed it.
#[test]
fn pdf_printed_from_known_text_comes_back_in_reading_order() {
    for text in ["farsi", "arabic", "vietnamese", "mixed", "columns", "pages"] {
        let expected = folded(&std::fs::read_to_string(format!("{PRINTS}{text}.txt")).unwrap());
        for printer in ["chromium", "writer"] {
            let name = format!("{text}-{printer}");
            if !std::path::Path::new(&format!("{PRINTS}{name}.pdf")).exists() {
                assert_eq!(printer, "writer", "{text} was printed at least by the other");
                continue;
            }
            let document = printed(&name);
            let found = folded(&document.source_text);
            let (words, order) = (word_f1(&expected, &found), order_f1(&expected, &found));
            assert!(words >= 0.98 && order >= 0.98, "{name}: {words:.3} {order:.3}\n{}", document.source_text);
            assert_eq!(document.media_type, MediaType::Pdf);
            assert!(!document.coverage.partial, "{name}: {:?}", document.coverage);
        }
    }
}

/// The letters themselves: ligatures whole, brackets the right way round, numbers and Latin words in their order.
#[test]
fn pdf_right_to_left_text_reads_as_it_was_written() {
    for (name, sentences) in [
        (
            "farsi-chromium",
            &[
                "راهنمای انبار و کالا",
                "نسخهٔ 3.12 استفاده کنید (نسخهٔ قدیمی دیگر پشتیبانی نمی‌شود).",
                "در تاریخ ۱۴۰۳/۰۵/۱۲ موجودی انبار ۲۵٪ بیشتر",
                "«اصلاح» همیشه با یک سطر تازه",
                "help@example.org",
                "با شمارهٔ ۰۲۱-۵۵۵۰۱۲۳ تماس",
            ][..],
        ),
        ("farsi-writer", &["راهنمای انبار و کالا", "(نسخهٔ قدیمی دیگر پشتیبانی نمی‌شود)", "AX004217 یک"]),
        ("arabic-chromium", &["المشكلات الأكثر", "148 حالة (منها 12 حالة خطيرة)", "بنسبة 30% من", "«السلامة أولا»"]),
        ("arabic-writer", &["المشكلات الأكثر", "148 حالة (منها 12 حالة خطيرة)", "«السلامة أولا»"]),
        (
            "mixed-chromium",
            &[
                "the Persian word کتاب and the Arabic word مشكلات before",
                "از Amazon Web Services و GitHub نام",
                "Widely spaced letters",
            ],
        ),
        ("mixed-writer", &["the Persian word کتاب and the Arabic word مشكلات", "(با پرانتز)", "Widely spaced letters"]),
    ] {
        let document = printed(name);
        for sentence in sentences {
            assert!(document.source_text.contains(sentence), "{name}: {sentence}\n{}", document.source_text);
        }
    }
}

#[test]
fn pdf_table_keeps_its_rows_under_their_header() {
    let document = printed("table-chromium");
    let table = document.chunks.iter().find(|chunk| chunk.kind == BlockKind::Table).unwrap();
    assert!(table.text.starts_with("Shelf | Article | Counted | Price\n"), "{}", table.text);
    assert!(table.text.contains("\nShelf: B7 / Article: Oak board / Counted: 64 / Price: 18.90\n"), "{}", table.text);
    assert_eq!(table.heading_path, ["Stock by shelf"]);
}

/// Case C41: every chunk knows its page.
#[test]
fn pdf_chunks_stand_on_their_pages_and_running_lines_on_none() {
    let document = printed("pages-chromium");
    assert_eq!(document.coverage.pages, Some(5));
    for (word, number) in ["one", "two", "three", "four", "five"].into_iter().zip(1..) {
        let chunk = document.chunks.iter().find(|chunk| chunk.text.contains(&format!("sentinel{word}"))).unwrap();
        let Source::Pages { pages } = &chunk.source else { panic!("{:?}", chunk.source) };
        assert_eq!(pages.iter().map(|place| place.page).collect::<Vec<_>>(), [number]);
        assert_eq!(document.source_text[chunk.byte_start..chunk.byte_end], chunk.text);
    }
    let reported: Vec<_> =
        document.coverage.skipped.iter().map(|skipped| (skipped.what.as_str(), skipped.reason)).collect();
    assert_eq!(
        reported,
        [
            ("line on 5 pages: Harbour office, winter report", SkipReason::Repeated),
            ("line on 5 pages: Page 1 of 5", SkipReason::Repeated)
        ]
    );
    assert!(!document.source_text.contains("Harbour office"));
}
