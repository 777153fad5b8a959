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
        (vec![("`a`", &code)], "`` `a` ``"),
        (vec![(" ", &strong), ("a", &plain)], "a"),
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
    let expected = "Before\n\n- one\n  9. nine\n\n     ````rust\n     let a = \"```\";\n\n     let b;\n     ````\n  10. ten\n\n      ````rust\n      let a = \"```\";\n\n      let b;\n      ````\n- [x] two\n\n  > said\n  >\n  > again\n\nAfter\n";
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
