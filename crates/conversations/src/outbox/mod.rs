//! Messages that leave, each once.
//!
//! A row is written with what it says, and a job with the row. What leaves in a conversation leaves in its order, what leaves outside of one in
//! the order of its address: of each such lane only the oldest unsent message is sent, and whoever is done with it makes the job for the
//! next. A sender says whether sending again under the same key is harmless, or whether the channel can be asked: where neither, a message
//! of which nobody knows is marked unknown and its owner is told, never doubled. Before anything leaves, [`rules`] decide.
//!
//! # Layout
//! - `entry`: writing a message down; `rows`: reading it; `queue`: its lane; `claim`: its turn, by what `facts` finds; `deliver`: the job;
//!   `settle`: how it ended
//! - [`rules`]: quiet hours, opting out, reminders, a channel's window; [`opt_outs`]: who wrote STOP
//! - `senders`: the ways out; `receipts`: what a channel says afterwards
//! - `administration`: sending again, taking back; `delivery_alerts`: what the owner is told; `erasure`: whose it is
//!
//! To add a way out, implement [`ChannelSender`] and let the [`SenderDirectory`] that the engine has find it.

mod administration;
mod claim;
mod deliver;
mod delivery_alerts;
mod delivery_job;
mod entry;
mod erasure;
mod facts;
pub mod opt_outs;
mod queue;
mod receipts;
mod recipient;
mod rows;
pub mod rules;
mod senders;
mod settle;

pub use administration::{DuplicateConsent, OutboxChange, OutboxWish, cancel, retry};
pub use deliver::OutboxDeliverer;
pub use delivery_job::{KIND, TRIES};
pub use entry::{NewNotice, ReplyPlace, enqueue, enqueue_notice};
pub use receipts::{DeliveryReceipt, ReceiptContext, record_receipt, record_receipt_of};
pub use rows::{
    OUTSIDE_ID, OutboxHold, OutboxState, OutboxView, find, find_body, has_failed, list_in_state, list_unsent,
    list_unsent_of_session,
};
pub use senders::{
    ChannelSender, DeliveryCertainty, FaultSubject, FixedSenders, SendFault, SendIdempotency, SendReceipt,
    SendRetryability, SenderDirectory, SenderRoute,
};

pub(crate) use administration::recall;
pub(crate) use delivery_alerts::{
    delete as delete_delivery_alerts, find_hint as find_alert_hint, find_message as find_alerted_message,
};
pub(crate) use erasure::{NOTICE_DATA, empty_body, move_person};
pub use erasure::{RECORD_DATA, erase_of_subject, expire_notices};
pub(crate) use recipient::hash_recipient;
pub(crate) use rows::{BODY, DETAIL};
