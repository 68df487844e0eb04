//! The people of a tenant: who works there, and with whom it deals.

mod add;
mod data_subject;
mod export;
mod find;
mod forget;
mod leave;
mod list;
mod reach;
mod rules;
mod set;
mod show;
mod view;

pub use add::{AddPerson, AddPersonInput};
pub use export::{ExportPerson, ExportPersonInput, PersonExportView, PersonalRecordView};
pub use find::{find, find_only_owner};
pub use forget::{ForgetPerson, ForgetPersonInput};
pub use leave::{LeavePerson, LeftPersonView};
pub use list::{ListPersons, ListPersonsInput};
pub use reach::{PersonReachView, ReachPlacesView, SetReach, SetReachInput, ShowReach};
pub use set::{ChangedPersonView, SetPerson, SetPersonInput};
pub use show::{PersonInput, ShowPerson};
pub use view::{PersonAddressView, PersonView};
