//! What the spans of requests are called.

use std::collections::HashMap;

use axum::http::Method;

/// The route label of requests that match no route, so that a scanner can't make up new ones.
pub(super) const UNMATCHED: &str = "unmatched";

/// `http.<resource>.<verb>` by route template and method. Made once, with the router.
#[derive(Debug, Default)]
pub struct SpanNames(HashMap<(String, Method), String>);

impl SpanNames {
    pub fn insert(&mut self, route: String, method: Method, name: String) {
        self.0.insert((route, method), name);
    }

    /// The name of the span for a request. Routes that have none are named by their template.
    pub fn find<'a>(&'a self, method: &Method, route: &'a str) -> &'a str {
        let asked = if method == Method::HEAD { Method::GET } else { method.clone() };
        match self.0.get(&(route.to_owned(), asked)) {
            Some(name) => name,
            None if route == UNMATCHED => "http.unmatched",
            None => route,
        }
    }
}
