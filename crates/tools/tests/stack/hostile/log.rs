//! Every line that is logged, to be looked through.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

pub(super) type Lines = Arc<Mutex<Vec<String>>>;

struct Catcher(Lines);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, "{field}={value:?} ");
    }
}

impl Catcher {
    fn keep(&self, record: impl FnOnce(&mut Line)) {
        let mut line = Line(String::new());
        record(&mut line);
        self.0.lock().unwrap().push(line.0 + "\n");
    }
}

impl Subscriber for Catcher {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        self.keep(|line| span.record(line));
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        self.keep(|line| values.record(line));
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        self.keep(|line| event.record(line));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// From here on, in the whole process. A second catcher of the same process sees nothing.
pub(super) fn catch() -> Lines {
    let lines = Lines::default();
    let _ = tracing::subscriber::set_global_default(Catcher(lines.clone()));
    tracing::info!("the log is watched");
    // Tools break here by the hundred, and on purpose.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let what = info.payload().downcast_ref::<&str>().copied().unwrap_or_default();
        if !what.starts_with("a tool that breaks") {
            usual(info);
        }
    }));
    lines
}
