//! The languages whose syntax is known, and which of their nodes are items.

use tree_sitter::Language;

/// A programming language, as far as its text is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::parse) enum CodeLanguage {
    Rust,
    Python,
    TypeScript,
    /// TypeScript with elements in it, which JavaScript is a part of.
    Tsx,
    Go,
    Java,
    /// One whose syntax is not known here.
    Other,
}

impl CodeLanguage {
    /// By the ending of a file's name.
    pub(in crate::parse) fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "rs" => Self::Rust,
            "py" | "pyi" => Self::Python,
            "ts" | "mts" | "cts" => Self::TypeScript,
            "tsx" | "jsx" | "js" | "mjs" | "cjs" => Self::Tsx,
            "go" => Self::Go,
            "java" => Self::Java,
            "asm" | "bash" | "bat" | "c" | "cc" | "clj" | "cmake" | "cpp" | "cs" | "css" | "cxx" | "dart" | "el"
            | "elm" | "erl" | "ex" | "exs" | "f90" | "fs" | "gradle" | "graphql" | "groovy" | "h" | "hcl" | "hh"
            | "hpp" | "hrl" | "hs" | "hxx" | "ini" | "jl" | "kt" | "kts" | "less" | "lisp" | "lua" | "m" | "mk"
            | "ml" | "mli" | "mm" | "nim" | "nix" | "pas" | "php" | "pl" | "pm" | "properties" | "proto" | "ps1"
            | "r" | "rb" | "sass" | "scala" | "scm" | "scss" | "sh" | "sol" | "sql" | "svelte" | "swift" | "tcl"
            | "tf" | "toml" | "v" | "vb" | "vhd" | "vue" | "yaml" | "yml" | "zig" | "zsh" => Self::Other,
            _ => return None,
        })
    }

    pub(super) fn grammar(self) -> Option<Grammar> {
        Some(match self {
            Self::Rust => RUST,
            Self::Python => PYTHON,
            Self::TypeScript => Grammar { language: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(), ..TSX },
            Self::Tsx => TSX,
            Self::Go => GO,
            Self::Java => JAVA,
            Self::Other => return None,
        })
    }
}

/// The kinds of nodes of a language that matter, by the names its grammar gives them.
pub(super) struct Grammar {
    pub language: fn() -> Language,
    /// What stands for itself, with its name.
    pub items: &'static [&'static str],
    /// Items that hold items.
    pub containers: &'static [&'static str],
    /// What surrounds an item and belongs to it, or a container's items.
    pub transparent: &'static [&'static str],
    /// What stands before an item and belongs to it.
    pub attached: &'static [&'static str],
}

const RUST: Grammar = Grammar {
    language: || tree_sitter_rust::LANGUAGE.into(),
    items: &["function_item", "struct_item", "enum_item", "union_item", "macro_definition", "function_signature_item"],
    containers: &["trait_item", "impl_item", "mod_item"],
    transparent: &["declaration_list"],
    attached: &["attribute_item", "line_comment", "block_comment"],
};

const PYTHON: Grammar = Grammar {
    language: || tree_sitter_python::LANGUAGE.into(),
    items: &["function_definition"],
    containers: &["class_definition"],
    transparent: &["decorated_definition", "block"],
    attached: &["comment", "decorator"],
};

const TSX: Grammar = Grammar {
    language: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    items: &[
        "function_declaration",
        "generator_function_declaration",
        "interface_declaration",
        "enum_declaration",
        "type_alias_declaration",
        "method_definition",
        "abstract_method_signature",
        // Of the variables, those that hold a function.
        "variable_declarator",
    ],
    containers: &["class_declaration", "abstract_class_declaration", "internal_module", "module"],
    transparent: &[
        "export_statement",
        "ambient_declaration",
        "class_body",
        "statement_block",
        "lexical_declaration",
        "variable_declaration",
        "expression_statement",
    ],
    attached: &["comment", "decorator"],
};

const GO: Grammar = Grammar {
    language: || tree_sitter_go::LANGUAGE.into(),
    items: &["function_declaration", "method_declaration", "type_spec", "type_alias"],
    containers: &[],
    transparent: &["type_declaration"],
    attached: &["comment"],
};

const JAVA: Grammar = Grammar {
    language: || tree_sitter_java::LANGUAGE.into(),
    items: &["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
    containers: &[
        "class_declaration",
        "interface_declaration",
        "enum_declaration",
        "record_declaration",
        "annotation_type_declaration",
    ],
    transparent: &["class_body", "interface_body", "enum_body", "enum_body_declarations", "annotation_type_body"],
    attached: &["line_comment", "block_comment"],
};
