//! What requests bring beside their body: ids in paths, which page of a list, and texts that are checked before they go
//! further.

use std::fmt::Display;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use munshi_store::{Cursor, Page, PageRequest};
use munshi_types::{Language, is_unseen};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::faults::sentence;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::shorten;

/// A part of the path, read. What can't be one is refused in the type's own words.
pub(crate) struct UrlPathParameter<T>(pub(crate) T);

impl<S, T> FromRequestParts<S> for UrlPathParameter<T>
where
    S: Send + Sync,
    T: FromStr<Err: Display> + Send,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path(text) = Path::<String>::from_request_parts(parts, state).await.map_err(unreadable)?;
        read(&text).map(Self)
    }
}

/// Two parts of the path.
pub(crate) struct UrlPathParameterPair<A, B>(pub(crate) A, pub(crate) B);

impl<S, A, B> FromRequestParts<S> for UrlPathParameterPair<A, B>
where
    S: Send + Sync,
    A: FromStr<Err: Display> + Send,
    B: FromStr<Err: Display> + Send,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Path((one, other)) =
            Path::<(String, String)>::from_request_parts(parts, state).await.map_err(unreadable)?;
        Ok(Self(read(&one)?, read(&other)?))
    }
}

fn read<T: FromStr<Err: Display>>(text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|error: T::Err| {
        ApiError::new(ApiErrorCode::BadRequest, shorten(&sentence(&error.to_string())))
            .hint("Write it in the path as it was given to you.")
    })
}

fn unreadable(refusal: axum::extract::rejection::PathRejection) -> ApiError {
    ApiError::new(ApiErrorCode::BadRequest, "The path can't be read.").caused_by(refusal)
}

/// What stands behind the question mark. Names that are not known are refused.
pub(crate) struct UrlQueryParameters<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for UrlQueryParameters<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let asked = Query::<T>::from_request_parts(parts, state).await;
        asked.map(|Query(asked)| Self(asked)).map_err(|refusal| {
            let words = refusal.body_text();
            let words = words.strip_prefix("Failed to deserialize query string: ").unwrap_or(&words);
            ApiError::new(ApiErrorCode::BadRequest, format!("The query can't be read: {}.", shorten(words)))
        })
    }
}

/// How many rows a page has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub(crate) struct ListLimit(u32);

impl ListLimit {
    const LARGEST: u32 = 100;

    pub(crate) fn rows(self) -> usize {
        self.0 as usize
    }
}

impl Default for ListLimit {
    fn default() -> Self {
        Self(25)
    }
}

impl TryFrom<u64> for ListLimit {
    type Error = String;

    fn try_from(rows: u64) -> Result<Self, String> {
        match u32::try_from(rows) {
            Ok(rows @ 1..=Self::LARGEST) => Ok(Self(rows)),
            _ => Err(format!("a page has 1 to {} rows", Self::LARGEST)),
        }
    }
}

pub(crate) fn page(after: Option<Cursor>, limit: Option<ListLimit>) -> PageRequest {
    PageRequest::new(after, limit.unwrap_or_default().0)
}

/// Part of a list. It may have fewer rows than were asked for though there are more: `next` says.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Listed)]
pub(crate) struct ListResponse<T> {
    pub(crate) items: Vec<T>,
    /// Where the next part begins: send it as `after`. None where there is no more.
    #[schema(value_type = Option<String>, example = "6542f0a1c2d40-01a1dd4132c0704fb28c400adb3d8fd2")]
    pub(crate) next: Option<String>,
}

impl<T> ListResponse<T> {
    /// Part of a short list that is read whole, in the order of its names; `next` is the last name that was given.
    pub(crate) fn by_name(
        all: Vec<T>,
        after: Option<&str>,
        limit: Option<ListLimit>,
        name: impl Fn(&T) -> String,
    ) -> Self {
        let mut named: Vec<(String, T)> = all.into_iter().map(|one| (name(&one), one)).collect();
        named.sort_by(|one, other| one.0.cmp(&other.0));
        named.retain(|(name, _)| after.is_none_or(|after| name.as_str() > after));
        let rows = limit.unwrap_or_default().rows();
        let more = named.len() > rows;
        named.truncate(rows);
        let next = named.last().filter(|_| more).map(|(name, _)| name.clone());
        Self { items: named.into_iter().map(|(_, one)| one).collect(), next }
    }

    pub(crate) fn of<R>(page: Page<R>, shown: impl FnMut(R) -> Option<T>) -> Self {
        let next = page.next.map(|next| next.to_string());
        Self { items: page.items.into_iter().filter_map(shown).collect(), next }
    }
}

/// A name as people write it.
pub(crate) fn name(field: &str, text: &str) -> Result<String, ApiError> {
    let name = text.trim();
    if (1..=200).contains(&name.chars().count()) && !name.chars().any(is_unseen) {
        return Ok(name.to_owned());
    }
    Err(invalid(field, "a name has 1 to 200 letters on one line, none of them hidden"))
}

pub(crate) fn tags(texts: &[String]) -> Result<Vec<String>, ApiError> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    if texts.len() > 50 {
        return Err(invalid("tags", "somebody has at most 50"));
    }
    match texts.iter().find(|tag| !(1..=64).contains(&tag.chars().count()) || !tag.chars().all(plain)) {
        Some(bad) => {
            let what = format!("`{}` is no tag: write letters, digits and dashes", shorten(bad));
            Err(invalid("tags", &what))
        }
        None => Ok(texts.to_vec()),
    }
}

pub(crate) fn language(text: &str) -> Result<Language, ApiError> {
    text.parse().map_err(|error: munshi_types::LanguageError| invalid("language", &error.to_string()))
}

/// As browsers and phones say it: `hi`, `en-IN`.
pub(crate) fn locale(text: &str) -> Result<(), ApiError> {
    let fits = (2..=35).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if fits { Ok(()) } else { Err(invalid("locale", "write one such as hi or en-IN")) }
}

pub(crate) fn invalid(field: &str, what: &str) -> ApiError {
    ApiError::new(ApiErrorCode::Invalid, format!("`{field}` does not fit: {}.", shorten(what)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_outside_is_looked_at() {
        assert_eq!(name("name", " Asha ").unwrap(), "Asha");
        assert!(name("name", "A\0").is_err() && name("name", " ").is_err());
        assert!(tags(&["shop-1".to_owned()]).is_ok() && tags(&["a b".to_owned()]).is_err());
        assert!(locale("en-IN").is_ok() && locale("en\0").is_err() && locale("").is_err());
        assert!(ListLimit::try_from(0).is_err() && ListLimit::try_from(101).is_err());
        assert_eq!(ListLimit::try_from(100).unwrap().rows(), 100);
    }

    #[test]
    fn a_short_list_comes_in_pages_too() {
        let all = || vec!["b", "d", "a", "c"];
        let part = |after| ListResponse::by_name(all(), after, Some(ListLimit(3)), |one| (*one).to_owned());
        let first = part(None);
        assert_eq!((first.items, first.next.as_deref()), (vec!["a", "b", "c"], Some("c")));
        let last = part(Some("c"));
        assert_eq!((last.items, last.next), (vec!["d"], None));
        assert!(part(Some("z\0")).items.is_empty());
    }
}
