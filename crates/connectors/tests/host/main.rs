//! Connectors at work: real servers that nobody here wrote, and small ones that misbehave.

mod behaving;
mod changing;
mod http;
mod misbehaving;
mod real;
mod support;
mod tested;
