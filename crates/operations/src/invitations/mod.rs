//! Invitations: one-time links that make somebody an operator. They wait some days and can be taken back.

mod invite;
mod invite_keeper;
mod list;
mod view;
mod withdraw;
mod withdraw_all;

pub use invite::{InviteOperator, InviteOperatorInput};
pub use invite_keeper::{InviteKeeper, InviteKeeperInput};
pub use list::ListInvitations;
pub use view::InvitationView;
pub use withdraw::{InvitationInput, WithdrawInvitation};
pub(crate) use withdraw_all::note_withdrawn;
pub use withdraw_all::{WithdrawInvitations, WithdrawInvitationsInput, WithdrawnInvitationsView};
