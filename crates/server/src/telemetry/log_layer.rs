//! The layer that writes one line per event.

use std::fmt::Debug;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use munshi_types::Clock;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, Scope};

use crate::telemetry::log_line::{LogLineColour, LogLineRecord, level_name};
use crate::telemetry::{LogLineFormat, TelemetryOptions};

/// Span fields that every line inside the span carries.
const CARRIED: [&str; 2] = ["request_id", "tenant"];

pub(super) struct LogLineLayer<W> {
    clock: Arc<dyn Clock>,
    format: LogLineFormat,
    service: String,
    /// One line is one write under this lock, so lines never mix.
    writer: Mutex<W>,
}

/// What a span adds to the lines inside it; lives in the span's extensions.
struct SpanFacts {
    name: String,
    carried: Map<String, Value>,
}

impl<W: Write> LogLineLayer<W> {
    pub(super) fn new(clock: Arc<dyn Clock>, options: &TelemetryOptions, writer: W) -> Self {
        let service = options.service_name.clone();
        Self { clock, format: options.format, service, writer: Mutex::new(writer) }
    }

    /// A line of our own, for what happens before there is a subscriber to tell.
    pub(super) fn warn(&self, message: &str) {
        let fields = Fields { message: message.to_owned(), values: Map::new() };
        self.write(&self.line(&Level::WARN, module_path!(), fields));
    }

    fn line<'a>(&'a self, level: &Level, target: &'a str, fields: Fields) -> LogLineRecord<'a> {
        LogLineRecord {
            ts: self.clock.now().to_string(),
            level: level_name(level),
            service: &self.service,
            target,
            message: fields.message,
            carried: Map::new(),
            spans: Vec::new(),
            fields: fields.values,
        }
    }

    fn write(&self, line: &LogLineRecord<'_>) {
        let text = match self.format {
            LogLineFormat::Json => line.to_json(),
            LogLineFormat::Pretty => line.to_pretty(LogLineColour::Plain),
            LogLineFormat::PrettyColour => line.to_pretty(LogLineColour::Colour),
        };
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // Where logs can't be written there is nowhere to say so.
        let _ = writer.write_all(text.as_bytes()).and_then(|()| writer.flush());
    }
}

impl<S, W> Layer<S> for LogLineLayer<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Write + Send + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut facts = SpanFacts { name: span.name().to_owned(), carried: Map::new() };
        attributes.record(&mut facts);
        span.extensions_mut().insert(facts);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(facts) = span.extensions_mut().get_mut::<SpanFacts>() {
            values.record(facts);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut line = self.line(event.metadata().level(), event.metadata().target(), fields);
        for span in context.event_scope(event).into_iter().flat_map(Scope::from_root) {
            if let Some(facts) = span.extensions().get::<SpanFacts>() {
                line.spans.push(facts.name.clone());
                line.carried.extend(facts.carried.clone());
            }
        }
        self.write(&line);
    }
}

impl SpanFacts {
    fn record_field(&mut self, field: &Field, value: &str) {
        match field.name() {
            // Names known only at run time, such as `http.approvals.grant`.
            "otel.name" => value.clone_into(&mut self.name),
            name if CARRIED.contains(&name) => {
                self.carried.insert(name.to_owned(), value.into());
            }
            _ => {}
        }
    }
}

impl Visit for SpanFacts {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_field(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_field(field, &format!("{value:?}"));
    }
}

/// An event's own words and values.
#[derive(Default)]
struct Fields {
    message: String,
    values: Map<String, Value>,
}

impl Fields {
    fn record_field(&mut self, field: &Field, value: impl Into<Value>) {
        self.values.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            _ => self.record_field(field, value),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record_field(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.record_field(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.record_field(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.record_field(field, value);
    }
}
