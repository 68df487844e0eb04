//! Background work.

mod list;
mod retry;
mod retry_all;
mod show;
mod view;

pub use list::{JobsView, ListJobs, ListJobsInput};
pub use retry::RetryJob;
pub use retry_all::{RetriedJobsView, RetryAllJobs, RetryAllJobsInput};
pub use show::{JobInput, ShowJob};
pub use view::{JobDetailView, QueueDepthView};
