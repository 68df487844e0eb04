//! A panic is a log line like any other: it has the request id of the span it happened in, and JSON stays JSON.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;

pub(super) fn install_hook() {
    std::panic::set_hook(Box::new(report));
}

fn report(info: &PanicHookInfo<'_>) {
    let words = info.payload_as_str().unwrap_or("no message");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let backtrace = Backtrace::capture();
    match backtrace.status() {
        BacktraceStatus::Captured => tracing::error!(target: "panic", place, %backtrace, "panicked: {words}"),
        _ => tracing::error!(target: "panic", place, "panicked: {words}"),
    }
}
