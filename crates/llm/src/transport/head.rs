//! What an answer's headers say that somebody acts on.

use std::time::Duration;

use munshi_http::header::HeaderMap;
use munshi_types::clock::Timestamp;

use crate::chat::{RateLimitWindow, RateLimits};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProviderResponseHead {
    pub status: u16,
    /// Without its parameters, in small letters.
    pub content_type: String,
    pub request_id: Option<String>,
    pub retry_after: Option<Duration>,
    pub limits: RateLimits,
}

/// The provider's own name for a call, by provider.
const REQUEST_IDS: [&str; 4] = ["request-id", "x-request-id", "apim-request-id", "x-goog-request-id"];
/// Nobody is asked to wait longer than a day; what says so is a mistake.
const LONGEST_WAIT: Duration = Duration::from_secs(86_400);

impl ProviderResponseHead {
    pub(super) fn read(status: u16, headers: &HeaderMap, now: Timestamp) -> Self {
        let headers = Headers { map: headers, now };
        let content_type = headers.text("content-type").unwrap_or_default();
        Self {
            status,
            content_type: content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase(),
            request_id: REQUEST_IDS.iter().find_map(|name| headers.text(name)).map(str::to_owned),
            retry_after: headers.retry_after(),
            limits: RateLimits {
                requests: headers.parse_rate_limit("requests"),
                tokens: headers.parse_rate_limit("tokens"),
                input_tokens: headers.parse_rate_limit("input-tokens"),
                output_tokens: headers.parse_rate_limit("output-tokens"),
            },
        }
    }

    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

struct Headers<'a> {
    map: &'a HeaderMap,
    now: Timestamp,
}

impl Headers<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.map.get(name)?.to_str().ok()
    }

    fn retry_after(&self) -> Option<Duration> {
        let exact = self.text("retry-after-ms").and_then(|text| text.trim().parse().ok());
        if let Some(millis) = exact.and_then(|millis: f64| seconds(millis / 1000.0)) {
            return Some(millis);
        }
        self.parse_wait(self.text("retry-after")?.trim())
    }

    /// Seconds, a span such as `6m0s`, an HTTP date or an RFC 3339 time: how long from now.
    fn parse_wait(&self, text: &str) -> Option<Duration> {
        if let Some(span) = text.parse().ok().and_then(seconds).or_else(|| parse_duration(text)) {
            return Some(span.min(LONGEST_WAIT));
        }
        let date = || {
            let since = httpdate::parse_http_date(text).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            Some(Timestamp::EPOCH.plus(since))
        };
        let at = text.parse::<Timestamp>().ok().or_else(date)?;
        Some(at.since(self.now).min(LONGEST_WAIT))
    }

    /// Anthropic's names, then OpenAI's, which most others use too.
    fn parse_rate_limit(&self, what: &str) -> Option<RateLimitWindow> {
        let field = |part: &str| {
            let own = self.text(&format!("anthropic-ratelimit-{what}-{part}"));
            own.or_else(|| self.text(&format!("x-ratelimit-{part}-{what}"))).map(str::trim)
        };
        let allowance = RateLimitWindow {
            limit: field("limit").and_then(|text| text.parse().ok()),
            remaining: field("remaining").and_then(|text| text.parse().ok()),
            resets_in: field("reset").and_then(|text| self.parse_wait(text)),
        };
        (allowance != RateLimitWindow::default()).then_some(allowance)
    }
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

/// `1s`, `6m0s`, `2m59.56s`, `120ms`, `1h2m`.
pub(crate) fn parse_duration(text: &str) -> Option<Duration> {
    let (mut total, mut rest) = (Duration::ZERO, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let factor = match &rest[..unit] {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            _ => return None,
        };
        total = total.checked_add(seconds(number * factor)?)?;
        rest = &rest[unit..];
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use munshi_http::header::{HeaderName, HeaderValue};

    use super::*;

    fn head(pairs: &[(&str, &str)]) -> ProviderResponseHead {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.insert(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                HeaderValue::from_str(value).unwrap(),
            );
        }
        ProviderResponseHead::read(200, &map, "2026-01-10T10:00:00Z".parse().unwrap())
    }

    #[test]
    fn when_to_come_back_in_every_way_it_is_said() {
        let wait = |name, value| head(&[(name, value)]).retry_after;
        let span = |millis| Some(Duration::from_millis(millis));
        assert_eq!(wait("retry-after", "7"), span(7000));
        assert_eq!(wait("retry-after", "1.5"), span(1500));
        assert_eq!(wait("retry-after", "Sat, 10 Jan 2026 10:00:30 GMT"), span(30_000));
        assert_eq!(wait("retry-after", "Sat, 10 Jan 2026 09:00:00 GMT"), span(0), "a date that has passed");
        assert_eq!(wait("retry-after-ms", "250"), span(250));
        assert_eq!(wait("retry-after", "soon"), None);
        assert_eq!(wait("retry-after", "-5"), None);
        assert_eq!(wait("retry-after", "99999999"), Some(LONGEST_WAIT));
    }

    #[test]
    fn limits_under_both_families_of_names() {
        let anthropic = head(&[
            ("request-id", "req_1"),
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "0"),
            ("anthropic-ratelimit-requests-reset", "2026-01-10T10:00:12Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "39000"),
        ]);
        assert_eq!(anthropic.request_id.as_deref(), Some("req_1"));
        let requests = anthropic.limits.requests.unwrap();
        assert_eq!((requests.limit, requests.remaining), (Some(50), Some(0)));
        assert_eq!(anthropic.limits.time_until_reset(), Some(Duration::from_secs(12)));
        assert_eq!(anthropic.limits.input_tokens.unwrap().remaining, Some(39_000));

        let openai = head(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0s")]);
        assert_eq!(openai.limits.time_until_reset(), Some(Duration::from_secs(360)));
        assert!(head(&[]).limits.is_empty());
    }

    #[test]
    fn spans_as_providers_write_them() {
        assert_eq!(parse_duration("2m59.56s"), Some(Duration::from_millis(179_560)));
        assert_eq!(parse_duration("120ms"), Some(Duration::from_millis(120)));
        for wrong in ["", "s", "12", "1x", "m1"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }
}
