//! Pages and the widget in a real browser, against the real binary. The driver comes from scripts/browser.sh.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test says so by failing")]

mod axe;
mod chat;
mod desk;
mod driver;
mod files;
mod hostile;
mod live;
mod markup;
mod shop;

use crate::app::{operator, support};
