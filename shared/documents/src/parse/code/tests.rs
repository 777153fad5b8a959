use super::*;

/// Each block as its path and its first line.
fn shown(text: &str, language: CodeLanguage) -> Vec<String> {
    let parsed = parse(text, language, &Limits::default()).unwrap();
    let mut rest = text;
    let mut shown = Vec::new();
    for block in &parsed.blocks {
        assert_eq!(block.kind, BlockKind::Code);
        let Content::Text(piece) = &block.content else { panic!("{block:?}") };
        let at = rest.find(piece.as_str()).expect("pieces stand in order");
        assert!(rest[..at].trim().is_empty(), "lost: {}", &rest[..at]);
        rest = &rest[at + piece.len()..];
        shown.push(format!("{}: {}", block.heading_path.join("/"), piece.lines().next().unwrap().trim()));
    }
    assert!(rest.trim().is_empty(), "lost: {rest}");
    shown
}

/// Makes an item too large to be kept whole.
fn filler(comment: &str) -> String {
    format!("{comment} padding\n").repeat(WHOLE_BYTES / 8)
}

#[test]
fn rust_items_stand_under_their_modules_and_types() {
    let text = format!(
        "use std::fmt;\nconst A: u8 = 1;\n\n/// Says it.\n#[inline]\npub fn say() {{}}\n\nmod inner {{\n{}\n    pub struct S;\n\n    \
         impl fmt::Display for S {{\n{}\n        fn fmt(&self) {{}}\n\n        // why\n        fn other(&self) {{}}\n    }}\n}}\n\nstatic B: u8 = 2;\n",
        filler("//"),
        filler("//")
    );
    assert_eq!(
        shown(&text, CodeLanguage::Rust),
        [
            ": use std::fmt;",
            "say: /// Says it.",
            "inner: mod inner {",
            "inner/S: // padding",
            "inner/impl fmt::Display for S: impl fmt::Display for S {",
            "inner/impl fmt::Display for S/fmt: // padding",
            "inner/impl fmt::Display for S/other: // why",
            ": static B: u8 = 2;",
        ]
    );
}

#[test]
fn python_methods_stand_under_their_classes_with_their_decorators() {
    let text = format!(
        "import os\n\n@cache\ndef top():\n    def local():\n        pass\n    return local\n\nclass A(B):\n    \"\"\"{}\"\"\"\n    x = 1\n\n    \
         @property\n    def p(self):\n        return 1\n\n    async def q(self):\n        pass\n\nif __name__ == \"__main__\":\n    top()\n",
        "Documented. ".repeat(100)
    );
    assert_eq!(
        shown(&text, CodeLanguage::Python),
        [
            ": import os",
            "top: @cache",
            "A: class A(B):",
            "A/p: @property",
            "A/q: async def q(self):",
            ": if __name__ == \"__main__\":",
        ]
    );
}

#[test]
fn typescript_and_javascript_items_stand_under_their_names() {
    let text = format!(
        "import x from 'y';\n/** doc */\nexport const f = async (a: number) => a;\nconst z = 5;\nexport default class C extends D {{\n{}  \
         m() {{ return 1 }}\n  get n() {{ return 2 }}\n}}\nexport interface I {{ a: string }}\nnamespace N {{\n{}  export function g() {{}}\n}}\n",
        filler("  //"),
        filler("  //")
    );
    let expected = [
        ": import x from 'y';",
        "f: /** doc */",
        ": const z = 5;",
        "C: export default class C extends D {",
        "C/m: // padding",
        "C/n: get n() { return 2 }",
        "I: export interface I { a: string }",
        "N: namespace N {",
        "N/g: // padding",
    ];
    assert_eq!(shown(&text, CodeLanguage::TypeScript), expected);
    assert_eq!(shown(&text, CodeLanguage::Tsx), expected);
    let script = "const App = () => <div>{x < 3 && <b/>}</div>;\nfunction* it() {}\nmodule.exports = { App };\n";
    assert_eq!(
        shown(script, CodeLanguage::Tsx),
        ["App: const App = () => <div>{x < 3 && <b/>}</div>;", "it: function* it() {}", ": module.exports = { App };"]
    );
}

#[test]
fn go_and_java_items_stand_under_their_names() {
    let go = "package p\n\nimport \"fmt\"\n\n// T is one.\ntype T struct{}\n\nfunc (t *T) M() {}\n\nfunc main() { fmt.Println() }\n";
    assert_eq!(
        shown(go, CodeLanguage::Go),
        [": package p", "T: // T is one.", "(t *T) M: func (t *T) M() {}", "main: func main() { fmt.Println() }",]
    );
    let java = format!(
        "package p;\nimport a.B;\n\n/** Doc. */\n@Deprecated\npublic class A {{\n{}  int x;\n  A() {{}}\n  @Override\n  public int m() {{ return 1; }}\n  \
         enum E {{ X, Y; void n() {{}} }}\n}}\n",
        filler("  //")
    );
    assert_eq!(
        shown(&java, CodeLanguage::Java),
        [": package p;", "A: /** Doc. */", "A/A: A() {}", "A/m: @Override", "A/E: enum E { X, Y; void n() {} }",]
    );
}

/// Syntax only says where to cut: text that has none, or another one, is all there.
#[test]
fn code_that_does_not_parse_loses_nothing() {
    for text in [
        "fn a( {{{ let x = ;\n\nfn b() {}\n}}}}",
        "این کد نیست",
        "def f(:\n  x\nclass\n",
        "<<<<<<< HEAD\nfn a() {}\n=======\nfn b() {}\n>>>>>>>\n",
        "\u{FEFF}int x",
    ] {
        for language in [
            CodeLanguage::Rust,
            CodeLanguage::Python,
            CodeLanguage::Tsx,
            CodeLanguage::Go,
            CodeLanguage::Java,
            CodeLanguage::Other,
        ] {
            shown(text, language);
        }
    }
}

#[test]
fn code_that_takes_too_many_steps_is_cut_at_lines() {
    let text = "fn a() {}\n".repeat(1_000);
    let grammar = CodeLanguage::Rust.grammar().unwrap();
    assert!(tree(&text, &grammar, 1_000).is_some());
    assert!(tree(&text, &grammar, 2).is_none());
}

/// Lexers and recovery from errors can take long for what is no code: the nesting costs no stack, and past a size no syntax
/// is looked for. Whatever comes of it, the text is whole.
#[test]
fn code_of_one_bracket_or_quote_is_read_whole() {
    const DEEP: usize = 16 * 1024;
    for (pattern, language, length) in [
        ("\"", CodeLanguage::Rust, DEEP),
        ("fn a(){", CodeLanguage::Rust, DEEP),
        ("a b c ", CodeLanguage::Java, DEEP),
        ("class A{", CodeLanguage::Java, DEEP),
        ("(a,", CodeLanguage::Tsx, DEEP),
        ("<a>", CodeLanguage::Tsx, DEEP),
        ("@", CodeLanguage::Python, DEEP),
        ("func(", CodeLanguage::Go, MAX_SYNTAX_BYTES),
        ("\"", CodeLanguage::Rust, MAX_SYNTAX_BYTES + 1),
    ] {
        let text = pattern.repeat(length / pattern.len());
        let parsed = parse(&text, language, &Limits::default()).unwrap();
        let size = |block: &Block| match &block.content {
            Content::Text(text) => text.len(),
            Content::Table(_) => 0,
        };
        assert_eq!(parsed.blocks.iter().map(size).sum::<usize>(), text.trim_end().len(), "{pattern}");
    }
}

#[test]
fn code_past_the_size_for_syntax_is_cut_at_lines() {
    let grammar = CodeLanguage::Go.grammar().unwrap();
    let text = |length: usize| " ".repeat(length);
    assert!(tree(&text(MAX_SYNTAX_BYTES), &grammar, 1_000_000).is_some());
    assert!(tree(&text(MAX_SYNTAX_BYTES + 1), &grammar, 1_000_000).is_none());
}
