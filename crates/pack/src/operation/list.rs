//! Lists: all page and sort alike.

use std::borrow::Cow;

use munshi_store::{CursorError, ListCursor, Page, PageRequest, SortOrder};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::error::OperationError;

const DEFAULT: u32 = 25;
const LARGEST: u32 = 500;

/// The input of a list by time that is asked for its page alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// The `next` of the previous page.
    #[schema(value_type = Option<String>)]
    pub after: Option<ListCursor>,
    /// Page size; default 25.
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
    #[schema(schema_with = describe_order)]
    pub order: Option<SortOrder>,
}

impl ListInput {
    /// Newest first, unless the other order is asked for.
    pub fn page_request(self) -> Result<PageRequest, OperationError> {
        let order = self.order.unwrap_or(SortOrder::Descending);
        Ok(PageRequest::in_order(order, self.after, self.page_size()?)?)
    }

    /// How many rows are asked for.
    pub fn page_size(self) -> Result<u32, OperationError> {
        match self.limit.unwrap_or(DEFAULT) {
            limit @ 1..=LARGEST => Ok(limit),
            _ => Err(OperationError::field("limit", "must be from 1 to 500")),
        }
    }
}

/// The `order` of a list's input, in the document.
pub fn describe_order() -> Schema {
    let order = ObjectBuilder::new()
        .schema_type(SchemaType::Array(vec![Type::String, Type::Null]))
        .enum_values(Some(SortOrder::ALL.map(SortOrder::as_str)))
        .description(Some("`asc` or `desc`. Default: as the list is described."));
    Schema::Object(order.build())
}

/// A cursor that is of no use in the order that is asked for.
impl From<CursorError> for OperationError {
    fn from(error: CursorError) -> Self {
        Self::field("after", &error.to_string())
    }
}

/// One page of a list. A page may be shorter than `limit` even when more rows follow; rely on `next`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListView<T> {
    pub items: Vec<T>,
    /// Cursor of the next page; none on the last page.
    pub next: Option<String>,
}

/// By hand: what is derived for a type with a parameter does not name what it lists.
impl<T: ToSchema> ToSchema for ListView<T> {
    fn name() -> Cow<'static, str> {
        Cow::Owned(format!("Listed_{}", T::name()))
    }

    fn schemas(all: &mut Vec<(String, RefOr<Schema>)>) {
        all.push((T::name().into_owned(), T::schema()));
        T::schemas(all);
    }
}

impl<T: ToSchema> PartialSchema for ListView<T> {
    fn schema() -> RefOr<Schema> {
        let next = ObjectBuilder::new()
            .schema_type(SchemaType::Array(vec![Type::String, Type::Null]))
            .description(Some("Cursor of the next page: send it as `after`. Null on the last page."))
            .examples([json!("6542f0a1c2d40-01a1dd4132c0704fb28c400adb3d8fd2")]);
        let items = ArrayBuilder::new().items(Ref::from_schema_name(T::name()));
        let page = ObjectBuilder::new()
            .description(Some(
                "One page of a list. A page may be shorter than `limit` even when more rows follow; rely on `next`.",
            ))
            .property("items", items)
            .required("items")
            .property("next", next);
        page.build().into()
    }
}

impl<T> ListView<T> {
    pub fn from_page<R>(page: Page<R>, shown: impl FnMut(R) -> Option<T>) -> Self {
        let next = page.next_cursor().map(|next| next.to_string());
        Self { items: page.items.into_iter().filter_map(shown).collect(), next }
    }
}
