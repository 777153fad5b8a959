//! PDF files made to exhaust whoever reads them.

use super::{
    hostile::in_time,
    pdf_made::{file, pages, stream},
    *,
};
use flate2::{Compression, write::ZlibEncoder};
use std::fmt::Write as _;

fn deflated(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zeros(count: usize) -> Vec<u8> {
    deflated(&vec![b' '; count])
}

/// What is inflated in these tests, at most: a thousandth of what documents may.
const INFLATED: u64 = 128 << 10;
const BOMB: usize = 8 << 20;

fn bounded(bytes: &[u8]) -> Result<ParsedDocument, ParseError> {
    let limits = Limits { max_inflated_bytes: INFLATED, ..Limits::default() };
    in_time(|| parse_and_chunk(bytes, &MediaHint::default(), ChunkingPolicy::default(), &limits))
}

fn whole(bytes: &[u8]) -> Result<ParsedDocument, ParseError> {
    in_time(|| read(bytes, ChunkingPolicy::default()))
}

fn fails(result: &Result<ParsedDocument, ParseError>, expected: &str, what: &str) {
    match result {
        Ok(document) => panic!("{what}: {}", document.source_text),
        Err(error) => assert_eq!(code(error), expected, "{what}: {error}"),
    }
}

const TEXT: &str = "BT /F 12 Tf 72 700 Td (text) Tj ET";

/// Case P1, for every stream that anyone inflates: pages, forms, fonts, objects in streams.
#[test]
fn pdf_streams_that_inflate_past_the_bound_are_refused() {
    let flate = "/Filter/FlateDecode";
    let catalog = b"<</Type/Catalog/Pages 2 0 R>>".to_vec();
    let tree = b"<</Type/Pages/Count 1/Kids[3 0 R]/MediaBox[0 0 600 800]>>".to_vec();
    let page = |rest: &str| format!("<</Type/Page/Parent 2 0 R/Contents 4 0 R{rest}>>").into_bytes();
    let form = format!("/Type/XObject/Subtype/Form/BBox[0 0 1 1]{flate}");
    let font = b"<</Type/Font/Subtype/TrueType/BaseFont/X/ToUnicode 6 0 R>>".to_vec();
    let embedded = b"<</Type/Font/Subtype/TrueType/BaseFont/X/FontDescriptor<</Type/FontDescriptor/FontName/X/Flags 4/FontFile2 6 0 R>>>>".to_vec();
    let using = "/Resources<</Font<</F 5 0 R>>/XObject<</X 5 0 R>>>>";
    let twice = deflated(&zeros(BOMB));
    let cases: [(&str, Vec<Vec<u8>>); 6] = [
        ("page", vec![catalog.clone(), tree.clone(), page(""), stream(flate, &zeros(BOMB))]),
        (
            "page, twice",
            vec![catalog.clone(), tree.clone(), page(""), stream("/Filter[/FlateDecode/FlateDecode]", &twice)],
        ),
        ("form", vec![catalog.clone(), tree.clone(), page(using), stream("", b"/X Do"), stream(&form, &zeros(BOMB))]),
        (
            "meaning",
            vec![
                catalog.clone(),
                tree.clone(),
                page(using),
                stream("", TEXT.as_bytes()),
                font,
                stream(flate, &zeros(BOMB)),
            ],
        ),
        (
            "font",
            vec![
                catalog.clone(),
                tree.clone(),
                page(using),
                stream("", TEXT.as_bytes()),
                embedded,
                stream(flate, &zeros(BOMB)),
            ],
        ),
        (
            "objects",
            vec![
                catalog,
                tree,
                page(""),
                stream("", TEXT.as_bytes()),
                stream(&format!("/Type/ObjStm/N 1/First 4{flate}"), &zeros(BOMB)),
            ],
        ),
    ];
    for (what, objects) in cases {
        let bytes = file(&objects);
        assert!(bytes.len() < 64 << 10, "{what}");
        fails(&bounded(&bytes), "archive_too_large", what);
    }
}

/// What a few bytes name must not be spelled out: widths of four thousand million codes, first codes past all.
#[test]
fn pdf_fonts_that_name_too_many_codes_are_not_read() {
    let resources = "/Resources<</Font<</F 4 0 R/G 3 0 R>>>>";
    for font in [
        "<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[<</Subtype/CIDFontType2/W[0 4294967295 500]>>]>>",
        "<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[<</Subtype/CIDFontType2/W2[0 4294967295 1 2 3]>>]>>",
        "<</Type/Font/Subtype/TrueType/BaseFont/X/FirstChar 4000000000/LastChar 4000000000/Widths[1]>>",
    ] {
        let content = format!("{TEXT} BT /G 12 Tf 72 600 Td (and more) Tj ET");
        let document = whole(&pages("", "", resources, &[&content], &[font.as_bytes().to_vec()])).unwrap();
        assert!(document.source_text.contains("and more"), "{font}");
    }
}

#[test]
fn pdf_trees_and_forms_without_end_come_to_one() {
    let endless = file(&[
        b"<</Type/Catalog/Pages 2 0 R/PageLabels 2 0 R/Nums[0 1]>>".to_vec(),
        b"<</Type/Pages/Kids[2 0 R 3 0 R 2 0 R 3 0 R]/Parent 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[2 0 R 3 0 R]>>".to_vec(),
    ]);
    fails(&whole(&endless), "parse_failed", "a tree in itself");
    let wide = file(&[
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Kids[{}]>>", "<<>>".repeat(100_000)).into_bytes(),
    ]);
    fails(&whole(&wide), "too_large", "pages without end");

    let form = |inside: &str| {
        stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 4 0 R/Y 5 0 R>>>>", inside.as_bytes())
    };
    let resources = "/XObject<</X 4 0 R/Y 5 0 R>>";
    let itself = pages("", resources, "", &[&format!("{TEXT} /X Do")], &[form("/X Do"), form("")]);
    assert_eq!(whole(&itself).unwrap().source_text, "text");
    // Each draws the next twenty times, twelve deep.
    let chained = |next: usize| {
        let dict = format!("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</N {next} 0 R>>>>");
        stream(&dict, "/N Do ".repeat(20).as_bytes())
    };
    let chain: Vec<_> = (5..17).map(chained).chain([form("")]).collect();
    let doubling = pages("", "/XObject<</N 4 0 R>>", "", &["/N Do"], &chain);
    fails(&bounded(&doubling), "too_large", "forms that multiply");
}

#[test]
fn pdf_nesting_costs_no_stack() {
    for (open, close) in
        [("[", "]"), ("<<", ">>"), ("<</A", ">>"), ("(", ")"), ("q ", "Q "), ("/P BMC ", "EMC "), ("BT ", "ET ")]
    {
        let nested = format!("{} {TEXT} {}", open.repeat(100_000), close.repeat(100_000));
        let _ = whole(&pages("", "", "", &[&nested], &[]));
        let inside = format!("<</X {}{}>>", open.repeat(100_000), close.repeat(100_000));
        let _ = whole(&pages("", "", "", &[TEXT], &[inside.into_bytes()]));
    }
    let document = whole(&pages("", "", "", &[&format!("{} {TEXT}", "q ".repeat(100_000))], &[])).unwrap();
    assert_eq!(document.source_text, "text");
}

/// What has no end must not be looked for again and again.
#[test]
fn pdf_of_beginnings_alone_is_read_in_linear_time() {
    let count = 20_000;
    for piece in [
        "1 0 obj (",
        "1 0 obj <<",
        "1 0 obj [",
        "1 0 obj <</Length 9>>stream\n",
        "<</A(",
        "1 0 R ",
        "trailer <<",
        "xref\n0 1\n",
        "stream\n",
    ] {
        let mut bytes = b"%PDF-1.7\n".to_vec();
        bytes.extend(piece.repeat(count).bytes());
        assert!(whole(&bytes).is_err(), "{piece}");
    }
    for piece in ["BI /W 1 ID EI ", "BI ID ", "EI ", "(", "<", "[(", "/Span<</ActualText(x)>>BDC ", "1 ", "0 0 l "] {
        let _ = whole(&pages("", "", "", &[&format!("{TEXT} {}", piece.repeat(count))], &[]));
        let _ = whole(&pages("", "", "", &[&format!("{TEXT} BI /W 1 ID {}", piece.repeat(count))], &[]));
    }
}

/// One code that stands for a long text, shown very often.
#[test]
fn pdf_text_multiplied_by_its_font_is_refused() {
    let meaning = format!("1 beginbfchar <41> <{}> endbfchar", "0041".repeat(200));
    let font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 5 0 R>>".to_vec();
    let content = format!("BT /F 12 Tf 72 700 Td ({}) Tj ET", "A".repeat(400_000));
    let bytes = pages("", "", "/Resources<</Font<</F 4 0 R>>>>", &[&content], &[font, stream("", meaning.as_bytes())]);
    fails(&whole(&bytes), "too_large", "text without end");
    let glyphs = format!("BT /F 12 Tf 72 700 Td ({}) Tj ET", "A".repeat(600_000));
    fails(&whole(&pages("", "", "", &[&glyphs], &[])), "too_large", "a page of too many glyphs");
}

/// Places no page has: numbers that are none, and letters in a heap or very far apart.
#[test]
fn pdf_of_impossible_places_is_read_all_the_same() {
    for place in [
        "1e38 0 0 1e38 0 0 cm",
        "0 0 0 0 0 0 cm",
        "99999999999999999999 0 0 1 0 0 cm",
        "1 0 0 1 1e30 -1e30 cm",
        "-1 0 0 1 0 0 cm",
        "1e-30 0 0 1e-30 0 0 cm",
    ] {
        let _ = whole(&pages("", "", "", &[&format!("q {place} {TEXT} Q")], &[]));
    }
    let heap = format!("BT /F 12 Tf {} ET", "1 0 0 1 72 700 Tm (A) Tj ".repeat(20_000));
    assert_eq!(whole(&pages("", "", "", &[&heap], &[])).unwrap().source_text, "A");
    let mut scattered = String::from("BT /F 12 Tf ");
    for n in 0..20_000 {
        write!(scattered, "1 0 0 1 {} {} Tm (A) Tj ", n * 7919 % 6_000, n * 104_729 % 8_000).unwrap();
    }
    let document = whole(&pages("", "", "", &[&(scattered + "ET")], &[])).unwrap();
    assert!(document.source_text.matches('A').count() > 10_000);
}

/// Cut off anywhere, a document ends typed, or with what of it could be read.
#[test]
fn pdf_cut_off_anywhere_is_an_error_or_a_part() {
    let whole_text = |name: &str| {
        let path = format!("{}/tests/fixtures/pdf/{name}.pdf", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(path).unwrap()
    };
    for name in ["pages-chromium", "vietnamese-writer", "unlocked"] {
        let bytes = whole_text(name);
        let mut read_in_part = 0;
        for cut in (0..bytes.len()).step_by(bytes.len() / 40) {
            if let Ok(document) = whole(&bytes[..cut]) {
                read_in_part += usize::from(document.chunks.iter().all(|chunk| !chunk.text.is_empty()));
            }
        }
        assert!(read_in_part > 0 || name == "unlocked", "{name}: a file that lost its end still has its beginning");
        // Without its table, all of it is there.
        let at = bytes.windows(9).rposition(|window| window == b"startxref").unwrap();
        let mut damaged = bytes.clone();
        damaged[at + 10..].fill(b'9');
        let (before, after) = (whole(&bytes).unwrap(), whole(&damaged));
        if name != "unlocked" {
            assert_eq!(before.source_text, after.unwrap().source_text, "{name}");
        }
    }
}
