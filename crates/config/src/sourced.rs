//! What is written, and where.

use crate::kinds::RawSetting;
use crate::problem::SettingOrigin;

/// A value as somebody wrote it.
#[derive(Clone, Debug)]
pub(crate) struct SourcedSetting {
    pub(crate) raw: RawSetting,
    pub(crate) place: SettingOrigin,
}
