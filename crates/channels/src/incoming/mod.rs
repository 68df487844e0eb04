//! What people write to a tenant on other platforms, on its way in.
//!
//! A provider tells it to an address of ours, or is asked. What its link has verified is stored with a job before the provider is
//! answered, each event once under the provider's own id. The job takes it in: what belongs to one chat one after the other, in its order;
//! files are fetched first, so that a message is whole when its turn begins. Whatever dies in between is done again: a message is taken once
//! for its id.
//!
//! # Layout
//! - [`ChannelRequest`], [`ChannelVerdict`]: what a provider sends, and what it is; `event`: what it tells, in one shape
//! - [`ChannelIntake`]: looks at a request and stores it; `rows`: what waits; `take`: the job; `route`: which binding it is for; `attach`: its files
//! - [`heard`]: when an account was heard last; `happenings`: what is no message; `working`: the sign that somebody works on one
//! - [`MessageReceiver`]: where it goes; `forget`: what waits of somebody who is forgotten; `sweep`: what goes by itself

mod attach;
mod event;
mod forget;
mod happenings;
pub mod heard;
mod intake;
mod receiver;
mod request;
mod route;
pub mod rows;
mod sweep;
mod take;
mod working;

pub use event::{
    ArrivedChat, ArrivedFile, ArrivedMessage, ArrivedReceipt, ArrivedSender, ArrivedTemplate, ChannelEvent,
    ChannelHappening,
};
pub use forget::forget_senders;
pub use intake::{ChannelIntake, IntakeOutcome};
pub use receiver::{MessageReceiver, ReceiveFault, TakenMessage};
pub use request::{ChannelAnswer, ChannelRefusal, ChannelRequest, ChannelRequestMethod, ChannelVerdict};
pub use rows::StoredArrivals;
pub use sweep::{ArrivalSweeper, SWEEP, sweep};
pub use take::ArrivalTaker;
