//! The one HTTP client: whatever asks another server over HTTP asks through a [`Client`] that [`HttpClientBuilder`] made.
//!
//! It follows no redirect, repeats no request and takes no proxy from the environment. TLS is rustls on ring, with the
//! machine's certificates and Mozilla's. Addresses that a tenant or a stranger names go through [`GuardedHttpClients`],
//! which lead into no private network unless the operator allowed it.
//!
//! Not here: what is asked, how long an answer may take, what its errors mean. That is the caller's.
//!
//! # Layout
//! - `client`: [`HttpClientBuilder`]; `tls`: which certificates are believed
//! - `allowed_hosts`: [`AllowedHosts`] and the resolver that guards; `guarded_clients`: [`GuardedHttpClients`]
//! - `answer`: reading an answer within a bound, and why there is none
//! - `places`: [`resolve_place`] for those who connect without HTTP, such as to a mail server; they encrypt with [`build_tls_config`]
//!
//! # To ask another server
//! Build a client once and keep it: clones share its connections. No other crate depends on `reqwest`; what it offers for a
//! request stands here by its own name.

mod allowed_hosts;
mod answer;
mod client;
mod guarded_clients;
mod places;
mod tls;

pub use allowed_hosts::AllowedHosts;
pub use answer::{ReadBodyError, list_causes, read_body};
pub use client::{HttpClientBuilder, HttpClientError, ReachableAddresses};
pub use guarded_clients::GuardedHttpClients;
pub use places::{ResolveError, resolve_place};
pub use reqwest::{
    Body, Client, Error as RequestError, Request, RequestBuilder, Response, StatusCode, Url, header,
};
pub use tls::build_tls_config;
