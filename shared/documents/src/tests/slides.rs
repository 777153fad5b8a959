use super::*;
use crate::{BlockKind, MediaType};
use anchorage_domain::SkipReason;

fn shape(place: &str, paragraphs: &[&str]) -> String {
    let place = if place.is_empty() { String::new() } else { format!("<p:nvPr><p:ph type=\"{place}\"/></p:nvPr>") };
    let lines: Vec<_> = paragraphs.iter().map(|text| format!("<a:p><a:r><a:t>{text}</a:t></a:r></a:p>")).collect();
    format!("<p:sp>{place}<p:txBody>{}</p:txBody></p:sp>", lines.concat())
}

fn slide(attributes: &str, shapes: &[String]) -> String {
    format!("<p:sld {attributes}><p:cSld><p:spTree>{}</p:spTree></p:cSld></p:sld>", shapes.concat())
}

#[test]
fn pptx_slides_come_in_the_order_shown_under_their_titles() {
    let first = slide("", &[
        shape("body", &["point", "second point"]),
        shape("ctrTitle", &["The", "start"]),
        format!("<p:grpSp><p:grpSp>{}</p:grpSp></p:grpSp>", shape("", &["in a group"])),
        shape("sldNum", &["1"]),
        "<p:sp><a:p><a:fld type=\"slidenum\"><a:t>7</a:t></a:fld><a:r><a:t>A</a:t></a:r><a:br/><a:r><a:t>B</a:t></a:r></a:p></p:sp>".into(),
    ]);
    let untitled = slide("show=\"0\"", &[shape("", &["secret"])]);
    let document = read(&pptx(&[(&first, &[]), (&untitled, &[])]), ChunkingPolicy::default()).unwrap();
    assert_eq!((document.media_type, document.title.as_deref()), (MediaType::Pptx, Some("The start")));
    assert_eq!(texts(&document), ["The start\npoint\nsecond point\n\nin a group\n\nA\nB", "secret"]);
    assert_eq!(document.chunks[1].heading_path, ["Slide 2"]);
    assert_eq!(document.coverage.pages, Some(2));
    let skipped: Vec<_> = document.coverage.skipped.iter().map(|s| (s.what.as_str(), s.reason)).collect();
    assert_eq!(skipped, [("slide 2", SkipReason::Hidden)]);
    assert!(!document.coverage.partial, "hidden, but read");
}

#[test]
fn pptx_tables_notes_and_diagrams_are_read_and_charts_are_named() {
    let cell = |attributes: &str, text: &str| {
        format!("<a:tc {attributes}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>")
    };
    let table = format!(
        "<p:graphicFrame><a:tbl><a:tblPr firstRow=\"1\"/><a:tr>{}{}{}</a:tr><a:tr>{}{}{}</a:tr><a:tr>{}{}{}</a:tr></a:tbl></p:graphicFrame>",
        cell("", "Model"),
        cell("", "Part"),
        cell("", "Price"),
        cell("rowSpan=\"2\"", "X1"),
        cell("gridSpan=\"2\"", "both"),
        cell("hMerge=\"1\"", ""),
        cell("vMerge=\"1\"", ""),
        cell("", "lid"),
        cell("", "3"),
    );
    let content = slide("", &[shape("title", &["Parts"]), table]);
    let notes = format!("<p:notes>{}{}</p:notes>", shape("body", &["Say it slowly."]), shape("sldNum", &["1"]));
    let diagram =
        "<dgm:dataModel><dgm:pt><dgm:t><a:p><a:r><a:t>step one</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>";
    let further = [("notesSlide", notes.as_str()), ("diagramData", diagram), ("chart", "<c:chart/>")];
    let document = read(&pptx(&[(&content, &further)]), ChunkingPolicy::default()).unwrap();
    assert_eq!(
        texts(&document),
        [
            "Parts",
            "Model | Part | Price\nModel: X1 / Part: both\nModel: X1 / Part: lid / Price: 3",
            "step one",
            "Say it slowly."
        ]
    );
    let notes = document.chunks.last().unwrap();
    assert_eq!((notes.kind, notes.heading_path.clone()), (BlockKind::Footnote, vec!["Parts".into(), "Notes".into()]));
    let skipped: Vec<_> = document.coverage.skipped.iter().map(|s| (s.what.as_str(), s.reason)).collect();
    assert_eq!(skipped, [("slide 1: chart1.xml", SkipReason::Unsupported)]);
    assert!(document.coverage.partial);
}
