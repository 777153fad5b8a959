use super::*;

fn written(write: impl FnOnce(&mut Markdown)) -> String {
    let mut markdown = Markdown::default();
    write(&mut markdown);
    markdown.finish("body").unwrap().0
}

fn say(markdown: &mut Markdown, text: &str) {
    markdown.text(text, &Style::default());
}

#[test]
fn text_that_looks_like_markdown_is_escaped() {
    for (text, expected) in [
        ("plain, text. 3 * 4 - 5 < 6 & 7", "plain, text. 3 * 4 - 5 < 6 & 7"),
        ("# no heading", "\\# no heading"),
        ("#hashtag", "#hashtag"),
        ("- no item", "\\- no item"),
        ("---", "\\---"),
        ("1. no item", "1\\. no item"),
        ("3.5 metres", "3.5 metres"),
        ("> no quote", "\\> no quote"),
        ("    no code", "no code"),
        ("snake_case_name and _this_", "snake_case_name and \\_this\\_"),
        ("*stars* `ticks` [x](y)", "\\*stars\\* \\`ticks\\` \\[x\\](y)"),
        ("<b>&amp; &x", "\\<b>\\&amp; &x"),
        ("C:\\dir \\*", "C:\\dir \\\\\\*"),
        ("~a~ ~5", "\\~a\\~ \\~5"),
        ("~5 min", "~5 min"),
        ("\u{a0}# a", "\\# a"),
        ("a\nb\n# c", "a\\\nb\\\n\\# c"),
        ("a\n\n\nb", "a\n\nb"),
        ("سلام *دنیا*", "سلام \\*دنیا\\*"),
    ] {
        assert_eq!(written(|m| say(m, text)).trim_end_matches('\n'), expected, "{text:?}");
    }
}

#[test]
fn marks_stand_where_a_reader_sees_them() {
    let strong = Style::marked(Marks::STRONG);
    let both = Style::marked(Marks::STRONG.with(Marks::EMPHASIS));
    let code = Style::marked(Marks::CODE);
    let plain = Style::default();
    for (runs, expected) in [
        (vec![("a ", &plain), (" b ", &strong), ("c", &plain)], "a  **b** c"),
        (vec![("pre", &plain), ("fix", &strong), ("ed", &plain)], "pre**fix**ed"),
        (vec![("note:", &strong), ("text", &plain)], "note:text"),
        (vec![("one", &strong), ("two", &both)], "**one**two"),
        (vec![("x", &both)], "***x***"),
        (vec![("a`b", &code)], "``a`b``"),
        (vec![("\\", &plain), ("a", &code)], "\\\\`a`"),
        (vec![("`a`", &code)], "`` `a` ``"),
        (vec![(" ", &strong), ("a", &plain)], "a"),
        (vec![(" ", &strong), ("* a", &plain)], "\\* a"),
        (vec![(": *", &strong)], "**: \\***"),
        (vec![("~", &strong), ("*~", &plain)], "\\~\\*\\~"),
    ] {
        let shown = written(|m| runs.iter().for_each(|(text, style)| m.text(text, style)));
        assert_eq!(shown.trim_end(), expected);
    }
}

#[test]
fn links_keep_their_text_and_their_target() {
    for (text, url, expected) in [
        ("here", "https://example.org/a", "[here](https://example.org/a)"),
        (" here ", "https://example.org/a_(b)", "[here](<https://example.org/a_(b)>)"),
        ("https://example.org", "https://example.org/", "<https://example.org>"),
        ("", "https://example.org/", ""),
        ("a]b", "https://example.org/", "[a\\]b](https://example.org/)"),
    ] {
        let mut markdown = Markdown::default();
        markdown.text(text, &Style::link(Some(url.to_owned())));
        let shown = markdown.finish("body").map(|(text, _)| text).unwrap_or_default();
        assert_eq!(shown.trim(), expected);
    }
}

#[test]
fn lists_quotes_and_code_nest() {
    let shown = written(|m| {
        say(m, "Before");
        m.open_list(None);
        m.open_item(None);
        say(m, "one");
        m.open_list(Some(9));
        for text in ["nine", "ten"] {
            m.open_item(None);
            say(m, text);
            m.code("rust", "let a = \"```\";\n\nlet b;");
            m.close();
        }
        m.close();
        m.close();
        m.open_item(Some(true));
        say(m, "two");
        m.open_quote();
        say(m, "said\n\nagain");
        m.close();
        m.close();
        m.open_item(None);
        m.close();
        m.close();
        say(m, "After");
    });
    let expected = "Before\n\n- one\n\n  9. nine\n\n     ````rust\n     let a = \"```\";\n\n     let b;\n     ````\n  10. ten\n\n      ````rust\n      let a = \"```\";\n\n      let b;\n      ````\n- [x] two\n\n  > said\n  >\n  > again\n\nAfter\n";
    assert_eq!(shown, expected);
}

#[test]
fn table_keeps_its_cells_on_one_line_each() {
    let shown = written(|m| {
        m.open_table();
        for row in [["a|b", "c"], ["1\n\n2", ""]] {
            m.open_row();
            for cell in row {
                m.open_cell(1);
                say(m, cell);
                m.close_cell();
            }
        }
        m.open_row();
        m.open_cell(2);
        m.open_list(None);
        for text in ["x", "y"] {
            m.open_item(None);
            say(m, text);
            m.close();
        }
        m.close();
        m.open_cell(1);
        m.code("", "p | q\nr");
        m.close_table();
        say(m, "after");
    });
    assert_eq!(
        shown,
        "| a\\|b | c | |\n| --- | --- | --- |\n| 1<br>2 | |\n| - x<br>- y | | `p \\| q`<br>`r` |\n\nafter\n"
    );
}

#[test]
fn columns_past_the_bound_keep_their_text_in_the_last_one() {
    use crate::limits::MAX_COLUMNS;
    for columns in [MAX_COLUMNS, MAX_COLUMNS + 2] {
        let shown = written(|m| {
            m.open_table();
            m.open_row();
            for column in 0..columns {
                m.open_cell(1);
                say(m, &format!("c{column}"));
            }
            m.close_table();
        });
        let header = shown.lines().next().unwrap();
        assert_eq!(header.matches(" |").count(), MAX_COLUMNS);
        let last = if columns > MAX_COLUMNS { "| c255 c256 c257 |" } else { "| c255 |" };
        assert!(header.ends_with(last), "{header}");
    }
}

#[test]
fn table_in_a_table_dissolves_the_outer_one() {
    let shown = written(|m| {
        m.open_table();
        m.open_row();
        m.open_cell(1);
        say(m, "left");
        m.open_cell(1);
        say(m, "right");
        m.open_table();
        m.open_row();
        m.open_cell(1);
        say(m, "inner");
        m.close_table();
        say(m, "below");
        m.close_table();
    });
    assert_eq!(shown, "left\n\nright\n\n| inner |\n| --- |\n\nbelow\n");
}

#[test]
fn containers_past_the_bound_keep_their_text() {
    let shown = written(|m| {
        for depth in 0..10_000 {
            m.open_quote();
            say(m, &format!("n{depth}"));
        }
        m.close_to(0);
        say(m, "end");
    });
    assert!(shown.contains("n9999") && shown.ends_with("\n\nend\n"));
    assert!(shown.lines().all(|line| line.matches('>').count() <= MAX_CONTAINERS));
}

#[test]
fn markdown_past_the_bound_is_a_typed_error() {
    let mut markdown = Markdown::default();
    for _ in 0..MAX_CONTAINERS {
        markdown.open_quote();
    }
    markdown.code("", &"\na".repeat(400_000));
    assert!(matches!(markdown.finish("body"), Err(ItemError::TooLarge { .. })));
    let mut markdown = Markdown::default();
    say(&mut markdown, &"a".repeat(MAX_MARKDOWN_BYTES));
    assert!(markdown.finish("body").is_ok());
}

#[test]
fn nothing_said_is_blank() {
    let mut markdown = Markdown::default();
    markdown.open_list(None);
    markdown.open_item(None);
    say(&mut markdown, " \n ");
    markdown.close();
    markdown.open_table();
    markdown.open_row();
    markdown.open_cell(3);
    assert_eq!(markdown.finish("body").unwrap_err(), ItemError::blank("body"));
}

/// The text that a reader of Markdown finds, and whether it found anything but text.
fn read_back(markdown: &str) -> (String, bool) {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
    let mut text = String::new();
    let mut only_text = true;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(piece) => text.push_str(&piece),
            Event::Code(piece) => {
                text.push_str(&piece);
                only_text = false;
            }
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::Paragraph) => text.push('\n'),
            Event::Start(Tag::Paragraph) => {}
            _ => only_text = false,
        }
    }
    (text, only_text)
}

fn squeezed(text: &str) -> String {
    text.split(|c: char| c.is_whitespace()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

proptest::proptest! {
    /// Whatever a text looks like, a reader of the Markdown finds that text and nothing else.
    #[test]
    fn any_text_reads_back_as_itself(text in "[-a-c1.)#>=|+*_`~\\[\\]()<>!&;:/\\\\ \nسش]{0,40}") {
        let mut markdown = Markdown::default();
        say(&mut markdown, &text);
        let written = markdown.finish("body").map(|(text, _)| text).unwrap_or_default();
        let (found, only_text) = read_back(&written);
        proptest::prop_assert_eq!(squeezed(&found), squeezed(&text), "{}", written);
        proptest::prop_assert!(only_text, "{}", written);
    }

    /// Marks never cost text, wherever they stand.
    #[test]
    fn any_marked_text_keeps_its_words(
        runs in proptest::collection::vec(("[a-c*_~` .:\\\\سش]{0,6}", 0_u8..16, proptest::bool::ANY), 0..6),
    ) {
        let mut markdown = Markdown::default();
        let mut expected = String::new();
        for (text, marks, is_link) in &runs {
            let marks = Marks::default()
                .with_if(marks & 1 != 0, Marks::STRONG)
                .with_if(marks & 2 != 0, Marks::EMPHASIS)
                .with_if(marks & 4 != 0, Marks::STRIKE)
                .with_if(marks & 8 != 0, Marks::CODE);
            let link = is_link.then(|| "https://example.org/".to_owned());
            markdown.text(text, &Style { marks, ..Style::link(link) });
            expected.push_str(text);
        }
        let written = markdown.finish("body").map(|(text, _)| text).unwrap_or_default();
        proptest::prop_assert_eq!(squeezed(&read_back(&written).0), squeezed(&expected), "{}", written);
    }

    #[test]
    fn any_code_reads_back_as_itself(code in "[a`~\n >-]{0,30}", depth in 0_usize..3) {
        use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};
        let mut markdown = Markdown::default();
        for _ in 0..depth {
            markdown.open_quote();
            markdown.open_list(None);
            markdown.open_item(None);
            say(&mut markdown, "x");
        }
        markdown.code("rust", &code);
        markdown.close_to(0);
        let written = markdown.finish("body").map(|(text, _)| text).unwrap_or_default();
        let mut inside = false;
        let mut found = String::new();
        for event in Parser::new(&written) {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    proptest::prop_assert_eq!(kind, CodeBlockKind::Fenced("rust".into()));
                    inside = true;
                }
                Event::Text(text) if inside => found.push_str(&text),
                Event::End(pulldown_cmark::TagEnd::CodeBlock) => inside = false,
                _ => {}
            }
        }
        if code.trim().is_empty() {
            proptest::prop_assert!(found.is_empty());
        } else {
            proptest::prop_assert_eq!(found.trim_matches('\n'), code.trim_matches('\n'), "{}", written);
        }
    }
}
