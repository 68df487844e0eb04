//! From a document to nodes. Every place is compiled once, however many references lead there.

mod cycles;
mod simple_keywords;

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::keywords::is_unsupported;
use crate::node::{Assertion, Node, NodeId, Properties};
use crate::pattern::SchemaPattern;

/// A schema of more places, or a deeper one, is no honest schema.
const MOST_NODES: usize = 20_000;
const DEEPEST: usize = 128;
/// Each takes memory for as long as its tool is there.
const MOST_PATTERNS: usize = 256;

/// Why a schema can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} (at {})", if .place.is_empty() { "the root" } else { .place })]
pub struct SchemaError {
    /// The place in the schema, as a JSON pointer.
    pub place: String,
    pub what: String,
}

pub(crate) fn compile(document: &Value) -> Result<(Vec<Node>, NodeId), SchemaError> {
    let mut compiler = Compiler { document, nodes: Vec::new(), places: HashMap::new(), depth: 0 };
    let root = compiler.compile_node(document, "")?;
    let Compiler { nodes, places, .. } = compiler;
    if nodes.iter().map(Node::pattern_count).sum::<usize>() > MOST_PATTERNS {
        return Err(error_at("", "it has too many patterns"));
    }
    cycles::reject(&nodes, &places)?;
    Ok((nodes, root))
}

struct Compiler<'a> {
    document: &'a Value,
    nodes: Vec<Node>,
    places: HashMap<String, NodeId>,
    depth: usize,
}

/// A failure at this place.
fn error_at(place: &str, what: impl Into<String>) -> SchemaError {
    SchemaError { place: place.to_owned(), what: what.into() }
}

fn join_pointer(place: &str, part: &str) -> String {
    format!("{place}/{}", part.replace('~', "~0").replace('/', "~1"))
}

impl Compiler<'_> {
    fn compile_node(&mut self, schema: &Value, place: &str) -> Result<NodeId, SchemaError> {
        if let Some(known) = self.places.get(place) {
            return Ok(*known);
        }
        if self.nodes.len() >= MOST_NODES || self.depth >= DEEPEST {
            return Err(error_at(place, "it is too large or too deep"));
        }
        let id = self.nodes.len();
        self.nodes.push(Node { assertions: Vec::new(), is_shared: false });
        self.places.insert(place.to_owned(), id);
        self.depth += 1;
        let assertions = match schema {
            Value::Bool(true) => Vec::new(),
            Value::Bool(false) => vec![Assertion::Never],
            Value::Object(keywords) => self.assertions(keywords, place)?,
            _ => return Err(error_at(place, "a schema is an object or a boolean")),
        };
        self.depth -= 1;
        self.nodes[id].assertions = assertions;
        Ok(id)
    }

    fn assertions(
        &mut self,
        keywords: &Map<String, Value>,
        place: &str,
    ) -> Result<Vec<Assertion>, SchemaError> {
        if let Some(keyword) = keywords.keys().find(|keyword| is_unsupported(keyword)) {
            return Err(error_at(place, format!("`{keyword}` is not supported")));
        }
        if keywords.contains_key("$id") && !place.is_empty() {
            return Err(error_at(place, "`$id` below the root is not supported"));
        }
        let mut assertions =
            simple_keywords::parse_simple_keywords(keywords).map_err(|what| error_at(place, what))?;
        self.objects(keywords, place, &mut assertions)?;
        self.arrays(keywords, place, &mut assertions)?;
        self.branches(keywords, place, &mut assertions)?;
        Ok(assertions)
    }

    fn child(
        &mut self,
        keywords: &Map<String, Value>,
        place: &str,
        keyword: &str,
    ) -> Result<Option<NodeId>, SchemaError> {
        keywords
            .get(keyword)
            .map(|schema| self.compile_node(schema, &join_pointer(place, keyword)))
            .transpose()
    }

    fn compile_schema_map(
        &mut self,
        keywords: &Map<String, Value>,
        place: &str,
        keyword: &str,
    ) -> Result<Vec<(String, NodeId)>, SchemaError> {
        let Some(schemas) = keywords.get(keyword) else { return Ok(Vec::new()) };
        let within = join_pointer(place, keyword);
        let schemas =
            schemas.as_object().ok_or_else(|| error_at(&within, "it must be an object of schemas"))?;
        schemas
            .iter()
            .map(|(name, schema)| {
                Ok((name.clone(), self.compile_node(schema, &join_pointer(&within, name))?))
            })
            .collect()
    }

    fn compile_schema_list(
        &mut self,
        keywords: &Map<String, Value>,
        place: &str,
        keyword: &str,
    ) -> Result<Option<Vec<NodeId>>, SchemaError> {
        let Some(schemas) = keywords.get(keyword) else { return Ok(None) };
        let within = join_pointer(place, keyword);
        let schemas =
            schemas.as_array().ok_or_else(|| error_at(&within, "it must be an array of schemas"))?;
        let nodes = schemas
            .iter()
            .enumerate()
            .map(|(index, schema)| self.compile_node(schema, &join_pointer(&within, &index.to_string())));
        nodes.collect::<Result<_, _>>().map(Some)
    }

    fn objects(
        &mut self,
        keywords: &Map<String, Value>,
        place: &str,
        into: &mut Vec<Assertion>,
    ) -> Result<(), SchemaError> {
        let mut properties = Properties {
            named: self.compile_schema_map(keywords, place, "properties")?,
            patterns: Vec::new(),
            others: self.child(keywords, place, "additionalProperties")?,
        };
        for (pattern, node) in self.compile_schema_map(keywords, place, "patternProperties")? {
            let pattern = SchemaPattern::compile(&pattern).map_err(|what| error_at(place, what))?;
            properties.patterns.push((pattern, node));
        }
        properties.named.sort_unstable();
        if !properties.named.is_empty() || !properties.patterns.is_empty() || properties.others.is_some() {
            into.push(Assertion::Properties(Box::new(properties)));
        }
        if let Some(node) = self.child(keywords, place, "propertyNames")? {
            into.push(Assertion::PropertyNames(node));
        }
        for (property, node) in self.compile_schema_map(keywords, place, "dependentSchemas")? {
            into.push(Assertion::FitsWith { property, node });
        }
        // The older word for both kinds of dependency.
        if let Some(older) = keywords.get("dependencies") {
            let older =
                older.as_object().ok_or_else(|| error_at(place, "`dependencies` must be an object"))?;
            for (property, needs) in older {
                let within = join_pointer(&join_pointer(place, "dependencies"), property);
                into.push(match needs {
                    Value::Array(_) => Assertion::RequiredWith {
                        property: property.clone(),
                        names: simple_keywords::texts(needs).map_err(|what| error_at(&within, what))?,
                    },
                    schema => Assertion::FitsWith {
                        property: property.clone(),
                        node: self.compile_node(schema, &within)?,
                    },
                });
            }
        }
        Ok(())
    }

    fn arrays(
        &mut self,
        keywords: &Map<String, Value>,
        place: &str,
        into: &mut Vec<Assertion>,
    ) -> Result<(), SchemaError> {
        // A list under `items` is the older word for `prefixItems`, and `additionalItems` went with it.
        let is_older = keywords.get("items").is_some_and(Value::is_array);
        let (first, rest) = if is_older { ("items", "additionalItems") } else { ("prefixItems", "items") };
        let (first, rest) =
            (self.compile_schema_list(keywords, place, first)?, self.child(keywords, place, rest)?);
        if first.is_some() || rest.is_some() {
            into.push(Assertion::Items { first: first.unwrap_or_default(), rest });
        }
        if let Some(node) = self.child(keywords, place, "contains")? {
            let bound =
                |keyword| simple_keywords::count(keywords, keyword).map_err(|what| error_at(place, what));
            let (least, most) = (bound("minContains")?.unwrap_or(1), bound("maxContains")?);
            into.push(Assertion::Contains { node, least, most });
        }
        Ok(())
    }

    fn branches(
        &mut self,
        keywords: &Map<String, Value>,
        place: &str,
        into: &mut Vec<Assertion>,
    ) -> Result<(), SchemaError> {
        into.extend(self.compile_schema_list(keywords, place, "allOf")?.map(Assertion::All));
        into.extend(self.compile_schema_list(keywords, place, "anyOf")?.map(Assertion::Any));
        into.extend(self.compile_schema_list(keywords, place, "oneOf")?.map(Assertion::One));
        into.extend(self.child(keywords, place, "not")?.map(Assertion::Not));
        if let Some(test) = self.child(keywords, place, "if")? {
            let then = self.child(keywords, place, "then")?;
            let otherwise = self.child(keywords, place, "else")?;
            into.push(Assertion::If { test, then, otherwise });
        }
        if let Some(reference) = keywords.get("$ref") {
            into.push(Assertion::Reference(self.reference(reference, place)?));
        }
        Ok(())
    }

    fn reference(&mut self, reference: &Value, place: &str) -> Result<NodeId, SchemaError> {
        let text = reference.as_str().ok_or_else(|| error_at(place, "`$ref` must be a string"))?;
        let lost = || error_at(place, format!("its reference {text} does not resolve in this schema"));
        let fragment = text.strip_prefix('#').ok_or_else(lost)?;
        let pointer = simple_keywords::percent_decoded(fragment).ok_or_else(lost)?;
        let document = self.document;
        let target = document.pointer(&pointer).ok_or_else(lost)?;
        // Spelled anew, so that two spellings of one place are one node.
        let place = pointer.split('/').skip(1).fold(String::new(), |place, part| {
            join_pointer(&place, &part.replace("~1", "/").replace("~0", "~"))
        });
        let node = self.compile_node(target, &place)?;
        self.nodes[node].is_shared = true;
        Ok(node)
    }
}
