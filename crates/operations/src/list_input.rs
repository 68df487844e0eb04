//! Inputs of lists that have filters of their own.

/// Declares the input of a list: its own fields, and after them those that all lists have, which `page` gives. Serde can't
/// flatten them into an input that refuses unknown fields.
macro_rules! list_input {
    ($(#[$about:meta])* pub struct $name:ident: ListInput { $($fields:tt)* }) => {
        list_input! { @declare munshi_store::ListCursor, $(#[$about])* $name { $($fields)* } }

        impl $name {
            pub(crate) fn page(&self) -> munshi_pack::operation::ListInput {
                munshi_pack::operation::ListInput { after: self.after, limit: self.limit, order: self.order }
            }
        }
    };
    ($(#[$about:meta])* pub struct $name:ident: NameListInput { $($fields:tt)* }) => {
        list_input! { @declare String, $(#[$about])* $name { $($fields)* } }

        impl $name {
            pub(crate) fn page(&self) -> crate::NameListInput {
                crate::NameListInput { after: self.after.clone(), limit: self.limit, order: self.order }
            }
        }
    };
    (@declare $cursor:ty, $(#[$about:meta])* $name:ident { $($fields:tt)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($fields)*
            /// The `next` of the previous page.
            #[schema(value_type = Option<String>)]
            pub after: Option<$cursor>,
            /// Page size; default 25.
            #[schema(minimum = 1, maximum = 500)]
            pub limit: Option<u32>,
            #[schema(schema_with = munshi_pack::operation::describe_order)]
            pub order: Option<munshi_store::SortOrder>,
        }
    };
}

pub(crate) use list_input;
