//! A compiled schema: nodes that point at each other by number, so that a schema may contain itself.

use serde_json::{Number, Value};

use crate::format::SchemaFormat;
use crate::pattern::SchemaPattern;

/// The number of a node.
pub(crate) type NodeId = usize;

/// One schema. All its assertions must hold.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) assertions: Vec<Assertion>,
    /// Whether something refers to it: its outcome is remembered, so that branches don't check the same value again.
    pub(crate) is_shared: bool,
}

impl Node {
    pub(crate) fn pattern_count(&self) -> usize {
        let patterns = self.assertions.iter().map(|assertion| match assertion {
            Assertion::Pattern(_) => 1,
            Assertion::Properties(properties) => properties.patterns.len(),
            _ => 0,
        });
        patterns.sum()
    }
}

#[derive(Debug)]
pub(crate) enum Assertion {
    /// The schema `false`.
    Never,
    Types(TypeSet),
    /// One of these; one alone for `const`.
    OneOfValues(Vec<Value>),
    Number(NumberBound),
    MultipleOf(Number),
    Text(SizeBound),
    Pattern(Box<SchemaPattern>),
    Format(SchemaFormat),
    Count(SizeBound),
    Unique,
    /// The first items by their place, then the rest.
    Items {
        first: Vec<NodeId>,
        rest: Option<NodeId>,
    },
    Contains {
        node: NodeId,
        least: u64,
        most: Option<u64>,
    },
    Properties(Box<Properties>),
    PropertyCount(SizeBound),
    PropertyNames(NodeId),
    Required(Vec<String>),
    /// If the property is there, so are these.
    RequiredWith {
        property: String,
        names: Vec<String>,
    },
    /// If the property is there, the whole object fits.
    FitsWith {
        property: String,
        node: NodeId,
    },
    All(Vec<NodeId>),
    Any(Vec<NodeId>),
    One(Vec<NodeId>),
    Not(NodeId),
    If {
        test: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    Reference(NodeId),
}

#[derive(Debug, Default)]
pub(crate) struct Properties {
    /// In their order, to be found quickly.
    pub(crate) named: Vec<(String, NodeId)>,
    pub(crate) patterns: Vec<(SchemaPattern, NodeId)>,
    /// For every property that neither names nor patterns took.
    pub(crate) others: Option<NodeId>,
}

/// The types a value may have, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeSet(u8);

pub(crate) const TYPE_NAMES: [&str; 7] =
    ["null", "boolean", "object", "array", "number", "integer", "string"];

impl TypeSet {
    /// False where there is no such type.
    pub(crate) fn insert(&mut self, name: &str) -> bool {
        let place = TYPE_NAMES.iter().position(|known| *known == name);
        place.is_some_and(|place| {
            self.0 |= 1 << place;
            true
        })
    }

    fn has(self, name: &str) -> bool {
        TYPE_NAMES.iter().position(|known| *known == name).is_some_and(|place| self.0 & (1 << place) != 0)
    }

    pub(crate) fn allows(self, value: &Value) -> bool {
        match value {
            Value::Null => self.has("null"),
            Value::Bool(_) => self.has("boolean"),
            Value::Object(_) => self.has("object"),
            Value::Array(_) => self.has("array"),
            Value::String(_) => self.has("string"),
            Value::Number(number) => {
                self.has("number") || (self.has("integer") && crate::number::is_whole(number))
            }
        }
    }

    pub(crate) fn names(self) -> impl Iterator<Item = &'static str> {
        TYPE_NAMES.into_iter().filter(move |name| self.has(name))
    }
}

#[derive(Clone, Debug)]
pub(crate) enum NumberBound {
    AtLeast(Number),
    AtMost(Number),
    MoreThan(Number),
    LessThan(Number),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum SizeBound {
    AtLeast(u64),
    AtMost(u64),
}

impl SizeBound {
    pub(crate) fn holds(self, size: u64) -> bool {
        match self {
            Self::AtLeast(least) => size >= least,
            Self::AtMost(most) => size <= most,
        }
    }
}
