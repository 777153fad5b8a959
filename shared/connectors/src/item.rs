//! Reading an item: fields by dotted path, each with an error that names the place.

use crate::ItemError;
use anchorage_domain::Timestamp;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// A JSON object and where in the item it stands. Absent and `null` are the same; unknown fields are not looked at.
#[derive(Debug, Clone)]
pub(crate) struct Item<'a> {
    map: &'a Map<String, Value>,
    /// Path of this object, empty for the item itself.
    at: String,
}

pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl<'a> Item<'a> {
    pub(crate) fn new(value: &'a Value) -> Result<Self, ItemError> {
        Self::at(value, String::new())
    }

    pub(crate) fn at(value: &'a Value, at: String) -> Result<Self, ItemError> {
        match value {
            Value::Object(map) => Ok(Self { map, at }),
            other => {
                let field = if at.is_empty() { "item".to_owned() } else { at };
                Err(ItemError::WrongType { field, expected: "an object", found: kind(other) })
            }
        }
    }

    /// The whole path of a field of this object.
    pub(crate) fn place(&self, path: &str) -> String {
        if self.at.is_empty() { path.to_owned() } else { format!("{}.{path}", self.at) }
    }

    pub(crate) const fn map(&self) -> &'a Map<String, Value> {
        self.map
    }

    fn wrong(&self, path: &str, expected: &'static str, found: &Value) -> ItemError {
        ItemError::WrongType { field: self.place(path), expected, found: kind(found) }
    }

    /// The value at a dotted path.
    pub(crate) fn value(&self, path: &str) -> Result<Option<&'a Value>, ItemError> {
        let mut map = self.map;
        let mut rest = path;
        while let Some((name, after)) = rest.split_once('.') {
            map = match map.get(name) {
                None | Some(Value::Null) => return Ok(None),
                Some(Value::Object(inner)) => inner,
                Some(other) => {
                    let until = path.get(..path.len() - after.len() - 1).unwrap_or(path);
                    return Err(self.wrong(until, "an object", other));
                }
            };
            rest = after;
        }
        Ok(map.get(rest).filter(|value| !value.is_null()))
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        matches!(self.value(path), Ok(Some(_)))
    }

    pub(crate) fn text(&self, path: &str) -> Result<Option<&'a str>, ItemError> {
        match self.value(path)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(path, "a text", other)),
        }
    }

    /// A text that says something.
    pub(crate) fn words(&self, path: &str) -> Result<Option<&'a str>, ItemError> {
        Ok(self.text(path)?.map(str::trim).filter(|text| !text.is_empty()))
    }

    /// An identifier, which one version of an API gives as a number and another as a text.
    pub(crate) fn id(&self, path: &str) -> Result<Option<Cow<'a, str>>, ItemError> {
        match self.value(path)? {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => {
                Err(ItemError::invalid(self.place(path), "an identifier that is not blank"))
            }
            Some(Value::String(text)) => Ok(Some(Cow::Borrowed(text.trim()))),
            Some(Value::Number(number)) if number.is_i64() || number.is_u64() => {
                Ok(Some(Cow::Owned(number.to_string())))
            }
            Some(other) => Err(self.wrong(path, "an identifier (a text or a whole number)", other)),
        }
    }

    pub(crate) fn required_id(&self, path: &str, expected: &'static str) -> Result<Cow<'a, str>, ItemError> {
        self.id(path)?.ok_or_else(|| ItemError::missing(self.place(path), expected))
    }

    pub(crate) fn flag(&self, path: &str) -> Result<bool, ItemError> {
        match self.value(path)? {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.wrong(path, "true or false", other)),
        }
    }

    pub(crate) fn number(&self, path: &str) -> Result<Option<i64>, ItemError> {
        match self.value(path)? {
            None => Ok(None),
            Some(value) => match value.as_i64() {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(path, "a whole number", value)),
            },
        }
    }

    pub(crate) fn object(&self, path: &str) -> Result<Option<Self>, ItemError> {
        self.value(path)?.map(|value| Self::at(value, self.place(path))).transpose()
    }

    /// The objects of a list: a plain one, or one page of it under `results`, `nodes`, `values` or `messages`.
    pub(crate) fn list(&self, path: &str) -> Result<Vec<Self>, ItemError> {
        let values = self.values(path)?;
        values
            .iter()
            .enumerate()
            .filter(|(_, value)| !value.is_null())
            .map(|(index, value)| Self::at(value, format!("{}[{index}]", self.place(path))))
            .collect()
    }

    /// The values of a list, as [`Self::list`] finds it.
    pub(crate) fn values(&self, path: &str) -> Result<&'a [Value], ItemError> {
        match self.value(path)? {
            None => Ok(&[]),
            Some(Value::Array(values)) => Ok(values),
            Some(Value::Object(page)) => {
                let wrapped = ["results", "nodes", "values", "messages"].iter().find_map(|name| page.get(*name));
                match wrapped {
                    Some(Value::Array(values)) => Ok(values),
                    _ => Err(ItemError::invalid(self.place(path), "a list, or an object with one under `results`")),
                }
            }
            Some(other) => Err(self.wrong(path, "a list", other)),
        }
    }

    /// One text of every object of a list, where it has one.
    pub(crate) fn texts(&self, path: &str, field: &str) -> Result<Vec<&'a str>, ItemError> {
        let mut texts = Vec::new();
        for item in self.list(path)? {
            texts.extend(item.words(field)?);
        }
        Ok(texts)
    }

    /// As [`Self::texts`], with the white space that they begin and end with.
    pub(crate) fn texts_as_they_are(&self, path: &str, field: &str) -> Result<Vec<&'a str>, ItemError> {
        let mut texts = Vec::new();
        for item in self.list(path)? {
            texts.extend(item.text(field)?);
        }
        Ok(texts)
    }

    /// The texts of a list of texts.
    pub(crate) fn strings(&self, path: &str) -> Result<Vec<&'a str>, ItemError> {
        self.values(path)?
            .iter()
            .map(|value| value.as_str().ok_or_else(|| self.wrong(path, "a list of texts", value)))
            .collect()
    }

    /// An instant, as any of the sources writes one.
    pub(crate) fn time(&self, path: &str) -> Result<Option<Timestamp>, ItemError> {
        let read = match self.value(path)? {
            None => return Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
            Some(Value::String(text)) => crate::when::parse(text.trim()),
            Some(Value::Number(number)) => crate::when::parse(&number.to_string()),
            Some(other) => return Err(self.wrong(path, crate::when::EXPECTED, other)),
        };
        read.map(Some).ok_or_else(|| ItemError::invalid(self.place(path), crate::when::EXPECTED))
    }

    pub(crate) fn first_time(&self, paths: &[&str]) -> Result<Option<Timestamp>, ItemError> {
        for path in paths {
            if let Some(time) = self.time(path)? {
                return Ok(Some(time));
            }
        }
        Ok(None)
    }

    /// The first of several texts that says something.
    pub(crate) fn first_words(&self, paths: &[&str]) -> Result<Option<&'a str>, ItemError> {
        for path in paths {
            if let Some(text) = self.words(path)? {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    pub(crate) fn url(&self, path: &str) -> Result<Option<String>, ItemError> {
        let Some(text) = self.words(path)? else { return Ok(None) };
        match crate::links::address(text) {
            Some(url) => Ok(Some(url)),
            None => Err(ItemError::invalid(self.place(path), crate::links::EXPECTED)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn id_is_the_same_as_a_number_and_as_a_text() {
        for value in [json!({"id": 42}), json!({"id": "42"}), json!({"id": " 42 "})] {
            assert_eq!(Item::new(&value).unwrap().id("id").unwrap().unwrap(), "42");
        }
        for value in [json!({"id": 4.2}), json!({"id": [42]}), json!({"id": true}), json!({"id": " "})] {
            assert!(Item::new(&value).unwrap().id("id").is_err(), "{value}");
        }
    }

    #[test]
    fn errors_name_the_place_that_is_wrong() {
        let value = json!({"a": {"b": 3}, "list": [{"x": "ok"}, {"x": 1}]});
        let item = Item::new(&value).unwrap();
        assert_eq!(item.text("a.b").unwrap_err().to_string(), "`a.b` is a number, must be a text");
        assert_eq!(item.text("a.b.c").unwrap_err().to_string(), "`a.b` is a number, must be an object");
        assert_eq!(item.texts("list", "x").unwrap_err().field(), "list[1].x");
        assert_eq!(item.text("missing.deep").unwrap(), None);
        assert_eq!(Item::new(&json!([])).unwrap_err().to_string(), "`item` is a list, must be an object");
    }
}
