//! The template as one tree: `!Ref Name` is `{"Ref": "Name"}`, as everywhere
//! but in YAML's short form.

use saphyr::{LoadableYamlNode, YamlOwned};
use serde_json::{Map, Value, json};

pub const SHIPPED: &str = include_str!("../../../infra/template.yaml");

/// A template, with its text.
pub struct Template {
    pub text: String,
    root: Value,
}

impl Template {
    pub fn parse(text: &str) -> Result<Self, String> {
        let documents = YamlOwned::load_from_str(text).map_err(|error| error.to_string())?;
        let root = documents.first().ok_or("it is empty")?;
        Ok(Self { text: text.to_owned(), root: value(root)? })
    }

    pub fn section(&self, name: &str) -> &Map<String, Value> {
        static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        self.root[name].as_object().unwrap_or(&NONE)
    }

    /// Resources of a type, with their names.
    pub fn of_type<'t>(&'t self, kind: &str) -> Vec<(&'t str, &'t Value)> {
        let all = self.section("Resources").iter();
        all.filter(|(_, resource)| resource["Type"] == kind).map(|(name, r)| (name.as_str(), r)).collect()
    }

    /// The properties of a resource.
    pub fn properties(&self, resource: &str) -> &Value {
        &self.root["Resources"][resource]["Properties"]
    }

    /// A property of a function, or what all functions have.
    pub fn of_function(&self, function: &str, property: &str) -> &Value {
        let own = &self.properties(function)[property];
        if own.is_null() { &self.root["Globals"]["Function"][property] } else { own }
    }

    /// A number: a literal, or a parameter that is left at its default.
    pub fn number(&self, value: &Value) -> Result<u64, String> {
        let literal = match value["Ref"].as_str() {
            Some(name) => &self.root["Parameters"][name]["Default"],
            None => value,
        };
        literal.as_u64().ok_or_else(|| format!("{value} is no number"))
    }

    /// A text with the defaults of its parameters in it.
    pub fn filled(&self, value: &Value) -> String {
        let template = value["Fn::Sub"].as_str().or(value.as_str()).unwrap_or_default();
        let mut text = template.to_owned();
        for (name, parameter) in self.section("Parameters") {
            let default = parameter["Default"].as_str().unwrap_or_default();
            text = text.replace(&format!("${{{name}}}"), default);
        }
        text
    }

    /// The functions, by the name that the code has for them.
    pub fn functions(&self) -> [(&'static str, &'static str); 3] {
        [("ingest", "Ingest"), ("processor", "Processor"), ("sweeper", "Sweeper")]
    }
}

/// Every node of a tree that is an object.
pub fn objects(value: &Value) -> Vec<&Map<String, Value>> {
    let below: Vec<&Value> = match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    value.as_object().into_iter().chain(below.into_iter().flat_map(objects)).collect()
}

/// One value or several, as several.
pub fn several(value: &Value) -> Vec<&Value> {
    value.as_array().map_or_else(|| vec![value], |items| items.iter().collect())
}

fn value(node: &YamlOwned) -> Result<Value, String> {
    if let YamlOwned::Tagged(tag, inner) = node {
        let inner = value(inner)?;
        return Ok(match (tag.suffix.as_str(), inner.as_str().and_then(|path| path.split_once('.'))) {
            (name @ ("Ref" | "Condition"), _) => json!({ name: inner }),
            ("GetAtt", Some((resource, attribute))) => json!({ "Fn::GetAtt": [resource, attribute] }),
            (name, _) => json!({ format!("Fn::{name}"): inner }),
        });
    }
    if let Some(members) = node.as_mapping() {
        let members = members.iter().map(|(name, inner)| {
            Ok((name.as_str().ok_or_else(|| format!("{name:?} is no name"))?.to_owned(), value(inner)?))
        });
        return Ok(Value::Object(members.collect::<Result<_, String>>()?));
    }
    if let Some(items) = node.as_vec() {
        return Ok(Value::Array(items.iter().map(value).collect::<Result<_, _>>()?));
    }
    if let Some(number) = node.as_integer() {
        return Ok(json!(number));
    }
    if let Some(flag) = node.as_bool() {
        return Ok(json!(flag));
    }
    match node.as_str() {
        Some(text) => Ok(json!(text)),
        None if node.is_null() => Ok(Value::Null),
        None => Err(format!("{node:?} is nothing that the template should hold")),
    }
}
