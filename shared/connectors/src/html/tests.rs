use super::*;
use std::time::{Duration, Instant};

fn markdown_of(html: &str) -> String {
    let mut markdown = Markdown::default();
    let base = Url::parse("https://example.org/docs/page").unwrap();
    read(html, Some(&base), "html", &mut markdown).unwrap();
    markdown.finish("html").map(|(text, _)| text).unwrap_or_default()
}

fn storage(html: &str) -> (String, Vec<String>) {
    let mut markdown = Markdown::default();
    read_storage(html, "body", &mut markdown).unwrap();
    let (text, omitted) = markdown.finish("body").unwrap();
    (text, omitted.into_skipped().into_iter().map(|skipped| skipped.what).collect())
}

#[test]
fn html_becomes_the_markdown_that_it_shows() {
    for (html, expected) in [
        ("<p>one<p>two", "one\n\ntwo"),
        ("a<br>b &amp; c&nbsp;d", "a\\\nb & c d"),
        ("<h1>A <b>b</b></h1>text", "# A **b**\n\ntext"),
        ("<ul><li>a<li>b<ol start=3><li>c</ol></ul>d", "- a\n- b\n\n  3. c\n\nd"),
        ("<ul><li><p>a</p><p>b</p></li></ul>", "- a\n\n  b"),
        ("<blockquote>q<blockquote>r</blockquote></blockquote>s", "> q\n>\n> > r\n\ns"),
        ("<a href='../x'>x</a> <a href='javascript:y'>y</a>", "[x](https://example.org/x) y"),
        ("<pre><code class='language-js'>if (a &lt; b) {\n\n}</code></pre>", "```js\nif (a < b) {\n\n}\n```"),
        ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
        ("<p>use <code>a`b</code></p>", "use ``a`b``"),
        ("<script>x</script><style>y</style>z<!-- w -->", "z"),
        ("<nav><a href=/>Home</a></nav>text", "text"),
        ("<nav>menu <p>text", "menu\n\ntext"),
        ("<b>bold<i>both</b>plain</i>", "**bold**bothplain"),
        ("<table><tr><th>a<th>b<tr><td>1<td>2|3</table>", "| a | b |\n| --- | --- |\n| 1 | 2\\|3 |"),
        ("<table><tr><td><b>a<td>b</table>", "| **a** | b |\n| --- | --- |"),
        ("<table role=presentation><tr><td>a<td>b</table>", "a\n\nb"),
        ("<table><tr><td>a<table><tr><td>b</table></table>", "a\n\n| b |\n| --- |"),
        ("<td>stray</td></b></ul>text", "stray\n\ntext"),
        ("<li>loose", "loose"),
        ("<ul><li><input type=checkbox checked> done</ul>", "- [x] done"),
        ("<img src=/a.png alt='A chart'>", "![A chart](https://example.org/a.png)"),
        ("<p dir=rtl>سلام <b>دنیا</b> 👋</p>", "سلام **دنیا** 👋"),
        ("<title>T</title><p>x", "x"),
        ("<div><div>a</div>b</div>", "a\n\nb"),
        ("# no *heading*", "\\# no \\*heading\\*"),
    ] {
        assert_eq!(markdown_of(html).trim_end(), expected, "{html}");
    }
}

#[test]
fn storage_format_keeps_macros_tasks_links_and_code() {
    let (text, omitted) = storage(
        "<p>See <ac:link><ri:page ri:content-title=\"Other &amp; more\" /></ac:link>, \
         <ac:link><ri:user ri:account-id=\"5b1\" /></ac:link> and \
         <ac:link><ri:attachment ri:filename=\"a.pdf\" /><ac:plain-text-link-body><![CDATA[the <file>]]></ac:plain-text-link-body></ac:link> \
         <ac:structured-macro ac:name=\"status\"><ac:parameter ac:name=\"title\">DONE</ac:parameter></ac:structured-macro> \
         <time datetime=\"2026-01-31\" /><ac:emoticon ac:name=\"smile\" ac:emoji-fallback=\"🙂\" /></p>\
         <ac:structured-macro ac:name=\"code\"><ac:parameter ac:name=\"language\">rust</ac:parameter>\
         <ac:plain-text-body><![CDATA[let a = b > c && d[e[0]];\n```]]></ac:plain-text-body></ac:structured-macro>\
         <ac:structured-macro ac:name=\"info\"><ac:parameter ac:name=\"title\">Mind</ac:parameter>\
         <ac:rich-text-body><p>the gap</p></ac:rich-text-body></ac:structured-macro>\
         <ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status>\
         <ac:task-body><span>did</span></ac:task-body></ac:task><ac:task><ac:task-status>incomplete</ac:task-status>\
         <ac:task-body>do</ac:task-body></ac:task></ac:task-list>\
         <table><tbody><tr><th>a</th><td/></tr></tbody></table><p>x<strong/>y</p>\
         <ac:image ac:alt=\"Plan\"><ri:attachment ri:filename=\"p.png\" /></ac:image>\
         <ac:structured-macro ac:name=\"toc\" /><ac:structured-macro ac:name=\"jira\" />",
    );
    let expected = "See Other & more, @5b1 and the \\<file> DONE 2026-01-31🙂\n\n````rust\nlet a = b > c && d[e[0]];\n```\n````\n\n\
        > **Mind**\n>\n> the gap\n\n- [x] did\n- [ ] do\n\n| a | |\n| --- | --- |\n\nxy\n\nPlan\n";
    assert_eq!(text, expected);
    assert_eq!(omitted, ["macro jira", "picture"]);
}

#[test]
fn page_is_its_main_part_where_it_says_which_that_is() {
    for (html, expected, omitted) in [
        ("<header>top</header><main><h1>A</h1>b</main><footer>end</footer>", "# A\n\nb", 1),
        ("<title>t</title><script>'<main>'</script>top<main>b</main>", "top\n\nb", 0),
        ("top<main> </main>end", "top\n\nend", 0),
        ("top<main>b", "top\n\nb", 0),
        ("<main>a</main>between<main>b</main>", "a\n\nb", 1),
        ("<b><main>a<ul><li>x</main>out", "a\n\n- x", 1),
    ] {
        let (markdown, _) = read_page(html, None, "html").unwrap();
        let (text, skipped) = markdown.finish("html").unwrap();
        assert_eq!((text.trim_end(), skipped.into_skipped().len()), (expected, omitted), "{html}");
    }
}

/// Cases P15 and P16: depth and width of any size cost neither the stack nor time, and the text is kept.
#[test]
fn hostile_html_is_read_in_linear_time_and_keeps_its_text() {
    let deep =
        |tag: &str| format!("{}<p>core</p>{}", format!("<{tag}>").repeat(100_000), format!("</{tag}>").repeat(100_000));
    let pages = [
        deep("div"),
        deep("ul"),
        deep("blockquote"),
        deep("b"),
        deep("table"),
        deep("li"),
        deep("a href=x"),
        deep("ac:structured-macro"),
        "<ul><li>".repeat(100_000) + "core",
        "<table><tr><td>".repeat(100_000) + "core",
        format!("<p {}>core</p>", (0..100_000).map(|n| format!("a{n}=1 href=x ")).collect::<Vec<_>>().concat()),
        format!("<table><tr>{}core</table>", "<td colspan=1000>".repeat(100_000)),
        format!("core {}", "<a@b> ".repeat(100_000)),
        format!("core{}", "&amp".repeat(200_000)),
        format!("core{}", "</li></td></b>".repeat(100_000)),
    ];
    for page in pages {
        let start = Instant::now();
        let text = markdown_of(&page);
        assert!(text.contains("core"), "{}", &page[..40]);
        assert!(start.elapsed() < Duration::from_secs(20), "{} took {:?}", &page[..40], start.elapsed());
    }
}

#[test]
fn page_says_its_title_and_language() {
    let mut markdown = Markdown::default();
    let head = read(
        "<html lang=fa><head><title> A\n&lt;b&gt; </title><meta name=description content='About it'>\
         <meta property='article:modified_time' content='2026-01-31T08:00:00Z'></head><body><h1>Head <i>line</i></h1>x",
        None,
        "html",
        &mut markdown,
    )
    .unwrap();
    assert_eq!(head.title.as_deref(), Some("A <b>"));
    assert_eq!(head.heading.as_deref(), Some("Head line"));
    assert_eq!(head.language.as_deref(), Some("fa"));
    assert_eq!(head.description.as_deref(), Some("About it"));
    assert_eq!(head.modified.as_deref(), Some("2026-01-31T08:00:00Z"));
}

#[test]
fn page_and_attribute_are_bounded_at_the_limit_and_past_it() {
    use crate::limits::{MAX_ATTRIBUTE_BYTES, MAX_TEXT_BYTES};
    let page = |size: usize| " ".repeat(size - 1) + "x";
    assert_eq!(markdown_of(&page(MAX_TEXT_BYTES)), "x\n");
    let error = read(&page(MAX_TEXT_BYTES + 1), None, "html", &mut Markdown::default()).unwrap_err();
    assert_eq!(error, ItemError::TooLarge { field: "html".into(), limit: MAX_TEXT_BYTES });
    for size in [MAX_ATTRIBUTE_BYTES, MAX_ATTRIBUTE_BYTES + 1] {
        let text = markdown_of(&format!("<img alt='{}'>", "a".repeat(size)));
        assert_eq!(text.trim_end().len(), MAX_ATTRIBUTE_BYTES);
    }
}

#[test]
fn element_that_does_not_end_is_reported() {
    let mut markdown = Markdown::default();
    read("seen<svg>unseen", None, "html", &mut markdown).unwrap();
    let (text, omitted) = markdown.finish("html").unwrap();
    assert_eq!(text, "seen\n");
    assert_eq!(omitted.into_skipped().len(), 1);
}

proptest::proptest! {
    /// Whatever the tags are and wherever they end, the text is kept, in both dialects.
    #[test]
    fn any_tags_keep_the_text_between_them(
        tags in proptest::collection::vec(
            proptest::sample::select(vec![
                "<p>", "</p>", "<div>", "<b>", "</b>", "<i>", "<a href=/x>", "</a>", "<ul>", "<ol start=4>", "</ul>", "</ol>", "<li>",
                "</li>", "<table>", "</table>", "<tr>", "</tr>", "<td>", "<th colspan=3>", "</td>", "<pre>", "</pre>", "<code>",
                "</code>", "<h1>", "</h1>", "<h3>", "</h2>", "<blockquote>", "</blockquote>", "<br>", "<hr>", "<img alt=pic>",
                "<table role=none>", "<td/>", "<q>", "<!-- x -->", "<![CDATA[y]]>", "</nav>", "<input type=checkbox>", "&amp;", " ",
                "<caption>", "</tr>", "</body>",
            ]),
            0..40,
        ),
    ) {
        let mut html = String::new();
        for (index, tag) in tags.iter().enumerate() {
            html.extend(["w", &index.to_string(), "w", tag]);
        }
        html.push_str("end");
        for is_storage in [false, true] {
            let mut markdown = Markdown::default();
            if is_storage {
                read_storage(&html, "html", &mut markdown).unwrap();
            } else {
                read(&html, None, "html", &mut markdown).unwrap();
            }
            let text = markdown.finish("html").unwrap().0;
            for word in (0..tags.len()).map(|index| format!("w{index}w")).chain(["end".to_owned()]) {
                proptest::prop_assert!(text.contains(&word), "{} of {} in {}", word, html, text);
            }
        }
    }
}
