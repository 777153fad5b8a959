//! Payload indexes: proto → the REST shape → the engine's schema, and the description that is answered.

use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::stemming_algorithm::StemmingParams;
use qdrant_client::qdrant::{
    FieldType, PayloadIndexParams, PayloadSchemaInfo, PayloadSchemaType, StemmingAlgorithm, TextIndexParams,
    TokenizerType,
};
use qdrant_edge::{PayloadFieldSchema, PayloadSchemaParams};
use serde_json::{Map, Value, json};

use super::super::refusal::Refusal;
use super::{absent, from_rest};

/// The engine's schema of an index and its description.
pub(in super::super) fn parse(
    field_type: Option<i32>,
    params: Option<PayloadIndexParams>,
) -> Result<(PayloadFieldSchema, PayloadSchemaInfo), Refusal> {
    let named = field_type
        .map(|number| FieldType::try_from(number).map_err(|_| Refusal::invalid("unknown field type")))
        .transpose()?;
    let given = params.and_then(|params| params.index_params);
    let data_type = match (named, &given) {
        (Some(named), None) => of_type(named),
        (None, Some(given)) => of_params(given),
        (Some(named), Some(given)) if of_type(named) == of_params(given) => of_type(named),
        (Some(_), Some(_)) => return Err(Refusal::invalid("field type and index parameters disagree")),
        (None, None) => return Err(Refusal::invalid("field type or field index params should be specified")),
    };
    let mut rest = match &given {
        Some(given) => write(given)?,
        None => Map::new(),
    };
    rest.insert("type".to_owned(), name(data_type)?.into());
    let schema: PayloadSchemaParams = from_rest("the index", rest.into())?;
    let description = PayloadSchemaInfo {
        data_type: data_type.into(),
        params: given.map(|given| PayloadIndexParams { index_params: Some(given) }),
        points: None,
    };
    Ok((PayloadFieldSchema::FieldParams(schema), description))
}

const fn of_type(field: FieldType) -> PayloadSchemaType {
    match field {
        FieldType::Keyword => PayloadSchemaType::Keyword,
        FieldType::Integer => PayloadSchemaType::Integer,
        FieldType::Float => PayloadSchemaType::Float,
        FieldType::Geo => PayloadSchemaType::Geo,
        FieldType::Text => PayloadSchemaType::Text,
        FieldType::Bool => PayloadSchemaType::Bool,
        FieldType::Datetime => PayloadSchemaType::Datetime,
        FieldType::Uuid => PayloadSchemaType::Uuid,
    }
}

const fn of_params(params: &IndexParams) -> PayloadSchemaType {
    match params {
        IndexParams::KeywordIndexParams(_) => PayloadSchemaType::Keyword,
        IndexParams::IntegerIndexParams(_) => PayloadSchemaType::Integer,
        IndexParams::FloatIndexParams(_) => PayloadSchemaType::Float,
        IndexParams::GeoIndexParams(_) => PayloadSchemaType::Geo,
        IndexParams::TextIndexParams(_) => PayloadSchemaType::Text,
        IndexParams::BoolIndexParams(_) => PayloadSchemaType::Bool,
        IndexParams::DatetimeIndexParams(_) => PayloadSchemaType::Datetime,
        IndexParams::UuidIndexParams(_) => PayloadSchemaType::Uuid,
    }
}

fn name(data_type: PayloadSchemaType) -> Result<&'static str, Refusal> {
    Ok(match data_type {
        PayloadSchemaType::Keyword => "keyword",
        PayloadSchemaType::Integer => "integer",
        PayloadSchemaType::Float => "float",
        PayloadSchemaType::Geo => "geo",
        PayloadSchemaType::Text => "text",
        PayloadSchemaType::Bool => "bool",
        PayloadSchemaType::Datetime => "datetime",
        PayloadSchemaType::Uuid => "uuid",
        PayloadSchemaType::UnknownType => return Err(Refusal::invalid("unknown field type")),
    })
}

/// The parameters that are set, under their REST names.
#[derive(Default)]
struct Params(Map<String, Value>);

impl Params {
    fn put(&mut self, name: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0.insert(name.to_owned(), value.into());
        }
    }
}

#[expect(deprecated, reason = "`on_disk` is what clients up to 1.18 send for placement")]
fn write(params: &IndexParams) -> Result<Map<String, Value>, Refusal> {
    let mut out = Params::default();
    let (memory, nested) = match params {
        IndexParams::KeywordIndexParams(p) => {
            absent(p.prefix.as_ref(), "prefix matching of a keyword index")?;
            out.put("is_tenant", p.is_tenant);
            out.put("on_disk", p.on_disk);
            out.put("enable_hnsw", p.enable_hnsw);
            (&p.memory, &p.nested)
        }
        IndexParams::IntegerIndexParams(p) => {
            if p.lookup == Some(false) && p.range == Some(false) {
                return Err(Refusal::invalid("the 'lookup' and 'range' capabilities can't be both disabled"));
            }
            out.put("lookup", p.lookup);
            out.put("range", p.range);
            out.put("is_principal", p.is_principal);
            out.put("on_disk", p.on_disk);
            out.put("enable_hnsw", p.enable_hnsw);
            (&p.memory, &p.nested)
        }
        IndexParams::FloatIndexParams(p) => {
            out.put("is_principal", p.is_principal);
            out.put("on_disk", p.on_disk);
            out.put("enable_hnsw", p.enable_hnsw);
            (&p.memory, &p.nested)
        }
        IndexParams::DatetimeIndexParams(p) => {
            out.put("is_principal", p.is_principal);
            out.put("on_disk", p.on_disk);
            out.put("enable_hnsw", p.enable_hnsw);
            (&p.memory, &p.nested)
        }
        IndexParams::UuidIndexParams(p) => {
            out.put("is_tenant", p.is_tenant);
            out.put("on_disk", p.on_disk);
            out.put("enable_hnsw", p.enable_hnsw);
            (&p.memory, &p.nested)
        }
        IndexParams::GeoIndexParams(p) => {
            out.put("on_disk", p.on_disk);
            out.put("enable_hnsw", p.enable_hnsw);
            (&p.memory, &p.nested)
        }
        IndexParams::BoolIndexParams(p) => {
            out.put("on_disk", p.on_disk);
            out.put("enable_hnsw", p.enable_hnsw);
            (&p.memory, &p.nested)
        }
        IndexParams::TextIndexParams(p) => {
            text(p, &mut out)?;
            out.put("on_disk", p.on_disk);
            (&p.memory, &p.nested)
        }
    };
    absent(memory.as_ref(), "`memory` of an index")?;
    absent(nested.as_ref(), "`nested` of an index")?;
    Ok(out.0)
}

fn text(params: &TextIndexParams, out: &mut Params) -> Result<(), Refusal> {
    absent(params.scoring.as_ref(), "scoring by a text index")?;
    let tokenizer = match params.tokenizer() {
        TokenizerType::Prefix => "prefix",
        TokenizerType::Whitespace => "whitespace",
        TokenizerType::Word => "word",
        TokenizerType::Multilingual => "multilingual",
        TokenizerType::Unknown => return Err(Refusal::invalid("unknown tokenizer type")),
        TokenizerType::Code => return Err(Refusal::Unsupported("the code tokenizer")),
    };
    out.put("tokenizer", Some(tokenizer));
    out.put("lowercase", params.lowercase);
    out.put("min_token_len", params.min_token_len);
    out.put("max_token_len", params.max_token_len);
    out.put("phrase_matching", params.phrase_matching);
    out.put("ascii_folding", params.ascii_folding);
    out.put("enable_hnsw", params.enable_hnsw);
    if let Some(words) = &params.stopwords {
        out.put("stopwords", Some(json!({"languages": words.languages, "custom": words.custom})));
    }
    match params.stemmer.as_ref().map(|StemmingAlgorithm { stemming_params }| stemming_params) {
        Some(Some(StemmingParams::Snowball(snowball))) => {
            out.put("stemmer", Some(json!({"type": "snowball", "language": snowball.language})));
        }
        None | Some(None) => {}
        Some(Some(StemmingParams::Disabled(_))) => return Err(Refusal::Unsupported("a disabled stemmer")),
    }
    Ok(())
}
