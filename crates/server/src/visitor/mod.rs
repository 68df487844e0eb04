//! Somebody at a page, before it is known what they want.
//!
//! # Layout
//! - `binding_lookup`: which binding a page is of; `origin`: whose page it is, and whether that may ask
//! - `token`: what a browser is known by
//! - `installation_access`: who sits at the machine, and who may set the installation up; `local_session`: what proves it

pub mod binding_lookup;
pub mod installation_access;
pub mod local_session;
pub mod origin;
pub mod token;
