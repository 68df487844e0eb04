//! Keywords that assert something we can't check. A schema with one of them is refused: what a schema asserts is never
//! passed over. Any other word that is not checked only describes, by the specification.

/// Of the drafts 3 to 2020-12.
const UNSUPPORTED: &[&str] = &[
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "disallow",
    "divisibleBy",
    "extends",
    "propertyDependencies",
    "unevaluatedItems",
    "unevaluatedProperties",
];

pub(crate) fn is_unsupported(keyword: &str) -> bool {
    UNSUPPORTED.contains(&keyword)
}
