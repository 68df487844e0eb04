//! What commands take that list something.

use clap::Args;
use munshi_store::{ListCursor, SortOrder};

/// Which way the list goes.
#[derive(Debug, Args)]
pub(crate) struct ListOrderArguments {
    /// Order: asc or desc. Default: as the list is described
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<SortOrder>,
}

/// Which page of the list.
#[derive(Debug, Args)]
pub(crate) struct ListPageArguments {
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: u32,
    /// Continue after this cursor: the `next` of the previous page
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<ListCursor>,
    #[command(flatten)]
    pub(crate) sorting: ListOrderArguments,
}
