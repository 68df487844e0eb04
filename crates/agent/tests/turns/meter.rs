//! Counts the store's committed units of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::{Counter, CounterFn, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

#[derive(Default)]
struct Count(AtomicU64);

impl CounterFn for Count {
    fn increment(&self, value: u64) {
        self.0.fetch_add(value, Ordering::SeqCst);
    }

    fn absolute(&self, value: u64) {
        self.0.store(value, Ordering::SeqCst);
    }
}

/// For the whole test program: each test is a process of its own.
#[derive(Clone, Default)]
pub(crate) struct Writes(Arc<Count>);

impl Writes {
    /// Before any database is opened, since its threads take their counters then.
    pub(crate) fn watch() -> Self {
        let writes = Self::default();
        metrics::set_global_recorder(writes.clone()).unwrap_or_else(|_| panic!("somebody counts already"));
        writes
    }

    pub(crate) fn committed(&self) -> u64 {
        self.0.0.load(Ordering::SeqCst)
    }
}

impl Recorder for Writes {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let has =
            |name: &str, value: &str| key.labels().any(|label| label.key() == name && label.value() == value);
        match key.name() == "munshi_store_units_total" && has("kind", "write") && has("outcome", "committed")
        {
            true => Counter::from_arc(self.0.clone()),
            false => Counter::noop(),
        }
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}
