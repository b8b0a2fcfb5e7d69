//! The deployment's template: its numbers, and what its roles may do.

use anyhow::{Context, Result, bail};
use saphyr::{LoadableYamlNode, YamlOwned};
use std::collections::BTreeMap;
use std::path::Path;

/// A SAM template with the parameters that it is deployed with.
#[derive(Debug)]
pub(super) struct Template {
    /// The file as its reader names it.
    pub(super) file: String,
    root: YamlOwned,
    given: BTreeMap<String, String>,
}

impl Template {
    /// Reads a template. `given` are parameters that are not left at their defaults.
    ///
    /// # Errors
    /// It cannot be read, is not YAML, or has no such parameter.
    pub(super) fn read(path: &Path, given: BTreeMap<String, String>) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the template {}", path.display()))?;
        Self::parse(&path.display().to_string(), &text, given)
    }

    /// The same from a text.
    ///
    /// # Errors
    /// See [`Template::read`].
    pub(super) fn parse(file: &str, text: &str, given: BTreeMap<String, String>) -> Result<Self> {
        let documents = YamlOwned::load_from_str(text).with_context(|| format!("{file} is not YAML"))?;
        let Some(root) = documents.into_iter().next() else { bail!("{file} is empty") };
        let template = Self { file: file.to_owned(), root, given };
        for name in template.given.keys() {
            if template.at(&["Parameters", name]).is_none() {
                bail!("{file} has no parameter {name}");
            }
        }
        Ok(template)
    }

    /// The node at these names.
    pub(super) fn at(&self, names: &[&str]) -> Option<&YamlOwned> {
        at(&self.root, names)
    }

    /// Every resource with its name.
    pub(super) fn resources(&self) -> impl Iterator<Item = (&str, &YamlOwned)> {
        self.at(&["Resources"]).into_iter().flat_map(members)
    }

    /// A value as text: a parameter, a literal, or text with such in it. What
    /// is known only when it is deployed (a region, an account) is `*`.
    pub(super) fn text(&self, node: &YamlOwned) -> Option<String> {
        match function(node) {
            Some(("Ref", name)) => self.reference(name.as_str()?),
            Some(("Sub", template)) => Some(self.filled(template.as_str()?)),
            Some(("GetAtt", path)) => {
                let path = path.as_str()?;
                let (resource, attribute) = path.split_once('.')?;
                (attribute == "Arn").then(|| self.arn(resource)).flatten()
            }
            Some(_) => None,
            None => scalar(node),
        }
    }

    /// A value as a list of texts: one, several, or a parameter that is a list.
    pub(super) fn texts(&self, node: &YamlOwned) -> Vec<String> {
        if let Some(items) = node.as_vec() {
            return items.iter().flat_map(|item| self.texts(item)).collect();
        }
        let Some(text) = self.text(node) else { return Vec::new() };
        let is_list = matches!(function(node), Some(("Ref", _)));
        match is_list {
            true => {
                text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
            }
            false => vec![text],
        }
    }

    /// The variables of a function's environment, its own and those of all.
    pub(super) fn variable(&self, function: &str, name: &str) -> Option<&YamlOwned> {
        let own = ["Resources", function, "Properties", "Environment", "Variables", name];
        let of_all = ["Globals", "Function", "Environment", "Variables", name];
        self.at(&own).or_else(|| self.at(&of_all))
    }

    fn reference(&self, name: &str) -> Option<String> {
        if name.starts_with("AWS::") {
            return Some("*".to_owned());
        }
        let given = self.given.get(name).cloned();
        given.or_else(|| self.at(&["Parameters", name, "Default"]).and_then(scalar))
    }

    fn filled(&self, template: &str) -> String {
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("${") {
            text.push_str(before);
            let (name, behind) = after.split_once('}').unwrap_or((after, ""));
            text.push_str(&self.reference(name).unwrap_or_else(|| "*".to_owned()));
            rest = behind;
        }
        text + rest
    }

    /// The ARN of a queue, function or bus of the template itself.
    fn arn(&self, resource: &str) -> Option<String> {
        let kind = self.at(&["Resources", resource, "Type"])?.as_str()?;
        let (service, property, before) = match kind {
            "AWS::SQS::Queue" => ("sqs", "QueueName", ""),
            "AWS::Serverless::Function" | "AWS::Lambda::Function" => ("lambda", "FunctionName", "function:"),
            "AWS::Events::EventBus" => ("events", "Name", "event-bus/"),
            _ => return None,
        };
        let name =
            self.at(&["Resources", resource, "Properties", property]).and_then(|node| self.text(node))?;
        Some(format!("arn:*:{service}:*:*:{before}{name}"))
    }
}

/// The node at these names below another.
pub(super) fn at<'y>(node: &'y YamlOwned, names: &[&str]) -> Option<&'y YamlOwned> {
    names.iter().try_fold(node, |node, name| node.as_mapping_get(name))
}

/// The members of a mapping that have names.
pub(super) fn members(node: &YamlOwned) -> impl Iterator<Item = (&str, &YamlOwned)> {
    node.as_mapping().into_iter().flatten().filter_map(|(name, value)| Some((name.as_str()?, value)))
}

/// `!Ref Name`, or `Ref: Name` written out, as the function's name and what it is of.
pub(super) fn function(node: &YamlOwned) -> Option<(&str, &YamlOwned)> {
    if let YamlOwned::Tagged(tag, inner) = node {
        return Some((tag.suffix.as_str(), inner));
    }
    let mut written = members(node);
    let (name, inner) = written.next()?;
    let name = name.strip_prefix("Fn::").unwrap_or(name);
    (written.next().is_none() && ["Ref", "Sub", "GetAtt", "If", "Join"].contains(&name))
        .then_some((name, inner))
}

fn scalar(node: &YamlOwned) -> Option<String> {
    let whole = node.as_integer().map(|number| number.to_string());
    whole.or_else(|| node.as_str().map(str::to_owned))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::check) const SHIPPED: &str = include_str!("../../../../infra/template.yaml");

    fn template(text: &str, given: &[(&str, &str)]) -> Result<Template> {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Template::parse("template.yaml", text, given)
    }

    #[test]
    fn a_value_is_its_parameter_or_its_text() {
        let text = "
Parameters:
  Stage: { Type: String, Default: dev }
  Arns: { Type: CommaDelimitedList, Default: 'arn:a, arn:b' }
Resources:
  Queue:
    Type: AWS::SQS::Queue
    Properties: { QueueName: !Sub 'x-${Stage}-q' }
A: !Ref Stage
B: !Sub '${Stage}/${AWS::Region}'
C: !GetAtt Queue.Arn
D: { Ref: Arns }
E: [1, !Ref Stage]
";
        let dev = template(text, &[]).unwrap();
        let of = |template: &Template, name: &str| template.texts(template.at(&[name]).unwrap());
        assert_eq!(of(&dev, "A"), ["dev"]);
        assert_eq!(of(&dev, "B"), ["dev/*"]);
        assert_eq!(of(&dev, "C"), ["arn:*:sqs:*:*:x-dev-q"]);
        assert_eq!(of(&dev, "D"), ["arn:a", "arn:b"]);
        assert_eq!(of(&dev, "E"), ["1", "dev"]);
        let live = template(text, &[("Stage", "live")]).unwrap();
        assert_eq!(of(&live, "C"), ["arn:*:sqs:*:*:x-live-q"]);
        assert!(template(text, &[("Stagee", "live")]).is_err());
    }

    #[test]
    fn what_is_no_yaml_is_said_to_be_none() {
        for text in ["", "a: [1", "\t- x: :"] {
            assert!(template(text, &[]).is_err(), "{text:?}");
        }
    }
}
