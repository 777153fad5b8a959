//! A CloudFormation template as data.

use saphyr::{LoadableYamlNode as _, Scalar, Yaml};
use serde_json::{Map, Value, json};

/// A template with its short forms (`!Ref`, `!Sub`, …) written out.
#[derive(Debug, Clone)]
pub struct Template(pub Value);

/// A statement of a policy that allows something, and the resource whose policy it is.
#[derive(Debug)]
pub struct Grant<'a> {
    pub holder: &'a str,
    pub sid: &'a str,
    pub actions: Vec<&'a str>,
    /// Each as text: a plain one as it is, one made by the template in its written-out form.
    pub resources: Vec<String>,
}

impl Template {
    pub fn load() -> Self {
        let text = include_str!("../../infra/template.yaml");
        let documents = Yaml::load_from_str(text).expect("the template is YAML");
        Self(json_of(&documents[0]))
    }

    /// The resources of a type, by name.
    pub fn all(&self, kind: &str) -> Vec<(&str, &Value)> {
        let resources = self.0["Resources"].as_object().expect("resources");
        let of_kind = resources.iter().filter(|(_, resource)| resource["Type"] == kind);
        of_kind.map(|(name, resource)| (name.as_str(), resource)).collect()
    }

    pub fn properties(&self, name: &str) -> &Value {
        &self.0["Resources"][name]["Properties"]
    }

    /// The number a value is, or that the parameter it refers to is by default.
    pub fn number(&self, value: &Value) -> Option<u64> {
        let default = || self.0["Parameters"][value["Ref"].as_str()?]["Default"].as_u64();
        value.as_u64().or_else(default)
    }

    /// A property of a function, its own or that of all.
    pub fn of_function<'a>(&'a self, function: &str, property: &str) -> &'a Value {
        let own = &self.properties(function)[property];
        if own.is_null() { &self.0["Globals"]["Function"][property] } else { own }
    }

    /// The resource that a reference or an attribute belongs to.
    pub fn target(value: &Value) -> Option<&str> {
        let attribute = || value["Fn::GetAtt"].as_str()?.split('.').next();
        value["Ref"].as_str().or_else(attribute)
    }

    /// Every grant of every role and resource policy.
    pub fn grants(&self) -> Vec<Grant<'_>> {
        let mut grants = Vec::new();
        for (name, resource) in self.0["Resources"].as_object().expect("resources") {
            let properties = &resource["Properties"];
            let inline = properties["Policies"].as_array().into_iter().flatten();
            let documents = inline.map(|policy| &policy["PolicyDocument"]).chain([&properties["PolicyDocument"]]);
            for statement in documents.flat_map(|document| document["Statement"].as_array().into_iter().flatten()) {
                // A conditional statement is `Fn::If: [condition, statement, nothing]`.
                let statement = statement.pointer("/Fn::If/1").unwrap_or(statement);
                if statement["Effect"] == "Allow" {
                    let actions = one_or_many(&statement["Action"]);
                    let resources = one_or_many(&statement["Resource"]);
                    grants.push(Grant {
                        holder: name,
                        sid: statement["Sid"].as_str().unwrap_or_default(),
                        actions: actions.into_iter().map(|action| action.as_str().unwrap_or("*")).collect(),
                        resources: resources.into_iter().map(text_of).collect(),
                    });
                }
            }
        }
        grants
    }

    /// What a function's role allows.
    pub fn grants_of(&self, function: &str) -> Vec<Grant<'_>> {
        let role = Self::target(&self.properties(function)["Role"]).expect("a role of its own");
        self.grants().into_iter().filter(|grant| grant.holder == role).collect()
    }
}

fn one_or_many(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |values| values.iter().collect())
}

fn text_of(value: &Value) -> String {
    value.as_str().or_else(|| value["Fn::Sub"].as_str()).map_or_else(|| value.to_string(), ToOwned::to_owned)
}

fn json_of(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Value(Scalar::Null) => Value::Null,
        Yaml::Value(Scalar::Boolean(value)) => json!(value),
        Yaml::Value(Scalar::Integer(value)) => json!(value),
        Yaml::Value(Scalar::FloatingPoint(value)) => json!(value.into_inner()),
        Yaml::Value(Scalar::String(value)) => json!(value),
        Yaml::Sequence(values) => values.iter().map(json_of).collect(),
        Yaml::Mapping(entries) => {
            let name = |key: &Yaml| key.as_str().expect("a key is a text").to_owned();
            Value::Object(entries.iter().map(|(key, value)| (name(key), json_of(value))).collect::<Map<_, _>>())
        }
        Yaml::Tagged(tag, value) => {
            let function = if tag.suffix == "Ref" { "Ref".to_owned() } else { format!("Fn::{}", tag.suffix) };
            json!({function: json_of(value)})
        }
        other => panic!("not expected in a template: {other:?}"),
    }
}
