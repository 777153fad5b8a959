//! Documents made by hand, for what no printer makes on demand.

use super::*;
use anchorage_domain::{PagePlace, QuarantineReason, SkipReason, Source};
use std::fmt::Write as _;

/// A file of numbered objects, the first of them the catalog. Tables are for readers that need them.
pub(super) fn file(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    for (object, number) in objects.iter().zip(1..) {
        bytes.extend(format!("{number} 0 obj\n").bytes());
        bytes.extend_from_slice(object);
        bytes.extend_from_slice(b"\nendobj\n");
    }
    bytes.extend_from_slice(b"trailer\n<</Root 1 0 R>>\n%%EOF\n");
    bytes
}

pub(super) fn stream(dict: &str, data: &[u8]) -> Vec<u8> {
    let mut object = format!("<<{dict}/Length {}>>stream\n", data.len()).into_bytes();
    object.extend_from_slice(data);
    object.extend_from_slice(b"\nendstream");
    object
}

/// Pages of the given instructions, 600 points wide and 800 high, with Helvetica as `F`. `catalog` and `resources` are
/// added to the dictionaries of these names; further objects begin at number 4.
pub(super) fn pages(catalog: &str, resources: &str, page: &str, contents: &[&str], further: &[Vec<u8>]) -> Vec<u8> {
    let first = 4 + further.len();
    let mut kids = String::new();
    for index in 0..contents.len() {
        write!(kids, "{} 0 R ", first + index * 2).unwrap();
    }
    let mut objects = vec![
        format!("<</Type/Catalog/Pages 2 0 R{catalog}>>").into_bytes(),
        format!(
            "<</Type/Pages/Count {}/Kids[{kids}]/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>{resources}>>>>",
            contents.len()
        )
        .into_bytes(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_vec(),
    ];
    objects.extend_from_slice(further);
    for (content, index) in contents.iter().zip(0..) {
        objects.push(format!("<</Type/Page/Parent 2 0 R/Contents {} 0 R{page}>>", first + index * 2 + 1).into_bytes());
        objects.push(stream("", content.as_bytes()));
    }
    file(&objects)
}

fn simple(contents: &[&str]) -> Vec<u8> {
    pages("", "", "", contents, &[])
}

/// Lines of text from the top, 14 points apart.
fn lines(lines: &[&str]) -> String {
    let mut content = String::from("BT /F 12 Tf 14 TL 72 700 Td\n");
    for line in lines {
        writeln!(content, "({line}) Tj T*").unwrap();
    }
    content + "ET"
}

fn text_of(bytes: &[u8]) -> String {
    read(bytes, ChunkingPolicy::default()).unwrap().source_text
}

#[test]
fn pdf_words_come_from_places_when_no_space_is_drawn() {
    for (content, expected) in [
        // Spaces as gaps, letters apart by kerning alone.
        ("BT /F 12 Tf 72 700 Td [(W)80(ide)-300(words)-280(here)] TJ ET", "Wide words here"),
        // Letters spaced out by the state, and by places.
        ("BT /F 12 Tf 5 Tc 72 700 Td (spaced out) Tj ET", "spaced out"),
        // Spacing that is taken back again, but for the gaps between words.
        ("BT 3 Tc 12 0 0 12 72 700 Tm /F 1 Tf [(a)3000(r)3000(e)2600(t)3000(w)3000(o)] TJ ET", "are two"),
        ("BT /F 12 Tf 72 700 Td [(s)-500(p)-500(a)-500(c)-500(e)-500(d)-1500(o)-500(u)-500(t)] TJ ET", "spaced out"),
        // One line in pieces, drawn in any order (case P14).
        (
            "BT /F 12 Tf 1 0 0 1 130 700 Tm (line) Tj 1 0 0 1 72 700 Tm (One) Tj 1 0 0 1 99 700 Tm (seen) Tj ET",
            "One seen line",
        ),
        // Printed twice to look bold.
        ("BT /F 12 Tf 72 700 Td (Bold) Tj 0.3 0 Td (Bold) Tj ET", "Bold"),
        // A note's mark stands higher, in the same line.
        ("BT /F 12 Tf 72 700 Td (word) Tj /F 7 Tf 5 Ts (1) Tj /F 12 Tf 0 Ts ( goes on) Tj ET", "word1 goes on"),
        // Nothing can be seen of a text under a picture; it is the page's text.
        ("BT 3 Tr /F 12 Tf 72 700 Td (recognised) Tj ET", "recognised"),
        ("q 2 0 0 2 0 0 cm BT /F 6 Tf 36 350 Td (scaled) Tj ET Q", "scaled"),
    ] {
        assert_eq!(text_of(&simple(&[content])).trim(), expected, "{content}");
    }
}

#[test]
fn pdf_turned_text_reads_along_its_own_lines() {
    let upright = lines(&["First upright line.", "Second upright line."]);
    let turned = "BT /F 12 Tf 0 1 -1 0 500 100 Tm (Turned line) Tj 0 1 -1 0 514 100 Tm (and its next) Tj ET";
    let text = text_of(&simple(&[&format!("{turned}\n{upright}")]));
    assert_eq!(text, "First upright line. Second upright line.\n\nTurned line and its next");
    // A page that is shown turned: its text runs upwards in the page's own coordinates.
    let page = "BT /F 12 Tf 0 1 -1 0 100 72 Tm (Top line of a wide page,) Tj 0 1 -1 0 114 72 Tm (and the line under it.) Tj ET";
    let document = read(&pages("", "", "/Rotate 90", &[page], &[]), ChunkingPolicy::default()).unwrap();
    assert_eq!(document.source_text, "Top line of a wide page, and the line under it.");
    let Source::Pages { pages } = &document.chunks[0].source else { panic!() };
    let [left, bottom, right, top] = pages[0].bbox;
    assert!(right - left < 30 && top - bottom > 100, "the place is told in the page's own coordinates: {:?}", pages[0]);
}

/// Case C64: the page in the file, the number printed on it, and the place.
#[test]
fn pdf_chunk_names_page_label_and_box() {
    let labels = "/PageLabels<</Nums[0<</S/r/St 3>>2<</P(A-)/S/D/St 7>>]>>";
    let contents = [
        "BT /F 12 Tf 72 700 Td (Hello) Tj ET",
        "BT /F 12 Tf 72 600 Td (Hello) Tj ET",
        "BT /F 24 Tf 72 100 Td (Hello) Tj ET",
    ];
    let document = read(&pages(labels, "", "", &contents, &[]), ChunkingPolicy::default()).unwrap();
    let place = |page, label: &str, bbox| PagePlace { page, label: Some(label.into()), bbox };
    // Five letters of Helvetica are 2.278 sizes wide.
    let expected = vec![
        place(1, "iii", [72, 697, 100, 709]),
        place(2, "iv", [72, 597, 100, 609]),
        place(3, "A-7", [72, 94, 127, 118]),
    ];
    let found: Vec<_> = document
        .chunks
        .iter()
        .flat_map(|chunk| match &chunk.source {
            Source::Pages { pages } => pages.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(found, expected);
    assert!(document.chunks.len() < 3, "one chunk stands on several pages");
}

#[test]
fn pdf_marked_content_says_what_its_glyphs_stand_for() {
    for (content, expected) in [
        ("/Span<</ActualText(fi)>>BDC (\\256) Tj EMC (nd) Tj", "find"),
        ("(so) Tj /Span<</ActualText()>>BDC (-) Tj EMC (ftly) Tj", "softly"),
        ("/Span<</ActualText<FEFF06A906CC>>>BDC (??) Tj EMC", "کی"),
        ("/P<</ActualText(outer)>>BDC /Span<</ActualText(inner)>>BDC (x) Tj EMC (y) Tj EMC", "outer"),
        ("/Span/Words BDC (x) Tj EMC", "by name"),
        ("/Span<</ActualText(cut off)>>BDC (x) Tj", "cut off"),
    ] {
        let bytes = pages(
            "",
            "/Properties<</Words<</ActualText(by name)>>>>",
            "",
            &[&format!("BT /F 12 Tf 72 700 Td {content} ET")],
            &[],
        );
        assert_eq!(text_of(&bytes).trim(), expected, "{content}");
    }
}

/// What a font says a glyph stands for: letters, not the shapes they are drawn in.
#[test]
fn pdf_ligatures_and_shapes_are_the_letters_they_show() {
    let meaning = b"4 beginbfchar <41> <FB01> <42> <FEE3> <43> <FEFB> <44> <06A906CC> endbfchar".to_vec();
    let font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 5 0 R>>".to_vec();
    for (shown, expected) in [("And", "find"), ("CB", "ملا"), ("D", "کی")] {
        let content = format!("BT /F 12 Tf 72 700 Td ({shown}) Tj ET");
        let further = [font.clone(), stream("", &meaning)];
        let bytes = pages("", "", "/Resources<</Font<</F 4 0 R>>>>", &[&content], &further);
        assert_eq!(text_of(&bytes), expected, "{shown}");
    }
}

#[test]
fn pdf_layers_that_are_off_are_not_on_the_page() {
    let catalog = "/OCProperties<</OCGs[4 0 R 5 0 R]/D<</OFF[5 0 R]>>>>";
    let resources = "/Properties<</On 4 0 R/Off 5 0 R>>";
    let layer = b"<</Type/OCG/Name(layer)>>".to_vec();
    let content = "BT /F 12 Tf 72 700 Td /OC/On BDC (shown) Tj EMC /OC/Off BDC ( hidden) Tj EMC ET";
    assert_eq!(text_of(&pages(catalog, resources, "", &[content], &[layer.clone(), layer])).trim(), "shown");
}

#[test]
fn pdf_lines_become_paragraphs_and_broken_words_whole() {
    let content = lines(&[
        "This paragraph is set over several lines and has a bro-",
        "ken word in it, and it goes on as long as it has to, well-",
        "Known names keep their hyphen. Then it ends here.",
    ]);
    let text = text_of(&simple(&[&content]));
    assert_eq!(
        text,
        "This paragraph is set over several lines and has a broken word in it, and it goes on as long as it has to, \
         well- Known names keep their hyphen. Then it ends here."
    );
    let wide = "BT /F 12 Tf 28 TL 72 700 Td (Text that is set with every second line left free is one) Tj T* \
                (paragraph all the same, as long as its sentence goes on.) Tj T* (Then comes the next.) Tj ET";
    let text = text_of(&simple(&[wide]));
    assert!(text.starts_with("Text that is set with every second line left free is one paragraph all"), "{text}");
    // What breaks off on one page goes on on the next, and stands on both.
    let pages = [
        lines(&["A sentence that begins on the first page and is too", "long for it goes on across the border and"]),
        lines(&["ends on the second page."]),
    ];
    let document = read(&simple(&[&pages[0], &pages[1]]), ChunkingPolicy::default()).unwrap();
    assert!(
        document.source_text.ends_with("across the border and ends on the second page."),
        "{}",
        document.source_text
    );
    let Source::Pages { pages } = &document.chunks[0].source else { panic!() };
    assert_eq!(pages.iter().map(|place| place.page).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn pdf_headings_are_larger_than_the_text_and_lead_their_sections() {
    let body = |n: u32| {
        format!(
            "BT /F 11 Tf 14 TL 72 {n} Td (Some lines of running text that stand below,) Tj T* (and that are long enough to be most of it.) Tj ET "
        )
    };
    let content = format!(
        "BT /F 20 Tf 72 760 Td (Report) Tj ET {} BT /F 15 Tf 72 660 Td (Method) Tj ET {} BT /F 15 Tf 72 560 Td (Result) Tj ET {}",
        body(730),
        body(630),
        body(530)
    );
    let document = read(&simple(&[&content]), ChunkingPolicy::default()).unwrap();
    let paths: Vec<_> = document.chunks.iter().map(|chunk| chunk.heading_path.join("/")).collect();
    assert_eq!(paths, ["Report", "Report/Method", "Report/Result"], "{}", document.source_text);
    assert_eq!(document.title.as_deref(), Some("Report"));
}

/// Cases P10, C36 and C37: pages without text are told, and a document of nothing else has failed.
#[test]
fn pdf_pages_that_are_pictures_are_named() {
    let picture =
        stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", b"\0");
    let scan = "q 600 0 0 800 0 0 cm /Im Do Q";
    let stamp = format!("{scan} BT /F 8 Tf 500 20 Td (received) Tj ET");
    let text = lines(&["A page of text that can be read."]);
    let resources = "/XObject<</Im 4 0 R>>";
    let document = read(
        &pages("", resources, "", &[&text, scan, "", &stamp], std::slice::from_ref(&picture)),
        ChunkingPolicy::default(),
    )
    .unwrap();
    let skipped: Vec<_> =
        document.coverage.skipped.iter().map(|skipped| (skipped.what.as_str(), skipped.reason)).collect();
    assert_eq!(
        skipped,
        [("page 2", SkipReason::NoText), ("page 4", SkipReason::NoText)],
        "an empty page lacks nothing"
    );
    assert!(document.coverage.partial);
    assert_eq!(document.coverage.pages, Some(4));
    let scanned = pages("", resources, "", &[scan, scan], &[picture]);
    assert_eq!(code(&read(&scanned, ChunkingPolicy::default()).unwrap_err()), "no_text");
}

#[test]
fn pdf_page_with_glyphs_that_say_nothing_is_quarantined() {
    let font = b"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[5 0 R]>>".to_vec();
    let descendant = b"<</Type/Font/Subtype/CIDFontType2/BaseFont/X/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/FontDescriptor<</Type/FontDescriptor/FontName/X/Flags 4>>>>".to_vec();
    let unknown = "BT /U 12 Tf 72 600 Td <00010002000300040005000600070008> Tj ET";
    let readable = lines(&["Some words that can be read."]);
    let resources = "/Font<</F 3 0 R/U 4 0 R>>";
    let bytes = pages(
        "",
        "",
        &format!("/Resources<<{resources}>>"),
        &[&readable, &format!("{readable} {unknown}"), unknown],
        &[font, descendant],
    );
    let document = read(&bytes, ChunkingPolicy::new(64, 0).unwrap()).unwrap();
    let skipped: Vec<_> =
        document.coverage.skipped.iter().map(|skipped| (skipped.what.as_str(), skipped.reason)).collect();
    assert_eq!(skipped, [("page 2", SkipReason::Untrusted), ("page 3", SkipReason::Unreadable)]);
    assert!(document.chunks.iter().any(|chunk| chunk.quarantined == Some(QuarantineReason::UnmappedGlyphs)));
    assert_eq!(document.coverage.replaced_chars, 16);
}

#[test]
fn pdf_forms_and_fields_are_read_where_they_are_drawn() {
    let form = stream(
        "/Type/XObject/Subtype/Form/BBox[0 0 100 100]/Resources<</Font<</F 3 0 R>>>>",
        b"BT /F 12 Tf 0 0 Td (In a form.) Tj ET",
    );
    let field = b"<</Type/Annot/Subtype/Widget/Rect[72 500 172 600]/AP<</N 4 0 R>>>>".to_vec();
    let hidden = b"<</Type/Annot/Subtype/Widget/F 2/Rect[72 300 172 400]/AP<</N 4 0 R>>>>".to_vec();
    let bytes = pages(
        "",
        "/XObject<</Fm 4 0 R>>",
        "/Annots[5 0 R 6 0 R]",
        &["q 1 0 0 1 72 700 cm /Fm Do Q"],
        &[form, field, hidden],
    );
    let document = read(&bytes, ChunkingPolicy::default()).unwrap();
    assert_eq!(document.source_text, "In a form.\n\nIn a form.");
    let Source::Pages { pages } = &document.chunks[0].source else { panic!() };
    assert_eq!((pages[0].bbox[0], pages[0].bbox[3]), (72, 709));
}

/// Without a password, or with none that is needed.
#[test]
fn pdf_encrypted_file_opens_when_no_password_is_asked_for() {
    let bytes =
        |name: &str| std::fs::read(format!("{}/tests/fixtures/pdf/{name}.pdf", env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert!(text_of(&bytes("unlocked")).contains("sentinelthree"));
    assert_eq!(read(&bytes("locked"), ChunkingPolicy::default()), Err(ParseError::Encrypted));
}
