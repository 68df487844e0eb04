//! A value against the nodes of its schema.

use std::collections::HashMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::node::{Assertion, Node, NodeId, NumberBound, Properties, SizeBound};
use crate::number::{compare, is_equal, is_multiple};

/// A value that takes more is refused. An honest call takes a few hundred; this many take about a millisecond.
const MOST_STEPS: u32 = 100_000;
/// So many letters of a text are looked at in one step.
const LETTERS_A_STEP: usize = 32;
/// References within references, on top of the value's own depth; deeper is refused before our stack ends.
const DEEPEST: u32 = 256;
/// A long list of choices would not be read.
const MOST_CHOICES: usize = 20;
const LONGEST_NAME: usize = 64;

/// What does not fit, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaViolation {
    /// The place in the value, as a JSON pointer; empty for the whole.
    pub place: String,
    /// What should be, in words; never the value.
    pub what: String,
}

impl fmt::Display for SchemaViolation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.place.is_empty() { "the whole" } else { &self.place };
        write!(formatter, "{place} {}", self.what)
    }
}

pub(crate) fn find_violations(
    nodes: &[Node],
    root: NodeId,
    value: &Value,
    most: usize,
) -> Vec<SchemaViolation> {
    let mut checker = Checker { nodes, steps: MOST_STEPS, depth: 0, known: HashMap::new() };
    let mut findings = Findings { place: Vec::new(), found: Vec::new(), most: most.max(1) };
    checker.fits(root, value, Some(&mut findings));
    if checker.steps == 0 {
        // Whatever was found, the rest was not looked at.
        findings.found =
            vec![SchemaViolation { place: String::new(), what: "takes too long to check".to_owned() }];
    }
    findings.found
}

struct Checker<'a> {
    nodes: &'a [Node],
    /// What is left; at 0 nothing fits any more, and the whole is refused.
    steps: u32,
    depth: u32,
    /// What came of shared nodes with a value, known by where it lies.
    known: HashMap<(NodeId, usize), bool>,
}

/// What is told, while it is told: within branches nothing is.
struct Findings {
    place: Vec<String>,
    found: Vec<SchemaViolation>,
    most: usize,
}

impl Findings {
    fn add(&mut self, what: String) {
        if self.found.len() < self.most {
            let parts =
                self.place.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1")));
            self.found.push(SchemaViolation { place: parts.collect(), what });
        }
    }
}

impl Checker<'_> {
    fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(u32::try_from(steps).unwrap_or(u32::MAX));
        self.steps > 0
    }

    /// Pays for a walk through a whole value: its parts, and its texts by their length.
    fn spend_on(&mut self, value: &Value) -> bool {
        let part = |text: &str| 1 + text.len() / LETTERS_A_STEP;
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => self.spend(1),
            Value::String(text) => self.spend(part(text)),
            Value::Array(items) => self.spend(1) && items.iter().all(|item| self.spend_on(item)),
            Value::Object(fields) => {
                self.spend(1)
                    && fields.iter().all(|(name, item)| self.spend(part(name)) && self.spend_on(item))
            }
        }
    }

    /// Whether the value fits; every misfit is noted where somebody listens.
    fn fits(&mut self, node: NodeId, value: &Value, mut findings: Option<&mut Findings>) -> bool {
        let nodes = self.nodes;
        let node_at = &nodes[node];
        let key = (node, std::ptr::from_ref(value).addr());
        if node_at.is_shared
            && findings.is_none()
            && let Some(known) = self.known.get(&key)
        {
            return *known;
        }
        if self.depth == DEEPEST || !self.spend(1) {
            self.steps = 0;
            return false;
        }
        self.depth += 1;
        let mut fits = true;
        for assertion in &node_at.assertions {
            fits &= self.spend(1) && self.holds(assertion, value, findings.as_deref_mut());
            let is_enough = findings.as_ref().is_none_or(|findings| findings.found.len() >= findings.most);
            if self.steps == 0 || (!fits && is_enough) {
                break;
            }
        }
        self.depth -= 1;
        if node_at.is_shared {
            self.known.insert(key, fits);
        }
        fits
    }

    fn is_fit(&mut self, node: NodeId, value: &Value) -> bool {
        self.fits(node, value, None)
    }

    fn holds(&mut self, assertion: &Assertion, value: &Value, mut findings: Option<&mut Findings>) -> bool {
        let holds = match assertion {
            Assertion::All(nodes) => {
                let mut all = true;
                for node in nodes {
                    all &= self.fits(*node, value, findings.as_deref_mut());
                }
                return all;
            }
            Assertion::Reference(node) => return self.fits(*node, value, findings),
            Assertion::If { test, then, otherwise } => {
                let branch = if self.is_fit(*test, value) { then } else { otherwise };
                return branch.is_none_or(|node| self.fits(node, value, findings));
            }
            Assertion::Any(nodes) => nodes.iter().any(|node| self.is_fit(*node, value)),
            Assertion::One(nodes) => {
                nodes.iter().filter(|node| self.is_fit(**node, value)).take(2).count() == 1
            }
            // Out of steps everything is unfit, and so would fit here: the caller refuses the whole then.
            Assertion::Not(node) => !self.is_fit(*node, value),
            Assertion::OneOfValues(values) => {
                values.iter().all(|known| self.spend_on(known))
                    && values.iter().any(|known| is_equal(known, value))
            }
            Assertion::Types(types) => types.allows(value),
            Assertion::Never => false,
            other => match value {
                Value::Number(number) => holds_number(other, number),
                Value::String(text) => self.spend(text_cost(other, text)) && holds_text(other, text),
                Value::Array(items) => return self.holds_array(other, items, findings),
                Value::Object(fields) => return self.holds_object(other, value, fields, findings),
                Value::Null | Value::Bool(_) => true,
            },
        };
        if !holds && let Some(findings) = findings {
            findings.add(describe(assertion));
        }
        holds
    }

    fn holds_array(
        &mut self,
        assertion: &Assertion,
        items: &[Value],
        mut findings: Option<&mut Findings>,
    ) -> bool {
        let holds = match assertion {
            Assertion::Items { first, rest } => {
                let mut all = true;
                for (index, item) in items.iter().enumerate() {
                    let Some(node) = first.get(index).copied().or(*rest) else { break };
                    all &= self.fits_child(node, item, &index.to_string(), findings.as_deref_mut());
                }
                return all;
            }
            Assertion::Contains { node, least, most } => {
                let count = items.iter().filter(|item| self.is_fit(*node, item)).count() as u64;
                count >= *least && most.is_none_or(|most| count <= most)
            }
            Assertion::Count(bound) => bound.holds(items.len() as u64),
            Assertion::Unique => items.iter().all(|item| self.spend_on(item)) && is_unique(items),
            _ => true,
        };
        if !holds && let Some(findings) = findings {
            findings.add(describe(assertion));
        }
        holds
    }

    fn holds_object(
        &mut self,
        assertion: &Assertion,
        value: &Value,
        fields: &Map<String, Value>,
        findings: Option<&mut Findings>,
    ) -> bool {
        if let Assertion::Required(names) | Assertion::RequiredWith { names, .. } = assertion
            && !self.spend(names.len())
        {
            return false;
        }
        let missing = |names: &[String]| names.iter().find(|name| !fields.contains_key(*name)).cloned();
        let what = match assertion {
            Assertion::Properties(properties) => return self.holds_properties(properties, fields, findings),
            Assertion::FitsWith { property, node } => {
                return !fields.contains_key(property) || self.fits(*node, value, findings);
            }
            Assertion::PropertyNames(node) => {
                let node = *node;
                let odd = fields.keys().find(|name| !self.is_fit_name(node, name));
                odd.map(|_| "has a property of a name that is not allowed".to_owned())
            }
            Assertion::PropertyCount(bound) if !bound.holds(fields.len() as u64) => Some(describe(assertion)),
            Assertion::Required(names) => missing(names).map(|name| format!("lacks `{name}`")),
            Assertion::RequiredWith { property, names } if fields.contains_key(property) => {
                missing(names).map(|name| format!("lacks `{name}`, which goes with `{property}`"))
            }
            _ => None,
        };
        let holds = what.is_none();
        if let (Some(what), Some(findings)) = (what, findings) {
            findings.add(what);
        }
        holds
    }

    /// A name as the text it is, for this one look: nothing about it is remembered.
    fn is_fit_name(&mut self, node: NodeId, name: &str) -> bool {
        let before = std::mem::take(&mut self.known);
        let fits = self.is_fit(node, &Value::String(name.to_owned()));
        self.known = before;
        fits
    }

    fn holds_properties(
        &mut self,
        properties: &Properties,
        fields: &Map<String, Value>,
        mut findings: Option<&mut Findings>,
    ) -> bool {
        let mut all = true;
        for (name, field) in fields {
            let patterns = properties.patterns.iter().map(|(pattern, _)| pattern.cost(name));
            if !self.spend(1 + patterns.sum::<usize>()) {
                return false;
            }
            let mut is_taken = false;
            let known = properties.named.binary_search_by(|(known, _)| known.as_str().cmp(name));
            if let Some((_, node)) = known.ok().and_then(|at| properties.named.get(at)) {
                is_taken = true;
                all &= self.fits_child(*node, field, name, findings.as_deref_mut());
            }
            for (pattern, node) in &properties.patterns {
                if pattern.is_match(name) {
                    is_taken = true;
                    all &= self.fits_child(*node, field, name, findings.as_deref_mut());
                }
            }
            let Some(others) = properties.others.filter(|_| !is_taken) else { continue };
            if matches!(self.nodes[others].assertions.as_slice(), [Assertion::Never]) {
                all = false;
                if let Some(findings) = findings.as_deref_mut() {
                    let name: String = name.chars().take(LONGEST_NAME).collect();
                    findings.add(format!("has `{name}`, which is not among its properties"));
                }
            } else {
                all &= self.fits_child(others, field, name, findings.as_deref_mut());
            }
        }
        all
    }

    fn fits_child(
        &mut self,
        node: NodeId,
        value: &Value,
        part: &str,
        findings: Option<&mut Findings>,
    ) -> bool {
        let Some(findings) = findings else { return self.is_fit(node, value) };
        findings.place.push(part.chars().take(LONGEST_NAME).collect());
        let fits = self.fits(node, value, Some(findings));
        findings.place.pop();
        fits
    }
}

fn holds_number(assertion: &Assertion, number: &serde_json::Number) -> bool {
    match assertion {
        Assertion::Number(NumberBound::AtLeast(least)) => compare(number, least).is_ge(),
        Assertion::Number(NumberBound::AtMost(most)) => compare(number, most).is_le(),
        Assertion::Number(NumberBound::MoreThan(bound)) => compare(number, bound).is_gt(),
        Assertion::Number(NumberBound::LessThan(bound)) => compare(number, bound).is_lt(),
        Assertion::MultipleOf(of) => is_multiple(number, of),
        _ => true,
    }
}

fn text_cost(assertion: &Assertion, text: &str) -> usize {
    match assertion {
        Assertion::Pattern(pattern) => pattern.cost(text),
        _ => text.len() / 64,
    }
}

fn holds_text(assertion: &Assertion, text: &str) -> bool {
    match assertion {
        Assertion::Text(bound) => bound.holds(text.chars().count() as u64),
        Assertion::Pattern(pattern) => pattern.is_match(text),
        Assertion::Format(format) => format.fits(text),
        _ => true,
    }
}

/// Equal items lie next to each other once they are sorted by what they say.
fn is_unique(items: &[Value]) -> bool {
    let mut seen: HashMap<String, Vec<&Value>> = HashMap::new();
    items.iter().all(|item| {
        let alike = seen.entry(render_bucket_key(item)).or_default();
        let is_new = !alike.iter().any(|known| is_equal(known, item));
        alike.push(item);
        is_new
    })
}

/// The same for equal values, and seldom for others.
fn render_bucket_key(value: &Value) -> String {
    match value {
        Value::Number(number) => format!("{:?}", number.as_f64()),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(render_bucket_key).collect::<Vec<_>>().join(","))
        }
        Value::Object(fields) => {
            let mut parts: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name:?}:{}", render_bucket_key(value))).collect();
            parts.sort_unstable();
            format!("{{{}}}", parts.join(","))
        }
        other => other.to_string(),
    }
}

fn describe(assertion: &Assertion) -> String {
    match assertion {
        Assertion::Types(types) => {
            format!("must be of type {}", types.names().collect::<Vec<_>>().join(" or "))
        }
        Assertion::OneOfValues(values) if values.len() <= MOST_CHOICES => {
            let choices: Vec<String> = values.iter().map(Value::to_string).collect();
            format!("must be one of {}", choices.join(", "))
        }
        Assertion::OneOfValues(_) => "must be one of the listed values".to_owned(),
        Assertion::Number(NumberBound::AtLeast(least)) => format!("must be at least {least}"),
        Assertion::Number(NumberBound::AtMost(most)) => format!("must be at most {most}"),
        Assertion::Number(NumberBound::MoreThan(bound)) => format!("must be more than {bound}"),
        Assertion::Number(NumberBound::LessThan(bound)) => format!("must be less than {bound}"),
        Assertion::MultipleOf(of) => format!("must be a multiple of {of}"),
        Assertion::Text(bound) => describe_size(*bound, "characters"),
        Assertion::Count(bound) => describe_size(*bound, "items"),
        Assertion::PropertyCount(bound) => describe_size(*bound, "properties"),
        Assertion::Pattern(_) => "must match its pattern".to_owned(),
        Assertion::Format(format) => format!("must have the format {}", format.name()),
        Assertion::Unique => "must have no item twice".to_owned(),
        Assertion::Any(_) => "fits none of the allowed forms".to_owned(),
        Assertion::One(_) => "must fit exactly one of the allowed forms".to_owned(),
        Assertion::Not(_) => "has a form that is excluded".to_owned(),
        Assertion::Contains { .. } => "lacks an item it must contain, or has too many such".to_owned(),
        _ => "is not allowed".to_owned(),
    }
}

fn describe_size(bound: SizeBound, what: &str) -> String {
    match bound {
        SizeBound::AtLeast(least) => format!("must have at least {least} {what}"),
        SizeBound::AtMost(most) => format!("must have at most {most} {what}"),
    }
}
