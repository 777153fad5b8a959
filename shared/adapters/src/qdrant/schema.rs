//! The one table of payload keys that a filter or an order may name. Bootstrap indexes all of them; nothing else can be
//! named, because filters are built from [`Field`] alone.

use qdrant_client::qdrant::{
    FieldType, IntegerIndexParamsBuilder, KeywordIndexParamsBuilder, PayloadSchemaType, TextIndexParamsBuilder,
    TokenizerType, payload_index_params::IndexParams,
};

/// The sparse vector of every point.
pub(super) const SPARSE: &str = "sparse";
/// Key of the one payload field that is no part of a point as its tenant sees it.
pub(super) const TENANT_KEY: &str = "tenant_id";
/// Key of the manifest record's payload. That record has no `tenant_id`, so no tenant's query matches it.
pub(super) const MANIFEST_KEY: &str = "manifest";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Tenant,
    Domain,
    File,
    Generation,
    IsActive,
    ChunkIndex,
    Order,
    DocumentType,
    ContentSha256,
    ContentFolded,
}

impl Field {
    pub(super) const ALL: [Self; 10] = [
        Self::Tenant,
        Self::Domain,
        Self::File,
        Self::Generation,
        Self::IsActive,
        Self::ChunkIndex,
        Self::Order,
        Self::DocumentType,
        Self::ContentSha256,
        Self::ContentFolded,
    ];

    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Tenant => TENANT_KEY,
            Self::Domain => "domain",
            Self::File => "file_id",
            Self::Generation => "generation",
            Self::IsActive => "is_active",
            Self::ChunkIndex => "chunk_index",
            Self::Order => "order_id",
            Self::DocumentType => "document_type",
            Self::ContentSha256 => "content_sha256",
            Self::ContentFolded => "content_folded",
        }
    }

    pub(super) const fn field_type(self) -> FieldType {
        match self {
            Self::Tenant | Self::Domain | Self::File | Self::DocumentType | Self::ContentSha256 => FieldType::Keyword,
            Self::Generation | Self::ChunkIndex | Self::Order => FieldType::Integer,
            Self::IsActive => FieldType::Bool,
            Self::ContentFolded => FieldType::Text,
        }
    }

    /// The type under which the store reports the index.
    pub(super) const fn schema_type(self) -> PayloadSchemaType {
        match self.field_type() {
            FieldType::Integer => PayloadSchemaType::Integer,
            FieldType::Bool => PayloadSchemaType::Bool,
            FieldType::Text => PayloadSchemaType::Text,
            _ => PayloadSchemaType::Keyword,
        }
    }

    /// What the index needs beyond its type.
    pub(super) fn index_params(self) -> Option<IndexParams> {
        match self {
            Self::Tenant => Some(KeywordIndexParamsBuilder::default().is_tenant(true).into()),
            Self::Order | Self::Generation | Self::ChunkIndex => {
                Some(IntegerIndexParamsBuilder::new(true, true).into())
            }
            // Content is folded before it comes here; `word` splits at everything that is no letter or digit and, unlike
            // `multilingual`, keeps numbers.
            Self::ContentFolded => Some(TextIndexParamsBuilder::new(TokenizerType::Word).lowercase(false).into()),
            Self::Domain | Self::File | Self::IsActive | Self::DocumentType | Self::ContentSha256 => None,
        }
    }
}
