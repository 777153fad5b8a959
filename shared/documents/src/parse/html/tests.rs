use super::*;

/// Each block as one line: kind, headings above it, text.
fn shown(html: &str) -> Vec<String> {
    let parsed = parse(html, &Limits::default()).unwrap();
    let show = |block: &Block| {
        let text = match &block.content {
            Content::Text(text) => text.clone(),
            Content::Table(table) => {
                let rows: Vec<_> = table.rows.iter().map(|row| row.cells.join(",")).collect();
                format!("{}[{}] {}", table.context.join(";"), table.header.join(","), rows.join(" / "))
            }
        };
        format!("{:?} {}: {text}", block.kind, block.heading_path.join("/"))
    };
    parsed.blocks.iter().map(show).collect()
}

#[test]
fn html_gives_blocks_in_order_under_their_headings() {
    let html = "<!doctype html><html lang=en><head><title>Care &amp; use</title><style>p{}</style></head><body>\
        <h1>Guide</h1><p>First <b>bold</b>,\n <a href=x>the link</a>.<p>Second<br>line<h2>Steps</h2>\
        <ul><li>one<li>two <ul><li>inner</ul></ul><pre>\nfn x() {\n    1\n}\n</pre><div>A<div>B</div>C</div></body></html>";
    assert_eq!(
        shown(html),
        [
            "Heading Guide: Guide",
            "Paragraph Guide: First bold, the link.",
            "Paragraph Guide: Second\nline",
            "Heading Guide/Steps: Steps",
            "ListItem Guide/Steps: one",
            "ListItem Guide/Steps: two",
            "ListItem Guide/Steps: inner",
            "Code Guide/Steps: fn x() {\n    1\n}",
            "Paragraph Guide/Steps: A",
            "Paragraph Guide/Steps: B",
            "Paragraph Guide/Steps: C",
        ]
    );
    assert_eq!(parse(html, &Limits::default()).unwrap().title.as_deref(), Some("Care & use"));
}

#[test]
fn html_tables_keep_header_spans_and_what_is_nested() {
    let html = "<table><caption>Prices</caption><thead><tr><th>Model<th>Part<th>Price</thead>\
        <tr><td rowspan=2>X1<td>lid<td>3<tr><td>base<td><table><tr><td>4<td>5</table>net</table>after";
    assert_eq!(shown(html), ["Table : Prices[Model,Part,Price] X1,lid,3 / X1,base,4 | 5\nnet", "Paragraph : after"]);
    // Without a head, a first row of header cells alone is the header.
    assert_eq!(
        shown("<table><tr><th>a</th><th>b</th></tr><tr><th>1</th><td>2</td></tr></table>"),
        ["Table : [a,b] 1,2"]
    );
}

/// Mail and old pages lay themselves out with tables: what is in them is still paragraphs and headings.
#[test]
fn html_tables_that_only_lay_out_are_no_tables() {
    let html = "<table role=presentation><tr><td><h1>Offer</h1><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>\
        <table><tr><td>only<tr><td>column</table>";
    assert_eq!(
        shown(html),
        ["Heading Offer: Offer", "Table Offer: [] a,b", "Paragraph Offer: only", "Paragraph Offer: column"]
    );
}

#[test]
fn html_leaves_out_what_is_not_shown_and_names_navigation() {
    let html = "<nav><ul><li>Home</ul></nav><p>kept</p><script>if (a<b) {\"</p>\"}</script><p hidden>no<p>kept too\
        <div style='display: none'>no<div>no</div>no</div><template><p>no</p></template><span hidden>no</span>\
        <ul><li hidden>no<ul><li>no</ul>no<li>kept item</ul><svg><script/><text>no</text></svg><!-- no -->\
        <table><tr><td hidden>no<td>kept cell<td>b</table><dialog>no</dialog><p hidden=until-found>found</p><img alt='a cat'>";
    assert_eq!(
        shown(html),
        [
            "Paragraph : kept",
            "Paragraph : kept too",
            "ListItem : kept item",
            "Table : [] kept cell,b",
            "Paragraph : found",
            "Paragraph : a cat",
        ]
    );
    let coverage = parse(html, &Limits::default()).unwrap().coverage;
    assert_eq!(coverage.skipped, [Skipped { what: "navigation".into(), reason: SkipReason::Aside }]);
}

#[test]
fn html_that_hides_its_rest_by_a_missing_end_says_so() {
    let parsed = parse("<p>seen</p><div hidden>lost<p>all of it", &Limits::default()).unwrap();
    assert_eq!(parsed.blocks.len(), 1);
    assert_eq!(parsed.coverage.skipped[0].reason, SkipReason::Unreadable);
}

#[test]
fn html_end_tags_without_a_start_and_crossed_ones_lose_no_text() {
    for (html, expected) in [
        ("</div></p>a</td>b", "a b"),
        ("<b><p>a</b>b</p>c", "ab c"),
        ("<table><div>a<tr><td>b</div>c</td></table>d", "a b\nc d"),
        ("<li>a</ul>b", "a b"),
        ("<td>a</td><tr>b", "a b"),
        ("<table><tr><td>a<h2>b</table>c", "a\nb c"),
    ] {
        let texts: Vec<_> = shown(html).into_iter().map(|line| line.split_once(": ").unwrap().1.to_owned()).collect();
        assert_eq!(texts.join(" ").replace("[] ", ""), expected, "{html}");
    }
}
