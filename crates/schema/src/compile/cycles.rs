//! References that lead back to themselves without going deeper into the value would never end.

use std::collections::HashMap;

use super::SchemaError;
use crate::node::{Assertion, Node, NodeId};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Not,
    Open,
    Done,
}

pub(super) fn reject(nodes: &[Node], places: &HashMap<String, NodeId>) -> Result<(), SchemaError> {
    let mut visits = vec![Visit::Not; nodes.len()];
    for start in 0..nodes.len() {
        if let Some(node) = find_cycle(nodes, start, &mut visits) {
            let place = places.iter().find(|(_, id)| **id == node).map(|(place, _)| place.clone());
            return Err(SchemaError {
                place: place.unwrap_or_default(),
                what: "its references form a cycle".to_owned(),
            });
        }
    }
    Ok(())
}

/// Depth first, with a stack of its own: a chain of references may be longer than ours.
fn find_cycle(nodes: &[Node], start: NodeId, visits: &mut [Visit]) -> Option<NodeId> {
    let mut stack = vec![(start, false)];
    while let Some((node, is_left)) = stack.pop() {
        if is_left {
            visits[node] = Visit::Done;
            continue;
        }
        match visits[node] {
            Visit::Done => continue,
            Visit::Open => return Some(node),
            Visit::Not => visits[node] = Visit::Open,
        }
        stack.push((node, true));
        for next in nodes[node].assertions.iter().flat_map(same_value_nodes) {
            match visits[next] {
                Visit::Open => return Some(next),
                Visit::Not => stack.push((next, false)),
                Visit::Done => {}
            }
        }
    }
    None
}

/// The nodes that check the same value as this assertion does.
fn same_value_nodes(assertion: &Assertion) -> Vec<NodeId> {
    match assertion {
        Assertion::All(nodes) | Assertion::Any(nodes) | Assertion::One(nodes) => nodes.clone(),
        Assertion::Not(node) | Assertion::Reference(node) | Assertion::FitsWith { node, .. } => vec![*node],
        Assertion::If { test, then, otherwise } => {
            [Some(*test), *then, *otherwise].into_iter().flatten().collect()
        }
        _ => Vec::new(),
    }
}
